"""Commands that tell extremes over a range of states."""

from typing import Annotated

import typer

from dalembert.cli.parts import completing, listed, progress, show
from dalembert.cli.sweeping import ranges_by_name
from dalembert.engine.registry import QUANTITIES
from dalembert.robots import Robot

_over = typer.Option(
    "--over",
    metavar="INPUT=LOW:HIGH",
    help="The range of an input, or INPUT=VALUE; of one joint, INPUT.JOINT=LOW:HIGH. Repeat it for others. Default: the limits.",
)
_quantity = typer.Option("--quantity", "-q", metavar="NAME", help="What to bound.", autocompletion=completing(*QUANTITIES))
_tolerance = typer.Option(metavar="SHARE", help="Stop when bounds are within this share of what is attained.")


def bound(
    robot: Robot,
    over: Annotated[list[str] | None, _over] = None,
    quantity: Annotated[str, _quantity] = "inverse_dynamics",
    only: Annotated[str | None, typer.Option(metavar="JOINT,...", help="These joints or entries; all by default.")] = None,
    tolerance: Annotated[float, _tolerance] = 0.05,
    seconds: Annotated[float, typer.Option(metavar="S", help="Stop after so many seconds at the latest.")] = 60.0,
    states: Annotated[bool, typer.Option("--states", help="Show where the largest values occur, too.")] = False,
) -> None:
    """Prove bounds that no state of a range exceeds, and show the extremes that are attained."""
    entries = [int(x) if x.isdigit() else x for x in listed(only)] or None
    ranges = ranges_by_name(over or [])
    with progress(f"bound of {quantity}") as bar:
        found = robot.bound(quantity, over=ranges, only=entries, tolerance=tolerance, seconds=seconds, progress=bar or False)
    print(found.head)
    show(found.cells())
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
