"""Recordings in CSV and NPZ files: which columns or arrays are what, and joint forces from what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, frozen_array, instance
from dalembert.errors import Error, brief
from dalembert.files.binary import Archive, archive
from dalembert.files.layout import TIME, Layout, States, check_bytes, gathered
from dalembert.files.text import read_csv
from dalembert.robots import Robot
from dalembert.storage.opening import file_path, opened

PARTS = ("t", "q", "qd", "tau", "current")


def read(path: Any, robot: Robot, columns: Mapping[str, Any] | None, gains: Any, motors: Any, limit: int) -> tuple[str, States]:
    """The name of a file, and the times, positions, joint forces and velocities that it has; the arguments of `Recording.load`."""
    instance(robot, Robot, "Recording.load: the robot")
    given = by_name({} if columns is None else columns, "columns", "{'q': 'actual_q_{}'}")
    for part in given:
        if part not in PARTS:
            raise Error(f"columns are named for {', '.join(PARTS[:-1])} and {PARTS[-1]}, got {part!r}")
    G = _motors(robot, motors)
    place = file_path(path)
    with opened(place) as file:
        if file.peek(2)[:2] == b"PK":
            with archive(file, place.name) as held:
                states = _arrays(held, place.name, given, limit)
        else:
            wanted = _arranged(robot, given, robot.n if G is None else len(G))
            states = gathered((some for some, _ in read_csv(file, place.name, wanted)), place.name, limit)
    return place.name, {**states, "tau": _forces(states, place.name, gains, G)}


def _motors(robot: Robot, given: Any) -> Array | None:
    if given is None or given is False:
        return None
    if given is True:
        if robot.transmission is None:
            raise Error(f"motors=True needs a robot with a transmission; {robot.name} has none (with_transmission)")
        return robot.transmission.matrix
    G = frozen_array(given, None, "motors")
    if G.ndim != 2 or G.shape[1] != robot.n:
        raise Error(f"motors must be a matrix (m, {robot.n}), a row for each motor of {robot.name}, got shape {G.shape}")
    return G


def _forces(states: States, name: str, gains: Any, G: Array | None) -> Array:
    """tau of the joints from what was measured."""
    if "tau" in states:
        forces = states["tau"]
        if gains is not None:
            raise Error(f"{name}: gains are for currents, but the file has tau; name the currents: columns={{'current': ...}}")
    else:
        if gains is None:
            raise Error(f"{name}: currents need gains=..., in N m/A for each motor")
        forces = states["current"]
        factors = frozen_array(gains, None, "gains")
        if factors.shape not in ((), forces.shape[1:]):
            raise Error(f"gains must be one number or {forces.shape[1]} (one per motor), got shape {factors.shape}")
        forces = forces * factors
    return forces if G is None else forces @ G


def _arranged(robot: Robot, given: Mapping[str, Any], motors: int) -> Any:
    """Which columns of a table are what."""
    n = robot.n

    def found(names: Sequence[str], part: str, where: str) -> list[int] | None:
        place, count = {name: k for k, name in enumerate(names)}, motors if part in ("tau", "current") else n
        joints = robot.joint_names if count == n else tuple(f"motor{k + 1}" for k in range(count))
        wanted = given.get(part, f"{part}_{{}}")
        if not isinstance(wanted, str):
            choices = [[str(name) for name in wanted]]
            if len(choices[0]) != count:
                raise Error(f"{where}: {part} needs {count} columns, got {len(choices[0])}: {brief(choices[0])}")
        else:
            numbered = [wanted] if part in given else [wanted, f"{part}{{}}"]
            told = [(pattern, count_) for pattern in numbered for count_ in (joints, range(1, count + 1), range(count))]
            choices = [[pattern.replace("{}", str(x)).strip() for x in labels] for pattern, labels in told]
        for chosen in choices:
            if all(name in place for name in chosen):
                return [place[name] for name in chosen]
        if part in given or part == "q":
            missing = next(name for name in choices[0] if name not in place)
            tried = " (numbers from 1 and from 0 in place of the joint's name were tried, too)" if len(choices) > 1 else ""
            hint = "" if part in given else f"; name them: {_named('q', 'actual_q_{}')}"
            raise Error(f"{where}: there is no column {missing}{tried}; there are: {_listed(names)}{hint}")
        return None

    def arrange(columns: Sequence[str] | int, where: str) -> Layout:
        if isinstance(columns, int):
            parts = {2 * n + 1: ("t", "q", "tau"), 3 * n + 1: ("t", "q", "qd", "tau")}.get(columns)
            if parts is None or given:
                raise Error(f"{where}: {columns} columns without names; a recording has {2 * n + 1} (t, q, tau), or name them")
            ends = np.cumsum([0, 1, *(n for _ in parts[1:])])
            return Layout([""] * columns, {p: list(range(a, b)) for p, a, b in zip(parts, ends[:-1], ends[1:], strict=True)})
        times = [k for k, name in enumerate(columns) if name in ([given["t"]] if "t" in given else TIME)]
        if not times:
            near = next((name for name in columns if "time" in name.lower()), columns[0])
            hint = "" if "t" in given else f"; name it: {_named('t', near)}"
            raise Error(f"{where}: there is no column {given.get('t', 't (nor time)')}; there are: {_listed(columns)}{hint}")
        wanted: dict[str, list[int]] = {"t": times[:1]}
        for part in ("q", "qd", *(["current"] if "current" in given else ["tau", "current"])):
            if (places := found(columns, part, where)) is not None and not (part == "current" and "tau" in wanted):
                wanted[part] = places
        if "tau" not in wanted and "current" not in wanted:
            hint = f"name them: {_named('tau', 'torque_{}')}"
            raise Error(f"{where}: there are no columns tau_<joint>, nor current_<joint>; there are: {_listed(columns)}; {hint}")
        return Layout(columns, wanted)

    return arrange


def _listed(names: Sequence[str]) -> str:
    return brief(", ".join(names)).strip("'")


def _named(part: str, name: str) -> str:
    """How to say which column is what, in Python; a shell has its own words for it."""
    return f'columns={{"{part}": "{name}"}}'


def _arrays(held: Archive, name: str, given: Mapping[str, Any], limit: int) -> States:
    """The arrays of an NPZ file."""
    names = {part: given.get(part, part) for part in PARTS}
    if "t" not in given and "t" not in held.names:
        names["t"] = "time"
    there = {part: held.table(x) for part, x in names.items() if isinstance(x, str) and x in held.names}
    if "current" in given:
        there.pop("tau", None)
    for part in ("t", "q", *given, *([] if "current" in there else ["tau"])):
        if part not in there:
            raise Error(f"{name}: there is no array {names[part]!r} (there are: {', '.join(held.names) or 'none'})")
    check_bytes(8 * sum(table.rows * table.width for table in there.values()), name, limit)
    return {part: table.whole() for part, table in there.items()}
