"""Guaranteed bounds of what a program computes over a box of inputs, with any number of digits.

Two enclosures are intersected: the program on intervals, and the mean value form f(c) + f'(X) (X - c), the sharper one in small
boxes. All ends are rounded outward by mpmath, so the bounds hold for what the program, with exactly its constants, computes
without rounding.
"""

from math import inf, nextafter
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import optional
from dalembert.trace.differentiate import differentiate, rows
from dalembert.trace.intervals.halving import Box
from dalembert.trace.program import Program, Variable, assemble
from dalembert.trace.replay import replay


class PreciseBounds:
    """Bounds of a program's outputs in one box, all inputs and outputs as flat arrays, with so many bits; by mpmath."""

    def __init__(self, program: Program, lower: Array, upper: Array, bits: int) -> None:
        mpmath = optional("mpmath")
        self.context = type(mpmath.iv)()  # its own: the precision of mpmath.iv is the user's
        self.context.prec = bits
        self.mpf = mpmath.mp.make_mpf
        self.program = program
        starts = np.cumsum([0, *(v.size for v in program.inputs)])
        self.parts = {v.name: slice(a, b) for v, a, b in zip(program.inputs, starts, starts[1:], strict=False)}
        self.moving = [name for name, part in self.parts.items() if (lower[part] < upper[part]).any()]
        self.columns = [j for name in self.moving for j in range(len(lower))[self.parts[name]]]
        self.slope = differentiate(program, self.moving) if self.moving else None
        signs = [node[1] for node in program.nodes if node[0] in ("sign", "where")]
        self.jumps = assemble(program.inputs, (Variable("x", (len(signs),)),), program.nodes, signs) if signs else None

    def __call__(self, lower: Array, upper: Array) -> Box:
        """What is known in a box."""
        X = [self.context.mpf([float(a), float(b)]) for a, b in zip(lower, upper, strict=True)]
        low, high = self.floats(self.replay(self.program, X))
        influence = np.zeros((len(low), len(lower)))
        if self.slope is None:
            return Box(lower, upper, low, high, low, influence)
        c = [self.context.mpf(float(x)) for x in (lower + upper) / 2]
        y = self.replay(self.program, c)
        d = [X[j] - c[j] for j in self.columns]
        sizes = [len(X[self.parts[name]]) for name in self.moving]
        jacobian = rows(self.program, sizes, self.replay(self.slope, X))
        terms = [[a * b for a, b in zip(row, d, strict=True)] for row in jacobian]
        for i, row in enumerate(terms):
            below, beyond = self.floats(row)
            influence[i, self.columns] = beyond - below
        if self.jumps is None or all(x.a > 0 or x.b < 0 for x in self.replay(self.jumps, X)):  # else there is no derivative
            below, beyond = self.floats([sum(row, start) for row, start in zip(terms, y, strict=True)])
            low, high = np.fmax(low, below), np.fmin(high, beyond)
        return Box(lower, upper, low, high, self.floats(y)[0], influence)

    def replay(self, program: Program, x: list[Any]) -> list[Any]:
        """All outputs at these scalars, one after the other."""
        bounds = replay(program, {v.name: np.array(x[self.parts[v.name]], dtype=object).reshape(v.shape) for v in program.inputs})
        return [y for array in (bounds if isinstance(bounds, tuple) else (bounds,)) for y in array.flat]

    def floats(self, intervals: list[Any]) -> tuple[Array, Array]:
        """The ends of intervals, rounded outward."""
        ends = [[self.mpf(end) for end in x._mpi_] for x in map(self.context.convert, intervals)]
        low = [x if (x := float(a)) <= a or x != x else nextafter(x, -inf) for a, _ in ends]
        high = [x if (x := float(b)) >= b or x != x else nextafter(x, inf) for _, b in ends]
        return np.array(low), np.array(high)
