"""The same six-joint arm in dalembert, Pinocchio, Robotics Toolbox and Modern Robotics: `make bench-others`.

One process, one run; every library gets the numbers of one Denavit-Hartenberg table, and all must agree before any is timed.
"""

import os
import shutil
import tempfile
from contextlib import suppress

os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-bench-")

import modern_robotics as mr
import numpy as np
import pinocchio as pin
import roboticstoolbox as rtb
from timing import best

import dalembert as da
from dalembert.studies.bench import pinocchio_model

BATCH = 10_000
WRIST = np.pi / 2
ROWS = [  # alpha, a, d, mass, centre of mass, principal inertias
    (-WRIST, 0.0, 0.6, 12.0, (0.0, 0.2, 0.05), (0.3, 0.2, 0.25)),
    (0.0, 0.45, 0.1, 17.0, (-0.3, 0.01, 0.1), (0.13, 0.5, 0.54)),
    (WRIST, -0.02, 0.15, 5.0, (-0.02, -0.01, 0.07), (0.07, 0.09, 0.02)),
    (-WRIST, 0.0, 0.43, 0.8, (0.0, 0.02, 0.0), (2e-3, 1e-3, 2e-3)),
    (WRIST, 0.0, 0.0, 0.3, (0.0, 0.0, 0.01), (3e-4, 4e-4, 3e-4)),
    (0.0, 0.0, 0.06, 0.1, (0.0, 0.0, 0.03), (2e-4, 2e-4, 4e-5)),
]


def in_dalembert():
    rows = [
        da.DHRow(alpha=alpha, a=a, d=d, inertia=da.Inertia.from_com(mass, com, np.diag(inertia)))
        for alpha, a, d, mass, com, inertia in ROWS
    ]
    return da.Robot.from_dh(rows, convention="standard", name="six")


def in_toolbox():
    links = [rtb.RevoluteDH(alpha=x[0], a=x[1], d=x[2], m=x[3], r=x[4], I=np.diag(x[5]), G=0, Jm=0, B=0, Tc=[0, 0]) for x in ROWS]
    return rtb.DHRobot(links, gravity=[0, 0, -9.81])


def in_modern_robotics(arm):
    """Mlist of centre-of-mass frames, Glist and Slist, as the package's functions want them."""
    poses = [arm.pose(arm.neutral(), link.name) for link in arm.links]
    homes = [p @ np.block([[np.eye(3), np.array(x[4])[:, None]], [0, 0, 0, 1]]) for p, x in zip(poses, ROWS, strict=True)]
    before = [np.eye(4), *homes]
    M = [np.linalg.inv(a) @ b for a, b in zip(before, [*homes, homes[-1]], strict=True)]
    G = [np.diag([*x[5], x[3], x[3], x[3]]) for x in ROWS]
    S = arm.jacobian(arm.neutral(), arm.links[-1].name, frame="world")
    return np.array(M), np.array(G), S


def calls(arm):
    """Each quantity of one state by every library."""
    (M, G, S), toolbox, model = in_modern_robotics(arm), in_toolbox(), pinocchio_model(arm)
    data = model.createData()
    g, still = np.array([0, 0, -9.81]), np.zeros(6)
    return {
        "inverse dynamics": {
            "dalembert": arm.inverse_dynamics,
            "Pinocchio": lambda q, qd, x: pin.rnea(model, data, q, qd, x),
            "Robotics Toolbox": lambda q, qd, x: toolbox.rne(q, qd, x),
            "Modern Robotics": lambda q, qd, x: mr.InverseDynamics(q, qd, x, g, still, M, G, S),
        },
        "forward dynamics": {
            "dalembert": arm.forward_dynamics,
            "Pinocchio": lambda q, qd, x: pin.aba(model, data, q, qd, x),
            "Robotics Toolbox": lambda q, qd, x: toolbox.accel(q, qd, x),
            "Modern Robotics": lambda q, qd, x: mr.ForwardDynamics(q, qd, x, g, still, M, G, S),
        },
        "mass matrix": {
            "dalembert": lambda q, qd, x: arm.mass_matrix(q),
            "Pinocchio": lambda q, qd, x: pin.crba(model, data, q),
            "Robotics Toolbox": lambda q, qd, x: toolbox.inertia(q),
            "Modern Robotics": lambda q, qd, x: mr.MassMatrix(q, M, G, S),
        },
    }


def main():
    arm, rng = in_dalembert(), np.random.default_rng(0)
    da.set_threads(1)
    state = tuple(rng.uniform(-1, 1, (3, 6)))
    many = rng.uniform(-1, 1, (3, BATCH, 6))
    batches = {"inverse dynamics": arm.inverse_dynamics, "forward dynamics": arm.forward_dynamics}
    print(f"pinocchio {pin.__version__}, roboticstoolbox {rtb.__version__}, modern_robotics {mr.__version__}; 6R arm, one thread")
    print(
        f"{'microseconds of one call':24}"
        + "".join(f"{x:>20}" for x in ("dalembert", "Pinocchio", "Robotics Toolbox", "Modern Robotics"))
    )
    for quantity, functions in calls(arm).items():
        expected = functions["dalembert"](*state)
        for library, function in functions.items():
            found = np.asarray(function(*state))
            if not np.allclose(found, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max()):
                raise ArithmeticError(f"{quantity} of {library} is {found}, dalembert's {expected}")
        times = [best(lambda f=f: f(*state), rounds=5, least=0.05) * 1e6 for f in functions.values()]
        batch = batches.get(quantity, lambda q, qd, x: arm.mass_matrix(q))
        batch(*many)
        each = best(lambda b=batch: b(*many), rounds=20, least=0.01) / BATCH * 1e6
        print(f"{quantity:24}" + "".join(f"{t:20.2f}" for t in times))
        print(f"{'  in a batch of 10,000':24}{each:20.3f}" + "".join(f"{t / each:17.0f} x " for t in times[1:]))


if __name__ == "__main__":
    try:
        main()
    finally:
        with suppress(OSError):
            shutil.rmtree(os.environ["DALEMBERT_CACHE"])
