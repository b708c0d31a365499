"""Derivatives of the equations of motion, made from their programs: by the state, the forces, and the geometry."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra import linalg
from dalembert.algebra.spatial import Ad_inverse, Array, Transform, dot, rotate, skew, split, zeros
from dalembert.derived.charts import by_displacement
from dalembert.derived.joints import friction_law, load_friction, pivots
from dalembert.derived.make import Body, Make
from dalembert.derived.terms import twice_christoffel
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.model.model import Model
from dalembert.trace.program import Program
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


class Hessian(NamedTuple):
    """sum_i weights_i d2 tau_i / da_j db_k at [..., j, k], each (..., n, n), of the same pairs as `SecondDerivatives`."""

    dq_dq: Array
    dq_dqd: Array
    dq_dqdd: Array
    dqd_dqd: Array


class GeometryDerivatives(NamedTuple):
    """d tau_i / d displacement k of joint j at [..., i, j, k], each (..., n, n, 6): small rotations, then small translations.

    before: of joint j's axis and all behind it, along the axes at the joint in its zero position.
    after: of link j against its joint, with all that it carries, along the axes of link j.
    axis: of joint j's axis alone, the links staying where they are at zero, along the axes at the joint.
    """

    before: Array
    after: Array
    axis: Array


def inverse_dynamics_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body | Program:
    """By q, qd and qdd."""
    return _by_state(model, make.derivative(make("inverse_dynamics", method, optional), ["q", "qd", "qdd"], "reverse"))


def _by_state(model: Model, slopes: Program) -> Body | Program:
    """Derivatives of which the first are by q; those by rotations are by small ones in body axes."""
    if not model.runs:
        return slopes

    def body(**given: Any) -> Any:
        dq, *others = replay(slopes, given)
        return by_displacement(model, dq, given["q"]), *others

    return body


def forward_dynamics_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body | Program:
    """From the derivatives of inverse dynamics at the accelerations that the forces make."""
    forward = make("forward_dynamics", method, optional)
    if load_friction(model).any():  # then d tau / d qdd is not symmetric
        return _by_state(model, make.derivative(forward, ["q", "qd", "tau"], "reverse"))
    inverse = make("inverse_dynamics_derivatives", None, optional)

    def body(**given: Any) -> Any:
        if not model.n:
            return (zeros((0, 0)),) * 3
        qdd = replay(forward, given)
        given.pop("tau")
        dq, dqd, M = replay(inverse, given | {"qdd": qdd})
        M_inverse = linalg.inverse(linalg.udu(M, linalg.Pivots(None, pivots(model).least)))  # M has the rotors
        return -(M_inverse @ dq), -(M_inverse @ dqd), M_inverse

    return body


def inverse_dynamics_second_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """Those that are not zero.

    Where the order does not matter the shorter one is taken: q last, and the upper half of what is symmetric.
    """
    if not friction_law(model).linear:
        raise Error(
            f"{model.name} has Stribeck or load-dependent friction, which second derivatives do not support; use "
            "without_friction(), or inverse_dynamics_hessian(..., method='newton_euler')"
        )
    second = make.derivative(make("inverse_dynamics_derivatives", method), ["q"], "forward")
    gradient = make("mass_matrix_gradient")

    def body(q: Any, qd: Any, qdd: Any) -> Any:
        dq_dq, dqd_dq, _ = replay(second, {"q": q, "qd": qd, "qdd": qdd})
        D = replay(gradient, {"q": q})  # tau = M qdd + Gamma qd qd + ...
        return _mirrored(dq_dq), np.swapaxes(dqd_dq, -1, -2), np.swapaxes(D, -1, -2), twice_christoffel(D)

    return body


def inverse_dynamics_hessian(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """The gradient of weights . tau, in reverse mode, takes a few times the operations of tau, and each derivative of it again."""
    inverse, n = make("inverse_dynamics", method), model.n

    def weighted(q: Any, qd: Any, qdd: Any, weights: Any) -> Any:
        return dot(weights, replay(inverse, {"q": q, "qd": qd, "qdd": qdd}))

    whole = make.recorded(weighted, {"q": (n,), "qd": (n,), "qdd": (n,), "weights": (n,)})
    second = make.derivative(make.derivative(whole, ["q", "qd", "qdd"], "reverse"), ["q", "qd"], "forward")

    def body(**given: Any) -> Any:
        dq_dq, _, dqd_dq, dqd_dqd, dqdd_dq, _ = replay(second, given)
        return _mirrored(dq_dq), np.swapaxes(dqd_dq, -1, -2), np.swapaxes(dqdd_dq, -1, -2), _mirrored(dqd_dqd)

    return body


def _mirrored(T: Any) -> Array:
    """The same in both orders of the last two indices, from the one with the smaller index first."""
    j, k = np.indices(T.shape[-2:])
    return T[..., np.minimum(j, k), np.maximum(j, k)]


def _displaced(T: Transform, by: Any) -> Transform:
    """T followed by a small displacement, to first order: that is all a derivative sees."""
    turn, shift = split(by)
    return Transform(T.rotation + T.rotation @ skew(turn), T.translation + rotate(T.rotation, shift))


def geometry_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """Small displacements are inputs of a program, which is then differentiated at zero."""
    n, tree = model.n, model.exact_tree
    if not n:
        return lambda **_: (zeros((0, 0, 6)),) * 3
    function = formulation("inverse_dynamics", method)
    shapes: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (n,), "qdd": (n,), "before": (n, 6), "after": (n, 6)}

    def moved(q: Any, qd: Any, qdd: Any, before: Any, after: Any) -> Any:
        return function(tree._replace(before=_displaced(tree.before, before), after=_displaced(tree.after, after)), q, qd, qdd)

    slope = make.derivative(make.recorded(moved, shapes), ["before", "after"], "reverse")

    def body(**state: Any) -> Any:
        before, after = replay(slope, state | {"before": zeros((n, 6)), "after": zeros((n, 6))})
        # moving the axis alone rotates the link back relative to its joint
        back = [np.swapaxes(Ad_inverse(tree.joint(j)[1], np.eye(6, dtype=int)), 0, 1) for j in range(n)]
        axis = [[before[i, j] - after[i, j] @ back[j] for j in range(n)] for i in range(n)]
        return before, after, np.array(axis, dtype=object)

    return body
