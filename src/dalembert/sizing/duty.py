"""What a motion that is repeated asks of the motors: peaks, and root mean squares over a cycle, which heat them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.degrees import warn_of_positions
from dalembert.model.model import Model
from dalembert.simulation.along import torques_along
from dalembert.simulation.trajectory import Trajectory
from dalembert.sizing.loads import Carrying
from dalembert.sizing.motors import MotorCurve, limits_at


@dataclass(frozen=True, eq=False)
class Duty:
    """A duty cycle with the payload that is worse for each joint, (n,) each; `tau` (T, n) is of the heavier one.

    `rms` is the root mean square of the force over the cycle, and `continuous` what the motor bears for ever at `rms_speed`, that
    of the speed. `peak` is the largest force, and `tightest` the one of the least `margin` against the motor's curve there.
    """

    time: Array  #      (T,)
    qd: Array  #        (T, n)
    tau: Array  #       (T, n)
    rms: Array
    rms_speed: Array
    continuous: Array  # infinite where no curve is known
    peak: Array
    peak_speed: Array
    tightest: Array
    tightest_speed: Array
    margin: Array  #    how many times the force the motor could give, where that is least

    @property
    def rms_margin(self) -> Array:
        """How many times the root mean square the motor bears."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.rms > 0, self.continuous / self.rms, np.inf)


def motion_of(robot: Model, duty: Any) -> Trajectory:
    """The motion of a duty cycle: a trajectory, or a path."""
    if isinstance(duty, Trajectory) and duty.q.ndim != 2:
        raise Error(f"size: a duty cycle is one motion, this trajectory has {duty.q.shape[:-2]} rollouts; give duty=trajectory[k]")
    if isinstance(duty, Trajectory) and duty.q.shape[-1] != robot.nq:
        raise Error(f"size: the duty cycle is of {duty.robot.name} with {duty.q.shape[-1]} joints, {robot.name} has {robot.nq}")
    moved: Any = torques_along(robot, duty)  # pyright: ignore[reportArgumentType]
    if len(moved.time) < 2 or moved.duration <= 0:
        raise Error("size: a duty cycle needs at least two samples")
    if not all(np.isfinite(x).all() for x in (moved.q, moved.qd, moved.qdd)):
        raise Error("size: the duty cycle has values that are not finite")
    warn_of_positions(robot, moved.q, "size: duty")
    return moved


def duty_cycle(arm: Carrying, curves: tuple[MotorCurve | None, ...], payload: tuple[float, float], motion: Trajectory) -> Duty:
    """Peaks and root mean squares of a motion. Both are largest at an end of the payload: squares of what is affine are convex."""
    loads = arm.loads(motion.q, motion.qd, motion.qdd)
    tau = np.stack([arm.rubbed(motion.qd, loads.h0 + m * loads.h1) for m in payload])
    limit, every = limits_at(curves, motion.qd), np.arange(arm.robot.n)
    size = np.abs(tau)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = np.isfinite(limit).all(axis=0)
        share = np.where(known, np.where(limit > 0, size / limit, np.inf), size)
    flat = share.reshape(-1, arm.robot.n)
    k, most = flat.argmax(axis=0), size.reshape(flat.shape).argmax(axis=0)
    with np.errstate(divide="ignore"):
        margin = np.where(known, 1 / flat[k, every], np.inf)
    each, count = tau.reshape(flat.shape), len(motion.time)
    fast = mean_square(motion.time, motion.qd)
    bears = [np.inf if curve is None else float(curve.continuous_at(speed)) for curve, speed in zip(curves, fast, strict=True)]
    return Duty(
        time=motion.time,
        qd=motion.qd,
        tau=tau[-1],
        rms=np.max([mean_square(motion.time, x) for x in tau], axis=0),
        rms_speed=fast,
        continuous=np.array(bears),
        peak=each[most, every],
        peak_speed=motion.qd[most % count, every],
        tightest=each[k, every],
        tightest_speed=motion.qd[k % count, every],
        margin=margin,
    )


def mean_square(time: Array, values: Array) -> Array:
    """The root of the mean square of values (T, n) over time, which are straight between the samples.

    >>> mean_square(np.array([0.0, 1.0, 3.0]), np.array([[0.0], [3.0], [3.0]])).round(12).tolist()
    [2.645751311065]
    """
    h, a, b = np.diff(time)[:, None], values[:-1], values[1:]
    return np.sqrt((h * (a * a + a * b + b * b) / 3).sum(axis=0) / (time[-1] - time[0]))
