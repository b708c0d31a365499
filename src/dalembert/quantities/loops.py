"""Robots with closed loops: making them, closing them, and what holds them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, several
from dalembert.derived import closed
from dalembert.derived.closed import ClosedDynamics, ClosedMotion
from dalembert.derived.closing import CLOSED, gaps, independent_joints, made, settled
from dalembert.engine.evaluation import asked, computed, joint_vector
from dalembert.engine.names import Backend, Out, Result
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import OUTSIDE, QD, QDD, STATE, TAU, Q
from dalembert.errors import Error, SingularWarning, warn
from dalembert.model.loop import Loop
from dalembert.model.model import Model
from dalembert.model.wrench import Wrench

M = TypeVar("M", bound=Model)


def _of_loops(name: str, about: str, inputs: Any, outputs: Any, recipe: Any, **more: Any) -> Quantity:
    by = ("loops",)
    return Quantity(
        name, about, inputs, outputs, "loops", "loops", recipe=recipe, recipes=by, coupled=recipe, coupled_methods=by,
        of_loops=True, divides=True, **more,
    )  # fmt: skip


GAP = _of_loops("loop_gap", "phi(q) of the loops.", Q, {"gap": Values(("closures",), "m or rad")}, closed.loop_gap)
JACOBIAN = _of_loops(
    "loop_jacobian", "J = dphi/dq.", Q, {"J": Values(("closures", "motion"), "m or rad per q")}, closed.loop_jacobian
)
INDEPENDENT = _of_loops(
    "independent_jacobian", "G = dq/dy.", Q, {"G": Values(("motion", "independent"), "q/y")}, closed.independent_jacobian
)
MOTION = _of_loops("closed_motion", "qd, qdd of all joints.", STATE, QD | QDD, closed.closed_motion, result=ClosedMotion)
DYNAMICS = _of_loops(
    "constraint_dynamics", "qdd and multipliers.", Q | QD | TAU, QDD | {"multipliers": Values(("closures",), "N or N m")},
    closed.constraint_dynamics, result=ClosedDynamics, optional=OUTSIDE,
)  # fmt: skip


def with_loop(
    robot: M,
    frame_a: str = "",
    frame_b: str = "",
    kind: str | Callable[[Any], Any] = "point",
    *,
    independent: Any = None,
    near: ArrayLike | None = None,
) -> M:
    """The same robot with two frames (or links) that stay together: a closed loop.

    kind: "point" (the origins meet, as in a ball joint), "revolute" (z of both is one axis, too), "weld" (one frame), or a function
        of q, an array of n scalars, that returns equations (m,) which are zero; such a loop has no frames.
    independent: the joints that move the others; found where it is not given (see `with_independent`).
    near: a position (n,) at which the loops are nearly closed, where random ones do not lead there.

    Equations that follow from others where the loop is closed, such as those across the plane of a planar mechanism, are left out:
    `robot.loops[-1].rows` are those that count. Arrays keep all n joints; `settle` closes the loop from a guess.

    >>> import dalembert as da
    >>> arm = da.robot("planar_3r").with_loop("link3", "base")
    >>> arm, arm.loops[0].rows
    (<Robot 'planar_3r': 3 joints RRR, 1 loop>, (0, 1))
    """
    by_function = callable(kind)
    loop = Loop(frame_a, frame_b, kind, (0,) if by_function else None)
    loop.check(robot)
    if near is not None:
        near = joint_vector(robot, "with_loop", "near", near)
        if near.shape != (robot.n,):
            raise Error(f"with_loop: near must be one position ({robot.n},), got shape {near.shape}")
    found = made(robot, loop, near)
    if independent is not None:
        return with_independent(found, *several(independent, "independent"))
    kept = [name for name in robot.independent if name in found.joint_names]
    return replace(found, independent=tuple(kept)) if kept and len(kept) == found.n - found.closures else found


def without_loops(robot: M) -> M:
    """The same robot with its loops open.

    >>> import dalembert as da
    >>> da.robot("four_bar").without_loops()
    <Robot 'four_bar': 3 joints RRR>
    """
    return robot.cut if robot.loops else robot


def with_independent(robot: M, *joints: str) -> M:
    """The same robot with these joints as the independent ones, which the others follow through the loops.

    They are the rows and columns of mass matrix, derivatives and linearization, and where the forces of inverse dynamics stand.

    >>> import dalembert as da
    >>> da.robot("four_bar").with_independent("rocker").mass_matrix([0.0, 0.0, 0.0]).shape
    (1, 1)
    """
    _closed(robot, "with_independent")
    return replace(robot, independent=joints)


def independent_names(robot: Model) -> tuple[str, ...]:
    """The joints that move the others: those chosen, or found; without loops all of them.

    >>> import dalembert as da
    >>> da.robot("delta").independent_names()
    ('motor1', 'motor2', 'motor3')
    """
    return tuple(robot.joint_names[i] for i in independent_joints(robot)) if robot.loops else robot.joint_names


def settle(robot: Model, q: ArrayLike, *, hold: Any = ()) -> Array:
    """Positions (..., n) near a guess at which all loops are closed, to the last digits.

    hold: joints that stay where they are, such as the independent ones. Steps are the smallest that close the loops (Newton's
    method with Levenberg's damping). Where the loops stay open an error tells by how much; in a batch the result is NaN there,
    with a `SingularWarning`.

    >>> import dalembert as da
    >>> bar = da.robot("four_bar")
    >>> q = bar.settle([0.5, 0.0, 0.0], hold="crank")
    >>> float(q[0]), bool(abs(bar.loop_gap(q)).max() < 1e-15)
    (0.5, True)
    """
    _closed(robot, "settle")
    guess = joint_vector(robot, "settle", "q", q)
    if guess.dtype.kind == "c":
        raise Error("settle: q must be real")
    held = [robot.joint_names.index(choice(name, f"joint of {robot.name}:", robot.joint_names)) for name in several(hold, "hold")]
    found = settled(robot, guess, held)
    left = gaps(robot, found)
    stuck = ~(left < CLOSED)
    if stuck.any():
        where = f"the loops of {robot.name} stay open by {float(np.fmin.reduce(left[stuck])):.3g} (m or rad)"
        advice = "start nearer" + (", or hold fewer joints" if held else "")
        if found.ndim == 1:
            raise Error(f"settle: {where} from q = {np.array2string(guess, precision=4, separator=', ')}; {advice}")
        warn(f"settle: {where} or more at {int(stuck.sum())} of {stuck.size} states, which are NaN; {advice}", SingularWarning)
        found[stuck] = np.nan
    return found


def _closed(robot: Model, function: str) -> None:
    if not robot.loops:
        raise Error(f"{function}: {robot.name} has no loops; with_loop(frame_a, frame_b) closes one")


@computed
def loop_gap(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """How far the loops are open: the equations phi(q) that count, 0 where they are closed. Signature (n)->(m).

    Those of each loop in order, m or rad, as told at `Loop`.
    """
    _closed(robot, "loop_gap")
    return asked(robot, GAP, {"q": q}, backend=backend, out=out)


@computed
def loop_jacobian(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """J = dphi/dq of the loops' equations; motions that keep them closed have J qd = 0. Signature (n)->(m,n)."""
    _closed(robot, "loop_jacobian")
    return asked(robot, JACOBIAN, {"q": q}, backend=backend, out=out)


@computed
def independent_jacobian(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """G = dq/dy: how all joints follow the independent ones, qd = G yd. Signature (n)->(n,k)."""
    _closed(robot, "independent_jacobian")
    return asked(robot, INDEPENDENT, {"q": q}, backend=backend, out=out)


@computed
def closed_motion(
    robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, backend: Backend = "auto", out: tuple[Array, ...] | None = None
) -> ClosedMotion:
    """Velocities and accelerations of all joints that go with those of the independent ones. Signature (n),(n),(n)->(n),(n).

    Of qd and qdd only the entries of independent joints are read.

    >>> import dalembert as da
    >>> bar = da.robot("four_bar")
    >>> qd = bar.closed_motion([0.0] * 3, [1.0, 0.0, 0.0], [0.0] * 3).qd
    >>> bool(abs(bar.loop_jacobian([0.0] * 3) @ qd).max() < 1e-14)
    True
    """
    _closed(robot, "closed_motion")
    return asked(robot, MOTION, {"q": q, "qd": qd, "qdd": qdd}, backend=backend, out=out)


@computed
def constraint_dynamics(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    backend: Backend = "auto",
    out: tuple[Array, ...] | None = None,
) -> ClosedDynamics:
    """Accelerations under given forces, and the forces in the loops. Signature (n),(n),(n)->(n),(m).

    M qdd + C qd + g + friction = tau + J^T multipliers, J qdd + J' qd = 0.

    q and qd keep the loops closed, tau are the forces of all n joints. The multipliers of a loop are what acts ON frame_a, and
    reversed on frame_b, moment first, in the axes told at `Loop`. A position at which the loops lose a direction raises an error;
    in a batch the result is NaN there, with a `SingularWarning`.

    >>> import dalembert as da
    >>> bar = da.robot("four_bar")
    >>> qdd, force = bar.constraint_dynamics([0.0] * 3, [0.0] * 3, [0.0] * 3)
    >>> qdd.shape, force.shape
    ((3,), (2,))
    """
    _closed(robot, "constraint_dynamics")
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    return asked(robot, DYNAMICS, {"q": q, "qd": qd, "tau": tau, **outside}, backend=backend, out=out)
