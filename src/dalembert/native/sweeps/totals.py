"""Totals of a sweep: what parts of it have found, added in any order to the same bits.

Extremes are kept for each class of states (k mod 8), with the lowest number of those that attain them; counts are integers; sums
are exact: those of a leaf, which are rounded in a fixed order, are added as integers, multiples of the least double.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.native.sweeps.reductions import CLASSES, Memory, Reductions, memory

UNIT = 1074  # 2^-1074 is the least double
ABOVE, BELOW = (np.greater, np.less)


@dataclass
class Totals:
    """What some leaves of a sweep give, r results; numbers of states are -1 where there are none."""

    states: int
    maximum: Any  # (r, 8)
    argmax: Any
    minimum: Any
    argmin: Any
    nan: Any  # (r,)
    first_nan: Any  # (r,)
    sums: list[list[int]]  # of results and of squares, [2][r], in units of 2^-1074
    special: Any  # (2, r): what is infinite or NaN of the sums
    histogram: Any  # (r, rows or 1, bins + 2)
    envelope: tuple[Any, Any, Any, Any]  # (r, slots) each: maximum, argmax, minimum, argmin
    beyond: Any  # (r + 1,): states beyond the limits, of each result and of any

    @classmethod
    def empty(cls, reductions: Reductions, results: int) -> "Totals":
        """Of no states."""
        return gathered(memory(reductions, results))

    def harvest(self, made: Memory, states: int, padding: int, locate: Callable[[int], int]) -> None:
        """Take over what belongs to one leaf alone: sums and NaN; `padding` lanes were no states."""
        self.states += states
        for k, name in enumerate(("sum", "square")):
            row = made.row(name)
            for o, value in enumerate(_in_order(row)):
                if np.isfinite(value):
                    self.sums[k][o] += units(value)
                else:
                    self.special[k, o] += value
            row[:] = 0.0
        counts = made.row("nan")
        if counts.any():
            for o, count in enumerate(counts.sum(axis=1).tolist()):
                if self.histogram.size:
                    self.histogram[o, 0, 0] -= count
                self.nan[o] += count - padding
                if count > padding and self.first_nan[o] < 0:
                    self.first_nan[o] = locate(o)
            counts[:] = 0

    def __add__(self, other: "Totals") -> "Totals":
        upper = _better(ABOVE, self.maximum, self.argmax, other.maximum, other.argmax)
        lower = _better(BELOW, self.minimum, self.argmin, other.minimum, other.argmin)
        mine, theirs = self.envelope, other.envelope
        found = np.where(self.first_nan < 0, other.first_nan, self.first_nan)
        first = np.where((other.first_nan >= 0) & (other.first_nan < found), other.first_nan, found)
        with np.errstate(invalid="ignore"):  # infinity less infinity
            special = self.special + other.special
        return Totals(
            self.states + other.states,
            *upper,
            *lower,
            self.nan + other.nan,
            first,
            [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(self.sums, other.sums, strict=True)],
            special,
            self.histogram + other.histogram,
            (*_better(ABOVE, *mine[:2], *theirs[:2]), *_better(BELOW, *mine[2:], *theirs[2:])),
            self.beyond + other.beyond,
        )

    def sum(self, power: int) -> Any:
        """The sums (r,) of results (power 1) or of their squares (2), rounded once."""
        exact = np.array([rounded(x) for x in self.sums[power - 1]], dtype=float)
        return exact + self.special[power - 1]

    def to_json(self) -> dict[str, Any]:
        """Numbers and lists, from which `from_json` makes the same bits."""
        return {
            "states": self.states,
            "extremes": [_hex(self.maximum), self.argmax.tolist(), _hex(self.minimum), self.argmin.tolist()],
            "nan": [self.nan.tolist(), self.first_nan.tolist()],
            "sums": [[hex(x) for x in row] for row in self.sums],
            "special": _hex(self.special),
            "histogram": self.histogram.tolist(),
            "envelope": [_hex(x) if k % 2 == 0 else x.tolist() for k, x in enumerate(self.envelope)],
            "beyond": self.beyond.tolist(),
        }

    @classmethod
    def from_json(cls, text: Mapping[str, Any], like: "Totals") -> "Totals":
        """The totals that were written; of the shapes of others, or a ValueError."""
        maximum, argmax, minimum, argmin = text["extremes"]
        a, b, c, d = text["envelope"]
        whole = lambda x, other: np.array(x, dtype=np.int64).reshape(other.shape)  # noqa: E731
        return Totals(
            int(text["states"]),
            _floats(maximum, like.maximum),
            whole(argmax, like.argmax),
            _floats(minimum, like.minimum),
            whole(argmin, like.argmin),
            whole(text["nan"][0], like.nan),
            whole(text["nan"][1], like.first_nan),
            [[int(x, 16) for x in row] for row in text["sums"]],
            _floats(text["special"], like.special),
            whole(text["histogram"], like.histogram),
            (
                _floats(a, like.envelope[0]), whole(b, like.envelope[1]),
                _floats(c, like.envelope[2]), whole(d, like.envelope[3]),
            ),
            whole(text["beyond"], like.beyond),
        )  # fmt: skip


def gathered(made: Memory) -> Totals:
    """What the memory of a sweep holds, without the sums and NaN of its leaves."""
    results, whole = len(made.envelope), made.envelope.view(np.int64)
    beyond = [*made.row("beyond").sum(axis=1), made.beyond.sum()]
    return Totals(
        0,
        made.row("maximum").copy(),
        made.row("argmax").copy(),
        made.row("minimum").copy(),
        made.row("argmin").copy(),
        np.zeros(results, dtype=np.int64),
        np.full(results, -1),
        [[0] * results, [0] * results],
        np.zeros((2, results)),
        made.histogram.sum(axis=0, dtype=np.int64),
        (made.envelope[..., 0].copy(), whole[..., 1].copy(), made.envelope[..., 2].copy(), whole[..., 3].copy()),
        np.array(beyond, dtype=np.int64),
    )


def _better(test: Any, value: Any, at: Any, other: Any, at_other: Any) -> tuple[Any, Any]:
    """The extreme of two, and the lower number where they are equal; none is -1."""
    lower = (other == value) & (at_other >= 0) & ((at_other < at) | (at < 0))
    theirs = (test(other, value) & (at_other >= 0)) | lower
    return np.where(theirs, other, value), np.where(theirs, at_other, at)


def _in_order(row: Any) -> list[float]:
    """The sums over the classes, one by one."""
    total = row[:, 0].copy()
    with np.errstate(invalid="ignore", over="ignore"):
        for k in range(1, CLASSES):
            total += row[:, k]
    return total.tolist()


def units(x: float) -> int:
    """A double as a multiple of 2^-1074.

    >>> units(2.0**-1074), rounded(units(0.1))
    (1, 0.1)
    """
    top, bottom = x.as_integer_ratio()
    return top << (UNIT - bottom.bit_length() + 1)


def rounded(whole: int) -> float:
    """The double nearest to a multiple of 2^-1074."""
    try:
        return whole / (1 << UNIT)
    except OverflowError:
        return np.inf if whole > 0 else -np.inf


def _hex(array: Any) -> list[str]:
    return [float(x).hex() for x in np.ravel(array)]


def _floats(text: Any, like: Any) -> Any:
    return np.array([float.fromhex(x) for x in text], dtype=float).reshape(like.shape)
