"""The motion that a report follows: a quintic move within the limits, or the caller's own."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.spatial import Array

DURATION = 3.0  # s
SAMPLES = 201
PEAK = 1.875  # of a quintic's velocity, times its duration, for a move of 1


class Motion(NamedTuple):
    """Samples of a motion: time (T,), and q, qd, qdd (T, n)."""

    time: Array
    q: Array
    qd: Array
    qdd: Array
    told: str

    @property
    def step(self) -> float:
        """Seconds between samples."""
        return float(self.time[1] - self.time[0])


def ends(robot: Model, duration: float = DURATION) -> tuple[Array, Array]:
    """Two configurations within the limits, (n,) each: a third to two thirds of each joint's range apart, at most of a half turn.

    Neighbours move in opposite directions, so that the arm folds, and by different amounts, so that lines in charts can be told
    apart; velocity limits shorten the move.

    >>> import dalembert as da
    >>> [x.round(3).tolist() for x in ends(da.robot("two_link"))]
    [[-0.735, 0.404], [0.98, -0.907]]
    """
    low, high = _ranges(robot)
    fastest = np.array([x.joint.velocity_limit or np.inf for x in robot.links])  # files write 0 for unknown
    share = np.modf((np.arange(robot.n) + 1) * 0.6180339887)[0]  # of the golden ratio: spread evenly, never twice the same
    middle = (0.5 + 0.3 * (share - 0.5)) * high + (0.5 - 0.3 * (share - 0.5)) * low
    move = np.minimum((0.36 + 0.3 * share) * (high - low), fastest * duration / PEAK)
    move = move * np.where(np.arange(robot.n) % 2, -1, 1)
    return np.clip(middle - move / 2, low, high), np.clip(middle + move / 2, low, high)


def _ranges(robot: Model) -> tuple[Array, Array]:
    """The part of each joint's range that the move may use: about its middle, at most a half turn or 0.6 m."""
    reach = np.array([0.6 if x.joint.kind == "prismatic" else np.pi for x in robot.links])
    low, high = robot.lower, robot.upper
    low, high = (
        np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - reach, -reach / 2)),
        np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + reach, reach / 2)),
    )
    middle, half = low / 2 + high / 2, np.minimum(high / 2 - low / 2, reach / 2)
    return middle - half, middle + half


def follow(robot: Model, path: Any = None, samples: int = SAMPLES) -> Motion:
    """Samples of a path (a function of time with a `duration`), of a trajectory, or of the default quintic move.

    >>> import dalembert as da
    >>> follow(da.robot("two_link")).q.shape
    (201, 2)
    """
    if path is None:
        from dalembert.study.report._standin import quintic

        start, goal = ends(robot)
        path, told = quintic(start, goal, DURATION), f"a quintic move of {DURATION:g} s between two configurations within the limits"
    else:
        told = "the given motion"
    if all(hasattr(path, name) for name in ("time", "q", "qd", "qdd")):
        found = [np.asarray(getattr(path, name), dtype=float) for name in ("time", "q", "qd", "qdd")]
        if found[1].ndim != 2:
            raise Error(f"a report follows one motion, q of shape (T, {robot.n}); got a trajectory of shape {found[1].shape}")
        few = np.unique(np.linspace(0, len(found[0]) - 1, min(samples, len(found[0]))).round().astype(int))
        motion = Motion(*(x[few] for x in found), told)
    elif callable(path) and hasattr(path, "duration"):
        duration: Any = getattr(path, "duration")  # noqa: B009 - the type checker does not know it
        time = np.linspace(0.0, float(duration), samples)
        motion = Motion(time, *(np.asarray(x, dtype=float) for x in path(time)), told)
    else:
        raise Error(f"path must be a motion such as da.quintic(start, goal, duration) or a Trajectory, got {brief(path)}")
    if motion.q.shape[-1] != robot.n:
        raise Error(f"the path has {motion.q.shape[-1]} joints, but {robot.name} has {robot.n}")
    if len(motion.time) < 2 or not motion.time[-1] > motion.time[0]:
        raise Error("a report needs a motion of at least two samples that takes some time")
    return motion
