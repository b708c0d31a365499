"""Park, Bobrow and Ploen 1995: each misprint as printed and as it should be."""

import numpy as np
import pytest
from arms import (
    Z,
    agree,
    arm,
    beyond,
    com_acceleration,
    differ,
    gradient,
    kinetic,
    misprint,
    motion,
    moved,
    point,
    poses,
    potential,
    product,
    rate,
    skew,
    spin,
    spin_rate,
    unusable,
)
from screws import Ad, ad, exponential, inverted, twist, untwist
from test_park_lynch import frames

ARM = arm("RRPR", 21)
N = ARM.n
q, qd, qdd = motion(N, 22)


class Section3:
    """Frames on the joints: f_{i-1,i} = M_i e^{S_i x_i} (23), J_i (21)."""

    def __init__(self, arm):
        self.n, self.gravity = arm.n, arm.gravity
        self.S = [np.append(Z, 0 * Z) if kind == "R" else np.append(0 * Z, Z) for kind in arm.kinds]
        steps = [np.eye(4), *(beyond(arm, i) for i in range(arm.n))]
        self.M = [steps[i] @ moved(0, 0, arm.d[i]) for i in range(arm.n)]
        self.J = []
        for i in range(arm.n):
            T, m = steps[i + 1], arm.mass[i]
            r, R = (T @ point(arm.com[i]))[:3], T[:3, :3]
            I = R @ arm.inertia[i] @ R.T
            self.J.append(np.block([[I - m * skew(r) @ skew(r), m * skew(r)], [-m * skew(r), m * np.eye(3)]]))

    def steps(self, q):
        return [M @ exponential(S, x) for M, S, x in zip(self.M, self.S, q, strict=True)]

    def torque(self, q, qd, qdd, inverse=True, base=-1):
        """(22) to (27); `inverse` is what (24) to (26) lack."""
        f = self.steps(q)
        into = [Ad(inverted(T) if inverse else T) for T in f]
        V, Vd, twists, rates = np.zeros(6), np.append(np.zeros(3), base * self.gravity), [], []
        for i in range(self.n):
            carried = into[i] @ V
            Vd = self.S[i] * qdd[i] + into[i] @ Vd + ad(carried) @ self.S[i] * qd[i]
            V = carried + self.S[i] * qd[i]
            twists.append(V)
            rates.append(Vd)
        F, tau = np.zeros(6), np.zeros(self.n)
        for i in reversed(range(self.n)):
            handed = into[i + 1].T @ F if i + 1 < self.n else 0 * F
            F = handed + self.J[i] @ rates[i] - ad(twists[i]).T @ self.J[i] @ twists[i]
            tau[i] = self.S[i] @ F
        return tau


class Section4:
    """The product of exponentials (30), with D_i of (44) in the base at the zero pose."""

    def __init__(self, arm):
        self.n, home = arm.n, np.zeros(arm.n)
        self.A = [
            Ad(product(arm, 0, i - 1, home)) @ (np.append(Z, 0 * Z) if kind == "R" else np.append(0 * Z, Z))
            for i, kind in enumerate(arm.kinds)
        ]
        self.M = frames(arm, home)
        self.D = []
        for T, m, I in zip(self.M, arm.mass, arm.inertia, strict=True):
            R, b = T[:3, :3], skew(T[:3, 3])
            self.D.append(np.block([[R @ I @ R.T - m * b @ b, m * b], [m * b.T, m * np.eye(3)]]))

    def Ad(self, i, j, q):
        """The 6x6 matrix of Ad_j^i (37), (42); indices from 0."""
        T = np.eye(4)
        for k in range(i, j + 1):
            T = exponential(self.A[k], -q[k]) @ T
        return Ad(T)


CHAIN, FORM = Section3(ARM), Section4(ARM)


def test_E_B1():
    misprint("E-B1", CHAIN.torque(q, qd, qdd, inverse=False), CHAIN.torque(q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_B2():
    M = ARM.mass_matrix(q)
    truth = kinetic(ARM, q, qd)
    misprint("E-B2", qd @ M @ qd, qd @ M @ qd / 2, truth.sum())  # (32)
    velocity = [sum(FORM.Ad(j + 1, i, q) @ FORM.A[j] * qd[j] for j in range(i + 1)) for i in range(N)]
    agree([V @ D @ V / 2 for V, D in zip(velocity, FORM.D, strict=True)], truth)  # (39) with one half
    differ([V @ D @ V for V, D in zip(velocity, FORM.D, strict=True)], truth)
    without = [sum(FORM.Ad(j + 1, i, q) @ FORM.A[j] for j in range(i + 1)) for i in range(N)]  # (38)
    differ([V @ D @ V / 2 for V, D in zip(without, FORM.D, strict=True)], truth)


def test_E_B3():
    relative = np.concatenate([Ad(M) @ S for M, S in zip(CHAIN.M, CHAIN.S, strict=True)])
    cumulative, T = [], np.eye(4)
    for M, S in zip(CHAIN.M, CHAIN.S, strict=True):
        T = T @ M
        cumulative.append(Ad(T) @ S)
    misprint("E-B3", relative, np.concatenate(cumulative), np.concatenate(FORM.A))


def test_E_B4():
    """d2/dx_l dx_k Ad_j^i(B) for all k and l, against a complex step of (53)."""
    i, j, B = 0, N - 1, np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6])
    A = FORM.A

    def first(k, q):  # (53)
        return FORM.Ad(k, j, q) @ ad(FORM.Ad(i, k - 1, q) @ B) @ A[k]

    def inner_first(k, l):  # the first formula of (54)
        return FORM.Ad(l, j, q) @ ad(FORM.Ad(k, l - 1, q) @ ad(FORM.Ad(i, k - 1, q) @ B) @ A[k]) @ A[l]

    def all_of(choose):
        return np.array([[inner_first(*choose(k, l)) for l in range(N)] for k in range(N)])

    truth = np.array([[gradient(lambda q, k=k: first(k, q), q)[:, l] for l in range(N)] for k in range(N)])
    printed = all_of(lambda k, l: (k, l) if l <= k else (l, k))
    right = all_of(lambda k, l: (k, l) if k <= l else (l, k))
    misprint("E-B4", printed, right, truth)


def test_E_B5():
    r = np.array([0.0, 0.0, 0.0, 1.0])
    printed = gradient(lambda q: sum(m * ARM.gravity @ (T @ r)[:3] for m, T in zip(ARM.mass, frames(ARM, q), strict=True)), q)
    misprint("E-B5", printed, -printed, ARM.torque(q, 0 * q, 0 * q))


def test_E_B6():
    two = arm("RR", 23)
    form, x, v = Section4(two), q[:2], qd[:2]
    (A1, A2), step, D2 = form.A, form.Ad(1, 1, q), form.D[1]
    a, b = (step @ ad(A1) @ A2) @ D2 @ (step @ A1), (step @ ad(A1) @ A2) @ D2 @ A2
    printed = np.array([[a * v[0] * v[1], a * v[0] * v[1] + b * v[1] ** 2], [a * v[0] ** 2, 0]])
    right = np.array([[a * v[1], a * v[0] + b * v[1]], [-a * v[0], 0]])
    truth = two.weightless().torque(x, v, 0 * x)
    misprint("E-B6", printed @ v, right @ v, truth)
    differ(printed.sum(axis=1), truth)  # not even as the terms themselves: the sign of c21


def test_E_B7():
    def twists(q, qd):
        V, found = np.zeros(6), []
        for f, S, x in zip(CHAIN.steps(q), CHAIN.S, qd, strict=True):
            V = Ad(inverted(f)) @ V + S * x
            found.append(V)
        return np.array(found)

    V, truth = twists(q, qd), rate(twists, (q, qd), (qd, qdd))

    def accelerations(own):
        Vd, found = np.zeros(6), []
        for i, (f, S) in enumerate(zip(CHAIN.steps(q), CHAIN.S, strict=True)):
            into = Ad(inverted(f))
            above = V[i] if own else (V[i - 1] if i else np.zeros(6))
            Vd = into @ Vd + ad(into @ above) @ S * qd[i] + S * qdd[i]
            found.append(Vd)
        return found

    misprint("E-B7", accelerations(True), accelerations(False), truth)


def test_E_B8():
    """The moment about the origin of a frame, from the acceleration of the centre of mass."""
    i, m = 1, ARM.mass[1]
    R, I = poses(ARM, q)[i][:3, :3], ARM.inertia[1]
    w, wd = R.T @ spin(ARM, i, q, qd), R.T @ spin_rate(ARM, i, q, qd, qdd)
    T = poses(ARM, q)[i]

    def origin_velocity(q, qd):
        return poses(ARM, q)[i][:3, :3].T @ sum(gradient_of_origin(q, k) * qd[k] for k in range(N))

    def gradient_of_origin(q, k):
        z, o = product(ARM, 0, k - 1, q)[:3, 2], product(ARM, 0, k - 1, q)[:3, 3]
        if k > i:
            return 0 * z
        return np.cross(z, poses(ARM, q)[i][:3, 3] - o) if ARM.kinds[k] == "R" else z

    v, vd = origin_velocity(q, qd), rate(origin_velocity, (q, qd), (qd, qdd))  # component rates
    r = skew(ARM.com[i])
    acceleration = T[:3, :3].T @ com_acceleration(ARM, i, q, qd, qdd)
    truth = I @ wd + np.cross(w, I @ w) + np.cross(ARM.com[i], m * acceleration)  # (75)

    def moment(sign):
        first = I @ wd - m * r @ r @ wd + m * r @ vd + skew(w) @ I @ w
        return first + sign * m * skew(w) @ r @ r @ w + m * skew(w) @ r @ v + m * skew(v) @ skew(w) @ ARM.com[i]

    misprint("E-B8", moment(1), moment(-1), truth)
    agree(-m * r @ r @ wd, m * r @ skew(wd) @ ARM.com[i])
    agree(-m * skew(w) @ r @ r @ w, m * r @ skew(w) @ skew(w) @ ARM.com[i])
    differ(-m * r @ r @ wd, m * r @ skew(w) @ skew(w) @ ARM.com[i])


def test_E_B9():
    two = arm("RR", 23)
    form, x = Section4(two), q[:2]
    G = [form.D[0], form.D[1]]
    J = np.vstack([np.column_stack([form.A[0], np.zeros(6)]), np.column_stack([form.Ad(1, 1, x) @ form.A[0], form.A[1]])])
    with pytest.raises(ValueError, match="matmul"):
        J.T @ np.kron(*G) @ J  # the tensor product is 36 x 36
    direct = np.block([[G[0], np.zeros((6, 6))], [np.zeros((6, 6)), G[1]]])
    agree(J.T @ direct @ J, two.mass_matrix(x))
    heights = [T[:3, 3] for T in frames(two, x)]
    agree(-sum(m * two.gravity @ p for m, p in zip(two.mass, heights, strict=True)), potential(two, x))  # an inner product
    differ(sum(np.linalg.norm(m * p) for m, p in zip(two.mass, heights, strict=True)), potential(two, x))
    unusable("E-B9")


def test_E_B10():
    misprint("E-B10", CHAIN.torque(q, qd, qdd, base=0), CHAIN.torque(q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_B11():
    T = np.eye(4)
    for A, x in zip(FORM.A, q, strict=True):
        T = T @ exponential(A, x)
    misprint("E-B11", T, T @ FORM.M[-1], frames(ARM, q)[-1])  # (31) without and with M_i
    X, V = frames(ARM, q)[0], np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6])
    agree(Ad(X) @ V, untwist(X @ twist(V) @ inverted(X)))  # (2): Ad of X on x
