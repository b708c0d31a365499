"""The books' worked examples and the 80-digit references for their terms."""

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, reference_robot, sweep

import dalembert as da
from dalembert.algebra.spatial import pseudo_inertia

L, G = 1.0, 9.8062  # the book's two-link arm: m1 = m2 = l = 1
Q, QD, QDD = np.array([0.3, -0.7]), np.array([0.5, 1.2]), np.array([-0.4, 0.9])


def two_link():
    """Cosines and sines of the book's shorthand."""
    (t1, t2), (c1, s1) = Q, (np.cos(Q[0]), np.sin(Q[0]))
    return c1, s1, np.cos(t2), np.sin(t2), np.cos(t1 + t2), np.sin(t1 + t2)


def test_two_link_by_lagrange_euler():
    """Section 3.2.6 with the corrected thirds (E-F3)."""
    c1, _, c2, s2, c12, _ = two_link()
    D, H, h, c = da.robot("two_link").lagrange_euler_terms(Q, QD)
    close(D, [[5 / 3 + c2, 1 / 3 + c2 / 2], [1 / 3 + c2 / 2, 1 / 3]], 1e-14)
    a, b = QD
    close(h, [-s2 * b * b / 2 - s2 * a * b, s2 * a * a / 2], 1e-14)
    close(c, [G * c1 / 2 + G * c12 / 2 + G * c1, G * c12 / 2], 1e-14)
    close(H, H.swapaxes(-1, -2), 1e-15)
    close(np.array([H[i, i, i] for i in range(2)]), np.zeros(2), 1e-14)


def test_two_link_by_newton_euler():
    """Section 3.3.7: every printed intermediate vector."""
    c1, s1, c2, s2, c12, s12 = two_link()
    (a, b), (aa, bb) = QD, QDD
    p = da.robot("two_link").newton_euler_pass(Q, QD, QDD)
    z = np.array([0, 0, 1.0])
    close(p.omega, [z * a, z * (a + b)], 1e-15)
    close(p.omega_dot, [z * aa, z * (aa + bb)], 1e-15)
    v1 = [-L * a * a + G * s1, L * aa + G * c1, 0]
    v2 = [
        L * (s2 * aa - c2 * a * a - a * a - b * b - 2 * a * b) + G * s12,
        L * (aa + bb + c2 * aa + s2 * a * a) + G * c12,
        0,
    ]
    close(p.v_dot, [v1, v2], 1e-14)
    a1 = [-L / 2 * a * a + G * s1, L / 2 * aa + G * c1, 0]
    a2 = [
        L * (s2 * aa - c2 * a * a - a * a / 2 - b * b / 2 - a * b) + G * s12,
        L * (c2 * aa + s2 * a * a + aa / 2 + bb / 2) + G * c12,
        0,
    ]
    close(p.a_bar, [a1, a2], 1e-14)
    close(p.F, [a1, a2], 1e-14)
    close(p.f[1], a2, 1e-14)
    turned = np.array([[c2, -s2, 0], [s2, c2, 0], [0, 0, 1]]) @ p.f[1]
    close(p.f[0], turned + a1, 1e-14)
    n2 = (aa + bb) / 3 + c2 * aa / 2 + s2 * a * a / 2 + G * c12 / 2
    close(p.n[1], [0, 0, n2], 1e-14)
    close(p.n[:, 2], REFERENCE["FGL_2R"]["tau"], 1e-14)


def test_two_link_by_generalized_dalembert():
    """Section 3.4.2: a planar arm has no rotational Coriolis force."""
    _, _, c2, s2, _, _ = two_link()
    t = da.robot("two_link").dalembert_terms(Q, QD)
    a, b = QD
    close(t.D_rot, [[1 / 6, 1 / 12], [1 / 12, 1 / 12]], 1e-14)
    close(t.D_tran + t.D_rot, [[5 / 3 + c2, 1 / 3 + c2 / 2], [1 / 3 + c2 / 2, 1 / 3]], 1e-14)
    close(t.h_tran, [-s2 * b * b / 2 - s2 * a * b, s2 * a * a / 2], 1e-14)
    close(t.h_rot, np.zeros(2), 1e-15)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
def test_lagrange_euler_terms_of_the_references(name):
    ref, robot = REFERENCE[name], reference_robot(name)
    D, H, h, c = robot.lagrange_euler_terms(ref["q"], ref["qd"])
    close(D, ref["M"], 1e-12)
    close(h, ref["c"], 1e-12)
    close(c, ref["g"], 1e-12)
    close(H @ np.array(ref["qd"]), ref["coriolis_matrix_christoffel"], 1e-12)


@pytest.mark.parametrize("name", ["FGL_2R", "PUMA560"])
def test_dalembert_terms_of_the_references(name):
    ref, robot = REFERENCE[name], reference_robot(name)
    t = robot.dalembert_terms(ref["q"], ref["qd"])
    for field in ("D_tran", "D_rot", "h_tran", "h_rot"):
        close(getattr(t, field), ref["generalized_dAlembert"][field], 1e-12)
    close(t.c, ref["g"], 1e-12)


@pytest.mark.parametrize("name", ["FGL_2R", "PUMA560"])
def test_pseudo_inertias_of_the_references(name):
    ref, tree = REFERENCE[name], reference_robot(name).tree
    for i, expected in enumerate(ref["pseudo_inertia_J"]):
        close(pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i]), expected, 1e-14)


def test_pseudo_inertia_is_the_second_moment():
    """(3.2-17) on a cloud of points: products of inertia enter with a minus (E-F1); problem 3.14 back again."""
    rng = np.random.default_rng(0)
    x, m = rng.normal(size=(9, 3)), rng.uniform(0.1, 1, 9)
    mass, com = m.sum(), m @ x / m.sum()
    r = x - com
    tensor = sum(k * (p @ p * np.eye(3) - np.outer(p, p)) for k, p in zip(m, r, strict=True))
    h = np.hstack([x, np.ones((9, 1))])
    J = pseudo_inertia(mass, com, tensor)
    close(J, (h.T * m) @ h, 1e-14)
    J3 = J[:3, :3]
    close(np.trace(J3) * np.eye(3) - J3 - mass * (com @ com * np.eye(3) - np.outer(com, com)), tensor, 1e-14)


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_terms_add_up(joints, parents):
    robot = da.random_robot(6, joints, parents)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    tau = robot.inverse_dynamics(q, qd, qdd, backend="numpy")
    D, _, h, c = robot.lagrange_euler_terms(q, qd, backend="numpy")
    close(D @ qdd + h + c, tau, 1e-12)
    t = robot.dalembert_terms(q, qd, backend="numpy")
    close((t.D_tran + t.D_rot) @ qdd + t.h_tran + t.h_rot + t.c, tau, 1e-12)
    close(t.D_tran + t.D_rot, D, 1e-12)
    A, G6, Gamma, L6 = robot.stacked_operators(q, backend="numpy")
    close(A.T @ L6.T @ G6 @ L6 @ A, D, 1e-12)
    close(L6, np.linalg.inv(np.eye(6 * robot.n) - Gamma), 1e-12)


def test_point_masses_of_park_and_lynch():
    """The 2R arm of chapter 9 with masses at the ends of the links, corrected (E-P1)."""
    m1, m2, l1, l2, g = 1.3, 0.7, 0.9, 0.6, 9.81
    bob = [da.Inertia.from_com(m, (0, 0, 0)) for m in (m1, m2)]
    rows = [da.DHRow(a=l, inertia=b) for l, b in zip((l1, l2), bob, strict=True)]
    arm = da.Robot.from_dh(rows, convention="standard", gravity=(0, -g, 0))
    (t1, t2), (a, b), (aa, bb) = Q, QD, QDD
    c1, c2, s2, c12 = np.cos(t1), np.cos(t2), np.sin(t2), np.cos(t1 + t2)
    tau1 = (
        ((m1 + m2) * l1**2 + m2 * (2 * l1 * l2 * c2 + l2**2)) * aa
        + m2 * (l1 * l2 * c2 + l2**2) * bb
        - m2 * l1 * l2 * s2 * (2 * a * b + b * b)
        + (m1 + m2) * l1 * g * c1
        + m2 * g * l2 * c12
    )
    tau2 = m2 * (l1 * l2 * c2 + l2**2) * aa + m2 * l2**2 * bb + m2 * l1 * l2 * a * a * s2 + m2 * g * l2 * c12
    close(arm.inverse_dynamics(Q, QD, QDD), [tau1, tau2], 1e-14)


def test_terms_come_in_batches():
    arm = da.robot("puma560")
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, 4, 3, 6))
    t = arm.dalembert_terms(q, qd)
    assert t.D_tran.shape == (4, 3, 6, 6)
    assert t.h_rot.shape == (4, 3, 6)
    assert arm.newton_euler_pass(q, qd, qd).n.shape == (4, 3, 6, 3)
    close(arm.dalembert_terms(q[1, 2], qd[1, 2]).D_tran, t.D_tran[1, 2], 1e-15)
    assert arm.stacked_operators(q).L.shape == (4, 3, 36, 36)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
def test_probing_newton_euler(name):
    """Problem 3.11: every coefficient of Lagrange-Euler comes out of Newton-Euler."""
    ref, robot = REFERENCE[name], reference_robot(name)
    probed, expected = robot.probe(ref["q"], ref["qd"]), robot.lagrange_euler_terms(ref["q"], ref["qd"])
    for got, want in zip(probed, expected, strict=True):
        close(got, want, 1e-12)
    assert robot.probe(ref["q"], np.stack([ref["qd"]] * 2)).D.shape == (2, robot.n, robot.n)
    batch = robot.probe(np.stack([ref["q"]] * 3), ref["qd"])
    assert batch.H.shape == (3, robot.n, robot.n, robot.n)
    close(batch.H[2], expected.H, 1e-12)


def test_blocks_and_cubes():
    """Problems 3.5 to 3.8: a block with sides 2a, 2b, 2c about its corner, its centre, and turned axes."""
    M, a, b, c = 2.0, 0.3, 0.2, 0.5
    block = da.Inertia.from_com(M, (a, b, c), np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * M / 3)
    close(np.diag(block.about_origin), np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * 4 / 3 * M, 1e-14)
    close(block.about_origin[[0, 0, 1], [1, 2, 2]], [-M * a * b, -M * a * c, -M * b * c], 1e-14)
    cube = da.Inertia.from_com(M, (a, a, a), M * 2 / 3 * a * a)
    close(cube.about_origin, M * a * a * (8 / 3 * np.eye(3) + np.eye(3) - np.ones((3, 3))), 1e-14)
    turned = da.Pose.of(rpy=(0, 0, 0.4)) @ da.Pose.of(rpy=(0.7, 0, 0))
    ca, sa, ct, st = np.cos(0.4), np.sin(0.4), np.cos(0.7), np.sin(0.7)
    R = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, ct, -st], [0, st, ct]])
    close(block.seen_from(turned).tensor, R @ block.tensor @ R.T, 1e-14)


def test_lumped_arm_from_the_ceiling():
    """Problems 3.16 and 3.17: masses at the ends of links d1 and d2."""
    m1, m2, d1, d2 = 1.1, 0.8, 0.7, 0.4
    rows = [da.DHRow(a=d, inertia=da.Inertia.from_com(m, (0, 0, 0))) for d, m in ((d1, m1), (d2, m2))]
    arm = da.Robot.from_dh(rows, convention="standard", gravity=(9.81, 0, 0))
    c2, s2, (a, b) = np.cos(Q[1]), np.sin(Q[1]), QD
    D, _, h, c = arm.lagrange_euler_terms(Q, QD)
    m12 = m2 * d2**2 + m2 * d1 * d2 * c2
    close(D, [[(m1 + m2) * d1**2 + m2 * d2**2 + 2 * m2 * d1 * d2 * c2, m12], [m12, m2 * d2**2]], 1e-14)
    close(h, [-m2 * d1 * d2 * s2 * (2 * a * b + b * b), m2 * d1 * d2 * s2 * a * a], 1e-14)
    g = 9.81
    s1, s12 = np.sin(Q[0]), np.sin(Q.sum())
    close(c, [(m1 + m2) * g * d1 * s1 + m2 * g * d2 * s12, m2 * g * d2 * s12], 1e-14)


@pytest.mark.parametrize("joints", ["RR", "RP", "PR", "PP", "HR", "RH"])
def test_general_two_joint_arm_of_park_bobrow_and_ploen(joints):
    """(60)-(64) with the corrected C (E-B6): C = [[a x2, a x1 + b x2], [-a x1, 0]] in the velocities x."""
    from dalembert.algebra.spatial import Ad, ad, compose, inverse
    from dalembert.formulations.lie_closed_form import screws

    robot = da.random_robot(8, joints).with_gravity((0, 0, 0))
    s = screws(robot.tree, Q)
    carry = compose(inverse(s.E[1]), s.E[0])
    (A1, A2), (D1, D2) = s.A, s.D
    X, Y = Ad(carry, A1), Ad(compose(inverse(s.E[1]), s.E[0]), ad(A1, A2))
    M = [[A1 @ D1 @ A1 + X @ D2 @ X, X @ D2 @ A2], [X @ D2 @ A2, A2 @ D2 @ A2]]
    terms = robot.lagrange_euler_terms(Q, QD, backend="numpy")
    close(terms.D, M, 1e-13)
    a, b = Y @ D2 @ X, Y @ D2 @ A2
    C = np.array([[a * QD[1], a * QD[0] + b * QD[1]], [-a * QD[0], 0.0]])
    close(C @ QD, terms.h, 1e-12, scale=float(np.abs(terms.D).max()))
    close(C, terms.H @ QD, 1e-12, scale=float(np.abs(terms.D).max()))


def test_particle_in_a_translating_frame():
    """Problem 3.2: fixed at (-1, 1, 2) in a frame that moves with (3t, 2t, 4), its acceleration is (3, 2, 0)."""
    bob = da.Inertia.from_com(1.0, (-1, 1, 2))
    frame = da.Robot("frame", (da.Link("a", "base", da.Joint("j"), inertia=bob),), gravity=(0, 0, 0))
    t = 0.7
    motion = {"base_twist": [0, 0, 0, 3 * t, 2 * t, 4], "base_acceleration": [0, 0, 0, 3, 2, 0]}
    close(frame.newton_euler_pass([0.0], [0.0], [0.0], **motion).a_bar, [[3, 2, 0]], 1e-15)
