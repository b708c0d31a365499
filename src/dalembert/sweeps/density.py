"""How often a joint's force and speed come together, over all states of a range."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.sweeps.sweep import sweep
from dalembert.sweeps.worst import Case

BINS = 48  # of speeds, and of forces
LEAST = 1_000_000  # states, for a picture that is smooth


class Density(NamedTuple):
    """Counts (n, speeds, forces) of uniform states between -speed and speed, and between -force and force, (n,) each."""

    counts: Array
    speed: Array
    force: Array


def density(case: Case, force: Array, samples: int) -> Density:
    """Count states whose positions, speeds, accelerations and payloads are uniform in their ranges, by a sweep."""
    arm, most = case.arm, np.where(force > 0, force, 1.0)
    ranges = {
        "q": (case.lower, case.upper),
        "qd": (-case.speed, case.speed),
        "qdd": (-case.acceleration, case.acceleration),
        "payload": case.payload,
        "payload_com": (arm.com, arm.com),
    }
    grid = {"bins": BINS, "rows": BINS, "by": "qd", "range": (-most, most)}
    options: dict[str, Any] = {"samples": max(samples, LEAST), "sampling": "uniform", "link": arm.link, "progress": False}
    found = sweep(arm.robot, "inverse_dynamics", ranges, reduce={"histogram": grid}, **options)
    counts = found.histogram["inverse_dynamics"]
    inside = counts.counts.copy()
    inside[..., 0] += counts.below
    inside[..., -1] += counts.above
    return Density(inside, case.speed, most)
