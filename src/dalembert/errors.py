"""Errors and warnings: every message names the thing, its value, and what would be right."""

import reprlib
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

LONGEST = 400  # characters of a message


class Error(ValueError):
    """Any mistake in a model, a file or an argument that this package found. Its message is one line of at most 400 characters.

    >>> Error("unknown name " + "x" * 10_000 + " (known: a, b)").args[0][-24:]
    'xxxxxxxxxx (known: a, b)'
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_line(str(message)))


class NotFiniteError(Error):
    """A table holds NaN or infinity where a number is needed."""


class DataWarning(UserWarning):
    """A file was taken as it is, although something in it looks wrong; `robot.check()` has the list."""


class PerformanceWarning(UserWarning):
    """Something works, but slower than it could; shown once."""


class AccuracyWarning(UserWarning):
    """A result is far less accurate than it should be: the energy of a simulated motion is out of balance."""


class LimitWarning(UserWarning):
    """A motion exceeds a limit of the robot: positions of a simulation without stops, or velocities and forces that it needs."""


class SingularWarning(UserWarning):
    """At some states of a batch a joint has no inertia, or a link cannot follow its task; the result is NaN there."""


def _line(message: str) -> str:
    """One printable line: the beginning and the end are kept."""
    if len(message) > 4 * LONGEST:
        message = f"{message[: 2 * LONGEST]} ... {message[-2 * LONGEST :]}"
    message = " ".join(message.split())
    if not message.isprintable():
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    return message if len(message) <= LONGEST else f"{message[: 3 * LONGEST // 4 - 5]} ... {message[-LONGEST // 4 :]}"


def warn(message: str, category: type[Warning]) -> None:
    """Warn of the line of the user's program that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def brief(value: Any, most: int = 120) -> str:
    """A value for a message: short and in one line, for any object.

    >>> brief("x" * 500, 12)
    "'xxxxxxxx..."
    """
    kind = type(value)
    try:
        if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
            value = value.item()  # 1.0, not np.float64(1.0)
        if kind in (list, tuple, dict, set, frozenset):
            shown = _parts.repr(value)  # not all of a million elements
        else:
            shown = repr(value[: 2 * most] if isinstance(value, str | bytes) else value)
    except Exception:  # Python refuses to print huge integers
        shown = f"a {kind.__name__}"
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[: most - 3] + "..."


_parts = reprlib.Repr()
_parts.maxlist = _parts.maxtuple = _parts.maxdict = _parts.maxset = _parts.maxfrozenset = 20
_parts.maxstring = _parts.maxother = _parts.maxlong = 200


def unknown(what: str, name: object, known: Iterable[str]) -> Error:
    """Error for a name that does not exist, with the nearest one that does.

    >>> str(unknown("link", "elbo", ["shoulder", "elbow"]))
    "unknown link 'elbo'; did you mean 'elbow'? (known: shoulder, elbow)"
    >>> str(unknown("integrator", "RK4", ["rk4", "RK45"]))
    "unknown integrator 'RK4'; did you mean 'rk4'? (known: rk4, RK45)"
    >>> str(unknown("quantity", "gravity", ["task_gravity", "gravity_force"]))
    "unknown quantity 'gravity'; did you mean 'gravity_force'? (known: task_gravity, gravity_force)"
    """
    names = list(known)
    near = _nearest(brief(name).strip("'"), names[:1000])
    hint = f"; did you mean {near!r}?" if near else ""
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "none"
    return Error(f"unknown {what} {brief(name)}{hint} (known: {listed})")


def _nearest(given: str, names: list[str]) -> str | None:
    """What was meant: the same name in other letters, what another library calls so, what begins with it, is near it, or has it."""
    from difflib import get_close_matches  # only mistakes need these

    from dalembert.foreign import NAMES

    low = given.lower().replace("-", "_").replace(" ", "_")
    there = [x for x in names if x.lower() == low] or [x for x in [NAMES.get(given, "").partition("(")[0]] if x in names]
    if not there and len(low) > 2:
        there = [x for x in names if x.lower().startswith(low)]
    there = there or get_close_matches(given, names, n=1)
    if not there and len(low) > 2:
        there = [x for x in names if low in x.lower()]
    return there[0] if there else None


def optional(name: str, extra: str = "") -> Any:
    """A library that only some functions need, or an Error with the command to install it: by the extra that has it.

    >>> optional("nonesuch")
    Traceback (most recent call last):
    dalembert.errors.Error: this needs nonesuch, which is not installed: pip install nonesuch
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name not in (name, package):
            raise
        command = f"pip install 'dalembert[{extra}]'" if extra else f"pip install {package}"
        raise Error(f"this needs {package}, which is not installed: {command}") from None
