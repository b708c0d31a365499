"""What the fastest motion is: a trajectory with the limits that it reaches, and a path for controllers to follow."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers
from dalembert.cached import cached_property
from dalembert.model.model import Model
from dalembert.motion.paths import Motion, sample
from dalembert.planning.curves import Curve
from dalembert.planning.parametrize import Parametrized, moments
from dalembert.planning.path_limits import SLOWLY, JointLimits
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.simulation.trajectory import Trajectory

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
        s, y, u, _ = along(self.found, flat)
        q, q1, q2 = self.curve.at(s)
        moving = ((flat >= 0) & (flat <= self._when[-1]))[:, None]
        y, u = y[:, None], u[:, None]
        found = q, np.where(moving, q1 * y, 0.0), np.where(moving, q1 * u + q2 * y * y, 0.0)
        return Motion(*(x.reshape(*times.shape, self.n) for x in found))

    sample = sample

    @cached_property
    def s(self) -> Array:
        """The path parameter at the samples, (T,)."""
        return along(self.found, self.time)[0]

    @cached_property
    def speed(self) -> Array:
        """ds/dt at the samples, (T,)."""
        return along(self.found, self.time)[1]

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
        for end, tau in enumerate(torques_at_ends(self.robot, self.found)):
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
        return tuple(self._limiting(int(which[k]), int(side[k])) for k in along(self.found, self.time)[3].tolist())

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


def along(found: Parametrized, time: Array) -> tuple[Array, Array, Array, Array]:
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


def forces(robot: Model, q: Array, q1: Array, q2: Array, y: Array, u: Array) -> Array:
    """The torques at ds/dt = y and its rate u, (P,) each; at rest friction is that of the motion that begins or ends there."""
    moving = np.maximum(y, SLOWLY)[:, None]
    return np.asarray(inverse_dynamics(robot, q, q1 * moving, q1 * u[:, None] + q2 * np.square(y)[:, None]))


def torques_at_ends(robot: Model, found: Parametrized) -> tuple[Array, Array]:
    """The torques at the start and at the end of each interval, (N, n) each: u jumps between intervals."""
    at, y, u = found.terms, np.sqrt(found.profile.x), found.profile.u
    first, last = (forces(robot, at.q[k], at.q1[k], at.q2[k], y[k], u) for k in (slice(None, -1), slice(1, None)))
    return first, last


def work(robot: Model, found: Parametrized) -> Array:
    """What the torques have done up to each point, (P,): trapezia over s."""
    first, last = torques_at_ends(robot, found)
    power = (first * found.terms.q1[:-1]).sum(axis=1) + (last * found.terms.q1[1:]).sum(axis=1)
    return np.append(0.0, np.cumsum(power * np.diff(found.s) / 2))
