"""Bounds of a quantity that no state of a range exceeds, proven by branch and bound."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, listed, positive
from dalembert.bounds.branching import Search
from dalembert.bounds.entry import Entry, Unproven
from dalembert.bounds.result import Bound
from dalembert.engine.guards import need_joints, need_rates
from dalembert.engine.program import program as traced
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error, brief
from dalembert.model.model import Model, refuse_loops
from dalembert.progress import Progress, chosen
from dalembert.sweeps.ranges import EXAMPLE, ranges_of
from dalembert.sweeps.recorded import labels, recorded
from dalembert.trace.intervals.degrees import Key, angles, used
from dalembert.trace.program import Program

SLICE = 0.25  # seconds that a search works before the next one does


def bound(
    robot: Model,
    quantity: str | Mapping[str, Callable[..., Any]] | Program,
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
    {"q": {"wrist": 0.0}}. By default q, qd and tau have the limits of the robot; an angle without limits takes a whole turn.
    Optional inputs count if they are named ("wrenches", "base_twist"), and so do `payload` (kg, on `link`), `payload_com`,
    `gravity`, `damping`, `coulomb`, and numbers of the robot by name (m1, ...), as in `sweep`; `link` is also what "pose",
    "jacobian", ... are of. `quantity` may also be a function of
    inputs and quantities, by a name of its own, or a program with inputs of any names.
    `only`: these entries, by joint or by place; by default all.

    It stops when every gap, between what is proven and what is attained, is below `tolerance` of the largest absolute value
    attained, or after so many `seconds`, or on Ctrl-C; the bounds hold in any case, rounding included. Entries that were not begun
    by then have infinite ones: each is first compiled and sampled, which takes seconds. Bounds are those of the formulas with
    exactly the numbers of the robot. `progress` as in `simulate`.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> found = arm.bound("inverse_dynamics", over={"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, tolerance=1e-3)
    >>> found.names, found.largest.round(1).tolist(), bool((found.ratio < 1.002).all())
    (('joint1', 'joint2'), [23.3, 6.3], True)
    """
    began = time.perf_counter()
    refuse_loops(robot, "bound")
    need_rates(robot, "bound")
    tolerance, seconds = positive(tolerance, "tolerance"), positive(seconds, "seconds")
    name, program = _program(robot, quantity, over, options)
    names = [label for every in labels(robot, program.outputs).values() for label in every]
    places, ends = _places(names, only), box(robot, program, over)
    show = chosen(progress, f"bound of {name}")
    jobs: dict[int, Entry | Unproven] = {}
    until = began + seconds
    try:
        for i in dict.fromkeys(program.results[k] for k in places):
            if not jobs or time.perf_counter() < until:
                jobs[i] = Entry(program, i, ends, tolerance)
        _work([side for job in jobs.values() for side in job.sides], until, seconds, show)
    except KeyboardInterrupt:  # what is proven holds
        if not jobs:
            raise
    jobs = {i: jobs.get(i) or Unproven(program, i, ends) for i in (program.results[k] for k in places)}
    made = [jobs[program.results[k]] for k in places]
    shape = program.outputs[0].shape if only is None and len(program.outputs) == 1 else (len(places),)

    def array(values: list[float]) -> Array:
        return np.array(values, dtype=float).reshape(shape)

    return Bound(
        robot.name, name, tuple(names[k] for k in places),
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
    """What is bounded: a program as it is, a quantity with its options, or what a sweep would compute."""
    if isinstance(quantity, Program):
        if options:
            raise Error(f"bound: a program has no options, got {brief(next(iter(options)))}")
        return "program", quantity
    need_joints(robot, "bound")
    given = by_name({} if over is None else over, "over", EXAMPLE)
    if isinstance(quantity, str):
        described = quantity_named(quantity).of(robot)
        optional = [name for name in described.optional if name in given]
        if all(name in described.arrays(tuple(optional)) and not callable(given[name]) for name in given):
            return described.name, traced(robot, described, optional=optional, **options)
    if more := [name for name in options if name != "link"]:
        raise Error(f"bound: {more[0]} is an option of quantities given by name, over their own inputs only; leave it out")
    name = quantity if isinstance(quantity, str) else ", ".join(by_name(quantity, "quantity", "{'power': f}"))
    return name, recorded(robot, quantity, over, options.get("link")).program


def box(robot: Model, program: Program, over: Any) -> dict[Key, tuple[float, float]]:
    """The ends of each scalar: given, or the limits of the robot; one turn where no more than sine and cosine matter."""
    given = by_name({} if over is None else over, "over", EXAMPLE)
    names = [v.name for v in program.inputs]
    for name in given:
        if not callable(given[name]):
            choice(name, "input to give a range of:", names)
    turning, needed = angles(program), set(used(program))
    free = {v.name: [(k, j) in turning or (k, j) not in needed for j in range(v.size)] for k, v in enumerate(program.inputs)}
    asked = {v.name: v.shape for k, v in enumerate(program.inputs) if v.name in given or any(key[0] == k for key in needed)}
    found = {part.name: part for part in ranges_of(robot, given, asked, free)}
    if gridded := next((part.name for part in found.values() if part.counts.any()), None):
        raise Error(f"over: a bound holds for the whole range, so {gridded} takes no number of points: give (low, high)")
    ends: dict[Key, tuple[float, float]] = {}
    for k, v in enumerate(program.inputs):
        part = found.get(v.name)
        for j in range(v.size):
            ends[k, j] = (0.0, 0.0) if part is None else (float(part.low[j]), float(part.high[j]))
    return ends


def _places(names: list[str], only: Any) -> list[int]:
    """Which entries are asked for."""
    count = len(names)
    if only is None:
        return list(range(count))
    places: list[int] = []
    for one in [only] if isinstance(only, str | int) else listed(only, "only"):
        if isinstance(one, str):
            places.append(names.index(choice(one, "entry to bound:", names)))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and -count <= one < count:
            places.append(int(one) % count)
        else:
            raise Error(f"only must hold names of joints, or indices from 0 to {count - 1}, got {brief(one)}")
    return places
