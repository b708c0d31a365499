"""How near torques are to their limits along a motion: a lane for each joint, coloured by the share."""

from html import escape
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.model.model import Model
from dalembert.studies.report.figures import table_html
from dalembert.studies.report.motion import SampledMotion, torque_limits

LEVELS = 10  # shades below the limit
FULL = 0.99  # of a limit: the joint gives all it has


def lanes(names: tuple[str, ...], time: Array, share: Array) -> str:
    """A table of lanes over time (T,), for shares (T, n) of the limits; joints without one, NaN, are left out."""
    limited = [i for i in range(len(names)) if np.isfinite(share[:, i]).all()]
    if not limited:
        return ""
    rows = [(escape(names[i]), _lane(names[i], time, np.abs(share[:, i])), *_figures(time, np.abs(share[:, i]))) for i in limited]
    head = ("joint", "share of its torque limit over time", "largest", "at the limit")
    return table_html(head, rows, text=(0, 1), caption="How near the torques are to their limits", style="lanes")


def saturation(robot: Model, motion: SampledMotion, tau: Array) -> Array:
    """Torques (T, n) of a motion as shares of their limits, peaks between its samples included; NaN for joints without limits."""
    found = np.abs(shares(tau, torque_limits(robot, motion)))
    return found if motion.shares is None else np.maximum(found, motion.shares)


def shares(tau: Array, limits: Array) -> Array:
    """Torques (T, n) as shares of limits (2, n) in their direction; NaN for joints without limits."""
    low, high = limits
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(tau < 0, tau / np.minimum(low, 0.0), tau / np.maximum(high, 0.0))
    return np.where(np.isfinite(low) & np.isfinite(high), np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=1.0), np.nan)


def _lane(name: str, time: Array, share: Array) -> str:
    """One lane: pieces of one shade each, from halfway to the sample before to halfway to the next one."""
    level = np.where(share >= FULL, LEVELS, np.floor(np.clip(share, 0.0, FULL) * LEVELS)).astype(int)
    place = (time - time[0]) / (time[-1] - time[0]) * 100
    edges = np.concatenate([[0.0], (place[1:] + place[:-1]) / 2, [100.0]])
    starts = np.append(0, np.flatnonzero(np.diff(level)) + 1)
    pieces: list[str] = []
    for first, end in zip(starts, np.append(starts[1:], len(level)), strict=True):
        k: Any = level[first]
        style = 'class="full"' if k == LEVELS else f'fill-opacity="{k / LEVELS:.1f}"'
        pieces.append(f'<rect {style} x="{edges[first]:.2f}" width="{edges[end] - edges[first]:.2f}" height="10"/>' if k else "")
    words = f"{escape(name)}: at most {share.max():.0%} of the torque limit"
    return (
        f'<svg class="lane" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{words}">{"".join(pieces)}</svg>'
    )


def _figures(time: Array, share: Array) -> tuple[str, str]:
    weights = np.diff(time) / (time[-1] - time[0])
    full = (share >= FULL).astype(float)
    return f"{share.max():.0%}", f"{((full[1:] + full[:-1]) / 2 * weights).sum():.0%} of the time"
