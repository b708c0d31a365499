"""The same robot in frames and with inertias that make programs short: for joint forces, which depend on neither.

Frames: every link frame moves onto its joint axis and turns about it, so that the step to the first child is
Denavit-Hartenberg-like: a turn about x and an offset in the plane of x and z. What is left of the turn about z joins the joint
angle.

Inertias: a body on a line along a revolute axis feels nothing of that joint's turning, so it may belong to the parent as well
(Khalil and Kleinfinger). Of link i that is all mass on the axis: its first moment and second moment along z go to the parent,
and its mass as far as it helps. A sliding joint hands over the whole rotational inertia. What reaches the base vanishes. The
result need not be physical.
"""

import numpy as np

from dalembert.model.pose import rotation_z
from dalembert.model.tree import Tree
from dalembert.spatial import Array, Transform, compose, inverse

NOTHING = 1e-14  # of the larger entries: rounding


def reduced(tree: Tree) -> Tree:
    """A tree with the same joint forces on a standing base; only for trees of floats."""
    with np.errstate(all="ignore"):
        made = regrouped(reframed(tree))
    numbers = (*made.before, made.mass, made.com, made.inertia)
    return made if all(np.isfinite(x).all() for x in numbers) else tree  # absurd figures overflow: leave them as they are


# --- frames -------------------------------------------------------------------------------------------------------------


def reframed(tree: Tree) -> Tree:
    """Link frames on the joint axes, aligned with the first child's axis."""
    n = len(tree.parents)
    children = tree.children
    moved: list[Transform] = []  # the new frame of link i in its old frame
    before: list[Transform] = []
    offset = np.zeros(n)
    for i, parent in enumerate(tree.parents):
        first, after, rho, sigma = tree.joint(i)
        step = first if parent < 0 else compose(inverse(moved[parent]), first)
        turn, slide = _turn(tree, i, children[i]), _slide(step)
        if parent < 0:
            slide = 0.0  # the base does not turn, so its distance does not matter
        screw = Transform(rotation_z(turn), np.array([0.0, 0.0, slide]))
        moved.append(compose(inverse(after), screw))
        step = compose(step, screw)
        angle = _about_z(step.rotation) if (rho, sigma) == (1.0, 0.0) else 0.0
        offset[i] = angle
        before.append(_clean(compose(step, Transform(rotation_z(-angle), np.zeros(3)))))
    com = [m.rotation.T @ (c - m.translation) for m, c in zip(moved, tree.com, strict=True)]
    inertia = [m.rotation.T @ I @ m.rotation for m, I in zip(moved, tree.inertia, strict=True)]
    return tree._replace(
        before=Transform(np.array([b.rotation for b in before]), np.array([b.translation for b in before])),
        after=Transform(np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))),
        com=np.array([_without_rounding(c, np.abs(c).max()) for c in com]),
        inertia=np.array([_without_rounding(I, np.abs(I).max(), keep_diagonal=True) for I in inertia]),
        offset=offset,
    )


def _turn(tree: Tree, i: int, children: tuple[int, ...]) -> float:
    """How far link i's frame must turn about its axis for its x to be normal to the first child's axis as well."""
    if not children:
        return 0.0
    _, after, _, _ = tree.joint(i)
    child = compose(after, tree.joint(children[0])[0])
    x, y = child.rotation[0, 2], child.rotation[1, 2]
    if np.hypot(x, y) > NOTHING:
        return 0.0 if abs(x) <= NOTHING else float(np.arctan2(x, -y))
    x, y = child.translation[:2]
    return 0.0 if abs(y) <= NOTHING else float(np.arctan2(y, x))


def _slide(step: Transform) -> float:
    """How far a frame must slide along its own z to lose a component of its offset: y, or z where the axes are parallel.

    Nowhere far: where axes are almost parallel, as rounded angles make them, their common normal may be kilometres away.
    """
    direction, offset = step.rotation[:, 2], step.translation
    if abs(direction[0]) > NOTHING or NOTHING < abs(direction[1]) < 0.05:
        return 0.0
    return float(-offset[1] / direction[1]) if abs(direction[1]) > NOTHING else float(-offset[2] / direction[2])


def _about_z(R: Array) -> float:
    """theta where R = Rx(alpha) Rz(theta), if it is no right angle; else 0."""
    if abs(R[0, 2]) > NOTHING or min(abs(R[0, 0]), abs(R[0, 1])) <= NOTHING:
        return 0.0
    return float(np.arctan2(-R[0, 1], R[0, 0]))


def _without_rounding(x: Array, size: float, keep_diagonal: bool = False) -> Array:
    small = np.abs(x) <= NOTHING * size
    return np.where(small & ~np.eye(3, dtype=bool) if keep_diagonal else small, 0.0, x)


def _clean(T: Transform) -> Transform:
    """Entries that are rounding made exact."""
    R = np.where(np.abs(T.rotation - np.rint(T.rotation)) <= NOTHING, np.rint(T.rotation), T.rotation)
    return Transform(R, _without_rounding(T.translation, np.abs(T.translation).max()))


# --- inertias -----------------------------------------------------------------------------------------------------------


def regrouped(tree: Tree) -> Tree:
    """Inertias handed to the parents as far as joint forces allow; frames must stand on the joint axes."""
    n = len(tree.parents)
    mass, first = np.array(tree.mass), tree.mass[:, None] * tree.com
    about = np.array([I + _shift(m, c) for m, c, I in zip(tree.mass, tree.com, tree.inertia, strict=True)])  # the origin
    com, tensor = np.zeros((n, 3)), np.zeros((n, 3, 3))
    for i in reversed(range(n)):
        before, _, rho, sigma = tree.joint(i)
        m, h, J = mass[i], first[i].copy(), about[i].copy()
        give_m, give_h, give_J = 0.0, np.zeros(3), np.zeros((3, 3))
        turning = (rho, sigma) == (1.0, 0.0)
        if turning:
            on_axis = float(np.abs(h[:2]).max()) <= NOTHING * max(float(np.abs(h).max()), abs(m) * NOTHING)
            keep = 0.0 if on_axis else _useful_mass(m, h, J)
            line = (J[0, 0] + J[1, 1] - J[2, 2]) / 2  # the second moment along z, which is felt about x and y only
            give_m, give_h[2], give_J = m - keep, h[2], np.diag([line, line, 0.0])
            J[0, 0], J[1, 1] = (J[0, 0] - J[1, 1] + J[2, 2]) / 2, (J[1, 1] - J[0, 0] + J[2, 2]) / 2
            m, h = keep, np.zeros(3) if on_axis else np.array([h[0], h[1], 0.0])
        elif h.any() and abs(m) < 1e-3 * _mass_behind(h, J):
            return tree  # children left a first moment without mass on a link whose mass is not free
        c = h / m if m else np.zeros(3)
        I = J - _shift(m, c)
        I = _without_rounding(I, max(np.abs(I).max(), np.abs(J).max()), keep_diagonal=True)
        if turning:
            I[2, 2] = I[0, 0] + I[1, 1]  # no extent along z, to the last digit
        if rho == 0.0:
            give_J, I = I, np.zeros((3, 3))
        mass[i], com[i], tensor[i] = m, c, I
        parent = tree.parents[i]
        if parent >= 0:
            R, t = before
            h = R @ give_h
            mass[parent] += give_m
            first[parent] += h + give_m * t
            about[parent] += R @ give_J @ R.T + _shift(give_m, t) + 2 * (h @ t) * np.eye(3) - np.outer(h, t) - np.outer(t, h)
    return tree._replace(mass=mass, com=com, inertia=tensor)


def _shift(m: float, c: Array) -> Array:
    """The inertia of a point mass at c about the origin."""
    return m * ((c @ c) * np.eye(3) - np.outer(c, c))


def _mass_behind(h: Array, J: Array) -> float:
    """About the least mass that a body with this first moment and inertia can have: a scale where none is given."""
    spread = float(np.abs(np.diagonal(J)).sum()) / 2
    return float(h @ h) / spread if spread else 1.0


def _useful_mass(m: float, h: Array, J: Array) -> float:
    """A mass for a turning link, which is free: one with which the product of inertia xy about the centre of mass vanishes.

    If that is out of proportion, which would cost digits, its own mass, or a proportionate one.
    """
    scale = max(abs(m), _mass_behind(h, J))
    wanted = -h[0] * h[1] / J[0, 1] if J[0, 1] else 0.0
    return next((float(x) for x in (wanted, m) if 0.1 * scale < abs(x) < 10 * scale), scale)
