"""Meshes from Wavefront OBJ files, with the diffuse colours of their MTL files. Textures are not drawn."""

from collections.abc import Callable
from contextlib import suppress

from dalembert.errors import Error, brief
from dalembert.storage import limits
from dalembert.visuals.shapes import Colour, Mesh, fan, mesh

Library = Callable[[str], bytes | None]  # the content of the MTL file of this name, if there is one


def read_obj(data: bytes, library: Library) -> Mesh:
    """The mesh in a file; polygons become triangles."""
    points: list[list[float]] = []
    colours: dict[str, Colour] = {}
    parts: dict[str, list[tuple[int, int, int]]] = {"": []}
    current = parts[""]
    for number, line in enumerate(data.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").splitlines(), 1):
        words = line.split()
        try:
            if not words:
                continue
            if words[0] == b"v":
                x, y, z = map(float, words[1:4])
                points.append([x, y, z])
            elif words[0] == b"f":
                current += fan([_index(word, len(points)) for word in words[1:]]) if len(words) > 3 else []
            elif words[0] == b"usemtl":
                current = parts.setdefault(_name(line), [])
            elif words[0] == b"mtllib":
                colours |= _colours(library(_name(line)) or b"")
        except ValueError:
            raise Error(f"line {number} is not as in an OBJ file: {brief(line.decode(errors='replace'), 60)}") from None
    return mesh(points, [(faces, colours.get(name)) for name, faces in parts.items() if faces])


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
