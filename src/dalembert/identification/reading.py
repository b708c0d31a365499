"""Recordings in CSV and NPZ files: which columns or arrays are what, and joint forces from what was measured."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, flag, frozen_array, instance, listed
from dalembert.errors import DataWarning, Error, NotFiniteError, brief, warn
from dalembert.files.binary import Archive, archive
from dalembert.files.layout import TAKEN, TIME, Layout, States, check_bytes, check_finite, gathered
from dalembert.files.text import head, is_number, read_csv
from dalembert.identification.clock import in_seconds, with_fraction
from dalembert.robots import Robot
from dalembert.storage.opening import file_path, opened

PARTS = ("t", "q", "qd", "tau", "current")
FRACTION = "nanoseconds"  # of a clock in two columns
NAME = re.compile(r"(?P<message>(.*?[^A-Za-z])??)(joints?_?)?names?[^A-Za-z0-9]*(?P<number>[0-9]+)[^A-Za-z0-9]*", re.IGNORECASE)
# columns of messages with a header, of topics with states of joints, and of their arrays
ROS = re.compile(
    r"%time$|field\.|(.*[./_])?header[./_]|.*joint_?states|.*[./](.*_)?(positions?|velocit(y|ies)|efforts?)[^A-Za-z]",
    re.IGNORECASE,
)
NUMBERED = re.compile(r".*?(?P<number>[0-9]+)[^A-Za-z0-9]*")
TOPIC = re.compile(r"(.*[./])?")  # what columns of one message have in common
# what to write where a file does not say which column is which
LISTED = 'list its columns in the order of the joints, as in columns={"q": [...]}'


def read(
    path: Any,
    robot: Robot,
    *,
    columns: Mapping[str, Any] | None,
    gains: Any,
    motors: Any,
    time_unit: str | None,
    allow_nan: bool,
    limit: int,
) -> tuple[str, States]:
    """The name of a file, and the times, positions, joint forces and velocities that it has; the arguments of `Recording.load`."""
    instance(robot, Robot, "Recording.load: the robot")
    given = by_name({} if columns is None else columns, "columns", "{'q': 'actual_q_{}'}")
    for part in given:
        if part not in PARTS:
            raise Error(f"columns are named for {', '.join(PARTS[:-1])} and {PARTS[-1]}, got {part!r}")
    G = _motors(robot, motors)
    place, allow_nan = file_path(path), flag(allow_nan, "allow_nan")
    try:
        with opened(place) as file:
            if file.peek(2)[:2] == b"PK":
                with archive(file, place.name) as held:
                    states, clock = _arrays(held, place.name, given, limit, allow_nan)
            else:
                names, first = head(file, place.name)
                file.seek(0)
                wanted = _arranged(robot, given, robot.n if G is None else len(G), first)
                pieces = (some for some, _ in read_csv(file, place.name, wanted, allow_nan=allow_nan))
                states = gathered(pieces, place.name, limit)
                clock = f"column {' and '.join(_clock(given, names))}" if names else "time"
    except NotFiniteError as error:
        raise NotFiniteError(str(error).replace(TAKEN, "; allow_nan=True leaves such rows out")) from None
    if FRACTION in states:
        if time_unit not in (None, "s"):
            raise Error(f"{place.name}: {clock} are seconds and nanoseconds, so time_unit must be left out, got {time_unit!r}")
        states["t"] = with_fraction(states["t"], states.pop(FRACTION)[:, 0], f"{place.name}: {clock}")
    states["t"] = in_seconds(states["t"], time_unit, f"{place.name}: {clock}")
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


def _clock(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The columns of the clock: one, or seconds and nanoseconds."""
    wanted = given.get("t")
    if wanted is None:
        return [name for name in names if name in TIME][:1]
    clock = [wanted] if isinstance(wanted, str) else [str(name) for name in listed(wanted, "columns: t")]
    if len(clock) not in (1, 2):
        raise Error(f"columns: t is one column, or two, seconds and nanoseconds; got {brief(clock)}")
    return clock


def _arranged(robot: Robot, given: Mapping[str, Any], motors: int, first: Sequence[str]) -> Any:
    """Which columns of a table are what; `first` is its first row, which may name the joints."""
    n = robot.n
    words: dict[int, str] = {}  # names of joints in columns of the file, if joints are matched by them

    def columns_of(part: str, names: Sequence[str], where: str) -> list[int] | None:
        """Those of q, qd, tau or current: from a list, or by names or numbers of the joints."""
        count = motors if part in ("tau", "current") else n
        joints = robot.joint_names if count == n else tuple(f"motor{k + 1}" for k in range(count))
        wanted = given.get(part)
        if wanted is None:
            patterns = [f"{part}_{{}}", f"{part}{{}}"]
        elif isinstance(wanted, str):
            patterns = [wanted]
        else:
            patterns = list[str]()
        if patterns:
            _check_pattern(patterns[0], part, count, where)
            choices = [[pattern.replace("{}", joint).strip() for joint in joints] for pattern in patterns]
        else:
            choices = [_checked_list(wanted, part, count, where)]
        named = next((columns for columns in choices if all(name in names for name in columns)), None)
        if named and not (patterns and any(joint.isdigit() for joint in joints)):
            return [names.index(name) for name in named]
        for pattern in patterns:
            if numbers := _numbered(pattern, names):
                order, own_words = _order(names, first, joints, pattern, where)
                words.update(own_words)
                columns = _by_word(numbers, order, joints, where)
                columns = columns or _by_number(numbers, count, part, names, where)
                if named and columns and named != columns and not order:
                    raise Error(
                        f"{where}: the joints {_listed(joints)} are named by numbers, in another order than theirs; {LISTED}"
                    )
                if columns:
                    return [names.index(name) for name in columns]
        if part in given or part == "q":
            missing = next(name for name in choices[0] if name not in names)
            numbered = " (numbers from 1 and from 0 in place of the joint's name were tried, too)"
            tried = numbered if patterns else ""
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
        clock = _clock(given, columns)
        if not clock or any(name not in columns for name in clock):
            missing = next((name for name in clock if name not in columns), "t (nor time)")
            near = next((name for name in columns if "time" in name.lower()), columns[0])
            hint = "" if "t" in given else f"; name it: {_named('t', near)}"
            raise Error(f"{where}: there is no column {missing}; there are: {_listed(columns)}{hint}")
        wanted = {part: [columns.index(name)] for part, name in zip(("t", FRACTION), clock, strict=False)}
        for part in ("q", "qd", *(["current"] if "current" in given else ["tau", "current"])):
            if (places := columns_of(part, columns, where)) is not None and not (part == "current" and "tau" in wanted):
                wanted[part] = places
        if "tau" not in wanted and "current" not in wanted:
            hint = f"name them: {_named('tau', 'torque_{}')}"
            raise Error(f"{where}: there are no columns tau_<joint>, nor current_<joint>; there are: {_listed(columns)}; {hint}")
        for k in (k for places in wanted.values() for k in places):
            if columns.count(columns[k]) > 1:
                raise Error(f"{where}: two columns are named {columns[k]!r}")
        if words and wanted["q"] != sorted(wanted["q"]):
            own = zip(robot.joint_names, wanted["q"], strict=True)
            pairs = ", ".join(f"{joint} is {columns[k]}" for joint, k in own)
            holders = _listed([columns[k] for k in words])
            warn(f"{where}: joints are in the order that {holders} say: {pairs}", DataWarning)
        return Layout(columns, wanted, words)

    return arrange


def _check_pattern(pattern: str, part: str, count: int, where: str) -> None:
    if count > 1 and "{}" not in pattern:
        raise Error(
            f"{where}: {part} has {count} columns, and {brief(pattern, 40)} names one; write {{}} for the name or "
            f"the number of the joint, as in {_named(part, f'{pattern}_{{}}')}"
        )


def _checked_list(names: Any, part: str, count: int, where: str) -> list[str]:
    columns = [str(name) for name in listed(names, f"columns: {part}")]
    if len(columns) != count or len(set(columns)) < count:
        raise Error(f"{where}: {part} needs {count} columns, got {len(set(columns))}: {brief(columns)}")
    return columns


# --- joints that a file numbers -------------------------------------------------------------------------------------------------


def _numbered(pattern: str, names: Sequence[str]) -> dict[str, str]:
    """The columns that a pattern with numbers for {} names, by number."""
    before, *after = map(re.escape, pattern.strip().split("{}"))
    form = re.compile(f"{before}(?P<number>[0-9]{{1,4}}){'(?P=number)'.join(after)}")
    return {match["number"]: name for name in names if after and (match := form.fullmatch(name))}


def _order(
    names: Sequence[str], first: Sequence[str], joints: Sequence[str], pattern: str, where: str
) -> tuple[dict[str, str], dict[int, str]]:
    """The numbers of joints by name, and the columns with these names: name0, name1, ... of the message of a pattern, or others."""
    numbers, words = dict[str, str](), dict[int, str]()
    seen, elsewhere = set[str](), list[str]()
    for k, (name, word) in enumerate(zip(names, first, strict=False)):
        is_word = bool(word) and not is_number(word)
        same_message = _topic(name) == _topic(pattern)
        if (match := NAME.fullmatch(name)) and (is_word or word in joints):
            same_message = same_message and pattern.strip().lower().startswith(match["message"].lower())
        else:
            match = NUMBERED.fullmatch(name) if is_word and word in joints else None
        if match is None:
            continue
        if not same_message:
            elsewhere.append(name)
            continue
        number = match["number"]
        if word in numbers or number in seen:
            raise Error(f"{where}: columns such as {name!r} name {word!r} twice, so they do not say an order; {LISTED}")
        numbers[word], words[k] = number, word
        seen.add(number)
    if elsewhere and not numbers:
        told = f"{_listed(elsewhere)} hold names of joints, but of another message than {pattern}"
        raise Error(f"{where}: {told}, whose order they do not say; {LISTED}")
    return numbers, words


def _topic(column: str) -> str:
    """The part of a name that all columns of one message have."""
    found = TOPIC.match(column.strip().partition("{")[0])
    return found[0].lower() if found else ""


def _by_word(numbers: Mapping[str, str], order: Mapping[str, str], joints: Sequence[str], where: str) -> list[str]:
    """The columns of the joints by the numbers that they have in the file; none where it does not name them."""
    if not order:
        return []
    for joint in joints:
        if order.get(joint) not in numbers:
            raise Error(f"{where}: the file names the joints {_listed(list(order))}, and {joint!r} is not among them; {LISTED}")
    return [numbers[order[joint]] for joint in joints]


def _by_number(numbers: Mapping[str, str], count: int, part: str, names: Sequence[str], where: str) -> list[str] | None:
    """The columns of the joints where the file numbers as many as there are, from 1 or from 0."""
    starts = [start for start in (1, 0) if all(str(start + k) in numbers for k in range(count))]
    if not starts:
        return None
    shown = _listed(list(numbers.values()))
    if len(numbers) > count:
        raise Error(f"{where}: {shown} are more than the {count} of {part}, so the numbers do not say which is which; {LISTED}")
    if count > 1 and any(map(ROS.match, names)):
        raise Error(f"{where}: {shown} are in the order of a ROS message, which no column name0, ... says; {LISTED}")
    return [numbers[str(starts[0] + k)] for k in range(count)]


# --- words ----------------------------------------------------------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str:
    return brief(", ".join(names)).strip("'")


def _named(part: str, name: str) -> str:
    """How to say which column is what, in Python; a shell has its own words for it."""
    return f'columns={{"{part}": "{name}"}}'


def _arrays(held: Archive, name: str, given: Mapping[str, Any], limit: int, allow_nan: bool) -> tuple[States, str]:
    """The arrays of an NPZ file, and what its clock is called."""
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
    states = {part: table.whole() for part, table in there.items()}
    if not allow_nan:
        check_finite(states, name, 0)
    return states, str(names["t"])
