"""The formulations, one file each, and the registry that names them.

A module's public functions are named after the quantities they compute, so one line here makes a file a method of each of them.
"""

from collections.abc import Callable
from typing import Any

from dalembert.errors import unknown
from dalembert.formulations import lie_group, newton_euler

_MODULES = (newton_euler, lie_group)
_QUANTITIES = ("inverse_dynamics",)

REGISTRY: dict[tuple[str, str], Callable[..., Any]] = {
    (quantity, module.__name__.rpartition(".")[2]): vars(module)[quantity]
    for module in _MODULES
    for quantity in _QUANTITIES
    if quantity in vars(module)
}


def methods(quantity: str) -> tuple[str, ...]:
    """Names of the formulations that compute a quantity.

    >>> methods("inverse_dynamics")
    ('newton_euler', 'lie_group')
    """
    if quantity not in _QUANTITIES:
        raise unknown("quantity", quantity, _QUANTITIES)
    return tuple(method for of, method in REGISTRY if of == quantity)


def formulation(quantity: str, method: str) -> Callable[..., Any]:
    """The function that computes a quantity by a method."""
    known = methods(quantity)
    if method not in known:
        raise unknown(f"method for {quantity}:", method, known)
    return REGISTRY[quantity, method]
