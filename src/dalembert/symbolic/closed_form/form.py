"""Closed forms: polynomials in symbols times cosines and sines of whole combinations of the joint angles.

A `Form` is a sum of terms c x^a cos(k.q) or c x^a sin(k.q) with rational c, where products of cosines and sines are written as
sums at once: cos a cos b = (cos(a+b) + cos(a-b)) / 2. The first nonzero entry of k is positive. So every function of this kind has
exactly one form, equal functions are equal objects, and sin(q1 + q2) comes out by itself.

Inside, k is one integer with a digit for each joint, the exponents a are one integer with a digit for each symbol, so that products
add integers, and all coefficients of a form share one denominator. Digits are balanced, so k has the sign of its first digit.
Numbers that are no simple fractions are floats while a formulation runs, and settled afterwards. Every form carries a bound on its
exponents and harmonics, so that a digit never runs over into the next one.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import gcd, lcm, prod
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arguments import by_name, choice, numbers
from dalembert.errors import Error, brief
from dalembert.symbolic.closed_form.rational import ratio
from dalembert.symbolic.closed_form.terms import (
    FINER,
    HIGHEST,
    POWER,
    TRIG,
    Key,
    digit,
    digits,
    largest_of,
    product,
    sizes_of,
    sizes_of_product,
)  # fmt: skip

if TYPE_CHECKING:
    from dalembert.symbolic.closed_form.symbols import Symbols


class TooLongError(Error):
    """A closed form with more terms than anybody reads."""


class Term(NamedTuple):
    """coefficient * symbols^powers * cos(harmonic . q), or sin. The cosine of no angle is 1."""

    coefficient: Fraction
    powers: tuple[int, ...]
    harmonic: tuple[int, ...]
    sine: bool


class Form:
    """A closed form: a scalar with + - *, division by numbers and single products of symbols, derivatives, and a print of itself.

    >>> from dalembert.symbolic.closed_form.symbols import Symbols
    >>> s = Symbols(("l",), "RR")
    >>> c, t = s.angle(0).cos(), s.angle(0).sin()
    >>> c * c + t * t == 1, c * c == (s.angle(0) + s.angle(0)).cos() / 2 + 0.5
    (True, True)
    >>> (s["l"] * c).diff("q1")
    -l*sin(q1)
    """

    __slots__ = ("degree", "over", "symbols", "terms")

    def __init__(self, symbols: "Symbols", terms: dict[Key, Any], over: int, degree: int) -> None:
        self.symbols, self.terms, self.over, self.degree = symbols, terms, over, degree

    def __add__(self, other: Any) -> Any:
        return NotImplemented if (b := _form(self, other)) is None else _sum(self, b, 1)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if (b := _form(self, other)) is None else _sum(self, b, -1)

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if (b := _form(self, other)) is None else _sum(b, self, -1)

    def __neg__(self) -> "Form":
        return Form(self.symbols, {k: -x for k, x in self.terms.items()}, self.over, self.degree)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Form):
            return self._scaled(*ratio(other)) if isinstance(other, Number) else NotImplemented
        _check(self, other)
        a, b = (self, other) if len(self.terms) < len(other.terms) else (other, self)
        degree = _together(a, b)
        return reduced(self.symbols, product(a.terms, b.terms), 2 * a.over * b.over, degree, lambda: sizes_of_product(a, b))

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Form):
            if not isinstance(other, Number):
                return NotImplemented
            n, d = ratio(other)
            if not n:
                raise Error(f"{brief(str(self))} cannot be divided by 0")
            return self._scaled(d if n > 0 else -d, abs(n))
        _check(self, other)
        if len(other.terms) != 1 or (key := next(iter(other.terms)))[0]:
            raise Error(f"closed forms divide by numbers and products of symbols only, not by {brief(str(other))}")
        moved = {(t, m - key[1]): x for (t, m), x in self.terms.items()}
        return Form(self.symbols, moved, self.over, _together(self, other)) * other.over / other.terms[key]

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if (b := _form(self, other)) is None else b / self

    def __pow__(self, power: int) -> "Form":
        if not isinstance(power, int) or not 0 <= power <= 16:
            raise Error(f"closed forms have whole powers from 0 to 16, got {brief(power)}")
        result = self.symbols.number(1)
        for _ in range(power):
            result = result * self
        return result

    __radd__, __rmul__ = __add__, __mul__

    def _scaled(self, n: Any, d: Any) -> "Form":
        if n == d:
            return self
        if n == 0:
            return Form(self.symbols, {}, 1, 0)
        if isinstance(n, float) or isinstance(d, float):
            n, d = n / d, 1
        return reduced(self.symbols, {k: n * x for k, x in self.terms.items()}, self.over * d, self.degree)

    def cos(self) -> "Form":
        """Only of 0: angles are given as `Symbols.angle`."""
        return self._at_zero("cosine") + 1

    def sin(self) -> "Form":
        """Only of 0: angles are given as `Symbols.angle`."""
        return self._at_zero("sine")

    def _at_zero(self, what: str) -> "Form":
        if self.terms:
            raise Error(f"closed forms hold cosines and sines of joint angles only; {self} has no {what}")
        return self

    def conjugate(self) -> "Form":
        """The same: forms are real."""
        return self

    def diff(self, name: str) -> "Form":
        """The derivative with respect to a symbol; angles count inside and outside of cosines and sines."""
        choice(name, "symbol", self.symbols.units)
        unit, n = self.symbols.units[name], len(self.symbols.joints)
        joint = self.symbols.names.index(name) - len(self.symbols.parameters)
        turn, divisor = (self.symbols.turn(joint), self.symbols.divisor(joint)) if 0 <= joint < n else (0, 1)
        terms: dict[Key, Any] = {}
        for (t, m), x in self.terms.items():
            if e := digit(m, unit, POWER):
                terms[t, m - unit] = terms.get((t, m - unit), 0) + e * x * divisor
            if turn and (k := digit(t >> 1, turn, TRIG)):
                key = t ^ 1, m  # cos -> -sin, sin -> cos
                terms[key] = terms.get(key, 0) + (k * x if t & 1 else -k * x)
        return reduced(self.symbols, terms, self.over * divisor, _together(self, self.symbols[name]))  # 1/x becomes 1/x^2

    def decoded(self) -> list[Term]:
        """The terms as they are kept inside, with exponents and harmonics spelled out."""
        n, N = len(self.symbols.joints), len(self.symbols.names)
        powers = {m: digits(m, POWER, N) for m in {m for _, m in self.terms}}
        turns = {t: digits(t >> 1, TRIG, n) for t in {t for t, _ in self.terms}}
        return [Term(Fraction(x) / self.over, powers[m], turns[t], bool(t & 1)) for (t, m), x in self.terms.items()]

    def ordered(self) -> list[Term]:
        """The terms in the order in which people write them: constants, then low harmonics; first symbols first."""

        def order(term: Term) -> Any:
            k = term.harmonic
            return sum(map(abs, k)), [-x for x in k], term.sine, [-e for e in term.powers]

        return sorted(self.decoded(), key=order)

    @np.errstate(all="ignore")  # infinities: the results say so
    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Its value at numbers, or arrays of them, for the symbols that occur.

        >>> from dalembert.symbolic.closed_form.symbols import Symbols
        >>> s = Symbols(("l",), "R")
        >>> float((s["l"] * s.angle(0).cos()).evaluate({"l": 2.0, "q1": 0.0}))
        2.0
        """
        by_name(values, "values", "{'q1': 0.5}")
        names, total = self.symbols.names, 0.0
        trig: dict[Any, Any] = {((0,) * len(self.symbols.joints), False): 1.0}
        products: dict[Any, Any] = {}
        for c, powers, harmonic, sine in self.decoded():
            if (harmonic, sine) not in trig:
                factors, offset = self.symbols.factors(harmonic), self.symbols.offset(harmonic)
                angle = sum((float(k) * _value(values, f"q{i + 1}") for i, k in enumerate(factors) if k), offset)
                trig[harmonic, sine] = np.sin(angle) if sine else np.cos(angle)
            if powers not in products:
                products[powers] = prod(_value(values, name) ** float(e) for name, e in zip(names, powers, strict=True) if e)
            total = total + float(c) * products[powers] * trig[harmonic, sine]
        return total

    def __len__(self) -> int:
        return len(self.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Form):
            return self.over == other.over and self.terms == other.terms and self.symbols == other.symbols
        try:
            return isinstance(other, Number) and self == self.symbols.number(other)
        except Error:  # neither infinite nor complex
            return False

    def __hash__(self) -> int:
        constant = not self.terms or (len(self.terms) == 1 and (0, 0) in self.terms)
        value = Fraction(self.terms.get((0, 0), 0)) / self.over  # equal to a number: the same hash
        return hash(value) if constant else hash((self.over, frozenset(self.terms.items())))

    def __str__(self) -> str:
        from dalembert.symbolic.closed_form.write import TEXT, written

        return written(self, TEXT)

    __repr__ = __str__

    def latex(self, short: bool = True) -> str:
        r"""LaTeX; `short` writes the books' C_{12} for cos(q1 + q2).

        >>> from dalembert.symbolic.closed_form.symbols import Symbols
        >>> s = Symbols(("m1",), "RR")
        >>> print((s["m1"] * (s.angle(0) + s.angle(1)).cos() * s["qd1"] / 2).latex())
        \frac{1}{2} m_1 C_{12} \dot{\theta}_1
        """
        from dalembert.symbolic.closed_form.write import LatexStyle, written

        return written(self, LatexStyle(self.symbols, short))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def sympy(self) -> Any:
        """The same as a SymPy expression of plain symbols m1, q1, qd1, ..."""
        from dalembert.symbolic.closed_form.write import as_sympy

        return as_sympy(self)

    _sympy_ = sympy  # what SymPy's own functions and matrices look for


def _value(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise Error(f"the value of {name} is missing")
    return numbers(values[name], name).astype(float, copy=False)


def _form(like: Form, x: Any) -> Form | None:
    if isinstance(x, Form):
        _check(like, x)
        return x
    return like.symbols.number(x) if isinstance(x, Number) else None


def _check(a: Form, b: Form) -> None:
    if a.symbols is not b.symbols and a.symbols != b.symbols:
        raise Error("these closed forms have different symbols: they belong to different equations")


def _together(a: Form, b: Form) -> int:
    """A bound on the exponents of a product or quotient, which must fit their digits."""
    if a.degree + b.degree <= HIGHEST:
        return a.degree + b.degree
    degree = _degree(a) + _degree(b)  # bounds add up too fast: many of the highest powers have cancelled
    if degree > HIGHEST:
        shown = brief(str(a), 60), brief(str(b), 60)
        raise Error(f"exponents beyond {HIGHEST} are too much for a closed form: {shown[0]} times or over {shown[1]}")
    return degree


def _degree(form: Form) -> int:
    """The largest exponent that occurs, or harmonic, whose digits are finer."""
    terms = form.decoded()
    return max((e for t in terms for e in (*map(abs, t.powers), *(-(-abs(k) // FINER) for k in t.harmonic))), default=0)


def reduced(
    symbols: "Symbols", terms: dict[Key, Any], over: int, degree: int, sizes: Callable[[], Mapping[int, float]] = dict
) -> Form:
    """In lowest terms, zeros removed; `sizes` are those of the numbers that were added up, by powers of symbols."""
    if 0 in terms.values():
        terms = {k: x for k, x in terms.items() if x}
    if len(terms) > symbols.most:
        raise TooLongError(
            f"a closed form of {symbols.robot} has more than {symbols.most} terms; equations(robot).shared() writes it with "
            f"shared subexpressions{', and fewer symbols make shorter forms' if symbols.parameters else ''}"
        )
    try:
        g = gcd(over, *terms.values())
    except TypeError:  # floats among them: what cancelled but for rounding is gone
        largest = sizes()
        kept = {k: x / over for k, x in terms.items() if abs(x) > 1e-15 * over * largest.get(k[1], 0.0)}
        return Form(symbols, kept, 1, degree)
    return Form(symbols, {k: x // g for k, x in terms.items()} if g > 1 else terms, over // g, degree)


def _sum(a: Form, b: Form, sign: int) -> Form:
    if not b.terms:
        return a
    over = lcm(a.over, b.over)
    p, q = over // a.over, sign * (over // b.over)
    total = {k: p * x for k, x in a.terms.items()} if p != 1 else dict(a.terms)
    for k, x in b.terms.items():
        total[k] = total.get(k, 0) + q * x
    return reduced(a.symbols, total, over, max(a.degree, b.degree), lambda: largest_of(sizes_of(a), sizes_of(b)))
