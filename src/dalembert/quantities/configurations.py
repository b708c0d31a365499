"""Positions of a robot with ball and free joints: how they move, how they differ, and how other libraries order them.

Without such joints positions are plain numbers: `integrate` is a sum, `difference` a difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.motions import exp_se3, log_se3
from dalembert.algebra.rotations import exp_so3, log_so3, quaternion_of
from dalembert.algebra.spatial import Array, cross, rotate, rotate_back, rotation_of
from dalembert.arguments import batch
from dalembert.engine.evaluation import joint_vector
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.positions import Run


class Ordered(NamedTuple):
    """Positions, velocities, accelerations and forces as another library has them; None where none were given."""

    q: Array
    qd: Array | None = None
    qdd: Array | None = None
    tau: Array | None = None


def unit_quaternions(robot: Model, q: Array) -> Array:
    """The same positions (..., nq) with quaternions of length 1."""
    if not robot.runs:
        return q
    q = np.array(q)
    for run in robot.runs:
        part = slice(run.q, run.q + 4)
        with np.errstate(all="ignore"):
            q[..., part] /= np.sqrt((q[..., part] ** 2).sum(axis=-1, keepdims=True))
    return q


def _times(p: Array, q: Array) -> Array:
    """The product of quaternions (..., 4)."""
    (a, b), (c, d) = ((x[..., :1], x[..., 1:]) for x in (p, q))
    return np.concatenate([a * c - (b * d).sum(axis=-1, keepdims=True), a * d + c * b + cross(b, d)], axis=-1)


def _both(robot: Model, function: str, **given: Any) -> list[Array]:
    """Arrays, broadcast together."""
    arrays = [joint_vector(robot, function, name, x) for name, x in given.items()]
    shape = batch({name: x.shape[:-1] for name, x in zip(given, arrays, strict=True)}, function)
    return [np.broadcast_to(x, (*shape, x.shape[-1])) for x in arrays]


def _joined(robot: Model, a: Array, b: Array, of_run: Any, others: Any) -> Array:
    """What is made of two arrays, of positions or velocities: of balls and free bodies by one function, between them by another."""
    parts, at = list[Array](), (0, 0)
    for run in robot.runs:
        own = [run.positions if x.shape[-1] == robot.nq else run.velocities for x in (a, b)]
        parts.append(others(a[..., at[0] : own[0].start], b[..., at[1] : own[1].start]))
        parts.append(of_run(run, a[..., own[0]], b[..., own[1]]))
        at = own[0].stop, own[1].stop
    return np.concatenate([*parts, others(a[..., at[0] :], b[..., at[1] :])], axis=-1)


def integrate(robot: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Where the robot is after moving for one second with the constant velocities v, (..., nq): v = qd dt for another time.

    q + v for all joints but balls and free bodies: these turn and move along the screw of v = (omega, v), given in their own axes.
    Quaternions of the result have length 1.

    >>> import dalembert as da
    >>> flying = da.robot("two_link").with_free_base()
    >>> flying.integrate(flying.neutral(), [0.0, 0.0, np.pi, 1.0, 0.0, 0.0, 0.1, 0.2]).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.63662, 0.0, 0.1, 0.2]
    """
    q, v = _both(robot, "integrate", q=q, v=v)
    if not robot.runs:
        return q + v

    def moved(run: Run, own: Array, by: Array) -> Array:
        turn = _times(own[..., :4], quaternion_of(exp_so3(by[..., :3])))
        if run.kind == "ball":
            return turn
        step = exp_se3(by)[..., :3, 3]
        return np.concatenate([turn, own[..., 4:] + rotate(rotation_of(own[..., :4]), step)], axis=-1)

    return unit_quaternions(robot, _joined(robot, q, v, moved, lambda a, b: a + b))


def difference(robot: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The constant velocities (..., n) that move q0 to q1 in one second: the inverse of `integrate`.

    Of the two ways to turn, the shorter one.

    >>> import dalembert as da
    >>> flying = da.robot("two_link").with_free_base()
    >>> q, v = flying.random_configuration(1), np.linspace(-1.0, 1.0, 8)
    >>> bool(abs(flying.difference(q, flying.integrate(q, v)) - v).max() < 1e-12)
    True
    """
    q0, q1 = _both(robot, "difference", q0=q0, q1=q1)
    if not robot.runs:
        return q1 - q0

    def apart(run: Run, one: Array, other: Array) -> Array:
        R0, R1 = rotation_of(one[..., :4]), rotation_of(other[..., :4])
        turn = np.swapaxes(R0, -1, -2) @ R1
        if run.kind == "ball":
            return log_so3(turn)
        T = np.zeros((*turn.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = turn, rotate_back(R0, other[..., 4:] - one[..., 4:]), 1.0
        return log_se3(T)

    return _joined(robot, q0, q1, apart, lambda a, b: b - a)


def position_rate(robot: Model, q: ArrayLike, qd: ArrayLike) -> Array:
    """The time derivative of q, (..., nq), at velocities qd: qd itself, but for balls and free bodies.

    Of the quaternion it is half the product with the angular velocity, of the position the velocity in the axes around.

    >>> import dalembert as da
    >>> flying = da.robot("two_link").with_free_base()
    >>> flying.position_rate(flying.neutral(), [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.1, 0.2]).tolist()
    [0.0, 0.0, 0.0, 0.5, 2.0, 0.0, 0.0, 0.1, 0.2]
    """
    q, qd = _both(robot, "position_rate", q=q, qd=qd)
    if not robot.runs:
        return np.array(qd)

    def rates(run: Run, own: Array, nu: Array) -> Array:
        spin = np.concatenate([np.zeros((*nu.shape[:-1], 1)), nu[..., :3] / 2], axis=-1)
        turn = _times(own[..., :4], spin)
        return turn if run.kind == "ball" else np.concatenate([turn, rotate(rotation_of(own[..., :4]), nu[..., 3:])], axis=-1)

    return _joined(robot, q, qd, rates, lambda a, b: b)


# --- other libraries ----------------------------------------------------------------------------------------------------


def to_pinocchio(
    robot: Model, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Ordered:
    """Positions and the rest in the order of Pinocchio: a free joint has (position, x, y, z, w), and its linear part first.

    The order of the joints stays ours, which is that of the file; Pinocchio sorts the children of a link by name (see `reorder`),
    and has a cosine and a sine for joints of type continuous.

    >>> import dalembert as da
    >>> flying = da.robot("two_link").with_free_base()
    >>> flying.to_pinocchio([1, 2, 3, 4, 5, 6, 7, 8, 9]).q.tolist()
    [5.0, 6.0, 7.0, 2.0, 3.0, 4.0, 1.0, 8.0, 9.0]
    """
    return _reordered(robot, "to_pinocchio", (q, qd, qdd, tau), {"free": [4, 5, 6, 1, 2, 3, 0], "ball": [1, 2, 3, 0]}, True)


def from_pinocchio(
    robot: Model, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Ordered:
    """The inverse of `to_pinocchio`."""
    return _reordered(robot, "from_pinocchio", (q, qd, qdd, tau), {"free": [6, 3, 4, 5, 0, 1, 2], "ball": [3, 0, 1, 2]}, True)


def _reordered(robot: Model, function: str, given: Any, order: dict[str, list[int]], swap: bool) -> Ordered:
    places, rates = np.arange(robot.nq), np.arange(robot.n)
    for run in robot.runs:
        places[run.positions] = places[run.positions][order[run.kind]]
        if run.kind == "free" and swap:
            rates[run.velocities] = rates[run.velocities][[3, 4, 5, 0, 1, 2]]
    q, *others = given
    names = ("qd", "qdd", "tau")
    rest = [None if x is None else joint_vector(robot, function, n, x)[..., rates] for n, x in zip(names, others, strict=True)]
    return Ordered(joint_vector(robot, function, "q", q)[..., places], *rest)


def to_mujoco(
    robot: Model, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Ordered:
    """Positions and the rest as MuJoCo has them: a free joint has (position, w, x, y, z), and its linear part first, in world axes.

    Its qacc is the true acceleration of the origin: R (v' + omega x v). Accelerations therefore need qd.

    >>> import dalembert as da
    >>> flying = da.robot("two_link").with_free_base()
    >>> flying.to_mujoco([1, 0, 0, 0, 5, 6, 7, 8, 9]).q.tolist()
    [5.0, 6.0, 7.0, 1.0, 0.0, 0.0, 0.0, 8.0, 9.0]
    """
    return _mujoco(robot, "to_mujoco", (q, qd, qdd, tau), True)


def from_mujoco(
    robot: Model, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Ordered:
    """The inverse of `to_mujoco`."""
    return _mujoco(robot, "from_mujoco", (q, qd, qdd, tau), False)


def _mujoco(robot: Model, function: str, given: Any, there: bool) -> Ordered:
    named = {name: x for name, x in zip(Ordered._fields, given, strict=True) if x is not None}
    if "qdd" in named and "qd" not in named:
        raise Error(f"{function}: accelerations of a free joint are not the rates of its velocities; give qd as well")
    arrays = dict(zip(named, _both(robot, function, **named), strict=True))
    kind = np.result_type(*arrays.values())  # complex ones, for complex steps, stay so
    made = {name: np.array(x, dtype=kind) for name, x in arrays.items()}
    for run in robot.runs:
        if run.kind != "free":
            continue
        own = arrays["q"][..., run.positions]
        quaternion, place = (own[..., :4], own[..., 4:]) if there else (own[..., 3:], own[..., :3])
        made["q"][..., run.positions] = np.concatenate([place, quaternion] if there else [quaternion, place], axis=-1)
        R = rotation_of(quaternion)
        turn = rotate if there else rotate_back
        for name in list(arrays)[1:]:
            x = arrays[name][..., run.velocities]
            first, last = x[..., :3], x[..., 3:]
            linear, angular = (last, first) if there else (first, last)
            if name == "qdd":
                nu = (arrays if there else made)["qd"][..., run.velocities]
                excess = cross(nu[..., :3], nu[..., 3:])
                linear = turn(R, linear + excess) if there else turn(R, linear) - excess
            else:
                linear = turn(R, linear)
            made[name][..., run.velocities] = np.concatenate([linear, angular] if there else [angular, linear], axis=-1)
    return Ordered(**made)
