"""Simulation: a robot moves under given joint forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array, rotate
from dalembert.arguments import batch, choice, flag, listed, number, numbers, positive, room, whole
from dalembert.derived.joints import friction_law
from dalembert.engine.evaluation import joint_vector, named_wrenches
from dalembert.engine.kernels import BACKENDS
from dalembert.engine.names import Backend, ForwardDynamicsMethod
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error, brief
from dalembert.model.degrees import warn_of_positions
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.model.positions import without_poses
from dalembert.model.wrench import Wrench
from dalembert.progress import Progress, chosen
from dalembert.quantities.configurations import unit_quaternions
from dalembert.quantities.diagonalization import joint_velocity, quasi_force, quasi_velocity
from dalembert.quantities.dynamics import inverse_mass_matrix, mass_matrix
from dalembert.simulation import adaptive, driven, fixed, moreau
from dalembert.simulation.doubts import judged, must_be_finite, warn_of_limits
from dalembert.simulation.integrators import INTEGRATORS
from dalembert.simulation.loops import check_kind, closed_start, projected
from dalembert.simulation.plan import GIVES, Acting, Forces, Plan, Rollouts, Start, counted, over_steps, wide
from dalembert.simulation.stages import ROUTES, check_route
from dalembert.simulation.stops import Stops
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot

MOREAU = "moreau"


def simulate(
    robot: Robot,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    *,
    torque: Any = None,
    step: float = 1e-3,
    integrator: str | None = None,
    method: ForwardDynamicsMethod | None = None,
    velocities: Literal["joint", "quasi", "momentum"] = "joint",
    restitution: float | None = None,
    slip_speed: float | None = None,
    saturate: bool = False,
    every: int = 1,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    events: Sequence[Callable[..., Any]] | Callable[..., Any] | None = (),
    progress: Progress | bool | None = None,
    backend: Backend = "auto",
) -> Trajectory:
    """The motion from q0 (..., nq), qd0 (..., n) under joint forces; leading axes are rollouts, done at once.

    torque: None (no force), (n,) constant, (..., steps, n) held over each step (a time axis of 1 is constant in each rollout), a
        function torque(t, q, qd) of arrays (..., n), called at every stage of the integrator, or a controller with a `memory`.
    duration, step: seconds; every k-th step is kept with every=k.
    integrator: "moreau" where the robot has Coulomb friction or stops are on: joints stick, slip and stop; else "rk4". Also
        "euler", "semi_implicit_euler", "implicit_midpoint"; or SciPy's "RK45", "DOP853", "Radau", "BDF", "LSODA",
        which choose their own steps to meet rtol and atol (`step` is then the spacing of the samples), and watch `events`,
        functions event(t, q, qd) -> float whose zeros are found (attributes `terminal` and `direction` as in SciPy).
    restitution: makes the joints' limits stops, which a joint leaves with this share of its speed, 0 to 1; with None joints pass
        their limits, and a `LimitWarning` says so. slip_speed: all integrators but "moreau" need Coulomb friction to be smooth,
        c tanh(qd / slip_speed): joints at rest then creep. saturate: joint forces stay within the model's torque limits.
    Robots with closed loops are put back onto them once a step, measured by M; q0 and qd0 must keep them closed (`settle`,
        `closed_motion`), and integrators of fixed step other than "moreau" are theirs.
    method: of forward dynamics. velocities: "joint", "quasi" (q and nu of the diagonalized equations) or "momentum" (p = M qd:
        with implicit_midpoint a symplectic map).
    wrenches: on links, as in `forward_dynamics`, constant in time; those in world axes cost a call of Python at every stage.
    progress: None (a bar for long work on a terminal), True, False, or a function of (done, all).

    Where the energy of the motion is out of balance by more than a hundredth of what was exchanged, an `AccuracyWarning` says so
    with the likely reason, which is the result's `doubt`, too; of many rollouts, up to 64 are examined.

    >>> import dalembert as da
    >>> arm = da.robot("two_link").with_friction(damping=[2.0, 0.5])
    >>> swing = arm.simulate([0.0, 0.0], duration=30.0, every=10)
    >>> bool(abs(swing.q[-1] - [-np.pi / 2, 0.0]).max() < 1e-3)         # it comes to rest, hanging down
    True
    >>> many = arm.simulate(np.linspace(-1, 1, 8)[:, None] * [1.0, 0.5], duration=0.1)
    >>> many.q.shape
    (8, 101, 2)
    """
    steps, samples = _steps(duration, step, every)
    _check_method(robot, method)
    kind = _kind(robot, integrator, velocities, restitution, slip_speed)
    integrator = kind.integrator
    choice(velocities, "velocities", ROUTES)
    choice(backend, "backend", BACKENDS)
    events = _events(events)
    start = _start(robot, q0, qd0)
    if robot.loops:
        start = Start(*closed_start(robot, start.q, start.qd, backend), start.batch)
    forces = _forces(robot, torque, start, steps)
    forces = saturated(forces, robot) if flag(saturate, "simulate: saturate") else forces
    _room(robot, samples, forces)
    start = start.widened(forces.batch)
    acting = _wrenches(robot, wrenches, start)
    told = chosen(progress, f"simulating {robot.name}")
    plan = Plan(robot, float(step), samples, int(every), method, velocities, backend, told, kind.slip_speed)
    if integrator in adaptive.SOLVERS:
        if velocities != "joint":
            raise Error(
                f"{integrator} integrates joint velocities; velocities={velocities!r} needs one of {', '.join(INTEGRATORS)}"
            )
        wanted = adaptive.Wanted(positive(rtol, "simulate: rtol"), positive(atol, "simulate: atol"), events)
        trajectory = adaptive.run(plan, integrator, start, forces, acting, wanted)
    else:
        trajectory = _fixed(plan, kind, start, forces, acting, events)
    trajectory = replace(trajectory, backend=backend, slip_speed=kind.slip_speed, sticks=integrator == MOREAU)
    must_be_finite(trajectory, integrator, float(step), "simulate")
    if kind.stops is None:
        warn_of_limits(robot, trajectory)
    return judged(trajectory, integrator, float(step))


class Kind(NamedTuple):
    """How joints move: by which integrator, with which stops, and with smooth friction."""

    integrator: str
    stops: Stops | None
    slip_speed: float


def _kind(robot: Model, integrator: Any, velocities: Any, restitution: Any, slip_speed: Any) -> Kind:
    """What was chosen, with defaults; an integrator that does not go with the robot's loops or friction is refused."""
    jumps, stops = friction_law(robot.open).jumps, None
    check_kind(robot, integrator, velocities, restitution, jumps and slip_speed is None)
    slip = 0.0 if slip_speed is None else positive(slip_speed, "simulate: slip_speed")
    if restitution is not None:
        share = number(restitution, "simulate: restitution")
        if not 0 <= share <= 1:
            raise Error(f"simulate: restitution must be a share of the velocity from 0 to 1, got {brief(restitution)}")
        stops = Stops(robot.lower, robot.upper, share)
    if integrator is None:
        integrator = MOREAU if stops or (jumps and not slip) else "rk4"
    choice(integrator, "integrator", (*INTEGRATORS, MOREAU, *adaptive.SOLVERS))
    if stops and integrator != MOREAU:
        raise Error(f'simulate: stops (restitution={stops.restitution:g}) need integrator="{MOREAU}", not {integrator!r}')
    if slip and integrator == MOREAU:
        raise Error(f'simulate: integrator="{MOREAU}" takes friction as it is; slip_speed is for the other integrators')
    if jumps and integrator != MOREAU and not slip:
        raise Error(
            f"simulate: {robot.name} has Coulomb friction, which jumps where a joint stops, and {integrator} does not resolve "
            f'that; use integrator="{MOREAU}" (the default), slip_speed=1e-3 or so for smooth friction, or robot.without_friction()'
        )
    return Kind(integrator, stops, slip)


def saturated(forces: Forces, robot: Model) -> Forces:
    """Forces that stay within the torque limits."""
    most = own_limit(robot, "torque")
    if np.isinf(most).all():
        raise Error(f"simulate: saturate needs torque limits, and {robot.name} has none; give its joints an effort_limit")
    if forces.array is not None:
        return forces._replace(array=np.clip(forces.array, -most, most))
    function = cast("Callable[..., Any]", forces.function)

    def limited(time: float, q: Array, qd: Array, *memory: Array) -> Any:
        result = function(time, q, qd, *memory)
        if memory and isinstance(result, tuple) and len(result) == 2:
            return np.clip(wide(result[0], qd.shape, GIVES, time), -most, most), result[1]
        return result if memory else np.clip(wide(result, qd.shape, GIVES, time), -most, most)

    return forces._replace(function=limited)


def _fixed(plan: Plan, kind: Kind, start: Start, forces: Forces, acting: Acting, events: Any) -> Trajectory:
    robot, route, integrator = plan.robot, plan.velocities, kind.integrator
    if route != "joint" and plan.method is not None:
        raise Error(f"simulate: method selects the forward dynamics, and velocities={route!r} has its own; leave method out")
    if events:
        raise Error(f"simulate: events need one of SciPy's integrators: {', '.join(adaptive.SOLVERS)}; got {integrator!r}")
    check_route(route, integrator)
    if integrator == MOREAU:
        _check_moreau(plan, kind, start)
    if route != "joint" and any(joint.load_friction for joint in robot.joints):
        raise Error(
            f'{robot.name} has load-dependent friction, which velocities={route!r} does not support; use velocities="joint"'
        )
    views = VIEWS[route]
    v = views.into(robot, start.q, start.qd)
    start = start._replace(qd=v)
    if robot.n * prod(start.batch) == 0:
        empty = np.zeros((prod(start.batch), plan.samples + 1, robot.n))
        motion = Rollouts(np.zeros((*empty.shape[:2], robot.nq)), empty, empty)
    elif integrator == MOREAU:
        run = moreau.drive if forces.function or acting.function else moreau.run
        motion = run(plan, start, forces, acting, kind.stops)
    elif forces.function or acting.function:
        motion = driven.run(plan, INTEGRATORS[integrator], start, forces, acting, views.out)
    else:
        motion = fixed.run(plan, INTEGRATORS[integrator], start, forces, acting)
    if robot.loops and motion.q.size:  # the next step would begin by this
        motion = motion._replace(**dict(zip(("q", "v"), projected(robot, motion.q, motion.v, plan.backend), strict=True)))
    qd = views.out(robot, motion.q, motion.v)
    q, qd, tau = (x.reshape(*start.batch, *x.shape[1:]) for x in (unit_quaternions(robot, motion.q), qd, motion.tau))
    memory = None if motion.memory is None else motion.memory.reshape(*start.batch, *motion.memory.shape[1:])
    time = np.arange(plan.samples + 1) * (plan.step * plan.every)
    held = forces.function is None and (plan.every == 1 or forces.constant) and not robot.runs
    work = None if motion.work is None else motion.work.reshape(*start.batch, -1)
    lost = None if motion.lost is None else motion.lost.reshape(*start.batch, len(time), -1)
    return Trajectory(robot, time, q, qd, tau, held, memory, acting.given, worked=work, lost=lost, stopped=kind.stops is not None)


def _check_moreau(plan: Plan, kind: Kind, start: Start) -> None:
    """Refuse what time stepping does not have."""
    if plan.method is not None:
        raise Error(f'simulate: integrator="{MOREAU}" does not use forward dynamics, so method must be left out')
    if kind.stops is None:
        return
    q = without_poses(plan.robot, start.q)
    beyond = ((q < kind.stops.lower) | (q > kind.stops.upper)).reshape(prod(start.batch), plan.robot.n).any(axis=0)
    if beyond.any():
        joint = plan.robot.joints[int(np.argmax(beyond))]
        raise Error(
            f"simulate: joint {joint.name!r} starts beyond its stops, which are at {joint.lower:g} and {joint.upper:g}; "
            "start between them, or leave restitution out"
        )


class View(NamedTuple):
    """How the velocities of a route come from qd, and go back."""

    into: Callable[[Model, Array, Array], Array]
    out: Callable[[Model, Array, Array], Array]


VIEWS = {
    "joint": View(lambda robot, q, qd: qd, lambda robot, q, v: v),
    "quasi": View(quasi_velocity, joint_velocity),
    "momentum": View(
        lambda robot, q, qd: rotate(mass_matrix(robot, q), qd),
        lambda robot, q, p: (
            joint_velocity(robot, q, quasi_force(robot, q, p)) if robot.is_tree and not robot.runs else _velocity(robot, q, p)
        ),
    ),
}


def _velocity(robot: Model, q: Array, p: Array) -> Array:
    """M^-1 p of a robot that has no quasi-velocities, being coupled or free; nu = m^-1 p, qd = m^-T nu take fewer operations."""
    return rotate(inverse_mass_matrix(robot, q), p)


def _steps(duration: Any, step: Any, every: Any) -> tuple[int, int]:
    """How many steps, and how many samples after the first."""
    every = whole(every, "simulate: every", 1)
    steps = counted(duration, step, "simulate")
    if steps % every:
        raise Error(f"simulate: every={brief(every)} does not divide the {steps} steps, so the final state would be lost")
    return steps, steps // int(every)


def _events(given: Any) -> tuple[Callable[..., Any], ...]:
    events = () if given is None else (given,) if callable(given) else tuple(listed(given, "simulate: events"))
    for event in events:
        if not callable(event):
            raise Error(f"simulate: an event must be a function event(t, q, qd), got {brief(event)}")
    return events


def _room(robot: Model, samples: int, forces: Forces) -> None:
    """Refuse what memory could not hold, before anything is computed: time, and of each rollout q, qd, tau and a memory."""
    scalars = robot.nq + 2 * robot.n + (0 if forces.memory is None else len(forces.memory))
    size = 8 * (samples + 1) * (prod(forces.batch) * scalars + 1)
    instead = "keep fewer (every=...), or use a larger step, a shorter duration or fewer rollouts"
    room(f"simulate: {samples + 1:,} samples of {robot.name}", size, instead)


def _check_method(robot: Model, method: str | None) -> None:
    """SciPy calls its integrators methods, so users may too."""
    if isinstance(method, str) and method in (*INTEGRATORS, MOREAU, *adaptive.SOLVERS):
        raise Error(f"simulate: {method!r} is an integrator: integrator={method!r}; method selects the forward dynamics")
    if method is not None:
        quantity_named("forward_dynamics").check_method(method, robot)


def _start(robot: Model, q0: Any, qd0: Any) -> Start:
    q = joint_vector(robot, "simulate", "q0", q0)
    qd = np.zeros(robot.n) if qd0 is None else joint_vector(robot, "simulate", "qd0", qd0)
    if q.dtype.kind == "c" or qd.dtype.kind == "c":
        raise Error("simulate: q0 and qd0 must be real")
    warn_of_positions(robot, q, "simulate: q0")
    return Start(q, qd, batch({"q0": q.shape[:-1], "qd0": qd.shape[:-1]}, "simulate"))


def _forces(robot: Model, torque: Any, start: Start, steps: int) -> Forces:
    if torque is None:
        return Forces(np.zeros((1, robot.n)), None, None, start.batch)
    if callable(torque):
        return Forces(None, torque, _memory(getattr(torque, "memory", None)), start.batch)
    if isinstance(torque, Trajectory):
        raise Error("simulate: torque is a Trajectory; pass its forces, one per step: trajectory.tau[..., :-1, :]")
    tau = over_steps(robot, torque, steps, "simulate", "torque")
    return Forces(tau, None, None, batch({"rollouts": start.batch, "torque": tau.shape[:-2]}, "simulate"))


def _memory(given: Any) -> Array | None:
    if given is None:
        return None
    memory = numbers(given, "simulate: a controller's memory")
    if memory.ndim != 1:
        raise Error(f"simulate: a controller's memory must be numbers (k,), got {brief(given)}")
    return memory.astype(float)


def _wrenches(robot: Model, wrenches: Any, start: Start) -> Acting:
    """Wrenches that stay the same in link axes as an array; others as a function of q."""
    if wrenches is None:
        return Acting(None, None, None)
    given = named_wrenches(robot, start.q, wrenches) if isinstance(wrenches, Mapping) else wrenches
    array = numbers(given, "simulate: wrenches").astype(float, copy=False)
    links = len(robot.links)
    if array.shape[-2:] != (links, 6):
        raise Error(f"simulate: wrenches must be (..., {links}, 6), got {array.shape}")
    try:
        wide = np.broadcast_to(array, (*start.batch, links, 6))
    except (ValueError, RuntimeError):
        raise Error(f"simulate: wrenches {array.shape} and the rollouts {start.batch} do not broadcast") from None
    if not isinstance(wrenches, Mapping):
        return Acting(array[..., None, :, :] if array.ndim > 2 else array, wide.reshape(prod(start.batch), links, 6), None)
    named = dict(wrenches)
    over_time = {name: _over_time(w) for name, w in named.items()}
    if any(w.frame != "body" for w in named.values()):
        return Acting(over_time, None, lambda q: named_wrenches(robot, q, named))
    return Acting(over_time, wide.reshape(prod(start.batch), links, 6), None)


def _over_time(wrench: Wrench) -> Wrench:
    """The same in all samples: an axis for the time after those of the rollouts."""
    parts = (x[..., None, :] if x.ndim > 1 else x for x in (wrench.force, wrench.moment, wrench.point))
    return Wrench(*parts, frame=wrench.frame)
