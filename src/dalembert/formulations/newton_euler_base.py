"""Newton-Euler in base coordinates: Fu, Gonzalez and Lee, table 3.2.

The recursion of table 3.3 with every vector in base axes, so inertias must be turned by the pose: I_i becomes R I R^T. p* runs
from the parent's origin to the link's, s_bar from the link's origin to its centre of mass; f and n act at the parent's origin,
where the book takes moments. The wrench on the hand is a wrench on the last link.

The table's viscous damping is added outside, as all friction is.

Corrected: E-F4 (v0-dot is minus gravity).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.algebra.spatial import Array, Transform, along_z, cross, dot, rotate, rotate_back, split, stack, swing
from dalembert.model.tree import Tree


class Link(NamedTuple):
    """A link in motion, and the force and moment that its motion takes; in base axes."""

    z: Any  # joint axis
    p_star: Any
    joint_at: Any  # a point on the joint axis, moving with the link, from the parent's origin
    motion: tuple[Any, Any, Any]  # w, wd, vd
    F: Any
    N: Any  # about the parent's origin


def inverse_dynamics(
    tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None, base_twist: Any = None, base_acceleration: Any = None
) -> Array:
    """Joint forces tau (..., n); the base accelerates with minus gravity (3.3-46)."""
    poses = tree.poses(q)
    return stack(inward(tree, outward(tree, poses, qd, qdd, wrenches, tree.base_motion(base_twist, base_acceleration))))


def outward(tree: Tree, poses: Sequence[Transform], qd: Any, qdd: Any, wrenches: Any, base: tuple[Any, Any, Any]) -> list[Link]:
    """All links, from the base to the tips."""
    links: list[Link] = []
    for i, parent in enumerate(tree.parents):
        _, after, rho, sigma = tree.joint(i)
        R, p = poses[i]
        behind = rotate(R, rotate_back(after.rotation, after.translation))  # from the joint to the link's origin
        p_star = p if parent < 0 else p - poses[parent].translation
        z = rotate(R, rotate_back(after.rotation, along_z(1)))
        w, wd, vd = base if parent < 0 else links[parent].motion
        z_qd, z_qdd = z * qd[..., i, None], z * qdd[..., i, None]
        vd = vd + swing(w, wd, p_star - behind) + sigma * (z_qdd + 2 * cross(w, z_qd))
        w, wd = w + rho * z_qd, wd + rho * (z_qdd + cross(w, z_qd))  # (3.3-28), (3.3-29)
        vd = vd + swing(w, wd, behind)  # (3.3-35)
        joint_at = p_star - behind
        F, N = net_force(tree, i, R, (w, wd, vd), wrenches)
        links.append(Link(z, p_star, joint_at, (w, wd, vd), F, N + cross(p_star, F)))
    return links


def net_force(tree: Tree, i: int, R: Any, motion: tuple[Any, Any, Any], wrenches: Any) -> tuple[Any, Any]:
    """The force that the motion of link i takes, and its moment about the link's origin, less what acts from outside."""
    w, wd, vd = motion
    s_bar = rotate(R, tree.com[i])
    Iw, Iwd = (rotate(R, rotate(tree.inertia[i], rotate_back(R, x))) for x in (w, wd))
    force = tree.mass[i] * (vd + swing(w, wd, s_bar))  # (3.3-36), (3.3-39)
    moment = Iwd + cross(w, Iw) + cross(s_bar, force)  # (3.3-37), about the origin
    if wrenches is None:
        return force, moment
    m_ext, f_ext = (rotate(R, x) for x in split(wrenches[..., i, :]))
    return force - f_ext, moment - m_ext


def inward(tree: Tree, links: list[Link]) -> list[Any]:
    """tau, from the tips to the base."""
    n = len(links)
    F, N = [link.F for link in links], [link.N for link in links]
    tau: list[Any] = [None] * n
    for i in reversed(range(n)):
        f, m, link = F[i], N[i], links[i]  # what the parent exerts, at its own origin
        _, _, rho, sigma = tree.joint(i)
        tau[i] = rho * dot(link.z, m - cross(link.joint_at, f)) + sigma * dot(link.z, f)  # (3.3-45)
        parent = tree.parents[i]
        if parent >= 0:
            F[parent], N[parent] = F[parent] + f, N[parent] + m + cross(links[parent].p_star, f)  # (3.3-43), (3.3-44)
    return tau
