"""Meshes from Wavefront OBJ files, with the diffuse colours of their MTL files. Textures are not drawn."""

from array import array
from collections.abc import Callable
from contextlib import suppress
from itertools import chain

import numpy as np

from dalembert.errors import Error, brief
from dalembert.storage import limits
from dalembert.storage.limits import at_most
from dalembert.visuals.shapes import Colour, Mesh, fan, mesh

Library = Callable[[str], bytes | None]  # the content of the MTL file of this name, if there is one


def read_obj(data: bytes, library: Library) -> Mesh:
    """The mesh in a file; polygons become triangles."""
    at_most(data.count(b"\n") + data.count(b"\r"), limits.MESH_LINES, "lines")
    points = array("d")
    libraries: dict[str, None] = {}  # the last mention counts
    parts = {"": array("q")}
    current, total = parts[""], 0
    for number, line in enumerate(data.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").splitlines(), 1):
        at_most(len(line), limits.MESH_LINE, f"characters in line {number}")
        words = line.split()
        try:
            if not words:
                continue
            if words[0] == b"v":
                x, y, z = map(float, words[1:4])
                points.extend((x, y, z))
            elif words[0] == b"f":
                total += max(len(words) - 3, 0)
                at_most(total, limits.MESH_FACES, "faces")
                corners = [_index(word, len(points) // 3) for word in words[1:]] if len(words) > 3 else []
                current.extend(chain.from_iterable(fan(corners)))
            elif words[0] == b"usemtl":
                current = parts.setdefault(_name(line), array("q"))
            elif words[0] == b"mtllib":
                libraries.pop(_name(line), None)
                libraries[_name(line)] = None
                at_most(len(libraries), limits.MESH_LIBRARIES, "files of colours")
        except Error:
            raise
        except ValueError:
            raise Error(f"line {number} is not as in an OBJ file: {brief(line.decode(errors='replace'), 60)}") from None
    colours: dict[str, Colour] = {}
    for name in libraries:
        colours |= _colours(library(name) or b"")
    pieces = [(np.array(faces).reshape(-1, 3), colours.get(name)) for name, faces in parts.items() if faces]
    return mesh(np.array(points), pieces)


def _index(word: bytes, count: int) -> int:
    """From 1 in the file, or backwards from -1; from 0 here."""
    k = int(word.partition(b"/")[0])
    if k == 0 or abs(k) > limits.MESH_BYTES:
        raise ValueError
    return k - 1 if k > 0 else count + k


def _name(line: bytes) -> str:
    return line.split(None, 1)[1].strip().decode(errors="replace") if len(line.split(None, 1)) > 1 else ""


def _colours(data: bytes) -> dict[str, Colour]:
    """The diffuse colour of each material."""
    found: dict[str, Colour] = {}
    name = ""
    for line in data.splitlines():
        words = line.split()
        if words[:1] == [b"newmtl"]:
            name = _name(line)
        elif words[:1] == [b"Kd"]:
            with suppress(ValueError):  # also given by names of spectra
                red, green, blue = map(float, words[1:4])
                found[name] = red, green, blue
    return found
