"""The fastest way along a path: time-optimal motions under limits of torques, velocities and accelerations."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers, positive, whole
from dalembert.cached import cached_property
from dalembert.errors import AccuracyWarning, Error, LimitWarning, brief, warn
from dalembert.model.model import Model
from dalembert.motion.paths import Motion, instants, sample
from dalembert.planning.curves import Curve, curve
from dalembert.planning.given import with_rates
from dalembert.planning.parametrize import Parametrized, moments, parametrize
from dalembert.planning.path_limits import SLOWLY, JointLimits, joint_limits
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot

WITHIN = 1e-9  # rad or m: a path may touch the limits of positions
TIGHT = 0.98  # of a limit: what is nearer to its limit than that limits the motion
BRIEF = 3  # intervals: what limits the motion for fewer of them is part of what surrounds it


class Limiting(NamedTuple):
    """What limits a motion at an instant: a joint's "torque", "velocity" or "acceleration", and on which side (+1 or -1)."""

    joint: str
    kind: str
    side: int


class Switch(NamedTuple):
    """An instant at which another limit takes over; `before` and `after` are None where there is none."""

    time: float
    s: float
    before: Limiting | None
    after: Limiting | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fastest(Trajectory):
    """What `robot.fastest` returns: a trajectory that is also a path, a function of time, for controllers to follow.

    `curve` is q(s), `known` the limits, `found` the profile: s (P,) and the squares of ds/dt, `found.profile.x`. `over` is the
    largest share by which a limit is exceeded anywhere, between the points too; it is NaN where that was not asked for.
    """

    curve: Curve
    known: JointLimits
    found: Parametrized

    def __repr__(self) -> str:
        return f"<Fastest of {self.robot.name}: {len(self)} samples, {self.duration:g} s>"

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.robot.n

    @property
    def torque_limits(self) -> Array:
        """The least and the greatest torques, (2, n)."""
        return self.known.torque

    @property
    def told(self) -> str:
        """What it is, for reports."""
        return f"the fastest motion along a path, {self.duration:.4g} s"

    @property
    def over(self) -> float:
        """By how much a limit is exceeded anywhere, as a share of it."""
        return max(self.found.over, 0.0) if self.found.over == self.found.over else np.nan

    @cached_property
    def _when(self) -> Array:
        return moments(self.found.s, self.found.profile.x)

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (n,), or at times (...), (..., n); before the start and after the end it rests."""
        times = numbers(time, "the time of a path").astype(float)
        flat = times.ravel()
        s, y, u, _ = _along(self.found, flat)
        q, q1, q2 = self.curve.at(s)
        moving = ((flat >= 0) & (flat <= self._when[-1]))[:, None]
        y, u = y[:, None], u[:, None]
        found = q, np.where(moving, q1 * y, 0.0), np.where(moving, q1 * u + q2 * y * y, 0.0)
        return Motion(*(x.reshape(*times.shape, self.n) for x in found))

    sample = sample

    @cached_property
    def s(self) -> Array:
        """The path parameter at the samples, (T,)."""
        return _along(self.found, self.time)[0]

    @cached_property
    def speed(self) -> Array:
        """ds/dt at the samples, (T,)."""
        return _along(self.found, self.time)[1]

    @cached_property
    def saturation(self) -> Array:
        """The torques at the samples as shares of their limits, (T, n), -1 to 1; 0 where a joint has none."""
        return _shares(self.tau, self.known.torque)

    @cached_property
    def _binding(self) -> tuple[Array, Array]:
        """Of each interval the limit that is nearest: its number (torques, velocities, accelerations; -1: none), and its side."""
        at, found = self.found.terms, self.found.profile
        n, x, u = self.robot.n, found.x, found.u[:, None]
        shares = np.zeros((len(u), 3 * n))
        for end, tau in enumerate(_torques_at_ends(self.robot, self.found)):
            part = slice(end, len(x) - 1 + end)
            q1, q2, y = at.q1[part], at.q2[part], np.sqrt(x[part])[:, None]
            moves = q1 * y, q1 * u + q2 * y * y
            for k, (values, limit) in enumerate(zip((tau, *moves), self.known, strict=True)):
                share, own = _shares(values, limit), shares[:, k * n : (k + 1) * n]
                own[...] = np.where(np.abs(share) > np.abs(own), share, own)
        which = np.argmax(np.abs(shares), axis=1)
        nearest = np.take_along_axis(shares, which[:, None], axis=1)[:, 0]
        bound = np.abs(nearest) >= TIGHT
        return _steady(np.where(bound, which, -1), np.where(bound, np.sign(nearest), 0.0).astype(int))

    def _limiting(self, which: int, side: int) -> Limiting | None:
        if which < 0:
            return None
        kind, joint = divmod(which, self.robot.n)
        return Limiting(self.robot.joint_names[joint], JointLimits._fields[kind], side)

    @cached_property
    def limiting(self) -> tuple[Limiting | None, ...]:
        """What limits the motion at each sample."""
        which, side = self._binding
        return tuple(self._limiting(int(which[k]), int(side[k])) for k in _along(self.found, self.time)[3].tolist())

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """The instants at which another limit takes over: where the torques of the fastest motion jump."""
        which, side = self._binding
        names = [self._limiting(int(k), int(i)) for k, i in zip(which, side, strict=True)]
        places = [k for k in range(1, len(names)) if names[k] != names[k - 1]]
        return tuple(Switch(float(self._when[k]), float(self.found.s[k]), names[k - 1], names[k]) for k in places)

    def phase_plane(self) -> Any:
        """A matplotlib figure of ds/dt over s, under the curve of highest speeds, and the torques as shares of their limits."""
        from dalembert.planning.phase_plane import figure

        return figure(self)


def fastest(
    robot: "Robot",
    path: Any,
    *,
    torque: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    points: Any = 1000,
    tolerance: float | None = 1e-6,
    step: float | None = None,
) -> Fastest:
    """The fastest motion along a path, from rest to rest, within limits of torques, velocities and accelerations.

    M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau with q = q(s): at every point some limit is reached.

    path: waypoints (K, n), through which a natural cubic spline goes (two: a straight line); a motion with a duration, such as
    `da.spline(times, points)` or `da.quintic(start, goal, duration)`, of which only the curve counts; or a trajectory.
    torque, velocity, acceleration: one number, one for each joint (n,), a dict by joint, or the least and the greatest (2, n). By
    default torques and velocities have the limits of the robot's joints, and accelerations none. A payload is part of the robot:
    `with_payload`.
    points: the number of intervals into which the path is divided, or the s of all points; the duration comes near the least one
    in proportion to their spacing. tolerance: the share by which limits may be exceeded between points; None looks at the points
    alone. step: seconds between the samples of the result; by default they are at the points. A path that leaves the range of a
    joint is followed all the same, with a `LimitWarning`.

    The result is a `Trajectory` with more: `limiting`, what limits the motion at each sample; `switches`; `saturation`;
    `phase_plane()`, a figure. It is also a function of time, which controllers can follow. No limits of jerk: torques jump.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> fast = arm.fastest([[0.0, 0.0], [1.0, -0.5], [1.5, 0.5]], torque=[40.0, 15.0])
    >>> fast
    <Fastest of two_link: ... samples, 0.79... s>
    >>> bool(abs(fast.tau).max() <= 40.0 * (1 + 1e-6)), fast.limiting[0]
    (True, Limiting(joint='joint1', kind='torque', side=1))
    """
    with_rates(robot, "fastest")
    line, known = curve(path, robot), joint_limits(robot, torque=torque, velocity=velocity, acceleration=acceleration)
    allowed = None if tolerance is None else positive(tolerance, "fastest: tolerance")
    found = parametrize(robot, line, known, _points(points, line), allowed)
    if allowed is not None and found.over > allowed:
        warn(f"fastest: limits are exceeded by {found.over:.1e} of their values between points; use more points", AccuracyWarning)
    _within(robot, found)
    time, s = moments(found.s, found.profile.x), found.s
    if step is None:
        (q, q1, q2), y, u = found.terms[:3], np.sqrt(found.profile.x), np.append(found.profile.u, found.profile.u[-1])
    else:
        time = instants(time[-1], positive(step, "fastest: step"), 3 * robot.n + 1)
        s, y, u, _ = _along(found, time)
        q, q1, q2 = line.at(s)
    tau, accelerations = _forces(robot, q, q1, q2, y, u), q1 * u[:, None] + q2 * np.square(y)[:, None]
    worked = np.interp(s, found.s, _work(robot, found))
    more: dict[str, Any] = {"accelerations": accelerations, "worked": worked}
    return Fastest(robot, time, q, q1 * y[:, None], tau, **more, curve=line, known=known, found=found)


def _within(robot: Model, found: Parametrized) -> None:
    """Warn of a path that leaves the range of a joint."""
    q = found.terms.q
    out = (q < robot.lower - WITHIN) | (q > robot.upper + WITHIN)
    if out.any():
        k, i = np.unravel_index(np.argmax(out), out.shape)
        joint, place = robot.joints[int(i)], f"{found.s[k]:.6g} of {found.s[-1]:.6g}"
        range_ = f"{joint.lower:g} and {joint.upper:g}"
        warn(f"joint {joint.name!r} of {robot.name} passes its limits, {range_}, on the path at s = {place}", LimitWarning)


def _points(given: Any, line: Curve) -> Array:
    """The points (P,) of the path."""
    s = numbers(given, "fastest: points").astype(float)
    if s.ndim == 0:
        return line.grid(whole(given, "fastest: points", 2, 10**6))
    if s.ndim != 1 or len(s) < 3 or not (np.diff(s) > 0).all() or s[0] != 0 or abs(s[-1] - line.length) > 1e-9 * line.length:
        raise Error(f"fastest: points must increase from 0 to {line.length:.9g}, three or more of them, got {brief(given)}")
    return np.append(s[:-1], line.length)


# --- along the motion ----------------------------------------------------------------------------------------------------


def _along(found: Parametrized, time: Array) -> tuple[Array, Array, Array, Array]:
    """s, its rate, its second derivative, and the interval, at times (K,)."""
    when, solved = moments(found.s, found.profile.x), found.profile
    k = np.clip(np.searchsorted(when, time, side="right") - 1, 0, len(when) - 2)
    past = np.clip(time, 0.0, when[-1]) - when[k]
    y, u = np.sqrt(solved.x[k]), solved.u[k]
    s = np.clip(found.s[k] + past * (y + u * past / 2), found.s[k], found.s[k + 1])
    return s, np.maximum(y + u * past, 0.0), u, k


def _shares(values: Array, limit: Array) -> Array:
    """Values (T, n) as shares of limits (2, n), -1 to 1; 0 where there are none."""
    low, high = limit
    return np.where(values < 0, -values / np.where(low < 0, low, -np.inf), values / np.where(high > 0, high, np.inf))


def _steady(which: Array, side: Array) -> tuple[Array, Array]:
    """The same without what lasts for a few intervals only: there the one before goes on."""
    code = 2 * which + (side > 0)
    edges = np.append(0, np.flatnonzero(np.diff(code)) + 1)
    which, side = which.copy(), side.copy()
    for start, end in zip(edges, np.append(edges[1:], len(code)), strict=True):
        if end - start < BRIEF and start:
            which[start:end], side[start:end] = which[start - 1], side[start - 1]
    return which, side


def _forces(robot: Model, q: Array, q1: Array, q2: Array, y: Array, u: Array) -> Array:
    """The torques at ds/dt = y and its rate u, (P,) each; at rest friction is that of the motion that begins or ends there."""
    moving = np.maximum(y, SLOWLY)[:, None]
    return np.asarray(inverse_dynamics(robot, q, q1 * moving, q1 * u[:, None] + q2 * np.square(y)[:, None]))


def _torques_at_ends(robot: Model, found: Parametrized) -> tuple[Array, Array]:
    """The torques at the start and at the end of each interval, (N, n) each: u jumps between intervals."""
    at, y, u = found.terms, np.sqrt(found.profile.x), found.profile.u
    first, last = (_forces(robot, at.q[k], at.q1[k], at.q2[k], y[k], u) for k in (slice(None, -1), slice(1, None)))
    return first, last


def _work(robot: Model, found: Parametrized) -> Array:
    """What the torques have done up to each point, (P,): trapezia over s."""
    first, last = _torques_at_ends(robot, found)
    power = (first * found.terms.q1[:-1]).sum(axis=1) + (last * found.terms.q1[1:]).sum(axis=1)
    return np.append(0.0, np.cumsum(power * np.diff(found.s) / 2))
