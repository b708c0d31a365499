"""The operator formulas of Kozlowski 1995 that the recursions are derived from: (30) to (32), (36), (39), (42), (45), (48), (49).

Base first, frames on the joint axes, rotors and friction left out. Each formula is evaluated as it stands (corrected: E-K5, E-K9,
E-K10, E-K13), with the operators of `spatial_operators`; the recursions of `quasi_coriolis` are the way to compute.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.linalg import PLAIN
from dalembert.algebra.spatial import Array, ad, block_diagonal, rotate, scaled
from dalembert.engine.evaluation import of_tree
from dalembert.formulations.shared.filter import bias, filtered, force_cross, links, velocities
from dalembert.formulations.spatial_operator import SpatialOperators, spatial_operator_rates, spatial_operators
from dalembert.model.model import Model


class DiagonalizedTerms(NamedTuple):
    """What Kozlowski's formulas give; n joints, base first.

    m_dot (..., n, n): rate of the mass factor (30); m_dot_nu (..., n): times nu (31); energy_gradient (..., n): qd^T dM/dq qd (32);
    xi_dot (..., n): (36); V (..., 6n): twists from quasi-velocities (49); C_nu, C_xi (..., n): (42), (45), gravity left out;
    C_xi_matrix (..., n, n): the unnormalized matrix, off the diagonal (48) without D^-1/2, on it half the rate of D; parts
    (..., n, n, n): the terms of its sums, H(k) Psi(k, m) P(m) Omega*(m) Psi*(i, m) H*(i) by k, i and m (figure 1).
    """

    m_dot: Array
    m_dot_nu: Array
    energy_gradient: Array
    xi_dot: Array
    V: Array
    C_nu: Array
    C_xi: Array
    C_xi_matrix: Array
    parts: Array


class TorqueComponents(NamedTuple):
    """What link j adds to the force of joint i, (..., n, n) each: by acceleration, bias acceleration and bias force."""

    acceleration: Array
    bias_acceleration: Array
    bias_force: Array


def _T(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


@np.errstate(all="ignore")
def diagonalized_terms(robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> DiagonalizedTerms:
    """Rates of mass factor and quasi-velocities, and C(q, nu), C(q, xi) in operator form.

    Kozlowski (30) to (34), (36), (42), (45), (48), (49). Signature (n),(n),(n)->(n,n),(n),(n),(n),(6n),(n),(n),(n,n),(n,n,n).

    >>> import dalembert as da
    >>> arm, q, qd = da.robot("two_link"), [0.3, 0.5], [1.0, 2.0]
    >>> t = arm.diagonalized_terms(q, qd, [0.0, 0.0])
    >>> bool(abs(t.C_nu - arm.quasi_coriolis(q, arm.quasi_velocity(q, qd))).max() < 1e-14)
    True
    """
    q, qd, qdd = of_tree(robot, "diagonalized_terms", q=q, qd=qd, qdd=qdd)
    tree, n = robot.tree, robot.n
    o, rates = spatial_operators(tree, q), spatial_operator_rates(tree, q, qd)
    H, M, Phi, P, D, K, tau_bar, E, Psi = o.H, o.M, o.Phi, o.P, o.D, o.K, o.tau_bar, o.E_Psi, o.Psi
    root, one, lam = np.sqrt(D), np.eye(6 * n), rates.lambda_dot
    O = block_diagonal([force_cross(scaled(qd[..., i], tree.axis(i))) for i in range(n)])
    OP = O @ P
    xi = rotate(np.eye(n) + _T(H @ Phi @ K), qd)  # (34)
    V = rotate(_T(H @ Psi), xi)  # (49)
    X = block_diagonal([force_cross(V[..., 6 * i : 6 * i + 6]) for i in range(n)])  # V x (33)
    skewed = E @ lam - lam @ _T(E)  # what the bracket below means (E-K9)
    xi_dot = rotate(H @ rates.P @ _T(tau_bar) + H @ P @ _T(Phi) @ _T(O), V) / D + rotate(
        _T(H @ Phi @ o.G), qdd
    )  # (36), with the local rate of P and Phi (E-K10)
    middle = skewed - OP + _T(OP) + 2 * X @ M
    parts = _parts(o, P @ _T(O), n)
    return DiagonalizedTerms(
        m_dot=H @ Phi @ (O @ (Phi - one) @ P + (one + tau_bar) @ lam / 2) @ _T(H) / root[..., None, :],  # (30)
        m_dot_nu=rotate(H @ Phi @ (O @ Phi @ K @ H @ P + (OP + _T(OP)) / 2 + skewed / 2), V),  # (31)
        energy_gradient=2 * rotate(H @ Phi @ (O @ (one + Phi @ K @ H) @ P - X @ M), V),  # (32)
        xi_dot=xi_dot,
        V=V,
        C_nu=rotate(H @ Psi @ middle @ _T(H @ Psi), xi) / root / 2,  # (42)
        C_xi=rotate(H @ Psi, rotate(lam @ _T(H), xi) - rotate(OP - X @ M, V)),  # (45)
        C_xi_matrix=_unnormalized(parts),
        parts=parts,
    )


def _parts(o: SpatialOperators, PO: Array, n: int) -> Array:
    """The terms of the sums in (48), by k, i and m."""
    reach = o.H @ o.Psi
    parts = []
    for m in range(n):
        at = reach[..., 6 * m : 6 * m + 6]
        parts.append(at @ PO[..., 6 * m : 6 * m + 6, 6 * m : 6 * m + 6] @ _T(at))
    return np.stack(parts, axis=-1)


def _unnormalized(parts: Array) -> Array:
    """c_ki for k before i (E-K13), its negative below; on the diagonal the whole sum, half the rate of D."""
    total = parts.sum(axis=-1)
    upper = np.triu(total, 1)
    return upper - _T(upper) + np.eye(total.shape[-1]) * total


@np.errstate(all="ignore")
def torque_components(robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> TorqueComponents:
    """The force of each joint as a sum of components, one for every link: Kozlowski (38), (39). Signature (n),(n),(n)->(n,n), ...

    The rows of all three, added up, are the inverse dynamics. acceleration[i, j] is H(i) r H*(j) qdd_j with the composite inertia r
    of the links that both joints move; bias_acceleration[i, j] the same with the bias acceleration a(j); bias_force[i, j] the bias
    force b(j) of link j handed back to joint i, with its weight. Rotors and friction are left out.

    >>> import dalembert as da
    >>> arm, state = da.robot("planar_3r"), ([0.1, 0.2, 0.3], [1.0, 0.5, 0.2], [0.1, 0.2, 0.3])
    >>> parts = arm.torque_components(*state)
    >>> bool(abs(sum(parts).sum(axis=-1) - arm.inverse_dynamics(*state)).max() < 1e-13)
    True
    """
    q, qd, qdd = of_tree(robot, "torque_components", q=q, qd=qd, qdd=qdd)
    tree, n = robot.tree, robot.n
    k = links(tree, q)
    V, _ = velocities(tree, k, filtered(tree, k, PLAIN), qd)
    o = spatial_operators(tree, q)
    reach = o.H @ o.Phi
    inertia = reach @ o.M @ _T(o.Phi)  # (..., n, 6n): H Phi M Phi*
    a = [ad(V[j], scaled(qd[..., j], k.s[j])) for j in range(n)]
    b = bias(tree, k, V, None)

    def parts(row: Array, x: list[Any]) -> Array:
        return np.stack([rotate(row[..., 6 * j : 6 * j + 6], x[j]) for j in range(n)], axis=-1)

    return TorqueComponents(parts(inertia, [scaled(qdd[..., j], k.s[j]) for j in range(n)]), parts(inertia, a), parts(reach, b))
