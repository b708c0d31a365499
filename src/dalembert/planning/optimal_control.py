"""The best motion between two states under a quadratic cost, with feedback along it: differential dynamic programming."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, flag, number, room, whole
from dalembert.engine.names import Backend
from dalembert.errors import AccuracyWarning, Error, brief, warn
from dalembert.model.degrees import warn_of_positions
from dalembert.model.limits import limits_of
from dalembert.planning.dynamic_programming import LENGTHS, ControlProblem, Optimum, Search
from dalembert.planning.feedback import Feedback
from dalembert.planning.given import diagonal, real_vector, slip_of, with_rates
from dalembert.progress import Progress, chosen
from dalembert.quantities.structure import gravity_force
from dalembert.simulation.plan import counted, over_steps
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot


@dataclass(frozen=True, eq=False, repr=False)
class OptimalControl:
    """What `robot.optimal_control` found: the motion, and a controller that keeps the arm on it.

    Called with (t, q, qd) it is a controller, `feedback`, for `simulate(torque=...)`. `cost`, `iterations` and `converged` are
    (...), one for each problem; `best` is the one of lowest cost.
    """

    trajectory: Trajectory
    feedback: Feedback
    cost: Array
    iterations: Array
    converged: Array

    def __call__(self, t: Any, q: Any, qd: Any) -> Array:
        """Joint forces (..., n) at a time, for positions and velocities (..., n)."""
        return self.feedback(t, q, qd)

    @property
    def gains(self) -> Array:
        """K (..., steps, n, 2n) of tau = tau* - K [q - q*, qd - qd*]."""
        return self.feedback.gain

    @property
    def best(self) -> OptimalControl:
        """The problem of lowest cost: of several guesses, the best motion."""
        lead = self.cost.shape
        if not lead:
            return self
        if not self.cost.size:
            raise Error("optimal_control: give at least one problem, got none")
        index = np.unravel_index(np.argmin(self.cost), lead)
        kept = {name: getattr(self.feedback, name)[index] for name in ("q", "qd", "tau", "gain")}
        each = {name: getattr(self, name)[index] for name in ("cost", "iterations", "converged")}
        return OptimalControl(self.trajectory[index], replace(self.feedback, **kept), **each)

    def plot(self) -> Any:
        """A matplotlib figure of the motion: positions, velocities, forces and energies over time."""
        return self.best.trajectory.plot()

    def __repr__(self) -> str:
        shown = f"cost {float(self.cost):.6g}" if self.cost.ndim == 0 else f"{self.cost.size} problems"
        open_ = self.cost.size - np.count_nonzero(self.converged)
        told = "" if not open_ else ", not converged" if self.cost.ndim == 0 else f", {open_} not converged"
        return f"<OptimalControl {self.trajectory.robot.name}: {self.trajectory.duration:g} s, {shown}{told}>"


def optimal_control(
    robot: Robot,
    start: ArrayLike,
    goal: ArrayLike,
    duration: float,
    *,
    start_velocity: ArrayLike | None = None,
    goal_velocity: ArrayLike | None = None,
    step: float = 0.02,
    limits: bool | ArrayLike | Mapping[str, Any] | None = False,
    position: ArrayLike = 1.0,
    velocity: ArrayLike = 0.1,
    effort: ArrayLike = 1e-3,
    end_position: ArrayLike = 1e3,
    end_velocity: ArrayLike = 1e2,
    holding: ArrayLike | None = None,
    guess: ArrayLike | None = None,
    second_order: bool = False,
    slip_speed: float | None = None,
    iterations: int = 200,
    tolerance: float = 1e-9,
    progress: Progress | bool | None = None,
    backend: Backend = "auto",
) -> OptimalControl:
    """The joint forces that bring the arm from a state near to another one at the least cost, and the feedback along the way.

    It minimizes, with the distances e_k of the states (q, qd) from the goal,

        1/2 sum_k h [e_k^T W e_k + (tau_k - holding)^T R (tau_k - holding)] + 1/2 e_N^T W_end e_N

    over forces held for steps h, under qd' = qd + h FD(q, qd, tau), q' = q + h qd': the steps of
    `simulate(integrator="semi_implicit_euler")`. The method is differential dynamic programming (Jacobson and Mayne, 1970), with
    exact derivatives. The goal is not met exactly: larger `end_position` and `end_velocity` bring it nearer.

    start, goal: (..., n) positions; start_velocity, goal_velocity: (..., n), at rest by default. Leading axes are problems that are
        solved at once.
    limits: of the forces; None or False for none. True takes the robot's own; a number or (n,) are symmetric ones, (2, n) the
        least and the greatest, also as {"torque": ...}. Each step then solves a quadratic program (Tassa, Mansard and Todorov,
        2014).
    position, velocity, effort: the diagonals of W and R, numbers or (n,); end_position, end_velocity: that of W_end.
    holding: forces (..., n) that cost nothing, 0 by default. With robot.gravity_force(goal) the arm stays at the goal; else it
        stays where it needs less force.
    guess: forces (..., steps, n) to begin with; leading axes are further problems, so that several guesses are tried at once and
        `.best` is the best of them. By default the forces that hold the arm at the start.
    second_order: exact second derivatives of the motion. Without them (Gauss and Newton; "iLQR") an iteration is faster, and far
        from the solution safer; with them the last iterations converge quadratically.
    slip_speed: makes Coulomb friction smooth, c tanh(qd / slip_speed); where there is some, it is needed.
    iterations: at most. tolerance: the relative decrease of the cost at which the iterations stop.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> move = arm.optimal_control([0.0, 0.0], [1.0, 0.5], duration=1.0, limits=30.0)
    >>> move.trajectory
    <Trajectory of two_link: 51 samples, 1 s>
    >>> bool(abs(move.trajectory.q[-1] - [1.0, 0.5]).max() < 0.01), bool(abs(move.trajectory.tau).max() <= 30.0)
    (True, True)
    >>> moved = arm.simulate([0.1, 0.0], duration=1.0, torque=move)                   # it starts elsewhere
    >>> bool(abs(moved.q[-1] - [1.0, 0.5]).max() < 0.02)
    True
    """
    name = "optimal_control"
    slip = slip_of(with_rates(robot, name), slip_speed, name)
    steps, n = counted(duration, step, name), robot.n
    given = {"start": start, "goal": goal, "start_velocity": start_velocity, "goal_velocity": goal_velocity, "holding": holding}
    states = {what: _state(robot, x, what) for what, x in given.items()}
    for what in ("start", "goal"):
        warn_of_positions(robot, states[what], f"{name}: {what}")
    u = _guess(robot, guess, states["start"], steps)
    lead = batch({what: x.shape[:-1] for what, x in states.items()} | {"guess": u.shape[:-2]}, name)
    _room(prod(lead), steps, n)
    flat = {what: np.broadcast_to(x, (*lead, n)).reshape(prod(lead), n) for what, x in states.items()}
    running, ending, cost = _weights(n, float(step), position, velocity, effort, end_position, end_velocity)
    problem = ControlProblem(
        robot, float(step),
        np.concatenate([flat["start"], flat["start_velocity"]], axis=-1),
        np.concatenate([flat["goal"], flat["goal_velocity"]], axis=-1),
        flat["holding"], running, ending, cost, _limits(robot, limits), flag(second_order, f"{name}: second_order"), backend, slip,
    )  # fmt: skip
    forces = np.moveaxis(np.broadcast_to(u, (*lead, steps, n)).reshape(prod(lead), steps, n), 1, 0)
    forces = np.clip(forces, *problem.limits) if problem.limits else forces
    most, share = whole(iterations, f"{name}: iterations", 0), number(tolerance, f"{name}: tolerance")
    if share < 0:
        raise Error(f"{name}: tolerance must not be negative, got {share:g}")
    told = chosen(progress, f"optimal control of {robot.name}")
    with np.errstate(all="ignore"):  # what runs away is told below
        found = Search(problem, forces).run(most, share, told)
    return _result(robot, problem, found, lead)


def _weights(n: int, h: float, *given: Any) -> tuple[Array, Array, Array]:
    """Of states on the way and at the end (2n,), and of forces (n,)."""
    names = ("position", "velocity", "effort", "end_position", "end_velocity")
    each = {name: diagonal(x, n, f"optimal_control: {name}") for name, x in zip(names, given, strict=True)}
    if (each["effort"] <= 0).any():
        raise Error(f"optimal_control: effort must be positive: without a cost the best forces are infinite; got {brief(given[2])}")
    running = h * np.concatenate([each["position"], each["velocity"]])
    return running, np.concatenate([each["end_position"], each["end_velocity"]]), h * each["effort"]


def _state(robot: Any, given: Any, name: str) -> Array:
    """Positions, velocities or forces (..., n), finite."""
    x = np.zeros(robot.n) if given is None else real_vector(robot, "optimal_control", name, given)
    if not np.isfinite(x).all():
        raise Error(f"optimal_control: {name} must be finite, got {brief(given)}")
    return x


def _limits(robot: Any, given: Any) -> tuple[Array, Array] | None:
    if given is False or given is None:
        return None
    named = given if given is True or isinstance(given, Mapping) else {"torque": given}
    lower, upper = limits_of(robot, named, "optimal_control: limits", ("torque",))["torque"]
    if given is True and np.isinf(upper).all():
        raise Error(f"optimal_control: {robot.name} has no torque limits; give limits=... as numbers, in N m or N")
    huge = np.finfo(float).max ** 0.25  # differences of limits must be numbers
    return np.maximum(lower, -huge), np.minimum(upper, huge)


def _guess(robot: Any, given: Any, start: Array, steps: int) -> Array:
    """Forces (..., steps or 1, n)."""
    if given is None:
        return gravity_force(robot, start)[..., None, :]
    u = over_steps(robot, given, steps, "optimal_control", "guess")
    if not np.isfinite(u).all():
        raise Error(f"optimal_control: guess must be finite, got {brief(given)}")
    return u


def _room(count: int, steps: int, n: int) -> None:
    """Refuse what memory could not hold: rollouts of all lengths, derivatives, gains, and the curvature."""
    size = 8 * count * steps * (3 * n * len(LENGTHS) + 3 * n * n + 4 * n * n + 10 * n + 4 * n * n)
    room(f"optimal_control: {count:,} problems of {steps:,} steps", size, "use fewer problems, or a larger step")


def _result(robot: Any, problem: ControlProblem, found: Optimum, lead: tuple[int, ...]) -> OptimalControl:
    steps, _, n = found.u.shape

    def shaped(x: Array) -> Array:
        made = np.moveaxis(x, 0, 1).reshape(*lead, x.shape[0], *x.shape[2:]).copy()
        made.setflags(write=False)
        return made

    if not np.isfinite(found.cost).all():
        bad = int(np.argmin(np.isfinite(found.cost)))
        where = f"problem {bad} of {found.cost.size}" if lead else "it"
        say = f"the motion of {robot.name} under the guess is not finite, so {where} has no solution; use a smaller step"
        if not lead:
            raise Error(f"optimal_control: {say}")
        warn(f"optimal_control: {say}", AccuracyWarning)
    x, u = shaped(found.x), shaped(found.u)
    time = np.arange(steps + 1) * problem.h
    tau = np.concatenate([u, u[..., -1:, :]], axis=-2)
    trajectory = Trajectory(
        robot, time, x[..., :n], x[..., n:], tau, held=True, backend=problem.backend, slip_speed=problem.slip_speed
    )
    law = Feedback(robot, x[..., :-1, :n], x[..., :-1, n:], u, shaped(found.gain), problem.h, *(problem.limits or ()))
    each = (y.reshape(lead) for y in (found.cost, found.iterations, found.converged))
    return OptimalControl(trajectory, law, *each)
