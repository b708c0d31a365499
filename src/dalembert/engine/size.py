"""Robots too large for a method: rejected before any work is done, naming methods that would work."""

from collections.abc import Sequence

from dalembert.engine.quantity import Quantity
from dalembert.errors import Error

MOST_WORK = 100_000  # lagrange_euler to 17 joints in a row, which is a minute of tracing

# The highest power of n in the general count of each method that is not linear: counted for n = 3 .. 8 and 12 by
# `complexity.growth`, which takes seconds; a slow test does that again, and names a method that belongs here.
ORDERS: dict[str, dict[str, int]] = {
    "inverse_dynamics": {
        "angular_velocity_lagrange": 2, "generalized_dalembert": 3, "stacked_operators": 2, "lie_closed_form": 4,
        "lagrange_euler": 4, "uicker_kahn": 4,
    },
    "forward_dynamics": {
        "walker_orin_1": 3, "walker_orin_2": 3, "walker_orin_3": 3, "walker_orin_4": 3, "joint_acceleration": 3,
    },
    "mass_matrix": {
        "composite_body": 2, "lagrange_euler": 3, "generalized_dalembert": 3, "body_jacobians": 3, "stacked_operators": 3,
        "lie_closed_form": 3, "spatial_operator": 3, "probing": 2,
    },
}  # fmt: skip

# other quantities: how the time of recording their programs grows
_OTHERS: dict[str, dict[str, int]] = {
    "coriolis_matrix": {"composite_body": 2, "lie_closed_form": 4},
    "mass_matrix_rate": {"composite_body": 2, "lie_closed_form": 4},
    "christoffel": {"differentiated": 3, "lie_closed_form": 4},
    "christoffel_gradient": {"differentiated": 4, "lie_closed_form": 5},
    "lagrange_euler_terms": {"lagrange_euler": 4},
    "dalembert_terms": {"generalized_dalembert": 3},
    "simplified_inverse_dynamics": {"generalized_dalembert": 3},
    "spatial_operator_rates": {"spatial_operator": 3},
    "inertial_operator_rates": {"spatial_operator": 3},
}
# quantities made from the programs of others, by the same methods: of which, and the further powers of n
_MADE_FROM = {
    "coriolis_force": ("inverse_dynamics", 0),
    "gravity_force": ("inverse_dynamics", 0),
    "bias_force": ("inverse_dynamics", 0),
    "kinetic_energy": ("inverse_dynamics", 0),
    "inverse_dynamics_derivatives": ("inverse_dynamics", 1),
    "inverse_dynamics_second_derivatives": ("inverse_dynamics", 2),
    "forward_dynamics_derivatives": ("forward_dynamics", 1),
    "mass_matrix_gradient": ("mass_matrix", 1),
}
_INSTEAD = {"lagrange_euler_terms": "robot.probe(q, qd) gives the same terms"}


def order(quantity: str, method: str) -> int:
    """The work of a method grows as n to this power.

    >>> order("inverse_dynamics", "lagrange_euler"), order("inverse_dynamics_derivatives", "newton_euler")
    (4, 2)
    """
    other, further = _MADE_FROM.get(quantity, (quantity, 0))
    return (ORDERS | _OTHERS).get(other, {}).get(method, 1) + further


def work(parents: Sequence[int], quantity: str, method: str) -> int:
    """About n to the order of the method for a chain of n joints; less for a tree, whose links have fewer joints before them."""
    power, depths = order(quantity, method), list[int]()
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return power * sum(depth ** (power - 1) for depth in depths)


def check_size(parents: Sequence[int], robot: str, quantity: Quantity, method: str, most: int = MOST_WORK) -> None:
    """Refuse a method whose program would take minutes to record."""
    name = quantity.name
    if work(parents, name, method) <= most:
        return
    able = [other for other in quantity.methods if work(parents, name, other) <= most]
    instead = f"use {' or '.join(able)}" if able else _INSTEAD.get(name, "there is no other method")
    raise Error(
        f"{name} by {method} is too large for the {len(parents)} joints of {robot}: its cost grows as "
        f"n^{order(name, method)}; {instead}"
    )
