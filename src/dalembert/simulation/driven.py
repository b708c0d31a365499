"""Steps of fixed length under forces or wrenches that Python gives at every stage; the stages themselves are native."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.simulation.integrators import ITERATIONS, Integrator, Stage, advance, table
from dalembert.simulation.plan import GIVES, Acting, Forces, Plan, Rollouts, Start, wide
from dalembert.simulation.stages import CONVERGED, Stages, apart

Velocity = Callable[[Model, Array, Array], Array]  # qd from q and the velocities of a route
BEGIN = Stage(0.0, 0, 0, 0, 0)


def run(plan: Plan, integrator: Integrator, start: Start, forces: Forces, acting: Acting, velocity: Velocity) -> Rollouts:
    """All steps of all rollouts."""
    driven = _Driven(plan, integrator, start, forces, acting, velocity)
    q, v, tau, memories, work = [], [], [], [], []
    for k in range(plan.samples + 1):
        state = driven.stages.state
        q.append(state["q"][0, 0, 0].copy())
        v.append(state["v"][0, 0, 0].copy())
        memories.append(None if driven.memory is None else driven.memory.y)
        work.append(driven.work)
        tau.append(driven.sample(k))
        plan.progress(k, plan.samples)
        if not np.isfinite(state["v"]).all(axis=-1).any():  # all have run away: asking on would only take time
            for kept in (q, v, tau):
                kept += [np.full_like(kept[0], np.nan)] * (plan.samples - k)
            memories += [memories[-1]] * (plan.samples - k)
            work += [work[-1]] * (plan.samples - k)
            break
    count = len(q[0])
    memory = None if driven.memory is None else np.stack(memories, axis=-2).reshape(count, plan.samples + 1, -1)
    q, v, tau = (np.stack(x, axis=1) for x in (q, v, tau))
    return Rollouts(q, v, tau, memory, None if forces.array is None or plan.robot.runs else np.stack(work, axis=1))


class _Memory:
    """The memory of a controller (..., k), moved by the stages of the integrator."""

    def __init__(self, y: Array, factors: Array) -> None:
        self.y, self.at, self.sum, self.factors = y, y, np.zeros_like(y), factors
        self.met = True  # whether the iterations of all implicit steps did

    def move(self, s: int, rate: Array) -> None:
        """After stage s, with the memory's derivative there."""
        y, at = self.y, self.at
        self.y, self.at, self.sum = advance(self.factors[s], y, self.sum, rate)
        if self.factors[s][5]:  # the end of an implicit step: `at` should have been the middle
            gap = np.abs(y + self.y - 2 * at).max(initial=0.0)
            self.met = self.met and not gap > CONVERGED * (1 + np.abs(self.y).max(initial=0.0))


class _Driven:
    """A robot whose forces are evaluated at every stage."""

    def __init__(
        self, plan: Plan, integrator: Integrator, start: Start, forces: Forces, acting: Acting, velocity: Velocity
    ) -> None:
        self.plan, self.acting, self.velocity = plan, acting, velocity
        q, v = start.flat()
        self.batch, self.implicit = start.batch, integrator.implicit
        self.rows = integrator.steps(ITERATIONS[1])
        factors = table(self.rows, plan.step)
        self.tau = np.zeros((1, 1, 1, *v.shape))
        self.stages = Stages(
            plan.kernel(acting), q, v, np.zeros((len(q), len(plan.robot.links), 6)) if acting.function else acting.constant
        )
        kept = np.empty((1, 1, 1, *q.shape)), np.empty((1, 1, 1, *v.shape))
        self.passes = [self.stages.prepared(row[None], self.tau, kept, (1, 1, 1)) for row in factors]
        self.work: Array = np.zeros(len(q))  # of forces that are held over each step
        self.control = Control(start, forces)
        self.memory = None if self.control.memory is None else _Memory(self.control.memory, factors)

    def sample(self, k: int) -> Array:
        """The forces (B, n) at sample k, and all steps from there to the next one."""
        first, last = k * self.plan.every, k == self.plan.samples
        acted = None
        if last or self.rows[0].at:  # no stage will be where the sample is
            self.push(first, BEGIN, None)
            acted = self.tau[0, 0, 0].copy()
        for step in () if last else range(first, first + self.plan.every):
            before = self.stages.state["q"][0, 0, 0].copy()
            for s, stage in enumerate(self.rows):
                self.push(step, stage, s)
                acted = self.tau[0, 0, 0].copy() if acted is None else acted
                self.passes[s]()
            if not self.plan.robot.runs:
                self.work = self.work + (self.tau[0, 0, 0] * (self.stages.state["q"][0, 0, 0] - before)).sum(axis=-1)
        if self.implicit and not (self.stages.converged() and (self.memory is None or self.memory.met)):
            raise apart(self.plan.step)
        self.stages.gap[...] = 0.0
        return self.tau[0, 0, 0] if acted is None else acted

    def push(self, step: int, stage: Stage, s: int | None) -> None:
        """Set forces and wrenches at a stage; the memory's derivative there moves it."""
        at_q, at_v = (self.stages.state[name][0, 0, 0] for name in ("at_q", "at_v"))
        q = at_q.reshape(*self.batch, -1).copy()
        qd = self.velocity(self.plan.robot, at_q, at_v).reshape(*self.batch, -1).copy()
        self.tau[0, 0, 0] = self.force((step + stage.at) * self.plan.step, q, qd, step, s).reshape(at_v.shape)
        if self.acting.function:
            self.acting.push(self.stages.more[0][0, 0, 0], q)

    def force(self, time: float, q: Array, qd: Array, step: int, s: int | None) -> Array:
        """The joint forces (..., n)."""
        tau, rate = self.control(time, step, q, qd, None if self.memory is None else self.memory.at.copy())
        if s is not None and self.memory and rate is not None:
            self.memory.move(s, rate)
        return tau


class Control:
    """Joint forces as Python gives them."""

    def __init__(self, start: Start, forces: Forces) -> None:
        self.forces = forces
        self.memory = None if forces.memory is None else np.broadcast_to(forces.memory, (*start.batch, *forces.memory.shape))

    def __call__(self, time: float, step: int, q: Array, qd: Array, memory: Array | None) -> tuple[Array, Array | None]:
        """The forces (..., n) at q and qd (..., n), and the rate of the memory, if there is one."""
        array, function = self.forces.array, self.forces.function
        result: Any = None
        rate = None
        if array is not None:
            result = array[..., min(step, array.shape[-2] - 1), :]
        elif function and memory is None:
            result = function(time, q, qd)
        elif function and memory is not None:
            result = function(time, q, qd, memory)
            if not isinstance(result, tuple) or len(result) != 2:
                raise Error(
                    f"simulate: a controller with a memory must return its forces and the memory's rate, got {brief(result)}"
                )
            result, rate = result
            rate = wide(rate, memory.shape, "a controller must return the rate of its memory", time)
        return wide(result, qd.shape, GIVES, time), rate
