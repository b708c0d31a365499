"""Forward dynamics by inverse dynamics of ever shorter arms: Walker and Orin 1982, second method.

When joint j alone accelerates, all links before it are at rest. So column j of the mass matrix, from its diagonal on, is inverse
dynamics of the part of the robot behind joint j, mounted where joint j is; the rest follows from symmetry.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.linalg import PLAIN, Pivots, solve, udu
from dalembert.algebra.spatial import Array, Transform, matrix, zeros
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
    M: dict[tuple[int, int], Any] = {}
    for j in range(n):
        moving = [i for i in range(n) if j in tree.path(i)]
        forces = inverse_dynamics(part(tree, moving), q[..., moving], zeros(len(moving)), np.eye(len(moving), dtype=int)[0])
        for k, i in enumerate(moving):
            M[i, j] = M[j, i] = forces[..., k]
    full = matrix(M, n)
    return solve(udu(full, pivots), tau - b)


def part(tree: Tree, links: list[int]) -> Tree:
    """Some links as a robot of their own, without gravity; the first one stands on the base."""
    number = {link: k for k, link in enumerate(links)}

    def of(x: Any) -> Any:
        return [x[i] for i in links]

    return tree._replace(
        parents=tuple(number.get(tree.parents[i], -1) for i in links),
        before=Transform(of(tree.before.rotation), of(tree.before.translation)),
        after=Transform(of(tree.after.rotation), of(tree.after.translation)),
        screw=of(tree.screw),
        mass=of(tree.mass),
        com=of(tree.com),
        inertia=of(tree.inertia),
        gravity=zeros(3),
        offset=None if tree.offset is None else of(tree.offset),
    )
