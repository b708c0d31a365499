"""Joint forces as functions of the mass at the tool: they are affine in it, so what an arm can carry has a closed form.

With a point load of mass m the load of the joints is h0 + m h1, and the mass matrix M0 + m M1. Over all accelerations
|qdd_j| <= a_j the load of joint i reaches h_i +- sum_j |M_ij| a_j, which is convex and piecewise linear in m.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import arrays, frozen_array
from dalembert.derived.joints import friction, left_of, loading
from dalembert.errors import Error
from dalembert.model.edit import tip, with_payload, without_armature, without_friction
from dalembert.model.inertia import Inertia
from dalembert.model.model import Model, refuse_loops
from dalembert.quantities.dynamics import inverse_dynamics, mass_matrix
from dalembert.sizing.motors import MotorCurve, limits_at, motor_curves

ROUNDING = 1e-14
NONE = np.zeros((1, 1))
STEPS = 50  # of Newton's method, which ends after as many as a convex function has corners on the way


class Parts(NamedTuple):
    """Loads of the joints, h0 + m h1 (..., n), and inertias, M0 + m M1 (..., n, n), of a mass m; NONE where they are not needed."""

    h0: Array
    h1: Array
    M0: Array = NONE
    M1: Array = NONE


class Carrying(NamedTuple):
    """An arm and what a kilogram at its tool adds: robots without friction whose joint forces are added up."""

    robot: Model
    bare: Model  #   the robot without friction
    unit: Model  #   its links without mass, 1 kg at the tool
    com: Array  #    (3,) where the load is, in the axes of
    link: str

    def loads(self, q: Array, qd: Array, qdd: Array) -> Parts:
        """The loads of the joints in a motion."""
        return Parts(inverse_dynamics(self.bare, q, qd, qdd), inverse_dynamics(self.unit, q, qd, qdd))

    def parts(self, q: Array, qd: Array) -> Parts:
        """The loads without accelerations, and the inertias."""
        M = mass_matrix(self.bare, q), mass_matrix(self.unit, q)
        return Parts(*self.loads(q, qd, np.zeros(self.robot.n))[:2], *M)

    def rubbed(self, qd: Array, load: Array) -> Array:
        """Joint forces (..., n) from loads: with friction."""
        return np.asarray(sum(friction(self.robot, qd), load * loading(self.robot, qd, load)))

    def allowed(self, curves: tuple[MotorCurve | None, ...], qd: Array) -> tuple[Array, Array]:
        """The least and the largest load (..., n) that the motors bear at these speeds."""
        limit = limits_at(curves, qd)
        with np.errstate(invalid="ignore"):
            return left_of(self.robot, qd, -limit), left_of(self.robot, qd, limit)


def carrying(robot: Model, com: Any = (0.0, 0.0, 0.0), link: str | None = None, what: str = "size") -> Carrying:
    """The robot with a kilogram at a point of its one end link, or of a link or frame that is named."""
    refuse_loops(robot, what)
    if robot.runs or not robot.n:
        why = f"{robot.name} has a {robot.runs[0].kind} joint" if robot.runs else f"{robot.name} has no joints"
        raise Error(f"{what} needs an arm with one motor for each joint, and {why}")
    place, name = frozen_array(com, (3,), f"{what}: com"), tip(robot) if link is None else link
    if robot.locate(name)[0] < 0:
        raise Error(f"{what}: {name!r} does not move; a payload is carried by a link or frame of the arm")
    empty = without_armature(without_friction(robot))
    empty = replace(empty, links=tuple(replace(x, inertia=Inertia.zero()) for x in empty.links))
    return Carrying(robot, without_friction(robot), with_payload(empty, 1.0, place, link=name), place, name)


def largest_payload(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    motor: Any = None,
    com: ArrayLike = (0.0, 0.0, 0.0),
    link: str | None = None,
) -> Array:
    """The largest mass at the hand with which every joint stays within its torque, in kg. Signature (n),(n),(n)->().

    Joint forces are affine in the mass of a point load, tau(m) = tau_0 + m tau_1, so this is a closed form for each state; friction
    is included. `qd` and `qdd` are zero by default: the arm stands. `motor` as for `size`: without it, the limits of the model.
    The load is at `com` in the axes of the end link, or of `link`. 0 where the arm alone takes too much; infinite where no joint
    feels the load.

    >>> import dalembert as da
    >>> arm = da.robot("two_link").with_gravity((0, -9.81, 0))  # two rods of 1 m and 1 kg, at full reach
    >>> float(arm.largest_payload([0.0, 0.0], motor=da.MotorCurve([0.0], [4 * 9.81])).round(9))  # (2 + 2 m) 9.81 N m = 4 x 9.81
    1.0
    """
    arm = carrying(robot, com, link, "largest_payload")
    zero = np.zeros(robot.n)
    given = {"q": q, "qd": zero if qd is None else qd, "qdd": zero if qdd is None else qdd}
    at, speed, pull = arrays("largest_payload", **{name: (value, (robot.n,)) for name, value in given.items()})
    curves = motor_curves(robot, motor)
    if all(curve is None for curve in curves):
        give = "give motor=da.MotorCurve(speed, peak), for all joints or one for each"
        raise Error(f"largest_payload: {robot.name} has no torque limits; {give}")
    return largest(arm.loads(at, speed, pull), arm.allowed(curves, speed), zero)


def largest(parts: Parts, allowed: tuple[Array, Array], a: Array) -> Array:
    """The largest m, (...,), with  h0 + m h1 +- sum_j |M0 + m M1|_ij a_j  within [low, high] of every joint; 0 if m = 0 is not.

    Without inertias the loads are h0 + m h1. Each bound is convex in m: from the line that it approaches, which reaches the bound
    last, Newton's method goes down to where the bound is met, and ends there exactly.
    """
    low, high = (np.broadcast_to(x, parts.h0.shape) for x in allowed)
    h0, h1, room = np.stack([parts.h0, -parts.h0]), np.stack([parts.h1, -parts.h1]), np.stack([high, -low])
    M0, M1, a = parts.M0, parts.M1, a[: parts.M0.shape[-1]]

    def beyond(m: Array) -> tuple[Array, Array]:
        """What is beyond the bounds at masses (2, ..., n), and the slope of that."""
        M = M0 + m[..., None] * M1
        slope = np.where(M == 0, np.abs(M1), np.sign(M) * M1) @ a
        return h0 + m * h1 - room + np.abs(M) @ a, h1 + slope

    with np.errstate(all="ignore"):
        start, rise = h0 - room + np.where(M1 == 0, np.abs(M0), np.sign(M1) * M0) @ a, h1 + np.abs(M1) @ a
        m = np.where(rise > 0, np.maximum(-start / rise, 0.0), np.inf)
        for _ in range(STEPS):
            over, slope = beyond(np.where(np.isfinite(m), m, 0.0))
            less = np.where((over > 0) & (slope > 0) & np.isfinite(m), np.maximum(m - over / slope, 0.0), m)
            if not (less < m * (1 - ROUNDING)).any():
                break
            m = less
        alone = (beyond(np.zeros_like(m))[0] > 0).any(axis=(0, -1))
    unknown = np.isnan(h0 + h1).any(axis=(0, -1))
    return np.where(unknown, np.nan, np.where(alone, 0.0, m.min(axis=(0, -1))))
