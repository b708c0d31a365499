"""Figures of recordings and identifications, and the curves that a report shows, too."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import optional
from dalembert.identification.prepare import Prepared
from dalembert.identification.recording import Recording
from dalembert.identification.result import Identification
from dalembert.quantities.drawing import showing

MOST = 2000  # points of a curve
BINS = 40  # of speeds
LAGS = 2.0  # periods of the cutoff, of the autocorrelation
PARTS = (("q", "position, rad or m"), ("qd", "velocity, rad/s or m/s"), ("tau", "force, N m or N"))


class Curves(NamedTuple):
    """What there is to see of one joint."""

    measured: Array  # (T,), filtered
    predicted: Array
    residual: Array  # NaN at rest
    speeds: Array  # (bins,)
    by_speed: Array  # (bins,), mean residuals; NaN where there are none
    autocorrelation: Array  # (lags,)


def curves(found: Identification, motion: Prepared) -> tuple[Array, Array, list[Curves]]:
    """The times (T,) and lags (in s) of all joints, and the curves of each."""
    made = motion.filtered(found.predict(motion.q, motion.qd, motion.qdd))
    left = motion.tau - made
    rows = slice(None, None, max(1, len(motion) // MOST))
    every = max(1, int(motion.rate / (20 * motion.cutoff)))
    lags = np.arange(0, max(2, int(LAGS * motion.rate / motion.cutoff)), every)
    found_curves: list[Curves] = []
    for j in range(found.robot.n):
        moving = motion.moving[:, j]
        r, v = np.where(moving, left[:, j], 0.0), motion.qd[:, j]
        edges = np.linspace(v.min(), v.max() + 1e-12, BINS + 1)
        which = np.clip(np.digitize(v[moving], edges) - 1, 0, BINS - 1)
        count = np.bincount(which, minlength=BINS)
        mean = np.bincount(which, weights=r[moving], minlength=BINS) / np.where(count > 0, count, np.nan)
        power = float(r @ r) or 1.0
        together = np.array([float(r[: len(r) - k] @ r[k:]) / power for k in lags])
        shown = np.where(moving, left[:, j], np.nan)[rows]
        found_curves.append(Curves(motion.tau[rows, j], made[rows, j], shown, (edges[:-1] + edges[1:]) / 2, mean, together))
    return motion.time[rows], lags / motion.rate, found_curves


def recording(given: Recording) -> Any:
    """Positions, velocities if there are any, and forces over time."""
    parts = [(name, label) for name, label in PARTS if getattr(given, name) is not None]
    made = showing(optional("matplotlib.figure").Figure)(figsize=(9, 2.4 * len(parts)), layout="constrained")
    rows = slice(None, None, max(1, len(given) // 20_000))
    for panel, (name, label) in zip(np.atleast_1d(made.subplots(len(parts), 1, sharex=True)), parts, strict=True):
        panel.plot(given.time[rows], getattr(given, name)[rows], linewidth=0.8, label=given.robot.joint_names)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
    made.axes[0].legend(fontsize="small", ncols=4)
    made.axes[-1].set_xlabel("time, s")
    made.suptitle(f"{given.name}: {given.robot.name}, {given.duration:.4g} s")
    return made


def identification(found: Identification, motion: Prepared) -> Any:
    """Forces measured and predicted, residuals over time and speed, their autocorrelation, and parameters with intervals."""
    joints = np.flatnonzero(motion.moving.any(axis=0))  # those at rest have nothing to show
    n = len(joints)
    intervals = found.intervals()
    tall = 2 + len(intervals) // 40
    made = showing(optional("matplotlib.figure").Figure)(figsize=(15, 1.9 * (n + tall)), layout="constrained")
    grid = made.add_gridspec(n + tall, 4, width_ratios=(2.2, 2.2, 1, 1))
    time, lags, all_curves = curves(found, motion)
    titles = ("force, N m or N", "residual over time", "over speed, rad/s or m/s", "autocorrelation over lag, s")
    for j, joint in enumerate(joints):
        one = all_curves[joint]
        panels = [made.add_subplot(grid[j, k]) for k in range(4)]
        panels[0].plot(time, one.measured, color="#555555", linewidth=1.4, label="measured, filtered")
        panels[0].plot(time, one.predicted, color="#c2410c", linewidth=0.9, label="predicted")
        panels[0].set_ylabel(found.robot.joint_names[joint])
        panels[1].plot(time, one.residual, color="#1f5fa8", linewidth=0.7)
        panels[2].plot(one.speeds, one.by_speed, ".-", color="#1f5fa8", linewidth=0.8, markersize=3)
        panels[3].plot(lags, one.autocorrelation, color="#1f5fa8", linewidth=1)
        for panel, title in zip(panels, titles, strict=True):
            panel.grid(alpha=0.3)
            panel.tick_params(labelsize="small")
            if j == 0:
                panel.set_title(title, fontsize="medium")
        if j == 0:
            panels[0].legend(fontsize="small")
    _intervals(made.add_subplot(grid[n:, :]), intervals, found.sizes)
    made.suptitle(f"{found.robot.name}: {motion.recording.name}")
    return made


def _intervals(panel: Any, intervals: list[Any], size: Array) -> None:
    """Base parameters with their intervals, in parts of what would be large, beside the prior."""
    size = np.where(size > 0, size, 1.0)
    half = np.array([x.high - x.value for x in intervals]) / size
    at = np.arange(len(intervals))
    panel.errorbar(
        at,
        [x.value / s if np.isfinite(h) else np.nan for x, s, h in zip(intervals, size, half, strict=True)],
        yerr=np.where(np.isfinite(half), np.minimum(half, 2.0), 2.0),
        fmt="o",
        markersize=3,
        capsize=2,
        color="#1f5fa8",
        label="least squares, 95 %",
    )
    panel.plot(at, [x.robot / s for x, s in zip(intervals, size, strict=True)], "x", color="#c2410c", label="robot")
    panel.plot(at, [x.prior / s for x, s in zip(intervals, size, strict=True)], "_", color="#555555", label="prior")
    panel.set_xticks(at, [x.name for x in intervals], rotation=90, fontsize="x-small")
    panel.set_ylim(-1.5, 1.5)
    panel.set_title("base parameters, each in parts of what would be large for it", fontsize="medium")
    panel.legend(fontsize="small", ncols=3)
    panel.grid(alpha=0.3)
