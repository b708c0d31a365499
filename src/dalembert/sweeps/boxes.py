"""Boxes of states: the range of every input of a program, from what is given and from the limits of the robot."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, numbers
from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.trace.degrees import Key, angles, used
from dalembert.trace.program import Program, Variable

TURN = 2 * np.pi * (1 + 1e-15)
EXAMPLE = "{'qd': (-1.0, 1.0)}"
Ends = tuple[Array, Array]


def box(robot: Model, program: Program, over: Any) -> dict[Key, tuple[float, float]]:
    """The ends of each scalar of the inputs of a program; those that results do not depend on may have any."""
    given = by_name({} if over is None else over, "over", EXAMPLE)
    for name in given:
        choice(name, "input to give a range of:", [v.name for v in program.inputs])
    turning, needed = angles(program), set(used(program))
    found: dict[Key, tuple[float, float]] = {}
    for k, v in enumerate(program.inputs):
        low, high = _range(robot, v, given.get(v.name), any(key[0] == k for key in needed))
        for j in range(v.size):
            found[k, j] = _finite(robot, v, j, float(low[j]), float(high[j]), (k, j) in turning, (k, j) in needed)
    return found


def _range(robot: Model, v: Variable, given: Any, needed: bool) -> Ends:
    """The ends of an input: given, for all or by joint, or else the limits of the model."""
    limits = _limits(robot, v.name)
    if limits is None:
        if given is None and needed:
            raise Error(f"bound: {v.name} has no range; give one, such as over={{{v.name!r}: (-1.0, 1.0)}}")
        limits = np.full((2, v.size), np.nan)
    if given is None:
        return limits[0], limits[1]
    if not isinstance(given, Mapping):
        return _pair(given, v.name, v.shape)
    if v.shape != (robot.n,):
        raise Error(f"bound: the range of {v.name} is given for all of it, not by joint; such as over={{{v.name!r}: (-1.0, 1.0)}}")
    low, high = np.array(limits)
    for name, part in by_name(given, f"the range of {v.name}", "{'joint1': (-1.0, 1.0)}").items():
        j = robot.joint_names.index(choice(name, f"joint of {robot.name}:", robot.joint_names))
        (low[j],), (high[j],) = _pair(part, f"{v.name} of {name}", (1,))
    return low, high


def _limits(robot: Model, name: str) -> Any:
    """The model's limits of an input, (2, n); None for most."""
    if name == "q":
        return np.stack([robot.lower, robot.upper])
    if name not in ("qd", "tau"):
        return None
    most = np.array([joint.velocity_limit if name == "qd" else joint.effort_limit for joint in robot.joints], dtype=float)
    return np.stack([-most, most])


def _pair(given: Any, name: str, shape: tuple[int, ...]) -> Ends:
    """(low, high), or a number that stays, each for all scalars or one for each."""
    pair = isinstance(given, tuple | list) and len(given) == 2 and (isinstance(given, tuple) or shape != (2,))
    ends: list[Array] = []
    for part in given if pair else (given, given):
        array = numbers(part, f"over: {name}").astype(float)
        if array.shape not in ((), shape):
            raise Error(f"over: {name} must be (low, high), each a number or an array of shape {shape}, got {brief(given)}")
        ends.append(np.broadcast_to(array, shape).ravel())
    return ends[0], ends[1]


def _finite(robot: Model, v: Variable, j: int, low: float, high: float, turns: bool, needed: bool) -> tuple[float, float]:
    """The ends of a scalar: of an angle that matters by its sine and cosine alone, one turn is enough."""
    what = f"{v.name} of {robot.joint_names[j]!r}" if v.shape == (robot.n,) else f"{v.name}[{j}]" if v.shape else v.name
    if low > high:
        raise Error(f"over: the range of {what} is empty: {low:g} is above {high:g}")
    if turns and high - low > TURN:
        first = low if np.isfinite(low) else high - TURN if np.isfinite(high) else -TURN / 2
        return first, first + TURN
    if np.isfinite(low) and np.isfinite(high):
        return low + 0.0, high + 0.0
    if needed:
        raise Error(f"bound: {what} has no limits; give a range, such as over={{{v.name!r}: (-1.0, 1.0)}}")
    middle = 0.0 if np.isnan(low) or np.isnan(high) else min(max(0.0, low), high)
    return middle, middle
