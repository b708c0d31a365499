"""The mass matrix by composite rigid bodies: Walker and Orin 1982, third method, in Featherstone's form.

When joint j alone accelerates, everything behind it moves as one rigid body, whose inertia (m, h = m c, I about the origin) is
gathered from the tips. The wrench F_j = Ic_j s_j that this takes is carried to the base, and M_ij = s_i . F_j on the way: products
grow with the square of the number of joints. The inverse and the determinant come from the factors M = U D U^T.
"""

from typing import Any

import numpy as np

from dalembert.formulations._axes import Axis, Body, axes, body, screw
from dalembert.linalg import PLAIN, Pivots, inverse, udu
from dalembert.model.tree import Tree
from dalembert.spatial import Array, along_z, congruent, cross, dot, join, matrix, outer, rotate, symmetric, turn_tensor, turn_z


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n), rotors left out."""
    n = len(tree.parents)
    joints = axes(tree, q)
    inertia = composite(tree, joints)
    M: dict[tuple[int, int], Any] = {}
    for j in range(n):
        F = wrench(inertia[j], joints[j])
        i = j
        while True:
            M[i, j] = M[j, i] = dot(screw(tree, i), F)
            if tree.parents[i] < 0:
                break
            F = joints[i].wrench(F)
            i = tree.parents[i]
    return matrix(M, n)


def inverse_mass_matrix(tree: Tree, q: Any, pivots: Pivots = PLAIN) -> Array:
    """M^-1 (..., n, n)."""
    return inverse(udu(mass_matrix(tree, q), pivots))


def composite(tree: Tree, joints: list[Axis]) -> list[Body]:
    """Mass, first moment and inertia about the origin of all that each joint carries, in its frame."""
    found = [about_origin(*body(tree, i)) for i in range(len(tree.parents))]
    for i in reversed(range(len(found))):
        if (parent := tree.parents[i]) >= 0:
            found[parent] = Body(*(a + b for a, b in zip(found[parent], to_parent(found[i], joints[i]), strict=True)))
    return found


def about_origin(m: Any, c: Any, I: Any) -> Body:
    """Mass, first moment, and inertia about the origin instead of the centre of mass."""
    return moved(Body(m, 0 * c, I), c)


def moved(b: Body, p: Any) -> Body:
    """The same body about a point from which the present origin lies at p."""
    m, h, I = b
    half = h + m * p / 2
    cross_terms = outer(p, half) + outer(half, p)
    return Body(m, h + m * p, symmetric(I + 2 * np.asarray(dot(p, half))[..., None, None] * np.eye(3, dtype=int) - cross_terms))


def to_parent(b: Body, joint: Axis) -> Body:
    """A body's inertia in the parent's frame."""
    m, h, I = moved(b, along_z(joint.slide))
    h, I = turn_z(joint.c, joint.s, h), turn_tensor(joint.c, joint.s, I)
    R, p = joint.fixed
    return moved(Body(m, rotate(R, h), symmetric(congruent(R, I))), p)


def wrench(b: Body, joint: Axis) -> Array:
    """The wrench that accelerates a body about or along a joint's axis by one."""
    m, h, I = b
    turn, slide = along_z(joint.rho), along_z(joint.sigma)
    return join(rotate(I, turn) + cross(h, slide), m * slide - cross(h, turn))
