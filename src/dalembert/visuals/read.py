"""The visuals of a robot, from the URDF file that it was loaded from. What cannot be drawn is told, and never an error."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.errors import Error, brief
from dalembert.model import urdf, xml
from dalembert.model.model import Model
from dalembert.storage import limits
from dalembert.storage.opening import opened
from dalembert.visuals.collada import read_collada
from dalembert.visuals.find import beside, mesh_file
from dalembert.visuals.obj import read_obj
from dalembert.visuals.shapes import Box, Colour, Cylinder, Mesh, Sphere, Visual, moved
from dalembert.visuals.simplify import simplified
from dalembert.visuals.stl import read_stl

FACES = 1000  # of a mesh
ALL_FACES = 40_000  # of all meshes of a robot: about half a megabyte in a page


class Visuals(NamedTuple):
    """What a robot looks like: its shapes; why others are not drawn, with the moving link that they belong to (-1: the base)."""

    shapes: tuple[Visual, ...]
    missing: tuple[tuple[int, str], ...]

    def bare(self, robot: Model) -> list[int]:
        """Links (-1: the base) that need shapes of our own: one of theirs is missing, or they have mass and none was given."""
        if not self.shapes:
            return list(range(-1, len(robot.links)))
        seen, missed = {v.link for v in self.shapes}, {link for link, _ in self.missing}
        heavy = {i for i, link in enumerate(robot.links) if link.inertia.mass > 0}
        return sorted(missed | (heavy - seen))


NONE = Visuals((), ())


def visuals(robot: Model) -> Visuals:
    """The visuals of a robot's URDF file, in the frames of its moving links; none if it came from elsewhere.

    Meshes are simplified to about 1,000 faces each, fewer where there are many meshes. A file that two visuals name is read once.
    """
    if not robot.file:
        return NONE
    path = Path(robot.file)
    try:
        root = xml.parse(_content(path, limits.ROBOT_BYTES))
    except Error as error:
        return Visuals((), ((-1, f"{path.name} cannot be read again: {error}"),))
    given = list(_given(root, robot))
    if len(given) > limits.VISUALS:
        return Visuals((), ((-1, f"there are {len(given)} visuals, more than {limits.VISUALS}"),))
    names = {mesh.get("filename", "") for _, _, x in given if (mesh := x.find("geometry/mesh")) is not None}
    reader = _Reader(path, _materials(root), min(FACES, max(ALL_FACES // max(len(names), 1), 20)))
    shapes: list[Visual] = []
    missing: list[tuple[int, str]] = []
    for name, link, element in given:
        try:
            seen = reader.visual(robot, name, element)
            shapes += [] if seen is None else [seen]
        except Error as error:
            missing.append((link, f"link {brief(name, 60)}: {error}"))
    return Visuals(tuple(shapes), tuple(missing))


def _given(root: Element, robot: Model) -> Iterator[tuple[str, int, Element]]:
    """(name of the link in the file, the moving link that carries it, element) of each visual of a link that is still there."""
    for link in root.iterfind("link"):
        name = link.get("name", "")
        try:
            carrier, _ = robot.locate(name)
        except Error:
            continue
        yield from ((name, carrier, element) for element in link.iterfind("visual"))


def _materials(root: Element) -> dict[str, Element]:
    """Materials with a colour by name: those of the robot, and those inside visuals that others refer to."""
    return {x.get("name", ""): x for x in reversed(list(root.iter("material"))) if x.find("color") is not None}


class _Reader:
    def __init__(self, path: Path, materials: dict[str, Element], faces: int) -> None:
        self.path, self.materials, self.faces = path, materials, faces
        self.files: dict[Path, Mesh | Error] = {}
        self.scaled: dict[tuple[Path, tuple[float, ...]], Mesh] = {}

    def visual(self, robot: Model, name: str, element: Element) -> Visual | None:
        """One visual in the frame of the moving link; None if it is transparent."""
        link, pose = robot.locate(name)
        colour = self.colour(element.find("material"))
        if colour is not None and colour[3] <= 0.0:
            return None
        geometry = element.find("geometry")
        shape = self.shape(next(iter(geometry), None) if geometry is not None else None)
        return Visual(link, pose @ urdf.origin(element.find("origin"), "its visual"), shape, colour)

    def colour(self, material: Element | None) -> Colour:
        if material is None:
            return None
        given = material if material.find("color") is not None else self.materials.get(material.get("name", ""), material)
        if given.find("color") is None:
            return None
        rgba = urdf.vector(given.find("color"), "rgba", "its colour", (1.0, 1.0, 1.0, 1.0))
        return tuple(np.clip(rgba, 0.0, 1.0).tolist())

    def shape(self, element: Element | None) -> Box | Cylinder | Sphere | Mesh:
        if element is None:
            raise Error("its visual has no geometry")
        size = {"sphere": ("radius",), "cylinder": ("radius", "length")}.get(element.tag)
        if element.tag == "mesh":
            return self.mesh(element)
        if element.tag == "box":
            x, y, z = _positive(urdf.vector(element, "size", "its box", (0.0, 0.0, 0.0)).tolist())
            return Box((x, y, z))
        if size is None:
            raise Error(f"its visual is a <{element.tag[:40]}>, which is not drawn")
        numbers = _positive([urdf.scalar(element, key, f"its {element.tag}", 0.0) for key in size])
        return Cylinder(*numbers) if element.tag == "cylinder" else Sphere(*numbers)

    def mesh(self, element: Element) -> Mesh:
        place = mesh_file(element.get("filename", ""), self.path)
        scale = urdf.vector(element, "scale", "its mesh", (1.0, 1.0, 1.0))
        key = place, tuple(scale.tolist())
        if key not in self.scaled:
            if not scale.all():
                raise Error(f"its mesh has scale {scale.tolist()}, which must not be zero")
            if place not in self.files:
                self.files[place] = _simple(place, self.faces)
            shape = self.files[place]
            if isinstance(shape, Error):
                raise shape
            self.scaled[key] = moved(shape, np.diag([*scale, 0.0])[:3])
        return self.scaled[key]


def _simple(place: Path, faces: int) -> Mesh | Error:
    """The mesh of a file with few faces, or why there is none; either is remembered for the next visual that names it."""
    try:
        shape = simplified(_mesh(place), faces)
        return shape if len(shape.faces) else Error(f"{place.name}: its faces have no area")
    except Error as error:
        return Error(f"{place.name}: {str(error).removeprefix(f'{place}: ')}")


def _mesh(place: Path) -> Mesh:
    data, ending = _content(place, limits.MESH_BYTES), place.suffix.lower()
    if ending == ".stl":
        return read_stl(data)
    if ending == ".dae":
        return read_collada(data)

    def library(name: str) -> bytes | None:
        there = beside(name, place)
        try:
            return None if there is None else _content(there, limits.ROBOT_BYTES)
        except Error:
            return None  # the mesh has no colours then

    return read_obj(data, library)


def _content(place: Path, most: int) -> bytes:
    with opened(place) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise Error(f"larger than {most >> 20} MiB, too large")
        return file.read(most)


def _positive(sizes: list[float]) -> list[float]:
    if not all(0.0 < size <= limits.MESH_SIZE for size in sizes):
        raise Error(f"its sizes must be positive, got {sizes}")
    return sizes
