"""The command that finds motions of least effort."""

import re
from typing import Annotated, Any

import typer

from dalembert.cli.changes import one_or_several, values
from dalembert.cli.motions import (
    Acceleration,
    Lower,
    Step,
    Torque,
    Upper,
    Velocity,
    extremes,
    given_limits,
    motion_file,
    write_motion,
)
from dalembert.cli.parts import one_of, progress, show
from dalembert.errors import Error
from dalembert.planning.costs import COSTS
from dalembert.robots import Robot

_state = "positions Q, or positions and velocities Q/QD, rad or m and rad/s or m/s"


def least_effort(
    robot: Robot,
    start: Annotated[str, typer.Option(metavar="Q", help=f"Where the motion begins: {_state}.")],
    goal: Annotated[str, typer.Option(metavar="Q", help="Where it ends, given in the same way.")],
    duration: Annotated[
        str, typer.Option("--duration", "-t", metavar="S", help="Duration in seconds; or SHORTEST,LONGEST, to find the best.")
    ],
    cost: Annotated[str, one_of(COSTS, help="What to minimize: one of {}.")] = "torque",
    through: Annotated[
        list[str] | None,
        typer.Option(metavar="SHARE:Q", help="Positions Q at a share of the duration, as in 0.5:0.1,0.2; repeat it for more."),
    ] = None,
    limits: Annotated[bool, typer.Option("--limits/--no-limits", help="Whether the robot's own limits are kept.")] = True,
    lower: Lower = None,
    upper: Upper = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    torque: Torque = None,
    motor_constants: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="Motor constants at the joints, N m/sqrt(W): one number, or one for each joint; the cost is then in J.",
        ),
    ] = None,
    knots: Annotated[int, typer.Option(metavar="COUNT", help="Number of knots of the splines.")] = 20,
    step: Step = 1e-2,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the motion: .csv or .npz.")
    ] = None,
) -> None:
    """Find the motion of least effort from one state to another within limits."""
    if output is not None:
        motion_file(output)
    given = given_limits(lower=lower, upper=upper, velocity=velocity, acceleration=acceleration, torque=torque)
    if given and not limits:
        raise Error("--no-limits and limits contradict each other; give one of them")
    found_duration: Any = values(duration, "--duration", (1, 2))
    with progress("least effort") as bar:
        motion = robot.least_effort(
            _states(start, "--start"),
            _states(goal, "--goal"),
            found_duration[0] if len(found_duration) == 1 else found_duration,
            cost,
            through=dict(_point(text) for text in through or ()),
            limits=given or limits,
            motor_constants=one_or_several(motor_constants, "--motor-constants"),
            knots=knots,
            step=step,
            progress=bar or False,
        )
    show(extremes(motion))
    saved = f"of the quintic {motion.quintic_cost:.6g}: {motion.saving:.1%} saved"
    print(f"{motion.duration:.6g} s, cost {motion.cost:.6g} {motion.unit}, {saved}")
    if output is not None:
        write_motion(motion, output)


def _states(text: str, what: str) -> Any:
    """Positions, or positions and velocities, with a / between them; that of pi/2 is none."""
    parts = [values(part, what) for part in re.split(r"(?<!pi)/", text)]
    return parts[0] if len(parts) == 1 else parts


def _point(text: str) -> tuple[float, list[float]]:
    share, colon, q = text.partition(":")
    if not colon:
        raise Error(f"--through must be SHARE:Q, such as 0.5:0.1,0.2, got {text!r}")
    return values(share, "the share of --through", (1,))[0], values(q, "the positions of --through")


COMMANDS = (
    (
        least_effort,
        [
            "dalembert least-effort two_link --start=-1.57,0 --goal 0.5,0.5 --duration 1 -o motion.csv",
            "dalembert least-effort arm.urdf --start 0,0 --goal 1,1 --duration 0.5,3 --cost energy --motor-constants 1.2,0.8",
        ],
    ),
)
