"""Store where Pinocchio draws the visuals of every URDF in the corpus, for tests/test_visuals.py.

python tools/pinocchio_visuals.py        (needs pin and example-robot-data; writes tests/data/pinocchio_visuals.json)

Of each robot at its zero position: how many visuals it has and the sum of their placements (3 x 4) in the world. Of each mesh file:
the corners of the box around it, as Pinocchio's own reader (Assimp) finds it, without the scale of the URDF file.
"""

import json
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
from corpus import robots_folder, urdf_files

TARGET = Path(__file__).parent.parent / "tests" / "data" / "pinocchio_visuals.json"


def rounded(values):
    return [float(f"{x:.7g}") + 0.0 for x in np.ravel(values)]


def placements(path):
    """Visuals by geometry object, and their placements in the world."""
    model = pin.buildModelFromUrdf(str(path))
    shapes = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.VISUAL, package_dirs=[str(robots_folder().parent.parent)])
    data, places = model.createData(), shapes.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    pin.updateGeometryPlacements(model, data, shapes, places)
    return shapes.geometryObjects, [place.homogeneous[:3] for place in places.oMg]


def box(path):
    shape = coal.MeshLoader().load(str(path), np.ones(3))
    shape.computeLocalAABB()
    return rounded([shape.aabb_local.min_, shape.aabb_local.max_])


def main():
    robots, files = {}, set()
    for name, path in urdf_files().items():
        try:
            shapes, places = placements(path)
        except (RuntimeError, ValueError) as error:  # two files of the corpus name no robot, or meshes that are not there
            print(name, str(error).splitlines()[0])
            continue
        robots[name] = {"count": len(places), "sum": rounded(sum(places, np.zeros((3, 4))))}
        files |= {Path(shape.meshPath).resolve() for shape in shapes if Path(shape.meshPath).is_file()}
    boxes = {file.relative_to(robots_folder()).as_posix(): box(file) for file in sorted(files)}
    lines = [
        f"{json.dumps(kind)}: {{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}"
        for kind, found in (("robots", robots), ("boxes", boxes))
    ]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(robots)} robots, {len(boxes)} meshes")


if __name__ == "__main__":
    main()
