"""Diagonalized equations in normalized quasi-velocities nu: Kozlowski 1995, (40)-(42), after Jain and Rodriguez.

nu' + C(q, nu) = epsilon, with nu = m^T qd and epsilon = m^-1 tau for the square-root factor m = U D^1/2 of M = m m^T; so the
kinetic energy is nu . nu / 2, and nu . C = 0 without gravity (E-K16). With nu_i = D_i^1/2 xi_i and what is in `shared.filter`:

y_i = sum Psi_k (y_k + lambda_k V_k) + 2 b_i + (Z_i^T - Z_i) V_i - lambda_i Psi_i^T V of the parent, Z_i = O_i P_i
C_i = s_i . y_i / (2 D_i^1/2)
xi'_i = (nu'_i - Ddot_i xi_i / (2 D_i^1/2)) / D_i^1/2, Ddot_i = s_i^T lambda_i s_i
qdd_i = xi'_i - (lambda_i s_i) . (V+_i - s_i (G_i . V+_i)) / D_i - G_i . A+_i, A_i = A+_i + O_i^T V_i + s_i qdd_i

Corrected: E-K2, E-K5 (prismatic joints), E-K6, E-K9 (what the bracket means), E-K11 (C has D_i under the root), E-K14, E-K17.
"""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.scalars import sqrt
from dalembert.algebra.spatial import Array, dot, matrix, rotate, rotate_back, scaled, stack
from dalembert.formulations.shared.filter import (
    Filter,
    Links,
    bias,
    filtered,
    force_cross,
    forces,
    inertia_rates,
    joint_accelerations,
    joint_forces,
    joint_rates,
    links,
    velocities,
)
from dalembert.model.tree import Tree


def forward_dynamics(tree: Tree, q: Any, qd: Any, tau: Any, wrenches: Any = None, pivots: Pivots = PLAIN) -> Array:
    """Joint accelerations qdd (..., n)."""
    n = len(tree.parents)
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    root = [sqrt(D) for D in f.D]
    V, xi = velocities(tree, k, f, qd)
    O = [force_cross(scaled(qd[..., i], k.s[i])) for i in range(n)]
    rates = inertia_rates(tree, f, O)
    C = coriolis(tree, k, f, root, O, V, rates, bias(tree, k, V, wrenches))
    kappa = forces(tree, k, f, tau)
    xi_dot: list[Any] = []
    for i in range(n):
        D_dot = dot(k.s[i], rotate(rates[i], k.s[i]))
        nu_dot = kappa[i] / root[i] - C[i]  # (40)
        xi_dot.append((nu_dot - D_dot * xi[i] / (2 * root[i])) / root[i])
    return stack(joint_accelerations(tree, k, f, O, V, rates, xi_dot))


def quasi_velocity(tree: Tree, q: Any, qd: Any, pivots: Pivots = PLAIN) -> Array:
    """nu (..., n) from qd."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    _, xi = velocities(tree, k, f, qd)
    return stack([sqrt(D) * x for D, x in zip(f.D, xi, strict=True)])  # (28)


def joint_velocity(tree: Tree, q: Any, nu: Any, pivots: Pivots = PLAIN) -> Array:
    """qd (..., n) from nu."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    return stack(joint_rates(tree, k, f, [nu[..., i] / sqrt(D) for i, D in enumerate(f.D)])[1])


def quasi_force(tree: Tree, q: Any, tau: Any, pivots: Pivots = PLAIN) -> Array:
    """epsilon (..., n) from tau (41)."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    return stack([kappa / sqrt(D) for D, kappa in zip(f.D, forces(tree, k, f, tau), strict=True)])


def joint_force(tree: Tree, q: Any, epsilon: Any, pivots: Pivots = PLAIN) -> Array:
    """tau (..., n) from epsilon."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    return stack(joint_forces(tree, k, f, [sqrt(D) * epsilon[..., i] for i, D in enumerate(f.D)]))


def quasi_coriolis(tree: Tree, q: Any, nu: Any, pivots: Pivots = PLAIN) -> Array:
    """C(q, nu) (..., n) of (41), gravity left out."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    root = [sqrt(D) for D in f.D]
    V, qd = joint_rates(tree, k, f, [nu[..., i] / r for i, r in enumerate(root)])
    O = [force_cross(scaled(rate, s)) for rate, s in zip(qd, k.s, strict=True)]
    return stack(coriolis(tree, k, f, root, O, V, inertia_rates(tree, f, O), bias(tree, k, V, None, gravity=False)))


def quasi_coriolis_matrix(tree: Tree, q: Any, nu: Any, pivots: Pivots = PLAIN) -> Array:
    """The skew matrix of (48), by its components; C(q, nu) is this times nu, plus what the bias forces V x M V add.

    c_ki = D_k^-1/2 (sum_m s_k^T Psi(k, m) P_m O_m^T Psi(i, m)^T s_i) D_i^-1/2 for k before i, over the links m behind i (E-K13).
    """
    n = len(tree.parents)
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    root = [sqrt(D) for D in f.D]
    _, qd = joint_rates(tree, k, f, [nu[..., i] / r for i, r in enumerate(root)])
    C: dict[tuple[int, int], Any] = {}
    for m in range(n):
        reach, i = {}, m  # Psi(i, m)^T s_i by i, taken as rows s_i^T Psi(i, m)
        carry = np.eye(6, dtype=int)
        while tree.parents[i] >= 0:
            carry, i = f.Psi[i] @ carry, tree.parents[i]
            reach[i] = rotate_back(carry, k.s[i])
        weighted = f.P[m] @ np.swapaxes(force_cross(scaled(qd[m], k.s[m])), -1, -2)
        for a in reach:
            for b in reach:
                if a < b:
                    C[a, b] = C.get((a, b), 0) + dot(reach[a], rotate(weighted, reach[b])) / (root[a] * root[b])
    return matrix(C | {(b, a): -x for (a, b), x in C.items()}, n)


def coriolis(
    tree: Tree, k: Links, f: Filter, root: list[Any], O: list[Any], V: list[Any], rates: list[Any], b: list[Any]
) -> list[Any]:
    """C_i by the recursion after (42)."""
    n = len(tree.parents)
    y: list[Any] = []
    for i, parent in enumerate(tree.parents):
        PV, OV = rotate(f.P[i], V[i]), rotate_back(O[i], V[i])
        y.append(2 * b[i] + rotate(f.P[i], OV) - rotate(O[i], PV))
        if parent >= 0:
            y[i] = y[i] - rotate(rates[i], rotate_back(f.Psi[i], V[parent]))
    for i in reversed(range(n)):
        if (parent := tree.parents[i]) >= 0:
            y[parent] = y[parent] + rotate(f.Psi[i], y[i] + rotate(rates[i], V[i]))
    return [dot(k.s[i], y[i]) / (2 * root[i]) for i in range(n)]
