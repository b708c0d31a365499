"""What the formulations with 4x4 matrices share: A_i, Q_i, U_ij, U_ijk, J_i, and forces as 4x4 matrices. FGL 3.2.

Link i stands in its parent at A_i = before . motion . after, and dA_i/dq_i = Q_i A_i with a constant Q_i, the 4x4 matrix of the
joint's screw in the parent's frame; in the books' own frames before = 1 and Q_i is (3.2-8). Helical joints come for free.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Ad, Array, hat, homogeneous, join, pseudo_inertia, skew, split, zeros
from dalembert.model.tree import Tree


class Kinematics(NamedTuple):
    """A_i relative and W_i absolute poses, Q_i, and the matrices of the links."""

    A: list[Array]
    W: list[Array]
    Q: list[Array]
    J: list[Array]


def kinematics(tree: Tree, q: Any) -> Kinematics:
    """All 4x4 matrices of the robot at q."""
    links = range(len(tree.parents))
    A = [homogeneous(tree.pose(i, q[..., i])) for i in links]
    W: list[Array] = []
    for i, parent in enumerate(tree.parents):
        W.append(A[i] if parent < 0 else W[parent] @ A[i])  # (3.2-4)
    Q: list[Array] = []
    for i in links:
        before = tree.joint(i)[0]
        Q.append(hat(Ad(before, tree.axis(i))))  # (3.2-8), (3.2-9)
    return Kinematics(A, W, Q, [pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i]) for i in links])


def relative(tree: Tree, A: list[Array], j: int, i: int) -> Any:
    """The product A_j ... A_i: link i in the parent of link j, which is on the path to i."""
    path = tree.path(i)
    product = A[j]
    for k in path[path.index(j) + 1 :]:
        product = product @ A[k]
    return product


def first_partials(tree: Tree, k: Kinematics) -> dict[tuple[int, int], Array]:
    """U_ij = dW_i/dq_j for j on the path to i (3.2-11)."""
    partials: dict[tuple[int, int], Array] = {}
    for i in range(len(tree.parents)):
        for j in tree.path(i):
            inner = k.Q[j] @ relative(tree, k.A, j, i)
            parent = tree.parents[j]
            partials[i, j] = inner if parent < 0 else k.W[parent] @ inner  # (3.2-11)
    return partials


def second_partials(tree: Tree, k: Kinematics) -> dict[tuple[int, int, int], Array]:
    """U_ijl = dU_ij/dq_l for j, l on the path to i (3.2-13), symmetric in j and l."""
    partials: dict[tuple[int, int, int], Array] = {}
    for i in range(len(tree.parents)):
        path = tree.path(i)
        for b, l in enumerate(path):
            inner = k.Q[l] @ relative(tree, k.A, l, i)
            for j in path[: b + 1]:
                between = inner if j == l else relative(tree, k.A, j, tree.parents[l]) @ inner
                parent = tree.parents[j]
                outer = k.Q[j] @ between
                partials[i, j, l] = partials[i, l, j] = outer if parent < 0 else k.W[parent] @ outer  # (3.2-13)
    return partials


def force_matrix(wrench: Any) -> Array:
    """The 4x4 matrix F of a wrench in link axes: Tr(U_ij (W_i F)^T) is the force it exerts on joint j."""
    moment, force = split(wrench)
    top = np.concatenate([skew(moment) / 2, force[..., None]], axis=-1)
    return np.concatenate([top, zeros((*top.shape[:-2], 1, 4))], axis=-2)


def point(v: Any) -> Array:
    """(x, y, z, 1)."""
    return join(v, np.ones(1, dtype=int))


def direction(v: Any) -> Array:
    """(x, y, z, 0)."""
    return join(v, zeros(1))
