"""Closed forms on paper: terms are collected by velocities, then by cosines and sines, and common symbols are put outside."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.arguments import flag
from dalembert.errors import optional
from dalembert.symbolic.closed_form.form import Form, Term
from dalembert.symbolic.closed_form.names import braced, latex_name
from dalembert.symbolic.closed_form.symbols import Symbols


class Piece(NamedTuple):
    """A summand without its sign."""

    negative: bool
    text: str


class TextStyle:
    """Python and SymPy syntax; so many `digits` of decimals are written, with None all that a float has."""

    def __init__(self, digits: int | None = 12) -> None:
        self.digits = digits

    def angle(self, factors: Sequence[Fraction], offset: float, sine: bool) -> str:
        """A cosine or a sine."""
        pieces = [Piece(k < 0, self.product(abs(k), [f"q{i + 1}"])) for i, k in enumerate(factors) if k]
        return f"{'sin' if sine else 'cos'}({joined([*pieces, *_constant(offset, self.digits)])})"

    def power(self, name: str, exponent: int) -> str:
        """A symbol to a power."""
        return name if exponent == 1 else f"{name}**{exponent}"

    def product(self, size: Fraction, factors: Sequence[str]) -> str:
        """A positive number times factors: 4*m2/3."""
        shown = number(size, self.digits)
        if not factors:
            return shown
        over, shown = (f"/{size.denominator}", str(size.numerator)) if "/" in shown else ("", shown)
        return "*".join([*([] if shown == "1" else [shown]), *factors]) + over

    def bracket(self, text: str) -> str:
        """A sum as a factor."""
        return f"({text})"


class LatexStyle:
    """LaTeX; `short` writes the books' C_{12} and S_{1-2}."""

    def __init__(self, symbols: Symbols, short: bool = True, digits: int = 12) -> None:
        self.short, self.digits = flag(short, "short"), digits
        self.apart = "," if len(symbols.joints) > 9 else ""  # joint 12 or joints 1 and 2
        self.names = {name: latex_name(name, symbols) for name in symbols.names}
        self.positions = [self.names[f"q{i + 1}"] for i in range(len(symbols.joints))]

    def angle(self, factors: Sequence[Fraction], offset: float, sine: bool) -> str:
        """A cosine or a sine; offsets are in the angles theta already."""
        if self.short and set(factors) <= {-1, 0, 1}:
            joint = self.apart.join(("-" if k < 0 else "") + str(i + 1) for i, k in enumerate(factors) if k)
            return f"{'S' if sine else 'C'}_{braced(joint)}"
        inside = joined([Piece(k < 0, self.product(abs(k), [self.positions[i]])) for i, k in enumerate(factors) if k])
        return f"\\{'sin' if sine else 'cos'}({inside})"

    def power(self, name: str, exponent: int) -> str:
        """A symbol to a power."""
        return self.names[name] if exponent == 1 else f"{self.names[name]}^{braced(str(exponent))}"

    def product(self, size: Fraction, factors: Sequence[str]) -> str:
        r"""A positive number times factors: \frac{4}{3} m_2."""
        shown = number(size, self.digits)
        if "/" in shown:
            shown = f"\\frac{{{size.numerator}}}{{{size.denominator}}}"
        return " ".join([*([] if shown == "1" and factors else [powered(shown)]), *factors])

    def bracket(self, text: str) -> str:
        """A sum as a factor; of a kind that may be broken over lines."""
        return f"\\bigl({text}\\bigr)"


TEXT = TextStyle()
Style = TextStyle | LatexStyle


def powered(number: str) -> str:
    """A number without e: 1.5e-07 is 1.5 times a power of ten."""
    mantissa, _, exponent = number.partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else number


def _constant(offset: float, digits: int | None) -> list[Piece]:
    """A number as a summand, nothing for 0."""
    return [Piece(offset < 0, f"{abs(offset):.{digits or 17}g}")] if offset else []


def number(x: Fraction, digits: int | None = 12) -> str:
    """A positive number: whole, a simple fraction, or a decimal.

    >>> number(Fraction(1, 12)), number(Fraction(49031, 5000)), number(Fraction(0.7071067811865476))
    ('1/12', '9.8062', '0.707106781187')
    >>> number(Fraction(4318, 10**4), None), number(Fraction(0.7071067811865476), None)
    ('0.4318', '0.7071067811865476')
    """
    if x.denominator == 1 and x.numerator < 10**12:
        return str(x.numerator)
    if x.denominator <= 100 and x.numerator < 10**4:
        return f"{x.numerator}/{x.denominator}"
    return repr(float(x)) if digits is None else f"{float(x):.{digits}g}"


def joined(pieces: Sequence[Piece]) -> str:
    """A sum."""
    first, *rest = pieces
    return ("-" if first.negative else "") + first.text + "".join(f" {'-' if p.negative else '+'} {p.text}" for p in rest)


def written(form: Form, style: Style, by_parameters: bool = False) -> str:
    """A form as text; `by_parameters` collects terms with the same masses and lengths first."""
    symbols, terms = form.symbols, form.ordered()
    one = len({(t.harmonic, t.sine) for t in terms}) == 1
    levels = (_parameters, _rates) if by_parameters else (_angle, _rates) if one else (_rates, _angle)
    return joined(_pieces(terms, symbols, style, levels)) if terms else "0"


def _parameters(term: Term, symbols: Symbols) -> Term:
    """The parameters of a term."""
    fixed = len(symbols.parameters)
    return Term(Fraction(1), (*term.powers[:fixed], *(0 for _ in term.powers[fixed:])), (0,) * len(term.harmonic), False)


def _rates(term: Term, symbols: Symbols) -> Term:
    """The velocities and accelerations of a term."""
    still = len(symbols.parameters) + len(symbols.joints)
    return Term(Fraction(1), (*(0 for _ in range(still)), *term.powers[still:]), (0,) * len(term.harmonic), False)


def _latest_first(rates: Term, symbols: Symbols) -> list[int]:
    """The order of velocities and accelerations: accelerations, velocities, what has none."""
    first, n = len(symbols.parameters), len(symbols.joints)
    return [-e for e in (*rates.powers[first + 2 * n :], *rates.powers[first + n : first + 2 * n])]


def _angle(term: Term, symbols: Symbols) -> Term:
    """The cosine or sine of a term."""
    return Term(Fraction(1), (0,) * len(term.powers), term.harmonic, term.sine)


def _factors(term: Term, symbols: Symbols, style: Style) -> list[str]:
    """Parameters and positions, the cosine or sine, velocities."""
    still = len(symbols.parameters) + len(symbols.joints)
    parts = [(name, e) for name, e in zip(symbols.names, term.powers, strict=True)]
    first, last = ([style.power(name, e) for name, e in some if e] for some in (parts[:still], parts[still:]))
    angle = (symbols.factors(term.harmonic), symbols.offset(term.harmonic), term.sine) if any(term.harmonic) else None
    return [*first, *([] if angle is None else [style.angle(*angle)]), *last]


def _pieces(terms: Sequence[Term], symbols: Symbols, style: Style, levels: Sequence[Callable[..., Term]]) -> list[Piece]:
    """The summands of a sum of terms, collected level by level."""
    if not levels:
        return [_piece(t, symbols, style) for t in terms]
    groups: dict[Term, list[Term]] = {}
    for term in terms:
        groups.setdefault(levels[0](term, symbols), []).append(term)
    pieces: list[Piece] = []
    keys = sorted(groups, key=lambda key: _latest_first(key, symbols))
    alike = [[_without(t, key) for t in groups[key]] for key in keys]
    if len(keys) > 1 and len(alike[0]) > 1 and all(rest == alike[0] for rest in alike):  # (x + y) a + (x + y) b
        others = style.bracket(joined(_pieces(keys, symbols, style, ())))
        return [_gathered(_outside(alike[0], keys[0]._replace(harmonic=())), alike[0], symbols, style, levels[1:], others)]
    for key in keys:
        members = groups[key]
        outside = _outside(members, key)
        if len(members) == 1:
            pieces.append(_piece(members[0], symbols, style))
        elif not any(outside.powers) and not any(outside.harmonic):
            pieces += _pieces(members, symbols, style, levels[1:])
        else:
            pieces.append(_gathered(outside, members, symbols, style, levels[1:]))
    return pieces


def _outside(terms: Sequence[Term], key: Term) -> Term:
    """What terms have in common: powers of symbols, their number if it is one, the angle of the key."""
    sizes = {abs(t.coefficient) for t in terms}
    powers = tuple(map(min, zip(*(t.powers for t in terms), strict=True)))
    return Term(sizes.pop() if len(sizes) == 1 else Fraction(1), powers, key.harmonic, key.sine)


def _gathered(
    outside: Term, terms: Sequence[Term], symbols: Symbols, style: Style, levels: Sequence[Callable[..., Term]], *last: str
) -> Piece:
    """Terms as what they have in common times a sum: parameters before it, the angle and velocities and `last` factors behind."""
    inner = _pieces([_without(t, outside) for t in terms], symbols, style, levels)
    still = len(symbols.parameters)
    rest = (0,) * (len(outside.powers) - still)
    before = outside._replace(powers=(*outside.powers[:still], *rest), harmonic=(), sine=False)
    behind = outside._replace(powers=((0,) * still + outside.powers[still:]))
    negative = all(p.negative for p in inner)
    inside = [Piece(p.negative != negative, p.text) for p in inner]
    middle = inside[0].text if len(inside) == 1 else style.bracket(joined(inside))
    factors = [*_factors(before, symbols, style), middle, *_factors(behind, symbols, style), *last]
    return Piece(negative, style.product(outside.coefficient, factors))


def _piece(term: Term, symbols: Symbols, style: Style) -> Piece:
    return Piece(term.coefficient < 0, style.product(abs(term.coefficient), _factors(term, symbols, style)))


def _without(term: Term, outside: Term) -> Term:
    powers = tuple(a - b for a, b in zip(term.powers, outside.powers, strict=True))
    rest = term._replace(coefficient=term.coefficient / outside.coefficient, powers=powers)
    return rest._replace(harmonic=(0,) * len(term.harmonic), sine=False) if any(outside.harmonic) else rest


def as_sympy(form: Form) -> Any:
    """A form as a SymPy expression."""
    sympy = optional("sympy")
    names = [sympy.Symbol(name) for name in form.symbols.names]
    first = len(form.symbols.parameters)
    terms: list[Any] = []
    for term in form.ordered():
        factors, offset = form.symbols.factors(term.harmonic), form.symbols.offset(term.harmonic)
        angles = [sympy.Rational(k.numerator, k.denominator) * names[first + i] for i, k in enumerate(factors)]
        angle = sympy.Add(*angles, *([sympy.Float(offset)] if offset else []))
        factors = [name**e for name, e in zip(names, term.powers, strict=True) if e]
        number = sympy.Rational(term.coefficient.numerator, term.coefficient.denominator)
        terms.append(sympy.Mul(number, *factors, (sympy.sin if term.sine else sympy.cos)(angle)))
    return sympy.Add(*terms)
