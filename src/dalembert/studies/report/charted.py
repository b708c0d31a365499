"""Balls and free bodies on a page: as runs of joints of one degree of freedom, with three angles for each rotation.

The page moves, draws and computes for such joints. Angles about x, y and z say where a body is, as long as it does not turn about y
by a right angle; there the page shows it, but would divide by zero.
"""

from dataclasses import replace

import numpy as np

from dalembert.algebra.spatial import Array, rotate_back, rotation_of
from dalembert.model.positions import without_poses
from dalembert.model.spread import spread
from dalembert.robots import Robot
from dalembert.studies.report.motion import SampledMotion


def charted(robot: Robot, motion: SampledMotion) -> tuple[Robot, SampledMotion]:
    """The robot and its motion in coordinates whose rates are the velocities; themselves, if they have these."""
    whole = spread(robot)
    if whole is robot:
        return robot, motion
    shown = replace(whole, virtual=())
    if not robot.runs:
        return shown, motion
    q = np.array(without_poses(robot, motion.q))
    for run in robot.runs:
        own = motion.q[:, run.positions]
        R = rotation_of(own[:, :4])
        angles = _angles(R)
        q[:, run.velocities] = angles if run.kind == "ball" else np.concatenate([angles, rotate_back(R, own[:, 4:])], axis=-1)
    rates = [np.gradient(q, motion.time, axis=0, edge_order=1)]
    rates.append(np.gradient(rates[0], motion.time, axis=0, edge_order=1))
    joints = [i for i in range(robot.n) if not any(i in range(robot.n)[run.velocities] for run in robot.runs)]
    for rate, given in zip(rates, (motion.qd, motion.qdd), strict=True):
        rate[:, joints] = given[:, joints]
    return shown, motion._replace(q=q, qd=rates[0], qdd=rates[1])


def _angles(R: Array) -> Array:
    """(T, 3): a, b, c of R = Rx(a) Ry(b) Rz(c), without jumps."""
    a, b = np.arctan2(-R[:, 1, 2], R[:, 2, 2]), np.arcsin(np.clip(R[:, 0, 2], -1.0, 1.0))
    c = np.arctan2(-R[:, 0, 1], R[:, 0, 0])
    return np.unwrap(np.stack([a, b, c], axis=-1), axis=0)
