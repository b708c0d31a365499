"""States as CSV: numbers between commas (semicolons, tabs, spaces), with or without a line of names."""

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.spatial import Array
from dalembert.streams.layout import Layout, States, joined, named, positional

BLOCK = 1 << 20  # bytes read at a time: some 3,000 states of six joints
LONGEST = 16 << 20  # bytes of a line


def read_csv(file: BinaryIO, what: str, robot: Model, wanted: Sequence[str]) -> Iterator[tuple[States, int]]:
    """The states, block by block, and how many bytes were read so far."""
    layout, delimiter, read = None, b",", 0
    for line, block in _blocks(file, what):
        read += len(block)
        skipped = 0
        if layout is None:
            block = block.removeprefix(b"\xef\xbb\xbf")  # what some programs put before UTF-8
            found = _start(block, line, what, robot, wanted)
            if found is None:
                continue  # nothing but empty lines and remarks so far
            layout, delimiter, skipped = found
        rest = block if not skipped else block.split(b"\n", skipped)[skipped]
        table = _fast(rest, delimiter, layout.width)
        if table is None:
            table = _slowly(rest, line + skipped, delimiter, layout, what)
        if len(table):
            yield layout.split(table), read


def _blocks(file: BinaryIO, what: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines, with the number of the first; as soon as they come through a pipe."""
    line, rest = 1, b""
    read = file.read1 if isinstance(file, io.BufferedReader) else file.read
    while data := read(BLOCK):
        data = rest + data
        cut = data.rfind(b"\n") + 1
        block, rest = data[:cut].replace(b"\r\n", b"\n"), data[cut:]
        if len(rest) > LONGEST:
            raise Error(f"{what}, line {line + block.count(10)}: longer than {LONGEST >> 20} MiB; is this a table of numbers?")
        if block:
            yield line, block
            line += block.count(b"\n")
    if rest:
        yield line, rest.rstrip(b"\r") + b"\n"


def _start(block: bytes, line: int, what: str, robot: Model, wanted: Sequence[str]) -> tuple[Layout, bytes, int] | None:
    """The layout, the delimiter, and how many lines come before the first state; None if nothing is there yet."""
    remark = b""
    for k, text in enumerate(block.split(b"\n")):
        bare = text.strip()
        if not bare or bare.startswith(b"#"):
            remark = bare.lstrip(b"# ") or remark
            continue
        if b"\r" in bare:
            raise Error(f"{what}, line {line + k}: lines end with a carriage return alone; end them with a line feed")
        outside = re.sub(rb'"[^"]*"', b"", bare)
        delimiter = next((d for d in (b";", b"\t", b",") if d in outside), b"")  # a comma may be a decimal one
        fields, above = _names(bare, delimiter), _names(remark, delimiter)
        where = f"{what}, line {line + k}"
        if not any(map(_is_number, fields)):
            return named(robot, fields, wanted, where), delimiter, k + 1
        if len(above) == len(fields) and not any(map(_is_number, above)):
            return named(robot, above, wanted, where), delimiter, k
        return positional(robot, len(fields), wanted, where), delimiter, k
    return None


def _names(line: bytes, delimiter: bytes) -> list[str]:
    text = line.decode(errors="replace")
    if not delimiter:
        return text.split()
    try:
        fields = next(csv.reader([text], delimiter=delimiter.decode(), skipinitialspace=True), [])
    except csv.Error:  # a name without end: shown as it is
        fields = text.split(delimiter.decode())
    return [x.strip() for x in fields]


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fast(block: bytes, delimiter: bytes, width: int) -> Array | None:
    """The numbers of a block in which every line has as many; None if anything is unusual."""
    if delimiter != b",":
        if b"," in block:
            return None
        lines = block.split(b"\n")
        block = b"\n".join([b",".join(x.split()) for x in lines]) if not delimiter else block.replace(delimiter, b",")
    signs = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    commas = np.searchsorted(np.flatnonzero(signs == ord(",")), ends)
    if (np.diff(commas, prepend=0) != width - 1).any():
        return None
    try:
        with warnings.catch_warnings():  # for now NumPy only warns of what is no number
            warnings.simplefilter("error", DeprecationWarning)
            values = np.fromstring(block.replace(b"\n", b",").decode("ascii"), sep=",")
    except (DeprecationWarning, ValueError):
        return None
    return values.reshape(-1, width) if values.size == len(ends) * width else None


def _slowly(block: bytes, first: int, delimiter: bytes, layout: Layout, what: str) -> Array:
    """The same line by line: empty ones and remarks left out, and errors that name the place."""
    wanted = sorted(k for columns in layout.columns.values() for k in columns)
    rows: list[list[float]] = []
    for k, line in enumerate(block.split(b"\n")):
        bare = line.strip()
        if not bare or bare.startswith(b"#"):
            continue
        fields = bare.split(delimiter) if delimiter else bare.split()
        if len(fields) != layout.width:
            raise Error(f"{what}, line {first + k}: {len(fields)} columns, but {layout.width} above")
        row = [np.nan] * layout.width
        for c in wanted:
            try:
                row[c] = _number(fields[c].strip())
            except ValueError:
                shown = brief(fields[c].strip().decode(errors="replace"), 40)
                raise Error(f"{what}, line {first + k}, column {c + 1} ({layout.names[c]}): {shown} is no number") from None
        rows.append(row)
    return np.array(rows, dtype=float).reshape(-1, layout.width)


def _number(text: bytes) -> float:
    if b"_" in text:  # Python's own spelling, nobody else's
        raise ValueError
    return float(text.strip(b'"'))


class CsvWriter:
    """Writes states as CSV; numbers are the shortest that read back as the same."""

    def __init__(self, file: BinaryIO, names: Sequence[str] | None) -> None:
        self._file = file
        if names:
            line = io.StringIO()
            odd = any(sign in name for name in names for sign in ';\t ,"#')
            csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL).writerow(names)
            file.write(line.getvalue().encode())

    def write(self, states: States) -> None:
        """Add states, and send them on at once."""
        lines = [",".join(map(repr, row)) for row in joined(states).tolist()]
        self._file.write(("\n".join(lines) + "\n").encode() if lines else b"")
        self._file.flush()

    def close(self) -> None:
        """Nothing is left to do."""
