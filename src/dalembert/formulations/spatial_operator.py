"""Spatial operators: Kozlowski 1995, equations (37), (38), after Rodriguez and Jain.

tau = H Phi (M Phi^* (H^* qdd + a) + b). H (n x 6n) holds the joint axes, M (6n x 6n) the spatial inertias, Phi the transfer of
forces from every link to those before it; a(k) is the bias acceleration, b(k) the bias force with gravity and external wrenches
in it. The paper numbers links from the tip; here the base comes first, so Phi is upper triangular. Frames stand on the joint
axes: link k's frame is moved back through `after`.

Corrected: E-K1 (the direction of l), E-K2 (m omega x v in b(k)), E-K4, E-K8 (qdd in (38)); a(k) for both kinds of joints
(E-K3).
"""

from typing import Any

import numpy as np

from dalembert.model.tree import Tree
from dalembert.spatial import (
    Ad,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    ad_dual,
    along_z,
    compose,
    exp_z,
    inverse,
    join,
    rotate,
    rotate_back,
    spatial_inertia,
    stack,
    zeros,
)


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    frames = joint_frames(tree, q)
    H = [join(along_z(tree.screw[i][0]), along_z(tree.screw[i][1])) for i in range(n)]
    absolute: list[Transform] = []
    V: list[Any] = []
    a: list[Any] = []
    b: list[Any] = []
    M: list[Any] = []
    for i, parent in enumerate(tree.parents):
        _, after, _, _ = tree.joint(i)
        absolute.append(frames[i] if parent < 0 else compose(absolute[parent], frames[i]))
        rate = H[i] * qd[..., i, None]
        V.append(rate if parent < 0 else Ad(inverse(frames[i]), V[parent]) + rate)
        a.append(ad(V[i], rate))
        R, p = after
        com = rotate(R, tree.com[i]) + p  # in the joint's frame
        M.append(spatial_inertia(tree.mass[i], com, R @ tree.inertia[i] @ np.swapaxes(R, -1, -2)))
        g = join(zeros(3), rotate_back(absolute[i].rotation, tree.gravity))
        b_i = -ad_dual(V[i], rotate(M[i], V[i])) - rotate(M[i], g)
        b.append(b_i if wrenches is None else b_i - Ad_inverse_dual(after, wrenches[..., i, :]))
    force = [
        rotate(M[i], alpha) + b[i]
        for i, alpha in enumerate(_phi_star(tree, frames, [H[i] * qdd[..., i, None] + a[i] for i in range(n)]))
    ]
    return stack([(H[i] * f).sum(axis=-1) for i, f in enumerate(_phi(tree, frames, force))])  # (38)


def joint_frames(tree: Tree, q: Any) -> list[Transform]:
    """The frame on joint i, moving with link i, in that of its parent."""
    found: list[Transform] = []
    for i, parent in enumerate(tree.parents):
        before, _, rho, sigma = tree.joint(i)
        above = before if parent < 0 else compose(tree.joint(parent)[1], before)
        found.append(compose(above, exp_z(rho, sigma, tree.at(i, q[..., i]))))
    return found


def _phi_star(tree: Tree, frames: list[Transform], x: list[Any]) -> list[Any]:
    """Phi^* x: twists handed on from every link to those behind it."""
    y: list[Any] = []
    for i, parent in enumerate(tree.parents):
        y.append(x[i] if parent < 0 else Ad(inverse(frames[i]), y[parent]) + x[i])
    return y


def _phi(tree: Tree, frames: list[Transform], x: list[Any]) -> list[Any]:
    """Phi x: wrenches handed back from every link to those before it."""
    y = list(x)
    for i in reversed(range(len(x))):
        parent = tree.parents[i]
        if parent >= 0:
            y[parent] = y[parent] + Ad_inverse_dual(frames[i], y[i])
    return y
