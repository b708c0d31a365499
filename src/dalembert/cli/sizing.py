"""The command that chooses motors."""

from pathlib import Path
from typing import Annotated

import typer

import dalembert as da
from dalembert.cli.changes import payload_ends, values
from dalembert.cli.motions import Acceleration, Lower, Upper, Velocity, given_limits
from dalembert.cli.parts import listed, progress, said, show
from dalembert.cli.wording import in_words
from dalembert.errors import Error
from dalembert.robots import Robot
from dalembert.sizing.result import KINDS
from dalembert.text import wrapped


def size(
    robot: Robot,
    payload: Annotated[
        str,
        typer.Option(
            metavar="KG", help="The payload in kg: a mass, or a range such as 0:5; 0:5@X,Y,Z places it on the link, in m."
        ),
    ] = "0",
    link: Annotated[
        str | None, typer.Option(metavar="NAME", help="The link or frame that carries the payload. Default: the last link.")
    ] = None,
    motor: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Torque-speed curves of the motors, .toml or .csv. Default: the robot's limits."),
    ] = None,
    duty: Annotated[
        str | None, typer.Option(metavar="FILE", help="The duty cycle, a motion that is repeated: .csv or .npz.")
    ] = None,
    lower: Lower = None,
    upper: Upper = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    section: Annotated[
        str | None,
        typer.Option(
            metavar="JOINT,JOINT", help="The joints that vary in the payload map. Default: those that move the hand most."
        ),
    ] = None,
    samples: Annotated[float, typer.Option("--samples", "-n", metavar="N", help="How many random states; 1e6 is fine.")] = 200_000,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write: .html, .csv, .json, .png, .svg or .pdf; repeat it for more."
        ),
    ] = None,
) -> None:
    """Size the motors: peaks and margins over all states and payloads, the duty cycle, and a payload map."""
    load, at, place = payload.partition("@")
    com = values(place, "the place of --payload", (3,)) if at else (0.0, 0.0, 0.0)
    ends = payload_ends(load, "--payload")
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
            link=link,
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
