"""Checks of arguments, one for each kind, so that the same mistake is explained in the same words everywhere.

Each takes a value and its name, and returns the value in the form that the code needs, or raises an Error.
"""

import operator
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import Error, brief, unknown

MOST_BYTES = 16 * 10**9
MOST_AXES = 32  # so that there is room for further ones
LONGEST = 200  # characters of a name or a note

# --- numbers ------------------------------------------------------------------------------------------------------------


def number(given: Any, what: str, *, finite: bool = True) -> float:
    """A real number.

    >>> number(2, "a mass")
    2.0
    """
    array = np.asarray(given) if isinstance(given, int | float | np.number | np.ndarray) else np.array(None)
    if array.dtype.kind not in "fiu" or array.shape != () or is_masked(given):
        raise Error(f"{what} must be a number, got {brief(given)}")
    result = float(array) + 0.0
    if np.isnan(result) or (finite and np.isinf(result)):
        raise Error(f"{what} must be {'finite' if finite else 'a number'}, got {result}")
    return result


def positive(given: Any, what: str) -> float:
    """A finite number above 0.

    >>> positive(1e-3, "step")
    0.001
    """
    value = number(given, what)
    if value <= 0:
        raise Error(f"{what} must be positive, got {value:g}")
    return value


def whole(given: Any, what: str, least: int, most: int | None = None) -> int:
    """An integer within limits; a float may say it, as 1e6 does.

    >>> whole(53, "bits", 1), whole(1e6, "samples", 1)
    (53, 1000000)
    """
    try:
        exact: Any = int(given) if isinstance(given, float | np.floating) and given.is_integer() else given
        value = None if isinstance(given, bool) else operator.index(exact)
    except TypeError:
        value = None
    if value is None or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise Error(f"{what} must be an integer {limits}, got {brief(given)}")
    return value


# --- arrays -------------------------------------------------------------------------------------------------------------


def is_masked(given: Any) -> bool:
    """Whether elements of an array, or of a list of arrays, are masked: nothing here could leave them out.

    >>> is_masked(np.ma.masked_array([1.0, 2.0], mask=[False, True])), is_masked([1.0, 2.0])
    (True, False)
    """
    masked_arrays = sys.modules.get("numpy.ma")  # NumPy loads it when it is first used
    if masked_arrays is None:
        return False
    if isinstance(given, list | tuple):
        return any(isinstance(x, np.ndarray) and masked_arrays.is_masked(x) for x in given)
    return isinstance(given, np.ndarray) and masked_arrays.is_masked(given)


def numbers(given: Any, what: str, *, complex_: bool = False) -> NDArray[Any]:
    """An array of real numbers of any shape; `complex_`: or of complex ones. It is not copied.

    >>> numbers([1, 2], "q")
    array([1, 2])
    """
    array = _array(given, what)
    if array is None:
        raise Error(f"{what} must hold numbers in a regular array, got {brief(given)}{_bridge(given)}")
    if array.ndim > MOST_AXES:
        raise Error(f"{what} has {array.ndim} axes; the limit is {MOST_AXES}")
    if array.dtype.kind not in ("fiubc" if complex_ else "fiub"):
        kind = "numbers" if complex_ or array.dtype.kind != "c" else "real numbers"
        raise Error(f"{what} must hold {kind}, got {brief(given)}")
    return array.astype(float) if array.dtype == np.longdouble else array


def frozen_array(given: Any, shape: tuple[int, ...] | None, what: str) -> NDArray[Any]:
    """A read-only float copy of the given shape (None: any) with finite entries."""
    array = _array(given, what)
    if array is None or array.dtype.kind not in "fiu":
        raise Error(f"{what} must be {_shape(shape)}real numbers, got {brief(given)}")
    if shape is not None and array.shape != shape:
        raise Error(f"{what} must be {_shape(shape)}numbers, got an array of shape {array.shape}")
    array = np.array(array, dtype=float)
    if not np.isfinite(array).all():
        raise Error(f"{what} must be finite, got {brief(array.tolist())}")
    array += 0.0  # no negative zeros: equal values are equal bytes
    array.setflags(write=False)
    return array


def _array(given: Any, what: str) -> NDArray[Any] | None:
    """An array of anything, or None where there is none: rows of different lengths, for example."""
    if is_masked(given):
        raise Error(f"{what} has masked elements; fill them (numpy.ma.filled) or omit those states")
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError, RuntimeError):
        return None


def _bridge(given: Any) -> str:
    """What to call with a tensor that PyTorch or JAX follows, and which has no numbers for others."""
    library = type(given).__module__.partition(".")[0]
    if library not in ("torch", "jax"):
        return ""
    detach = ", or detach it (.detach().cpu())" if library == "torch" else ""
    return f"; for gradients use da.{library}_function(robot.program(...)){detach}"


def _shape(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return ""
    return f"{shape[0]} " if len(shape) == 1 else f"a {' x '.join(map(str, shape))} matrix of "


def batch(shapes: Mapping[str, tuple[int, ...]], function: str) -> tuple[int, ...]:
    """What leading (batch) axes of several arrays broadcast to.

    >>> batch({"q": (3, 1), "qd": (4,)}, "inverse_dynamics")
    (3, 4)
    """
    if not any(shapes.values()):
        return ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except (ValueError, RuntimeError):
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise Error(f"{function}: the leading (batch) axes do not broadcast: {shown}") from None


def arrays(function: str, **given: tuple[Any, tuple[int, ...]]) -> list[NDArray[Any]]:
    """Arguments of a function with the last axes that each must have, as floats (or complex numbers); the others broadcast.

    >>> [x.shape for x in arrays("cross", a=([1, 2, 3], (3,)), b=([[1, 2, 3], [4, 5, 6]], (3,)))]
    [(2, 3), (2, 3)]
    """
    found: dict[str, NDArray[Any]] = {}
    for name, (value, shape) in given.items():
        array = numbers(value, f"{function}: {name}", complex_=True)
        if array.shape[max(array.ndim - len(shape), 0) :] != shape:
            wanted = ", ".join(["...", *map(str, shape)])
            raise Error(f"{function}: {name} must have the shape ({wanted}), got {array.shape}")
        found[name] = array if array.dtype.kind == "c" else array.astype(float)
    cores = {name: len(shape) for name, (_, shape) in given.items()}
    leading = batch({name: a.shape[: a.ndim - cores[name]] for name, a in found.items()}, function)
    return [np.broadcast_to(a, (*leading, *a.shape[a.ndim - cores[name] :])) for name, a in found.items()]


def room(function: str, size: int, instead: str) -> None:
    """Reject what needs more memory than the limit, which is the same on every machine, before allocating it.

    >>> room("simulate", 10**12, "keep fewer samples")
    Traceback (most recent call last):
    dalembert.errors.Error: simulate: this needs 1,000 GB of memory, more than the limit of 16 GB; keep fewer samples
    """
    if size > MOST_BYTES:
        needed = f"{size // 10**9:,} GB" if size < 10**24 else "more than 10^15 GB"
        raise Error(f"{function}: this needs {needed} of memory, more than the limit of {MOST_BYTES // 10**9} GB; {instead}")


def targets(out: Any, shapes: Mapping[str, tuple[int, ...]], function: str, *, complex_: bool = False) -> list[NDArray[Any]]:
    """The arrays to write results of these names and shapes into: one, or a tuple of them where there are several."""
    given = [out] if len(shapes) == 1 and not isinstance(out, tuple) else list(out) if isinstance(out, tuple) else []
    if len(given) != len(shapes):
        raise Error(f"{function}: out must be a tuple of {len(shapes)} arrays ({', '.join(shapes)})")
    for target, shape in zip(given, shapes.values(), strict=True):
        if not isinstance(target, np.ndarray) or is_masked(target):
            raise Error(f"{function}: out must be a numpy array, got {type(target).__name__}")
        if target.shape != shape:
            raise Error(f"{function}: out has shape {target.shape}, the result has {shape}")
        if not target.flags.writeable:
            raise Error(f"{function}: out must be writable")
        if target.dtype.kind not in ("c" if complex_ else "fc"):
            kind = "complex numbers" if complex_ else "floats"
            raise Error(f"{function}: out must be an array of {kind}, got dtype {target.dtype}")
    if any(np.may_share_memory(a, b) for k, a in enumerate(given) for b in given[:k]):
        raise Error(f"{function}: the arrays of out must not overlap")
    return given


# --- names --------------------------------------------------------------------------------------------------------------


def text(given: Any, what: str) -> str:
    """A string that is not empty and can be printed and stored."""
    if not isinstance(given, str) or not given:
        raise Error(f"{what} must be a non-empty string, got {brief(given)}")
    if len(given) > LONGEST or not given.isprintable():
        raise Error(f"{what} must be at most {LONGEST} printable characters, got {brief(given)}")
    return given


def choice(given: Any, what: str, known: Collection[str]) -> str:
    """One of several names.

    >>> choice("numpy", "backend", ("native", "numpy"))
    'numpy'
    """
    if not isinstance(given, str) or given not in known:
        raise unknown(what, given, known)
    return given


def several(given: Any, what: str) -> tuple[str, ...]:
    """One name, or any number of them.

    >>> several("mass", "symbols"), several(["mass", "com"], "symbols")
    (('mass',), ('mass', 'com'))
    """
    if isinstance(given, str):
        return (given,)
    values: tuple[Any, ...] = tuple(given) if _many(given) else (given,)
    if not all(isinstance(one, str) for one in values):
        raise Error(f"{what} must be a name or a list of names, got {brief(given)}")
    return values


def by_name(given: Any, what: str, example: str) -> Mapping[str, Any]:
    """Things by name.

    >>> by_name({"m1": 2.0}, "parameters", "{'m1': 1.0}")
    {'m1': 2.0}
    """
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in cast("Mapping[Any, Any]", given)):
        raise Error(f"{what} must be given by name, such as {example}, got {brief(given)}")
    return cast("Mapping[str, Any]", given)


def flag(given: Any, what: str) -> bool:
    """True or False.

    >>> flag(True, "check")
    True
    """
    if not isinstance(given, bool | np.bool_):
        raise Error(f"{what} must be True or False, got {brief(given)}")
    return bool(given)


# --- things -------------------------------------------------------------------------------------------------------------


def instance(given: Any, kind: type, what: str) -> Any:
    """A value of the given class."""
    if not isinstance(given, kind):
        raise Error(f"{what} must be a dalembert.{kind.__name__}, got {brief(given)}")
    return given


def listed(given: Any, what: str) -> list[Any]:
    """Any number of things, in order."""
    if not _many(given):
        raise Error(f"{what} must be a list, got {brief(given)}")
    return list(given)


def _many(given: Any) -> bool:
    """Whether it can be gone through; text, sets and arrays of no axes are single things."""
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping) and getattr(given, "ndim", 1) > 0
