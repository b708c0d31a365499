"""Derivatives of the equations of motion, from their traced programs: with respect to the state, the forces, and the geometry."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert import linalg
from dalembert.arguments import choice, positive
from dalembert.errors import Error
from dalembert.formulations import formulation, methods
from dalembert.model.dh import CONVENTIONS
from dalembert.model.model import Model
from dalembert.quantities.quantity import evaluate, program
from dalembert.quantities.table import OUTSIDE, QD, QDD, STATE, TAU, Q, Quantity, pivots, register
from dalembert.quantities.wrench import Wrench, as_array
from dalembert.spatial import Ad_inverse, Array, Transform, rotate, skew, split, zeros
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay


class InverseDerivatives(NamedTuple):
    """d tau / d q, d tau / d qd and d tau / d qdd = M, each (..., n, n) with the force index first."""

    dq: Array
    dqd: Array
    dqdd: Array


class ForwardDerivatives(NamedTuple):
    """d qdd / d q, d qdd / d qd and d qdd / d tau = M^-1, each (..., n, n)."""

    dq: Array
    dqd: Array
    dtau: Array


class SecondDerivatives(NamedTuple):
    """d2 tau_i / da_j db_k at [..., i, j, k], each (..., n, n, n); those with qdd twice or with qd and qdd are zero."""

    dq_dq: Array
    dq_dqd: Array
    dq_dqdd: Array
    dqd_dqd: Array


class GeometryDerivatives(NamedTuple):
    """d tau_i / d displacement k of joint j at [..., i, j, k], each (..., n, n, 6): three small turns, then three small shifts.

    before: of joint j's axis and all behind it, along the axes at the joint in its zero position.
    after: of link j against its joint, with all that it carries, along the axes of link j.
    axis: of joint j's axis alone, the links staying where they are at zero, along the axes at the joint.
    """

    before: Array
    after: Array
    axis: Array


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


def inverse_dynamics_derivatives(
    robot: Model,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    wrenches: Mapping[str, Wrench] | Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    method: str = "newton_euler",
    backend: str = "auto",
    out: Any = None,
) -> InverseDerivatives:
    """d tau / d q, d tau / d qd, d tau / d qdd of inverse dynamics. Signature (n),(n),(n)->(n,n),(n,n),(n,n).

    Row i of each belongs to force i. Wrenches keep their components in link axes while q changes, so they must be given there
    (frame="body", or an array). Viscous friction counts, the jump of Coulomb friction does not.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives([0.0, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> bool(abs(dqdd - arm.mass_matrix([0.0, 0.5])).max() < 1e-14)
    True
    """
    given = {"q": q, "qd": qd, "qdd": qdd, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given["wrenches"] = _in_links(robot, "inverse_dynamics_derivatives", q, wrenches)
    return evaluate(robot, "inverse_dynamics_derivatives", method, given, backend, out)


def forward_dynamics_derivatives(
    robot: Model,
    q: Any,
    qd: Any,
    tau: Any,
    *,
    wrenches: Mapping[str, Wrench] | Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    backend: str = "auto",
    out: Any = None,
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
    given = {"q": q, "qd": qd, "tau": tau, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given["wrenches"] = _in_links(robot, "forward_dynamics_derivatives", q, wrenches)
    return evaluate(robot, "forward_dynamics_derivatives", "articulated_body", given, backend, out)


def _in_links(robot: Model, quantity: str, q: Any, wrenches: Mapping[str, Wrench] | Any) -> Any:
    """Wrenches as an array; those given in world axes would change with q, which the derivatives here do not follow."""
    if isinstance(wrenches, Mapping):
        for name, wrench in wrenches.items():
            if isinstance(wrench, Wrench) and wrench.frame != "body":
                raise Error(
                    f'{quantity}: the wrench on {name!r} is given in frame "{wrench.frame}" and would turn against the link as q '
                    'changes; derivatives are for wrenches fixed to their links: give it with frame="body"'
                )
    return as_array(robot, quantity, q, wrenches)


def inverse_dynamics_second_derivatives(
    robot: Model, q: Any, qd: Any, qdd: Any, *, method: str = "newton_euler", backend: str = "auto", out: Any = None
) -> SecondDerivatives:
    """The second derivatives of inverse dynamics that are not zero. Signature (n),(n),(n)->(n,n,n) four times.

    >>> import dalembert as da
    >>> d = da.robot("two_link").inverse_dynamics_second_derivatives([0.0, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> d.dqd_dqd[1].round(6).tolist()      # twice the Christoffel symbols of the second joint
    [[0.479426, 0.0], [0.0, 0.0]]
    """
    given = {"q": q, "qd": qd, "qdd": qdd}
    return evaluate(robot, "inverse_dynamics_second_derivatives", method, given, backend, out)


def mass_matrix_gradient(robot: Model, q: Any, *, method: str = "composite_body", backend: str = "auto", out: Any = None) -> Array:
    """dM_ij / dq_k at [..., i, j, k]. Signature (n)->(n,n,n).

    >>> import dalembert as da
    >>> da.robot("two_link").mass_matrix_gradient([0.0, 0.5])[..., 1].round(6).tolist()
    [[-0.479426, -0.239713], [-0.239713, 0.0]]
    """
    return evaluate(robot, "mass_matrix_gradient", method, {"q": q}, backend, out)


def geometry_derivatives(robot: Model, q: Any, qd: Any, qdd: Any, *, backend: str = "auto") -> GeometryDerivatives:
    """How joint forces change with the geometry: for design, calibration, tolerances. Signature (n),(n),(n)->(n,n,6) three times.

    Small turns and shifts of every joint, of every link against its joint, and of the joint axes (screws) alone. The link's inertia
    keeps its place in the axes of its link. `dh_derivatives` has them by Denavit-Hartenberg entries.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")                    # standard rows: a is the length
    >>> d = arm.geometry_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> d.after[:, 0, 3].round(4).tolist()            # shifted along x, all of the first link and what it carries
    [19.6124, 0.0]
    """
    return evaluate(robot, "geometry_derivatives", "newton_euler", {"q": q, "qd": qd, "qdd": qdd}, backend, None)


def dh_derivatives(robot: Model, q: Any, qd: Any, qdd: Any, *, convention: str, backend: str = "auto") -> DHDerivatives:
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
    """Refuse a robot whose links do not stand as rows of this convention would have them."""
    (R, p), (S, r) = robot.tree.before, robot.tree.after
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    if convention == "standard":  # Rz(theta), then a shift without y and Rx(alpha)
        misfit = [np.abs(R @ z - z).max(-1), np.abs(p).max(-1), np.abs(S @ x - x).max(-1), np.abs(r[:, 1])]
    else:  # Rx(alpha) Tx(a) Rz(theta) Tz(d), and nothing after it
        side = p[:, 1:] - np.vecdot(R[:, :, 2], p)[:, None] * R[:, 1:, 2]  # what is neither along x nor along the axis
        misfit = [np.abs(R[:, 0, 2]), np.abs(side).max(-1), np.abs(S - np.eye(3)).max((-2, -1)), np.abs(r).max(-1)]
    wrong = np.flatnonzero(np.max(misfit, axis=0, initial=0.0) > 1e-9) if robot.n else np.zeros(0, int)
    chain = robot.parents == tuple(range(-1, robot.n - 1))
    if len(wrong) or not chain:
        why = f"link {robot.link_names[wrong[0]]!r} does not stand so" if len(wrong) else "it branches"
        raise Error(
            f"dh_derivatives: {robot.name} is no robot of {convention} Denavit-Hartenberg rows: {why}; see geometry_derivatives"
        )


def linearize(
    robot: Model,
    q: Any,
    qd: Any,
    tau: Any,
    *,
    step: float | None = None,
    wrenches: Mapping[str, Wrench] | Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    backend: str = "auto",
) -> Linearization:
    """The state equation for small deviations from (q, qd, tau): A (..., 2n, 2n) and B (..., 2n, n), the state being (q, qd).

    Continuous: A = [[0, 1], [dqdd/dq, dqdd/dqd]], B = [[0], [M^-1]]. With `step` (seconds) discrete:
    x[k+1] = A x[k] + B tau[k], exact for forces that are held between the steps.

    >>> import dalembert as da
    >>> A, B = da.robot("two_link").linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], step=0.01)
    >>> A.shape, B.shape
    ((4, 4), (4, 2))
    """
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    d = forward_dynamics_derivatives(robot, q, qd, tau, **outside, backend=backend)
    n = robot.n
    zero, one = np.zeros_like(d.dq), np.broadcast_to(np.eye(n), d.dq.shape)
    A = np.concatenate([np.concatenate([zero, one], -1), np.concatenate([d.dq, d.dqd], -1)], -2)
    B = np.concatenate([zero, d.dtau], -2)
    if step is None:
        return Linearization(A, B)
    seconds = positive(step, "linearize: step")
    whole = np.zeros((*A.shape[:-2], 3 * n, 3 * n), A.dtype)
    whole[..., : 2 * n, : 2 * n], whole[..., : 2 * n, 2 * n :] = A, B
    with np.errstate(all="ignore"):  # absurd steps overflow: the results say so
        held = _exponential(seconds * whole)
    return Linearization(held[..., : 2 * n, : 2 * n], held[..., : 2 * n, 2 * n :])


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


# --- their programs -----------------------------------------------------------------------------------------------------------


def _inverse(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    return differentiate(program(model, "inverse_dynamics", method, optional=optional), ["q", "qd", "qdd"], mode="reverse")


def _forward(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    forward = program(model, "forward_dynamics", method, optional=optional)
    if not model.n:
        return _empty({v.name: v.shape for v in forward.inputs}, ("dqdd_dq", "dqdd_dqd", "dqdd_dtau"), (0, 0))
    inverse = _inverse(model, "newton_euler", optional, options)

    def body(*arrays: Any) -> Any:
        given = dict(zip((v.name for v in forward.inputs), arrays, strict=True))
        qdd = replay(forward, given)
        given.pop("tau")
        dq, dqd, M = replay(inverse, given | {"qdd": qdd})
        guard = pivots(model)
        M_inverse = linalg.inverse(linalg.udu(M, linalg.Pivots(None, guard.least)))  # M has the rotors
        return -(M_inverse @ dq), -(M_inverse @ dqd), M_inverse

    return trace(body, {v.name: v.shape for v in forward.inputs}, outputs=("dqdd_dq", "dqdd_dqd", "dqdd_dtau"))


def _second(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    first = differentiate(program(model, "inverse_dynamics", method), ["q", "qd"], mode="reverse")
    second = differentiate(first, ["q", "qd", "qdd"], mode="forward")

    def body(q: Any, qd: Any, qdd: Any) -> Any:
        dq_dq, dq_dqd, dq_dqdd, _, dqd_dqd, _ = replay(second, {"q": q, "qd": qd, "qdd": qdd})
        return dq_dq, dq_dqd, dq_dqdd, dqd_dqd

    return trace(body, {v.name: v.shape for v in second.inputs}, outputs=SecondDerivatives._fields)


def _empty(inputs: dict[str, tuple[int, ...]], outputs: tuple[str, ...], shape: tuple[int, ...]) -> Program:
    """Of a robot without joints."""
    return trace(lambda *_: tuple(zeros(shape) for _ in outputs), inputs, outputs=outputs)


def _displaced(T: Transform, by: Any) -> Transform:
    """T followed by a small displacement, to first order: that is all a derivative sees."""
    turn, shift = split(by)
    return Transform(T.rotation + T.rotation @ skew(turn), T.translation + rotate(T.rotation, shift))


def _geometry(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    n, tree = model.n, model.exact_tree
    if not n:
        return _empty({"q": (0,), "qd": (0,), "qdd": (0,)}, GeometryDerivatives._fields, (0, 0, 6))
    function = formulation("inverse_dynamics", method)
    shapes: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (n,), "qdd": (n,)}

    def moved(q: Any, qd: Any, qdd: Any, before: Any, after: Any) -> Any:
        return function(tree._replace(before=_displaced(tree.before, before), after=_displaced(tree.after, after)), q, qd, qdd)

    slope = differentiate(trace(moved, shapes | {"before": (n, 6), "after": (n, 6)}), ["before", "after"], mode="reverse")

    def body(q: Any, qd: Any, qdd: Any) -> Any:
        at = {"q": q, "qd": qd, "qdd": qdd, "before": zeros((n, 6)), "after": zeros((n, 6))}
        before, after = replay(slope, at)
        # moving the axis alone turns the link back against its joint
        back = [np.swapaxes(Ad_inverse(tree.joint(j)[1], np.eye(6, dtype=int)), 0, 1) for j in range(n)]
        axis = [[before[i, j] - after[i, j] @ back[j] for j in range(n)] for i in range(n)]
        return before, after, np.array(axis, dtype=object)

    return trace(body, shapes, outputs=GeometryDerivatives._fields)


_SQUARE, _CUBE, _SIX = ("n", "n"), ("n", "n", "n"), ("n", "n", 6)
register(
    "inverse_dynamics_derivatives",
    Quantity(
        STATE,
        {"dtau_dq": _SQUARE, "dtau_dqd": _SQUARE, "dtau_dqdd": _SQUARE},
        "newton_euler",
        OUTSIDE,
        InverseDerivatives,
        derived=_inverse,
        methods=methods("inverse_dynamics"),
    ),
)
register(
    "forward_dynamics_derivatives",
    Quantity(
        Q | QD | TAU,
        {"dqdd_dq": _SQUARE, "dqdd_dqd": _SQUARE, "dqdd_dtau": _SQUARE},
        "articulated_body",
        OUTSIDE,
        ForwardDerivatives,
        divides=True,
        derived=_forward,
        methods=("articulated_body",),
    ),
)
register(
    "inverse_dynamics_second_derivatives",
    Quantity(
        STATE,
        dict.fromkeys(SecondDerivatives._fields, _CUBE),
        "newton_euler",
        result=SecondDerivatives,
        derived=_second,
        methods=methods("inverse_dynamics"),
    ),
)
register(
    "geometry_derivatives",
    Quantity(
        Q | QD | QDD,
        dict.fromkeys(GeometryDerivatives._fields, _SIX),
        "newton_euler",
        result=GeometryDerivatives,
        derived=_geometry,
        methods=("newton_euler",),
    ),
)
