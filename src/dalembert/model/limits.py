"""What joints may do: the limits that a robot has, and those that users give, by the same names everywhere.

"lower" and "upper" are positions. "velocity", "acceleration" and "torque", of prismatic joints the force, have two sides: one
number is the greatest size, two rows are the least and the greatest value.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, number, numbers
from dalembert.errors import Error, brief
from dalembert.model.degrees import warn_of_ranges

if TYPE_CHECKING:
    from dalembert.model.model import Model

ENDS = ("lower", "upper")
SIDED = ("velocity", "acceleration", "torque")
LIMITS = (*ENDS, *SIDED)
_FIELDS = {"velocity": "velocity_limit", "torque": "effort_limit"}  # of joints, as files call them
_ELSEWHERE = {"qd": "velocity", "speed": "velocity", "qdd": "acceleration", "tau": "torque", "effort": "torque"}


def own_limit(robot: "Model", name: str) -> Array:
    """The limit of each joint by its name, (n,); infinite where there is none, for which files write 0.

    >>> import dalembert as da
    >>> own_limit(da.robot("panda"), "torque").tolist()
    [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]
    """
    if name in ENDS:
        return getattr(robot, name)
    field = _FIELDS.get(name)
    return np.array([(field and getattr(joint, field)) or np.inf for joint in robot.joints], dtype=float)


def each_joint(robot: "Model", given: Any, what: str, or_else: str = "") -> Array:
    """A number for each joint, (n,), from one for all, one for each, or some by name; NaN where none is given.

    >>> import dalembert as da
    >>> each_joint(da.robot("two_link"), {"joint2": 1.5}, "velocity").tolist()
    [nan, 1.5]
    """
    if given is None or isinstance(given, Mapping):
        named = by_name(given or {}, what, "{'joint1': 1.0}")
        for name in named:
            choice(name, f"joint of {robot.name}:", robot.joint_names)
        found = {name: number(x, f"{what} of joint {name!r}", finite=False) for name, x in named.items()}
        return np.array([found.get(name, np.nan) for name in robot.joint_names], dtype=float)
    value = numbers(given, what).astype(float)
    if value.shape not in ((), (robot.n,)) or np.isnan(value).any():
        shapes = f"one number, or {robot.n} (one for each joint of {robot.name}){or_else}"
        raise Error(f"{what} must be {shapes}, got {brief(given)}")
    return np.array(np.broadcast_to(value, robot.n))


def both_sides(robot: "Model", given: Any, what: str) -> Array:
    """The least and the greatest value of each joint, (2, n), from those, or as `each_joint`; NaN where none is given.

    >>> import dalembert as da
    >>> both_sides(da.robot("two_link"), [40.0, 15.0], "torque").tolist()
    [[-40.0, -15.0], [40.0, 15.0]]
    """
    value = np.empty(0) if given is None or isinstance(given, Mapping) else numbers(given, what)
    if rows := value.shape == (2, robot.n):
        pair = value.astype(float)
    else:
        most = each_joint(robot, given, what, f", or the least and the greatest, (2, {robot.n})")
        pair = np.array([-most, most])
    for i in np.flatnonzero((pair[0] >= pair[1]) | (rows & np.isnan(pair).any(axis=0))):
        must = f"the least below the greatest, got {pair[0, i]:g} to {pair[1, i]:g}" if rows else f"above 0, got {pair[1, i]:g}"
        raise Error(f"{what} of joint {robot.joint_names[i]!r} must be {must}")
    return pair


def limits_of(robot: "Model", given: Any = None, what: str = "limits", names: tuple[str, ...] = LIMITS) -> dict[str, Array]:
    """Limits by name, those that are given and else the robot's own: "lower" and "upper" (n,), the others both sides, (2, n).

    None stands for the robot's own, of one limit or of all, and True of all.

    >>> import dalembert as da
    >>> limits_of(da.robot("two_link"), {"torque": {"joint1": 40.0}})["torque"].tolist()
    [[-40.0, -inf], [40.0, inf]]
    """
    named = by_name({} if given is None or given is True else given, what, "{'torque': [50.0, 30.0]}")
    for name in named:
        if name not in names and _ELSEWHERE.get(name) in names:
            raise Error(f"{what}: {name!r} is called {_ELSEWHERE[name]!r}")
        choice(name, "limit:", names)
    found: dict[str, Array] = {}
    for name in names:
        found[name] = values = (both_sides if name in SIDED else each_joint)(robot, named.get(name), f"{what}: {name}")
        if np.isnan(values).any():
            own = own_limit(robot, name)
            found[name] = np.where(np.isnan(values), [-own, own] if name in SIDED else own, values)
    if found.keys() >= {*ENDS}:
        if named.keys() & {*ENDS}:
            warn_of_ranges(robot.joints, found["lower"], found["upper"], f"{what}: positions")
        for i in np.flatnonzero(~(found["lower"] < found["upper"])):
            ends = f"lower {found['lower'][i]:g} is not below upper {found['upper'][i]:g}"
            raise Error(f"{what}: joint {robot.joint_names[i]!r}: {ends}")
    return found


def around_zero(robot: "Model", limits: Mapping[str, Array], what: str) -> None:
    """Refuse limits by name, both sides (2, n), that do not let joints go both ways."""
    for name, (low, high) in limits.items():
        for i in np.flatnonzero((low >= 0) | (high <= 0)):
            got = f"{low[i]:g} to {high[i]:g}"
            raise Error(f"{what}: {name} of joint {robot.joint_names[i]!r} must be from below 0 to above 0, got {got}")
