"""The recursion on SE(3) with frames at the centres of mass: Park and Lynch, chapter 9, equations (9.53)-(9.57).

V_i, Vd_i are twists of the frame at the centre of mass of link i, parallel to the link's; G_i = diag(I_i, m_i 1); A_i the joint
screw in that frame, T_i its pose in the parent's. Wrenches on the links act ON them; the book's F_tip is exerted by the robot.

Corrected: E-P2 (A_i in frame i), E-P3 (the base accelerates with minus gravity), E-P4 (the bracket with Ad_{T_i,i-1}), E-P5.
"""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import (
    Ad_inverse,
    Ad_inverse_dual,
    Array,
    Transform,
    ad,
    ad_dual,
    compose,
    dot,
    inverse,
    join,
    rotate,
    split,
    stack,
    zeros,
)
from dalembert.model.tree import Tree


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    to_com = [Transform(np.eye(3, dtype=int), tree.com[i]) for i in range(n)]
    V0 = zeros(6) if base_twist is None else base_twist
    Vd0 = join(zeros(3), -tree.gravity) + (zeros(6) if base_acceleration is None else base_acceleration)
    T: list[Any] = []
    A: list[Any] = []
    V: list[Any] = []
    Vd: list[Any] = []
    for i, parent in enumerate(tree.parents):
        after = tree.joint(i)[1]
        pose = compose(tree.pose(i, q[..., i]), to_com[i])
        T.append(pose if parent < 0 else compose(inverse(to_com[parent]), pose))  # (9.53)
        A.append(Ad_inverse(compose(after, to_com[i]), tree.axis(i)))
        above, above_rate = (V0, Vd0) if parent < 0 else (V[parent], Vd[parent])
        Aqd = A[i] * qd[..., i, None]
        V.append(Ad_inverse(T[i], above) + Aqd)  # (9.54)
        Vd.append(Ad_inverse(T[i], above_rate) + ad(V[i], Aqd) + A[i] * qdd[..., i, None])  # (9.55)
    F: list[Any] = [None] * n
    children = tree.children
    for i in reversed(range(n)):

        def G(X: Any, i: int = i) -> Array:
            angular, linear = split(X)
            return join(rotate(tree.inertia[i], angular), tree.mass[i] * linear)  # (9.52)

        F[i] = G(Vd[i]) - ad_dual(V[i], G(V[i]))
        F[i] = sum((Ad_inverse_dual(T[k], F[k]) for k in children[i]), F[i])  # (9.56)
        if wrenches is not None:
            F[i] = F[i] - Ad_inverse_dual(inverse(to_com[i]), wrenches[..., i, :])
    return stack([dot(A[i], F[i]) for i in range(n)])  # (9.57)
