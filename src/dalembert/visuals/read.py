"""The visuals of a robot, from the URDF file that it was loaded from. What cannot be drawn is told, and never an error."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.errors import Error, brief
from dalembert.model import urdf, xml
from dalembert.model.model import Model
from dalembert.storage import limits
from dalembert.storage.limits import at_most
from dalembert.storage.opening import in_memory, opened
from dalembert.visuals.collada import read_collada
from dalembert.visuals.find import beside, mesh_file
from dalembert.visuals.obj import read_obj
from dalembert.visuals.shapes import Box, Colour, Cylinder, Mesh, Sphere, Visual, moved
from dalembert.visuals.simplify import simplified
from dalembert.visuals.stl import read_stl

FACES = 1000  # of a mesh
MOST_POINTS = 1 << 16  # of a mesh in a page, whose faces name them with 16 bits
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

    Meshes are simplified to about 1,000 faces each, fewer where there are many meshes. A file is read once, whatever its names.
    """
    if not robot.file:
        return NONE
    path = Path(robot.file)
    try:
        with in_memory(path):
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
        self.files: dict[_Identity, Mesh | Error] = {}
        self.scaled: dict[tuple[_Identity, tuple[float, ...]], Mesh] = {}
        self.bytes, self.given, self.shown = 0, 0, 0  # of files, and their faces before and after simplification

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
        if not scale.all():
            raise Error(f"its mesh has scale {scale.tolist()}, which must not be zero")
        file = _identity(place)
        key = file, tuple(scale.tolist())
        if key not in self.scaled:
            if file not in self.files:
                at_most(len(self.files) + 1, limits.VISUALS_FILES, "mesh files")
                self.files[file] = self.simple(place)
            shape = self.files[file]
            if isinstance(shape, Error):
                raise Error(f"{place.name}: {shape}")
            at_most(self.shown + len(shape.faces), limits.SHOWN_FACES, "faces in all meshes and their scales")
            self.scaled[key] = moved(shape, np.diag([*scale, 0.0])[:3])
            self.shown += len(shape.faces)
        return self.scaled[key]

    def simple(self, place: Path) -> Mesh | Error:
        """The mesh of a file with few faces, or why there is none; either is remembered for the next visual that names it."""
        try:
            with in_memory(place):
                whole = _mesh(place, self.content)
                at_most(self.given + len(whole.faces), limits.VISUALS_FACES, "faces in the meshes of the robot")
                self.given += len(whole.faces)
                shape = simplified(whole, self.faces)
            at_most(len(shape.points), MOST_POINTS, "points after simplification")
            return shape if len(shape.faces) else Error("its faces have no area")
        except Error as error:
            return Error(str(error).removeprefix(f"{place}: "))

    def content(self, place: Path, most: int) -> bytes:
        """What all files together hold is limited, too."""
        data = _content(place, most, self.bytes)
        self.bytes += len(data)
        return data


_Identity = tuple[Any, ...]


def _identity(place: Path) -> _Identity:
    """The same for all names of a file: its own numbers, its ending, which says how it is read, and the folder of its colours."""
    try:
        own, folder = place.stat(), place.parent.stat()
    except OSError:
        return (place,)
    if not own.st_ino:  # a system without such numbers
        return (place,)
    ending = place.suffix.lower()
    return own.st_dev, own.st_ino, ending, (folder.st_dev, folder.st_ino) if ending == ".obj" else None


def _mesh(place: Path, content: Callable[[Path, int], bytes] | None = None) -> Mesh:
    content = content or _content
    data, ending = content(place, limits.MESH_BYTES), place.suffix.lower()
    if ending == ".stl":
        return read_stl(data)
    if ending == ".dae":
        return read_collada(data)

    def library(name: str) -> bytes | None:
        there = beside(name, place)
        try:
            return None if there is None else content(there, limits.LIBRARY_BYTES)
        except Error:
            return None  # the mesh has no colours then

    return read_obj(data, library)


def _content(place: Path, most: int, before: int = 0) -> bytes:
    """A file, after others of a robot with so many bytes."""
    with opened(place) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise Error(f"larger than {most >> 20} MiB, too large")
        at_most(before + size, limits.VISUALS_BYTES, "bytes in the mesh files of the robot")
        return file.read(most)


def _positive(sizes: list[float]) -> list[float]:
    if not all(0.0 < size <= limits.MESH_SIZE for size in sizes):
        raise Error(f"its sizes must be positive, got {sizes}")
    return sizes
