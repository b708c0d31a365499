"""States as NumPy's files: NPY (one table) and NPZ (one array for each part), piece by piece."""

import lzma
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.spatial import Array
from dalembert.streams.layout import ROWS, TIME, States, joined, positional

MOST_NAMES = 1 << 20  # bytes
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)  # what reading an archive may end with


class _Table:
    """An array in an open file, read as rows of its last axis."""

    def __init__(self, file: IO[bytes], what: str) -> None:
        self._file, self._what = file, what
        self.shape, fortran, self._dtype = _header(file, what)
        if self._dtype.kind not in "fiu":
            raise Error(f"{what}: the entries must be real numbers, got {self._dtype}")
        self.width = self.shape[-1] if self.shape else 1
        self.rows = prod(self.shape[:-1])
        self._columns = fortran and len(self.shape) > 1
        if self._columns and len(self.shape) > 2:
            raise Error(f"{what}: {len(self.shape)} axes in Fortran order; save it with numpy.ascontiguousarray")
        self._start = file.tell() if self._columns else 0
        self._at = 0

    def next(self, rows: int) -> Array:
        """The next rows (rows, width); fewer at the end."""
        rows = min(rows, self.rows - self._at)
        if self._columns:
            size = self._dtype.itemsize
            columns: list[Array] = []
            for k in range(self.width):
                self._file.seek(self._start + (k * self.rows + self._at) * size)
                columns.append(self._numbers(rows))
            found = np.stack(columns, axis=1)
        else:
            found = self._numbers(rows * self.width).reshape(rows, self.width)
        self._at += rows
        return found

    def _numbers(self, count: int) -> Array:
        size = count * self._dtype.itemsize
        data = bytearray()
        while len(data) < size and (more := self._file.read(size - len(data))):
            data += more
        if len(data) < size:
            raise Error(f"{self._what}: cut short: {prod(self.shape)} numbers were announced")
        return np.frombuffer(data, self._dtype, count).astype(float, copy=False)


def _header(file: IO[bytes], what: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and type of the array that begins here."""
    try:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format")
        shape, fortran, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    except DAMAGED:
        raise
    except Exception as error:  # NumPy parses the head as Python, whose errors are many: SyntaxError, tokenize.TokenError, ...
        raise Error(f"{what}: not a NumPy array: {brief(str(error))}") from None
    if min(shape, default=0) < 0:
        raise Error(f"{what}: not a NumPy array: a shape of {shape}")
    return shape, fortran, dtype


def read_npy(file: BinaryIO, what: str, robot: Model, wanted: Sequence[str]) -> Iterator[tuple[States, int, int]]:
    """The states of a table without names, how many there were so far, and how many there are."""
    table = _Table(file, what)
    layout = positional(robot, table.width, wanted, what)
    for at in range(0, table.rows, ROWS):
        found = table.next(ROWS)
        yield layout.split(found), at + len(found), table.rows


def read_npz(file: BinaryIO, what: str, robot: Model, wanted: Sequence[str]) -> Iterator[tuple[States, int, int]]:
    """The same from an array for each part, (..., n), and t or time if there is one."""
    try:
        yield from _read_npz(file, what, robot, wanted)
    except DAMAGED as error:
        raise Error(f"{what}: not an NPZ file, or a damaged one: {error}") from None


def _read_npz(file: BinaryIO, what: str, robot: Model, wanted: Sequence[str]) -> Iterator[tuple[States, int, int]]:
    with ExitStack() as open_files:
        try:
            archive = open_files.enter_context(zipfile.ZipFile(file))
        except (ValueError, NotImplementedError) as error:  # a list of contents that makes no sense
            raise Error(f"{what}: not an NPZ file: {error}") from None
        there = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        for part in wanted:
            if part not in there:
                raise Error(f"{what}: there is no array {part!r} (there are: {', '.join(there) or 'none'})")
        _check_joints(archive, there, what, robot)
        tables = {part: _member(open_files, archive, part, what) for part in wanted}
        for part, table in tables.items():
            if table.width != robot.n:
                raise Error(
                    f"{what}: {part} has shape {table.shape}, but the last axis must have the {robot.n} joints of {robot.name}"
                )
        rows = {part: table.rows for part, table in tables.items()}
        if len(set(rows.values())) > 1:
            raise Error(f"{what}: the arrays have different numbers of states: {', '.join(f'{k} {v}' for k, v in rows.items())}")
        total = next(iter(rows.values()))
        times = [_member(open_files, archive, x, what) for x in TIME if x in there]
        times = [x for x in times if x.shape == (total,)]  # a scalar, or shared by many rollouts: not one per state
        for at in range(0, total, ROWS):
            found: States = {}
            if times:
                found["t"] = times[0]._numbers(min(ROWS, total - at))
            found |= {part: table.next(ROWS) for part, table in tables.items()}
            yield found, min(at + ROWS, total), total


def _member(open_files: ExitStack, archive: zipfile.ZipFile, name: str, what: str) -> _Table:
    return _Table(_opened(open_files, archive, name, what), f"{what}, {name}")


def _opened(open_files: ExitStack, archive: zipfile.ZipFile, name: str, what: str) -> IO[bytes]:
    try:
        return open_files.enter_context(archive.open(f"{name}.npy"))
    except (RuntimeError, NotImplementedError, ValueError) as error:  # a password, an unknown way of compressing
        raise Error(f"{what}: {name} cannot be read: {error}") from None


def _check_joints(archive: zipfile.ZipFile, there: Sequence[str], what: str, robot: Model) -> None:
    """Trajectories are saved with the names of their joints, which must be this robot's."""
    if "joints" not in there or archive.getinfo("joints.npy").file_size > MOST_NAMES:
        return
    with ExitStack() as opened:
        member = _opened(opened, archive, "joints", what)
        shape, _, dtype = _header(member, f"{what}, joints")
        size = prod(shape) * dtype.itemsize
        if dtype.kind != "U" or len(shape) != 1 or not 0 < size <= MOST_NAMES:
            return  # something else of this name
        if len(data := member.read(size)) < size:
            raise Error(f"{what}, joints: cut short")
        joints = tuple(map(str, np.frombuffer(data, dtype)))
    if joints != robot.joint_names:
        raise Error(f"{what} is of joints {brief(', '.join(joints))}, but {robot.name} has {', '.join(robot.joint_names)}")


class _Spool:
    """Rows kept on disk until their number is known, which the head of the file must tell."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it closes with this object
        self._rows, self._width = 0, None

    def add(self, rows: Array) -> None:
        self._file.write(np.ascontiguousarray(rows, dtype="<f8").data)
        self._rows += len(rows)
        self._width = rows.shape[1:]

    def copy(self, target: Any, width: tuple[int, ...]) -> None:
        """Write all as an NPY file; `width` where there were no rows."""
        head = {"descr": "<f8", "fortran_order": False, "shape": (self._rows, *(self._width or width))}
        npy.write_array_header_1_0(target, head)
        self._file.seek(0)
        shutil.copyfileobj(self._file, target, 1 << 20)
        self._file.close()


class NpyWriter:
    """Writes states as one table."""

    def __init__(self, file: BinaryIO, folder: Path, width: int) -> None:
        self._target, self._width, self._spool = file, width, _Spool(folder)

    def write(self, states: States) -> None:
        """Add states."""
        self._spool.add(joined(states))

    def close(self) -> None:
        """Write the file."""
        self._spool.copy(self._target, (self._width,))


class NpzWriter:
    """Writes an array for each part of the states."""

    def __init__(self, file: BinaryIO, folder: Path, parts: Sequence[str], n: int) -> None:
        self._target, self._n = file, n
        self._spools = {part: _Spool(folder) for part in parts}

    def write(self, states: States) -> None:
        """Add states."""
        for part, spool in self._spools.items():
            spool.add(states[part])

    def close(self) -> None:
        """Write the file."""
        with zipfile.ZipFile(self._target, "w", zipfile.ZIP_STORED) as archive:
            for part, spool in self._spools.items():
                with archive.open(f"{part}.npy", "w", force_zip64=True) as member:
                    spool.copy(member, () if part == "t" else (self._n,))
