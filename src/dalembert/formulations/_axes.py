"""Frames on the joint axes: what the methods share that carry inertias from link to link.

Frame i moves with link i, its z is the axis of joint i. It stands in its parent's frame at a fixed step followed by the joint's
motion, so that vectors and tensors pass through one constant transform and one turn about z.
"""

from typing import Any, NamedTuple

from dalembert.model.tree import Tree
from dalembert.spatial import (
    Ad_inverse_dual,
    Array,
    Transform,
    along_z,
    compose,
    congruent,
    cos_sin,
    cross,
    exp_z,
    join,
    rotate,
    rotate_back,
    split,
    turn_z,
)


class Axis(NamedTuple):
    """Joint i at some position: the fixed step from the parent's frame, the turn (c, s) and the slide along z."""

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


class Body(NamedTuple):
    """A link seen from its joint's frame: mass, centre of mass, inertia about it."""

    mass: Any
    com: Any
    inertia: Any


def step(tree: Tree, i: int) -> Transform:
    """Where joint i's frame stands in its parent's when the joint is at zero."""
    before, parent = tree.joint(i)[0], tree.parents[i]
    return before if parent < 0 else compose(tree.joint(parent)[1], before)


def axis(tree: Tree, i: int, q: Any) -> Axis:
    """Joint i at position q."""
    _, _, rho, sigma = tree.joint(i)
    q = tree.at(i, q)
    return Axis(step(tree, i), *cos_sin(rho * q), sigma * q, rho, sigma)


def axes(tree: Tree, q: Any) -> list[Axis]:
    """All joints at q."""
    return [axis(tree, i, q[..., i]) for i in range(len(tree.parents))]


def joint_frames(tree: Tree, q: Any) -> list[Transform]:
    """The same as poses: every joint's frame in that of its parent."""
    return [compose(step(tree, i), exp_z(*tree.joint(i)[2:], tree.at(i, q[..., i]))) for i in range(len(tree.parents))]


def body(tree: Tree, i: int) -> Body:
    """Link i in its joint's frame."""
    R, p = tree.joint(i)[1]
    return Body(tree.mass[i], rotate(R, tree.com[i]) + p, congruent(R, tree.inertia[i]))


def wrench_on(tree: Tree, i: int, wrenches: Any) -> Array:
    """The wrench on link i, seen from its joint's frame."""
    return Ad_inverse_dual(tree.joint(i)[1], wrenches[..., i, :])
