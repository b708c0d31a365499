"""Motions to follow, from rest to rest: positions, velocities and accelerations as functions of time.

A path is called with a time, or with an array of times; before it begins and after its end it rests (at the very ends the
acceleration is that of the motion). Positions may be those of
joints or the coordinates of a point. `quintic` moves all of them in proportion, so between two points in space it is a straight
line.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, frozen_array, number, numbers, positive, room
from dalembert.cached import cached_property
from dalembert.errors import Error, brief
from dalembert.model.values import Frozen, Value


class Motion(NamedTuple):
    """Positions, velocities and accelerations, (..., n) each."""

    q: Array
    qd: Array
    qdd: Array


class Samples(NamedTuple):
    """A path at times (T,): positions, velocities and accelerations, (..., T, n) each."""

    time: Array
    q: Array
    qd: Array
    qdd: Array


class Path(Protocol):
    """What controllers can follow: anything with a duration, a number of coordinates, and a motion for every time."""

    @property
    def duration(self) -> float:
        """Seconds from rest to rest."""
        ...

    @property
    def n(self) -> int:
        """Number of coordinates."""
        ...

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (..., n), or at times (T,), (..., T, n)."""
        ...


def sample(path: Path, step: float) -> Samples:
    """The path at equal steps from 0 to its end; they are `step` seconds, or less, so that they divide the duration.

    >>> quintic([0.0], [1.0], 2.0).sample(0.5).time.tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    time = instants(path.duration, step, 3 * path.n + 1)
    return Samples(time, *path(time))


def instants(duration: float, step: float, kept: int) -> Array:
    """Equal steps from 0 to the end, of at most `step` seconds, where there is memory for so many numbers at each.

    >>> instants(1.0, 0.3, 1).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    step = positive(step, "the step of a path's samples")
    count = duration / step * (1 - 1e-12)
    room("sample", 8 * kept * int(min(count, 1e18)), "use a larger step")
    return np.linspace(0.0, duration, math.ceil(count) + 1)


@dataclass(frozen=True, eq=False)
class Quintic(Value):
    """What `quintic` returns."""

    start: Frozen
    goal: Frozen
    duration: float

    def __post_init__(self) -> None:
        _keep_ends(self, self.start, self.goal)
        object.__setattr__(self, "duration", positive(self.duration, "the duration of a path"))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.start.shape[-1]

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (..., n), or at times (T,), (..., T, n)."""
        x, _, axes = _share(time, self.duration)
        start, goal = _beside(self.start, axes), _beside(self.goal, axes)
        T, d, y = self.duration, goal - start, 1 - x
        s, sd, sdd = x * x * x * (10 + x * (6 * x - 15)), 30 / T * (x * x * y * y), 60 / (T * T) * (x * y * (y - x))
        return Motion(np.where(x >= 1, goal, start + s * d), sd * d, sdd * d)

    sample = sample


def quintic(start: Any, goal: Any, duration: float) -> Quintic:
    """The smoothest usual move: a polynomial of fifth degree that begins and ends without velocity and acceleration.

    q(t) = start + (10 x^3 - 15 x^4 + 6 x^5) (goal - start),  x = t / duration

    start, goal: (..., n) positions; leading axes are a batch of moves. All coordinates move in proportion, at most at
    15/8 |goal - start| / duration.

    >>> import dalembert as da
    >>> move = quintic([0.0, 1.0], [1.0, -1.0], duration=2.0)
    >>> move(1.0)
    Motion(q=array([0.5, 0. ]), qd=array([ 0.9375, -1.875 ]), qdd=array([ 0., -0.]))
    >>> move.sample(0.01).q.shape
    (201, 2)
    """
    return Quintic(start, goal, duration)


@dataclass(frozen=True, eq=False)
class Trapezoidal(Value):
    """What `trapezoidal` returns; `ramp` (..., n) is the share of the duration in which each coordinate speeds up."""

    start: Frozen
    goal: Frozen
    duration: float
    ramp: Frozen

    def __post_init__(self) -> None:
        _keep_ends(self, self.start, self.goal)
        object.__setattr__(self, "duration", number(self.duration, "the duration of a path"))
        object.__setattr__(self, "ramp", frozen_array(self.ramp, self.start.shape, "the ramps of a trapezoidal path"))
        if self.duration < 0 or (self.duration == 0 and (self.start != self.goal).any()):
            raise Error(f"the duration of a path must be positive, got {self.duration}")
        if ((self.ramp <= 0) | (self.ramp > 0.5)).any():
            raise Error(f"the ramps of a trapezoidal path must be above 0 and at most 1/2, got {brief(self.ramp.tolist())}")

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.start.shape[-1]

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (..., n), or at times (T,), (..., T, n)."""
        T = self.duration or 1.0
        x, moving, axes = _share(time, T)
        start, goal, r = (_beside(x, axes) for x in (self.start, self.goal, self.ramp))
        y = np.minimum(x, 1 - x)  # the second half is the first one backwards
        first, speeding = x < 0.5, y <= r
        s = np.where(speeding, y * y / (2 * r), y - r / 2) / (1 - r)
        sd = np.minimum(y / r, 1.0) / ((1 - r) * T)
        sdd = (speeding & moving) * np.where(first, 1.0, -1.0) / (r * (1 - r) * T * T)
        d = goal - start
        return Motion(np.where(first, start + s * d, goal - s * d), sd * d, sdd * d)

    sample = sample


def trapezoidal(start: Any, goal: Any, velocity: Any, acceleration: Any) -> Trapezoidal:
    """The fastest move within limits of velocity and acceleration: speed up, cruise, slow down; where it is short, no cruise.

    Each coordinate takes at least T_i = d/v + v/a where the distance d is v^2/a or more, 2 sqrt(d/a) where it is less. The
    slowest one sets the duration, of a whole batch too; the others make the same move as alone, but more slowly, so that all
    begin and end together.

    start, goal: (..., n) positions. velocity, acceleration: one number, or (..., n).

    >>> move = trapezoidal([0.0, 0.0], [3.0, 1.0], velocity=1.0, acceleration=2.0)
    >>> move.duration
    3.5
    >>> move([0.0, 0.5, 1.75]).qd[:, 0].tolist()
    [0.0, 1.0, 1.0]
    """
    start, goal = _ends(start, goal)
    d = np.abs(goal - start)
    v, a = _limit(velocity, d.shape, "velocity"), _limit(acceleration, d.shape, "acceleration")
    with np.errstate(all="ignore"):  # huge limits overflow, which the path rejects
        cruises = d * a >= v * v
        T = np.where(cruises, d / v + v / a, 2 * np.sqrt(d / a))
        ramp = np.where(cruises, v / a / np.where(cruises, T, 1.0), 0.5)
    return Trapezoidal(start, goal, float(T.max(initial=0.0)), ramp)


@dataclass(frozen=True, eq=False)
class Spline(Value):
    """What `spline` returns."""

    times: Frozen
    points: Frozen

    def __post_init__(self) -> None:
        times, points = frozen_array(self.times, None, "the times of a spline"), _positions(self.points, "the points of a spline")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", points)
        if times.ndim != 1 or len(times) < 2:
            raise Error(f"the times of a spline must be two or more numbers, got {brief(times.tolist())}")
        if points.ndim < 2 or points.shape[-2] != len(times):
            raise Error(f"a spline through points at {len(times)} times needs points (..., {len(times)}, n), got {points.shape}")
        late = np.flatnonzero(np.diff(times) <= 0)
        if times[0] != 0 or late.size:
            where = (
                f"times[{late[0] + 1}] = {times[late[0] + 1]:g} after {times[late[0]]:g}" if late.size else f"{times[0]:g} first"
            )
            raise Error(f"the times of a spline must begin at 0 and increase, got {where}")

    @property
    def duration(self) -> float:
        """Seconds from rest to rest."""
        return float(self.times[-1])

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.points.shape[-1]

    @cached_property
    def slopes(self) -> Array:
        """Velocities at the points, (..., T, n): those with which the acceleration has no jumps there."""
        h = np.diff(self.times)[:, None]
        rise = np.diff(self.points, axis=-2) / h**2
        inner = tridiagonal(1 / h[:-1, 0], 2 / h[:-1, 0] + 2 / h[1:, 0], 1 / h[1:, 0], 3 * (rise[..., :-1, :] + rise[..., 1:, :]))
        rest = np.zeros_like(self.points[..., :1, :])
        return np.concatenate([rest, inner, rest], axis=-2)

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (..., n), or at times (T,), (..., T, n)."""
        t = _times(time)
        resting = ((t < 0) | (t > self.duration))[..., None]
        t = np.minimum(np.maximum(t, 0.0), self.duration)
        k = np.minimum(np.searchsorted(self.times, t, side="right") - 1, len(self.times) - 2)
        h = (self.times[k + 1] - self.times[k])[..., None]
        u = (t - self.times[k])[..., None] / h
        p, m, end = self.points[..., k, :], self.slopes[..., k, :], self.slopes[..., k + 1, :]
        rise = (self.points[..., k + 1, :] - p) / h
        A, B = 3 * rise - 2 * m - end, m + end - 2 * rise
        q = np.where(u >= 1, self.points[..., k + 1, :], p + h * u * (m + u * (A + u * B)))
        return Motion(q, np.where(resting, 0.0, m + u * (2 * A + 3 * u * B)), np.where(resting, 0.0, (2 * A + 6 * u * B) / h))

    sample = sample


def spline(times: Any, points: Any) -> Spline:
    """A cubic spline through points: at rest at both ends, and between them velocity and acceleration have no jumps.

    times: (T,) in seconds, increasing from 0; points: (..., T, n).

    >>> path = spline([0.0, 1.0, 3.0], [[0.0], [1.0], [0.0]])
    >>> path([1.0, 3.0]).q.tolist(), path(3.0).qd.tolist()
    ([[1.0], [0.0]], [0.0])
    """
    return Spline(times, points)


def tridiagonal(lower: Array, diagonal: Array, upper: Array, right: Array) -> Array:
    """x with lower[i] x[i-1] + diagonal[i] x[i] + upper[i] x[i+1] = right[i], along the last but one axis of right (..., m, n).

    lower[0] and upper[-1] are not used. No pivoting: for dominant diagonals.
    """
    m = len(diagonal)
    c, d = np.zeros(m), np.empty_like(right)
    for i in range(m):
        before = lower[i] if i else 0.0
        pivot = diagonal[i] - before * c[i - 1]
        c[i] = upper[i] / pivot
        d[..., i, :] = (right[..., i, :] - before * d[..., i - 1, :]) / pivot
    for i in range(m - 2, -1, -1):
        d[..., i, :] -= c[i] * d[..., i + 1, :]
    return d


# --- what is given ------------------------------------------------------------------------------------------------------------


def _positions(value: Any, what: str) -> Array:
    array = frozen_array(value, None, what)
    if array.ndim == 0 or not array.shape[-1]:
        raise Error(f"{what} must have positions along the last axis, (..., n), got {brief(value)}")
    return array


def _ends(start: Any, goal: Any) -> tuple[Array, Array]:
    """Both ends of a path, of one shape."""
    start, goal = _positions(start, "the start of a path"), _positions(goal, "the goal of a path")
    if start.shape[-1] != goal.shape[-1]:
        raise Error(f"a path from {start.shape[-1]} to {goal.shape[-1]} positions: start {start.shape} and goal {goal.shape}")
    batch({"start": start.shape[:-1], "goal": goal.shape[:-1]}, "a path")
    start, goal = np.broadcast_arrays(start, goal)
    return start, goal


def _keep_ends(path: Any, start: Any, goal: Any) -> None:
    for name, value in zip(("start", "goal"), _ends(start, goal), strict=True):
        object.__setattr__(path, name, frozen_array(value, None, f"the {name} of a path"))


def _limit(value: Any, shape: tuple[int, ...], what: str) -> Array:
    limit = frozen_array(value, None, what)
    if (limit <= 0).any():
        raise Error(f"{what} must be positive, got {brief(limit.tolist())}")
    try:
        return np.broadcast_to(limit, shape)
    except ValueError:
        raise Error(f"{what} must be one number or of the shape of the positions, {shape}, got {limit.shape}") from None


def _times(time: Any) -> Array:
    return numbers(time, "the time of a path").astype(float, copy=False)


def _share(time: Any, duration: float) -> tuple[Any, Any, int]:
    """How much of the duration has passed, 0 to 1, whether it moves (the ends included), and the number of axes of the times.

    A plain number for one time, as controllers use at every step: NumPy is slow with those.
    """
    t = _times(time)
    if t.ndim:
        t = t[..., None]  # beside the positions
        return np.minimum(np.maximum(t / duration, 0.0), 1.0), (t >= 0) & (t <= duration), t.ndim - 1
    moment = float(t)
    return min(max(moment / duration, 0.0), 1.0), 0 <= moment <= duration, 0


def _beside(x: Array, axes: int) -> Array:
    """(..., n) with axes for the times before the last one."""
    return x.reshape(*x.shape[:-1], *(1,) * axes, x.shape[-1]) if axes else x
