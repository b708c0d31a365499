"""Store Pinocchio's constraint dynamics of robots with loops, for tests/test_loops.py.

python tools/pinocchio_loops.py        (needs pin; writes tests/data/pinocchio_loops.json)

Of each robot two states at which its loops are closed, forces at all joints, and the accelerations. Pinocchio takes points as 3D
and welds as 6D constraints; of planar loops it takes the equation across the plane, too, which its proximal solver copes with.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

import dalembert as da
from dalembert.studies.bench import pinocchio_model

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from closed_robots import ROBOTS, states  # noqa: E402


def constraints(robot, model):
    """The loops of a robot, and what Pinocchio needs for them."""
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in robot.loops:
        places = []
        for name in (loop.frame_a, loop.frame_b):
            i, at = robot.locate(name)
            pose = at if i < 0 else robot.links[i].after @ at
            places += [i + 1, pin.SE3(np.array(pose.rotation), np.array(pose.translation))]
        kind = pin.ContactType.CONTACT_6D if loop.kind == "weld" else pin.ContactType.CONTACT_3D
        models.append(pin.RigidConstraintModel(kind, model, *places, pin.ReferenceFrame.LOCAL))
        datas.append(models[-1].createData())
    return models, datas


def solver(robot, proximal=100):
    """A function of q, qd and tau that gives accelerations, by so many proximal iterations at most."""
    model = pinocchio_model(robot)
    models, datas = constraints(robot, model)
    data = model.createData()
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-15, 1e-12, proximal)
    return lambda q, qd, tau: pin.constraintDynamics(model, data, q, qd, tau, models, datas, settings)


def main():
    found = {}
    for name in sorted({*ROBOTS} - {"hinged"}):  # it has no hinges in space
        robot = ROBOTS[name]()
        solve = solver(robot)
        for q, qd, tau in states(robot):
            qdd = solve(q, qd, tau)
            ours = robot.forward_dynamics(q, qd, tau)
            print(name, float(np.abs(ours - qdd).max() / np.abs(qdd).max()))
            found.setdefault(name, []).append({"q": q.tolist(), "qd": qd.tolist(), "tau": tau.tolist(), "qdd": qdd.tolist()})
    (ROOT / "tests" / "data" / "pinocchio_loops.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    da.set_threads(1)
    main()
