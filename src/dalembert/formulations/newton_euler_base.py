"""Newton-Euler in base coordinates: Fu, Gonzalez and Lee, table 3.2.

The recursion of table 3.3 with every vector in base axes, so inertias must be turned by the pose: I_i becomes R I R^T. p* runs
from the parent's origin to the link's, s_bar from the link's origin to its centre of mass; f and n act at the parent's origin,
where the book takes moments. The wrench on the hand is a wrench on the last link.

The table's viscous damping is added outside, as all friction is.

Corrected: E-F4 (v0-dot is minus gravity).
"""

from typing import Any

from dalembert.algebra.spatial import Array, along_z, cross, dot, rotate, rotate_back, split, stack, swing
from dalembert.model.tree import Tree


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n)."""
    n = len(tree.parents)
    poses = tree.poses(q)
    base = tree.base_motion(base_twist, base_acceleration)
    p_star: list[Any] = []
    axes: list[Any] = []
    joint_at: list[Any] = []  # a point on the joint axis, moving with the link, from the parent's origin
    motion: list[tuple[Any, Any, Any]] = []
    F: list[Any] = []
    N: list[Any] = []
    for i, parent in enumerate(tree.parents):
        _, after, rho, sigma = tree.joint(i)
        R, p = poses[i]
        behind = rotate(R, rotate_back(after.rotation, after.translation))  # from the joint to the link's origin
        p_star.append(p if parent < 0 else p - poses[parent].translation)
        z = rotate(R, rotate_back(after.rotation, along_z(1)))
        w, wd, vd = base if parent < 0 else motion[parent]
        z_qd, z_qdd = z * qd[..., i, None], z * qdd[..., i, None]
        vd = vd + swing(w, wd, p_star[i] - behind) + sigma * (z_qdd + 2 * cross(w, z_qd))
        w, wd = w + rho * z_qd, wd + rho * (z_qdd + cross(w, z_qd))
        vd = vd + swing(w, wd, behind)
        motion.append((w, wd, vd))
        axes.append(z)
        joint_at.append(p_star[i] - behind)
        s_bar = rotate(R, tree.com[i])
        Iw, Iwd = (rotate(R, rotate(tree.inertia[i], rotate_back(R, x))) for x in (w, wd))
        force = tree.mass[i] * (vd + swing(w, wd, s_bar))
        moment = Iwd + cross(w, Iw) + cross(s_bar, force)  # about the link's origin
        if wrenches is not None:
            m_ext, f_ext = (rotate(R, x) for x in split(wrenches[..., i, :]))
            force, moment = force - f_ext, moment - m_ext
        F.append(force)
        N.append(moment + cross(p_star[i], force))  # about the parent's origin
    tau: list[Any] = [None] * n
    for i in reversed(range(n)):
        f, m = F[i], N[i]  # what the parent exerts, at its own origin
        _, _, rho, sigma = tree.joint(i)
        tau[i] = rho * dot(axes[i], m - cross(joint_at[i], f)) + sigma * dot(axes[i], f)
        parent = tree.parents[i]
        if parent >= 0:
            F[parent], N[parent] = F[parent] + f, N[parent] + m + cross(p_star[parent], f)
    return stack(tau)
