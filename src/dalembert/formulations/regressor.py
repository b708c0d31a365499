"""The dynamics as linear in the inertial parameters: tau = Y(q, qd, qdd) phi, after Atkeson, An and Hollerbach.

phi_i = (m, m c, I) of link i has its tensor about the link's origin. Newton's and Euler's equations about that point,

    moment = I wd + w x I w + m c x vd,    force = m vd + ([wd] + [w][w]) m c,

are a 6 x 10 matrix A_i times phi_i; w, wd and vd (of the origin, minus gravity) in the axes of link i. Joint j feels what link i
behind it needs through its own axis, as a twist S_ji of that link: block (j, i) of Y is S_ji^T A_i. Carrying the axes out to the
links is cheaper than carrying the ten columns of A_i in to the joints.
"""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import (
    Ad_inverse,
    Array,
    blocks,
    cross,
    join,
    rotate_back,
    skew,
    split,
    stack,
    swing,
    tumbling,
    zeros,
)
from dalembert.model.tree import Tree


def regressor(tree: Tree, q: Any, qd: Any, qdd: Any) -> Array:
    """Y (..., n, 10 n): the columns of a link are m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
    Y: dict[tuple[int, int], Any] = {}
    motions: list[tuple[Any, Any, Any]] = []
    twists: list[list[Any]] = []  # S_ji of the joints j on the path to link i
    for i, parent in enumerate(tree.parents):
        pose = tree.pose(i, q[..., i])
        own = Ad_inverse(tree.joint(i)[1], tree.axis(i))  # the joint as a twist of its link, in link axes
        motion, inner = (tree.base_motion(None, None), []) if parent < 0 else (motions[parent], twists[parent])
        motions.append(carried(pose, motion, own, qd[..., i, None], qdd[..., i, None]))
        twists.append([*(Ad_inverse(pose, S) for S in inner), own])
        A = wrench_matrix(*motions[i])
        Y |= {(j, i): rotate_back(A, S)[..., None, :] for j, S in zip(tree.path(i), twists[i], strict=True)}
    return blocks(Y, len(tree.parents), (1, 10))


def carried(pose: Any, motion: tuple[Any, Any, Any], axis: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any]:
    """(w, wd, vd) of a link in its own axes from those of its parent."""
    w, wd, vd = motion
    z, s = split(axis)
    vd = rotate_back(pose.rotation, vd + swing(w, wd, pose.translation))
    w, wd = rotate_back(pose.rotation, w), rotate_back(pose.rotation, wd)
    vd = vd + s * qdd + cross(2 * w + z * qd, s * qd)
    return w + z * qd, wd + z * qdd + cross(w, z * qd), vd


def wrench_matrix(w: Any, wd: Any, vd: Any) -> Array:
    """A (..., 6, 10) with (moment, force) = A (m, m c, I), about the origin."""
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    a, b, c = wd[..., 0], wd[..., 1], wd[..., 2]
    xy, xz, yz, xx, yy, zz = x * y, x * z, y * z, x * x, y * y, z * z
    spin = [  # I wd + w x I w, by Ixx, Ixy, Ixz, Iyy, Iyz, Izz
        stack([a, b - xz, c + xy, -yz, yy - zz, yz]),
        stack([xz, a + yz, zz - xx, b, c - xy, -xz]),
        stack([-xy, xx - yy, a - yz, xy, b + xz, c]),
    ]
    none, across, about = zeros(1), -skew(vd), tumbling(w, wd)
    moment = [join(none, across[..., k, :], spin[k]) for k in range(3)]
    force = [join(vd[..., k, None], about[..., k, :], zeros(6)) for k in range(3)]
    return np.stack(np.broadcast_arrays(*moment, *force), axis=-2)
