"""What limits of joints say along a path: rows of a u + b x, friction, and the highest speeds."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.limits import SIDED, around_zero, limits_of
from dalembert.model.model import Model
from dalembert.planning.curves import Curve
from dalembert.planning.elimination import UNBOUNDED
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.quantities.structure import friction_force

SLOWLY = 1e-9  # of a rate of s: friction has its sign, but nothing of its slope


class JointLimits(NamedTuple):
    """The least and the greatest torque, velocity and acceleration of each joint, (2, n) each; infinite where there is none."""

    torque: Array
    velocity: Array
    acceleration: Array


def joint_limits(robot: Model, **given: Any) -> JointLimits:
    """Those of these names that are given, else the robot's own."""
    found = limits_of(robot, given, "fastest", SIDED)
    known = JointLimits(**found)
    around_zero(robot, {"velocity": known.velocity, "acceleration": known.acceleration}, "fastest")
    if not (np.isfinite(known.torque) | np.isfinite(known.acceleration)).any():
        raise Error(f"fastest: {robot.name} has no torque limits; give torque=..., acceleration=..., or both")
    return known


class Terms(NamedTuple):
    """What limits say at P points: torques and accelerations as rows c + friction(sqrt x) + a u + b x, (P, m) each.

    Each row is divided by half of what lies between its limits lo and hi (m,). `before` and `after` (P, m) are the dry friction
    when one arrives and when one leaves, `viscous` (P, m) the friction for x = 1 beyond it. `speeds` (P, n) are the squares of the
    joints' velocities for x = 1, as shares of their limits.
    """

    q: Array
    q1: Array
    q2: Array
    a: Array
    b: Array
    c: Array
    before: Array
    after: Array
    viscous: Array
    lo: Array
    hi: Array
    speeds: Array
    scale: Array
    kinds: tuple[tuple[str, int], ...]  # of the rows: torque or acceleration, and the joint

    def part(self, which: slice) -> "Terms":
        """At some of the points."""
        fields = ("q", "q1", "q2", "a", "b", "c", "before", "after", "viscous", "speeds")
        return self._replace(**{name: getattr(self, name)[which] for name in fields})


def terms(robot: Model, curve: Curve, s: Array, known: JointLimits) -> Terms:
    """The rows at these points of the curve."""
    q, q1, q2 = curve.at(s)
    both = np.hstack([known.torque, known.acceleration])
    used = np.flatnonzero(np.isfinite(both).any(axis=0)).tolist()
    kinds = tuple((("torque", "acceleration")[k // robot.n], k % robot.n) for k in used)
    scale = _scale(*both[:, used])
    lo, hi = np.clip(both[:, used] / scale, -UNBOUNDED, UNBOUNDED)
    zero: Any = np.broadcast_to(0.0, q.shape)
    moved: tuple[Any, ...] = (q1, q2, zero, zero, zero, zero)
    torques, rest = [i for kind, i in kinds if kind == "torque"], [i for kind, i in kinds if kind != "torque"]
    pairs = zip(_torques(robot, q, q1, q2), moved, strict=True)
    a, b, c, before, after, viscous = (_side_by_side(x, torques, y, rest) / scale for x, y in pairs)
    speeds = (q1 / np.where(q1 < 0, known.velocity[0], known.velocity[1])) ** 2
    return Terms(q, q1, q2, a, b, c, before, after, viscous, lo, hi, speeds, scale, kinds)


def _torques(robot: Model, q: Array, q1: Array, q2: Array) -> tuple[Array, ...]:
    """a, b, c, and friction: dry when one arrives and when one leaves, and viscous."""
    still = np.zeros_like(q)
    g = np.asarray(inverse_dynamics(robot, q, still, still))
    a, b = inverse_dynamics(robot, q, still, q1) - g, inverse_dynamics(robot, q, q1, q2) - g
    if not rubbing(robot).any:
        return a, b, g, still, still, still
    whole, dry, constant = np.split(friction_force(robot, np.concatenate([q1, SLOWLY * q1, still[:1]])), [len(q1), 2 * len(q1)])
    before = after = dry
    turning = np.abs(q1) <= SLOWLY * np.abs(q1).max()
    if turning.any():
        before, after = (friction_force(robot, SLOWLY * np.where(turning, side * q2, q1)) for side in (-1, 1))
    return a, b - whole + constant, g - constant, before, after, whole - dry  # the constant part belongs to dry friction


def _scale(lo: Array, hi: Array) -> Array:
    """Half of what lies between limits; of those on one side their size."""
    one = np.where(np.isfinite(hi), np.abs(hi), np.abs(lo))
    scale = np.where(np.isfinite(hi - lo), (hi - lo) / 2, one)
    return np.where(scale > 0, scale, 1.0)


def _side_by_side(x: Array, chosen: list[int], y: Array, others: list[int]) -> Array:
    """Columns of x and of y, (P, m)."""
    if not others:
        return x if len(chosen) == x.shape[1] else x[:, chosen]
    return np.concatenate([x[:, chosen], y[:, others]], axis=1)


class Rubbing(NamedTuple):
    """What friction a robot has: any at all, some that depends on the speed, Stribeck's."""

    any: bool
    by_speed: bool
    stribeck: bool


def rubbing(robot: Model) -> Rubbing:
    """The kinds of friction of a robot; what depends on the load is refused."""
    if Rubbing not in robot.memo:
        joints = robot.open.joints
        if any(joint.load_friction for joint in joints):
            raise Error(f"fastest: {robot.name} has load-dependent friction, which fastest does not support; set load_friction=0")
        stribeck = any(joint.static_friction for joint in joints)
        damped = any(joint.damping for joint in joints)
        robot.memo[Rubbing] = Rubbing(any(joint.rubs for joint in joints), damped or stribeck, stribeck)
    return robot.memo[Rubbing]


def smooth_friction(robot: Model, known: Terms, y: Array) -> tuple[Array, Array]:
    """The friction that depends on the speed, beyond the dry one, and its slope by ds/dt, at ds/dt = y (P,): rows (P, m) each."""
    if not rubbing(robot).stribeck:
        return known.viscous * y[:, None], known.viscous
    torques = [k for k, (kind, _) in enumerate(known.kinds) if kind == "torque"]
    joints = [known.kinds[k][1] for k in torques]

    def beyond_dry(factor: float) -> Array:
        found = np.zeros_like(known.a)
        found[:, torques] = (friction_force(robot, factor * known.q1 * y[:, None]) - dry)[:, joints] / known.scale[torques]
        return found

    dry, step = friction_force(robot, SLOWLY * known.q1), 1e-4
    return beyond_dry(1.0), (beyond_dry(1 + step) - beyond_dry(1 - step)) / (2 * step * y[:, None])
