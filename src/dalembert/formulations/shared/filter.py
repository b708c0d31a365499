"""What the methods after Rodriguez, Jain and Kozlowski share: links in 6x6 matrices, and the filter that runs over them.

The paper numbers links from the tip; here the base comes first. Frames stand on the joint axes. X_i carries wrenches of frame i
into its parent's, so X_i^T carries twists the other way; s_i is the joint's axis, H(k) in the paper; M_i the inertia about the
origin. O_i = Omega_delta(i) is the force cross product of the joint's own twist s_i qd_i, which is not skew for a prismatic joint
(E-K5).

Filter, from the tips to the base (12): D_i = s_i^T P_i s_i, G_i = P_i s_i / D_i, Psi_i = X_i (1 - G_i s_i^T) and
P_i = M_i + sum Psi_k P_k X_k^T over the links k on link i. That last form holds with rotors too, which add to D_i alone.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import Pivots
from dalembert.algebra.spatial import (
    Ad_matrix,
    Array,
    ad_matrix,
    dot,
    inverse,
    join,
    outer,
    rotate,
    rotate_back,
    scaled,
    spatial_inertia,
    symmetric,
    zeros,
)
from dalembert.formulations.shared.axes import free_axis, gain, joint_frames, wrench_on
from dalembert.model.tree import Tree


class Links(NamedTuple):
    """X_i, s_i and M_i of every link."""

    X: list[Any]
    s: list[Any]
    M: list[Any]


class Filter(NamedTuple):
    """P_i, D_i, G_i and Psi_i of every link."""

    P: list[Any]
    D: list[Any]
    G: list[Any]
    Psi: list[Any]


def links(tree: Tree, q: Any) -> Links:
    """The robot at q."""
    n = len(tree.parents)
    X = [np.swapaxes(Ad_matrix(inverse(T)), -1, -2) for T in joint_frames(tree, q)]
    return Links(X, [tree.axis(i) for i in range(n)], [spatial_inertia(*tree.body(i)) for i in range(n)])


def filtered(tree: Tree, k: Links, pivots: Pivots) -> Filter:
    """The articulated inertias and gains."""
    n = len(tree.parents)
    P = list(k.M)
    D: list[Any] = [None] * n
    G: list[Any] = [None] * n
    Psi: list[Any] = [None] * n
    for i in reversed(range(n)):
        Ps = rotate(P[i], k.s[i])
        D[i] = pivots(i, dot(k.s[i], Ps))
        G[i] = gain(Ps, 1 / D[i], free_axis(tree, i, pivots))
        Psi[i] = k.X[i] @ (np.eye(6, dtype=int) - outer(G[i], k.s[i]))
        if (parent := tree.parents[i]) >= 0:
            P[parent] = P[parent] + symmetric(Psi[i] @ P[i] @ np.swapaxes(k.X[i], -1, -2))  # (12)
    return Filter(P, D, G, Psi)


def handed_on(tree: Tree, k: Links, V: list[Any], i: int, base: Any = None) -> Array:
    """V+_i: the twist of the parent in frame i; the base is at rest unless it is given one."""
    parent = tree.parents[i]
    above = base if parent < 0 else V[parent]
    return zeros(6) if above is None else rotate_back(k.X[i], above)


def force_cross(V: Any) -> Array:
    """The 6x6 matrix of V x for wrenches, -ad_V^T."""
    return -np.swapaxes(ad_matrix(V), -1, -2)


def bias(tree: Tree, k: Links, V: list[Any], wrenches: Any, gravity: bool = True) -> list[Any]:
    """b_i = V x M V less the weight and the wrench on the link (E-K2)."""
    forces: list[Any] = []
    falling: list[Any] = []  # gravity in the axes of each link, as an acceleration
    for i, parent in enumerate(tree.parents):
        b = rotate(force_cross(V[i]), rotate(k.M[i], V[i]))
        if gravity:
            above = join(zeros(3), tree.gravity) if parent < 0 else falling[parent]
            falling.append(rotate_back(k.X[i], above))
            b = b - rotate(k.M[i], falling[i])
        forces.append(b if wrenches is None else b - wrench_on(tree, i, wrenches))
    return forces


# --- the diagonalized equations ---------------------------------------------------------------------------------------


def velocities(tree: Tree, k: Links, f: Filter, qd: Any) -> tuple[list[Any], list[Any]]:
    """V_i and xi_i from qd."""
    V: list[Any] = []
    xi: list[Any] = []
    for i in range(len(tree.parents)):
        carried = handed_on(tree, k, V, i)
        xi.append(qd[..., i] + dot(f.G[i], carried))
        V.append(carried + scaled(qd[..., i], k.s[i]))
    return V, xi


def joint_rates(tree: Tree, k: Links, f: Filter, xi: list[Any]) -> tuple[list[Any], list[Any]]:
    """V_i and qd_i from xi."""
    V: list[Any] = []
    qd: list[Any] = []
    for i in range(len(tree.parents)):
        carried = handed_on(tree, k, V, i)
        qd.append(xi[i] - dot(f.G[i], carried))
        V.append(carried + scaled(qd[i], k.s[i]))
    return V, qd


def forces(tree: Tree, k: Links, f: Filter, tau: Any) -> list[Any]:
    """kappa_i from tau."""
    n = len(tree.parents)
    z: list[Any] = [0 * s for s in k.s]
    kappa: list[Any] = [None] * n
    for i in reversed(range(n)):
        kappa[i] = tau[..., i] - dot(k.s[i], z[i])
        if (parent := tree.parents[i]) >= 0:
            z[parent] = z[parent] + rotate(k.X[i], z[i] + scaled(kappa[i], f.G[i]))
    return kappa


def joint_forces(tree: Tree, k: Links, f: Filter, kappa: list[Any]) -> list[Any]:
    """tau_i from kappa."""
    n = len(tree.parents)
    z: list[Any] = [0 * s for s in k.s]
    for i in reversed(range(n)):
        if (parent := tree.parents[i]) >= 0:
            z[parent] = z[parent] + rotate(k.X[i], z[i] + scaled(kappa[i], f.G[i]))
    return [kappa[i] + dot(k.s[i], z[i]) for i in range(n)]


def inertia_rates(tree: Tree, f: Filter, O: list[Any]) -> list[Any]:
    """lambda_i: the rate of P_i as the parent sees it."""
    rates: list[Any] = [(Z := O[i] @ f.P[i]) + np.swapaxes(Z, -1, -2) for i in range(len(O))]
    for i in reversed(range(len(O))):
        if (parent := tree.parents[i]) >= 0:
            rates[parent] = rates[parent] + symmetric(f.Psi[i] @ rates[i] @ np.swapaxes(f.Psi[i], -1, -2))  # (18)-(21)
    return rates


def joint_accelerations(
    tree: Tree, k: Links, f: Filter, O: list[Any], V: list[Any], rates: list[Any], xi_dot: list[Any]
) -> list[Any]:
    """qdd_i from the rate of xi: the derivative of xi_i = qd_i + G_i . V+_i, solved for qdd_i from the base to the tips."""
    A: list[Any] = []
    qdd: list[Any] = []
    for i in range(len(tree.parents)):
        before, carried = handed_on(tree, k, V, i), handed_on(tree, k, A, i)
        free = before - scaled(dot(f.G[i], before), k.s[i])
        qdd.append(xi_dot[i] - dot(rotate(rates[i], k.s[i]), free) / f.D[i] - dot(f.G[i], carried))
        A.append(carried + rotate_back(O[i], V[i]) + scaled(qdd[i], k.s[i]))
    return qdd
