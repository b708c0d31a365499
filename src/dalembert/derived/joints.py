"""What joints add to the links: the inertia of rotors, friction, and the pivots that methods divide by."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import ROUNDING, Pivots
from dalembert.algebra.precise import as_objects
from dalembert.algebra.spatial import Array, dot, sign, tanh
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.formulations.composite_body import composite, times
from dalembert.formulations.shared.axes import axes
from dalembert.model.links import FRICTION
from dalembert.model.model import Model


def joint_parameters(model: Model) -> tuple[Array, Array, Array]:
    """Armature, damping and Coulomb friction of every joint."""
    joints = [link.joint for link in model.links]
    armature, damping, coulomb = (np.array([getattr(j, k) for j in joints]) for k in ("armature", "damping", "coulomb"))
    return armature, damping, coulomb


class FrictionLaw(NamedTuple):
    """The friction of all joints, (n,) each; what the parts mean is said at `Joint`."""

    damping: Array
    coulomb: Array
    friction_offset: Array
    static_friction: Array
    stribeck_speed: Array
    load_friction: Array

    @property
    def extra(self) -> Array:
        """What Stribeck's law adds to the Coulomb level at rest."""
        return np.where(self.static_friction > 0, self.static_friction - self.coulomb, 0.0)

    @property
    def per_speed(self) -> Array:
        """1 / stribeck_speed, and 0 where there is none."""
        there = self.stribeck_speed > 0
        return np.where(there, 1 / np.where(there, self.stribeck_speed, 1.0), 0.0)

    @property
    def jumps(self) -> bool:
        """Whether friction at some joint changes its sign with the velocity, so that it can hold the joint."""
        return bool(self.sticks.any())

    @property
    def sticks(self) -> Array:
        """Which joints friction can hold, (n,)."""
        return (self.coulomb > 0) | (self.static_friction > 0) | (self.load_friction > 0)

    @property
    def linear(self) -> bool:
        """Whether it is linear in velocities and loads, jumps and constants apart."""
        return not (self.static_friction.any() or self.load_friction.any())


def friction_law(model: Model) -> FrictionLaw:
    """The friction of all joints."""
    return FrictionLaw(*(np.array([getattr(link.joint, name) for link in model.links], dtype=float) for name in FRICTION))


Jump = Callable[[Any], Any]  # of a velocity: its sign, or a smooth function in its place


def slipping(slip_speed: float) -> Jump:
    """tanh(v / slip_speed), or the sign of v for 0."""
    return (lambda qd: tanh(qd / slip_speed)) if slip_speed else sign


def friction(model: Model, qd: Any, jump: Jump = sign) -> list[Any]:
    """The parts of friction that depend on the velocities alone: all but that of the load, where the robot has them."""
    law = friction_law(model)
    jumping = jump(qd) if law.coulomb.any() or law.extra.any() else qd
    terms = [factor * motion for factor, motion in ((law.damping, qd), (law.coulomb, jumping)) if factor.any()]
    terms += [law.friction_offset] if law.friction_offset.any() else []
    return [*terms, law.extra * jumping / (1 + (law.per_speed * qd) ** 2)] if law.extra.any() else terms


def loading(model: Model, qd: Any, load: Any, jump: Jump = sign) -> Any:
    """(load + load_friction |load| sign(qd)) / load, (n,); the sum may be given for the load, since it has the same sign."""
    return 1 + friction_law(model).load_friction * jump(qd) * sign(load)


def left_of(model: Model, qd: Any, tau: Any, jump: Jump = sign) -> Any:
    """What friction leaves of the joint forces, (n,): the load."""
    for term in friction(model, qd, jump):
        tau = tau - term
    return tau / loading(model, qd, tau, jump) if friction_law(model).load_friction.any() else tau


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
        tau = tau * loading(model, given["qd"], tau) if friction_law(model).load_friction.any() else tau
        return sum(friction(model, given["qd"]), tau)

    return whole


def slopes(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Derivatives of inverse dynamics with friction and rotors on their diagonals; jumps of friction have none."""
    law, armature = friction_law(model), joint_parameters(model)[0]

    def whole(**given: Any) -> Any:
        dq, dqd, M = function(**given)
        M = on_diagonal(M, armature)
        if law.load_friction.any():
            load = formulation("inverse_dynamics", "newton_euler")(model.exact_tree, **given)
            factors = loading(model, given["qd"], load + armature * given["qdd"])
            dq, dqd, M = (factors[..., None] * x for x in (dq, dqd, M))
        dqd = on_diagonal(dqd, law.damping)
        dqd = dqd + _falling(law, given["qd"])[..., None] * np.eye(model.n, dtype=int) if law.extra.any() else dqd
        return dq, dqd, M

    return whole


def _falling(law: FrictionLaw, qd: Any) -> Any:
    """The slope of Stribeck's term, extra sign(v) / (1 + w^2) with w = v / speed: -2 |w| extra / speed / (1 + w^2)^2."""
    w = law.per_speed * qd
    return -2 * law.extra * law.per_speed * (w * sign(qd)) / (1 + w**2) ** 2


def curvatures(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Second derivatives by formulas, which have no friction: right where it is linear."""
    if not friction_law(model).linear:
        raise Error(f"{model.name} has Stribeck or load-dependent friction, for which this needs method='newton_euler'")
    return function


def on_diagonal(matrix: Any, more: Array) -> Any:
    """A matrix with more on its diagonal, where there is any."""
    return matrix + np.diag(more).astype(object) if more.any() else matrix


def accelerations(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Forward dynamics with what friction leaves of the forces; rotors are among the pivots."""

    def whole(**given: Any) -> Any:
        return function(**given | {"tau": left_of(model, given["qd"], given["tau"])})

    return whole


def inertias(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """The mass matrix with the rotors on its diagonal."""

    def whole(**given: Any) -> Any:
        return on_diagonal(function(**given), joint_parameters(model)[0])

    return whole
