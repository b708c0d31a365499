"""Symbolic values as LaTeX, in the books' shorthand: C_1, S_{12} for cosines and sines."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.paper import WIDTH, broken, display, seen
from dalembert.symbolic.closed_form.write import LatexStyle, written

DIGITS = 6
TOGETHER = 2  # equal entries on one line


def shown(x: Form) -> str:
    r"""A scalar on one line.

    >>> from dalembert.symbolic.closed_form.symbols import Symbols
    >>> s = Symbols(("m1",), "R")
    >>> print(shown(s["m1"] * s.angle(0).cos() / 2 - s["m1"]))
    m_1 \bigl(-1 + \frac{1}{2} C_1\bigr)
    """
    return written(x, LatexStyle(x.symbols, digits=DIGITS), by_parameters=True)


def equation(label: str, value: Any) -> str:
    """label = scalar, vector as a column, or matrix; on as many lines as it needs."""
    if isinstance(value, Form):
        text = shown(value)
        return display([(label, text)]) if "\\\\" in broken(text) else f"{label} = {text}"
    rows = value[:, None] if value.ndim == 1 else value
    texts = [[shown(entry) for entry in row] for row in rows]
    if seen(label) + sum(max(map(seen, column)) + 3 for column in zip(*texts, strict=True)) <= WIDTH:
        return f"{label} = {matrix(value)}"
    return display(_listed(label, value))


def matrix(x: Any) -> str:
    """A matrix, or a vector as a column."""
    rows = x[:, None] if x.ndim == 1 else x
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(shown(entry) for entry in row) for row in rows) + r" \end{bmatrix}"


def _listed(label: str, x: Any) -> Iterator[tuple[str, str]]:
    """The entries one by one, of what is too wide for a page; equal ones together, of a symmetric matrix the upper half."""
    symmetric = x.ndim == 2 and x.shape[0] == x.shape[1] and all(x[i, j] == x[j, i] for i, j in np.ndindex(x.shape))
    left: dict[str, list[str]] = {}
    for index in np.ndindex(x.shape):
        if not symmetric or index[0] <= index[1]:
            pair = ["".join(str(i + 1) for i in index)]
            pair += ["".join(str(i + 1) for i in index[::-1])] if symmetric and index[0] < index[1] else []
            left.setdefault(shown(x[index]), []).extend(rf"\left({label}\right)_{{{i}}}" for i in pair)
    zeros = left.pop("0", [])
    for text, names in left.items():
        for start in range(0, len(names), TOGETHER):
            yield " = ".join(names[start : start + TOGETHER]), text
    if zeros:
        yield (r"\text{others}" if len(zeros) > TOGETHER else " = ".join(zeros)), "0"
