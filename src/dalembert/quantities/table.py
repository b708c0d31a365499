"""What each quantity takes and gives, and what joints add to it beside the links."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dalembert import formulations
from dalembert.arguments import choice
from dalembert.formulations._axes import axes
from dalembert.formulations.composite_body import composite, times
from dalembert.formulations.generalized_dalembert import Terms as DalembertTerms
from dalembert.formulations.lagrange_euler import Terms as LagrangeEulerTerms
from dalembert.formulations.newton_euler import Pass
from dalembert.formulations.spatial_operator import Diagonalization, OperatorRates, SpatialOperators
from dalembert.formulations.stacked_operators import Operators
from dalembert.linalg import ROUNDING, Pivots
from dalembert.model.model import Model
from dalembert.precise import as_objects
from dalembert.spatial import Array, dot, sign
from dalembert.trace.program import Program

UNGUARDED = ("walker_orin_4",)  # methods that divide by something else than pivots, so that NaN does not tell all


class Quantity(NamedTuple):
    """Names and shapes; in shapes, "n" stands for the number of joints, "6n" and "10n" for multiples of it.

    An output's size may also be a function of n and the options.
    """

    inputs: Mapping[str, tuple[Any, ...]]
    outputs: Mapping[str, tuple[Any, ...]]
    method: str  # the default
    optional: Mapping[str, tuple[Any, ...]] = {}
    result: Callable[..., Any] | None = None  # the NamedTuple of several outputs
    joints: Callable[..., Any] | None = None  # how friction and rotors enter
    invariant: bool = False  # whether link frames and the sharing out of inertias do not matter
    divides: bool = False  # whether a singular mass matrix makes it NaN
    rotors: bool = True  # whether that mass matrix has the rotors in it
    # methods that are no formulation: (model, method, optional, options) -> Program; their names, and the options' defaults
    derived: Callable[..., Program] | None = None
    methods: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}


def joint_parameters(model: Model) -> tuple[Array, Array, Array]:
    """Armature, damping and Coulomb friction of every joint."""
    joints = [link.joint for link in model.links]
    armature, damping, coulomb = (np.array([getattr(j, k) for j in joints]) for k in ("armature", "damping", "coulomb"))
    return armature, damping, coulomb


def friction(model: Model, qd: Any) -> list[Any]:
    """damping qd and coulomb sign(qd), as far as the robot has them."""
    _, damping, coulomb = joint_parameters(model)
    terms = ((damping, qd), (coulomb, sign(qd) if coulomb.any() else qd))
    return [factor * motion for factor, motion in terms if factor.any()]


def pivots(model: Model, rotors: bool = True) -> Pivots:
    """The rotors' inertias, and the rounding errors of the pivots: relative to M_ii, which is sampled at some positions."""
    kept = model.memo.setdefault("pivots", {})
    if rotors not in kept:
        armature = joint_parameters(model)[0] * rotors
        with np.errstate(all="ignore"):  # absurd figures overflow
            least = np.maximum(ROUNDING * (_inertias_sampled(model) + armature), np.finfo(float).tiny)
        kept[rotors] = Pivots(armature if armature.any() else None, least)
    return kept[rotors]


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


def _accelerations(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """Forward dynamics with what friction leaves of the forces; rotors are among the pivots."""

    def whole(**given: Any) -> Any:
        for term in friction(model, given["qd"]):
            given["tau"] = given["tau"] - term
        return function(**given)

    return whole


def _inertias(model: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """The mass matrix with the rotors on its diagonal."""

    def whole(**given: Any) -> Any:
        armature, M = joint_parameters(model)[0], function(**given)
        return M + np.diag(armature).astype(object) if armature.any() else M

    return whole


Q, QD, QDD, TAU = ({name: ("n",)} for name in ("q", "qd", "qdd", "tau"))
STATE = Q | QD | QDD
OUTSIDE = {"wrenches": ("n", 6), "base_twist": (6,), "base_acceleration": (6,)}
_BIG = ("6n", "6n")
_RATES = dict.fromkeys(OperatorRates._fields, _BIG) | {
    "H": ("n", "6n"), "D": ("n",), "G": ("6n", "n"), "m": ("n", "n"),
}  # fmt: skip


def _diagonal(inputs: Mapping[str, Any], output: str, shape: tuple[str, ...] = ("n",)) -> Quantity:
    """A quantity of the diagonalized equations."""
    return Quantity(inputs, {output: shape}, "diagonalized_normalized", invariant=True, divides=True)


QUANTITIES = {
    "inverse_dynamics": Quantity(STATE, TAU, "newton_euler", OUTSIDE, joints=forces, invariant=True),
    "forward_dynamics": Quantity(
        Q | QD | TAU, QDD, "articulated_body", OUTSIDE, joints=_accelerations, invariant=True, divides=True
    ),
    "mass_matrix": Quantity(Q, {"M": ("n", "n")}, "composite_body", joints=_inertias, invariant=True),
    "inverse_mass_matrix": Quantity(Q, {"M_inverse": ("n", "n")}, "composite_body", invariant=True, divides=True),
    "coriolis_matrix": Quantity(Q | QD, {"C": ("n", "n")}, "composite_body", invariant=True),
    "joint_wrenches": Quantity(STATE, {"joint_wrenches": ("n", 6)}, "newton_euler", OUTSIDE),
    "newton_euler_pass": Quantity(STATE, dict.fromkeys(Pass._fields, ("n", 3)), "newton_euler", OUTSIDE, Pass),
    "lagrange_euler_terms": Quantity(
        Q | QD,
        {"D": ("n", "n"), "H": ("n", "n", "n"), "h": ("n",), "c": ("n",)},
        "lagrange_euler",
        result=LagrangeEulerTerms,
    ),
    "dalembert_terms": Quantity(
        Q | QD,
        {"D_tran": ("n", "n"), "D_rot": ("n", "n"), "h_tran": ("n",), "h_rot": ("n",), "c": ("n",)},
        "generalized_dalembert",
        result=DalembertTerms,
    ),
    "stacked_operators": Quantity(
        Q, {"A": ("6n", "n"), "G": _BIG, "Gamma": _BIG, "L": _BIG}, "stacked_operators", result=Operators
    ),
    "spatial_operators": Quantity(
        Q,
        dict.fromkeys(SpatialOperators._fields, _BIG) | {"H": ("n", "6n"), "D": ("n",), "G": ("6n", "n"), "K": ("6n", "n")},
        "spatial_operator",
        result=SpatialOperators,
        divides=True,
        rotors=False,
    ),
    "spatial_operator_rates": Quantity(Q | QD, _RATES, "spatial_operator", result=OperatorRates, divides=True, rotors=False),
    "inertial_operator_rates": Quantity(Q | QD, _RATES, "spatial_operator", result=OperatorRates, divides=True, rotors=False),
    "diagonalize": Quantity(
        Q,
        {"D": ("n",), "U": ("n", "n"), "m": ("n", "n"), "l": ("n", "n"), "det": ()},
        "spatial_operator",
        result=Diagonalization,
        invariant=True,
        divides=True,
    ),
    "quasi_velocity": _diagonal(Q | QD, "nu"),
    "joint_velocity": _diagonal(Q | {"nu": ("n",)}, "qd"),
    "quasi_force": _diagonal(Q | TAU, "epsilon"),
    "joint_force": _diagonal(Q | {"epsilon": ("n",)}, "tau"),
    "quasi_coriolis": _diagonal(Q | {"nu": ("n",)}, "C"),
    "quasi_coriolis_matrix": _diagonal(Q | {"nu": ("n",)}, "C", ("n", "n"))._replace(invariant=False),
}


def quantity_named(name: str) -> Quantity:
    """The description of a quantity."""
    return QUANTITIES[choice(name, "quantity", QUANTITIES)]


def register(name: str, quantity: Quantity) -> None:
    """Add a quantity that is made from others; the modules that define them call this."""
    QUANTITIES[name] = quantity
    _methods.cache_clear()


def methods(quantity: str, taking: str | None = None) -> tuple[str, ...]:
    """Names of the methods that compute a quantity; `taking` keeps those that have an optional input, such as "base_twist".

    >>> methods("inverse_dynamics")[:3]
    ('newton_euler', 'newton_euler_base', 'lie_group')
    """
    described = quantity_named(quantity)
    if taking is not None:
        choice(taking, f"optional input of {quantity}:", OUTSIDE | dict(described.optional))
    return _methods(quantity, taking)


@cache
def _methods(quantity: str, taking: str | None) -> tuple[str, ...]:
    described = QUANTITIES[quantity]
    written = formulations.methods(quantity, taking) if quantity in formulations.QUANTITIES else ()
    derived = described.methods if taking is None or taking in described.optional else ()
    return tuple(dict.fromkeys((*written, *derived)))


def check_method(quantity: str, method: str, optional: tuple[str, ...] = ()) -> None:
    """Refuse methods that a quantity does not have, and optional inputs that a method does not take."""
    _check_method(quantity, choice(method, f"method for {quantity}:", methods(quantity)), optional)


@cache
def _check_method(quantity: str, method: str, optional: tuple[str, ...]) -> None:
    if method not in quantity_named(quantity).methods:
        formulations.formulation(quantity, method, optional)


def sized(model: Model, template: tuple[Any, ...], options: Mapping[str, Any] | None = None) -> tuple[int, ...]:
    """A shape for this robot, and these options where they matter."""
    sizes = {"n": model.n, "6n": 6 * model.n, "10n": 10 * model.n}
    return tuple(sizes[d] if isinstance(d, str) else d if isinstance(d, int) else d(model.n, options) for d in template)
