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

Second derivatives of L = weights . tau = sum u . f over all bodies, where u is the velocity that the weights would be the rates of:
differentiating by q_j changes u of all that joint j carries by gamma_j = u_p x s_j, and V and A by psid_j and psidd_j + psid_j x V.
With the momentum U_j = sum I u and 2 Bu_j of velocities u instead of V, and W_j = sum 2 B^T u, of all that joint j carries,

dL/dq_j = gamma_j . f_j + psidd_j . U_j + psid_j . W_j, dL/dqd_j = 2 psid_j . U_j + s_j . W_j, dL/dqdd_j = s_j . U_j

and so on once more: u . 2 B(V) x = -V . 2 B(u) x takes them to what is written in `inverse_dynamics_hessian`.
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
from dalembert.formulations.composite_body import about_origin, composite, moving_bodies, moving_body, times
from dalembert.formulations.shared.axes import Axis, axes, joint_frames, wrench_on
from dalembert.model.tree import Body, Tree

Entries = dict[tuple[int, int], Any]


class Seen(NamedTuple):
    """One vector for each joint, in the frame on its axis and in the common one."""

    own: Sequence[Any]
    common: Sequence[Any]


class Carried(NamedTuple):
    """Of all that every joint carries, in the frame on its axis."""

    inertia: list[Body]  # Ic
    moving: list[tuple[Any, Any]]  # S and the momentum, of which 2 Bc is made
    F: list[Any]  # Ic s
    G: list[Any]  # 2 Ic psid + 2 Bc s
    H: list[Any]  # Ic psidd + 2 Bc psid
    row: list[Any]  # the angular part of 2 Bc^T s; the linear one is zero


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
    return matrix(mirrored(pairs(tree, (s, F))), len(joint_axes))


def coriolis_matrix(tree: Tree, q: Any, qd: Any) -> Array:
    """C (..., n, n) with Mdot - 2 C skew."""
    joints, frames = axes(tree, q), common_frames(tree, q)
    motion = outward(tree, joints, qd, zeros(len(joints)), (zeros(3), zeros(3), zeros(3)))
    body = carried(tree, joints, motion)
    s, psid = twists(frames, own_axes(tree)), twists(frames, motion.psid)
    F, G = wrenches_of(frames, body.F), wrenches_of(frames, [x / 2 for x in body.G])
    row = turned(frames, [x / 2 for x in body.row])
    return matrix(pairs(tree, (s, G)) | flipped(pairs(tree, (psid, F), (angular(s), row), own=False)), len(joints))


def inverse_dynamics_derivatives(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> tuple[Array, Array, Array]:
    """d tau / d q, d tau / d qd and M, each (..., n, n), the force first; friction and rotors left out."""
    n, joints, frames = len(tree.parents), axes(tree, q), common_frames(tree, q)
    motion = outward(tree, joints, qd, qdd, tree.base_motion(base_twist, base_acceleration))
    body, f = carried(tree, joints, motion), inward(tree, joints, motion, wrenches)
    s, psid, psidd = (twists(frames, x) for x in (own_axes(tree), motion.psid, motion.psidd))
    F, G = wrenches_of(frames, body.F), wrenches_of(frames, body.G)
    H, row = wrenches_of(frames, crossed(body.H, s.own, f)), turned(frames, body.row)
    dq = pairs(tree, (s, H)) | flipped(pairs(tree, (psidd, F), (angular(psid), row), own=False))
    dqd = pairs(tree, (s, G)) | flipped(pairs(tree, (psid, doubled(F)), (angular(s), row), own=False))
    return matrix(dq, n), matrix(dqd, n), matrix(mirrored(pairs(tree, (s, F))), n)


def inverse_dynamics_hessian(tree: Tree, q: Any, qd: Any, qdd: Any, weights: Any) -> tuple[Array, Array, Array, Array]:
    """The second derivatives of weights . tau by q twice, q and qd, q and qdd, qd twice, each (..., n, n); the others are zero."""
    n, joints, frames = len(tree.parents), axes(tree, q), common_frames(tree, q)
    still = zeros(3), zeros(3), zeros(3)
    motion = outward(tree, joints, qd, qdd, tree.base_motion(None, None))
    virtual = outward(tree, joints, weights, zeros(n), still)
    body, f = carried(tree, joints, motion), inward(tree, joints, motion, None)
    moving, W = moving_bodies(tree, joints, virtual.V), gathered_moments(tree, joints, motion.V, virtual.V)
    s, psid, psidd, gamma = (twists(frames, x) for x in (own_axes(tree), motion.psid, motion.psidd, virtual.psid))
    F, G, H = (wrenches_of(frames, x) for x in (body.F, body.G, crossed(body.H, s.own, f)))
    P = [times(b, x) for b, x in zip(body.inertia, gamma.own, strict=True)]
    P = wrenches_of(frames, crossed(P, s.own, [momentum for _, momentum in moving]))  # Ic gamma + s x* U
    R = turned(frames, [-twice_B_transposed(*m, x) for m, x in zip(moving, s.own, strict=True)])  # -2 Bu^T s
    Q = turned(
        frames,
        [
            twice_B_transposed(*body.moving[j], gamma.own[j]) - twice_B_transposed(*moving[j], psid.own[j])
            + cross(split(s.own[j])[0], W[j])
            for j in range(n)
        ],
    )  # fmt: skip  # 2 Bc^T gamma - 2 Bu^T psid + s x* W
    dq_dq = mirrored(pairs(tree, (gamma, H), (psidd, P), (angular(psid), Q)))
    dq_dqd = pairs(tree, (gamma, G), (angular(psid), R)) | flipped(pairs(tree, (psid, doubled(P)), (angular(s), Q), own=False))
    dq_dqdd = pairs(tree, (gamma, F)) | flipped(pairs(tree, (s, P), own=False))
    dqd_dqd = mirrored(pairs(tree, (angular(s), R)))
    return matrix(dq_dq, n), matrix(dq_dqd, n), matrix(dq_dqdd, n), matrix(dqd_dqd, n)


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


def carried(tree: Tree, joints: list[Axis], motion: Motion) -> Carried:
    """All of it, gathered from the tips."""
    inertia, moving = composite(tree, joints), moving_bodies(tree, joints, motion.V)
    body = Carried(inertia, moving, [], [], [], [])
    for j, (b, m) in enumerate(zip(inertia, moving, strict=True)):
        s, psid = tree.axis(j), motion.psid[j]
        body.F.append(times(b, s))
        body.G.append(2 * times(b, psid) + twice_B(*m, s))
        body.H.append(times(b, motion.psidd[j]) + twice_B(*m, psid))
        body.row.append(twice_B_transposed(*m, s))
    return body


def gathered_moments(tree: Tree, joints: list[Axis], V: list[Any], u: list[Any]) -> list[Any]:
    """W, the sum of 2 B^T u over all that each joint carries, in its axes: moments without a force, the same about all points."""
    W = [twice_B_transposed(*moving_body(about_origin(*tree.body(i)), V[i]), u[i]) for i in range(len(V))]
    for i in reversed(range(len(W))):
        if (parent := tree.parents[i]) >= 0:
            W[parent] = W[parent] + joints[i].out(W[i])
    return W


def twice_B(S: Any, momentum: Any, V: Any) -> Array:
    """2 B V."""
    w, (moment, force) = split(V)[0], split(momentum)
    return join(2 * rotate(S, w) - cross(moment, w), -2 * cross(force, w))


def twice_B_transposed(S: Any, momentum: Any, V: Any) -> Array:
    """The angular part of 2 B^T V."""
    (w, v), (moment, force) = split(V), split(momentum)
    return 2 * rotate(S, w) + cross(moment, w) + 2 * cross(force, v)


def crossed(wrenches: list[Any], s: Sequence[Any], F: Sequence[Any]) -> list[Any]:
    """Wrenches and s_j x* F_j."""
    return [x - ad_dual(*pair) for x, *pair in zip(wrenches, s, F, strict=True)]


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


def turned(frames: list[Transform], own: Sequence[Any]) -> Seen:
    """One three-vector for each joint."""
    return Seen(own, [rotate(T.rotation, x) for T, x in zip(frames, own, strict=True)])


def angular(x: Seen) -> Seen:
    """The angular parts."""
    return Seen(*([split(V)[0] for V in side] for side in x))


def doubled(x: Seen) -> Seen:
    """Twice each."""
    return Seen(*([2 * V for V in side] for side in x))


def pairs(tree: Tree, *products: tuple[Seen, Seen], own: bool = True) -> Entries:
    """x_i . F_j, summed over the products, for every joint j and the joints i on its path; `own`: itself included."""
    entries: Entries = {}
    for j in range(len(tree.parents)):
        for i in tree.path(j)[:-1]:
            entries[i, j] = sum(dot(x.common[i], F.common[j]) for x, F in products)
        if own:
            entries[j, j] = sum(dot(x.own[j], F.own[j]) for x, F in products)
    return entries


def flipped(entries: Entries) -> Entries:
    """Those of the transpose."""
    return {(j, i): x for (i, j), x in entries.items()}


def mirrored(entries: Entries) -> Entries:
    """Those of a symmetric matrix."""
    return entries | flipped(entries)
