"""From the best states of a sweep to local optima: searches along exact derivatives, within the ranges."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import choice, several, whole
from dalembert.errors import Error, optional
from dalembert.native.kernel import compile_program
from dalembert.native.sweeps.sweep import evaluated
from dalembert.native.sweeps.totals import Totals
from dalembert.sweeps.ranges import by_input
from dalembert.text import table
from dalembert.trace.differentiate import differentiate

if TYPE_CHECKING:
    from dalembert.sweeps.result import Arrays, Sweep

POOL = 1 << 17  # states, the first of the sweep, among which starts are looked for besides its extremes
STEPS, SLOPE = 500, 1e-10  # of a search at most, and where it ends: of the scaled gradient
WORST = 1e300  # what a search sees where the result is NaN


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
    outputs = sweep.job.program.outputs
    ends = np.cumsum([0, *(v.size for v in outputs)])
    best = {
        o: (search.best(o, 1), search.best(o, -1))
        for v, a, b in zip(outputs, ends, ends[1:], strict=False)
        if v.name in chosen
        for o in range(a, b)
    }
    parts: tuple[dict[str, Any], ...] = ({}, {}, {}, {}, {})
    for v, a, b in zip(outputs, ends, ends[1:], strict=False):
        if v.name in chosen:
            for k in (0, 1):
                parts[k][v.name] = np.reshape([best[o][k][0] for o in range(a, b)], v.shape)[()]
                parts[2 + k][v.name] = by_input(
                    sweep.ranges, np.array([best[o][k][1] for o in range(a, b)]).reshape((*v.shape, -1))
                )
            parts[4][v.name] = np.reshape([max(best[o][k][2] for k in (0, 1)) for o in range(a, b)], v.shape)[()]
    maximum, minimum, at_maximum, at_minimum, slope = parts
    return Refined(maximum, minimum, at_maximum, at_minimum, slope, sweep, search.searches)


class _Search:
    """Searches over the unit box of the inputs that vary."""

    def __init__(self, sweep: "Sweep", starts: int) -> None:
        self.minimize: Any = optional("scipy.optimize", "identify").minimize
        job = sweep.job
        self.job, self.totals, self.starts, self.searches = job, sweep.totals, starts, 0
        self.low, self.high = (np.concatenate([getattr(part, end) for part in sweep.ranges]) for end in ("low", "high"))
        self.free = np.flatnonzero(self.high > self.low)
        if not len(self.free):
            raise Error("nothing varies in this sweep, so there is nothing to refine")
        self.width = self.high - self.low
        slopes = differentiate(job.program, keep=True)
        self.kernel: Any = compile_program(slopes) if job.backend == "native" else None
        self.slopes = slopes
        self.count = min(POOL, job.samples)
        self.pool = job.values(np.arange(self.count))
        self.places = _places(job.program)

    def best(self, o: int, sign: int) -> tuple[float, Any, float]:
        """The largest (sign 1) or least value of a result that searches find, the inputs there, and the slope left."""
        found = (-np.inf, self.low, 0.0)
        for number in self._starts(o, sign):
            x = self.job.inputs.states(int(number))
            start = (x[self.free] - self.low[self.free]) / self.width[self.free]
            end = self.minimize(
                lambda z: self._value(o, sign, z), start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(self.free),
                options={"maxiter": STEPS, "ftol": 0.0, "gtol": SLOPE},
            )  # fmt: skip
            self.searches += 1
            if -end.fun > found[0]:
                found = (-float(end.fun), self._state(end.x), self._slope(end.x, end.jac, end.fun))
        return sign * found[0], found[1], found[2]

    def _starts(self, o: int, sign: int) -> Any:
        """The best states: those of the whole sweep, one of each class, and of the first ones."""
        total: Totals = self.totals
        own = (total.argmax if sign > 0 else total.argmin)[o]
        values = np.where(np.isnan(self.pool[:, o]), -np.inf, sign * self.pool[:, o])
        own = own[own >= 0] if self.job.reductions.extremes else own[:0]
        count = max(1, self.starts - len(own))
        first = np.argsort(-values, kind="stable")[:count]
        return np.unique(np.concatenate([own[: self.starts], first[np.isfinite(values[first])]]))[: self.starts]

    def _state(self, z: Any) -> Any:
        x = self.low.copy()
        x[self.free] = np.clip(self.low[self.free] + z * self.width[self.free], self.low[self.free], self.high[self.free])
        return x

    def _value(self, o: int, sign: int, z: Any) -> tuple[float, Any]:
        found = self._evaluated(self._state(z))
        value, slope = sign * found[o], sign * found[self.places[o]][self.free] * self.width[self.free]
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return WORST, np.zeros(len(self.free))
        return -value, -slope

    def _evaluated(self, x: Any) -> Any:
        if self.kernel is None:
            from dalembert.trace.source import NumpyKernel

            self.kernel = NumpyKernel(self.slopes)
        return evaluated(self.kernel, x)

    def _slope(self, z: Any, slope: Any, value: float) -> float:
        """The largest entry of the gradient that the box does not stop, relative to the value."""
        free = np.where(((z <= 0) & (slope > 0)) | ((z >= 1) & (slope < 0)), 0.0, slope)
        return float(np.abs(free).max() / max(abs(value), 1e-300))


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
