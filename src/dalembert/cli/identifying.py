"""Commands from a robot to motions that excite it, and from recordings to a robot."""

from pathlib import Path
from typing import Annotated, Any

import typer

import dalembert as da
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
from dalembert.cli.parts import completing, listed, progress, said, show
from dalembert.errors import Error
from dalembert.identification.columns import TERMS
from dalembert.identification.excitation import CRITERIA
from dalembert.robots import Robot


def excite(
    robot: Robot,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the motion: .csv or .npz.")],
    period: Annotated[float, typer.Option("--period", "-t", metavar="S", help="Seconds from rest to rest.")] = 10.0,
    harmonics: Annotated[int, typer.Option(metavar="K", help="Of the Fourier series.")] = 5,
    criterion: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(CRITERIA)}.", autocompletion=completing(*CRITERIA))
    ] = "logdet",
    lower: Lower = None,
    upper: Upper = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    torque: Torque = None,
    starts: Annotated[int, typer.Option(metavar="K", help="Random motions to begin with; the best result is kept.")] = 2,
    step: Step = 1e-2,
) -> None:
    """Find a motion that shows a robot's parameters, within its limits, for `identify`."""
    motion_file(output)
    limits = given_limits(lower=lower, upper=upper, velocity=velocity, acceleration=acceleration, torque=torque)
    with progress("exciting") as bar:
        options: dict[str, Any] = {"harmonics": harmonics, "criterion": criterion, "starts": starts, "progress": bar or False}
        path = da.excitation(robot, limits, period=period, **options)
    motion = path.trajectory(step)
    show(extremes(motion))
    print(f"condition of the scaled columns {path.condition:.3g}, of a random motion {path.start:.3g}")
    write_motion(motion, output)


def identify(
    robot: Robot,
    recordings: Annotated[
        list[str],
        typer.Argument(metavar="RECORDINGS...", help="CSV or NPZ files with t, q_<joint>, tau_<joint> (or current_<joint>)."),
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to save the robot; it ends in .toml.")
    ] = None,
    validate: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="A recording to try the result on; may be repeated.")
    ] = None,
    friction: Annotated[
        str, typer.Option(metavar="TERMS", help=f"Any of {', '.join(TERMS)}, with commas between them, or none.")
    ] = "viscous,coulomb,offset",
    rotors: Annotated[bool, typer.Option("--rotors/--no-rotors", help="Whether rotor inertias are sought.")] = True,
    consistent: Annotated[
        bool, typer.Option("--consistent/--least-squares", help="Whether every link must be a body that can exist.")
    ] = True,
    prior: Annotated[bool, typer.Option("--prior/--no-prior", help="Whether the robot's own masses are the prior.")] = True,
    gains: Annotated[str | None, typer.Option(metavar="K", help="N m/A of the motors, for recorded currents.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="PART=NAME", help="Names of columns, as in q=actual_q_{} or t=timestamp; may be repeated."
        ),
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Positions are in degrees.")] = False,
    cutoff: Annotated[float | None, typer.Option(metavar="HZ", help="Of the low-pass filter of forces.")] = None,
    q_cutoff: Annotated[float | None, typer.Option("--q-cutoff", metavar="HZ", help="Of that of positions.")] = None,
    delay: Annotated[str, typer.Option(metavar="S", help="By how much forces lag behind the motion; auto searches it.")] = "auto",
    report: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page with charts; it ends in .html.")] = None,
) -> None:
    """Find masses, inertias, friction and rotors from recordings of an arm; print errors, save the robot."""
    if output is not None and Path(output).suffix.lower() != ".toml":
        raise Error(f"{output}: robots are saved as TOML; the file name must end in .toml")
    named: dict[str, Any] = {}
    for text in columns or []:
        part, equals, name = text.partition("=")
        if not equals:
            raise Error(f"--column must be PART=NAME, such as q=actual_q_{{}}, got {text!r}")
        named[part] = name

    def read(path: str) -> da.Recording:
        return da.Recording.load(path, robot, columns=named, gains=one_or_several(gains, "--gains"), degrees=degrees or None)

    lag: float | str = delay if delay == "auto" else values(delay, "--delay", (1,))[0]
    with progress("identifying") as bar:
        found = da.identify(
            robot,
            [read(path) for path in recordings],
            listed(friction),
            rotors=rotors,
            consistent=consistent,
            prior=None if prior else False,
            validate=[read(path) for path in validate] if validate else None,
            cutoff=cutoff,
            q_cutoff=q_cutoff,
            delay=lag,
            progress=bar or False,
        )
    print(repr(found))
    if output is not None:
        found.robot.save(output)
        said(output)
    if report is not None:
        said(found.report(report))


COMMANDS = (
    (excite, ["dalembert excite ur5 -o motion.csv", "dalembert excite arm.urdf -o motion.csv --velocity 1.5 --period 20"]),
    (
        identify,
        [
            "dalembert identify arm.urdf run1.csv run2.csv --validate other.csv -o identified.toml --report identified.html",
            "dalembert identify arm.urdf log.csv --column q=actual_q_{} --column current=actual_current_{} --gains 11,11,9,6,6,6",
        ],
    ),
)
