"""Closed forms on SE(3): Park, Bobrow and Ploen 1995, equations (40), (55)-(57) and (59).

A_i is the joint screw in base axes with all joints at zero, E_i = e^{A_1 x_1} ... e^{A_i x_i} along the path to link i, and
Ad_k^{i+1}(A_i) that screw carried to link k: Ad of E_k^{-1} E_i. <., .>_k is the inertia of link k at zero, in base axes (36).
No differentiation: the Christoffel symbols Gamma_ijk, force index last, are brackets of screws, in three cases of the order of
the joints along the path.

Corrected: E-B2 (one half in the kinetic energy), E-B5 (the sign of the potential), E-B11.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.model.tree import Tree
from dalembert.spatial import (
    Ad,
    Array,
    Transform,
    ad,
    along_z,
    compose,
    cross,
    dot,
    exp_z,
    inverse,
    join,
    matrix,
    rotate,
    spatial_inertia,
    split,
    stack,
)


class Screws(NamedTuple):
    """The robot as products of exponentials: screws A, motions E, inertias D at zero (44), homes of the links."""

    A: list[Any]
    E: list[Transform]
    D: list[Any]
    home: list[Transform]


def screws(tree: Tree, q: Any) -> Screws:
    """Everything in base axes."""
    A: list[Any] = []
    E: list[Transform] = []
    D: list[Any] = []
    home: list[Transform] = []
    for i, parent in enumerate(tree.parents):
        before, after, rho, sigma = tree.joint(i)
        axis = before if parent < 0 else compose(home[parent], before)
        A.append(Ad(axis, join(along_z(rho), along_z(sigma))))
        step = compose(compose(axis, exp_z(rho, sigma, tree.at(i, q[..., i]))), inverse(axis))  # e^{A_i x_i}
        E.append(step if parent < 0 else compose(E[parent], step))
        home.append(compose(axis, after))
        R, b = home[i].rotation, rotate(home[i].rotation, tree.com[i]) + home[i].translation
        D.append(spatial_inertia(tree.mass[i], b, R @ tree.inertia[i] @ np.swapaxes(R, -1, -2)))
    return Screws(A, E, D, home)


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n) = sum m_kj qdd_j + sum Gamma_ijk qd_i qd_j + phi_k (29)."""
    links = range(len(tree.parents))
    s = screws(tree, q)
    paths = [tree.path(l) for l in links]
    carried = {(l, i): _carry(s, l, i, s.A[i]) for l in links for i in paths[l]}  # Ad_l^{i+1}(A_i)
    weighted = {key: rotate(s.D[key[0]], X) for key, X in carried.items()}

    def bracket(l: int, i: int, j: int) -> Array:
        """Ad_l^j([Ad_{j-1}^{i+1}(A_i), A_j]) for i before j on the path to l: d/dx_j of Ad_l^{i+1}(A_i)."""
        return _carry(s, l, j, ad(_carry(s, j, i, s.A[i]), s.A[j]))

    tau: list[Any] = [0 * q[..., k] for k in links]
    for l in links:
        path = paths[l]
        rate = {(i, j): bracket(l, i, j) for a, i in enumerate(path) for j in path[a + 1 :]}

        def half(i: int, j: int, k: int, l: int = l, rate: dict[Any, Any] = rate) -> Any:
            """<d/dx_j Ad_l(A_i), Ad_l(A_k)>_l, which is 0 unless i comes before j."""
            return dot(rate[i, j], weighted[l, k]) / 2 if (i, j) in rate else 0

        for k in path:
            tau[k] = tau[k] + sum(dot(carried[l, j], weighted[l, k]) * qdd[..., j] for j in path)  # (40)
            for i in path:
                for j in path:  # (55)-(57): the cases are those in which the terms below vanish
                    gamma = half(k, i, j) + half(j, i, k) + half(k, j, i) + half(i, j, k) - half(i, k, j) - half(j, k, i)
                    tau[k] = tau[k] + gamma * (qd[..., i] * qd[..., j])
            tau[k] = tau[k] - tree.mass[l] * dot(tree.gravity, _velocity(s, tree, l, carried[l, k]))  # (59)
            if wrenches is not None:
                tau[k] = tau[k] - dot(Ad(inverse(s.home[l]), carried[l, k]), wrenches[..., l, :])
    return stack(tau)


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n): m_ij = sum_l <Ad_l^{i+1}(A_i), Ad_l^{j+1}(A_j)>_l over the links l that both joints move (40)."""
    n = len(tree.parents)
    s = screws(tree, q)
    M: dict[tuple[int, int], Any] = {}
    for l in range(n):
        path = tree.path(l)
        carried = {i: _carry(s, l, i, s.A[i]) for i in path}
        weighted = {i: rotate(s.D[l], X) for i, X in carried.items()}
        for i in path:
            for j in path:
                M[i, j] = M.get((i, j), 0) + dot(carried[i], weighted[j])
    return matrix(M, n)


def _carry(s: Screws, k: int, i: int, X: Any) -> Array:
    """Ad_k^{i+1}(X): X carried from link i to link k behind it."""
    return X if k == i else Ad(compose(inverse(s.E[k]), s.E[i]), X)


def _velocity(s: Screws, tree: Tree, l: int, X: Any) -> Array:
    """The velocity in the base of the centre of mass of link l under the twist X, which is given at the zero position."""
    w, v = split(X)
    b = rotate(s.home[l].rotation, tree.com[l]) + s.home[l].translation
    return rotate(s.E[l].rotation, v + cross(w, b))
