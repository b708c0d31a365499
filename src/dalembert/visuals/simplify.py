"""Fewer faces for a mesh: edges contract where the surface suffers least (Garland and Heckbert 1997, quadric error metrics).

Many edges contract at once: those that cost less than all others near them, so that no face is touched by two. Every
operation is on whole arrays, in a fixed order and without BLAS: the same mesh gives the same result everywhere.
"""

from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.visuals.shapes import Mesh, frozen

GRID = 1 << 20  # points nearer than the size of the mesh over this are one
COARSE, DENSE = 1 << 8, 40_000  # the same for meshes of more faces than that
MANY = 150_000  # faces that are left to contractions; where there are more, the grid is coarser still
CROWDED = 20  # faces a point: a surface has about two, and chaos contracts one edge after another
PASSES = 100  # how often, on average, a face may be looked at; robots need 25
LAYERS = 4  # of contractions in one round
SHARE = 0.3  # of the edges: only the cheapest contract in one round; more while there are far too many
BORDER = 4.0  # how much more an edge of the surface or of a colour counts than the surface itself
FLAT = 1e-7  # how much the length of an edge counts: decides in planes
FIRM = 1e-4  # how much a new point is held to the middle of its edge, where the surface does not decide
PATIENCE = 5  # rounds that hardly help, before faces may turn over
FLIP = 0.1  # cosine of the angle between old and new normal below which a face counts as turned over
CORNERS = ((0, 1), (1, 2), (2, 0))


class _State(NamedTuple):
    points: Array  # (p, 3)
    quadrics: Array  # (p, 10): the upper triangle of A, then b and c of x.Ax + 2 b.x + c
    faces: Array  # (f, 3)
    paint: Array  # (f,)
    stuck: Array  # keys of edges that would turn a face over


def simplified(shape: Mesh, most: int = 1000) -> Mesh:
    """The same surface with about `most` faces, or as it is if it has fewer; coinciding points become one.

    >>> from dalembert.visuals.shapes import mesh
    >>> row = np.arange(40)[:, None]
    >>> strip = mesh(np.hstack([row // 2, row % 2, 0 * row]), [(row[:-2] + [0, 1, 2], None)])
    >>> len(strip.faces), len(simplified(strip, 2).faces)
    (38, 2)
    """
    low, size = shape.points.min(axis=0), float(np.ptp(shape.points, axis=0).max())
    points, faces, paint = _welded((shape.points - low) / (size or 1.0), shape.faces, shape.paint, GRID)
    if len(faces) > DENSE > most:
        points, faces, paint = _welded(points, faces, paint, grid := COARSE)
        while MANY < len(faces) <= CROWDED * len(points):
            points, faces, paint = _welded(points, faces, paint, grid := grid // 2)
    if len(faces) > max(most, CROWDED * len(points)):
        raise Error(f"{len(faces)} faces on {len(points)} points are no surface")
    state, slow = _State(points, _quadrics(points, faces, paint), faces, paint, np.zeros(0, dtype=np.int64)), 0
    work = 0
    while len(state.faces) > most and slow < PATIENCE + 3:
        before = len(state.faces)
        work += before
        if work > PASSES * len(faces):
            raise Error(f"its {len(faces)} faces cannot be simplified")
        state = _round(state, most, strict=slow < PATIENCE)
        slow = slow + 1 if len(state.faces) > 0.995 * before else 0
    used, inverse = np.unique(state.faces, return_inverse=True)
    return frozen(Mesh(state.points[used] * size + low, inverse.reshape(-1, 3), state.paint, shape.colours))


def _welded(points: Array, faces: Array, paint: Array, grid: int) -> tuple[Array, Array, Array]:
    """Points in the same cell of a grid are one; faces that this closes, or that are there twice, are gone."""
    x, y, z = np.rint(points * grid).astype(np.int64).T
    _, inverse, count = np.unique((x * (2 * grid) + y) * (2 * grid) + z, return_inverse=True, return_counts=True)
    return _added(len(count), inverse, points) / count[:, None], *_cleaned(inverse[faces], paint)


def _cleaned(faces: Array, paint: Array) -> tuple[Array, Array]:
    a, b, c = np.sort(faces, axis=1).T
    count = int(faces.max(initial=0)) + 1
    kept = np.flatnonzero((a != b) & (b != c))
    if count < 1 << 21:  # else the key overflows; the coarse grid comes next
        kept = kept[np.sort(np.unique(((a * count + b) * count + c)[kept], return_index=True)[1])]
    return faces[kept], paint[kept]


def _dot(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def _normals(corners: Array) -> Array:
    """Of triangles (..., 3, 3): at right angles, twice as long as the area."""
    return np.cross(corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :])


def _plane(normal: Array, point: Array, weight: Array) -> Array:
    """The quadric of the weighted squared distance to planes, (..., 10)."""
    x, y, z = np.moveaxis(normal, -1, 0)
    d = -_dot(normal, point)
    parts = (x * x, x * y, x * z, y * y, y * z, z * z, x * d, y * d, z * d, d * d)
    return np.stack(parts, axis=-1) * weight[..., None]


def _added(count: int, indices: Array, values: Array) -> Array:
    return np.stack([np.bincount(indices, v, count) for v in values.T], axis=-1)


def _quadrics(points: Array, faces: Array, paint: Array) -> Array:
    corners = points[faces]
    normals = _normals(corners)
    area = np.sqrt(_dot(normals, normals))
    unit = normals / np.where(area > 0, area, 1.0)[:, None]
    quadrics = _added(len(points), faces.reshape(-1), np.repeat(_plane(unit, corners[:, 0], area), 3, axis=0))
    # where the surface or a colour ends: planes through the edge, at right angles to the face
    start, end = (np.concatenate([faces[:, k[i]] for k in CORNERS]) for i in (0, 1))
    face = np.tile(np.arange(len(faces)), 3)
    key = np.minimum(start, end) * len(points) + np.maximum(start, end)
    _, edge, count = np.unique(key, return_inverse=True, return_counts=True)
    least, most = np.full(len(count), len(faces)), np.full(len(count), -1)
    np.minimum.at(least, edge, paint[face])
    np.maximum.at(most, edge, paint[face])
    ends = ((count == 1) | (least != most))[edge]
    start, end, face = start[ends], end[ends], face[ends]
    along = points[end] - points[start]
    across = np.cross(along, unit[face])
    length = np.sqrt(_dot(across, across))
    walls = _plane(across / np.where(length > 0, length, 1.0)[:, None], points[start], BORDER * length * length)
    return quadrics + _added(len(points), np.concatenate([start, end]), np.concatenate([walls, walls]))


def _round(state: _State, most: int, strict: bool) -> _State:
    """One round of contractions; if `strict`, none that turns a face over."""
    points, quadrics, faces, paint, _ = state
    start, end = (np.concatenate([faces[:, k[i]] for k in CORNERS]) for i in (0, 1))
    keys = np.unique(np.minimum(start, end) * len(points) + np.maximum(start, end))
    edges = np.stack([keys // len(points), keys % len(points)], axis=-1)
    place, cost = _contracted(points[edges[:, 0]], points[edges[:, 1]], quadrics[edges[:, 0]] + quadrics[edges[:, 1]])
    stuck = state.stuck if strict else state.stuck[:0]
    share = min(max(SHARE, 0.8 - 2 * most / len(faces)), 1.0)
    order = np.argsort(np.where(np.isin(keys, stuck), np.inf, cost), kind="stable")[: max(int(share * len(edges)), 64)]
    chosen = order[_apart(edges, edges[order], len(points))]
    if strict:
        bad = _turning(state, edges[chosen], place[chosen])
        stuck = np.concatenate([stuck, keys[chosen[bad]]])
        chosen = chosen[~bad]
    chosen = chosen[: max((len(faces) - most + 1) // 2, 1)]
    onto = np.arange(len(points))
    onto[edges[chosen, 1]] = edges[chosen, 0]
    free = np.ones(len(points), dtype=bool)
    free[edges[chosen]] = False  # what was stuck there may now contract
    points, quadrics = points.copy(), quadrics.copy()
    points[edges[chosen, 0]] = place[chosen]
    quadrics[edges[chosen, 0]] += quadrics[edges[chosen, 1]]
    stuck = stuck[free[stuck // len(points)] & free[stuck % len(points)]]
    return _State(points, quadrics, *_cleaned(onto[faces], paint), stuck)


def _contracted(a: Array, b: Array, q: Array) -> tuple[Array, Array]:
    """Where the point of a contracted edge belongs, and what that costs. Cramer's rule about the middle of the edge."""
    middle, along = (a + b) / 2, b - a
    xx, xy, xz, yy, yz, zz, bx, by, bz, c = q.T
    x, y, z = middle.T
    gx, gy, gz = xx * x + xy * y + xz * z + bx, xy * x + yy * y + yz * z + by, xz * x + yz * y + zz * z + bz
    there = gx * x + gy * y + gz * z + bx * x + by * y + bz * z + c  # the quadric in the middle
    hold = FIRM * (xx + yy + zz) + 1e-300
    p, r, s = xx + hold, yy + hold, zz + hold
    cx, cy, cz = r * s - yz * yz, xz * yz - xy * s, xy * yz - xz * r
    det = p * cx + xy * cy + xz * cz
    det = np.where(det > 0, det, np.inf)
    dy, dz, ez = p * s - xz * xz, xy * xz - p * yz, p * r - xy * xy
    step = (
        -np.stack([cx * gx + cy * gy + cz * gz, cy * gx + dy * gy + dz * gz, cz * gx + dz * gy + ez * gz], axis=-1) / det[:, None]
    )
    square = _dot(along, along)
    step = np.where((_dot(step, step) <= square)[:, None], step, 0.0)  # never far away
    u, v, w = step.T
    gain = 2 * (gx * u + gy * v + gz * w) + xx * u * u + yy * v * v + zz * w * w + 2 * (xy * u * v + xz * u * w + yz * v * w)
    return middle + step, np.maximum(there + gain, 0.0) + FLAT * square * square


def _turning(state: _State, edges: Array, place: Array) -> Array:
    """Which contractions, each done alone, would turn a face over that stays."""
    points, faces = state.points, state.faces
    around = np.argsort(faces.reshape(-1), kind="stable")
    first = np.searchsorted(faces.reshape(-1)[around], np.arange(len(points) + 1))
    bad = np.zeros(len(edges), dtype=bool)
    for side in (0, 1):
        own, other = edges[:, side], edges[:, 1 - side]
        count = first[own + 1] - first[own]
        edge = np.repeat(np.arange(len(edges)), count)
        slot = around[np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first[own], count)]
        face, corner = slot // 3, slot % 3
        stays = ~(faces[face] == other[edge, None]).any(axis=1)
        edge, face, corner = edge[stays], face[stays], corner[stays]
        corners = points[faces[face]]
        old = _normals(corners)
        corners[np.arange(len(edge)), corner] = place[edge]
        new = _normals(corners)
        turned = _dot(old, new) < FLIP * np.sqrt(_dot(old, old) * _dot(new, new))
        bad[edge[turned]] = True
    return bad


def _apart(edges: Array, ranked: Array, count: int) -> Array:
    """Which edges, ranked by cost, can contract at once: no end of one is an end of another, or its neighbour.

    First those that come before all others so near, then the same among the edges that these leave, a few times.
    """
    rank = np.arange(len(ranked))
    left, chosen, taken = rank, [rank[:0]], np.zeros(count, dtype=bool)
    for _ in range(LAYERS):
        near = np.full(count, len(ranked))
        for side in (0, 1):
            np.minimum.at(near, ranked[left, side], left)
        wide = near.copy()
        for side in (0, 1):
            np.minimum.at(wide, edges[:, side], near[edges[:, 1 - side]])
        first = left[(wide[ranked[left, 0]] == left) & (wide[ranked[left, 1]] == left)]
        chosen.append(first)
        ends = np.zeros(count, dtype=bool)
        ends[ranked[first]] = True
        taken |= ends
        for side in (0, 1):
            taken[edges[ends[edges[:, 1 - side]], side]] = True
        left = left[~taken[ranked[left]].any(axis=1)]
    return np.sort(np.concatenate(chosen))
