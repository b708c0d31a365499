"""Park and Lynch, chapter 9: each misprint as printed and as it should be."""

import numpy as np
import oracle
import pytest
from arms import (
    Z,
    agree,
    arm,
    differ,
    gradient,
    kinetic,
    misprint,
    motion,
    moved,
    poses,
    potential,
    product,
    rate,
    unskew,
    unusable,
)
from screws import Ad, ad, exponential, inverted

import dalembert as da

ARM = arm("RRPR", 7)
N = ARM.n
q, qd, qdd = motion(N, 8)
TIP = np.array([0.4, -0.7, 0.3, 1.1, -0.6, 0.8])  # (moment, force) in the frame of the last link's centre of mass


def frames(arm, q):
    """T_0i of the frames at the centres of mass."""
    return [W @ moved(*c) for W, c in zip(poses(arm, q), arm.com, strict=True)]


class Model:
    """(9.35) to (9.41) of an arm; `screws` chooses the frame of A_i."""

    def __init__(self, arm, screws="own"):
        self.n, home = arm.n, [np.eye(4), *frames(arm, np.zeros(arm.n))]
        self.M = [inverted(home[i]) @ home[i + 1] for i in range(arm.n)]
        self.A = []
        for i, kind in enumerate(arm.kinds):
            W = product(arm, 0, i - 1, np.zeros(arm.n))
            S = Ad(W) @ (np.append(Z, 0 * Z) if kind == "R" else np.append(0 * Z, Z))  # S_i in the base
            self.A.append(Ad(inverted(home[i + 1] if screws == "own" else home[i])) @ S)  # (9.40) or (9.51)
        self.G = [
            np.block([[I, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]]) for I, m in zip(arm.inertia, arm.mass, strict=True)
        ]
        self.gravity = arm.gravity

    def steps(self, q):
        """Ad of T_{i,i-1}, and of T_{i-1,i}."""
        T = [M @ exponential(A, x) for M, A, x in zip(self.M, self.A, q, strict=True)]
        return [Ad(inverted(X)) for X in T], [Ad(X) for X in T]


def recursion(model, q, qd, qdd, base=-1, bracket="right", tip=None, V0=None, Vd0=None):
    """(9.53) to (9.57); the options are the misprints."""
    into, out = model.steps(q)
    V = np.zeros(6) if V0 is None else V0
    Vd = np.append(np.zeros(3), base * model.gravity) + (0 if Vd0 is None else Vd0)
    twists, rates = [], []
    for i in range(model.n):
        A, above = model.A[i], V
        V, Vd = into[i] @ V + A * qd[i], into[i] @ Vd + A * qdd[i]
        Vd = Vd + ad(V if bracket == "right" else out[i] @ above) @ A * qd[i]
        twists.append(V)
        rates.append(Vd)
    tau, F = np.zeros(model.n), np.zeros(6) if tip is None else tip
    for i in reversed(range(model.n)):
        carried = into[i + 1].T @ F if i + 1 < model.n else F
        F = carried + model.G[i] @ rates[i] - ad(twists[i]).T @ model.G[i] @ twists[i]
        tau[i] = F @ model.A[i]
    return tau


MODEL = Model(ARM)


def test_E_P1():
    (t1, t2), (a, b), (aa, bb) = (0.3, -0.7), (0.5, 1.2), (-0.4, 0.9)
    m1, m2, L1, L2, g = 1.3, 0.7, 0.9, 0.6, 9.81
    c1, c2, s2, c12 = np.cos(t1), np.cos(t2), np.sin(t2), np.cos(t1 + t2)
    bob = [da.Inertia.from_com(m, (0, 0, 0)) for m in (m1, m2)]
    rows = [da.DHRow(a=length, inertia=i) for length, i in zip((L1, L2), bob, strict=True)]
    robot = da.Robot.from_dh(rows, convention="standard", gravity=(0, -g, 0))

    def tau(cosine, velocity, weight):
        first = ((m1 + m2) * L1**2 + m2 * (2 * L1 * L2 * c2 + L2**2)) * aa + m2 * (L1 * L2 * cosine + L2**2) * bb
        first += -2 * m2 * L1 * L2 * a * b * s2 - m2 * L1 * L2 * b * b * s2 + (m1 + m2) * L1 * g * c1 + m2 * g * L2 * c12
        second = m2 * (L1 * L2 * c2 + L2**2) * aa + m2 * L2**2 * bb + m2 * L1 * L2 * s2 * velocity + weight * m2 * g * L2 * c12
        return [first, second]

    truth = oracle.answer(robot.tree, [t1, t2], [a, b], [aa, bb])
    misprint("E-P1", tau(c1, -a * b, -1), tau(c2, a * a, 1), truth.tau)
    x, y = -L1 * np.sin(t1) * a - L2 * np.sin(t1 + t2) * (a + b), L1 * c1 * a + L2 * c12 * (a + b)
    terms = (L1**2 + 2 * L1 * L2 * c2 + L2**2) * a * a, 2 * (L2**2 + L1 * L2 * c2) * a * b, L2**2 * b * b
    K2 = m2 * (x * x + y * y) / 2
    agree(m2 * sum(terms) / 2, K2)
    differ((m2 * terms[0] + terms[1] + terms[2]) / 2, K2)


def test_E_P2():
    misprint("E-P2", recursion(Model(ARM, "before"), q, qd, qdd), recursion(MODEL, q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_P3():
    misprint("E-P3", recursion(MODEL, q, qd, qdd, base=1), recursion(MODEL, q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_P4():
    misprint("E-P4", recursion(MODEL, q, qd, qdd, bracket="printed"), recursion(MODEL, q, qd, qdd), ARM.torque(q, qd, qdd))


def tip_twist(q, qd):
    """The body twist of the last frame, from its pose."""
    T, Td = frames(ARM, q)[-1], rate(lambda q: frames(ARM, q)[-1], (q, qd))
    X = inverted(T) @ Td
    return np.append(unskew(X[:3, :3]), X[:3, 3])


def test_E_P5():
    """The power of the joints and of a wrench on the last link is the rate of the arm's energy."""
    energy_rate = rate(lambda q, qd: kinetic(ARM, q, qd).sum() + potential(ARM, q), (q, qd), (qd, qdd))
    power = TIP @ tip_twist(q, qd)
    needed = energy_rate - power  # of the joints, if TIP acts on the arm
    misprint("E-P5", recursion(MODEL, q, qd, qdd, tip=TIP) @ qd, recursion(MODEL, q, qd, qdd, tip=-TIP) @ qd, needed)


def stacked(model, q, qd, sign):
    """c of (9.83), and M of (9.82)."""
    into, _ = model.steps(q)
    n = model.n
    A, G, Gamma = np.zeros((6 * n, n)), np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    ad_A, ad_V = np.zeros((2, 6 * n, 6 * n))
    for i in range(n):
        block = slice(6 * i, 6 * i + 6)
        A[block, i], G[block, block] = model.A[i], model.G[i]
        if i:
            Gamma[block, 6 * i - 6 : 6 * i] = into[i]
        ad_A[block, block] = ad(model.A[i] * qd[i])
    L = np.linalg.inv(np.eye(6 * n) - Gamma)
    V = L @ A @ qd
    for i in range(n):
        block = slice(6 * i, 6 * i + 6)
        ad_V[block, block] = ad(V[block])
    c = A.T @ L.T @ (sign * G @ L @ ad_A @ Gamma - ad_V.T @ G) @ L @ A @ qd
    return c, A.T @ L.T @ G @ L @ A


def test_E_P6():
    truth = ARM.weightless().torque(q, qd, 0 * q)
    misprint("E-P6", stacked(MODEL, q, qd, 1)[0], stacked(MODEL, q, qd, -1)[0], truth)
    agree(stacked(MODEL, q, qd, -1)[1], ARM.mass_matrix(q))


def test_E_P7():
    """F_tip by the robot, as the book has it; tau_ext = J^T F_tip."""
    J = np.transpose([tip_twist(q, e) for e in np.eye(N)])
    tau = ARM.torque(q, qd, qdd) + J.T @ TIP

    def acceleration(gamma):
        return np.linalg.solve(ARM.mass_matrix(q), tau - gamma - J.T @ TIP)

    with_tip, without = (recursion(MODEL, q, qd, 0 * q, tip=F) for F in (TIP, None))
    misprint("E-P7", acceleration(with_tip), acceleration(without), qdd, tolerance=1e-9)


def test_E_P8():
    """A falling particle: the printed loop begins with a value that nobody has set."""
    steps, h, g = 10, 0.1, 9.81

    def euler(indices):
        theta, rates = {0: 0.0}, {0: 0.0}
        for k in indices:
            theta[k + 1], rates[k + 1] = theta[k] + h * rates[k], rates[k] - h * g
        return theta

    with pytest.raises(KeyError):
        euler(range(1, steps + 1))
    theta = euler(range(steps))
    assert sorted(theta) == list(range(steps + 1))
    assert theta[steps] == pytest.approx(-g * h * h * steps * (steps - 1) / 2)
    unusable("E-P8")


def test_E_P9():
    six = arm("RRRRRR", 9)
    q, qd, qdd = motion(6, 10)

    def jacobian(q):
        """Of the body twist of the last link, from the rates of its pose."""
        T = poses(six, q)[-1]
        columns = []
        for k in range(6):
            W = product(six, 0, k - 1, q)
            X = inverted(T) @ W
            columns.append(Ad(X) @ np.append(Z, 0 * Z))
        return np.transpose(columns)

    J, J_dot = jacobian(q), rate(jacobian, (q, qd))
    M, b, tau = six.mass_matrix(q), six.torque(q, qd, 0 * q), six.torque(q, qd, qdd)
    V, Jinv = J @ qd, np.linalg.inv(J)
    Vd = J_dot @ qd + J @ qdd
    moving = M @ (Jinv @ Vd - Jinv @ J_dot @ Jinv @ V)
    misprint("E-P9", moving + Jinv.T @ b, moving + b, tau, tolerance=1e-9)


def test_E_P10():
    """The arm behind joint 1, whose base joint 1 moves."""
    rear = Model(ARM)
    rear.n, rear.M, rear.A, rear.G = N - 1, rear.M[1:], rear.A[1:], rear.G[1:]
    into = MODEL.steps(q)[0]
    V0 = MODEL.A[0] * qd[0]
    Vd0 = MODEL.A[0] * qdd[0] + into[0] @ np.append(np.zeros(3), -ARM.gravity)
    c, M = stacked(rear, q[1:], qd[1:], -1)
    without_acceleration = recursion(rear, q[1:], 0 * qd[1:], 0 * qdd[1:], base=0, Vd0=Vd0)  # (9.84) with this base
    truth = ARM.torque(q, qd, qdd)[1:]
    moving = recursion(rear, q[1:], qd[1:], qdd[1:], base=0, V0=V0, Vd0=Vd0)
    misprint("E-P10", M @ qdd[1:] + c + without_acceleration, moving, truth)


def test_E_P11():
    """Work is the integral of the force along the way; the kinetic energy is no function of the position alone."""
    assert kinetic(ARM, q, qd).sum() != pytest.approx(kinetic(ARM, q, 2 * qd).sum())
    start, end = q, q + 0.8 * qdd
    nodes, weights = np.polynomial.legendre.leggauss(12)

    def force(s):
        return gradient(lambda q: potential(ARM, q), start + s * (end - start))

    work = sum(w / 2 * force((x + 1) / 2) @ (end - start) for x, w in zip(nodes, weights, strict=True))
    misprint("E-P11", force(1.0) @ end, work, potential(ARM, end) - potential(ARM, start), tolerance=1e-9)
