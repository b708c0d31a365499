"""What a sweep keeps of its results, as LLVM assembly: extremes and where they are, sums, counts, histograms, envelopes.

Results that are NaN are counted, and enter nothing else. So are the lanes behind the last state, which are made NaN.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dalembert.native.assembly import Assembly
from dalembert.native.sweeps.drawn import ROWS as INPUT_ROWS
from dalembert.native.sweeps.drawn import Emitted, between, broadcast, spread

COPIES = 4  # of a histogram, by lane: neighbours often share a bin, and would wait for each other
CLASSES = 8  # states k with the same k mod 8 are reduced together, whatever the lanes of a vector: so are the bits
KEPT = ("maximum", "argmax", "minimum", "argmin", "nan", "sum", "square", "beyond")  # rows of the accumulators
REAL = ("maximum", "minimum", "sum", "square")  # those that are no integers
# words of the table for each result: t = factor x + offset is the bin of a histogram, of its rows by another input, of an envelope
SCALES = ("factor", "offset", "row_factor", "row_offset", "slot_factor", "slot_offset", "least", "most")


class Reductions(NamedTuple):
    """What is kept; all of it decides how the native code looks."""

    extremes: bool = True
    sums: bool = False
    bins: int = 0  # of histograms; two more count what lies below and above
    rows: int = 0  # of histograms, by an input
    slots: int = 0  # of envelopes, by an input
    limits: bool = False  # count results below `least` or above `most`
    by: tuple[int, ...] = ()  # the scalar input of each result, for rows and slots


class Memory(NamedTuple):
    """What a sweep writes to, of r results; arrays of words."""

    kept: np.ndarray  # (8, r, 8) doubles or integers, then one row (8,): states of which any result is beyond its limits
    histogram: np.ndarray  # (copies, r, rows or 1, bins + 2) of 32 bits
    envelope: np.ndarray  # (r, slots, 4): maximum, argmax, minimum, argmin

    def row(self, name: str) -> np.ndarray:
        """One of `KEPT`, (r, 8)."""
        rows = self.kept[:-CLASSES].reshape(len(KEPT), len(self.envelope), CLASSES)
        return rows.view(float if name in REAL else np.int64)[KEPT.index(name)]

    @property
    def beyond(self) -> np.ndarray:
        """The last row, (8,)."""
        return self.kept[-CLASSES:].view(np.int64)


def memory(reductions: Reductions, results: int) -> Memory:
    """Fresh accumulators."""
    kept = np.zeros((len(KEPT) * results + 1) * CLASSES)
    histogram = np.zeros(histogram_shape(reductions, results), dtype=np.int32)
    made = Memory(kept, histogram, np.zeros((results, reductions.slots, 4)))
    for k, (name, start) in enumerate((("maximum", -np.inf), ("argmax", -1), ("minimum", np.inf), ("argmin", -1))):
        made.row(name)[:] = start
        made.envelope.view(float if name in REAL else np.int64)[..., k] = start
    return made


def histogram_shape(reductions: Reductions, results: int) -> tuple[int, ...]:
    """Of its copies; those by rows are large, and have one."""
    copies = 1 if reductions.rows else COPIES
    return copies, results, max(reductions.rows, 1), reductions.bins + 2 if reductions.bins else 0


class Reducer:
    """Emits what is kept of the results of a block: %where are its states' numbers, %partial tells whether some are not below %end.

    New extremes and NaN are rare: a block is tested for them, and all that only they need is beside the common path.
    """

    def __init__(self, e: Assembly, reductions: Reductions, inputs: Emitted, results: int) -> None:
        self.e, self.reductions, self.inputs, self.results = e, reductions, inputs, results
        self.found: dict[int, str] = {}  # results that were computed
        self.usual = self.beyond = ""

    def reduce(self, o: int, value: str) -> None:
        """Take note of result `o`, and whether it is an extreme or NaN."""
        self.found[o] = value
        tests = (("ole", "maximum"), ("oge", "minimum")) if self.reductions.extremes else (("ord", ""),)
        for test, row in tests:
            other = self.e.op(f"load {self.e.vector}, ptr {self._place(row, o)}, align 8") if row else value
            mask = self.e.op(f"fcmp {test} {self.e.vector} {value}, {other}")
            self.usual = self.e.op(f"and {self.e.bits} {self.usual}, {mask}") if self.usual else mask

    def end(self) -> None:
        """All that is kept of the block."""
        e, what = self.e, self.reductions
        common, rare, after = e.label(), e.label(), e.label()
        lanes = e.op(f"bitcast {e.bits} {self.usual} to i{e.lanes}")
        seldom = e.op(f"or i1 %partial, {e.op(f'icmp ne i{e.lanes} {lanes}, -1')}")
        e.line(f"  br label %{common}\n{common}:\n  br i1 {seldom}, label %{rare}, label %{after}, !prof !0\n{rare}:")
        e.line(f"  %valid = icmp slt {e.integers} %where, {spread(e, e.integers, 'i64', '%end')}")
        mended = {o: self._rarely(o, value) for o, value in self.found.items()}
        e.line(f"  br label %{after}\n{after}:")
        both = [
            (o, *(e.op(f"phi {e.vector} [{value}, %{common}], [{other}, %{rare}]") for other in mended[o]))
            for o, value in self.found.items()
        ]
        for o, v, known in both:
            if what.sums:
                self._update("sum", o, lambda old, x=known: e.do("fadd", old, x), e.vector)
                self._update("square", o, lambda old, x=known: e.do("fadd", old, e.do("fmul", x, x)), e.vector)
            if what.limits:
                self._limits(o, v)
            if what.bins:
                self._histogram(o, v)
            if what.slots:
                self._envelope(o, v)
        if self.beyond:
            place = e.at("%kept", len(KEPT) * self.results * CLASSES)
            old = e.op(f"load {e.integers}, ptr {place}, align 8")
            new = e.op(f"sub {e.integers} {old}, {self._counted(self.beyond)}")
            e.line(f"  store {e.integers} {new}, ptr {place}, align 8")

    def _rarely(self, o: int, value: str) -> tuple[str, str]:
        """New extremes and NaN; returns the result, NaN in lanes that are no states, and the same with 0 for NaN."""
        e = self.e
        v = e.op(f"select {e.bits} %valid, {e.vector} {value}, {e.vector} {e.splat(np.nan)}")
        unknown = e.op(f"fcmp uno {e.vector} {v}, {v}")
        self._update("nan", o, lambda old: e.op(f"sub {e.integers} {old}, {self._counted(unknown)}"), e.integers)
        if self.reductions.extremes:
            self._extreme("maximum", "argmax", "ogt", o, v)
            self._extreme("minimum", "argmin", "olt", o, v)
        return v, e.op(f"select {e.bits} {unknown}, {e.vector} {e.splat(0.0)}, {e.vector} {v}")

    def _counted(self, mask: str) -> str:
        return self.e.op(f"sext {self.e.bits} {mask} to {self.e.integers}")  # -1 where it is true

    def _place(self, row: str, o: int) -> str:
        return self.e.at("%kept", (KEPT.index(row) * self.results + o) * CLASSES)

    def _update(self, row: str, o: int, change: Callable[[str], str], kind: str) -> None:
        place = self._place(row, o)
        new = change(self.e.op(f"load {kind}, ptr {place}, align 8"))
        self.e.line(f"  store {kind} {new}, ptr {place}, align 8")

    def _extreme(self, row: str, where: str, test: str, o: int, v: str) -> None:
        """The first of equal values stays."""
        e, at = self.e, (self._place(row, o), self._place(where, o))
        best = e.op(f"load {e.vector}, ptr {at[0]}, align 8")
        better = e.op(f"fcmp {test} {e.vector} {v}, {best}")
        e.store(e.op(f"select {e.bits} {better}, {e.vector} {v}, {e.vector} {best}"), at[0], 8)
        held = e.op(f"load {e.integers}, ptr {at[1]}, align 8")
        chosen = e.op(f"select {e.bits} {better}, {e.integers} %where, {e.integers} {held}")
        e.line(f"  store {e.integers} {chosen}, ptr {at[1]}, align 8")

    def _scale(self, name: str, o: int) -> str:
        return broadcast(self.e, "double", INPUT_ROWS * len(self.inputs.kinds) + SCALES.index(name) * self.results + o)

    def _bin(self, o: int, x: str, name: str, most: float) -> str:
        scaled = self.e.do("fmul", x, self._scale(f"{name}factor", o))
        e = self.e
        return between(e, e.do("fadd", scaled, self._scale(f"{name}offset", o)), e.splat(0.0), e.splat(most))

    def _limits(self, o: int, v: str) -> None:
        e = self.e
        outside = [
            e.op(f"fcmp {test} {e.vector} {v}, {self._scale(name, o)}") for test, name in (("olt", "least"), ("ogt", "most"))
        ]
        either = e.op(f"or {e.bits} {outside[0]}, {outside[1]}")
        self._update("beyond", o, lambda old: e.op(f"sub {e.integers} {old}, {self._counted(either)}"), e.integers)
        self.beyond = e.op(f"or {e.bits} {self.beyond}, {either}") if self.beyond else either

    def _indices(self, t: str, most: int) -> list[str]:
        """Bins up to `most` as integers, one a lane: of 16 bits, if they fit, which are shifted out of whole words."""
        e = self.e
        bits = 16 if most < 1 << 16 else 32
        packed = e.op(f"fptosi {e.vector} {t} to <{e.lanes} x i32>")
        if bits == 16:
            packed = e.op(f"trunc <{e.lanes} x i32> {packed} to <{e.lanes} x i16>")
        word = min(64, bits * e.lanes)
        words = e.op(f"bitcast <{e.lanes} x i{bits}> {packed} to <{bits * e.lanes // word} x i{word}>")
        found: list[str] = []
        for k in range(bits * e.lanes // word):
            whole = e.op(f"extractelement <{bits * e.lanes // word} x i{word}> {words}, i32 {k}")
            for j in range(word // bits):
                part = e.op(f"trunc i{word} {e.op(f'lshr i{word} {whole}, {bits * j}')} to i{bits}")
                found.append(e.op(f"zext i{bits} {part} to i64"))
        return found

    def _histogram(self, o: int, v: str) -> None:
        """Bin 0 has what is below, and NaN, which the caller takes away again."""
        e, what = self.e, self.reductions
        copies, results, rows, width = histogram_shape(what, self.results)
        t = self._bin(o, v, "", what.bins + 1.0)
        if what.rows:
            row = self._bin(o, self.inputs.value(what.by[o]), "row_", what.rows - 1.0)
            unknown = e.op(f"fcmp uno {e.vector} {v}, {v}")
            row = e.call("floor", e.op(f"select {e.bits} {unknown}, {e.vector} {e.splat(0.0)}, {e.vector} {row}"))
            t = e.do("fadd", e.do("fmul", row, e.splat(float(width))), e.call("floor", t))
        for k, index in enumerate(self._indices(t, rows * width)):
            start = e.at("%histogram", (k % copies * results + o) * rows * width, "i32")
            place = e.op(f"getelementptr i32, ptr {start}, i64 {index}")
            more = e.op(f"add i32 {e.op(f'load i32, ptr {place}, align 4')}, 1")
            e.line(f"  store i32 {more}, ptr {place}, align 4")

    def _envelope(self, o: int, v: str) -> None:
        """Lane by lane, with branches: a new extreme is rare."""
        e, what = self.e, self.reductions
        indices = self._indices(self._bin(o, self.inputs.value(what.by[o]), "slot_", what.slots - 1.0), what.slots)
        e.store(v, "%spilled", 8)
        e.line(f"  store {e.integers} %where, ptr %numbers, align 8")
        base = e.at("%envelope", o * what.slots * 4)
        for k, index in enumerate(indices):
            slot = e.op(f"getelementptr [4 x double], ptr {base}, i64 {index}")
            x = e.op(f"load double, ptr {e.at('%spilled', k)}, align 8")
            for part, test in ((0, "ogt"), (2, "olt")):
                place, then, after = e.at(slot, part), e.label(), e.label()
                better = e.op(f"fcmp {test} double {x}, {e.op(f'load double, ptr {place}, align 8')}")
                e.line(
                    f"  br i1 {better}, label %{then}, label %{after}, !prof !0\n{then}:\n  store double {x}, ptr {place}, align 8"
                )
                number = e.op(f"load i64, ptr {e.at('%numbers', k, 'i64')}, align 8")
                e.line(f"  store i64 {number}, ptr {e.at(slot, part + 1)}, align 8\n  br label %{after}\n{after}:")
