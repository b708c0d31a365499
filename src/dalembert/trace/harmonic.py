"""Symbolic scalars in one canonical form: sums of number x powers of letters x one cosine or sine of a sum of angles.

Products of cosines and sines become sums as they are made, so cos^2 + sin^2 is 1, cos(q1) cos(q2) - sin(q1) sin(q2) is
cos(q1 + q2), and equal expressions are equal term by term: nothing has to be simplified afterwards. Numbers that are small
fractions are kept as fractions. No division but by numbers.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from importlib import import_module
from itertools import groupby
from numbers import Rational, Real
from typing import Any, NamedTuple

ROUNDING = 1e-14  # what is left of floats that cancel, relative to them, is nothing


class Symbol(NamedTuple):
    """A letter. Letters of a product stand in the order of `rank`, then of `name`."""

    rank: int
    name: str
    latex: str


Letters = tuple[tuple[Symbol, int], ...]  # with their powers, in order
Angles = tuple[tuple[Symbol, int], ...]  # with their multiples, in order, the first one positive


class Term(NamedTuple):
    """Powers of letters times the cosine, or the sine, of a sum of multiples of angles; the cosine of nothing is 1."""

    letters: Letters
    sine: bool
    angles: Angles


ONE = Term((), False, ())


class Harmonic:
    """A sum of terms with numbers before them.

    >>> a, b = (Harmonic.letter(Symbol(0, name, name)) for name in ("a", "b"))
    >>> a.cos() * b.cos() - a.sin() * b.sin()
    cos(a + b)
    >>> (3 * a * a.cos() + b) * a.sin() - a.sin() * b
    3/2*a*sin(2*a)
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Term, Any]) -> None:
        self.terms = terms

    @classmethod
    def letter(cls, symbol: Symbol) -> "Harmonic":
        """The letter by itself; `cos` and `sin` of it, and of sums of letters, take it as an angle."""
        return cls({Term(((symbol, 1),), False, ()): 1})

    @classmethod
    def of(cls, x: Any) -> "Harmonic":
        """A number or one that is there already."""
        return x if isinstance(x, Harmonic) else cls({ONE: exact(x)} if x else {})

    def cos(self) -> "Harmonic":
        """Cosine of a sum of whole multiples of letters and a number."""
        return self._wave(False)

    def sin(self) -> "Harmonic":
        """Sine of a sum of whole multiples of letters and a number."""
        return self._wave(True)

    def _wave(self, sine: bool) -> "Harmonic":
        angles: dict[Symbol, int] = {}
        phase = 0
        for (letters, _, turns), x in self.terms.items():
            if not letters and not turns:
                phase = x
            elif len(letters) == 1 and letters[0][1] == 1 and not turns and int(x) == x:
                angles[letters[0][0]] = int(x)
            else:
                raise TypeError(f"{self} is no sum of angles: it has no sine and cosine here")
        wave = Harmonic(_wave((), sine, tuple(sorted(angles.items())), 1))
        if not phase:
            return wave
        c, s = (0 if abs(x) < 1e-15 else x for x in (math.cos(phase), math.sin(phase)))
        quarter = Harmonic(_wave((), not sine, tuple(sorted(angles.items())), 1))
        return wave * c + quarter * (s if sine else -s)

    def conjugate(self) -> "Harmonic":
        """The same."""
        return self

    def __add__(self, other: Any) -> "Harmonic":
        if not isinstance(other, Harmonic | Real):
            return NotImplemented
        return Harmonic(_collected([*self.terms.items(), *Harmonic.of(other).terms.items()]))

    def __neg__(self) -> "Harmonic":
        return Harmonic({term: -x for term, x in self.terms.items()})

    def __sub__(self, other: Any) -> "Harmonic":
        return self + -other if isinstance(other, Harmonic | Real) else NotImplemented

    def __rsub__(self, other: Any) -> "Harmonic":
        return -self + other

    def __mul__(self, other: Any) -> "Harmonic":
        if not isinstance(other, Harmonic | Real):
            return NotImplemented
        pairs: list[tuple[Term, Any]] = []
        for a, x in self.terms.items():
            for b, y in Harmonic.of(other).terms.items():
                pairs += _product(a, b, x * y).items()
        return Harmonic(_collected(pairs))

    def __truediv__(self, other: Any) -> "Harmonic":
        return self * (Fraction(1) / exact(other)) if isinstance(other, Real) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Harmonic | Real) and self.terms == Harmonic.of(other).terms

    __hash__ = None  # pyright: ignore[reportAssignmentType] - equal to numbers

    def at(self, values: Mapping[str, float]) -> float:
        """Its value, with a number for the name of each letter."""

        def value(term: Term, x: Any) -> float:
            angle = sum(k * values[a.name] for a, k in term.angles)
            powers = math.prod(values[a.name] ** k for a, k in term.letters)
            return float(x) * powers * (math.sin(angle) if term.sine else math.cos(angle))

        return math.fsum(value(term, x) for term, x in self.terms.items())

    def _sympy_(self) -> Any:
        """What SymPy takes it as: sympify(x), or x in any of its matrices and expressions."""
        sympy = import_module("sympy")
        total = sympy.Integer(0)
        for term, x in self.terms.items():
            number = sympy.Rational(x.numerator, x.denominator) if isinstance(x, Rational) else sympy.Float(x)
            angle = sum(k * sympy.Symbol(a.name) for a, k in term.angles)
            powers = sympy.prod([sympy.Symbol(a.name) ** k for a, k in term.letters])
            total += number * powers * (sympy.sin(angle) if term.sine else sympy.cos(angle))
        return total

    def __repr__(self) -> str:
        return " + ".join(_text(term, x) for term, x in sorted(self.terms.items(), key=lambda item: item[0])) or "0"


def exact(x: Any) -> Any:
    """The small fraction that a float is, else the float.

    >>> exact(0.08333333333333333), exact(2.0), exact(0.3183)
    (Fraction(1, 12), 2, 0.3183)
    """
    if isinstance(x, Rational):
        found = Fraction(int(x.numerator), int(x.denominator))
    else:
        found = Fraction(float(x)).limit_denominator(64)
        if float(found) != float(x):
            return float(x)
    return int(found) if found.denominator == 1 else found


def _collected(pairs: Iterable[tuple[Term, Any]]) -> dict[Term, Any]:
    """Equal terms added up; floats that cancel but for rounding are gone."""
    total: dict[Term, Any] = {}
    largest: dict[Term, float] = {}
    for term, x in pairs:
        total[term] = total.get(term, 0) + x
        largest[term] = max(largest.get(term, 0.0), abs(x))
    return {term: x for term, x in total.items() if (abs(x) > ROUNDING * largest[term] if isinstance(x, float) else x)}


def _merged(a: Letters, b: Letters) -> Letters:
    """Powers, or multiples, of letters added up."""
    if not a or not b:
        return a or b
    together = groupby(sorted((*a, *b)), key=lambda pair: pair[0])
    return tuple((symbol, k) for symbol, pairs in together if (k := sum(power for _, power in pairs)))


def _wave(letters: Letters, sine: bool, angles: Angles, x: Any) -> dict[Term, Any]:
    """x times letters times cos or sin, with the first angle made positive."""
    angles = tuple(pair for pair in angles if pair[1])
    if not angles:
        return {} if sine else {Term(letters, False, ()): x}
    if angles[0][1] < 0:
        angles, x = tuple((a, -k) for a, k in angles), -x if sine else x
    return {Term(letters, sine, angles): x}


def _product(a: Term, b: Term, x: Any) -> dict[Term, Any]:
    """Two terms multiplied: products of cosines and sines become sums."""
    letters = _merged(a.letters, b.letters)
    if not a.angles or not b.angles:
        return {Term(letters, a.sine or b.sine, a.angles or b.angles): x}
    plus, minus = _merged(a.angles, b.angles), _merged(a.angles, tuple((s, -k) for s, k in b.angles))
    half = x / 2 if isinstance(x, float) else exact(Fraction(x) / 2)
    sine = a.sine != b.sine
    of_sum, of_difference = (-half if a.sine and b.sine else half), (-half if b.sine and not a.sine else half)
    first, second = _wave(letters, sine, plus, of_sum), _wave(letters, sine, minus, of_difference)
    return _collected([*first.items(), *second.items()])


def _sum(angles: Angles, shown: Callable[[Symbol], str]) -> str:
    parts = [("-" if k < 0 else "+", ("" if abs(k) == 1 else f"{abs(k)}*") + shown(a)) for a, k in angles]
    return " ".join(f"{sign} {part}" for sign, part in parts).removeprefix("+ ")


def _text(term: Term, x: Any) -> str:
    parts = [a.name if k == 1 else f"{a.name}**{k}" for a, k in term.letters]
    if term.angles:
        parts.append(f"{'sin' if term.sine else 'cos'}({_sum(term.angles, lambda a: a.name)})")
    return "*".join(([] if x == 1 and parts else [str(x)]) + parts)
