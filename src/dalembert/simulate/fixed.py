"""Steps of fixed length, run natively: whole rollouts at once where forces are known, stage by stage where Python gives them."""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.native import threads
from dalembert.native.ordered import ordered
from dalembert.quantities.quantity import compile
from dalembert.simulate.integrators import ITERATIONS, Integrator, Stage, advance, table
from dalembert.simulate.motion import STATE
from dalembert.simulate.progress import Progress
from dalembert.spatial import Array

BLOCK = 128  # rollouts whose numbers stay near the processor
WORK = 3_000_000  # passes times rollouts in one native call: a tenth of a second or so, then Ctrl-C and progress get their turn
Velocity = Callable[[Model, Array, Array], Array]  # qd from q and the velocities of a route
CONVERGED = 1e-11  # of an implicit step, relative to the state


class Plan(NamedTuple):
    """What to do, apart from where it starts and what drives it."""

    robot: Model
    step: float
    samples: int
    every: int
    method: str | None
    velocities: str
    backend: str
    progress: Progress


class Start(NamedTuple):
    """Positions and velocities (..., n) to begin with."""

    q: Array
    qd: Array
    batch: tuple[int, ...]

    def widened(self, batch: tuple[int, ...], n: int) -> "Start":
        """For all rollouts."""
        q, qd = (np.ascontiguousarray(np.broadcast_to(x, (*batch, n))) for x in (self.q, self.qd))
        return Start(q, qd, batch)


class Forces(NamedTuple):
    """Joint forces: an array (..., steps or 1, n), or a function, perhaps with a memory."""

    array: Array | None
    function: Callable[..., Any] | None
    memory: Array | None
    batch: tuple[int, ...]

    @property
    def constant(self) -> bool:
        """Whether they never change."""
        return self.array is not None and self.array.shape[-2] == 1


class Acting(NamedTuple):
    """Wrenches as the user gave them; as constants (B, n, 6) in link axes; or as a function of q."""

    given: Any
    constant: Array | None
    function: Callable[[Array], Array] | None


class Found(NamedTuple):
    """Samples (B, T, n): positions, velocities of the route, forces; memories (B, T, k)."""

    q: Array
    v: Array
    tau: Array
    memory: Array | None


def run(plan: Plan, integrator: Integrator, start: Start, forces: Forces, acting: Acting, velocity: Velocity) -> Found:
    """All steps; `velocity` is qd from the route's own velocities."""
    robot, n, count = plan.robot, plan.robot.n, prod(start.batch)
    if n * count == 0:
        empty = np.zeros((count, plan.samples + 1, n))
        return Found(empty, empty, empty, None)
    q, v = start.q.reshape(count, n), start.qd.reshape(count, n)
    pushed = acting.constant is not None or acting.function is not None
    kernel = compile(
        robot, "stage", plan.method, optional=("wrenches",) if pushed else (), backend=plan.backend, velocities=plan.velocities
    )
    if forces.array is None or acting.function:
        return _by_stages(plan, kernel, integrator, q, v, forces, acting, start.batch, velocity)
    steps = plan.samples * plan.every
    tau = np.broadcast_to(forces.array, (*forces.batch, forces.array.shape[-2], n)).reshape(len(q), -1, n)
    kept = np.empty((2, len(q), plan.samples + 1, n))

    def rollouts(part: slice) -> Callable[[], None]:
        stages = _Stages(kernel, q[part], v[part], None if acting.constant is None else acting.constant[part])
        return lambda: _rollouts(plan, integrator, stages, tau[part], kept[:, part], told)

    parts = [slice(k, k + BLOCK) for k in range(0, len(q), BLOCK)]
    done = [0]

    def told(passed: int) -> None:
        done[0] += passed
        plan.progress(done[0], steps * len(parts))

    workers = max(1, min(threads.get_threads(), len(parts)))
    for k in range(0, len(parts), workers):
        threads.run([rollouts(part) for part in parts[k : k + workers]])
    held = tau[:, :: plan.every] if tau.shape[1] > 1 else np.broadcast_to(tau, (len(q), plan.samples, n))
    return Found(kept[0], kept[1], np.concatenate([held, held[:, -1:]], axis=1), None)


class _Stages:
    """The arrays of a kernel's stage, for some rollouts: one memory, read and written at every pass."""

    def __init__(self, kernel: Any, q: Array, v: Array, wrenches: Array | None) -> None:
        self.kernel = kernel
        self.state = {name: np.zeros((1, 1, 1, *q.shape)) for name in STATE}
        self.gap = np.zeros((1, 1, 1, len(q)))
        self.wrenches = [] if wrenches is None else [np.array(wrenches, dtype=float)[None, None, None]]
        self.restart(q, v)

    def restart(self, q: Array, v: Array) -> None:
        """Begin a step at this state."""
        for name, value in zip(STATE, (q, v, q, v, 0.0, 0.0), strict=True):
            self.state[name][...] = value
        self.gap[...] = 0.0

    def prepared(self, factors: Array, tau: Array, kept: tuple[Array, Array], counts: tuple[int, int, int]) -> Callable[[], None]:
        """The passes of these loops over samples, steps and stages, to be run."""
        held = list(self.state.values())
        outputs = [*held, self.gap, *kept]
        return ordered(self.kernel, [*held, self.gap, tau, factors[None, None, :, None], *self.wrenches], outputs, counts)

    def converged(self) -> bool:
        """Whether the iterations of all implicit steps since the restart met."""
        scale = 1 + sum(np.abs(self.state[name]).max(axis=-1) for name in ("q", "v"))
        met = np.sqrt(self.gap) <= CONVERGED * scale
        return bool((met | ~np.isfinite(self.gap)).all())  # what has run away is found at the end


def _rollouts(plan: Plan, integrator: Integrator, stages: _Stages, tau: Array, kept: Array, told: Callable[[int], None]) -> None:
    """Whole rollouts (B, T, n), a number of samples at a time."""
    kept[:, :, 0] = stages.state["q"][0, 0, 0], stages.state["v"][0, 0, 0]
    tries = list(ITERATIONS if integrator.implicit else (0,))
    k = 0
    while k < plan.samples:
        rows = integrator.steps(tries[0])
        count = min(plan.samples - k, max(1, WORK // (plan.every * len(rows) * kept.shape[1])))
        to = [np.moveaxis(x[:, k + 1 : k + 1 + count], 1, 0)[:, None, None] for x in kept]
        first, loops = k * plan.every, (count, plan.every, len(rows))
        if tau.shape[1] == 1:
            force = np.moveaxis(tau, 1, 0)[None, None]
        else:
            force = np.moveaxis(tau[:, first : first + count * plan.every], 1, 0)
            force = force.reshape(count, plan.every, *force.shape[1:])[:, :, None]
        stages.prepared(table(rows, plan.step), np.ascontiguousarray(force), (to[0], to[1]), loops)()
        if integrator.implicit and not stages.converged():
            if len(tries) == 1:
                raise _apart(plan, integrator)
            tries.pop(0)
            stages.restart(kept[0, :, k], kept[1, :, k])
            continue
        stages.gap[...] = 0.0
        k += count
        told(count * plan.every)


def _apart(plan: Plan, integrator: Integrator) -> Error:
    return Error(f"simulate: the iterations of an implicit step of {plan.step:g} s do not meet; a smaller step would")


def _by_stages(
    plan: Plan,
    kernel: Any,
    integrator: Integrator,
    q: Array,
    v: Array,
    forces: Forces,
    acting: Acting,
    batch: tuple[int, ...],
    velocity: Velocity,
) -> Found:
    """Forces or wrenches that Python gives at every stage."""
    n, memory = plan.robot.n, forces.memory
    shape = (*batch, n)
    tau = np.zeros((1, 1, 1, len(q), n))
    pushing = acting.constant if acting.function is None else np.zeros((len(q), n, 6))
    stages = _Stages(kernel, q, v, pushing)
    rows = integrator.steps(ITERATIONS[1])
    factors, scrap = table(rows, plan.step), np.empty((2, 1, 1, 1, *q.shape))
    passes = [stages.prepared(factors[s : s + 1], tau, (scrap[0], scrap[1]), (1, 1, 1)) for s in range(len(rows))]
    at_q, at_v = (stages.state[name][0, 0, 0] for name in ("at_q", "at_v"))
    remembered = None if memory is None else _Memory(np.broadcast_to(memory, (*batch, *memory.shape)).copy(), factors)
    kept, acted, remembers = np.empty((2, len(q), plan.samples + 1, n)), np.empty((len(q), plan.samples + 1, n)), []

    def push(step: int, stage: Stage, s: int | None) -> None:
        """Set the force, and the wrenches, at a stage; its derivative moves the memory."""
        here = at_q.reshape(shape).copy()
        time = (step + stage.at) * plan.step
        moving = velocity(plan.robot, at_q, at_v).reshape(shape).copy()
        tau[0, 0, 0] = _force(plan, forces, time, here, moving, step, remembered, s).reshape(-1, n)
        if acting.function:
            stages.wrenches[0][0, 0, 0] = np.broadcast_to(acting.function(here), (*shape, 6)).reshape(-1, n, 6)

    begin = Stage(0.0, 0, 0, 0, 0)
    for k in range(plan.samples + 1):
        kept[:, :, k] = stages.state["q"][0, 0, 0], stages.state["v"][0, 0, 0]
        remembers.append(None if remembered is None else remembered.y.copy())
        seen = rows[0].at == 0 and k < plan.samples  # the first stage is where the sample is
        if not seen:
            push(k * plan.every, begin, None)
            acted[:, k] = tau[0, 0, 0]
        for step in range(k * plan.every, (k + 1) * plan.every) if k < plan.samples else ():
            for s, stage in enumerate(rows):
                push(step, stage, s)
                if seen and s == 0 and step == k * plan.every:
                    acted[:, k] = tau[0, 0, 0]
                passes[s]()
        if integrator.implicit and not stages.converged():
            raise _apart(plan, integrator)
        plan.progress(k, plan.samples)
    memories = None if remembered is None else np.stack(remembers, axis=-2).reshape(len(q), plan.samples + 1, -1)
    return Found(kept[0], kept[1], acted, memories)


class _Memory:
    """The memory of a controller (..., k), moved by the stages of the integrator."""

    def __init__(self, y: Array, factors: Array) -> None:
        self.y, self.at, self.sum, self.factors = y, y, np.zeros_like(y), factors

    def move(self, s: int, rate: Array) -> None:
        """After stage s, with the memory's derivative there."""
        self.y, self.at, self.sum = advance(self.factors[s], self.y, self.sum, np.asarray(rate))


def _force(plan: Plan, forces: Forces, time: float, q: Array, qd: Array, step: int, memory: _Memory | None, s: int | None) -> Array:
    """The joint forces (..., n) at a stage."""
    if forces.function is None:
        array = forces.array if forces.array is not None else np.zeros((1, plan.robot.n))
        return np.broadcast_to(array[..., min(step, array.shape[-2] - 1), :], q.shape)
    if memory is None:
        found = forces.function(time, q, qd)
    else:
        found, rate = forces.function(time, q, qd, memory.at)
        if s is not None:
            memory.move(s, rate)
    try:
        return np.broadcast_to(np.asarray(found, dtype=float), q.shape)
    except (ValueError, TypeError):
        raise Error(f"simulate: torque(t, q, qd) must give forces {q.shape}, it gave {brief(found)} at t = {time:g} s") from None
