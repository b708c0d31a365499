"""Commands that tell extremes over a range of states."""

from typing import Annotated, Any

import typer

from dalembert.cli.changes import values
from dalembert.cli.parts import completing, listed, on_terminal, progress, show_table
from dalembert.engine.registry import QUANTITIES
from dalembert.errors import Error
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
    ranges = _ranges(over or [])
    with progress(f"bound of {quantity}") as bar:
        found = robot.bound(quantity, over=ranges, only=entries, tolerance=tolerance, seconds=seconds, progress=bar or False)
    if on_terminal():
        print(found.head)
        show_table(found.cells())
    else:
        print(found)
    if states:
        print(found.states())


def _ranges(given: list[str]) -> dict[str, Any]:
    """qd=-1:1 and q.wrist=0 as ranges by name."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, ends = text.partition("=")
        parts = ends.split(":")
        if not equals or not name or len(parts) > 2:
            raise Error(f"--over must be INPUT=LOW:HIGH or INPUT=VALUE, such as qd=-1:1, got {text!r}")
        low, high = (values(part, "--over") for part in (parts[0], parts[-1]))
        pair = tuple(x[0] if len(x) == 1 else x for x in (low, high))
        one, dot, joint = name.partition(".")
        if not dot:
            found[name] = pair
        elif isinstance(found.setdefault(one, {}), dict):
            found[one][joint] = pair
        else:
            raise Error(f"--over gives {one} a range as a whole and for {joint}: give one of them")
    return found


COMMANDS = (
    (
        bound,
        [
            "dalembert bound puma560 --over qd=-1:1 --over qdd=-1:1",
            "dalembert bound arm.urdf --over qd=0 --over qdd=0 --payload 2@0,0,0.1 --tolerance 0.01",
            "dalembert bound two_link --quantity mass_matrix --states",
        ],
    ),
)
