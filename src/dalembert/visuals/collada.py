"""Meshes from COLLADA files (.dae): the geometries of the scene, each in its place, with diffuse colours. Textures are not drawn.

Lengths are turned into metres; the up axis is not applied, since URDF files are written for viewers that ignore it.
"""

import math
import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.algebra.rotations import rodrigues
from dalembert.algebra.spatial import Array
from dalembert.errors import Error, brief
from dalembert.model import xml
from dalembert.storage import limits
from dalembert.storage.limits import at_most
from dalembert.visuals.shapes import Colour, Mesh, fans, mesh, moved

Placed = tuple[Element, Array]
PIECE = 1 << 20  # characters that are numbers at once: a word takes ten times the memory of its number
GAP = re.compile(r"\s")


def read_collada(data: bytes) -> Mesh:
    """The mesh in a file."""
    root = xml.parse(data, text=True, most=limits.MESH_ITEMS)
    if root.tag != "COLLADA":
        raise Error(f"the root element is <{root.tag[:40]}>, a COLLADA file has <COLLADA>")
    with np.errstate(all="ignore"):  # places that are not finite make points that are refused
        return _Document(root, min(limits.MESH_NUMBERS, len(data) + limits.MESH_COPIES)).mesh()


class _Document:
    def __init__(self, root: Element, most: int) -> None:
        self.root = root
        self.by_id = {found: element for element in root.iter() if (found := element.get("id"))}
        self.read: dict[tuple[str, tuple[Any, ...]], Mesh] = {}
        self.most, self.work = most, 0

    def spend(self, count: int) -> None:
        """Count numbers and elements as often as they are read: a short scene can show the same ones a million times."""
        self.work += count
        at_most(self.work, self.most, "numbers and elements in all that the scene shows")

    def looked(self, element: Element) -> Element:
        """An element that is searched, whose parts count."""
        self.spend(sum(1 for _ in element.iter()))
        return element

    def at(self, url: str | None) -> Element | None:
        return self.by_id.get((url or "").removeprefix("#"))

    def mesh(self) -> Mesh:
        """All geometries of the scene in one."""
        unit = self.root.find("asset/unit")
        metre = self.numbers((unit is not None and unit.get("meter")) or "1", 1)[0]
        if not 1e-9 < metre < 1e9:
            raise Error(f"the unit is {metre:g} m")
        whole, count, start = np.diag([metre, metre, metre, 1.0]), 0, 0
        points: list[Array] = []
        parts: list[tuple[Array, Colour]] = []
        for instance, matrix in self.instances():
            shape = moved(self.geometry(instance), (whole @ matrix)[:3])
            self.spend(1 + len(shape.colours))
            count += max(len(shape.faces), len(shape.points) // 3)
            at_most(count, limits.MESH_FACES, "faces")
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
            seen += 1 + sum(part.tag == "instance_geometry" for part in node)
            if seen > limits.MESH_NODES or depth > limits.XML_DEPTH:
                raise Error(f"the scene has more than {limits.MESH_NODES} nodes, or contains itself")
            self.spend(len(node))
            matrix = matrix @ self.transform(node)
            for part in node:
                inner = self.at(part.get("url")) if part.tag == "instance_node" else part if part.tag == "node" else None
                if inner is not None:
                    stack.append((inner, matrix, depth + 1))
                elif part.tag == "instance_geometry":
                    yield part, matrix

    def geometry(self, instance: Element) -> Mesh:
        """The mesh of an <instance_geometry>, with the colours that are bound to its materials there."""
        bound = {x.get("symbol", ""): self.colour(x.get("target")) for x in self.looked(instance).iter("instance_material")}
        key = instance.get("url", ""), tuple(bound.items())
        if key not in self.read:
            self.read[key] = self.triangles(self.at(instance.get("url")), bound)
        return self.read[key]

    def colour(self, target: str | None) -> Colour:
        material = self.at(target)
        effect = None if material is None else self.looked(material).find("instance_effect")
        found = None if effect is None else self.at(effect.get("url"))
        for given in () if found is None else self.looked(found).iterfind(".//diffuse/color"):
            return tuple(self.numbers(given.text, 3).tolist())
        return None

    def triangles(self, geometry: Element | None, bound: dict[str, Colour]) -> Mesh:
        """What is inside a <geometry>; each list of faces has its own table of points."""
        points: list[Array] = []
        parts: list[tuple[Array, Colour]] = []
        tables: dict[str, tuple[int, int]] = {}  # where the points of each begin, and how many there are
        start, total = 0, 0
        for group in self.looked(geometry).iterfind("mesh/*") if geometry is not None else ():
            if group.tag not in ("triangles", "polylist", "polygons"):
                continue
            source, corners, counts = self.corners(group)
            if source not in tables:
                points.append(self.positions(source))
                tables[source] = start, len(points[-1])
                start += len(points[-1])
            first, inside = tables[source]
            if corners.size and not 0 <= corners.min() <= corners.max() < inside:
                raise Error(f"a face names a point that is not among the {inside}")
            total += int(np.maximum(counts - 2, 0).sum())
            at_most(total, limits.MESH_FACES, "faces")
            parts.append((fans(corners, counts) + first, bound.get(group.get("material", ""))))
        if not any(len(faces) for faces, _ in parts):  # of lines only
            return Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64), ())
        return mesh(np.concatenate(points), parts)

    def positions(self, url: str) -> Array:
        """The points of a <vertices>."""
        vertices = self.at(url)
        given = None if vertices is None else self.looked(vertices).find("input[@semantic='POSITION']")
        source = None if given is None else self.at(given.get("source"))
        values = None if source is None else self.looked(source).find("float_array")
        if source is None or values is None:
            raise Error(f"there are no positions in {brief(url, 60)}")
        accessor = source.find("technique_common/accessor")
        stride, start = (
            int(self.numbers((accessor is not None and accessor.get(k)) or d, 1)[0]) for k, d in (("stride", "3"), ("offset", "0"))
        )
        if not 3 <= stride <= 64 or start < 0:
            raise Error(f"positions have {stride} numbers each, not 3")
        flat = self.numbers(values.text)[start:]
        return flat[: len(flat) // stride * stride].reshape(-1, stride)[:, :3]

    def corners(self, group: Element) -> tuple[str, Array, Array]:
        """Of a list of faces: the table of its points, the index there of every corner, and how many corners each face has."""
        offsets = [int(self.numbers(x.get("offset", "0"), 1)[0]) for x in group.findall("input")]
        inputs = [(x.get("semantic"), x.get("source", ""), k) for x, k in zip(group.findall("input"), offsets, strict=True)]
        source, offset = next(((s, k) for semantic, s, k in inputs if semantic == "VERTEX"), ("", -1))
        stride = 1 + max((k for _, _, k in inputs), default=0)
        if not 0 <= offset < stride <= 64:
            raise Error(f"<{group.tag}> has no usable VERTEX input")
        lists = [self.indices(p.text) for p in group.findall("p")]
        if any(len(x) % stride for x in lists):
            raise Error(f"<p> of <{group.tag}> has an incomplete corner")
        corners = np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).reshape(-1, stride)[:, offset]
        if group.tag == "polylist":
            given = group.find("vcount")
            counts = self.indices("" if given is None else given.text)
        elif group.tag == "polygons":
            counts = np.array([len(x) // stride for x in lists], dtype=np.int64)
        else:
            counts = np.full(len(corners) // 3, 3)
        if counts.min(initial=1) < 0 or float(counts.sum(dtype=float)) != len(corners):
            raise Error(f"the faces of <{group.tag}> have {counts.sum(dtype=float):g} corners, given are {len(corners)}")
        return source, corners, counts

    def transform(self, node: Element) -> Array:
        """The place of a node in its parent: its parts in order, multiplied from the left."""
        T = np.eye(4)
        for part in node:
            if part.tag == "matrix":
                T = T @ self.numbers(part.text, 16).reshape(4, 4)
            elif part.tag in ("translate", "scale", "rotate"):
                own, v = np.eye(4), self.numbers(part.text, 4 if part.tag == "rotate" else 3)
                if part.tag == "translate":
                    own[:3, 3] = v
                elif part.tag == "scale":
                    own[:3, :3] = np.diag(v)
                else:
                    size = math.sqrt(float((v[:3] * v[:3]).sum())) or 1.0  # about a zero axis nothing turns
                    own[:3, :3] = rodrigues(v[:3] / size, math.radians(v[3]))
                T = T @ own
        return T

    def numbers(self, given: Any, count: int | None = None, kind: Any = float) -> Array:
        """The numbers of a text, all of them or the first ones."""
        pieces = [np.zeros(0, dtype=kind)]
        for piece in _pieces(given or ""):
            words = piece.split()
            self.spend(len(words))
            try:
                values = np.array(words, dtype=float)
            except ValueError as error:
                raise Error(f"not numbers: {error}") from None
            if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e15:
                raise Error("a number is not finite, or too large")
            pieces.append(values.astype(kind))
        values = np.concatenate(pieces)
        if count is not None and len(values) < count:
            raise Error(f"{count} numbers are needed, got {brief(given, 60)}")
        return values[:count] if count is not None else values

    def indices(self, given: Any) -> Array:
        return self.numbers(given, kind=np.int64)


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces, cut between words."""
    at = 0
    while at < len(text):
        gap = GAP.search(text, at + PIECE)
        end = len(text) if gap is None else gap.start()
        yield text[at:end]
        at = end
