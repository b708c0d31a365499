"""The recursion on the Lie group SE(3): Park, Bobrow and Ploen 1995, equations (21)-(27).

V, Vd are body twists of the link frames and their component rates; J the 6x6 inertia about the link's origin (21); S the joint
screw in the link's own frame; f the pose of link i in its parent (23). Frames may stand anywhere on the link.

Corrected: E-B1 (inverses in (24)-(26)), E-B10 (gravity enters as the base acceleration (0, -g)).
"""

from typing import Any, NamedTuple

from dalembert.algebra.spatial import (
    Ad_inverse,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    ad_dual,
    join,
    rotate,
    spatial_inertia,
    stack,
    zeros,
)
from dalembert.model.tree import Tree


class Recursion(NamedTuple):
    """What the recursion finds for every link: pose f, screw S, inertia J, twist V, its rate Vd and wrench F."""

    f: list[Transform]
    S: list[Any]
    J: list[Any]
    V: list[Any]
    Vd: list[Any]
    F: list[Any]


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n)."""
    r = recursion(tree, q, qd, qdd, wrenches, base_twist, base_acceleration)
    return stack([(S * F).sum(axis=-1) for S, F in zip(r.S, r.F, strict=True)])  # (27)


def recursion(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Recursion:
    """Twists from the base to the tips, wrenches back."""
    n = len(tree.parents)
    V0 = zeros(6) if base_twist is None else base_twist  # (22)
    Vd0 = join(zeros(3), -tree.gravity) + (zeros(6) if base_acceleration is None else base_acceleration)
    f, S, V, Vd = [], [], [], []
    for i, parent in enumerate(tree.parents):
        after = tree.joint(i)[1]
        f.append(tree.pose(i, q[..., i]))  # (23)
        S.append(Ad_inverse(after, tree.axis(i)))
        above, above_rate = (V0, Vd0) if parent < 0 else (V[parent], Vd[parent])
        carried = Ad_inverse(f[i], above)
        Sqd = S[i] * qd[..., i, None]
        V.append(carried + Sqd)  # (24), (70)
        Vd.append(S[i] * qdd[..., i, None] + Ad_inverse(f[i], above_rate) + ad(carried, Sqd))  # (25), (73)
    J: list[Any] = [None] * n
    F: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):
        J[i] = spatial_inertia(tree.mass[i], tree.com[i], tree.inertia[i])  # (21)
        F[i] = rotate(J[i], Vd[i]) - ad_dual(V[i], rotate(J[i], V[i]))
        F[i] = sum((Ad_inverse_dual(f[k], F[k]) for k in children[i]), F[i])  # (26)
        if wrenches is not None:
            F[i] = F[i] - wrenches[..., i, :]
    return Recursion(f, S, J, V, Vd, F)
