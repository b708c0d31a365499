"""The command that finds the fastest motion along a path."""

import sys
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dalembert.cli.motions import Acceleration, Torque, Velocity, given_limits, motion_file, write_motion
from dalembert.cli.parts import progress, said, show
from dalembert.errors import DataWarning, Error
from dalembert.files import load_states
from dalembert.planning.fastest import Fastest, Limiting
from dalembert.robots import Robot
from dalembert.storage.saving import saving

SHOWN = 12  # switches that a summary lists


def fastest(
    robot: Robot,
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="Waypoints q_<joint> of a spline: a .csv, .npy or .npz file, or - for standard input."),
    ],
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    torque: Torque = None,
    points: Annotated[int, typer.Option(metavar="COUNT", help="Number of intervals of the path.")] = 1000,
    step: Annotated[
        float | None,
        typer.Option(
            "--step", "-s", metavar="S", help="Seconds between the states of the file. Default: those at the ends of the intervals."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write the motion: .csv or .npz; - is standard output (CSV)."),
    ] = None,
    figure: Annotated[str | None, typer.Option(metavar="FILE", help="File to draw the phase plane: .png, .svg or .pdf.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder to write a report that plays the motion.")] = None,
) -> None:
    """Find the fastest motion along a path within limits of velocities, accelerations and torques."""
    if output not in (None, "-"):
        motion_file(output)
    if figure is not None and Path(figure).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Error(f"{figure}: a figure is written as .png, .svg or .pdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # fastest tells of waypoints in degrees
        way = load_states(robot, path, ["q"])["q"]
    limits = given_limits(velocity=velocity, acceleration=acceleration, torque=torque)
    found = robot.fastest(way, **limits, points=points, step=step)
    if output == "-":
        found.to_csv(sys.stdout)
    elif output is None:
        _summarize(found)
    else:
        write_motion(found, output)
    if figure is not None:
        drawn = found.phase_plane()
        with saving(figure) as file:
            drawn.savefig(file, format=Path(figure).suffix[1:].lower())
        said(figure)
    if report is not None:
        from dalembert.studies.report import study

        with progress("writing the report") as bar:
            said(study(robot, report, path=found, progress=bar or False))


def _summarize(found: Fastest) -> None:
    """The duration, how near each joint comes to its limits, and where another limit takes over."""
    print(f"{found.robot.name}: {found.duration:.6g} s along a path of {found.curve.length:.6g}\n")
    largest = [np.abs(x).max(axis=0) for x in (found.tau, found.qd, found.saturation)]
    rows = [["joint", "largest |tau|", "share of limit", "largest |qd|"]]
    for i, name in enumerate(found.robot.joint_names):
        limited = np.isfinite(found.torque_limits[:, i]).any()
        rows.append([name, f"{largest[0][i]:.4g}", f"{largest[2][i]:.1%}" if limited else "", f"{largest[1][i]:.4g}"])
    show(rows)
    print()
    switches = found.switches
    cells = [["time, s", "s", "limited by", "then by"]]
    cells += [[f"{x.time:.4f}", f"{x.s:.4f}", _words(x.before), _words(x.after)] for x in switches[:SHOWN]]
    show(cells)
    if len(switches) > SHOWN:
        print(f"and {len(switches) - SHOWN} more")


def _words(limiting: Limiting | None) -> str:
    return "nothing" if limiting is None else f"{limiting.kind} of {limiting.joint} ({'+' if limiting.side > 0 else '-'})"


COMMANDS = (
    (
        fastest,
        [
            "dalembert fastest panda waypoints.csv --figure plane.png",
            "dalembert fastest puma560 waypoints.csv --torque 97,186,89,24,20,21 --velocity 3 -s 0.001 -o motion.csv",
            "dalembert fastest panda waypoints.csv --payload 2@0,0,0.1 --report fast",
        ],
    ),
)
