"""Forward dynamics as a Kalman filter and smoother over the links: Rodriguez; Kozlowski 1995, table 3.

The filter of `shared.filter` gives articulated inertias P_i and gains G_i. Then inward z_i = sum X_k z+_k + P_i a_i + b_i,
e_i = tau_i - s_i . z_i (the innovation), z+_i = z_i + G_i e_i; outward alpha+_i = X_i^T alpha of the parent,
qdd_i = e_i / D_i - G_i . alpha+_i, alpha_i = alpha+_i + s_i qdd_i + a_i. Here a_i = O_i^T V_i, and gravity and wrenches are in b_i.

Corrected: E-K1, E-K2, E-K5 (the operator O_i of prismatic joints).
"""

from typing import Any

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.spatial import Array, dot, rotate, rotate_back, scaled, stack
from dalembert.formulations.shared.filter import bias, filtered, force_cross, handed_on, links
from dalembert.model.tree import Tree


def forward_dynamics(
    tree: Tree,
    q: Any,
    qd: Any,
    tau: Any,
    wrenches: Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    pivots: Pivots = PLAIN,
) -> Array:
    """Joint accelerations qdd (..., n)."""
    n = len(tree.parents)
    k = links(tree, q)
    _, D, G, _ = f = filtered(tree, k, pivots)
    V: list[Any] = []
    a: list[Any] = []
    for i in range(n):
        rate = scaled(qd[..., i], k.s[i])
        V.append(handed_on(tree, k, V, i, base_twist) + rate)
        a.append(rotate_back(force_cross(rate), V[i]))
    z = [rotate(P, a_i) + b for P, a_i, b in zip(f.P, a, bias(tree, k, V, wrenches), strict=True)]
    e: list[Any] = [None] * n
    for i in reversed(range(n)):  # filter
        e[i] = tau[..., i] - dot(k.s[i], z[i])
        if (parent := tree.parents[i]) >= 0:
            z[parent] = z[parent] + rotate(k.X[i], z[i] + scaled(e[i], G[i]))
    alpha: list[Any] = []
    qdd: list[Any] = []
    for i in range(n):  # smoother
        carried = handed_on(tree, k, alpha, i, base_acceleration)
        qdd.append(e[i] / D[i] - dot(G[i], carried))
        alpha.append(carried + scaled(qdd[i], k.s[i]) + a[i])
    return stack(qdd)
