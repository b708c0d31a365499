"""The iterations of differential dynamic programming, for any number of problems at once.

An iteration takes the derivatives at all steps in one batch, the recursion back in time with the problems in lanes, and a rollout
for each of eight step lengths, in lanes too; the longest step of lowest cost is kept. What fails is tried again with the forces
held nearer to where they were (Levenberg and Marquardt). Second derivatives of the motion, with which the cost may have no minimum,
enter once whole steps succeed and the cost falls little. Arrays are (steps, problems, ...).
"""

from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend
from dalembert.model.model import Model
from dalembert.native.ordered import ordered
from dalembert.planning.riccati import COSTATE, RECURSION, ROLLOUT, packed
from dalembert.planning.slopes import ACCELERATION_SLOPES, CURVATURE
from dalembert.progress import Progress

LENGTHS = 0.5 ** np.arange(8.0)  # of steps along the search direction, all of them tried at once
FIRST, MOST = 1.0, 1e12  # of the regularization, relative to the weights of the forces
NEAR = 0.1  # the decrease of the cost, relative to it, below which second derivatives are worth their while


class ControlProblem(NamedTuple):
    """B problems: start and goal (B, 2n), forces that cost nothing (B, n).

    Weights of the states on the way and at the end (2n,), of forces (n,), and limits of forces (n,).
    """

    robot: Model
    h: float
    start: Array
    goal: Array
    rest: Array
    running: Array
    ending: Array
    effort: Array
    limits: tuple[Array, Array] | None  # the lower and the upper
    second_order: bool
    backend: Backend
    slip_speed: float = 0.0  # of smooth friction


class Optimum(NamedTuple):
    """States (N + 1, B, 2n), forces (N, B, n), gains (N, B, n, 2n); costs, iterations and whether it converged, (B,)."""

    x: Array
    u: Array
    gain: Array
    cost: Array
    iterations: Array
    converged: Array


class Search:
    """The arrays of the iterations, and the native loops over them."""

    def __init__(self, problem: ControlProblem, u: Array) -> None:
        self.problem = problem
        steps, count, n = u.shape
        z = np.zeros
        self.u, self.x = u.copy(), z((steps + 1, count, 2 * n))
        self.k, self.K, self.change = z((steps, count, n)), z((steps, count, n, 2 * n)), z((steps, count))
        self.slopes = z((steps, count, n, n)), z((steps, count, n, n)), z((steps, count, n, n))
        self.lx, self.lu, self.mu = z((steps, count, 2 * n)), z((steps, count, n)), z(count)
        self.trust = z(count)  # in second derivatives: 0 or 1
        self.xs, self.us = z((steps + 1, count, len(LENGTHS), 2 * n)), z((steps, count, len(LENGTHS), n))
        self.room = (z((steps, count, n)), z((steps, count, n))) if problem.limits else ()
        self.curved = (z((steps, count, n * (2 * n + 1))), z((steps, count, n, 2 * n))) if problem.second_order else ()
        self.derivatives = compile(problem.robot, ACCELERATION_SLOPES, backend=problem.backend, slip_speed=problem.slip_speed)
        self._prepare_recursion(steps, count, n)
        self._prepare_rollouts(steps, count, n)
        if problem.second_order:
            self._prepare_curvature(steps, count, n)

    def _prepare_recursion(self, steps: int, count: int, n: int) -> None:
        p = self.problem
        optional = (("least", "most") if self.room else ()) + (("cxx", "cux") if self.curved else ())
        kernel = compile(p.robot, RECURSION, optional=optional, backend=p.backend)
        self.Vx, self.V = np.zeros((1, 1, 1, count, 2 * n)), np.zeros((1, 1, 1, count, n * (2 * n + 1)))
        along = [_back(x) for x in (*self.slopes, self.lx, self.lu)]
        inputs = [self.Vx, self.V, *along, *map(_always, (p.running, p.effort, np.array(p.h))), self.mu[None, None, None]]
        inputs += [_back(x) for x in (*self.room, *self.curved)]
        outputs = [self.Vx, self.V, _back(self.k), _back(self.K), _back(self.change)]
        self.run_recursion = ordered(kernel, inputs, outputs, (steps, 1, 1))

    def _prepare_rollouts(self, steps: int, count: int, n: int) -> None:
        p = self.problem
        limited = ("lower", "upper") if self.room else ()
        kernel = compile(p.robot, ROLLOUT, optional=limited, backend=p.backend, slip_speed=p.slip_speed)
        self.at, self.total = np.zeros((1, count, 1, len(LENGTHS), 2 * n)), np.zeros((1, count, 1, len(LENGTHS)))
        along = [x[:, :, None, None] for x in (self.x[:-1], self.u, self.k, self.K)]
        limits = [_always(x) for x in p.limits or ()]
        weights = [_always(x) for x in (p.running, p.effort, np.array(p.h))]
        inputs = [
            self.at,
            self.total,
            *along,
            LENGTHS[None, None, None],
            p.goal[None, :, None, None],
            p.rest[None, :, None, None],
            *weights,
            *limits,
        ]
        outputs = [self.at, self.total, self.xs[1:, :, None], self.us[:, :, None]]
        self.run_rollouts = ordered(kernel, inputs, outputs, (steps, count, 1))

    def _prepare_curvature(self, steps: int, count: int, n: int) -> None:
        p = self.problem
        self.second = compile(p.robot, CURVATURE, backend=p.backend, slip_speed=p.slip_speed)
        kernel = compile(p.robot, COSTATE, backend=p.backend)
        self.p, self.weights = np.zeros((1, 1, 1, count, 2 * n)), np.zeros((steps, count, n))
        aq, av, _ = self.slopes
        inputs = [self.p, _back(aq), _back(av), _back(self.lx), _always(np.array(p.h))]
        self.run_costate = ordered(kernel, inputs, [self.p, _back(self.weights)], (steps, 1, 1))

    # --- the parts of an iteration ----------------------------------------------------------------------------------------

    def roll(self) -> Array:
        """The costs (B, lengths) of steps of all lengths."""
        p = self.problem
        self.xs[0] = self.at[0, :, 0] = p.start[:, None]
        self.total[...] = 0
        self.run_rollouts()
        off = self.xs[-1] - p.goal[:, None]
        costs = self.total[0, :, 0] + (p.ending * off * off).sum(axis=-1) / 2
        return np.where(np.isfinite(costs), costs, np.inf)

    def expand(self) -> None:
        """Derivatives of motion and cost along the present one."""
        p, n = self.problem, self.u.shape[-1]
        self.derivatives(self.x[:-1, :, :n], self.x[:-1, :, n:], self.u, out=self.slopes)
        np.multiply(self.x[:-1] - p.goal, p.running, out=self.lx)
        np.multiply(self.u - p.rest, p.effort, out=self.lu)
        for limit, left in zip(p.limits or (), self.room, strict=True):
            np.subtract(limit, self.u, out=left)
        if self.curved:
            self.p[...] = p.ending * (self.x[-1] - p.goal)
            self.run_costate()
            self.second(self.x[:-1, :, :n], self.x[:-1, :, n:], self.u, self.weights * self.trust[:, None], out=self.curved)

    def recur(self) -> None:
        """The best change of forces, and the gains, from the end to the start."""
        p = self.problem
        self.Vx[...] = p.ending * (self.x[-1] - p.goal)
        self.V[...] = packed(np.diag(p.ending))
        self.run_recursion()

    def take(self, which: Array, lengths: Array) -> None:
        """Go on from these rollouts of some problems."""
        if len(self.mu) == 1:
            if which[0]:
                self.x[:, 0], self.u[:, 0] = self.xs[:, 0, lengths[0]], self.us[:, 0, lengths[0]]
            return
        some = np.flatnonzero(which)
        self.x[:, some], self.u[:, some] = self.xs[:, some, lengths[some]], self.us[:, some, lengths[some]]

    def _adapt(self, better: Array, near: Array) -> None:
        """What succeeded is done more boldly next time; what failed, first without second derivatives, then in smaller steps."""
        longer, shorter = np.where(self.mu > FIRST / 10, self.mu / 10, 0.0), np.maximum(self.mu * 100, FIRST)
        self.mu[...] = np.where(better, longer, np.where(self.trust > 0, self.mu, shorter))
        self.trust[...] = better & near if self.curved else 0.0

    def run(self, most: int, tolerance: float, told: Progress) -> Optimum:
        """Iterate until the cost of each problem falls by less than this share of it."""
        count = len(self.mu)
        cost = self.roll()[:, 0]
        self.take(np.ones(count, bool), np.zeros(count, int))
        active, iterations = np.isfinite(cost), np.zeros(count, int)
        converged = np.zeros(count, bool)
        for done in range(most):
            self.expand()
            self.recur()
            costs = self.roll()
            lengths = costs.argmin(axis=1)
            lowest = costs[np.arange(count), lengths]
            better = active & (lowest < cost)
            self.take(better, lengths)
            expected = np.abs(self.change.sum(axis=0))
            small = np.where(better, cost - lowest < tolerance * cost, expected < tolerance * cost)
            near = (lengths == 0) & (cost - lowest < NEAR * cost)
            cost = np.where(better, lowest, cost)
            iterations += active
            self._adapt(better, near)
            converged |= active & small
            active &= ~small & (self.mu < MOST)
            told(done + 1, most)
            if not active.any():
                told(most, most)
                break
        self.mu[...], self.trust[...] = 0, 0
        self.expand()
        self.recur()
        return Optimum(self.x, self.u, self.K, cost, iterations, converged)


def _back(x: Array) -> Array:
    """An array (steps, problems, ...) for loops that run from its end, with the problems in lanes."""
    return x[::-1, None, None]


def _always(x: Array) -> Array:
    """The same for all steps and problems."""
    return np.array(x, dtype=float)[None, None, None, None]
