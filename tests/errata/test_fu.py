"""Fu, Gonzalez and Lee 1987, chapter 3: each misprint as printed and as it should be."""

import numpy as np
import oracle
import pytest
from arms import (
    U,
    Z,
    agree,
    arm,
    axis,
    beyond,
    com_acceleration,
    com_velocity,
    differ,
    gradient,
    joint,
    misprint,
    motion,
    moved,
    point,
    poses,
    potential,
    product,
    rate,
    spin,
    spin_rate,
    turned,
    turned_inertia,
    unusable,
)

import dalembert as da
from dalembert.studies.tables import FGL_3_1, FGL_3_4, FGL_3_5, minus, polynomial, total, value

ARM, SLIDING = arm("RRR", 4), arm("RPR", 5)
q, qd, qdd = motion(3, 6)
LINKS = range(3)


def test_E_F1():
    rng = np.random.default_rng(0)
    x, m = rng.normal(size=(9, 3)), rng.uniform(0.1, 1, 9)
    h = np.hstack([x, np.ones((9, 1))])
    truth = (h.T * m) @ h  # (3.2-17)
    I = sum(k * (p @ p * np.eye(3) - np.outer(p, p)) for k, p in zip(m, x, strict=True))

    def J(sign):
        top = np.diag(np.trace(I) / 2 - np.diag(I)) + sign * (I - np.diag(np.diag(I)))
        first = (m @ x)[:, None]
        return np.block([[top, first], [first.T, np.array([[m.sum()]])]])

    misprint("E-F1", J(1), J(-1), truth)


def test_E_F2():
    g = np.append(ARM.gravity, 0)

    def c(transposed):
        parts = [[U(ARM, j, i, q) for j in LINKS] for i in LINKS]
        return [sum(-ARM.mass[j] * g @ (P.T if transposed else P) @ point(ARM.com[j]) for j, P in enumerate(row)) for row in parts]

    misprint("E-F2", c(True), c(False), gradient(lambda q: potential(ARM, q), q))


def test_E_F3():
    """Both masses and lengths 1, gravity along -y."""
    (t1, t2), (a, b), (aa, bb), g = (0.3, -0.7), (0.5, 1.2), (-0.4, 0.9), 9.8062
    c1, c2, s2, c12 = np.cos(t1), np.cos(t2), np.sin(t2), np.cos(t1 + t2)
    h, c = [-s2 * b * b / 2 - s2 * a * b, s2 * a * a / 2], [g * c1 / 2 + g * c12 / 2 + g * c1, g * c12 / 2]

    def answers(D11, D12, D22, *inertia):
        """D, and tau of 3.3.7 with its numbers in the inertia terms of tau1 and tau2."""
        m1, m2, m2_2, m2_1, m2_22 = inertia
        tau1 = (m1 + m2) * aa + m2_2 * bb + c2 * aa + c2 * bb / 2 + h[0] + c[0]
        tau2 = m2_1 * aa + m2_22 * bb + c2 * aa / 2 + h[1] + c[1]
        return np.array([D11, D12, D22, tau1, tau2])

    printed = answers(1 / 2 + 1 / 2 + c2, 1 / 2 + c2 / 2, 1 / 2, *[1 / 2] * 5)
    right = answers(1 / 3 + 4 / 3 + c2, 1 / 3 + c2 / 2, 1 / 3, 1 / 3, 4 / 3, 1 / 3, 1 / 3, 1 / 3)
    M, tau, *_ = oracle.answer(da.robot("two_link").tree, [t1, t2], [a, b], [aa, bb])
    truth = np.array([M[0, 0], M[0, 1], M[1, 1], *tau])
    misprint("E-F3", printed[:3], right[:3], truth[:3])
    agree(right, truth)
    differ(printed[3:], truth[3:])
    x = (np.arange(1000) + 0.5) / 1000 - 1  # a rod from -l to 0
    assert np.mean(x * x) == pytest.approx(1 / 3, abs=1e-6)  # J(1, 1)


def table_3_3(arm, q, qd, qdd, base=-1, lever="own", load="F", dotted=False):
    """Table 3.3, in the axes of the links; the options are its misprints."""
    n = arm.n
    w, wd, vd = np.zeros(3), np.zeros(3), base * arm.gravity
    R, p, F, N = [], [], [], []
    for i, kind in enumerate(arm.kinds):
        T = joint(arm, i, q) @ beyond(arm, i)
        R.append(T[:3, :3])
        p.append(R[i].T @ T[:3, 3])
        turns, slides = kind == "R", kind == "P"
        wd = R[i].T @ (wd + turns * (Z * qdd[i] + np.cross(w, Z * qd[i])))
        w = R[i].T @ (w + turns * Z * qd[i])
        s = wd if dotted else w  # (3.3-52), (3.3-53) and (3.3-55) print a dot on omega
        vd = R[i].T @ (vd + slides * Z * qdd[i]) + np.cross(wd, p[i]) + np.cross(s, np.cross(s, p[i]))
        vd = vd + slides * 2 * np.cross(s, R[i].T @ Z * qd[i])
        F.append(arm.mass[i] * (np.cross(wd, arm.com[i]) + np.cross(s, np.cross(s, arm.com[i])) + vd))
        N.append(arm.inertia[i] @ wd + np.cross(s, arm.inertia[i] @ s))
    tau = np.zeros(n)
    f, m = np.zeros(3), np.zeros(3)
    for i in reversed(range(n)):
        if i + 1 < n:
            R1 = R[i + 1]
            arm_of_force = R1.T @ p[i] if lever == "own" else p[i + 1]
            f, m = R1 @ f, R1 @ (m + np.cross(arm_of_force, f))
        f = f + F[i]
        m = m + np.cross(p[i] + arm.com[i], F[i] if load == "F" else f) + N[i]
        tau[i] = (m if arm.kinds[i] == "R" else f) @ (R[i].T @ Z)
    return tau


@pytest.mark.parametrize("which", [ARM, SLIDING], ids=lambda arm: arm.kinds)
def test_table_3_3_as_corrected(which):
    agree(table_3_3(which, q, qd, qdd), which.torque(q, qd, qdd))


def test_E_F4():
    misprint("E-F4", table_3_3(ARM, q, qd, qdd, base=1), table_3_3(ARM, q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_F5():
    misprint("E-F5", table_3_3(ARM, q, qd, qdd, lever="next"), table_3_3(ARM, q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_F6():
    misprint("E-F6", table_3_3(ARM, q, qd, qdd, load="f"), table_3_3(ARM, q, qd, qdd), ARM.torque(q, qd, qdd))


def test_E_F7():
    s = 2
    truth = np.transpose([rate(lambda q, e=e: com_velocity(ARM, s, q, e), (q, qd)) for e in np.eye(3)])  # d/dt (dv/dqd_i)
    printed = gradient(lambda qd: com_acceleration(ARM, s, q, qd, qdd), qd)
    right = gradient(lambda q: com_velocity(ARM, s, q, qd), q)
    misprint("E-F7", printed, right, truth)
    agree(printed, 2 * right)


def levers(arm):
    """z_{i-1} x (r_s - p_{i-1}) of joint i and link s."""
    r = [(W @ point(c))[:3] for W, c in zip(poses(arm, q), arm.com, strict=True)]
    return {(i, s): np.cross(axis(arm, i, q)[0], r[s] - axis(arm, i, q)[1]) for s in LINKS for i in range(s + 1)}


def test_E_F8():
    b = levers(ARM)
    printed = np.array([sum(ARM.mass[s] * ARM.gravity @ b[i, s] for s in LINKS if s >= i) for i in LINKS])  # (3.4-22)
    misprint("E-F8", printed, -printed, gradient(lambda q: potential(ARM, q), q))


def dalembert_rates(arm):
    """Axes, angular velocities (3.4-1), p*_k and c_s from the axis of their joint, and what (3.4-26) calls Coriolis."""
    z = [axis(arm, j, q)[0] for j in LINKS]
    w = [sum(qd[j] * z[j] for j in range(k + 1)) for k in LINKS]
    W = [np.eye(4), *poses(arm, q)]
    p = [W[k + 1][:3, 3] - W[k][:3, 3] for k in LINKS]
    c = [(W[s + 1] @ point(arm.com[s]))[:3] - W[s][:3, 3] for s in LINKS]
    turning = [sum((np.cross(w[k - 1], qd[k] * z[k]) for k in range(1, s + 1)), np.zeros(3)) for s in LINKS]
    return z, w, p, c, turning


def test_E_F9():
    """Third and fourth group of (3.4-23); the free k takes every value in turn."""
    z, w, p, c, turning = dalembert_rates(ARM)
    b = levers(ARM)

    def h(below):
        tau = np.zeros(3)
        for (i, s), lever in b.items():
            own = np.cross(w[s], np.cross(w[s], c[s])) + np.cross(turning[s], c[s])
            tau[i] += ARM.mass[s] * (below(s) + own) @ lever
        return tau

    def printed(k):
        def below(s):
            each = (
                np.cross(w[P], np.cross(w[k], p[k]))
                + np.cross(
                    sum((np.cross(w[P - 1], qd[P] * z[P]) for _ in range(1, k + 1)), np.zeros(3)) if P else np.zeros(3), p[k]
                )
                for P in range(s)
            )
            return sum(each, np.zeros(3))

        return h(below)

    def right(s):
        return sum((np.cross(w[k], np.cross(w[k], p[k])) + np.cross(turning[k], p[k]) for k in range(s)), np.zeros(3))

    truth = np.array([sum(ARM.mass[s] * com_acceleration(ARM, s, q, qd, 0 * q) @ b[i, s] for s in LINKS if s >= i) for i in LINKS])
    best = min((printed(k) for k in LINKS), key=lambda found: np.abs(found - truth).max())
    misprint("E-F9", best, h(right), truth)


def test_E_F10():
    z, w, *_ = dalembert_rates(ARM)
    R = [W[:3, :3] for W in poses(ARM, q)]

    def first(i, s):
        inner = sum(
            (
                np.cross(qd[j] * R[s].T @ z[j], sum((qd[k] * R[s].T @ z[k] for k in range(j + 1, s + 1)), np.zeros(3)))
                for j in range(s + 1)
            ),
            np.zeros(3),
        )
        return (R[s].T @ z[i]) @ ARM.inertia[s] @ inner

    def second(i, s):
        return np.cross(R[s].T @ z[i], R[s].T @ w[s]) @ ARM.inertia[s] @ (R[s].T @ w[s])

    printed = [sum(first(i, s) for s in range(i, 3)) + second(i, 2) for i in LINKS]
    right = [sum(first(i, s) + second(i, s) for s in range(i, 3)) for i in LINKS]
    truth = np.zeros(3)
    for s in LINKS:
        I, v, a = turned_inertia(ARM, s, q), spin(ARM, s, q, qd), spin_rate(ARM, s, q, qd, 0 * q)
        for i in range(s + 1):
            truth[i] += (I @ a + np.cross(v, I @ v)) @ z[i]
    misprint("E-F10", printed, right, truth)


def test_E_F11():
    """Which part of D_ij is larger along a path of 31 points, for the PUMA 560."""
    puma = da.robot("puma560")
    t = np.linspace(0, 1, 31)[:, None]
    start, way = np.random.default_rng(0).uniform(-2, 2, (2, 6))
    path = start + way * (10 * t**3 - 15 * t**4 + 6 * t**5)
    terms = puma.dalembert_terms(path, 0 * path, backend="numpy")
    tran, rot = (np.abs(x).max(axis=0) for x in (terms.D_tran, terms.D_rot))
    assert all(tran[i - 1, j - 1] > 3 * rot[i - 1, j - 1] for i, j in ((1, 2), (2, 2), (2, 3), (3, 3)))  # as printed
    for i, j in ((4, 5), (5, 6)):  # both parts are round-off, so that none dominates
        assert max(tran[i - 1, j - 1], rot[i - 1, j - 1]) < 1e-15 * tran.max()
    unusable("E-F11")


def test_E_F12():
    c, s = np.cos(SLIDING.alpha[1]), np.sin(SLIDING.alpha[1])
    printed = moved(0, 0, SLIDING.d[1] + q[1]) @ np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    right = moved(SLIDING.a[1], 0, 0) @ printed
    truth = SLIDING.robot().poses(q, backend="numpy")
    before, after = (da.Pose.coerce(T).transform for T in (truth[0], truth[1]))
    link = np.append(before.rotation.T @ (after.translation - before.translation), 1)
    misprint("E-F12", printed[:, 3], right[:, 3], link)


def test_E_F13():
    t, omega = 1.0, np.array([0.0, 0.0, 1.0])
    misprint(
        "E-F13",
        np.cross(omega, [3 * t, 2 * t, 4]),  # what a particle at rest would have
        [3, 2, 0],
        rate(lambda t: np.array([3 * t, 2 * t, 4]), (t, 1)),
    )
    at_rest = np.array([3.0, 2.0, 4.0])
    moving = rate(lambda t: (turned(t) @ point(at_rest))[:3], (t, 1))
    agree(moving, np.cross(omega, (turned(t) @ point(at_rest))[:3]))


@pytest.mark.parametrize("which", [ARM, SLIDING], ids=lambda arm: arm.kinds)
def test_dots_on_omega_are_wrong_for_both_kinds_of_joints(which):
    differ(table_3_3(which, q, qd, qdd, dotted=True), which.torque(q, qd, qdd))


def test_E_F14():
    misprint("E-F14", table_3_3(ARM, q, qd, qdd, dotted=True), table_3_3(ARM, q, qd, qdd), ARM.torque(q, qd, qdd))
    before, own = (poses(ARM, q)[i][:3, :3] for i in (0, 1))
    (w0, wd0), (w, wd) = ((R.T @ spin(ARM, i, q, qd), R.T @ spin_rate(ARM, i, q, qd, qdd)) for i, R in enumerate((before, own)))
    R = before.T @ own
    agree(R.T @ (w0 + Z * qd[1]), w)  # (3.3-50)
    differ(R.T @ (wd0 + Z * qd[1]), wd)
    agree(R.T @ (wd0 + Z * qdd[1] + np.cross(w0, Z * qd[1])), wd)  # (3.3-51)
    differ(R.T @ (wd0 + Z * qdd[1] + np.cross(wd0, Z * qd[1])), wd)
    differ(R.T @ (own @ wd + Z * qdd[1] + np.cross(w0, Z * qd[1])), wd)  # omegadot_i, in base axes as it is printed


def test_E_F15():
    s, (z, w, p, c, _) = 2, dalembert_rates(ARM)

    def c_s(q):
        W = poses(ARM, q)
        return (W[s] @ point(ARM.com[s]))[:3] - W[s - 1][:3, 3]

    c_dot = rate(c_s, (q, qd))
    between = [sum((p[k] for k in range(i, s)), np.zeros(3)) for i in LINKS]
    printed, right = ([np.cross(z[i], between[i] + end) for i in LINKS] for end in (c_dot, c[s]))
    misprint("E-F15", printed, right, [com_velocity(ARM, s, q, e) for e in np.eye(3)])
    R = poses(ARM, q)[s][:3, :3]  # N2: the acceleration of the centre of mass from omegaddot, or from vdot
    jerk = rate(lambda q, qd: unjerked(q, qd), (q, qd), (qd, qdd))
    vd = pose_of_origin(q, qd, qdd)
    own = [np.cross(spin_rate(ARM, s, q, qd, qdd), R @ ARM.com[s]) + np.cross(w[s], np.cross(w[s], R @ ARM.com[s]))]
    agree(own[0] + vd, com_acceleration(ARM, s, q, qd, qdd))
    differ(own[0] + jerk, com_acceleration(ARM, s, q, qd, qdd))
    A1, A2 = product(ARM, 0, 0, q), product(ARM, 1, 1, q)  # U_22 with the transposed matrix
    Q = np.zeros((4, 4))
    Q[0, 1], Q[1, 0] = -1, 1
    agree(A1 @ Q @ A2, U(ARM, 1, 1, q))
    differ(A1 @ Q @ A2.T, U(ARM, 1, 1, q))


def unjerked(q, qd):
    """omegadot of the last link, for its rate, with qdd held (complex arguments)."""
    return sum(gradient_of_spin(q, qd, k) * qd[k] for k in LINKS) + sum(
        spin(ARM, 2, q, e) * qdd[k] for k, e in enumerate(np.eye(3))
    )


def gradient_of_spin(q, qd, k):
    """d omega / dq_k: the axes behind joint k turn about it."""
    return np.cross(axis(ARM, k, q)[0], sum((axis(ARM, j, q)[0] * qd[j] for j in range(k + 1, 3)), np.zeros(3)))


def pose_of_origin(q, qd, qdd):
    still = ARM._replace(com=np.zeros((3, 3)))
    return com_acceleration(still, 2, q, qd, qdd)


def test_E_F16():
    """What the equations with the printed numbers give, where those with the right numbers give what is meant."""
    z, w, *_ = dalembert_rates(ARM)
    truth = spin_rate(ARM, 1, q, qd, qdd)
    wd1 = spin_rate(ARM, 0, q, qd, qdd)
    agree(wd1 + z[1] * qdd[1] + np.cross(w[0], z[1] * qd[1]), truth)  # (3.3-25) is an angular acceleration, no torque
    s = np.array([0.4, -0.2, 0.3])  # fixed in link 1: its rate by (3.3-8), (3.3-13) and (3.3-12)
    truth = rate(lambda q: poses(ARM, q)[0][:3, :3] @ s, (q, qd))
    here = poses(ARM, q)[0][:3, :3] @ s
    sine = np.linalg.norm(np.cross(w[0], here)) / np.linalg.norm(w[0]) / np.linalg.norm(here)
    length = np.linalg.norm(s) * sine * np.linalg.norm(w[0])  # (3.3-12) over the time: a length, no vector
    misprint("E-F16", np.full(3, length), np.cross(w[0], here), truth)
    agree(length, np.linalg.norm(truth))
    g = potential(ARM, q)  # (3.2-22) is a scalar that gravity makes; (3.3-22) is an acceleration that it does not enter
    agree(potential(ARM._replace(gravity=2 * ARM.gravity), q), 2 * g)
    agree(com_acceleration(ARM._replace(gravity=2 * ARM.gravity), 1, q, qd, qdd), com_acceleration(ARM, 1, q, qd, qdd))


def whole(p):
    return all(value(p, n).denominator == 1 for n in range(1, 9))


GRAVITY = total([row for row in FGL_3_1 if "g U" in row.label])


def test_E_T1():
    printed, right = polynomial(0, "169/3", "739/3", "112/3", "128/3"), FGL_3_5["lagrange_euler"].mul
    assert whole(right) and not whole(printed)
    without = minus(total(FGL_3_1).mul, GRAVITY.mul)
    assert minus(right, without) == polynomial(0, 0, 1, 0, 0)  # 169/3 n would leave 3 n over
    misprint("E-T1", float(value(printed, 6)), float(value(right, 6)), float(value(without, 6)) + 36)


def test_E_T2():
    """Of what is left of 105/12 without a digit of the denominator, only 105/2 gives whole numbers."""
    printed, right = polynomial(69, "268/3", "105/12", "13/6"), FGL_3_5["generalized_dalembert"].mul
    assert whole(right) and not whole(printed)
    (possible,) = (p for p in (polynomial(69, "268/3", f"105/{digit}", "13/6") for digit in "12") if whole(p))
    misprint("E-T2", float(value(printed, 6)), float(value(right, 6)), float(value(possible, 6)))


def test_E_T3():
    """The totals of 3.1 and 3.4 are the sums of their rows; 3.5 is 3.1 without gravity, and 3.4 with what it leaves out."""
    assert [value(x, 6) for x in total(FGL_3_1)] == [102440, 78203]
    assert [value(x, 6) for x in total(FGL_3_4)] == [678, 597]
    assert [value(x, 6) for x in FGL_3_5["newton_euler"]] == [792, 662]
    without = minus(total(FGL_3_1).add, GRAVITY.add)
    every, tabled = (float(value(x, 6)) for x in (total(FGL_3_1).add, FGL_3_5["lagrange_euler"].add))
    misprint("E-T3", every, tabled, float(value(without, 6)))
    assert without == FGL_3_5["lagrange_euler"].add
    rows = [row.counted for row in FGL_3_4]
    literal_mul, literal_add = (sum(x[1] for x in column) for column in zip(*rows, strict=True))  # for each further joint
    turned_arm, joint_force, left_out = (9, 6), (3, 2), 2  # R p*, n . z, and omega x z0 qd, which 3.4 leaves out
    assert FGL_3_5["newton_euler"].mul[1] == literal_mul - left_out + turned_arm[0] + joint_force[0]
    assert FGL_3_5["newton_euler"].add[1] == literal_add + turned_arm[1] + joint_force[1]
