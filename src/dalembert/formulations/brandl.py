"""Articulated bodies with each rotation split into two planar ones: Brandl, Johanni and Otter 1986.

In Denavit-Hartenberg frames the step between links is the joint's rotation about z and a fixed one about x. A planar rotation of a
tensor costs eight products instead of forty-five. The recursion is in `shared/articulated_body`. Where a fixed rotation is not
about x, as between the frames that a user may choose, it is applied as a whole.
"""

from typing import Any

from dalembert.algebra.linalg import PLAIN, Pivots
from dalembert.algebra.spatial import Array, congruent, turn_tensor
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
    return accelerations(tree, q, qd, tau, wrenches, base_twist, base_acceleration, pivots, fixed_turn)


def fixed_turn(R: Any, T: Any) -> Array:
    """R T R^T, by a planar rotation if R is one about x."""
    if [R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[2, 0]] == [1, 0, 0, 0, 0]:
        return turn_tensor(R[1, 1], R[2, 1], T, axis=0)
    return congruent(R, T)
