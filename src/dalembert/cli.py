"""The command line."""

import argparse
import io
import sys
import warnings
from collections.abc import Sequence

import dalembert as da
from dalembert.errors import Error
from dalembert.study import brief


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `dalembert ...`; returns the exit code."""
    parser = argparse.ArgumentParser(prog="dalembert", description="The dynamics of robot arms and other open kinematic chains.")
    parser.add_argument("--version", action="version", version=f"dalembert {da.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("robots", help="list the built-in robots")
    for name, help_text in (
        ("study", "a readable summary of a robot with torques and operation counts"),
        ("info", "the model and its conventions"),
        ("check", "list doubtful data; exit code 1 if there are any"),
    ):
        commands.add_parser(name, help=help_text).add_argument("robot", help="a built-in name, or a .urdf or .toml file")
    given = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows its code
            stream.reconfigure(errors="backslashreplace")
    if given.command == "robots":
        for name in da.robot_names():
            print(f"{name:10} {da.robot(name).source}")
        return 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", da.DataWarning)
            robot = da.robot(given.robot) if given.robot in da.robot_names() or "." not in given.robot else da.load(given.robot)
        for warning in caught:
            print(f"dalembert: warning: {warning.message}", file=sys.stderr)
        if given.command == "check":
            found = robot.check()
            print(found)
            return 1 if found else 0
        print(brief(robot) if given.command == "study" else robot.summary())
    except Error as error:
        print(f"dalembert: {error}", file=sys.stderr)
        return 2
    return 0
