"""Large batches on several threads. Kernels release the GIL, so plain Python threads do."""

import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dalembert.errors import Error, brief

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_chosen: int | None = None
_pool: "tuple[int, int, ThreadPoolExecutor] | None" = None  # process, size, pool: a fork must not reuse it


def set_threads(count: int | None) -> None:
    """Use at most `count` threads for a large batch; None means one for each core."""
    global _chosen
    try:
        chosen = None if count is None else operator.index(count)
    except TypeError:
        chosen = 0
    if (chosen is not None and chosen < 1) or isinstance(count, bool):
        raise Error(f"the number of threads must be an integer from 1, or None for all cores; got {brief(count)}")
    _chosen = chosen


def get_threads() -> int:
    """How many threads a large batch uses."""
    if _chosen is not None:
        return _chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(jobs: list[Callable[[], Any]]) -> None:
    """Call all of them, the last one here and the others on the pool; returns when all are done, then raises the first error."""
    from concurrent.futures import wait  # here, for with it comes all of logging

    futures: list[Future[Any]] = []
    here = [jobs[-1]]
    for job in jobs[:-1]:
        try:
            futures.append(_executor(len(jobs) - 1).submit(job))
        except RuntimeError:  # the interpreter is shutting down: no new threads
            here.append(job)
    try:
        for job in here:
            job()
    finally:
        wait(futures)
    for future in futures:
        future.result()


def _executor(workers: int) -> "ThreadPoolExecutor":
    global _pool
    from concurrent.futures import ThreadPoolExecutor

    process = os.getpid()
    if _pool is None or _pool[0] != process or _pool[1] < workers:
        _pool = process, workers, ThreadPoolExecutor(workers, thread_name_prefix="dalembert")
    return _pool[2]
