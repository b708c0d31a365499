"""How much an arm lifts where: two joints run through their ranges, the others stand, and each pose has its largest payload."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, several
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.quantities.kinematics import pose
from dalembert.sizing.loads import largest
from dalembert.sizing.worst import Case

GRID = 61  # positions of each of the two joints
COARSE = 81  # of each pair that is tried
CELLS = 24  # of the largest extent, for the area that a pair covers: a step of the tool is hardly longer than a cell
FINE = 8  # poses of a picture between two of the grid, along each joint
CORNERS = 1 << 10  # combinations of the directions of the speeds: all of them up to ten joints


class PayloadMap(NamedTuple):
    """The largest payload at the poses of a section: two joints run through their ranges, at `q`.

    `across` and `up` are directions in the world, in which the tool moves about; `place` is where it is along them.
    """

    joints: tuple[int, ...]
    q: Array  #         (k, l, n)
    place: Array  #     (k, l, 2), m
    labels: tuple[str, str]
    standing: Array  #  (k, l), kg: the arm holds the load
    moving: Array  #    (k, l), kg: it moves at full speed, in any of `directions` of its joints, with any acceleration
    directions: int  #  of the joints' speeds: all 2^n up to ten joints, beyond it 1024 random ones
    picture: tuple[Array, Array]  # places (m, 2) and positions (m, 2) in the grid, finer, for drawing


def payload_map(case: Case, joints: Any = None) -> PayloadMap:
    """The map of a section: of the joints that are named, or of the two that move the hand most."""
    chosen = _pair(case) if joints is None else _named(case.arm.robot, joints)
    sides, labels = _plane(case.arm.robot, _tool(case, _grid(case, chosen, COARSE)[0]))
    q, _ = _grid(case, chosen, GRID)
    finer, share = _grid(case, chosen, (GRID - 1) * FINE + 1)
    place = (_tool(case, q) @ sides.T).reshape(*q.shape[:-1], 2)
    picture = (_tool(case, finer) @ sides.T).reshape(-1, 2), (share * (GRID - 1)).reshape(-1, 2)
    rest = np.zeros(case.n)
    flat = q.reshape(-1, case.n)
    standing = largest(case.arm.loads(flat, rest, rest), case.arm.allowed(case.curves, rest), rest)
    moving = standing
    corners = _corners(case.n)
    for signs in corners:
        qd = signs * case.velocity
        least = largest(case.arm.parts(flat, np.broadcast_to(qd, flat.shape)), case.arm.allowed(case.curves, qd), case.acceleration)
        moving = np.minimum(moving, least)
    shape = q.shape[:-1]
    return PayloadMap(chosen, q, place, labels, standing.reshape(shape), moving.reshape(shape), len(corners), picture)


def _named(robot: Model, joints: Any) -> tuple[int, ...]:
    names = several(joints, "section")
    for name in names:
        choice(name, f"joint of {robot.name} in section:", robot.joint_names)
    if len(names) > 2 or not names or len(set(names)) < len(names):
        raise Error(f"section must name one or two different joints, got {', '.join(names) or 'none'}")
    return tuple(robot.joint_names.index(name) for name in names)


def _grid(case: Case, joints: tuple[int, ...], count: int) -> tuple[Array, Array]:
    """Configurations (count, count, n), or (count, 1, n) of one joint, and the shares of the ranges (..., 2)."""
    share = np.stack(np.meshgrid(np.linspace(0, 1, count), np.linspace(0, 1, count if len(joints) > 1 else 1), indexing="ij"), -1)
    home = np.clip(case.arm.robot.neutral(), case.lower, case.upper)
    q = np.broadcast_to(home, (*share.shape[:-1], case.n)).copy()
    for k, j in enumerate(joints):
        low, high = case.lower[j], case.upper[j]
        if case.arm.robot.joints[j].kind == "revolute" and high - low > 2 * np.pi:  # more than a turn shows nothing new
            low = np.clip(home[j] - np.pi, low, high - 2 * np.pi)
            high = low + 2 * np.pi
        q[..., j] = low + share[..., k] * (high - low)
    return q, share


def _tool(case: Case, q: Array) -> Array:
    """Where the load is, (..., 3)."""
    return np.asarray(pose(case.arm.robot, q, case.arm.link, point=case.arm.com))[..., :3, 3]


def _pair(case: Case) -> tuple[int, ...]:
    """The two joints with which the tool covers the largest area of a plane; less counts what leaves it, as by a turning base."""
    if case.n == 1:
        return (0,)
    pairs = list(combinations(range(case.n), 2))
    places = [_tool(case, _grid(case, pair, COARSE)[0]).reshape(-1, 3) for pair in pairs]
    wide = max(float(np.ptp(x, axis=0).max()) for x in places) or 1.0
    areas = [_area(x, _plane(case.arm.robot, x)[0], wide) for x in places]
    return pairs[int(np.argmax(areas))]


def _area(places: Array, sides: Array, wide: float) -> float:
    """How many cells of a plane points (k, 3) are in, by how flat they lie."""
    cells = np.unique(np.round(places @ sides.T / wide * CELLS).astype(int), axis=0)
    return len(cells) * (1 - float(np.ptp(places @ np.cross(*sides))) / wide)


def _plane(robot: Model, places: Array) -> tuple[Array, tuple[str, str]]:
    """Two directions (2, 3) in which places spread: horizontally most and vertically, or both horizontally if that is more."""
    field = float(np.linalg.norm(robot.gravity))
    up = -robot.gravity / field if field else np.array([0.0, 0.0, 1.0])
    points = places.reshape(-1, 3)
    level = np.eye(3) - np.outer(up, up)
    _, vectors = np.linalg.eigh(level @ np.cov(points.T) @ level)
    along = vectors[:, -1] if np.ptp(points @ level, axis=0).max() > 1e-9 else np.roll(up, 1)
    along = along * (1.0 if along[np.argmax(np.abs(along))] > 0 else -1.0)
    aside = np.cross(up, along)
    heights, widths = (float(np.ptp(points @ x)) for x in (up, aside))
    if heights >= 0.5 * widths:
        return np.stack([along, up]), ("reach, m", "height, m")
    return np.stack([along, aside]), ("reach, m", "aside, m")


def _corners(n: int) -> Array:
    """Directions of n speeds, (k, n): all of them up to ten joints, else random ones, each with its opposite."""
    if 2**n <= CORNERS:
        return 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    half = np.random.default_rng(0).choice([-1.0, 1.0], (CORNERS // 2, n))
    return np.concatenate([half, -half])


def raster(found: PayloadMap, values: Array, cells: int = 120) -> tuple[Array, tuple[float, float, float, float]]:
    """A picture (rows, columns) of values (k, l) of the map, from below and left, NaN where the tool does not get to.

    Where it gets to a cell in several poses, the least is shown. Also the left, right, lower and upper ends.
    """
    place, at = found.picture
    low, high = place.min(axis=0), place.max(axis=0)
    side = float((high - low).max()) / cells or 1.0
    k = np.minimum(at.astype(int), np.maximum(np.array(values.shape) - 2, 0))
    x, y = (at - k).T
    a, b = k.T
    c, d = np.minimum(a + 1, values.shape[0] - 1), np.minimum(b + 1, values.shape[1] - 1)
    with np.errstate(invalid="ignore"):  # infinite ones
        fine = (1 - x) * ((1 - y) * values[a, b] + y * values[a, d]) + x * ((1 - y) * values[c, b] + y * values[c, d])
    columns, rows = np.round((place - low) / side).astype(int).T
    seen = np.full((rows.max() + 1, columns.max() + 1), np.inf)
    np.minimum.at(seen, (rows, columns), np.where(np.isnan(fine), np.inf, fine))
    return np.where(np.isinf(seen), np.nan, seen), (low[0] - side / 2, high[0] + side / 2, low[1] - side / 2, high[1] + side / 2)
