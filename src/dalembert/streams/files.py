"""Reading states from anywhere, computing, and writing them anywhere, a piece at a time."""

import io
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dalembert.arguments import choice, flag, numbers, place, several
from dalembert.errors import Error, SingularWarning, brief
from dalembert.model.model import Model, a_robot
from dalembert.quantities.table import check_method, quantity_named
from dalembert.spatial import Array
from dalembert.streams.binary import NpyWriter, NpzWriter, read_npy, read_npz
from dalembert.streams.layout import PARTS, States, column_names
from dalembert.streams.text import CsvWriter, read_csv

ENDINGS = (".csv", ".npy", ".npz")
Progress = Callable[[int, int], None]  # how much is done, and of how much (0: unknown)


def read_states(
    robot: Model, source: str | Path | BinaryIO, wanted: Sequence[str] = ("q", "qd", "qdd"), progress: Progress | None = None
) -> Generator[States]:
    r"""States from a CSV, NPY or NPZ file ("-": standard input), some thousand at a time, as dictionaries of arrays (rows, n).

    `wanted` are parts of q, qd, qdd, tau; t is there if the file has it. Columns with names may come in any order.

    >>> import io
    >>> import dalembert as da
    >>> file = io.BytesIO(b"q_joint2,q_joint1\n0.2,0.1\n")
    >>> [part["q"].tolist() for part in read_states(da.robot("two_link"), file, ["q"])]
    [[[0.1, 0.2]]]
    """
    a_robot(robot, "read_states")
    wanted = [choice(part, "part of a state:", PARTS) for part in several(wanted, "wanted")]
    _check_progress(progress)
    if not robot.n:
        raise Error(f"{robot.name} has no moving joints, so there are no states to read")
    with _opened(source) as (file, what):
        start, size = file.peek(4)[:4], _size(file)
        if start == b"\x93NUM" or start[:2] == b"PK":
            with _seekable(file) as whole:
                read = read_npz if start[:2] == b"PK" else read_npy
                for states, done, total in read(whole, what, robot, wanted):
                    yield states
                    if progress:
                        progress(done, total)
            return
        for states, done in read_csv(file, what, robot, wanted):
            yield states
            if progress:
                progress(done, size)


def load_states(robot: Model, source: str | Path | BinaryIO, wanted: Sequence[str] = ("q", "qd", "qdd")) -> States:
    """The same, all at once in memory."""
    found = list(read_states(robot, source, wanted))
    if not found:
        raise Error(f"{_name(source)}: there are no states in it")
    return {part: np.concatenate([states[part] for states in found]) for part in found[0]}


def write_states(robot: Model, target: str | Path, states: Iterable[States], *, names: bool = True) -> int:
    """Write states to a CSV, NPY or NPZ file ("-": CSV to standard output); returns how many there were.

    A file is there when all of it is written, or not at all.
    """
    a_robot(robot, "write_states")
    path, count, names = place(target, "write_states"), 0, flag(names, "names")
    if str(target) != "-" and path.suffix.lower() not in ENDINGS:
        raise Error(f"{path}: cannot tell the format from {path.suffix!r}, known are {', '.join(ENDINGS)}")
    if not isinstance(states, Iterable) or isinstance(states, np.ndarray):
        raise Error(f"states must be dictionaries of arrays by part, one after the other, got {brief(states)}")
    pieces = (_piece(robot, some) for some in states)
    first = next(pieces, None)
    if first is None:
        raise Error(f"{path.name}: there are no states to write")
    with _replacing(path) if str(target) != "-" else _standard_output() as file:
        folder, ending = path.absolute().parent, path.suffix.lower()
        parts = [part for part in ("t", *PARTS) if part in first]
        columns = column_names(robot, parts)
        if ending == ".npz":
            writer = NpzWriter(file, folder, parts, robot.n)
        elif ending == ".npy":
            writer = NpyWriter(file, folder, len(columns))
        else:
            writer = CsvWriter(file, columns if names else None)
        for some in chain([first], pieces):
            writer.write({part: some[part] for part in parts})
            count += len(some[parts[-1]])
        writer.close()
    return count


def evaluate_states(
    robot: Model,
    quantity: str,
    source: str | Path | BinaryIO,
    target: str | Path,
    *,
    method: str | None = None,
    everything: bool = False,
    names: bool = True,
    progress: Progress | None = None,
) -> int:
    """Inverse or forward dynamics of a file of states, into another file; returns how many states there were.

    `everything` writes the states (and t) beside the result. Memory does not grow with the number of states.
    """
    described = quantity_named(quantity)
    if quantity not in ("inverse_dynamics", "forward_dynamics"):
        raise Error(f"files of states are for inverse_dynamics and forward_dynamics, got {brief(quantity)}")
    a_robot(robot, "evaluate_states")
    method = described.method if method is None else method
    check_method(quantity, method)
    everything = flag(everything, "everything")
    (result,) = described.outputs
    count, singular, first = 0, 0, -1

    def computed() -> Iterator[States]:
        nonlocal count, singular, first
        for states in read_states(robot, source, list(described.inputs), progress):
            found, bad = _evaluated(robot, quantity, method, [states[x] for x in described.inputs])
            if bad is not None:
                first = count + int(np.argmax(bad)) if first < 0 and bad.any() else first
                singular += int(bad.sum())
            count += len(found)
            yield (states if everything else {}) | {result: found}

    pieces = computed()
    first_piece = next(pieces, {result: np.zeros((0, robot.n))})  # without any states, the columns all the same
    write_states(robot, target, chain([first_piece], pieces), names=names)
    if singular:
        warnings.warn(
            f"{quantity}: the mass matrix of {robot.name} is singular at {singular} of {count} states, the result is NaN there; "
            f"the first is state {first + 1}",
            SingularWarning,
            stacklevel=2,
        )
    return count


def _evaluated(robot: Model, quantity: str, method: str, given: list[Array]) -> tuple[Array, Array | None]:
    """The results, and where they are NaN for a singular mass matrix, if that is so anywhere."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SingularWarning)
        found = getattr(robot, quantity)(*given, method=method)
    others = [w for w in caught if not issubclass(w.category, SingularWarning)]
    for other in others:
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if len(others) == len(caught):
        return found, None
    finite = np.logical_and.reduce([np.isfinite(x).all(axis=-1) for x in given])
    return found, np.isnan(found).any(axis=-1) & finite


def _check_progress(progress: Any) -> None:
    if progress is not None and not callable(progress):
        raise Error(f"progress must be a function of (done, all), got {brief(progress)}")


def _piece(robot: Model, given: Any) -> States:
    """Some states: arrays (rows, n) by part, or (rows,) for t."""
    if not isinstance(given, Mapping) or not any(part in given for part in ("t", *PARTS)):
        raise Error(f"states must be dictionaries of arrays by part, such as {{'q': ...}}, got {brief(given)}")
    found = {part: numbers(x, part) for part, x in given.items() if part in ("t", *PARTS)}
    rows = {x.shape[:1] for x in found.values()}
    if len(rows) > 1 or any(x.shape[1:] != (() if part == "t" else (robot.n,)) for part, x in found.items()):
        shapes = ", ".join(f"{part} {x.shape}" for part, x in found.items())
        raise Error(f"states of {robot.name} are arrays (rows, {robot.n}) of the same length, and t (rows,), got {shapes}")
    return found


# --- opening ------------------------------------------------------------------------------------------------------------


def _name(source: str | Path | BinaryIO) -> str:
    if isinstance(source, str | Path):
        return "standard input" if str(source) == "-" else Path(source).name
    return "the states"


@contextmanager
def _opened(source: str | Path | BinaryIO) -> Generator[tuple[io.BufferedReader, str]]:
    if isinstance(source, str | Path) and str(source) != "-":
        try:
            file = Path(source).open("rb")  # noqa: SIM115 - only opening may fail so
        except (OSError, ValueError) as error:  # ValueError: a null character in the name
            raise Error(f"{str(source)!r}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
        with file:
            yield file, _name(source)
        return
    given: Any = sys.stdin.buffer if isinstance(source, str | Path) else source
    if not hasattr(given, "readinto"):
        raise Error(f"states are read from a path or from a file open for reading bytes, got {brief(source)}")
    if isinstance(given, io.BufferedReader):
        yield given, _name(source)
        return
    file = io.BufferedReader(given)
    try:
        yield file, _name(source)
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
    sys.stdout.flush()
    yield sys.stdout.buffer


@contextmanager
def _replacing(path: Path) -> Generator[BinaryIO]:
    """A file that takes this name when it is complete; a device or pipe is written to as it is."""
    special = path.exists() and not path.is_file()
    try:
        number, name = (-1, str(path)) if special else tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        file = path.open("wb") if special else os.fdopen(number, "wb")
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror or error}") from None
    if special:
        with file:
            yield file
        return
    try:
        with file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)  # as any other new file
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
