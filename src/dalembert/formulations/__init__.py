"""The formulations, one file each, and the registry that names them.

A module's public functions are named after the quantities they compute, so one line here makes a file a method of each of them.
"""

from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Any

from dalembert.arguments import choice
from dalembert.errors import Error
from dalembert.formulations import (
    angular_velocity_lagrange,
    articulated_body,
    body_jacobians,
    brandl,
    composite_body,
    diagonalized_normalized,
    diagonalized_unnormalized,
    generalized_dalembert,
    joint_acceleration,
    kalman,
    lagrange_euler,
    lie_closed_form,
    lie_group,
    lie_group_com,
    newton_euler,
    newton_euler_base,
    probing,
    recursive_lagrange_3x3,
    recursive_lagrange_4x4,
    regressor,
    spatial_operator,
    stacked_operators,
    uicker_kahn,
    walker_orin_1,
    walker_orin_2,
    walker_orin_3,
    walker_orin_4,
)

_MODULES = (
    newton_euler,
    newton_euler_base,
    lie_group,
    lie_group_com,
    spatial_operator,
    recursive_lagrange_3x3,
    recursive_lagrange_4x4,
    angular_velocity_lagrange,
    generalized_dalembert,
    stacked_operators,
    lie_closed_form,
    lagrange_euler,
    uicker_kahn,
    composite_body,
    body_jacobians,
    probing,
    articulated_body,
    brandl,
    kalman,
    walker_orin_1,
    walker_orin_2,
    walker_orin_3,
    walker_orin_4,
    joint_acceleration,
    diagonalized_normalized,
    diagonalized_unnormalized,
    regressor,
)
QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "inverse_mass_matrix",
    "coriolis_matrix",
    "christoffel",
    "joint_wrenches",
    "newton_euler_pass",
    "lagrange_euler_terms",
    "dalembert_terms",
    "stacked_operators",
    "spatial_operators",
    "spatial_operator_rates",
    "inertial_operator_rates",
    "diagonalize",
    "quasi_velocity",
    "joint_velocity",
    "quasi_force",
    "joint_force",
    "quasi_coriolis",
    "quasi_coriolis_matrix",
    "regressor",
)
# methods made of other formulations, which they get as arguments
_BUILT_ON = {
    probing: {"inverse_dynamics": newton_euler},
    walker_orin_1: {"inverse_dynamics": newton_euler},
    walker_orin_2: {"inverse_dynamics": newton_euler},
    walker_orin_3: {"inverse_dynamics": newton_euler, "mass_matrix": composite_body},
    walker_orin_4: {"inverse_dynamics": newton_euler},
    joint_acceleration: {"inverse_dynamics": lie_group_com, "mass_matrix": body_jacobians},
}


def _function(module: Any, quantity: str) -> Callable[..., Any]:
    function, parts = vars(module)[quantity], _BUILT_ON.get(module, {})
    return partial(function, **{name: vars(other)[name] for name, other in parts.items()}) if parts else function


REGISTRY: dict[tuple[str, str], Callable[..., Any]] = {
    (quantity, module.__name__.rpartition(".")[2]): _function(module, quantity)
    for module in _MODULES
    for quantity in QUANTITIES
    if quantity in vars(module)
}


def methods(quantity: str, taking: str | None = None) -> tuple[str, ...]:
    """Names of the formulations that compute a quantity; `taking` keeps those that have an optional input, such as "base_twist"."""
    choice(quantity, "quantity", QUANTITIES)
    found = (method for of, method in REGISTRY if of == quantity)
    return tuple(m for m in found if taking is None or takes(quantity, m, taking))


@cache
def takes(quantity: str, method: str, name: str) -> bool:
    """Whether a formulation has an input of this name."""
    return name in signature(REGISTRY[quantity, method]).parameters


def formulation(quantity: str, method: str, optional: tuple[str, ...] = ()) -> Callable[..., Any]:
    """The function that computes a quantity by a method, with these optional inputs."""
    choice(method, f"method for {quantity}:", methods(quantity))
    for name in optional:
        if not takes(quantity, method, name):
            able = methods(quantity, taking=name)
            raise Error(f"{method} does not take {name}; these methods do: {', '.join(able) or 'none'}")
    return REGISTRY[quantity, method]
