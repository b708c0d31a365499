"""Forward dynamics by conjugate gradients: Walker and Orin 1982, fourth method.

M qdd = tau - b without M: inverse dynamics at rest and without gravity is the product M p. In exact
arithmetic n steps solve the system. Rounding spoils it in two ways. The conjugacy of the directions p
is soon lost, so each is made conjugate to all before it, not only to the last, and a second round of
steps along the same directions takes what the first one left, computed anew. And where links of very
different size make M badly scaled, residuals of the small ones vanish beside those of the large; so
residuals are divided by the diagonal of M, the inertia of what each joint carries about its axis.

Where the residual has vanished, a step is zero instead of 0 / 0 (so a derivative of the program taken
there is zero too); where that of any joint has not after the last step, the result is NaN.

A singular M goes unnoticed where the forces happen to be in its range: `robot.forward_dynamics` checks the pivots as well,
a bare program or kernel of this method does not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.scalars import above
from dalembert.algebra.spatial import Array, dot, scaled, stack, zeros
from dalembert.formulations.composite_body import composite, times
from dalembert.formulations.shared.axes import axes
from dalembert.model.tree import Tree

LEAST_CURVATURE = 1e-280  # (N m)^2 per unit of inertia, or inertia: its reciprocal is still a number
REACHED = 1e-8  # of its acceleration: what the force that is left at a joint may change
ROUNDING = 1e-12  # of the terms of this force, beside which nothing less can be told


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
    """Joint accelerations qdd (..., n); NaN where what is left of the force at a joint is not small."""
    n = len(tree.parents)
    weightless = tree._replace(gravity=zeros(3))
    scale = 1 / carried_inertia(tree, q, pivots.armature)

    def product(p: Any) -> Array:
        forces = inverse_dynamics(weightless, q, zeros(n), p)
        return forces if pivots.armature is None else forces + pivots.armature * p

    x = 0 * tau
    b = r = tau - inverse_dynamics(tree, q, qd, 0 * qd, wrenches, base_twist, base_acceleration)
    squares = r * r  # of the terms that each force is the sum of
    before: list[tuple[Any, Any, Any]] = []  # p, M p and 1 / (p . M p) of the steps so far
    for _ in range(n):
        z = scale * r
        p = z
        for older, M_older, weight in before:
            p = p - scaled(dot(z, M_older) * weight, older)
        Mp = product(p)
        weight = 1 / above(dot(p, Mp), LEAST_CURVATURE, np.inf)
        step = dot(p, r) * weight
        part = scaled(step, Mp)
        x, r, squares = x + scaled(step, p), r - part, squares + part * part
        before.append((p, Mp, weight))
    r = b - product(x)
    for p, Mp, weight in before:  # again along the same directions
        step = dot(p, r) * weight
        x, r = x + scaled(step, p), r - scaled(step, Mp)

    forces = x / scale
    spare = REACHED**2 * (forces * forces) + ROUNDING**2 * squares - r * r
    reached = 0  # or NaN
    for i in range(n):
        own = spare[..., i][()]
        reached = reached + (above(own, -LEAST_CURVATURE, np.nan) - own)
    return x + scaled(reached, zeros(n) + 1)


def carried_inertia(tree: Tree, q: Any, armature: Any) -> Array:
    """The diagonal of M (..., n): all that a joint carries, about its axis, and its rotor; infinity where that is nothing."""
    bodies = composite(tree, axes(tree, q))
    diagonal: list[Any] = []
    for i, body in enumerate(bodies):
        axis = tree.axis(i)
        inertia = dot(axis, times(body, axis))
        if armature is not None:
            inertia = inertia + armature[..., i]
        diagonal.append(above(inertia, LEAST_CURVATURE, np.inf))
    return stack(diagonal)
