"""What differs from source to source: each trap, and what falling into it costs."""

import numpy as np
import pytest
from arms import (
    U,
    agree,
    arm,
    com_acceleration,
    gradient,
    kinetic,
    misprint,
    motion,
    pose_rate,
    poses,
    potential,
    product,
    rate,
    skew,
    spin,
    unusable,
)
from screws import ad
from test_fu import table_3_3
from test_kozlowski import operators
from test_park import Section3
from test_park_lynch import Model, recursion, stacked

import dalembert as da

ARM = arm("RRR", 31)
q, qd, qdd = motion(3, 32)
TAU = ARM.torque(q, qd, qdd)


def test_T1():
    chain = Section3(ARM)
    misprint("T1", chain.torque(q, qd, qdd, base=1), chain.torque(q, qd, qdd), TAU)


def test_T2():
    """tau = M qdd + c + g with the c of Fu et al., which is gravity, or with that of Park and Lynch."""
    M, g = ARM.mass_matrix(q), gradient(lambda q: potential(ARM, q), q)
    parts = [
        [-ARM.mass[j] * np.append(ARM.gravity, 0) @ U(ARM, j, i, q) @ np.append(ARM.com[j], 1) for j in range(i, 3)]
        for i in range(3)
    ]
    of_fu = np.array([sum(row) for row in parts])  # (3.2-34)
    of_park_lynch, _ = stacked(Model(ARM), q, qd, -1)  # (9.83)
    agree(of_fu, g)
    misprint("T2", M @ qdd + of_fu + g, M @ qdd + of_park_lynch + g, TAU)


def test_T3():
    M = gradient(ARM_mass, q)  # dM_ij/dq_k
    force_first = (M + M.swapaxes(1, 2) - np.moveaxis(M, 2, 0)) / 2  # (9.86)
    truth = ARM.weightless().torque(q, qd, 0 * q)
    misprint("T3", np.einsum("ijk,i,j->k", force_first, qd, qd), np.einsum("kij,i,j->k", force_first, qd, qd), truth)


def ARM_mass(q):
    """The mass matrix for complex arguments: sum of J^T m J and of the rotations."""
    E, M = np.eye(3), 0
    for i in range(3):
        R = poses(ARM, q)[i][:3, :3]
        Jv = np.transpose([(U(ARM, i, j, q) @ np.append(ARM.com[i], 1))[:3] for j in range(3)])
        Jw = np.transpose([spin(ARM, i, q, e) for e in E])
        M = M + ARM.mass[i] * Jv.T @ Jv + Jw.T @ R @ ARM.inertia[i] @ R.T @ Jw
    return M


def test_T4():
    rows = [
        da.DHRow(alpha=ARM.alpha[i], a=ARM.a[i], d=ARM.d[i], inertia=da.Inertia.from_com(ARM.mass[i], ARM.com[i], ARM.inertia[i]))
        for i in range(3)
    ]
    found = [
        da.Robot.from_dh(rows, convention=c, gravity=ARM.gravity).inverse_dynamics(q, qd, qdd, backend="numpy")
        for c in ("modified", "standard")
    ]
    misprint("T4", *found, table_3_3(ARM, q, qd, qdd))


def test_T5():
    about_origin = [I - m * skew(c) @ skew(c) for I, m, c in zip(ARM.inertia, ARM.mass, ARM.com, strict=True)]
    misprint("T5", table_3_3(ARM._replace(inertia=np.array(about_origin)), q, qd, qdd), table_3_3(ARM, q, qd, qdd), TAU)


def test_T6():
    """F = G Vdot - ad^T G V of the last link, with the rates of its twist or with the acceleration of its centre of mass."""
    R = poses(ARM, q)[2][:3, :3]

    def body_twist(q, qd):
        R = poses(ARM, q)[2][:3, :3]
        v = (pose_rate(ARM, 2, q, qd) @ np.append(ARM.com[2], 1))[:3]
        return np.append(R.T @ spin(ARM, 2, q, qd), R.T @ v)

    V, rates = body_twist(q, qd), rate(body_twist, (q, qd), (qd, qdd))
    a = R.T @ com_acceleration(ARM, 2, q, qd, qdd)
    G = np.block([[ARM.inertia[2], np.zeros((3, 3))], [np.zeros((3, 3)), ARM.mass[2] * np.eye(3)]])
    agree(rates[3:] + np.cross(V[:3], V[3:]), a)
    truth = np.append(ARM.inertia[2] @ rates[:3] + np.cross(V[:3], ARM.inertia[2] @ V[:3]), ARM.mass[2] * a)
    mixed, right = (G @ x - ad(V).T @ G @ V for x in (np.append(rates[:3], a), rates))
    misprint("T6", mixed, right, truth)


def test_T7():
    W = np.array([0.4, -0.7, 0.3, 1.1, -0.6, 0.8])  # (moment, force) at the origin of the last link, in base axes
    end = poses(ARM, q)[2][:3, 3]
    axes = [(product(ARM, 0, j - 1, q)[:3, 2], product(ARM, 0, j - 1, q)[:3, 3]) for j in range(3)]
    J = np.transpose([np.append(z, np.cross(z, end - o)) for z, o in axes])
    speed = [rate(lambda q, e=e: poses(ARM, q)[2][:3, 3], (q, e)) for e in np.eye(3)]
    truth = [W[:3] @ spin(ARM, 2, q, e) + W[3:] @ v for e, v in zip(np.eye(3), speed, strict=True)]
    misprint("T7", J.T @ np.append(W[3:], W[:3]), J.T @ W, truth)


def test_T8():
    """Power at the joints and at the tip is the rate of the energy, for a wrench that acts on the arm."""
    W = np.array([0.4, -0.7, 0.3, 1.1, -0.6, 0.8])  # at the last centre of mass, in link axes
    R = poses(ARM, q)[2][:3, :3]
    v = (pose_rate(ARM, 2, q, qd) @ np.append(ARM.com[2], 1))[:3]
    power = W @ np.append(R.T @ spin(ARM, 2, q, qd), R.T @ v)
    energy = rate(lambda q, qd: kinetic(ARM, q, qd).sum() + potential(ARM, q), (q, qd), (qd, qdd))
    printed, right = (recursion(Model(ARM), q, qd, qdd, tip=sign * W) @ qd for sign in (1, -1))
    misprint("T8", printed, right, energy - power)


def test_T9():
    """A point mass on the last axis; without inertia about x the two-link arm of the book is well."""
    alpha, com, inertia = ARM.alpha.copy(), ARM.com.copy(), ARM.inertia.copy()
    alpha[2], com[2], inertia[2] = 0.0, [-ARM.a[2], 0, 0.2], np.zeros((3, 3))
    light = ARM._replace(alpha=alpha, com=com, inertia=inertia)
    with np.errstate(all="ignore"):
        o = operators(light, q)
    assert abs(o.D[2]) < 1e-15
    assert not np.abs(o.G[12:, 2]).max() < 1e6  # infinite, or nothing but rounding
    with pytest.raises(da.Error, match="joint"):
        light.robot().forward_dynamics(q, qd, TAU, backend="numpy")
    two = da.robot("two_link")
    assert two.links[0].inertia.tensor[0, 0] == 0
    assert np.isfinite(two.forward_dynamics([0.1, 0.2], [0.3, 0.4], [1, 2], backend="numpy")).all()
    unusable("T9")


def test_T10():
    """An error of one part in a hundred in the last quasi-velocity hides behind the largest one."""
    puma = da.robot("puma560").without_armature()
    D = puma.diagonalize(np.full(6, 0.3), backend="numpy").D
    assert 10**4.5 < D.max() / D.min() < 10**5.5  # five orders of magnitude
    nu = np.sqrt(D) * np.ones(6)  # xi = 1 for every joint
    wrong = nu.copy()
    wrong[np.argmin(D)] *= 1.01
    assert np.abs(wrong - nu).max() < 1e-4 * nu.max()
    misprint("T10", wrong / nu, nu / nu, np.ones(6))
