"""Store Pinocchio's inverse dynamics of every URDF in the corpus, for tests/test_pinocchio.py.

python tools/pinocchio_values.py        (needs pin and example-robot-data; writes tests/data/pinocchio.json)

Three states a robot: two with a standing base, one with a moving base and a wrench on every link. Values are by joint name,
sorted, because Pinocchio orders joints differently. The inputs are formulas of the position in that order (tests/states.py), so
only results are stored. Pinocchio's `rnea` has no friction. Of files with mimic joints there are forces and mass
matrices with these coupled, too.

`order` is Pinocchio's order of the sorted joints, `circles` are those that have a cosine and a sine there. `kinds` is a robot
with all kinds of joints (tests/states.py) at a state that Pinocchio makes, in its own arrays.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
from corpus import urdf_files

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from states import KINDS, base_motion, joint_states, link_wrenches  # noqa: E402


def swap(six):
    """Angular-first to Pinocchio's linear-first, or back."""
    return np.concatenate([six[3:], six[:3]])


def torques(model, q, qd, qdd, names, fext=None, base=None):
    vector, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    if base is not None:
        v[:6], a[:6] = swap(base[0]), swap(base[1])
    for k, name in enumerate(names):
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            vector[joint.idx_q : joint.idx_q + 2] = np.cos(q[k]), np.sin(q[k])
        else:
            vector[joint.idx_q] = q[k]
        v[joint.idx_v], a[joint.idx_v] = qd[k], qdd[k]
    data = model.createData()
    if fext is None:
        tau = pin.rnea(model, data, vector, v, a)
    else:
        forces = pin.StdVec_Force()
        for name in model.names:
            forces.append(pin.Force(swap(fext[names.index(name)])) if name in names else pin.Force.Zero())
        tau = pin.rnea(model, data, vector, v, a, forces)
    return [float(tau[model.joints[model.getJointId(name)].idx_v]) for name in names]


def coupled(path):
    """Forces at two states and the upper triangle of M at the first, with mimic joints that follow; None where there are none."""
    model = pin.buildModelFromUrdf(str(path), mimic=True)
    names = sorted(name for name, joint in zip(model.names, model.joints, strict=True) if joint.nv == 1 and name != "universe")
    if len(names) == len(model.names) - 1:
        return None
    states, data = [joint_states(len(names), s) for s in (0, 1)], model.createData()
    tau = [torques(model, *state, names) for state in states]
    q = pin.neutral(model)
    for x, name in zip(states[0][0], names, strict=True):
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
    M, places = pin.crba(model, data, q), [model.joints[model.getJointId(name)].idx_v for name in names]
    whole = np.triu(M) + np.triu(M, 1).T
    return {"joints": names, "tau": tau, "M": whole[np.ix_(places, places)][np.triu_indices(len(names))].tolist()}


def all_kinds():
    """Joints, their numbers, a state and its forces, of a robot on a free base that has a ball, too, which URDF has not."""
    model = pin.buildModelFromXML(KINDS, pin.JointModelFreeFlyer())
    ball = model.addJoint(model.getJointId("turn"), pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    model.appendBodyToJoint(ball, pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), np.diag([0.2, 0.3, 0.4])), pin.SE3.Identity())
    k = np.arange(model.nv)
    v, a, way = np.cos(k), np.sin(1.0 + k), np.sin(2.0 + 3.0 * k)
    q = pin.integrate(model, pin.neutral(model), way)
    tau = pin.rnea(model, model.createData(), q, v, a)
    arrays = {"nqs": model.nqs, "nvs": model.nvs, "q": q, "v": v, "a": a, "tau": tau}
    return {"names": list(model.names), **{name: np.asarray(x).tolist() for name, x in arrays.items()}}


stored = {"pinocchio": pin.__version__, "kinds": all_kinds(), "robots": {}, "coupled": {}}
for key, path in urdf_files().items():
    try:
        fixed = pin.buildModelFromUrdf(str(path))
        free = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    except Exception as error:
        print(f"{key}: Pinocchio does not load it: {error}")
        continue
    names = sorted(name for name in fixed.names if name != "universe")
    n = len(names)
    if any(joint.nv != 1 for joint in list(fixed.joints)[1:]):
        print(f"{key}: has a joint with more than one degree of freedom")
        continue
    tau = [torques(fixed, *joint_states(n, s), names) for s in (0, 1)]
    moving = torques(free, *joint_states(n, 2), names, link_wrenches(n), base_motion())
    order = [names.index(name) for name in fixed.names if name != "universe"]
    circles = [name for name, nq in zip(fixed.names, fixed.nqs, strict=True) if nq == 2]
    stored["robots"][key] = {"joints": names, "tau": tau, "moving": moving, "order": order, "circles": circles}
    try:
        if (found := coupled(path)) is not None:
            stored["coupled"][key] = found
    except Exception as error:
        print(f"{key}: Pinocchio does not load its mimic joints: {error}")
    print(f"{key}: {n} joints")
(ROOT / "tests/data/pinocchio.json").write_text(json.dumps(stored, indent=0) + "\n")
print(len(stored["robots"]), "robots stored")
