"""Silver's Lagrangian with angular velocities: AI Memo 622, equations (3.11)-(3.16).

tau_j = sum_i (F_i . dv_i/dqd_j + N_i . dw_i/dqd_j) over the links i behind joint j (3.11), (3.12), with the partial velocities
dv_i/dqd_j = z_j x p_ji (turning) or z_j (sliding), (3.15), and dw_i/dqd_j = z_j (turning) or 0 (sliding), (3.16): those of the
velocity sums (3.13) and (3.14); p_ji runs from joint j to the centre of mass of link i. All vectors are in base axes.
Gravity is the acceleration of the base.

Corrected: E-S2 (projection on dw/dqd), E-S4 (the base accelerates with minus gravity).
"""

from typing import Any

from dalembert.algebra.spatial import Array, along_z, cross, dot, rotate, rotate_back, split, stack, swing, zeros
from dalembert.model.tree import Tree


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    poses = tree.poses(q)
    z: list[Any] = []  # joint axis
    o: list[Any] = []  # a point on it that moves with link i
    w: list[Any] = []
    wd: list[Any] = []
    vd: list[Any] = []  # acceleration of the link's origin
    F: list[Any] = []
    N: list[Any] = []
    c: list[Any] = []  # centre of mass
    for i, parent in enumerate(tree.parents):
        _, after, rho, sigma = tree.joint(i)
        R, p = poses[i]
        z.append(rotate(R, rotate_back(after.rotation, along_z(1))))
        o.append(p - rotate(R, rotate_back(after.rotation, after.translation)))
        w0, wd0, vd0, p0 = (
            (zeros(3), zeros(3), -tree.gravity, zeros(3))
            if parent < 0
            else (w[parent], wd[parent], vd[parent], poses[parent].translation)
        )
        zd, zdd = z[i] * qd[..., i, None], z[i] * qdd[..., i, None]
        at_joint = vd0 + swing(w0, wd0, o[i] - p0) + sigma * (zdd + 2 * cross(w0, zd))
        w.append(w0 + rho * zd)
        wd.append(wd0 + rho * (zdd + cross(w0, zd)))
        vd.append(at_joint + swing(w[i], wd[i], p - o[i]))
        r = rotate(R, tree.com[i])
        c.append(p + r)
        force = tree.mass[i] * (vd[i] + swing(w[i], wd[i], r))
        Iw, Iwd = (rotate(R, rotate(tree.inertia[i], rotate_back(R, x))) for x in (w[i], wd[i]))
        moment = Iwd + cross(w[i], Iw)
        if wrenches is not None:
            m_ext, f_ext = (rotate(R, x) for x in split(wrenches[..., i, :]))
            force, moment = force - f_ext, moment - m_ext + cross(r, f_ext)
        F.append(force)
        N.append(moment)
    tau: list[Any] = [0] * n
    for i in range(n):
        for j in tree.path(i):
            _, _, rho, sigma = tree.joint(j)
            dv = rho * cross(z[j], c[i] - o[j]) + sigma * z[j]  # (3.15)
            dw = rho * z[j]  # (3.16)
            tau[j] = tau[j] + dot(F[i], dv) + dot(N[i], dw)  # (3.11), (3.12)
    return stack(tau)
