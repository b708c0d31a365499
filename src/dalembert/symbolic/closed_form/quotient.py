"""Quotients of closed forms, which linear equations have for solutions: determinants over determinants."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.symbolic.closed_form.form import Form

SHORT = 10**6  # denominators beyond it are those of rounded numbers


class Quotient(NamedTuple):
    """A closed form over another one.

    >>> from dalembert.symbolic.closed_form.symbols import Symbols
    >>> s = Symbols(("a", "b"), "RR")
    >>> quotient(2 * s["a"] * s["b"] * s.angle(0).sin(), -4 * s["b"] * s.angle(1).cos())
    -a*sin(q1)/(2*cos(q2))
    """

    numerator: Form
    denominator: Form

    def __str__(self) -> str:
        negative, above = self._signed()
        shown, below = str(above), str(self.denominator)
        if self.denominator != 1:
            shown = f"({shown})" if len(above) > 1 else shown
            shown = f"{shown}/{below if below.isidentifier() else f'({below})'}"
        return f"-{shown}" if negative else shown

    __repr__ = __str__

    def latex(self, short: bool = True) -> str:
        """As a fraction; `short` writes the books' C_{12} for cos(q1 + q2)."""
        negative, above = self._signed()
        shown = above.latex(short)
        shown = shown if self.denominator == 1 else f"\\dfrac{{{shown}}}{{{self.denominator.latex(short)}}}"
        return f"-{shown}" if negative else shown

    def _signed(self) -> tuple[bool, Form]:
        """Whether all terms above are negative, and what is above then."""
        negative = bool(self.numerator) and all(t.coefficient < 0 for t in self.numerator.decoded())
        return negative, -self.numerator if negative else self.numerator

    @np.errstate(all="ignore")  # infinities: the results say so
    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Its value at numbers, or arrays of them, for the symbols that occur."""
        return self.numerator.evaluate(values) / self.denominator.evaluate(values)

    def sympy(self) -> Any:
        """The same as a SymPy expression."""
        return self.numerator.sympy() / self.denominator.sympy()

    _sympy_ = sympy


def quotient(above: Form, below: Form) -> Quotient:
    """In which numbers and symbols that all terms have are cancelled, and the denominator begins with a plus."""
    one = above.symbols.number(1)
    if not above:
        return Quotient(above, one)
    terms = [*above.decoded(), *below.decoded()]
    lowest = [min(powers) for powers in zip(*(t.powers for t in terms), strict=True)]
    symbols = prod((above.symbols[x] ** abs(e) for x, e in zip(above.symbols.names, lowest, strict=True) if e > 0), start=one)
    first = below.ordered()[0].coefficient
    size = _content([t.coefficient for t in terms]) or abs(first)
    scale = size if first > 0 else -size
    above, below = (x / symbols / scale for x in (above, below))
    if below in (above, -above):
        return Quotient(one if above == below else -one, one)
    if set(below.terms) == {(0, 0)}:  # a number
        return Quotient(above / below, one)
    return Quotient(above, below)


def _content(numbers: Sequence[Fraction]) -> Fraction:
    """The largest number of which all are multiples; 0 where they are rounded."""
    below = lcm(*(x.denominator for x in numbers))
    return Fraction(gcd(*(int(x * below) for x in numbers)), below) if below < SHORT else Fraction(0)


def determinant(matrix: Sequence[Sequence[Form]], one: Form) -> Form:
    """Of a small matrix, by its first row."""
    if not len(matrix):
        return one
    total = one * 0
    for j, x in enumerate(matrix[0]):
        if x:
            minor = [[*row[:j], *row[j + 1 :]] for row in map(list, matrix[1:])]
            total = total + x * determinant(minor, one) * (-1 if j % 2 else 1)
    return total


def solved(A: Any, B: Any, one: Form) -> Any:
    """X (m, k) with A X = B, by Cramer's rule; rows and columns that have nothing to do with each other are solved apart."""
    m, k = B.shape
    X = np.empty((m, k), dtype=object)
    for rows, columns in _blocks(A):
        part = A[np.ix_(rows, columns)]
        below = determinant(part.tolist(), one)
        for c, column in enumerate(columns):
            for j in range(k):
                replaced = part.copy()
                replaced[:, c] = B[rows, j]
                X[column, j] = quotient(determinant(replaced.tolist(), one), below)
    return X


def _blocks(A: Any) -> list[tuple[list[int], list[int]]]:
    """Sets of rows and columns of a square matrix with nothing but zeros between them."""
    left, found = set(range(len(A))), list[tuple[list[int], list[int]]]()
    while left:
        rows, columns = {min(left)}, set[int]()
        while True:
            columns = {j for i in rows for j in range(len(A)) if A[i, j]}
            more = {i for j in columns for i in range(len(A)) if A[i, j]}
            if more <= rows:
                break
            rows |= more
        left -= rows
        found.append((sorted(rows), sorted(columns)))
    return found
