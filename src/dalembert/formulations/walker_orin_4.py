"""Forward dynamics by conjugate gradients: Walker and Orin 1982, fourth method.

M qdd = tau - b without M: inverse dynamics at rest and without gravity is the product M p. In exact arithmetic n steps solve the
system; in floats the error grows with the condition of M. A residual that has vanished stays zero: its quotients do not become
0 / 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.linalg import PLAIN, Pivots
from dalembert.model.tree import Tree
from dalembert.spatial import Array, above, dot, zeros


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
        found = inverse_dynamics(weightless, q, zeros(n), p)
        return found if pivots.armature is None else found + pivots.armature * p

    x = 0 * tau
    r = tau - inverse_dynamics(tree, q, qd, 0 * qd, wrenches, base_twist, base_acceleration)
    p, size = r, dot(r, r)
    for _ in range(n):
        Mp = product(p)
        step = size / above(dot(p, Mp), 0.0, np.inf)
        x, r = x + scaled(step, p), r - scaled(step, Mp)
        size, before = dot(r, r), size
        p = r + scaled(size / above(before, 0.0, np.inf), p)
    return x


def scaled(x: Any, v: Any) -> Array:
    """A vector times a scalar, for batches of both."""
    return np.asarray(x)[..., None] * v
