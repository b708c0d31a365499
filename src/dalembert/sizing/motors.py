"""What a motor gives: its torque against speed, seen from the joint."""

import csv
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, frozen_array, instance, listed, number, numbers, positive
from dalembert.errors import Error, brief, unknown
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.model.values import Frozen, Value
from dalembert.storage.opening import file_path, opened

BYTES = 1 << 20  # of a file of curves
ROUNDING = 1e-9  # of the top speed: what is faster by less is as fast
KEYS = ("speed", "peak", "continuous", "ratio", "efficiency")


@dataclass(frozen=True, eq=False)
class MotorCurve(Value):
    """The largest torque of a joint's motor against speed: points with straight lines between them, the same in both directions.

    `speed` (k,) rises from 0, in rad/s (m/s); `peak` (k,) is the torque in N m (N) that is there for a short time, `continuous`
    (k,) what it bears for ever; by default the same. Beyond the last speed there is nothing; a curve of one point is the same at
    all speeds. All on the joint's side of the gearing; `geared` converts from the motor's.

    >>> curve = MotorCurve([0.0, 2.0, 4.0], peak=[80.0, 80.0, 20.0], continuous=[40.0, 35.0, 10.0])
    >>> curve.peak_at([1.0, -3.0, 5.0]).tolist(), float(curve.continuous_at(3.0))
    ([80.0, 50.0, 0.0], 22.5)
    """

    speed: Frozen
    peak: Frozen
    continuous: Frozen = None

    def __post_init__(self) -> None:
        speed = frozen_array(self.speed, None, "the speeds of a motor curve")
        if speed.ndim != 1 or not len(speed) or speed[0] != 0 or (np.diff(speed) <= 0).any():
            raise Error(f"the speeds of a motor curve must rise from 0, as in [0, 2, 4], got {brief(speed.tolist())}")
        object.__setattr__(self, "speed", speed)
        steady: Any = self.peak if self.continuous is None else self.continuous
        for name, values in (("peak", self.peak), ("continuous", steady)):
            torque = frozen_array(values, speed.shape, f"the {name} torques of a motor curve, one a speed:")
            if (torque < 0).any():
                raise Error(f"the {name} torques of a motor curve must not be negative, got {brief(torque.tolist())}")
            object.__setattr__(self, name, torque)
        peak, steady = self.peak, self.continuous
        if (steady > peak).any():
            k = int(np.argmax(steady > peak))
            values = f"{steady[k]:g}, and the peak {peak[k]:g}"
            raise Error(f"a motor curve's continuous torque must not exceed its peak torque; at speed {speed[k]:g} it is {values}")

    @property
    def top_speed(self) -> float:
        """The last speed, infinite of a curve of one point."""
        return float(self.speed[-1]) if len(self.speed) > 1 else np.inf

    def peak_at(self, speed: Any) -> Array:
        """The peak torque at speeds of any shape and sign, N m (N)."""
        return self._at(speed, self.peak)

    def continuous_at(self, speed: Any) -> Array:
        """The torque that it bears for ever, at speeds of any shape and sign, N m (N)."""
        return self._at(speed, self.continuous)

    def _at(self, speed: Any, torque: Array) -> Array:
        fast = np.abs(numbers(speed, "the speeds of a motor").astype(float))
        return np.where(fast <= self.top_speed * (1 + ROUNDING), np.interp(fast, self.speed, torque), 0.0)

    def geared(self, ratio: float, efficiency: float = 1.0) -> "MotorCurve":
        """The curve behind a gear: speeds divided by the ratio, torques times the ratio and the efficiency.

        >>> MotorCurve([0.0, 300.0], [1.0, 0.5]).geared(100.0, efficiency=0.8).peak.tolist()
        [80.0, 40.0]
        """
        by, share = positive(ratio, "the ratio of a gear"), positive(efficiency, "the efficiency of a gear")
        if share > 1:
            raise Error(f"the efficiency of a gear must not exceed 1, got {share:g}")
        with np.errstate(over="ignore"):  # which the curve refuses
            speed, peak, steady = self.speed / by, self.peak * (by * share), self.continuous * (by * share)
        return MotorCurve(speed, peak, steady)

    @staticmethod
    def load(path: Any) -> "MotorCurve | dict[str, MotorCurve]":
        """Curves from a TOML or CSV file: one for all joints, or one for each by its name.

        TOML: `speed`, `peak` and, if known, `continuous` as lists, and `ratio` and `efficiency` where they are those of the motor's
        shaft; all of this in tables named after joints, or once for all. CSV: columns speed, peak, continuous, and joint.
        """
        place = file_path(path)
        readers = {".toml": _toml, ".csv": _csv}
        if place.suffix.lower() not in readers:
            raise Error(f"{place}: motor curves are read from .toml or .csv files")
        with opened(place) as file:
            data = file.read(BYTES + 1)
        if len(data) > BYTES:
            raise Error(f"{place.name}: larger than {BYTES >> 20} MiB, too large for a file of motor curves")
        try:
            return readers[place.suffix.lower()](data.decode("utf-8-sig"))
        except Error as error:
            raise Error(f"{place.name}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise Error(f"{place.name}: not valid {place.suffix[1:].upper()}: {str(error)[:200]}") from None


def _toml(text: str) -> MotorCurve | dict[str, MotorCurve]:
    table = tomllib.loads(text)
    if not any(isinstance(value, Mapping) for value in table.values()):
        return _curve(table, "")
    return {name: _curve(value, f"[{name}]: ") for name, value in table.items()}


def _curve(table: Any, where: str) -> MotorCurve:
    if not isinstance(table, Mapping):
        raise Error(f"{where or 'it '}must have speed = [...] and peak = [...], got {brief(table)}")
    for key in table:
        if key not in KEYS:
            raise unknown(f"{where}key", key, KEYS)
    if "speed" not in table or "peak" not in table:
        raise Error(f"{where}a motor curve has speed = [...] and peak = [...]; {brief(', '.join(table) or 'nothing')} is there")
    try:
        made = MotorCurve(table["speed"], table["peak"], table.get("continuous"))
        gear = number(table.get("ratio", 1.0), "ratio"), number(table.get("efficiency", 1.0), "efficiency")
        return made.geared(*gear) if "ratio" in table or "efficiency" in table else made
    except Error as error:
        raise Error(f"{where}{error}") from None


def _csv(text: str) -> MotorCurve | dict[str, MotorCurve]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    head = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = head
    if missing := [name for name in ("speed", "peak") if name not in head]:
        there = brief(", ".join(head))
        raise Error(f"there is no column {missing[0]}; the columns are speed, peak, continuous and joint, got {there}")
    found: dict[str, dict[str, list[float]]] = {}
    for row in reader:
        columns = found.setdefault((row.get("joint") or "").strip(), {})
        for name in ("speed", "peak", *(["continuous"] if "continuous" in head else [])):
            columns.setdefault(name, []).append(_cell(row.get(name), name, reader.line_num))
    if not found:
        raise Error("there are no rows")
    curves = {joint: _curve(columns, f"{joint}: " if joint else "") for joint, columns in found.items()}
    if "" in curves and len(curves) > 1:
        raise Error("some rows name a joint and some do not")
    return curves.get("", curves)


def _cell(text: Any, name: str, line: int) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise Error(f"line {line}: {name} must be a number, got {brief(text)}") from None


def motor_curves(robot: Model, given: Any) -> tuple[MotorCurve | None, ...]:
    """The curve of each joint, None where nothing is known: one for all, one for each, by name, a file; else the model's limits."""
    if isinstance(given, str | Path):
        given = MotorCurve.load(given)
    if given is None:
        return tuple(map(_limits, own_limit(robot, "torque").tolist(), own_limit(robot, "velocity").tolist()))
    if isinstance(given, MotorCurve):
        return (given,) * robot.n
    if isinstance(given, Mapping):
        for name, curve in given.items():
            choice(name, f"joint of {robot.name} in motor:", robot.joint_names)
            instance(curve, MotorCurve, f"motor of {name}")
        own = motor_curves(robot, None)
        return tuple(given.get(name, limits) for name, limits in zip(robot.joint_names, own, strict=True))
    try:
        curves = listed(given, "motor")
    except Error:
        raise Error(f"motor must be a da.MotorCurve, one for each joint, curves by joint, or a file, got {brief(given)}") from None
    if len(curves) != robot.n:
        raise Error(f"motor must have one curve for each of the {robot.n} joints of {robot.name}, got {len(curves)}")
    for name, curve in zip(robot.joint_names, curves, strict=True):
        if curve is not None:
            instance(curve, MotorCurve, f"motor of {name}")
    return tuple(curves)


def _limits(torque: float, velocity: float) -> MotorCurve | None:
    """The limits of a model as a curve."""
    if np.isinf(torque):
        return None
    return MotorCurve([0.0], [torque]) if np.isinf(velocity) else MotorCurve([0.0, velocity], [torque, torque])


def limits_at(curves: tuple[MotorCurve | None, ...], qd: Array) -> Array:
    """The peak torques (..., n) at speeds (..., n); infinite where no curve is known."""
    parts = [np.full(qd.shape[:-1], np.inf) if c is None else c.peak_at(qd[..., j]) for j, c in enumerate(curves)]
    return np.stack(parts, axis=-1) if parts else np.zeros(qd.shape)
