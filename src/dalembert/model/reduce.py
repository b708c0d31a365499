"""The same robot in frames and with inertias that make programs short: for joint forces, which depend on neither.

Frames: every link frame moves onto its joint axis and turns about it, so that the step to the first child is
Denavit-Hartenberg-like: a turn about x and an offset in the plane of x and z. What is left of the turn about z joins the joint
angle.

Inertias: a body on a line along a revolute axis feels nothing of that joint's rotation, so it may belong to the parent as well
(Khalil and Kleinfinger). Of link i that is all mass on the axis: its first moment and second moment along z go to the parent,
and its mass as far as it helps. A prismatic joint hands over the whole rotational inertia. What reaches the base vanishes. The
result need not be physical.

A frame may slide far along its axis, and moments about its new origin then cancel in the joint forces. Everything here is
therefore computed with decimals, and rounded once; the zeros that the frames and the sharing make are exact.
"""

from decimal import Decimal
from typing import Any

import numpy as np

from dalembert.algebra.precise import arctan2, decimal, decimals, exact, rounded
from dalembert.algebra.spatial import (
    Array,
    Transform,
    compose,
    dot,
    homogeneous,
    inverse,
    pseudo_inertia,
    rotate_back,
    rotation_about_z,
    second_moments,
    tensor_of,
    turn_tensor,
)
from dalembert.model.tree import Tree

NONE: Any = Decimal(0)
OUT_OF_PROPORTION = 30
NOTHING = Decimal("1e-14")  # of the larger entries: rounding errors of the figures that a model is made of


def reduced(tree: Tree, runs: frozenset[int] = frozenset()) -> Tree:
    """A tree of exact numbers with the same joint forces on a standing base; only for trees of floats.

    `runs` are the links of ball and free joints: their frames stay, and they hand nothing over, but take what is handed to them.
    """
    return _reduced(tree, (), runs)[0]


def reduced_around(tree: Tree, links: tuple[int, ...]) -> tuple[Tree, list[Transform]]:
    """The same, but some links keep their whole bodies, so that loads may be added; and their new frames in the links' own."""
    made, frames = _reduced(tree, links)
    return made, [compose(inverse(tree.joint(i)[1]), frames[i]) for i in links]


def _reduced(tree: Tree, whole: tuple[int, ...], runs: frozenset[int] = frozenset()) -> tuple[Tree, list[Transform]]:
    """The reduced tree, and all links' new frames in those on the axes."""
    if not tree.parents:
        return tree.exact, []
    with decimals():
        framed, frames = reframed(on_axes(tree.mapped(decimal)), runs)
        made = regrouped(framed, whole, runs)
        second = rounded(made.inertia)
        floats = made.mapped(rounded)
        places = [Transform(rounded(R), rounded(p)) for R, p in frames]
    if not all(np.isfinite(x).all() for x in (*floats.before, floats.mass, floats.com, second)):
        return tree.exact, [tree.joint(i)[1] for i in range(len(tree.parents))]  # absurd figures overflow: left as they are
    return floats._replace(inertia=tensor_of(exact(second))).exact, places


# --- frames -------------------------------------------------------------------------------------------------------------


def on_axes(tree: Tree) -> Tree:
    """Link frames moved onto the joint axes, where the joints end."""
    n = len(tree.parents)
    steps, bodies = [tree.step(i) for i in range(n)], [tree.body(i) for i in range(n)]
    return tree._replace(
        before=Transform(np.array([T.rotation for T in steps]), np.array([T.translation for T in steps])),
        after=Transform(np.broadcast_to(np.eye(3, dtype=int), (n, 3, 3)), np.zeros((n, 3), dtype=int)),
        com=np.array([body.com for body in bodies]),
        inertia=np.array([body.inertia for body in bodies]),
    )


def reframed(tree: Tree, runs: frozenset[int] = frozenset()) -> tuple[Tree, list[Transform]]:
    """Link frames turned about their axes and slid along them, to suit the axes of the parent and of the first child.

    The tree in these frames, and each of them seen from the link's old one.
    """
    turns = [(1, 0) if i in runs else _turn(tree, children) for i, children in enumerate(tree.children)]
    slides: list[Any] = []
    before: list[Transform] = []
    com, inertia = [], []
    offset: list[Any] = []
    for i, parent in enumerate(tree.parents):
        (R, p), _, rho, sigma = tree.joint(i)
        if parent >= 0:
            back = rotation_about_z(*turns[parent])
            R, p = back.T @ R, rotate_back(back, p) - np.array([0, 0, slides[parent]])
        slide = _slide(R, p) if parent >= 0 and i not in runs else Decimal(0)  # the base does not turn: its distance is no matter
        p = p + R[:, 2] * slide
        R = R @ rotation_about_z(*turns[i])
        c, s = _about_z(R) if (rho, sigma) == (1, 0) and i not in runs else (1, 0)
        before.append(_clean(Transform(R @ rotation_about_z(c, -s), p)))
        offset.append(arctan2(float(s), float(c)))
        slides.append(slide)
        c, s = turns[i]
        com.append(rotate_back(rotation_about_z(c, s), tree.com[i]) - np.array([0, 0, slide]))
        inertia.append(turn_tensor(c, -s, tree.inertia[i]))
    framed = tree._replace(
        before=Transform(np.array([b.rotation for b in before]), np.array([b.translation for b in before])),
        com=np.array([_without_rounding(c, abs(c).max()) for c in com]),
        inertia=np.array([_without_rounding(I, abs(I).max(), keep_diagonal=True) for I in inertia]),
        offset=np.array(offset),
    )
    return framed, [Transform(rotation_about_z(*turn), np.array([0, 0, z])) for turn, z in zip(turns, slides, strict=True)]


def _turn(tree: Tree, children: tuple[int, ...]) -> tuple[Any, Any]:
    """Cosine and sine of the turn about a link's axis that makes its x normal to the first child's axis as well."""
    if not children:
        return 1, 0
    R, p = tree.joint(children[0])[0]
    x, y = -R[1, 2], R[0, 2]
    if max(abs(x), abs(y)) <= NOTHING:  # parallel axes: x points to the other
        x, y = _without_rounding(p, abs(p).max())[:2]
    size = (x * x + y * y).sqrt()
    return (1, 0) if abs(y) <= NOTHING * size else (x / size, y / size)


def _slide(R: Any, p: Any) -> Any:
    """How far a frame must slide along its own z to lose a component of its offset: y, or z where the axes are parallel.

    Nowhere far: where axes are almost parallel, as rounded angles make them, their common normal may be kilometres away.
    """
    x, y, z = R[:, 2]
    if abs(x) > NOTHING or NOTHING < abs(y) < Decimal("0.25"):
        return Decimal(0)
    return -p[1] / y if abs(y) > NOTHING else -p[2] / z


def _about_z(R: Any) -> tuple[Any, Any]:
    """Cosine and sine of theta where R = Rx(alpha) Rz(theta) and theta is no right angle; else of 0."""
    c, s = R[0, 0], -R[0, 1]
    if abs(R[0, 2]) > NOTHING or min(abs(c), abs(s)) <= NOTHING:
        return 1, 0
    size = (c * c + s * s).sqrt()
    return c / size, s / size


def _without_rounding(x: Array, size: Any, keep_diagonal: bool = False) -> Array:
    small = abs(x) <= NOTHING * size
    return np.where(small & ~np.eye(3, dtype=bool) if keep_diagonal else small, NONE, x)


def _clean(T: Transform) -> Transform:
    """Entries that are rounding made exact."""
    whole = np.array([[round(x) for x in row] for row in T.rotation])
    R = np.where(abs(T.rotation - whole) <= NOTHING, whole, T.rotation)
    return Transform(R, _without_rounding(T.translation, abs(T.translation).max()))


# --- inertias -----------------------------------------------------------------------------------------------------------


def regrouped(tree: Tree, whole: tuple[int, ...] = (), runs: frozenset[int] = frozenset()) -> Tree:
    """Inertias handed to the parents as far as joint forces allow; frames must stand on the joint axes.

    Some links may keep their `whole` bodies: they hand nothing over and get nothing.

    A body is its 4x4 matrix of moments, the integral of r r^T dm with r = (x, y, z, 1). Instead of the inertias the result has
    second moments about the centres of mass.
    """
    n = len(tree.parents)
    bodies = [pseudo_inertia(tree.mass[i], tree.com[i], tree.inertia[i]) for i in range(n)]
    handed = _handed_over(tree, bodies, whole, runs)
    if handed is None:
        return tree._replace(inertia=second_moments(tree.inertia))
    mass, com, second = zip(*(_kept(body, given) for body, given in handed), strict=True)
    return tree._replace(mass=np.array(mass), com=np.array(com), inertia=np.array(second))


def _handed_over(tree: Tree, bodies: list[Array], whole: tuple[int, ...], runs: frozenset[int]) -> list[tuple[Array, Array]] | None:
    """Of every link: its body with all that its children have handed over, and what of that it hands over itself.

    None where children leave a first moment without mass on a link whose mass is not free.
    """
    gathered = list(bodies)
    carried = list(bodies)  # with all that follows, in some position: what is in proportion
    handed: list[Any] = [None] * len(bodies)
    for i in reversed(range(len(bodies))):
        before, _, rho, sigma = tree.joint(i)
        revolute, body = (rho, sigma) == (1, 0), gathered[i]
        if (not revolute or i in runs) and body[:3, 3].any() and abs(body[3, 3]) < _least_mass(body) / 1000:
            return None
        if i in whole or i in runs or tree.parents[i] in whole:
            given = np.zeros((4, 4), dtype=int)
        elif revolute:
            given = _line(body, carried[i])
        elif rho == 0:
            given = _spread(body)
        else:
            given = np.zeros((4, 4), dtype=int)
        handed[i] = body, given
        if (parent := tree.parents[i]) >= 0:
            T = homogeneous(before)
            gathered[parent] = gathered[parent] + T @ given @ T.T
            carried[parent] = carried[parent] + T @ carried[i] @ T.T
    return handed


def _kept(body: Array, given: Array) -> tuple[Any, Array, Array]:
    """Mass, centre of mass, and second moments about it, of what a link keeps."""
    kept = body - given
    m, h = kept[3, 3], kept[:3, 3]
    return m, h / m if m else np.zeros(3, dtype=int), _about_com(kept, body)


def _about_com(body: Array, whole: Array) -> Array:
    """The second moments about the centre of mass, without what rounding of the figures of the `whole` body has left in them.

    Across z a body is as large as it is; along z its frame may have slid, so that products with z are larger.
    """
    h, m = body[:3, 3], body[3, 3]
    tensor = body[:3, :3] - h[:, None] * h[None, :] / m if m else body[:3, :3]
    x, y, z = abs(np.diagonal(whole)[:3])
    across, along = max(x, y).sqrt(), z.sqrt()
    size = np.array([across, across, along])
    return _without_rounding(tensor, size[:, None] * size[None, :], keep_diagonal=True)


def _line(body: Array, carried: Array) -> Array:
    """What a revolute link may hand over: moments along z alone, and what mass it does not need."""
    given = np.zeros((4, 4), dtype=object)
    given[2:, 2:] = body[2:, 2:]
    beside, h = body.copy(), body[:3, 3]
    beside[2, :], beside[:, 2] = 0, 0
    if abs(h[:2]).max() <= NOTHING * max(abs(h).max(), abs(body[3, 3]) * NOTHING):
        given[:2, 3] = given[3, :2] = h[:2]  # on the axis: rounding
    else:
        given[3, 3] = body[3, 3] - _useful_mass(beside, carried)
    return given


def _spread(body: Array) -> Array:
    """What a prismatic link may hand over: its rotational inertia."""
    given = np.zeros((4, 4), dtype=object)
    given[:3, :3] = _about_com(body, body)
    return given


def _least_mass(body: Array) -> Any:
    """About the least mass that a body with these first and second moments can have: a scale where none is given."""
    h, spread = body[:3, 3], abs(np.diagonal(body)[:3]).sum()
    return dot(h, h) / spread if spread else Decimal(1)


def _useful_mass(body: Array, carried: Array) -> Any:
    """A mass for a revolute link, which is free: one with which the moment xy about the centre of mass vanishes.

    If that is thirty times out of proportion to all that the joint carries, in mass, in moment of inertia or in the distance of
    its centre, which would cost digits, its own mass, or a proportionate one: a few general arms in a hundred have such a link,
    and their programs take some operations more.
    """
    m, x, y, xy = body[3, 3], body[0, 3], body[1, 3], body[0, 1]
    most, spread = OUT_OF_PROPORTION * abs(carried[3, 3]), OUT_OF_PROPORTION * abs(np.diagonal(carried)[:3]).sum()
    square = x * x + y * y

    def fits(mass: Any) -> bool:
        return 0 < abs(mass) < most and square < spread * abs(mass) and square * most < OUT_OF_PROPORTION**2 * spread * mass * mass

    wanted = x * y / xy if xy else Decimal(0)
    return next((mass for mass in (wanted, m, carried[3, 3]) if fits(mass)), _least_mass(body))
