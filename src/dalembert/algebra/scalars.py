"""Functions of any scalar, and of arrays of them: numbers, exact ones too, are computed, other scalars have them as methods."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.algebra import precise


def _of_numbers(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of arrays of objects: of numbers it is computed, other scalars have it as a method."""
    return np.frompyfunc(lambda x: function(x) if isinstance(x, int | float | complex | Fraction) else getattr(x, name)(), 1, 1)


def _cos_sin_of(x: Any) -> tuple[Any, Any]:
    """Of a constant; those of 0 are integers, so that exact values stay exact."""
    if isinstance(x, complex):
        return np.cos(x), np.sin(x)
    if x == 0:
        return 1, 0
    angle = precise.nearest(x)
    return precise.cos_sin(angle) if math.isfinite(angle) else (math.nan, math.nan)


_cos = _of_numbers("cos", lambda x: _cos_sin_of(x)[0])
_sin = _of_numbers("sin", lambda x: _cos_sin_of(x)[1])
_sqrt = _of_numbers("sqrt", lambda x: np.sqrt(x if isinstance(x, complex) else precise.nearest(x)))
_sign = _of_numbers("sign", lambda x: np.sign(np.real(x)))


def _is_object(x: Any) -> bool:
    return np.asarray(x).dtype == object


def _is_exact(x: Any) -> bool:
    """Whether its cosine may have to be exact: objects, and the integer 0 that is left of a joint which does not rotate."""
    return isinstance(x, int) or _is_object(x)


def cos_sin(angle: Any) -> tuple[Any, Any]:
    """Cosine and sine of an angle of any scalar type.

    >>> cos_sin(0.0)
    (np.float64(1.0), np.float64(0.0))
    """
    return (_cos(angle), _sin(angle)) if _is_exact(angle) else (np.cos(angle), np.sin(angle))


def sqrt(x: Any) -> Any:
    """Square root for any scalar type."""
    return _sqrt(x) if _is_object(x) else np.sqrt(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1 for any scalar type; of a complex number, the sign of its real part, so that complex steps go through."""
    return _sign(x) if _is_object(x) else np.sign(np.real(x))


def above(x: Any, floor: float, otherwise: float) -> Any:
    """x where it exceeds a number, else another number; of complex numbers the real part counts."""
    return x.above(floor, otherwise) if hasattr(x, "above") else np.where(np.real(x) > floor, x, otherwise)[()]


def where(c: Any, a: Any, b: Any) -> Any:
    """a where c is above 0, else b, for any scalar type; of a complex c the real part counts.

    >>> where(np.array([-1.0, 0.0, 2.0]), 1.0, 0.0).tolist()
    [0.0, 0.0, 1.0]
    """
    return _where(c, a, b) if any(map(_is_object, (c, a, b))) else np.where(np.real(c) > 0, a, b)[()]


def _one_of(c: Any, a: Any, b: Any) -> Any:
    """`where` for scalars."""
    return c.where(a, b) if hasattr(c, "where") else a if np.real(c) > 0 else b


_where = np.frompyfunc(_one_of, 3, 1)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent for any scalar that has + - * / and `where`, to 1e-15: a continued fraction, and doubled arguments.

    >>> bool(abs(tanh(np.array([-30.0, 0.3, 2.0])) - np.tanh([-30.0, 0.3, 2.0])).max() < 1e-15)
    True
    """
    y = where(x - 20, 20, where(-20 - x, -20, x)) / 64  # from 20 on it is 1
    square = y * y
    t = y * (945 + square * (105 + square)) / (945 + square * (420 + square * 15))
    for _ in range(6):
        t = 2 * t / (1 + t * t)
    return t
