"""Featherstone's articulated bodies: forward dynamics in a number of steps that grows with n.

The recursion is in `shared/articulated_body`; the fixed rotation between two joints rotates an articulated inertia as a whole.
Trees; revolute, prismatic and helical joints; a moving base; wrenches on every link.
"""

from typing import Any

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.spatial import Array, congruent
from dalembert.formulations.shared.articulated_body import accelerations
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
) -> Array:
    """Joint accelerations qdd (..., n)."""
    return accelerations(tree, q, qd, tau, wrenches, base_twist, base_acceleration, pivots, congruent)
