"""Composite rigid bodies, compared in one frame: M, the Coriolis matrix, and the derivatives of joint forces.

`composite_body` carries a wrench from every joint to the base and turns it into the axes of each joint on the way. Here wrenches
and axes are brought into one frame once, that of the first joint on their path; an entry of M is one inner product, s_i . F_j.
Composite bodies are gathered in the axes of their joints as before, and entries on the diagonal formed there: about a far point
they would lose digits.

The derivatives are those of Carpentier and Mansard 2018 in the form of Singh, Russell and Wensing 2022. V_p is the velocity of the
link before joint j and A_p its spatial acceleration, minus gravity; x is the bracket of twists, x* its dual:

psid_j = V_p x s_j, the rate of s_j; psidd_j = A_p x s_j + V_p x psid_j

With Ic, Bc (see `composite_body`: it takes angular parts only) and the wrench f of all that joint j carries, for i on its path:

dtau_i/dq_j = s_i . (Ic_j psidd_j + 2 Bc_j psid_j + s_j x* f_j), dtau_j/dq_i = s_j . (Ic_j psidd_i + 2 Bc_j psid_i)
dtau_i/dqd_j = s_i . (2 Ic_j psid_j + 2 Bc_j s_j), dtau_j/dqd_i = s_j . (2 Ic_j psid_i + 2 Bc_j s_i), and C = (dtau/dqd) / 2
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import (
    Ad,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    ad_dual,
    compose,
    cross,
    dot,
    join,
    matrix,
    rotate,
    split,
    zeros,
)
from dalembert.formulations.composite_body import about_origin, composite, moving_bodies, times
from dalembert.formulations.shared.axes import Axis, axes, joint_frames, wrench_on
from dalembert.model.tree import Tree

Entries = dict[tuple[int, int], Any]


class Seen(NamedTuple):
    """One six-vector for each joint, in the frame on its axis and in the common one."""

    own: Sequence[Any]
    common: Sequence[Any]


class Motion(NamedTuple):
    """Velocity, acceleration, psid and psidd of every joint, in the frame on its axis."""

    V: list[Any]
    A: list[Any]
    psid: list[Any]
    psidd: list[Any]


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n), rotors left out."""
    frames, joint_axes = common_frames(tree, q), own_axes(tree)
    s = twists(frames, joint_axes)
    F = wrenches_of(frames, [times(b, x) for b, x in zip(composite(tree, axes(tree, q)), joint_axes, strict=True)])
    return matrix(mirrored(upper(tree, s, F)), len(joint_axes))


def coriolis_matrix(tree: Tree, q: Any, qd: Any) -> Array:
    """C (..., n, n) with Mdot - 2 C skew."""
    joints, frames = axes(tree, q), common_frames(tree, q)
    motion = outward(tree, joints, qd, zeros(len(joints)), (zeros(3), zeros(3), zeros(3)))
    s, psid = twists(frames, own_axes(tree)), twists(frames, motion.psid)
    F, G, row, _ = carried(tree, joints, motion)
    C = upper(tree, s, wrenches_of(frames, [x / 2 for x in G]))
    C |= lower(tree, wrenches_of(frames, F).common, psid.common, turned(frames, [x / 2 for x in row]), s.common)
    return matrix(C, len(joints))


def inverse_dynamics_derivatives(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> tuple[Array, Array, Array]:
    """d tau / d q, d tau / d qd and M, each (..., n, n), the force first; friction and rotors left out."""
    n, joints, frames = len(tree.parents), axes(tree, q), common_frames(tree, q)
    motion = outward(tree, joints, qd, qdd, tree.base_motion(base_twist, base_acceleration))
    f = inward(tree, joints, motion, wrenches)
    s, psid, psidd = (twists(frames, x) for x in (own_axes(tree), motion.psid, motion.psidd))
    F, G, row, H = carried(tree, joints, motion)
    F, G = wrenches_of(frames, F), wrenches_of(frames, G)
    H = wrenches_of(frames, [h - ad_dual(x, y) for h, x, y in zip(H, s.own, f, strict=True)])
    row = turned(frames, row)
    dq = upper(tree, s, H) | lower(tree, F.common, psidd.common, row, psid.common)
    dqd = upper(tree, s, G) | lower(tree, [2 * x for x in F.common], psid.common, row, s.common)
    return matrix(dq, n), matrix(dqd, n), matrix(mirrored(upper(tree, s, F)), n)


def outward(tree: Tree, joints: list[Axis], qd: Any, qdd: Any, base: tuple[Any, Any, Any]) -> Motion:
    """From the base to the tips. Only the angular velocity of the base matters: to its origin all else is relative."""
    w, wd, vd = base
    motion = Motion([], [], [], [])
    for i, parent in enumerate(tree.parents):
        V, A = (join(w, zeros(3)), join(wd, vd)) if parent < 0 else (motion.V[parent], motion.A[parent])
        V, A, s, rate = joints[i].twist(V), joints[i].twist(A), tree.axis(i), qd[..., i, None]
        psid = ad(V, s)
        motion.psid.append(psid)
        motion.psidd.append(ad(A, s) + ad(V, psid))
        motion.V.append(V + s * rate)
        motion.A.append(A + s * qdd[..., i, None] + psid * rate)
    return motion


def inward(tree: Tree, joints: list[Axis], motion: Motion, wrenches: Any) -> list[Any]:
    """f, the wrench that moves all that each joint carries."""
    f: list[Any] = []
    for i, (V, A) in enumerate(zip(motion.V, motion.A, strict=True)):
        body = about_origin(*tree.body(i))
        moving = times(body, A) - ad_dual(V, times(body, V))
        f.append(moving if wrenches is None else moving - wrench_on(tree, i, wrenches))
    for i in reversed(range(len(f))):
        if (parent := tree.parents[i]) >= 0:
            f[parent] = f[parent] + joints[i].wrench(f[i])
    return f


def carried(tree: Tree, joints: list[Axis], motion: Motion) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Ic s, 2 Ic psid + 2 Bc s, the angular part of 2 Bc^T s (the linear one is zero) and Ic psidd + 2 Bc psid of every joint."""
    F, G, row, H = list[Any](), list[Any](), list[Any](), list[Any]()
    bodies = zip(composite(tree, joints), moving_bodies(tree, joints, motion.V), strict=True)
    for j, (body, moving) in enumerate(bodies):
        s, psid, (S, momentum) = tree.axis(j), motion.psid[j], moving
        (turn, slide), (moment, force) = split(s), split(momentum)
        F.append(times(body, s))
        G.append(2 * times(body, psid) + twice_B(S, momentum, s))
        row.append(rotate(S, turn) + cross(moment, turn) + 2 * cross(force, slide))
        H.append(times(body, motion.psidd[j]) + twice_B(S, momentum, psid))
    return F, G, row, H


def twice_B(S: Any, momentum: Any, V: Any) -> Array:
    """2 B V."""
    w, (moment, force) = split(V)[0], split(momentum)
    return join(rotate(S, w) - cross(moment, w), -2 * cross(force, w))


# --- one frame ----------------------------------------------------------------------------------------------------------


def common_frames(tree: Tree, q: Any) -> list[Transform]:
    """The frame on every joint's axis, seen from that of the first joint on its path."""
    frames: list[Transform] = []
    for frame, parent in zip(joint_frames(tree, q), tree.parents, strict=True):
        frames.append(Transform(np.eye(3, dtype=int), zeros(3)) if parent < 0 else compose(frames[parent], frame))
    return frames


def own_axes(tree: Tree) -> list[Any]:
    """Every joint's axis in the frame on it."""
    return [tree.axis(i) for i in range(len(tree.parents))]


def twists(frames: list[Transform], own: Sequence[Any]) -> Seen:
    """One twist for each joint."""
    return Seen(own, [Ad(T, x) for T, x in zip(frames, own, strict=True)])


def wrenches_of(frames: list[Transform], own: Sequence[Any]) -> Seen:
    """One wrench for each joint."""
    return Seen(own, [Ad_inverse_dual(T, x) for T, x in zip(frames, own, strict=True)])


def turned(frames: list[Transform], own: Sequence[Any]) -> list[Any]:
    """One three-vector for each joint, in the common axes."""
    return [rotate(T.rotation, x) for T, x in zip(frames, own, strict=True)]


def upper(tree: Tree, s: Seen, F: Seen) -> Entries:
    """s_i . F_j for every joint j and the joints i on its path."""
    entries: Entries = {(j, j): dot(*pair) for j, pair in enumerate(zip(s.own, F.own, strict=True))}
    return entries | {(i, j): dot(s.common[i], F.common[j]) for j in range(len(F.own)) for i in tree.path(j)[:-1]}


def lower(tree: Tree, F: Sequence[Any], x: Sequence[Any], row: Sequence[Any], y: Sequence[Any]) -> Entries:
    """F_j . x_i + row_j . the angular part of y_i at (j, i), for every joint j and the joints i before it."""
    return {(j, i): dot(F[j], x[i]) + dot(row[j], split(y[i])[0]) for j in range(len(F)) for i in tree.path(j)[:-1]}


def mirrored(entries: Entries) -> Entries:
    """Those of a symmetric matrix."""
    return entries | {(j, i): x for (i, j), x in entries.items()}
