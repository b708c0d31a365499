"""What a visual can be: a box, a cylinder, a sphere or a mesh of triangles, and where it is fixed."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.pose import Pose
from dalembert.storage import limits
from dalembert.storage.limits import at_most

MANY = 200_000  # points whose distances are found at once
Colour = tuple[float, ...] | None  # red, green, blue and, of a visual, opacity, from 0 to 1; None: the page's own


class Box(NamedTuple):
    """Edges along x, y and z, m; the origin is its centre."""

    size: tuple[float, float, float]


class Cylinder(NamedTuple):
    """Along z; the origin is its centre, m."""

    radius: float
    length: float


class Sphere(NamedTuple):
    """About the origin, m."""

    radius: float


class Mesh(NamedTuple):
    """Triangles: points (p, 3) in m, three indices of points a face (f, 3), and the index of each face's colour (f,)."""

    points: Array
    faces: Array
    paint: Array
    colours: tuple[Colour, ...]


class Visual(NamedTuple):
    """A shape fixed at a pose in a moving link (-1: the base); the colour is for what has none of its own."""

    link: int
    at: Pose
    shape: Box | Cylinder | Sphere | Mesh
    colour: Colour


def mesh(points: Any, parts: Sequence[tuple[Any, Colour]]) -> Mesh:
    """A checked mesh from points (p, 3) and faces (f, 3) with a colour, several times.

    >>> mesh(np.eye(3), [([[0, 1, 2]], None)]).faces.tolist()
    [[0, 1, 2]]
    >>> mesh(np.eye(3), [([[0, 1, 3]], None)])
    Traceback (most recent call last):
    dalembert.errors.Error: a face names point 3, but there are 3 points, from 0
    """
    with np.errstate(invalid="ignore"):  # NaN of any kind is refused below
        points = np.asarray(points, dtype=float).reshape(-1, 3)
    if not np.isfinite(points).all() or (points.size and np.abs(points).max() > limits.MESH_SIZE):
        raise Error(f"a coordinate is not a number, or beyond {limits.MESH_SIZE:g}")
    at_most(sum(len(faces) for faces, _ in parts), limits.MESH_FACES, "faces")
    parts = [(faces, _clear(colour)) for faces, colour in parts]
    colours: tuple[Colour, ...] = tuple(dict.fromkeys(colour for _, colour in parts))
    at_most(len(colours), limits.MESH_COLOURS, "colours")
    place = {colour: k for k, colour in enumerate(colours)}
    pieces = [np.asarray(faces, dtype=np.int64).reshape(-1, 3) for faces, _ in parts]
    faces = np.concatenate([*pieces, np.zeros((0, 3), dtype=np.int64)])
    if not len(faces):
        raise Error("there are no faces")
    if faces.min() < 0 or faces.max() >= len(points):
        wrong = faces.min() if faces.min() < 0 else faces.max()
        raise Error(f"a face names point {wrong}, but there are {len(points)} points, from 0")
    paint = np.repeat([place[colour] for _, colour in parts], [len(piece) for piece in pieces])
    return frozen(Mesh(points, faces, paint, colours))


def _clear(colour: Colour) -> Colour:
    """A colour between 0 and 1; none where one of its numbers is none."""
    return None if colour is None or not np.isfinite(colour).all() else tuple(min(max(x, 0.0), 1.0) for x in colour)


def frozen(shape: Mesh) -> Mesh:
    """The same with arrays that nobody can change."""
    for array in shape[:3]:
        array.setflags(write=False)
    return shape


def fan(corners: Any) -> Any:
    """Triangles of one polygon, given by the indices of its corners.

    >>> fan([4, 5, 6, 7])
    [(4, 5, 6), (4, 6, 7)]
    """
    return [(corners[0], a, b) for a, b in pairwise(corners[1:])]


def fans(corners: Array, counts: Array) -> Array:
    """Triangles (f, 3) of polygons that follow one another, with so many corners each.

    >>> fans(np.array([0, 1, 2, 3, 9, 8, 7]), np.array([4, 3])).tolist()
    [[0, 1, 2], [0, 2, 3], [9, 8, 7]]
    """
    starts = np.cumsum(counts) - counts
    pieces = np.maximum(counts - 2, 0)
    first = np.repeat(starts, pieces)
    step = np.arange(len(first)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return corners[np.stack([first, first + step + 1, first + step + 2], axis=-1)]


def moved(shape: Mesh, matrix: Array) -> Mesh:
    """A mesh under an affine map (3, 4); a reflection turns its faces round."""
    R, p = matrix[:, :3], matrix[:, 3]
    with np.errstate(all="ignore"):  # what is not finite is refused below
        points = sum((shape.points[:, k, None] * R[:, k] for k in range(3)), np.zeros(3)) + p
        turned = float(np.linalg.det(R)) < 0
    faces = shape.faces[:, ::-1].copy() if turned else shape.faces
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > limits.MESH_SIZE:
        raise Error(f"a coordinate is not a number, or beyond {limits.MESH_SIZE:g}")
    return frozen(Mesh(points, faces, shape.paint, shape.colours))


def extremes(visuals: Sequence[Visual]) -> dict[int, Array]:
    """For each link (-1: the base) the points (k, 3) of its visuals that reach farthest, in 26 directions, in the link's frame.

    >>> ball = Visual(2, Pose.of((1.0, 0.0, 0.0)), Sphere(0.5), None)
    >>> float(extremes([ball])[2].max())
    1.5
    """
    grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    ways = grid[np.abs(grid).sum(axis=1) > 0]
    found: dict[int, list[Array]] = {}
    counts: dict[int, int] = {}
    for visual in visuals:
        points = _outline(visual.shape, ways) @ visual.at.rotation.T + visual.at.translation
        found.setdefault(visual.link, []).append(points)
        counts[visual.link] = counts.get(visual.link, 0) + len(points)
        if counts[visual.link] > MANY:
            found[visual.link] = [_farthest(found[visual.link], ways)]
            counts[visual.link] = len(found[visual.link][0])
    return {link: _farthest(parts, ways) for link, parts in found.items()}


def _farthest(parts: list[Array], ways: Array) -> Array:
    cloud = np.concatenate(parts)
    return cloud[np.unique((cloud @ ways.T).argmax(axis=0))]


def _outline(shape: Box | Cylinder | Sphere | Mesh, ways: Array) -> Array:
    if isinstance(shape, Mesh):
        return shape.points
    if isinstance(shape, Box):
        return ways * np.array(shape.size) / 2
    if isinstance(shape, Cylinder):
        around = ways[:, :2] / np.maximum(np.hypot(ways[:, :1], ways[:, 1:2]), 1.0)
        return np.hstack([shape.radius * around, shape.length / 2 * ways[:, 2:]])
    return shape.radius * ways / np.sqrt((ways * ways).sum(axis=1, keepdims=True))
