"""Paths as curves q(s): where the joints go, not when."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers
from dalembert.errors import Error, brief
from dalembert.model.degrees import warn_of_positions
from dalembert.model.model import Model
from dalembert.motion.paths import Quintic, Spline, tridiagonal
from dalembert.simulation.trajectory import Trajectory

STILL = 1e-9  # of the largest derivative: such ones are zero
FINEST = 2000  # pieces of a curve through the samples of a motion


class Curve(NamedTuple):
    """q(s) for s from 0 to `length`: a function of s (P,) that gives q, dq/ds and d2q/ds2, (P, n) each.

    `knots` are all s at which a higher derivative may jump, both ends included. Where dq/ds is 0 at an end, the robot stands there
    at any rate of s; `free` says so for (start, end).
    """

    at: Callable[[Array], tuple[Array, Array, Array]]
    length: float
    knots: Array
    free: tuple[bool, bool] = (False, False)

    def grid(self, intervals: int) -> Array:
        """About that many intervals, equal between knots."""
        share = np.diff(self.knots) / self.length
        counts = np.maximum(np.round(intervals * share), 1).astype(int)
        parts = [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(self.knots[:-1], self.knots[1:], counts, strict=True)]
        return np.append(np.concatenate(parts), self.length)


class Cubics(NamedTuple):
    """Polynomials of third degree between knots: positions, slopes, second and third derivatives where each begins."""

    knots: Array
    points: Array
    slopes: Array
    bends: Array
    jerks: Array

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """q, dq/ds and d2q/ds2, (P, n) each."""
        k = np.clip(np.searchsorted(self.knots, s, side="right") - 1, 0, len(self.knots) - 2)
        e = (s - self.knots[k])[:, None]
        q, v, a, j = (np.take(x, k, axis=0) for x in (self.points, self.slopes, self.bends, self.jerks))
        return q + e * (v + e * (a / 2 + e * (j / 6))), v + e * (a + e * (j / 2)), a + e * j


class Timed(NamedTuple):
    """A motion as a curve over its own time."""

    path: Any
    duration: float

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """q, dq/ds and d2q/ds2, (P, n) each."""
        q, qd, qdd = (np.asarray(x, dtype=float) for x in self.path(np.minimum(s, self.duration)))
        return q, qd, qdd


def curve(path: Any, robot: Model) -> Curve:
    """The curve of waypoints (K, n), of a motion with a duration such as `da.quintic` or `da.spline`, or of a trajectory."""
    if isinstance(path, Trajectory):
        return _through(_apart(_waypoints(path.q, robot, "the positions of the trajectory")))
    if callable(path) and hasattr(path, "duration"):
        return _of_motion(path, robot)
    points = _waypoints(path, robot, "fastest: path")
    warn_of_positions(robot, points, "fastest: path")
    return _through(points)


def _waypoints(given: Any, robot: Model, what: str) -> Array:
    points = np.array(numbers(given, what), dtype=float)
    if points.ndim != 2 or points.shape[1] != robot.n or len(points) < 2:
        kinds = f"waypoints (K, {robot.n}), a motion such as da.spline(times, points), or a trajectory"
        raise Error(f"{what} must be {kinds}, got {brief(given)}")
    if not np.isfinite(points).all():
        raise Error(f"{what} must be finite; waypoint {int(np.argmin(np.isfinite(points).all(axis=1)))} is not")
    return points


def _through(points: Array) -> Curve:
    """The natural cubic spline through points, over the distances between them: a straight line through two."""
    h = np.sqrt(np.square(np.diff(points, axis=0)).sum(axis=1))
    if not (h > 0).all():
        raise Error(f"fastest: waypoints {int(np.argmin(h))} and {int(np.argmin(h)) + 1} are the same; omit one of them")
    s, rise = np.append(0.0, np.cumsum(h)), np.diff(points, axis=0) / h[:, None]
    bends = np.zeros_like(points)  # second derivatives, 0 at the ends
    if len(points) > 2:
        bends[1:-1] = tridiagonal(h[:-1], 2 * (h[:-1] + h[1:]), h[1:], 6 * np.diff(rise, axis=0))
    slopes = rise - h[:, None] / 6 * (2 * bends[:-1] + bends[1:])
    return Curve(Cubics(s, points, slopes, bends, np.diff(bends, axis=0) / h[:, None]), float(s[-1]), s)


def _apart(points: Array) -> Array:
    """Samples of a motion without those that hardly differ from the one before: at rest a motion has many."""
    steps = np.sqrt(np.square(np.diff(points, axis=0)).sum(axis=1))
    total = steps.sum()
    if not total > 0:
        raise Error("fastest: the path stands still; it must go somewhere")
    piece = np.floor(np.append(0.0, np.cumsum(steps)) / total * FINEST * (1 - 1e-12))
    kept = np.append(True, np.diff(piece) > 0)
    kept[-1] = True
    if kept[:-1].sum() > 1 and piece[-1] == piece[:-1][kept[:-1]][-1]:
        kept[np.flatnonzero(kept[:-1])[-1]] = False  # so that the last piece is no shorter than the others
    return points[kept]


def _of_motion(path: Any, robot: Model) -> Curve:
    """A motion over its own time; where it begins or ends too softly for that, the same positions over their distances."""
    if getattr(path, "n", robot.n) != robot.n:
        raise Error(f"fastest: {robot.name} has {robot.n} joints, the path has {path.n} coordinates")
    if isinstance(path, Quintic):
        return _through(_waypoints([path.start, path.goal], robot, "the ends of the path"))
    duration = float(path.duration)
    at = Timed(path, duration)
    some = at(np.linspace(0.0, duration, 257))
    if some[0].shape != (257, robot.n):
        raise Error(f"fastest: the path must be one motion of the {robot.n} joints of {robot.name}, got positions {some[0].shape}")
    if not all(np.isfinite(x).all() for x in some):
        raise Error("fastest: the path must have finite positions, velocities and accelerations")
    first, second = (np.abs(x).max(axis=1) for x in some[1:])
    still, soft = first <= STILL * first.max(), second <= STILL * second.max()
    if (still & soft).any() or not first.any():
        return _through(_apart(at(np.linspace(0.0, duration, 8 * FINEST + 1))[0]))
    knots = path.times if isinstance(path, Spline) else np.array([0.0, duration])
    return Curve(at, duration, np.array(knots), (bool(still[0]), bool(still[-1])))
