"""The highest speed along a curve, in rounds: friction by tangents, and limits that hold between the points too.

Each round solves linear rows at both ends of every interval (`elimination`). Viscous friction is v sqrt(x), for which the next
round has the tangent about the last x. Between two points the forces follow from u and x exactly. By how much they bend away from a
straight line there, the next round takes off the limits of the interval; where that is much, it splits the interval.
"""

from itertools import count
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.planning.curves import Curve
from dalembert.planning.elimination import UNBOUNDED, Profile, Rows, profile
from dalembert.planning.impossible import why_not
from dalembert.planning.limits import Limits, Terms, smooth_friction, speed_dependent, terms

PARTS = 4  # of an interval between whose ends limits are looked at
ROUNDS = 5  # at most, for friction alone
MOST_ROUNDS = 16  # until limits hold between the points
COARSE = 5e-3  # of a limit: an interval that exceeds it by more is split
MORE = 1.1  # times what has to be taken off limits, since the next round has other forces
SPLITS = 4  # rounds that may split
MET = 1e-7  # of the largest x: friction has settled
NEARLY = 1e-3  # the same where forces were looked at, since the next round would be nearer by the square
SLOWEST = 1e-4  # of the largest ds/dt: no tangent is taken below it


class Found(NamedTuple):
    """The points, the profile, what limits say there, and by how much they are exceeded anywhere, as a share."""

    s: Array
    profile: Profile
    terms: Terms
    over: float


class Slack(NamedTuple):
    """What is taken off the limits of each interval, (N, m), and the factor by which x is kept below velocity limits, (N + 1,)."""

    up: Array
    down: Array
    speed: Array

    @property
    def rise(self) -> Array:
        """The largest that is taken off in each interval, (N,)."""
        return np.maximum(np.maximum(self.up, self.down).max(axis=1), np.maximum(self.speed[1:], self.speed[:-1]) - 1)

    def widened(self, more: float) -> "Slack":
        """A little more, and as much as the neighbours have: where it changes from one interval to the next, so would u."""
        up, down, speed = (_with_neighbours(x) for x in (self.up, self.down, self.speed - 1))
        return Slack(MORE * up + more, MORE * down + more, 1 + MORE * speed + more)

    @classmethod
    def none(cls, intervals: int, m: int) -> "Slack":
        """Nothing."""
        return cls(np.zeros((intervals, m)), np.zeros((intervals, m)), np.ones(intervals + 1))


def parametrize(robot: Model, curve: Curve, known: Limits, s: Array, tolerance: float | None) -> Found:
    """The highest speed at points s (N + 1,) of the curve, and more points where they are too few for the tolerance."""
    return _at_points(robot, curve, known, s) if tolerance is None else _everywhere(robot, curve, known, s, tolerance)


def _at_points(robot: Model, curve: Curve, known: Limits, s: Array) -> Found:
    """Limits hold at the points."""
    points, x, viscous = terms(robot, curve, s, known), np.zeros(len(s)), speed_dependent(robot)
    slack = Slack.none(len(s) - 1, points.a.shape[1])
    for number in count(1):
        solved, reason = _solved(robot, curve, points, s, x, slack)
        if reason:
            raise Error(f"fastest: {reason}")
        if not viscous or _settled(solved.x, x, MET) or number == ROUNDS:
            return Found(s, solved, points, np.nan)
        x = solved.x
    raise AssertionError


def _everywhere(robot: Model, curve: Curve, known: Limits, s: Array, tolerance: float) -> Found:
    """Limits hold between the points, too."""
    x, viscous = np.zeros(len(s)), speed_dependent(robot)
    made = terms(robot, curve, _parted(s, PARTS), known)
    points, slack = _every(made), Slack.none(len(s) - 1, made.a.shape[1])
    for number in count(1):
        solved, reason = _solved(robot, curve, points, s, x, slack)
        if reason and (number == 1 or number > SPLITS):
            raise Error(f"fastest: {reason}")
        if reason:  # too much was taken off: finer points need less
            coarse, new = np.ones(len(s) - 1, dtype=bool), slack
        else:
            excess, new = _between(robot, made, solved, viscous)
            settled, x = not viscous or _settled(solved.x, x, NEARLY), solved.x
            if (excess.max() <= tolerance and settled) or number == MOST_ROUNDS:
                return Found(s, solved, points, float(excess.max()))
            coarse = (excess > COARSE) & (new.rise > COARSE / 2)
        if number <= SPLITS and coarse.any():
            s, x = _split(s, x, coarse)
            made = terms(robot, curve, _parted(s, PARTS), known)
            points, slack = _every(made), Slack.none(len(s) - 1, made.a.shape[1])
        else:
            new = new.widened(tolerance / 5)
            slack = new if number < 3 else Slack(*map(np.maximum, slack, new))  # so that two do not take turns
    raise AssertionError


def _solved(robot: Model, curve: Curve, at: Terms, s: Array, x: Array, slack: Slack) -> tuple[Profile, str]:
    """One round, with the tangents of friction about x, and why there is no solution."""
    rows, most = _rows(robot, at, np.diff(s), x, slack)
    start, end = (np.array([0.0, UNBOUNDED * free]) for free in curve.free)  # any x where the curve itself stands still
    solved = profile(rows, most, np.diff(s), start, end)
    return solved, why_not(robot, at, rows, solved, s)


def _settled(x: Array, before: Array, share: float) -> bool:
    return bool(np.abs(x - before).max() <= share * x.max())


def _with_neighbours(x: Array) -> Array:
    """The largest of each entry and those before and after it along the first axis."""
    wide = np.concatenate([x[:1], x, x[-1:]])
    return np.maximum(np.maximum(wide[2:], wide[:-2]), x)


def _parted(s: Array, parts: int) -> Array:
    """Every interval in equal parts."""
    inner = s[:-1, None] + np.diff(s)[:, None] * (np.arange(parts) / parts)
    return np.append(inner.ravel(), s[-1])


def _split(s: Array, x: Array, coarse: Array) -> tuple[Array, Array]:
    """Intervals that are coarse, and those beside them, in four; x is linear between points."""
    wide = coarse | np.append(coarse[1:], False) | np.append(False, coarse[:-1])
    new = np.unique(np.append(s, _parted(s, PARTS)[:-1].reshape(-1, PARTS)[wide]))
    return new, np.interp(new, s, x)


def _every(made: Terms) -> Terms:
    """The terms at the points alone."""
    fields = ("q", "q1", "q2", "a", "b", "c", "before", "after", "viscous", "speeds")
    return made._replace(**{name: getattr(made, name)[::PARTS] for name in fields})


def _rows(robot: Model, at: Terms, spacing: Array, x: Array, slack: Slack) -> tuple[Rows, Array]:
    """The limits at both ends of each interval as rows in u and in x at its start, and the bound of x by velocities.

    `x` is the last one, for friction; 0 in the first round, which leaves out what depends on the speed.
    """
    b, c = at.b, at.c
    if x.any() and speed_dependent(robot):
        y = np.maximum(np.sqrt(x), SLOWEST * np.sqrt(x.max()))
        rubbing, slope = smooth_friction(robot, at, y)
        slope = slope / (2 * y[:, None])
        b, c = b + slope, c + rubbing - slope * np.square(y)[:, None]
    most, least = _dry(at)
    above, below = at.hi - most - slack.up, at.lo - least + slack.down
    begin = (at.a[:-1], b[:-1], below - c[:-1], above - c[:-1])
    end = (at.a[1:] + 2 * spacing[:, None] * b[1:], b[1:], below - c[1:], above - c[1:])
    last = (at.a[-1], b[-1], at.lo - at.before[-1] - c[-1], at.hi - at.before[-1] - c[-1])
    joined = (np.vstack([np.hstack([i, j]), np.hstack([k, k])]) for i, j, k in zip(begin, end, last, strict=True))
    with np.errstate(divide="ignore"):
        bound = np.minimum(1 / at.speeds.max(axis=1), UNBOUNDED) / slack.speed
    return Rows(*joined).turned(), bound


def _dry(at: Terms) -> tuple[Array, Array]:
    """The greatest and the least dry friction within each interval, where joints may turn back."""
    return np.maximum(at.after[:-1], at.before[1:]), np.minimum(at.after[:-1], at.before[1:])


def _between(robot: Model, made: Terms, found: Profile, viscous: bool) -> tuple[Array, Slack]:
    """By how much each interval exceeds a limit, and what to take off the limits for the forces to hold between its ends."""
    share = (np.arange(PARTS + 1) / PARTS)[:, None]
    x = found.x[:-1] + share * np.diff(found.x)
    forces = _cut(made.a) * found.u[:, None] + _cut(made.b) * x[..., None] + _cut(made.c)
    if viscous:
        fine = np.append(x[:-1].T.ravel(), found.x[-1])
        y = np.maximum(np.sqrt(fine), SLOWEST * np.sqrt(fine.max()))
        forces = forces + _cut(smooth_friction(robot, made, y)[0])
    most, least = _dry(_every(made))
    rounding, bend = _rounding(forces), forces - _chord(forces)
    high, low = forces.max(axis=0) + rounding, forces.min(axis=0) - rounding
    up, down = bend.max(axis=0) + rounding, rounding - bend.min(axis=0)
    over = np.maximum(high + most - made.hi, made.lo - low - least).max(axis=1)
    speeds = _cut(made.speeds) * x[..., None]
    rounding = _rounding(speeds)
    highest = (speeds.max(axis=0) + rounding).max(axis=1)
    at_ends = np.maximum(speeds[0], speeds[-1]).max(axis=1)
    above = ((speeds - _chord(speeds)).max(axis=0) + rounding).max(axis=1)
    rise = 1 + np.minimum(above / np.where(at_ends > 0, at_ends, np.inf), 1.0)
    return np.maximum(over, highest - 1), Slack(up, down, np.maximum(np.append(rise, 1.0), np.append(1.0, rise)))


def _cut(values: Array) -> Array:
    """Values (N PARTS + 1, m) by the parts of intervals, (PARTS + 1, N, m), both ends included."""
    return np.stack([values[k : len(values) - PARTS + k : PARTS] for k in range(PARTS + 1)])


def _chord(samples: Array) -> Array:
    """The straight line between the first and the last of the samples: what is above it does not depend on their slope."""
    share = (np.arange(len(samples)) / (len(samples) - 1))[:, None, None]
    return samples[0] + share * (samples[-1] - samples[0])


def _rounding(samples: Array) -> Array:
    """How far a curve may rise above its samples along the first axis, if it is a parabola between them."""
    return np.abs(np.diff(samples, 2, axis=0)).max(axis=0) / 8


def moments(s: Array, x: Array) -> Array:
    """When each point is passed, (P,)."""
    y: Any = np.sqrt(x)
    return np.append(0.0, np.cumsum(2 * np.diff(s) / (y[1:] + y[:-1])))
