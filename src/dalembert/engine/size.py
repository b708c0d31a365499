"""Robots too large for a method: rejected before any work is done, naming methods that would work."""

from collections.abc import Sequence

from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error
from dalembert.model.values import depths

MOST_WORK = 100_000  # lagrange_euler to 17 joints in a row, which is a minute of tracing

_INSTEAD = {"lagrange_euler_terms": "robot.probe(q, qd) gives the same terms"}


def order(quantity: str | Quantity, method: str) -> int:
    """The work of a method grows as n to this power.

    >>> order("inverse_dynamics", "lagrange_euler"), order("inverse_dynamics_derivatives", "newton_euler")
    (4, 2)
    """
    described = quantity_named(quantity)
    other, further = described.like
    return order(other, method) + further if other else described.orders.get(method, 1)


def work(parents: Sequence[int], quantity: str | Quantity, method: str) -> int:
    """About n to the order of the method for a chain of n joints; less for a tree, whose links have fewer joints before them."""
    power = order(quantity, method)
    return power * sum(depth ** (power - 1) for depth in depths(parents))


def check_size(parents: Sequence[int], robot: str, quantity: Quantity, method: str, most: int = MOST_WORK) -> None:
    """Refuse a method whose program would take minutes to record."""
    if work(parents, quantity, method) <= most:
        return
    able = [other for other in quantity.methods if work(parents, quantity, other) <= most]
    instead = f"use {' or '.join(able)}" if able else _INSTEAD.get(quantity.name, "there is no other method")
    raise Error(
        f"{quantity.name} by {method} is too large for the {len(parents)} joints of {robot}: its cost grows as "
        f"n^{order(quantity, method)}; {instead}"
    )
