"""Tables as CSV: numbers between commas (semicolons, tabs, spaces), with or without a line of names."""

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.files.layout import Arrange, Layout, States, not_finite
from dalembert.storage import limits

MARK = b"\xef\xbb\xbf"  # what some programs put before UTF-8
NOTHING = (b"", b"na", b"n/a", b"<na>", b"null", b"none")  # what programs write for NaN
BLOCK = 1 << 20  # bytes read at a time: some 3,000 states of six joints


def read_csv(file: BinaryIO, what: str, arrange: Arrange, *, allow_nan: bool = False) -> Iterator[tuple[States, int]]:
    """The states, block by block, and how many bytes were read so far."""
    layout, delimiter, read = None, b",", 0
    for line, block in _blocks(file, what):
        read += len(block)
        skipped = 0
        if layout is None:
            block = block.removeprefix(MARK)
            start = _start(block, line, what, arrange)
            if start is None:
                continue  # nothing but empty lines and remarks so far
            layout, delimiter, skipped = start
        rest = block if not skipped else block.split(b"\n", skipped)[skipped]
        table = None if layout.words else _fast(rest, delimiter, layout.width)  # which compares no words
        if table is None:
            table = _slowly(rest, line + skipped, delimiter, layout, what)
        if not (allow_nan or np.isfinite(table).all()):
            _check_finite(table, rest, line + skipped, delimiter, layout, what)
        if len(table):
            yield layout.split(table), read


def _blocks(file: BinaryIO, what: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines, with the number of the first; as soon as they come through a pipe."""
    line, begun, size = 1, list[bytes](), 0  # of a line whose end has not come yet
    read = file.read1 if isinstance(file, io.BufferedReader) else file.read
    while data := read(BLOCK):
        cut = data.rfind(b"\n") + 1
        if cut:
            block = b"".join([*begun, data[:cut]]).replace(b"\r\n", b"\n")
            yield line, block
            line += block.count(b"\n")
            begun, size = [], 0
        begun.append(data[cut:])
        size += len(data) - cut
        if size > limits.LINE:
            raise Error(f"{what}, line {line}: longer than {limits.LINE >> 20} MiB; is this a table of numbers?")
    if rest := b"".join(begun):
        yield line, rest.rstrip(b"\r") + b"\n"


def _start(block: bytes, line: int, what: str, arrange: Arrange) -> tuple[Layout, bytes, int] | None:
    """The layout, the delimiter, and how many lines come before the first state; None if nothing is there yet."""
    remark = b""
    for k, text in enumerate(block.split(b"\n")):
        bare = text.strip()
        if not bare or bare.startswith(b"#"):
            remark = bare.lstrip(b"# ") or remark
            continue
        where = f"{what}, line {line + k}"
        if b"\r" in bare:
            raise Error(f"{where}: lines end with a carriage return only; use line feeds")
        outside = re.sub(rb'"[^"]*"', b"", bare)
        delimiter = next((d for d in (b";", b"\t", b",") if d in outside), b"")  # a comma may be a decimal one
        for names in (bare, remark):
            if names.count(delimiter or b" ") >= limits.COLUMNS:
                raise Error(f"{where}: more than {limits.COLUMNS} columns; is this a table of states?")
        fields, above = _names(bare, delimiter), _names(remark, delimiter)
        if not any(map(is_number, fields)):
            return arrange(fields, where), delimiter, k + 1
        if len(above) == len(fields) and not any(map(is_number, above)):
            return arrange(above, where), delimiter, k
        return arrange(len(fields), where), delimiter, k
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


def is_number(text: str | bytes) -> bool:
    """Whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fast(block: bytes, delimiter: bytes, width: int) -> Array | None:
    """The numbers of a block; None if anything is unusual. Unlike np.fromstring, np.loadtxt raises and never warns."""
    if not block.strip():
        return np.empty((0, width))  # of nothing, it would
    try:
        lines = block.decode("ascii").split("\n")
        values = np.loadtxt(lines, delimiter=delimiter.decode() or None, comments=None, ndmin=2)
    except ValueError:
        return None
    return values if values.shape[1] == width else None


def _slowly(block: bytes, first: int, delimiter: bytes, layout: Layout, what: str) -> Array:
    """The same line by line: empty ones and remarks left out, and errors that name the place."""
    rows, wanted = list[list[float]](), layout.wanted
    for number, bare in _rows(block, first):
        fields = bare.split(delimiter) if delimiter else bare.split()
        if len(fields) != layout.width:
            raise Error(f"{what}, line {number}: {len(fields)} columns, but {layout.width} above")
        for c, word in layout.words.items():
            if (found := _word(fields[c])) != word:
                raise Error(f"{what}, line {number}, {layout.told(c)}: {brief(found, 40)}, but {brief(word, 40)} above")
        row = [np.nan] * layout.width
        for c in wanted:
            try:
                row[c] = _number(fields[c].strip())
            except ValueError:
                shown = brief(fields[c].strip().decode(errors="replace"), 40)
                raise Error(f"{what}, line {number}, {layout.told(c)}: {shown} is not a number") from None
        rows.append(row)
    return np.array(rows, dtype=float).reshape(-1, layout.width)


def _rows(block: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """The lines with numbers, and their own numbers in the file."""
    for k, line in enumerate(block.split(b"\n"), first):
        bare = line.strip()
        if bare and not bare.startswith(b"#"):
            yield k, bare


def _check_finite(table: Array, block: bytes, first: int, delimiter: bytes, layout: Layout, what: str) -> None:
    """Refuse NaN and infinity in the columns of states, by line and column of the file."""
    wanted = layout.wanted
    bad = np.argwhere(~np.isfinite(table[:, wanted]))
    if len(bad):
        row, column = int(bad[0, 0]), wanted[bad[0, 1]]
        line, bare = next(itertools.islice(_rows(block, first), row, None))
        fields = bare.split(delimiter) if delimiter else bare.split()
        shown = brief(_word(fields[column]), 40).strip("'") or "an empty field"
        raise not_finite(f"{what}, line {line}, {layout.told(column)}", shown)


def head(file: BinaryIO, what: str) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the columns, none where the table has none, and the fields of the first row below them."""
    for line, block in _blocks(file, what):
        block = block.removeprefix(MARK)
        start = _start(block, line, what, lambda columns, _: Layout(() if isinstance(columns, int) else columns, {}))
        if start is not None:
            layout, delimiter, skipped = start
            below = next((bare for k, bare in _rows(block, line) if k >= line + skipped), b"")
            return layout.names, _names(below, delimiter)
    return (), ()


def _word(field: bytes) -> str:
    return field.strip().strip(b'"').decode(errors="replace").strip()


def _number(text: bytes) -> float:
    if b"_" in text:  # a spelling that only Python accepts
        raise ValueError
    bare = text.strip(b'"')
    return np.nan if bare.strip().lower() in NOTHING else float(bare)


class CsvWriter:
    """Writes tables as CSV through a function that takes text; numbers are the shortest that read back as the same."""

    def __init__(self, write: Callable[[str], Any], names: Sequence[str] | None) -> None:
        self._write = write
        if names:
            line = io.StringIO()
            odd = any(sign in name for name in names for sign in ';\t ,"#')
            csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL).writerow(names)
            write(line.getvalue())

    def write(self, table: Array) -> None:
        """Add rows."""
        self._write("".join([",".join(map(repr, row)) + "\n" for row in table.tolist()]))
