"""The cost of motions as a function of their coefficients, and its least value: L-BFGS in the Gauss-Newton metric.

The metric is that of the sum of squares of the joint forces at the motion where the search begins. In its coordinates x the
problem is well rounded, whatever the inertias of the joints: a hundred coefficients take some dozens of evaluations.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.joints import friction_law
from dalembert.engine.kernels import compile
from dalembert.errors import Error, optional
from dalembert.model.model import Model
from dalembert.planning.costs import EXACT, FORCE_SLOPES, cost_kernel
from dalembert.planning.transcription import Transcription, metric

LOG_DURATION = 3.0  # x = 3 log T: the cost of fast motions falls as T^-3, so its second derivative by x is about 1
ITERATIONS = 500
BOTTOMLESS = 1e9  # times the cost at the start: a negative cost of this size falls for ever
ROUNDS = 2  # the second one begins with the metric of where the first ended
Tell = Callable[[], None]


class EffortProblem:
    """The integral of a cost along the motions of a transcription; weights (n,) are those of the squared forces."""

    def __init__(self, robot: Model, motions: Transcription, cost: Any, weights: Array, slip: float) -> None:
        self.robot, self.motions, self.weights, self.slip = robot, motions, weights, slip
        self.kernel, self.slopes = cost_kernel(robot, cost), compile(robot, FORCE_SLOPES)
        self.jumps = friction_law(robot.open).jumps

    def cost(self, z: Array, T: float) -> float:
        """The integral, with friction as it is."""
        each = self.kernel(*self.motions.grid.motion(z, T), self.weights, EXACT)[0]
        return T * float(self.motions.weights @ each)

    def gradient(self, z: Array, T: float) -> tuple[float, Array, float]:
        """The integral, with friction that does not jump, and its derivatives by z (f, n) and T."""
        motion, w = self.motions.grid.motion(z, T), self.motions.weights
        each, *slopes = self.kernel(*motion, self.weights, self.slip)
        G, mean = np.array(slopes) * (T * w[:, None]), float(w @ each)
        by_duration = mean + float((G * self.motions.grid.by_duration(motion, T)).sum())
        return T * mean, self.motions.grid.pulled(G, T), by_duration

    def forces(self, motion: Array, shift: float = 0.0) -> tuple[Array, Array]:
        """tau (K, n) and its derivatives (3, K, n, n) by q, qd and qdd."""
        tau, *slopes = self.slopes(*motion, self.slip, shift)
        return tau, np.array(slopes)

    def sharper(self, share: float) -> "EffortProblem":
        """The same with a smaller slip."""
        made = copy(self)
        made.slip *= share
        return made

    def metric(self, z: Array, T: float) -> Array:
        """P (f n, f n), about this motion."""
        grid = self.motions.grid
        _, slopes = self.forces(grid.motion(z, T))
        weights = np.sqrt(T * self.motions.weights[:, None] * self.weights)
        return metric(grid.free, slopes, weights, T)


class Coordinates:
    """x (f n,) about a motion, or (f n + 1,) with the duration: z = z0 + size P x, T = T0 exp(x[-1] / 3)."""

    def __init__(self, problem: EffortProblem, z: Array, T: float, durations: tuple[float, float]) -> None:
        value = abs(problem.gradient(z, T)[0])
        if not np.isfinite(value):
            raise Error(f"least_effort: the cost of the smoothest motion is {value}; it must be a finite number")
        self.problem, self.z, self.T, self.value = problem, z, T, value or 1.0
        self.P = np.sqrt(self.value) * problem.metric(z, T)
        self.free_duration = durations[0] < durations[1]
        self.start = np.zeros(z.size + self.free_duration)
        ends = LOG_DURATION * np.log(np.array(durations) / T)
        self.bounds = [(None, None)] * z.size + [tuple(ends)] * self.free_duration

    def curved(self) -> "Coordinates":
        """The same with the curvature of the cost itself for a metric, about a least one: differences of exact gradients."""
        k, h = self.z.size, 1e-4
        steps = np.eye(k, len(self.start)) * h
        H = np.array([self.cost(step)[1][:k] - self.cost(-step)[1][:k] for step in steps]) / (2 * h)
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        made = copy(self)
        made.P = self.P @ (vectors / np.sqrt(np.maximum(values, 1e-3 * values[-1])))
        return made

    def at(self, x: Array) -> tuple[Array, float]:
        """z and T."""
        k = self.z.size
        T = self.T * float(np.exp(x[k] / LOG_DURATION)) if self.free_duration else self.T
        return self.z + (self.P @ x[:k]).reshape(self.z.shape), T

    def pulled(self, by_z: Array, by_duration: Any, T: float) -> Array:
        """Derivatives (..., x) from those by z (..., f, n) and T (...)."""
        inner = by_z.reshape(*by_z.shape[:-2], -1) @ self.P
        if not self.free_duration:
            return inner
        return np.concatenate([inner, np.asarray(by_duration)[..., None] * T / LOG_DURATION], axis=-1)

    def cost(self, x: Array) -> tuple[float, Array]:
        """The integral relative to that at the start, and its gradient."""
        z, T = self.at(x)
        value, by_z, by_duration = self.problem.gradient(z, T)
        if not np.isfinite(value):
            return 1e30, np.zeros_like(x)  # the line search comes back
        return value / self.value, self.pulled(by_z, by_duration, T) / self.value


def descend(problem: EffortProblem, z: Array, T: float, durations: tuple[float, float], tell: Tell) -> tuple[Array, float]:
    """The motion of least cost near a given one, without limits."""
    minimize, size = optional("scipy.optimize").minimize, 0.0
    for _ in range(ROUNDS):
        x = Coordinates(problem, z, T, durations)
        options = {"maxiter": ITERATIONS, "maxcor": 30, "ftol": 1e-11, "gtol": 1e-7}
        found = minimize(x.cost, x.start, jac=True, method="L-BFGS-B", bounds=x.bounds, options=options, callback=lambda _: tell())
        z, T = x.at(found.x)
        size = size or x.value
        if not (least := found.fun * x.value) > -BOTTOMLESS * size:
            raise Error(f"least_effort: the cost has no least value: it has fallen to {least:.3g}, and would fall on")
    return z, T
