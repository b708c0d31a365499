"""Sweeps: a quantity over all states of a range, reduced as they are computed."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from dalembert.arguments import choice, whole
from dalembert.engine.kernels import BACKENDS, LARGE
from dalembert.engine.names import Backend
from dalembert.errors import Error, PerformanceWarning, warn
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.native import machine
from dalembert.native.sweeps.drawn import drawn
from dalembert.native.sweeps.reductions import Reductions
from dalembert.native.sweeps.sweep import Job
from dalembert.native.sweeps.totals import Totals
from dalembert.progress import Progress
from dalembert.progress import chosen as chosen_progress
from dalembert.sweeps import reduced, storing
from dalembert.sweeps.checkpoint import checkpointed, digest
from dalembert.sweeps.clusters import on_cluster
from dalembert.sweeps.ranges import Range, kinds, ranges_of
from dalembert.sweeps.recorded import Recorded, recorded
from dalembert.sweeps.result import Sweep
from dalembert.sweeps.running import Engine, Task, on_threads
from dalembert.trace.program import Program

MOST = 1 << 50  # states: numbers of states are exact as doubles
SAMPLES = 1_000_000


def sweep(
    robot: Model,
    quantities: Any = "inverse_dynamics",
    over: Mapping[str, Any] | None = None,
    samples: float | None = None,
    reduce: Any = ("extremes", "sums"),
    *,
    sampling: str | Mapping[str, str] | None = None,
    seed: int = 0,
    link: str | None = None,
    cluster: Any = None,
    checkpoint: Any = None,
    store: Any = None,
    backend: Backend = "auto",
    progress: Progress | bool | None = None,
) -> Sweep:
    """Extremes, sums, histograms and envelopes of quantities over all states of a range, many millions a second.

    States come from their number, are computed and reduced in native code, and none is kept: memory does not grow with `samples`.
    All results have the same bits on any number of threads or workers, and after an interruption.

    quantities: a name, several, or functions by name whose arguments are named after inputs and quantities:
        ["inverse_dynamics", {"power": lambda qd, inverse_dynamics: qd * inverse_dynamics}].
    over: what varies, by the name of the input: (low, high), each a number or one for every joint; (low, high, count) for the
        points of a grid; a number that stays; {joint: (low, high)} for some joints; or a function of other inputs, which its
        arguments name. Inputs not given have the limits of the robot. More inputs: "payload" (kg) and "payload_com" (m, in the axes
        of `link`), "gravity" (m/s^2), "damping" and "coulomb" (each joint), and every number of the model by
        its name in `robot.symbolic().names`: none of them needs new code.
    samples: how many states; by default 1,000,000. If everything varies on a grid, each of its points is taken once.
    reduce: names, or {name: options}. "extremes" (with the numbers of the states that attain them), "sums" (mean and rms),
        "histogram" (bins, range; by another input, in rows), "envelope" (bins, by: the extremes for each bin of another input, the
        velocities by default), "limits" (limits: states beyond them are counted; default: the torque limits).
    sampling: "uniform", "low_discrepancy", "corners" (the ends of ranges) or "mixed" (nine in ten at an end), for all inputs or by
        name. Default: positions uniform, all else mixed, since extremes are mostly at the ends of velocities and accelerations.
    link: the link or frame that carries the payload, and that "pose", "jacobian", ... are of; by default the end link.
    cluster: the address of a Dask scheduler, or a `dask.distributed.Client`: the sweep runs there.
    backend: "auto" takes native code where it can be had, "numpy" does without.
    checkpoint: a file of finished parts; a sweep that was interrupted goes on from it.
    store: a Zarr folder, to which all states and results are written as well; six times slower.

    Ctrl-C returns what was done until then: `sweep.done` of `sweep.samples` states.

    >>> import dalembert as da
    >>> arm = da.robot("puma560")
    >>> found = arm.sweep(over={"qd": (-1, 1), "qdd": (-1, 1)}, samples=100_000)
    >>> found.largest["inverse_dynamics"].round(0).tolist()
    [8.0, 50.0, 10.0, 0.0, 0.0, 0.0]
    >>> worst = found.argmax["inverse_dynamics"][1]
    >>> bool(found.values(worst)["inverse_dynamics"][1] == found.maximum["inverse_dynamics"][1])
    True
    """
    made = recorded(robot, quantities, over, link)
    ranges = ranges_of(robot, over, {v.name: v.shape for v in made.program.inputs})
    count = _samples(samples, ranges)
    letters, ends = kinds(ranges, sampling)
    low, high, points = (np.concatenate([getattr(part, k) for part in ranges]) for k in ("low", "high", "counts"))
    inputs = drawn(letters, low, high, ends, points, whole(seed, "seed", 0, 2**63))
    by = _backend(backend, made.program)
    trial = Job(made.program, inputs, Reductions(), np.zeros(0), count, by)
    asked = reduced.chosen(reduce)
    scaled = reduced.scaled(
        asked, made.program, ranges, lambda: trial.values(np.arange(min(count, reduced.PILOT))), _torque_limits(robot, made)
    )
    job = Job(made.program, inputs, scaled.reductions, scaled.scales, count, by)
    stored = None if store is None else storing.chosen(store, digest(job))
    engine = on_threads if cluster is None else on_cluster(cluster)
    if cluster is None:
        job.run(())  # compiled before the clock starts
    start = time.perf_counter()
    report = chosen_progress(progress, f"sweep of {robot.name}", "states")
    prepare = lambda: None if stored is None else storing.create(stored, robot, job, made.units, digest(job))  # noqa: E731
    totals, before = _run(Task(job, stored), engine, checkpoint, report, prepare)
    return Sweep(robot, job, tuple(ranges), made.units, scaled, totals, time.perf_counter() - start, before)


def _samples(samples: Any, ranges: Sequence[Range]) -> int:
    """How many states: as given, or the points of the grid if there is nothing else."""
    varies = [(x, y, c) for part in ranges for x, y, c in zip(part.low, part.high, part.counts, strict=True) if x < y]
    points = 1
    for _, _, count in varies:
        points *= int(count)
    count = whole((points or SAMPLES) if samples is None else samples, "samples", 1, MOST)
    if varies and points and count != points:
        raise Error(
            f"everything varies on a grid of {points:,} points; leave samples out, which takes each of them once, got {count:,}"
        )
    return count


def _torque_limits(robot: Model, made: Recorded) -> dict[str, Any]:
    """The limits that the robot itself has for results that are joint forces."""
    most = own_limit(robot, "torque")
    return {name: most for name, unit in made.units.items() if unit == "N m or N"}


def _backend(backend: Any, program: Program) -> str:
    """Native code, unless it is not wanted, cannot be had, or would take long to compile."""
    if choice(backend, "backend", BACKENDS) == "numpy":
        return "numpy"
    try:
        machine.host()
    except ImportError as missing:
        if backend == "native":
            raise Error(f"native code needs llvmlite, which cannot be loaded: {missing}") from None
        warn(
            f"native code needs llvmlite, which cannot be loaded ({missing}); sweeping with NumPy, much slower", PerformanceWarning
        )
        return "numpy"
    if backend == "auto" and len(program.nodes) > LARGE:
        warn(f"a program of {len(program.nodes)} operations takes long to compile; sweeping with NumPy", PerformanceWarning)
        return "numpy"
    return "native"


def _run(task: Task, engine: Engine, checkpoint: Any, report: Progress, prepare: Callable[[], None]) -> tuple[Totals, int]:
    """All leaves that are not in the checkpoint, and how many states are; an interruption ends it early."""
    job = task.job
    total = Totals.empty(job.reductions, len(job.program.results))
    with checkpointed(checkpoint, job, task.store and task.store.key) as (before, write):
        prepare()
        done = set[int]()
        for part, leaves in before:
            total, done = total + part, done.union(leaves)
        known = total.states
        try:
            left = [k for k in range(job.leaves) if k not in done] if done else range(job.leaves)
            with closing(engine(task, left)) as parts:
                for part, leaves in parts:
                    total = total + part
                    write(part, leaves)
                    report(total.states, job.samples)
        except KeyboardInterrupt:
            if not total.states:
                raise
    return total, known
