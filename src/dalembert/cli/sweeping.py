"""The commands for all states of a range: what samples reach, and what none exceeds."""

import re
from typing import Annotated, Any

import typer

from dalembert.cli import INTERRUPTED
from dalembert.cli.parts import all_listed, completing, listed, number_of_states, one_of, progress, said, show
from dalembert.engine.registry import QUANTITIES
from dalembert.errors import Error
from dalembert.robots import Robot
from dalembert.sweeps.ranges import SAMPLINGS
from dalembert.sweeps.reduced import NAMES

ENTRY = re.compile(r"[^,\[]+(?:\[[^\]]*\])?")  # M[0,1] is one of them


_quantities = typer.Option(
    "--quantity",
    "-q",
    metavar="QUANTITY,...",
    help="What to compute; repeat it for more. Default: inverse_dynamics.",
    autocompletion=completing(*QUANTITIES),
)
_reduce = typer.Option(metavar="NAME,...", help=f"What to keep: any of {', '.join(NAMES)}.", autocompletion=completing(*NAMES))
_sampling = one_of(SAMPLINGS, help="How states are drawn: one of {}. Default: uniform positions, all else mixed.")
_bounded = one_of(QUANTITIES, "--quantity", "-q", metavar="QUANTITY", help="What to bound.")

Link = Annotated[
    str | None,
    typer.Option(
        "--link", "-l", metavar="NAME", help="The link or frame that carries the payload, or that pose, jacobian, ... are of."
    ),
]


def _over(more: str = "") -> Any:
    varying = f"The range of an input, as in qd=-2:2, q.joint1=-1:1, payload=0:5 or m2=1:3{more}; NAME=VALUE for one value; "
    varying += "repeat it for more. Default: the robot's limits."
    return typer.Option("--over", metavar="NAME=LOW:HIGH", help=varying)


def sweep(
    robot: Robot,
    quantities: Annotated[list[str] | None, _quantities] = None,
    over: Annotated[list[str] | None, _over("; NAME=LOW:HIGH:COUNT for a grid")] = None,
    samples: Annotated[float | None, number_of_states(" Default: 1e6.")] = None,
    reduce: Annotated[str, _reduce] = "extremes,sums",
    sampling: Annotated[str | None, _sampling] = None,
    seed: Annotated[int, typer.Option(metavar="SEED", help="Seed of the random states.")] = 0,
    link: Link = None,
    refine: Annotated[bool, typer.Option("--refine", help="Refine the extremes by local optimization.")] = False,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Compute on the Dask cluster of this scheduler, as in tcp://host:8786.")
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="FILE", help="File of finished parts, from which an interrupted sweep goes on.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder to write all states in Zarr format, which is slower.")
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the results: .json.")] = None,
) -> None:
    """Find the extremes of joint forces, or other quantities, over many random states, millions a second."""
    with progress("sweeping") as bar:
        found = robot.sweep(
            all_listed(quantities or ["inverse_dynamics"]), _ranges(over), samples, listed(reduce), sampling=sampling, seed=seed,
            link=link, cluster=cluster, checkpoint=checkpoint, store=store, progress=bar or False,
        )  # fmt: skip
    print(found)
    if found.complete and refine:
        print(f"\nrefined:\n{found.refine()}")
    if output is not None:
        said(found.save(output))
    if not found.complete:
        raise typer.Exit(INTERRUPTED)


def bound(
    robot: Robot,
    over: Annotated[list[str] | None, _over()] = None,
    quantity: Annotated[str, _bounded] = "inverse_dynamics",
    only: Annotated[str | None, typer.Option(metavar="JOINT,...", help="Bound these joints or entries only.")] = None,
    tolerance: Annotated[
        float, typer.Option(metavar="SHARE", help="Stop when the bounds exceed the attained extremes by less than this share.")
    ] = 0.05,
    seconds: Annotated[float, typer.Option(metavar="S", help="Stop after this many seconds at the latest.")] = 60.0,
    link: Link = None,
    states: Annotated[bool, typer.Option("--states", help="Show the states of the largest attained values as well.")] = False,
) -> None:
    """Prove bounds of joint forces, or another quantity, over all states of a range, and show attained extremes."""
    entries = [int(x) if x.isdigit() else x for x in map(str.strip, ENTRY.findall(only or ""))] or None
    options = {} if link is None else {"link": link}
    with progress(f"bound of {quantity}") as bar:
        found = robot.bound(
            quantity,
            over=_ranges(over),
            only=entries,
            tolerance=tolerance,
            seconds=seconds,
            progress=bar or False,
            **options,
        )
    print(found.head)
    show(found.cells())
    if states:
        print(found.states())


def _ranges(texts: list[str] | None) -> dict[str, Any]:
    """Ranges by name; of single joints, by the name of each."""
    found: dict[str, Any] = {}
    for text in texts or []:
        name, equals, ends = text.partition("=")
        name, dot, part = name.partition(".")
        try:
            numbers = [float(x) for x in ends.split(":")]
        except ValueError:
            numbers = []
        if not equals or not name or len(numbers) not in (1, 2, 3):
            raise Error(f"--over must be NAME=LOW:HIGH, NAME=LOW:HIGH:COUNT or NAME=VALUE, such as qd=-2:2, got {text!r}")
        value = tuple(numbers) if len(numbers) > 1 else numbers[0]
        if dot:
            own = found.setdefault(name, {})
            if not isinstance(own, dict):
                raise Error(
                    f"--over {text}: {name} has a range already; give the ranges of its joints by name, as in {name}.JOINT=LOW:HIGH"
                )
            own[part] = value
        elif name in found:
            raise Error(f"--over: {name} is given twice")
        else:
            found[name] = value
    return found


COMMANDS = (
    (
        sweep,
        [
            "dalembert sweep puma560 --over qd=-2:2 --over qdd=-5:5 --refine",
            "dalembert sweep panda --over qdd=-5:5 --over payload=0:3 -n 1e9 --checkpoint panda.jsonl -o panda.json",
        ],
    ),
    (
        bound,
        [
            "dalembert bound puma560 --over qd=-1:1 --over qdd=-1:1",
            "dalembert bound arm.urdf --over qd=0 --over qdd=0 --over payload=0:5 --tolerance 0.01",
            "dalembert bound two_link --quantity mass_matrix --states",
        ],
    ),
)
