"""Diagonalized equations in unnormalized quasi-velocities xi: Kozlowski 1995, (43)-(46), after Jain and Rodriguez.

D xi' + C(q, xi) = kappa, with xi = U^T qd and kappa = U^-1 tau for the factor M = U D U^T of `shared.filter`:

xi_i = qd_i + G_i . V+_i;  z_i = sum X_k (z_k + G_k kappa_k) over the links k on link i, kappa_i = tau_i - s_i . z_i
Z_i = O_i P_i, lambda_i = Z_i + Z_i^T + sum Psi_k lambda_k Psi_k^T (the derivative of P_i), Ddot_i = s_i^T lambda_i s_i
y_i = sum Psi_k y_k + lambda_i s_i xi_i + b_i - Z_i V_i, C_i = s_i . y_i
qdd_i = xi'_i - (lambda_i s_i) . (V+_i - s_i (G_i . V+_i)) / D_i - G_i . A+_i, A_i = A+_i + O_i^T V_i + s_i qdd_i

Corrected: E-K2, E-K5 (prismatic joints), E-K6, E-K8, E-K12 (the index of lambda), E-K14, E-K17.
"""

from typing import Any

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.spatial import Array, dot, rotate, scaled, stack
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
    V, xi = velocities(tree, k, f, qd)
    O = [force_cross(scaled(qd[..., i], k.s[i])) for i in range(n)]
    rates = inertia_rates(tree, f, O)
    C = coriolis(tree, k, f, O, V, xi, rates, bias(tree, k, V, wrenches))
    kappa = forces(tree, k, f, tau)
    xi_dot = [(kappa[i] - C[i]) / f.D[i] for i in range(n)]  # (44)
    return stack(joint_accelerations(tree, k, f, O, V, rates, xi_dot))


def quasi_velocity(tree: Tree, q: Any, qd: Any, pivots: Pivots = PLAIN) -> Array:
    """xi (..., n) from qd."""
    k = links(tree, q)
    return stack(velocities(tree, k, filtered(tree, k, pivots), qd)[1])  # (34)


def joint_velocity(tree: Tree, q: Any, nu: Any, pivots: Pivots = PLAIN) -> Array:
    """qd (..., n) from xi."""
    k = links(tree, q)
    return stack(joint_rates(tree, k, filtered(tree, k, pivots), [nu[..., i] for i in range(len(tree.parents))])[1])


def quasi_force(tree: Tree, q: Any, tau: Any, pivots: Pivots = PLAIN) -> Array:
    """kappa (..., n) from tau."""
    k = links(tree, q)
    return stack(forces(tree, k, filtered(tree, k, pivots), tau))


def joint_force(tree: Tree, q: Any, epsilon: Any, pivots: Pivots = PLAIN) -> Array:
    """tau (..., n) from kappa."""
    k = links(tree, q)
    return stack(joint_forces(tree, k, filtered(tree, k, pivots), [epsilon[..., i] for i in range(len(tree.parents))]))


def quasi_coriolis(tree: Tree, q: Any, nu: Any, pivots: Pivots = PLAIN) -> Array:
    """C(q, xi) (..., n), gravity left out."""
    n = len(tree.parents)
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    xi = [nu[..., i] for i in range(n)]
    V, qd = joint_rates(tree, k, f, xi)
    O = [force_cross(scaled(qd[i], k.s[i])) for i in range(n)]
    return stack(coriolis(tree, k, f, O, V, xi, inertia_rates(tree, f, O), bias(tree, k, V, None, gravity=False)))


def coriolis(
    tree: Tree, k: Links, f: Filter, O: list[Any], V: list[Any], xi: list[Any], rates: list[Any], b: list[Any]
) -> list[Any]:
    """C_i by the recursion after (46)."""
    y = [rotate(rates[i], scaled(xi[i], k.s[i])) + b[i] - rotate(O[i], rotate(f.P[i], V[i])) for i in range(len(tree.parents))]
    for i in reversed(range(len(y))):
        if (parent := tree.parents[i]) >= 0:
            y[parent] = y[parent] + rotate(f.Psi[i], y[i])
    return [dot(s, y_i) for s, y_i in zip(k.s, y, strict=True)]
