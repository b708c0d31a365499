"""The commands together."""

import inspect
from typing import Annotated, Any

import typer

import dalembert as da
from dalembert.cli import computing, fastest, identifying, least_effort, looking, reaching, sizing, sweeping, writing
from dalembert.cli.changes import changing

ABOUT = """The dynamics of robot arms and other mechanisms of rigid links and joints.

ROBOT is a built-in name (dalembert robots lists them), or a file: URDF, xacro, MJCF or TOML."""
EPILOG = """Examples:

dalembert study puma560

dalembert check arm.urdf && dalembert info arm.urdf

dalembert inverse puma560 states.csv -o torques.csv

dalembert inverse arm.urdf states.csv --payload 2@0,0,0.1 --damping 0.5

Exit codes: 0 success; 1 check found errors in the robot's data, a table holds NaN, or ik did not reach a pose; 2 any other \
error, in one line (--debug shows the traceback); 130 Ctrl-C; 141 the reader of the output closed the pipe."""

HELP = ["-h", "--help"]

app = typer.Typer(
    name="dalembert",
    help=ABOUT,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dalembert {da.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; also accepted after the command.")
    ] = False,
) -> None:
    """Options before the command."""


PANELS = {
    "Inspect a robot": (looking,),
    "Compute": (computing,),
    "Find motions": (reaching, fastest, least_effort),
    "Find extremes": (sweeping, sizing),
    "Identify": (identifying,),
    "Write": (writing,),
}
for panel, modules in PANELS.items():
    for function, epilog in (command for module in modules for command in module.COMMANDS):
        examples = "\n\n".join(["Examples:", *epilog])
        command = function
        if "robot" in inspect.signature(function).parameters:
            command = changing(function, lists_findings=function in looking.LIST_FINDINGS)
        app.command(function.__name__.replace("_", "-"), rich_help_panel=panel, epilog=examples)(command)


def without_types(command: Any) -> None:
    """Flags take no value, and arguments have names that say what they are: the help shows no types such as <bool>."""
    for each in (command, *getattr(command, "commands", {}).values()):
        for option in (*each.params, each.get_help_option(typer.Context(each, help_option_names=HELP))):
            if getattr(option, "is_flag", False):
                option.metavar = ""
            elif option.param_type_name == "argument":
                option.display_type_rich = lambda ctx: None  # newer versions of typer show one
                shown = option.metavar if option.required else f"[{option.metavar}]"
                shown += "..." * (option.nargs < 0)
                option.get_usage_pieces = lambda ctx, shown=shown: [shown]  # newer versions put it in braces
