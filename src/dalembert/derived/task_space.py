"""The equations of motion of a link's twist: Park and Lynch, section 9.6, with (9.95) corrected (E-P9).

Lambda(q) V' + eta(q, qd) + gravity(q) = F   with   tau = J^T F, and for redundant arms Khatib's dynamically consistent inverse.

J stands for the chosen rows of `jacobian`. Lambda = (J M^-1 J^T)^-1 exists where they are independent: not with more rows than
joints, nor at a singularity. There `damping` d makes it (J M^-1 J^T + d^2 1)^-1, which is no longer exact. The diagonal of
J M^-1 J^T is in 1/(kg m^2) for angular rows and 1/kg for linear ones, d in the roots of these.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import (
    Factors,
    SingularError,
    inverse,
    is_number,
    udu,
    unit_upper_solve,
    unit_upper_transposed_solve,
    unless_small,
)
from dalembert.algebra.spatial import (
    Ad_matrix,
    Array,
    Transform,
    cross,
    dot,
    join,
    matrix,
    rotate_back,
    split,
    stack,
    symmetric,
    zeros,
)
from dalembert.arguments import listed
from dalembert.derived import kinematics
from dalembert.derived.charts import spread_positions
from dalembert.derived.joints import coupled_inertia, pivots, tree_forces
from dalembert.derived.make import Body, Make, Recipe
from dalembert.errors import Error, brief, unknown
from dalembert.model.edit import tip
from dalembert.model.model import Model

ROWS = ("wx", "wy", "wz", "vx", "vy", "vz")
LEAST = 1e-10  # of what a row would have without the others: nearer a singularity fewer than six digits are left


def _independent(i: int, D: Any, size: Any, later: Any) -> Any:
    """The pivots of J M^-1 J^T: NaN where a row depends on those after it, judged in that row's own units."""
    if is_number(D) and not D > 0:
        raise SingularError(i)
    return unless_small(D, D / size, LEAST)


class _Task(NamedTuple):
    """The parts of which all quantities here are made; J is in a frame in which V = shift @ (the wanted twist)."""

    joints: Factors  # M = U D U^T
    Y: list[Any]  # U^-1 times each row of J, (..., n)
    core: Any  # (J M^-1 J^T)^-1
    shift: Any  # (..., rows, rows), None where both are the same

    def inertia(self) -> Array:
        """Lambda."""
        if self.shift is None:
            return self.core
        return symmetric(np.swapaxes(self.shift, -1, -2) @ self.core @ self.shift)

    def force(self, tau: Any, rate: Any = 0) -> Array:
        """Lambda (J M^-1 tau - rate), the rate of a twist in the frame of J."""
        z = unit_upper_solve(self.joints.U, tau) * (1 / self.joints.D)
        F = np.matvec(self.core, stack([dot(y, z) for y in self.Y]) - rate)
        return F if self.shift is None else rotate_back(self.shift, F)

    def consistent_inverse(self) -> Array:
        """M^-1 J^T Lambda."""
        U, D = self.joints
        inverse = stack([unit_upper_transposed_solve(U, y * (1 / D)) for y in self.Y]) @ self.core
        return inverse if self.shift is None else inverse @ self.shift


def _task(model: Model, q: Any, point: Any, damping: Any, link: str | None, frame: str, rows: tuple[int, ...]) -> _Task:
    tree, coupling = model.open, model.coupling
    at = spread_positions(model, q)
    frame, shift = _nearby(tree, at, point, link, frame, rows) if damping is None else (frame, None)
    k = len(rows)
    J = kinematics.jacobian(tree, at, point, link=link, frame=frame)[..., rows, :]
    J = J if coupling is None else coupling.pulled_back(J, -1)
    joints = udu(coupled_inertia(model, q, tree.reduced_tree), pivots(model))
    Y = [unit_upper_solve(joints.U, J[..., i, :]) for i in range(k)]
    weighted = [y * (1 / joints.D) for y in Y]
    A = {(i, j): dot(Y[i], weighted[j]) for i in range(k) for j in range(i, k)}
    A |= {(i, i): A[i, i] + (0 if damping is None else damping * damping) for i in range(k)}
    try:
        factors = udu(matrix(A, k), _independent)
    except SingularError as singular:
        raise Error(
            f"row {ROWS[rows[singular.index]]} of the {frame} Jacobian of {named(model, link)} is zero, or depends on the rows "
            f"after it, whatever the state of {model.name}; leave it out (rows=...), or give damping=..."
        ) from None
    return _Task(joints, Y, inverse(factors), shift)  # (9.98)


def _nearby(model: Model, q: Any, point: Any, link: str | None, frame: str, rows: tuple[int, ...]) -> tuple[str, Any]:
    """A frame to compute in, and its V from the wanted one: six rows at the world's origin are computed at the point instead.

    Far away, rotation is nearly translation, which costs digits.
    """
    if frame != "world" or len(rows) < 6:
        return frame, None
    p = kinematics.position(model, q, point, link=link)
    moved = Ad_matrix(Transform(np.eye(3, dtype=int), -p))
    return "world_aligned", moved[..., rows, :][..., :, rows]


def inertia(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows, rows)."""
    return _task(model, q, point, damping, **options).inertia()


def bias(model: Model, q: Any, qd: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows)."""
    task = _task(model, q, point, damping, **options)
    still = model.reduced_tree._replace(gravity=zeros(3))
    c = tree_forces(model)(still, q, qd, zeros(model.n))
    at, rates = spread_positions(model, q), qd if model.coupling is None else model.coupling.rates(qd)
    return task.force(c, _rate(model.open, at, rates, point, moved=task.shift is not None, **options))  # (9.99), eta of (9.97)


def _rate(model: Model, q: Any, qd: Any, point: Any, moved: bool, link: str | None, frame: str, rows: tuple[int, ...]) -> Array:
    """J' qd (..., rows). `moved` is from the world's origin to the point p, as in `_nearby`.

    At the origin V = (w, v + p x w) with v the velocity of p, and its rate moved to p is (w', v' + v x w): p itself is gone.
    """
    frame = "world_aligned" if moved else frame
    rate = np.matvec(kinematics.jacobian_rate(model, q, qd, point, link=link, frame=frame), qd)
    if moved:
        w, v = split(kinematics.twist(model, q, qd, point, link=link, frame=frame))
        rate = rate + join(zeros(3), cross(v, w))
    return rate[..., rows]


def gravity(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows)."""
    g = tree_forces(model)(model.reduced_tree, q, zeros(model.n), zeros(model.n))
    return _task(model, q, point, damping, **options).force(g)


def consistent_inverse(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., n, rows)."""
    return _task(model, q, point, damping, **options).consistent_inverse()


def row_count(model: Model, options: Mapping[str, Any]) -> int:
    """How many rows of the twist a task has."""
    return len(options["rows"])


def task(name: str, function: Callable[..., Array]) -> Recipe:
    """The recipe of a quantity of a task, which needs enough joints."""

    def recipe(
        model: Model, make: Make, method: str, optional: tuple[str, ...], *, link: str | None, frame: str, rows: Any
    ) -> Body:
        chosen = row_indices(rows)
        path = model.tree.path(kinematics.carrier(model, link)[0])
        moving = (
            len(path) if model.coupling is None else int(np.linalg.matrix_rank(model.coupling.matrix[list(path)])) if path else 0
        )
        if not model.n or (moving < len(chosen) and "damping" not in optional):
            raise Error(
                f"{name}: of the joints of {model.name}, {moving} can move {named(model, link)}, too few for {len(chosen)} "
                f"independent velocities; choose rows=... of {', '.join(ROWS)}, or give damping=..."
            )
        return lambda **given: function(model, **given, link=link, frame=frame, rows=chosen)

    return recipe


def row_indices(rows: Any) -> tuple[int, ...]:
    """Rows of a twist by name or index, as indices."""
    indices: list[int] = []
    if isinstance(rows, str):
        raise Error(f"rows must be a tuple such as ('vx', 'vy'), got {brief(rows)}")
    for row in (rows := listed(rows, "rows")):
        if isinstance(row, str) and row in ROWS:
            indices.append(ROWS.index(row))
        elif isinstance(row, int | np.integer) and 0 <= row < 6:
            indices.append(operator.index(row))
        else:
            raise unknown("row of a twist (or its index, 0 to 5):", row, ROWS)
    if not indices or len(set(indices)) < len(indices):
        raise Error(f"rows must be one or more different rows of {', '.join(ROWS)}, got {brief(tuple(rows))}")
    return tuple(indices)


def named(model: Model, link: str | None) -> str:
    """A link or frame for a message."""
    return repr(tip(model) if link is None else link)
