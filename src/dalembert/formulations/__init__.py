"""The formulations, one file each, and the registry that names them.

A module's public functions are named after the quantities they compute, so one line here makes a file a method of each of them.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

from dalembert.errors import Error, unknown
from dalembert.formulations import (
    angular_velocity_lagrange,
    generalized_dalembert,
    lagrange_euler,
    lie_closed_form,
    lie_group,
    lie_group_com,
    newton_euler,
    newton_euler_base,
    recursive_lagrange_3x3,
    recursive_lagrange_4x4,
    spatial_operator,
    stacked_operators,
    uicker_kahn,
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
)
_QUANTITIES = ("inverse_dynamics", "newton_euler_pass", "lagrange_euler_terms", "dalembert_terms", "stacked_operators")

REGISTRY: dict[tuple[str, str], Callable[..., Any]] = {
    (quantity, module.__name__.rpartition(".")[2]): vars(module)[quantity]
    for module in _MODULES
    for quantity in _QUANTITIES
    if quantity in vars(module)
}


def methods(quantity: str, taking: str | None = None) -> tuple[str, ...]:
    """Names of the formulations that compute a quantity; `taking` keeps those that have an optional input, such as "base_twist".

    >>> methods("inverse_dynamics")[:3]
    ('newton_euler', 'newton_euler_base', 'lie_group')
    """
    if quantity not in _QUANTITIES:
        raise unknown("quantity", quantity, _QUANTITIES)
    found = (method for of, method in REGISTRY if of == quantity)
    return tuple(m for m in found if taking is None or taking in signature(REGISTRY[quantity, m]).parameters)


def formulation(quantity: str, method: str, optional: tuple[str, ...] = ()) -> Callable[..., Any]:
    """The function that computes a quantity by a method, with these optional inputs."""
    known = methods(quantity)
    if method not in known:
        raise unknown(f"method for {quantity}:", method, known)
    for name in optional:
        if method not in (able := methods(quantity, taking=name)):
            raise Error(f"{method} does not take {name}; these methods do: {', '.join(able)}")
    return REGISTRY[quantity, method]
