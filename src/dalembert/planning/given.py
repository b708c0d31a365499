"""What planning is given, checked: robots whose velocities are rates, smooth friction, weights, and joint vectors."""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import frozen_array, numbers, positive
from dalembert.derived.joints import friction_law
from dalembert.engine.evaluation import joint_vector
from dalembert.engine.guards import need_joints, need_rates
from dalembert.errors import Error, brief
from dalembert.model.degrees import warn_of_positions
from dalembert.model.model import Model, a_robot, refuse_loops


def with_rates(robot: Any, function: str) -> Any:
    """A robot with joints whose velocities are the rates of its positions, without loops."""
    a_robot(robot, function)
    refuse_loops(robot, function)
    need_rates(robot, function)
    need_joints(robot, function)
    return robot


def slip_of(robot: Model, slip_speed: Any, function: str) -> float:
    """The speed within which Coulomb friction is smooth; 0 where there is none, and none was given."""
    if slip_speed is not None:
        return positive(slip_speed, f"{function}: slip_speed")
    if friction_law(robot.open).jumps:
        raise Error(
            f"{function}: {robot.name} has Coulomb friction, which jumps where a joint stops and has no derivative there; give "
            "slip_speed=0.1 or so for smooth friction, or use robot.without_friction()"
        )
    return 0.0


def diagonal(given: Any, n: int, what: str) -> Array:
    """The diagonal (n,) of a weight: a number or one for each joint, none of them negative."""
    weight = frozen_array(given, None, what)
    if weight.shape not in ((), (n,)) or (weight < 0).any():
        raise Error(f"{what} must be one number, or one for each of the {n} joints, and not negative; got {brief(given)}")
    return np.broadcast_to(weight, (n,))


def real_vector(robot: Model, function: str, name: str, value: Any) -> Array:
    """Real numbers (..., n), one for each joint."""
    numbers(value, f"{function}: {name}")
    return joint_vector(robot, function, name, value)


def typed_positions(robot: Model, function: str, name: str, value: Any) -> Array:
    """The same of positions, with a warning where they look like degrees."""
    q = real_vector(robot, function, name, value)
    warn_of_positions(robot, q, f"{function}: {name}")
    return q
