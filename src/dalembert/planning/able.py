"""What planning asks of robots, and reads from them: joints with rates, their limits, and friction that can be smoothed."""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import positive
from dalembert.derived.joints import friction_law
from dalembert.engine.quantity import uncharted
from dalembert.errors import Error
from dalembert.model.model import Model, a_robot, refuse_loops


def with_rates(robot: Any, function: str) -> Any:
    """A robot with joints whose velocities are the rates of its positions, without loops."""
    a_robot(robot, function)
    refuse_loops(robot, function)
    if robot.runs:
        raise uncharted(robot, function)
    if not robot.n:
        raise Error(f"{function} needs a robot with joints, {robot.name} has none")
    return robot


def own_limits(robot: Model, of: str) -> Array:
    """The "effort_limit" or "velocity_limit" of each joint, (n,); infinite where there is none, for which files write 0."""
    return np.array([getattr(joint, of) or np.inf for joint in robot.joints], dtype=float)


def both_sides(limit: Array, n: int | None = None) -> Array:
    """The least and the greatest values (2, n), from those or from the greatest alone, one number or (n,)."""
    pair = limit if limit.ndim == 2 else np.array([-limit, limit])
    return pair if n is None or pair.ndim == 2 else np.repeat(pair[:, None], n, axis=1)


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
