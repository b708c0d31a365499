"""SciPy's integrators: steps as long as the tolerances allow, events, and a curve between samples."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.joints import left_of, slipping
from dalembert.errors import Error, optional
from dalembert.quantities.configurations import position_rate, unit_quaternions
from dalembert.quantities.dynamics import forward_dynamics
from dalembert.simulation.fixed import held
from dalembert.simulation.plan import GIVES, Acting, Forces, Plan, Start, wide
from dalembert.simulation.trajectory import Trajectory

SOLVERS = ("RK45", "DOP853", "Radau", "BDF", "LSODA")


class Wanted(NamedTuple):
    """Tolerances, and functions event(t, q, qd) whose zeros are located."""

    rtol: float
    atol: float
    events: Sequence[Callable[..., Any]]


def run(plan: Plan, solver: str, start: Start, forces: Forces, acting: Acting, wanted: Wanted) -> Trajectory:
    """Every rollout by itself, at samples of equal spacing; a terminal event ends a single one early."""
    robot, n, m = plan.robot, plan.robot.n, plan.robot.nq
    solve = optional("scipy.integrate").solve_ivp
    events = wanted.events
    if forces.memory is not None:
        raise Error(f"simulate: a controller with a memory needs a fixed-step integrator, not {solver}")
    if any(getattr(e, "terminal", False) for e in events) and start.batch:
        raise Error("simulate: a terminal event needs a single rollout; give q0 of shape (n,)")
    time = np.arange(plan.samples + 1) * (plan.step * plan.every)
    if n * prod(start.batch) == 0:
        nothing = np.zeros((*start.batch, len(time), n))
        where = np.zeros((*start.batch, len(time), m))
        return Trajectory(robot, time, where, nothing, nothing, forces.constant, wrenches=acting.given)
    q, qd = start.flat()
    parts: list[Any] = []
    stepped = forces.array is not None and not forces.constant
    for r in range(len(q)):
        right = _side(plan, forces, acting, r, len(q))
        limits = {"max_step": plan.step} if stepped else {}
        solved = solve(
            lambda t, y, f=right: np.concatenate([position_rate(robot, y[:m], y[m:]), f(t, y[:m], y[m:])[0]]),
            (0.0, float(time[-1])),
            np.concatenate([q[r], qd[r]]),
            method=solver,
            t_eval=time,
            dense_output=True,
            events=[_event(e, m) for e in events] or None,
            rtol=wanted.rtol,
            atol=wanted.atol,
            **limits,
        )
        if not solved.success:
            raise Error(f"simulate: {solver} failed at t = {solved.t[-1] if len(solved.t) else 0:g} s: {solved.message}")
        parts.append((solved, right))
        plan.progress(r + 1, len(q))
    times, states = _samples(parts, time)
    tau = np.stack(
        [np.stack([f(t, y[:m], y[m:])[1] for t, y in zip(times, x, strict=True)]) for x, (_, f) in zip(states, parts, strict=True)]
    )
    where = unit_quaternions(robot, states[..., :m])
    q, qd, tau = (x.reshape(*start.batch, *x.shape[1:]) for x in (where, states[..., m:], tau))
    single = not start.batch
    happened = tuple(parts[0][0].t_events) if events and single else ()
    dense = parts[0][0].sol if single else None
    constant = forces.constant and not robot.runs
    trajectory = Trajectory(robot, times, q, qd, tau, constant, wrenches=acting.given, events=happened, dense=dense)
    if not stepped or robot.runs:
        return trajectory
    arrays = held(forces, len(parts), n)
    work = [_work(array, plan.step, times, solved.sol) for array, (solved, _) in zip(arrays, parts, strict=True)]
    return replace(trajectory, worked=np.reshape(work, (*start.batch, len(times))))


def _work(tau: Array, step: float, times: Array, curve: Callable[[Array], Array]) -> Array:
    """The work (T,) of forces that change at every step, where the samples may be fewer."""
    ends = np.arange(len(tau) + 1) * step
    grid = np.union1d(ends[ends < times[-1]], times)
    which = np.minimum(((grid[:-1] + grid[1:]) / (2 * step)).astype(int), len(tau) - 1)
    parts = (tau[which] * np.diff(curve(grid)[: tau.shape[1]].T, axis=0)).sum(axis=-1)
    return np.append(0.0, np.cumsum(parts))[np.searchsorted(grid, times)]


def _samples(parts: list[Any], time: Array) -> tuple[Array, Array]:
    """The times and states (B, T, 2 n); a single rollout that an event ended has its end as last sample."""
    first = parts[0][0]
    if len(parts) == 1 and first.status == 1:
        end = max((t[-1] for t in first.t_events if len(t)), default=time[-1])
        kept = time[time < end - 1e-12]
        times = np.append(kept, end)
        return times, first.sol(times).T[None]
    return time, np.stack([solved.y.T for solved, _ in parts])


def _event(event: Callable[..., Any], m: int) -> Callable[..., Any]:
    def watched(t: float, y: Array) -> float:
        return float(event(t, y[:m].copy(), y[m:].copy()))  # the solver continues with y, even if these are changed

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(watched, name, getattr(event, name))
    return watched


def _side(plan: Plan, forces: Forces, acting: Acting, r: int, count: int) -> Callable[..., tuple[Array, Array]]:
    """(qdd, tau) of rollout r at (t, q, qd)."""
    robot, n = plan.robot, plan.robot.n
    array = None if forces.array is None else held(forces, count, n)[r]
    more: dict[str, Any] = {} if plan.method is None else {"method": plan.method}
    jump, slips = slipping(plan.slip_speed), plan.slip_speed > 0
    moved = robot.without_friction() if slips else robot

    def rates(t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        if array is not None:
            tau = array[min(int(t / plan.step + 1e-9), len(array) - 1)]
        else:
            given = forces.function(t, q.copy(), qd.copy()) if forces.function else None
            tau = wide(given, (n,), GIVES, t)
        pushing = acting.function(q) if acting.function else None if acting.constant is None else acting.constant[r]
        left = left_of(robot, qd, tau, jump) if slips else tau
        return forward_dynamics(moved, q, qd, left, wrenches=pushing, backend=plan.backend, **more), tau

    return rates
