"""Meshes with mistakes in them, and robots that name them: what cannot be drawn is told, and the rest can go into a page."""

import json
import random
import tempfile
from pathlib import Path

import meshes
import numpy as np

import dalembert as da
from dalembert.visuals.pack import packed
from dalembert.visuals.read import visuals
from dalembert.visuals.shapes import Mesh, extremes
from fuzz.harness import Failure, explained
from fuzz.mutate import mutated


def case(seed: int) -> None:
    """One robot: its file, its mesh or the colours of the mesh have mistakes."""
    rng = random.Random(seed)
    name = rng.choice(list(meshes.FILES))
    shown = meshes.visual(
        f'<mesh filename="package://arm/{name}" scale="1 -1 2"/>', '<material name="m"><color rgba="1 0 0 0.5"/></material>'
    )
    text = meshes.urdf(hand=shown, upper=meshes.visual('<cylinder radius="0.1" length="1"/>')).encode()
    content = {"arm.urdf": text, name: meshes.FILES[name](), "brick.mtl": meshes.mtl()}
    wrong = rng.choice(["arm.urdf", name, name, name, "brick.mtl"])
    content[wrong] = mutated(content[wrong], rng)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "arm"
        folder.mkdir()
        for file, data in content.items():
            (folder / file).write_bytes(data)
        try:
            robot = da.load(folder / "arm.urdf")
        except Exception as error:
            explained(error, "load of a changed arm.urdf")
            return
        looks = visuals(robot)
        json.dumps(packed(looks.shapes), allow_nan=False)
        for cloud in extremes(looks.shapes).values():
            if not np.isfinite(cloud).all():
                raise Failure(f"{wrong}: points are not finite")
        for shape in (v.shape for v in looks.shapes):
            if isinstance(shape, Mesh) and not 0 <= shape.faces.min() <= shape.faces.max() < len(shape.points):
                raise Failure(f"{wrong}: a face names no point")
