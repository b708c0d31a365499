"""Lagrange-Euler with 4x4 matrices: Fu, Gonzalez and Lee, section 3.2.

tau_i = sum_k D_ik qdd_k + sum_k sum_m h_ikm qd_k qd_m + c_i (3.2-25), with U_ij = dW_i/dq_j, U_ijk = dU_ij/dq_k and the
pseudo-inertias J_i about the link origins.

Corrected: E-F1 (signs of the products of inertia in J_i), E-F2 (no transpose: U_ji times the centre of mass), E-F12 (prismatic
joints may have a_i).
"""

from typing import Any, NamedTuple

from dalembert.algebra.spatial import Array, dot, rotate, stack, trace_of_product
from dalembert.formulations.shared.homogeneous import (
    Kinematics,
    direction,
    first_partials,
    force_matrix,
    kinematics,
    point,
    second_partials,
)
from dalembert.model.tree import Tree


class Terms(NamedTuple):
    """D (..., n, n), H (..., n, n, n) with the force index first, h (..., n) and c (..., n): the book's coefficients."""

    D: Array
    H: Array
    h: Array
    c: Array


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    D, _, h, c = lagrange_euler_terms(tree, q, qd)
    tau = rotate(D, qdd) + h + c  # (3.2-24), (3.2-25), (3.2-26)
    return tau if wrenches is None else tau - external(tree, q, wrenches)


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n): the book's D."""
    k = kinematics(tree, q)
    return inertia_coefficients(tree, q, k, first_partials(tree, k))


def inertia_coefficients(tree: Tree, q: Any, k: Kinematics, U: Any) -> Array:
    """D_im = sum_j Tr(U_jm J_j U_ji^T) over the links j that both joints move."""
    links = range(len(tree.parents))
    paths = [set(tree.path(j)) for j in links]

    def D(i: int, m: int) -> Any:  # (3.2-31)
        both = [j for j in links if {i, m} <= paths[j]]
        return sum((trace_of_product(U[j, m] @ k.J[j], U[j, i].swapaxes(-1, -2)) for j in both), 0 * q[..., i])

    return stack([stack([D(i, m) for i in links]) for m in links])


def lagrange_euler_terms(tree: Tree, q: Any, qd: Any) -> Terms:
    """The coefficients at q and the velocity force h at qd."""
    links = range(len(tree.parents))
    k = kinematics(tree, q)
    U, V = first_partials(tree, k), second_partials(tree, k)
    paths = [tree.path(j) for j in links]
    g = direction(tree.gravity)

    def gather(*moving: int) -> list[int]:
        """The links that all these joints move."""
        return [j for j in links if all(i in paths[j] for i in moving)]

    def velocity(i: int, a: int, b: int) -> Any:  # (3.2-33)
        return sum((trace_of_product(V[j, a, b] @ k.J[j], U[j, i].swapaxes(-1, -2)) for j in gather(i, a, b)), 0 * q[..., i])

    def weight(i: int) -> Any:  # (3.2-34)
        return sum((-tree.mass[j] * dot(g, rotate(U[j, i], point(tree.com[j]))) for j in gather(i)), 0 * q[..., i])

    D = inertia_coefficients(tree, q, k, U)
    H = stack([stack([stack([velocity(i, a, b) for i in links]) for a in links]) for b in links])  # (3.2-36)
    h = stack([dot(qd, rotate(H[..., i, :, :], qd)) for i in links])  # (3.2-32), (3.2-38)
    return Terms(D, H, h, stack([weight(i) for i in links]))


def external(tree: Tree, q: Any, wrenches: Any) -> Array:
    """The joint forces that wrenches on the links exert."""
    links = range(len(tree.parents))
    k = kinematics(tree, q)
    U = first_partials(tree, k)
    F = [(k.W[j] @ force_matrix(wrenches[..., j, :])).swapaxes(-1, -2) for j in links]
    return stack([sum((trace_of_product(U[j, i], F[j]) for j in links if (j, i) in U), 0 * q[..., i]) for i in links])
