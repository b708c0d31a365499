"""Generalized d'Alembert: Fu, Gonzalez and Lee, section 3.4, with translation and rotation apart.

sum_j D_ij qdd_j + h_i^tran + h_i^rot + c_i = tau_i (3.4-24). All vectors in base axes: z_i the joint axis, o_i a point on it,
r_s the centre of mass of link s, b_is = z_i x (r_s - o_i) the partial velocity (3.4-7). The book treats revolute joints; a
prismatic one has b_is = z_i, no rotational part, and twice w x z qd in the acceleration.

Corrected: E-F8 (gravity enters as +dP/dq), E-F9 (indices of (3.4-23): those of (3.4-26)), E-F10 (the second term of (3.4-27) is
inside the sum).
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array, along_z, cross, dot, matrix, rotate, rotate_back, split, stack, swing, zeros
from dalembert.model.tree import Tree


class Terms(NamedTuple):
    """D_tran, D_rot (..., n, n), h_tran, h_rot and c (..., n)."""

    D_tran: Array
    D_rot: Array
    h_tran: Array
    h_rot: Array
    c: Array


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    D_tran, D_rot, h_tran, h_rot, c = dalembert_terms(tree, q, qd)
    tau = rotate(D_tran + D_rot, qdd) + h_tran + h_rot + c  # (3.4-24)
    return tau if wrenches is None else tau - external(tree, q, wrenches)


class Geometry(NamedTuple):
    """Vectors in base axes: rotations, joint axes and points on them, origins, centres of mass."""

    R: list[Any]
    z: list[Any]
    o: list[Any]
    p: list[Any]
    r: list[Any]


def geometry(tree: Tree, q: Any) -> Geometry:
    """Where everything is."""
    g = Geometry([], [], [], [], [])
    for i, (R, p) in enumerate(tree.poses(q)):
        _, after, _, _ = tree.joint(i)
        g.R.append(R)
        g.z.append(rotate(R, rotate_back(after.rotation, along_z(1))))
        g.o.append(p - rotate(R, rotate_back(after.rotation, after.translation)))
        g.p.append(p)
        g.r.append(p + rotate(R, tree.com[i]))  # (3.4-3)
    return g


def partial_velocity(tree: Tree, g: Geometry, i: int, point: Any) -> Array:
    """b_i at a point: what joint i does to its velocity."""
    _, _, rho, sigma = tree.joint(i)
    return rho * cross(g.z[i], point - g.o[i]) + sigma * g.z[i]  # (3.4-7)


def partials(tree: Tree, g: Geometry) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """b_is, and sR0 z_i (0 for prismatic joints), for the joints i on the path to link s."""
    pairs = [(i, s) for s in range(len(tree.parents)) for i in tree.path(s)]
    b = {(i, s): partial_velocity(tree, g, i, g.r[s]) for i, s in pairs}
    return b, {(i, s): rotate_back(g.R[s], tree.joint(i)[2] * g.z[i]) for i, s in pairs}


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n) = D_tran + D_rot."""
    tran, rot = inertia_coefficients(tree, q.shape[:-1], *partials(tree, geometry(tree, q)))
    return tran + rot


def inertia_coefficients(tree: Tree, batch: tuple[int, ...], b: dict[Any, Any], turn: dict[Any, Any]) -> tuple[Array, Array]:
    """D_tran and D_rot, each entry i <= j once; m b and I z are taken once for all i."""
    n = len(tree.parents)
    tran: dict[tuple[int, int], list[Any]] = {}
    rot: dict[tuple[int, int], list[Any]] = {}
    for s in range(n):
        path = tree.path(s)
        for k, j in enumerate(path):
            momentum, spin = tree.mass[s] * b[j, s], rotate(tree.inertia[s], turn[j, s])
            for i in path[: k + 1]:
                tran.setdefault((i, j), []).append(dot(b[i, s], momentum))  # (3.4-25)
                rot.setdefault((i, j), []).append(dot(turn[i, s], spin))  # (3.4-25)
    D_tran, D_rot = (np.broadcast_to(_symmetric(D, n), (*batch, n, n)) for D in (tran, rot))
    return D_tran, D_rot


def _symmetric(terms: dict[tuple[int, int], list[Any]], n: int) -> Array:
    """The symmetric matrix whose entries are the sums of these terms."""
    upper = {index: _total(parts) for index, parts in terms.items()}
    return matrix(upper | {(j, i): entry for (i, j), entry in upper.items()}, n)


def _total(parts: list[Any]) -> Any:
    return sum(parts[1:], parts[0])


def dalembert_terms(tree: Tree, q: Any, qd: Any) -> Terms:
    """The five arrays of (3.4-25) to (3.4-28): the reaction torques (3.4-10), (3.4-18), (3.4-22), by what they multiply."""
    links = range(len(tree.parents))
    g = geometry(tree, q)
    paths = [tree.path(s) for s in links]
    b, turn = partials(tree, g)
    behind = [[s for s in links if i in paths[s]] for i in links]
    w, bias = _velocity_terms(tree, g, qd)
    force = [tree.mass[s] * bias[s] for s in links]
    weight = [tree.mass[s] * tree.gravity for s in links]
    spin = [rotate_back(g.R[s], w[s]) for s in links]  # (3.4-2)
    momentum = [rotate(tree.inertia[s], spin[s]) for s in links]
    moment = [rotate(tree.inertia[s], _spin_coriolis(turn, qd, paths[s], s)) for s in links]
    h_tran = stack([_total([dot(b[i, s], force[s]) for s in behind[i]]) for i in links])  # (3.4-26)
    coriolis = [_total([dot(turn[i, s], moment[s]) for s in behind[i]]) for i in links]
    centrifugal = [_total([dot(cross(turn[i, s], spin[s]), momentum[s]) for s in behind[i]]) for i in links]
    h_rot = stack([a + b for a, b in zip(coriolis, centrifugal, strict=True)])  # (3.4-27)
    c = stack([-_total([dot(b[i, s], weight[s]) for s in behind[i]]) for i in links])  # (3.4-28)
    return Terms(*inertia_coefficients(tree, q.shape[:-1], b, turn), *(np.broadcast_to(x, q.shape) for x in (h_tran, h_rot, c)))


def _velocity_terms(tree: Tree, g: Geometry, qd: Any) -> tuple[list[Any], list[Any]]:
    """Angular velocities, and the part of the acceleration of each centre of mass that velocities make."""
    w: list[Any] = []
    wd: list[Any] = []  # sum_p (sum_q<p qd_q z_q) x qd_p z_p
    vd: list[Any] = []
    for i, parent in enumerate(tree.parents):
        _, _, rho, sigma = tree.joint(i)
        w0, wd0, vd0, p0 = (
            (zeros(3), zeros(3), zeros(3), zeros(3)) if parent < 0 else (w[parent], wd[parent], vd[parent], g.p[parent])
        )
        zd = g.z[i] * qd[..., i, None]
        at_joint = vd0 + swing(w0, wd0, g.o[i] - p0) + 2 * sigma * cross(w0, zd)
        w.append(w0 + rho * zd)  # (3.4-1)
        wd.append(wd0 + rho * cross(w0, zd))
        vd.append(at_joint + swing(w[i], wd[i], g.p[i] - g.o[i]))
    return w, [vd[s] + swing(w[s], wd[s], g.r[s] - g.p[s]) for s in range(len(w))]  # (3.4-11)


def _spin_coriolis(turn: dict[Any, Any], qd: Any, path: tuple[int, ...], s: int) -> Any:
    """sum_j [qd_j z_j x (sum_k>j qd_k z_k)] of (3.4-27), in the axes of link s."""
    total, outer = zeros(3), zeros(3)
    for j in reversed(path):
        rate = turn[j, s] * qd[..., j, None]
        total, outer = total + cross(rate, outer), outer + rate
    return total


def external(tree: Tree, q: Any, wrenches: Any) -> Array:
    """The joint forces that wrenches on the links exert."""
    g = geometry(tree, q)
    tau: list[Any] = [0 * q[..., i] for i in range(len(tree.parents))]
    for s in range(len(tree.parents)):
        moment, force = (rotate(g.R[s], x) for x in split(wrenches[..., s, :]))
        for i in tree.path(s):
            tau[i] = tau[i] + dot(force, partial_velocity(tree, g, i, g.p[s])) + dot(moment, tree.joint(i)[2] * g.z[i])
    return stack(tau)
