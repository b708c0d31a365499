"""The mass matrix by composite rigid bodies: Walker and Orin 1982, third method, in Featherstone's form.

When joint j alone accelerates, everything behind it moves as one rigid body, whose inertia (m, h = m c, I about the origin) is
gathered from the tips. The wrench F_j = Ic_j s_j that this takes is carried to the base, and M_ij = s_i . F_j on the way: products
grow with the square of the number of joints. The inverse comes from the factors M = U D U^T.

The Coriolis matrix of the Christoffel symbols comes from the same composite bodies, after Echeandia and Wensing 2021: a body of
momentum (n, f) moving with (w, v) has B = (V x I + I V x' - I V x) / 2, which works out to [[S - [n] / 2, 0], [-[f], 0]] with the
symmetric S = ([w] J - J [w] - [v][h] - [h][v]) / 2. With sdot_j = V_j x s_j, for i on the path to j,

C_ij = s_i . (Ic_j sdot_j + B_j s_j), C_ji = sdot_i . (Ic_j s_j) + s_i . (B_j^T s_j)
"""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots, inverse, udu
from dalembert.algebra.spatial import (
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    along_z,
    congruent,
    cross,
    dot,
    join,
    matrix,
    rotate,
    skew,
    split,
    symmetric,
    tensor_of,
    turn_tensor,
    turn_z,
    zeros,
)
from dalembert.formulations.shared.axes import Axis, axes
from dalembert.model.tree import Body, Tree


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n), rotors left out."""
    n = len(tree.parents)
    joints = axes(tree, q)
    inertia = composite(tree, joints)
    M: dict[tuple[int, int], Any] = {}
    for j in range(n):
        F = times(inertia[j], tree.axis(j))
        i = j
        while True:
            M[i, j] = M[j, i] = dot(tree.axis(i), F)
            if tree.parents[i] < 0:
                break
            F = joints[i].wrench(F)
            i = tree.parents[i]
    return matrix(M, n)


def inverse_mass_matrix(tree: Tree, q: Any, pivots: Pivots = PLAIN) -> Array:
    """M^-1 (..., n, n)."""
    return inverse(udu(mass_matrix(tree, q), pivots))


def coriolis_matrix(tree: Tree, q: Any, qd: Any) -> Array:
    """C (..., n, n) with Mdot - 2 C skew."""
    n = len(tree.parents)
    joints = axes(tree, q)
    s = [tree.axis(i) for i in range(n)]
    V: list[Any] = []
    for i, parent in enumerate(tree.parents):
        rate = s[i] * qd[..., i, None]
        V.append(rate if parent < 0 else joints[i].twist(V[parent]) + rate)
    inertia, moving = composite(tree, joints), moving_bodies(tree, joints, V)
    sdot = [ad(V[i], s[i]) for i in range(n)]
    C: dict[tuple[int, int], Any] = {}
    for j in range(n):
        S, momentum = moving[j]
        moment, force = split(momentum)
        turn, slide = split(s[j])
        half = cross(moment, turn) / 2
        F = [
            times(inertia[j], sdot[j]) + join(rotate(S, turn) - half, -cross(force, turn)),  # Ic sdot + B s
            times(inertia[j], s[j]),
            join(rotate(S, turn) + half + cross(force, slide), zeros(3)),  # B^T s
        ]
        C[j, j] = dot(s[j], F[0])
        i = j
        while tree.parents[i] >= 0:
            F, i = [joints[i].wrench(f) for f in F], tree.parents[i]
            C[i, j] = dot(s[i], F[0])
            C[j, i] = dot(sdot[i], F[1]) + dot(s[i], F[2])
    return matrix(C, n)


def moving_bodies(tree: Tree, joints: list[Axis], V: list[Any]) -> list[tuple[Any, Any]]:
    """S and the momentum (n, f) of all that each joint carries, in its frame about its origin."""
    motions = [moving_body(about_origin(*tree.body(i)), V[i]) for i in range(len(V))]
    for i in reversed(range(len(motions))):
        if (parent := tree.parents[i]) >= 0:
            S, momentum = motions[i]
            j = joints[i]
            S = _shifted(S, momentum, along_z(j.slide))
            momentum = Ad_inverse_dual(Transform(np.eye(3, dtype=int), along_z(j.slide)), momentum)
            S = symmetric(congruent(j.fixed.rotation, turn_tensor(j.c, j.s, S)))
            momentum = join(j.out(split(momentum)[0]), j.out(split(momentum)[1]))
            S = _shifted(S, momentum, j.fixed.translation)
            momentum = Ad_inverse_dual(Transform(np.eye(3, dtype=int), j.fixed.translation), momentum)
            motions[parent] = motions[parent][0] + S, motions[parent][1] + momentum
    return motions


def moving_body(b: Body, V: Any) -> tuple[Any, Any]:
    """S and the momentum of a body that moves with V."""
    w, v = split(V)
    turning, sliding = skew(w) @ b.inertia, skew(v) @ skew(b.com)
    S = turning + np.swapaxes(turning, -1, -2) - (sliding + np.swapaxes(sliding, -1, -2))
    return symmetric(S / 2), times(b, V)


def _shifted(S: Any, momentum: Any, p: Any) -> Array:
    """S about a point from which the present origin lies at p: the symmetric part of -[p][f] joins it."""
    moved = skew(p) @ skew(split(momentum)[1])
    return symmetric(S - (moved + np.swapaxes(moved, -1, -2)) / 2)


def times(b: Body, V: Any) -> Array:
    """The momentum of a body (mass, first moment, inertia about the origin) that moves with V."""
    m, h, I = b
    w, v = split(V)
    return join(rotate(I, w) + cross(h, v), m * v - cross(h, w))


def composite(tree: Tree, joints: list[Axis]) -> list[Body]:
    """Mass, first moment and inertia about the origin of all that each joint carries, in its frame."""
    bodies = [about_origin(*tree.body(i)) for i in range(len(tree.parents))]
    for i in reversed(range(len(bodies))):
        if (parent := tree.parents[i]) >= 0:
            bodies[parent] = Body(*(a + b for a, b in zip(bodies[parent], to_parent(bodies[i], joints[i]), strict=True)))
    return bodies


def about_origin(m: Any, c: Any, I: Any) -> Body:
    """Mass, first moment, and inertia about the origin instead of the centre of mass."""
    return moved(Body(m, 0 * c, I), c)


def moved(b: Body, p: Any) -> Body:
    """The same body about a point from which the present origin lies at p.

    Each moment of inertia is summed from the two second moments that it consists of: a long p along z, as frames that slide along
    their axes have, then costs the moment about z no digits.
    """
    m, h, I = b
    after = h + m * p
    second = {(i, j): p[..., i] * after[..., j] + h[..., i] * p[..., j] for i in range(3) for j in range(i + 1, 3)}
    second |= {(i, i): p[..., i] * (h[..., i] + after[..., i]) for i in range(3)}
    return Body(m, after, symmetric(I + tensor_of(symmetric(matrix(second, 3)))))


def to_parent(b: Body, joint: Axis) -> Body:
    """A body's inertia in the parent's frame."""
    m, h, I = moved(b, along_z(joint.slide))
    h, I = turn_z(joint.c, joint.s, h), turn_tensor(joint.c, joint.s, I)
    R, p = joint.fixed
    return moved(Body(m, rotate(R, h), symmetric(congruent(R, I))), p)
