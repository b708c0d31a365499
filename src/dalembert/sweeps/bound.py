"""Bounds of a quantity that no state of a range exceeds, proven by branch and bound."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, listed, positive
from dalembert.engine.evaluation import uncharted
from dalembert.engine.program import program as traced
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error, brief
from dalembert.model.model import Model, refuse_loops
from dalembert.native.evaluator import evaluator
from dalembert.progress import Progress, chosen
from dalembert.sweeps.bounded import Bound
from dalembert.sweeps.boxes import box
from dalembert.sweeps.branching import Search
from dalembert.sweeps.climbing import climb
from dalembert.trace.bounding import margins, prepare, step_program
from dalembert.trace.degrees import Key
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, Variable, assemble, evaluate
from dalembert.trace.rounding import errors

SAMPLES = 20_000  # of which the best are refined
STARTS = 48
CORNERS = 0.75  # share of the samples at an end, of inputs in which a result is a polynomial of degree 2
SLICE = 0.25  # seconds that a search works before the next one does
LARGE = 400_000  # operations of a step
Box = dict[Key, tuple[float, float]]


def bound(
    robot: Model,
    quantity: str | Program,
    *,
    over: Mapping[str, Any] | None = None,
    tolerance: float = 0.05,
    seconds: float = 60.0,
    only: Sequence[int | str] | int | str | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Bound:
    """Bounds of a quantity that no state of a range exceeds, with the extremes that are attained, and where.

    `over` gives the range of each input as (low, high), numbers or arrays, or a number that stays; by joint where that is easier:
    {"q": {"wrist": 0.0}}. By default q, qd and tau have the limits of the robot; an angle without limits takes a whole turn. Optional
    inputs count if they are named ("wrenches", "base_twist"). `quantity` may also be a program with inputs of any names.
    `only`: these entries, by joint or by place; by default all.

    It stops when every gap, between what is proven and what is attained, is below `tolerance` of the largest absolute value attained, or
    after so many `seconds`; the bounds hold in any case, rounding included. They are those of the formulas with exactly the numbers
    of the robot. `progress` as in `simulate`.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> found = arm.bound("inverse_dynamics", over={"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, tolerance=1e-3)
    >>> found.names, found.largest.round(1).tolist(), bool((found.ratio < 1.002).all())
    (('joint1', 'joint2'), [27.3, 6.4], True)
    """
    began = time.perf_counter()
    refuse_loops(robot, "bound")
    if robot.runs:
        raise uncharted(robot, "bound")
    tolerance, seconds = positive(tolerance, "tolerance"), positive(seconds, "seconds")
    name, program = _program(robot, quantity, over, options)
    places = _places(robot, program, only)
    ends, labels = box(robot, program, over), _labels(robot, program)
    show = chosen(progress, f"bound of {name}")
    jobs = {i: _Job(program, i, ends, tolerance) for i in dict.fromkeys(program.results[k] for k in places)}
    _work([side for job in jobs.values() for side in job.sides], began + seconds, seconds, show)
    made = [jobs[program.results[k]] for k in places]
    shape = program.outputs[0].shape if only is None and len(program.outputs) == 1 else (len(places),)

    def array(values: list[float]) -> Array:
        return np.array(values, dtype=float).reshape(shape)

    return Bound(
        robot.name, name, tuple(labels[k] for k in places),
        array([job.lower for job in made]), array([job.upper for job in made]),
        array([job.least for job in made]), array([job.greatest for job in made]),
        tuple(job.at(1) for job in made), tuple(job.at(0) for job in made),
        tolerance, time.perf_counter() - began, sum(job.boxes for job in jobs.values()),
    )  # fmt: skip


def _work(searches: list[Search], until: float, seconds: float, show: Progress) -> None:
    """Let all searches take their turns."""
    waiting = [search for search in searches if not search.done]
    total = len(searches)
    while waiting and (now := time.perf_counter()) < until:
        share = max(1 - (until - now) / seconds, (total - len(waiting)) / max(total, 1))
        show(int(1000 * share), 1000)
        for search in waiting:
            search.work(min(until, time.perf_counter() + SLICE))
        waiting = [search for search in waiting if not search.done]
    show(1000, 1000)


def _program(robot: Model, quantity: Any, over: Any, options: Mapping[str, Any]) -> tuple[str, Program]:
    if isinstance(quantity, Program):
        if options:
            raise Error(f"bound: a program has no options, got {brief(next(iter(options)))}")
        return "program", quantity
    described = quantity_named(quantity).of(robot)
    if not robot.n:
        raise Error(f"bound needs a robot with joints, {robot.name} has none")
    optional = [name for name in described.optional if isinstance(over, Mapping) and name in over]
    return described.name, traced(robot, described, optional=optional, **options)


def _labels(robot: Model, program: Program) -> list[str]:
    """Names of all entries: joints, where there is one for each, or places."""
    found: list[str] = []
    for v in program.outputs:
        before = "" if len(program.outputs) == 1 else f"{v.name} "
        if v.shape == (robot.n,):
            found += [f"{before}{joint}" for joint in robot.joint_names]
        else:
            found += [f"{v.name}[{','.join(map(str, index))}]" if v.shape else v.name for index in np.ndindex(*v.shape)]
    return found


def _places(robot: Model, program: Program, only: Any) -> list[int]:
    """Which entries are asked for."""
    count, labels = len(program.results), _labels(robot, program)
    if only is None:
        return list(range(count))
    places: list[int] = []
    for one in [only] if isinstance(only, str | int) else listed(only, "only"):
        if isinstance(one, str):
            places.append(labels.index(choice(one, "entry to bound:", labels)))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and -count <= one < count:
            places.append(int(one) % count)
        else:
            raise Error(f"only must hold names of joints, or places from 0 to {count - 1}, got {brief(one)}")
    return places


class _Job:
    """One entry: its programs, and a search for each side; none where nothing varies."""

    def __init__(self, program: Program, result: int, ends: Box, tolerance: float) -> None:
        self.program, self.ends = program, ends
        wide = [key for key, (a, b) in ends.items() if a < b]
        zero = [key for key, (a, b) in ends.items() if a == b == 0.0]
        self.step = prepare(program, result, wide, zero)
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
        value = _value(self.one, [self.whole[a:b] for a, b in zip(self.starts, self.starts[1:], strict=False)])
        error = errors(self.one, whole)[i].error
        self.fixed = value - error, value, value + error

    def _search(self, tolerance: float) -> None:
        step, ends = self.step, self.ends
        known = margins(step, {k: a for k, (a, _) in ends.items()}, {k: b for k, (_, b) in ends.items()}, [v.size for v in self.program.inputs])
        made = step_program(step, known.outward)
        if len(made.nodes) > LARGE:
            raise Error(f"bound: a step of branch and bound has {len(made.nodes):,} operations, the limit is {LARGE:,}; fix some inputs")
        kernel, slopes = evaluator(made), evaluator(differentiate(self.one, keep=True))
        thin = [np.array([ends[key][0] for key in step.groups.thin])] if step.groups.thin else []
        slack = np.array(known.slack)
        starts = self._samples(slopes)
        best = [self._climbed(slopes, side, starts(side)) for side in (1.0, -1.0)]
        size = max(abs(value) for value, _ in best)
        for side, found in zip((1.0, -1.0), best, strict=True):
            def cut(low: Array, high: Array, side: float = side) -> Any:
                bounds, *rest = kernel(low, high, np.float64(side), slack, *thin)
                return (np.where(np.isnan(bounds), np.inf, bounds + known.bound), *rest)

            def look(x: Array, side: float = side) -> tuple[float, Array]:
                return self._climbed(slopes, side, x)

            self.sides.append(Search(cut, look, self.low, self.high, found, tolerance * size))

    def _full(self, x: Array) -> list[Array]:
        """States (..., wide) as inputs of the program."""
        states = np.broadcast_to(self.whole, (*x.shape[:-1], len(self.whole))).copy()
        states[..., self.columns] = x
        return [
            states[..., a:b].reshape(*x.shape[:-1], *v.shape)
            for v, a, b in zip(self.program.inputs, self.starts, self.starts[1:], strict=False)
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


def _value(program: Program, inputs: list[Array]) -> float:
    return float(evaluate(program, inputs)[program.results[0]])
