"""One entry of a quantity over a box of states: its programs, the extremes that occur, and a search for the bound of each side."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.bounds.branching import Search
from dalembert.errors import Error
from dalembert.native.evaluator import evaluator
from dalembert.sweeps.climbing import climb
from dalembert.trace.differentiate import differentiate
from dalembert.trace.intervals.bounding import margins, prepare
from dalembert.trace.intervals.degrees import Key
from dalembert.trace.intervals.rounding import errors
from dalembert.trace.intervals.stepping import step_program
from dalembert.trace.program import Program, Variable, assemble, evaluate

SAMPLES = 20_000  # of which the best are refined
STARTS = 48
CORNERS = 0.75  # share of the samples at an end, of inputs in which a result is a polynomial of degree 2
NOTHING = "bound: there is no finite value in this range; take a smaller one"
LARGE = 400_000  # operations of a step
Box = dict[Key, tuple[float, float]]


class Entry:
    """One entry: its programs, and a search for each side; none where nothing varies."""

    def __init__(self, program: Program, result: int, ends: Box, tolerance: float) -> None:
        self.program, self.ends = program, ends
        wide = [key for key, (a, b) in ends.items() if a < b]
        zero = [key for key, (a, b) in ends.items() if a == b == 0.0]
        try:
            self.step = prepare(program, result, wide, zero)
        except (Error, ZeroDivisionError) as error:
            if not zero:
                raise
            raise Error(NOTHING) from error  # a quotient by an input that is 0
        self.one = assemble(program.inputs, (Variable("f", ()),), program.nodes, [result])
        self.keys = self.step.groups.wide
        self.low, self.high = (np.array([ends[key][side] for key in self.keys]) for side in (0, 1))
        self.starts = np.cumsum([0, *(v.size for v in program.inputs)])
        self.whole = np.array([min(max(0.0, a), b) for _, (a, b) in sorted(ends.items())])  # where it does not matter, 0
        self.columns = [int(self.starts[k]) + j for k, j in self.keys]
        self.sides: list[Search] = []
        self.fixed: tuple[float, float, float] | None = None
        if self.keys:
            self._search(tolerance)
        else:
            self._point()

    def _point(self) -> None:
        """The value where nothing varies, and its error."""
        whole = [[self.ends[k, j] for j in range(v.size)] for k, v in enumerate(self.program.inputs)]
        (i,) = self.one.results
        value = _value(self.one, [self.whole[a:b].tolist() for a, b in pairwise(self.starts)])
        if not math.isfinite(value):
            raise Error(NOTHING)
        error = errors(self.one, whole)[i].error
        low, high = (math.nextafter(value + x, x * math.inf) if error else value for x in (-error, error))
        self.fixed = low, value, high

    def _search(self, tolerance: float) -> None:
        step, ends = self.step, self.ends
        known = margins(step, ends)
        made = step_program(step, known.outward)
        if len(made.nodes) > LARGE:
            raise Error(
                f"bound: a step of branch and bound has {len(made.nodes):,} operations, the limit is {LARGE:,}; fix some inputs"
            )
        kernel, slopes = evaluator(made), evaluator(differentiate(self.one, keep=True))
        thin = [np.array([ends[key][0] for key in step.groups.thin])] if step.groups.thin else []
        slack = np.array(known.slack)
        starts = self._samples(slopes)
        best = [self._climbed(slopes, side, starts(side)) for side in (1.0, -1.0)]
        size = max(abs(value) for value, _ in best)
        if not np.isfinite(size):
            raise Error(NOTHING)
        for side, found in zip((1.0, -1.0), best, strict=True):

            def cut(low: Array, high: Array, side: float = side) -> Any:
                bounds, *rest = kernel(low, high, np.float64(side), slack, *thin)
                return (np.where(np.isfinite(bounds), bounds + known.bound, np.inf), *rest)

            def look(x: Array, side: float = side) -> tuple[float, Array]:
                return self._climbed(slopes, side, x)

            self.sides.append(Search(cut, look, self.low, self.high, found, tolerance * size))

    def _full(self, x: Array) -> list[Array]:
        """States (..., wide) as inputs of the program."""
        states = np.broadcast_to(self.whole, (*x.shape[:-1], len(self.whole))).copy()
        states[..., self.columns] = x
        return [
            states[..., a:b].reshape((*x.shape[:-1], *v.shape))
            for v, (a, b) in zip(self.program.inputs, pairwise(self.starts), strict=True)
        ]

    def _climbed(self, kernel: Any, side: float, starts: Array) -> tuple[float, Array]:
        def slopes(x: Array) -> tuple[Array, Array]:
            f, *parts = kernel(*self._full(x))
            flat = np.concatenate([part.reshape(len(x), -1) for part in parts], axis=-1)
            return side * f, side * flat[:, self.columns]

        return climb(slopes, starts, self.low, self.high)

    def _samples(self, kernel: Any) -> Any:
        random, count = np.random.default_rng(0), len(self.keys)
        share = random.random((SAMPLES, count))
        y = len(self.step.groups.y)
        corners = random.random((SAMPLES, count - y)) < CORNERS
        share[:, y:] = np.where(corners, np.round(share[:, y:]), share[:, y:])
        x = self.low + share * (self.high - self.low)
        f = kernel(*self._full(x))[0]
        return lambda side: x[np.argsort(np.nan_to_num(side * f, nan=-np.inf))[-STARTS:]]

    @property
    def upper(self) -> float:
        """No state has more."""
        return self.fixed[2] if self.fixed else self.sides[0].proven

    @property
    def lower(self) -> float:
        """No state has less."""
        return self.fixed[0] if self.fixed else -self.sides[1].proven

    @property
    def greatest(self) -> float:
        """The greatest value found."""
        return self.fixed[1] if self.fixed else self.sides[0].attained

    @property
    def least(self) -> float:
        """The least value found."""
        return self.fixed[1] if self.fixed else -self.sides[1].attained

    @property
    def boxes(self) -> int:
        """How many boxes were bounded."""
        return sum(side.count for side in self.sides)

    def at(self, side: int) -> dict[str, Array]:
        """The state of the greatest (0) or least (1) value."""
        x = self.sides[side].at if self.sides else np.zeros(0)
        return dict(zip([v.name for v in self.program.inputs], self._full(x), strict=True))


class Unproven:
    """An entry that was not begun: nothing is proven, and the value in the middle of the box is attained."""

    sides: tuple[Search, ...] = ()
    boxes, lower, upper = 0, -math.inf, math.inf

    def __init__(self, program: Program, result: int, ends: Box) -> None:
        middle = [[a / 2 + b / 2 for a, b in (ends[k, j] for j in range(v.size))] for k, v in enumerate(program.inputs)]
        self.least = self.greatest = _value(assemble(program.inputs, (Variable("f", ()),), program.nodes, [result]), middle)
        self.state = {v.name: np.reshape(x, v.shape) for v, x in zip(program.inputs, middle, strict=True)}

    def at(self, side: int) -> dict[str, Array]:
        """The state of that value, whichever the side."""
        return self.state


def _value(program: Program, inputs: list[list[float]]) -> float:
    try:
        return float(evaluate(program, inputs)[program.results[0]])
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan
