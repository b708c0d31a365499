"""Meshes from STL files, binary or text. They have no colours that all programs agree on; what they may have is passed over."""

import re

import numpy as np

from dalembert.errors import Error
from dalembert.visuals.shapes import Mesh, mesh

RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEAD = 84  # bytes: 80 of anything, then the number of faces
VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


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
    corners = np.frombuffer(data, RECORD, count, HEAD)["corners"]
    return mesh(corners.reshape(-1, 3), [(np.arange(3 * count), None)])


def _text(data: bytes) -> Mesh:
    found = VERTEX.findall(data)
    if len(found) % 3 or b"endsolid" not in data:
        raise Error("truncated: facets have three vertices each, and the last line is endsolid")
    try:
        points = np.array(found, dtype="S").astype(float)
    except ValueError as error:
        raise Error(f"a vertex has three numbers: {error}") from None
    return mesh(points, [(np.arange(len(found)), None)])
