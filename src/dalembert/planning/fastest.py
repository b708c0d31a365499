"""The fastest way along a path: time-optimal motions under limits of torques, velocities and accelerations."""

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers, positive, whole
from dalembert.errors import AccuracyWarning, Error, LimitWarning, brief, warn
from dalembert.model.model import Model
from dalembert.motion.paths import instants
from dalembert.planning.able import with_rates
from dalembert.planning.curves import Curve, curve
from dalembert.planning.parametrize import Parametrized, moments, parametrize
from dalembert.planning.path_limits import joint_limits
from dalembert.planning.timed import Fastest, along, forces, work

if TYPE_CHECKING:
    from dalembert.robots import Robot

WITHIN = 1e-9  # rad or m: a path may touch the limits of positions


def fastest(
    robot: "Robot",
    path: Any,
    *,
    torque: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    points: Any = 1000,
    tolerance: float | None = 1e-6,
    step: float | None = None,
) -> Fastest:
    """The fastest motion along a path, from rest to rest, within limits of torques, velocities and accelerations.

    M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau with q = q(s): at every point some limit is reached.

    path: waypoints (K, n), through which a natural cubic spline goes (two: a straight line); a motion with a duration, such as
    `da.spline(times, points)` or `da.quintic(start, goal, duration)`, of which only the curve counts; or a trajectory.
    torque, velocity, acceleration: one number, one for each joint (n,), a dict by joint, or the least and the greatest (2, n). By
    default torques and velocities have the limits of the robot's joints, and accelerations none. A payload is part of the robot:
    `with_payload`.
    points: the number of intervals into which the path is divided, or the s of all points; the duration comes near the least one
    in proportion to their spacing. tolerance: the share by which limits may be exceeded between points; None looks at the points
    alone. step: seconds between the samples of the result; by default they are at the points. A path that leaves the range of a
    joint is followed all the same, with a `LimitWarning`.

    The result is a `Trajectory` with more: `limiting`, what limits the motion at each sample; `switches`; `saturation`;
    `phase_plane()`, a figure. It is also a function of time, which controllers can follow. No limits of jerk: torques jump.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> fast = arm.fastest([[0.0, 0.0], [1.0, -0.5], [1.5, 0.5]], torque=[40.0, 15.0])
    >>> fast
    <Fastest of two_link: ... samples, 0.79... s>
    >>> bool(abs(fast.tau).max() <= 40.0 * (1 + 1e-6)), fast.limiting[0]
    (True, Limiting(joint='joint1', kind='torque', side=1))
    """
    with_rates(robot, "fastest")
    line, known = curve(path, robot), joint_limits(robot, torque=torque, velocity=velocity, acceleration=acceleration)
    allowed = None if tolerance is None else positive(tolerance, "fastest: tolerance")
    found = parametrize(robot, line, known, _points(points, line), allowed)
    if allowed is not None and found.over > allowed:
        warn(f"fastest: limits are exceeded by {found.over:.1e} of their values between points; use more points", AccuracyWarning)
    _within(robot, found)
    time, s = moments(found.s, found.profile.x), found.s
    if step is None:
        (q, q1, q2), y, u = found.terms[:3], np.sqrt(found.profile.x), np.append(found.profile.u, found.profile.u[-1])
    else:
        time = instants(time[-1], positive(step, "fastest: step"), 3 * robot.n + 1)
        s, y, u, _ = along(found, time)
        q, q1, q2 = line.at(s)
    tau, accelerations = forces(robot, q, q1, q2, y, u), q1 * u[:, None] + q2 * np.square(y)[:, None]
    worked = np.interp(s, found.s, work(robot, found))
    more: dict[str, Any] = {"accelerations": accelerations, "worked": worked}
    return Fastest(robot, time, q, q1 * y[:, None], tau, **more, curve=line, known=known, found=found)


def _within(robot: Model, found: Parametrized) -> None:
    """Warn of a path that leaves the range of a joint."""
    q = found.terms.q
    out = (q < robot.lower - WITHIN) | (q > robot.upper + WITHIN)
    if out.any():
        k, i = np.unravel_index(np.argmax(out), out.shape)
        joint, place = robot.joints[int(i)], f"{found.s[k]:.6g} of {found.s[-1]:.6g}"
        range_ = f"{joint.lower:g} and {joint.upper:g}"
        warn(f"joint {joint.name!r} of {robot.name} passes its limits, {range_}, on the path at s = {place}", LimitWarning)


def _points(given: Any, line: Curve) -> Array:
    """The points (P,) of the path."""
    s = numbers(given, "fastest: points").astype(float)
    if s.ndim == 0:
        return line.grid(whole(given, "fastest: points", 2, 10**6))
    if s.ndim != 1 or len(s) < 3 or not (np.diff(s) > 0).all() or s[0] != 0 or abs(s[-1] - line.length) > 1e-9 * line.length:
        raise Error(f"fastest: points must increase from 0 to {line.length:.9g}, three or more of them, got {brief(given)}")
    return np.append(s[:-1], line.length)
