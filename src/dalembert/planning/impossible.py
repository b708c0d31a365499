"""Why a path cannot be followed: the point, and the joints whose limits leave no speed there."""

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.model.model import Model
from dalembert.planning.elimination import UNBOUNDED, Profile, Rows
from dalembert.planning.path_limits import Terms

ROUNDING = 1e-12


def why_not(robot: Model, at: Terms, rows: Rows, found: Profile, s: Array) -> str:
    """Why there is no profile at these points, or none that moves and has limits; nothing where it is good."""
    finite = np.isfinite(np.hstack(rows)).all(axis=1)
    if not finite.all():
        return f"the forces at {_place(s, int(np.argmin(finite)))} are not finite; check the path and the robot there"
    empty, stuck = np.flatnonzero(_none(found.limits)), np.flatnonzero(_none(found.reachable))
    if empty.size:
        worst = int(empty[np.argmax(np.maximum(_beyond(at)[empty].max(axis=1), 0.0))])
        return f"the path cannot be followed at {_place(s, worst)}: {_reason(robot, at, worst, _pair(rows, worst))}"
    if stuck.size:
        last = int(stuck[-1])
        return f"the path cannot be followed at {_place(s, last)}: {_reason(robot, at, last, _pair(rows, last, s, found))}"
    still = np.flatnonzero((found.x[1:] <= 0) & (found.x[:-1] <= 0))
    if still.size:
        first = int(still[0])
        return f"the robot could only stand still at {_place(s, first)}: {_reason(robot, at, first, _pair(rows, first))}"
    if found.x.max() > 1e-10 * UNBOUNDED:
        return f"nothing limits the speed at {_place(s, int(np.argmax(found.x)))}; give velocity=..., or limits of more joints"
    return ""


def _none(interval: Array) -> Array:
    """Where no x is left: (P,)."""
    with np.errstate(invalid="ignore"):  # behind a point without any there is nothing that counts
        return interval[:, 0] > interval[:, 1] + ROUNDING * np.maximum(1.0, np.abs(interval[:, 1]))


def _beyond(at: Terms) -> Array:
    """By how much the forces that hold the robot exceed their limits, (P, m)."""
    held = at.c + at.after
    return np.maximum(held - at.hi, at.lo - held)


def _place(s: Array, k: int) -> str:
    return f"s = {s[k]:.6g} of {s[-1]:.6g}"


def _reason(robot: Model, at: Terms, k: int, pair: tuple[int, int]) -> str:
    """The joint that cannot even hold the robot there, else the two rows that exclude each other."""
    held, excess = at.c[k] + at.after[k], _beyond(at)[k]
    worst = int(np.argmax(excess))
    if excess[worst] > 0:
        limit = (at.hi if held[worst] > at.hi[worst] else at.lo)[worst] * at.scale[worst]
        unit = robot.joints[at.kinds[worst][1]].force_unit
        needed = f"{held[worst] * at.scale[worst]:.4g} {unit}"
        return f"joint {_joint(robot, at, worst)} needs {needed} to hold the robot there, and its limit is {limit:.4g} {unit}"
    first, second = (f"the {at.kinds[i][0]} limit of joint {_joint(robot, at, i)}" for i in (x % len(at.kinds) for x in pair))
    return f"{first} leaves no speed there" if first == second else f"{first} and {second} leave no speed there"


def _joint(robot: Model, at: Terms, row: int) -> str:
    return repr(robot.joint_names[at.kinds[row][1]])


def _pair(rows: Rows, k: int, s: Array | None = None, found: Profile | None = None) -> tuple[int, int]:
    """The rows from which the greatest lower and the smallest upper bound of x at point k come."""
    a, b, lo, hi = (x[k] for x in rows)
    if found is not None and s is not None and k + 1 < len(s):  # beside the next point's interval
        low, high = found.reachable[k + 1]
        a, b, lo, hi = (np.append(x, y) for x, y in zip((a, b, lo, hi), (2 * (s[k + 1] - s[k]), 1.0, low, high), strict=True))
    with np.errstate(all="ignore"):
        A, right = np.outer(b, a) - np.outer(a, b), np.outer(hi, a) - np.outer(a, lo)
        bound = right / A
    upper, lower = np.where(A > 0, bound, np.inf), np.where(A < 0, bound, -np.inf)
    m = rows.a.shape[1]
    pairs = (np.unravel_index(np.argmin(upper), upper.shape), np.unravel_index(np.argmax(lower), lower.shape))
    first, second = (next((int(i) for i in pair if i < m), 0) for pair in pairs)
    return first, second
