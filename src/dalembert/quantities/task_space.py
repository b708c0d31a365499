"""The equations of motion of a link's twist: Park and Lynch, section 9.6, with (9.95) corrected (E-P9).

Lambda(q) V' + eta(q, qd) + gravity(q) = F   with   tau = J^T F, and for redundant arms Khatib's dynamically consistent inverse.

J stands for the chosen rows of `jacobian`. Lambda = (J M^-1 J^T)^-1 exists where they are independent: not with more rows than
joints, nor at a singularity. There `damping` d makes it (J M^-1 J^T + d^2 1)^-1, which is no longer exact. The diagonal of
J M^-1 J^T is in 1/(kg m^2) for angular rows and 1/kg for linear ones, d in the roots of these.
"""

import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import listed
from dalembert.errors import Error, SingularWarning, brief, unknown
from dalembert.formulations import formulation
from dalembert.linalg import Factors, SingularError, inverse, is_number, udu, unit_upper_solve, unit_upper_transposed_solve
from dalembert.model.edit import tip
from dalembert.model.model import Model
from dalembert.quantities import chain
from dalembert.quantities.dynamics import inverse_mass_matrix
from dalembert.quantities.kinematics import POINT, jacobian, recorded
from dalembert.quantities.quantity import evaluate
from dalembert.quantities.singular import check_regular, regular, weak_joints, without_inertia
from dalembert.quantities.table import QD, Q, Quantity, pivots, register
from dalembert.spatial import (
    Ad_matrix,
    Array,
    Transform,
    above,
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

ROWS = ("wx", "wy", "wz", "vx", "vy", "vz")
LEAST = 1e-10  # of what a row would have without the others: nearer a singularity fewer than six digits are left
_METHOD = "composite_body"
_OPTIONS: dict[str, Any] = {"link": None, "frame": "body", "rows": tuple(range(6))}


def _independent(i: int, D: Any, size: Any, later: Any) -> Any:
    """The pivots of J M^-1 J^T: NaN where a row depends on those after it, judged in that row's own units."""
    if is_number(D) and not D > 0:
        raise SingularError(i)
    share = D / size
    return D + (above(share, LEAST, np.nan) - share)  # exactly D, or NaN


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
        found = stack([unit_upper_transposed_solve(U, y * (1 / D)) for y in self.Y]) @ self.core
        return found if self.shift is None else found @ self.shift


def _task(model: Model, q: Any, point: Any, damping: Any, link: str | None, frame: str, rows: tuple[int, ...]) -> _Task:
    frame, shift = _nearby(model, q, point, link, frame, rows) if damping is None else (frame, None)
    k = len(rows)
    J = chain.jacobian(model, q, point, link=link, frame=frame)[..., rows, :]
    joints = udu(formulation("mass_matrix", "composite_body")(model.reduced_tree, q), pivots(model))
    Y = [unit_upper_solve(joints.U, J[..., i, :]) for i in range(k)]
    weighted = [y * (1 / joints.D) for y in Y]
    A = {(i, j): dot(Y[i], weighted[j]) for i in range(k) for j in range(i, k)}
    A |= {(i, i): A[i, i] + (0 if damping is None else damping * damping) for i in range(k)}
    try:
        factors = udu(matrix(A, k), _independent)
    except SingularError as singular:
        raise Error(
            f"row {ROWS[rows[singular.index]]} of the {frame} Jacobian of {_named(model, link)} is zero, or depends on the rows "
            f"after it, whatever the state of {model.name}; leave it out (rows=...), or give damping=..."
        ) from None
    return _Task(joints, Y, inverse(factors), shift)


def _nearby(model: Model, q: Any, point: Any, link: str | None, frame: str, rows: tuple[int, ...]) -> tuple[str, Any]:
    """A frame to compute in, and its V from the wanted one: six rows at the world's origin are computed at the point instead.

    From afar, turning is nearly the same as moving, which costs digits.
    """
    if frame != "world" or len(rows) < 6:
        return frame, None
    p = chain.position(model, q, point, link=link)
    moved = Ad_matrix(Transform(np.eye(3, dtype=int), -p))
    return "world_aligned", moved[..., rows, :][..., :, rows]


def _inertia(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows, rows)."""
    return _task(model, q, point, damping, **options).inertia()


def _bias(model: Model, q: Any, qd: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows)."""
    task = _task(model, q, point, damping, **options)
    still = model.reduced_tree._replace(gravity=zeros(3))
    c = formulation("inverse_dynamics", "newton_euler")(still, q, qd, zeros(model.n))
    return task.force(c, _rate(model, q, qd, point, moved=task.shift is not None, **options))


def _rate(model: Model, q: Any, qd: Any, point: Any, moved: bool, link: str | None, frame: str, rows: tuple[int, ...]) -> Array:
    """J' qd (..., rows). `moved` is from the world's origin to the point p, as in `_nearby`.

    At the origin V = (w, v + p x w) with v the velocity of p, and its rate moved to p is (w', v' + v x w): p itself is gone.
    """
    frame = "world_aligned" if moved else frame
    rate = np.matvec(chain.jacobian_rate(model, q, qd, point, link=link, frame=frame), qd)
    if moved:
        w, v = split(chain.twist(model, q, qd, point, link=link, frame=frame))
        rate = rate + join(zeros(3), cross(v, w))
    return rate[..., rows]


def _gravity(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., rows)."""
    g = formulation("inverse_dynamics", "newton_euler")(model.reduced_tree, q, zeros(model.n), zeros(model.n))
    return _task(model, q, point, damping, **options).force(g)


def _consistent_inverse(model: Model, q: Any, point: Any = None, damping: Any = None, **options: Any) -> Array:
    """(..., n, rows)."""
    return _task(model, q, point, damping, **options).consistent_inverse()


def _rows(n: int, options: Mapping[str, Any]) -> int:
    """How many rows of the twist a task has."""
    return len(options["rows"])


def _register(name: str, function: Callable[..., Any], inputs: Any, shape: tuple[Any, ...]) -> None:
    made = recorded(name, function)

    def derived(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Any:
        link, rows = options["link"], row_indices(options["rows"])
        moving = len(model.tree.path(chain.carrier(model, link)[0]))
        if not model.n or (moving < len(rows) and "damping" not in optional):
            raise Error(
                f"{name}: of the joints of {model.name}, {moving} can move {_named(model, link)}, too few for {len(rows)} "
                f"independent velocities; choose rows=... of {', '.join(ROWS)}, or give damping=..."
            )
        try:
            return made(model, method, optional, {**options, "rows": rows})
        except SingularError as singular:
            raise without_inertia(model, name, singular.index) from None

    optional = {**POINT, "damping": ()}
    register(name, Quantity(inputs, {name: shape}, _METHOD, optional, derived=derived, methods=(_METHOD,), options=_OPTIONS))


_register("task_inertia", _inertia, Q, (_rows, _rows))
_register("task_bias", _bias, Q | QD, (_rows,))
_register("task_gravity", _gravity, Q, (_rows,))
_register("dynamically_consistent_inverse", _consistent_inverse, Q, ("n", _rows))


def task_inertia(
    robot: Model,
    q: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    rows: Any = ROWS,
    point: Any = None,
    damping: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """Lambda = (J M^-1 J^T)^-1, the inertia that a hand pushing the link feels. Signature (n)->(k,k), k rows.

    J is `jacobian(q, link, frame, point=point)[rows]`; Lambda depends on that choice. Rotors (armature) count.

    rows: which of wx, wy, wz, vx, vy, vz, by name or index (0 to 5); default all six. Without damping no more
    than there are joints that move the link.
    damping: (...) a number d for (J M^-1 J^T + d^2 1)^-1, in 1/sqrt(kg m^2) on angular rows and 1/sqrt(kg) on linear ones.

    At a singularity one state raises an error and a batch gives NaN there with a `SingularWarning`, unless damped enough.

    >>> import dalembert as da
    >>> da.robot("two_link").task_inertia([0.0, 1.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [[0.608189, 0.535077], [0.535077, 1.333333]]
    """
    return _evaluated(robot, "task_inertia", {"q": q}, link, frame, rows, point, damping, backend, out)


def task_bias(
    robot: Model,
    q: Any,
    qd: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    rows: Any = ROWS,
    point: Any = None,
    damping: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """eta of Lambda V' + eta + gravity = F: Lambda (J M^-1 c - J' qd), c the Coriolis force. Signature (n),(n)->(k).

    V' is the rate of the twist's components in the chosen frame. Gravity and friction are left out. The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> da.robot("two_link").task_bias([0.0, 1.0], [1.0, 0.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [0.616895, 1.525406]
    """
    return _evaluated(robot, "task_bias", {"q": q, "qd": qd}, link, frame, rows, point, damping, backend, out)


def task_gravity(
    robot: Model,
    q: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    rows: Any = ROWS,
    point: Any = None,
    damping: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """Lambda J M^-1 g, what gravity asks of F; J^-T g where J is square. Signature (n)->(k). The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> da.robot("two_link").task_gravity([0.0, 1.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [6.296489, 14.7093]
    """
    return _evaluated(robot, "task_gravity", {"q": q}, link, frame, rows, point, damping, backend, out)


def dynamically_consistent_inverse(
    robot: Model,
    q: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    rows: Any = ROWS,
    point: Any = None,
    damping: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """Jbar = M^-1 J^T Lambda, the inverse of J that takes the least kinetic energy. Signature (n)->(n,k).

    J Jbar = 1 without damping, and joint forces (1 - J^T Jbar^T) tau do not accelerate the link. The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> arm, q = da.robot("planar_3r"), [0.1, 0.5, 0.9]
    >>> J, Jbar = arm.jacobian(q)[3:5], arm.dynamically_consistent_inverse(q, rows=("vx", "vy"))
    >>> abs(J @ Jbar).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _evaluated(robot, "dynamically_consistent_inverse", {"q": q}, link, frame, rows, point, damping, backend, out)


def row_indices(rows: Any) -> tuple[int, ...]:
    """Rows of a twist by name or index, as indices."""
    found: list[int] = []
    if isinstance(rows, str):
        raise Error(f"rows must be a tuple such as ('vx', 'vy'), got {brief(rows)}")
    for row in (rows := listed(rows, "rows")):
        if isinstance(row, str) and row in ROWS:
            found.append(ROWS.index(row))
        elif isinstance(row, int | np.integer) and 0 <= row < 6:
            found.append(operator.index(row))
        else:
            raise unknown("row of a twist (or its index, 0 to 5):", row, ROWS)
    if not found or len(set(found)) < len(found):
        raise Error(f"rows must be one or more different rows of {', '.join(ROWS)}, got {brief(tuple(rows))}")
    return tuple(found)


# --- singularities ------------------------------------------------------------------------------------------------------


def _evaluated(
    robot: Model,
    quantity: str,
    given: dict[str, Any],
    link: str | None,
    frame: str,
    rows: Any,
    point: Any,
    damping: Any,
    backend: str,
    out: Any,
) -> Array:
    chain.carrier(robot, link)
    chain.check_frame(frame)
    chosen = row_indices(rows)
    given = {**given, "point": point, "damping": damping}
    if out is not None:
        given["q"] = np.array(given["q"])  # looked at afterwards: a result written over it must not matter
    found = evaluate(robot, quantity, _METHOD, given, backend, out, link=link, frame=frame, rows=chosen)
    if not regular(found):
        batch = found.shape[: found.ndim - (1 if quantity in ("task_bias", "task_gravity") else 2)]
        q = np.broadcast_to(np.real(np.asarray(given["q"])), (*batch, robot.n))
        check_regular(robot, quantity, _METHOD, (found,), q, batch)
        _check_independent(robot, quantity, q, link, _conditions(robot, q, link, frame, chosen, point, damping))
    return found


def _check_independent(robot: Model, quantity: str, q: Array, link: str | None, conditions: Array) -> None:
    """Raise for one state, warn for a batch, where the rows depend on each other."""
    singular = conditions > 0.5 / LEAST
    if not singular.any():
        return
    state, count = int(np.argmax(singular)), int(singular.sum())
    about = f"{quantity}: J M^-1 J^T of {_named(robot, link)} of {robot.name} is singular"
    shown = np.array2string(q.reshape(-1, robot.n)[state], precision=6, separator=", ")
    where = (
        f"condition number {conditions[state]:.2g} at q = {shown}; leave out rows that the link cannot follow there (rows=...)"
        ", or give (more) damping=..."
    )
    if q.ndim == 1:
        raise Error(f"{about}: {where}")
    many = f"{about} at {count} of {singular.size} states, the result is NaN there; the first is state {state}, {where}"
    warnings.warn(many, SingularWarning, stacklevel=4)


def _named(robot: Model, link: str | None) -> str:
    return repr(tip(robot) if link is None else link)


def _conditions(robot: Model, q: Array, link: str | None, frame: str, rows: tuple[int, ...], point: Any, damping: Any) -> Array:
    """The condition number of J M^-1 J^T (+ damping^2) at each state, every row in units that make its diagonal 1.

    0 where inputs are not finite or the mass matrix is singular, inf where a row is zero.
    """
    flat = q.reshape(-1, robot.n)
    damping = damping if damping is None else np.clip(np.real(damping), -1e100, 1e100)  # squares stay finite
    offset = np.broadcast_to(0.0 if point is None else np.real(np.asarray(point)), (*q.shape[:-1], 3)).reshape(-1, 3)
    extra = np.broadcast_to(0.0 if damping is None else np.real(np.asarray(damping)) ** 2, q.shape[:-1]).reshape(-1)
    known = np.isfinite(flat).all(axis=-1) & np.isfinite(offset).all(axis=-1) & np.isfinite(extra)
    known[known] = weak_joints(robot, flat[known], rotors=True) < 0
    if frame == "world" and len(rows) == 6 and damping is None:
        frame = "world_aligned"  # as in _nearby
    J = jacobian(robot, flat[known], link, frame, point=offset[known])[..., rows, :]
    A = J @ inverse_mass_matrix(robot, flat[known]) @ np.swapaxes(J, -1, -2) + extra[known][:, None, None] * np.eye(len(rows))
    size = np.sqrt(np.diagonal(A, axis1=-2, axis2=-1))
    zero = (size == 0).any(axis=-1)
    size = np.where(size == 0, 1.0, size)
    found = np.zeros(len(flat))
    found[known] = np.where(zero, np.inf, np.linalg.cond(A / (size[..., :, None] * size[..., None, :])))
    return found
