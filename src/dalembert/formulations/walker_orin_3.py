"""Forward dynamics with the mass matrix from composite rigid bodies: Walker and Orin 1982, third method.

What is behind joint j moves as one rigid body when joint j alone accelerates; the mass matrix comes from the inertias of these
bodies, the bias from one call of inverse dynamics; then M qdd = tau - b is solved.
"""

from collections.abc import Callable
from typing import Any

from dalembert.algebra.linalg import PLAIN, Pivots, solve, udu
from dalembert.algebra.spatial import Array
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
    mass_matrix: Callable[..., Array],
) -> Array:
    """Joint accelerations qdd (..., n)."""
    b = inverse_dynamics(tree, q, qd, 0 * qd, wrenches, base_twist, base_acceleration)
    return solve(udu(mass_matrix(tree, q), pivots), tau - b)
