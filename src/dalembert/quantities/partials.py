"""Silver's derivation, AI Memo 622, section 3 and appendix A: partial velocities, the partials of kinetic energy, sums of forces.

All vectors are in base axes; v_i is the velocity of the centre of mass of link i, z_j the axis of joint j, o_j a point on it. The
partial d v_i / d qd_j is dv_dqd[..., i, j, :], and 0 unless joint j carries link i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.bodies import inertia_rate
from dalembert.algebra.spatial import Array, congruent, cross, dot, rotate, scaled, stack
from dalembert.engine.evaluation import of_tree
from dalembert.formulations import angular_velocity_lagrange as silver
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.quantities.factors import lagrange_euler_matrices


class PartialVelocities(NamedTuple):
    """v and omega of the links (..., n, 3); their partials and the time rates of those, (..., n, n, 3): link, joint, axis."""

    v: Array
    omega: Array
    dv_dqd: Array
    domega_dqd: Array
    dv_dq: Array
    domega_dq: Array
    dv_dqd_rate: Array
    domega_dqd_rate: Array


class EnergyPartials(NamedTuple):
    """The kinetic energy (...,) and its partials (..., n), with the time rate of the first one."""

    K: Array
    dK_dqd: Array  # noqa: N815
    dK_dqd_rate: Array  # noqa: N815
    dK_dq: Array  # noqa: N815


class SuffixSums(NamedTuple):
    """What joint j carries (..., n, 3): the force, and the moment about a point of its axis; and the joint forces (..., n)."""

    force: Array
    moment: Array
    tau: Array


class EnergyParts(NamedTuple):
    """Kinetic energy of each link (..., n): of its translation, of its rotation, and both by the trace of 4x4 matrices."""

    tran: Array
    rot: Array
    trace: Array


class Chain(NamedTuple):
    """The links in motion, and what the functions here make of them; pairs are by (link, joint)."""

    links: list[silver.Link]
    turn: list[Any]  # rho z
    tensor: list[Any]  # about the centre of mass, in base axes
    v: list[Any]
    dv: dict[tuple[int, int], Any]
    dw: dict[tuple[int, int], Any]


def _chain(tree: Tree, q: Array, qd: Array, qdd: Array) -> Chain:
    poses = tree.poses(q)
    links = silver.outward(tree, poses, qd, qdd, None)
    turn = [tree.joint(j)[2] * link.z for j, link in enumerate(links)]
    tensor = [congruent(T.rotation, I) for T, I in zip(poses, tree.inertia, strict=True)]
    dv: dict[tuple[int, int], Any] = {}
    dw: dict[tuple[int, int], Any] = {}
    for i in range(len(links)):
        for j in tree.path(i):
            dv[i, j], dw[i, j] = silver.partial_velocity(tree, links, i, j)  # (3.15), (3.16), (A.1)
    v = [sum(scaled(qd[..., j], dv[i, j]) for j in tree.path(i)) for i in range(len(links))]  # (3.13); (3.3-38), (3.4-4)
    return Chain(links, turn, tensor, v, dv, dw)


def _dv_dq(tree: Tree, c: Chain, qd: Array, i: int, j: int) -> Array:
    """The partial of v_i by q_j: joint j turns all that follows it, (A.3) for the vectors of joints and points."""
    total = np.zeros(3)
    path = tree.path(i)
    for k in path:
        first, last = (j, k) if path.index(j) <= path.index(k) else (k, j)
        total = total + scaled(qd[..., k], cross(c.turn[first], c.dv[i, last]))
    return total


def _dw_dq(c: Chain, i: int, j: int) -> Array:
    """The partial of omega_i by q_j: joint j turns the axes that follow it (A.3)."""
    return cross(c.turn[j], c.links[i].w - c.links[j].w)  # (A.3)


def _pairs(n: int, batch: tuple[int, ...], entries: dict[tuple[int, int], Any]) -> Array:
    zero = np.zeros((*batch, 3))
    flat = [np.broadcast_to(entries.get(pair, zero), zero.shape) for pair in np.ndindex(n, n)]
    return np.stack(flat, axis=-2).reshape((*batch, n, n, 3))


def _rows(entries: list[Any], batch: tuple[int, ...]) -> Array:
    return np.stack([np.broadcast_to(x, (*batch, 3)) for x in entries], axis=-2)


@np.errstate(all="ignore")
def partial_velocities(robot: Model, q: ArrayLike, qd: ArrayLike) -> PartialVelocities:
    """v, omega of the centres of mass, their partials by qd and q, and the rates of the former.

    Silver (3.13) to (3.16), (A.1) to (A.3). Signature (n),(n)->(n,3),(n,3),(n,n,3), ... The partials by q come from (A.3), the
    rates from the motion of axes and points (A.2), so that the identities d/dt dv/dqd = dv/dq (3.4) and
    d/dt domega/dqd = domega/dq + omega x domega/dqd (3.6), (3.7) can be seen.

    >>> import dalembert as da
    >>> p = da.robot("two_link").partial_velocities([0.0, 0.5], [1.0, 2.0])
    >>> bool(abs(p.dv_dqd_rate - p.dv_dq).max() < 1e-14), p.omega[1].tolist()
    (True, [0.0, 0.0, 3.0])
    """
    q, qd = of_tree(robot, "partial_velocities", q=q, qd=qd)
    tree, n, batch = robot.tree, robot.n, q.shape[:-1]
    c = _chain(tree, q, qd, np.zeros(qd.shape))
    rates: dict[tuple[int, int], Any] = {}
    turning: dict[tuple[int, int], Any] = {}
    for i, j in c.dv:
        _, _, rho, sigma = tree.joint(j)
        link, joint = c.links[i], c.links[j]
        at_joint = c.v[j] + cross(joint.w, joint.o - joint.c)
        zd = cross(joint.w, joint.z)  # (A.2)
        rates[i, j] = rho * (cross(zd, link.c - joint.o) + cross(joint.z, c.v[i] - at_joint)) + sigma * zd
        turning[i, j] = rho * zd
    return PartialVelocities(
        _rows(c.v, batch),
        _rows([link.w for link in c.links], batch),
        _pairs(n, batch, c.dv),
        _pairs(n, batch, c.dw),
        _pairs(n, batch, {(i, j): _dv_dq(tree, c, qd, i, j) for i, j in c.dv}),
        _pairs(n, batch, {(i, j): _dw_dq(c, i, j) for i, j in c.dv}),
        _pairs(n, batch, rates),
        _pairs(n, batch, turning),
    )


@np.errstate(all="ignore")
def kinetic_energy_partials(robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> EnergyPartials:
    """K (3.1), dK/dqd (3.2), its time rate (3.8) and dK/dq (3.9): Silver. Signature (n),(n),(n)->(),(n),(n),(n).

    The rate minus dK/dq is the joint force of Lagrange's equation (1.1), gravity, rotors and friction left out; in the
    textbooks (3.2-1), (9.3).

    >>> import dalembert as da
    >>> arm, state = da.robot("two_link").with_gravity((0, 0, 0)), ([0.0, 0.5], [1.0, 2.0], [0.3, 0.1])
    >>> p = arm.kinetic_energy_partials(*state)
    >>> bool(abs(p.dK_dqd_rate - p.dK_dq - arm.inverse_dynamics(*state)).max() < 1e-14)
    True
    """
    q, qd, qdd = of_tree(robot, "kinetic_energy_partials", q=q, qd=qd, qdd=qdd)
    tree, n = robot.tree._replace(gravity=np.zeros(3)), robot.n
    c = _chain(tree, q, qd, qdd)
    none = 0 * q[..., 0]
    first, rate, last = [none] * n, [none] * n, [none] * n
    K = none
    for i, link in enumerate(c.links):
        m, I = tree.mass[i], c.tensor[i]
        vd = link.F / m if m else np.zeros(3)
        Iw = rotate(I, link.w)
        K = K + (m * dot(c.v[i], c.v[i]) + dot(link.w, Iw)) / 2  # (3.1)
        for j in tree.path(i):
            dv, dw = c.dv[i, j], c.dw[i, j]
            dv_dq, dw_dq = _dv_dq(tree, c, qd, i, j), _dw_dq(c, i, j)
            dI_dq = inertia_rate(I, dw)
            first[j] = first[j] + m * dot(c.v[i], dv) + dot(Iw, dw)  # (3.2)
            # (3.8), (3.9)
            rate[j] = rate[j] + m * (dot(vd, dv) + dot(c.v[i], dv_dq)) + dot(rotate(I, link.wd), dw) + dot(Iw, dw_dq)
            last[j] = last[j] + m * dot(c.v[i], dv_dq) + dot(Iw, dw_dq) + dot(link.w, rotate(dI_dq, link.w)) / 2
    return EnergyPartials(K, stack(first), stack(rate), stack(last))


@np.errstate(all="ignore")
def suffix_sums(robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> SuffixSums:
    """The joint forces by sums over the links behind each joint, from the tips to the base: Silver, end of section 3.2.

    z_j . sum F_i for a prismatic joint, z_j . sum (p_ji x F_i + N_i) for a revolute one, each sum taken from the one behind it: so
    the n^2 terms of (3.12) become the O(n) recursion of Newton and Euler. Signature (n),(n),(n)->(n,3),(n,3),(n). In base axes;
    gravity included, rotors and friction left out.

    >>> import dalembert as da
    >>> da.robot("two_link").suffix_sums([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).tau.tolist()
    [19.6124, 4.9031]
    """
    q, qd, qdd = of_tree(robot, "suffix_sums", q=q, qd=qd, qdd=qdd)
    tree, n, batch = robot.tree, robot.n, q.shape[:-1]
    links = silver.outward(tree, tree.poses(q), qd, qdd, None)
    force = [link.F for link in links]
    moment = [link.N + cross(link.c - link.o, link.F) for link in links]
    for i in reversed(range(n)):
        if (parent := tree.parents[i]) >= 0:
            force[parent] = force[parent] + force[i]
            moment[parent] = moment[parent] + moment[i] + cross(links[i].o - links[parent].o, force[i])
    joints = [tree.joint(j)[2:] for j in range(n)]
    tau = [rho * dot(links[j].z, moment[j]) + sigma * dot(links[j].z, force[j]) for j, (rho, sigma) in enumerate(joints)]
    return SuffixSums(_rows(force, batch), _rows(moment, batch), stack(tau))


@np.errstate(all="ignore")
def kinetic_energy_parts(robot: Model, q: ArrayLike, qd: ArrayLike) -> EnergyParts:
    """The kinetic energy of each link, by translation and rotation, and by traces. Signature (n),(n)->(n),(n),(n).

    tran and rot are m v.v / 2 and omega.I omega / 2: Fu, Gonzalez and Lee (3.4-5), Silver (3.1); trace is
    Tr(sum_p sum_r U_ip J_i U_ir^T qd_p qd_r) / 2, (3.2-16), their sum; over all links it is (3.2-20). Rotors are left out.

    >>> import dalembert as da
    >>> tran, rot, trace = da.robot("two_link").kinetic_energy_parts([0.0, 0.0], [1.0, 0.0])
    >>> tran.tolist(), bool(abs(tran + rot - trace).max() < 1e-15)
    ([0.125, 1.125], True)
    """
    q, qd = of_tree(robot, "kinetic_energy_parts", q=q, qd=qd)
    c = _chain(robot.tree, q, qd, np.zeros(qd.shape))
    tran = [m * dot(v, v) / 2 for m, v in zip(robot.tree.mass, c.v, strict=True)]  # (3.4-5)
    rot = [dot(link.w, rotate(I, link.w)) / 2 for link, I in zip(c.links, c.tensor, strict=True)]
    matrices = lagrange_euler_matrices(robot, q)
    rate = (matrices.U * qd[..., None, :, None, None]).sum(axis=-3)
    return EnergyParts(stack(tran), stack(rot), ((rate @ matrices.J) * rate).sum(axis=(-2, -1)) / 2)  # (3.2-16)
