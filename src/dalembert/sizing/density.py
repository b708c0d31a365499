"""How often a joint's force and speed come together, over all states of a range."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.model.edit import with_payload
from dalembert.sizing.worst import Case
from dalembert.sweeps.sweep import sweep

BINS = 48  # of speeds, and of forces
LEAST = 1_000_000  # states, for a picture that is smooth


class Density(NamedTuple):
    """Counts (n, speeds, forces) of uniform states between -speed and speed and between -force and force, (n,) each; 1 for 0."""

    counts: Array
    speed: Array
    force: Array


def density(case: Case, force: Array, samples: int) -> Density:
    """Count states whose positions, speeds, accelerations and payloads are uniform in their ranges, by a sweep.

    Of robots whose joints are coupled, with the heavier payload alone.
    """
    arm, most = case.arm, np.where(force > 0, force, 1.0)
    ranges: dict[str, Any] = {
        "q": (case.lower, case.upper),
        "qd": (-case.velocity, case.velocity),
        "qdd": (-case.acceleration, case.acceleration),
    }
    low, high = case.payload
    robot = arm.robot
    options: dict[str, Any] = {"samples": max(samples, LEAST), "sampling": "uniform", "progress": False}
    if low < high and robot.is_tree:
        ranges |= {"payload": case.payload, "payload_com": (arm.com, arm.com)}
        options["link"] = arm.link
    elif high > 0:
        robot = with_payload(robot, high, arm.com, link=arm.link)
    grid = {"bins": BINS, "rows": BINS, "by": "qd", "range": (-most, most)}
    found = sweep(robot, "inverse_dynamics", ranges, reduce={"histogram": grid}, **options).histogram["inverse_dynamics"]
    counts = found.counts.copy()
    counts[..., 0] += found.below
    counts[..., -1] += found.above
    return Density(counts, np.where(case.velocity > 0, case.velocity, 1.0), most)
