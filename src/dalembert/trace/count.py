"""Exact operation counts of programs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import by_name, instance
from dalembert.errors import Error, brief
from dalembert.trace.program import Program, sizes


class OperationCount(NamedTuple):
    """What one evaluation costs. Negation is free, a subtraction is an addition, sine and cosine of one angle are one `sincos`."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0

    @property
    def total(self) -> int:
        """Multiplications, additions, divisions and square roots."""
        return self.mul + self.add + self.div + self.sqrt

    def __str__(self) -> str:
        parts = [f"{value} {name}" for name, value in self._asdict().items() if value or name in ("mul", "add")]
        return ", ".join(parts)


def operation_count(program: Program) -> OperationCount:
    """Count the operations of a program.

    >>> from dalembert.trace import trace
    >>> print(operation_count(trace(lambda x: x[0] * x[1] - x[2], {"x": (3,)})))
    1 mul, 1 add
    """
    ops = Counter(node[0] for node in instance(program, Program, "the program to count").nodes)
    angles = {node[1] for node in program.nodes if node[0] in ("sin", "cos")}
    sincos = len(angles)
    return OperationCount(ops["mul"], ops["add"] + ops["sub"], ops["div"], ops["sqrt"], sincos)


class Tally:
    """A scalar that only counts: no value, no graph, so that large counts cost nothing but time."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def _count(self, op: str, other: Any) -> Any:
        if not isinstance(other, Tally | Number):
            return NotImplemented  # arrays: numpy loops over them itself
        self.counts[op] += 1
        return self

    def __add__(self, other: Any) -> Any:
        return self._count("add", other)

    def __mul__(self, other: Any) -> Any:
        return self._count("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._count("div", other)

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__, __rtruediv__ = __mul__, __truediv__

    def __neg__(self) -> "Tally":
        return self

    def cos(self) -> "Tally":
        """Counted as the pair of cosine and sine."""
        return self._count("sincos", self)

    def sin(self) -> "Tally":
        """Counted with the cosine."""
        return self

    def sqrt(self) -> "Tally":
        """Counted."""
        return self._count("sqrt", self)

    def sign(self) -> "Tally":
        """Free, like negation."""
        return self

    def above(self, floor: float, otherwise: float) -> "Tally":
        """Free, like negation."""
        return self

    conjugate = sign


def tally(function: Callable[..., Any], inputs: Mapping[str, Sequence[int]]) -> OperationCount:
    """Every operation that a function carries out on its inputs, nothing folded and nothing shared.

    >>> print(tally(lambda x: 0 * x[0] + x[1] * x[1] + x[1] * x[1], {"x": (2,)}))
    3 mul, 2 add
    """
    scalar = Tally()
    if not callable(function):
        raise Error(f"tally needs a function of arrays, got {brief(function)}")
    shapes = {name: sizes(name, shape) for name, shape in by_name(inputs, "inputs", "{'q': (6,)}").items()}
    function(*(np.full(shape, scalar, dtype=object) for shape in shapes.values()))
    return OperationCount(**{name: scalar.counts[name] for name in OperationCount._fields})
