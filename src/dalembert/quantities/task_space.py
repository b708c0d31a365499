"""The equations of motion of a link's twist: Park and Lynch, section 9.6, with (9.95) corrected (E-P9).

Lambda(q) V' + eta(q, qd) + gravity(q) = F   with   tau = J^T F, and for redundant arms Khatib's dynamically consistent inverse.

J stands for the chosen rows of `jacobian`. Lambda = (J M^-1 J^T)^-1 exists where they are independent: not with more rows than
joints, nor at a singularity. There `damping` d makes it (J M^-1 J^T + d^2 1)^-1, which is no longer exact. The diagonal of
J M^-1 J^T is in 1/(kg m^2) for angular rows and 1/kg for linear ones, d in the roots of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.derived.kinematics import carrier, check_frame
from dalembert.derived.task_space import LEAST, ROWS, named, row_indices
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, Out, Result, TwistFrame
from dalembert.engine.registry import quantity_named
from dalembert.engine.singular import check_regular, weak_joints
from dalembert.errors import Error, SingularWarning, warn
from dalembert.model.model import Model
from dalembert.quantities.dynamics import inverse_mass_matrix
from dalembert.quantities.kinematics import jacobian


@computed
def task_inertia(
    robot: Model,
    q: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    rows: Sequence[str | int] = ROWS,
    point: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Lambda = (J M^-1 J^T)^-1, the apparent inertia of the link in task space. Signature (n)->(k,k), k rows.

    Where J is square it is J^-T M J^-1, Park and Lynch (9.98). J is `jacobian(q, link, frame, point=point)[rows]`; Lambda depends
    on that choice. Rotors (armature) count.

    rows: which of wx, wy, wz, vx, vy, vz, by name or index (0 to 5); default all six. Without damping no more
    than there are joints that move the link.
    damping: (...) a number d for (J M^-1 J^T + d^2 1)^-1, in 1/sqrt(kg m^2) on angular rows and 1/sqrt(kg) on linear ones.

    At a singularity one state raises an error and a batch gives NaN there with a `SingularWarning`, unless damped enough.

    >>> import dalembert as da
    >>> da.robot("two_link").task_inertia([0.0, 1.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [[0.608189, 0.535077], [0.535077, 1.333333]]
    """
    return _asked(robot, "task_inertia", {"q": q}, link, frame, rows, point, damping, backend, out)


@computed
def task_bias(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    rows: Sequence[str | int] = ROWS,
    point: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """eta of Lambda V' + eta + gravity = F: Lambda (J M^-1 c - J' qd), c the Coriolis force. Signature (n),(n)->(k).

    Park and Lynch (9.97), (9.99). V' is the rate of the twist's components in the chosen frame. Gravity and friction are left
    out. The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> da.robot("two_link").task_bias([0.0, 1.0], [1.0, 0.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [0.616895, 1.525406]
    """
    return _asked(robot, "task_bias", {"q": q, "qd": qd}, link, frame, rows, point, damping, backend, out)


@computed
def task_gravity(
    robot: Model,
    q: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    rows: Sequence[str | int] = ROWS,
    point: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Lambda J M^-1 g, the gravity term of F; J^-T g where J is square. Signature (n)->(k). The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> da.robot("two_link").task_gravity([0.0, 1.0], frame="world_aligned", rows=("vx", "vy")).round(6).tolist()
    [6.296489, 14.7093]
    """
    return _asked(robot, "task_gravity", {"q": q}, link, frame, rows, point, damping, backend, out)


@computed
def dynamically_consistent_inverse(
    robot: Model,
    q: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    rows: Sequence[str | int] = ROWS,
    point: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Jbar = M^-1 J^T Lambda, the inverse of J with the least kinetic energy. Signature (n)->(n,k).

    J Jbar = 1 without damping, and joint forces (1 - J^T Jbar^T) tau do not accelerate the link. The rest as in `task_inertia`.

    >>> import dalembert as da
    >>> arm, q = da.robot("planar_3r"), [0.1, 0.5, 0.9]
    >>> J, Jbar = arm.jacobian(q)[3:5], arm.dynamically_consistent_inverse(q, rows=("vx", "vy"))
    >>> abs(J @ Jbar).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _asked(robot, "dynamically_consistent_inverse", {"q": q}, link, frame, rows, point, damping, backend, out)


# --- singularities ------------------------------------------------------------------------------------------------------


def _asked(
    robot: Model,
    quantity: str,
    given: dict[str, Any],
    link: str | None,
    frame: TwistFrame,
    rows: Any,
    point: Any,
    damping: Any,
    backend: str,
    out: Any,
) -> Any:
    carrier(robot, link)
    check_frame(frame)
    chosen, described = row_indices(rows), quantity_named(quantity)

    def guard(result: Array, q: Array, batch: tuple[int, ...]) -> None:
        q = np.broadcast_to(np.real(q), (*batch, robot.nq))
        check_regular(robot, described, described.method, (result,), (q,), batch)
        _check_independent(robot, quantity, q, link, _conditions(robot, q, link, frame, chosen, point, damping))

    given = {**given, "point": point, "damping": damping}
    return asked(robot, described, given, backend=backend, out=out, guard=guard, link=link, frame=frame, rows=chosen)


def _check_independent(robot: Model, quantity: str, q: Array, link: str | None, conditions: Array) -> None:
    """Raise for one state, warn for a batch, where the rows depend on each other."""
    singular = conditions > 0.5 / LEAST
    if not singular.any():
        return
    state, count = int(np.argmax(singular)), int(singular.sum())
    about = f"{quantity}: J M^-1 J^T of {named(robot, link)} of {robot.name} is singular"
    shown = np.array2string(q.reshape(-1, robot.nq)[state], precision=6, separator=", ")
    where = (
        f"condition number {conditions[state]:.2g} at q = {shown}; leave out rows that the link cannot follow there (rows=...)"
        ", or give (more) damping=..."
    )
    if q.ndim == 1:
        raise Error(f"{about}: {where}")
    many = f"{about} at {count} of {singular.size} states, the result is NaN there; the first is state {state}, {where}"
    warn(many, SingularWarning)


def _conditions(
    robot: Model, q: Array, link: str | None, frame: TwistFrame, rows: tuple[int, ...], point: Any, damping: Any
) -> Array:
    """The condition number of J M^-1 J^T (+ damping^2) at each state, every row in units that make its diagonal 1.

    0 where inputs are not finite or the mass matrix is singular, inf where a row is zero.
    """
    flat = q.reshape(-1, robot.nq)
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
    conditions = np.zeros(len(flat))
    conditions[known] = np.where(zero, np.inf, np.linalg.cond(A / (size[..., :, None] * size[..., None, :])))
    return conditions
