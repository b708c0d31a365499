"""From a recording to q, qd, qdd and tau on one uniform clock.

Positions are low-passed lightly and differentiated. Forces are low-passed at `cutoff`, and so must the columns of the regressor be
(`Prepared.filtered`): then both sides of tau = Y p went through the same linear filter, which leaves p alone.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import number, positive
from dalembert.errors import Error, optional
from dalembert.identification.recording import Recording

ORDER = 4
BAND = 0.99  # of the power of the velocities
LONG_GAP = 8  # spacings: positions are not guessed over more, the recording is cut
RESTING = 0.1  # s: a joint that is slow for less is turning round
LAG = 0.1  # s, the longest that is searched
STEPS = 21  # of a search, three times over
ROWS = 3000  # samples that it takes


@dataclass(frozen=True, eq=False)
class Prepared:
    """A motion on a uniform clock, in `segments` without gaps: arrays (T, n), `tau` low-passed at `cutoff` and `raw` as recorded.

    `moving` (T, n) marks the joints that are not at rest, `slow` (n,) the speeds that are at most noise.
    """

    recording: Recording
    time: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    raw: Array
    moving: Array
    slow: Array
    segments: tuple[slice, ...]
    rate: float
    cutoff: float
    q_cutoff: float
    delay: float
    sought: bool = False  # whether the delay was searched, and so has an error of its own

    def __len__(self) -> int:
        return len(self.time)

    @property
    def every(self) -> int:
        """Of so many samples one says it all: four per period of the cutoff."""
        return max(1, int(self.rate / (4 * self.cutoff)))

    def filtered(self, x: Array) -> Array:
        """Columns (T, ...) with the filter that the forces went through."""
        return np.concatenate([low_pass(x[part], self.rate, self.cutoff) for part in self.segments])

    def delayed(self, delay: float) -> "Prepared":
        """The same, for forces that lag by so much more."""
        if delay == 0:
            return self
        shifted = {name: _shifted(self, getattr(self, name), delay) for name in ("tau", "raw")}
        moving = self.moving.copy()
        edge = abs(delay) + min(0.5 / self.cutoff, 0.05 * len(self) / self.rate)
        for part in self.segments:  # nothing is known beyond the ends, where the filter mirrors motion and forces apart
            t = self.time[part]
            moving[part] &= ((t >= t[0] + edge) & (t <= t[-1] - edge))[:, None]
        return replace(self, **shifted, moving=moving, delay=self.delay + delay)


def prepare(
    recording: Recording, *, cutoff: float | None, q_cutoff: float | None, delay: float | str, standstill: float | None
) -> Prepared:
    """`Recording.prepare`."""
    rate = recording.rate
    parts = [_resampled(recording, part, rate) for part in _uncut(recording)]
    parts = [part for part in parts if part is not None]
    if not parts:
        raise Error(f"{recording.name}: gaps leave nothing to differentiate")
    low = positive(cutoff, "cutoff") if cutoff is not None else bandwidth(parts, rate)
    high = positive(q_cutoff, "q_cutoff") if q_cutoff is not None else 4 * low
    made: list[dict[str, Array]] = []
    for part in parts:
        q, qd, qdd = motion(part["q"], part.get("qd"), rate, high)
        trim = min(int(1.5 * rate / high), (len(q) - 1) // 3) if high < rate / 2 else 0
        inner = slice(2 + trim, len(q) - 2 - trim)
        noise = part["q"] - q
        kept = {"time": part["time"], "q": q, "qd": qd, "qdd": qdd, "raw": part["tau"], "noise": noise}
        made.append({name: x[inner] for name, x in kept.items()})
        made[-1]["tau"] = low_pass(made[-1]["raw"], rate, low)
    ends = np.cumsum([0, *(len(x["time"]) for x in made)])
    segments = tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
    whole: dict[str, Any] = {name: np.concatenate([x[name] for x in made]) for name in made[0]}
    noise = whole.pop("noise").std(axis=0)
    slow = (
        _slow(whole["qd"], noise, rate, high)
        if standstill is None
        else np.full(recording.robot.n, number(standstill, "standstill"))
    )
    moving = np.concatenate([_moving(whole["qd"][part], slow, rate, low) for part in segments])
    prepared = Prepared(
        recording, **whole, moving=moving, slow=slow, segments=segments, rate=rate, cutoff=low, q_cutoff=high, delay=0.0
    )
    if isinstance(delay, str):
        if delay != "auto":
            raise Error(f'delay must be a number of seconds or "auto", got {delay!r}')
        return replace(prepared.delayed(find_delay(prepared)), sought=True)
    return prepared.delayed(number(delay, "delay"))


# --- filters ------------------------------------------------------------------------------------------------------------------


def low_pass(x: Array, rate: float, cutoff: float, mirror: str = "even") -> Array:
    """Forward and back, so without a phase, along the first axis; as it is where the cutoff is above what is there.

    Beyond its ends a signal is mirrored: "even", or "odd" about its last point, which keeps its slope, but takes the noise of that
    point twice.
    """
    if cutoff >= 0.49 * rate or not x.size:
        return x
    signal = optional("scipy.signal")
    sections = signal.butter(ORDER, cutoff, fs=rate, output="sos")
    pad = min(int(3 * rate / cutoff), len(x) - 1)
    flat = np.ascontiguousarray(x.reshape(len(x), -1).T)
    return signal.sosfiltfilt(sections, flat, axis=-1, padtype=mirror, padlen=pad).T.reshape(x.shape)


def motion(q: Array, qd: Array | None, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Low-passed positions, velocities (recorded ones if there are any) and accelerations; the outer two samples are void."""
    q = low_pass(q, rate, cutoff, "odd")
    if qd is None:
        return q, slope(q, rate), curvature(q, rate)
    qd = low_pass(qd, rate, cutoff, "odd")
    return q, qd, slope(qd, rate)


def slope(x: Array, rate: float) -> Array:
    """Central differences of five points, of fourth order."""
    made = np.gradient(x, 1 / rate, axis=0)
    made[2:-2] = (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) * (rate / 12)
    return made


def curvature(x: Array, rate: float) -> Array:
    """The same for the second derivative."""
    made = np.zeros_like(x)
    made[2:-2] = (-x[:-4] + 16 * x[1:-3] - 30 * x[2:-2] + 16 * x[3:-1] - x[4:]) * (rate**2 / 12)
    return made


def bandwidth(parts: list[dict[str, Array]], rate: float) -> float:
    """Four times the frequency below which 99 percent of the power of the velocities is, above a floor of noise."""
    longest = max(parts, key=lambda part: len(part["time"]))["q"][:100_000]
    x = (longest - longest.mean(axis=0)) * np.hanning(len(longest))[:, None]
    power = np.abs(np.fft.rfft(x, axis=0)) ** 2
    f = np.fft.rfftfreq(len(x), 1 / rate)
    floor = 10 * np.median(power[len(f) // 2 :], axis=0)
    speed = (np.where(power > floor, power - floor, 0.0) * f[:, None] ** 2).sum(axis=1)
    total = np.cumsum(speed)
    top = f[np.searchsorted(total, BAND * total[-1])] if total[-1] > 0 else 0.0
    return float(np.clip(4 * top, 8 / (len(x) / rate), 0.2 * rate))


# --- clocks -------------------------------------------------------------------------------------------------------------------


def _uncut(recording: Recording) -> list[slice]:
    """Parts without long gaps."""
    spacing = np.diff(recording.time)
    cuts = np.flatnonzero(spacing > LONG_GAP * np.median(spacing)) + 1
    ends = [0, *cuts.tolist(), len(recording)]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def _resampled(recording: Recording, part: slice, rate: float) -> dict[str, Array] | None:
    """One part on a uniform clock; None if it is too short."""
    names = ("time", "q", "tau", *(["qd"] if recording.qd is not None else []))
    kept = {name: np.asarray(getattr(recording, name)[part]) for name in names}
    time = kept["time"] - float(recording.time[0])
    if len(time) < 10:
        return None
    kept["time"] = time
    if np.abs(np.diff(time) * rate - 1).max() < 1e-3:
        return kept
    spline = optional("scipy.interpolate").CubicSpline
    clock = np.arange(time[0], time[-1], 1 / rate)
    return {name: clock if name == "time" else spline(time, x, axis=0)(clock) for name, x in kept.items()}


def _shifted(prepared: Prepared, x: Array, delay: float) -> Array:
    """x at later times."""
    spline = optional("scipy.interpolate").CubicSpline
    made: list[Array] = []
    for part in prepared.segments:
        t = prepared.time[part]
        made.append(spline(t, x[part], axis=0)(np.clip(t + delay, t[0], t[-1])))
    return np.concatenate(made)


# --- rest ---------------------------------------------------------------------------------------------------------------------


def _slow(qd: Array, noise: Array, rate: float, cutoff: float) -> Array:
    """The speed (n,) below which a joint may be at rest: 1 percent of its greatest, but above its noise."""
    fastest = np.quantile(np.abs(qd), 0.99, axis=0)  # a spike is no speed
    passed = noise * 2 * np.pi * cutoff * np.sqrt(min(2 * cutoff / rate, 1.0) / 3)  # white noise, low-passed and differentiated
    return np.maximum.reduce([0.01 * fastest, 3 * passed, np.full_like(fastest, max(1e-3 * fastest.max(), 1e-9))])


def _moving(qd: Array, slow: Array, rate: float, cutoff: float) -> Array:
    """False where a joint stays slow for longer than it takes to turn round, and as far around as the filter reaches."""
    least, reach = max(int(RESTING * rate), 3), int(rate / cutoff)
    moving = np.ones(qd.shape, dtype=bool)
    for j in range(qd.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], np.abs(qd[:, j]) < slow[j], [False]]).astype(int)))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            if end - start >= least:
                moving[max(start - reach, 0) : end + reach, j] = False
    return moving


# --- the lag of forces behind the motion ----------------------------------------------------------------------------------------


def find_delay(prepared: Prepared) -> float:
    """The lag, in s, with which forces fit the motion best, in the sum of squares over all joints, each in its own size."""
    from dalembert.identification.columns import Columns

    columns = Columns.of(prepared.recording.robot, ("viscous", "coulomb", "offset"), True, prepared)
    inner = np.concatenate([np.arange(s.start, s.stop)[_inside(prepared, s)] for s in prepared.segments])
    rows = inner[:: max(1, len(inner) // ROWS)]
    if len(rows) < 20 or not prepared.moving[rows].any():
        return 0.0
    A = columns.filtered(prepared)[rows]
    count = prepared.moving[rows].sum(axis=0)
    weight = prepared.moving[rows] / np.maximum(np.sqrt(count), 1.0)

    spline = optional("scipy.interpolate").CubicSpline
    curves = [(spline(prepared.time[s], prepared.tau[s], axis=0), (rows >= s.start) & (rows < s.stop)) for s in prepared.segments]

    def left(delay: float, basis: Array, weight: Array) -> Array:
        y = weight * np.concatenate([curve(prepared.time[rows[own]] + delay) for curve, own in curves])
        flat = y.ravel()
        return (flat - basis @ (basis.T @ flat)).reshape(y.shape)

    def basis(weight: Array) -> Array:
        W = (weight[..., None] * A).reshape(-1, A.shape[-1])
        U, s, _ = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300), full_matrices=False)
        return U[:, s > 1e-8 * s[0]]

    Q = basis(weight)
    best, reach = 0.0, max(LAG, 5 / prepared.rate)
    for _ in range(4):
        size = np.linalg.norm(left(best, Q, weight), axis=0)
        weight = weight / np.where(size > 1e-12 * size.max(initial=1e-300), size, 1.0)
        Q = basis(weight)
        grid = best + np.linspace(-reach, reach, STEPS)
        cost = np.array([np.sum(left(float(d), Q, weight) ** 2) for d in grid])
        k = int(np.clip(cost.argmin(), 1, STEPS - 2))
        bend = cost[k - 1] - 2 * cost[k] + cost[k + 1]
        best = float(grid[k] + (0.5 * (cost[k - 1] - cost[k + 1]) / bend * (grid[1] - grid[0]) if bend > 0 else 0.0))
        reach = 3 * (grid[1] - grid[0])
    return float(np.clip(best, -LAG - 5 / prepared.rate, LAG + 5 / prepared.rate))


def _inside(prepared: Prepared, part: slice) -> slice:
    """Rows whose forces are known at all lags that are searched."""
    edge = int(np.ceil((1.5 * LAG + 5 / prepared.rate) * prepared.rate))
    length = part.stop - part.start
    return slice(edge, length - edge) if length > 4 * edge else slice(0, length)
