"""Arguments that come in more than one shape."""

from typing import Any

from dalembert.errors import Error, brief


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
