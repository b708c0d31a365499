"""A sweep in NumPy: the same memory with the same bits as the native function, given the same results of states."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.native.sweeps.drawn import Inputs
from dalembert.native.sweeps.reductions import CLASSES, SCALES, Memory, Reductions

CHUNK = 1 << 12  # states at a time


def bound(
    evaluate: Callable[[Any], Any], inputs: Inputs, reductions: Reductions, scales: Any, made: Memory
) -> Callable[[int, int, int], None]:
    """The function of (first, blocks of 8 states, end) that adds to this memory; `evaluate` gives results of states (k, m)."""

    def call(first: int, blocks: int, end: int) -> None:
        last = first + blocks * CLASSES
        for start in range(first, last, CHUNK):
            number = np.arange(start, min(start + CHUNK, last))
            states = inputs.states(number)
            results = np.array(evaluate(states), dtype=float)
            results[number >= end] = np.nan
            _Reduced(reductions, scales, made, number, states).add(results)

    return call


class _Reduced:
    """What is kept of some states."""

    def __init__(self, reductions: Reductions, scales: Any, made: Memory, number: Any, states: Any) -> None:
        self.reductions, self.scales, self.made = reductions, scales, made
        self.number, self.states = number, states

    def add(self, v: Any) -> None:
        what = self.reductions
        unknown = np.isnan(v)
        self.made.row("nan")[:] += _classes(unknown).sum(axis=0).T
        with np.errstate(all="ignore"):
            if what.extremes:
                self._extreme("maximum", "argmax", np.where(unknown, -np.inf, v), 1)
                self._extreme("minimum", "argmin", np.where(unknown, np.inf, v), -1)
            if what.sums:
                known = np.where(unknown, 0.0, v)
                self._sum("sum", known)
                self._sum("square", known * known)
            if what.limits:
                self._limits(v)
            if what.bins:
                self._histogram(v, unknown)
            if what.slots:
                self._envelope(v)

    def _extreme(self, name: str, where: str, v: Any, sign: int) -> None:
        by_class, number = _classes(v), _classes(self.number)
        at = np.argmax(sign * by_class, axis=0)  # the first of equal ones
        best = np.take_along_axis(by_class, at[None], axis=0)[0].T
        states = np.take_along_axis(np.broadcast_to(number[..., None], by_class.shape), at[None], axis=0)[0].T
        row, numbers = self.made.row(name), self.made.row(where)
        better = sign * best > sign * row
        numbers[better], row[better] = states[better], best[better]

    def _sum(self, name: str, v: Any) -> None:
        """One state after the other."""
        row = self.made.row(name)
        row[:] = np.add.accumulate(np.concatenate([row.T[None], _classes(v)]), axis=0)[-1].T

    def _limits(self, v: Any) -> None:
        least, most = (self.scales[SCALES.index(name)] for name in ("least", "most"))
        outside = (v < least) | (v > most)
        self.made.row("beyond")[:] += _classes(outside).sum(axis=0).T
        self.made.beyond[:] += _classes(outside.any(axis=1)).sum(axis=0)

    def _bin(self, x: Any, name: str, most: float) -> Any:
        t = x * self.scales[SCALES.index(f"{name}factor")] + self.scales[SCALES.index(f"{name}offset")]
        t = np.where(t > 0.0, t, 0.0)
        return np.where(t < most, t, most).astype(np.int64)

    def _histogram(self, v: Any, unknown: Any) -> None:
        what = self.reductions
        column = self._bin(v, "", what.bins + 1.0)
        row = np.zeros_like(column)
        if what.rows:
            row = np.where(unknown, 0, self._bin(self.states[:, list(what.by)], "row_", what.rows - 1.0))
        cells = row * (what.bins + 2) + column
        for o, table in enumerate(self.made.histogram[0]):
            table += np.bincount(cells[:, o], minlength=table.size).reshape(table.shape).astype(np.int32)

    def _envelope(self, v: Any) -> None:
        what = self.reductions
        slots = self._bin(self.states[:, list(what.by)], "slot_", what.slots - 1.0)
        for o, table in enumerate(self.made.envelope):
            for part, sign in ((0, 1), (2, -1)):
                order = np.lexsort((self.number, -sign * v[:, o], slots[:, o]))
                order = order[~np.isnan(v[order, o])]
                slot, first = np.unique(slots[order, o], return_index=True)
                best = v[order[first], o]
                better = sign * best > sign * table[slot, part]
                table[slot[better], part] = best[better]
                table.view(np.int64)[slot[better], part + 1] = self.number[order[first]][better]


def _classes(x: Any) -> Any:
    """(k, ...) as (k / 8, 8, ...)."""
    return x.reshape((-1, CLASSES, *x.shape[1:]))
