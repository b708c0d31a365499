"""What an arm recorded: times, positions and joint forces, checked when they are given."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import flag, instance, numbers, text
from dalembert.errors import DataWarning, Error, warn
from dalembert.identification.clock import in_seconds
from dalembert.identification.reading import read
from dalembert.model.degrees import position_doubt
from dalembert.robots import Robot
from dalembert.storage import limits

if TYPE_CHECKING:
    from dalembert.identification.prepare import Prepared

LEAST = 30  # samples
PART = 100_000  # samples that are checked at once
GAP = 1.75  # spacings: more is a gap
LOST = 0.1  # share of rows that may be left out


def identifiable(robot: Robot) -> Robot:
    """A robot that recordings can tell about; others are refused."""
    if robot.several or robot.loops:
        what = f"the {robot.several[0].kind} joint {robot.several[0].name!r}" if robot.several else "the loops"
        raise Error(f"identification does not support {what} of {robot.name}; it needs a tree of joints of one degree of freedom")
    return robot


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """A recorded motion: `time` (T,) in s, `q` (T, n) in rad or m, `tau` (T, n) in N m or N, and velocities `qd` if there are any.

    The clock may be irregular. Rows that repeat a time or hold no number are left out, gaps are kept; `notes` tells of all by row,
    counted from 1, and a `DataWarning` does, too. Time that goes back is an error. Arrays are not copied unless rows are left out,
    so that they may be memory maps.

    degrees: True converts q and qd; False takes them as radians whatever they are; None (the default) takes them as radians and
    rejects those that look like degrees.
    time_unit: of `time`, "s", "ms", "us" or "ns"; in all but "s" it is counted from the first sample. None
    (the default) takes it as seconds and rejects a clock with less than 5 samples a second.

    >>> import dalembert as da, numpy as np
    >>> arm = da.robot("two_link")
    >>> move = arm.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0))
    >>> da.Recording(arm, move.time, move.q, move.tau)
    <Recording of two_link: 201 samples, 2 s, 100 Hz>
    """

    robot: Robot
    time: Any
    q: Any
    tau: Any
    qd: Any = None
    name: str = "the recording"
    degrees: bool | None = None
    time_unit: str | None = None
    notes: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        n = identifiable(instance(self.robot, Robot, "the robot of a recording")).n
        text(self.name, "the name of a recording")
        keep: dict[str, Any] = {"time": in_seconds(self.time, self.time_unit, f"{self.name}: time")}
        for part in ("q", "tau", *(["qd"] if self.qd is not None else [])):
            keep[part] = _floats(getattr(self, part), part, self.name)
            if keep[part].shape != (*keep["time"].shape, n) or keep["time"].ndim != 1:
                raise Error(
                    f"{self.name}: {self.robot.name} needs time (T,) and {part} (T, {n}), "
                    f"got {keep['time'].shape} and {keep[part].shape}"
                )
        keep, notes = _clean(keep, self.name)
        turned = _in_radians(self, keep)
        if turned:
            keep["q"] = np.radians(keep["q"])
            keep |= {"qd": np.radians(keep["qd"])} if "qd" in keep else {}
        notes += _constant(self.robot, keep["tau"])
        degrees, time_unit = False if turned else self.degrees, "s" if self.time_unit else None
        keep |= {"notes": tuple(notes), "degrees": degrees, "time_unit": time_unit}
        for name, value in keep.items():
            object.__setattr__(self, name, value)
        if notes:
            warn(f"{self.name}: {'; '.join(notes)}", DataWarning)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<Recording of {self.robot.name}: {len(self)} samples, {self.duration:.4g} s, {self.rate:.4g} Hz>"

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def rate(self) -> float:
        """Samples per second: of the middle spacing."""
        return float(1 / np.median(np.diff(self.time[:PART])))

    def pieces(self, length: int, overlap: int) -> Iterator["Recording"]:
        """The same in parts of about this length, each with some samples of its neighbours, without a copy."""
        count = max(1, round(len(self) / length))
        ends = np.linspace(0, len(self), count + 1).astype(int)
        for start, end in itertools.pairwise(ends):
            yield self if count == 1 else self._part(max(start - overlap, 0), min(end + overlap, len(self)))

    def _part(self, start: int, end: int) -> "Recording":
        made = object.__new__(Recording)
        for name in ("robot", "name", "degrees", "time_unit", "notes"):
            object.__setattr__(made, name, getattr(self, name))
        for name in ("time", "q", "tau", "qd"):
            value = getattr(self, name)
            object.__setattr__(made, name, None if value is None else value[start:end])
        return made

    def prepare(
        self,
        *,
        cutoff: float | None = None,
        q_cutoff: float | None = None,
        delay: float | str = "auto",
        standstill: float | None = None,
    ) -> "Prepared":
        """A uniform clock, low-passed positions and forces without a lag between them, velocities, accelerations.

        cutoff: of the zero-phase low-pass (Butterworth, order 4, forward and back) for forces, in Hz; default: four times the
        frequency below which 99 percent of the power of the velocities is.
        q_cutoff: of the one for positions, which must pass more than the motion; default: four times `cutoff`.
        delay: by how many seconds the forces lag behind the motion; "auto" searches the lag that the model fits best.
        standstill: a joint that stays below this speed is at rest; default: 1 percent of its greatest, and above its noise.

        >>> import dalembert as da
        >>> arm = da.robot("two_link")
        >>> move = arm.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0))
        >>> da.Recording(arm, move.time, move.q, move.tau).prepare(cutoff=5.0, delay=0.0).qdd.shape
        (183, 2)
        """
        from dalembert.identification.prepare import prepare

        return prepare(self, cutoff=cutoff, q_cutoff=q_cutoff, delay=delay, standstill=standstill)

    def plot(self) -> Any:
        """A matplotlib figure: positions, velocities if there are any, and forces over time."""
        from dalembert.identification.plots import recording

        return recording(self)

    @staticmethod
    def load(
        path: Any,
        robot: Robot,
        *,
        columns: Mapping[str, Any] | None = None,
        gains: Any = None,
        motors: Any = None,
        degrees: bool | None = None,
        time_unit: str | None = None,
        allow_nan: bool = False,
        limit: int = limits.ARRAYS,
    ) -> "Recording":
        """A recording from a CSV or NPZ file.

        Columns are named t (or time), q_<joint>, tau_<joint> and qd_<joint>, or q1, q2, ...; an NPZ file has arrays t, q, tau, qd.
        columns: other names, {"t": "timestamp", "q": "actual_q_{}", "current": [...]}: a list, or one name with {} for the joint,
        its number from 1, or from 0. Where columns name0, name1, ... hold names of joints, as of ROS messages,
        they say which number is which joint. A clock in two columns, seconds and nanoseconds, is a list of both.
        gains: N m/A of each motor (or one for all), for files with columns or an array `current` in place of tau.
        motors: the matrix (m, n) by which speeds of the motors are matrix @ qd, True for that of the robot's transmission: tau of
        the joints is its transpose times the forces of the motors, which the file then has.
        degrees, time_unit: as of a `Recording`.
        allow_nan: whether rows with NaN or infinities are left out, with a `DataWarning`; they are errors otherwise.

        >>> import dalembert as da, tempfile
        >>> arm = da.robot("two_link")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = arm.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], 2.0)).to_csv(f"{folder}/run.csv")
        ...     da.Recording.load(path, arm, columns={"tau": "tau_joint{}"})
        <Recording of two_link: 201 samples, 2 s, 100 Hz>
        """
        name, states = read(
            path,
            robot,
            columns=columns,
            gains=gains,
            motors=motors,
            time_unit=time_unit,
            allow_nan=allow_nan,
            limit=limit,
        )
        arrays = states["t"], states["q"], states["tau"], states.get("qd")
        return Recording(robot, *arrays, name=name, degrees=degrees, time_unit="s")


def _floats(given: Any, part: str, name: str) -> Array:
    return numbers(given, f"{name}: {part}").astype(float, copy=False)


def _clean(keep: dict[str, Array], name: str) -> tuple[dict[str, Array], list[str]]:
    """The rows that can be used, and what is to be said of the others; some at a time, for arrays that are on disk."""
    time = keep["time"]
    if len(time) < LEAST:
        raise Error(f"{name}: a recording needs at least {LEAST} samples, got {len(time)}")
    finite, again, late = (list[Array]() for _ in range(3))
    last, typical, longest = -np.inf, np.nan, 0.0
    for start in range(0, len(time), PART):
        part = slice(start, start + PART)
        good = _finite(keep, part)
        times = np.where(good, time[part], -np.inf)
        before = np.maximum(np.concatenate([[-np.inf], np.maximum.accumulate(times)[:-1]]), last)
        if (back := np.flatnonzero(good & (times < before))).size:
            raise Error(f"{name}, row {start + back[0] + 1}: time goes back, from {before[back[0]]:g} to {times[back[0]]:g} s")
        new = good & (times > before)
        after = np.flatnonzero(new & np.isfinite(before))
        spacing = times[after] - before[after]
        typical = float(np.median(spacing)) if np.isnan(typical) and spacing.size else typical
        late.append(start + after[spacing > GAP * typical] - 1)
        longest, last = max(longest, float(spacing.max(initial=0.0))), max(last, float(times.max()))
        finite.append(good)
        again.append(good & ~new)
    return _told(keep, name, np.concatenate(finite), np.concatenate(again), np.concatenate(late), longest)


def _told(
    keep: dict[str, Array], name: str, finite: Array, again: Array, late: Array, longest: float
) -> tuple[dict[str, Array], list[str]]:
    notes, used = list[str](), finite & ~again
    which = [] if finite.all() else [part for part, x in keep.items() if not np.isfinite(x).all()]
    if which:
        notes.append(f"{_rows(~finite)} without a number in {', '.join(which)} left out")
    if finite.sum() < (1 - LOST) * len(finite):
        raise Error(f"{name}: {(~finite).sum()} of {len(finite)} rows have no number in {', '.join(which)}")
    if again.any():
        notes.append(f"{_rows(again)} with the time of the row before left out")
    if used.sum() < LEAST:
        raise Error(f"{name}: {used.sum()} rows with times of their own; a recording needs at least {LEAST}")
    if late.size:
        many = f"{late.size} gaps" if late.size > 1 else "a gap"
        notes.append(f"{many} in time, the longest {longest:.3g} s, after row{_listed(late)}")
    return (keep if used.all() else {part: x[used] for part, x in keep.items()}), notes


def _finite(keep: dict[str, Array], part: slice) -> Array:
    return np.logical_and.reduce([np.isfinite(x[part]).reshape(len(x[part]), -1).all(axis=1) for x in keep.values()])


def _rows(mask: Array) -> str:
    found = np.flatnonzero(mask)
    return f"row{_listed(found)}"


def _listed(found: Array, most: int = 5) -> str:
    """Of indices from 0: "s 3, 7, 9 and 12 more"."""
    shown, more = ", ".join(str(k + 1) for k in found[:most]), len(found) - most
    return f"{'s' * (len(found) > 1)} {shown}{f' and {more} more' if more > 0 else ''}"


def _in_radians(recording: Recording, keep: dict[str, Array]) -> bool:
    """Whether positions are to be converted; an error where nobody said so and they look like degrees."""
    if recording.degrees is not None:
        return flag(recording.degrees, "degrees")
    if doubt := position_doubt(recording.robot, keep["q"], measured=True):
        raise Error(f"{recording.name}: {doubt}; degrees=True converts them, degrees=False takes them as they are")
    return False


def _constant(robot: Robot, tau: Array) -> list[str]:
    low, high = tau.min(axis=0), tau.max(axis=0)
    return [f"the torque of {robot.joint_names[j]} is {low[j]:g} throughout" for j in np.flatnonzero(low == high)]
