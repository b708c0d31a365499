"""Visuals as a page takes them: plain lists and short texts. Coordinates and indices have 16 bits: 12 kB for 1,000 faces."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.visuals.shapes import Box, Colour, Cylinder, Mesh, Visual

STEPS = 65535


def packed(shapes: Sequence[Visual]) -> dict[str, Any]:
    """Meshes, each once, and visuals that refer to them by index or are a box, a cylinder or a sphere.

    >>> from dalembert.model.pose import Pose
    >>> packed([Visual(0, Pose.identity(), Box((1.0, 2.0, 3.0)), (1.0, 0.5, 0.0, 1.0))])["visuals"][0]["colour"]
    '#ff8000'
    """
    index: dict[int, int] = {}
    meshes: list[dict[str, Any]] = []
    visuals: list[dict[str, Any]] = []
    for visual in shapes:
        shape = visual.shape
        entry: dict[str, Any] = {"link": visual.link, "at": [round(float(x), 6) + 0.0 for x in visual.at.matrix[:3].reshape(-1)]}
        if isinstance(shape, Mesh):
            if id(shape) not in index:
                index[id(shape)] = len(meshes)
                meshes.append(_mesh(shape))
            entry["mesh"] = index[id(shape)]
        elif isinstance(shape, Box):
            entry["box"] = list(shape.size)
        elif isinstance(shape, Cylinder):
            entry["cylinder"] = [shape.radius, shape.length]
        else:
            entry["sphere"] = shape.radius
        visuals.append(entry | {"colour": _hex(visual.colour)} | _opacity(visual.colour))
    return {"meshes": meshes, "visuals": visuals}


def _mesh(shape: Mesh) -> dict[str, Any]:
    """Faces in the order of their colours; `parts` has each colour and how many faces it has."""
    low = shape.points.min(axis=0)
    span = float(np.ptp(shape.points, axis=0).max()) or 1.0
    order = np.argsort(shape.paint, kind="stable")
    counts = np.bincount(shape.paint, minlength=len(shape.colours)).tolist()
    return {
        "low": [round(float(x), 6) + 0.0 for x in low],
        "span": float(f"{span:.7g}"),
        "points": _text(np.rint((shape.points - low) / span * STEPS)),
        "faces": _text(shape.faces[order]),
        "parts": [[_hex(colour), count] for colour, count in zip(shape.colours, counts, strict=True) if count],
    }


def _text(whole: Array) -> str:
    return base64.b64encode(whole.astype("<u2").tobytes()).decode()


def _hex(colour: Colour) -> str | None:
    return None if colour is None else "#" + "".join(f"{round(255 * x):02x}" for x in colour[:3])


def _opacity(colour: Colour) -> dict[str, float]:
    return {"opacity": round(colour[3], 3)} if colour is not None and colour[3:] and colour[3] < 1.0 else {}
