"""Where the leaves of a sweep are computed: on threads of this process, in tasks of a fraction of a second."""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from dalembert.native.sweeps.sweep import Job
from dalembert.native.sweeps.totals import Totals
from dalembert.native.threads import get_threads
from dalembert.sweeps.storing import Store

SECONDS = 0.4  # of a task: enough that what surrounds it does not count, short enough to stop in
MOST = 4_000  # leaves of a task: its histograms count up to 2^31
Found = tuple[Totals, list[int]]  # of some leaves


@dataclass(frozen=True)
class Task:
    """A sweep, and where its states are stored, if they are."""

    job: Job
    store: Store | None = None

    def run(self, leaves: Sequence[int], stop: Callable[[], bool] = lambda: False) -> Found:
        """Compute some leaves, and store them."""
        if self.store is None:
            return self.job.run(leaves, stop)
        total, done = self.job.run((), stop)
        for leaf in leaves:
            if not stop():
                self.store.write(self.job, leaf)
                part, one = self.job.run([leaf])
                total, done = total + part, [*done, *one]
        return total, done


Engine = Callable[[Task, Sequence[int]], Generator[Found]]


def cut(leaves: Sequence[int], size: int) -> list[Sequence[int]]:
    """Tasks of so many leaves."""
    return [leaves[k : k + size] for k in range(0, len(leaves), size)]


def task_size(rate: float, leaves: int, places: int) -> int:
    """How many leaves make a task where each place does `rate` of them a second: all places have some to the end."""
    return max(1, min(round(SECONDS * rate), -(-leaves // (4 * places)), MOST))


def on_threads(task: Task, leaves: Sequence[int]) -> Generator[Found]:
    """The totals of all leaves, part by part, as threads finish them."""
    if not leaves:
        return
    task.job.run(())  # compiled
    start = time.perf_counter()
    yield task.run(leaves[:1])
    rate, rest = 1 / max(time.perf_counter() - start, 1e-6), leaves[1:]
    count = max(1, min(get_threads(), len(rest)))
    tasks = cut(rest, task_size(rate, len(rest), count))
    if count == 1:
        yield from (task.run(some) for some in tasks)
    else:
        yield from crew(task, tasks, count)


def crew(task: Task, tasks: Sequence[Sequence[int]], count: int) -> Generator[Found]:
    """What so many threads find, in the order in which they finish; they stop when nobody asks any more."""
    waiting, done, stop = SimpleQueue[Sequence[int] | None](), SimpleQueue[Any](), Event()
    for some in [*tasks, *[None] * count]:
        waiting.put(some)

    def work() -> None:
        while (some := waiting.get()) is not None and not stop.is_set():
            try:
                done.put(task.run(some, stop.is_set))
            except BaseException as error:
                done.put(error)
        done.put(None)

    threads = [Thread(target=work, name="dalembert sweep", daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield from _finished(done, count)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _finished(done: "SimpleQueue[Any]", count: int) -> Generator[Found]:
    """What threads have finished, until all of them have."""
    while count:
        found = done.get()
        if found is None:
            count -= 1
        elif isinstance(found, BaseException):
            raise found
        else:
            yield found
