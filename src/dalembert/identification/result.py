"""What an identification found, how sure it is, and how well it predicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import number
from dalembert.cached import cached_property
from dalembert.errors import Error, brief, optional
from dalembert.identification.columns import Columns
from dalembert.identification.motions import given_recordings, motions
from dalembert.identification.prepare import Prepared
from dalembert.identification.regression import Fit, Reduced
from dalembert.robots import Robot
from dalembert.text import table, wrapped

WEAK = 0.3  # of a value: a standard deviation above is weak
TRIED = 200  # states of each motion that could excite a parameter
DUST = 1e-9  # of a coefficient: rounding
SURE = "all base parameters are well determined"


class BaseEstimate(NamedTuple):
    """Base parameters by name: values = matrix @ all parameters, which `all_names` names; the estimate of least squares alone.

    Each stands for a combination of parameters that the torques depend on, and is named after one of them.
    """

    names: tuple[str, ...]
    values: Array  # (k,)
    matrix: Array  # (k, all)
    all_names: tuple[str, ...]

    @property
    def combinations(self) -> tuple[str, ...]:
        """What each stands for, in words such as "Izz[a] + 0.39 m[b]": the one that it is named after first, then the largest."""
        return tuple(_combination(name, row, self.all_names) for name, row in zip(self.names, self.matrix, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self.names)} base parameters, combinations of {len(self.all_names)}: {brief(', '.join(self.names), 60)[1:]}>"


class Interval(NamedTuple):
    """A base parameter: the estimate between its bounds, its value in the identified robot, and in the prior.

    It stands for a combination of parameters that the torques depend on, and is named after one of them.
    """

    name: str
    low: float
    value: float
    high: float
    robot: float
    prior: float
    combination: str  # what it stands for, such as "Izz[a] + 0.39 m[b]"


class Weak(NamedTuple):
    """A base parameter that the motion did not excite: value, standard deviation, and a motion that would."""

    name: str
    value: float
    deviation: float
    motion: str


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Errors of predicted forces, (n,) each: in percent of the root mean square of the measured ones, and in N m or N.

    Filtered: both low-passed at `cutoff`, that of the fit; raw: neither. Rows of joints at rest are left
    out; `moving` is the share of the others. Where a joint is at rest throughout, there is no error: NaN.
    """

    joints: tuple[str, ...]
    filtered: Array
    raw: Array
    rms: Array  # of the filtered error
    moving: Array
    cutoff: float  # Hz

    def __repr__(self) -> str:
        rows = [["joint", "filtered, %", "raw, %", "rms", "moving, %"]]
        parts = (self.filtered, self.raw, self.rms, 100 * self.moving)
        rows += [[name, *cells([x[j] for x in parts])] for j, name in enumerate(self.joints)]
        return f"filtered below {self.cutoff:.3g} Hz\n{table(rows, right=True)}"


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """The result of `identify`. `robot` saves, simulates and generates code; `base`, `covariance` are of least squares alone.

    `cutoffs` are the least and the greatest of the recordings, in Hz; validation has the greatest.
    """

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
    cutoffs: tuple[float, float]
    validation: Validation | None = None

    def __repr__(self) -> str:
        kind = "possible bodies" if self.consistent else "least squares"
        lines = [f"{self.robot.name}: {len(self.base.names)} base parameters of {len(self.values)}, {kind}"]
        lines.append(f"{delay_words(self.motion)}, filtered below {self.cutoff_words}")
        rows = [["joint", "residual, %", "rms", *(["validation, %", "raw, %"] if self.validation else [])]]
        error, rms = self.residual, self.estimate.residual
        for j, name in enumerate(self.robot.joint_names):
            more = cells([x[j] for x in (self.validation.filtered, self.validation.raw)]) if self.validation else []
            rows.append([name, *cells([error[j], rms[j]]), *more])
        lines.append(table(rows, right=True))
        weak = self.weak()
        told = wrapped(", ".join(x.name for x in weak), f"{len(weak)} weak: ") if weak else wrapped(SURE)
        lines += [told, wrapped(self.undetermined_words)] if self.undetermined else [told]
        return "\n".join([*lines, *(wrapped(note, "note: ") for note in self.notes)])

    @property
    def cutoff_words(self) -> str:
        """Where forces were filtered: each recording has its own cutoff, if none is given."""
        least, greatest = (f"{cutoff:.3g}" for cutoff in self.cutoffs)
        if least == greatest:
            return f"{greatest} Hz"
        return f"{least} to {greatest} Hz{f', validation below {greatest} Hz' if self.validation else ''}"

    @property
    def base(self) -> BaseEstimate:
        """The base parameters, by least squares.

        Each stands for a combination of parameters that the torques depend on, and is named after one of them.
        """
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
        """Of the filtered forces of the recordings, in percent, (n,), of the robot's parameters; NaN for joints at rest."""
        squares = self.data.squares(self.data.base.matrix @ self.values)
        size = np.array([np.sum(R[:, -1] ** 2) for R in self.data.factors])
        return np.where(self.moved, 100 * np.sqrt(squares / np.where(size > 0, size, 1.0)), np.nan)

    @property
    def moved(self) -> Array:
        """Which joints move in the recordings, (n,)."""
        return self.data.count > 0

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Parameters that joint forces do not tell by themselves, but in combinations, or not at all."""
        return tuple(self.data.base.shared(self.columns.names))

    @property
    def undetermined_words(self) -> str:
        """What that means for the robot."""
        told = (
            "parameters do not affect the torques by themselves; single masses among them are the prior's, or one possible choice"
        )
        return f"{len(self.undetermined)} {told}"

    @property
    def mass_is_determined(self) -> bool:
        """Whether forces tell the mass of all moving links together."""
        masses = np.zeros(len(self.values))
        masses[: self.columns.inertial : 10] = 1.0
        B = self.data.base.matrix
        shares = np.linalg.lstsq(B.T, masses, rcond=None)[0]
        needed = np.abs(shares) > 1e-9
        return bool(np.allclose(B.T @ shares, masses, atol=1e-6) and np.isfinite(self.deviations[needed]).all())

    def intervals(self, level: float = 0.95) -> list[Interval]:
        """The base parameters between bounds that hold the true ones so often.

        Each stands for a combination of parameters that the torques depend on, and is named after one of them; so Izz may be
        negative.

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
        parts = zip(self.base.names, self.base.combinations, values - half, values, values + half, own, before, strict=True)
        return [Interval(name, *map(float, numbers), combination=words) for name, words, *numbers in parts]

    def weak(self, share: float = WEAK) -> list[Weak]:
        """Base parameters that the motion did not excite, and a motion that would show each: that of joints at rest first.

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
        best = {int(k): max(size, key=lambda words: size[words][i]) for i, k in enumerate(which)}
        return {k: self._with_rest(k, words) for k, words in best.items()}

    def _with_rest(self, k: int, words: str) -> str:
        """The motion that would show a parameter, after that of joints at rest, which is what lacks if the data tell nothing."""
        rest = [name for name, moved in zip(self.robot.joint_names, self.moved, strict=True) if not moved]
        of = self.base.names[k].partition("[")[2].removesuffix("]")
        if not rest or np.isfinite(self.deviations[k]):
            return words
        told = f"motion of {of if of in rest else ', '.join(rest)}, at rest so far"
        return told if of in rest or any(f"motion of {name}," in words for name in rest) else f"{told}; {words}"

    def predict(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Joint forces (T, n) of motions (T, n), with all friction that was identified, that of coupled motors, too."""
        q, qd, qdd = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, qd, qdd))
        return self.columns(q, qd, qdd) @ self.values

    def validate(self, recordings: Any) -> Validation:
        """How well forces of other recordings, low-passed as in the fit, are predicted: a `Recording`, a file, or several."""
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
        relative = np.where(count > 0, 100 * np.sqrt(squares / np.where(size > 0, size, 1.0)), np.nan)
        rms = np.where(count > 0, np.sqrt(squares[0] / np.maximum(count, 1)), np.nan)
        return Validation(self.robot.joint_names, relative[0], relative[1], rms, count / max(total, 1), self.cutoffs[1])

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

        unsure = "" if self.mass_is_determined else " in all, which the torques do not determine"
        return save_section(path, self.robot, self.section(recording), mass=unsure)


def cells(errors: Sequence[float]) -> list[str]:
    """Errors of a joint for a table; those of a joint at rest are NaN.

    >>> cells([0.5, 0.25]), cells([np.nan, np.nan])
    (['0.5', '0.25'], ['at rest', '-'])
    """
    if np.isnan(errors[0]):
        return ["at rest", *["-"] * (len(errors) - 1)]
    return [f"{x:.3g}" for x in errors]


def delay_words(motion: Prepared) -> str:
    """The delay of joint forces in words; none below a tenth of the time between samples."""
    if abs(motion.delay) < 0.1 / motion.rate:
        return "no delay of the joint forces"
    return f"delay of the joint forces {1e3 * motion.delay:.2g} ms"


def _combination(name: str, row: Array, names: Sequence[str]) -> str:
    """A row of the matrix of base parameters in words."""
    parts = [(abs(x), x, other) for x, other in zip(row.tolist(), names, strict=True) if other != name and abs(x) > DUST]
    words = name
    for size, x, other in sorted(parts, key=lambda part: -part[0]):
        factor = "" if abs(size - 1) < DUST else f"{size:.3g} "
        words += f" {'-' if x < 0 else '+'} {factor}{other}"
    return words


def _prepared(found: Identification, recording: Any) -> Prepared:
    one = next(given_recordings(recording, found.robot))
    return next(motions(one, found.options))[0]
