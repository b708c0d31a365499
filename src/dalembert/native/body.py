"""The operations of a program, on vectors or on plain doubles."""

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from dalembert.native import sincos
from dalembert.native.assembly import Assembly
from dalembert.native.pieces import Piece, Plan, Write, computed
from dalembert.trace.expr import Node
from dalembert.trace.program import LEAVES, Program

OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Places(Protocol):
    """Where the values of a piece come from, and where they go."""

    def load(self, i: int) -> str:
        """The value of a node that is an input or was computed by an earlier piece."""
        ...

    def keep(self, i: int, value: str) -> None:
        """Keep the value of a node for later pieces."""
        ...

    def write(self, write: Write, values: Sequence[str]) -> None:
        """Put values where results go."""
        ...


def room(e: Assembly, program: Program, piece: Piece) -> str:
    """What a function that computes a piece has on its stack: room for huge angles, if it has any angles."""
    angles = any(program.nodes[i][0] in ("sin", "cos") for i in computed(piece))
    return f"  %scratch = alloca [{4 * e.widest} x {e.real}], align {e.bytes * e.widest}" if angles else ""


def compute(e: Assembly, program: Program, plan: Plan, piece: Piece, places: Places) -> None:
    """A piece of a program; sines and cosines of inputs come first, in vectors even for one state, with one test for all."""
    nodes, values = program.nodes, dict[int, str]()

    def value(i: int) -> str:
        if i not in values:  # inputs, constants and earlier values come in where they are first used
            values[i] = e.splat(float(nodes[i][1])) if nodes[i][0] == "const" else places.load(i)
        return values[i]

    def sines(some: list[int]) -> list[tuple[str, str]]:
        given = [value(i) for i in some]
        return sincos.emit(e, given) if e.lanes > 1 or len(some) == 1 else sincos.packed(e, given)

    taken = dict.fromkeys(nodes[i][1] for i in computed(piece) if nodes[i][0] in ("sin", "cos"))
    plain = [i for i in taken if nodes[i][0] in LEAVES]
    angles = dict(zip(plain, sines(plain), strict=True)) if plain else {}
    for i in piece:
        if isinstance(i, Write):
            places.write(i, [value(j) for j in i.nodes])
            continue
        op, *rest = nodes[i]
        if op in ("sin", "cos"):
            if rest[0] not in angles:
                angles[rest[0]] = sines(rest)[0]
            values[i] = angles[rest[0]][op == "cos"]
        elif op == "neg":
            values[i] = e.negative(value(rest[0]))
        elif op == "sqrt":
            values[i] = e.call("sqrt", value(rest[0]))
        elif op == "sign":
            values[i] = _sign(e, value(rest[0]))
        elif op == "above":
            enough = e.op(f"fcmp ogt {e.vector} {value(rest[0])}, {e.splat(rest[1])}")
            values[i] = e.op(f"select {e.bits} {enough}, {e.vector} {value(rest[0])}, {e.vector} {e.splat(rest[2])}")
        elif op == "where":
            c, a, b = (value(k) if k != plan.fused.get(i) else "" for k in rest)
            compared = map(value, nodes[plan.fused[i]][1:]) if i in plan.fused else (c, e.splat(0.0))
            chosen = e.op(f"fcmp ogt {e.vector} {', '.join(compared)}")
            values[i] = e.op(f"select {e.bits} {chosen}, {e.vector} {a}, {e.vector} {b}")
        elif op == "div" and (reciprocal := _exact_reciprocal(nodes[rest[1]])):
            values[i] = e.do("fmul", value(rest[0]), e.splat(reciprocal))
        elif i in plan.fused:
            product = plan.fused[i]
            values[i] = _fused_sum(e, op, rest, product, nodes[product], value)
        else:
            values[i] = e.do(OPERATIONS[op], value(rest[0]), value(rest[1]))
        if i in plan.place:  # at once, so that it needs no register until the end
            places.keep(i, values[i])


def _fused_sum(e: Assembly, op: str, terms: Sequence[int], product: int, factors: Node, value: Callable[[int], str]) -> str:
    """The sum or difference of two terms, one of them a product that has no value of its own."""
    _, a, b = factors
    first, second = terms
    if product == first:
        return e.fma(value(a), value(b), e.negative(value(second)) if op == "sub" else value(second))
    return e.fma(e.negative(value(a)) if op == "sub" else value(a), value(b), value(first))


def _exact_reciprocal(node: Node) -> float:
    """1 / x for a constant x that is a power of two, so that dividing by it is multiplying; else 0."""
    x = float(node[1]) if node[0] == "const" else 0.0
    return 1 / x if math.isfinite(x) and abs(math.frexp(x)[0]) == 0.5 and 1e-300 < abs(x) < 1e300 else 0.0


def _sign(e: Assembly, x: str) -> str:
    """(x > 0) - (x < 0), and NaN for NaN."""
    zero, one, minus = e.splat(0.0), e.splat(1.0), e.splat(-1.0)
    positive, negative = (e.op(f"fcmp {test} {e.vector} {x}, {zero}") for test in ("ogt", "olt"))
    known = e.op(f"select {e.bits} {positive}, {e.vector} {one}, {e.vector} {x}")
    return e.op(f"select {e.bits} {negative}, {e.vector} {minus}, {e.vector} {known}")
