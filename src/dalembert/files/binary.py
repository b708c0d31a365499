"""Tables as NumPy's files: NPY (one array) and NPZ (named arrays), in chunks or whole, checked before memory is allocated."""

import io
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.files.layout import ROWS, TIME, Arrange, States, entries
from dalembert.model.model import Model
from dalembert.storage import limits

AT_ONCE = 1 << 20  # bytes
PIECE = 4_000_000  # numbers
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as NumPy does
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError)  # what reading an archive may end with


class Head:
    """The header of an array in an open file."""

    def __init__(self, file: IO[bytes], what: str) -> None:
        self.file, self.what = file, what
        start = file.read(10)
        try:
            version = npy.read_magic(io.BytesIO(start[:8]))
            if version not in ((1, 0), (2, 0)):
                raise ValueError(f"version {version} of the format")
            start += file.read(2) if version == (2, 0) else b""  # there the length of the rest has four bytes
            length = int.from_bytes(start[8:], "little")
            if length > limits.HEADER:
                raise ValueError(f"a header of {length} bytes")
            rest = io.BytesIO(start[8:] + file.read(length))
            header = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(rest)
        except (OSError, *DAMAGED):
            raise
        except Exception as error:  # NumPy parses it as Python, whose errors are many: SyntaxError, tokenize.TokenError, ...
            raise Error(f"{what}: not a NumPy array: {brief(str(error))}") from None
        self.shape: tuple[int, ...] = header[0]
        self.dtype: np.dtype[Any] = header[2]
        self.fortran: bool = header[1] and len(self.shape) > 1
        self.start = len(start) + length  # where the numbers begin
        if min(self.shape, default=0) < 0:
            raise Error(f"{what}: not a NumPy array: a shape of {self.shape}")

    def fit(self, size: int) -> None:
        """Reject an array whose length differs from its header, given the number of bytes in the file."""
        there, said = size - self.start, prod(self.shape) * self.dtype.itemsize
        if there != said:
            raise Error(f"{self.what}: {'truncated' if there < said else 'too long'}: {there} bytes, but its header says {said}")


class Table(Head):
    """An array of real numbers, read as rows of its last axis, or whole."""

    def __init__(self, file: IO[bytes], what: str, size: int) -> None:
        super().__init__(file, what)
        if self.dtype.kind not in "fiu":
            raise Error(f"{what}: the entries must be real numbers, got {self.dtype}")
        self.fit(size)
        self.width = self.shape[-1] if self.shape else 1
        self.rows = prod(self.shape[:-1])
        self._at = 0

    def by_rows(self, files: ExitStack | None) -> None:
        """Prepare for `next`: columns inside an archive are copied to disk once, a file that is kept open with the others."""
        if self.fortran and (len(self.shape) > 2 or (files and prod(self.shape) * self.dtype.itemsize > limits.DISK)):
            raise Error(f"{self.what}: an array of shape {self.shape} in Fortran order; save it with numpy.ascontiguousarray")
        if self.fortran and files:
            copy = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is one
            shutil.copyfileobj(self.file, copy, AT_ONCE)
            self.file, self.start = copy, 0

    def next(self, rows: int) -> Array:
        """The next rows (rows, width); fewer at the end."""
        rows = min(rows, self.rows - self._at)
        if self.fortran:
            columns: list[Array] = []
            for k in range(self.width):
                self.file.seek(self.start + (k * self.rows + self._at) * self.dtype.itemsize)
                columns.append(self.numbers(rows))
            values = np.stack(columns, axis=1)
        else:
            values = self.numbers(rows * self.width).reshape(rows, self.width)
        self._at += rows
        return values

    def whole(self) -> Array:
        """All of it, in C order."""
        flat, step = np.empty(prod(self.shape)), max(AT_ONCE // self.dtype.itemsize, 1)
        for at in range(0, flat.size, step):
            some = self.numbers(min(step, flat.size - at))
            flat[at : at + some.size] = some
        return np.ascontiguousarray(flat.reshape(self.shape[::-1]).T) if self.fortran else flat.reshape(self.shape)

    def numbers(self, count: int) -> Array:
        """The next numbers."""
        size = count * self.dtype.itemsize
        data = bytearray()
        while len(data) < size and (more := self.file.read(min(size - len(data), AT_ONCE))):
            data += more
        if len(data) < size:
            raise Error(f"{self.what}: truncated: the header announces {prod(self.shape)} numbers")
        return np.frombuffer(data, self.dtype, count).astype(float, copy=False)


class _InPieces:
    """A file read in chunks, no matter what an archive claims about the length of its directory."""

    def __init__(self, file: BinaryIO) -> None:
        self.seek, self.tell, self._read = file.seek, file.tell, file.read

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._read(size if 0 <= size <= limits.CONTENTS else limits.CONTENTS)


class Archive:
    """The arrays of an NPZ file."""

    def __init__(self, held: zipfile.ZipFile, what: str, files: ExitStack) -> None:
        self._held, self._what, self.files = held, what, files
        self.names = [name.removesuffix(".npy") for name in held.namelist() if name.endswith(".npy")]

    def table(self, name: str) -> Table:
        """One of the arrays."""
        info = self._held.getinfo(f"{name}.npy")
        return Table(self._opened(info), f"{self._what}, {name}", info.file_size)

    def joints(self) -> tuple[str, ...] | None:
        """The names of the joints, which trajectories are saved with; None if there are none."""
        if "joints" not in self.names or (info := self._held.getinfo("joints.npy")).file_size > limits.NAMES:
            return None
        head = Head(self._opened(info), f"{self._what}, joints")
        if head.shape == (0,):
            return ()
        size = prod(head.shape) * head.dtype.itemsize
        if head.dtype.kind != "U" or len(head.shape) != 1 or not 0 < size <= limits.NAMES:
            return None  # something else of this name
        head.fit(info.file_size)
        try:
            return tuple(map(str, np.frombuffer(head.file.read(), head.dtype)))
        except ValueError as error:  # cut short, or codes that no letter has
            raise Error(f"{head.what}: not names: {error}") from None

    def _opened(self, info: zipfile.ZipInfo) -> IO[bytes]:
        try:
            if info.compress_type not in PACKED:
                raise NotImplementedError("it uses a compression that NumPy does not write")
            return self.files.enter_context(self._held.open(info))
        except (RuntimeError, NotImplementedError, ValueError) as error:  # a password, a newer version of the format
            raise Error(f"{self._what}: {info.filename} cannot be read: {error}") from None


@contextmanager
def archive(file: BinaryIO, what: str) -> Generator[Archive]:
    """The arrays of an NPZ file; an Error if it is damaged."""
    try:
        with ExitStack() as files:
            try:
                held = files.enter_context(zipfile.ZipFile(_InPieces(file)))  # pyright: ignore[reportArgumentType]
            except (ValueError, NotImplementedError) as error:  # a list of contents that makes no sense
                raise Error(f"{what}: not an NPZ file: {error}") from None
            yield Archive(held, what, files)
    except DAMAGED as error:
        raise Error(f"{what}: not an NPZ file, or a damaged one: {error}") from None


def read_npy(file: BinaryIO, what: str, arrange: Arrange) -> Iterator[tuple[States, int, int]]:
    """The states of a table without names, how many there were so far, and how many there are."""
    start, end = file.tell(), file.seek(0, io.SEEK_END)
    file.seek(start)
    table = Table(file, what, end - start)
    table.start += start
    table.by_rows(None)
    layout, step = arrange(table.width, what), _piece(table.width)
    for at in range(0, table.rows, step):
        rows = table.next(step)
        yield layout.split(rows), at + len(rows), table.rows


def read_npz(file: BinaryIO, what: str, robot: Model, wanted: Sequence[str]) -> Iterator[tuple[States, int, int]]:
    """The same from an array for each part, (..., n), and t or time if there is one."""
    with archive(file, what) as held:
        for part in wanted:
            if part not in held.names:
                raise Error(f"{what}: there is no array {part!r} (there are: {', '.join(held.names) or 'none'})")
        joints = held.joints()
        if joints is not None and joints != robot.joint_names:
            raise other_joints(what, robot, joints)
        tables = {part: held.table(part) for part in wanted}
        for part, table in tables.items():
            if table.width != len(names := entries(robot, part)):
                raise Error(
                    f"{what}: {part} has shape {table.shape}, but the last axis must have the {len(names)} joints of {robot.name}"
                )
            table.by_rows(held.files)
        rows = {part: table.rows for part, table in tables.items()}
        if len(set(rows.values())) > 1:
            raise Error(f"{what}: the arrays have different numbers of states: {', '.join(f'{k} {v}' for k, v in rows.items())}")
        total, step = next(iter(rows.values())), _piece(robot.n)
        times = [held.table(x) for x in TIME if x in held.names]
        times = [x for x in times if x.shape == (total,)]  # a scalar, or shared by many rollouts: not one per state
        for at in range(0, total, step):
            states: States = {}
            if times:
                states["t"] = times[0].numbers(min(step, total - at))
            states |= {part: table.next(step) for part, table in tables.items()}
            yield states, min(at + step, total), total


def _piece(width: int) -> int:
    """How many rows are read at a time."""
    return max(1, min(ROWS, PIECE // max(width, 1)))


def other_joints(what: str, robot: Model, joints: Sequence[str]) -> Error:
    """Error for a file of another robot."""
    wanted = brief(", ".join(robot.joint_names)).strip("'")
    return Error(f"{what} is of joints {brief(', '.join(joints))}, but {robot.name} has {wanted}")


class Spool:
    """Rows kept on disk until their number is known, which the header of the array must contain."""

    def __init__(self, file: IO[bytes], width: tuple[int, ...]) -> None:
        self._file, self._width, self._rows = file, width, 0

    def add(self, rows: Array) -> None:
        """Keep some more."""
        self._file.write(np.ascontiguousarray(rows, dtype="<f8").data)
        self._rows += len(rows)

    def copy(self, target: Any) -> None:
        """Write all as an array."""
        npy.write_array_header_1_0(target, {"descr": "<f8", "fortran_order": False, "shape": (self._rows, *self._width)})
        self._file.seek(0)
        shutil.copyfileobj(self._file, target, AT_ONCE)


@contextmanager
def spools(folder: Path, widths: Mapping[str, tuple[int, ...]]) -> Generator[dict[str, Spool]]:
    """One for each array, by name; each row has so many numbers."""
    with ExitStack() as files:
        yield {name: Spool(files.enter_context(tempfile.TemporaryFile(dir=folder)), width) for name, width in widths.items()}


def write_npz(file: BinaryIO, arrays: Mapping[str, Array | Spool]) -> None:
    """Named arrays as NumPy's savez writes them."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as held:
        for name, array in arrays.items():
            with held.open(f"{name}.npy", "w", force_zip64=True) as member:
                if isinstance(array, Spool):
                    array.copy(member)
                else:
                    npy.write_array(member, array, allow_pickle=False)
