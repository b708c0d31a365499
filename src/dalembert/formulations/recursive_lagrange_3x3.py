"""Hollerbach's recursive Lagrangian with 3x3 matrices: Silver 1981, section 1.4.

W_i is the rotation of link i, p_i its origin, s_i the same origin in the parent's axes, dR_i and ds_i their derivatives by q_i.
Outward: Wdd and pdd, which starts from minus gravity. Inward, over all links behind joint i: e_i = sum of integral xdd dm, D_i
= sum of integral y xdd^T dm with y the position from the origin of link i in its axes. tau_i = Tr(W_p dR_i D_i) + e_i . W_p
ds_i.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import (
    Array,
    Transform,
    along_z,
    dot,
    pseudo_inertia,
    rotate,
    skew,
    split,
    stack,
    trace_of_product,
    zeros,
)
from dalembert.model.tree import Tree


class Link(NamedTuple):
    """The pose of a link and its derivatives in time, and those by its own joint."""

    W: Any
    Wd: Any
    Wdd: Any
    pdd: Any
    W_q: Any  # by q_i: W_p dR_i
    p_q: Any  # by q_i: W_p ds_i


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    poses = [tree.pose(i, q[..., i]) for i in range(len(tree.parents))]
    links = outward(tree, poses, qd, qdd)
    D, e = inward(tree, poses, links, wrenches)
    return stack([trace_of_product(link.W_q, D[i]) + dot(link.p_q, e[i]) for i, link in enumerate(links)])


def outward(tree: Tree, poses: list[Transform], qd: Any, qdd: Any) -> list[Link]:
    """All links, from the base to the tips."""
    links: list[Link] = []
    for i, p in enumerate(tree.parents):
        before, _, rho, sigma = tree.joint(i)
        R, s = poses[i]
        v, a = qd[..., i, None, None], qdd[..., i, None, None]
        turn = skew(rotate(before.rotation, along_z(rho)))  # the joint's turning in the parent's axes: dR = turn R
        slide = rotate(before.rotation, along_z(sigma))
        dR, d2R = turn @ R, turn @ (turn @ R)
        arm = s - before.translation
        ds, d2s = rotate(turn, arm) + slide, rotate(turn, rotate(turn, arm))
        if p < 0:
            W0, Wd0, Wdd0, pdd0 = np.eye(3, dtype=int), zeros((3, 3)), zeros((3, 3)), -tree.gravity
        else:
            W0, Wd0, Wdd0, pdd0 = links[p].W, links[p].Wd, links[p].Wdd, links[p].pdd
        W_q, p_q = W0 @ dR, rotate(W0, ds)
        W = W0 @ R
        Wd = Wd0 @ R + W_q * v
        Wdd = Wdd0 @ R + 2 * (Wd0 @ dR) * v + (W0 @ d2R) * (v * v) + W_q * a
        v, a = qd[..., i, None], qdd[..., i, None]
        pdd = pdd0 + rotate(Wdd0, s) + 2 * rotate(Wd0, ds) * v + rotate(W0, d2s) * (v * v) + p_q * a
        links.append(Link(W, Wd, Wdd, pdd, W_q, p_q))
    return links


def inward(tree: Tree, poses: list[Transform], links: list[Link], wrenches: Any) -> tuple[list[Any], list[Any]]:
    """D and e of all links, from the tips to the base."""
    n = len(links)
    D: list[Any] = [None] * n
    e: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):
        W, _, Wdd, pdd, _, _ = links[i]
        first = tree.mass[i] * tree.com[i]
        second = pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i])[..., :3, :3]
        e[i] = tree.mass[i] * pdd + rotate(Wdd, first)
        D[i] = second @ Wdd.swapaxes(-1, -2) + first[..., :, None] * pdd[..., None, :]
        if wrenches is not None:
            moment, force = split(wrenches[..., i, :])
            e[i] = e[i] - rotate(W, force)
            D[i] = D[i] - (W @ skew(moment) / 2).swapaxes(-1, -2)
        for j in children[i]:
            R, s = poses[j]
            e[i] = e[i] + e[j]
            D[i] = D[i] + R @ D[j] + s[..., :, None] * e[j][..., None, :]
    return D, e
