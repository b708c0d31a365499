"""Paths of the hand, from rest to rest: poses, twists and accelerations as functions of time.

A path is called with a time, or with an array of times. Twists are (angular, linear) in the axes of the world, of the origin of the
hand's frame, and accelerations are their rates. Before a path begins and after its end the hand rests. `robot.follow` finds the
joints.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.algebra.rotations import exp_so3, log_so3, quaternion_of
from dalembert.algebra.spatial import Array, Transform, cross, dot, homogeneous, join, rotation_of
from dalembert.arguments import flag, frozen_array, listed, number, positive
from dalembert.errors import Error
from dalembert.model.pose import Pose
from dalembert.model.values import Frozen, Value
from dalembert.motion.paths import Quintic, Spline, instants


class HandMotion(NamedTuple):
    """Poses (..., 4, 4), twists (..., 6) and their rates (..., 6)."""

    pose: Array
    twist: Array
    acceleration: Array


class HandSamples(NamedTuple):
    """A path of the hand at times (T,): poses (T, 4, 4), twists (T, 6) and their rates (T, 6)."""

    time: Array
    pose: Array
    twist: Array
    acceleration: Array


class HandPath(Protocol):
    """What `robot.follow` takes: anything with a duration, and a motion of the hand for every time."""

    @property
    def duration(self) -> float:
        """Seconds from rest to rest."""
        ...

    def __call__(self, time: Any) -> HandMotion:
        """The motion at a time, or at times (T,)."""
        ...


def sample(path: HandPath, step: float) -> HandSamples:
    """The path at equal steps from 0 to its end; they are `step` seconds, or less, so that they divide the duration.

    >>> line(np.eye(4), np.eye(4), 1.0).sample(0.25).time.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    time = instants(path.duration, step, 29)
    return HandSamples(time, *path(time))


@dataclass(frozen=True, eq=False)
class Move(Value):
    """What `line` and `circle` return: x = center + exp(s swing) (x0 - center) + s shift, R = exp(s turn) R0, s from 0 to 1."""

    start: Pose
    duration: float
    shift: Frozen
    turn: Frozen
    swing: Frozen
    center: Frozen

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", Pose.coerce(self.start))
        object.__setattr__(self, "duration", positive(self.duration, "the duration of a path"))
        for name in ("shift", "turn", "swing", "center"):
            object.__setattr__(self, name, frozen_array(getattr(self, name), (3,), f"the {name} of a path"))

    def __call__(self, time: Any) -> HandMotion:
        """The motion at a time, or at times (T,)."""
        s, sd, sdd = Quintic([0.0], [1.0], self.duration)(time)
        arm = np.matvec(exp_so3(s * self.swing), self.start.translation - self.center)
        around = cross(self.swing, arm)
        p = self.center + arm + s * self.shift
        v = sd * (around + self.shift)
        a = sdd * (around + self.shift) + sd * sd * cross(self.swing, around)
        pose = homogeneous(Transform(exp_so3(s * self.turn) @ self.start.rotation, p))
        return HandMotion(pose, join(sd * self.turn, v), join(sdd * self.turn, a))

    sample = sample


def line(start: Any, goal: Any, duration: float) -> Move:
    """A straight line of the hand, rotating evenly about one axis (the shortest way between the quaternions).

    x = x0 + s (x1 - x0),  R = exp(s [w]) R0  with  exp([w]) = R1 R0^T,  s = 10 u^3 - 15 u^4 + 6 u^5,  u = t / duration

    start, goal: poses, `da.Pose` or 4x4 matrices.

    >>> import dalembert as da
    >>> path = line(da.Pose.of((0.4, 0, 0.3)), da.Pose.of((0.4, 0.2, 0.3), rpy=(0, 0, 1.0)), duration=2.0)
    >>> middle = path(1.0)
    >>> middle.pose[:3, 3].round(12).tolist(), middle.twist.round(4).tolist()
    ([0.4, 0.1, 0.3], [0.0, 0.0, 0.9375, 0.0, 0.1875, 0.0])
    """
    first, last = Pose.coerce(start), Pose.coerce(goal)
    turn = log_so3(last.rotation @ first.rotation.T)
    return Move(first, duration, last.translation - first.translation, turn, np.zeros(3), np.zeros(3))


def circle(start: Any, center: Any, axis: Any, duration: float, *, angle: float = 2 * math.pi, turning: bool = False) -> Move:
    """An arc of the hand about an axis through a point, a full circle by default.

    start: the pose at the start. center, axis: (3,) in the world, the axis of any length; the circle's own centre is the foot of
    the start on it. angle: rad, right-handed about the axis. turning: whether the hand turns with the arc, or keeps its rotation.

    >>> import dalembert as da
    >>> path = circle(da.Pose.of((0.5, 0, 0.3)), center=(0.4, 0, 0), axis=(0, 0, 1), duration=2.0, angle=3.141592653589793)
    >>> path(2.0).pose[:3, 3].round(12).tolist()
    [0.3, 0.0, 0.3]
    """
    along = frozen_array(axis, (3,), "the axis of a circle")
    size = float(np.sqrt(dot(along, along)))
    if not size > 0 or not math.isfinite(size):
        raise Error(f"the axis of a circle must have a direction, got {along.tolist()}")
    swing = along / size * number(angle, "the angle of a circle")
    turn = swing if flag(turning, "turning") else np.zeros(3)
    return Move(Pose.coerce(start), duration, np.zeros(3), turn, swing, frozen_array(center, (3,), "the center of a circle"))


@dataclass(frozen=True, eq=False)
class PoseSpline(Value):
    """What `pose_spline` returns: `positions` (3 coordinates) and `quaternions` (4, not of length 1 between the poses)."""

    positions: Spline
    quaternions: Spline

    @property
    def duration(self) -> float:
        """Seconds from rest to rest."""
        return self.positions.duration

    def __call__(self, time: Any) -> HandMotion:
        """The motion at a time, or at times (T,)."""
        p, v, a = self.positions(time)
        q, qd, qdd = self.quaternions(time)
        size = dot(q, q)[..., None]
        w = 2 * _vector_of_product(qd, q) / size
        wd = 2 * (_vector_of_product(qdd, q) - dot(q, qd)[..., None] * w) / size
        return HandMotion(homogeneous(Transform(rotation_of(q), p)), join(w, v), join(wd, a))

    sample = sample


def _vector_of_product(a: Array, b: Array) -> Array:
    """The vector part of a b*, of quaternions."""
    return b[..., :1] * a[..., 1:] - a[..., :1] * b[..., 1:] - cross(a[..., 1:], b[..., 1:])


def pose_spline(times: Any, poses: Any) -> PoseSpline:
    """A smooth path of the hand through poses: cubic splines of the position and of the quaternion, which is then normalized.

    It is at rest at both ends; between them velocities and accelerations have no jumps. times: (T,) in seconds, increasing from 0.
    poses: T of them, each less than half a turn from the one before.

    >>> import dalembert as da
    >>> poses = [da.Pose.of((0.4, 0, 0.3)), da.Pose.of((0.4, 0.1, 0.4), rpy=(0.5, 0, 0)), da.Pose.of((0.4, 0.2, 0.3))]
    >>> path = pose_spline([0.0, 1.0, 2.0], poses)
    >>> bool(abs(path(1.0).pose - poses[1].matrix).max() < 1e-12), path.duration
    (True, 2.0)
    """
    given = [Pose.coerce(pose) for pose in listed(poses, "poses")]
    if len(given) < 2:
        raise Error(f"a spline of the hand needs two or more poses, got {len(given)}")
    quaternions = quaternion_of(np.stack([pose.rotation for pose in given]))
    for k in range(1, len(given)):
        if dot(quaternions[k], quaternions[k - 1]) < 0:
            quaternions[k] = -quaternions[k]
    return PoseSpline(Spline(times, np.stack([pose.translation for pose in given])), Spline(times, quaternions))
