"""What a simulation or a path gives: positions, velocities, forces and energies over time."""

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import flag, numbers
from dalembert.cached import cached_property
from dalembert.derived.joints import left_of, slipping
from dalembert.engine.names import Backend
from dalembert.errors import Error, brief, optional
from dalembert.files.layout import PARTS
from dalembert.files.motions import load_motion, save_csv, save_npz
from dalembert.model.model import a_robot
from dalembert.quantities.configurations import position_rate, unit_quaternions
from dalembert.quantities.dynamics import forward_dynamics, inverse_dynamics
from dalembert.quantities.sticking import sticking_on_stops
from dalembert.quantities.structure import friction_force, kinetic_energy, potential_energy, power
from dalembert.simulation.stops import Stops
from dalembert.storage import limits

if TYPE_CHECKING:
    from dalembert.robots import Robot

ROUNDING = 1e-10  # of the potential energy: no exchange smaller than this can be checked


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion of a robot: `time` (T,), `q` (..., T, nq) and `qd`, `qdd`, `tau` (..., T, n), where leading axes count rollouts.

    `tau` at a sample is the force that acts from there on; `held` says that it stays so until the next sample. `memory` is what a
    controller remembers, `wrenches` what else acts on the links, `events` the times of events (of the adaptive integrators).

    >>> import dalembert as da
    >>> fall = da.robot("two_link").simulate([0.0, 0.0], duration=0.5)
    >>> fall
    <Trajectory of two_link: 501 samples, 0.5 s>
    >>> bool(abs(fall.balance).max() < 1e-9)                         # energy is kept
    True
    >>> bool(fall.drift < 1e-9), fall.doubt                          # relative to the energy exchanged
    (True, '')
    """

    robot: "Robot"
    time: Array
    q: Array
    qd: Array
    tau: Array
    held: bool = False
    memory: Array | None = None
    wrenches: Any = None
    events: tuple[Array, ...] = ()
    accelerations: Array | None = None  # given with a path; else those that the forces make
    dense: Any = None  # of an adaptive integrator: time -> (2 n,)
    worked: Array | None = None  # (..., T) by joint forces that changed between the samples, which then cannot tell
    lost: Array | None = None  # (..., T, 2) to friction and to stops, where the integrator knows
    stopped: bool = False  # whether the joints' limits are stops
    sticks: bool = False  # whether friction holds joints at rest
    slip_speed: float = 0.0  # of smooth friction
    doubt: str = ""  # the likely reason, where the energy of a simulation is out of balance
    backend: Backend = "auto"  # of accelerations and energies

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        rollouts = self.q.shape[:-2]
        many = f" of {' x '.join(map(str, rollouts))} rollouts" if rollouts else ""
        return f"<Trajectory of {self.robot.name}: {len(self)} samples{many}, {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return float(self.time[-1] - self.time[0])

    @cached_property
    def qdd(self) -> Array:
        """Accelerations (..., T, n) at the samples, under the forces that act from there on."""
        if self.accelerations is not None:
            return self.accelerations
        given: dict[str, Any] = {"wrenches": self.wrenches, "backend": self.backend}
        robot, motion = self.robot, (self.q, self.qd, self.tau)
        if self.sticks:
            stops = Stops(robot.lower, robot.upper, 0.0).given if self.stopped else {}
            return sticking_on_stops(robot, *motion, **given, **stops).qdd
        if self.slip_speed:
            left = left_of(robot, self.qd, self.tau, slipping(self.slip_speed))
            return forward_dynamics(robot.without_friction(), self.q, self.qd, left, **given)
        return forward_dynamics(robot, *motion, **given)

    @cached_property
    def kinetic_energy(self) -> Array:
        """(..., T), J."""
        return kinetic_energy(self.robot, self.q, self.qd, backend=self.backend)

    @cached_property
    def potential_energy(self) -> Array:
        """(..., T), J."""
        return potential_energy(self.robot, self.q, backend=self.backend)

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy, (..., T), J."""
        return self.kinetic_energy + self.potential_energy

    @cached_property
    def work(self) -> Array:
        """What the joint forces and wrenches have done, (..., T), J: exactly for held joint forces, else by quadrature."""
        if self.wrenches is None:
            return self._work_of_joints()
        return self._work_of_joints() + self._integral(self._power_of_wrenches)

    def _work_of_joints(self) -> Array:
        if self.worked is not None:
            return self.worked
        if self.held:
            return _summed((self.tau[..., :-1, :] * np.diff(self.q, axis=-2)).sum(axis=-1))
        return self._integral(power(self.robot, self.qd, self.tau))

    @cached_property
    def _power_of_wrenches(self) -> Array:
        motion, robot = (self.q, self.qd, self.qdd), self.robot.without_friction()
        pushed = inverse_dynamics(robot, *motion, wrenches=self.wrenches, backend=self.backend)
        return power(robot, self.qd, inverse_dynamics(robot, *motion, backend=self.backend) - pushed)

    @cached_property
    def dissipated(self) -> Array:
        """What friction and stops have taken since the start, (..., T), J."""
        if self.lost is not None:
            return self.lost.sum(axis=-1)
        rate = self._power_of_friction
        return self._integral(rate) if rate.any() else rate

    @property
    def lost_at_stops(self) -> Array:
        """The part of `dissipated` that joints lost where they struck their stops, (..., T), J."""
        return np.zeros_like(self.kinetic_energy) if self.lost is None else self.lost[..., 1]

    @property
    def _power_of_friction(self) -> Array:
        if self.slip_speed:
            left = left_of(self.robot, self.qd, self.tau, slipping(self.slip_speed))
            return power(self.robot, self.qd, self.tau - left)
        loaded = any(joint.load_friction for joint in self.robot.joints)
        return power(self.robot, self.qd, friction_force(self.robot, self.qd, self.tau if loaded else None))

    @property
    def balance(self) -> Array:
        """Energy gained, less work, plus losses: (..., T), J. Zero, but for the errors of integrator and quadrature."""
        return self.energy - self.energy[..., :1] - self.work + self.dissipated

    @property
    def exchanged(self) -> Array:
        """The energy that was moved about, (...,), J: the largest kinetic energy, and the ranges of the others."""
        return exchanged_within(self, slice(None))

    @property
    def drift(self) -> Array:
        """The largest |balance| relative to the energy `exchanged`, (...,): below 1e-4 in a good simulation."""
        least = ROUNDING * np.abs(self.potential_energy).max(axis=-1) + np.finfo(float).tiny
        return np.abs(self.balance).max(axis=-1) / (self.exchanged + least)

    @property
    def uncertainty(self) -> Array:
        """What `balance` may be off because work and losses are integrated from samples, (..., T), J.

        Forces may jump between samples: half a spacing times the variation of their power. The power of friction is
        continuous: half a spacing squared times the variation of its slope.
        """
        h = np.diff(self.time) / 2
        rates = [] if self.held or self.worked is not None else [power(self.robot, self.qd, self.tau)]
        rates += [] if self.wrenches is None else [self._power_of_wrenches]
        if self.lost is not None:
            return _summed(sum((h * np.abs(np.diff(x, axis=-1)) for x in rates), np.zeros_like(self.work[..., 1:])))
        bends = 2 * h**2 * np.abs(np.diff(self._slope(self._power_of_friction), axis=-1))
        return _summed(sum((h * np.abs(np.diff(x, axis=-1)) for x in rates), bends))

    def _integral(self, rate: Array) -> Array:
        """Of a rate (..., T) from the start: trapezia corrected by slopes, which is of fourth order."""
        slope, h = self._slope(rate), np.diff(self.time)
        parts = h / 2 * (rate[..., :-1] + rate[..., 1:]) + h**2 / 12 * (slope[..., :-1] - slope[..., 1:])
        return _summed(parts)

    def _slope(self, rate: Array) -> Array:
        return np.zeros_like(rate) if len(self) < 3 else np.gradient(rate, self.time, axis=-1, edge_order=2)

    def at(self, time: Any) -> tuple[Array, Array]:
        """q and qd at any time within, (..., n) or (..., K, n) for K times: cubic between samples, or the integrator's own curve.

        >>> import dalembert as da
        >>> fall = da.robot("two_link").simulate([0.0, 0.0], duration=0.5)
        >>> q, qd = fall.at(0.25)
        >>> bool(abs(q - fall.q[250]).max() < 1e-12)
        True
        """
        times = numbers(time, "at: time").astype(float, copy=False)
        if times.ndim > 1 or not ((times >= self.time[0] - 1e-12) & (times <= self.time[-1] + 1e-12)).all():
            raise Error(f"at: times must lie between {self.time[0]:g} and {self.time[-1]:g} s, got {brief(time)}")
        if self.dense is not None:
            both = self.dense(np.atleast_1d(times)).T
            q, qd = unit_quaternions(self.robot, both[:, : self.robot.nq]), both[:, self.robot.nq :]
        else:
            q, qd = self._cubic(np.atleast_1d(times))
        return (q[..., 0, :], qd[..., 0, :]) if times.ndim == 0 else (q, qd)

    def _cubic(self, times: Array) -> tuple[Array, Array]:
        k = np.clip(np.searchsorted(self.time, times, side="right") - 1, 0, max(len(self) - 2, 0))
        after = np.minimum(k + 1, len(self) - 1)
        h = (self.time[after] - self.time[k])[:, None]
        h = np.where(h > 0, h, 1.0)
        x = (times - self.time[k])[:, None] / h
        q0, q1, v0, v1 = self.q[..., k, :], self.q[..., after, :], h * self.qd[..., k, :], h * self.qd[..., after, :]
        if not self.robot.runs:
            a, b = 2 * (q0 - q1) + v0 + v1, 3 * (q1 - q0) - 2 * v0 - v1  # a x^3 + b x^2 + v0 x + q0
            return q0 + x * (v0 + x * (b + x * a)), (v0 + x * (2 * b + 3 * x * a)) / h
        r0, r1 = position_rate(self.robot, q0, v0), position_rate(self.robot, q1, v1)
        a, b = 2 * (q0 - q1) + r0 + r1, 3 * (q1 - q0) - 2 * r0 - r1
        a0, a1 = (h * h * self.qdd[..., i, :] for i in (k, after))
        c, d = 2 * (v0 - v1) + a0 + a1, 3 * (v1 - v0) - 2 * a0 - a1  # velocities are no rates of q: a cubic of their own
        return unit_quaternions(self.robot, q0 + x * (r0 + x * (b + x * a))), (v0 + x * (a0 + x * (d + x * c))) / h

    # as other things
    def _columns(self) -> dict[str, Array]:
        self._single("a table")
        columns = {"t": self.time}
        for kind in PARTS:
            names = self.robot.position_names if kind == "q" else self.robot.joint_names
            columns |= {f"{kind}_{joint}": getattr(self, kind)[:, i] for i, joint in enumerate(names)}
        return columns | {"kinetic_energy": self.kinetic_energy, "potential_energy": self.potential_energy}

    def _single(self, what: str) -> None:
        if self.q.ndim != 2:
            raise Error(f"{what} needs one rollout, this trajectory has {self.q.shape[:-2]}; use trajectory[k], or to_xarray()")

    def __getitem__(self, index: Any) -> "Trajectory":
        """Some of the rollouts: indices of the leading axes.

        >>> import dalembert as da
        >>> da.robot("two_link").simulate([[0.0, 0.0], [0.0, 1.0]], duration=0.1)[1]
        <Trajectory of two_link: 101 samples, 0.1 s>
        """
        if self.q.ndim == 2:
            raise Error("this trajectory has one rollout; index its arrays for samples, as in trajectory.q[10:20]")
        rollouts = self.q.shape[:-2]
        try:
            chosen = np.arange(int(np.prod(rollouts))).reshape(rollouts)[index]
        except (IndexError, TypeError, ValueError, RuntimeError):
            raise Error(f"there is no rollout {brief(index)} among {rollouts}") from None

        def taken(x: Array | None) -> Array | None:
            return None if x is None else x.reshape(-1, *x.shape[len(rollouts) :])[chosen]

        if self.wrenches is not None and not alike(self.wrenches):
            raise Error("rollouts with wrenches of their own cannot be taken apart")
        names = ("q", "qd", "tau", "memory", "accelerations", "worked", "lost")
        return replace(self, **{name: taken(getattr(self, name)) for name in names}, events=())

    def to_pandas(self) -> Any:
        """One rollout as a pandas DataFrame by time: columns q_<joint>, qd_<joint>, qdd_<joint>, tau_<joint> and the energies."""
        columns = self._columns()
        return optional("pandas").DataFrame(columns).set_index("t")

    def to_xarray(self) -> Any:
        """All rollouts as an xarray Dataset with dimensions rollout_0, ..., time, joint."""
        many = [f"rollout_{k}" for k in range(self.q.ndim - 2)]
        last = {kind: "position" if kind == "q" and self.robot.runs else "joint" for kind in PARTS}
        arrays = {kind: ([*many, "time", last[kind]], getattr(self, kind)) for kind in PARTS}
        arrays |= {kind: ([*many, "time"], getattr(self, kind)) for kind in ("kinetic_energy", "potential_energy")}
        names = {"joint": list(self.robot.joint_names)}
        names |= {"position": list(self.robot.position_names)} if self.robot.runs else {}
        return optional("xarray").Dataset(arrays, {"time": self.time, **names})

    def to_csv(self, path: Any) -> Any:
        """One rollout as a table of text; all digits are kept. `path` is a name, or a file that is open for writing text."""
        return save_csv(path, self._columns())

    def to_npz(self, path: Any) -> FilePath:
        """All rollouts as arrays time, q, qd, qdd, tau, work of the joints, the memory if there is one, and the joints' names."""
        arrays = {"joints": np.array(self.robot.joint_names)} | {kind: getattr(self, kind) for kind in ("time", *PARTS)}
        arrays |= {"worked": self._work_of_joints()} | ({} if self.memory is None else {"memory": self.memory})
        arrays |= {} if self.lost is None else {"lost": self.lost}
        return save_npz(path, arrays)

    @staticmethod
    def load(path: Any, robot: "Robot", *, limit: int = limits.ARRAYS, allow_nan: bool = False) -> "Trajectory":
        """A trajectory of this robot from a file that `to_csv` or `to_npz` wrote; wrenches and events are not in it.

        From CSV, work is estimated from the samples; NPZ has that of the joints, whatever their forces did between samples.
        What would take more than `limit` bytes of memory is refused; `dalembert.files.read_states` reads files of any length.
        NaN and infinities, as of a simulation that diverged, are refused by row and column unless `allow_nan`.
        """
        a_robot(robot, "Trajectory.load")
        arrays = load_motion(path, robot, limit, allow_nan=flag(allow_nan, "allow_nan"))
        motion = arrays["t"], arrays["q"], arrays["qd"], arrays["tau"]
        known: dict[str, Any] = {name: arrays.get(name) for name in ("worked", "memory", "lost")}
        return Trajectory(robot, *motion, accelerations=arrays["qdd"], **known)

    def plot(self) -> Any:
        """A matplotlib figure of one rollout: positions, velocities, forces and energies over time."""
        from dalembert.simulation.plot import figure

        self._single("a figure")
        return figure(self)


def exchanged_within(trajectory: "Trajectory", part: slice) -> Array:
    """The energy `exchanged` in a part of the samples."""
    ranges = sum(np.ptp(x[..., part], axis=-1) for x in (trajectory.potential_energy, trajectory.work, trajectory.dissipated))
    return ranges + trajectory.kinetic_energy[..., part].max(axis=-1)


def alike(wrenches: Any) -> bool:
    """Whether the same wrenches, by name, act in all rollouts."""
    return isinstance(wrenches, dict) and all(max(w.force.ndim, w.moment.ndim, w.point.ndim) == 1 for w in wrenches.values())


def _summed(parts: Array) -> Array:
    """Sums (..., T) from the start of parts (..., T - 1)."""
    return np.concatenate([np.zeros((*parts.shape[:-1], 1)), np.cumsum(parts, axis=-1)], axis=-1)
