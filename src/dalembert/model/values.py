"""Value objects: frozen, compared by content, with read-only arrays inside."""

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.arguments import listed
from dalembert.errors import Error, brief

Frozen = Any  # of a field: anything array-like may be given, a read-only float array is kept


def parent_indices(parents: Any, count: int) -> tuple[int, ...]:
    """For each of `count` links the index of an earlier one, or -1 for the base; None means a chain."""
    try:
        above = tuple(range(-1, count - 1)) if parents is None else tuple(map(operator.index, listed(parents, "parents")))
    except TypeError:
        raise Error(f"parents must be integers, got {brief(parents)}") from None
    if len(above) != count or any(not -1 <= p < i for i, p in enumerate(above)):
        raise Error(f"parents must give each of the {count} links an earlier one, or -1 for the base; got {brief(above)}")
    return above


def depths(parents: Sequence[int]) -> list[int]:
    """How many joints there are from the base to each link, its own included.

    >>> depths((-1, 0, 1, 0))
    [1, 2, 3, 2]
    """
    found: list[int] = []
    for parent in parents:
        found.append(1 if parent < 0 else found[parent] + 1)
    return found


class Value:
    """Base of the frozen dataclasses here: equal and hashed by the content of their fields, arrays included."""

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, f.name) for f in dataclasses.fields(self) if f.compare)  # pyright: ignore[reportArgumentType]
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # pyright: ignore[reportAttributeAccessIssue]

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:  # what was cached on the object is not part of the value
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # pyright: ignore[reportArgumentType]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
