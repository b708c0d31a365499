"""The command line. May import: everything."""

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from dalembert.cli.streams import standing_in
from dalembert.cli.wording import in_words
from dalembert.errors import AccuracyWarning, DataWarning, Error, LimitWarning, NotFiniteError, PerformanceWarning, SingularWarning

DATA, WRONG, INTERRUPTED, READER_GONE = 1, 2, 130, 141  # the last two as shells count signals: 128 + SIGINT, 128 + SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `dalembert ...`; returns the exit code.

    0; 1 for errors in a robot's data (check), NaN in a table, and poses out of reach (ik); 2 for other errors; 130 for Ctrl-C,
    141 for a closed pipe.
    """
    with standing_in():
        return _main(list(sys.argv[1:] if arguments is None else arguments))


def _main(given: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows its code
            stream.reconfigure(errors="backslashreplace")
    for needed in ("typer", "rich"):
        if find_spec(needed) is None:
            return _fail("the command line needs typer and rich: pip install 'dalembert[cli]'")
    end = given.index("--") if "--" in given else len(given)
    debug = "--debug" in given[:end]  # before the command or after it
    given = [x for x in given[:end] if x != "--debug"] + given[end:]
    try:
        with warnings.catch_warnings():
            for category in (AccuracyWarning, DataWarning, LimitWarning, PerformanceWarning, SingularWarning):
                warnings.simplefilter("always", category)
            warnings.showwarning = _say
            code = _run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return READER_GONE
    except Exception as error:
        _finish_output()
        code = DATA if isinstance(error, NotFiniteError) else WRONG
        if debug:
            traceback.print_exc()
            return code
        return _fail(_told(error), code)
    return code


def _run(arguments: list[str]) -> int:
    """Typer's own handling of errors would print boxes, so only its parsing and calling are used."""
    import typer

    from dalembert.cli.app import app, without_types

    usage_error: Any = typer.BadParameter.__base__  # of click, or of typer's own copy of it, by its version
    command = typer.main.get_command(app)
    without_types(command)
    try:
        if "_DALEMBERT_COMPLETE" in os.environ:  # a shell asks for completions
            command.main(arguments, prog_name="dalembert")
        with command.make_context("dalembert", arguments) as context:
            command.invoke(context)
    except typer.Exit as left:
        return left.exit_code
    except typer.Abort:
        return INTERRUPTED
    except usage_error as error:
        return _misused(error)
    return 0


def _misused(error: Any) -> int:
    path = error.ctx.command_path if error.ctx else "dalembert"
    if not error.format_message():  # nothing was given at all: typer has shown the help
        return WRONG
    return _fail(f"{in_words(error.format_message()).rstrip('.')}{_meant(error)} (see {path} --help)")


def _meant(error: Any) -> str:
    """The long options that a wrong letter may stand for."""
    letter = getattr(error, "option_name", "")
    if len(letter) != 2 or not error.ctx:
        return ""
    near = [option for parameter in error.ctx.command.params for option in parameter.opts if option.startswith(f"-{letter}")]
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""


def _told(error: BaseException) -> str:
    """One line; unexpected exceptions are prefixed with their type."""
    if isinstance(error, OSError) and error.strerror:  # files have errors of their own, so this is of what was printed
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return in_words(str(error)) if isinstance(error, Error) else f"{type(error).__name__}: {error} (--debug shows the traceback)"


def _fail(message: str, code: int = WRONG) -> int:
    print(f"dalembert: {Error(message)}", file=sys.stderr)
    return code


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"dalembert: warning: {Error(in_words(str(message)))}", file=sys.stderr)


def _finish_output() -> None:
    """Print what is left, or give it up: on a full disk Python would fail once more at its end, with a code of its own."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _forget_output()


def _forget_output() -> None:
    """The reader is gone: what Python still flushes is discarded."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream of a test has no file descriptor
        return
