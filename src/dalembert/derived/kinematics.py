"""Where links are and how they move: plain functions of a model and arrays of any scalar, which the kinematic programs record.

A frame "on an axis" has its z axis along the joint's and its origin somewhere on it; the joint's own motion changes neither the
axis nor the joint's screw seen from the end of the chain.

What does not depend on the robot's placement is computed without it, relative to the first joints: a base at the surface
of the Earth, with the world's origin at its centre, would cost seven digits. The programs are then the same for every placement.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.precise import exact
from dalembert.algebra.spatial import (
    Ad_inverse,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    compose,
    cross,
    exp_z,
    homogeneous,
    join,
    rotate,
    split,
    stack,
    zeros,
)
from dalembert.arguments import choice
from dalembert.derived.charts import chart_rate
from dalembert.derived.charts import placed as placed_tree
from dalembert.errors import Error
from dalembert.model.edit import tip
from dalembert.model.model import Model
from dalembert.model.pose import Pose
from dalembert.model.tree import Tree
from dalembert.model.wrench import FRAMES

ABOUT = ("world", "com")


class Frames(NamedTuple):
    """Frames by the link's index, in the axes of the world."""

    axes: dict[int, Transform]  # on each joint's axis
    links: dict[int, Transform]


def frames(model: Model, q: Any, members: Iterable[int] | None = None, *, placed: bool = True) -> Frames:
    """The frames of all links, or of some whose parents are among them.

    placed=False: not from the origin of the world, but from the first axis of each chain that starts at the base.
    """
    (tree, q), result = placed_tree(model, q), Frames({}, {})
    for i in range(model.n) if members is None else members:
        before, after, rho, sigma = tree.joint(i)
        parent = tree.parents[i]
        axis = compose(model.exact_base if parent < 0 else result.links[parent], before)
        if parent < 0 and not placed:
            axis = Transform(axis.rotation, zeros(3))
        result.axes[i] = axis
        result.links[i] = compose(compose(axis, exp_z(rho, sigma, tree.at(i, q[..., i]))), after)
    return result


def carrier(model: Model, link: str | None) -> tuple[int, Pose]:
    """The moving link (-1: the base) that carries a link or frame, and that frame's pose in it; None means the tip."""
    return model.locate(tip(model) if link is None else link)


def place(model: Model, link: str | None, point: Any = None) -> tuple[int, Transform]:
    """The moving link (-1: the base) that carries a link or frame, and in it that frame moved to a point given in its own axes."""
    index, pose = carrier(model, link)
    R, p = pose.exact
    return index, Transform(R, p if point is None else rotate(R, point) + p)


def check_frame(frame: str) -> None:
    """Reject an unknown frame of a twist."""
    choice(frame, "frame of a twist:", FRAMES)


def check_about(about: str) -> None:
    """Reject an unknown reference point of momentum."""
    choice(about, "point of reference of momentum:", ABOUT)


def poses(model: Model, q: Any) -> Array:
    """(..., n, 4, 4)."""
    matrices = [homogeneous(T) for T in frames(model, q).links.values()]
    return np.stack(np.broadcast_arrays(*matrices), axis=-3) if matrices else zeros((0, 4, 4))


def pose(model: Model, q: Any, point: Any = None, *, link: str | None = None) -> Array:
    """(..., 4, 4)."""
    return homogeneous(_end(model, q, *place(model, link, point)))


def _end(model: Model, q: Any, index: int, at: Transform) -> Transform:
    """A frame of a moving link (-1: of the base) in the world."""
    carrier = model.exact_base if index < 0 else frames(model, q, model.exact_tree.path(index)).links[index]
    return compose(carrier, at)


def position(model: Model, q: Any, point: Any = None, *, link: str | None = None) -> Array:
    """(..., 3): where a point of a moving link is in the world. The place of the first joint is added last, and rounds once."""
    index, at = place(model, link, point)
    path = model.exact_tree.path(index)
    first = compose(model.exact_base, placed_tree(model, q)[0].joint(path[0])[0])
    return compose(frames(model, q, path, placed=False).links[index], at).translation + first.translation


# --- twists -------------------------------------------------------------------------------------------------------------


def columns(model: Model, q: Any, point: Any, link: str | None, frame: str) -> dict[int, Array]:
    """The twist (..., 6) that a unit velocity of each joint on the path from the base to the link gives."""
    check_frame(frame)
    index, at = place(model, link, point)
    path = model.exact_tree.path(index)
    return _seen_from_body(model, q, path, at) if frame == "body" else _seen_from_world(model, q, path, at, frame)


def _seen_from_body(model: Model, q: Any, path: tuple[int, ...], at: Transform) -> dict[int, Array]:
    """Ad_{T^-1} s_i with T the end of the chain in the frame on axis i, gathered from the end: the first joint does not matter."""
    (tree, q), columns, T = placed_tree(model, q), {}, at
    for i in reversed(path):
        before, after, rho, sigma = tree.joint(i)
        T = compose(after, T)
        columns[i] = Ad_inverse(T, tree.axis(i))  # Park-Bobrow-Ploen (20)
        T = compose(before, compose(exp_z(rho, sigma, tree.at(i, q[..., i])), T))
    return {i: columns[i] for i in path}


def _seen_from_world(model: Model, q: Any, path: tuple[int, ...], at: Transform, frame: str) -> dict[int, Array]:
    """(rho z, sigma z + rho z x (p - o)) with o on the axis z and p the point, or the origin of the world."""
    known, columns = frames(model, q, path, placed=frame == "world"), {}
    p = compose(known.links[path[-1]], at).translation if path and frame == "world_aligned" else zeros(3)
    for i in path:
        rho, sigma = model.exact_tree.screw[i]
        z, o = known.axes[i].rotation[..., :, 2], known.axes[i].translation
        columns[i] = join(rho * z, sigma * z + rho * cross(z, p - o))
    return columns


def _side_by_side(model: Model, columns: dict[int, Array], rows: int) -> Array:
    """One column a joint, 0 where there is none."""
    return stack([columns.get(i, zeros(rows)) for i in range(model.n)]) if model.n else zeros((rows, 0))


def jacobian(model: Model, q: Any, point: Any = None, *, link: str | None = None, frame: str = "body") -> Array:
    """(..., 6, n)."""
    return _side_by_side(model, columns(model, q, point, link, frame), 6)


def twist(model: Model, q: Any, qd: Any, point: Any = None, *, link: str | None = None, frame: str = "body") -> Array:
    """(..., 6)."""
    parts = (J * qd[..., i, None] for i, J in columns(model, q, point, link, frame).items())
    return sum(parts, zeros(6))  # (3.3-32), (9.91)


def jacobian_rate(model: Model, q: Any, qd: Any, point: Any = None, *, link: str | None = None, frame: str = "body") -> Array:
    """(..., 6, n). An axis moves with the joints before it; seen from the body, with the outboard joints, with the opposite sign.

    World: J_i' = [V, J_i], V the twist of the joints before i. Body: J_i' = [J_i, V], V that of the joints behind i. World-aligned:
    as in the world with all twists taken at the point, and the point's velocity v shifts them: + (0, w_i x v).
    """
    J, body = columns(model, q, point, link, frame), frame == "body"
    rates: dict[int, Array] = {}
    V: Any = zeros(6)
    for i in reversed(J) if body else J:
        rates[i] = ad(J[i], V) if body else ad(V, J[i])  # Jdot of (9.92)
        V = V + J[i] * qd[..., i, None]
    if frame == "world_aligned":
        v = split(V)[1]
        rates = {i: rate + join(zeros(3), cross(split(J[i])[0], v)) for i, rate in rates.items()}
    found = _side_by_side(model, rates, 6)
    return found - _side_by_side(model, J, 6) @ chart_rate(model, qd) if model.runs else found


# --- the whole robot ----------------------------------------------------------------------------------------------------


def _mass(model: Model) -> Fraction:
    total = sum(model.exact_tree.mass, exact(model.base_inertia.mass))
    if total == 0:
        raise Error(f"{model.name} has no mass, so its centre of mass is undefined; give a link an inertia")
    return Fraction(total)


def center_of_mass(model: Model, q: Any) -> Array:
    """(..., 3)."""
    R, p = model.exact_base
    return rotate(R, _center(model, *placed_tree(model, q), exact(model.base_inertia.com))) + p


def _center(model: Model, tree: Tree, q: Any, base: Any) -> Array:
    """The centre of mass in base axes, from where the tree starts; `base` is the base's own. Moments are gathered from the tips."""
    total = _mass(model)
    mass: list[Any] = list(tree.mass / total)
    moment: list[Any] = [m * c for m, c in zip(mass, tree.com, strict=True)]
    whole: Any = exact(model.base_inertia.mass) / total * base
    for i in reversed(range(len(moment))):
        R, p = tree.pose(i, q[..., i])
        carried, parent = rotate(R, moment[i]) + mass[i] * p, tree.parents[i]
        if parent < 0:
            whole = whole + carried
        else:
            mass[parent], moment[parent] = mass[parent] + mass[i], moment[parent] + carried
    return whole


def com_jacobian(model: Model, q: Any) -> Array:
    """(..., 3, n). Joint i moves all that is behind it: rho z x (h - m o) + sigma m z, m and h its mass and first moment."""
    known, tree, total = frames(model, q, placed=False), model.exact_tree, _mass(model)
    mass: list[Any] = list(tree.mass / total)
    moment: list[Any] = [rotate(T.rotation, mass[i] * tree.com[i]) + mass[i] * T.translation for i, T in known.links.items()]
    columns: dict[int, Array] = {}
    for i in reversed(range(model.n)):
        (rho, sigma), axis, parent = tree.screw[i], known.axes[i], tree.parents[i]
        z = axis.rotation[..., :, 2]
        columns[i] = rho * cross(z, moment[i] - mass[i] * axis.translation) + sigma * mass[i] * z
        if parent >= 0:
            mass[parent], moment[parent] = mass[parent] + mass[i], moment[parent] + moment[i]
    return _side_by_side(model, columns, 3)


def momentum(model: Model, q: Any, qd: Any, *, about: str = "world") -> Array:
    """(..., 6)."""
    check_about(about)
    if about == "world" or not model.n:
        return Ad_inverse_dual(model.exact_base, _momentum(*placed_tree(model, q), qd))
    tree, q = placed_tree(model, q)
    first = tree.before.translation[0]
    tree = _seen_from(tree, first)
    angular, linear = split(_momentum(tree, q, qd))
    R, c = model.exact_base.rotation, _center(model, tree, q, exact(model.base_inertia.com) - first)
    return join(rotate(R, angular - cross(c, linear)), rotate(R, linear))


def _seen_from(tree: Tree, point: Any) -> Tree:
    """The tree in a frame at another point of the base, its axes the same."""
    R, p = tree.before
    first = np.array(tree.parents)[:, None] < 0
    return tree._replace(before=Transform(R, np.where(first, p - point, p)))


def _momentum(tree: Tree, q: Any, qd: Any) -> Array:
    """About where the tree starts, in base axes. Twists outward and momenta inward, in link axes, both about link origins."""
    steps = [tree.pose(i, q[..., i]) for i in range(len(tree.parents))]
    V: list[Any] = []
    for i, parent in enumerate(tree.parents):
        after = tree.joint(i)[1]
        own = Ad_inverse(after, tree.axis(i)) * qd[..., i, None]
        V.append(own if parent < 0 else Ad_inverse(steps[i], V[parent]) + own)
    h = [_of_body(tree.mass[i], tree.com[i], tree.inertia[i], x) for i, x in enumerate(V)]
    whole: Any = zeros(6)
    for i in reversed(range(len(h))):
        carried, parent = Ad_inverse_dual(steps[i], h[i]), tree.parents[i]
        if parent < 0:
            whole = whole + carried
        else:
            h[parent] = h[parent] + carried
    return whole


def _of_body(m: Any, c: Any, I: Any, V: Any) -> Array:
    """The momentum of a body about its frame's origin."""
    w, v = split(V)
    linear = m * (v + cross(w, c))
    return join(rotate(I, w) + cross(c, linear), linear)
