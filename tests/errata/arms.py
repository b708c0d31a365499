"""A serial arm in plain NumPy for the tests of misprints: the books' matrices and derivatives, and a verdict on a printed form.

Nothing here comes from the library but the list of misprints and, as an independent result, `oracle.answer` (forty digits, from the
definitions). Functions take complex arguments, so that derivatives are complex steps.
"""

from typing import NamedTuple

import numpy as np
import oracle
import pytest

import dalembert as da
from dalembert.studies.errata import ERRATA

STEP = 1e-30
ENTRIES = {entry.id: entry for entry in ERRATA}
Z = np.array([0.0, 0.0, 1.0])


def misprint(name, printed, right, truth, tolerance=1e-11, scale=None):
    """The right form gives the independent result; the printed one is off by what the page says (relative to its largest entry)."""
    printed, right, truth = (np.asarray(x, dtype=float) for x in (printed, right, truth))
    size = scale or float(np.abs(truth).max())
    error = float(np.abs(right - truth).max()) / size
    assert error <= tolerance, f"{name}: the corrected form is off by {error:.1e}"
    off = float(np.abs(printed - truth).max()) / size
    assert off == pytest.approx(ENTRIES[name].off, rel=0.02), f"{name}: the printed form is off by {off:.3g}"


def unusable(name):
    """The page has no number for the printed form: it cannot be evaluated, or is a statement in words."""
    assert ENTRIES[name].off is None


def agree(found, truth, tolerance=1e-11):
    found, truth = np.asarray(found), np.asarray(truth)
    assert np.abs(found - truth).max() <= tolerance * max(np.abs(truth).max(), 1e-3)


def differ(found, truth):
    found, truth = np.asarray(found), np.asarray(truth)
    assert np.abs(found - truth).max() > 0.01 * np.abs(truth).max()


def rate(f, *pairs):
    """d/dt f(x, ...) for arguments given as pairs of a value and its rate."""
    return np.imag(f(*(x + 1j * STEP * np.asarray(xd) for x, xd in pairs))) / STEP


def gradient(f, x):
    """df/dx by the components of x, along the last axis."""
    return np.stack([rate(f, (x, e)) for e in np.eye(len(x))], axis=-1)


def skew(v):
    x, y, z = v
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def unskew(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


class Arm(NamedTuple):
    """Denavit-Hartenberg rows as in Fu, Gonzalez and Lee, centres of mass and inertias about them in link axes, gravity."""

    kinds: str
    alpha: np.ndarray
    a: np.ndarray
    d: np.ndarray
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    gravity: np.ndarray

    @property
    def n(self):
        return len(self.kinds)

    def robot(self):
        names = {"R": "revolute", "P": "prismatic"}
        rows = [
            da.DHRow(
                alpha=self.alpha[i],
                a=self.a[i],
                d=self.d[i],
                joint=names[kind],
                inertia=da.Inertia.from_com(self.mass[i], self.com[i], self.inertia[i]),
            )
            for i, kind in enumerate(self.kinds)
        ]
        return da.Robot.from_dh(rows, convention="standard", gravity=self.gravity)

    def torque(self, q, qd, qdd):
        """What the arm needs, in forty digits."""
        return oracle.answer(self.robot().tree, q, qd, qdd).tau

    def mass_matrix(self, q):
        return oracle.answer(self.robot().tree, q, 0 * q, 0 * q).M

    def weightless(self):
        return self._replace(gravity=np.zeros(3))


def arm(kinds, seed=0):
    """A random arm; every inertia is that of ten points."""
    rng = np.random.default_rng(seed)
    n = len(kinds)
    mass, com, inertia = np.empty(n), np.empty((n, 3)), np.empty((n, 3, 3))
    for i in range(n):
        m, x = rng.uniform(0.05, 0.3, 10), rng.uniform(-0.5, 0.5, (10, 3))
        mass[i], com[i] = m.sum(), m @ x / m.sum()
        inertia[i] = sum(k * (p @ p * np.eye(3) - np.outer(p, p)) for k, p in zip(m, x - com[i], strict=True))
    lengths = rng.uniform(0.2, 0.6, (2, n))
    return Arm(kinds, rng.uniform(0.3, 1.3, n), *lengths, mass, com, inertia, np.array([0.7, -1.3, -9.6]))


def motion(n, seed=1):
    """q, qd and qdd."""
    return np.random.default_rng(seed).uniform(-1.2, 1.2, (3, n))


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def moved(*p):
    T = np.eye(4, dtype=np.result_type(*p, float))
    T[:3, 3] = p
    return T


def joint(arm, i, q):
    """The motion of joint i alone, the fixed part along z included."""
    return turned(q[i]) @ moved(0, 0, arm.d[i]) if arm.kinds[i] == "R" else moved(0, 0, arm.d[i] + q[i])


def beyond(arm, i):
    """What stands between joint i and the frame of link i."""
    c, s = np.cos(arm.alpha[i]), np.sin(arm.alpha[i])
    return moved(arm.a[i], 0, 0) @ np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def A(arm, i, q):
    """The pose of link i in link i - 1: (3.2-5), (3.2-6) with any a."""
    return joint(arm, i, q) @ beyond(arm, i)


def poses(arm, q):
    """0A_i of every link."""
    W = [np.eye(4)]
    for i in range(arm.n):
        W.append(W[-1] @ A(arm, i, q))
    return W[1:]


def Q(arm, i):
    """(3.2-8)."""
    X = np.zeros((4, 4))
    if arm.kinds[i] == "R":
        X[0, 1], X[1, 0] = -1, 1
    else:
        X[2, 3] = 1
    return X


def product(arm, i, j, q):
    """The pose of link j in link i - 1."""
    T = np.eye(4)
    for k in range(i, j + 1):
        T = T @ A(arm, k, q)
    return T


def U(arm, i, j, q):
    """dW_i/dq_j (3.2-11)."""
    return product(arm, 0, j - 1, q) @ Q(arm, j) @ product(arm, j, i, q) if j <= i else np.zeros((4, 4))


def UU(arm, i, j, k, q):
    """dU_ij/dq_k (3.2-13)."""
    j, k = min(j, k), max(j, k)
    if k > i:
        return np.zeros((4, 4))
    return product(arm, 0, j - 1, q) @ Q(arm, j) @ product(arm, j, k - 1, q) @ Q(arm, k) @ product(arm, k, i, q)


def pose_rate(arm, i, q, qd):
    return sum(U(arm, i, j, q) * qd[j] for j in range(i + 1))


def pose_acceleration(arm, i, q, qd, qdd):
    linear = sum(U(arm, i, j, q) * qdd[j] for j in range(i + 1))
    return linear + sum(UU(arm, i, j, k, q) * (qd[j] * qd[k]) for j in range(i + 1) for k in range(i + 1))


def point(v):
    return np.append(v, 1.0)


def com_velocity(arm, i, q, qd):
    return (pose_rate(arm, i, q, qd) @ point(arm.com[i]))[:3]


def com_acceleration(arm, i, q, qd, qdd):
    return (pose_acceleration(arm, i, q, qd, qdd) @ point(arm.com[i]))[:3]


def spin(arm, i, q, qd):
    """omega_i in base axes, from the rate of the rotation matrix."""
    return unskew(pose_rate(arm, i, q, qd)[:3, :3] @ poses(arm, q)[i][:3, :3].T)


def spin_rate(arm, i, q, qd, qdd):
    return rate(lambda q, qd: spin(arm, i, q, qd), (q, qd), (qd, qdd))


def turned_inertia(arm, i, q):
    """I_i in base axes."""
    R = poses(arm, q)[i][:3, :3]
    return R @ arm.inertia[i] @ R.T


def potential(arm, q):
    return -sum(m * arm.gravity @ (W @ point(c))[:3] for m, c, W in zip(arm.mass, arm.com, poses(arm, q), strict=True))


def kinetic(arm, q, qd):
    """The energy of every link: half m v^2 and half omega . I omega."""
    parts = []
    for i in range(arm.n):
        v, w = com_velocity(arm, i, q, qd), spin(arm, i, q, qd)
        parts.append((arm.mass[i] * v @ v + w @ turned_inertia(arm, i, q) @ w) / 2)
    return np.array(parts)


def axis(arm, j, q):
    """z_{j-1}, the axis of joint j, and a point on it, in base axes."""
    W = product(arm, 0, j - 1, q)
    return W[:3, 2], W[:3, 3]
