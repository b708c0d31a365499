"""Value objects: frozen, compared by content, with read-only arrays inside."""

import dataclasses
from typing import Any

import numpy as np

from dalembert.errors import Error
from dalembert.spatial import Array

Frozen = Any  # of a field: anything array-like may be given, a read-only float array is kept


def frozen_array(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """A read-only float copy of the given shape with finite entries, or an error that names `what`."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{what} must be {_shape(shape)} of numbers, got {_brief(value)}") from None
    if array.shape != shape:
        raise Error(f"{what} must be {_shape(shape)}, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise Error(f"{what} must be finite, got {_brief(array.tolist())}")
    array += 0.0  # no negative zeros: equal values are equal bytes
    array.setflags(write=False)
    return array


def number(value: Any, what: str, *, finite: bool = True) -> float:
    """A float, or an error that names `what`."""
    if isinstance(value, bool | str | bytes):
        raise Error(f"{what} must be a number, got {_brief(value)}")
    try:
        result = float(value) + 0.0
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{what} must be a number, got {_brief(value)}") from None
    if np.isnan(result) or (finite and np.isinf(result)):
        raise Error(f"{what} must be {'finite' if finite else 'a number'}, got {result}")
    return result


def text(value: Any, what: str) -> str:
    """A non-empty string, or an error that names `what`."""
    if not isinstance(value, str) or not value:
        raise Error(f"{what} must be a non-empty string, got {_brief(value)}")
    return value


def _shape(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} numbers" if len(shape) == 1 else f"a {' x '.join(map(str, shape))} matrix"


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 120 else shown[:117] + "..."


class Value:
    """Base of the frozen dataclasses here: equal and hashed by the content of their fields, arrays included."""

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, f.name) for f in dataclasses.fields(self))  # pyright: ignore[reportArgumentType]
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in values)

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
