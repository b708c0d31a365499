"""Exact operation counts of programs."""

from collections import Counter
from typing import NamedTuple

from dalembert.trace.program import Program


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
    ops = Counter(node[0] for node in program.nodes)
    angles = {node[1] for node in program.nodes if node[0] in ("sin", "cos")}
    sincos = len(angles)
    return OperationCount(ops["mul"], ops["add"] + ops["sub"], ops["div"], ops["sqrt"], sincos)
