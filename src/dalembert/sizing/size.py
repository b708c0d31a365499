"""The choice of motors: what an arm asks of them over all its states, and over a duty cycle."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import frozen_array, whole
from dalembert.errors import Error, brief
from dalembert.model.limits import each_joint, own_limit
from dalembert.model.model import Model, a_robot
from dalembert.model.positions import ranges
from dalembert.progress import Progress, chosen
from dalembert.sizing.density import density
from dalembert.sizing.duty import duty_cycle, motion_of
from dalembert.sizing.loads import carrying
from dalembert.sizing.motors import MotorCurve, motor_curves
from dalembert.sizing.payload_map import payload_map
from dalembert.sizing.result import Sizing
from dalembert.sizing.worst import Case, enveloped, refined, search, worst_of

RISE = 0.5  # s from rest to full speed, where neither accelerations nor a duty cycle are given
BINS = 48  # of speeds
MOST = 10**9  # states


def size(
    robot: Model,
    payload: Any = 0.0,
    motor: Any = None,
    duty: Any = None,
    *,
    lower: Any = None,
    upper: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    com: ArrayLike = (0.0, 0.0, 0.0),
    link: str | None = None,
    section: Any = None,
    samples: float = 200_000,
    progress: Progress | bool | None = None,
) -> Sizing:
    """What the motors must give: over all positions, velocities, accelerations and payloads, and over a duty cycle.

    Positions and speeds are sampled, and the worst samples improved by local searches. For accelerations |qdd_j| <= a_j the
    extremes h_i +- sum_j |M_ij| a_j are exact at every sample; both ends of the payload suffice, since forces are affine in it.

    payload: kg, one mass or the ends of a range, a point at `com` in the axes of the end link, or of `link`. motor: a `MotorCurve`
    for all joints, a list of one for each, a dict by joint, or a file of them; by default the limits of the model. duty: a
    `Trajectory` or a path, whose forces are computed anew for the payload. lower, upper, velocity, acceleration: the limits within
    which states are taken, one number, one for each joint, or a dict by joint. By default: those of the model, or of the motors, or
    the largest speed of the duty cycle; the largest acceleration of the duty cycle, or full speed in 0.5 s; a full turn of joints
    without limits. section: two joints by name, for the payload map; by default those that move the hand most. samples: how
    many random states.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> motor = da.MotorCurve([0.0, 2.0, 4.0], peak=[150.0, 150.0, 60.0], continuous=[70.0, 70.0, 30.0])
    >>> move = da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0)
    >>> found = arm.size(payload=(0, 2), motor=motor, duty=move, velocity=2.0, samples=2000)
    >>> found.margin.round(1).tolist(), bool((found.duty.rms < found.duty.continuous).all())
    ([1.6, 3.7], True)
    """
    a_robot(robot, "size")
    arm, curves = carrying(robot, com, link), motor_curves(robot, motor)
    load, count = _ends(payload), whole(samples, "samples", 1, MOST)
    motion = None if duty is None else motion_of(robot, duty)
    low, high = _positions(robot, lower, upper)
    rate = _velocities(robot, velocity, curves, motion)
    pull = _accelerations(robot, acceleration, rate, motion)
    case = Case(arm, curves, load, low, high, rate, pull)
    tell = chosen(progress, f"sizing {robot.name}")
    found = search(case, count, BINS, tell)
    heavy, light = refined(case, found)
    worst = [[worst_of(case, j, heavy.best(j + k * robot.n)) for k in range(3)] for j in range(robot.n)]
    strongest = tuple(max(of_joint, key=lambda x: abs(x.tau)) for of_joint in worst)
    tightest = tuple(min(of_joint, key=lambda x: x.margin) if curves[j] else strongest[j] for j, of_joint in enumerate(worst))
    made = Sizing(
        robot=robot,
        case=case,
        samples=count,
        strongest=strongest,
        tightest=tightest,
        envelope=enveloped(case, found.envelope, heavy),
        density=density(case, np.array([abs(x.tau) for x in strongest]), count),
        duty=None if motion is None else duty_cycle(arm, curves, load, motion),
        map=payload_map(case, section) if case.limited else None,
        largest_payload=1 / most if case.limited and (most := float(light.values.max())) else np.inf,
        heaviest_at=light.best(0) if case.limited else None,
    )
    tell(count, count)
    return made


def _ends(payload: Any) -> tuple[float, float]:
    """The ends of a payload, from one mass or both."""
    try:
        ends = [float(x) for x in frozen_array(payload, None, "payload").reshape(-1)]
    except Error:
        ends = []
    if not 1 <= len(ends) <= 2 or ends[0] < 0 or ends[-1] < ends[0]:
        raise Error(f"payload must be a mass in kg, or a range (least, greatest) such as (0, 5), got {brief(payload)}")
    return ends[0], ends[-1]


def _size(robot: Model, given: Any, what: str) -> Array:
    """A number of 0 or more for each joint, (n,); NaN where none is given."""
    values = each_joint(robot, given, what)
    for j in np.flatnonzero((values < 0) | np.isinf(values)):
        raise Error(f"{what} of joint {robot.joint_names[j]!r} must be finite and not negative, got {values[j]:g}")
    return values


def _positions(robot: Model, lower: Any, upper: Any) -> tuple[Array, Array]:
    low, high = each_joint(robot, lower, "lower"), each_joint(robot, upper, "upper")
    low, high = np.where(np.isnan(low), robot.lower, low), np.where(np.isnan(high), robot.upper, high)
    for j, joint in enumerate(robot.joints):
        if np.isfinite(low[j]) and np.isfinite(high[j]):
            if low[j] > high[j]:
                raise Error(f"joint {joint.name!r}: lower {low[j]:g} is above upper {high[j]:g}")
        elif joint.kind != "revolute":
            raise Error(f"joint {joint.name!r} is {joint.kind} and has no limits; give lower={{{joint.name!r}: ...}} and upper=")
    return ranges(low, high, 2 * np.pi)  # beyond a full turn all is the same


def _velocities(robot: Model, given: Any, curves: tuple[MotorCurve | None, ...], motion: Any) -> Array:
    """Given, or the limit of the model or the motor, or the largest speed of the duty cycle."""
    values = _size(robot, given, "velocity")
    own = own_limit(robot, "velocity")
    for j in np.flatnonzero(np.isnan(values)):
        joint, curve = robot.joints[j], curves[j]
        limits = [x for x in (own[j], np.inf if curve is None else curve.top_speed) if 0 < x < np.inf]
        if limits:
            values[j] = min(limits)
        elif motion is not None:
            values[j] = np.abs(motion.qd[:, j]).max()
        else:
            raise Error(
                f"joint {joint.name!r} of {robot.name} has no velocity limit; give velocity=1.5 (rad/s or m/s), one number or one "
                "for each joint, a duty cycle, or motor curves"
            )
    return values


def _accelerations(robot: Model, given: Any, speed: Array, motion: Any) -> Array:
    """Given, or the largest of the duty cycle, or what reaches full speed in half a second."""
    values = _size(robot, given, "acceleration")
    moved = np.zeros(robot.n) if motion is None else np.abs(motion.qdd).max(axis=0)
    return np.where(np.isnan(values), np.where(moved > 0, moved, speed / RISE), values)
