"""Text formatting: words and tables."""

from collections.abc import Sequence


class Text(str):
    """A string that shows itself as it is, so a prompt prints it readably."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def table(rows: Sequence[Sequence[str]], right: bool = False) -> str:
    """Rows as aligned columns; with `right`, all columns but the first end together, as numbers should.

    >>> print(table([["joint", "torque"], ["a", "1.5"]], right=True))
    joint  torque
    a         1.5
    """
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = (x.rjust(w) if right and c else x.ljust(w) for c, (x, w) in enumerate(zip(row, widths, strict=True)))
        return "  ".join(cells).rstrip()

    return "\n".join(map(line, rows))
