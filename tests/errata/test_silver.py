"""Silver 1981: each misprint as printed and as it should be."""

import numpy as np
from arms import (
    U,
    agree,
    arm,
    axis,
    com_acceleration,
    com_velocity,
    gradient,
    misprint,
    motion,
    pose_acceleration,
    pose_rate,
    rate,
    spin,
    spin_rate,
    turned_inertia,
)

ARM = arm("RRR")
SLIDING = arm("RPR", 2)
q, qd, qdd = motion(3)
LINKS, LAST = range(3), 2


def partial_spins(arm):
    """dw_i/dqd_j of every link i and joint j."""
    return [[spin(arm, i, q, e) for e in np.eye(3)] for i in LINKS]


def test_E_S1():
    J = np.trace(ARM.inertia[LAST]) / 2 * np.eye(3) - ARM.inertia[LAST]  # (2.11)
    partials = [U(ARM, LAST, j, q)[:3, :3] for j in LINKS]
    Wd, Wdd = pose_rate(ARM, LAST, q, qd)[:3, :3], pose_acceleration(ARM, LAST, q, qd, qdd)[:3, :3]
    w, wd, I = spin(ARM, LAST, q, qd), spin_rate(ARM, LAST, q, qd, qdd), turned_inertia(ARM, LAST, q)
    truth = [(I @ wd + np.cross(w, I @ w)) @ dw for dw in partial_spins(ARM)[LAST]]
    misprint("E-S1", [np.trace(P @ J @ Wd.T) for P in partials], [np.trace(P @ J @ Wdd.T) for P in partials], truth)


def test_E_S2():
    w, I = spin(ARM, LAST, q, qd), turned_inertia(ARM, LAST, q)
    truth = np.einsum("a,abj,b->j", w, gradient(lambda q: turned_inertia(ARM, LAST, q), q), w) / 2
    by_position = gradient(lambda q: spin(ARM, LAST, q, qd), q)
    by_rate = np.transpose(partial_spins(ARM)[LAST])
    misprint("E-S2", -np.cross(w, I @ w) @ by_position, -np.cross(w, I @ w) @ by_rate, truth)


def test_E_S3():
    w, I = spin(ARM, LAST, q, qd), turned_inertia(ARM, LAST, q)
    I_dot = rate(lambda q: turned_inertia(ARM, LAST, q), (q, qd))
    by_rate = np.transpose(partial_spins(ARM)[LAST])
    misprint("E-S3", w @ I @ by_rate, w @ I_dot @ by_rate, np.cross(w, I @ w) @ by_rate)


def projected(arm, accelerations):
    """(3.11) with given accelerations of the centres of mass."""
    tau = np.zeros(3)
    for i in LINKS:
        w, wd, I = spin(arm, i, q, qd), spin_rate(arm, i, q, qd, qdd), turned_inertia(arm, i, q)
        for j, e in enumerate(np.eye(3)):
            tau[j] += arm.mass[i] * accelerations[i] @ com_velocity(arm, i, q, e)
            tau[j] += (I @ wd + np.cross(w, I @ w)) @ spin(arm, i, q, e)
    return tau


def test_E_S4():
    moving = [com_acceleration(ARM, i, q, qd, qdd) for i in LINKS]
    printed, right = (projected(ARM, [a + sign * ARM.gravity for a in moving]) for sign in (1, -1))
    misprint("E-S4", printed, right, ARM.torque(q, qd, qdd))


def test_E_S5():
    bare = SLIDING.weightless()
    velocities = [com_velocity(bare, i, q, qd) for i in LINKS]
    accelerations = [com_acceleration(bare, i, q, qd, qdd) for i in LINKS]
    misprint("E-S5", projected(bare, velocities), projected(bare, accelerations), bare.torque(q, qd, qdd))


def test_E_S6():
    def axes(q):
        return np.array([axis(SLIDING, k, q)[0] for k in LINKS])

    truth = gradient(axes, q)  # (axis k, component, joint j)
    z = axes(q)
    every, turning = np.zeros((2, 3, 3, 3))
    for k in LINKS:
        for j in range(k + 1):
            every[k, :, j] = np.cross(z[j], z[k])
            turning[k, :, j] = np.cross(z[j], z[k]) if SLIDING.kinds[j] == "R" else 0
    misprint("E-S6", every, turning, truth)
    agree(gradient(lambda q: axis(ARM, 2, q)[0], q)[:, 2], np.zeros(3))  # j = k: an axis does not turn itself
