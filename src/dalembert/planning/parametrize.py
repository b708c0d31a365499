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
from dalembert.native import recycle
from dalembert.planning.curves import Curve
from dalembert.planning.elimination import UNBOUNDED, Profile, Rows, profile
from dalembert.planning.impossible import why_not
from dalembert.planning.path_limits import JointLimits, Terms, rubbing, smooth_friction, terms

PARTS = 4  # of an interval between whose ends limits are looked at
ROUNDS = 20  # at most, for friction alone; most motions take 5
SLOWER = 12  # times that the rate is halved about which tangents are taken
MOST_ROUNDS = 16  # until limits hold between the points
COARSE = 5e-3  # of a limit: an interval that exceeds it by more is split
MORE = 1.1  # times what has to be taken off limits, since the next round has other forces
SPLITS = 4  # rounds that may split
DOUBLINGS = 2  # of all points, where rounds do not lead to limits that hold
MET = 1e-7  # of the largest x: friction has settled
ROUGHLY = 0.5  # the same before forces are looked at between the points
NEARLY = 1e-3  # the same where forces were looked at, since the next round would be nearer by the square
SLOWEST = 1e-4  # of the largest ds/dt: no tangent is taken below it


class Parametrized(NamedTuple):
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


def parametrize(robot: Model, curve: Curve, known: JointLimits, s: Array, tolerance: float | None) -> Parametrized:
    """The highest speed at points s (N + 1,) of the curve, and more points where they are too few for the tolerance."""
    return _at_points(robot, curve, known, s) if tolerance is None else _everywhere(robot, curve, known, s, tolerance)


def _at_points(robot: Model, curve: Curve, known: JointLimits, s: Array) -> Parametrized:
    """JointLimits hold at the points."""
    points = terms(robot, curve, s, known)
    return Parametrized(s, _settling(robot, curve, points, s, MET, gently=False), points, np.nan)


def _settling(robot: Model, curve: Curve, points: Terms, s: Array, share: float, gently: bool) -> Profile:
    """The highest speed under limits at the points, once the friction that depends on it has settled to a share of x."""
    slack, x = Slack.none(len(s) - 1, points.a.shape[1]), np.zeros(len(s))
    for number in count(1):
        solved, reason = _solved(robot, curve, points, s, x, slack, gently)
        if reason:
            raise Error(f"fastest: {reason}")
        if not rubbing(robot).by_speed or _settled(solved.x, x, share) or number == ROUNDS:
            return solved
        x = solved.x
    raise AssertionError


def _everywhere(robot: Model, curve: Curve, known: JointLimits, s: Array, tolerance: float) -> Parametrized:
    """JointLimits hold between the points, too; where rounds do not get there, with twice as many points."""
    best = _refined(robot, curve, known, s, tolerance)
    for _ in range(DOUBLINGS):
        if best.over <= tolerance:
            break
        s = np.sort(np.append(s, (s[1:] + s[:-1]) / 2))
        best = _better(best, _refined(robot, curve, known, s, tolerance), tolerance)
    return best


def _refined(robot: Model, curve: Curve, known: JointLimits, s: Array, tolerance: float) -> Parametrized:
    """The best of some rounds: the first one that exceeds no limit and has settled, else the one that exceeds them least."""
    points, *inner = _terms(robot, curve, known, s)
    solved, reason, viscous = _settling(robot, curve, points, s, ROUGHLY, gently=True), "", rubbing(robot).by_speed
    x, slack, best = solved.x, Slack.none(len(s) - 1, points.a.shape[1]), Parametrized(s, solved, points, np.inf)
    for number in count(1):
        settled = not viscous or (number > 1 and _settled(solved.x, x, NEARLY))
        if reason:  # too much was taken off: finer points need less
            coarse, new = np.ones(len(s) - 1, dtype=bool), slack
        else:
            excess, new = _between(robot, points, inner, solved)
            x, found = solved.x, Parametrized(s, solved, points, float(excess.max()))
            best = _better(best, found, tolerance)
            if found.over <= tolerance and settled:
                return found
            coarse = (new.rise > COARSE / 2) & ((excess > COARSE) | (viscous and number == 1))
        if number == MOST_ROUNDS or (reason and number > SPLITS):
            return best
        if number <= SPLITS and coarse.any():
            s, x = _split(s, x, coarse)
            points, *inner = _terms(robot, curve, known, s)
            slack = Slack.none(len(s) - 1, points.a.shape[1])
        else:
            new = new.widened(tolerance / 5)
            slack = Slack(*map(np.maximum, slack, new)) if number > 2 and settled else new  # so that two do not take turns
        solved, reason = _solved(robot, curve, points, s, x, slack, gently=True)
    raise AssertionError


def _better(first: Parametrized, second: Parametrized, tolerance: float) -> Parametrized:
    """That which exceeds limits less, and of two that keep them the faster one."""
    return min(first, second, key=lambda found: (max(found.over, tolerance), moments(found.s, found.profile.x)[-1]))


def _terms(robot: Model, curve: Curve, known: JointLimits, s: Array) -> list[Terms]:
    """What limits say at the points, and between them at one place after the other: arrays of that size stay in the cache."""
    places = [s, *(s[:-1] + k / PARTS * np.diff(s) for k in range(1, PARTS))]
    return [terms(robot, curve, place, known) for place in places]


def _solved(robot: Model, curve: Curve, at: Terms, s: Array, x: Array, slack: Slack, gently: bool) -> tuple[Profile, str]:
    """One round, with the tangents of friction about x, and why there is no solution.

    Below x a tangent has more friction than there is. Where that leaves no way, tangents about slower motions are tried.
    """
    start, end = (np.array([0.0, UNBOUNDED * free]) for free in curve.free)  # any x where the curve itself stands still
    for number in count():
        rows, most = _rows(robot, at, np.diff(s), x / 4**number, slack)
        solved = profile(rows, most, np.diff(s), start, end, gently)
        reason = why_not(robot, at, rows, solved, s)
        if not reason or number == SLOWER or not x.any() or not rubbing(robot).by_speed:
            return solved, reason
    raise AssertionError


def _settled(x: Array, before: Array, share: float) -> bool:
    return bool(np.abs(x - before).max() <= share * x.max())


def _with_neighbours(x: Array) -> Array:
    """The largest of each entry and those before and after it along the first axis."""
    wide = np.concatenate([x[:1], x, x[-1:]])
    return np.maximum(np.maximum(wide[2:], wide[:-2]), x)


def _split(s: Array, x: Array, coarse: Array) -> tuple[Array, Array]:
    """Intervals that are coarse, and those beside them, in equal parts; x is linear between points."""
    wide = coarse | np.append(coarse[1:], False) | np.append(False, coarse[:-1])
    inner = s[:-1, None] + np.diff(s)[:, None] * (np.arange(1, PARTS) / PARTS)
    new = np.sort(np.append(s, inner[wide]))
    return new, np.interp(new, s, x)


def _rows(robot: Model, at: Terms, spacing: Array, x: Array, slack: Slack) -> tuple[Rows, Array]:
    """The limits at both ends of each interval as rows in u and in x at its start, and the bound of x by velocities.

    `x` is the last one, for friction; 0 in the first round, which leaves out what depends on the speed.
    """
    b, c = at.b, at.c
    if x.any() and rubbing(robot).by_speed:
        y = np.maximum(np.sqrt(x), SLOWEST * np.sqrt(x.max()))
        friction, slope = smooth_friction(robot, at, y)
        slope = slope / (2 * y[:, None])
        b, c = b + slope, c + friction - slope * np.square(y)[:, None]
    most, least = _dry(at)
    above, below, m = at.hi - most - slack.up, at.lo - least + slack.down, at.a.shape[1]
    rows = Rows.empty(len(at.a), 2 * m)
    ends = (slice(None, -1), slice(None, m), slice(None, -1)), (slice(None, -1), slice(m, None), slice(1, None))
    for into, columns, points in ends:  # limits at the start of an interval, and at its end
        rows.a[into, columns], rows.b[into, columns] = at.a[points], b[points]
        np.subtract(below, c[points], out=rows.lo[into, columns])
        np.subtract(above, c[points], out=rows.hi[into, columns])
    rows.a[:-1, m:] += 2 * spacing[:, None] * b[1:]
    last = at.a[-1], b[-1], at.lo - at.before[-1] - c[-1], at.hi - at.before[-1] - c[-1]
    for row, value in zip(rows, last, strict=True):
        row[-1, :m] = row[-1, m:] = value
    rows.turn()
    with np.errstate(divide="ignore"):
        bound = np.minimum(1 / at.speeds.max(axis=1), UNBOUNDED) / slack.speed
    return rows, bound


def _dry(at: Terms) -> tuple[Array, Array]:
    """The greatest and the least dry friction within each interval, where joints may turn back."""
    return np.maximum(at.after[:-1], at.before[1:]), np.minimum(at.after[:-1], at.before[1:])


def _between(robot: Model, points: Terms, inner: list[Terms], found: Profile) -> tuple[Array, Slack]:
    """By how much each interval exceeds a limit, and what to take off the limits for the forces to hold between its ends."""
    places = [points.part(slice(None, -1)), *inner, points.part(slice(1, None))]
    slowest, viscous = SLOWEST * np.sqrt(found.x.max()), rubbing(robot).by_speed
    forces = recycle.empty((len(places), *inner[0].a.shape))
    speeds = recycle.empty((len(places), *inner[0].speeds.shape))
    for k, (at, force, speed) in enumerate(zip(places, forces, speeds, strict=True)):
        x = found.x[:-1] + k / PARTS * np.diff(found.x)
        np.multiply(at.a, found.u[:, None], out=force)
        force += at.b * x[:, None]
        force += at.c
        if viscous:
            force += smooth_friction(robot, at, np.maximum(np.sqrt(x), slowest))[0]
        np.multiply(at.speeds, x[:, None], out=speed)
    most, least = _dry(points)
    low, high, down, up = _ranges(forces)
    over = np.maximum(high + most - points.hi, points.lo - low - least).max(axis=1)
    _, fastest, _, above = _ranges(speeds)
    at_ends = np.maximum(speeds[0], speeds[-1]).max(axis=1)
    rise = 1 + np.minimum(above.max(axis=1) / np.where(at_ends > 0, at_ends, np.inf), 1.0)
    slack = Slack(up, down, np.maximum(np.append(rise, 1.0), np.append(1.0, rise)))
    return np.maximum(over, fastest.max(axis=1) - 1), slack


def _ranges(samples: Array) -> tuple[Array, Array, Array, Array]:
    """The least and the greatest value between the first and the last of equally spaced samples, as if parabolas joined them.

    Then how far they are below and above the straight line between those two, which does not depend on its slope.
    """
    number = len(samples)
    slopes, bends, off = (recycle.empty((number - k, *samples.shape[1:])) for k in (1, 2, 2))
    np.subtract(samples[1:], samples[:-1], out=slopes)
    np.subtract(slopes[1:], slopes[:-1], out=bends)
    np.abs(bends, out=bends)
    rounding = bends.max(axis=0) / 8  # what a parabola rises above its samples
    np.subtract(samples[1:-1], samples[0], out=off)
    for k in range(1, number - 1):
        off[k - 1] -= k / (number - 1) * (samples[-1] - samples[0])
    below, above = np.minimum(off.min(axis=0), 0.0), np.maximum(off.max(axis=0), 0.0)
    return samples.min(axis=0) - rounding, samples.max(axis=0) + rounding, rounding - below, above + rounding


def moments(s: Array, x: Array) -> Array:
    """When each point is passed, (P,)."""
    y: Any = np.sqrt(x)
    return np.append(0.0, np.cumsum(2 * np.diff(s) / (y[1:] + y[:-1])))
