"""Hollerbach's recursive Lagrangian with 4x4 matrices: Silver 1981, section 1.4.

Outward: Wd and Wdd, the first and second time derivatives of the 4x4 poses. Inward: D_i gathers J_j Wdd_j^T of all links behind
joint i, c_i their first moments, in the axes of link i. With dA = Q A: tau_i = Tr(W_p dA_i D_i) - g^T W_p dA_i c_i, W_p the
parent's pose.
"""

from typing import Any

from dalembert.algebra.spatial import Array, dot, rotate, stack, trace_of_product, zeros
from dalembert.formulations.shared.homogeneous import direction, force_matrix, kinematics, point
from dalembert.model.tree import Tree


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    k = kinematics(tree, q)
    dA = [k.Q[i] @ k.A[i] for i in range(n)]
    up = [dA[i] if p < 0 else k.W[p] @ dA[i] for i, p in enumerate(tree.parents)]  # W_p dA_i
    Wd: list[Any] = []
    Wdd: list[Any] = []
    for i, p in enumerate(tree.parents):
        v, a = qd[..., i, None, None], qdd[..., i, None, None]
        still = p < 0
        twice = up[i] * a + (k.Q[i] @ dA[i] if still else k.W[p] @ (k.Q[i] @ dA[i])) * (v * v)
        Wd.append(up[i] * v + (zeros((4, 4)) if still else Wd[p] @ k.A[i]))
        Wdd.append(twice if still else twice + Wdd[p] @ k.A[i] + 2 * (Wd[p] @ dA[i]) * v)
    D: list[Any] = [None] * n
    c: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):
        D[i] = k.J[i] @ Wdd[i].swapaxes(-1, -2)
        if wrenches is not None:
            D[i] = D[i] - (k.W[i] @ force_matrix(wrenches[..., i, :])).swapaxes(-1, -2)
        D[i] = sum((k.A[j] @ D[j] for j in children[i]), D[i])
        c[i] = sum((rotate(k.A[j], c[j]) for j in children[i]), tree.mass[i] * point(tree.com[i]))
    g = direction(tree.gravity)
    return stack([trace_of_product(up[i], D[i]) - dot(g, rotate(up[i], c[i])) for i in range(n)])
