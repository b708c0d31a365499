"""The 4x4 trace form of Uicker and Kahn: Silver 1981, equation (1.2), with gravity added.

tau_i = sum_j Tr(dW_j/dq_i J_j Wdd_j^T) - sum_j m_j g^T dW_j/dq_i r_j, over the links j that joint i moves, with

Wdd_j = sum_k dW_j/dq_k qdd_k + sum_k sum_l d2W_j/dq_k dq_l qd_k qd_l,

all sums as written: of fourth order in the number of joints. W_j is the 4x4 pose of link j in the base, J_j its 4x4 inertia,
r_j its centre of mass. External wrenches enter as 4x4 matrices.
"""

from typing import Any

from dalembert.algebra.spatial import Array, dot, rotate, stack, trace_of_product, zeros
from dalembert.formulations.shared.homogeneous import (
    direction,
    first_partials,
    force_matrix,
    kinematics,
    point,
    second_partials,
)
from dalembert.model.tree import Tree


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    k = kinematics(tree, q)
    U, V = first_partials(tree, k), second_partials(tree, k)
    g = direction(tree.gravity)
    tau: list[Any] = [0] * n
    for j in range(n):
        path = tree.path(j)
        for i in path:
            linear = (U[j, a] * qdd[..., a, None, None] for a in path)
            squares = (V[j, a, b] * (qd[..., a, None, None] * qd[..., b, None, None]) for a in path for b in path)
            Wdd = sum(squares, sum(linear, zeros((4, 4))))
            force = trace_of_product(U[j, i] @ k.J[j], Wdd.swapaxes(-1, -2))  # (1.2)
            force = force - tree.mass[j] * dot(g, rotate(U[j, i], point(tree.com[j])))
            if wrenches is not None:
                force = force - trace_of_product(U[j, i], (k.W[j] @ force_matrix(wrenches[..., j, :])).swapaxes(-1, -2))
            tau[i] = tau[i] + force
    return stack(tau)
