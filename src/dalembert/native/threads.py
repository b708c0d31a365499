"""Large batches on several threads. Kernels release the GIL, so plain Python threads do."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dalembert.errors import Error

_chosen: int | None = None
_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # process, size, pool: a fork must not reuse it


def set_threads(count: int | None) -> None:
    """Use at most `count` threads for a large batch; None means one for each core."""
    global _chosen
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise Error(f"the number of threads must be a whole number from 1, or None for all cores; got {count!r}")
    _chosen = count


def get_threads() -> int:
    """How many threads a large batch uses."""
    if _chosen is not None:
        return _chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(jobs: list[Any]) -> None:
    """Call all of them, the last one here and the others on the pool; an exception of any is raised."""
    global _pool
    workers, process = len(jobs) - 1, os.getpid()
    if _pool is None or _pool[0] != process or _pool[1] < workers:
        _pool = process, workers, ThreadPoolExecutor(workers, thread_name_prefix="dalembert")
    futures = [_pool[2].submit(job) for job in jobs[:-1]]
    try:
        jobs[-1]()
    finally:
        for future in futures:
            future.result()
