"""The command that finds joint positions of a pose: inverse kinematics."""

from typing import Annotated, Any

import numpy as np
import typer

from dalembert.cli.changes import pose as as_pose
from dalembert.cli.changes import values
from dalembert.cli.computing import numbers_of
from dalembert.cli.parts import listed, said, show
from dalembert.derived.task_space import ROWS
from dalembert.errors import Error
from dalembert.files import write_states
from dalembert.planning.inverse_kinematics import InverseKinematics, off
from dalembert.planning.solutions import STARTS
from dalembert.robots import Robot

_pose = typer.Option(
    "--pose",
    "-p",
    metavar="POSE",
    help="The target: a point X,Y,Z, or X,Y,Z,ROLL,PITCH,YAW, m and rad; repeat it for more.",
)
_link = typer.Option("--link", "-l", metavar="NAME", help="The link or frame to bring there. Default: the end link.")
_q0 = typer.Option(
    "--q0", metavar="Q", help="Positions to start from, rad or m: a number for each joint. Default: chosen near the target."
)
_rows = typer.Option(
    metavar="ROWS", help=f"The components of the pose to reach, comma-separated: any of {', '.join(ROWS)}. Default: all."
)
_body = typer.Option("--body", help="Take the rows in axes of the hand instead of the world.")
_limits = typer.Option("--limits/--no-limits", help="Whether the position limits are kept.")
_posture = typer.Option(metavar="Q", help="Positions to stay near where the arm is redundant, rad or m.")
_every = typer.Option("--every", help="Find all solutions of one pose.")
_starts = typer.Option(metavar="COUNT", help="Number of starts to try at most.")
_output = typer.Option(
    "--output", "-o", metavar="FILE", help="File to write the positions: .csv, .npy or .npz; - is standard output (CSV)."
)


def ik(
    robot: Robot,
    pose: Annotated[list[str] | None, _pose] = None,
    link: Annotated[str | None, _link] = None,
    q0: Annotated[str | None, _q0] = None,
    rows: Annotated[str | None, _rows] = None,
    body: Annotated[bool, _body] = False,
    limits: Annotated[bool, _limits] = True,
    posture: Annotated[str | None, _posture] = None,
    every: Annotated[bool, _every] = False,
    starts: Annotated[int, _starts] = STARTS,
    output: Annotated[str | None, _output] = None,
) -> None:
    """Inverse kinematics: joint positions that bring the hand to a pose. Exit code 1 if it is out of reach."""
    if not pose:
        raise Error("ik needs a pose, such as --pose 0.4,0.2,0.3 (a point) or --pose 0.4,0.2,0.3,0,1.5,0 (with roll, pitch, yaw)")
    found = robot.inverse_kinematics(
        _targets(pose),
        link,
        q0=None if q0 is None else numbers_of(robot, q0, "q", "--q0"),
        rows=None if rows is None else listed(rows),
        frame="body" if body else "world_aligned",
        limits=limits,
        posture=None if posture is None else numbers_of(robot, posture, "q", "--posture"),
        every=every,
        starts=starts,
        progress=False,
    )
    q, solved = found.q.reshape(-1, robot.n), np.atleast_1d(found.solved)
    if output is not None:
        write_states(robot, output, [{"q": q}])
        if output != "-":
            said(f"{output}: {len(q)} positions")
    else:
        show([["joint", *(f"q{k + 1}" if len(q) > 1 else "q" for k in range(len(q)))], *_columns(robot, q)])
        for k in range(len(q)):
            print(_told(found, k, len(q)))
    raise typer.Exit(0 if solved.all() else 1)


def _targets(given: list[str]) -> Any:
    """All points, or all poses."""
    places = [values(text, "--pose", (3, 6)) for text in given]
    if len({len(place) for place in places}) > 1:
        raise Error("--pose needs points X,Y,Z or poses X,Y,Z,ROLL,PITCH,YAW, not both")
    found = [place if len(place) == 3 else as_pose(text, "--pose") for text, place in zip(given, places, strict=True)]
    return found if len(found) > 1 else found[0]


def _columns(robot: Robot, q: Any) -> list[list[str]]:
    return [[name, *(f"{x:.9g}" for x in column)] for name, column in zip(robot.joint_names, q.T, strict=True)]


def _told(found: InverseKinematics, k: int, count: int) -> str:
    """How near one of the results is."""
    distance, angle = (float(np.atleast_1d(x)[k]) for x in (found.distance, found.angle))
    which = f"q{k + 1}: " if count > 1 else ""
    apart = off(distance, angle)
    solved = bool(np.atleast_1d(found.solved)[k])
    return f"{which}solved, off by {apart}" if solved else f"{which}not reached, the nearest pose is {apart} away"


COMMANDS = (
    (
        ik,
        [
            "dalembert ik puma560 --pose 0.4,0.2,0.3",
            "dalembert ik ur5 --pose 0.4,0.2,0.3,0,1.5,0 --every",
            "dalembert ik panda --link panda_hand -p 0.4,0.2,0.3,3.14159,0,0 --posture 0,-0.5,0,-2,0,1.6,0.7 -o q.csv",
        ],
    ),
)
