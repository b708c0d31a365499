"""What sizing found: a table that prints itself, a figure, files."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import flag
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.sizing.density import Density
from dalembert.sizing.duty import Duty
from dalembert.sizing.payload_map import PayloadMap
from dalembert.sizing.worst import Case, Worst
from dalembert.storage.opening import file_path
from dalembert.storage.saving import save_text
from dalembert.text import table, wrapped

FAR = 1000  # times a force: larger margins are not told apart
KINDS = (".csv", ".json", ".png", ".svg", ".pdf")  # of files


@dataclass(frozen=True, eq=False, repr=False)
class Sizing:
    """The result of `size`: it prints a table, `plot` draws it, `save` writes it, `da.study(robot, sized=found)` shows it.

    `strongest` and `tightest` are the worst states of each joint: of the largest force, and of the least margin against the motor's
    curve at the speed of that state (the same where no curve is known). `envelope` (2, n, bins) has the least and largest force by
    the joint's speed, from -speed to speed. `largest_payload` is what the motors bear at every state, in kg.
    """

    robot: Model
    case: Case
    samples: int
    strongest: tuple[Worst, ...]
    tightest: tuple[Worst, ...]
    envelope: Array
    density: Density
    duty: Duty | None
    map: PayloadMap | None
    largest_payload: float
    heaviest_at: Array | None

    @property
    def peak(self) -> Array:
        """The largest |tau| of each joint, (n,), N m or N."""
        return np.array([abs(x.tau) for x in self.strongest])

    @property
    def margin(self) -> Array:
        """How many times the force a motor could give at that speed, at its worst state, (n,): below 1 it is too weak."""
        return np.array([x.margin for x in self.tightest])

    @property
    def units(self) -> list[str]:
        """N m or N, by joint."""
        return [joint.force_unit for joint in self.robot.joints]

    def cells(self, exact: bool = False) -> list[list[str]]:
        """Titles, and a row for each joint; `exact`: with all digits, and nothing for what is infinite."""
        show, share = (_exact, _exact) if flag(exact, "exact") else (_short, times)
        rows = [["joint", "speed", "acceleration", "peak", "unit", "at payload", "margin", "at speed"]]
        rows[0] += [] if self.duty is None else ["duty peak", "duty margin", "rms", "continuous", "rms margin"]
        for j, (most, least) in enumerate(zip(self.strongest, self.tightest, strict=True)):
            known = self.case.curves[j] is not None
            row = [self.robot.joint_names[j], *map(show, (self.case.velocity[j], self.case.acceleration[j], abs(most.tau)))]
            row += [self.units[j], show(most.payload)] + ([share(least.margin), show(abs(least.qd[j]))] if known else ["", ""])
            if self.duty is not None:
                row += [show(abs(self.duty.peak[j])), share(self.duty.margin[j]) if known else "", show(self.duty.rms[j])]
                row += [show(self.duty.continuous[j]), share(self.duty.rms_margin[j])] if known else ["", ""]
            rows.append(row)
        return rows

    @property
    def payload_words(self) -> str:
        """The payload in words."""
        low, high = self.case.payload
        mass = f"{high:g}" if low == high else f"{low:g} to {high:g}"
        com = "" if not self.case.arm.com.any() else f" at ({', '.join(f'{x:g}' for x in self.case.arm.com)}) m"
        return f"{mass} kg on {self.case.arm.link}{com}"

    def verdict(self) -> list[str]:
        """What follows, one sentence each."""
        lines, names = list[str](), self.robot.joint_names
        margin = self.margin
        if not self.case.limited:
            return ["No limits are known: give motor= for margins and the payload map."]
        weak = [
            f"{names[j]} (margin {margin[j]:.2f} at speed {abs(self.tightest[j].qd[j]):.3g})" for j in np.flatnonzero(margin < 1)
        ]
        if weak:
            lines.append(f"Too weak at their worst states: {', '.join(weak)}.")
        else:
            least = f"{times(margin.min())}, of {names[int(margin.argmin())]}"
            lines.append(f"Every motor suffices at all states; the least margin is {least}.")
        if np.isfinite(self.largest_payload):
            words = f"{self.largest_payload:.3g} kg" if self.largest_payload > 0 else "none: the arm alone needs too much torque"
            lines.append(f"Largest payload at all states: {words}.")
        if self.duty is not None:
            margin, heat = self.duty.margin, self.duty.rms_margin
            weak = ("exceeds the peak torque of", (margin > 0) & (margin < 1))
            cases = (("overheats", heat < 1), ("is too fast for", margin == 0), weak)
            bad = [f"The duty cycle {what} {', '.join(np.array(names)[which])}." for what, which in cases if which.any()]
            lines += bad or ["The duty cycle is within all curves."]
        return lines

    @property
    def head(self) -> str:
        """What was done, in a line."""
        return f"{self.robot.name} with {self.payload_words}: {self.samples:,} states, and searches around the worst"

    def __repr__(self) -> str:
        return "\n".join([self.head, table(self.cells(), right=True), *(wrapped(line) for line in self.verdict())])

    def plot(self) -> Any:
        """A matplotlib figure: torque against speed of each joint with its envelope and curve, the payload map, the worst poses."""
        from dalembert.sizing.plots import figure

        return figure(self)

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name, for JSON; None where something is not known or infinite."""

        def state(x: Worst) -> dict[str, Any]:
            own = {"payload": x.payload, "tau": x.tau, "limit": x.limit, "margin": x.margin}
            return {"joint": self.robot.joint_names[x.joint]} | _plain({"q": x.q, "qd": x.qd, "qdd": x.qdd} | own)

        case, found = self.case, dict[str, Any]()
        found["robot"], found["joints"], found["units"] = self.robot.name, list(self.robot.joint_names), self.units
        found["payload"], found["link"], found["samples"] = list(case.payload), case.arm.link, self.samples
        ranges = {name: getattr(case, name) for name in ("lower", "upper", "velocity", "acceleration")} | {"com": case.arm.com}
        found |= _plain(ranges | {"peak": self.peak, "margin": self.margin, "largest_payload": self.largest_payload})
        found["strongest"], found["tightest"] = [state(x) for x in self.strongest], [state(x) for x in self.tightest]
        found["envelope"] = _plain(self.envelope)
        if self.duty is not None:
            names = ("rms", "rms_speed", "continuous", "rms_margin", "peak", "peak_speed", "tightest", "tightest_speed", "margin")
            found["duty"] = _plain({name: getattr(self.duty, name) for name in names})
        if self.map is not None:
            found["map"] = {"joints": [self.robot.joint_names[j] for j in self.map.joints]}
            found["map"] |= _plain({name: getattr(self.map, name) for name in ("place", "standing", "moving")})
        return found

    def save(self, path: Any) -> Any:
        """Write the table (.csv), all numbers (.json) or the figure (.png, .svg, .pdf); returns where it is."""
        place = file_path(path)
        kind = place.suffix.lower()
        if kind == ".csv":
            held = io.StringIO()
            csv.writer(held, lineterminator="\n").writerows(self.cells(exact=True))
            return save_text(place, held.getvalue())
        if kind == ".json":
            return save_text(place, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")
        if kind not in KINDS:
            raise Error(f"{place}: a sizing is saved as {', '.join(KINDS)}")
        from dalembert.sizing.plots import save_figure

        return save_figure(self, place)


def _short(x: float) -> str:
    return f"{x:.4g}"


def _exact(x: float) -> str:
    return repr(float(x)) if np.isfinite(x) else ""


def times(margin: float) -> str:
    """A margin in a table: beyond a thousand it does not matter.

    >>> times(1.2345), times(float("inf"))
    ('1.23', '>1000')
    """
    return f"{margin:.3g}" if margin < FAR else f">{FAR}"


def _plain(x: Any) -> Any:
    """Arrays and numbers as JSON has them."""
    if isinstance(x, dict):
        return {name: _plain(value) for name, value in x.items()}
    if isinstance(x, np.ndarray):
        return _plain(x.tolist())
    if isinstance(x, list):
        return [_plain(value) for value in x]
    return float(x) if np.isfinite(x) else None
