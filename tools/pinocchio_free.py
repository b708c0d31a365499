"""Store Pinocchio's results for every URDF in the corpus on a free base, for tests/test_free_bases.py.

python tools/pinocchio_free.py        (needs pin and example-robot-data; writes tests/data/pinocchio_free.json)

One state a robot, by formulas of the joints' names in sorted order (tests/states.py). Forces, momentum, and of matrices the product
with a vector: M, C and the derivatives of inverse and forward dynamics. All are in our order: angular part first, then the joints
by name. Friction and rotors are left out; mimic joints are free.

Derivatives of forward dynamics are those of `computeABADerivatives` where the condition of M is below LARGE. Beyond it they
have lost too many digits to compare with: of iCub they are wrong by 1.5e-8, compared with forty digits, where -M^-1 dtau from
`crba` and `computeRNEADerivatives` is right to 1e-12. There the latter is stored.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
from corpus import urdf_files

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from states import free_state  # noqa: E402

LARGE = 1e5


def results(path):
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    model.armature[:] = 0
    names = sorted(name for name in model.names if name not in ("universe", "root_joint"))
    joints = [model.joints[model.getJointId(name)] for name in names]
    if any(joint.nv != 1 for joint in joints):
        return None
    order = np.array([3, 4, 5, 0, 1, 2, *(joint.idx_v for joint in joints)])
    q, qd, qdd, x = free_state(len(names))
    vector = pin.neutral(model)
    unit = q[:4] / np.linalg.norm(q[:4])
    vector[:7] = [*q[4:7], *unit[[1, 2, 3, 0]]]
    for joint, at in zip(joints, q[7:], strict=True):
        vector[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(at), np.sin(at)) if joint.nq == 2 else at

    def theirs(ours):
        made = np.empty(model.nv)
        made[order] = ours
        return made

    data, v, a, w = model.createData(), theirs(qd), theirs(qdd), theirs(x)
    tau = pin.rnea(model, data, vector, v, a)
    M = pin.crba(model, data, vector)
    M = np.triu(M) + np.triu(M, 1).T
    found = {"tau": tau, "M": M @ w, "C": pin.computeCoriolisMatrix(model, data, vector, v) @ v}
    h = pin.computeCentroidalMomentum(model, data, vector, v)
    dq, dqd, _ = pin.computeRNEADerivatives(model, data, vector, v, a)
    found |= {"dq": dq @ w, "dqd": dqd @ w}
    scale = np.sqrt(np.diag(M))
    condition = float(np.linalg.cond(M / np.outer(scale, scale))) if (scale > 0).all() else np.inf
    if condition < 1e7:
        if condition < LARGE:
            dq, dqd, _ = pin.computeABADerivatives(model, data, vector, v, tau)
        else:
            dq, dqd = -np.linalg.solve(M, dq), -np.linalg.solve(M, dqd)
        found |= {"forward_dq": dq @ w, "forward_dqd": dqd @ w}
    made = {name: np.asarray(value)[order].tolist() for name, value in found.items()}
    return {"joints": names, "condition": condition, "momentum": [*h.angular, *h.linear], **made}


stored = {"pinocchio": pin.__version__, "robots": {}}
for key, path in urdf_files().items():
    try:
        found = results(path)
    except Exception as error:
        print(f"{key}: {error}")
        continue
    if found is None:
        print(f"{key}: has a joint with more than one degree of freedom")
        continue
    stored["robots"][key] = found
    print(f"{key}: {len(found['joints'])} joints, condition {found['condition']:.2g}")
(ROOT / "tests/data/pinocchio_free.json").write_text(json.dumps(stored, indent=0) + "\n")
print(len(stored["robots"]), "robots stored")
