"""Meshes from COLLADA files (.dae): the geometries of the scene, each in its place, with diffuse colours. Textures are not drawn.

Lengths are turned into metres; the up axis is not applied, since URDF files are written for viewers that ignore it.
"""

import math
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.algebra.rotations import rodrigues
from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.model import xml
from dalembert.storage import limits
from dalembert.visuals.shapes import Colour, Mesh, fans, mesh, moved

Placed = tuple[Element, Array]


def read_collada(data: bytes) -> Mesh:
    """The mesh in a file."""
    root = xml.parse(data, text=True)
    if root.tag != "COLLADA":
        raise Error(f"the root element is <{root.tag[:40]}>, a COLLADA file has <COLLADA>")
    with np.errstate(all="ignore"):  # places that are not finite make points that are refused
        return _Document(root).mesh()


class _Document:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.by_id = {found: element for element in root.iter() if (found := element.get("id"))}
        self.read: dict[tuple[str, tuple[Any, ...]], Mesh] = {}

    def at(self, url: str | None) -> Element | None:
        return self.by_id.get((url or "").removeprefix("#"))

    def mesh(self) -> Mesh:
        """All geometries of the scene in one."""
        unit = self.root.find("asset/unit")
        metre = _numbers((unit is not None and unit.get("meter")) or "1", 1)[0]
        if not 1e-9 < metre < 1e9:
            raise Error(f"the unit is {metre:g} m")
        whole, count, start = np.diag([metre, metre, metre, 1.0]), 0, 0
        points: list[Array] = []
        parts: list[tuple[Array, Colour]] = []
        for instance, matrix in self.instances():
            shape = moved(self.geometry(instance), (whole @ matrix)[:3])
            count += max(len(shape.faces), len(shape.points) // 3)
            if count > limits.MESH_FACES:
                raise Error(f"more than {limits.MESH_FACES} faces, too many")
            points.append(shape.points)
            parts += [(shape.faces[shape.paint == k] + start, colour) for k, colour in enumerate(shape.colours)]
            start += len(shape.points)
        return mesh(np.concatenate([*points, np.zeros((0, 3))]), parts)

    def instances(self) -> Iterator[Placed]:
        """Every <instance_geometry> of the scene, and its place."""
        shown = self.root.find("scene/instance_visual_scene")
        scene = self.at(shown.get("url")) if shown is not None else self.root.find("library_visual_scenes/visual_scene")
        stack: list[tuple[Element, Array, int]] = [] if scene is None else [(scene, np.eye(4), 0)]
        seen = 0
        while stack:
            node, matrix, depth = stack.pop()
            seen += 1
            if seen > limits.MESH_NODES or depth > limits.XML_DEPTH:
                raise Error(f"the scene has more than {limits.MESH_NODES} nodes, or contains itself")
            matrix = matrix @ _transform(node)
            for part in node:
                inner = self.at(part.get("url")) if part.tag == "instance_node" else part if part.tag == "node" else None
                if inner is not None:
                    stack.append((inner, matrix, depth + 1))
                elif part.tag == "instance_geometry":
                    yield part, matrix

    def geometry(self, instance: Element) -> Mesh:
        """The mesh of an <instance_geometry>, with the colours that are bound to its materials there."""
        bound = {x.get("symbol", ""): self.colour(x.get("target")) for x in instance.iter("instance_material")}
        key = instance.get("url", ""), tuple(bound.items())
        if key not in self.read:
            self.read[key] = self.triangles(self.at(instance.get("url")), bound)
        return self.read[key]

    def colour(self, target: str | None) -> Colour:
        material = self.at(target)
        effect = None if material is None else material.find("instance_effect")
        found = None if effect is None else self.at(effect.get("url"))
        for given in () if found is None else found.iterfind(".//diffuse/color"):
            return tuple(_numbers(given.text, 3).tolist())
        return None

    def triangles(self, geometry: Element | None, bound: dict[str, Colour]) -> Mesh:
        """What is inside a <geometry>; each list of faces has its own table of points."""
        points: list[Array] = []
        parts: list[tuple[Array, Colour]] = []
        tables: dict[str, int] = {}
        for group in geometry.iterfind("mesh/*") if geometry is not None else ():
            if group.tag not in ("triangles", "polylist", "polygons"):
                continue
            source, corners, counts = _corners(group)
            if source not in tables:
                tables[source] = sum(map(len, points))
                points.append(self.positions(source))
            inside = len(points[list(tables).index(source)])
            if corners.size and not 0 <= corners.min() <= corners.max() < inside:
                raise Error(f"a face names a point that is not among the {inside}")
            parts.append((fans(corners, counts) + tables[source], bound.get(group.get("material", ""))))
        if not any(len(faces) for faces, _ in parts):  # of lines only
            return Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64), ())
        return mesh(np.concatenate(points), parts)

    def positions(self, url: str) -> Array:
        """The points of a <vertices>."""
        vertices = self.at(url)
        given = None if vertices is None else vertices.find("input[@semantic='POSITION']")
        source = None if given is None else self.at(given.get("source"))
        values = None if source is None else source.find("float_array")
        if source is None or values is None:
            raise Error(f"there are no positions in {brief(url, 60)}")
        accessor = source.find("technique_common/accessor")
        stride, start = (
            int(_numbers((accessor is not None and accessor.get(k)) or d, 1)[0]) for k, d in (("stride", "3"), ("offset", "0"))
        )
        if not 3 <= stride <= 64 or start < 0:
            raise Error(f"positions have {stride} numbers each, not 3")
        flat = _numbers(values.text)[start:]
        return flat[: len(flat) // stride * stride].reshape(-1, stride)[:, :3]


def _corners(group: Element) -> tuple[str, Array, Array]:
    """Of a list of faces: the table of its points, the index there of every corner, and how many corners each face has."""
    inputs = [(x.get("semantic"), x.get("source", ""), int(_numbers(x.get("offset", "0"), 1)[0])) for x in group.findall("input")]
    source, offset = next(((s, k) for semantic, s, k in inputs if semantic == "VERTEX"), ("", -1))
    stride = 1 + max((k for _, _, k in inputs), default=0)
    if not 0 <= offset < stride <= 64:
        raise Error(f"<{group.tag}> has no usable VERTEX input")
    lists = [_indices(p.text) for p in group.findall("p")]
    if any(len(x) % stride for x in lists):
        raise Error(f"<p> of <{group.tag}> has an incomplete corner")
    corners = np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).reshape(-1, stride)[:, offset]
    if group.tag == "polylist":
        given = group.find("vcount")
        counts = _indices("" if given is None else given.text)
    elif group.tag == "polygons":
        counts = np.array([len(x) // stride for x in lists], dtype=np.int64)
    else:
        counts = np.full(len(corners) // 3, 3)
    if counts.min(initial=1) < 0 or float(counts.sum(dtype=float)) != len(corners):
        raise Error(f"the faces of <{group.tag}> have {counts.sum(dtype=float):g} corners, given are {len(corners)}")
    return source, corners, counts


def _transform(node: Element) -> Array:
    """The place of a node in its parent: its parts in order, multiplied from the left."""
    T = np.eye(4)
    for part in node:
        if part.tag == "matrix":
            T = T @ _numbers(part.text, 16).reshape(4, 4)
        elif part.tag in ("translate", "scale", "rotate"):
            own, v = np.eye(4), _numbers(part.text, 4 if part.tag == "rotate" else 3)
            if part.tag == "translate":
                own[:3, 3] = v
            elif part.tag == "scale":
                own[:3, :3] = np.diag(v)
            else:
                size = math.sqrt(float((v[:3] * v[:3]).sum())) or 1.0  # about a zero axis nothing turns
                own[:3, :3] = rodrigues(v[:3] / size, math.radians(v[3]))
            T = T @ own
    return T


def _numbers(given: Any, count: int | None = None) -> Array:
    words = (given or "").split()
    try:
        values = np.array(words, dtype=float)
    except ValueError as error:
        raise Error(f"not numbers: {error}") from None
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e15:
        raise Error("a number is not finite, or too large")
    if count is not None and len(values) < count:
        raise Error(f"{count} numbers are needed, got {brief(given, 60)}")
    return values[:count] if count is not None else values


def _indices(given: Any) -> Array:
    return _numbers(given).astype(np.int64)
