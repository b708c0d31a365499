"""Frames on the joint axes: what the methods share that carry inertias from link to link.

Frame i moves with link i, its z is the axis of joint i. It stands in its parent's frame at a fixed step followed by the joint's
motion, so that vectors and tensors pass through one constant transform and one rotation about z.
"""

from typing import Any, NamedTuple

from dalembert.algebra.linalg import Pivots
from dalembert.algebra.scalars import cos_sin
from dalembert.algebra.spatial import (
    Ad_inverse_dual,
    Array,
    Transform,
    along_z,
    compose,
    cross,
    exp_z,
    join,
    rotate,
    rotate_back,
    split,
    stack,
    turn_z,
)
from dalembert.model.tree import Tree


class Axis(NamedTuple):
    """Joint i at some position: the fixed step from the parent's frame, the rotation (c, s) and the translation along z."""

    fixed: Transform
    c: Any
    s: Any
    slide: Any
    rho: Any
    sigma: Any

    def into(self, v: Any) -> Array:
        """Own axes from the parent's."""
        return turn_z(self.c, -self.s, rotate_back(self.fixed.rotation, v))

    def out(self, v: Any) -> Array:
        """The parent's axes from own."""
        return rotate(self.fixed.rotation, turn_z(self.c, self.s, v))

    def twist(self, V: Any) -> Array:
        """A twist of the parent's frame in this one."""
        w, v = split(V)
        v = v + cross(w, self.fixed.translation)
        w, v = self.into(w), self.into(v)
        return join(w, v + cross(w, along_z(self.slide)))

    def wrench(self, F: Any) -> Array:
        """A wrench of this frame in the parent's."""
        m, f = split(F)
        m = m + cross(along_z(self.slide), f)
        m, f = self.out(m), self.out(f)
        return join(m + cross(self.fixed.translation, f), f)


def axis(tree: Tree, i: int, q: Any) -> Axis:
    """Joint i at position q."""
    _, _, rho, sigma = tree.joint(i)
    q = tree.at(i, q)
    return Axis(tree.step(i), *cos_sin(rho * q), sigma * q, rho, sigma)


def axes(tree: Tree, q: Any) -> list[Axis]:
    """All joints at q."""
    return [axis(tree, i, q[..., i]) for i in range(len(tree.parents))]


def joint_frames(tree: Tree, q: Any) -> list[Transform]:
    """The same as poses: every joint's frame in that of its parent."""
    return [compose(tree.step(i), exp_z(*tree.joint(i)[2:], tree.at(i, q[..., i]))) for i in range(len(tree.parents))]


def free_axis(tree: Tree, i: int, pivots: Pivots) -> int | None:
    """Which component of a six-vector lies along joint i's axis, if all of D_i comes from the links: for screws and rotors None.

    Then s_i . G_i is exactly 1, and P+_i has a row and column of exact zeros, which rounding would leave as dust.
    """
    _, _, rho, sigma = tree.joint(i)
    return None if pivots.has_rotor(i) else 2 if (rho, sigma) == (1, 0) else 5 if (rho, sigma) == (0, 1) else None


def gain(U: Any, reciprocal: Any, free: int | None) -> Array:
    """G_i = U_i / D_i with U_i = P_i s_i."""
    return stack([1 if k == free else reciprocal * U[..., k] for k in range(6)])


def wrench_on(tree: Tree, i: int, wrenches: Any) -> Array:
    """The wrench on link i, seen from its joint's frame."""
    return Ad_inverse_dual(tree.joint(i)[1], wrenches[..., i, :])
