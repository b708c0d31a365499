"""Arguments that come in more than one shape."""

from collections.abc import Mapping
from typing import Any, cast

from dalembert.errors import Error, brief


def whole(given: Any, name: str, least: int) -> int:
    """A whole number that is not too small.

    >>> whole(53, "bits", 1)
    53
    """
    if isinstance(given, bool) or not hasattr(given, "__index__") or given < least:
        raise Error(f"{name} must be a whole number of at least {least}, got {brief(given)}")
    return int(given)


def by_name(given: Any, name: str, example: str) -> Mapping[str, Any]:
    """Things by name.

    >>> by_name({"m1": 2.0}, "parameters", "{'m1': 1.0}")
    {'m1': 2.0}
    """
    if not isinstance(given, Mapping):
        raise Error(f"{name} must be given by name, such as {example}, got {brief(given)}")
    return cast("Mapping[str, Any]", given)


def several(given: Any, name: str) -> tuple[str, ...]:
    """One name, or any number of them.

    >>> several("mass", "symbols"), several(["mass", "com"], "symbols")
    (('mass',), ('mass', 'com'))
    """
    if isinstance(given, str):
        return (given,)
    try:
        found = tuple(given)
    except TypeError:
        found = (given,)
    for one in found:
        if not isinstance(one, str):
            raise Error(f"{name} must be a name or several of them, got {brief(given)}")
    return found
