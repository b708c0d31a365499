"""Kozlowski 1995: each misprint as printed and as it should be.

The paper numbers links from the tip; here the base comes first, so that Phi and Psi are upper triangular. Frames stand on the joint
axes and move with their links.
"""

from typing import NamedTuple

import numpy as np
import pytest
from arms import (
    agree,
    arm,
    beyond,
    differ,
    gradient,
    joint,
    kinetic,
    misprint,
    motion,
    potential,
    rate,
    skew,
    unusable,
)

from dalembert.studies.tables import (
    NORMALIZED_STAGES,
    SHARED_STAGES,
    UNNORMALIZED_STAGES,
    polynomial,
    stages,
    value,
)

TURNING, SLIDING = arm("RRR", 11), arm("RPRP", 12)
STATE = {3: motion(3, 13), 4: motion(4, 14)}


class Operators(NamedTuple):
    """The paper's, at a position; X_i carries wrenches of frame i into the frame before it."""

    X: list
    s: list
    H: np.ndarray
    M: np.ndarray
    E_Phi: np.ndarray
    Phi: np.ndarray
    P: np.ndarray
    D: np.ndarray
    G: np.ndarray
    K: np.ndarray
    tau_bar: np.ndarray
    E_Psi: np.ndarray
    Psi: np.ndarray


def block(i):
    return slice(6 * i, 6 * i + 6)


def operators(arm, q, l=1):
    """All of them; l = -1 reverses the vector between the origins."""
    n, kind = arm.n, np.result_type(q, float)
    X, s, M = [], [], np.zeros((6 * n, 6 * n))
    step = np.eye(4)
    for i in range(n):
        T = step @ joint(arm, i, q)
        R = T[:3, :3]
        X.append(np.block([[R, l * skew(T[:3, 3]) @ R], [np.zeros((3, 3)), R]]))
        s.append(np.eye(6)[2 if arm.kinds[i] == "R" else 5])
        step = beyond(arm, i)
        p, turn = (step @ np.append(arm.com[i], 1))[:3], step[:3, :3]
        I = turn @ arm.inertia[i] @ turn.T - arm.mass[i] * skew(p) @ skew(p)
        m = arm.mass[i]
        M[block(i), block(i)] = np.block([[I, m * skew(p)], [-m * skew(p), m * np.eye(3)]])
    H, E_Phi, P, G = (np.zeros(shape, kind) for shape in ((n, 6 * n), (6 * n, 6 * n), (6 * n, 6 * n), (6 * n, n)))
    D = np.zeros(n, kind)
    for i in reversed(range(n)):
        H[i, block(i)] = s[i]
        P[block(i), block(i)] += M[block(i), block(i)]
        Ps = P[block(i), block(i)] @ s[i]
        D[i] = s[i] @ Ps
        G[block(i), i] = Ps / D[i]
        if i:
            E_Phi[block(i - 1), block(i)] = X[i]
            psi = X[i] @ (np.eye(6) - np.outer(G[block(i), i], s[i]))
            P[block(i - 1), block(i - 1)] = psi @ P[block(i), block(i)] @ psi.T
    one = np.eye(6 * n)
    tau_bar = one - G @ H
    E_Psi = E_Phi @ tau_bar
    Phi, Psi = np.linalg.inv(one - E_Phi), np.linalg.inv(one - E_Psi)
    return Operators(X, s, H, M, E_Phi, Phi, P, D, G, E_Phi @ G, tau_bar, E_Psi, Psi)


def crf(V):
    """V x for wrenches (33)."""
    return np.block([[skew(V[:3]), skew(V[3:])], [np.zeros((3, 3)), skew(V[:3])]])


def diagonal(blocks):
    X = np.zeros((6 * len(blocks),) * 2, np.result_type(*blocks))
    for i, b in enumerate(blocks):
        X[block(i), block(i)] = b
    return X


def blocks_of(X):
    """The diagonal blocks alone."""
    return diagonal([X[block(i), block(i)] for i in range(len(X) // 6)])


def omega_delta(arm, qd, printed=False):
    """Omega_delta of the joints' own twists, or diag(h~, h~) thetadot for all of them (3), (4)."""
    each = []
    for kind, x in zip(arm.kinds, qd, strict=True):
        twist = np.zeros(6, np.result_type(x, float))
        twist[2 if kind == "R" or printed else 5] = x
        each.append(crf(twist))
    return diagonal(each)


def twists(o, qd):
    return o.Phi.T @ o.H.T @ qd


def along(arm, name):
    """The rate of an operator along the motion."""
    q, qd, _ = STATE[arm.n]
    return rate(lambda q: getattr(operators(arm, q), name), (q, qd))


def lambda_dot(arm):
    q, qd, _ = STATE[arm.n]
    o, O = operators(arm, q), omega_delta(arm, qd)
    return along(arm, "P") + O @ o.P + o.P @ O.T


def bias_forces(arm, q, V):
    o = operators(arm, q)
    return np.concatenate([crf(V[block(i)]) @ o.M[block(i), block(i)] @ V[block(i)] for i in range(arm.n)])


def factor(o):
    """U = 1 + H Phi K, with M = U D U^T."""
    return np.eye(len(o.D)) + o.H @ o.Phi @ o.K


def quasi(arm, q, qd):
    """xi and nu from the factors of the mass matrix."""
    o = operators(arm, q)
    xi = factor(o).T @ qd
    return xi, np.sqrt(o.D) * xi


def quasi_rates(arm):
    """xidot and nudot along the motion."""
    q, qd, qdd = STATE[arm.n]
    return (rate(lambda q, qd, k=k: quasi(arm, q, qd)[k], (q, qd), (qd, qdd)) for k in (0, 1))


def coriolis(arm, normalized):
    """C from the equations of motion (40), (44), without gravity: an independent result for the recursions."""
    q, qd, qdd = STATE[arm.n]
    o, tau = operators(arm, q), arm.weightless().torque(q, qd, qdd)
    xi_dot, nu_dot = quasi_rates(arm)
    kappa = np.linalg.solve(factor(o), tau)
    return kappa / np.sqrt(o.D) - nu_dot if normalized else kappa - o.D * xi_dot


@pytest.mark.parametrize("which", [TURNING, SLIDING], ids=lambda arm: arm.kinds)
def test_operators_themselves(which):
    q, qd, _ = STATE[which.n]
    o = operators(which, q)
    M = which.mass_matrix(q)
    agree(o.H @ o.Phi @ o.M @ o.Phi.T @ o.H.T, M)
    agree((factor(o) * o.D) @ factor(o).T, M)
    agree(kinetic(which, q, qd).sum(), qd @ M @ qd / 2)


def test_E_K1():
    q, _, _ = STATE[4]

    def M(l):
        o = operators(SLIDING, q, l)
        return o.H @ o.Phi @ o.M @ o.Phi.T @ o.H.T

    misprint("E-K1", M(-1), M(1), SLIDING.mass_matrix(q))


def test_E_K2():
    q, qd, _ = STATE[4]
    o, V = operators(SLIDING, q), twists(operators(SLIDING, q), qd)
    a = np.concatenate([crf(o.s[i] * qd[i]).T @ V[block(i)] for i in range(4)])

    def c(printed):
        b = []
        for i in range(4):
            (w, v), M = V[block(i)].reshape(2, 3), o.M[block(i), block(i)]
            I, m = M[:3, :3], M[5, 5]
            p = np.array([M[2, 4], M[0, 5], M[1, 3]]) / m
            second = np.cross(p, v) if printed else np.cross(w, v)
            b.append(np.append(np.cross(w, I @ w) + m * np.cross(p, np.cross(w, v)), m * (second + np.cross(w, np.cross(w, p)))))
        return o.H @ o.Phi @ (o.M @ o.Phi.T @ a + np.concatenate(b))

    misprint("E-K2", c(True), c(False), SLIDING.weightless().torque(q, qd, 0 * q))


def printed_bias_accelerations(arm, q, qd):
    """a(k) of the nomenclature."""
    V, a = twists(operators(arm, q), qd).reshape(-1, 2, 3), []
    for (w, v), kind, x in zip(V, arm.kinds, qd, strict=True):
        h = np.array([0, 0, x])
        a.append(np.append(np.cross(w, h), np.cross(v, h)) if kind == "R" else np.append(0 * h, np.cross(w, h)))
    return np.concatenate(a)


def test_E_K3():
    q, qd, qdd = STATE[4]
    o = operators(SLIDING, q)
    truth = rate(lambda q, qd: twists(operators(SLIDING, q), qd), (q, qd), (qd, qdd))  # component rates
    right = o.Phi.T @ (o.H.T @ qdd + printed_bias_accelerations(SLIDING, q, qd))
    V = twists(o, qd).reshape(-1, 2, 3)
    points = np.concatenate([np.append(0 * w, np.cross(w, v)) for w, v in V])
    misprint("E-K3", right + points, right, truth)  # right + points: what the accelerations of points would be


def test_E_K4():
    q, _, _ = STATE[4]
    o = operators(SLIDING, q)
    with pytest.raises(ValueError, match="matmul"):
        o.H.T @ o.Phi  # H in R^{6N x N}
    assert (o.H @ o.Phi).shape == (4, 24)
    assert not along(SLIDING, "M").any()  # about origins that move with the links
    slide = np.eye(6)
    slide[:3, 3:] = skew([0, 0, q[1]])  # about an origin on the inboard side, the inertia changes as the joint slides
    still = o.M[block(1), block(1)]
    differ(slide @ still @ slide.T, still)
    unusable("E-K4")


def test_E_K5():
    q, qd, _ = STATE[4]
    E_Phi = operators(SLIDING, q).E_Phi
    printed, right = E_Phi @ omega_delta(SLIDING, qd, printed=True), E_Phi @ omega_delta(SLIDING, qd)
    misprint("E-K5", printed, right, along(SLIDING, "E_Phi"))
    q, qd, _ = STATE[3]
    agree(operators(TURNING, q).E_Phi @ omega_delta(TURNING, qd, printed=True), along(TURNING, "E_Phi"))


def test_E_K6():
    q, qd, _ = STATE[3]
    o, O = operators(TURNING, q), omega_delta(TURNING, qd)
    bracket, P_dot = O @ o.P - o.P @ O, along(TURNING, "P")
    printed, right = (blocks_of(o.E_Psi @ (inside + bracket) @ o.E_Psi.T) for inside in (o.P, P_dot))
    misprint("E-K6", printed, right, P_dot)
    rates = lambda_dot(TURNING)
    agree(blocks_of(o.E_Psi @ rates @ o.E_Psi.T) + bracket, rates)  # (18), (21)
    differ(rates, P_dot)


def test_E_K7():
    q, qd, _ = STATE[3]
    o, O = operators(TURNING, q), omega_delta(TURNING, qd)
    misprint("E-K7", o.E_Phi @ O @ o.Phi, o.E_Phi @ O, along(TURNING, "E_Phi"))


def test_E_K8():
    arm, (q, qd, qdd) = TURNING, STATE[3]
    o, M, U = operators(arm, q), arm.mass_matrix(q), factor(operators(arm, q))
    xi, _ = quasi(arm, q, qd)
    xi_dot, _ = quasi_rates(arm)
    U_dot = rate(lambda q: factor(operators(arm, q)), (q, qd))
    misprint("E-K8", U_dot.T @ qd + U @ qdd, U_dot.T @ qd + U.T @ qdd, xi_dot)  # (35)
    differ(U.T @ q, xi)  # (34)
    tau, c = arm.weightless().torque(q, qd, qdd), arm.weightless().torque(q, qd, 0 * q)
    agree(M @ qdd + c, tau)  # (38)
    differ(M @ q + c, tau)
    K = kinetic(arm, q, qd).sum()
    agree(xi @ (o.D * xi) / 2, K)  # (43)
    differ(xi_dot @ (o.D * xi_dot) / 2, K)
    kappa, C = np.linalg.solve(U, tau), coriolis(arm, normalized=False)
    agree(o.D * xi_dot + C, kappa)  # (44)
    differ(o.D * xi + C, kappa)


def test_E_K9():
    arm, (q, qd, _) = TURNING, STATE[3]
    o, O, rates = operators(arm, q), omega_delta(TURNING, qd), lambda_dot(TURNING)
    V, (_, nu) = twists(o, qd), quasi(arm, q, qd)
    truth = rate(lambda q: factor(operators(arm, q)) * np.sqrt(operators(arm, q).D), (q, qd)) @ nu
    commutator, meant = o.E_Psi @ rates - rates @ o.E_Psi, o.E_Psi @ rates - rates @ o.E_Psi.T

    def right_side(bracket):  # (31)
        return o.H @ o.Phi @ (O @ o.Phi @ o.K @ o.H @ o.P + (O @ o.P - o.P @ O) / 2 + bracket / 2) @ V

    misprint("E-K9", right_side(commutator), right_side(meant), truth)
    crosses = diagonal([crf(V[block(i)]) for i in range(3)])

    def C(bracket):  # (42)
        inner = bracket - O @ o.P + o.P @ O.T + 2 * crosses @ o.M
        return o.H @ o.Psi @ inner @ V / (2 * np.sqrt(o.D))

    agree(C(meant), coriolis(arm, normalized=True))
    differ(C(commutator), coriolis(arm, normalized=True))
    agree(V @ (meant - O @ o.P + o.P @ O.T) @ V, 0.0)  # (47)


def test_E_K10():
    arm, (q, qd, qdd) = TURNING, STATE[3]
    o, O, P_dot = operators(arm, q), omega_delta(TURNING, qd), along(TURNING, "P")
    V, one = twists(o, qd), np.eye(18)
    xi_dot, _ = quasi_rates(arm)

    def right_side(rates, Phi):
        first = o.H @ rates @ o.tau_bar.T @ V / o.D
        return first + o.H @ o.P @ Phi.T @ O.T @ V / o.D + o.G.T @ o.Phi.T @ o.H.T @ qdd

    misprint("E-K10", right_side(P_dot, o.Phi - one), right_side(P_dot, o.Phi), xi_dot)
    agree(right_side(lambda_dot(arm), o.Phi - one), xi_dot)


def recursion_nu(arm, velocity="parent", root=None):
    """C(theta, nu) by the recursion after (42); `velocity` is the V that lambdadot(k) Psi^* takes."""
    q, qd, _ = STATE[arm.n]
    o, O, rates = operators(arm, q), omega_delta(arm, qd), lambda_dot(arm)
    V = twists(o, qd).reshape(-1, 6)
    b = bias_forces(arm, q, V.ravel()).reshape(-1, 6)
    y, C = np.zeros(6), np.zeros(arm.n)
    for i in reversed(range(arm.n)):
        psi = [o.X[k] @ o.tau_bar[block(k), block(k)] for k in range(arm.n)]
        X, L = O[block(i), block(i)] @ o.P[block(i), block(i)], rates[block(i), block(i)]
        if i + 1 < arm.n:
            y = psi[i + 1] @ (y + rates[block(i + 1), block(i + 1)] @ V[i + 1])
        y = y + 2 * b[i] + (X.T - X) @ V[i]
        above = np.zeros(6) if i == 0 else V[i - 1]
        y = y - L @ psi[i].T @ (above if velocity == "parent" else V[i])
        C[i] = o.s[i] @ y / (2 * np.sqrt(o.D[i] if root is None else root))
    return C


def test_E_K11():
    truth = coriolis(SLIDING, normalized=True)
    misprint("E-K11", recursion_nu(SLIDING, "own"), recursion_nu(SLIDING), truth)
    differ(recursion_nu(SLIDING, root=operators(SLIDING, STATE[4][0]).D[0]), truth)  # one D for all k


def recursion_xi(arm, carried=False, shortcut=False):
    """C(theta, xi) by the recursion after (46), lambdadot by its own; `carried`: lambdadot(k, k-1) is that of k-1 seen from k."""
    q, qd, _ = STATE[arm.n]
    o, O = operators(arm, q), omega_delta(arm, qd)
    V, (xi, _) = twists(o, qd).reshape(-1, 6), quasi(arm, q, qd)
    b = bias_forces(arm, q, V.ravel()).reshape(-1, 6)
    y, L, C, rates = np.zeros(6), np.zeros((6, 6)), np.zeros(arm.n), [None] * arm.n
    for i in reversed(range(arm.n)):
        X = O[block(i), block(i)] @ o.P[block(i), block(i)]
        if i + 1 < arm.n:
            psi = o.X[i + 1] @ o.tau_bar[block(i + 1), block(i + 1)]
            inner = o.X[i + 1] @ L @ o.X[i + 1].T if carried else L
            L, y = psi @ inner @ (o.X[i + 1] if shortcut else psi).T, psi @ y
        L = L + X + X.T
        rates[i] = L
        y = y + L @ o.s[i] * xi[i] + b[i] - X @ V[i]
        C[i] = o.s[i] @ y
    return C, diagonal(rates)


def test_E_K12():
    misprint("E-K12", recursion_xi(SLIDING, carried=True)[0], recursion_xi(SLIDING)[0], coriolis(SLIDING, normalized=False))


@pytest.mark.parametrize("which", [TURNING, SLIDING], ids=lambda arm: arm.kinds)
def test_component_form_is_skew(which):
    c = component_form(which, transposed=True)
    agree(c, -c.T)


def component_form(arm, transposed):
    """The matrix of (48), for k before i; then c_ik = -c_ki."""
    q, qd, _ = STATE[arm.n]
    o, O = operators(arm, q), omega_delta(arm, qd)
    c = np.zeros((arm.n, arm.n))
    for k in range(arm.n):
        for i in range(k + 1, arm.n):
            total = 0
            for m in range(i + 1, arm.n):
                Omega = O[block(m), block(m)]
                inner = o.P[block(m), block(m)] @ (Omega.T if transposed else Omega)
                total += o.s[k] @ o.Psi[block(k), block(m)] @ inner @ o.Psi[block(i), block(m)].T @ o.s[i]
            c[k, i] = total / np.sqrt(o.D[k] * o.D[i])
            c[i, k] = -c[k, i]
    return c


def test_E_K13():
    """C(theta, nu) is this matrix times nu, and what the bias forces add."""
    arm = TURNING
    q, qd, _ = STATE[arm.n]
    o, (_, nu) = operators(arm, q), quasi(arm, q, qd)
    b = o.H @ o.Psi @ bias_forces(arm, q, twists(o, qd)) / np.sqrt(o.D)
    printed, right = (component_form(arm, transposed) @ nu for transposed in (False, True))
    truth = coriolis(arm, normalized=True) - b
    misprint("E-K13", printed, right, truth)
    agree(printed, -truth)  # for revolute joints the printed form is the negative
    q, qd, _ = STATE[4]
    o, (_, nu) = operators(SLIDING, q), quasi(SLIDING, q, qd)
    b = o.H @ o.Psi @ bias_forces(SLIDING, q, twists(o, qd)) / np.sqrt(o.D)
    agree(component_form(SLIDING, True) @ nu + b, coriolis(SLIDING, normalized=True))
    differ(component_form(SLIDING, False) @ nu + b, coriolis(SLIDING, normalized=True))


def test_E_K14():
    q, qd, _ = STATE[4]
    o, (_, nu) = operators(SLIDING, q), quasi(SLIDING, q, qd)
    W = np.eye(4) - o.H @ o.Psi @ o.K
    misprint("E-K14", W @ (nu / np.sqrt(o.D)), W.T @ (nu / np.sqrt(o.D)), qd)


def test_E_K15():
    q, qd, _ = STATE[4]
    o, (xi, nu) = operators(SLIDING, q), quasi(SLIDING, q, qd)
    D_dot = np.diag(o.H @ along(SLIDING, "P") @ o.H.T)
    truth = -o.D * rate(lambda q: 1 / np.sqrt(operators(SLIDING, q).D), (q, qd)) * nu
    misprint("E-K15", D_dot / np.sqrt(o.D) / 2, D_dot * xi / 2, truth)
    agree(coriolis(SLIDING, False), np.sqrt(o.D) * coriolis(SLIDING, True) + truth)  # (46)
    O, V = omega_delta(SLIDING, qd), twists(o, qd)
    agree(O.T @ V, printed_bias_accelerations(SLIDING, q, qd))
    differ(-O @ V, printed_bias_accelerations(SLIDING, q, qd))


def test_E_K16():
    """With the weight in b, C takes up l g."""
    q, qd, _ = STATE[4]
    o, (_, nu) = operators(SLIDING, q), quasi(SLIDING, q, qd)
    g = gradient(lambda q: potential(SLIDING, q), q)
    C = coriolis(SLIDING, normalized=True)
    agree(nu @ C, 0.0, tolerance=1e-8)
    with_weight = C + np.linalg.solve(factor(o), g) / np.sqrt(o.D)
    misprint("E-K16", 0.0, nu @ with_weight, qd @ g, tolerance=1e-10)


def test_E_K17():
    o = operators(SLIDING, STATE[4][0])
    i = 3  # for P itself the shortcut holds
    psi = o.X[i] @ o.tau_bar[block(i), block(i)]
    agree(psi @ o.P[block(i), block(i)] @ o.X[i].T, psi @ o.P[block(i), block(i)] @ psi.T)
    misprint("E-K17", recursion_xi(SLIDING, shortcut=True)[1], recursion_xi(SLIDING)[1], lambda_dot(SLIDING))


def test_E_K18():
    subtotal = stages(SHARED_STAGES)
    assert subtotal == (polynomial(-224, 414), polynomial(-155, 248), polynomial(-180, 345), polynomial(-123, 218))
    assert stages(SHARED_STAGES + NORMALIZED_STAGES) == (
        polynomial(-462, 605),
        polynomial(-381, 406),
        polynomial(-448, 530),
        polynomial(-359, 376),
    )
    totals = stages(SHARED_STAGES + UNNORMALIZED_STAGES)
    assert totals == (polynomial(-319, 500), polynomial(-238, 314), polynomial(-286, 426), polynomial(-218, 284))
    own = stages(UNNORMALIZED_STAGES)
    assert own[1] == polynomial(-83, 66)  # printed as the sum of the rows, in which z+ is 43 N - 3
    printed = [354 * 6 - 180, 66 * 6 - 83 + (43 - 13) * 6]
    right = [float(value(subtotal[2], 6)), float(value(own[1], 6))]
    misprint("E-K18", printed, right, [426 * 6 - 286 - (81 * 6 - 106), 314 * 6 - 238 - (248 * 6 - 155)])


def test_E_K19():
    printed, right = (polynomial(-113, "2149/6", "43/2", cube) for cube in ("1/6", "1/3"))
    misprint("E-K19", *([float(value(x, n)) for n in (6, 12)] for x in (printed, right)), [2882, 7857])
    assert all(value(right, n).denominator == 1 for n in range(1, 13))


def test_E_K20():
    printed, fitting = polynomial(-31, 207, "265/2"), polynomial(-63, 210, "265/2")
    misprint("E-K20", *([float(value(x, n)) for n in (6, 12)] for x in (printed, fitting)), [5967, 21537])
    assert value(fitting, 5).denominator == 2  # so it is no count either: something else in the row is wrong
    first, second = 5967, 21537
    slope = (second - first - polynomial("265/2")[0] * (12**2 - 6**2)) / 6
    assert slope == 210  # the only one with this square
