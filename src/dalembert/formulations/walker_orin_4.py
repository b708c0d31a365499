"""Forward dynamics by conjugate gradients: Walker and Orin 1982, fourth method.

M qdd = tau - b without M: inverse dynamics at rest and without gravity is the product M p. In exact arithmetic n steps solve the
system. Rounding would soon spoil the conjugacy of the directions p, so each is made conjugate to all before it, not only to the
last; where the residual has vanished, a step is zero instead of 0 / 0 (so a derivative of the program taken there is zero too).

A singular M goes unnoticed where the forces happen to be in its range: `robot.forward_dynamics` checks the pivots as well,
a bare program or kernel of this method does not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.scalars import above
from dalembert.algebra.spatial import Array, dot, scaled, zeros
from dalembert.model.tree import Tree

LEAST_CURVATURE = 1e-280  # (N m)^2 per unit of inertia: its reciprocal is still a number


def forward_dynamics(
    tree: Tree,
    q: Any,
    qd: Any,
    tau: Any,
    wrenches: Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    pivots: Pivots = PLAIN,
    *,
    inverse_dynamics: Callable[..., Array],
) -> Array:
    """Joint accelerations qdd (..., n)."""
    n = len(tree.parents)
    weightless = tree._replace(gravity=zeros(3))

    def product(p: Any) -> Array:
        forces = inverse_dynamics(weightless, q, zeros(n), p)
        return forces if pivots.armature is None else forces + pivots.armature * p

    x = 0 * tau
    r = tau - inverse_dynamics(tree, q, qd, 0 * qd, wrenches, base_twist, base_acceleration)
    before: list[tuple[Any, Any, Any]] = []  # p, M p and 1 / (p . M p) of the steps so far
    for _ in range(n):
        p = r
        for older, M_older, weight in before:
            p = p - scaled(dot(r, M_older) * weight, older)
        Mp = product(p)
        weight = 1 / above(dot(p, Mp), LEAST_CURVATURE, np.inf)
        step = dot(p, r) * weight
        x, r = x + scaled(step, p), r - scaled(step, Mp)
        before.append((p, Mp, weight))
    return x
