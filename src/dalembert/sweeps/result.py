"""What a sweep has found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arguments import choice, numbers
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.native.sweeps.sweep import Job
from dalembert.native.sweeps.totals import Totals
from dalembert.storage.saving import save_text
from dalembert.sweeps.ranges import Range, by_input
from dalembert.sweeps.recorded import labels
from dalembert.sweeps.reduced import Scaled
from dalembert.text import table, wrapped

if TYPE_CHECKING:
    from pathlib import Path

    from dalembert.sweeps.refining import Refined

Arrays = dict[str, Any]


class Histogram(NamedTuple):
    """Counts of the values of each result: `counts` (..., bins), those outside the range, and edges (..., bins + 1).

    By another input: `counts` (..., rows, bins), and `row_edges` (..., rows + 1) of that input.
    """

    counts: Any
    below: Any
    above: Any
    edges: Any
    row_edges: Any = None


class Envelope(NamedTuple):
    """The extremes of each result (..., bins) where another input lies between `edges` (..., bins + 1), and the states' numbers.

    A bin without states has -inf, inf and the number -1.
    """

    edges: Any
    maximum: Any
    argmax: Any
    minimum: Any
    argmin: Any


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What a sweep has found, by the name of each result: a quantity, or a function of the user's.

    `done` of `samples` states were computed; less after an interruption. The same sweep has the same bits, on any number of threads
    or workers. A state is known by its number: `states(number)` makes it again.
    """

    robot: Model
    job: Job
    ranges: tuple[Range, ...]
    units: Mapping[str, str]
    scaled: Scaled
    totals: Totals
    seconds: float
    before: int = 0  # states of the checkpoint

    @property
    def names(self) -> tuple[str, ...]:
        """Of the results."""
        return tuple(v.name for v in self.job.program.outputs)

    @property
    def samples(self) -> int:
        """How many states were asked for."""
        return self.job.samples

    @property
    def done(self) -> int:
        """How many states were computed."""
        return self.totals.states

    @property
    def complete(self) -> bool:
        """Whether all of them were."""
        return self.done == self.samples

    # --- extremes

    @property
    def maximum(self) -> Arrays:
        """The largest value of each result; -inf where there is none."""
        self._needs("extremes", self.job.reductions.extremes)
        return self._split(self.totals.maximum.max(axis=1))

    @property
    def minimum(self) -> Arrays:
        """The least value of each result; inf where there is none."""
        self._needs("extremes", self.job.reductions.extremes)
        return self._split(self.totals.minimum.min(axis=1))

    @property
    def argmax(self) -> Arrays:
        """The number of the first state with the largest value; -1 where there is none."""
        self._needs("extremes", self.job.reductions.extremes)
        return self._split(_first(self.totals.maximum, self.totals.argmax, np.max))

    @property
    def argmin(self) -> Arrays:
        """The number of the first state with the least value; -1 where there is none."""
        self._needs("extremes", self.job.reductions.extremes)
        return self._split(_first(self.totals.minimum, self.totals.argmin, np.min))

    @property
    def largest(self) -> Arrays:
        """The largest magnitude of each result."""
        upper, lower = self.maximum, self.minimum
        return {name: np.maximum(upper[name], -lower[name]) for name in self.names}

    @property
    def worst(self) -> Arrays:
        """The number of the first state with the largest magnitude; -1 where there is none."""
        upper, lower, first, last = self.maximum, self.minimum, self.argmax, self.argmin
        return Arrays({name: np.where(upper[name] >= -lower[name], first[name], last[name]) for name in self.names})

    # --- counts and sums

    @property
    def nan(self) -> Arrays:
        """How many states have NaN there."""
        return self._split(self.totals.nan)

    @property
    def first_nan(self) -> Arrays:
        """The number of the first state with NaN there; -1 if there is none."""
        return self._split(self.totals.first_nan)

    @property
    def mean(self) -> Arrays:
        """The mean of each result, NaN left out."""
        return self._split(self._moment(1))

    @property
    def rms(self) -> Arrays:
        """The root of the mean square of each result, NaN left out."""
        return self._split(np.sqrt(self._moment(2)))

    @property
    def beyond(self) -> Arrays:
        """How many states have a result beyond its limits."""
        self._needs("limits", self.job.reductions.limits)
        return self._split(self.totals.beyond[:-1])

    @property
    def beyond_any(self) -> int:
        """How many states have any result beyond its limits."""
        self._needs("limits", self.job.reductions.limits)
        return int(self.totals.beyond[-1])

    def _moment(self, power: int) -> Any:
        self._needs("sums", self.job.reductions.sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.totals.sum(power) / (self.done - self.totals.nan)

    # --- distributions

    @property
    def histogram(self) -> dict[str, Histogram]:
        """The histogram of each result."""
        what = self.job.reductions
        self._needs("histogram", bool(what.bins))
        counts = self.totals.histogram if what.rows else self.totals.histogram[:, 0]
        low, high = self.scaled.edges
        edges = np.linspace(low, high, what.bins + 1, axis=-1)
        rows = self._split(self._edges_by(what.rows)) if what.rows else dict.fromkeys(self.names)
        parts = [self._split(x) for x in (counts[..., 1:-1], counts[..., 0], counts[..., -1], edges)]
        return {name: Histogram(*[part[name] for part in parts], row_edges=rows[name]) for name in self.names}

    @property
    def envelope(self) -> dict[str, Envelope]:
        """The envelope of each result."""
        slots = self.job.reductions.slots
        self._needs("envelope", bool(slots))
        parts = [self._split(x) for x in (self._edges_by(slots), *self.totals.envelope)]
        return {name: Envelope(*(part[name] for part in parts)) for name in self.names}

    def _edges_by(self, count: int) -> Any:
        low, high = (np.concatenate([getattr(part, end) for part in self.ranges]) for end in ("low", "high"))
        by = list(self.job.reductions.by)
        return np.linspace(low[by], high[by], count + 1, axis=-1)

    # --- states

    def states(self, number: Any) -> Arrays:
        """The inputs of the states with these numbers (an integer, or an array of them), by name."""
        index = numbers(number, "the number of a state")
        if index.dtype.kind not in "iu" or (index.size and (index.min() < 0 or index.max() >= self.samples)):
            raise Error(f"the number of a state is an integer from 0 to {self.samples - 1}")
        return by_input(self.ranges, self.job.inputs.states(index))

    def values(self, number: Any) -> Arrays:
        """The results of the states with these numbers, computed again."""
        self.states(number)
        found = self.job.values(np.asarray(number))
        return self._split(np.moveaxis(found, -1, 0), first=True)

    def refine(self, starts: int = 64, names: Any = None) -> "Refined":
        """Local optima near the best states: searches (BFGS) with exact derivatives within the ranges, from so many starts.

        `names` chooses among the results; all of them by default.

        >>> import dalembert as da
        >>> arm = da.robot("two_link")
        >>> found = arm.sweep("gravity_force", over={"q": (-3.2, 3.2)}, samples=1000)
        >>> [float(f"{x:.9g}") for x in found.refine(8).maximum["gravity_force"]]
        [19.6124, 4.9031]
        """
        from dalembert.sweeps.refining import refine

        return refine(self, starts, names)

    def save(self, path: Any) -> "Path":
        """Write everything that was found to a JSON file; returns where it is."""
        import json

        return save_text(path, json.dumps(self.to_dict(), indent=1) + "\n", "sweep.json")

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found, as lists and numbers."""
        what = self.job.reductions
        found: dict[str, Any] = {"robot": self.robot.name, "samples": self.samples, "done": self.done, "units": dict(self.units)}
        parts = ("maximum", "minimum", "argmax", "argmin") if what.extremes else ()
        parts += ("mean", "rms") if what.sums else ()
        parts += ("beyond",) if what.limits else ()
        for part in (*parts, "nan", "first_nan"):
            found[part] = {name: np.asarray(x).tolist() for name, x in getattr(self, part).items()}
        for part in ([] if not what.bins else ["histogram"]) + ([] if not what.slots else ["envelope"]):
            found[part] = {
                name: {key: np.asarray(x).tolist() for key, x in one._asdict().items() if x is not None}
                for name, one in getattr(self, part).items()
            }
        if what.extremes:
            found["worst"] = {
                name: [{key: x.tolist() for key, x in self.states(k).items()} if k >= 0 else None for k in np.ravel(at).tolist()]
                for name, at in self.worst.items()
            }
        return found

    def _split(self, array: Any, first: bool = False) -> Arrays:
        """An array (r, ...) by output: its shape first, or, with `first`, what follows r first."""
        found, start = Arrays(), 0
        for v in self.job.program.outputs:
            part = array[start : start + v.size]
            rest = part.shape[1:]
            part = np.moveaxis(part, 0, -1).reshape((*rest, *v.shape)) if first else part.reshape((*v.shape, *rest))
            found[v.name] = part[()]
            start += v.size
        return found

    def _needs(self, name: str, there: bool) -> None:
        if not there:
            raise Error(f"this sweep has no {name}; ask for them: reduce=[..., {name!r}]")

    def labels(self, name: str) -> list[str]:
        """What the scalars of a result are called: joints, where there is one for each."""
        return labels(self.robot, self.job.program.outputs)[choice(name, "result of the sweep:", self.names)]

    def __str__(self) -> str:
        what, head = self.job.reductions, [self.names[0] if len(self.names) == 1 else "", "unit"]
        columns: list[Any] = []
        if what.extremes:
            head += ["minimum", "maximum"]
            columns += [self.totals.minimum.min(axis=1), self.totals.maximum.max(axis=1)]
        if what.sums:
            head += ["mean", "rms"]
            columns += [self._moment(1), np.sqrt(self._moment(2))]
        named = [(label, self._unit(name, label)) for name in self.names for label in self.labels(name)]
        rows = [[label, unit, *(f"{x[k]:.6g}" for x in columns)] for k, (label, unit) in enumerate(named)]
        if what.limits:
            head.append("states beyond limits")
            for row, count in zip(rows, self.totals.beyond, strict=False):
                row.append(f"{int(count):,} ({100 * int(count) / max(self.done, 1):.2g} %)")
        rest = "" if self.complete else f" of {self.samples:,}: interrupted"
        nan = int(self.totals.nan.max())
        now = self.done - self.before
        rate = f" in {self.seconds:.2f} s, {now / self.seconds / 1e6:.1f} million a second" if self.seconds and now else ""
        rate += f", {self.before:,} of them from the checkpoint" if self.before else ""
        told = f"{self.robot.name}: {self.done:,} states{rest}{rate}" + (f"; up to {nan:,} of them NaN" if nan else "")
        return "\n".join([told, table([head, *rows], right=True), *self._more()])

    def _unit(self, name: str, label: str) -> str:
        """Of one scalar: that of the joint, where the result has one for each, and its unit depends on their kind."""
        kinds = {joint.name: joint.kind for joint in self.robot.joints}
        turning, _, sliding = self.units[name].partition(" or ")
        kind = kinds.get(label.removeprefix(f"{name} ")) if sliding else None
        return self.units[name] if kind is None else sliding if kind == "prismatic" else turning

    def _more(self) -> list[str]:
        """What a table does not show: where the largest value of each result arises, and what else there is."""
        what, lines = self.job.reductions, []
        for name in self.names if what.extremes else ():
            k = int(np.argmax(self.largest[name]))
            number = int(np.ravel(self.worst[name])[k])
            if number >= 0:
                state = ", ".join(f"{key} = {np.array2string(x, precision=4)}" for key, x in self.states(number).items() if x.size)
                lines.append(wrapped(f"the largest, of {self.labels(name)[k]}: state {number:,}, {state}"))
        others = [name for name, there in (("histogram", what.bins), ("envelope", what.slots)) if there]
        return [*lines, *([f"{' and '.join(others)}: in the file of `save`, and by that name"] if others else [])]

    def __repr__(self) -> str:
        return f"<Sweep of {self.robot.name}: {', '.join(self.names)}, {self.done:,} of {self.samples:,} states>"


def _first(values: Any, numbers: Any, extreme: Any) -> Any:
    """The lowest number (r,) among the classes that attain the extreme (r, 8)."""
    best = extreme(values, axis=1, keepdims=True)
    there = (values == best) & (numbers >= 0)
    lowest = np.where(there, numbers, np.iinfo(np.int64).max).min(axis=1)
    return np.where(there.any(axis=1), lowest, -1)
