"""Commands that show something about a robot."""

import re
import shlex
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import dalembert as da
from dalembert.cli.changes import OPTIONS, load
from dalembert.cli.parts import on_terminal, one_of, progress, show, show_table
from dalembert.cli.wording import in_words
from dalembert.robots import Robot
from dalembert.studies.bench import BATCH
from dalembert.studies.bench import bench as measured
from dalembert.studies.compare import BEFORE_PRINTED, COMPARED
from dalembert.text import table, wrapped

_quantity = one_of(COMPARED, "--quantity", "-q", metavar="QUANTITY", help="What to compare: one of {}.")
_every_method = typer.Option("--everything", help="Put every formulation into the page, as WebAssembly.")

SNAP = re.compile(r"robot\.snapped\(([^)]*)\)")


def robots() -> None:
    """List the built-in robots."""
    robots = [(name, da.robot(name)) for name in da.robot_names()]
    cells = [["name", "joints", "source"], *([name, arm.structure, arm.source] for name, arm in robots)]
    if on_terminal():
        show_table(cells, left=3)
    else:
        print(table(cells))


def info(robot: Robot) -> None:
    """Show a robot's joints, links and conventions."""
    print(in_words(robot.summary()))


def check(robot: Robot, context: typer.Context) -> None:
    """List a robot's suspicious data: errors, which make results wrong (exit code 1), and hints (exit code 0)."""
    findings = robot.check()
    print(in_words(str(findings)))
    if angles := [float(x) for found in findings.about("angle") for x in SNAP.findall(found.message)]:
        given = {option.name: context.params[option.name] for option in OPTIONS} | {"snap": f"{max(angles):g}"}
        words = [f"--{name}={value}" for name, value in given.items() if value is not None]
        print("\nThis command saves the robot with right angles (--snap works with every other command, too):")
        print(shlex.join(["dalembert", "save", context.params["robot"], f"{robot.name}.toml", *words]))
    raise typer.Exit(1 if findings.errors else 0)


def study(
    robot: Robot,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write the report. Default: study-ROBOT.")
    ] = None,
    everything: Annotated[bool, _every_method] = False,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="LOAD",
            help="Add the sizing of the motors for a payload, given as that of `size`: a mass in kg, 0:5 for a range.",
        ),
    ] = None,
) -> None:
    """Study a robot: a summary on the terminal, and a report as one HTML page that works offline."""
    from dalembert.studies import brief, report

    sized = None if size is None else _sized(robot, size)
    with progress("comparing formulations") as bar:
        compared = da.compare(robot, progress=bar or False)
    with progress("writing the report") as bar:
        path = report.study(robot, output, compared=compared, everything=everything, sized=sized, progress=bar or False)
    print(in_words(robot.summary()))
    if findings := robot.check():
        print("\nsuspicious data:")
        for found in findings:
            print(wrapped(in_words(found.told), f"{found.level}: "))
    for title, cells in (brief.forces(robot), brief.best(compared)) if robot.n else ():
        print(f"\n{title}")
        show(cells)
    print(f"\nreport: {path} (open it in a browser)")
    if robot.n:
        print(f"its motion, for dalembert inverse and others: {path.with_name('motion.csv')}")


def _sized(robot: Robot, payload: str) -> da.Sizing:
    """The sizing within the robot's own limits; the options of `size` would be too many here."""
    ends, com, link = load(payload, "--size", ranged=True)
    try:
        return robot.size(ends, com=com, link=link, progress=False)
    except da.Error as error:
        raise da.Error(f"{error}; dalembert size has these options, and writes a page with -o") from None


def live(
    robot: Robot,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the page: .html. Default: live-ROBOT.html.")
    ] = None,
    everything: Annotated[bool, _every_method] = False,
    opened: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open the page in the browser, if run from a terminal.")
    ] = True,
) -> None:
    """Write an HTML page in which the arm can be moved, loaded, pushed and dropped, and open it; it works offline."""
    path = da.live(robot, output, everything=everything)
    print(path)
    if opened and on_terminal():
        webbrowser.open(path.resolve().as_uri())


def compare(
    robot: Robot,
    quantity: Annotated[list[str] | None, _quantity] = None,
    states: Annotated[int, typer.Option(min=1, metavar="COUNT", help="Number of states in the timed batch.")] = BATCH,
    everything: Annotated[
        bool, typer.Option("--everything", help="Include formulations that take minutes for large robots.")
    ] = False,
) -> None:
    """Compare all formulations: agreement, operation counts beside the papers', time, growth."""
    with progress("compiling and comparing") as bar:
        comparison = da.compare(robot, quantity or COMPARED, states, everything=everything, progress=bar or False)
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
    robot: Robot | None = None,
    quantity: Annotated[str, _quantity] = "inverse_dynamics",
) -> None:
    """Count the operations of all formulations, for a robot or in general, beside the papers' counts."""
    print(da.complexity(robot, quantity))


def bench(
    robot: Robot,
    states: Annotated[int, typer.Option(min=1, metavar="COUNT", help="Number of states in a batch.")] = BATCH,
) -> None:
    """Time the main quantities on this machine, beside Pinocchio if it is installed."""
    with progress("compiling and measuring") as bar:
        timings = measured(robot, states, progress=bar or False)
    if not on_terminal():
        print(timings)
        return
    print(timings.head)
    show_table(timings.cells())
    print("\n".join(timings.notes))


def where(
    item: Annotated[list[str], typer.Argument(metavar="ITEM", help="A document and a number, as in FGL 3.3-55 or PBP 20.")],
) -> None:
    """Show where an equation, table, figure or problem of the books and papers is computed, tested and explained."""
    print(da.source(" ".join(item)))


LIST_FINDINGS = (check, study)
COMMANDS = (
    (robots, ["dalembert robots"]),
    (info, ["dalembert info panda", "dalembert info arm.urdf --payload 2@0,0,0.1 --gravity 0,0,-1.62"]),
    (check, ["dalembert check arm.urdf || echo look at it first"]),
    (study, ["dalembert study puma560 -o report", "dalembert study arm.urdf"]),
    (live, ["dalembert live puma560", "dalembert live arm.urdf --everything -o arm.html"]),
    (compare, ["dalembert compare puma560", "dalembert compare arm.urdf --quantity mass_matrix"]),
    (complexity, ["dalembert complexity", "dalembert complexity puma560 --quantity forward_dynamics"]),
    (bench, ["dalembert bench panda"]),
    (where, ['dalembert where "FGL 3.3-55"', 'dalembert where "FGL table 3.4"']),
)
