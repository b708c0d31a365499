"""Sweeps on a Dask cluster: the same tasks as on threads, run by workers that have this package."""

import pickle
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from dalembert import imported
from dalembert.errors import Error, brief, optional
from dalembert.sweeps.running import Found, Task, crew, cut, task_size
from dalembert.version import __version__

PATIENCE = 10  # seconds in which a scheduler answers, and a first worker appears
MANY = 64  # threads of a cluster from which on each worker gets one task at a time, for all its threads
AHEAD = 3  # tasks for each place of one thread, so that none waits


def on_cluster(cluster: Any) -> Callable[[Task, Sequence[int]], Generator[Found]]:
    """The engine that runs tasks on a cluster: the address of its scheduler, or a client of it."""

    def engine(task: Task, leaves: Sequence[int]) -> Generator[Found]:
        if not leaves:
            return
        with _client(cluster) as client, _told(cluster):
            yield from _distributed(client, task, leaves)

    return engine


def _distributed(client: Any, task: Task, leaves: Sequence[int]) -> Generator[Found]:
    threads = _workers(client)
    data = zlib.compress(pickle.dumps(task), 1)
    each = max(threads) if sum(threads) > MANY else 1
    places, ahead = (len(threads), 1) if each > 1 else (sum(threads), AHEAD)
    first, seconds = client.submit(work, data, leaves[:1], 1, pure=False).result()
    yield first
    size = task_size(1 / max(seconds, 1e-6), len(leaves) - 1, places) * each
    waiting = iter(cut(leaves[1:], size))
    submit = lambda: [client.submit(work, data, some, each, pure=False) for some in _next(waiting)]  # noqa: E731
    pending = set[Any]()
    try:
        from distributed import as_completed

        begun = [future for _ in range(ahead * places) for future in submit()]
        pending.update(begun)
        finished = as_completed(begun, loop=client.loop)  # not the loop of a default client, of which there may be none
        for future in finished:
            found, _ = future.result()
            pending.discard(future)
            more = submit()
            pending.update(more)
            finished.update(more)
            yield found
    finally:
        client.cancel(list(pending), force=True)


def _next(waiting: Iterator[Sequence[int]]) -> list[Sequence[int]]:
    return [some for some in [next(waiting, None)] if some is not None]


def work(data: bytes, leaves: Sequence[int], threads: int) -> tuple[Found, float]:
    """What a worker does: some leaves of a sweep; and how long it took, compiling apart."""
    task = _unpacked(data)
    task.job.run(())
    start = time.perf_counter()
    if threads == 1:
        found = task.run(leaves)
    else:
        parts = list(crew(task, cut(leaves, -(-len(leaves) // (4 * threads))), threads))
        totals, done = parts[0]
        for total, more in parts[1:]:
            totals, done = totals + total, [*done, *more]
        found = totals, sorted(done)
    return found, time.perf_counter() - start


@lru_cache(maxsize=8)
def _unpacked(data: bytes) -> Task:
    return pickle.loads(zlib.decompress(data))  # noqa: S301 - from the client, whose code workers run anyway


def fingerprint() -> tuple[str, str]:
    """What decides the bits of a result: version, and source of what computes."""
    return __version__, imported.digest("native", "trace")


@contextmanager
def _client(cluster: Any) -> Generator[Any]:
    distributed = optional("distributed", "scale")
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    if not isinstance(cluster, str):
        raise Error(f"cluster must be the address of a Dask scheduler or a dask.distributed.Client, got {brief(cluster)}")
    try:
        client = distributed.Client(cluster, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise Error(f"cluster {brief(cluster)} cannot be reached: {error}") from None
    with client:
        yield client


@contextmanager
def _told(cluster: Any) -> Generator[None]:
    """Faults of a cluster in one line."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise Error(f"cluster: a part of the sweep was given up after its workers died: {error}") from None
    except (CancelledError, CommClosedError) as error:
        raise Error(f"cluster {brief(cluster)}: the connection was lost: {error}") from None


def _workers(client: Any) -> list[int]:
    """The threads of each worker; all of them must have this package in this version."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise Error(f"cluster: no worker in {PATIENCE} seconds; start some: dask worker ADDRESS") from None
    try:
        found = client.run(fingerprint)
    except (ImportError, AttributeError, pickle.UnpicklingError) as error:
        raise Error(f"cluster: the workers need dalembert {__version__}, as this process has it: {error}") from None
    own = fingerprint()
    for worker, (version, digest) in found.items():
        if version != own[0] or (digest and own[1] and digest != own[1]):
            what = f"dalembert {version}" if version != own[0] else "other source code"
            raise Error(f"cluster: worker {worker} has {what}, this process has dalembert {own[0]}; install the same on both")
    return [about["nthreads"] for about in client.scheduler_info(n_workers=-1)["workers"].values()]
