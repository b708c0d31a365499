"""Silver's Lagrangian with angular velocities: AI Memo 622, equations (3.11)-(3.16).

tau_j = sum_i (F_i . dv_i/dqd_j + N_i . dw_i/dqd_j) over the links i behind joint j (3.11), (3.12), with the partial velocities
dv_i/dqd_j = z_j x p_ji (revolute) or z_j (prismatic), (3.15), and dw_i/dqd_j = z_j (revolute) or 0 (prismatic), (3.16): those of
the velocity sums (3.13) and (3.14); p_ji runs from joint j to the centre of mass of link i. All vectors are in base axes.
Gravity is the acceleration of the base.

Corrected: E-S2 (projection on dw/dqd), E-S4 (the base accelerates with minus gravity).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.algebra.spatial import Array, Transform, along_z, cross, dot, rotate, rotate_back, split, stack, swing, zeros
from dalembert.model.tree import Tree


class Link(NamedTuple):
    """A link in motion, and the force and moment that its motion takes; in base axes."""

    z: Any  # joint axis
    o: Any  # a point on it that moves with the link
    c: Any  # centre of mass
    w: Any
    wd: Any
    vd: Any  # acceleration of the link's origin
    F: Any
    N: Any


def inverse_dynamics(tree: Tree, q: Any, qd: Any, qdd: Any, wrenches: Any = None) -> Array:
    """Joint forces tau (..., n)."""
    return stack(project(tree, outward(tree, tree.poses(q), qd, qdd, wrenches)))


def outward(tree: Tree, poses: Sequence[Transform], qd: Any, qdd: Any, wrenches: Any) -> list[Link]:
    """All links, from the base to the tips."""
    links: list[Link] = []
    for i, parent in enumerate(tree.parents):
        _, after, rho, sigma = tree.joint(i)
        R, p = poses[i]
        z = rotate(R, rotate_back(after.rotation, along_z(1)))
        o = p - rotate(R, rotate_back(after.rotation, after.translation))
        if parent < 0:
            w0, wd0, vd0, p0 = zeros(3), zeros(3), -tree.gravity, zeros(3)
        else:
            w0, wd0, vd0, p0 = links[parent].w, links[parent].wd, links[parent].vd, poses[parent].translation
        zd, zdd = z * qd[..., i, None], z * qdd[..., i, None]
        at_joint = vd0 + swing(w0, wd0, o - p0) + sigma * (zdd + 2 * cross(w0, zd))
        w = w0 + rho * zd
        wd = wd0 + rho * (zdd + cross(w0, zd))
        vd = at_joint + swing(w, wd, p - o)
        r = rotate(R, tree.com[i])
        c = p + r
        F, N = net_force(tree, i, R, r, (w, wd, vd), wrenches)
        links.append(Link(z, o, c, w, wd, vd, F, N))
    return links


def net_force(tree: Tree, i: int, R: Any, r: Any, motion: tuple[Any, Any, Any], wrenches: Any) -> tuple[Any, Any]:
    """Force and moment at the centre of mass of link i, at r from its origin, less what acts from outside."""
    w, wd, vd = motion
    force = tree.mass[i] * (vd + swing(w, wd, r))
    Iw, Iwd = (rotate(R, rotate(tree.inertia[i], rotate_back(R, x))) for x in (w, wd))
    moment = Iwd + cross(w, Iw)
    if wrenches is None:
        return force, moment
    m_ext, f_ext = (rotate(R, x) for x in split(wrenches[..., i, :]))
    return force - f_ext, moment - m_ext + cross(r, f_ext)


def project(tree: Tree, links: list[Link]) -> list[Any]:
    """tau: the forces of all links on the partial velocities of the joints that carry them."""
    tau: list[Any] = [0] * len(links)
    for i, link in enumerate(links):
        for j in tree.path(i):
            dv, dw = partial_velocity(tree, links, i, j)
            tau[j] = tau[j] + dot(link.F, dv) + dot(link.N, dw)  # (3.11), (3.12)
    return tau


def partial_velocity(tree: Tree, links: list[Link], i: int, j: int) -> tuple[Any, Any]:
    """dv_i/dqd_j of the centre of mass of link i and dw_i/dqd_j, for a joint j that carries it."""
    _, _, rho, sigma = tree.joint(j)
    z, o = links[j].z, links[j].o
    dv = rho * cross(z, links[i].c - o) + sigma * z  # (3.15)
    dw = rho * z  # (3.16)
    return dv, dw
