"""From the best states of a sweep to local optima: searches along exact derivatives, within the ranges."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import choice, several, whole
from dalembert.errors import Error
from dalembert.native.sweeps.sweep import evaluated
from dalembert.native.sweeps.totals import Totals
from dalembert.sweeps.climbing import climb
from dalembert.sweeps.ranges import by_input
from dalembert.text import table
from dalembert.trace.differentiate import differentiate

if TYPE_CHECKING:
    from dalembert.sweeps.result import Arrays, Sweep

POOL = 1 << 17  # states, the first of the sweep, among which starts are looked for besides its extremes


@dataclass(frozen=True, eq=False, repr=False)
class Refined:
    """Local optima of each result within the ranges of a sweep, by name; none of them is below what the sweep has found.

    `at_maximum` and `at_minimum` have the inputs there, by the names of result and input, the axes of the result first. `slope` is
    the largest entry of the projected gradient at the ends, relative to the result: how far an end is from an optimum.
    """

    maximum: "Arrays"
    minimum: "Arrays"
    at_maximum: "dict[str, Arrays]"
    at_minimum: "dict[str, Arrays]"
    slope: "Arrays"
    sampled: "Sweep"
    searches: int

    @property
    def largest(self) -> "Arrays":
        """The largest magnitude of each result."""
        return {name: np.maximum(x, -self.minimum[name]) for name, x in self.maximum.items()}

    def __str__(self) -> str:
        rows = [["", "minimum", "maximum", "of the sampled"]]
        for name, upper in self.maximum.items():
            share = np.ravel(self.largest[name]) / np.ravel(self.sampled.largest[name])
            for label, a, b, c in zip(self.sampled.labels(name), np.ravel(self.minimum[name]), np.ravel(upper), share, strict=True):
                rows.append([label, f"{a:.6g}", f"{b:.6g}", f"{c:.4f}"])
        return table(rows, right=True)

    def __repr__(self) -> str:
        return f"<Refined {', '.join(self.maximum)}: {self.searches} searches>"


def refine(sweep: "Sweep", starts: int, names: Any) -> Refined:
    """What `Sweep.refine` returns."""
    starts = whole(starts, "starts", 1, 10_000)
    chosen = sweep.names if names is None else several(names, "names")
    for name in chosen:
        choice(name, "result of the sweep:", sweep.names)
    search = _Search(sweep, starts)
    maximum, minimum, at_maximum, at_minimum, slope = (dict[str, Any]() for _ in range(5))
    first = 0
    for v in sweep.job.program.outputs:
        if v.name in chosen:
            slopes = np.zeros(v.shape)
            for sign, values, places in ((1, maximum, at_maximum), (-1, minimum, at_minimum)):
                value, at, left = zip(*(search.best(o, sign) for o in range(first, first + v.size)), strict=True)
                values[v.name] = np.reshape(value, v.shape)[()]
                places[v.name] = by_input(sweep.ranges, np.reshape(at, (*v.shape, -1)))
                slopes = np.maximum(slopes, np.reshape(left, v.shape))
            slope[v.name] = slopes[()]
        first += v.size
    return Refined(maximum, minimum, at_maximum, at_minimum, slope, sweep, search.searches)


class _Search:
    """Searches over the box of the inputs that vary."""

    def __init__(self, sweep: "Sweep", starts: int) -> None:
        job = sweep.job
        self.job, self.totals, self.starts, self.searches = job, sweep.totals, starts, 0
        self.low, self.high = (np.concatenate([getattr(part, end) for part in sweep.ranges]) for end in ("low", "high"))
        self.free = np.flatnonzero(self.high > self.low)
        if not len(self.free):
            raise Error("nothing varies in this sweep, so there is nothing to refine")
        self.values = job.kernel
        self.slopes = replace(job, program=differentiate(job.program, keep=True)).kernel
        self.pool = job.values(np.arange(min(POOL, job.samples)))
        self.places = _places(job.program)

    def best(self, o: int, sign: int) -> tuple[float, Any, float]:
        """The largest (sign 1) or least value of a result that searches find, the inputs there, and the slope left."""
        starts = self.job.inputs.states(self._starts(o, sign))[:, self.free]
        low, high = self.low[self.free], self.high[self.free]

        def values(x: Any) -> Any:
            return sign * evaluated(self.values, self._states(x))[:, o]

        def slopes(x: Any) -> tuple[Any, Any]:
            found = sign * evaluated(self.slopes, self._states(x))
            return found[:, o], found[:, self.places[o]][:, self.free]

        if not len(starts):
            return -sign * np.inf, self.low, 0.0
        self.searches += len(starts)
        value, x = climb(slopes, starts, low, high, values)
        (slope,) = slopes(x[None])[1] * (high - low)
        left = np.where(((x <= low) & (slope < 0)) | ((x >= high) & (slope > 0)), 0.0, slope)  # the box stops the others
        return sign * value, self._states(x), float(np.abs(left).max() / max(abs(value), 1e-300))

    def _starts(self, o: int, sign: int) -> Any:
        """The best states: those of the whole sweep, one of each class, and of the first ones."""
        total: Totals = self.totals
        own = (total.argmax if sign > 0 else total.argmin)[o]
        values = np.where(np.isnan(self.pool[:, o]), -np.inf, sign * self.pool[:, o])
        own = own[own >= 0] if self.job.reductions.extremes else own[:0]
        count = max(1, self.starts - len(own))
        first = np.argsort(-values, kind="stable")[:count]
        return np.unique(np.concatenate([own[: self.starts], first[np.isfinite(values[first])]]))[: self.starts]

    def _states(self, x: Any) -> Any:
        """Inputs (..., m) from those that vary."""
        states = np.broadcast_to(self.low, (*x.shape[:-1], len(self.low))).copy()
        states[..., self.free] = x
        return states


def _places(program: Any) -> Any:
    """Where among all results of `differentiate(program, keep=True)` the derivatives of each result are, (r, m)."""
    sizes = [v.size for v in program.inputs]
    start, rows = len(program.results), []
    for output in program.outputs:
        blocks = []
        for size in sizes:
            blocks.append(start + np.arange(output.size * size).reshape(output.size, size))
            start += output.size * size
        rows.append(np.concatenate(blocks, axis=1))
    return np.concatenate(rows)
