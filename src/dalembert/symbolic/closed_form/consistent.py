"""Whether `where` is consistent with a robot: whether some values of the letters give all of its numbers.

Every meaning is a claim: the parameter's number equals an expression of letters. Claims are linear in the products of letters that
occur, which are taken as unknowns of their own. Gaussian elimination in exact fractions then finds claims that follow from others,
but with another number, and powers of single letters. These letters are put in, and the process repeats. What this cannot decide is
accepted.
"""

import ast
from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

from dalembert.errors import Error, brief
from dalembert.symbolic.closed_form.meaning import lone_name, names_in, valued
from dalembert.symbolic.closed_form.rational import exact
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.symbolic.parameters import Symbolic

TOLERANCE = 1e-9  # relative, of numbers that should be equal
DOUBTFUL = 1e-6  # what is left of a difference of rounded numbers, and is smaller, is not trusted
MOST_SIGNS = 6  # to try one by one
Product = tuple[tuple[str, int], ...]  # letters and their powers; () is 1


class Claim(NamedTuple):
    """A parameter's number, its expression in `where`, and that as a sum of products; None if it is not such a sum."""

    name: str
    value: Fraction
    tree: ast.expr
    terms: dict[Product, Fraction] | None

    def __str__(self) -> str:
        return f"{self.name} = {ast.unparse(self.tree)}"


class Letter(NamedTuple):
    """The value of a letter, and the claims that give it; none for the robot's own parameters."""

    value: Fraction
    of: tuple[Claim, ...] = ()


class _Row(NamedTuple):
    """A combination of claims, left = right: `of` is how much of each claim it has, `size` how large the numbers in `right` are."""

    left: dict[Product, Fraction]
    right: Fraction
    size: Fraction
    of: dict[int, Fraction]

    def minus(self, factor: Fraction, other: "_Row") -> "_Row | None":
        """Subtract a multiple of another; None where rounding may have decided what is left."""
        left: dict[Product, Fraction] = {}
        for key in {**self.left, **other.left}:
            a, b = self.left.get(key, Fraction(0)), factor * other.left.get(key, Fraction(0))
            if abs(a - b) < DOUBTFUL * max(abs(a), abs(b)) and a != b:
                return None
            if a != b:
                left[key] = a - b
        of = {k: self.of.get(k, Fraction(0)) - factor * other.of.get(k, Fraction(0)) for k in {**self.of, **other.of}}
        return _Row(left, self.right - factor * other.right, max(self.size, abs(factor) * other.size), of)


def check_claims(made: Symbolic, where: Mapping[str, ast.expr], symbols: Symbols) -> None:
    """Refuse meanings that no values of the letters can make true of the robot."""
    own = dict(zip(made.names, map(float, made.values), strict=True))
    known = {name: Letter(Fraction(value)) for name, value in own.items() if name not in where}
    claims = [Claim(name, Fraction(own[name]), tree, _terms(tree, symbols)) for name, tree in where.items()]
    claims.sort(key=lambda claim: lone_name(claim.tree) is None)  # what is but named gives the values of letters, not the others
    try:
        wrong = _contradiction(claims, known)
    except OverflowError:  # huge numbers, about which nothing can be decided
        return
    if wrong is not None:
        raise Error(wrong)


def _terms(tree: ast.expr, symbols: Symbols) -> dict[Product, Fraction] | None:
    try:
        form = valued(tree, {name: symbols[name] for name in names_in(tree)}, lambda x: symbols.number(exact(x)))
    except Error:  # a quotient of sums, or something reported when it is used
        return None
    return {
        tuple((name, power) for name, power in zip(symbols.names, term.powers, strict=True) if power): term.coefficient
        for term in form.decoded()
    }


def _contradiction(claims: list[Claim], known: Mapping[str, Letter], signs: int = 0) -> str | None:
    """What is wrong, in words, or None. `signs` is how many have been chosen."""
    known = dict(known)
    while True:
        rows, wrong = _echelon(claims, known)
        if wrong is not None:
            return wrong
        solved = _letters(rows, claims)
        certain = {name: letters[0] for name, letters in solved.items() if len(letters) == 1}
        if impossible := [name for name, letters in solved.items() if not letters]:
            row = next(row for row in rows if len(row.left) == 1 and next(iter(row.left))[0][0] == impossible[0])
            return f"no value of {impossible[0]} gives {_and(claims[k] for k, part in row.of.items() if part)}"
        if certain:
            known |= certain
        elif solved and signs < MOST_SIGNS:  # even powers
            name, (plus, minus) = next(iter(solved.items()))
            wrong = _contradiction(claims, {**known, name: plus}, signs + 1)
            return wrong and (_contradiction(claims, {**known, name: minus}, signs + 1) and wrong)
        else:
            return _without_terms(claims, known)


def _echelon(claims: list[Claim], known: Mapping[str, Letter]) -> tuple[list[_Row], str | None]:
    """Independent combinations of claims with the known letters put in, each pivot in one row; or what is wrong."""
    rows: list[tuple[Product, _Row]] = []
    for k, claim in enumerate(claims):
        row = _put_in(k, claim, known)
        for pivot, other in rows:
            row = row.minus(row.left[pivot], other) if row is not None and pivot in row.left else row
        if row is None:
            continue
        if not row.left:
            if abs(row.right) > TOLERANCE * row.size:
                return [], _told(claims, k, row, known)
            continue
        pivot = min(row.left, key=len)
        scale = row.left[pivot]
        row = _Row({p: x / scale for p, x in row.left.items()}, row.right / scale, row.size / abs(scale),
                   {i: x / scale for i, x in row.of.items()})  # fmt: skip
        cleared = [(p, other.minus(other.left[pivot], row) if pivot in other.left else other) for p, other in rows]
        rows = [(p, other) for p, other in cleared if other is not None] + [(pivot, row)]
    return [row for _, row in rows], None


def _put_in(k: int, claim: Claim, known: Mapping[str, Letter]) -> _Row | None:
    if claim.terms is None:
        return None
    left: dict[Product, Fraction] = {}
    sizes = [abs(claim.value)]
    for powers, x in claim.terms.items():
        if any(name in known and not known[name].value and power < 0 for name, power in powers):
            return None
        number = x * prod((known[name].value ** power for name, power in powers if name in known), start=Fraction(1))
        rest = tuple((name, power) for name, power in powers if name not in known)
        left[rest] = left.get(rest, Fraction(0)) + number
        sizes += [abs(number)] if not rest else []
    number = left.pop((), Fraction(0))
    return _Row({p: x for p, x in left.items() if x}, claim.value - number, max(sizes), {k: Fraction(1)})


def _letters(rows: list[_Row], claims: list[Claim]) -> dict[str, list[Letter]]:
    """Letters of which a power is known, with all real values that they can have."""
    solved: dict[str, list[Letter]] = {}
    for row in rows:
        if len(row.left) == 1 and len(product := next(iter(row.left))) == 1:
            (name, power), of = product[0], tuple(claims[k] for k, part in row.of.items() if part)
            letters = [Letter(x, of) for x in _roots(row.right, power)] if row.right or power > 0 else None
            if letters is not None and (name not in solved or len(letters) < len(solved[name])):
                solved[name] = letters
    return solved


def _roots(x: Fraction, power: int) -> list[Fraction]:
    """The real numbers that have a power."""
    if power == 1 or not x:
        return [x]
    if x < 0 and power % 2 == 0:
        return []
    size = Fraction(float(abs(x)) ** (1 / power))
    return [size, -size] if power % 2 == 0 else [size if x > 0 else -size]


def _without_terms(claims: list[Claim], known: Mapping[str, Letter]) -> str | None:
    """Claims that are not sums of products, where all their letters are known."""
    values = {name: float(letter.value) for name, letter in known.items()}
    for k, claim in enumerate(claims):
        if claim.terms is None and all(name in values for name in names_in(claim.tree)):
            written = Fraction(valued(claim.tree, values, float))
            if abs(written - claim.value) > TOLERANCE * abs(claim.value):
                return _told(claims, k, _Row({}, claim.value - written, Fraction(1), {k: Fraction(1)}), known)
    return None


def _told(claims: list[Claim], k: int, row: _Row, known: Mapping[str, Letter]) -> str:
    """Claim k, which contradicts the others in a combination of claims with nothing on the left."""
    claim, others = claims[k], [claims[i] for i, part in row.of.items() if part and i != k]
    letters = [name for c in (claim, *others) for name in names_in(c.tree) if name in known]
    others += [c for name in letters for c in known[name].of]
    others = [c for i, c in enumerate(others) if c.name != claim.name and c.name not in [x.name for x in others[:i]]]
    if len(others) == 1 and (one := lone_name(claim.tree)) and (other := lone_name(others[0].tree)) and one == other:
        first, second = sorted((others[0], claim), key=claims.index)
        return f"{first.name} = {_number(first.value)} and {second.name} = {_number(second.value)} cannot share the name {one[0]!r}"
    implied = _number(claim.value - row.right / row.of[k])
    if not any(names_in(claim.tree)):
        return f"{claim.name} is {_number(claim.value)}, but where makes it {implied}"
    own = dict.fromkeys(f"{name} is {_number(known[name].value)}" for name in letters if not known[name].of)
    since = [*own, *(f"{c} is {_number(c.value)}" for c in others)]
    written = brief(ast.unparse(claim.tree)).strip("'")
    since = [x for x in since if x != f"{written} is {implied}"]
    reason = f", since {', '.join(since[:4])}" if since else ""
    return f"{claim.name} is {_number(claim.value)}, but {written} is {implied}{reason}"


def _and(claims: Any) -> str:
    return " and ".join(f"{claim} = {_number(claim.value)}" for claim in claims)


def _number(x: Fraction) -> str:
    return f"{float(x):.10g}"
