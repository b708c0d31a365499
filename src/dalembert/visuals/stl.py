"""Meshes from STL files, binary or text. They have no colours that all programs agree on; what they may have is passed over."""

import re
from itertools import islice

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.storage import limits
from dalembert.storage.limits import at_most
from dalembert.visuals.shapes import Mesh, mesh

RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEAD = 84  # bytes: 80 of anything, then the number of faces
VERTEX = re.compile(rb"\bvertex\s++(\S++)\s++(\S++)\s++(\S++)")
PIECE = 50_000  # vertices that are numbers at once
LONGEST = 100  # characters of a number


def read_stl(data: bytes) -> Mesh:
    """The mesh in a file. Some binary files begin with "solid", as texts do: the length tells them apart."""
    count = int.from_bytes(data[80:HEAD], "little")
    whole = HEAD + RECORD.itemsize * count
    if len(data) >= HEAD and len(data) == whole:
        return _binary(data, count)
    if data.lstrip()[:5] == b"solid":
        return _text(data)
    if len(data) < HEAD:
        raise Error(f"an STL file has at least {HEAD} bytes, this one {len(data)}")
    if len(data) < whole:
        raise Error(f"truncated: {count} faces take {whole} bytes, there are {len(data)}")
    return _binary(data, count)


def _binary(data: bytes, count: int) -> Mesh:
    at_most(count, limits.MESH_FACES, "faces")
    return _mesh(np.frombuffer(data, RECORD, count, HEAD)["corners"].reshape(-1, 3))


def _text(data: bytes) -> Mesh:
    at_most(data.count(b"vertex"), 3 * limits.MESH_FACES, "vertices")
    found = VERTEX.finditer(data)
    points = [np.zeros((0, 3))]
    while some := [vertex.groups() for vertex in islice(found, PIECE)]:
        if max(len(word) for vertex in some for word in vertex) > LONGEST:  # an array of texts is as wide as the longest
            raise Error(f"a number has more than {LONGEST} characters")
        try:
            points.append(np.array(some, dtype="S").astype(float))
        except ValueError as error:
            raise Error(f"a vertex has three numbers: {error}") from None
    if sum(map(len, points)) % 3 or b"endsolid" not in data:
        raise Error("truncated: facets have three vertices each, and the last line is endsolid")
    return _mesh(np.concatenate(points))


def _mesh(points: Array) -> Mesh:
    """Three points a face."""
    return mesh(points, [(np.arange(len(points)).reshape(-1, 3), None)])
