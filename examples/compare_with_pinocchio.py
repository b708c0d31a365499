"""Load a URDF and compare with Pinocchio: torques, mass matrix and accelerations at a thousand states.

python examples/compare_with_pinocchio.py [FILE.urdf]        Needs Pinocchio: pip install pin
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import dalembert as da

try:
    import pinocchio
except ModuleNotFoundError:
    pinocchio = None

SMALL = """<robot name="small">
  <link name="base"/>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="column"/><axis xyz="0 0 1"/><origin xyz="0 0 0.2"/>
  </joint>
  <link name="column"><inertial>
    <origin xyz="0.01 0 0.2"/><mass value="4"/><inertia ixx="0.05" iyy="0.05" izz="0.02" ixy="0.001" ixz="0" iyz="0.002"/>
  </inertial></link>
  <joint name="lift" type="prismatic">
    <parent link="column"/><child link="arm"/><axis xyz="0 0 1"/><origin xyz="0 0.1 0.4" rpy="0.2 0 0"/>
    <limit lower="-0.2" upper="0.3" effort="100" velocity="1"/>
  </joint>
  <link name="arm"><inertial>
    <origin xyz="0.2 0 0" rpy="0 0 0.3"/><mass value="2"/><inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="wrist" type="revolute">
    <parent link="arm"/><child link="hand"/><axis xyz="0 1 0"/><origin xyz="0.4 0 0"/>
    <limit lower="-2" upper="2" effort="100" velocity="1"/>
  </joint>
  <link name="hand"><inertial>
    <origin xyz="0.1 0 0.02"/><mass value="1"/><inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
</robot>
"""


def theirs(path, robot, q, qd, qdd):
    """Pinocchio's torques, mass matrices and accelerations, as this robot has them."""
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    given = robot.to_pinocchio(q, qd, qdd, names=model)
    tau = np.array([pinocchio.rnea(model, data, *x) for x in zip(*given[:3], strict=True)])
    M = np.array([pinocchio.crba(model, data, x) for x in given.q])
    M = np.triu(M) + np.swapaxes(np.triu(M, 1), 1, 2)  # older versions fill the upper triangle only
    states = zip(given.q, given.qd, tau, strict=True)
    qdd = np.array([pinocchio.aba(model, data, *x) for x in states])
    ours = robot.from_pinocchio(given.q, given.qd, qdd, tau, names=model)
    for _ in range(2):  # the columns of M, and then its rows, are converted as forces are
        M = robot.from_pinocchio(given.q[:, None], tau=np.swapaxes(M, 1, 2), names=model).tau
    return {"torques": ours.tau, "mass matrix": M, "accelerations": ours.qdd}


def compare(path):
    """Largest differences, relative to the largest entry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)  # robot.check() says it in words
        robot = da.load(path, mimic=False)  # as Pinocchio reads it, unless told otherwise
    robot = robot.without_friction()  # Pinocchio's rnea leaves friction out
    if not robot.n:
        print(f"{robot.name} has no joints, so there is nothing to compare")
        return
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 1000)
    qd, qdd = rng.uniform(-1, 1, (2, len(q), robot.n))
    tau = robot.inverse_dynamics(q, qd, qdd)
    largest = np.abs(tau).max()
    print(f"{robot.name}: {robot.n} joints, torques up to {largest:.1f} N m (or N) at {len(q)} states")
    if pinocchio is None:
        print("Pinocchio is not installed, so there is nothing to compare with: pip install pin")
        return
    ours = {"torques": tau, "mass matrix": robot.mass_matrix(q)}
    allowed = dict.fromkeys(ours, 1e-9)
    try:
        ours["accelerations"] = robot.forward_dynamics(q, qd, tau)
        allowed["accelerations"] = 1e-9 + 1e-15 * np.linalg.cond(ours["mass matrix"]).max()
    except da.Error as without_inertia:
        print(f"no accelerations: {without_inertia}")
    expected = theirs(path, robot, q, qd, qdd)
    for name, values in ours.items():
        error = np.abs(values - expected[name]).max() / np.abs(expected[name]).max()
        print(f"{name:13} differ from Pinocchio {pinocchio.__version__} by {error:.1e}")
        assert error < allowed[name]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compare(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.urdf"
            small.write_text(SMALL)
            compare(small)
