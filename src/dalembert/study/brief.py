"""A first look at a robot: what it is, the torques that hold and move it, and what each formulation costs."""

import numpy as np

from dalembert.robot import Robot
from dalembert.simulate.progress import Progress
from dalembert.study.compare import compare
from dalembert.text import table


def brief(robot: Robot, progress: Progress | bool | None = None) -> str:
    """The study as text; `progress` is that of `compare`."""
    parts = [str(robot.summary())]
    if robot.n:
        parts += [_torques(robot), str(compare(robot, progress=progress))]
    return "\n\n".join(parts)


def _torques(robot: Robot) -> str:
    q, still = robot.neutral(), np.zeros(robot.n)
    fast = np.ones(robot.n)
    rows = [["joint", "unit", "at rest", "all joints accelerating at 1", "all joints moving at 1"]]
    hold = robot.inverse_dynamics(q, still, still)
    start = robot.inverse_dynamics(q, still, fast)
    move = robot.inverse_dynamics(q, fast, still)
    for i, link in enumerate(robot.links):
        unit = "N" if link.joint.kind == "prismatic" else "N m"
        rows.append([link.joint.name, unit, *(f"{tau[i] + 0.0:.4f}" for tau in (hold, start, move))])
    shown = ", ".join(f"{x:g}" for x in q)
    return f"joint forces at q = ({shown}); motion in rad/s or m/s, and per second\n" + table(rows, right=True)
