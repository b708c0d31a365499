"""Rollouts with exact gradients: simulations of fixed step that keep what their adjoint needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, choice, numbers, room
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend
from dalembert.errors import Error
from dalembert.native.ordered import ordered
from dalembert.planning.adjoint import ADJOINT, ADJOINT_OF_PARAMETERS, METHOD, STAGE_OF_PARAMETERS, factors_of
from dalembert.planning.given import real_vector, slip_of, typed_positions, with_rates
from dalembert.simulation.doubts import must_be_finite
from dalembert.simulation.fixed import in_blocks
from dalembert.simulation.integrators import INTEGRATORS, ITERATIONS, Stage, table
from dalembert.simulation.plan import Plan, counted, over_steps
from dalembert.simulation.stages import STAGE, Stages, apart
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot


class RolloutGradient(NamedTuple):
    """The gradients of a number by what a rollout was given, each in the shape in which it was given.

    parameters is None unless the rollout was given parameters.
    """

    q0: Any
    qd0: Any
    tau: Any
    parameters: Any


class Kept(NamedTuple):
    """What the adjoint needs of B rollouts: forces, the points of all stages (passes + 1, B, n), the stages of a step."""

    shapes: dict[str, tuple[int, ...]]
    lead: tuple[int, ...]
    tau: Array  # (B, steps or 1, n)
    parameters: Array | None  # (B, links, 10)
    points: tuple[Array, Array]
    rows: tuple[Stage, ...]
    slip_speed: float
    plan: Plan


@dataclass(frozen=True, eq=False, repr=False)
class Rollout:
    """A motion, positions `q` and velocities `qd` (..., T, n) at the times `time` (T,), with gradients."""

    robot: Robot
    time: Array
    q: Array
    qd: Array
    kept: Kept

    def gradient(self, by_q: ArrayLike | None = None, by_qd: ArrayLike | None = None) -> RolloutGradient:
        """The gradients of a number L by the start, the forces and the parameters, from dL/dq and dL/dqd (..., T, n).

        They are exact: the adjoint of every stage of the integrator, run back over the points that the rollout kept. All of them
        together take about twice the time of the rollout.

        >>> import dalembert as da
        >>> arm = da.robot("two_link")
        >>> run = arm.rollout([0.0, 0.0], duration=0.5)
        >>> wanted = np.zeros_like(run.q)
        >>> wanted[-1] = run.q[-1]                                       # of L = |q(0.5)|^2 / 2
        >>> run.gradient(wanted).tau.shape                               # by a constant force
        (2,)
        """
        seeds = [self._seed(x, name) for x, name in ((by_q, "by_q"), (by_qd, "by_qd"))]
        found = backward(self.kept, *seeds)
        shapes, lead = self.kept.shapes, self.kept.lead
        return RolloutGradient(*(
            None if x is None else _summed(x.reshape(*lead, *x.shape[1:]), shapes[name])
            for name, x in zip(RolloutGradient._fields, found, strict=True)
        ))  # fmt: skip

    def _seed(self, given: ArrayLike | None, name: str) -> Array | None:
        if given is None:
            return None
        x = numbers(given, f"gradient: {name}")
        try:
            return np.broadcast_to(x.astype(float), self.q.shape).reshape(-1, *self.q.shape[-2:])
        except (ValueError, RuntimeError):
            raise Error(f"gradient: {name} must have the shape of q, {self.q.shape}, got {x.shape}") from None

    @property
    def trajectory(self) -> Trajectory:
        """The motion as a Trajectory, with its forces, energies and plots."""
        tau = self.kept.tau
        tau = np.concatenate([np.broadcast_to(tau, (len(tau), len(self.time) - 1, tau.shape[-1])), tau[:, -1:]], axis=1)
        robot = self.robot
        return Trajectory(robot, self.time, self.q, self.qd, tau.reshape(self.q.shape), held=True, slip_speed=self.kept.slip_speed)

    def plot(self) -> Any:
        """A matplotlib figure of the motion: positions, velocities, forces and energies over time. For one rollout."""
        return self.trajectory.plot()

    def __repr__(self) -> str:
        many = f" of {' x '.join(map(str, self.kept.lead))}" if self.kept.lead else ""
        return f"<Rollout of {self.robot.name}: {len(self.time)} samples{many}, {self.time[-1]:g} s>"


def rollout(
    robot: Robot,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    *,
    torque: ArrayLike | None = None,
    step: float = 1e-3,
    integrator: str = "rk4",
    slip_speed: float | None = None,
    parameters: ArrayLike | None = None,
    backend: Backend = "auto",
) -> Rollout:
    """The motion from q0, qd0 (..., n) under given joint forces, with gradients; leading axes are rollouts, done at once.

    torque: None (no force), (n,) constant, or (..., steps, n) held over each step. step: seconds.
    integrator: "rk4", "euler", "semi_implicit_euler" or "implicit_midpoint", with the results of `simulate`.
    slip_speed: makes Coulomb friction smooth, c tanh(qd / slip_speed); where there is some, it is needed.
    parameters: (..., links, 10) or (..., 10 links), in the order of `robot.parameters()`: the inertial parameters of each rollout,
        instead of the robot's own, and their gradients. They must be those of bodies: this is not checked.

    `rollout.gradient(dL/dq, dL/dqd)` has dL/dq0, dL/dqd0, dL/dtorque and dL/dparameters. `da.torch_rollout` and `da.jax_rollout`
    are the same for PyTorch and JAX.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> run = arm.rollout([0.0, 0.0], duration=0.5, torque=np.zeros((500, 2)), parameters=arm.parameters())
    >>> run
    <Rollout of two_link: 501 samples, 0.5 s>
    >>> gradient = run.gradient(by_q=run.q)                          # of the sum of q^2 / 2 over all samples
    >>> gradient.q0.shape, gradient.tau.shape, gradient.parameters.shape
    ((2,), (500, 2), (20,))
    """
    with_rates(robot, "rollout")
    steps = counted(duration, step, "rollout")
    choice(integrator, "integrator of a rollout:", tuple(INTEGRATORS))
    slip = slip_of(robot, slip_speed, "rollout")
    if parameters is not None and robot.coupling is not None:
        raise Error(f"rollout: parameters= does not support coupled joints, which {robot.name} has")
    given = {"q0": q0, "qd0": qd0, "tau": torque, "parameters": parameters}
    plan = Plan(robot, float(step), steps, 1, None, "joint", backend, lambda done, total: None, slip)
    arrays, shapes, lead = _arrays(plan, given)
    _room(prod(lead), steps, robot.n, len(INTEGRATORS[integrator].steps(ITERATIONS[-1])))
    found, points, rows = forward(plan, integrator, *arrays)
    q, qd = (x.reshape(*lead, steps + 1, robot.n) for x in found)
    made = Rollout(robot, np.arange(steps + 1) * plan.step, q, qd, Kept(shapes, lead, *arrays[2:], points, rows, slip, plan))
    # as a motion that sticks: then no integrators are advised that rollouts do not have
    must_be_finite(replace(made.trajectory, sticks=True), integrator, plan.step, "rollout")
    return made


Given = tuple[Array, Array, Array, Array | None]


def _arrays(plan: Plan, given: dict[str, Any]) -> tuple[Given, dict[str, tuple[int, ...]], tuple[int, ...]]:
    """q0, qd0 (B, n), forces (B, steps or 1, n) and parameters (B, links, 10); the shapes given; and the axes of the rollouts."""
    robot, zero = plan.robot, np.zeros(plan.robot.n)
    held = {name: zero if x is None and name != "parameters" else x for name, x in given.items()}
    q = typed_positions(robot, "rollout", "q0", held["q0"])
    qd = real_vector(robot, "rollout", "qd0", held["qd0"])
    arrays = {"q0": q, "qd0": qd, "tau": over_steps(robot, held["tau"], plan.samples, "rollout", "torque")}
    if held["parameters"] is not None:
        arrays["parameters"] = _parameters(robot, held["parameters"])
    cores = {"q0": 1, "qd0": 1, "tau": 2, "parameters": 2}
    lead = batch({name: x.shape[: x.ndim - cores[name]] for name, x in arrays.items()}, "rollout")
    flat: dict[str, Array] = {}
    for name, x in arrays.items():
        core = x.shape[x.ndim - cores[name] :]
        flat[name] = np.ascontiguousarray(np.broadcast_to(x, (*lead, *core)).reshape(prod(lead), *core))
    shapes: dict[str, tuple[int, ...]] = {name: np.shape(numbers(held[name], name)) for name in arrays}
    return (flat["q0"], flat["qd0"], flat["tau"], flat.get("parameters")), shapes, lead


def _parameters(robot: Any, given: Any) -> Array:
    """(..., links, 10)."""
    x, links = numbers(given, "rollout: parameters").astype(float), len(robot.links)
    if x.shape[-2:] == (links, 10):
        return x
    if x.shape[-1:] != (10 * links,):
        raise Error(f"rollout: parameters must be (..., {10 * links}), ten for each link of {robot.name}, got shape {x.shape}")
    return x.reshape(*x.shape[:-1], links, 10)


def _room(count: int, steps: int, n: int, passes: int) -> None:
    size = 8 * count * steps * n * (2 * passes + 8)
    room(f"rollout: {count:,} rollouts of {steps:,} steps", size, "use fewer rollouts, or a larger step or a shorter duration")


Moved = tuple[list[Array], tuple[Array, Array], tuple[Stage, ...]]


def forward(plan: Plan, integrator: str, q: Array, v: Array, tau: Array, parameters: Array | None) -> Moved:
    """Samples (B, T, n) of positions and velocities, the points of all stages, and the stages of a step."""
    method = INTEGRATORS[integrator]
    kind, by = (STAGE, None) if parameters is None else (STAGE_OF_PARAMETERS, METHOD)
    kernel = compile(plan.robot, kind, by, backend=plan.backend, slip_speed=plan.slip_speed)
    found = [np.empty((len(q), plan.samples + 1, x.shape[-1])) for x in (q, v)]
    for x, start in zip(found, (q, v), strict=True):
        x[:, 0] = start
    for iterations in ITERATIONS[1:] if method.implicit else (0,):  # the derivative converges one iteration later
        rows = method.steps(iterations)
        passes, met = plan.samples * len(rows), [True]
        points = np.empty((passes + 1, *q.shape)), np.empty((passes + 1, *v.shape))

        def rollouts(part: slice, told: Any, rows: Any = rows, points: Any = points, met: list[bool] = met) -> None:
            stages = Stages(kernel, q[part], v[part], None if parameters is None else parameters[part])
            kept = [np.moveaxis(x[part, 1:], 1, 0)[:, None, None] for x in found]
            force, own = _over_loops(tau[part]), tuple(x[:, part] for x in points)
            stages.prepared(table(rows, plan.step), force, (kept[0], kept[1]), (plan.samples, 1, len(rows)), own)()
            if method.implicit and not stages.converged():
                met[0] = False

        in_blocks(plan, len(q), rollouts)
        if met[0]:
            return found, points, rows
    raise apart(plan.step, "rollout")


def backward(kept: Kept, *seeds: Array | None) -> tuple[Array | None, ...]:
    """Gradients by q0, qd0 (B, n), forces (B, steps or 1, n) and parameters (B, links, 10), from those by samples (B, T, n)."""
    plan, tau, parameters = kept.plan, kept.tau, kept.parameters
    known = parameters is None
    kind, by = (ADJOINT, None) if known else (ADJOINT_OF_PARAMETERS, METHOD)
    kernel = compile(plan.robot, kind, by, backend=plan.backend, known=known, slip_speed=plan.slip_speed)
    count, stages, factors = len(tau), len(kept.rows), factors_of(kept.rows, plan.step)[::-1]
    by_start, none = np.zeros((6, count, tau.shape[-1])), np.zeros((1, 1, 1, 1, tau.shape[-1]))
    by_tau, by_parameters = (
        np.zeros_like(np.moveaxis(tau, 1, 0), order="C"),
        None if parameters is None else np.zeros_like(parameters),
    )

    def rollouts(part: slice, told: Any) -> None:
        state = [x[None, None, None, part] for x in by_start]
        force, sums = _over_loops(tau[part])[::-1], by_tau[::-1, None, None, part]
        points = [x[:-1, part].reshape(plan.samples, 1, stages, *x[:, part].shape[1:])[::-1, :, ::-1] for x in kept.points]
        given = [none if x is None else _over_loops(x[part, 1:])[::-1] for x in seeds]
        more = (
            [] if parameters is None or by_parameters is None else [x[None, None, None, part] for x in (by_parameters, parameters)]
        )
        inputs = [*state, sums, *points, force, factors[None, None, :, None], *given, *more]
        ordered(kernel, inputs, [*state, sums, *more[:1]], (plan.samples, 1, stages))()

    in_blocks(plan, count, rollouts)
    starts = (y + at + (0 if seed is None else seed[:, 0]) for y, at, seed in zip(by_start[:2], by_start[2:4], seeds, strict=True))
    return *starts, np.moveaxis(by_tau, 0, 1), by_parameters


def _over_loops(x: Array) -> Array:
    """Arrays (B, steps or 1, n) for the loops over steps and stages, what is needed together side by side."""
    return np.ascontiguousarray(np.moveaxis(x, 1, 0))[:, None, None]


def _summed(x: Array, shape: tuple[int, ...]) -> Array:
    """A gradient by what was broadcast, from that by the result: summed over the axes that broadcasting made."""
    if x.size == prod(shape):  # parameters in a row, constant forces without an axis for them
        return x.reshape(shape)
    full = shape if len(shape) == x.ndim or x.shape[-1:] == shape[-1:] else (*shape[:-1], *x.shape[-2:])
    full = (1,) * (x.ndim - len(full)) + full
    axes = tuple(k for k, (a, b) in enumerate(zip(x.shape, full, strict=True)) if b == 1 and a != 1)
    return x.sum(axis=axes, keepdims=True).reshape(shape)
