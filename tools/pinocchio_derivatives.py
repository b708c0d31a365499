"""Make tests/data/pinocchio_derivatives.json: derivatives of the built-in arms by Pinocchio, which must be installed.

Each robot is built in Pinocchio link by link from the same numbers, so only the algorithms are compared.
"""

import json
from pathlib import Path

import numpy as np
import pinocchio as pin

import dalembert as da

JOINTS = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ}
TARGET = Path(__file__).parent.parent / "tests/data/pinocchio_derivatives.json"


def in_pinocchio(robot):
    """The same tree of links."""
    model, tree = pin.Model(), robot.tree
    model.gravity.linear = tree.gravity
    made = []
    for i, parent in enumerate(tree.parents):
        before = pin.SE3(tree.before.rotation[i], tree.before.translation[i])
        index, above = (0, pin.SE3.Identity()) if parent < 0 else made[parent]
        joint = model.addJoint(index, JOINTS[robot.links[i].joint.kind](), above * before, robot.joint_names[i])
        after = pin.SE3(tree.after.rotation[i], tree.after.translation[i])
        model.appendBodyToJoint(joint, pin.Inertia(tree.mass[i], tree.com[i], tree.inertia[i]), after)
        made.append((joint, after))
    model.armature[:] = [link.joint.armature for link in robot.links]
    return model


def values(robot):
    """Everything at one state."""
    model = in_pinocchio(robot)
    data = model.createData()
    rng = np.random.default_rng(robot.n)
    q, qd, qdd, tau = rng.uniform(-1, 1, (4, robot.n))
    pin.computeRNEADerivatives(model, data, q, qd, qdd)
    found = {"dtau_dq": data.dtau_dq.copy(), "dtau_dqd": data.dtau_dv.copy()}
    M = np.triu(pin.crba(model, data, q))
    found["M"] = M + np.triu(M, 1).T
    data = model.createData()
    pin.computeABADerivatives(model, data, q, qd, tau)
    Minv = np.triu(data.Minv)
    found |= {"dqdd_dq": data.ddq_dq.copy(), "dqdd_dqd": data.ddq_dv.copy(), "M_inverse": Minv + np.triu(Minv, 1).T}
    found |= {"C": pin.computeCoriolisMatrix(model, data, q, qd).copy(), "forward": pin.aba(model, data, q, qd, tau).copy()}
    found |= {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    return {name: np.asarray(x).tolist() for name, x in found.items()}


if __name__ == "__main__":
    robots = {name: values(da.robot(name).without_friction()) for name in da.robot_names() if not da.robot(name).loops}
    TARGET.write_text(json.dumps({"pinocchio": pin.__version__, "robots": robots}) + "\n")
    print(f"{len(robots)} robots in {TARGET}")
