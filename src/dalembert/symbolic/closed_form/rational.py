"""Floats as the numbers that were meant."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.errors import Error, brief


def exact(x: Any) -> int | float | Fraction:
    """The number that was meant: whole, a simple fraction, or a short decimal; other floats stay floats.

    >>> exact(0.08333333333333333), exact(9.8062), exact(-1.0), exact(0.7071067811865476)
    (Fraction(1, 12), Fraction(49031, 5000), -1, 0.7071067811865476)
    """
    if not isinstance(x, float):
        return x
    x = float(x)
    near = Fraction(x).limit_denominator(1000)
    if abs(float(near) - x) <= 4e-16 * abs(x):
        return near.numerator if near.denominator == 1 else near
    return Fraction(repr(x)) if len(Decimal(repr(x)).as_tuple().digits) <= 12 else x


def exactly(array: Any) -> Any:
    """An array of the numbers that were meant; others stay as they are."""
    array = np.asarray(array, dtype=object)
    numbers = np.empty(array.size, dtype=object)
    numbers[:] = [exact(x) for x in array.flat]
    return numbers.reshape(array.shape)


def meant(x: float) -> Fraction:
    """A result of rounded arithmetic: the simple fraction next to it, or the fraction that the float is."""
    near = Fraction(x).limit_denominator(100)
    return near if abs(float(near) - x) <= 1e-14 * abs(x) else Fraction(x)


def ratio(x: Any) -> tuple[Any, int]:
    """Numerator and denominator; of a float that is not a short binary fraction, itself over 1."""
    if isinstance(x, int):
        return x, 1
    if isinstance(x, Fraction):
        return x.numerator, x.denominator
    try:
        n, d = float(x).as_integer_ratio()
    except (TypeError, ValueError, OverflowError):
        raise Error(f"closed forms take finite real numbers, got {brief(x)}") from None
    return (n, d) if d <= 4096 else (float(x), 1)
