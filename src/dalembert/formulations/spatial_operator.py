"""Spatial operators: Kozlowski 1995, after Rodriguez, Kreutz and Jain.

tau = H Phi (M Phi^* (H^* qdd + a) + b) (38). H (n x 6n) holds the joint axes, M (6n x 6n) the spatial inertias, E_Phi the step of
wrenches from each link to the one before it and Phi = (1 - E_Phi)^-1 to all before it; a(k) is the bias acceleration, b(k) the bias
force with gravity and external wrenches in it. The filter gives the articulated inertias P, D = H P H^*, the gain G = P H^* D^-1,
E_Psi = E_Phi (1 - G H) and Psi = (1 - E_Psi)^-1; with K = E_Phi G

mass matrix = H Phi M Phi^* H^* (22) = (1 + H Phi K) D (1 + H Phi K)^* (23), its inverse from 1 - H Psi K (24), (25)

The paper numbers links from the tip; here the base comes first, so Phi is upper triangular. Frames stand on the joint axes.

Corrected: E-K1 (the direction of l), E-K2 (m omega x v in b(k)), E-K4, E-K5 (Omega_delta, prismatic joints), E-K6 (the rate of P),
E-K7 (table 1, row 1), E-K8 (qdd in (38)); a(k) for both kinds of joints (E-K3). Rotors are not part of the paper: of all this,
only `diagonalize` and `inverse_mass_matrix` take them.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.scalars import sqrt
from dalembert.algebra.spatial import (
    Ad,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    ad_dual,
    block_diagonal,
    blocks,
    compose,
    dot,
    inverse,
    join,
    matrix,
    rotate,
    rotate_back,
    scaled,
    skew,
    spatial_inertia,
    split,
    stack,
    symmetric,
    zeros,
)
from dalembert.formulations.shared.axes import joint_frames, wrench_on
from dalembert.formulations.shared.filter import Filter, Links, filtered, force_cross, inertia_rates, links, velocities
from dalembert.model.tree import Tree


class SpatialOperators(NamedTuple):
    """H (..., n, 6n), D (..., n), G and K (..., 6n, n); all others (..., 6n, 6n). Base first, six-vectors angular part first."""

    H: Array
    M: Array
    E_Phi: Array
    Phi: Array
    P: Array
    D: Array
    G: Array
    K: Array
    tau_bar: Array
    E_Psi: Array
    Psi: Array


class OperatorRates(NamedTuple):
    """Time derivatives by table 1, with that of P, lambda-dot and the mass factor's; shapes as of the operators."""

    H: Array
    M: Array
    E_Phi: Array
    Phi: Array
    P: Array
    D: Array
    G: Array
    tau_bar: Array
    E_Psi: Array
    lambda_dot: Array
    m: Array


class Diagonalization(NamedTuple):
    """M = U diag(D) U^T = m m^T with U unit upper triangular; l is the inverse of m, det the determinant of M."""

    D: Array
    U: Array
    m: Array
    l: Array
    det: Array


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    frames = joint_frames(tree, q)
    H = [tree.axis(i) for i in range(n)]
    absolute: list[Transform] = []
    V: list[Any] = []
    a: list[Any] = []
    b: list[Any] = []
    M: list[Any] = []
    for i, parent in enumerate(tree.parents):
        absolute.append(frames[i] if parent < 0 else compose(absolute[parent], frames[i]))
        rate = H[i] * qd[..., i, None]
        V.append(rate if parent < 0 else Ad(inverse(frames[i]), V[parent]) + rate)
        a.append(ad(V[i], rate))
        M.append(spatial_inertia(*tree.body(i)))
        g = join(zeros(3), rotate_back(absolute[i].rotation, tree.gravity))
        b_i = -ad_dual(V[i], rotate(M[i], V[i])) - rotate(M[i], g)
        b.append(b_i if wrenches is None else b_i - wrench_on(tree, i, wrenches))
    force = [
        rotate(M[i], alpha) + b[i]
        for i, alpha in enumerate(_phi_star(tree, frames, [H[i] * qdd[..., i, None] + a[i] for i in range(n)]))
    ]
    return stack([(H[i] * f).sum(axis=-1) for i, f in enumerate(_phi(tree, frames, force))])  # (38)


def _phi_star(tree: Tree, frames: list[Transform], x: list[Any]) -> list[Any]:
    """Phi^* x: twists propagated from every link to the outboard ones."""
    y: list[Any] = []
    for i, parent in enumerate(tree.parents):
        y.append(x[i] if parent < 0 else Ad(inverse(frames[i]), y[parent]) + x[i])
    return y


def _phi(tree: Tree, frames: list[Transform], x: list[Any]) -> list[Any]:
    """Phi x: wrenches handed back from every link to those before it."""
    y = list(x)
    for i in reversed(range(len(x))):
        parent = tree.parents[i]
        if parent >= 0:
            y[parent] = y[parent] + Ad_inverse_dual(frames[i], y[i])
    return y


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n) = H Phi M Phi^* H^*, rotors left out."""
    k = links(tree, q)
    H, Phi, M = _axes(k), _resolvent(tree, k.X), block_diagonal(k.M)
    reach = H @ Phi
    return reach @ M @ np.swapaxes(reach, -1, -2)  # (22)


def inverse_mass_matrix(tree: Tree, q: Any, pivots: Pivots = PLAIN) -> Array:
    """M^-1 (..., n, n) = (1 - H Psi K)^* D^-1 (1 - H Psi K)."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    W = matrix(_inverse_factor(tree, k, f), len(k.s))
    D = stack(f.D)
    return symmetric(np.swapaxes(W, -1, -2) @ (W * (1 / D)[..., :, None]))  # (25)


def diagonalize(tree: Tree, q: Any, pivots: Pivots = PLAIN) -> Diagonalization:
    """D, U = 1 + H Phi K, m = U D^1/2, l = D^-1/2 (1 - H Psi K) and det M, each entry by a step along the path."""
    n = len(tree.parents)
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    U: dict[tuple[int, int], Any] = {(i, i): 1 for i in range(n)}
    for j in range(n):
        y, i = f.G[j], j
        while tree.parents[i] >= 0:
            y, i = rotate(k.X[i], y), tree.parents[i]
            U[i, j] = dot(k.s[i], y)  # (23)
    W = _inverse_factor(tree, k, f)
    root = [sqrt(D) for D in f.D]
    m = matrix({(i, j): x * root[j] for (i, j), x in U.items()}, n)  # (26)
    l = matrix({(i, j): x / root[i] for (i, j), x in W.items()}, n)
    det: Any = 1
    for D in f.D:
        det = det * D
    return Diagonalization(stack(f.D), matrix(U, n), m, l, det)


def _inverse_factor(tree: Tree, k: Links, f: Filter) -> dict[tuple[int, int], Any]:
    """The entries of 1 - H Psi K, the inverse of U."""
    W: dict[tuple[int, int], Any] = {(i, i): 1 for i in range(len(k.s))}
    for j in range(len(k.s)):
        y, i = rotate(k.X[j], f.G[j]), tree.parents[j]
        while i >= 0:
            W[i, j] = -dot(k.s[i], y)  # (24)
            y, i = rotate(f.Psi[i], y), tree.parents[i]
    return W


# --- operators as matrices ----------------------------------------------------------------------------------------------


def _axes(k: Links) -> Array:
    return block_diagonal([s[..., None, :] for s in k.s])


def _shift(tree: Tree, X: list[Any]) -> Array:
    """Steps from each link to the one before it."""
    steps = {(parent, i): X[i] for i, parent in enumerate(tree.parents) if parent >= 0}
    return blocks(steps, len(X), (6, 6)) if steps else zeros((6 * len(X), 6 * len(X)))


def _resolvent(tree: Tree, X: list[Any]) -> Array:
    """(1 - E)^-1 of a shift E: products of steps along the paths."""
    entries: dict[tuple[int, int], Any] = {}
    for j in range(len(X)):
        y, i = np.eye(6, dtype=int), j
        entries[j, j] = y
        while tree.parents[i] >= 0:
            y, i = X[i] @ y, tree.parents[i]
            entries[i, j] = y
    return blocks(entries, len(X), (6, 6))


def spatial_operators(tree: Tree, q: Any, pivots: Pivots = PLAIN) -> SpatialOperators:
    """All operators as matrices; rotors left out."""
    k = links(tree, q)
    return _operators(tree, k, filtered(tree, k, pivots))


def _operators(tree: Tree, k: Links, f: Filter) -> SpatialOperators:
    n = len(k.s)
    H = _axes(k)
    G = block_diagonal([g[..., :, None] for g in f.G])
    E_Phi, E_Psi = _shift(tree, k.X), _shift(tree, f.Psi)
    tau_bar = np.eye(6 * n, dtype=int) - G @ H
    Phi, Psi = _resolvent(tree, k.X), _resolvent(tree, f.Psi)
    return SpatialOperators(H, block_diagonal(k.M), E_Phi, Phi, block_diagonal(f.P), stack(f.D), G, E_Phi @ G, tau_bar, E_Psi, Psi)


def spatial_operator_rates(tree: Tree, q: Any, qd: Any, pivots: Pivots = PLAIN) -> OperatorRates:
    """Table 1, local derivatives: of the components in the moving link frames."""
    return _rates(tree, q, qd, pivots)[0]


def inertial_operator_rates(tree: Tree, q: Any, qd: Any, pivots: Pivots = PLAIN) -> OperatorRates:
    """Table 1, inertial derivatives: of the tensors themselves, in link axes; Omega rotates with the links."""
    local, o, V = _rates(tree, q, qd, pivots)
    W = block_diagonal([block_diagonal([w, w]) for w in (skew(split(v)[0]) for v in V)])
    bracket = {name: W @ getattr(o, name) - getattr(o, name) @ W for name in ("M", "E_Phi", "P", "tau_bar", "E_Psi")}
    return local._replace(
        H=-(o.H @ W),
        M=bracket["M"],
        E_Phi=local.E_Phi + bracket["E_Phi"],
        Phi=local.Phi + o.Phi @ bracket["E_Phi"] @ o.Phi,
        P=local.P + bracket["P"],
        G=local.G + W @ o.G,
        tau_bar=local.tau_bar + bracket["tau_bar"],
        E_Psi=local.E_Psi + bracket["E_Psi"],
    )


def _rates(tree: Tree, q: Any, qd: Any, pivots: Pivots) -> tuple[OperatorRates, SpatialOperators, list[Any]]:
    """The local rates, the operators, and the twists of the links."""
    k = links(tree, q)
    f = filtered(tree, k, pivots)
    H, _, E_Phi, Phi, P, D, _, _, tau_bar, E_Psi, _ = o = _operators(tree, k, f)
    V, _ = velocities(tree, k, f, qd)
    each = [force_cross(scaled(qd[..., i], s)) for i, s in enumerate(k.s)]
    rates = inertia_rates(tree, f, each)
    O, lambda_dot, H_star = block_diagonal(each), block_diagonal(rates), np.swapaxes(H, -1, -2)
    P_dot = lambda_dot - O @ P - P @ np.swapaxes(O, -1, -2)  # (13), (16), (17); E-K6
    gain = (P_dot @ H_star) * (1 / D)[..., None, :]
    G_dot = tau_bar @ gain
    inner = O @ Phi @ P + (np.eye(P.shape[-1], dtype=int) + tau_bar) @ P_dot / 2
    return (
        OperatorRates(
            H=0 * H,
            M=0 * P,
            E_Phi=E_Phi @ O,  # (E-K7)
            Phi=Phi @ E_Phi @ O @ Phi,
            P=P_dot,
            D=stack([dot(s, rotate(rate, s)) for s, rate in zip(k.s, rates, strict=True)]),
            G=G_dot,
            tau_bar=-G_dot @ H,
            E_Psi=E_Psi @ (O @ tau_bar - gain @ H),
            lambda_dot=lambda_dot,
            m=H @ Phi @ inner @ H_star * (1 / sqrt(D))[..., None, :],  # (29)
        ),
        o,
        V,
    )
