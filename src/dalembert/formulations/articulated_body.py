"""Featherstone's articulated bodies: forward dynamics in a number of steps that grows with n.

The recursion is in `_articulated_body`; here an articulated inertia passes into the parent's frame by the turn of its joint about
z and a fixed rotation of any kind. Trees; turning, sliding and helical joints; a moving base; wrenches on every link.
"""

from typing import Any

from dalembert.formulations._articulated_body import Articulated, accelerations
from dalembert.formulations._axes import Axis
from dalembert.linalg import PLAIN, Pivots
from dalembert.model.tree import Tree
from dalembert.spatial import Array, along_z, congruent, turn_tensor


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
    return accelerations(tree, q, qd, tau, wrenches, base_twist, base_acceleration, pivots, to_parent)


def to_parent(P: Articulated, joint: Axis) -> Articulated:
    """An articulated inertia in the parent's frame."""
    P = P.seen_from(along_z(joint.slide)).turned(lambda T: turn_tensor(joint.c, joint.s, T))
    return P.turned(lambda T: congruent(joint.fixed.rotation, T)).seen_from(joint.fixed.translation)
