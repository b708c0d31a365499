"""Positions of a robot with ball and free joints: how they move, how they differ, and how other libraries order them.

Without such joints positions are plain numbers: `integrate` is a sum, `difference` a difference.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.motions import exp_se3, log_se3
from dalembert.algebra.rotations import exp_so3, log_so3, quaternion_of
from dalembert.algebra.spatial import Array, cross, rotate, rotate_back, rotation_of
from dalembert.arguments import arrays, batch, listed, text
from dalembert.engine.evaluation import joint_vector
from dalembert.errors import Error
from dalembert.model.links import SEVERAL, Link
from dalembert.model.model import Model
from dalembert.model.pose import Pose
from dalembert.model.positions import Run, joint_runs, some_names


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
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    names: Any = None,
) -> Ordered:
    """Positions and the rest exactly as Pinocchio's functions take them, or an error.

    q: positions (..., nq).
    qd, qdd, tau: velocities, accelerations and joint forces (..., n).
    names: `model.names` of Pinocchio, which sorts the joints that a link carries by name; or
    `model` itself, which also says how many numbers each joint has. Without it only robots whose
    joints form a chain are converted, since these have but one order.

    There a free joint is (position, x, y, z, w), with the linear part of its velocity first, and a
    ball is (x, y, z, w); quaternions get length 1. Continuous joints of URDF files have a cosine
    and a sine. So have planar joints, (x, y, cos, sin), whose velocities and forces are along axes
    of the body; their qdd needs qd. The joint of a floating base may be called "root_joint".

    >>> import dalembert as da
    >>> robot = da.robot("solo12")
    >>> names = ["universe", "root_joint", *robot.joint_names[6:]]  # with Pinocchio: model.names
    >>> robot.to_pinocchio(robot.neutral(), names=names).q[:8].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    order = _order_there(robot, "to_pinocchio", names)
    given = _given(robot, "to_pinocchio", q, qd, qdd, tau)
    here = dict(zip(given, _both(robot, "to_pinocchio", **given), strict=True))
    here["q"] = unit_quaternions(robot, here["q"])
    kind = np.result_type(*here.values())  # complex ones, for complex steps, stay so
    there = {name: np.take(x, order.q if name == "q" else order.v, axis=-1).astype(kind) for name, x in here.items()}
    angles = there["q"][..., order.circles]
    there["q"][..., order.circles] = np.cos(angles)
    there["q"][..., order.circles + 1] = np.sin(angles)
    _turn_planar(order, here["q"], there, back=False)
    return Ordered(**there)


def from_pinocchio(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    names: Any = None,
) -> Ordered:
    """The inverse of `to_pinocchio`: arrays of Pinocchio as this robot has them.

    q: positions there, (..., model.nq).
    qd, qdd, tau: velocities, accelerations and joint forces there, (..., model.nv).
    names: `model.names` or `model`, as in `to_pinocchio`.

    Angles that have a cosine and a sine there are from -pi to pi.

    >>> import dalembert as da
    >>> robot = da.robot("solo12")
    >>> names = ["universe", "root_joint", *reversed(robot.joint_names[6:])]
    >>> theirs = robot.to_pinocchio(robot.neutral(), range(18), names=names)
    >>> robot.from_pinocchio(*theirs, names=names).qd.tolist() == list(range(18))
    True
    """
    order = _order_there(robot, "from_pinocchio", names)
    given = _given(robot, "from_pinocchio", q, qd, qdd, tau)
    shaped = {name: (x, (len(order.q if name == "q" else order.v),)) for name, x in given.items()}
    converted = arrays("from_pinocchio", **shaped)
    kind = np.result_type(*converted)  # complex ones, for complex steps, stay so
    there = {name: np.array(x, kind) for name, x in zip(given, converted, strict=True)}
    places = np.empty(robot.nq, int)
    places[order.q] = np.arange(len(order.q))
    here = np.take(there["q"], places, axis=-1)
    here[..., order.q[order.circles]] = _angles(robot, order, there["q"])
    _turn_planar(order, here, there, back=True)
    rates = {name: np.take(there[name], np.argsort(order.v), axis=-1) for name in list(given)[1:]}
    return Ordered(here, **rates)


ROOT = "root_joint"  # what Pinocchio calls the joint of a floating base
# how many positions and velocities Pinocchio may have for a kind of joint; of others one each
SIZES = {"revolute": ((1, 1), (2, 1)), "ball": ((4, 3),), "planar": ((4, 3),), "free": ((7, 6),)}
# its order of our numbers of a joint; an angle that stands twice is its cosine and its sine
POSITIONS = {"free": [4, 5, 6, 1, 2, 3, 0], "ball": [1, 2, 3, 0], "planar": [0, 1, 2, 2]}
VELOCITIES = {"free": [3, 4, 5, 0, 1, 2], "ball": [0, 1, 2], "planar": [0, 1, 2]}


_Sizes = dict[str, tuple[int, int]]  # of joints by name: how many positions and velocities


class _Order(NamedTuple):
    """The places of Pinocchio's positions and velocities in ours."""

    q: Array
    v: Array
    circles: Array  # where there are cosines among its positions, each followed by the sine
    planar: list[tuple[int, int]]  # of each, the angle in our q, and where its velocities begin


def _given(robot: Model, function: str, *values: Any) -> dict[str, Any]:
    """The arguments that are there, by name."""
    given = {name: x for name, x in zip(Ordered._fields, values, strict=True) if x is not None}
    if "q" not in given:
        raise Error(f"{function}: q must be given: the other arrays have the order of its joints, and may depend on it")
    if "qdd" in given and "qd" not in given and any(x.kind == "planar" for x in robot.several):
        what = "accelerations of planar joints depend on velocities"
        raise Error(f"{function}: {what}; give qd as well")
    return given


def _angles(robot: Model, order: _Order, q: Array) -> Array:
    """The angles of all cosines and sines among Pinocchio's positions."""
    c, s = q[..., order.circles], q[..., order.circles + 1]
    zero = (c == 0) & (s == 0)
    if zero.any():
        name = robot.position_names[order.q[order.circles[np.argwhere(zero)[0, -1]]]]
        what = f"cosine and sine of joint {name!r} are both zero"
        raise Error(f"from_pinocchio: {what}, which is no angle")
    x, y = np.real(c), np.real(s)
    angles = np.arctan2(y, x)
    if q.dtype.kind == "c":  # of a complex step
        angles = angles + 1j * (x * np.imag(s) - y * np.imag(c)) / (x**2 + y**2)
    return angles


def _turn_planar(order: _Order, q: Array, there: dict[str, Array], *, back: bool) -> None:
    """Turn rates and forces of planar joints, which are along fixed axes here, along the body's there.

    With u = (v_x, v_y) there and x' = R u here, x'' = R (u' + omega x u).
    """
    for angle, v in order.planar:
        linear = slice(v, v + 2)
        c, s = np.cos(q[..., angle, None]), np.sin(q[..., angle, None])
        sign = 1.0 if back else -1.0
        if back and "qdd" in there:
            there["qdd"][..., linear] += _turning(there["qd"][..., v : v + 3])
        for name in there.keys() - {"q"}:
            x = there[name][..., linear]
            there[name][..., linear] = c * x + sign * s * _across(x)
        if not back and "qdd" in there:
            there["qdd"][..., linear] -= _turning(there["qd"][..., v : v + 3])


def _turning(velocity: Array) -> Array:
    """omega x u."""
    return velocity[..., 2:] * _across(velocity[..., :2])


def _across(vector: Array) -> Array:
    """(x, y) turned by a right angle."""
    return vector[..., [1, 0]] * [-1.0, 1.0]


def _order_there(robot: Model, function: str, names: Any) -> _Order:
    """The order of Pinocchio's model; an error unless its joints are those of the robot."""
    order, sizes = _joints_there(robot, function, names)
    key = _order_there, tuple(order), tuple(sizes.values())
    if key not in robot.memo:  # loops of control ask again: 0.1 ms instead of 0.5 ms for Talos
        robot.memo[key] = _common_order(robot, function, order, sizes)
    return robot.memo[key]


def _common_order(robot: Model, function: str, order: list[str], sizes: _Sizes) -> _Order:
    """The order of joints that both have."""
    runs = {run.joint: run for run in joint_runs(robot)}
    links = {link.joint.name: link for link in robot.links}
    if coordinates := [name for name in runs if name not in links]:
        raise Error(
            f"{function}: {some_names(coordinates)} of {robot.name} are coordinates of its coupling and "
            "no joints; convert the values of robot.uncoupled()"
        )
    followers = [name for name in links if name not in runs and links[name].joint.kind not in SEVERAL]
    on_base = [x.joint for x in robot.links if x.parent == robot.base_name]
    base = next((joint.name for joint in on_base if joint.kind in SEVERAL), ROOT)
    if any(joint.kind == "free" for joint in on_base) and robot.base != Pose.identity():
        raise Error(f"{function}: {robot.name} has a free joint on a base pose, which Pinocchio's model does not have")
    if base not in order and ROOT not in runs and ROOT in order:
        runs[ROOT] = runs.pop(base)
    _refuse_other_joints(robot, function, order, [*runs, *followers])
    q, v, circles, planar = list[int](), list[int](), list[int](), list[tuple[int, int]]()
    for name in order:
        size = sizes.get(name)
        if name in followers:
            _refuse_independent(robot, function, name, size)
            continue
        run = runs[name]
        nq, nv = _size_there(robot, function, links[run.joint], size)
        if run.kind == "planar":
            planar.append((run.q + 2, len(v)))
        q += [run.q + k for k in POSITIONS.get(run.kind, [0] * nq)]
        v += [run.v + k for k in VELOCITIES.get(run.kind, [0] * nv)]
        if run.kind == "planar" or (nq, nv) == (2, 1):
            circles.append(len(q) - 2)
    return _Order(np.array(q, int), np.array(v, int), np.array(circles, int), planar)


def _joints_there(robot: Model, function: str, names: Any) -> tuple[list[str], _Sizes]:
    """Names of Pinocchio's joints in its order, and from a model also how many numbers each has."""
    if names is None:
        parents = [link.parent for link in robot.links]
        if several := [x for k, x in enumerate(parents) if x in parents[:k]]:
            raise Error(
                f"{function} needs names=model.names for {robot.name}: several joints are carried by "
                f"{several[0]!r}, and Pinocchio sorts such joints by name"
            )
        return [link.joint.name for link in robot.links], {}
    has_sizes = hasattr(names, "nqs")
    what = f"{function}: names (model.names of Pinocchio, or model)"
    order = [text(name, f"each of {what}") for name in listed(names.names if has_sizes else names, what)]
    if len(set(order)) < len(order):
        twice = Counter(order).most_common(1)[0][0]
        raise Error(f"{function}: joint {twice!r} is named twice in names")
    sizes = {}
    if has_sizes:
        sizes = dict(zip(order, zip(names.nqs, names.nvs, strict=True), strict=True))
    return order[order[:1] == ["universe"] :], sizes


def _refuse_other_joints(robot: Model, function: str, order: list[str], own: list[str]) -> None:
    """Raise an error with the joints that Pinocchio's model lacks, and those that the robot lacks."""
    lost = [name for name in own if name not in order]
    more = [name for name in order if name not in own]
    if not lost and not more:
        return
    parts = [f"Pinocchio's model has no joint {some_names(lost)}"] if lost else []
    parts += [f"{robot.name} has no joint {some_names(more)}"] if more else []
    if any(name.startswith("Composite_") for name in more):
        remedy = "Pinocchio makes one joint of several in one body; give each joint a body of its own"
    elif ROOT in more:
        remedy = "with_free_base() adds a free joint here"
    elif any(joint.name in lost for joint in robot.several):
        remedy = "pin.JointModelFreeFlyer() gives Pinocchio's model a free base"
        if more:
            remedy += f"; if it has one by another name, with_free_base(joint={more[0]!r}) gives it that name here"
    else:
        remedy = "robot.lock(...) fixes joints here, pin.buildReducedModel(...) there"
    raise Error(f"{function}: {'; '.join(parts)}; {remedy}")


def _refuse_independent(robot: Model, function: str, name: str, size: tuple[int, int] | None) -> None:
    """A joint that follows others here must follow there, where it then has no numbers."""
    if size is None:
        raise Error(
            f"{function}: joint {name!r} of {robot.name} follows others, and names do not tell whether "
            "it does in Pinocchio's model; give names=model, or load the robot with mimic=False"
        )
    if size != (0, 0):
        raise Error(
            f"{function}: joint {name!r} of {robot.name} follows others, but is independent in "
            "Pinocchio's model; load the robot with mimic=False, or build the model with mimic=True"
        )


def _size_there(robot: Model, function: str, link: Link, size: tuple[int, int] | None) -> tuple[int, int]:
    """How many positions and velocities Pinocchio has for the joint of a link."""
    joint = link.joint
    here = f"{function}: joint {joint.name!r} of {robot.name}"
    possible = SIZES.get(joint.kind, ((1, 1),))
    if joint.kind == "planar" and not np.array_equal(link.after.rotation, np.eye(3)):
        raise Error(
            f"{here} moves in a plane whose normal is not z of its frame; Pinocchio passes over the "
            "<axis> of planar joints, and moves the link in another plane"
        )
    if size is None:
        unlimited = joint.lower == -np.inf and joint.upper == np.inf
        if joint.kind != "revolute" or not unlimited:
            return possible[0]
        if robot.source.startswith("URDF "):
            return 2, 1
        raise Error(
            f"{here} has no limits, and names do not tell whether Pinocchio has its angle, or cosine and sine; give names=model"
        )
    if size == (0, 0):
        raise Error(
            f"{here} is independent, but follows another in Pinocchio's model; couple it here too "
            "(with_coupling, or mimic=True of da.load), or build the model with mimic=False"
        )
    if size not in possible:
        nq, nv = size
        numbers = f"with {nq} positions and {nv} velocities"
        raise Error(f"{here} is {joint.kind}; that of Pinocchio's model, {numbers}, is of another kind")
    return size


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
