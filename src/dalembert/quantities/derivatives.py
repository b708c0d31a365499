"""Derivatives of the equations of motion with respect to the state, the forces, and the geometry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array, skew
from dalembert.arguments import choice, positive
from dalembert.derived.derivatives import ForwardDerivatives, GeometryDerivatives, Hessian, InverseDerivatives, SecondDerivatives
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, DerivativesMethod, MassMatrixMethod, Out, Result
from dalembert.errors import Error
from dalembert.model.dh import CONVENTIONS
from dalembert.model.model import Model
from dalembert.model.wrench import Wrench


class DHDerivatives(NamedTuple):
    """d tau_i / d entry of row j at [..., i, j], each (..., n, n)."""

    alpha: Array
    a: Array
    d: Array
    theta: Array


class Linearization(NamedTuple):
    """d (q, qd) / dt = A (q, qd) + B tau for small deviations, or the same from step to step."""

    A: Array  # (..., 2n, 2n)
    B: Array  # (..., 2n, n)


@computed
def inverse_dynamics_derivatives(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    method: DerivativesMethod | None = None,
    backend: Backend = "auto",
    out: tuple[Array, ...] | None = None,
) -> InverseDerivatives:
    """d tau / d q, d tau / d qd, d tau / d qdd of inverse dynamics. Signature (n),(n),(n)->(n,n),(n,n),(n,n).

    Row i of each belongs to force i. Wrenches keep their components in link axes while q changes, so they must be given there
    (frame="body", or an array). Viscous friction counts, the jump of Coulomb friction does not. method: by default
    `composite_body_world`, which has formulas for them, or the differentiated program of `newton_euler` for arms of up to seven
    joints and other shallow trees, where that is about as fast.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives([0.0, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> bool(abs(dqdd - arm.mass_matrix([0.0, 0.5])).max() < 1e-14)
    True
    """
    _check_fixed_to_links("inverse_dynamics_derivatives", wrenches)
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "qdd": qdd, **outside}
    return asked(robot, "inverse_dynamics_derivatives", given, method, backend=backend, out=out)


@computed
def forward_dynamics_derivatives(
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
) -> ForwardDerivatives:
    """d qdd / d q, d qdd / d qd, d qdd / d tau of forward dynamics. Signature (n),(n),(n)->(n,n),(n,n),(n,n).

    They are -M^-1 d tau / d q, -M^-1 d tau / d qd and M^-1, with the derivatives of inverse dynamics at the accelerations that tau
    makes.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> d = arm.forward_dynamics_derivatives([0.0, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> bool(abs(d.dtau - arm.inverse_mass_matrix([0.0, 0.5])).max() < 1e-12)
    True
    """
    _check_fixed_to_links("forward_dynamics_derivatives", wrenches)
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "tau": tau, **outside}
    return asked(robot, "forward_dynamics_derivatives", given, backend=backend, out=out)


def _check_fixed_to_links(quantity: str, wrenches: Mapping[str, Wrench] | Any) -> None:
    """Refuse wrenches in world axes: they would change with q, which the derivatives here do not follow."""
    if isinstance(wrenches, Mapping):
        for name, wrench in wrenches.items():
            if isinstance(wrench, Wrench) and wrench.frame != "body":
                raise Error(
                    f'{quantity}: the wrench on {name!r} is given in frame "{wrench.frame}" and would rotate against its link as q '
                    'changes; derivatives need wrenches fixed to their links: use frame="body"'
                )


@computed
def inverse_dynamics_second_derivatives(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    method: DerivativesMethod | None = None,
    backend: Backend = "auto",
    out: tuple[Array, ...] | None = None,
) -> SecondDerivatives:
    """The second derivatives of inverse dynamics that are not zero. Signature (n),(n),(n)->(n,n,n) four times.

    >>> import dalembert as da
    >>> d = da.robot("two_link").inverse_dynamics_second_derivatives([0.0, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> d.dqd_dqd[1].round(6).tolist()      # twice the Christoffel symbols of the second joint
    [[0.479426, 0.0], [0.0, 0.0]]
    """
    given = {"q": q, "qd": qd, "qdd": qdd}
    return asked(robot, "inverse_dynamics_second_derivatives", given, method, backend=backend, out=out)


@computed
def inverse_dynamics_hessian(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    weights: ArrayLike,
    *,
    method: DerivativesMethod | None = None,
    backend: Backend = "auto",
    out: tuple[Array, ...] | None = None,
) -> Hessian:
    """Second derivatives of inverse dynamics, weighted: sum_i weights_i d2 tau_i / dx dy.

    Signature (n),(n),(n),(n)->(n,n) four times. This is the product of a vector with `inverse_dynamics_second_derivatives`, which
    Newton's method needs in optimal control, where the weights are multipliers. Its cost grows with n^2, theirs with n^3.
    method: as for `inverse_dynamics_derivatives`; programs are differentiated in reverse mode, then in forward mode.

    >>> import dalembert as da
    >>> state = [0.0, 0.5], [1.0, 0.0], [0.0, 0.0]
    >>> arm, weights = da.robot("two_link"), [1.0, 2.0]
    >>> arm.inverse_dynamics_hessian(*state, weights).dqd_dqd.round(6).tolist()
    [[0.958851, -0.479426], [-0.479426, -0.479426]]
    """
    given = {"q": q, "qd": qd, "qdd": qdd, "weights": weights}
    return asked(robot, "inverse_dynamics_hessian", given, method, backend=backend, out=out)


@computed
def mass_matrix_gradient(
    robot: Model, q: ArrayLike, *, method: MassMatrixMethod = "composite_body", backend: Backend = "auto", out: Out = None
) -> Result:
    """dM_ij / dq_k at [..., i, j, k]. Signature (n)->(n,n,n).

    >>> import dalembert as da
    >>> da.robot("two_link").mass_matrix_gradient([0.0, 0.5])[..., 1].round(6).tolist()
    [[-0.479426, -0.239713], [-0.239713, 0.0]]
    """
    return asked(robot, "mass_matrix_gradient", {"q": q}, method, backend=backend, out=out)


@computed
def geometry_derivatives(
    robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, backend: Backend = "auto", out: tuple[Array, ...] | None = None
) -> GeometryDerivatives:
    """How joint forces change with the geometry: for design, calibration, tolerances. Signature (n),(n),(n)->(n,n,6) three times.

    Small displacements of every joint, of every link relative to its joint, and of the joint axes alone. The link's inertia
    keeps its place in the axes of its link. `dh_derivatives` has them by Denavit-Hartenberg entries.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")                    # standard rows: a is the length
    >>> d = arm.geometry_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> d.after[:, 0, 3].round(4).tolist()            # shifted along x, all of the first link and what it carries
    [19.6124, 0.0]
    """
    return asked(robot, "geometry_derivatives", {"q": q, "qd": qd, "qdd": qdd}, backend=backend, out=out)


def dh_derivatives(
    robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, convention: str, backend: Backend = "auto"
) -> DHDerivatives:
    """How joint forces change with the entries of the Denavit-Hartenberg table. Signature (n),(n),(n)->(n,n) four times.

    `convention` is the one that the robot was made with, "standard" or "modified".

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> d = arm.dh_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], convention="standard")
    >>> d.a[:, 0].round(4).tolist()
    [19.6124, 0.0]
    """
    choice(convention, "Denavit-Hartenberg convention", CONVENTIONS)
    _check_table(robot, convention)
    before, after, _ = geometry_derivatives(robot, q, qd, qdd, backend=backend)
    d, theta = before[..., 5], before[..., 2]
    if convention == "standard":
        return DHDerivatives(after[..., 0], after[..., 3], d, theta)
    R, p = robot.tree.before  # Rx(alpha) Tx(a) Rz(theta) Tz(d): alpha and a act on the axes before theta and d
    c, s, height = R[:, 0, 0], -R[:, 0, 1], np.vecdot(R[:, :, 2], p)
    x_turn = c * before[..., 0] - s * before[..., 1] - height * (s * before[..., 3] + c * before[..., 4])
    return DHDerivatives(x_turn, c * before[..., 3] - s * before[..., 4], d, theta)


def _check_table(robot: Model, convention: str) -> None:
    """Reject a robot whose links are not placed by rows of this convention."""
    (R, p), (S, r) = robot.tree.before, robot.tree.after
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    if convention == "standard":  # Rz(theta), then a shift without y and Rx(alpha)
        misfit = [np.abs(R @ z - z).max(-1), np.abs(p).max(-1), np.abs(S @ x - x).max(-1), np.abs(r[:, 1])]
    else:  # Rx(alpha) Tx(a) Rz(theta) Tz(d), and nothing after it
        side = p[:, 1:] - np.vecdot(R[:, :, 2], p)[:, None] * R[:, 1:, 2]  # what is neither along x nor along the axis
        misfit = [np.abs(R[:, 0, 2]), np.abs(side).max(-1), np.abs(S - np.eye(3)).max((-2, -1)), np.abs(r).max(-1)]
    wrong = np.flatnonzero(np.max(misfit, axis=0, initial=0.0) > 1e-9) if robot.links else np.zeros(0, int)
    chain = robot.parents == tuple(range(-1, len(robot.links) - 1))
    if len(wrong) or not chain:
        why = f"link {robot.link_names[wrong[0]]!r} is not placed that way" if len(wrong) else "it branches"
        raise Error(
            f"dh_derivatives: {robot.name} is not a robot of {convention} Denavit-Hartenberg rows: {why}; see geometry_derivatives"
        )


def linearize(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    step: float | None = None,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    backend: Backend = "auto",
) -> Linearization:
    """The state equation for small deviations from (q, qd, tau): A (..., 2n, 2n) and B (..., 2n, n), the state being (q, qd).

    Continuous: A = [[0, 1], [dqdd/dq, dqdd/dqd]], B = [[0], [M^-1]]. With `step` (seconds) discrete:
    x[k+1] = A x[k] + B tau[k], exact for forces that are held between the steps.

    Of balls and free bodies the state has small displacements in body axes: these turn with the body, so that A has -[omega] and
    -[v] above, as well.

    Coulomb friction is constant where joints move and jumps at qd = 0: its derivative is taken as 0 there, too, as if the joint
    moved. A joint that friction holds has no linear model.

    >>> import dalembert as da
    >>> A, B = da.robot("two_link").linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], step=0.01)
    >>> A.shape, B.shape
    ((4, 4), (4, 2))
    """
    outside: dict[str, Any] = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    d = forward_dynamics_derivatives(robot, q, qd, tau, **outside, backend=backend)
    n = d.dq.shape[-1]  # of a robot with loops the independent joints
    zero, one = np.zeros_like(d.dq), np.broadcast_to(np.eye(n), d.dq.shape)
    A = np.concatenate([np.concatenate([_turning(robot, qd, zero), one], -1), np.concatenate([d.dq, d.dqd], -1)], -2)
    B = np.concatenate([zero, d.dtau], -2)
    if step is None:
        return Linearization(A, B)
    seconds = positive(step, "linearize: step")
    whole = np.zeros((*A.shape[:-2], 3 * n, 3 * n), A.dtype)
    whole[..., : 2 * n, : 2 * n], whole[..., : 2 * n, 2 * n :] = A, B
    with np.errstate(all="ignore"):  # huge steps overflow, which shows in the results
        held = _exponential(seconds * whole)
    return Linearization(held[..., : 2 * n, : 2 * n], held[..., : 2 * n, 2 * n :])


def _turning(robot: Model, qd: ArrayLike, zero: Array) -> Array:
    """d (rate of a displacement) / d displacement: 0, but for balls and free bodies, whose displacements are in moving axes."""
    if not robot.runs:
        return zero
    found, speed = np.array(zero), np.asarray(qd)
    for run in robot.runs:
        w, a = skew(speed[..., run.v : run.v + 3]), run.v
        found[..., a : a + 3, a : a + 3] = -w
        if run.kind == "free":
            found[..., a + 3 : a + 6, a + 3 : a + 6] = -w
            found[..., a + 3 : a + 6, a : a + 3] = -skew(speed[..., a + 3 : a + 6])
    return found


def _exponential(X: Array) -> Array:
    """e^X by halving and squaring: Taylor's series to the 18th term of a matrix below 1/2 is exact to rounding."""
    sizes = np.abs(X).sum(axis=-1)
    size = float(sizes[np.isfinite(sizes)].max(initial=0.0))  # of the states that have one
    halvings = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0 else 0
    X = X * 2.0**-halvings
    term = total = np.broadcast_to(np.eye(X.shape[-1]), X.shape)
    for k in range(1, 18):
        term = term @ X / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total
