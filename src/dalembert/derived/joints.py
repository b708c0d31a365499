"""What joints add to the links: the inertia of rotors, friction, and the pivots that methods divide by."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import ROUNDING, Pivots
from dalembert.algebra.precise import as_objects, exact, product
from dalembert.algebra.scalars import sign, tanh
from dalembert.algebra.spatial import Array, dot
from dalembert.derived.charts import formulated, spread_positions
from dalembert.errors import Error
from dalembert.formulations.composite_body import composite, times
from dalembert.formulations.shared.axes import axes
from dalembert.model.coupling import not_reflected
from dalembert.model.links import FRICTION
from dalembert.model.model import Model
from dalembert.model.tree import Tree


def armatures(model: Model) -> Array:
    """The rotor inertia of every joint, (n,)."""
    return np.array([joint.armature for joint in model.joints], dtype=float)


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
    """The friction of all joints; of a coupled robot, that of each independent joint with those that follow it."""
    if model.coupling is not None and (why := not_reflected(model.coupling, model.open.joints)):
        raise Error(
            f"{model.name}: {why}, so friction cannot hold one joint after the other; use slip_speed, or without_friction()"
        )
    if friction_law not in model.memo:
        parts = (np.array([getattr(joint, name) for joint in model.joints], dtype=float) for name in FRICTION)
        model.memo[friction_law] = FrictionLaw(*parts)
    return model.memo[friction_law]


def load_friction(model: Model) -> Array:
    """That of each joint, (n,)."""
    return np.array([joint.load_friction for joint in model.joints], dtype=float)


Jump = Callable[[Any], Any]  # of a velocity: its sign, or a smooth function in its place


def slipping(slip_speed: float) -> Jump:
    """tanh(v / slip_speed), or the sign of v for 0."""
    return (lambda qd: tanh(qd / slip_speed)) if slip_speed else sign


def friction(model: Model, qd: Any, jump: Jump = sign) -> list[Any]:
    """The parts of friction that depend on the velocities alone: all but that of the load, where the robot has them.

    In a coupled robot each joint of the tree rubs at its own speed: B^T friction(B qd), and so B^T D B of damping.
    """
    if model.coupling is not None:
        rates = model.coupling.rates(qd)
        return [model.coupling.forces(part + np.zeros(rates.shape, rates.dtype)) for part in friction(model.open, rates, jump)]
    law = friction_law(model)
    jumping = jump(qd) if law.coulomb.any() or law.extra.any() else qd
    terms = [factor * motion for factor, motion in ((law.damping, qd), (law.coulomb, jumping)) if factor.any()]
    terms += [law.friction_offset] if law.friction_offset.any() else []
    return [*terms, law.extra * jumping / (1 + (law.per_speed * qd) ** 2)] if law.extra.any() else terms


def loading(model: Model, qd: Any, load: Any, jump: Jump = sign) -> Any:
    """(load + load_friction |load| sign(qd)) / load, (n,); the sum may be given for the load, since it has the same sign."""
    return 1 + load_friction(model) * jump(qd) * sign(load)


def left_of(model: Model, qd: Any, tau: Any, jump: Jump = sign) -> Any:
    """What friction leaves of the joint forces, (n,): the load."""
    for term in friction(model, qd, jump):
        tau = tau - term
    return tau / loading(model, qd, tau, jump) if load_friction(model).any() else tau


def pivots(model: Model, rotors: bool = True) -> Pivots:
    """The rotors' inertias, and the rounding errors of the pivots: relative to M_ii, which is sampled at some positions."""
    key = pivots, rotors
    if key not in model.memo and not model.is_tree:
        model.memo[key] = Pivots(None, _coupled_rounding(model))
    if key not in model.memo:
        armature = armatures(model) * rotors
        with np.errstate(all="ignore"):  # absurd figures overflow
            least = np.maximum(ROUNDING * (_inertias_sampled(model) + armature), np.finfo(float).tiny)
        model.memo[key] = Pivots(armature if armature.any() else None, least)
    return model.memo[key]


def _coupled_rounding(model: Model) -> Array:
    """Of the pivots of B^T M B, which has the rotors in it: relative to what its diagonal can be at most."""
    least = pivots(model.open).least
    with np.errstate(all="ignore"):
        if model.coupling is not None:
            least = product(np.abs(model.coupling.matrix).T, np.sqrt(least)) ** 2
        return least if model.transmission is None else least + ROUNDING * np.diag(model.transmission.inertia)


def sampled(n: int) -> Array:
    """Some positions (17, n) of n joints between -1 and 1, well mixed."""
    p = 17  # a prime: joints run through the positions in orders of their own
    return np.array([[2 * ((k * (i + 1) + i) % p + 0.5) / p - 1 for i in range(n)] for k in range(p)])


def _inertias_sampled(model: Model) -> Array:
    """The largest |M_ii| (n,) of some positions, for prismatic joints within +-1 m, or the size of a smaller robot.

    They become constants of programs, and must be the same on every machine.
    """
    n, shares = model.n, sampled(model.n)
    home = [i for run in model.runs for i in range(n)[run.velocities]]  # balls and free bodies stand there
    shares[:, home] = 0.0
    q = (shares * np.where(model.tree.screw[:, 0], np.pi, _stroke(model.tree))).astype(object)
    tree = model.tree.mapped(as_objects)
    bodies = composite(tree, axes(tree, q))
    inertias = [np.abs(np.ravel(dot(s, times(b, s)))).max() for b, s in zip(bodies, map(tree.axis, range(n)), strict=True)]
    return np.array(inertias, dtype=float)


def _stroke(tree: Tree) -> float:
    """How far prismatic joints may go, m: as far as all links reach together, as a power of two, but at most 1."""
    carried = [i for i, parent in enumerate(tree.parents) if parent >= 0]  # where others stand on the base changes no inertia
    lengths = np.concatenate([tree.before.translation[carried], tree.after.translation, tree.com])
    reach = math.fsum(np.abs(lengths).ravel().tolist())
    return min(1.0, math.ldexp(1.0, math.frexp(reach)[1])) if reach and math.isfinite(reach) else 1.0


def tree_forces(model: Model, method: str = "newton_euler") -> Callable[..., Any]:
    """Inverse dynamics by a formulation, a function of a tree, without friction and rotors; if coupled, B^T tau(B y + b, ...)."""
    function, coupling = formulated(model.open, "inverse_dynamics", method), model.coupling
    if coupling is None:
        return function

    def coupled(tree: Any, q: Any, qd: Any, qdd: Any, *outside: Any, **more: Any) -> Any:
        motion = spread_positions(model, q), coupling.rates(qd), coupling.rates(qdd)
        return coupling.forces(function(tree, *motion, *outside, **more))

    return coupled


def coupled_inertia(model: Model, q: Any, tree: Any, method: str = "composite_body") -> Any:
    """The mass matrix by a formulation, a function of a tree: without rotors of a robot that is one, else B^T M B with them."""
    function = formulated(model.open, "mass_matrix", method)
    if model.is_tree:
        return function(tree, q)
    M = function(tree, spread_positions(model, q))
    if model.coupling is not None:
        M = model.coupling.pulled_back(model.coupling.pulled_back(M, -1), -2)
    return M + (rotors(model) if M.dtype == object else rotors(model).astype(float))


def rotors(model: Model) -> Array:
    """What rotors add to the mass matrix, (n, n), in exact numbers: those of the joints, and of motors behind a transmission."""
    own = np.diag(exact(armatures(model.open)))
    if model.coupling is not None:
        own = model.coupling.pulled_back(model.coupling.pulled_back(own, -1), -2)
    return own if model.transmission is None else own + model.transmission.exact_inertia


def forces(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Inverse dynamics and the forces that rotors and friction take."""

    def whole(**given: Any) -> Any:
        armature, tau = armatures(model), function(**given)
        tau = tau + armature * given["qdd"] if armature.any() else tau
        tau = tau * loading(model, given["qd"], tau) if load_friction(model).any() else tau
        return sum(friction(model, given["qd"]), tau)

    return whole


def slopes(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Derivatives of inverse dynamics with friction and rotors on their diagonals; jumps of friction have none."""
    law, armature = friction_law(model), armatures(model)

    def whole(**given: Any) -> Any:
        dq, dqd, M = function(**given)
        M = on_diagonal(M, armature)
        if law.load_friction.any():
            load = formulated(model, "inverse_dynamics", "newton_euler")(model.exact_tree, **given)
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
        return on_diagonal(function(**given), armatures(model))

    return whole


# --- rotors behind a transmission, R = G^T I G: (R, arrays by name, results) -> results with them -------------------------------


def rotor_forces(R: Array, given: Any, results: Any) -> Any:
    """tau + R qdd."""
    return (results[0] + np.matvec(R, given["qdd"]),)


def rotor_inertias(R: Array, given: Any, results: Any) -> Any:
    """M + R."""
    return (results[0] + R,)


def rotor_slopes(R: Array, given: Any, results: Any) -> Any:
    """d tau / d qdd + R."""
    return (*results[:2], results[2] + R)


def rotor_energy(R: Array, given: Any, results: Any) -> Any:
    """Kinetic energy + qd . R qd / 2."""
    return (results[0] + dot(given["qd"], np.matvec(R, given["qd"])) / 2,)
