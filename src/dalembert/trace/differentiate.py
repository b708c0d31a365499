"""Derivatives of programs, as programs."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, Literal

from dalembert.arguments import choice, flag, instance, several
from dalembert.trace.expr import Tape, unrounded
from dalembert.trace.program import Program, Variable, apply, assemble, evaluate, operands


def differentiate(
    program: Program,
    wrt: str | Sequence[str] | None = None,
    *,
    mode: Literal["auto", "forward", "reverse"] = "auto",
    keep: bool = False,
    folding: bool = True,
    sharing: bool = True,
) -> Program:
    """The Jacobians of all outputs with respect to the named inputs (default: all), in that order.

    Its outputs are called d<output>_d<input> and have the shape output.shape + input.shape; with `keep` the original outputs
    come first. Forward mode carries one tangent per input scalar, reverse mode one adjoint sweep per output scalar; "auto" takes
    the one with fewer sweeps. The derivative of `sign` is 0. `folding` and `sharing` as in `trace`.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x[0] * x[1], {"x": (2,)}, outputs=("y",))
    >>> print(differentiate(p))
    program: x(2) -> dy_dx(2)
    v0 = x[0]
    v1 = x[1]
    dy_dx[0] = v1
    dy_dx[1] = v0
    """
    names = [v.name for v in instance(program, Program, "the program to differentiate").inputs]
    wanted = names if wrt is None else several(wrt, "wrt")
    for name in wanted:
        choice(name, "input of the program:", names)
    choice(mode, "mode of differentiation", ("auto", "forward", "reverse"))
    keep, folding, sharing = flag(keep, "keep"), flag(folding, "folding"), flag(sharing, "sharing")
    chosen = [names.index(name) for name in wanted]
    tape = Tape(folding, sharing)
    symbols = [[tape.node("input", k, j) for j in range(v.size)] for k, v in enumerate(program.inputs)]
    values = evaluate(program, symbols, unrounded)
    columns = [(k, j) for k in chosen for j in range(program.inputs[k].size)]
    reverse = mode == "reverse" or (mode == "auto" and len(program.results) <= len(columns))
    jacobian = (_reverse if reverse else _forward)(program, values, columns)  # jacobian[result][column]
    outputs: list[Variable] = list(program.outputs) if keep else []
    results: list[Any] = [values[i] for i in program.results] if keep else []
    start = 0
    for output in program.outputs:
        rows = jacobian[start : start + output.size]
        start += output.size
        first = 0
        for k in chosen:
            v = program.inputs[k]
            outputs.append(Variable(f"d{output.name}_d{v.name}", output.shape + v.shape))
            results += [x for row in rows for x in row[first : first + v.size]]
            first += v.size
    return assemble(program.inputs, tuple(outputs), tape.nodes, [tape.lift(x).index for x in results])


def rows(program: Program, sizes: Sequence[int], results: Iterable[Any]) -> list[list[Any]]:
    """All results of a derivative as the rows of a matrix, one for each scalar result; `sizes` are those of the inputs it is by."""
    entries, found = iter(results), list[list[Any]]()
    for output in program.outputs:
        some: list[list[Any]] = [[] for _ in range(output.size)]
        for size in sizes:
            for row in some:
                row += islice(entries, size)
        found += some
    return found


def _partials(op: str, a: Any, b: Any, value: Any) -> tuple[Any, ...]:
    """Partial derivatives of an operation with respect to its operands."""
    match op:
        case "add":
            return 1, 1
        case "sub":
            return 1, -1
        case "mul":
            return b, a
        case "div":
            reciprocal = Fraction(1, b) if isinstance(b, int) else 1 / b
            return reciprocal, -value * reciprocal
        case "neg":
            return (-1,)
        case "sqrt":
            return (1 / (2 * value),)
        case "sin":
            return (apply("cos", a),)
        case "cos":
            return (-apply("sin", a),)
        case "above":  # as if the floor were never met
            return (1,)
        case "where":  # as if the choice never changed
            return 0, apply("where", a, 1, 0), apply("where", a, 0, 1)
        case _:  # sign
            return (0,)


def _all_partials(program: Program, values: list[Any]) -> list[tuple[tuple[int, Any], ...]]:
    """For every node, its operands with the partial derivatives."""
    partials: list[tuple[tuple[int, Any], ...]] = []
    for i, (op, *rest) in enumerate(program.nodes):
        if op in ("input", "const"):
            partials.append(())
            continue
        given = operands((op, *rest))
        a, b = values[given[0]], values[given[-1]]
        partials.append(tuple(zip(given, _partials(op, a, b, values[i]), strict=True)))
    return partials


def _forward(program: Program, values: list[Any], columns: list[tuple[int, int]]) -> list[list[Any]]:
    partials = _all_partials(program, values)
    tangents: list[dict[int, Any]] = []  # column -> derivative, zeros left out
    index = {key: c for c, key in enumerate(columns)}
    for node, parts in zip(program.nodes, partials, strict=True):
        tangent: dict[int, Any] = {}
        if node[0] == "input" and (node[1], node[2]) in index:
            tangent[index[node[1], node[2]]] = 1
        for operand, partial in parts:
            for column, x in tangents[operand].items():
                tangent[column] = tangent.get(column, 0) + partial * x
        tangents.append(tangent)
    return [[tangents[i].get(c, 0) for c in range(len(columns))] for i in program.results]


def _reverse(program: Program, values: list[Any], columns: list[tuple[int, int]]) -> list[list[Any]]:
    partials = _all_partials(program, values)
    leaf = {(node[1], node[2]): i for i, node in enumerate(program.nodes) if node[0] == "input"}
    rows: list[list[Any]] = []
    for result in program.results:
        adjoint: dict[int, Any] = {result: 1}
        for i in range(result, -1, -1):
            if i in adjoint:
                for operand, partial in partials[i]:
                    adjoint[operand] = adjoint.get(operand, 0) + adjoint[i] * partial
        rows.append([adjoint.get(leaf.get(key, -1), 0) for key in columns])
    return rows
