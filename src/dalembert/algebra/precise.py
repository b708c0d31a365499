"""Numbers that are the same on every machine: for the constants of robots and of programs.

BLAS, NumPy's vectorized functions and the C library round the last bit differently from one processor to the next. A constant that
comes from them makes another program there: a tensor that is symmetric on one machine only, or 1e-17 in the place of a zero. So
models are built with sums in a fixed order (`product`) and correctly rounded functions (`cos_sin`, `arctan2`), reduced with sixty
digits (`precisely`), and programs are traced from exact fractions (`exact`), which are rounded when they meet an input.
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import cache, lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

DIGITS = 60
HALF_PI = Decimal("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853")
NEAR, FEW = 10**9, 80  # angles below it, to that many digits, are reduced with those digits of pi / 2
T = TypeVar("T")


def product(A: Any, B: Any) -> Any:
    """A B or A v for arrays of floats, the terms of each sum added in order.

    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0]))
    array([21., 43.])
    """
    with np.errstate(all="ignore"):  # huge numbers overflow, which the callers reject
        return (A * B).sum(axis=-1) if B.ndim == 1 else (A[:, :, None] * B[None]).sum(axis=1)


def as_objects(x: Any) -> Any:
    """Floats in arrays of objects, on which NumPy calls neither BLAS nor vector code; in (named) tuples of arrays, too."""
    return _mapped(lambda part: part.astype(object) if isinstance(part, np.ndarray) else part, x)


def exact(x: Any) -> Any:
    """Finite floats as the fractions they are, in arrays and (named) tuples of them; anything else stays as it is.

    >>> exact(np.array([0.5, 2.0]))
    array([Fraction(1, 2), 2], dtype=object)
    """
    return _mapped(_fractions, x)


def exact_rotation(R: Any) -> Any:
    """A rotation in fractions, orthogonal to the last digit, beside a rotation of floats, which cannot be; zeros stay zeros.

    So cos^2 + sin^2 is 1, and no rounding error of it gets into a program as a constant.

    >>> E = exact_rotation(np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]))
    >>> bool((E @ E.T == np.eye(3)).all())
    True
    """
    if R.ndim > 2:
        return np.array([exact_rotation(x) for x in R], dtype=object).reshape(R.shape)
    E = exact(R)
    if all(isinstance(x, int) for x in E.flat):
        return E
    return _with_zero(E, *np.argwhere(R == 0)[0]) if not R.all() else _from_quaternion(E)


def _with_zero(R: Any, i: int, j: int) -> Any:
    """From the column and the row through a zero: they are unit vectors of a plane each, and determine the other four entries."""
    (m, n), (k, l) = ([x for x in range(3) if x != skipped] for skipped in (i, j))
    (a, b), (c, d) = _on_circle(R[m, j], R[n, j]), _on_circle(R[i, k], R[i, l])
    sign = 1 if a * d * R[n, k] + b * c * R[m, l] - a * c * R[n, l] - b * d * R[m, k] > 0 else -1
    E = np.zeros((3, 3), dtype=object)
    E[m, j], E[n, j], E[i, k], E[i, l] = a, b, c, d
    E[m, k], E[m, l], E[n, k], E[n, l] = (sign * x for x in (-b * d, b * c, a * d, -a * c))
    return E


def _on_circle(c: Any, s: Any) -> tuple[Any, Any]:
    """The point (c, s) moved onto the unit circle, by the tangent of half its angle."""
    t = _short(Fraction(s, 1 + abs(c)))
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return (-x if c < 0 else x), y


def _from_quaternion(R: Any) -> Any:
    """From the ratios of its quaternion's components to the largest."""
    (a, b, c), (d, e, f), (g, h, i) = R
    columns = (  # 4 w, x, y, z times w, x, y and z
        (1 + a + e + i, h - f, c - g, d - b),
        (h - f, 1 + a - e - i, b + d, c + g),
        (c - g, b + d, 1 - a + e - i, f + h),
        (d - b, c + g, f + h, 1 - a - e + i),
    )
    k = max(range(4), key=lambda k: columns[k][k])
    w, x, y, z = (1 if j == k else _short(Fraction(columns[k][j], columns[k][k])) for j in range(4))
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.array(rows, dtype=object) / (w * w + x * x + y * y + z * z)


def _short(x: Fraction) -> Fraction:
    """x to 64 bits."""
    if not x:
        return x
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 64)
    return round(x / unit) * unit


def rounded(x: Any) -> Any:
    """The nearest floats of exact or precise numbers, in arrays and (named) tuples of them."""
    return _mapped(_floats, x)


def precisely(function: Callable[..., T]) -> Callable[..., T]:
    """The same function of floats, arrays and (named) tuples of them, carried out on decimals and rounded once at the end.

    >>> precisely(lambda x: x * x - 2)(1.4142135623730951)
    2.7343234630647693e-16
    """

    @wraps(function)
    def on_floats(*arguments: Any) -> Any:
        with decimals(DIGITS):
            return rounded(function(*map(decimal, arguments)))

    return on_floats


def decimals(digits: int = DIGITS) -> Any:
    """A context in which decimals have so many digits; infinity and NaN go through it, as in floats."""
    return localcontext(Context(prec=digits, Emax=10**9, Emin=-(10**9), traps=[]))


def decimal(x: Any) -> Any:
    """Floats as decimals, in arrays and (named) tuples of them."""
    return _mapped(_decimals, x)


def nearest(x: Any) -> float:
    """The float next to a real number; infinity beyond the largest.

    >>> nearest(-(10**400))
    -inf
    """
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _mapped(convert: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, tuple):
        parts = [_mapped(convert, part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return convert(x)


def _fraction(x: Any) -> Any:
    if not isinstance(x, float) or not math.isfinite(x):
        return x
    return int(x) if x.is_integer() and abs(x) < 2**53 else Fraction(x)  # integers are faster


_each_fraction = np.frompyfunc(_fraction, 1, 1)
_each_decimal = np.frompyfunc(Decimal, 1, 1)
_each_float = np.frompyfunc(lambda x: nearest(x), 1, 1)


def _fractions(x: Any) -> Any:
    return _each_fraction(x.astype(object)) if isinstance(x, np.ndarray) else _fraction(x)


def _decimals(x: Any) -> Any:
    return _each_decimal(x.astype(object)) if isinstance(x, np.ndarray) else Decimal(x) if isinstance(x, int | float) else x


def _floats(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.asarray(_each_float(x), dtype=float) + 0.0  # no negative zeros
    return nearest(x) + 0.0 if isinstance(x, Decimal | Fraction | int) else x


# --- functions of numbers, correctly rounded ------------------------------------------------------------------------------


@lru_cache(4096)
def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of a finite angle, correctly rounded.

    >>> cos_sin(1e22)
    (0.523214785395139, -0.8522008497671888)
    """
    with decimals():
        c, s = cos_sin_decimal(Decimal(angle))
        return float(c), float(s)


@lru_cache(4096)
def arctan2(y: float, x: float) -> float:
    """The angle of the point (x, y), correctly rounded.

    >>> arctan2(1.0, -1.0)
    2.356194490192345
    """
    guess = math.atan2(y, x)
    with decimals():
        c, s = cos_sin_decimal(Decimal(guess))
        a, b = Decimal(x), Decimal(y)
        off = (b * c - a * s) / (a * a + b * b).sqrt() if a or b else Decimal(0)  # the sine of what the guess is off by
        return float(Decimal(guess) + off)


def cos_sin_decimal(x: Decimal) -> tuple[Decimal, Decimal]:
    """Cosine and sine of a finite decimal, with the digits of the context."""
    digits = getcontext().prec
    with decimals(digits + 5 + max(0, x.adjusted())):
        c, s = _cos_sin(x)
    return +c, +s


def _cos_sin(x: Decimal) -> tuple[Decimal, Decimal]:
    """The series for a 16th of what whole right angles leave, then four doublings."""
    digits = getcontext().prec
    right = HALF_PI if abs(x) < NEAR and digits <= FEW else _half_pi(digits)
    turns = (x / right).to_integral_value()
    z = (x - turns * right) / 16
    even, odd, k = Decimal(1), z, 1
    less_one, s, least = Decimal(0), z, Decimal(10) ** -(digits + 5)  # cos z - 1 has more digits than cos z
    while abs(even) > least:
        even, odd = -even * z * z / (k * (k + 1)), -odd * z * z / ((k + 1) * (k + 2))
        less_one, s, k = less_one + even, s + odd, k + 2
    for _ in range(4):
        less_one, s = 2 * less_one * (2 + less_one), 2 * s * (1 + less_one)
    c = 1 + less_one
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(turns) % 4]


@cache
def _half_pi(digits: int) -> Decimal:
    """By Machin's series, with digits to spare for whole turns."""

    def arctan_of_inverse(n: int) -> Decimal:
        power = total = Decimal(1) / n
        k = 1
        while total + power != total:
            power, k = -power / (n * n), k + 2
            total += power / k
        return total

    with decimals(2 * digits + 20):
        return 8 * arctan_of_inverse(5) - 2 * arctan_of_inverse(239)
