"""A first look at a robot: what it is, the torques that hold and move it, and what each formulation costs."""

import numpy as np

from dalembert.errors import Error
from dalembert.formulations import methods
from dalembert.robot import Robot
from dalembert.text import table


def brief(robot: Robot) -> str:
    """The study as text."""
    parts = [str(robot.summary())]
    if robot.n:
        parts += [_torques(robot), *_dynamics(robot)]
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


def _counts(robot: Robot, quantity: str) -> str:
    rows = [[f"{quantity.replace('_', ' ')} by", "mul", "add", "div", "sincos", "general mul", "general add", "differs by"]]
    rng = np.random.default_rng(0)
    state = robot.random_configuration(rng, 100), *rng.uniform(-1, 1, (2, 100, robot.n))
    function = getattr(robot, quantity)
    expected = function(*state)
    for method in methods(quantity):
        own, general = (robot.operation_count(quantity, method, customized=c) for c in (True, False))
        difference = np.abs(function(*state, method=method) - expected).max() / np.abs(expected).max()
        counts = (own.mul, own.add, own.div, own.sincos, general.mul, general.add)
        rows.append([method, *map(str, counts), f"{difference:.1e}" if difference else "-"])
    return table(rows, right=True)


def _dynamics(robot: Robot) -> list[str]:
    """Tables of inverse and forward dynamics; what is singular has no second one."""
    note = (
        "operations of one evaluation: customized to this robot, and as the source is written (general);\n"
        "how far each method differs from the first at 100 random states, relative to the largest entry\n"
    )
    parts = [note + _counts(robot, "inverse_dynamics")]
    try:
        parts.append(_counts(robot, "forward_dynamics"))
    except Error as singular:
        parts.append(f"no forward dynamics: {singular}")
    return parts
