"""The fastest way along a path: time-optimal motions under limits of torques, velocities and accelerations."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers, positive, whole
from dalembert.cached import cached_property
from dalembert.errors import Error, brief
from dalembert.model.model import Model, a_robot, refuse_loops
from dalembert.motion.paths import Motion, sample
from dalembert.planning.curves import Curve, curve
from dalembert.planning.limits import SLOWLY, Limits, limits
from dalembert.planning.parametrize import Found, moments, parametrize
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot

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

    `curve` is q(s), `known` the limits, `found` the profile: s (P,), and ds/dt squared, `found.profile.x`. `over` is the largest share by which a
    limit is exceeded anywhere, between the points too; it is NaN where that was not asked for.
    """

    curve: Curve
    known: Limits
    found: Found

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.robot.n

    @property
    def over(self) -> float:
        """By how much a limit is exceeded anywhere, as a share of it."""
        return max(self.found.over, 0.0) if self.found.over == self.found.over else np.nan

    @cached_property
    def _when(self) -> Array:
        return moments(self.found.s, self.found.profile.x)

    def _along(self, time: Any) -> tuple[Array, Array, Array, Array]:
        """s, its rate, its second derivative, and the interval, at times (K,)."""
        found, when = self.found.profile, self._when
        k = np.clip(np.searchsorted(when, time, side="right") - 1, 0, len(when) - 2)
        past = np.clip(time, 0.0, when[-1]) - when[k]
        y, u = np.sqrt(found.x[k]), found.u[k]
        return np.clip(self.found.s[k] + past * (y + u * past / 2), 0.0, self.curve.length), np.maximum(y + u * past, 0.0), u, k

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (n,), or at times (K,), (K, n); before the start and after the end it rests."""
        times = numbers(time, "the time of a path").astype(float)
        s, y, u, _ = self._along(np.atleast_1d(times))
        q, q1, q2 = self.curve.at(s)
        moving = ((np.atleast_1d(times) >= 0) & (np.atleast_1d(times) <= self._when[-1]))[:, None]
        y, u = y[:, None], u[:, None]
        found = Motion(q, np.where(moving, q1 * y, 0.0), np.where(moving, q1 * u + q2 * y * y, 0.0))
        return found if times.ndim else Motion(*(x[0] for x in found))

    sample = sample

    @cached_property
    def s(self) -> Array:
        """The path parameter at the samples, (T,)."""
        return self._along(self.time)[0]

    @cached_property
    def speed(self) -> Array:
        """ds/dt at the samples, (T,)."""
        return self._along(self.time)[1]

    @cached_property
    def saturation(self) -> Array:
        """The torques at the samples as shares of their limits, (T, n), -1 to 1; 0 where a joint has none."""
        low, high = self.known.torque
        share = np.where(self.tau < 0, -self.tau / np.where(low < 0, low, -np.inf), self.tau / np.where(high > 0, high, np.inf))
        return share

    @cached_property
    def _binding(self) -> tuple[Array, Array]:
        """Of each interval the limit that is nearest: its number (torques, velocities, accelerations; -1: none), and its side."""
        at, found = self.found.terms, self.found.profile
        n, x, u = self.robot.n, found.x, found.u[:, None]
        shares = np.zeros((len(u), 3 * n))
        for end in (0, 1):
            part = slice(end, len(x) - 1 + end)
            q1, q2, y = at.q1[part], at.q2[part], np.sqrt(x[part])[:, None]
            moves = q1 * y, q1 * u + q2 * y * y
            tau = forces(self.robot, at.q[part], q1, q2, y[:, 0], u[:, 0])
            for k, (value, (low, high)) in enumerate(zip((tau, *moves), self.known, strict=True)):
                share = np.where(value < 0, -value / np.where(low < 0, low, -np.inf), value / np.where(high > 0, high, np.inf))
                own = shares[:, k * n : (k + 1) * n]
                own[...] = np.where(np.abs(share) > np.abs(own), share, own)
        which = np.argmax(np.abs(shares), axis=1)
        nearest = np.take_along_axis(shares, which[:, None], axis=1)[:, 0]
        bound = np.abs(nearest) >= TIGHT
        return _steady(np.where(bound, which, -1), np.where(bound, np.sign(nearest), 0.0).astype(int))

    def _limiting(self, which: int, side: int) -> Limiting | None:
        if which < 0:
            return None
        kind, joint = divmod(int(which), self.robot.n)
        return Limiting(self.robot.joint_names[joint], Limits._fields[kind], int(side))

    @cached_property
    def limiting(self) -> tuple[Limiting | None, ...]:
        """What limits the motion at each sample."""
        which, side = self._binding
        return tuple(self._limiting(which[k], side[k]) for k in self._along(self.time)[3])

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """The instants at which another limit takes over: where the torques of the fastest motion jump."""
        which, side = self._binding
        places = np.flatnonzero((np.diff(which) != 0) | (np.diff(side) != 0)) + 1
        return tuple(
            Switch(float(self._when[k]), float(self.found.s[k]), *(self._limiting(which[i], side[i]) for i in (k - 1, k)))
            for k in places
        )

    def phase_plane(self) -> Any:
        """A matplotlib figure of ds/dt over s, under the curve of highest speeds, and the torques as shares of their limits."""
        from dalembert.planning.phase_plane import figure

        return figure(self)


def _steady(which: Array, side: Array) -> tuple[Array, Array]:
    """The same without what lasts for a few intervals only: there the one before goes on."""
    code = 2 * which + (side > 0)
    edges = np.append(0, np.flatnonzero(np.diff(code)) + 1)
    which, side = which.copy(), side.copy()
    for start, end in zip(edges, np.append(edges[1:], len(code)), strict=True):
        if end - start < BRIEF and start:
            which[start:end], side[start:end] = which[start - 1], side[start - 1]
    return which, side


def forces(robot: Model, q: Array, q1: Array, q2: Array, y: Array, u: Array) -> Array:
    """The torques at ds/dt = y and its rate u, (P,) each; at rest friction is that of the motion that begins or ends there."""
    moving = np.maximum(y, SLOWLY)[:, None]
    return np.asarray(inverse_dynamics(robot, q, q1 * moving, q1 * u[:, None] + q2 * np.square(y)[:, None]))


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
    torque, velocity, acceleration: one number, one for each joint (n,), or the least and the greatest (2, n). By default torques and
    velocities have the limits of the robot's joints, and accelerations none. A payload is part of the robot: `robot.with_payload(...)`.
    points: the number of intervals into which the path is divided, or the s of all points. tolerance: the share by which limits may be
    exceeded between points, which are refined until they are not; None looks at the points alone. step: seconds between the samples of the
    result; by default they are at the points.

    The result is a `Trajectory` with more: `limiting`, what limits the motion at each sample; `switches`; `saturation`;
    `phase_plane()`, a figure. It is also a function of time, which controllers can follow. No limits of jerk: torques jump.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> fast = arm.fastest([[0.0, 0.0], [1.0, -0.5], [1.5, 0.5]], torque=[40.0, 15.0])
    >>> fast
    <Trajectory of two_link: ... samples, 0.8... s>
    >>> bool(abs(fast.tau).max() <= 40.0 * (1 + 1e-6)), fast.limiting[0]
    (True, Limiting(joint='joint1', kind='torque', side=1))
    """
    a_robot(robot, "fastest")
    _able(robot)
    along, known = curve(path, robot), limits(robot, torque, velocity, acceleration)
    at = _points(points, along)
    allowed = None if tolerance is None else positive(tolerance, "fastest: tolerance")
    found = parametrize(robot, along, known, at, allowed)
    when = moments(found.s, found.profile.x)
    time = when if step is None else np.linspace(0.0, when[-1], max(2, int(np.ceil(when[-1] / positive(step, "fastest: step") * (1 - 1e-12))) + 1))
    terms, x = found.terms, found.profile.x
    if step is None:
        motion = terms.q, terms.q1, terms.q2
        y, u = np.sqrt(x), np.append(found.profile.u, found.profile.u[-1])
    else:
        empty = np.zeros((0, robot.n))
        made = Fastest(robot, when, empty, empty, empty, curve=along, known=known, found=found)
        s, y, u, _ = made._along(time)
        motion = along.at(s)
    q, q1, q2 = motion
    tau = forces(robot, q, q1, q2, y, u)
    accelerations = q1 * u[:, None] + q2 * np.square(y)[:, None]
    return Fastest(robot, time, q, q1 * y[:, None], tau, accelerations=accelerations, curve=along, known=known, found=found)


def _able(robot: Model) -> None:
    """Robots whose velocities are the rates of their positions, and which have no loops."""
    refuse_loops(robot, "fastest")
    if robot.runs:
        raise Error(f"fastest: a path in joint space cannot have the {robot.runs[0].kind} joint {robot.runs[0].joint!r} of {robot.name}")
    if not robot.n:
        raise Error(f"fastest: {robot.name} has no joints that move")


def _points(given: Any, along: Curve) -> Array:
    """The points (P,) of the path."""
    if np.ndim(given) == 0:
        return along.grid(whole(given, "fastest: points", 2, 10**6))
    s = numbers(given, "fastest: points").astype(float)
    if s.ndim != 1 or len(s) < 3 or not (np.diff(s) > 0).all() or s[0] != 0 or abs(s[-1] - along.length) > 1e-9 * along.length:
        raise Error(f"fastest: points must increase from 0 to {along.length:.9g}, three or more of them, got {brief(given)}")
    return np.append(s[:-1], along.length)
