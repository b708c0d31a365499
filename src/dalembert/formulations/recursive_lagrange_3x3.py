"""Hollerbach's recursive Lagrangian with 3x3 matrices: Silver 1981, section 1.4.

W_i is the rotation of link i, p_i its origin, s_i the same origin in the parent's axes, dR_i and ds_i their derivatives by q_i.
Outward: Wdd and pdd, which starts from minus gravity. Inward, over all links behind joint i: e_i = sum of integral xdd dm, D_i
= sum of integral y xdd^T dm with y the position from the origin of link i in its axes. tau_i = Tr(W_p dR_i D_i) + e_i . W_p
ds_i.
"""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, along_z, dot, pseudo_inertia, rotate, skew, split, stack, trace_of_product, zeros
from dalembert.model.tree import Tree


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    poses = [tree.pose(i, q[..., i]) for i in range(n)]
    W: list[Any] = []
    Wd: list[Any] = []
    Wdd: list[Any] = []
    pdd: list[Any] = []
    up_R: list[Any] = []  # W_p dR_i
    up_s: list[Any] = []  # W_p ds_i
    for i, p in enumerate(tree.parents):
        before, _, rho, sigma = tree.joint(i)
        R, s = poses[i]
        v, a = qd[..., i, None, None], qdd[..., i, None, None]
        turn = skew(rotate(before.rotation, along_z(rho)))  # the joint's turning in the parent's axes: dR = turn R
        slide = rotate(before.rotation, along_z(sigma))
        dR, d2R = turn @ R, turn @ (turn @ R)
        arm = s - before.translation
        ds, d2s = rotate(turn, arm) + slide, rotate(turn, rotate(turn, arm))
        W0, Wd0, Wdd0, pdd0 = (
            (np.eye(3, dtype=int), zeros((3, 3)), zeros((3, 3)), -tree.gravity) if p < 0 else (W[p], Wd[p], Wdd[p], pdd[p])
        )
        up_R.append(W0 @ dR)
        up_s.append(rotate(W0, ds))
        W.append(W0 @ R)
        Wd.append(Wd0 @ R + up_R[i] * v)
        Wdd.append(Wdd0 @ R + 2 * (Wd0 @ dR) * v + (W0 @ d2R) * (v * v) + up_R[i] * a)
        v, a = qd[..., i, None], qdd[..., i, None]
        pdd.append(pdd0 + rotate(Wdd0, s) + 2 * rotate(Wd0, ds) * v + rotate(W0, d2s) * (v * v) + up_s[i] * a)
    D: list[Any] = [None] * n
    e: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):
        first = tree.mass[i] * tree.com[i]
        second = pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i])[..., :3, :3]
        e[i] = tree.mass[i] * pdd[i] + rotate(Wdd[i], first)
        D[i] = second @ Wdd[i].swapaxes(-1, -2) + first[..., :, None] * pdd[i][..., None, :]
        if wrenches is not None:
            moment, force = split(wrenches[..., i, :])
            e[i] = e[i] - rotate(W[i], force)
            D[i] = D[i] - (W[i] @ skew(moment) / 2).swapaxes(-1, -2)
        for j in children[i]:
            R, s = poses[j]
            e[i] = e[i] + e[j]
            D[i] = D[i] + R @ D[j] + s[..., :, None] * e[j][..., None, :]
    return stack([trace_of_product(up_R[i], D[i]) + dot(up_s[i], e[i]) for i in range(n)])
