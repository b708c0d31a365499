"""Forward dynamics by solving M qdd = tau - b: Park and Lynch, section 9.5, GetJointAccel.

The bias b = c + g is inverse dynamics without joint accelerations, wrenches and base motion included, so that they count once
(E-P7); then one linear solve, no inverse.
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
    return solve(udu(mass_matrix(tree, q), pivots), tau - b)  # (9.2), (9.89)
