"""What commands that find motions share: limits, a table of extremes, and the file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli.changes import per_joint
from dalembert.cli.parts import said
from dalembert.errors import Error
from dalembert.simulation.trajectory import Trajectory


def _limit(metavar: str, what: str, default: str = " Default: the robot's.") -> Any:
    return typer.Option(metavar=metavar, help=f"{what}: one number, one for each joint, or JOINT={metavar},...{default}")


Lower = Annotated[str | None, _limit("Q", "Least positions, rad or m")]
Upper = Annotated[str | None, _limit("Q", "Greatest positions, rad or m")]
Velocity = Annotated[str | None, _limit("QD", "Greatest velocities, rad/s or m/s")]
Acceleration = Annotated[str | None, _limit("QDD", "Greatest accelerations, rad/s^2 or m/s^2", "")]
Torque = Annotated[str | None, _limit("TAU", "Greatest torques or forces, N m or N")]
Step = Annotated[float, typer.Option("--step", "-s", metavar="S", help="Seconds between the samples of the file.")]


def given_limits(**given: str | None) -> dict[str, Any]:
    """Those that were given, by name: numbers, or a dictionary by joint; for all others functions take the robot's own."""
    return {name: per_joint(text, f"--{name}") for name, text in given.items() if text is not None}


def motion_file(output: str) -> None:
    """Refuse files that no motion is written to, before it is sought."""
    if Path(output).suffix.lower() not in (".csv", ".npz"):
        raise Error(f"{output}: a motion is written as .csv or .npz")


def write_motion(motion: Trajectory, output: str) -> None:
    """The motion as a file, and a line that says so."""
    (motion.to_npz if Path(output).suffix.lower() == ".npz" else motion.to_csv)(output)
    said(f"{output}: {len(motion)} states")


def extremes(motion: Trajectory) -> list[list[str]]:
    """A table of the positions that each joint reaches, and its greatest velocity, acceleration and force, with their units."""
    joints = motion.robot.joints
    place, speed, change = (" or ".join(dict.fromkeys(joint.unit + per for joint in joints)) for per in ("", "/s", "/s^2"))
    force = " or ".join(dict.fromkeys(joint.force_unit for joint in joints))
    greatest = (f"largest |{name}|, {unit}" for name, unit in (("qd", speed), ("qdd", change), ("tau", force)))
    rows = [["joint", f"from, {place}", f"to, {place}", *greatest]]
    for j, name in enumerate(motion.robot.joint_names):
        largest = (abs(x[:, j]).max() for x in (motion.qd, motion.qdd, motion.tau))
        rows.append([name, *(f"{x:.4g}" for x in (motion.q[:, j].min(), motion.q[:, j].max(), *largest))])
    return rows
