"""Commands that show something about a robot."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import dalembert as da
from dalembert.cli.parts import RobotName, complete_robot, completing, find_robot, on_terminal, progress, show, show_table
from dalembert.studies.bench import BATCH
from dalembert.studies.bench import bench as measured
from dalembert.studies.compare import BEFORE_PRINTED, COMPARED
from dalembert.text import table

_quantity = typer.Option("--quantity", "-q", help=f"One of {', '.join(COMPARED)}.", autocompletion=completing(*COMPARED))


def robots() -> None:
    """List the built-in robots."""
    robots = [(name, da.robot(name)) for name in da.robot_names()]
    cells = [["name", "joints", "source"], *([name, arm.structure, arm.source] for name, arm in robots)]
    if on_terminal():
        show_table(cells, left=3)
    else:
        print(table(cells))


def info(robot: RobotName) -> None:
    """Show the model and its conventions."""
    print(find_robot(robot).summary())


def check(robot: RobotName) -> None:
    """List suspicious data; the exit code is 1 if there are any."""
    findings = find_robot(robot).check()
    print(findings)
    raise typer.Exit(1 if findings else 0)


def study(
    robot: RobotName,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder for the report.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="With every formulation in the page, as WebAssembly.")] = False,
) -> None:
    """Study a robot: a summary on the terminal, and a report as one HTML page that works offline."""
    from dalembert.studies import brief, report

    arm = find_robot(robot)
    with progress("comparing formulations") as bar:
        compared = da.compare(arm, progress=bar or False)
    with progress("writing the report") as bar:
        path = report.study(arm, output, compared=compared, everything=everything, progress=bar or False)
    print(arm.summary())
    if findings := arm.check():
        print(f"\nsuspicious data:\n{findings}")
    for title, cells in (brief.forces(arm), brief.best(compared)) if arm.n else ():
        print(f"\n{title}")
        show(cells)
    print(f"\nreport: {path} (open it in a browser)")


def live(
    robot: RobotName,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page: live-NAME.html.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="With every formulation, as WebAssembly.")] = False,
    opened: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser, on a terminal.")] = True,
) -> None:
    """Write a page in which the arm can be moved, loaded, pushed and dropped, and open it; it works offline."""
    path = da.live(find_robot(robot), output, everything=everything)
    print(path)
    if opened and on_terminal():
        webbrowser.open(path.resolve().as_uri())


def compare(
    robot: RobotName,
    quantity: Annotated[list[str] | None, _quantity] = None,
    states: Annotated[int, typer.Option(min=1, help="Number of states in the timed batch.")] = BATCH,
    everything: Annotated[bool, typer.Option("--everything", help="Include methods that take minutes on large robots.")] = False,
) -> None:
    """Compare every formulation: agreement, operations next to the papers' polynomials, time, growth."""
    arm = find_robot(robot)
    with progress("compiling and comparing") as bar:
        comparison = da.compare(arm, quantity or COMPARED, states, everything=everything, progress=bar or False)
    if not on_terminal():
        print(comparison)
        return
    print(comparison.head)
    for name in comparison.quantities:
        cells = comparison.cells(name)
        show_table([row[:BEFORE_PRINTED] for row in cells if row[0]])
        if len(cells[0]) > BEFORE_PRINTED:  # with the other columns this would be too wide
            show_table([[row[0], *row[BEFORE_PRINTED:]] for row in cells if row[BEFORE_PRINTED]])
    print("\n\n".join(comparison.remarks))


def complexity(
    robot: Annotated[
        str | None, typer.Argument(metavar="[ROBOT]", help="A robot; if omitted, polynomials in n.", autocompletion=complete_robot)
    ] = None,
    quantity: Annotated[str, _quantity] = "inverse_dynamics",
) -> None:
    """Count the operations of every method, for a robot or in general, next to the counts in the papers."""
    print(da.complexity(find_robot(robot) if robot else None, quantity))


def bench(
    robot: RobotName,
    states: Annotated[int, typer.Option(min=1, help="Number of states in a batch.")] = BATCH,
) -> None:
    """Time the main quantities on this machine, next to Pinocchio if it is installed."""
    arm = find_robot(robot)
    with progress("compiling and measuring") as bar:
        timings = measured(arm, states, progress=bar or False)
    if not on_terminal():
        print(timings)
        return
    print(timings.head)
    show_table(timings.cells())
    print("\n".join(timings.notes))


def where(
    item: Annotated[list[str], typer.Argument(metavar="ITEM", help="An equation, table, figure or problem: FGL 3.3-55, PBP 20.")],
) -> None:
    """Tell where an item of the five documents is computed, tested and explained."""
    print(da.source(" ".join(item)))


COMMANDS = (
    (robots, ["dalembert robots"]),
    (info, ["dalembert info panda"]),
    (check, ["dalembert check arm.urdf || echo look at it first"]),
    (study, ["dalembert study puma560 -o report", "dalembert study arm.urdf"]),
    (live, ["dalembert live puma560", "dalembert live arm.urdf --everything -o arm.html"]),
    (compare, ["dalembert compare puma560", "dalembert compare arm.urdf --quantity mass_matrix | less -S"]),
    (complexity, ["dalembert complexity", "dalembert complexity puma560 --quantity forward_dynamics"]),
    (bench, ["dalembert bench panda"]),
    (where, ['dalembert where "FGL 3.3-55"', 'dalembert where "FGL table 3.4"']),
)
