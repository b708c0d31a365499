"""States from anywhere and to anywhere, a piece at a time."""

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dalembert.arguments import choice, flag, numbers, several, whole
from dalembert.errors import DataWarning, Error, brief, warn
from dalembert.files.binary import read_npy, read_npz, spools, write_npz
from dalembert.files.layout import PARTS, Arrange, States, arranged, check_finite, column_names, entries, gathered, joined
from dalembert.files.text import CsvWriter, read_csv
from dalembert.model.degrees import position_doubt
from dalembert.model.model import Model, a_robot
from dalembert.progress import Progress
from dalembert.storage import limits
from dalembert.storage.opening import file_path, opened, told
from dalembert.storage.saving import saving

ENDINGS = (".csv", ".npy", ".npz")


def read_states(
    robot: Model,
    source: str | Path | BinaryIO,
    wanted: Sequence[str] = ("q", "qd", "qdd"),
    progress: Progress | None = None,
    *,
    allow_nan: bool = False,
) -> Generator[States]:
    r"""States from a CSV, NPY or NPZ file ("-": standard input), some thousand at a time, as dictionaries of arrays (rows, n).

    `wanted` are parts of q, qd, qdd, tau; t is there if the file has it. Columns with names may come in any order. `progress` is
    called with how much is read, and of how much (0: unknown). NaN and infinities are refused, by row and column,
    unless `allow_nan`; positions that look like degrees raise a `DataWarning`.

    >>> import io
    >>> import dalembert as da
    >>> file = io.BytesIO(b"q_joint2,q_joint1\n0.2,0.1\n")
    >>> [part["q"].tolist() for part in read_states(da.robot("two_link"), file, ["q"])]
    [[[0.1, 0.2]]]
    """
    a_robot(robot, "read_states")
    wanted = [choice(part, "part of a state:", PARTS) for part in several(wanted, "wanted")]
    if not wanted:
        raise Error(f"wanted must name at least one of {', '.join(PARTS)}")
    if progress is not None and not callable(progress):
        raise Error(f"progress must be a function of (done, all), got {brief(progress)}")
    if not robot.n:
        raise Error(f"{robot.name} has no moving joints, so there are no states to read")
    what, allow_nan = _name(source), flag(allow_nan, "allow_nan")
    arrange = arranged(robot, wanted)
    doubt = ""
    with told(what, "read"), _given(source) as file:
        for states, done, total in _pieces(robot, file, what, wanted, arrange, allow_nan):
            if not doubt and "q" in states and (doubt := position_doubt(robot, states["q"])):
                warn(f"{what}: {doubt}", DataWarning)
            yield states
            if progress:
                progress(done, total)


def _pieces(
    robot: Model, file: io.BufferedReader, what: str, wanted: Sequence[str], arrange: Arrange, allow_nan: bool
) -> Iterator[tuple[States, int, int]]:
    """The states of a file of any kind, how much is read, and of how much."""
    start, size = file.peek(4)[:4], _size(file)
    if start != b"\x93NUM" and start[:2] != b"PK":
        for states, done in read_csv(file, what, arrange, allow_nan=allow_nan):
            yield states, done, size
        return
    with _seekable(file) as whole:
        pieces = read_npz(whole, what, robot, wanted) if start[:2] == b"PK" else read_npy(whole, what, arrange)
        read = 0
        for states, done, total in pieces:
            if not allow_nan:
                check_finite(states, what, read)
            read += len(states[wanted[0]])
            yield states, done, total


def load_states(
    robot: Model,
    source: str | Path | BinaryIO,
    wanted: Sequence[str] = ("q", "qd", "qdd"),
    *,
    limit: int = limits.ARRAYS,
    allow_nan: bool = False,
) -> States:
    """The same, all at once in memory, as long as the arrays take no more than `limit` bytes."""
    return gathered(read_states(robot, source, wanted, allow_nan=allow_nan), _name(source), whole(limit, "limit", 1))


def write_states(robot: Model, target: str | Path, states: Iterable[States], *, names: bool = True) -> int:
    """Write states to a CSV, NPY or NPZ file ("-": CSV to standard output); returns how many there were.

    A file is there when all of it is written; until then, and if anything fails, the old one is.
    """
    a_robot(robot, "write_states")
    path, count, names = file_path(target), 0, flag(names, "names")
    ending = path.suffix.lower()
    if str(target) != "-" and ending not in ENDINGS:
        raise Error(f"{path}: unknown file extension {path.suffix!r}; known are {', '.join(ENDINGS)}")
    if not isinstance(states, Iterable) or isinstance(states, np.ndarray):
        raise Error(f"states must be dictionaries of arrays by part, one after the other, got {brief(states)}")
    pieces = (_piece(robot, some) for some in states)
    first = next(pieces, None)
    if first is None:
        raise Error(f"{path.name}: there are no states to write")
    parts = [part for part in ("t", *PARTS) if part in first]
    columns = column_names(robot, parts)

    def chosen() -> Generator[States]:
        nonlocal count
        for some in chain([first], pieces):
            yield {part: some[part] for part in parts}
            count += len(some[parts[-1]])

    with saving(path) if str(target) != "-" else _standard_output() as file:
        if ending not in (".npy", ".npz"):
            writer = CsvWriter(lambda text: (file.write(text.encode()), file.flush()), columns if names else None)
            for some in chosen():
                writer.write(joined(some))
            return count
        widths = (
            {part: () if part == "t" else (len(entries(robot, part)),) for part in parts}
            if ending == ".npz"
            else {"": (len(columns),)}
        )
        with spools(path.absolute().parent, widths) as kept:
            for some in chosen():
                for part, spool in kept.items():
                    spool.add(some[part] if part else joined(some))
            if ending == ".npz":
                write_npz(file, kept)
            else:
                kept[""].copy(file)
    return count


def _piece(robot: Model, given: Any) -> States:
    """Some states: arrays (rows, n) by part, or (rows,) for t."""
    if not isinstance(given, Mapping) or not any(part in given for part in ("t", *PARTS)):
        raise Error(f"states must be dictionaries of arrays by part, such as {{'q': ...}}, got {brief(given)}")
    arrays = {part: numbers(x, part) for part, x in given.items() if part in ("t", *PARTS)}
    rows = {x.shape[:1] for x in arrays.values()}
    if len(rows) > 1 or any(x.shape[1:] != (() if part == "t" else (len(entries(robot, part)),)) for part, x in arrays.items()):
        shapes = ", ".join(f"{part} {x.shape}" for part, x in arrays.items())
        raise Error(f"states of {robot.name} are arrays (rows, {robot.n}) of the same length, and t (rows,), got {shapes}")
    return arrays


# --- opening ------------------------------------------------------------------------------------------------------------


def _name(source: str | Path | BinaryIO) -> str:
    if isinstance(source, str | Path):
        return "standard input" if str(source) == "-" else Path(source).name
    return "the states"


@contextmanager
def _given(source: str | Path | BinaryIO) -> Generator[io.BufferedReader]:
    if isinstance(source, str | Path) and str(source) != "-":
        with opened(source, pipes=True) as file:
            yield file
        return
    given: Any = sys.stdin.buffer if isinstance(source, str | Path) else source
    if not hasattr(given, "readinto"):
        raise Error(f"states are read from a path or from a file open for reading bytes, got {brief(source)}")
    if isinstance(given, io.BufferedReader):
        yield given
        return
    file = io.BufferedReader(given)
    try:
        yield file
    finally:
        file.detach()  # it stays open for its owner


def _size(file: io.BufferedReader) -> int:
    try:
        return os.fstat(file.fileno()).st_size
    except (OSError, ValueError):
        return 0


@contextmanager
def _seekable(file: io.BufferedReader) -> Generator[BinaryIO]:
    """The same file, or a copy on disk of what comes through a pipe."""
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
        copy.seek(0)
        yield copy


@contextmanager
def _standard_output() -> Generator[BinaryIO]:
    with told("standard output", "written"):
        sys.stdout.flush()
        yield sys.stdout.buffer
