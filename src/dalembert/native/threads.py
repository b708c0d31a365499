"""Large batches on several threads. Kernels release the GIL, so plain Python threads do."""

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from dalembert.arguments import whole

if TYPE_CHECKING:  # else it is imported by those who have work for threads
    from queue import SimpleQueue

    Jobs = SimpleQueue[tuple[Callable[[], Any], SimpleQueue[BaseException | None]]]
_chosen: int | None = None
_threads: "tuple[int, int, Jobs] | None" = None  # process, how many, where they wait


def set_threads(count: int | None) -> None:
    """Use at most `count` threads for a large batch; None means one for each core."""
    global _chosen
    _chosen = None if count is None else whole(count, "the number of threads, unless it is None (all cores),", 1)


def get_threads() -> int:
    """How many threads a large batch uses."""
    if _chosen is not None:
        return _chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(jobs: list[Callable[[], Any]]) -> None:
    """Call all of them, the last one here and the others on threads; returns when all are done, then raises the first error."""
    from queue import SimpleQueue

    waiting, done = _crew(len(jobs) - 1), SimpleQueue[BaseException | None]()
    if waiting is None:
        for job in jobs:
            job()
        return
    for job in jobs[:-1]:
        waiting.put((job, done))
    errors: list[BaseException | None] = []
    try:
        jobs[-1]()
    finally:
        errors += [done.get() for _ in jobs[1:]]
    for error in errors:
        if error is not None:
            raise error


def _crew(workers: int) -> "Jobs | None":
    """Where so many threads wait for jobs, which takes half the time of an executor's; None if there are no threads.

    A fork leaves none of them to the child, which starts its own.
    """
    from queue import SimpleQueue

    global _threads
    process = os.getpid()
    if _threads is None or _threads[0] != process:
        _threads = process, 0, SimpleQueue()
    _, count, waiting = _threads
    with suppress(RuntimeError):  # the interpreter is shutting down: no new threads
        while count < workers:
            Thread(target=_work, args=(waiting,), name="dalembert", daemon=True).start()
            count += 1
    _threads = process, count, waiting
    return waiting if count else None


def _work(waiting: "Jobs") -> None:
    while True:
        job, done = waiting.get()
        try:
            job()
            done.put(None)
        except BaseException as error:
            done.put(error)
        del job, done  # an idle thread keeps nothing alive
