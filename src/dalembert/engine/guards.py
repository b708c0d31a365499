"""What functions need of a robot, refused where it lacks it; `refuse_loops` of the model is one more of them."""

from dalembert.errors import Error
from dalembert.model.model import Model


def need_rates(robot: Model, function: str, rest: str = "") -> None:
    """For what is defined where velocities are the rates of positions; `rest` ends the message."""
    for joint in robot.runs:
        raise Error(
            f"{function} needs velocities that are the rates of the positions; those of the {joint.kind} joint {joint.joint!r} of "
            f"{robot.name} are not{rest}"
        )


def need_single_joints(robot: Model, function: str) -> None:
    """For what is defined for joints of one degree of freedom."""
    if robot.several:
        need_rates(robot, function)
        raise Error(f"{function} does not support planar joints, which {robot.name} has")


def need_joints(robot: Model, function: str) -> None:
    """For what has nothing to say about a robot without joints."""
    if not robot.n:
        raise Error(f"{function} needs a robot with joints, {robot.name} has none")
