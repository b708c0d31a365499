"""The command that proves bounds over a range of states."""

from typing import Annotated

import typer

from dalembert.cli.parts import completing, listed, on_terminal, progress, show_table
from dalembert.cli.sweeping import ranges_by_name
from dalembert.engine.registry import QUANTITIES
from dalembert.robots import Robot

_over = typer.Option(
    "--over",
    metavar="NAME=LOW:HIGH",
    help="The range of an input, as in qd=-2:2, q.joint1=-1:1, payload=0:5 or m2=1:3; NAME=VALUE for one value; repeat it "
    "for more. Default: the robot's limits.",
)
_quantity = typer.Option("--quantity", "-q", metavar="QUANTITY", help="What to bound.", autocompletion=completing(*QUANTITIES))
_tolerance = typer.Option(metavar="SHARE", help="Stop when the bounds exceed the attained extremes by less than this share.")


def bound(
    robot: Robot,
    over: Annotated[list[str] | None, _over] = None,
    quantity: Annotated[str, _quantity] = "inverse_dynamics",
    only: Annotated[str | None, typer.Option(metavar="JOINT,...", help="Bound these joints or entries only.")] = None,
    tolerance: Annotated[float, _tolerance] = 0.05,
    seconds: Annotated[float, typer.Option(metavar="S", help="Stop after this many seconds at the latest.")] = 60.0,
    states: Annotated[bool, typer.Option("--states", help="Show the states of the largest attained values as well.")] = False,
) -> None:
    """Prove bounds of joint forces, or another quantity, over all states of a range, and show attained extremes."""
    entries = [int(x) if x.isdigit() else x for x in listed(only)] or None
    ranges = ranges_by_name(over or [])
    with progress(f"bound of {quantity}") as bar:
        found = robot.bound(quantity, over=ranges, only=entries, tolerance=tolerance, seconds=seconds, progress=bar or False)
    if on_terminal():
        print(found.head)
        show_table(found.cells())
    else:
        print(found)
    if states:
        print(found.states())


COMMANDS = (
    (
        bound,
        [
            "dalembert bound puma560 --over qd=-1:1 --over qdd=-1:1",
            "dalembert bound arm.urdf --over qd=0 --over qdd=0 --over payload=0:5 --tolerance 0.01",
            "dalembert bound two_link --quantity mass_matrix --states",
        ],
    ),
)
