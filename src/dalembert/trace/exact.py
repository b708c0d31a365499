"""Exact scalars: integers modulo a prime, and angles given as points on the circle.

cos and sin of an unknown angle are any pair with c^2 + s^2 = 1. Two programs that agree at random residues are identical, in the
reals too, but for a probability of about their degree divided by the prime (Schwartz and Zippel): equality with no tolerance to
hide behind.
"""

from fractions import Fraction
from math import isfinite
from numbers import Rational
from typing import Any

PRIME = 2**521 - 1  # a Mersenne prime, far above the degrees of the programs here


class Residue:
    """An integer modulo PRIME. Floats and fractions enter exactly, as the fractions they are.

    >>> Residue(1) / Residue(3) * 3 == 1
    True
    >>> Residue(0.5) + Residue(0.5) == 1
    True
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, int):
            self.value = value % PRIME
        else:
            x = Fraction(value)
            self.value = x.numerator * pow(x.denominator, -1, PRIME) % PRIME

    def cos(self) -> "Residue":
        """Only of 0: other residues are not angles."""
        return Residue(1) if self.value == 0 else _refuse("cosine: give it as an Angle")

    def sin(self) -> "Residue":
        """Only of 0: other residues are not angles."""
        return self if self.value == 0 else _refuse("sine: give it as an Angle")

    def sqrt(self) -> "Residue":
        """Refused: square roots are not unique in a field."""
        return _refuse("square root")

    def sign(self) -> "Residue":
        """Refused: a field has no order."""
        return _refuse("sign")

    def above(self, floor: float, otherwise: Any) -> Any:
        """Itself, since a field has no order and what guards against rounding has nothing to do; but zero exceeds no floor."""
        return otherwise if self.value == 0 and floor >= 0 else self

    def where(self, a: Any, b: Any) -> "Residue":
        """Refused: a field has no order."""
        return _refuse("sign")

    def conjugate(self) -> "Residue":
        """The same."""
        return self

    def __add__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else Residue(self.value + b)

    def __neg__(self) -> "Residue":
        return Residue(-self.value)

    def __sub__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else Residue(self.value - b)

    def __rsub__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else Residue(b - self.value)

    def __mul__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else Residue(self.value * b)

    def __truediv__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else _quotient(self.value, b)

    def __rtruediv__(self, other: Any) -> "Residue":
        return NotImplemented if (b := _integer(other)) is None else _quotient(b, self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return self.value == _integer(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - equal to fractions and floats whose hashes differ

    def __repr__(self) -> str:
        return f"Residue({self.value})"


def _refuse(what: str) -> Residue:
    raise TypeError(f"a number modulo a prime has no {what}")


def _integer(x: Any) -> int | None:
    if isinstance(x, Residue):
        return x.value
    if isinstance(x, float) and not isfinite(x):
        return None
    return Residue(x).value if isinstance(x, int | float | Rational) else None


def _quotient(a: int, b: int) -> Residue:
    if b % PRIME == 0:
        raise ZeroDivisionError("division by zero modulo the prime")
    return Residue(a * pow(b, -1, PRIME))


class Angle:
    """An angle for exact scalars: its value where it stands alone, and its cosine and sine, which may be any circle point.

    >>> x = Angle.from_parameter(Fraction(1, 2), value=Fraction(9, 10))
    >>> x.cos(), x.sin()
    (Fraction(3, 5), Fraction(4, 5))
    """

    __slots__ = ("cosine", "sine", "value")

    def __init__(self, value: Any, cosine: Any, sine: Any) -> None:
        self.value, self.cosine, self.sine = value, cosine, sine

    @classmethod
    def from_parameter(cls, t: Any, value: Any) -> "Angle":
        """The angle whose half has tangent t, and whose value, where it enters outside sine and cosine, is free.

        In a proof the value must be independent of t: an angle is not an algebraic function of its sine and cosine.
        """
        return cls(value, (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))

    def cos(self) -> Any:
        """The given cosine."""
        return self.cosine

    def sin(self) -> Any:
        """The given sine."""
        return self.sine

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Angle):
            (c, s), (e, f) = (self.cosine, self.sine), (other.cosine, other.sine)
            return Angle(self.value + other.value, c * e - s * f, s * e + c * f)
        return self if other == 0 else self.value + other

    def __neg__(self) -> "Angle":
        return Angle(-self.value, self.cosine, -self.sine)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Angle):
            return self.value * other.value
        return self if other == 1 else self.value * other

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return f"Angle({self.value!r}, {self.cosine!r}, {self.sine!r})"
