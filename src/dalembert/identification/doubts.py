"""Mistakes in recordings that a prior gives away: wrong gains, wrong signs, swapped columns."""

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.identification.columns import Columns
from dalembert.identification.prepare import Prepared
from dalembert.robots import Robot

ALIKE = 0.9  # correlation of forces with those of the prior
FACTOR = 2.5  # of a gain
ROWS = 2000


def doubts(columns: Columns, prior: Robot, motion: Prepared) -> list[str]:
    """What is strange about the forces of a motion, next to those of the prior, apart from friction."""
    rows = slice(None, None, max(1, len(motion) // ROWS))
    names, where = motion.recording.robot.joint_names, motion.recording.name
    q, qd, qdd = motion.q[rows], motion.qd[rows], motion.qdd[rows]
    rigid = prior.without_friction().inverse_dynamics(q, qd, qdd)
    n = len(names)
    slopes, alike = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        moving = motion.moving[rows, i]
        if moving.sum() < 20:
            continue
        rubbing = np.stack(
            [qd[:, i], np.tanh(qd[:, i] / columns.smooth[i] if columns.smooth[i] else qd[:, i]), 1 + 0 * qd[:, i]], axis=1
        )
        left = _without(np.column_stack([motion.tau[rows, i], rigid])[moving], rubbing[moving])
        size = np.linalg.norm(left, axis=0)
        size = np.where(size > 1e-6 * max(float(size.max()), 1e-300), size, np.inf)
        alike[i] = left[:, 1:].T @ left[:, 0] / size[0] / size[1:]
        slopes[i] = alike[i, i] * size[0] / size[1 + i] if np.isfinite(size[[0, 1 + i]]).all() else 1.0
    found = list[str]()
    for i in range(n):
        crossed = [k for k in range(n) if alike[i, k] > max(ALIKE, alike[i, i]) and alike[k, i] > max(ALIKE, alike[k, k])]
        if crossed and alike[i, i] < ALIKE:
            k = crossed[0]
            if i < k:
                found.append(f"{where}: the torques of {names[i]} and {names[k]} look as if their columns were swapped")
        elif alike[i, i] < -ALIKE:
            found.append(f"{where}: the torque of {names[i]} has the opposite sign of the prior's; check its direction")
        elif alike[i, i] > ALIKE and not 1 / FACTOR < slopes[i] < FACTOR:
            found.append(f"{where}: the torque of {names[i]} is {slopes[i]:.2g} times that of the prior; check its gain or unit")
    return found


def _without(x: Array, basis: Array) -> Array:
    """x without its parts along a basis."""
    return x - basis @ np.linalg.lstsq(basis, x, rcond=None)[0]
