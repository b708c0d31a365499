"""Write the built-in arms whose figures come from published URDF files.

python tools/import_zoo.py        (needs the `corpus` extra: example-robot-data)
"""

import warnings
from dataclasses import replace
from pathlib import Path

from corpus import robots_folder

import dalembert as da

ZOO = Path(__file__).parent.parent / "src/dalembert/model/zoo"
ARMS = {
    "panda": (
        "panda_description/urdf/panda.urdf",
        {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0},
        "Franka Emika Panda with its hand, fingers closed: figures of franka_description (franka_ros, noetic)",
    ),
    "ur5": (
        "ur_description/urdf/ur5_robot.urdf",
        {},
        "Universal Robots UR5: figures of ur_description (ROS-Industrial universal_robot), right angles made exact",
    ),
    "xarm7": (
        "xarm_description/urdf/xarm7.urdf",
        {},
        "UFACTORY xArm 7: figures of xarm_description (xarm_ros2), right angles made exact",
    ),
}

for name, (path, locked, source) in ARMS.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        robot = da.load(robots_folder() / path).lock(locked).snapped(1e-5)
    notes = tuple(note for note in robot.notes if note.topic != "unread")  # remarks on the file, not on the arm
    replace(robot, name=name, source=source, notes=notes).save(ZOO / f"{name}.toml")
    print(robot.summary(), robot.check(), sep="\n")
