"""What an identification found, how sure it is, and how well it predicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import number
from dalembert.cached import cached_property
from dalembert.errors import Error, optional
from dalembert.identification.columns import Columns
from dalembert.identification.motions import given_recordings, motions
from dalembert.identification.prepare import Prepared
from dalembert.identification.regression import Fit, Reduced
from dalembert.robots import Robot
from dalembert.text import table, wrapped

WEAK = 0.3  # of a value: a standard deviation above is weak
TRIED = 200  # states of each motion that could excite a parameter


class BaseEstimate(NamedTuple):
    """Base parameters by name: values = matrix @ all parameters, which `all_names` names; the estimate of least squares alone."""

    names: tuple[str, ...]
    values: Array  # (k,)
    matrix: Array  # (k, all)
    all_names: tuple[str, ...]


class Interval(NamedTuple):
    """A base parameter: the estimate between its bounds, its value in the identified robot, and in the prior."""

    name: str
    low: float
    value: float
    high: float
    robot: float
    prior: float


class Weak(NamedTuple):
    """A base parameter that the motion did not excite: value, standard deviation, and a motion that would."""

    name: str
    value: float
    deviation: float
    motion: str


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Errors of predicted forces, (n,) each: in percent of the root mean square of the measured ones, and in N m or N.

    Filtered: both low-passed; raw: neither. Rows of joints at rest are left out; `moving` is the share of the others.
    """

    joints: tuple[str, ...]
    filtered: Array
    raw: Array
    rms: Array  # of the filtered error
    moving: Array

    def __repr__(self) -> str:
        rows = [["joint", "filtered, %", "raw, %", "rms", "moving, %"]]
        parts = (self.filtered, self.raw, self.rms, 100 * self.moving)
        rows += [[name, *(f"{x[j]:.3g}" for x in parts)] for j, name in enumerate(self.joints)]
        return table(rows, right=True)


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """The result of `identify`. `robot` saves, simulates and generates code; `base`, `covariance` are of least squares alone."""

    robot: Robot
    prior: Robot
    columns: Columns
    values: Array  # (k,) all parameters of the robot, in the order of columns.names
    data: Reduced
    estimate: Fit
    consistent: bool
    notes: tuple[str, ...]
    options: Mapping[str, Any]
    motion: Prepared  # of the first recording, for figures
    validation: Validation | None = None

    def __repr__(self) -> str:
        kind = "possible bodies" if self.consistent else "least squares"
        lines = [f"{self.robot.name}: {len(self.base.names)} base parameters of {len(self.values)}, {kind}"]
        lines.append(f"lag of the forces {1e3 * self.motion.delay:.2f} ms, filtered below {self.motion.cutoff:.3g} Hz")
        rows = [["joint", "residual, %", "rms", *(["validation, %", "raw, %"] if self.validation else [])]]
        error, rms = self.residual, self.estimate.residual
        for j, name in enumerate(self.robot.joint_names):
            more = [f"{x[j]:.3g}" for x in (self.validation.filtered, self.validation.raw)] if self.validation else []
            rows.append([name, f"{error[j]:.3g}", f"{rms[j]:.3g}", *more])
        lines.append(table(rows, right=True))
        weak = self.weak()
        if weak:
            lines.append(wrapped(", ".join(x.name for x in weak), f"{len(weak)} weak: "))
        return "\n".join([*lines, *(wrapped(note, "note: ") for note in self.notes)])

    @property
    def base(self) -> BaseEstimate:
        """The base parameters, by least squares."""
        return BaseEstimate(self.data.base.names, self.estimate.values, self.data.base.matrix, self.columns.names)

    @property
    def covariance(self) -> Array:
        """Of the base parameters, (k, k), for residuals correlated in time; infinite variances of what the data do not tell."""
        return self.estimate.covariance

    @property
    def deviations(self) -> Array:
        """Standard deviations of the base parameters, (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def residual(self) -> Array:
        """Of the filtered forces of the recordings, in percent, (n,), of the robot's parameters."""
        squares = self.data.squares(self.data.base.matrix @ self.values)
        size = np.array([np.sum(R[:, -1] ** 2) for R in self.data.factors])
        return 100 * np.sqrt(squares / np.where(size > 0, size, 1.0))

    def intervals(self, level: float = 0.95) -> list[Interval]:
        """The base parameters between bounds that hold the true ones so often.

        >>> import dalembert as da
        >>> arm = da.robot("two_link")
        >>> move = arm.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0))
        >>> found = da.identify(arm, da.Recording(arm, move.time, move.q, move.tau), (), rotors=False, delay=0.0)
        >>> found.intervals()[0].name
        'mx[link1]'
        """
        share = number(level, "level")
        if not 0 < share < 1:
            raise Error(f"the level of intervals must be between 0 and 1, got {share:g}")
        half = float(optional("scipy.special").stdtrit(self.estimate.freedom, (1 + share) / 2)) * self.deviations
        B, values = self.data.base.matrix, self.estimate.values
        own, before = B @ self.values, B @ self.columns.values(self.prior)
        parts = zip(self.base.names, values - half, values, values + half, own, before, strict=True)
        return [Interval(name, *map(float, numbers)) for name, *numbers in parts]

    def weak(self, share: float = WEAK) -> list[Weak]:
        """Base parameters that the motion did not excite, and a motion that would show each.

        Their standard deviation exceeds this share of the value, and of what such a parameter can be in an arm like the prior.
        """
        deviations, values, size = self.deviations, self.estimate.values, self.sizes
        found = np.flatnonzero(~(deviations <= number(share, "share") * size))
        gains = self._shown(found) if len(found) else {}
        return [Weak(self.base.names[k], float(values[k]), float(deviations[k]), gains[int(k)]) for k in found]

    @cached_property
    def sizes(self) -> Array:
        """What would be large for each base parameter, (k,): its value, the prior's, or that of a body like the prior's.

        Of friction, what takes a tenth of the forces.
        """
        B = self.data.base.matrix
        own = np.linalg.norm(B * self._scales(), axis=1)
        return np.maximum.reduce([np.abs(self.estimate.values), np.abs(B @ self.columns.values(self.prior)), own])

    def _scales(self) -> Array:
        made = self.columns.scales(self.prior, 0.0)
        forces = np.array([np.sqrt(np.sum(R[:, -1] ** 2)) for R in self.data.factors])
        for k, column in enumerate(self.data.base.chosen):
            if column >= self.columns.inertial:
                size = np.array([np.linalg.norm(R[:, k + 1]) for R in self.data.factors])
                made[column] = 0.1 * max((f / x for f, x in zip(forces, size, strict=True) if x > 0), default=0.0)
        return made

    def _shown(self, which: Array) -> dict[int, str]:
        """The motion, of each joint alone or from pose to pose, in which a column is largest next to the noise."""
        robot, rng = self.robot, np.random.default_rng(0)
        n, chosen = robot.n, self.data.base.chosen[which]
        q = robot.random_configuration(rng, TRIED)
        size: dict[str, Array] = {}
        for j, name in enumerate((*robot.joint_names, "")):
            qd, qdd = np.zeros((2, TRIED, n))
            if name:
                qd[:, j], qdd[:, j] = rng.uniform(-1, 1, TRIED), rng.uniform(-2, 2, TRIED)
            Y = self.columns(q, qd, qdd)[:, :, chosen] / self.estimate.noise[:, None]
            if name:
                Y = Y - self.columns(q, 0 * qd, 0 * qdd)[:, :, chosen] / self.estimate.noise[:, None]
            words = f"faster motion of {name}, at many poses" if name else "slow motion through more poses"
            size[words] = np.sqrt(np.mean(Y**2, axis=(0, 1)))
        return {int(k): max(size, key=lambda words: size[words][i]) for i, k in enumerate(which)}

    def predict(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Joint forces (T, n) of motions (T, n), with all friction that was identified, that of coupled motors, too."""
        q, qd, qdd = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, qd, qdd))
        return self.columns(q, qd, qdd) @ self.values

    def validate(self, recordings: Any) -> Validation:
        """How well forces of other recordings are predicted: a `Recording`, a file, or several."""
        squares, size = np.zeros((2, 2, self.robot.n))
        count, total = np.zeros(self.robot.n), 0
        for recording in given_recordings(recordings, self.robot):
            for motion, inner in motions(recording, self.options):
                within = (motion.time >= inner[0]) & (motion.time < inner[1])
                rows = motion.moving & within[:, None]
                raw = self.predict(motion.q, motion.qd, motion.qdd)
                for k, (measured, made) in enumerate(((motion.tau, motion.filtered(raw)), (motion.raw, raw))):
                    squares[k] += np.sum(np.where(rows, measured - made, 0.0) ** 2, axis=0)
                    size[k] += np.sum(np.where(rows, measured, 0.0) ** 2, axis=0)
                count, total = count + rows.sum(axis=0), total + int(within.sum())
        relative = 100 * np.sqrt(squares / np.where(size > 0, size, 1.0))
        rms = np.sqrt(squares[0] / np.maximum(count, 1))
        return Validation(self.robot.joint_names, relative[0], relative[1], rms, count / max(total, 1))

    def plot(self, recording: Any = None) -> Any:
        """A matplotlib figure: forces measured and predicted, residuals over time and speed, their autocorrelation, parameters."""
        from dalembert.identification.plots import identification

        return identification(self, self.motion if recording is None else _prepared(self, recording))

    def section(self, recording: Any = None) -> Any:
        """The same as a section of a report: `da.study(found.robot, identified=found)` adds it."""
        from dalembert.identification.page import section

        return section(self, self.motion if recording is None else _prepared(self, recording))

    def report(self, path: Any, recording: Any = None) -> Path:
        """Write one HTML page with it; returns where it is."""
        from dalembert.studies.report.page import save_section

        return save_section(path, self.robot, self.section(recording))


def _prepared(found: Identification, recording: Any) -> Prepared:
    one = next(given_recordings(recording, found.robot))
    return next(motions(one, found.options))[0]
