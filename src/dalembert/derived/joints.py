"""What joints add to the links: the inertia of rotors, friction, and the pivots that methods divide by."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.linalg import ROUNDING, Pivots
from dalembert.algebra.precise import as_objects
from dalembert.algebra.spatial import Array, dot, sign
from dalembert.formulations.composite_body import composite, times
from dalembert.formulations.shared.axes import axes
from dalembert.model.model import Model


def joint_parameters(model: Model) -> tuple[Array, Array, Array]:
    """Armature, damping and Coulomb friction of every joint."""
    joints = [link.joint for link in model.links]
    armature, damping, coulomb = (np.array([getattr(j, k) for j in joints]) for k in ("armature", "damping", "coulomb"))
    return armature, damping, coulomb


def friction(model: Model, qd: Any) -> list[Any]:
    """damping qd and coulomb sign(qd), where the robot has them."""
    _, damping, coulomb = joint_parameters(model)
    terms = ((damping, qd), (coulomb, sign(qd) if coulomb.any() else qd))
    return [factor * motion for factor, motion in terms if factor.any()]


def pivots(model: Model, rotors: bool = True) -> Pivots:
    """The rotors' inertias, and the rounding errors of the pivots: relative to M_ii, which is sampled at some positions."""
    key = pivots, rotors
    if key not in model.memo:
        armature = joint_parameters(model)[0] * rotors
        with np.errstate(all="ignore"):  # absurd figures overflow
            least = np.maximum(ROUNDING * (_inertias_sampled(model) + armature), np.finfo(float).tiny)
        model.memo[key] = Pivots(armature if armature.any() else None, least)
    return model.memo[key]


def _inertias_sampled(model: Model) -> Array:
    """The largest |M_ii| (n,) of some positions, within +-1 m for prismatic joints.

    They become constants of programs, and must be the same on every machine.
    """
    n, p = model.n, 17  # a prime: joints run through the positions in orders of their own
    shares = np.array([[2 * ((k * (i + 1) + i) % p + 0.5) / p - 1 for i in range(n)] for k in range(p)])
    q = (shares * np.where(model.tree.screw[:, 0], np.pi, 1.0)).astype(object)
    tree = model.tree.mapped(as_objects)
    bodies = composite(tree, axes(tree, q))
    inertias = [np.abs(np.ravel(dot(s, times(b, s)))).max() for b, s in zip(bodies, map(tree.axis, range(n)), strict=True)]
    return np.array(inertias, dtype=float)


def forces(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Inverse dynamics and the forces that rotors and friction take."""

    def whole(**given: Any) -> Any:
        armature, tau = joint_parameters(model)[0], function(**given)
        tau = tau + armature * given["qdd"] if armature.any() else tau
        return sum(friction(model, given["qd"]), tau)

    return whole


def slopes(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Derivatives of inverse dynamics with viscous friction and rotors on their diagonals; Coulomb friction has none."""

    def whole(**given: Any) -> Any:
        armature, damping, _ = joint_parameters(model)
        dq, dqd, M = function(**given)
        return dq, on_diagonal(dqd, damping), on_diagonal(M, armature)

    return whole


def on_diagonal(matrix: Any, more: Array) -> Any:
    """A matrix with more on its diagonal, where there is any."""
    return matrix + np.diag(more).astype(object) if more.any() else matrix


def accelerations(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Forward dynamics with what friction leaves of the forces; rotors are among the pivots."""

    def whole(**given: Any) -> Any:
        for term in friction(model, given["qd"]):
            given["tau"] = given["tau"] - term
        return function(**given)

    return whole


def inertias(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """The mass matrix with the rotors on its diagonal."""

    def whole(**given: Any) -> Any:
        return on_diagonal(function(**given), joint_parameters(model)[0])

    return whole
