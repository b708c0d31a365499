"""Closed forms on SE(3): Park, Bobrow and Ploen 1995, equations (40), (55)-(57) and (59).

A_i is the joint screw in base axes with all joints at zero, E_i = e^{A_1 x_1} ... e^{A_i x_i} along the path to link i, and
Ad_k^{i+1}(A_i) that screw carried to link k: Ad of E_k^{-1} E_i. <., .>_k is the inertia of link k at zero, in base axes (36).
No differentiation: the Christoffel symbols Gamma_ijk, force index last, are brackets of screws, in three cases of the order of
the joints along the path.

Ad, brackets and <., .> are the same maps in any axes. Those of the base, which the paper takes, cost digits far from it: a link of
size r at a distance R loses (R / r)^2. So the sums below are carried out in frames on the joints (`near`).

Corrected: E-B2 (one half in the kinetic energy), E-B5 (the sign of the potential), E-B11.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import (
    Ad,
    Array,
    Transform,
    ad,
    compose,
    cross,
    dot,
    exp_z,
    inverse,
    matrix,
    rotate,
    spatial_inertia,
    split,
    stack,
)
from dalembert.model.tree import Tree


class Screws(NamedTuple):
    """The robot as products of exponentials: screws A, motions E, inertias D at zero, homes of the links."""

    A: list[Any]
    E: list[Transform]
    D: list[Any]
    home: list[Transform]

    def motion(self, k: int, i: int) -> Transform:
        """E_k^-1 E_i, by whose Ad screws are carried from link i to link k behind it."""
        return compose(inverse(self.E[k]), self.E[i])


class Near(NamedTuple):
    """Screws A_i and inertias D_i in a frame on joint i, and where such frames (or the base, -1) stand in those behind them."""

    A: list[Any]
    D: list[Any]
    seen: dict[tuple[int, int], Transform]

    def motion(self, k: int, i: int) -> Transform:
        """The frame of joint i in that of joint k behind it."""
        return self.seen[k, i]


def screws(tree: Tree, q: Any) -> Screws:
    """Everything in base axes."""
    A: list[Any] = []
    E: list[Transform] = []
    D: list[Any] = []
    home: list[Transform] = []
    for i, parent in enumerate(tree.parents):
        before, after, rho, sigma = tree.joint(i)
        axis = before if parent < 0 else compose(home[parent], before)
        A.append(Ad(axis, tree.axis(i)))
        step = compose(compose(axis, exp_z(rho, sigma, tree.at(i, q[..., i]))), inverse(axis))  # e^{A_i x_i}
        E.append(step if parent < 0 else compose(E[parent], step))
        home.append(compose(axis, after))
        R, b = home[i].rotation, rotate(home[i].rotation, tree.com[i]) + home[i].translation
        D.append(spatial_inertia(tree.mass[i], b, R @ tree.inertia[i] @ np.swapaxes(R, -1, -2)))  # (36), (44)
    return Screws(A, E, D, home)


def near(tree: Tree, q: Any) -> Near:
    """Everything in frames on the joints."""
    A: list[Any] = []
    D: list[Any] = []
    seen: dict[tuple[int, int], Transform] = {}
    for k, parent in enumerate(tree.parents):
        _, _, rho, sigma = tree.joint(k)
        A.append(tree.axis(k))
        D.append(spatial_inertia(*tree.body(k)))
        back = compose(exp_z(rho, sigma, -tree.at(k, q[..., k])), inverse(tree.step(k)))
        seen[k, parent] = back
        if parent >= 0:
            for i in (-1, *tree.path(parent)[:-1]):
                seen[k, i] = compose(back, seen[parent, i])
    return Near(A, D, seen)


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n) = sum m_kj qdd_j + sum Gamma_ijk qd_i qd_j + phi_k (29)."""
    links = range(len(tree.parents))
    s = near(tree, q)
    tau: list[Any] = [0 * q[..., k] for k in links]
    for l in links:
        path, carried, weighted = seen_from(tree, s, l)
        gamma = _symbols(s, l, path, weighted)
        gravity = rotate(s.motion(l, -1).rotation, tree.gravity)
        to_link = inverse(tree.joint(l)[1])
        for k in path:
            tau[k] = tau[k] + sum(dot(carried[j], weighted[k]) * qdd[..., j] for j in path)  # (40)
            for i in path:
                for j in path:
                    tau[k] = tau[k] + gamma(i, j, k) * (qd[..., i] * qd[..., j])  # (29), (9.12)
            tau[k] = tau[k] - tree.mass[l] * dot(gravity, _velocity(carried[k], tree.body(l).com))  # (59)
            if wrenches is not None:
                tau[k] = tau[k] - dot(Ad(to_link, carried[k]), wrenches[..., l, :])
    return stack(tau)


def seen_from(tree: Tree, s: Screws | Near, l: int) -> tuple[tuple[int, ...], dict[int, Any], dict[int, Any]]:
    """The path to link l, the screws on it carried there, Ad_l^{i+1}(A_i), and these times the inertia of link l."""
    path = tree.path(l)
    carried = {i: _carry(s, l, i, s.A[i]) for i in path}
    return path, carried, {i: rotate(s.D[l], X) for i, X in carried.items()}


def _symbols(s: Screws | Near, l: int, path: tuple[int, ...], weighted: dict[int, Any]) -> Callable[[int, int, int], Any]:
    """What link l adds to Gamma_ijk, force index last: the cases are those in which the terms below vanish."""
    rate = brackets(s, l, path)

    def half(i: int, j: int, k: int) -> Any:
        """<d/dx_j Ad_l(A_i), Ad_l(A_k)>_l, which is 0 unless i comes before j."""
        return dot(rate[i, j], weighted[k]) / 2 if (i, j) in rate else 0

    def gamma(i: int, j: int, k: int) -> Any:
        return half(k, i, j) + half(j, i, k) + half(k, j, i) + half(i, j, k) - half(i, k, j) - half(j, k, i)  # (55)-(57)

    return gamma


def brackets(s: Screws | Near, l: int, path: tuple[int, ...]) -> dict[tuple[int, int], Any]:
    """Ad_l^j([Ad_{j-1}^{i+1}(A_i), A_j]) for i before j on the path to link l: d/dx_j of Ad_l^{i+1}(A_i), by (53)."""
    return {(i, j): _carry(s, l, j, ad(_carry(s, j, i, s.A[i]), s.A[j])) for a, i in enumerate(path) for j in path[a + 1 :]}


def christoffel(tree: Tree, q: Any) -> Array:
    """Gamma (..., n, n, n), the force index FIRST: no differentiation."""
    n = len(tree.parents)
    s = near(tree, q)
    total: dict[tuple[int, int, int], Any] = {}
    for l in range(n):
        path, _, weighted = seen_from(tree, s, l)
        gamma = _symbols(s, l, path, weighted)
        for k in path:
            for a, i in enumerate(path):
                for j in path[a:]:
                    total[k, i, j] = total[k, j, i] = total.get((k, i, j), 0) + gamma(i, j, k)
    flat = stack([total.get(index, 0) for index in np.ndindex(n, n, n)])
    return flat.reshape((*flat.shape[:-1], n, n, n))


def coriolis_matrix(tree: Tree, q: Any, qd: Any) -> Array:
    """C (..., n, n) with C_kj = sum_i Gamma_ijk qd_i."""
    return rotate(christoffel(tree, q), qd[..., None, :])  # (9.87), times qd (9.88)


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n): m_ij = sum_l <Ad_l^{i+1}(A_i), Ad_l^{j+1}(A_j)>_l over the links l that both joints move."""
    s = near(tree, q)
    M: dict[tuple[int, int], Any] = {}
    for l in range(len(tree.parents)):
        path, carried, weighted = seen_from(tree, s, l)
        for i in path:
            for j in path:
                M[i, j] = M.get((i, j), 0) + dot(carried[i], weighted[j])  # (40)
    return matrix(M, len(tree.parents))


# --- propositions 1 and 2, along the path to link j; indices are those of links --------------------------------------------


def carried(tree: Tree, q: Any, j: int, i: int, X: Any) -> Array:
    """Ad_j^i(X) of (37): X carried through the joints from i to j; X itself where joint i is not on the path to link j.

    >>> import dalembert as da
    >>> X = np.array([0.0, 0, 0, 1, 0, 0])  # along x; seen from a link turned by a right angle, along -y
    >>> carried(da.robot("two_link").tree, np.array([np.pi / 2, 0.0]), 1, 0, X).round(12).tolist()
    [0.0, 0.0, 0.0, 0.0, -1.0, 0.0]
    """
    s, path = screws(tree, q), tree.path(j)
    return _between(tree, s, j, i, X) if i in path else X


def carried_rate(tree: Tree, q: Any, j: int, i: int, k: int, X: Any) -> Array:
    """d/dx_k Ad_j^i(X) = Ad_j^k([Ad_{k-1}^i(X), A_k]) for i <= k <= j along the path, else 0: proposition 1 (53).

    >>> import dalembert as da
    >>> tree, q, X = da.robot("two_link").tree, np.array([0.3, 0.5]), np.array([0.0, 0, 0, 1, 0, 0])
    >>> step = carried(tree, q + [0, 1e-30j], 1, 0, X).imag / 1e-30  # link 1, joint 0, by a complex step in joint 1
    >>> bool(abs(carried_rate(tree, q, 1, 0, 1, X) - step).max() < 1e-15)
    True
    """
    s, path = screws(tree, q), tree.path(j)
    if not (i in path and k in path and i <= k):
        return 0 * X
    inner = X if i == k else _between(tree, s, tree.parents[k], i, X)
    return _between(tree, s, j, k, ad(inner, s.A[k]))


def carried_second_rate(tree: Tree, q: Any, j: int, i: int, k: int, l: int, X: Any) -> Array:
    """d2/dx_k dx_l Ad_j^i(X): proposition 2 (54), the inner one of k and l first (E-B4: its cases are printed exchanged).

    >>> import dalembert as da
    >>> tree, q, X = da.robot("two_link").tree, np.array([0.3, 0.5]), np.array([0.0, 0, 0, 1, 0, 0])
    >>> step = carried_rate(tree, q + [0, 1e-30j], 1, 0, 0, X).imag / 1e-30
    >>> bool(abs(carried_second_rate(tree, q, 1, 0, 0, 1, X) - step).max() < 1e-15)
    True
    """
    s, path = screws(tree, q), tree.path(j)
    k, l = min(k, l), max(k, l)
    if not (i in path and k in path and l in path and i <= k):
        return 0 * X
    inner = X if i == k else _between(tree, s, tree.parents[k], i, X)
    inner = ad(inner, s.A[k])
    inner = inner if k == l else _between(tree, s, tree.parents[l], k, inner)
    return _between(tree, s, j, l, ad(inner, s.A[l]))


def _between(tree: Tree, s: Screws, j: int, i: int, X: Any) -> Array:
    """Ad_j^i(X) = E_j^-1 E_{i-1} X E_{i-1}^-1 E_j."""
    above = tree.parents[i]
    motion = inverse(s.E[j]) if above < 0 else compose(inverse(s.E[j]), s.E[above])
    return Ad(motion, X)


def _carry(s: Screws | Near, k: int, i: int, X: Any) -> Array:
    """Ad_k^{i+1}(X): X carried from link i to link k behind it."""
    return X if k == i else Ad(s.motion(k, i), X)


def _velocity(X: Any, point: Any) -> Array:
    """The velocity of a point under the twist X."""
    w, v = split(X)
    return v + cross(w, point)
