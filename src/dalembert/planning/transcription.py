"""Motions from one state to another as B-splines with free coefficients z, in shares s = t / T of the duration.

    q(t) = B(s) C,    C = fixed + T moving + E z

The three first and last coefficients are given by the states at both ends, where the acceleration is 0, and positions on the way
restrict the others; E spans what remains free. The product T q' of a velocity at an end is what makes C depend on T.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.motion.bsplines import BSpline, basis

POINTS = 5  # of Gauss's quadrature in each interval,
PARTS = 10  # or in its equal parts, so many in all at least
ENDS = 3  # coefficients that position, velocity and acceleration at an end determine


class Grid(NamedTuple):
    """Some instants: the derivatives k = 0, 1, 2 of q by s are free[k] z + fixed[k] + T moving[k]."""

    at: Array  # (K,) shares of the duration
    free: Array  # (3, K, f)
    fixed: Array  # (3, K, n)
    moving: Array  # (3, K, n)

    def motion(self, z: Array, T: float) -> Array:
        """q, qd and qdd, (3, K, n)."""
        return (self.free @ z + self.fixed + T * self.moving) * rates(T)

    def by_duration(self, motion: Array, T: float) -> Array:
        """The derivatives of q, qd and qdd by T, (3, K, n)."""
        return self.moving * rates(T) - np.arange(3)[:, None, None] * motion / np.float64(T)

    def pulled(self, gradients: Array, T: float) -> Array:
        """The gradient (f, n) by z of what has these gradients (3, K, n) by q, qd and qdd."""
        flat = (gradients * rates(T)).reshape(-1, gradients.shape[-1])
        return self.free.reshape(len(flat), -1).T @ flat


def rates(T: float) -> Array:
    """What turns derivatives by s into those by t, (3, 1, 1)."""
    return 1 / np.array([1.0, T, T * T])[:, None, None]


class Transcription:
    """All motions between two states (2, n), positions and velocities, through positions (k, n) at shares (k,) of the duration."""

    def __init__(self, start: Array, goal: Array, shares: Array, points: Array, knots: int) -> None:
        self.intervals, self.shares, n = knots - 1, shares, start.shape[1]
        m = self.intervals + 5
        self.fixed, self.moving = np.zeros((2, m, n))
        for end, state, place in ((slice(None, ENDS), start, 0.0), (slice(m - ENDS, m), goal, 1.0)):
            rows = np.concatenate([self._basis(np.array([place]), k)[:, end] for k in range(3)])
            still, fast = (
                np.linalg.solve(rows, np.stack([*x, 0 * x[0]])) for x in ((state[0], 0 * state[1]), (0 * state[0], state[1]))
            )
            self.fixed[end], self.moving[end] = still, fast
        inner = slice(ENDS, m - ENDS)
        free = np.eye(m)[:, inner]
        if len(shares):
            rows = self._basis(shares, 0)
            turned, triangle = np.linalg.qr(rows[:, inner].T, mode="complete")
            square = triangle[: len(shares)].T
            if len(shares) >= free.shape[1] or np.abs(np.diag(square)).min() < 1e-9:
                raise Error(f"through: {len(shares)} points are too close in time for {knots} knots; use more knots")
            lead, rest = turned[:, : len(shares)], turned[:, len(shares) :]
            self.fixed[inner] = lead @ np.linalg.solve(square, points - rows @ self.fixed)
            self.moving[inner] = lead @ np.linalg.solve(square, -rows @ self.moving)
            free = free @ rest
        self.free = free  # E, (m, f)
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        parts = self.intervals * -(-PARTS // self.intervals)
        at = (np.arange(parts)[:, None] + (nodes + 1) / 2) / parts
        self.weights = np.tile(weights / 2 / parts, parts)  # of the integral over s
        self.grid = self.at(at.ravel())

    def _basis(self, at: Array, derivative: int) -> Array:
        return basis(at, self.intervals, derivative)

    def at(self, shares: Array) -> Grid:
        """The motions at these instants."""
        B = np.stack([self._basis(shares, k) for k in range(3)])
        return Grid(shares, B @ self.free, B @ self.fixed, B @ self.moving)

    def smoothest(self, T: float) -> Array:
        """The motion (f, n) with the least integral of the squared jerk: without points on the way, the polynomial of degree 5."""
        B = self._basis(self.grid.at, 3) * np.sqrt(self.weights)[:, None]
        return -np.linalg.lstsq(B @ self.free, B @ (self.fixed + T * self.moving), rcond=None)[0]

    def path(self, z: Array, T: float) -> BSpline:
        """The motion as a path to follow."""
        return BSpline(self.free @ z + self.fixed + T * self.moving, T)


def metric(free: Array, slopes: Any, weights: Array, T: float) -> Array:
    """P (f n, f n) with P P^T = (J^T J)^-1, J the derivatives by z of the forces times `weights` (K, n): the Gauss-Newton metric.

    free: (3, K, f) of a grid; slopes: d tau / d q, d qd, d qdd, (K, n, n) each. In x with z = P x, the sum of squares of the
    forces has a second derivative near 2: no direction is steeper than another.
    """
    J = sum(
        rate * F[:, None, :, None] * (weights[:, :, None] * D)[:, :, None, :]
        for rate, F, D in zip(rates(T).ravel(), free, slopes, strict=True)
    )
    J = np.reshape(J, (weights.size, -1))
    H = J.T @ J
    d = np.sqrt(np.maximum(np.diag(H), 1e-12 * np.diag(H).max(initial=0.0) + 1e-300))
    L = np.linalg.cholesky(H / d / d[:, None] + 1e-9 * np.eye(len(H)))
    return np.linalg.inv(L).T / d[:, None]
