"""The recursion that `articulated_body` and `brandl` share: Featherstone's, with accelerations carried outward as by Luh.

Outward, every link's motion with all joint accelerations zero, and from it the force p_i that this motion needs. Inward, the
articulated inertia P_i and the force z_i on it; joint i is free to move, so e_i = tau_i - s_i . z_i accelerates it and the rest is
handed on:

D_i = s_i^T P_i s_i, G_i = P_i s_i / D_i, z+_i = z_i + G_i e_i, P+_i = P_i - G_i s_i^T P_i

Outward again, what the joints add: alpha+_i from the parent, qdd_i = e_i / D_i - G_i . alpha+_i, alpha_i = alpha+_i + s_i qdd_i.
Carrying whole accelerations in the first pass saves the products of P_i with velocity terms.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import Pivots
from dalembert.algebra.spatial import (
    Array,
    along_z,
    cross,
    dot,
    join,
    matrix,
    rotate,
    scaled,
    skew,
    spin,
    split,
    stack,
    swing,
    symmetric,
    turn_tensor,
)
from dalembert.formulations.shared.axes import Axis, axes, free_axis, gain, wrench_on
from dalembert.model.tree import Tree


class Articulated(NamedTuple):
    """The 6x6 inertia [[A, B], [B^T, C]] by its 3x3 blocks; A and C are symmetric."""

    A: Any
    B: Any
    C: Any

    def times(self, V: Any) -> Array:
        """The wrench that accelerates it."""
        w, v = split(V)
        return join(rotate(self.A, w) + rotate(self.B, v), rotate(np.swapaxes(self.B, -1, -2), w) + rotate(self.C, v))

    def plus(self, other: "Articulated") -> "Articulated":
        """Both together."""
        return Articulated(self.A + other.A, self.B + other.B, self.C + other.C)

    def less(self, G: Any, U: Any, free: int | None) -> "Articulated":
        """P - G U^T, where that is symmetric; `free` is the row and column that vanishes: nothing resists along a free axis."""

        def block(P: Any, row: int, column: int) -> Array:
            entries = {
                (i, j): P[..., i, j] - G[..., row + i] * U[..., column + j]
                for i in range(3)
                for j in range(3)
                if free not in (row + i, column + j)
            }
            return matrix(entries, 3)

        return Articulated(symmetric(block(self.A, 0, 0)), block(self.B, 0, 3), symmetric(block(self.C, 3, 3)))

    def turned(self, turn: Callable[[Any], Array]) -> "Articulated":
        """In other axes."""
        return Articulated(symmetric(turn(self.A)), turn(self.B), symmetric(turn(self.C)))

    def seen_from(self, p: Any) -> "Articulated":
        """About another point, from which the present one lies at p."""
        P = skew(p)
        B = self.B + P @ self.C

        def entry(i: int, j: int) -> Any:  # of [p] B^T + ([p] B'^T)^T; on the diagonal the two share their factor
            if i == j:
                return dot(P[..., i, :], self.B[..., i, :] + B[..., i, :])
            return dot(P[..., i, :], self.B[..., j, :]) + dot(P[..., j, :], B[..., i, :])

        rows = [stack([self.A[..., i, j] + entry(i, j) if i <= j else self.A[..., i, j] for j in range(3)]) for i in range(3)]
        return Articulated(symmetric(np.stack(np.broadcast_arrays(*rows), axis=-2)), B, self.C)


def rigid(mass: Any, com: Any, inertia: Any) -> Articulated:
    """A single link."""
    r = mass * skew(com)
    return Articulated(symmetric(inertia - r @ skew(com)), r, mass * np.eye(3, dtype=int))


def accelerations(
    tree: Tree,
    q: Any,
    qd: Any,
    tau: Any,
    wrenches: Any,
    base_twist: Any,
    base_acceleration: Any,
    pivots: Pivots,
    fixed_turn: Callable[[Any, Any], Array],
) -> Array:
    """Joint accelerations qdd (..., n); `fixed_turn(R, T)` is how the method rotates a tensor by a constant rotation."""
    joints = axes(tree, q)
    base = tree.base_motion(base_twist, base_acceleration)
    forces = bias_forces(tree, joints, qd, base, wrenches)
    r, G, e = inward(tree, joints, tau, forces, pivots, fixed_turn)
    return outward(tree, joints, r, G, e)


def bias_forces(tree: Tree, joints: list[Axis], qd: Any, base: tuple[Any, Any, Any], wrenches: Any) -> list[Array]:
    """p_i: the wrench on link i about its frame's origin required while no joint accelerates."""
    motion: list[tuple[Any, Any, Any]] = []
    forces: list[Array] = []
    for i, parent in enumerate(tree.parents):
        j, z_qd = joints[i], along_z(qd[..., i])
        w, wd, vd = base if parent < 0 else motion[parent]
        w, wd, vd = j.into(w), j.into(wd), j.into(vd + swing(w, wd, j.fixed.translation))
        vd = vd + 2 * j.sigma * cross(w, z_qd)
        wd = wd + j.rho * cross(w, z_qd)
        w = w + j.rho * z_qd
        vd = vd + swing(w, wd, along_z(j.slide))
        motion.append((w, wd, vd))
        m, c, I = tree.body(i)
        F = m * (vd + swing(w, wd, c))
        p = join(spin(I, w, wd) + cross(c, F), F)
        forces.append(p if wrenches is None else p - wrench_on(tree, i, wrenches))
    return forces


def inward(
    tree: Tree,
    joints: list[Axis],
    tau: Any,
    forces: list[Array],
    pivots: Pivots,
    fixed_turn: Callable[[Any, Any], Array],
) -> tuple[list[Any], list[Any], list[Any]]:
    """1/D_i, G_i and e_i, from the tips to the base."""
    n = len(tree.parents)
    P = [rigid(*tree.body(i)) for i in range(n)]
    z = list(forces)
    r: list[Any] = [None] * n
    G: list[Any] = [None] * n
    e: list[Any] = [None] * n
    for i in reversed(range(n)):
        s, parent = tree.axis(i), tree.parents[i]
        U = P[i].times(s)
        r[i] = 1 / pivots(i, dot(s, U))
        free = free_axis(tree, i, pivots)
        G[i] = gain(U, r[i], free)
        e[i] = tau[..., i] - dot(s, z[i])
        if parent >= 0:
            P[parent] = P[parent].plus(to_parent(P[i].less(G[i], U, free), joints[i], fixed_turn))
            z[parent] = z[parent] + joints[i].wrench(z[i] + scaled(e[i], G[i]))
    return r, G, e


def to_parent(P: Articulated, joint: Axis, fixed_turn: Callable[[Any, Any], Array]) -> Articulated:
    """An articulated inertia in the parent's frame: through the joint's translation and rotation, then the fixed step."""
    R, p = joint.fixed
    P = P.seen_from(along_z(joint.slide)).turned(lambda T: turn_tensor(joint.c, joint.s, T))
    return P.turned(lambda T: fixed_turn(R, T)).seen_from(p)


def outward(tree: Tree, joints: list[Axis], r: list[Any], G: list[Any], e: list[Any]) -> Array:
    """qdd_i, from the base to the tips."""
    alpha: list[Any] = []
    qdd: list[Any] = []
    for i, parent in enumerate(tree.parents):
        s = tree.axis(i)
        if parent < 0:
            qdd.append(e[i] * r[i])
            alpha.append(scaled(qdd[i], s))
            continue
        carried = joints[i].twist(alpha[parent])
        qdd.append(e[i] * r[i] - dot(G[i], carried))
        alpha.append(carried + scaled(qdd[i], s))
    return stack(qdd)
