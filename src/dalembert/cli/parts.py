"""What commands share: the robot that is named, what is shown, and how far the work is."""

import os
import sys
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import dalembert as da
from dalembert.errors import NotFiniteError
from dalembert.model.files import SUFFIXES, load
from dalembert.robots import Robot
from dalembert.storage.saving import save_text
from dalembert.text import table


def complete_robot(incomplete: str) -> list[str]:
    """Names of robots, and files and folders that may hold one."""
    folder, start = os.path.split(incomplete)
    try:
        there = sorted(Path(folder or ".").iterdir())
    except OSError:
        there = []
    matches = [x for x in there if x.name.startswith(start) and (x.is_dir() or x.suffix.lower() in SUFFIXES) and x.name[:1] != "."]
    names = [name for name in da.robot_names() if name.startswith(incomplete)]
    before = incomplete.removesuffix(start)
    return [*names, *(f"{before}{x.name}{'/' if x.is_dir() else ''}" for x in matches)]


def completing(*names: str) -> Callable[[str], list[str]]:
    """Completion from a list."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def one_of(names: Collection[str], *flags: str, metavar: str = "NAME", help: str = "One of {}.") -> Any:
    """An option that takes one of these names: its help lists them, and shells complete them."""
    return typer.Option(*flags, metavar=metavar, help=help.format(", ".join(names)), autocompletion=completing(*names))


RobotName = Annotated[
    str,
    typer.Argument(metavar="ROBOT", help="A built-in name, or a URDF, xacro, MJCF or TOML file.", autocompletion=complete_robot),
]
PayloadLink = Annotated[
    str | None,
    typer.Option("--link", "-l", metavar="NAME", help="The link or frame that carries the payload. Default: the end link."),
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output.")]


def find_robot(name: str, *, mimic: bool = True) -> Robot:
    """A built-in robot, or one from a file; with mimic=False all its joints are independent."""
    if name in da.robot_names() or ("." not in name and "/" not in name and not Path(name).exists()):
        return da.robot(name)
    return load(Robot, name, mimic=mimic)


def number_of_states(more: str = "") -> Any:
    """The option of commands that draw states."""
    return typer.Option("--samples", "-n", metavar="COUNT", help=f"Number of states, as in 1e9.{more}")


def all_listed(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of an option that takes several, comma-separated, and may be repeated."""
    return tuple(name for text in texts for name in listed(text))


def listed(text: str | None) -> tuple[str, ...]:
    """Comma-separated names; "none" is none of them."""
    return () if text in (None, "", "none") else tuple(x.strip() for x in text.split(","))


def write_text(text: str, target: str) -> None:
    """Text to standard output, or to a file."""
    if target == "-":
        print(text.rstrip("\n"))
    else:
        save_text(target, text if text.endswith("\n") else text + "\n")


def said(path: Any) -> None:
    """Where something was written: not among what goes to a pipe."""
    print(f"wrote {path}", file=sys.stderr)


def on_terminal() -> bool:
    """Whether standard output is a terminal; otherwise it is plain text."""
    return sys.stdout.isatty()


def show(cells: Sequence[Sequence[str]]) -> None:
    """A table: drawn for a terminal, aligned text elsewhere."""
    if on_terminal():
        show_table(cells)
    else:
        print(table(cells, right=True))


def show_table(cells: Sequence[Sequence[str]], left: int = 1) -> None:
    """Titles and rows, drawn for a terminal; the first `left` columns and those of words begin together, numbers end together."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold cyan")
    for c, title in enumerate(cells[0]):
        words = any(" " in row[c] for row in cells[1:])
        side, title = ("left", title) if c < left or words else ("right", title.replace(" ", "\n"))
        drawn.add_column(Text(title), justify=side, overflow="fold", no_wrap=not words, style="bold" if c == 0 else "")
    for row in cells[1:]:
        drawn.add_row(*map(Text, row))
    console = Console()
    least = Measurement.get(console, console.options.update_width(10_000), drawn).minimum  # numbers are not cut
    if least > console.width and len(cells[0]) > 2:  # the last columns go below, beside the first
        fits = _fitting(cells, console.width)
        show_table([row[:fits] for row in cells], left)
        show_table([[row[0], *row[fits:]] for row in cells], left)
        return
    Console(width=max(console.width, least)).print(drawn)


def _fitting(cells: Sequence[Sequence[str]], width: int) -> int:
    """How many of the columns fit, two at least; a title is as wide as its longest word."""
    taken = 0
    for c in range(len(cells[0])):
        taken += 1 + max(max(map(len, cells[0][c].split(" "))), *(len(row[c]) for row in cells[1:]))
        if taken > width and c > 1:
            return c
    return len(cells[0]) - 1


@contextmanager
def allowing_nan(what: str) -> Generator[None]:
    """For commands with an option for NaN, which does this: errors name it."""
    try:
        yield
    except NotFiniteError as error:
        raise NotFiniteError(f"{error}; --allow-nan {what}") from None


@contextmanager
def progress(what: str) -> Generator[Callable[[int, int], None] | None]:
    """A bar on a terminal's standard error; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        yield report
