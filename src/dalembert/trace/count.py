"""Exact operation counts of programs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import by_name, instance
from dalembert.errors import Error, brief
from dalembert.trace.expr import Expr, Tape
from dalembert.trace.program import Program, needed, record, sizes


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
    return _counted(instance(program, Program, "the program to count").nodes)


def _counted(nodes: Sequence[tuple[Any, ...]]) -> OperationCount:
    ops = Counter(node[0] for node in nodes)
    angles = {node[1] for node in nodes if node[0] in ("sin", "cos")}
    return OperationCount(ops["mul"], ops["add"] + ops["sub"], ops["div"], ops["sqrt"], len(angles))


class _Placed(Tape):
    """A tape that notes of every node where it was recorded."""

    def __init__(self, place: Callable[[], Any]) -> None:
        super().__init__()
        self.place = place
        self.places: list[Any] = []

    def node(self, *node: Any) -> Expr:
        """As on any tape."""
        found = super().node(*node)
        if len(self.nodes) > len(self.places):
            self.places.append(self.place())
        return found


def counts_by(
    function: Callable[..., Any], inputs: Mapping[str, Sequence[int]], place: Callable[[], Any]
) -> dict[Any, OperationCount]:
    """The operations of a traced function by `place()`, which is asked as each is recorded; what is shared counts once, at first.

    >>> steps = iter("xyyy")
    >>> counts_by(lambda x: (x[0] * x[1]) + 2, {"x": (2,)}, lambda: next(steps, "z"))["z"]
    OperationCount(mul=0, add=1, div=0, sqrt=0, sincos=0)
    """
    tape = _Placed(place)
    _, _, results = record(tape, function, inputs, ("result",))
    nodes: dict[Any, list[tuple[Any, ...]]] = {}
    for i in needed(tape.nodes, results):
        nodes.setdefault(tape.places[i], []).append(tape.nodes[i])
    return {where: _counted(recorded) for where, recorded in nodes.items()}


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

    def where(self, a: Any, b: Any) -> "Tally":
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
