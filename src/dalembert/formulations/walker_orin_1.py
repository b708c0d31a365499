"""Forward dynamics by n + 1 calls of inverse dynamics: Walker and Orin 1982, first method.

One call without joint accelerations gives the bias, one with joint j alone accelerating (no gravity, no velocity) column j of the
mass matrix; then M qdd = tau - b is solved.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots, solve, udu
from dalembert.algebra.spatial import Array, zeros
from dalembert.model.tree import Tree


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
    b = inverse_dynamics(tree, q, qd, 0 * qd, wrenches, base_twist, base_acceleration)
    weightless = tree._replace(gravity=zeros(3))
    M = np.stack([inverse_dynamics(weightless, q, zeros(n), unit) for unit in np.eye(n, dtype=int)], axis=-1)
    return solve(udu(M, pivots), tau - b)
