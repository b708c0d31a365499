"""Angles that look like degrees where radians are meant: one set of rules and words for all.

Radians between four turns and 720 are rare, and whole or half numbers among them rarer: people write
those for degrees. What is doubted is told, and taken as it is. Only numbers that a person types or
loads are looked at, not those that are computed.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import DataWarning, warn

if TYPE_CHECKING:
    from dalembert.model.links import Joint
    from dalembert.model.model import Model

TURN = 2 * math.pi
FULL_TURN = 1.01 * TURN  # of which files have a few digits
SPINNING = 4 * TURN  # joints may turn so far, and round numbers up to there may be radians
MOST = 720.0  # what is beyond two turns of degrees is no angle that somebody wrote in degrees
BEYOND = 3.0  # times its limits: positions beyond look like degrees, round or not
HALF_TURN_DIGITS = 1e-3  # how far a limit may be from half turns, in proportion
ROUND = 1e-6  # how far positions may be from half degrees, in proportion
COMPUTED = 1e-9  # the same of an angle of a fixed rotation from quarter turns
QUESTION = "are these degrees?"


def angle_doubt(name: str, angle: float) -> str:
    """A doubt about an angle of a fixed rotation, for which a turn is enough; "" if there is none.

    Quarter turns that a program has computed are not doubted.

    >>> angle_doubt("roll", 180.0), angle_doubt("roll", 3.14)
    ('roll = 180 rad is more than 2 pi: are these degrees?', '')
    """
    if abs(angle) <= FULL_TURN:
        return ""
    quarters = 4 * angle / TURN
    if abs(angle) <= SPINNING and abs(quarters - round(quarters)) < COMPUTED * abs(quarters):
        return ""
    return f"{name} = {angle:g} rad is more than 2 pi: {QUESTION}"


def rpy_doubt(rpy: Any) -> str:
    """The same about roll, pitch and yaw: the first that is doubted."""
    angles = dict(zip(("roll", "pitch", "yaw"), rpy, strict=True))
    return next(filter(None, (angle_doubt(name, float(angle)) for name, angle in angles.items())), "")


def range_doubt(joint: "Joint", lower: float, upper: float, what: str = "limits") -> str:
    """A doubt about a range of positions of a joint; "" if there is none.

    >>> import dalembert as da
    >>> range_doubt(da.Joint("a"), -180.0, 180.0)
    "limits -180 to 180 rad of joint 'a': are these degrees?"
    """
    ends = np.array([lower, upper])
    beyond = (np.abs(ends) > SPINNING) & (np.abs(ends) <= MOST)
    if joint.unit != "rad" or not (beyond & ~_is_half_turns(ends)).any():
        return ""
    return f"{what} {lower:g} to {upper:g} rad of joint {joint.name!r}: {QUESTION}"


def position_doubt(robot: "Model", q: Array, *, measured: bool = False) -> str:
    """A doubt about positions q (..., nq); "" if there is none.

    Doubted are positions far beyond the limits of their joint, and where the farthest of them is round: those beyond the
    limits and two turns, and beyond four turns of joints without limits. So the samples of a motion need not be round, but
    only where it ends. Numbers that sensors measured are not round: if `measured`, any beyond two turns are doubted.

    >>> import dalembert as da
    >>> position_doubt(da.robot("two_link"), np.array([[0.0, 1.0], [30.0, 60.0]]))
    'positions look like degrees: q of joint1 reaches 30 rad'
    """
    if not q.size:
        return ""
    q = q.reshape(-1, robot.nq)
    reach = np.fmax(np.fmax.reduce(q, axis=0), -np.fmin.reduce(q, axis=0))
    if not (reach > FULL_TURN).any():
        return ""
    column = {name: k for k, name in enumerate(robot.position_names)}
    for joint in robot.joints:
        k = column.get(joint.name)  # free and ball joints have quaternions
        if k is None or joint.unit != "rad" or not reach[k] > FULL_TURN:
            continue
        if _is_doubted(q[:, k], float(reach[k]), joint, measured):
            evidence = f"q of {joint.name} reaches {reach[k]:.4g} rad"
            if _largest_limit(joint) < math.inf:
                evidence += f", beyond its limits, {joint.lower:.4g} to {joint.upper:.4g}"
            return f"positions look like degrees: {evidence}"
    return ""


def _is_doubted(positions: Array, reach: float, joint: "Joint", measured: bool) -> bool:
    limit = _largest_limit(joint)
    far = max(BEYOND * limit, FULL_TURN)
    if measured:
        return reach > (far if limit < math.inf else 2 * TURN)
    allowed = max(limit, 2 * TURN) if limit < math.inf else SPINNING
    farthest = positions[np.abs(positions) == reach]
    return far < reach <= MOST or (reach > allowed and bool(_is_round(farthest).all()))


def _largest_limit(joint: "Joint") -> float:
    """How far a joint goes from 0; infinite without limits, for which files write 0, too."""
    return max(abs(joint.lower), abs(joint.upper)) or math.inf


def warn_of_positions(robot: "Model", q: Array, what: str) -> None:
    """A `DataWarning` where positions (..., nq) look like degrees."""
    if doubt := position_doubt(robot, q):
        warn(f"{what}: {doubt}", DataWarning)


def warn_of_ranges(joints: "Iterable[Joint]", lower: Iterable[float], upper: Iterable[float], what: str) -> None:
    """The same where ranges of positions do: of the first joint that is doubted."""
    doubts = (range_doubt(joint, a, b, what) for joint, a, b in zip(joints, lower, upper, strict=True))
    if doubt := next(filter(None, doubts), ""):
        warn(doubt, DataWarning)


def _is_half_turns(angles: Array) -> Array:
    """Which are half turns in radians, with the few digits that files have."""
    halves = np.where(np.abs(angles) <= MOST, angles, np.nan) / math.pi
    return np.abs(halves - np.rint(halves)) < HALF_TURN_DIGITS * np.abs(halves)


def _is_round(angles: Array) -> Array:
    """Which are multiples of half a degree, as people write degrees."""
    halves = 2 * np.where(np.abs(angles) <= MOST, angles, np.nan)
    return np.abs(halves - np.rint(halves)) < ROUND * np.abs(halves)
