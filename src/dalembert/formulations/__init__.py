"""The formulations: one file a method, functions named after the quantities that they compute.

`METHODS` is their list: a line here makes a file a method of the quantities it names. What several papers share is in `shared`.
May import: algebra, model.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from dalembert.arguments import choice

BASE = ("base_twist", "base_acceleration")
OUTSIDE = ("wrenches", *BASE)
PIVOTS = ("pivots",)  # the rotors' inertias, and how small a pivot may be: of methods that divide by it
DIAGONALIZED = dict.fromkeys(("quasi_velocity", "joint_velocity", "quasi_force", "joint_force", "quasi_coriolis"), PIVOTS)

# what each method computes, and what the function takes besides the quantity's own inputs
METHODS: dict[str, dict[str, tuple[str, ...]]] = {
    "newton_euler": dict.fromkeys(("inverse_dynamics", "joint_wrenches", "newton_euler_pass"), OUTSIDE),
    "newton_euler_base": {"inverse_dynamics": OUTSIDE},
    "lie_group": {"inverse_dynamics": OUTSIDE},
    "lie_group_com": {"inverse_dynamics": OUTSIDE},
    "spatial_operator": {
        "inverse_dynamics": ("wrenches",),
        "mass_matrix": (),
        "inverse_mass_matrix": PIVOTS,
        "spatial_operators": PIVOTS,
        "spatial_operator_rates": PIVOTS,
        "inertial_operator_rates": PIVOTS,
        "diagonalize": PIVOTS,
    },
    "recursive_lagrange_3x3": {"inverse_dynamics": ("wrenches",)},
    "recursive_lagrange_4x4": {"inverse_dynamics": ("wrenches",)},
    "angular_velocity_lagrange": {"inverse_dynamics": ("wrenches",)},
    "generalized_dalembert": {"inverse_dynamics": ("wrenches",), "mass_matrix": (), "dalembert_terms": ()},
    "stacked_operators": {"inverse_dynamics": OUTSIDE, "mass_matrix": (), "stacked_operators": ()},
    "lie_closed_form": {"inverse_dynamics": ("wrenches",), "mass_matrix": (), "coriolis_matrix": (), "christoffel": ()},
    "lagrange_euler": {"inverse_dynamics": ("wrenches",), "mass_matrix": (), "lagrange_euler_terms": ()},
    "uicker_kahn": {"inverse_dynamics": ("wrenches",)},
    "composite_body": {"mass_matrix": (), "inverse_mass_matrix": PIVOTS, "coriolis_matrix": ()},
    "composite_body_world": {
        "mass_matrix": (),
        "coriolis_matrix": (),
        "inverse_dynamics_derivatives": OUTSIDE,
        "inverse_dynamics_hessian": (),
    },
    "body_jacobians": {"mass_matrix": ()},
    "probing": {"mass_matrix": ()},
    "articulated_body": {"forward_dynamics": OUTSIDE + PIVOTS},
    "brandl": {"forward_dynamics": OUTSIDE + PIVOTS},
    "kalman": {"forward_dynamics": OUTSIDE + PIVOTS},
    "walker_orin_1": {"forward_dynamics": OUTSIDE + PIVOTS},
    "walker_orin_2": {"forward_dynamics": OUTSIDE + PIVOTS},
    "walker_orin_3": {"forward_dynamics": OUTSIDE + PIVOTS},
    "walker_orin_4": {"forward_dynamics": OUTSIDE + PIVOTS},
    "joint_acceleration": {"forward_dynamics": OUTSIDE + PIVOTS},
    "diagonalized_normalized": {"forward_dynamics": ("wrenches", *PIVOTS), **DIAGONALIZED, "quasi_coriolis_matrix": PIVOTS},
    "diagonalized_unnormalized": {"forward_dynamics": ("wrenches", *PIVOTS), **DIAGONALIZED},
    "regressor": {"regressor": ()},
}
# methods made of other formulations, which they get as arguments
_BUILT_ON = {
    "probing": {"inverse_dynamics": "newton_euler"},
    "walker_orin_1": {"inverse_dynamics": "newton_euler"},
    "walker_orin_2": {"inverse_dynamics": "newton_euler"},
    "walker_orin_3": {"inverse_dynamics": "newton_euler", "mass_matrix": "composite_body"},
    "walker_orin_4": {"inverse_dynamics": "newton_euler"},
    "joint_acceleration": {"inverse_dynamics": "lie_group_com", "mass_matrix": "body_jacobians"},
}


def methods(quantity: str, taking: str | None = None) -> tuple[str, ...]:
    """Names of the formulations that compute a quantity; `taking` keeps those that have an optional input, such as "base_twist"."""
    return tuple(
        method
        for method, quantities in METHODS.items()
        if quantity in quantities and (taking is None or taking in quantities[quantity])
    )


def formulation(quantity: str, method: str) -> Callable[..., Any]:
    """The function that computes a quantity by a method; its file is imported when it is first asked for."""
    choice(method, f"method for {quantity}:", methods(quantity))
    parts = {name: _function(other, name) for name, other in built_on(method).items()}
    function = _function(method, quantity)
    return partial(function, **parts) if parts else function


def built_on(method: str) -> dict[str, str]:
    """The quantities that a method takes from other formulations, and which ones those are."""
    return _BUILT_ON.get(method, {})


def _function(method: str, quantity: str) -> Callable[..., Any]:
    return getattr(import_module(f"{__name__}.{method}"), quantity)


def takes(quantity: str, method: str, name: str) -> bool:
    """Whether a formulation has an optional input of this name."""
    return name in METHODS[method][quantity]
