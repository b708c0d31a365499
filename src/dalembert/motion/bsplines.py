"""B-splines of fifth degree on equal intervals: their basis functions, and paths made of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import frozen_array, numbers, positive
from dalembert.cached import cached_property
from dalembert.errors import Error
from dalembert.model.values import Frozen, Value
from dalembert.motion.paths import Motion, sample

DEGREE = 5


def basis(at: Array, intervals: int, derivative: int = 0) -> Array:
    """The basis functions (K, intervals + 5) on equal intervals of [0, 1], or a derivative of them, at shares (K,) from 0 to 1.

    N_i,p(s) = (s - t_i) / (t_i+p - t_i) N_i,p-1(s) + (t_i+p+1 - s) / (t_i+p+1 - t_i+1) N_i+1,p-1(s)    (Cox, de Boor)
    N_i,p'(s) = p / (t_i+p - t_i) N_i,p-1(s) - p / (t_i+p+1 - t_i+1) N_i+1,p-1(s)

    The first and the last knot are repeated, so the first function is 1 at the start, and the last one at the end.

    >>> basis(np.array([0.0, 0.3, 1.0]), 4).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    knots = np.concatenate([np.zeros(DEGREE), np.linspace(0.0, 1.0, intervals + 1), np.ones(DEGREE)])
    span = DEGREE + np.clip((np.asarray(at) * intervals).astype(int), 0, intervals - 1)
    found = (np.arange(len(knots) - 1) == span[:, None]).astype(float)
    s = np.asarray(at)[:, None]
    for p in range(1, DEGREE + 1):
        wide = knots[p:] - knots[:-p]
        inverse = np.where(wide > 0, 1 / np.where(wide > 0, wide, 1.0), 0.0)
        left, right = found[:, :-1], found[:, 1:]
        if p > DEGREE - derivative:
            found = p * (inverse[:-1] * left - inverse[1:] * right)
        else:
            found = (s - knots[: -p - 1]) * inverse[:-1] * left + (knots[p + 1 :] - s) * inverse[1:] * right
    return found


@dataclass(frozen=True, eq=False)
class BSpline(Value):
    """A path of B-splines: coefficients (m, n) of m - 5 equal intervals, run through in `duration` seconds.

    Positions, velocities and accelerations have no jumps, nor have the next two derivatives. Before and after it, the path rests.

    >>> path = BSpline(np.linspace(0.0, 1.0, 7)[:, None], 2.0)
    >>> path(2.0).q.tolist(), path(2.5).qd.tolist()
    ([1.0], [0.0])
    """

    coefficients: Frozen
    duration: float

    def __post_init__(self) -> None:
        kept = frozen_array(self.coefficients, None, "the coefficients of a B-spline")
        if kept.ndim != 2 or len(kept) <= DEGREE or not kept.shape[1]:
            raise Error(f"the coefficients of a B-spline must be (m, n) with m > {DEGREE}, got {kept.shape}")
        object.__setattr__(self, "coefficients", kept)
        object.__setattr__(self, "duration", positive(self.duration, "the duration of a path"))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.coefficients.shape[1]

    @cached_property
    def pieces(self) -> Array:
        """Coefficients (6, intervals, n) of the powers of the share of an interval, beginning with the lowest."""
        count = len(self.coefficients) - DEGREE
        starts = np.arange(count) / count
        return np.array([basis(starts, count, k) @ self.coefficients / count**k / math.factorial(k) for k in range(DEGREE + 1)])

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (n,), or at times (T,), (T, n)."""
        t, count = numbers(time, "the time of a path").astype(float, copy=False), self.pieces.shape[1]
        share = np.minimum(np.maximum(t / self.duration, 0.0), 1.0) * count
        k = np.minimum(share.astype(int), count - 1)
        u, rate = (share - k)[..., None], count / self.duration
        c0, c1, c2, c3, c4, c5 = self.pieces[:, k]
        q = c0 + u * (c1 + u * (c2 + u * (c3 + u * (c4 + u * c5))))
        qd = c1 + u * (2 * c2 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))
        qdd = 2 * c2 + u * (6 * c3 + u * (12 * c4 + u * 20 * c5))
        inside = ((t >= 0) & (t <= self.duration))[..., None]
        return Motion(q, np.where(inside, rate * qd, 0.0), np.where(inside, rate * rate * qdd, 0.0))

    sample = sample
