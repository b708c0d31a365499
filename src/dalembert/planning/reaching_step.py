"""One step towards a pose, as one program: Levenberg-Marquardt with limits.

    r   = 2 sin(theta/2) u and (target - p) / length: what is left of the rotation, by its axis u and angle theta, and of the way
    A   = -dr/dq, from the Jacobian;  cost = r . r
    x   = x0 + the x that makes |A x - (r - A x0)|^2 + d |x|^2 least,   d = damping cost + LEAST
    q'  = q + x, cut to the limits

2 sin(theta/2) u is twice the vector part of a quaternion: it grows with theta up to half a turn, needs no arc cosine, and its
derivative is exact. Damping in proportion to the cost makes the steps short far away and quadratically convergent near the target
(T. Sugihara, IEEE Transactions on Robotics 27, 2011). A joint at a limit that would be pushed outward is held in this step. x0
pulls towards a posture; what it does to the hand is taken back, so it moves the arm only where there is freedom left.
"""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import solve, udu
from dalembert.algebra.scalars import sqrt, where
from dalembert.algebra.spatial import Array, dot, rotate_back, skew, stack
from dalembert.derived import kinematics
from dalembert.derived.charts import spread_positions
from dalembert.derived.make import Body, Make
from dalembert.engine.quantity import Quantity, Values
from dalembert.model.model import Model

LEAST = 1e-14
LONGEST = 0.5  # rad and m, of a pull towards a posture in one step
ANGULAR = 3  # the first rows of a twist


def quaternion(R: Any) -> Array:
    """(w, x, y, z) of a rotation of traced scalars, w not negative: from the largest row of 4 q q^T, so at half turns, too."""
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    sizes = 1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z
    rows = (sizes[0], a, b, c), (a, sizes[1], xy, xz), (b, xy, sizes[2], yz), (c, xz, yz, sizes[3])
    found = [stack([size, *row]) for size, row in zip(sizes, rows, strict=True)]
    while len(found) > 1:
        found = [where(p[0] - q[0], p, q) for p, q in zip(found[::2], found[1::2], strict=True)]
    size, *row = found[0]
    turned = stack(row) * (0.5 / sqrt(size))
    return turned * where(turned[0], 1, -1)


def _left(model: Model, q: Any, target: Any, link: str | None, frame: str) -> tuple[Array, Array]:
    """What is left to go, (6,), rotation first, and A = -(its derivative by q), (6, n)."""
    tree, at = model.open, spread_positions(model, q)
    R, p = kinematics.pose(tree, at, link=link)[:3, :3], kinematics.position(tree, at, link=link)
    J = kinematics.jacobian(tree, at, link=link, frame=frame)
    J = J if model.coupling is None else model.coupling.pulled_back(J, -1)
    W, V = J[:ANGULAR], J[ANGULAR:]
    goal, way = target[:3, :3], target[:3, 3] - p
    body = frame == "body"
    w, *v = quaternion(R.T @ goal if body else goal @ R.T)
    v = stack(v)
    turn = w * np.eye(3, dtype=int) + (-1 if body else 1) * skew(v)
    if body:
        way = rotate_back(R, way)
        V = V - skew(way) @ W
    return np.concatenate([2 * v, way]), np.concatenate([turn @ W, V])


def _damped(A: Any, r: Any, d: Any) -> Array:
    """x that makes |A x - r|^2 + d |x|^2 least, by the smaller of the two normal equations."""
    rows, n = A.shape
    if n < rows:
        return solve(udu(A.T @ A + d * np.eye(n, dtype=int)), A.T @ r)
    return A.T @ solve(udu(A @ A.T + d * np.eye(rows, dtype=int)), r)


def _pulled(q: Any, posture: Any, pull: Any) -> Array:
    """A share of the way to a posture, no longer than `LONGEST`."""
    x = pull[()] * (posture - q)
    square = dot(x, x)
    return x * where(square - LONGEST**2, LONGEST / sqrt(where(square, square, 1)), 1)


def _step(
    model: Model, make: Make, method: str, optional: tuple[str, ...], *, link: str | None, frame: str, rows: tuple[int, ...]
) -> Body:
    chosen = list(rows)
    turning = [row < ANGULAR for row in rows]

    def body(q: Any, best_q: Any, best: Any, target: Any, damping: Any, lower: Any, upper: Any, length: Any, **more: Any) -> Any:
        left, A = _left(model, q, target, link, frame)
        left, A = left[chosen], A[chosen]
        scale = stack([1 if turns else 1 / length[()] for turns in turning])
        r, A = scale * left, A * scale[:, None]
        cost = dot(r, r)
        apart = stack([sum((x * x for x, turns in zip(left, turning, strict=True) if turns == kind), 0) for kind in (True, False)])
        nearer = best[0] + best[1] / (length[()] * length[()]) - cost
        best_q, best = where(nearer, q, best_q), where(nearer, apart, best)

        d = damping[()] * cost + LEAST
        x0 = _pulled(q, **more) if more else 0 * q
        push = x0 + _damped(A, r - A @ x0, d) if more else A.T @ r
        free = where(q - lower, 1, where(push, 1, 0)) * where(upper - q, 1, where(-push, 1, 0))
        A, x0 = A * free, x0 * free
        new = q + x0 + _damped(A, r - A @ x0, d)
        new = where(new - upper, upper, where(lower - new, lower, new))
        return new, best_q, best

    return body


_Q, _N, _APART = Values(("q",), "rad or m"), Values(("n",), "rad or m"), Values((2,), "rad^2, m^2")
STATE = {"q": _Q, "best_q": _Q, "best": _APART}
POSTURE = {"posture": _Q, "pull": Values((), "1")}
STEP = Quantity(
    "reaching_step",
    "One step of inverse kinematics.",
    {
        **STATE,
        "target": Values((4, 4), "1, m"),
        "damping": Values((), "1"),
        "lower": _N,
        "upper": _N,
        "length": Values((), "m/rad"),
    },
    {f"new_{name}": values for name, values in STATE.items()},
    "levenberg_marquardt",
    optional=POSTURE,
    options={"link": None, "frame": "world_aligned", "rows": (0, 1, 2, 3, 4, 5)},
    recipe=_step,
    recipes=("levenberg_marquardt",),
    orders={"levenberg_marquardt": 2},
    coupled=_step,
    coupled_methods=("levenberg_marquardt",),
    charted=True,
)
