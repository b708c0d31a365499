"""What varies in a sweep: ranges of inputs by name, checked, one entry a scalar."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import by_name, choice, numbers
from dalembert.derived.varied import FRICTION, GRAVITY, LOAD, PLACE
from dalembert.errors import Error, brief
from dalembert.model.degrees import warn_of_ranges
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.model.positions import ranges
from dalembert.native.sweeps.drawn import FIXED, HASHED, SPREAD, STEPPED

SAMPLINGS = ("uniform", "low_discrepancy", "corners", "mixed")
ENDS = {"uniform": 0.0, "low_discrepancy": 0.0, "corners": 1.0, "mixed": 0.9}  # the share of values at the ends of their range
INTERIOR = ("q",)  # what is uniform by default; of all else the extremes are mostly at the ends
EXAMPLE = "{'qd': (-1.0, 1.0)}"
TURN = 2 * np.pi * (1 + 1e-15)


class Range(NamedTuple):
    """An input that varies: the ends of its scalars, (size,) each, and the points of a grid, 0 where there is none."""

    name: str
    shape: tuple[int, ...]
    low: Any
    high: Any
    counts: Any

    @property
    def size(self) -> int:
        """How many scalars it has."""
        return len(self.low)


def default(robot: Model, name: str) -> tuple[Any, Any] | None:
    """The limits of the model for an input; none for most."""
    if name == "q" and not robot.runs:
        return robot.lower, robot.upper
    if name in ("qd", "tau"):
        most = own_limit(robot, "velocity" if name == "qd" else "torque")
        return -most, most
    return (np.zeros(3), np.zeros(3)) if name == PLACE else None


def ranges_of(
    robot: Model, over: Any, needed: Mapping[str, tuple[int, ...]], turning: Mapping[str, Sequence[bool]] | None = None
) -> list[Range]:
    """The range of each input that is needed, by its shape; those not given have the limits of the robot.

    `turning` tells of which scalars of an input one turn is enough.
    """
    given = by_name({} if over is None else over, "over", EXAMPLE)
    turns = turning or {}
    return [_range(robot, name, given.get(name), shape, turns.get(name, ())) for name, shape in needed.items()]


def _range(robot: Model, name: str, given: Any, shape: tuple[int, ...], turning: Sequence[bool] = ()) -> Range:
    size, labels = int(np.prod(shape)), _labels(robot, name, shape)
    fallback = default(robot, name)
    if isinstance(given, Mapping):
        for label in given:
            choice(label, f"entry of {name}:", labels)
        ends = [[] if fallback is None else [float(x[k]) for x in fallback] for k in range(size)]
        parts = [_one(given[label], f"{name} of {label}", 1) if label in given else (*map(_ones, end), np.zeros(1)) if end else None
                 for label, end in zip(labels, ends, strict=True)]  # fmt: skip
        missing = [label for label, part in zip(labels, parts, strict=True) if part is None]
        if missing:
            raise Error(
                f"{name} of {missing[0]} has no range; give one, such as over={{{name!r}: {{{missing[0]!r}: (-1.0, 1.0)}}}}"
            )
        low, high, counts = (np.concatenate([part[k] for part in parts if part]) if parts else np.zeros(0) for k in range(3))
    elif given is not None:
        low, high, counts = _one(given, name, size)
    elif fallback is not None:
        low, high, counts = *fallback, np.zeros(size)
    else:
        raise Error(f"{name} has no range; give one, such as over={{{name!r}: (-1.0, 1.0)}}")
    if name == "q" and given is not None and not robot.runs:
        warn_of_ranges(robot.joints, low, high, "over: positions")
    if any(turning):
        wide, (first, _) = np.array(turning) & (high - low > TURN), ranges(low, high, TURN)
        low, high = np.where(wide, first, low), np.where(wide, first + TURN, high)
    _check(name, labels, low, high, robot, given is None)
    return Range(name, shape, low + 0.0, high + 0.0, counts)


def _ones(x: float) -> Any:
    return np.array([x])


def _labels(robot: Model, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """What scalars are called: joints, where there is one for each, or places."""
    if shape == (robot.n,) and name not in (GRAVITY, PLACE):
        return tuple(robot.joint_names)
    if shape == (3,):
        return ("x", "y", "z")
    return tuple(",".join(map(str, index)) for index in np.ndindex(*shape))


def _one(given: Any, name: str, size: int) -> tuple[Any, Any, Any]:
    """(low, high), (low, high, count) or a number that stays; each for all scalars or one for each."""
    parts = given if isinstance(given, tuple | list) and len(given) in (2, 3) else (given, given)
    if len(parts) == 3 and size == 3 and not isinstance(given, tuple):  # a list of three numbers is a point
        parts = (given, given)
    wide = [_wide(part, name, size, given) for part in parts]
    counts = wide[2] if len(wide) == 3 else np.zeros(size)
    if len(wide) == 3 and not ((counts >= 1) & (counts == np.floor(counts)) & (counts < 2**31)).all():
        raise Error(f"over: the count of {name} = (low, high, count) must be a whole number of points, got {brief(given)}")
    return wide[0], wide[1], counts


def _wide(part: Any, name: str, size: int, given: Any) -> Any:
    array = numbers(part, f"over: {name}").astype(float)
    if array.shape == () or array.size == size:
        return np.array(np.broadcast_to(array.reshape(-1) if array.shape else array, (size,)))
    raise Error(f"over: {name} must be (low, high), each a number or {size} of them, got {brief(given)}")


def _check(name: str, labels: Sequence[str], low: Any, high: Any, robot: Model, by_default: bool) -> None:
    for label, a, b in zip(labels, low, high, strict=True):
        what = f"{name} of {label!r}" if label else name
        if not (np.isfinite(a) and np.isfinite(b)):
            limit = f"{robot.name} has no limits for it" if by_default else f"got {a:g} to {b:g}"
            inside = f"{{{label!r}: (-1.0, 1.0)}}" if label else "(-1.0, 1.0)"
            raise Error(f"{what} needs a finite range, {limit}; give one, such as over={{{name!r}: {inside}}}")
        if a > b:
            raise Error(f"over: the range of {what} is empty: {a:g} is above {b:g}")
    if name in (LOAD, *FRICTION) and (low < 0).any():
        raise Error(f"over: {name} must not be negative, got {low.min():g}")


def kinds(ranges: Sequence[Range], sampling: Any) -> tuple[str, list[float]]:
    """A letter for each scalar, and the share of its values at the ends."""
    chosen = _samplings(ranges, sampling)
    letters, ends = "", list[float]()
    for part in ranges:
        how = chosen[part.name]
        for low, high, count in zip(part.low, part.high, part.counts, strict=True):
            letter = SPREAD if how == "low_discrepancy" else HASHED
            letter = FIXED if low == high else STEPPED if count else letter.upper() if ENDS[how] else letter
            letters, ends = letters + letter, [*ends, ENDS[how]]
    return letters, ends


def _samplings(ranges: Sequence[Range], sampling: Any) -> dict[str, str]:
    names = [part.name for part in ranges]
    if isinstance(sampling, str):
        return dict.fromkeys(names, choice(sampling, "sampling", SAMPLINGS))
    chosen = {name: "uniform" if name in INTERIOR else "mixed" for name in names}
    for name, how in by_name({} if sampling is None else sampling, "sampling", "{'qd': 'uniform'}").items():
        choice(name, "input of the sweep:", names)
        chosen[name] = choice(how, f"sampling of {name}:", SAMPLINGS)
    return chosen


def by_input(ranges: Sequence[Range], scalars: Any) -> dict[str, Any]:
    """Inputs by name from all scalars (..., m) of states."""
    found, start = dict[str, Any](), 0
    for part in ranges:
        found[part.name] = scalars[..., start : start + part.size].reshape((*scalars.shape[:-1], *part.shape))
        start += part.size
    return found
