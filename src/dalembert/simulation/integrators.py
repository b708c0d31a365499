"""Integrators of fixed step, as tables.

All of them are made of stages of one kind: the derivative k is taken at one point, and from it follow a running sum s, the state y
and the next point y*, by four factors and the step h:

    s <- alpha s + beta h k,    y <- y + delta s,    y* <- y + gamma h k.

A step is a row of such stages; native code executes the table, and the controllers' memories follow the same rows.
For positions the derivative is the velocity, with `sigma` at its end: k_q = v + sigma h k_v.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array

ITERATIONS = (6, 12, 24, 48)  # of an implicit step: more of them where these do not converge
FACTORS = 7  # alpha, beta, gamma, delta, sigma, whether the gap of an implicit step is taken, and whether a step begins


class Stage(NamedTuple):
    """One evaluation of the derivative, at time t + at h."""

    at: float
    alpha: float
    beta: float
    gamma: float
    delta: float
    sigma: float = 0.0
    gap: float = 0.0

    def factors(self, h: float) -> tuple[float, ...]:
        """alpha, beta h, gamma h, delta, sigma h, gap."""
        return self.alpha, self.beta * h, self.gamma * h, self.delta, self.sigma * h, self.gap


class Integrator(NamedTuple):
    """A step as stages; an implicit one as that many passes of a fixed-point iteration."""

    order: int
    stages: tuple[Stage, ...]
    implicit: bool = False

    def steps(self, iterations: int = 0) -> tuple[Stage, ...]:
        """All stages of a step: the first one of an implicit integrator is repeated."""
        first, *last = self.stages
        return (first,) * iterations + tuple(last) if self.implicit else self.stages


INTEGRATORS = {
    # y + h f(y), as in Park and Lynch 9.5
    "euler": Integrator(1, (Stage(0, 0, 1, 0, 1),)),
    # v + h a, then q + h times the new v: symplectic where M is constant
    "semi_implicit_euler": Integrator(1, (Stage(0, 0, 1, 0, 1, sigma=1),)),
    # Kutta's: k1 at the start, k2 and k3 in the middle, k4 at the end; y + h (k1 + 2 k2 + 2 k3 + k4) / 6
    "rk4": Integrator(
        4,
        (
            Stage(0, 0, 1 / 6, 1 / 2, 0),
            Stage(1 / 2, 1, 1 / 3, 1 / 2, 0),
            Stage(1 / 2, 1, 1 / 3, 1, 0),
            Stage(1, 1, 1 / 6, 0, 1),
        ),
    ),
    # y + h f((y + y') / 2): the middle is found by iteration; symmetric in time, symplectic with momenta
    "implicit_midpoint": Integrator(2, (Stage(1 / 2, 0, 0, 1 / 2, 0), Stage(1 / 2, 0, 1, 0, 1, gap=1)), implicit=True),
}


def table(stages: tuple[Stage, ...], h: float) -> Array:
    """The factors of all stages, (stages, FACTORS)."""
    return np.array([(*stage.factors(h), float(k == 0)) for k, stage in enumerate(stages)], dtype=float)


def advance(factors: Any, y: Any, s: Any, k: Any) -> tuple[Any, Any, Any]:
    """One stage: the state, the next point and the sum, for any scalar."""
    alpha, beta, gamma, delta = (factors[i] for i in range(4))
    s = alpha * s + beta * k
    y = y + delta * s
    return y, y + gamma * k, s
