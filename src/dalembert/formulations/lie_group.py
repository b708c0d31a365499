"""The recursion on the Lie group SE(3): Park, Bobrow and Ploen 1995, equations (21)-(27).

V, Vd are body twists of the link frames and their component rates; J the 6x6 inertia about the link's origin (21); S the joint
screw in the link's own frame; f the pose of link i in its parent (23). Frames may stand anywhere on the link.

Corrected: E-B1 (inverses in (24)-(26)), E-B10 (gravity enters as the base acceleration (0, -g)).
"""

from typing import Any

from dalembert.model.tree import Tree
from dalembert.spatial import (
    Ad_inverse,
    Ad_inverse_dual,
    Array,
    ad,
    ad_dual,
    along_z,
    join,
    rotate,
    spatial_inertia,
    stack,
    zeros,
)


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    V0 = zeros(6) if base_twist is None else base_twist
    Vd0 = join(zeros(3), -tree.gravity) + (zeros(6) if base_acceleration is None else base_acceleration)
    f, S, V, Vd = [], [], [], []
    for i, parent in enumerate(tree.parents):
        _, after, rho, sigma = tree.joint(i)
        f.append(tree.pose(i, q[..., i]))  # (23)
        S.append(Ad_inverse(after, join(along_z(rho), along_z(sigma))))
        above, above_rate = (V0, Vd0) if parent < 0 else (V[parent], Vd[parent])
        carried = Ad_inverse(f[i], above)
        Sqd = S[i] * qd[..., i, None]
        V.append(carried + Sqd)  # (24)
        Vd.append(S[i] * qdd[..., i, None] + Ad_inverse(f[i], above_rate) + ad(carried, Sqd))  # (25)
    F: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):
        J = spatial_inertia(tree.mass[i], tree.com[i], tree.inertia[i])  # (21)
        F[i] = rotate(J, Vd[i]) - ad_dual(V[i], rotate(J, V[i]))
        F[i] = sum((Ad_inverse_dual(f[k], F[k]) for k in children[i]), F[i])  # (26)
        if wrenches is not None:
            F[i] = F[i] - wrenches[..., i, :]
    return stack([(S[i] * F[i]).sum(axis=-1) for i in range(n)])  # (27)
