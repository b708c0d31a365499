"""Symbolic values as LaTeX, in the books' shorthand: C_1, S_{12} for cosines and sines."""

from collections.abc import Iterable
from itertools import groupby
from numbers import Rational
from typing import Any

import numpy as np

from dalembert.trace.harmonic import Angles, Harmonic, Letters, Term

STATE = 5  # the rank of the first letter that moves: q, then qd, then qdd
GRAVITY = 2
WIDE = 110  # characters of one line of a long equation


def shown(x: Any) -> str:
    r"""A scalar on one line.

    >>> from dalembert.trace.harmonic import Symbol
    >>> m, q = Harmonic.letter(Symbol(0, "m1", "m_1")), Harmonic.letter(Symbol(5, "q1", r"\theta_1"))
    >>> print(shown(m * q.cos() / 2 - m))
    m_1 \left(-1 + \frac{1}{2} C_1\right)
    """
    return _sum(pieces(x)) if isinstance(x, Harmonic) else _number(x)


def equation(label: str, x: Any) -> str:
    """label = scalar, on as many lines as it needs."""
    parts = pieces(x) if isinstance(x, Harmonic) else []
    lines: list[list[tuple[bool, str]]] = [[]]
    for part in parts:
        if lines[-1] and sum(len(body) for _, body in lines[-1]) + len(part[1]) > WIDE:
            lines.append([])
        lines[-1].append(part)
    if len(lines) == 1:
        return f"{label} = {shown(x)}"
    rest = [r"&\quad " + _sum(line, first=False) for line in lines[1:]]
    return "\\begin{aligned}\n" + " \\\\\n".join([f"{label} &= {_sum(lines[0])}", *rest]) + "\n\\end{aligned}"


def matrix(x: Any) -> str:
    """A matrix, or a vector as a column."""
    rows = np.asarray(x, dtype=object)
    rows = rows[:, None] if rows.ndim == 1 else rows
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(shown(entry) for entry in row) for row in rows) + r" \end{bmatrix}"


def pieces(x: Harmonic) -> list[tuple[bool, str]]:
    """What is added up, as (negative, text): terms with the same parameters stand together in brackets."""
    found: list[tuple[bool, str]] = []
    for (_, common), group in groupby(sorted(x.terms.items(), key=_order), key=lambda item: _parameters(item[0])):
        terms = list(group)
        if not common or len(terms) == 1:
            found += [_term(term, x) for term, x in terms]
            continue
        negative = all(x < 0 for _, x in terms)
        inside = [_term(term._replace(letters=_moving(term.letters)), -x if negative else x) for term, x in terms]
        found.append((negative, rf"{_powers(common)} \left({_sum(inside)}\right)"))
    return found


def _sum(parts: Iterable[tuple[bool, str]], first: bool = True) -> str:
    text = ""
    for negative, body in parts:
        sign = "-" if negative else "+"
        text += (("-" if negative else "") if first else f"{sign} ") + body if not text else f" {sign} {body}"
    return text or "0"


def _moving(letters: Letters) -> Letters:
    return tuple(pair for pair in letters if pair[0].rank >= STATE)


def _parameters(term: Term) -> tuple[bool, Letters]:
    """The parameters of a term; those with gravity come last."""
    letters = tuple(pair for pair in term.letters if pair[0].rank < STATE)
    return any(a.rank == GRAVITY for a, _ in letters), letters


def _order(item: tuple[Term, Any]) -> Any:
    """By parameters, then accelerations before velocities before positions."""
    moving = _moving(item[0].letters)
    return _parameters(item[0]), -max((a.rank for a, _ in moving), default=0), moving, item[0]


def _term(term: Term, x: Any) -> tuple[bool, str]:
    fixed = tuple(pair for pair in term.letters if pair[0].rank < STATE)
    factors = [_powers(fixed), _wave(term.sine, term.angles), _powers(_moving(term.letters))]
    body = " ".join(filter(None, factors))
    size = "" if abs(x) == 1 and body else _number(abs(x))
    return x < 0, f"{size} {body}".strip()


def _powers(letters: Letters) -> str:
    return " ".join(a.latex if k == 1 else f"{a.latex}^{k if k < 10 else f'{{{k}}}'}" for a, k in letters)


def _wave(sine: bool, angles: Angles) -> str:
    """C_{12} where the angles are added or subtracted once each, cos(...) otherwise."""
    if not angles:
        return ""
    numbers = [a.name[1:] for a, _ in angles]
    if all(abs(k) == 1 for _, k in angles) and all(len(number) == 1 for number in numbers):
        index = "".join(("-" if k < 0 else "") + number for (_, k), number in zip(angles, numbers, strict=True))
        return f"{'S' if sine else 'C'}_{index if len(index) == 1 else f'{{{index}}}'}"
    inside = _sum((k < 0, ("" if abs(k) == 1 else str(abs(k))) + a.latex) for a, k in angles)
    return rf"\{'sin' if sine else 'cos'}({inside})"


def _number(x: Any) -> str:
    if isinstance(x, Rational):
        sign = "-" if x < 0 else ""
        top, below = abs(x.numerator), x.denominator
        return f"{sign}{top}" if below == 1 else rf"{sign}\frac{{{top}}}{{{below}}}"
    text = f"{float(x) + 0.0:.6g}"
    digits, _, power = text.partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits
