"""The closed form in stacked 6n matrices: Park and Lynch, chapter 9, equations (9.62)-(9.84).

A (6n x n) holds the joint screws, G (6n x 6n) the inertias, Gamma the step from parent to child, L = (1 - Gamma)^-1 the reach
from every link to those behind it. Frames are the links' own, for which the full 6x6 inertia takes the place of diag(I, m). tau
= M qdd + c + g with M = A^T L^T G L A (9.82), c (9.83), g (9.84); a moving base keeps the V_base terms of (9.77), (9.78).

Corrected: E-P3 (minus gravity), E-P6 (minus ad_{A qd} in (9.73), (9.78), (9.83)), E-P10.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import (
    Ad_inverse,
    Ad_matrix,
    Array,
    ad_matrix,
    block_diagonal,
    blocks,
    inverse,
    join,
    rotate,
    rotate_back,
    spatial_inertia,
    zeros,
)
from dalembert.model.tree import Tree


class Operators(NamedTuple):
    """A (..., 6n, n), G, Gamma and L (..., 6n, 6n)."""

    A: Array
    G: Array
    Gamma: Array
    L: Array


class StackedTerms(NamedTuple):
    """Twists of all links and what the base hands on (..., 6n), their ad matrices (..., 6n, 6n), and c and g (..., n)."""

    V: Array
    V_base: Array
    Vd_base: Array
    ad_V: Array  # noqa: N815
    ad_Aqd: Array  # noqa: N815
    c: Array
    g: Array


def stacked_operators(tree: Tree, q: Any) -> Operators:
    """The stacked matrices at q."""
    n = len(tree.parents)
    screw: list[Any] = []
    inertia: list[Any] = []
    for i in range(n):
        after = tree.joint(i)[1]
        screw.append(Ad_inverse(after, tree.axis(i))[..., None])
        inertia.append(spatial_inertia(tree.mass[i], tree.com[i], tree.inertia[i]))
    step = [Ad_matrix(inverse(tree.pose(i, q[..., i]))) for i in range(n)]
    reach: dict[tuple[int, int], Any] = {}
    for i, parent in enumerate(tree.parents):
        reach[i, i] = np.eye(6, dtype=int)
        if parent >= 0:
            reach[i, parent] = step[i]
            for j in tree.path(parent)[:-1]:
                reach[i, j] = step[i] @ reach[parent, j]
    return Operators(
        A=block_diagonal(screw),  # (9.64)
        G=block_diagonal(inertia),  # (9.65)
        Gamma=blocks({(i, p): step[i] for i, p in enumerate(tree.parents) if p >= 0}, n, (6, 6)),  # (9.68)
        L=blocks(reach, n, (6, 6)),  # (9.76)
    )


def stacked_terms(tree: Tree, q: Any, qd: Any, base_twist: Any = None, base_acceleration: Any = None) -> StackedTerms:
    """V, c and g, by products of matrices and vectors."""
    A, G, _, L = operators = stacked_operators(tree, q)
    m = _moving(tree, q, qd, operators, base_twist, base_acceleration)
    c = rotate_back(A, rotate_back(L, -rotate(G, rotate(L, m.turning)) - rotate_back(m.ad_V, rotate(G, m.V))))  # (9.83)
    g = rotate_back(A, rotate_back(L, rotate(G, rotate(L, m.Vd_base))))  # (9.84)
    return StackedTerms(m.V, m.V_base, m.Vd_base, m.ad_V, m.ad_Aqd, c, g)


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n) = M qdd + c + g, less what the wrenches exert (9.81)."""
    A, G, _, L = operators = stacked_operators(tree, q)
    m = _moving(tree, q, qd, operators, base_twist, base_acceleration)
    Vd = rotate(L, rotate(A, qdd) - m.turning + m.Vd_base)  # (9.78)
    F = rotate(G, Vd) - rotate_back(m.ad_V, rotate(G, m.V))  # (9.63)
    if wrenches is not None:
        F = F - wrenches.reshape((*wrenches.shape[:-2], 6 * len(tree.parents)))  # (9.71), on any link
    return rotate_back(A, rotate_back(L, F))  # (9.79), (9.80)


class _Moving(NamedTuple):
    """Stacks that depend on the velocities; `turning` is ad_{A qd} (Gamma V + V_base)."""

    V: Array
    V_base: Array
    Vd_base: Array
    ad_V: Array  # noqa: N815
    ad_Aqd: Array  # noqa: N815
    turning: Array


def _moving(tree: Tree, q: Any, qd: Any, operators: Operators, base_twist: Any, base_acceleration: Any) -> _Moving:
    n = len(tree.parents)
    A, _, Gamma, L = operators
    Vd0 = join(zeros(3), -tree.gravity) + (zeros(6) if base_acceleration is None else base_acceleration)
    V_base = _base(tree, q, zeros(6) if base_twist is None else base_twist)  # (9.69)
    Vd_base = _base(tree, q, Vd0)  # (9.70)
    screws = rotate(A, qd)
    V = rotate(L, screws + V_base)  # (9.62), (9.77)
    ad_Aqd, ad_V = (block_diagonal([ad_matrix(X[..., 6 * i : 6 * i + 6]) for i in range(n)]) for X in (screws, V))  # (9.66), (9.67)
    return _Moving(V, V_base, Vd_base, ad_V, ad_Aqd, rotate(ad_Aqd, rotate(Gamma, V) + V_base))


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n) = A^T L^T G L A (9.82)."""
    A, G, _, L = stacked_operators(tree, q)
    LA = L @ A
    return np.swapaxes(LA, -1, -2) @ (G @ LA)  # (9.82)


def _base(tree: Tree, q: Any, twist: Any) -> Array:
    """The stack that carries the base's twist into the links that stand on it."""
    parts = [Ad_inverse(tree.pose(i, q[..., i]), twist) if parent < 0 else zeros(6) for i, parent in enumerate(tree.parents)]
    return join(*parts)
