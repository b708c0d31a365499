"""Which column of a table is what."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, NotFiniteError, brief
from dalembert.model.model import Model

PARTS = ("q", "qd", "qdd", "tau")
TIME = ("t", "time")
ROWS = 20_000  # states at a time
TAKEN = "; allow_nan=True takes it as it is"  # NaN or infinity

States = dict[str, Array]  # t (rows,), and q, qd, qdd, tau (rows, n), those that are present


class Layout(NamedTuple):
    """The names of all columns, which ones make each part of a state, and words that columns hold in every row."""

    names: Sequence[str]
    columns: dict[str, list[int]]
    words: Mapping[int, str] = MappingProxyType({})

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.names)

    @property
    def wanted(self) -> list[int]:
        """All columns of states, in order."""
        return sorted(k for columns in self.columns.values() for k in columns)

    def told(self, column: int) -> str:
        """A column for a message: its number from 1, and its name."""
        return f"column {column + 1}" + (f" ({self.names[column]})" if self.names[column] else "")

    def split(self, table: Array) -> States:
        """The parts of a table (rows, width)."""
        return {part: table[:, k[0]] if part == "t" else table[:, k] for part, k in self.columns.items()}


Arrange = Callable[[Sequence[str] | int, str], Layout]  # from the names of columns, or how many there are, and their positions


def joined(states: States) -> Array:
    """The parts of states side by side."""
    return np.concatenate([x[:, None] if x.ndim == 1 else x for x in states.values()], axis=1)


def gathered(pieces: Iterable[States], what: str, limit: int) -> States:
    """All pieces in one, as long as they take no more than `limit` bytes."""
    held: States = {}
    size, rows = 0, 0
    for states in pieces:
        size += sum(x.nbytes for x in states.values())
        check_bytes(size, what, limit)
        count = len(next(iter(states.values())))
        for part, x in states.items():
            kept = held.setdefault(part, np.zeros((0, *x.shape[1:])))
            if rows + count > len(kept):  # moved by the system, not copied, and an eighth ahead of what is needed
                kept.resize((max(rows + count, len(kept) * 9 // 8), *x.shape[1:]), refcheck=False)
            kept[rows : rows + count] = x
        rows += count
    if not held:
        raise Error(f"{what}: the file contains no states")
    for kept in held.values():
        kept.resize((rows, *kept.shape[1:]), refcheck=False)
    return held


def check_bytes(size: int, what: str, limit: int) -> None:
    """Refuse what takes more bytes than allowed."""
    if size > limit:
        raise Error(f"{what}: its arrays exceed {limit} bytes; raise limit=, or read it in chunks with read_states")


def check_finite(states: States, what: str, first: int) -> None:
    """Refuse NaN and infinity in arrays t (rows,) and others (..., rows, columns); `first` is the first row, from 0."""
    for part, x in states.items():
        if np.isfinite(x).all():
            continue
        place = tuple(np.argwhere(~np.isfinite(x))[0].tolist())
        *rollout, row, column = place if part != "t" else (*place, 0)
        where = f"column {column + 1} of {part}" if part != "t" else part
        rollouts = f"rollout {rollout}, " if rollout else ""
        raise not_finite(f"{what}, {rollouts}row {first + row + 1}, {where}", str(x[place]))


def not_finite(where: str, value: str) -> NotFiniteError:
    """Error for NaN or infinity in a table."""
    return NotFiniteError(f"{where}: {value} is not a finite number{TAKEN}")


def column_names(robot: Model, parts: Sequence[str]) -> list[str]:
    """Names of columns, by joint.

    >>> import dalembert as da
    >>> column_names(da.robot("two_link"), ["t", "q"])
    ['t', 'q_joint1', 'q_joint2']
    """
    return [name for part in parts for name in (["t"] if part == "t" else [f"{part}_{x}" for x in entries(robot, part)])]


def entries(robot: Model, part: str) -> tuple[str, ...]:
    """Names of the entries of a part of a state."""
    return robot.position_names if part == "q" else robot.joint_names


def arranged(robot: Model, wanted: Sequence[str]) -> Arrange:
    """How states are laid out: by the names of the columns, or else by their order."""

    def arrange(columns: Sequence[str] | int, where: str) -> Layout:
        return positional(robot, columns, wanted, where) if isinstance(columns, int) else named(robot, columns, wanted, where)

    return arrange


def named(robot: Model, names: Sequence[str], wanted: Sequence[str], where: str) -> Layout:
    """The layout of columns with names; those that are not wanted are ignored."""
    place = {name: k for k, name in enumerate(names)}
    for name, count in Counter(names).items():
        if count > 1 and name:
            raise Error(f"{where}: two columns are named {name!r}")
    times = [place[x] for x in TIME if x in place]
    columns = {"t": times[:1]} if times else {}
    for part in wanted:
        columns[part] = []
        for i, joint in enumerate(entries(robot, part)):
            column = place.get(f"{part}_{joint}".strip(), place.get(f"{part}{i + 1}"))
            if column is None:
                missing, listed = f"{part}_{joint}", brief(", ".join(names)).strip("'")
                raise Error(f"{where}: there is no column {missing} (nor {part}{i + 1}); there are: {listed}")
            columns[part].append(column)
    return Layout(names, columns)


def positional(robot: Model, width: int, wanted: Sequence[str], where: str) -> Layout:
    """The layout of columns without names: the wanted parts, time before them or not; or whole states t, q, qd, qdd, tau."""
    n, size = robot.n, sum(len(entries(robot, part)) for part in wanted)
    choices = {size: [*wanted], size + 1: ["t", *wanted], 3 * n + robot.nq + 1: ["t", *PARTS]}
    if width not in choices:
        told = ", or ".join(f"{w} ({', '.join(parts)})" for w, parts in choices.items())
        raise Error(f"{where}: {width} columns without names, but {robot.name} with {n} joints needs {told}; or name the columns")
    parts, columns, at = choices[width], dict[str, list[int]](), 0
    for part in parts:
        size = 1 if part == "t" else len(entries(robot, part))
        if part == "t" or part in wanted:
            columns[part] = list(range(at, at + size))
        at += size
    return Layout(column_names(robot, parts), columns)
