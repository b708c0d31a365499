"""The commands together."""

from typing import Annotated

import typer

import dalembert as da
from dalembert.cli import computing, looking, writing

ABOUT = """The dynamics of robot arms and other open kinematic chains.

ROBOT is a built-in name (dalembert robots lists them), or a .urdf or .toml file."""
EPILOG = """Examples:

dalembert study puma560

dalembert check arm.urdf && dalembert info arm.urdf

dalembert inverse puma560 states.csv -o torques.csv

Exit codes: 0 all went well; 1 doubtful data (check); 2 wrong usage or another error, told in one line (--debug shows where);
130 Ctrl-C; 141 nobody read the output to its end."""

app = typer.Typer(
    name="dalembert",
    help=ABOUT,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dalembert {da.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from; also after the command.")] = False,
) -> None:
    """Options before the command."""


for panel, module in (("Look at a robot", looking), ("Compute", computing), ("Write", writing)):
    for function, epilog in module.COMMANDS:
        examples = "\n\n".join(["Examples:", *epilog])
        app.command(function.__name__, rich_help_panel=panel, epilog=examples)(function)
