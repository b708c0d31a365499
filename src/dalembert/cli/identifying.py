"""Commands from a robot to motions that excite it, and from recordings to a robot."""

import warnings
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
from dalembert.cli.parts import allowing_nan, listed, one_of, progress, said, show
from dalembert.errors import Error
from dalembert.identification.clock import UNITS
from dalembert.identification.columns import TERMS
from dalembert.identification.search import CRITERIA
from dalembert.robots import Robot
from dalembert.text import wrapped

UNCHECKED = (
    "Collisions with the floor and with itself are not checked: look at the motion first (in a report, a plot), and narrow it with "
    "--lower and --upper."
)


def excite(
    robot: Robot,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write the motion: .csv or .npz.")],
    period: Annotated[float, typer.Option("--period", "-t", metavar="S", help="Duration in seconds, from rest to rest.")] = 10.0,
    harmonics: Annotated[int, typer.Option(metavar="COUNT", help="Number of harmonics of the Fourier series.")] = 5,
    criterion: Annotated[str, one_of(CRITERIA, help="What to optimize of the regressor: one of {}.")] = "logdet",
    lower: Lower = None,
    upper: Upper = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    torque: Torque = None,
    starts: Annotated[
        int, typer.Option(metavar="COUNT", help="Number of random motions to start from; the best result is kept.")
    ] = 2,
    seed: Annotated[int, typer.Option(metavar="SEED", help="Seed of the random motions: another gives another motion.")] = 0,
    step: Step = 1e-2,
) -> None:
    """Find an exciting motion within limits, from which `identify` can find the parameters."""
    motion_file(output)
    limits = given_limits(lower=lower, upper=upper, velocity=velocity, acceleration=acceleration, torque=torque)
    with progress("exciting") as bar:
        options: dict[str, Any] = {"harmonics": harmonics, "criterion": criterion, "starts": starts, "seed": seed}
        path = da.excitation(robot, limits, period=period, progress=bar or False, **options)
    motion = path.trajectory(step)
    show(extremes(motion))
    print(f"condition of the scaled columns {path.condition:.3g}, of a random motion {path.start:.3g}")
    write_motion(motion, output)
    print(wrapped(UNCHECKED))


def identify(
    robot: Robot,
    recordings: Annotated[
        list[str],
        typer.Argument(metavar="RECORDING", help="Files .csv or .npz with t, q_<joint> and tau_<joint> (or current_<joint>)."),
    ],
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the robot: .toml.")] = None,
    validate: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="A recording to validate the result with; repeat it for more.")
    ] = None,
    friction: Annotated[
        str, typer.Option(metavar="TERMS", help=f"Terms of friction, comma-separated: any of {', '.join(TERMS)}; or none.")
    ] = "viscous,coulomb,offset",
    rotors: Annotated[bool, typer.Option("--rotors/--no-rotors", help="Whether rotor inertias are identified.")] = True,
    consistent: Annotated[
        bool, typer.Option("--consistent/--least-squares", help="Whether every link must be a physically possible body.")
    ] = True,
    prior: Annotated[bool, typer.Option("--prior/--no-prior", help="Whether the robot's own parameters are the prior.")] = True,
    gains: Annotated[
        str | None, typer.Option(metavar="K", help="Motor gains for recorded currents, N m/A: one number, or one for each motor.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="PART=NAME",
            help="The names of columns, for t, q, qd, tau or current, as in q=actual_q_{} or t=timestamp; {} stands for the "
            "name of a joint, its number from 1, or its number from 0; or a list NAME,NAME,... in the order of the joints, for t "
            "seconds and nanoseconds. Repeat it for more.",
        ),
    ] = None,
    time_unit: Annotated[
        str | None, one_of(UNITS, help="Unit of the clock: one of {}. Default: s, and an error where that cannot be.")
    ] = None,
    allow_nan: Annotated[bool, typer.Option("--allow-nan", help="Leave out rows with NaN or infinities.")] = False,
    degrees: Annotated[bool, typer.Option("--degrees", help="Positions (and velocities) are in degrees.")] = False,
    cutoff: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Cutoff of the low-pass filter of joint forces. Default: from the recordings."),
    ] = None,
    q_cutoff: Annotated[
        float | None,
        typer.Option("--q-cutoff", metavar="HZ", help="Cutoff of the low-pass filter of positions. Default: four times --cutoff."),
    ] = None,
    delay: Annotated[
        str, typer.Option(metavar="S", help="Delay of the joint forces behind the motion, in seconds; auto finds it.")
    ] = "auto",
    report: Annotated[str | None, typer.Option(metavar="FILE", help="File to write a report with charts: .html.")] = None,
) -> None:
    """Identify masses, inertias, friction and rotors from recordings of an arm; print residuals, save the robot."""
    if output is not None and Path(output).suffix.lower() != ".toml":
        raise Error(f"{output}: robots are saved as TOML; the file name must end in .toml")
    named: dict[str, Any] = {}
    for text in columns or []:
        part, equals, name = text.partition("=")
        if not equals:
            raise Error(f"--column must be PART=NAME, such as q=actual_q_{{}}, got {text!r}")
        named[part] = [x.strip() for x in name.split(",")] if "," in name else name
    told: dict[str, Any] = {"gains": one_or_several(gains, "--gains"), "degrees": degrees or None, "time_unit": time_unit}

    def read(path: str) -> da.Recording:
        with allowing_nan("leaves such rows out"):
            return da.Recording.load(path, robot, columns=named, allow_nan=allow_nan, **told)

    lag: float | str = delay if delay == "auto" else values(delay, "--delay, if not auto,", (1,))[0]
    with progress("identifying") as bar, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "identify: ", da.DataWarning)  # its notes are printed with the result
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
            "dalembert identify arm.urdf log.csv --column t=timestamp --column q=actual_q_{} --column current=current_{} "
            "--gains 0.1 --degrees",
            "dalembert identify arm.urdf joint_states.csv --column t=%time --time-unit ns --column q=field.position{} "
            "--column tau=field.effort{}",
        ],
    ),
)
