"""The motion that a report follows: a quintic move within the limits, or the caller's own."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.model.positions import by_kind, ranges, with_poses
from dalembert.motion.paths import quintic
from dalembert.simulation.trajectory import Trajectory

DURATION = 3.0  # s
SAMPLES = 201
SHARES = (1.0, 0.5, 0.25, 0.1, 0.03)  # of the default move: the first that keeps loops closed
PEAK = 1.875  # of a quintic's velocity, times its duration, for a move of 1


class SampledMotion(NamedTuple):
    """Samples of a motion: time (T,), and q, qd, qdd (T, n)."""

    time: Array
    q: Array
    qd: Array
    qdd: Array
    told: str
    limits: Array | None = None  # the least and the greatest torques, (2, n), where the motion was made for some
    shares: Array | None = None  # of these limits, the largest that each joint reaches around each sample, (T, n)
    tau: Array | None = None  # the joint forces (T, n) that made the motion, where they are known


def ends(robot: Model, duration: float = DURATION) -> tuple[Array, Array]:
    """Two configurations within the limits, (n,) each: a third to two thirds of each joint's range apart, at most a half turn.

    Neighbours move in opposite directions, so that the arm folds, and by different amounts, so that lines in charts can be told
    apart; velocity limits shorten the move.

    >>> import dalembert as da
    >>> [x.round(3).tolist() for x in ends(da.robot("two_link"))]
    [[-0.745, 0.428], [0.968, -0.925]]
    """
    reach = by_kind(robot, 0.6, np.pi)
    low, high = ranges(robot.lower, robot.upper, reach)
    middle, half = low / 2 + high / 2, np.minimum(high / 2 - low / 2, reach / 2)
    low, high = middle - half, middle + half  # of a wide range its middle
    fastest = own_limit(robot, "velocity")
    share = np.modf((np.arange(robot.n) + 1) * 0.6180339887)[0]  # of the golden ratio: spread evenly, never twice the same
    middle = (0.5 + 0.3 * (share - 0.5)) * high + (0.5 - 0.3 * (share - 0.5)) * low
    move = np.minimum((0.36 + 0.3 * share) * (high - low), fastest * duration / PEAK)
    move = move * np.where(np.arange(robot.n) % 2, -1, 1)
    return np.clip(middle - move / 2, low, high), np.clip(middle + move / 2, low, high)


def follow(robot: Model, path: Any = None, samples: int = SAMPLES) -> SampledMotion:
    """Samples of a path (a function of time with a `duration`), of a trajectory, or of the default quintic move.

    >>> import dalembert as da
    >>> follow(da.robot("two_link")).q.shape
    (201, 2)
    """
    told, limits = getattr(path, "told", "the given motion"), getattr(path, "torque_limits", None)
    if path is None:
        told = f"a quintic move of {DURATION:g} s between two configurations within the limits"
        if not robot.n:
            still = np.zeros((samples, 0))
            return SampledMotion(np.linspace(0.0, DURATION, samples), still, still, still, told)
        if robot.loops:
            return _closed(robot, samples)
        path = quintic(*ends(robot), DURATION)
        if robot.runs:
            told += ", balls and free bodies at rest"
            return _resting(robot, samples, path, told)
    if not callable(path) and all(hasattr(path, name) for name in ("time", "q", "qd", "qdd")):
        time, q, qd, qdd = (np.asarray(getattr(path, name), dtype=float) for name in ("time", "q", "qd", "qdd"))
        few = np.unique(np.linspace(0, len(time) - 1, min(samples, len(time))).round().astype(int))
        motion = SampledMotion(time[few], q[..., few, :], qd[..., few, :], qdd[..., few, :], told)
        if isinstance(path, Trajectory) and path.robot == robot:
            tau = np.broadcast_to(np.asarray(path.tau, dtype=float), path.qd.shape)
            motion = motion._replace(tau=tau[..., few, :])
    elif callable(path) and hasattr(path, "duration"):
        given: Any = path
        time = np.linspace(0.0, float(given.duration), samples)
        q, qd, qdd = (np.asarray(x, dtype=float) for x in given(time))
        motion = SampledMotion(time, q, qd, qdd, told, limits, _peaks(path, time))
    else:
        raise Error(f"path must be a motion such as da.quintic(start, goal, duration) or a Trajectory, got {brief(path)}")
    return _checked(robot, motion)


def torque_limits(robot: Model, motion: SampledMotion) -> Array:
    """The least and the greatest force of every joint, (2, n): the motion's own, else the robot's."""
    if motion.limits is not None:
        return motion.limits
    most = own_limit(robot, "torque")
    return np.array([-most, most])


def largest_torques(robot: Model, motion: SampledMotion) -> Array:
    """The greatest size of every joint's force, (n,); infinite where none is known, or where it differs by direction."""
    low, high = torque_limits(robot, motion)
    return np.where(low == -high, high, np.inf)


def _peaks(path: Any, time: Array) -> Array | None:
    """The largest shares of limits that a path with a `saturation` of its own (P, n) reaches around each instant, (T, n)."""
    if not hasattr(path, "saturation"):
        return None
    near = np.searchsorted((time[1:] + time[:-1]) / 2, path.time)
    found = np.zeros((len(time), path.n))
    np.maximum.at(found, near, np.abs(path.saturation))
    return found


def _resting(robot: Model, samples: int, path: Any, told: str) -> SampledMotion:
    """The joints of one degree of freedom on a path, the others at home."""
    time = np.linspace(0.0, DURATION, samples)
    q, qd, qdd = (np.asarray(x, dtype=float) for x in path(time))
    still = [i for run in robot.runs for i in range(robot.n)[run.velocities]]
    for x in (q, qd, qdd):
        x[:, still] = 0.0
    home = robot.neutral()
    return SampledMotion(time, with_poses(robot, q, lambda run: home[run.positions]), qd, qdd, told)


def _closed(robot: Any, samples: int) -> SampledMotion:
    """A quintic move of the independent joints about zero, which the others follow: as far as all loops stay closed."""
    free = [robot.joint_names.index(name) for name in robot.independent_names()]
    low, high = ends(robot.without_loops())
    move = (high - low)[free] / 2
    for share in SHARES:
        path = quintic(-share * move, share * move, DURATION)
        time = np.linspace(0.0, DURATION, samples)
        y, yd, ydd = (np.asarray(x, dtype=float) for x in path(time))
        try:
            q = _carried(robot, free, y)
        except Error:
            continue
        rates = np.zeros((2, samples, robot.n))
        rates[:, :, free] = yd, ydd
        motion = robot.closed_motion(q, *rates)
        told = f"a quintic move of {DURATION:g} s of the independent joints, which the others follow"
        return _checked(robot, SampledMotion(time, q, motion.qd, motion.qdd, told))
    raise Error(f"no motion was found that keeps the loops of {robot.name} closed; give one as path=...")


def _carried(robot: Any, free: list[int], y: Array) -> Array:
    """Positions (T, n) of all joints, each sample closed from the one before, beginning in the middle, near zero."""
    middle, names = len(y) // 2, robot.independent_names()
    found: dict[int, Array] = {}
    for order in (range(middle, len(y)), range(middle - 1, -1, -1)):
        q = found.get(middle, np.zeros(robot.n)).copy()
        for k in order:
            q[free] = y[k]
            found[k] = robot.settle(q, hold=names)
            q = found[k].copy()
    return np.stack([found[k] for k in range(len(y))])


def _checked(robot: Model, motion: SampledMotion) -> SampledMotion:
    if motion.q.shape != (len(motion.time), robot.nq):
        raise Error(f"a report follows one motion of the {robot.n} joints of {robot.name}, got positions of shape {motion.q.shape}")
    if len(motion.time) < 2 or not motion.time[-1] > motion.time[0]:
        raise Error("a report needs a motion of at least two samples that takes some time")
    if not all(np.isfinite(x).all() for x in motion[:4]):
        raise Error("a report needs a motion of finite positions, velocities and accelerations")
    return motion
