"""Newton-Euler in link coordinates: Fu, Gonzalez and Lee, table 3.3, after Luh, Walker and Paul.

Symbols of the book: w, wd, vd (omega, omega-dot, v-dot of link i's origin), a_bar (acceleration of its centre of mass), F, N
(net force and moment), f, m (force and moment n that link i-1 exerts on link i), all in the axes of link i; s_bar is the centre
of mass. The book's p* (origin i-1 to origin i) is kept in two parts, the one before the joint in the axes of link i-1 and the
one behind it in joint axes, so that a revolute joint leaves both constant; in the book's own frames the first part is zero.
Moments are taken about the origin of link i, not of link i-1, which moves the p* x f term to the hand-over. One set of
equations covers revolute (rho = 1), prismatic (sigma = 1) and helical joints.

Corrected: E-F4 (v0-dot is minus gravity), E-F5 and E-F6 (the moment line of table 3.3), E-F14 (dots on omega).
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.scalars import cos_sin
from dalembert.algebra.spatial import Array, along_z, cross, join, rotate, rotate_back, spin, split, stack, swing, turn_z
from dalembert.model.tree import Tree


class Pass(NamedTuple):
    """The book's vectors, each (..., n, 3) in the axes of its own link.

    n is the moment about the origin of the link before, as in the book; v_dot and a_bar contain minus gravity.
    """

    omega: Any
    omega_dot: Any
    v_dot: Any
    a_bar: Any
    F: Any
    N: Any
    f: Any
    n: Any


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n)."""
    joints = [JointMotion(tree, i, q[..., i]) for i in range(len(tree.parents))]
    links = outward(tree, joints, qd, qdd, tree.base_motion(base_twist, base_acceleration))
    return stack([force[-1] for force in inward(tree, joints, links, wrenches)])


def newton_euler_pass(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Pass:
    """All intermediate vectors of table 3.3."""
    joints = [JointMotion(tree, i, q[..., i]) for i in range(len(tree.parents))]
    links = outward(tree, joints, qd, qdd, tree.base_motion(base_twist, base_acceleration))
    forces = inward(tree, joints, links, wrenches)
    columns: list[list[Any]] = [[] for _ in Pass._fields]
    for i, ((w, wd, vd), (F, N, f, m, _)) in enumerate(zip(links, forces, strict=True)):
        pose = tree.pose(i, q[..., i])
        p_star = rotate_back(pose.rotation, pose.translation)  # (3.3-59)
        vectors = (w, wd, vd, vd + swing(w, wd, tree.com[i]), F, N, f, m + cross(p_star, f))
        for column, vector in zip(columns, vectors, strict=True):
            column.append(vector)
    return Pass(*(np.stack(np.broadcast_arrays(*column), axis=-2) for column in columns))


def joint_wrenches(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """(moment, force) that each joint exerts on its link, about the link's origin in its axes: (..., n, 6)."""
    joints = [JointMotion(tree, i, q[..., i]) for i in range(len(tree.parents))]
    links = outward(tree, joints, qd, qdd, tree.base_motion(base_twist, base_acceleration))
    rows = [join(m, f) for _, _, f, m, _ in inward(tree, joints, links, wrenches)]
    return np.stack(np.broadcast_arrays(*rows), axis=-2)


class JointMotion:
    """Joint i at position q: how vectors pass from the axes of the parent into those of the joint and of the link."""

    def __init__(self, tree: Tree, i: int, q: Any) -> None:
        self.before, self.after, self.rho, self.sigma = tree.joint(i)
        q = tree.at(i, q)
        self.c, self.s = cos_sin(self.rho * q)
        self.p = self.after.translation + along_z(self.sigma * q)  # the joint's part of p*, in joint axes

    def into(self, v: Any) -> Array:
        """Joint axes from the parent's axes."""
        return turn_z(self.c, -self.s, rotate_back(self.before.rotation, v))

    def out(self, v: Any) -> Array:
        """The parent's axes from joint axes."""
        return rotate(self.before.rotation, turn_z(self.c, self.s, v))


def outward(tree: Tree, joints: list[JointMotion], qd: Any, qdd: Any, base: tuple[Any, Any, Any]) -> list[tuple[Any, Any, Any]]:
    """(w, wd, vd) of every link in its own axes, from the base to the tips."""
    links: list[tuple[Any, Any, Any]] = []
    for i, parent in enumerate(tree.parents):
        w, wd, vd = base if parent < 0 else links[parent]
        j, z_qd, z_qdd = joints[i], along_z(qd[..., i]), along_z(qdd[..., i])
        vd = j.into(vd + swing(w, wd, j.before.translation))
        wd = j.into(wd)
        w = j.into(w)
        vd = vd + j.sigma * (z_qdd + 2 * cross(w, z_qd))  # (3.3-52), prismatic
        wd = wd + j.rho * (z_qdd + cross(w, z_qd))  # (3.3-51), revolute
        w = w + j.rho * z_qd  # (3.3-50), revolute
        vd = vd + swing(w, wd, j.p)  # (3.3-52), both
        links.append((rotate_back(j.after.rotation, w), rotate_back(j.after.rotation, wd), rotate_back(j.after.rotation, vd)))
    return links


def inward(tree: Tree, joints: list[JointMotion], links: list[tuple[Any, Any, Any]], wrenches: Any) -> list[tuple[Any, ...]]:
    """(F, N, f, m, tau) of every link, forces and moments from the tips to the base; m is about the link's own origin."""
    n = len(tree.parents)
    handed: list[list[tuple[Any, Any]]] = [[] for _ in range(n)]  # (f, m) of the children, in the axes of link i
    forces: list[tuple[Any, ...]] = [()] * n
    for i in reversed(range(n)):
        w, wd, vd = links[i]
        s_bar, I, j, parent = tree.com[i], tree.inertia[i], joints[i], tree.parents[i]
        a_bar = vd + swing(w, wd, s_bar)  # (3.3-53)
        F = tree.mass[i] * a_bar  # (3.3-54)
        N = spin(I, w, wd)  # (3.3-55): I wd + w x I w
        f = sum((f for f, _ in handed[i]), F)  # (3.3-56)
        m = sum((m for _, m in handed[i]), N + cross(s_bar, F))  # (3.3-57), about the origin of link i
        if wrenches is not None:
            moment, force = split(wrenches[..., i, :])
            f, m = f - force, m - moment
        f_joint, m_joint = rotate(j.after.rotation, f), rotate(j.after.rotation, m)
        m_joint = m_joint + cross(j.p, f_joint)
        tau = j.rho * m_joint[..., 2] + j.sigma * f_joint[..., 2]  # (3.3-58), in joint axes
        forces[i] = F, N, f, m, tau
        if parent >= 0:
            f, m = j.out(f_joint), j.out(m_joint)
            handed[parent].append((f, m + cross(j.before.translation, f)))
    return forces
