"""Store Pinocchio's derivatives of the built-in arms, for tests/test_derivatives.py.

python tools/pinocchio_derivatives.py        (needs pin; writes tests/data/pinocchio_derivatives.json)

Each robot is built in Pinocchio link by link from the same numbers, so only the algorithms are compared.
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
from builtin import ARMS  # noqa: E402

TARGET = ROOT / "tests/data/pinocchio_derivatives.json"


def values(robot):
    """Everything at one state."""
    model = pinocchio_model(robot)
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
    robots = {name: values(da.robot(name).without_friction()) for name in ARMS}
    TARGET.write_text(json.dumps({"pinocchio": pin.__version__, "robots": robots}) + "\n")
    print(f"{len(robots)} robots in {TARGET}")
