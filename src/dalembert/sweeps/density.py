"""How often a joint's force and speed come together, over all states of a range."""

from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.sweeps.worst import CHUNK, Case, bin_of

BINS = 48  # of speeds, and of forces


class Density(NamedTuple):
    """Counts (n, speeds, forces) of uniform states between -speed and speed, and between -force and force, (n,) each."""

    counts: Array
    speed: Array
    force: Array


def density(case: Case, force: Array, samples: int) -> Density:
    """Count states whose positions, speeds, accelerations and payloads are uniform in their ranges."""
    rng, counts = np.random.default_rng(2), np.zeros((case.n, BINS * BINS), dtype=np.int64)
    for done in range(0, samples, CHUNK):
        shape = (min(CHUNK, samples - done), case.n)
        q, qd, qdd = (rng.uniform(-x, x, shape) for x in (1.0, case.speed, case.acceleration))
        q = (case.lower + case.upper) / 2 + q * (case.upper - case.lower) / 2
        loads, mass = case.arm.loads(q, qd, qdd), rng.uniform(*case.payload, (len(q), 1))
        tau = case.arm.rubbed(qd, loads.h0 + mass * loads.h1)
        for j in range(case.n):
            cell = bin_of(qd[:, j], -case.speed[j], case.speed[j], BINS) * BINS + bin_of(tau[:, j], -force[j], force[j], BINS)
            counts[j] += np.bincount(cell, minlength=BINS * BINS)
    return Density(counts.reshape(case.n, BINS, BINS), case.speed, force)
