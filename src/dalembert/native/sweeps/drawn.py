"""States by their number: the inputs of a program from an index, the same in native code and in NumPy, bit by bit.

Input j of state k comes from a word of 64 bits, and needs no other state, so that any part of a sweep can be made again anywhere:

    hashed     x = mix(k g + s_j): a counter through the finalizer of splitmix64; every second input has the low half of a word
    spread     x = k a_j + s_j mod 2^64: the Kronecker sequence of the powers of a generalized golden ratio
    u = x / 2^64 in [0, 1),   input = low + width u

or min(max(low - width + width (1 + u), least), most) with a wider range, so that a share of the inputs lies at the ends of the
given one. A stepped input goes through points of a grid: digit (k // stride) mod count. Products and sums are rounded one by one,
as NumPy does.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np

from dalembert.native.assembly import Assembly

FIXED, HASHED, SPREAD, STEPPED = "f", "h", "s", "g"  # kinds of inputs; capital H and S: some of them at the ends
GOLDEN, MIX = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST = 31  # the last shift of the finalizer
WORD = (1 << 64) - 1
ROWS = 6  # of the table of inputs: multiplier, shift, low, width, least, most; of a grid: step for width, then count and stride


@dataclass(frozen=True)
class Inputs:
    """How the scalars of all inputs of a program are drawn: a letter each, and the words (6, m) that the kernel reads."""

    kinds: str
    table: Any

    def states(self, index: Any) -> Any:
        """The scalars (..., m) of the states with these numbers."""
        k = np.asarray(index).astype(np.uint64)
        columns = [self._column(j, k) for j in range(len(self.kinds))]
        return np.stack(columns, axis=-1) if columns else np.zeros((*k.shape, 0))

    def _column(self, j: int, k: Any) -> Any:
        kind, (factor, shift, *_) = self.kinds[j], self.table[:, j]
        _, _, low, width, a, b = self.table[:, j].view(np.float64)
        if kind == FIXED:
            return np.full(k.shape, low)
        if kind == STEPPED:
            return (k // np.uint64(b) % np.uint64(a)).astype(float) * width + low
        with np.errstate(over="ignore"):
            x = mixed(k * np.uint64(GOLDEN) + shift) if kind.lower() == HASHED else k * factor + shift
        x = x << np.uint64(32) if word_of(self.kinds, j) != j else x
        u = ((x >> np.uint64(12)) | np.uint64(0x3FF0000000000000)).view(np.float64)
        if not kind.isupper():
            return (u - 1.0) * width + low
        x = u * width + low
        x = np.where(x > a, x, a)
        return np.where(x < b, x, b)


def word_of(kinds: str, j: int) -> int:
    """The input whose word input j takes: its own, or the low half of that of the hashed input before it.

    >>> [word_of("hfhhsh", j) for j in range(6)]
    [0, 1, 0, 3, 4, 3]
    """
    hashed = [i for i in range(j + 1) if kinds[i].lower() == HASHED]
    return hashed[-2] if hashed[-1:] == [j] and len(hashed) % 2 == 0 else j


def drawn(kinds: str, low: Any, high: Any, ends: Any, counts: Any, seed: int) -> Inputs:
    """Inputs of these kinds between `low` and `high`, the share `ends` of them at an end, `counts` points on the axes of a grid."""
    m = len(kinds)
    table = np.zeros((ROWS, m), dtype=np.uint64)
    numbers = table.view(np.float64)
    spread = [j for j, kind in enumerate(kinds) if kind.lower() == SPREAD]
    for j, ratio in zip(spread, ratios(len(spread)), strict=True):
        table[0, j] = ratio
    stride = 1
    for j in range(m):
        table[1, j] = int(mixed(np.uint64((seed * GOLDEN + (word_of(kinds, j) + 1) * MIX[0][1]) & WORD)))
        steps = int(counts[j]) - 1 if kinds[j] == STEPPED else 1
        numbers[2, j], numbers[3, j] = low[j], within(float(low[j]), float(high[j]), steps)
        if kinds[j].isupper():
            numbers[2:, j] = _stretched(float(low[j]), float(high[j]), float(ends[j]))
        if kinds[j] == STEPPED:
            numbers[4, j], numbers[5, j] = counts[j], stride
            stride *= int(counts[j])
    return Inputs(kinds, table)


def _stretched(low: float, high: float, share: float) -> tuple[float, float, float, float]:
    """A range so wide that the share lies outside of the given one: its low end less its width, its width; and the given one."""
    width = (high - low) / (1 - share) if share < 1 else (high - low) * 2.0**60
    return (low + high) / 2 - 1.5 * width, width, low, high


def within(low: float, high: float, steps: int = 1) -> float:
    """The step with which `steps` of them lead from `low` to `high`, and never beyond it.

    >>> within(-1.0, 1.0), within(0.0, 1.0, 3)
    (2.0, 0.3333333333333333)
    """
    if steps < 1 or not high > low:
        return 0.0
    step = (high - low) / steps
    while steps * step + low > high:
        step = float(np.nextafter(step, 0.0))
    return step


def mixed(x: Any) -> Any:
    """The finalizer of splitmix64, of words."""
    with np.errstate(over="ignore"):
        for shift, factor in MIX:
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return x ^ (x >> np.uint64(LAST))


@cache
def ratios(count: int) -> tuple[int, ...]:
    """The factors of a Kronecker sequence: 2^64 g^-1, 2^64 g^-2, ..., where g^(count+1) = g + 1; odd, so that none repeats."""
    with localcontext() as context:
        context.prec = 60
        g, power = Decimal(2), 1 / Decimal(count + 1)
        for _ in range(200):
            g = (1 + g) ** power
        return tuple(int(g ** -(j + 1) * 2**64) & WORD | 1 for j in range(count))


# --- in native code -----------------------------------------------------------------------------------------------------


class Emitted:
    """The inputs of a block of states: `value(j)` emits input j, once; %where are the states' numbers, %table the words."""

    def __init__(self, e: Assembly, kinds: str) -> None:
        self.e, self.kinds = e, kinds
        self.values, self.words, self.phase = dict[int, str](), dict[int, str](), ""

    def value(self, j: int) -> str:
        """A vector of input j."""
        if j not in self.values:
            self.values[j] = self._made(j)
        return self.values[j]

    def _made(self, j: int) -> str:
        e, kind = self.e, self.kinds[j]
        low = self._number(2, j)
        if kind == FIXED:
            return low
        width = self._number(3, j)
        if kind == STEPPED:
            return e.do("fadd", e.do("fmul", self._digit(j), width), low)
        bits = e.op(f"or {e.integers} {e.op(f'lshr {e.integers} {self._word(j)}, {e.whole(12)}')}, {e.whole(0x3FF0000000000000)}")
        u = e.op(f"bitcast {e.integers} {bits} to {e.vector}")
        u = u if kind.isupper() else e.do("fsub", u, e.splat(1.0))
        x = e.do("fadd", e.do("fmul", u, width), low)
        return between(e, x, self._number(4, j), self._number(5, j)) if kind.isupper() else x

    def _word(self, j: int) -> str:
        e = self.e
        I = e.integers
        if self.kinds[j].lower() == SPREAD:
            return e.op(f"add {I} {e.op(f'mul {I} %where, {self._whole(0, j)}')}, {self._whole(1, j)}")
        first = word_of(self.kinds, j)
        return self._hashed(j) if first == j else e.op(f"shl {I} {self._hashed(first)}, {e.whole(32)}")

    def _hashed(self, j: int) -> str:
        if j not in self.words:
            self.words[j] = self._mixed(j)
        return self.words[j]

    def _mixed(self, j: int) -> str:
        e = self.e
        I = e.integers
        if not self.phase:
            self.phase = e.op(f"mul {I} %where, {e.whole(GOLDEN - (1 << 64))}")
        x = e.op(f"add {I} {self.phase}, {self._whole(1, j)}")
        for shift, factor in MIX:
            x = e.op(f"xor {I} {x}, {e.op(f'lshr {I} {x}, {e.whole(shift)}')}")
            x = e.op(f"mul {I} {x}, {e.whole(factor - (1 << 64))}")
        return e.op(f"xor {I} {x}, {e.op(f'lshr {I} {x}, {e.whole(LAST)}')}")

    def _digit(self, j: int) -> str:
        """(k // stride) mod count, exact below 2^53: quotients by division, which is off by one at most, and what is left."""
        e = self.e
        k = e.op(f"sitofp {e.integers} %where to {e.vector}")
        return self._divided(self._divided(k, self._number(5, j))[0], self._number(4, j))[1]

    def _divided(self, x: str, by: str) -> tuple[str, str]:
        e = self.e
        quotient = e.call("floor", e.do("fdiv", x, by))
        rest = e.do("fsub", x, e.do("fmul", quotient, by))
        below = e.op(f"fcmp olt {e.vector} {rest}, {e.splat(0.0)}")
        quotient = e.op(f"select {e.bits} {below}, {e.vector} {e.do('fsub', quotient, e.splat(1.0))}, {e.vector} {quotient}")
        rest = e.op(f"select {e.bits} {below}, {e.vector} {e.do('fadd', rest, by)}, {e.vector} {rest}")
        return quotient, rest

    def _number(self, row: int, j: int) -> str:
        return broadcast(self.e, "double", row * len(self.kinds) + j)

    def _whole(self, row: int, j: int) -> str:
        return broadcast(self.e, "i64", row * len(self.kinds) + j)


def broadcast(e: Assembly, kind: str, place: int) -> str:
    """A word of the table in every lane."""
    vector = e.vector if kind == "double" else e.integers
    word = e.op(f"load {kind}, ptr {e.at('%table', place)}, align 8")
    return spread(e, vector, kind, word)


def spread(e: Assembly, vector: str, kind: str, scalar: str) -> str:
    """A scalar in every lane."""
    first = e.op(f"insertelement {vector} poison, {kind} {scalar}, i32 0")
    return e.op(f"shufflevector {vector} {first}, {vector} poison, <{e.lanes} x i32> zeroinitializer")


def between(e: Assembly, x: str, least: str, most: str) -> str:
    """A vector within two others; NaN becomes the lower one."""
    for test, limit in (("ogt", least), ("olt", most)):
        inside = e.op(f"fcmp {test} {e.vector} {x}, {limit}")
        x = e.op(f"select {e.bits} {inside}, {e.vector} {x}, {e.vector} {limit}")
    return x
