"""Text formatting: words and tables."""

import re
import textwrap
from collections.abc import Sequence

WIDTH = 80  # columns of a terminal
LEAST = 24  # columns that folded words need at least
GAP = 2  # between the columns of a table


class Text(str):
    """A string that shows itself as it is, so a prompt prints it readably."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def wrapped(words: str, after: str = "", width: int = WIDTH) -> str:
    """Words in lines that fit, the later ones below the end of `after`, which the first begins with.

    >>> print(wrapped("a number of words", "note: ", 16))
    note: a number
          of words
    """
    return textwrap.fill(words, width, initial_indent=after, subsequent_indent=" " * len(after), break_long_words=False)


def table(rows: Sequence[Sequence[str]], right: bool = False, width: int = WIDTH) -> str:
    """Rows as aligned columns, the first row being titles; with `right`, all columns of numbers end together.

    What is wider than `width` is made to fit: titles of numbers get a line for each word, sentences are folded, and further columns
    stand in a table below, beside the first. Columns with nothing but a title are left out.

    >>> print(table([["joint", "torque"], ["a", "1.5"]], right=True))
    joint  torque
    a         1.5
    >>> print(table([["joint", "torque", "top speed"], ["a", "1.5", "2"]], right=True, width=14))
    joint  torque
    a         1.5
    <BLANKLINE>
             top
    joint  speed
    a          2
    """
    kept = [c for c in range(len(rows[0])) if c == 0 or len(rows) == 1 or any(row[c] for row in rows[1:])]
    columns = [_Column([row[c] for row in rows], right and k > 0) for k, c in enumerate(kept)]
    if sum(column.widest + GAP for column in columns) - GAP > width:
        for column in columns:
            column.narrow()
    first, *more = _groups(columns, width)
    return "\n\n".join([_block(first, width), *(_block(group, width, sparse=True) for group in more)])


class _Column:
    """The cells of a column, the title first; each becomes some lines."""

    def __init__(self, cells: list[str], right: bool) -> None:
        self.words = any(len(re.findall(r"(?<!\S)\S*[A-Za-z]{3}", cell)) > 3 for cell in cells[1:])  # a name is one word
        self.right = right and not self.words
        self.cells = [[cell] for cell in cells]

    @property
    def widest(self) -> int:
        return max(len(line) for lines in self.cells for line in lines)

    @property
    def least(self) -> int:
        """Its width, or what it can be folded to."""
        return min(self.widest, LEAST) if self.words else self.widest

    def narrow(self) -> None:
        """A line for each word of the title over numbers."""
        if self.right:
            self.cells[0] = self.cells[0][0].split(" ")

    def folded(self, width: int) -> list[list[str]]:
        """The lines of each cell, no longer than this as far as possible, and all filled up."""
        cells = self.cells
        if self.words and width < self.widest:
            cells = [textwrap.wrap(cell[0], width, break_long_words=False) or [""] for cell in cells]
        wide = max(len(line) for lines in cells for line in lines)
        return [[line.rjust(wide) if self.right else line.ljust(wide) for line in lines] for lines in cells]


def _groups(columns: list[_Column], width: int) -> list[list[_Column]]:
    """Columns that stand side by side, the first column in front of each group."""
    groups = [columns[:1]]
    for column in columns[1:]:
        if len(groups[-1]) > 1 and sum(x.least + GAP for x in groups[-1]) + column.least > width:
            groups.append(columns[:1])
        groups[-1].append(column)
    return groups


def _block(columns: list[_Column], width: int, sparse: bool = False) -> str:
    """One table; rows with nothing in them, or if it is `sparse` nothing beside the first column, are left out."""
    spare = width - GAP * (len(columns) - 1) - sum(x.widest for x in columns if not x.words)
    folding, cells = sorted((x for x in columns if x.words), key=lambda x: x.widest), dict[_Column, list[list[str]]]()
    for k, column in enumerate(folding):  # the narrow ones leave room to the wide ones
        cells[column] = column.folded(max(spare // (len(folding) - k), LEAST))
        spare -= len(cells[column][0][0])
    parts = [cells.get(x) or x.folded(width) for x in columns]
    lines: list[str] = []
    for i, row in enumerate(zip(*parts, strict=True)):
        height = max(map(len, row)) if any(line.strip() for lines in row[sparse:] for line in lines) else 0
        for k in range(height):
            shift = [height - len(lines) if i == 0 else 0 for lines in row]  # titles stand on their columns, texts hang
            texts = [x[k - d] if 0 <= k - d < len(x) else " " * len(x[0]) for x, d in zip(row, shift, strict=True)]
            lines.append((" " * GAP).join(texts).rstrip())
    return "\n".join(lines)
