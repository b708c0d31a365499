"""Checkpoints of sweeps: a file of JSON lines. The first tells which sweep it is, each further one what some leaves gave."""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dalembert.errors import Error, warn
from dalembert.native.sweeps import sweep
from dalembert.native.sweeps.sweep import Job
from dalembert.native.sweeps.totals import Totals
from dalembert.storage.opening import file_path, told
from dalembert.version import __version__

Write = Callable[[Totals, list[int]], None]


def digest(job: Job) -> str:
    """A hash of all that decides what a sweep gives."""
    inputs = job.inputs
    parts = (
        job.program.digest,
        inputs.kinds,
        inputs.table.tobytes(),
        tuple(job.reductions),
        job.scales.tobytes(),
        job.samples,
        sweep.LEAF,
        job.backend,
        __version__,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@contextmanager
def checkpointed(path: Any, job: Job, store: str | None = None) -> Generator[tuple[Iterator[tuple[Totals, list[int]]], Write]]:
    """What a file has of a sweep already, and a function that adds to it; without a path nothing, and one that does nothing.

    `store` is the key of the store to which the same parts are written: a part in the file is in that store, too.
    """
    if path is None:
        yield iter(()), lambda part, leaves: None
        return
    place = file_path(path)
    with told(place, "written"):
        whole = _valid(place, job, store)
        with place.open("r+b" if whole else "wb", buffering=0) as file:
            file.truncate(whole)
            file.seek(whole)
            broken: list[OSError] = []

            def write(part: Totals, leaves: list[int]) -> None:
                if leaves and not broken:
                    try:
                        _append(file, {"leaves": _packed(leaves), **part.to_json()})
                    except OSError as error:  # a full disk, for example: nothing that was computed is lost
                        broken.append(error)
                        warn(f"{place}: cannot be written: {error.strerror}; the sweep goes on without it", UserWarning)

            if not whole:
                _append(file, {"sweep": digest(job), "dalembert": __version__, "samples": job.samples, "store": store})
            yield _read(place, whole, job), write


def _append(file: Any, entry: dict[str, Any]) -> None:
    """A line, on the disk when this returns."""
    rest = json.dumps(entry).encode() + b"\n"
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def _valid(place: Path, job: Job, store: str | None) -> int:
    """How many bytes of a file are whole lines of this sweep; of another sweep, or of none, it is left alone."""
    if not place.exists() or not place.stat().st_size:
        return 0
    with place.open("rb") as file:
        head = file.readline(1 << 16)
        try:
            about = json.loads(head) if head.endswith(b"\n") else {}
            known, stored = about["sweep"], about.get("store")
        except (ValueError, TypeError, KeyError, AttributeError):
            known = stored = None
        if known != digest(job):
            what = (
                "is not a checkpoint of a sweep"
                if known is None
                else "belongs to another sweep (other ranges, seed, robot or version)"
            )
            raise Error(f"{place}: {what}; give another file name, or delete it")
        if stored != store:
            what = "without this store" if store else "with a store, which is not given now"
            raise Error(
                f"{place}: was begun {what}, so that states would be missing there; give another file name, or the same store"
            )
        end = file.tell()
        for line in file:
            if not line.endswith(b"\n"):  # interrupted while it was written
                break
            end += len(line)
        return end


def _read(place: Path, whole: int, job: Job) -> Iterator[tuple[Totals, list[int]]]:
    if not whole:
        return
    like, done = Totals.empty(job.reductions, len(job.program.results)), set[int]()
    with place.open("rb") as file:
        file.readline()
        while file.tell() < whole:
            try:
                entry = json.loads(file.readline())
                leaves = _unpacked(entry["leaves"])
                part = Totals.from_json(entry, like)
            except (ValueError, TypeError, KeyError, IndexError):
                raise Error(f"{place}: damaged: line {len(done) + 2} is not what was written; delete it, and begin again") from None
            if not done.isdisjoint(leaves):
                raise Error(f"{place}: damaged: it has parts of the sweep twice; delete it, and begin again")
            done.update(leaves)
            yield part, leaves


def _packed(leaves: list[int]) -> list[list[int]]:
    """Runs of leaves, first and last."""
    runs: list[list[int]] = []
    for leaf in leaves:
        if runs and runs[-1][1] == leaf - 1:
            runs[-1][1] = leaf
        else:
            runs.append([leaf, leaf])
    return runs


def _unpacked(runs: Any) -> list[int]:
    return [leaf for first, last in runs for leaf in range(int(first), int(last) + 1)]
