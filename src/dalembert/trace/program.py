"""Programs: inputs, outputs and nodes in order, and the recording that makes them from a plain function."""

import hashlib
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.scalars import above, cos_sin, sign, sqrt, where
from dalembert.arguments import by_name, flag, listed, several, whole
from dalembert.cached import cached_property
from dalembert.errors import Error, brief
from dalembert.trace.expr import BINARY, LEAVES, Expr, Node, Tape

RESERVED = ("sin", "cos", "sqrt", "sign", "above", "where", "inf", "nan")
MOST_SCALARS = 10**6  # of one input
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: cos_sin(x)[1],
    "cos": lambda x: cos_sin(x)[0],
    "sqrt": sqrt,
    "sign": sign,
}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


class Variable(NamedTuple):
    """A named array of scalars: an input or an output."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many scalars it holds."""
        return prod(self.shape)

    def batch(self, array: Any) -> tuple[int, ...]:
        """The leading axes of an array that ends in this shape, or an Error."""
        core = array.ndim - len(self.shape)
        if core < 0 or array.shape[core:] != self.shape:
            wanted = ", ".join(["...", *map(str, self.shape)])
            raise Error(f"{self.name} needs ({wanted}), got shape {array.shape}")
        return array.shape[:core]


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """Straight-line code: every node computes one scalar from earlier ones.

    A node is ("input", k, j): scalar j (row-major) of input k; ("const", x); ("above", i, floor, otherwise): node i where it
    exceeds the number `floor`, else the number `otherwise`; ("where", i, j, k): node j where node i is above 0, else node k; or an
    operation ("add", i, j), ("sin", i), ... on earlier nodes.
    `results` are the nodes of all outputs, one after the other. Only nodes that some output needs are kept.

    >>> from dalembert.trace import trace
    >>> print(trace(lambda x: x[:1] * x[1:] + 0 * x[:1], {"x": (2,)}, outputs=("y",)))
    program: x(2) -> y(1)
    v0 = x[0]
    v1 = x[1]
    v2 = v0 * v1
    y[0] = v2
    """

    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    @cached_property
    def digest(self) -> str:
        """A hash of the content, the same in every process."""
        return hashlib.sha256(repr((self.inputs, self.outputs, self.nodes, self.results)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def signature(self) -> str:
        """How its arrays look: x(2), y() -> z(2)."""
        return signature(self.inputs, self.outputs)

    def output_nodes(self) -> list[tuple[Variable, tuple[int, ...]]]:
        """Each output with the nodes of its scalars."""
        ends = np.cumsum([0, *(v.size for v in self.outputs)])
        return [(v, self.results[a:b]) for v, a, b in zip(self.outputs, ends, ends[1:], strict=False)]

    def __repr__(self) -> str:
        return f"<Program {self.signature}: {len(self.nodes)} nodes>"

    def __str__(self) -> str:
        lines = [f"program: {self.signature}"]
        for i, (op, *rest) in enumerate(self.nodes):
            if op == "input":
                right = f"{self.inputs[rest[0]].name}[{_position(self.inputs[rest[0]], rest[1])}]"
            else:
                right = repr(rest[0]) if op == "const" else written((op, *rest), [f"v{k}" for k in operands((op, *rest))])
            lines.append(f"v{i} = {right}")
        for variable, nodes in self.output_nodes():
            lines += [f"{variable.name}[{_position(variable, j)}] = v{node}" for j, node in enumerate(nodes)]
        return "\n".join(lines)


def signature(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> str:
    """Names and shapes: x(2), y() -> z(2)."""
    sides = (", ".join(f"{v.name}({','.join(map(str, v.shape))})" for v in side) for side in (inputs, outputs))
    return " -> ".join(sides)


def written(node: Node, names: Sequence[str]) -> str:
    """An operation as text, with names for its operands."""
    op = node[0]
    if op in BINARY:
        return f"{names[0]} {SYMBOLS[op]} {names[1]}"
    return f"-{names[0]}" if op == "neg" else f"{op}({', '.join([*names, *map(repr, numbers(node))])})"


def _position(variable: Variable, j: int) -> str:
    return ",".join(map(str, np.unravel_index(j, variable.shape))) if variable.shape else ""


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, Sequence[int]],
    *,
    outputs: Sequence[str] = ("result",),
    folding: bool = True,
    sharing: bool = True,
) -> Program:
    """Record what a function of arrays computes.

    `inputs` gives each argument's name and shape; the function is called with object arrays of traced scalars, in that order,
    and returns one array per name in `outputs`. `folding` removes zeros, ones and signs; `sharing` merges equal expressions.

    >>> program = trace(lambda a, b: a @ b, {"a": (3,), "b": (3,)})
    >>> program
    <Program a(3), b(3) -> result(): 11 nodes>
    """
    if not callable(function):
        raise Error(f"trace needs a function of arrays, got {brief(function)}")
    folding, sharing, outputs = flag(folding, "folding"), flag(sharing, "sharing"), several(outputs, "outputs")
    for name in by_name(inputs, "inputs", "{'q': (6,)}"):
        if not name.isidentifier() or iskeyword(name) or name in RESERVED or (name[0] == "v" and name[1:].isdigit()):
            raise Error(f"input name {brief(name)} must be an identifier, and none of {', '.join(RESERVED)}, v0, v1, ...")
    tape = Tape(folding, sharing)
    variables, named, results = record(tape, function, inputs, outputs)
    return assemble(variables, named, tape.nodes, results)


def record(
    tape: Tape, function: Callable[..., Any], inputs: Mapping[str, Sequence[int]], outputs: Sequence[str]
) -> tuple[tuple[Variable, ...], tuple[Variable, ...], list[int]]:
    """Call the function with letters on the tape: its inputs and outputs, and the nodes of the results."""
    variables = tuple(Variable(name, sizes(name, shape)) for name, shape in inputs.items())
    arguments = [_symbols(tape, k, variable) for k, variable in enumerate(variables)]
    returned = function(*arguments)
    parts = returned if isinstance(returned, tuple) else (returned,)
    if len(parts) != len(outputs):
        raise Error(f"the traced function returned {len(parts)} arrays for {len(outputs)} output names {tuple(outputs)}")
    arrays = [_objects(part) for part in parts]
    entries = [x for array in arrays for x in array.ravel()]
    results = [tape.lift(x).index for x in entries]
    named = tuple(Variable(name, array.shape) for name, array in zip(outputs, arrays, strict=True))
    return variables, named, results


def _objects(part: Any) -> Any:
    """What a traced function returned, as an array."""
    try:
        return np.asarray(part, dtype=object)
    except (ValueError, TypeError):
        raise Error(f"the traced function must return arrays of scalars, got {brief(part)}") from None


def sizes(name: str, shape: Any) -> tuple[int, ...]:
    """The shape of an input; not so large that recording it has no end."""
    sizes = tuple(whole(size, f"each of the shape of {name}", 0) for size in listed(shape, f"the shape of {name}"))
    if prod(sizes) > MOST_SCALARS:
        raise Error(f"input {name} has {prod(sizes):,} scalars; a program has at most {MOST_SCALARS:,}")
    return sizes


def _symbols(tape: Tape, k: int, variable: Variable) -> Any:
    array = np.empty(variable.size, dtype=object)
    for j in range(variable.size):
        array[j] = tape.node("input", k, j)
    return array.reshape(variable.shape)


def assemble(inputs: tuple[Variable, ...], outputs: tuple[Variable, ...], nodes: Sequence[Node], results: Sequence[int]) -> Program:
    """A program of the nodes that the results need, numbered anew."""
    number = [0] * len(nodes)
    kept: list[Node] = []
    for i in needed(nodes, results):
        number[i] = len(kept)
        node = nodes[i]
        if node[0] not in LEAVES:
            node = (node[0], *(number[k] for k in operands(node)), *numbers(node))
        kept.append(node)
    return Program(inputs, outputs, tuple(kept), tuple(number[i] for i in results))


def needed(nodes: Sequence[Node], results: Sequence[int]) -> list[int]:
    """Which nodes the results need, in order."""
    marked = bytearray(len(nodes))
    for i in results:
        marked[i] = 1
    for i in range(len(nodes) - 1, -1, -1):
        if marked[i]:
            for k in operands(nodes[i]):
                marked[k] = 1
    return [i for i, mark in enumerate(marked) if mark]


def operands(node: Node) -> tuple[int, ...]:
    """The earlier nodes that a node uses."""
    op = node[0]
    return () if op in LEAVES else node[1:2] if op == "above" else node[1:]


def numbers(node: Node) -> tuple[float, ...]:
    """The numbers that an operation holds besides its operands."""
    return node[2:] if node[0] == "above" else ()


def last_uses(program: Program) -> dict[int, int]:
    """The last node that uses each node; results are needed to the end."""
    last = {i: k for k, node in enumerate(program.nodes) for i in operands(node)}
    return last | dict.fromkeys(program.results, len(program.nodes))


def evaluate(
    program: Program,
    inputs: Sequence[Sequence[Any]],
    constant: Callable[[Any], Any] = lambda c: c,
    function: Callable[..., Any] | None = None,
) -> list[Any]:
    """Every node's value, for any scalar that has + - * / and, through `function`, sin, cos, sqrt, sign, above and where."""
    values: list[Any] = []
    for node in program.nodes:
        op = node[0]
        if op in OPERATORS:
            values.append(OPERATORS[op](values[node[1]], values[node[2]]))
        elif op == "input":
            values.append(inputs[node[1]][node[2]])
        elif op == "const":
            values.append(constant(node[1]))
        else:
            given = (values[k] for k in operands(node))
            values.append(apply(op, *given, *numbers(node), function=function))
    return values


def apply(op: str, a: Any, *rest: Any, function: Callable[..., Any] | None = None) -> Any:
    """One operation: of some scalars and the numbers that belong to it."""
    if op in OPERATORS:
        return OPERATORS[op](a, *rest)
    return -a if op == "neg" else (function or _known)(op, a, *rest)


def _known(op: str, a: Any, *numbers: Any) -> Any:
    """A function of traced scalars or of numbers."""
    if op == "where":
        return where(a, *numbers)
    if isinstance(a, Expr):
        return getattr(a, op)(*numbers)
    return above(a, *numbers) if op == "above" else FUNCTIONS[op](a)
