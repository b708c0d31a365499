"""Value objects: frozen, compared by content, with read-only arrays inside."""

import dataclasses
import operator
from typing import Any

import numpy as np

from dalembert.errors import Error, brief
from dalembert.spatial import Array

Frozen = Any  # of a field: anything array-like may be given, a read-only float array is kept


def frozen_array(value: Any, shape: tuple[int, ...] | None, what: str) -> Array:
    """A read-only float copy of the given shape (None: any) with finite entries, or an error that names `what`."""
    try:
        array = np.array(value)
    except (TypeError, ValueError, OverflowError):
        array = np.array(None)
    if array.dtype.kind not in "fiu":
        raise Error(f"{what} must be {_shape(shape)}real numbers, got {brief(value)}")
    if shape is not None and array.shape != shape:
        raise Error(f"{what} must be {_shape(shape)}numbers, got an array of shape {array.shape}")
    array = np.array(array, dtype=float)
    if not np.isfinite(array).all():
        raise Error(f"{what} must be finite, got {brief(array.tolist())}")
    array += 0.0  # no negative zeros: equal values are equal bytes
    array.setflags(write=False)
    return array


def number(value: Any, what: str, *, finite: bool = True) -> float:
    """A float, or an error that names `what`."""
    array = np.asarray(value) if isinstance(value, int | float | np.number | np.ndarray) else np.array(None)
    if array.dtype.kind not in "fiu" or array.shape != ():
        raise Error(f"{what} must be a number, got {brief(value)}")
    result = float(array) + 0.0
    if np.isnan(result) or (finite and np.isinf(result)):
        raise Error(f"{what} must be {'finite' if finite else 'a number'}, got {result}")
    return result


def text(value: Any, what: str) -> str:
    """A non-empty string that can be printed and stored, or an error that names `what`."""
    if not isinstance(value, str) or not value:
        raise Error(f"{what} must be a non-empty string, got {brief(value)}")
    if len(value) > 200 or not value.isprintable():
        raise Error(f"{what} must be at most 200 printable characters, got {brief(value)}")
    return value


def instance(value: Any, kind: type, what: str) -> Any:
    """A value of the given kind, or an error that names `what`."""
    if not isinstance(value, kind):
        raise Error(f"{what} must be a dalembert.{kind.__name__}, got {brief(value)}")
    return value


def parent_indices(parents: Any, count: int) -> tuple[int, ...]:
    """For each of `count` links the index of an earlier one, or -1 for the base; None means a chain."""
    try:
        above = tuple(range(-1, count - 1)) if parents is None else tuple(operator.index(p) for p in parents)
    except TypeError:
        raise Error(f"parents must be whole numbers, got {brief(parents)}") from None
    if len(above) != count or any(not -1 <= p < i for i, p in enumerate(above)):
        raise Error(f"parents must give each of the {count} links an earlier one, or -1 for the base; got {brief(above)}")
    return above


def _shape(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return ""
    return f"{shape[0]} " if len(shape) == 1 else f"a {' x '.join(map(str, shape))} matrix of "


class Value:
    """Base of the frozen dataclasses here: equal and hashed by the content of their fields, arrays included."""

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, f.name) for f in dataclasses.fields(self))  # pyright: ignore[reportArgumentType]
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
