"""Robot files with mistakes in them: they load, or an Error explains what is wrong; what loads can be used."""

import random
import tempfile
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from mjcf_models import GRIPPER, HUMANOID, MOTORS

import dalembert as da
from fuzz.harness import explained
from fuzz.mutate import mutated

URDF = b"""<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2" rpy="0 0.1 0"/><mass value="2.5"/>
      <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.004"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual>
  </link>
  <link name="fore"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1" rpy="0 1.5708 0"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-0.1" upper="0.3" effort="20" velocity="1"/></joint>
  <joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.2 0 0"/></joint>
</robot>
"""


@cache
def sources() -> dict[str, bytes]:
    """Good files, by the ending of their names."""
    built_in = files("dalembert.model.zoo")
    kept = {f"{name}.toml": built_in.joinpath(f"{name}.toml").read_bytes() for name in ("two_link", "rp", "panda")}
    mjcf = (
        {"hand.xml": GRIPPER.encode(), "body.mjcf": HUMANOID.encode(), "geared.xml": MOTORS.encode()} if find_spec("mujoco") else {}
    )
    return {"arm.urdf": URDF, "arm.xml": URDF, **kept, **mjcf}


def case(seed: int) -> None:
    """One file with mistakes."""
    rng = random.Random(seed)
    name = rng.choice(list(sources()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(mutated(sources()[name], rng))
        try:
            robot = da.load(path)
        except Exception as error:
            explained(error, f"load of a changed {name}")
            return
        try:
            robot.summary()
            str(robot.check())
            robot.save(Path(folder) / "again.toml")
            da.load(Path(folder) / "again.toml")
            still = np.zeros(robot.n)
            robot.inverse_dynamics(robot.neutral(), still, still, backend="numpy")
        except Exception as error:
            explained(error, f"a changed {name} that loads")
