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


def theirs(path, names, q, qd, qdd):
    """Pinocchio's torques, mass matrices and accelerations; it orders joints by name, and gives unlimited ones two numbers."""
    model = pinocchio.buildModelFromUrdf(str(path))
    data, joints = model.createData(), [model.joints[model.getJointId(name)] for name in names]
    v = [joint.idx_v for joint in joints]
    tau, M, acceleration = [], [], []
    for state in zip(q, qd, qdd, strict=True):
        where, (velocity, wanted) = pinocchio.neutral(model), np.zeros((2, model.nv))
        for joint, angle in zip(joints, state[0], strict=True):
            where[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        velocity[v], wanted[v] = state[1:]
        force = pinocchio.rnea(model, data, where, velocity, wanted).copy()
        upper = np.triu(pinocchio.crba(model, data, where))
        tau.append(force[v])
        M.append((upper + np.triu(upper, 1).T)[np.ix_(v, v)])
        acceleration.append(pinocchio.aba(model, data, where, velocity, force).copy()[v])
    return {"torques": np.array(tau), "mass matrix": np.array(M), "accelerations": np.array(acceleration)}


def compare(path):
    """Largest differences, relative to the largest entry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)  # robot.check() says it in words
        robot = da.load(path).without_friction()  # Pinocchio's rnea leaves friction out
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 1000)
    qd, qdd = rng.uniform(-1, 1, (2, *q.shape))
    tau = robot.inverse_dynamics(q, qd, qdd)
    print(f"{robot.name}: {robot.n} joints, torques up to {np.abs(tau).max():.1f} N m (or N) at {len(q)} states")
    if pinocchio is None:
        print("Pinocchio is not installed, so there is nothing to compare with: pip install pin")
        return
    ours = {"torques": tau, "mass matrix": robot.mass_matrix(q), "accelerations": robot.forward_dynamics(q, qd, tau)}
    for name, expected in theirs(path, robot.joint_names, q, qd, qdd).items():
        error = np.abs(ours[name] - expected).max() / np.abs(expected).max()
        print(f"{name:13} differ from Pinocchio {pinocchio.__version__} by {error:.1e}")
        assert error < 1e-9


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compare(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.urdf"
            small.write_text(SMALL)
            compare(small)
