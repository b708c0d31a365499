"""The command that chooses motors."""

from pathlib import Path
from typing import Annotated

import typer

import dalembert as da
from dalembert.cli.changes import load
from dalembert.cli.motions import Acceleration, Lower, Upper, Velocity, given_limits
from dalembert.cli.parts import PayloadLink, listed, number_of_states, progress, said, show
from dalembert.cli.wording import in_words
from dalembert.errors import Error
from dalembert.robots import Robot
from dalembert.sizing.result import KINDS
from dalembert.text import wrapped

_payload = typer.Option(
    metavar="LOAD",
    help="Payload, MASS kg at X,Y,Z m, on the end link, or on LINK (or a frame): MASS, MASS@X,Y,Z, MASS:LINK or MASS@X,Y,Z:LINK; "
    "MASS may be a range, LOW:HIGH.",
)
_motor = typer.Option(metavar="FILE", help="Torque-speed curves of the motors, .toml or .csv. Default: the robot's limits.")
_duty = typer.Option(metavar="FILE", help="The duty cycle, a motion that is repeated: .csv or .npz.")
_section = typer.Option(
    metavar="JOINT,JOINT", help="The joints that vary in the payload map. Default: those that move the hand most."
)
_output = typer.Option(
    "--output", "-o", metavar="FILE", help="File to write: .html, .csv, .json, .png, .svg or .pdf; repeat it for more."
)


def size(
    robot: Robot,
    payload: Annotated[str, _payload] = "0",
    link: PayloadLink = None,
    motor: Annotated[str | None, _motor] = None,
    duty: Annotated[str | None, _duty] = None,
    lower: Lower = None,
    upper: Upper = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    section: Annotated[str | None, _section] = None,
    samples: Annotated[float, number_of_states()] = 200_000,
    output: Annotated[list[str] | None, _output] = None,
) -> None:
    """Size the motors: peaks and margins over all states and payloads, the duty cycle, and a payload map."""
    ends, com, carrier = load(payload, "--payload", ranged=True)
    if None not in (link, carrier):
        raise Error(f"--payload {payload} names a link, and so does --link; give one of them")
    targets = [Path(name) for name in output or []]
    for target in targets:
        if target.suffix.lower() not in (*KINDS, ".html"):
            raise Error(f"{target}: a sizing is written as {', '.join(KINDS)} or .html")
    limits = given_limits(lower=lower, upper=upper, velocity=velocity, acceleration=acceleration)
    motion = None if duty is None else da.Trajectory.load(duty, robot)
    with progress("sizing") as bar:
        found = robot.size(
            ends,
            motor,
            motion,
            **limits,
            com=com,
            link=carrier if link is None else link,
            section=listed(section) or None,
            samples=samples,
            progress=bar or False,
        )
    print(found.head)
    show(found.cells())
    print(*(wrapped(in_words(line)) for line in found.verdict()), sep="\n")
    for target in targets:
        if target.suffix.lower() == ".html":
            from dalembert.studies.report.sizing import write

            said(write(target, found))
        else:
            said(found.save(target))


COMMANDS = (
    (
        size,
        [
            "dalembert size ur5 --payload 0:5",
            "dalembert size arm.urdf --payload 0:5@0,0,0.1 --motor motors.toml --duty motion.csv -o sizing.html -o sizing.csv",
        ],
    ),
)
