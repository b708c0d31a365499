"""The highest speed along a curve, in rounds: friction by tangents, and limits that hold between the points too.

Each round solves linear rows at both ends of every interval (`elimination`). Viscous friction is v sqrt(x), for which the next round has
the tangent about the last x. Between two points the forces follow from u and x exactly; where they rise above both ends, the next
round takes that rise off the limits of the interval, and where it is large, splits the interval.
"""

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
ROUNDS = 5  # for friction alone
MOST_ROUNDS = 16  # until limits hold between the points
COARSE = 5e-3  # of a limit: an interval that exceeds it by more is split
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
    """What is taken off the limits of an interval, (N, m) each, and the factor by which x is kept below velocity limits, (N + 1,)."""

    up: Array
    down: Array
    speed: Array

    @property
    def rise(self) -> Array:
        """The largest that is taken off in each interval, (N,)."""
        return np.maximum(np.maximum(self.up, self.down).max(axis=1), np.maximum(self.speed[1:], self.speed[:-1]) - 1)

    @classmethod
    def none(cls, intervals: int, m: int) -> "Slack":
        """Nothing."""
        return cls(np.zeros((intervals, m)), np.zeros((intervals, m)), np.ones(intervals + 1))


def parametrize(robot: Model, curve: Curve, known: Limits, s: Array, tolerance: float | None) -> Found:
    """The highest speed at points s (N + 1,) of the curve, and more points where they are too few for the tolerance."""
    viscous, parts, met = speed_dependent(robot), *((1, MET) if tolerance is None else (PARTS, NEARLY))
    made = terms(robot, curve, _parted(s, parts), known)
    slack, x, found = Slack.none(len(s) - 1, made.a.shape[1]), None, None
    for number in range(1, MOST_ROUNDS + 1):
        points = _every(made, parts)
        rows, most = _rows(robot, points, np.diff(s), x if viscous else None, slack)
        solved = profile(rows, most, np.diff(s), *_ends(curve))
        reason = why_not(robot, points, rows, solved, s)
        if reason and (found is None or number > SPLITS):
            raise Error(f"fastest: {reason}")
        settled = not viscous or (x is not None and np.abs(solved.x - x).max() <= met * solved.x.max())
        x = x if reason else solved.x
        if tolerance is None:
            found = Found(s, solved, points, np.nan)
            if settled or number == ROUNDS:
                break
            continue
        excess, new = _between(robot, made, parts, solved, viscous)
        found = Found(s, solved, points, float(excess.max()))
        if found.over <= tolerance and settled and not reason:
            break
        coarse = (excess > COARSE) & (new.rise > COARSE / 2) if not reason else np.ones(len(s) - 1, dtype=bool)
        if number <= SPLITS and coarse.any():  # or too much was taken off: finer points need less
            s, x = _split(s, x, coarse)
            made, slack = terms(robot, curve, _parted(s, parts), known), Slack.none(len(s) - 1, made.a.shape[1])
        else:
            slack = new if number < 3 else Slack(*map(np.maximum, slack, new))  # so that two do not take turns
    assert found is not None  # noqa: S101 - there is a first round
    return found


def _ends(curve: Curve) -> tuple[Array, Array]:
    """x at the start and at the end: 0, or any where the curve itself stands still."""
    start, end = (np.array([0.0, UNBOUNDED * free]) for free in curve.free)
    return start, end


def _parted(s: Array, parts: int) -> Array:
    """Every interval in equal parts."""
    inner = s[:-1, None] + np.diff(s)[:, None] * (np.arange(parts) / parts)
    return np.append(inner.ravel(), s[-1])


def _split(s: Array, x: Array, coarse: Array) -> tuple[Array, Array]:
    """Intervals that are coarse, and those beside them, in four; x is linear between points."""
    wide = coarse | np.append(coarse[1:], False) | np.append(False, coarse[:-1])
    new = np.unique(np.append(s, _parted(s, PARTS)[:-1].reshape(-1, PARTS)[wide]))
    return new, np.interp(new, s, x)


def _every(made: Terms, parts: int) -> Terms:
    """The terms at the points alone."""
    points = len(made.q)
    return Terms(*(x[::parts] if isinstance(x, np.ndarray) and x.ndim == 2 and len(x) == points else x for x in made))


def _rows(robot: Model, at: Terms, spacing: Array, x: Array | None, slack: Slack) -> tuple[Rows, Array]:
    """The limits at both ends of each interval as rows in u and in x at its start, and the bound of x by velocities."""
    b, c = at.b, at.c
    if x is not None:
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


def _between(robot: Model, made: Terms, parts: int, found: Profile, viscous: bool) -> tuple[Array, Slack]:
    """By how much each interval exceeds a limit, and what to take off the limits for the forces to hold between its ends."""
    share = (np.arange(parts + 1) / parts)[:, None]
    x = found.x[:-1] + share * np.diff(found.x)
    forces = _cut(made.a, parts) * found.u[:, None] + _cut(made.b, parts) * x[..., None] + _cut(made.c, parts)
    if viscous:
        fine = np.append(x[:-1].T.ravel(), found.x[-1])
        y = np.maximum(np.sqrt(fine), SLOWEST * np.sqrt(fine.max()))
        forces = forces + _cut(smooth_friction(robot, made, y)[0], parts)
    most, least = _dry(_every(made, parts))
    rounding = _rounding(forces)
    high, low = forces.max(axis=0) + rounding, forces.min(axis=0) - rounding
    up, down = high - np.maximum(forces[0], forces[-1]), np.minimum(forces[0], forces[-1]) - low
    over = np.maximum(high + most - made.hi, made.lo - low - least).max(axis=1)
    speeds = _cut(made.speeds, parts) * x[..., None]
    highest = (speeds.max(axis=0) + _rounding(speeds)).max(axis=1)
    at_ends = np.maximum(speeds[0], speeds[-1]).max(axis=1)
    rise = np.clip(highest / np.where(at_ends > 0, at_ends, np.inf), 1.0, 2.0)
    return np.maximum(over, highest - 1), Slack(up, down, np.maximum(np.append(rise, 1.0), np.append(1.0, rise)))


def _cut(values: Array, parts: int) -> Array:
    """(N parts + 1, m) by the parts of intervals, (parts + 1, N, m), both ends included."""
    return np.stack([values[k : len(values) - parts + k : parts] for k in range(parts + 1)])


def _rounding(samples: Array) -> Array:
    """How far a curve may rise above its samples along the first axis, if it is a parabola between them."""
    return np.abs(np.diff(samples, 2, axis=0)).max(axis=0) / 8


def moments(s: Array, x: Array) -> Array:
    """When each point is passed, (P,)."""
    y: Any = np.sqrt(x)
    return np.append(0.0, np.cumsum(2 * np.diff(s) / (y[1:] + y[:-1])))
