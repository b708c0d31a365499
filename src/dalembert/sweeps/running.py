"""Where the leaves of a sweep are computed: on threads of this process, in tasks of a fraction of a second."""

import time
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from dalembert.native.sweep import LEAF, Job
from dalembert.native.threads import get_threads
from dalembert.native.totals import Totals

SECONDS = 0.4  # of a task: enough that what surrounds it does not count, short enough to stop in
Found = tuple[Totals, list[int]]  # of some leaves


def cut(leaves: Sequence[int], size: int) -> list[Sequence[int]]:
    """Tasks of so many leaves."""
    return [leaves[k : k + size] for k in range(0, len(leaves), size)]


def speed(job: Job, leaves: Sequence[int]) -> tuple[Found, float]:
    """What the first leaf gives, and how many leaves a thread does in a second."""
    job.run(())  # compiled
    start = time.perf_counter()
    found = job.run(leaves[:1])
    return found, 1 / max(time.perf_counter() - start, 1e-6)


def on_threads(job: Job, leaves: Sequence[int]) -> Iterator[Found]:
    """The totals of all leaves, part by part, as threads finish them."""
    if not leaves:
        return
    first, rate = speed(job, leaves)
    yield first
    count = max(1, min(get_threads(), len(leaves) - 1))
    size = max(1, min(round(SECONDS * rate), -(-(len(leaves) - 1) // (4 * count))))
    tasks = cut(leaves[1:], size)
    if count == 1:
        yield from (job.run(task) for task in tasks)
        return
    yield from _crew(job, tasks, count)


def _crew(job: Job, tasks: list[Sequence[int]], count: int) -> Iterator[Found]:
    waiting, done, stop = SimpleQueue[Sequence[int] | None](), SimpleQueue[Any](), Event()
    for task in [*tasks, *[None] * count]:
        waiting.put(task)

    def work() -> None:
        while (task := waiting.get()) is not None and not stop.is_set():
            try:
                done.put(job.run(task, stop.is_set))
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


def _finished(done: "SimpleQueue[Any]", count: int) -> Iterator[Found]:
    """What threads have finished, until all of them have."""
    while count:
        found = done.get()
        if found is None:
            count -= 1
        elif isinstance(found, BaseException):
            raise found
        else:
            yield found


Engine = Callable[[Job, Sequence[int]], Iterator[Found]]
STATES = LEAF
