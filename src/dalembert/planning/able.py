"""What planning asks of robots, and reads from them: joints with rates, their limits, and friction that can be smoothed."""

from typing import Any

from dalembert.arguments import positive
from dalembert.derived.joints import friction_law
from dalembert.engine.evaluation import uncharted
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
