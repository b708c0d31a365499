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


class DataWarning(UserWarning):
    """A file was taken as it is, although something in it looks wrong; `robot.check()` has the list."""


class PerformanceWarning(UserWarning):
    """Something works, but slower than it could; shown once."""


class AccuracyWarning(UserWarning):
    """A result is far less accurate than it should be: the energy of a simulated motion is out of balance."""


class LimitWarning(UserWarning):
    """A simulated joint passed a limit of its model, where there are no stops."""


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
    """Error for a name that does not exist, with the nearest ones that do.

    >>> str(unknown("link", "elbo", ["shoulder", "elbow"]))
    "unknown link 'elbo'; did you mean 'elbow'? (known: shoulder, elbow)"
    >>> str(unknown("integrator", "RK4", ["rk4", "RK45"]))
    "unknown integrator 'RK4'; did you mean 'rk4'? (known: rk4, RK45)"
    """
    from difflib import get_close_matches  # only mistakes need it

    names = list(known)
    given = brief(name).strip("'")
    near = [x for x in names if x.lower() == given.lower()] or get_close_matches(given, names[:1000], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "none"
    return Error(f"unknown {what} {brief(name)}{hint} (known: {listed})")


def optional(name: str) -> Any:
    """A library that only some functions need, or an Error with the command to install it.

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
        raise Error(f"this needs {package}, which is not installed: pip install {package}") from None
