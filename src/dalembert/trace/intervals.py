"""Guaranteed bounds of what a program computes over a box of inputs.

Two enclosures are intersected: the program on intervals, and the mean value form f(c) + f'(X) (X - c), the sharper one in small
boxes. All ends are rounded outward by mpmath, so the bounds hold for what the program, with exactly its constants, computes
without rounding. Where one box is not sharp enough, those pieces that hold the extremes are halved (branch and bound).
"""

from collections.abc import Mapping
from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, whole
from dalembert.errors import Error, brief, optional
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, Variable, assemble
from dalembert.trace.replay import checked, replay


def enclosure(
    program: Program, lower: Mapping[str, Any], upper: Mapping[str, Any], *, pieces: int = 1, bits: int = 53
) -> tuple[Any, Any]:
    """Bounds of every output for all inputs between `lower` and `upper`: two arrays, or two tuples of arrays.

    Numbers stand for whole arrays. Up to `pieces` boxes are used; more give sharper bounds, never sharper than the truth.
    `bits` is the precision. An output that may divide by zero gets infinite bounds. Needs mpmath.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x - x * x, {"x": ()})
    >>> enclosure(p, {"x": 0}, {"x": 1})
    (array(-0.25), array(0.75))
    >>> low, high = enclosure(p, {"x": 0}, {"x": 1}, pieces=50)
    >>> bool(-0.001 < low <= 0.0 and 0.25 <= high < 0.251)
    True
    """
    checked(program, "enclosure")
    pieces, bits = whole(pieces, "pieces", 1, 10**6), whole(bits, "bits", 2, 10**6)
    ends = _ends(program, lower, "lower"), _ends(program, upper, "upper")
    if (ends[0] > ends[1]).any():
        raise Error("the lower end of the box is above its upper end; give lower, then upper")
    bounds = _Bounds(program, *ends, bits)
    boxes = [bounds(*ends)]
    while len(boxes) < pieces and (split := bounds.split(boxes)) is not None:
        k, j = split
        box = boxes.pop(k)
        below, beyond = box.upper.copy(), box.lower.copy()
        below[j] = beyond[j] = (box.lower[j] + box.upper[j]) / 2
        boxes += [bounds(box.lower, below), bounds(beyond, box.upper)]
    return _shaped(program, np.min([b.low for b in boxes], axis=0)), _shaped(program, np.max([b.high for b in boxes], axis=0))


class _Box(NamedTuple):
    """A piece of the inputs and what is known of the outputs in it."""

    lower: Array
    upper: Array
    low: Array  # bounds of the outputs
    high: Array
    middle: Array  # the outputs in its middle, about
    influence: Array  # influence[i, j]: by how much input j may change output i


class _Bounds:
    """Bounds of a program's outputs in one box, all inputs and outputs as flat arrays."""

    def __init__(self, program: Program, lower: Array, upper: Array, bits: int) -> None:
        mpmath = optional("mpmath")
        self.context = type(mpmath.iv)()  # its own: the precision of mpmath.iv is the user's
        self.context.prec = bits
        self.mpf = mpmath.mp.make_mpf
        self.program, self.whole = program, (lower, upper)
        starts = np.cumsum([0, *(v.size for v in program.inputs)])
        self.parts = {v.name: slice(a, b) for v, a, b in zip(program.inputs, starts, starts[1:], strict=False)}
        self.moving = [name for name, part in self.parts.items() if (lower[part] < upper[part]).any()]
        self.columns = [j for name in self.moving for j in range(len(lower))[self.parts[name]]]
        self.slope = differentiate(program, self.moving) if self.moving else None
        signs = [node[1] for node in program.nodes if node[0] in ("sign", "where")]
        self.jumps = assemble(program.inputs, (Variable("x", (len(signs),)),), program.nodes, signs) if signs else None

    def __call__(self, lower: Array, upper: Array) -> _Box:
        X = [self.context.mpf([float(a), float(b)]) for a, b in zip(lower, upper, strict=True)]
        low, high = self.floats(self.replay(self.program, X))
        influence = np.zeros((len(low), len(lower)))
        if self.slope is None:
            return _Box(lower, upper, low, high, low, influence)
        c = [self.context.mpf(float(x)) for x in (lower + upper) / 2]
        y = self.replay(self.program, c)
        d = [X[j] - c[j] for j in self.columns]
        terms = [[a * b for a, b in zip(row, d, strict=True)] for row in self.jacobian(X)]
        for i, row in enumerate(terms):
            below, beyond = self.floats(row)
            influence[i, self.columns] = beyond - below
        if self.jumps is None or all(x.a > 0 or x.b < 0 for x in self.replay(self.jumps, X)):  # else there is no derivative
            below, beyond = self.floats([sum(row, start) for row, start in zip(terms, y, strict=True)])
            low, high = np.fmax(low, below), np.fmin(high, beyond)
        return _Box(lower, upper, low, high, self.floats(y)[0], influence)

    def replay(self, program: Program, x: list[Any]) -> list[Any]:
        """All outputs at these scalars, one after the other."""
        bounds = replay(program, {v.name: np.array(x[self.parts[v.name]], dtype=object).reshape(v.shape) for v in program.inputs})
        return [y for array in (bounds if isinstance(bounds, tuple) else (bounds,)) for y in array.flat]

    def jacobian(self, X: list[Any]) -> list[list[Any]]:
        """One row per output scalar, one entry per moving input scalar."""
        entries = iter(self.replay(self.slope, X)) if self.slope else iter(())
        rows: list[list[Any]] = []
        for output in self.program.outputs:
            new: list[list[Any]] = [[] for _ in range(output.size)]
            for name in self.moving:
                for row in new:
                    row += [next(entries) for _ in range(len(X))[self.parts[name]]]
            rows += new
        return rows

    def floats(self, intervals: list[Any]) -> tuple[Array, Array]:
        """The ends of intervals, rounded outward."""
        ends = [[self.mpf(end) for end in x._mpi_] for x in map(self.context.convert, intervals)]
        low = [x if (x := float(a)) <= a or x != x else nextafter(x, -inf) for a, _ in ends]
        high = [x if (x := float(b)) >= b or x != x else nextafter(x, inf) for _, b in ends]
        return np.array(low), np.array(high)

    def split(self, boxes: list[_Box]) -> tuple[int, int] | None:
        """Which box to halve, and across which input, to sharpen the bound that is farthest from values that occur."""
        low, high, middle = (np.array([getattr(b, name) for b in boxes]) for name in ("low", "high", "middle"))
        size = np.where(np.isfinite(spread := high.max(0) - low.min(0)) & (spread > 0), spread, 1.0)
        with np.errstate(invalid="ignore"):  # infinite bounds
            gaps = np.nan_to_num(np.stack([middle.min(0) - low.min(0), high.max(0) - middle.max(0)]) / size, posinf=inf)
        side, i = np.unravel_index(np.argmax(gaps), gaps.shape)
        if not gaps[side, i] > 0:
            return None
        k = int(high[:, i].argmax() if side else low[:, i].argmin())
        box, (lower, upper) = boxes[k], self.whole
        share = (box.upper - box.lower) / np.where(upper > lower, upper - lower, 1.0)
        j = int(np.argmax(box.influence[i] if np.isfinite(box.influence[i]).all() and box.influence[i].any() else share))
        return (k, j) if box.lower[j] < (box.lower[j] + box.upper[j]) / 2 < box.upper[j] else None


def _ends(program: Program, given: Mapping[str, Any], side: str) -> Array:
    """One side of the box as a flat array."""
    parts: list[Array] = []
    for name in by_name(given, side, "{'q': [0.0, 0.0]}"):
        if name not in [v.name for v in program.inputs]:
            raise Error(f"the program has no input {name!r}: {program.signature}")
    for v in program.inputs:
        if v.name not in given:
            raise Error(f"the box needs input {v.name!r}: {program.signature}")
        try:
            part = np.broadcast_to(np.asarray(given[v.name], dtype=float), v.shape)
        except (TypeError, ValueError):
            raise Error(f"the {side} end of {v.name!r} must have shape {v.shape}, got {brief(given[v.name])}") from None
        if not np.isfinite(part).all():
            raise Error(f"the {side} end of {v.name!r} must be finite, got {brief(given[v.name])}")
        parts.append(part.ravel())
    return np.concatenate([np.zeros(0), *parts])


def _shaped(program: Program, flat: Array) -> Any:
    arrays = np.split(flat, np.cumsum([v.size for v in program.outputs])[:-1])
    shaped = tuple(array.reshape(v.shape) for v, array in zip(program.outputs, arrays, strict=True))
    return shaped[0] if len(shaped) == 1 else shaped
