"""Motions of least effort: what users call, and what they get."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, frozen_array, listed, number, positive, whole
from dalembert.errors import Error, LimitWarning, brief, optional, warn
from dalembert.model.degrees import warn_of_positions
from dalembert.motion.bsplines import BSpline
from dalembert.native.blas import one_thread
from dalembert.planning.bounded import Bounded, MotionLimits, exceeding, motion_limits, within
from dalembert.planning.costs import COSTS
from dalembert.planning.effort import EffortProblem, Tell, descend
from dalembert.planning.given import with_rates
from dalembert.planning.transcription import Transcription
from dalembert.progress import Progress, chosen
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.simulation.along import torques_along
from dalembert.simulation.plot import PANELS
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot

USUAL = 150  # iterations: what a bar of progress counts to
SHARPER = (1.0, 0.2)  # of the slip: tried one after the other
SHIFT = 5.0  # tanh(5) is 1 but for 1e-4: of the bounds of friction that limits see
SLIP = 0.05  # of the largest mean speed: where friction that jumps is smoothed
MOST_KNOTS = 100
ROUNDING = 1e-12
DURATIONS = 9  # tried where the duration is free


@dataclass(frozen=True, eq=False, repr=False)
class LeastEffort(Trajectory):
    """A motion of least effort, a `Trajectory` with its cost.

    `cost` is the integral that is least, in the unit `unit`; `quintic_cost` that of the quintic, the polynomial of fifth degree
    between the same states in the same time, or with points on the way of the smoothest motion through them. `path` can be
    followed by controllers. `limits` has the lowest and highest q, qd, qdd and tau, if there are any.
    """

    cost: float = 0.0
    quintic_cost: float = 0.0
    unit: str = ""
    path: Any = None
    quintic: Any = None  # the path of the quintic
    limits: Any = None

    @property
    def saving(self) -> float:
        """The part of the quintic's cost that is saved."""
        return 1 - self.cost / self.quintic_cost if self.quintic_cost else 0.0

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"<LeastEffort of {self.robot.name}: {len(self)} samples, {self.duration:.4g} s, cost {self.cost:.4g}{unit}, "
            f"of the quintic {self.quintic_cost:.4g}>"
        )

    def plot(self) -> Any:
        """A matplotlib figure: the motion with its forces and energies, the quintic's thin and dashed, limits dotted."""
        made = super().plot()
        other = torques_along(self.robot, self.quintic, self.duration / max(len(self) - 1, 1))
        for panel, (kind, _) in zip(made.axes, PANELS, strict=False):
            for j, line in enumerate(panel.get_lines()[: self.robot.n]):
                panel.plot(other.time, getattr(other, kind)[:, j], "--", linewidth=0.8, color=line.get_color())
                for values in () if self.limits is None else self.limits[:2]:
                    limit = float(values[("q", "qd", "qdd", "tau").index(kind), j])
                    if np.isfinite(limit) and kind != "q":
                        panel.axhline(limit, linestyle=":", linewidth=0.8, color=line.get_color())
        made.suptitle(repr(self).strip("<>"))
        return made


def least_effort(
    robot: "Robot",
    start: Any,
    goal: Any,
    duration: Any,
    cost: str | Callable[..., Any] = "torque",
    *,
    through: Any = None,
    limits: Any = True,
    motor_constants: Any = None,
    knots: int = 20,
    slip_speed: float | None = None,
    step: float = 1e-2,
    progress: Progress | bool | None = None,
) -> LeastEffort:
    """The motion from one state to another that costs least.

    "torque"    minimize the integral of sum_i (tau_i / k_i)^2
    "energy"    minimize the integral of sum_i (tau_i / k_i)^2 + tau_i qd_i

    with tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd). With motor constants k, in N m/sqrt(W) at the joints, the first is the
    heat of the windings, in J, and the second all that the motors draw, what friction takes included; braking gives back.

    start, goal: (n,) positions, at rest; or (2, n), positions and velocities. Accelerations there are 0.
    duration: s; or (shortest, longest), and the best one within is sought, too: the best of four local minima.
    cost: "torque", "energy", or a function of q, qd, qdd and tau, (n,) each, that returns the cost per second; it is recorded and
        differentiated, so it may use + - * /, powers, sin, cos and sqrt.
    through: positions on the way, {share of the duration: (n,)}.
    limits: True for the robot's own limits of positions, velocities and forces; a dictionary of what differs from them, with any of
        "lower", "upper", "velocity", "acceleration" and "torque", one number, (n,) or a dict by joint each, the last three also
        the least and the greatest (2, n); None or False for none. They hold at all times, between samples too, and with friction
        as it is. Only where gravity and friction together exceed a limit at an end, an instant there may be beyond it, with a
        `LimitWarning`.
    motor_constants: one number or (n,); 1 if left out, which "energy" does not allow.
    knots: of the splines, both ends included. More follow the best motion more closely, and take longer.
    slip_speed: friction that jumps with the sign of a velocity is smoothed within this speed while searching; forces and cost of
        the result are exact. 5 % of the largest mean speed if left out.
    step: s between the samples of the result.

    The result is a local minimum, found from the quintic; arms have many. It needs SciPy; threads of BLAS stay out of it.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> swing = arm.least_effort([-1.57, 0.0], [0.5, 0.5], duration=1.0)
    >>> swing.cost < swing.quintic_cost, swing.tau.shape
    (True, (101, 2))
    """
    ends, weights, kept, times = _given(robot, start, goal, duration, cost, motor_constants, limits)
    shares, points = _through(robot, through)
    step = positive(step, "least_effort: step")
    _check_fixed(robot, kept, ends, shares, points, times[1])
    motions = Transcription(*ends, shares, points, whole(knots, "knots", 3, MOST_KNOTS))
    slip = SLIP * _mean_speed(ends, shares, points, times[1]) if slip_speed is None else positive(slip_speed, "slip_speed")
    optional("scipy.optimize")
    told, count = chosen(progress, f"least effort of {robot.name}"), iter(range(1, 10**9))
    with one_thread(), np.errstate(all="ignore"):  # a step of the search may go far
        tell = lambda: told(min(next(count), USUAL - 1), USUAL)  # noqa: E731
        problem = EffortProblem(robot, motions, cost, weights, slip)
        z, T = _found(problem, kept, times, tell)
        quintic = motions.smoothest(T)
        costs = problem.cost(z, T), problem.cost(quintic, T)
    told(USUAL, USUAL)
    unit = "" if callable(cost) else "(N m)^2 s" if motor_constants is None else "J"
    return _result(robot, step, motions.path(z, T), *costs, unit, motions.path(quintic, T), kept)


def _found(problem: EffortProblem, kept: MotionLimits | None, times: tuple[float, float], tell: Tell) -> tuple[Array, float]:
    """The best motion; where friction jumps, first with bounds of it, which limits outlast."""
    z, T = _free(problem, times, tell)
    if kept is None:
        return z, T
    if not problem.jumps:
        return within(problem, kept, z, T, times, tell)
    exact, bounds = Bounded(problem, kept), Bounded(problem, kept, SHIFT)
    for share in SHARPER if bounds.holds_ends() else ():  # however the joints start and stop there
        with suppress(Error):
            found = within(problem.sharper(share), kept, z, T, times, tell, SHIFT)
            if not len(exact.jumped(*found, 0.0)[1]):
                return found
    z, T = within(problem, kept, z, T, times, tell)
    if len(least := exact.jumped(z, T, 0.0)[1]):
        warn(
            "least_effort: where a joint starts or stops, friction brings a force beyond its limit for an instant, by "
            f"{-least.min():.1%}; allow more force",
            LimitWarning,
        )
    return z, T


def _result(robot: "Robot", step: float, path: BSpline, *about: Any) -> LeastEffort:
    cost, quintic_cost, unit, quintic, limits = about
    made = torques_along(robot, path, step)
    return LeastEffort(
        robot, made.time, made.q, made.qd, made.tau, accelerations=made.qdd, dense=partial(_both, path),
        cost=cost, quintic_cost=quintic_cost, unit=unit, path=path, quintic=quintic, limits=limits,
    )  # fmt: skip


def _both(path: BSpline, time: Array) -> Array:
    """Positions and velocities (2 n, K)."""
    motion = path(time)
    return np.concatenate([motion.q, motion.qd], axis=-1).T


def _free(problem: EffortProblem, times: tuple[float, float], tell: Tell) -> tuple[Array, float]:
    """The best motion without limits; with a free duration the best of several local minima, begun with different durations."""
    found = [descend(problem, problem.motions.smoothest(T), T, times, tell) for T in _begin(problem, times)]
    return min(found, key=lambda one: problem.cost(*one))


def _begin(problem: EffortProblem, times: tuple[float, float]) -> list[float]:
    """Of the durations allowed, the one with which the smoothest motion costs least, a shorter one, and two longer ones."""
    if times[0] == times[1]:
        return [times[0]]
    tried = np.geomspace(*times, DURATIONS).tolist()
    costs = [problem.cost(problem.motions.smoothest(T), T) for T in tried]
    best = tried[int(np.argmin(costs))]
    return sorted({best, (best * times[0]) ** 0.5, (best**2 * times[1]) ** (1 / 3), (best * times[1] ** 2) ** (1 / 3)})


# --- what is given ------------------------------------------------------------------------------------------------------------


def _given(
    robot: "Robot", start: Any, goal: Any, duration: Any, cost: Any, constants: Any, limits: Any
) -> tuple[tuple[Array, Array], Array, MotionLimits | None, tuple[float, float]]:
    """Both states (2, n), weights (n,), limits, and the shortest and the longest duration."""
    with_rates(robot, "least_effort")
    ends = _state(robot, start, "start"), _state(robot, goal, "goal")
    if not callable(cost):
        choice(cost, "cost:", COSTS)
        if cost == "energy" and constants is None:
            raise Error(
                "least_effort: cost 'energy' needs motor_constants, in N m/sqrt(W) at the joints, one number or one per joint"
            )
    elif constants is not None:
        raise Error("least_effort: motor_constants are for the costs 'torque' and 'energy'; a function has its own")
    k = frozen_array(1.0 if constants is None else constants, None, "motor_constants")
    if k.shape not in ((), (robot.n,)) or not (k > 0).all():
        raise Error(f"motor_constants must be positive, one number or {robot.n} (one per joint), got {brief(k.tolist())}")
    if isinstance(duration, list | tuple) or (isinstance(duration, np.ndarray) and duration.ndim):
        found = [positive(x, "least_effort: each duration") for x in listed(duration, "duration")]
        if len(found) != 2 or found[0] > found[1]:
            raise Error(f"least_effort: a free duration must be (shortest, longest), got {brief(duration)}")
        times = found[0], found[1]
    else:
        times = (only := positive(duration, "least_effort: duration")), only
    with np.errstate(all="ignore"):  # absurd figures overflow, and make no finite cost
        weights = np.broadcast_to(1 / (k * k), (robot.n,)).copy()
    return ends, weights, motion_limits(robot, limits), times


def _state(robot: "Robot", given: Any, what: str) -> Array:
    array = frozen_array(given, None, f"least_effort: {what}")
    if array.shape in ((robot.n,), (2, robot.n)):
        warn_of_positions(robot, np.atleast_2d(array)[0], f"least_effort: {what}")
    if array.shape == (robot.n,):
        return np.stack([array, np.zeros(robot.n)])
    if array.shape != (2, robot.n):
        raise Error(
            f"least_effort: {what} must be {robot.n} positions, or (2, {robot.n}) with velocities, got shape {array.shape}; "
            f"joint order: {', '.join(robot.joint_names[:14])}"
        )
    return array


def _through(robot: "Robot", given: Any) -> tuple[Array, Array]:
    """Shares of the duration (k,) in order, and positions (k, n)."""
    if given is None:
        return np.zeros(0), np.zeros((0, robot.n))
    if not isinstance(given, Mapping):
        raise Error(f"through must be positions by shares of the duration, such as {{0.5: q}}, got {brief(given)}")
    found: dict[float, Array] = {}
    for share, q in given.items():
        at = number(share, "through: a share of the duration")
        if not 0 < at < 1:
            raise Error(f"through: times are shares of the duration, above 0 and below 1, got {at:g}")
        found[at] = frozen_array(q, (robot.n,), f"through: the positions at {at:g}")
        warn_of_positions(robot, found[at], f"through: the positions at {at:g}")
    order = sorted(found)
    return np.array(order), np.array([found[at] for at in order]).reshape(-1, robot.n)


def _mean_speed(ends: tuple[Array, Array], shares: Array, points: Array, T: float) -> float:
    """The largest one of a joint between positions that are given, or at an end."""
    speeds = np.abs(_speeds(ends, shares, points, T)).max()
    return float(max(speeds, *(np.abs(end[1]).max() for end in ends))) or 1.0


def _speeds(ends: tuple[Array, Array], shares: Array, points: Array, T: float) -> Array:
    """Mean speeds (k + 1, n) from each position that is given to the next."""
    q = np.concatenate([ends[0][:1], points, ends[1][:1]])
    with np.errstate(all="ignore"):
        return np.diff(q, axis=0) / (T * np.diff([0.0, *shares, 1.0]))[:, None]


def _check_fixed(
    robot: "Robot", limits: MotionLimits | None, ends: tuple[Array, Array], shares: Array, points: Array, T: float
) -> None:
    """Refuse what no motion can change: positions and forces at both ends, positions on the way, and mean speeds."""
    if limits is None:
        return
    zero = np.zeros(robot.n)
    found = [
        (f"at the {name}", (*end, zero, inverse_dynamics(robot, end[0], end[1], zero)))
        for name, end in zip(("start", "goal"), ends, strict=True)
    ]
    found += [(f"at t = {share:g} T", (q, zero, zero, zero)) for share, q in zip(shares, points, strict=True)]
    times = T * np.array([0.0, *shares, 1.0])
    for k, speed in enumerate(_speeds(ends, shares, points, T)):
        found.append((f"on average from t = {times[k]:.4g} to {times[k + 1]:.4g} s", (ends[0][0], speed, zero, zero)))
    for when, values in found:
        slack = limits.slack(np.array(values)[:, None])[:, :, 0]
        if not (slack >= -ROUNDING).all():
            side, kind, joint = np.unravel_index(int(np.argmin(slack)), slack.shape)
            limit = (limits.low, limits.high)[side][kind, joint]
            advice = "allow more time, or widen it" if when.startswith("on average") else "widen it: more time does not help"
            raise exceeding(robot, int(kind), int(joint), float(values[kind][joint]), float(limit), when, "needs", advice)
