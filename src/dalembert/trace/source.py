"""Programs as generated NumPy source: the path that needs nothing but NumPy.

The generated function works on rows, one contiguous array per scalar with the states of a batch along it, so each
line is one vector operation. Names of dead values are used again, which frees their memory.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.trace.expr import BINARY
from dalembert.trace.program import SYMBOLS, Program, operands

CHUNK = 1024  # states at a time: the rows in use stay in cache


def numpy_source(program: Program, name: str = "program") -> str:
    """Python source of a function of the input rows that returns the output rows.

    >>> from dalembert.trace import trace
    >>> print(numpy_source(trace(lambda x: x[0] * x[1], {"x": (2,)})))
    def program(x):
        v0 = x[0]
        v1 = x[1]
        v1 = v0 * v1
        return (v1,)
    """
    last = {i: k for k, node in enumerate(program.nodes) for i in operands(node)}
    last |= dict.fromkeys(program.results, len(program.nodes))
    free: list[int] = []
    slot: dict[int, int] = {}
    lines = [f"def {name}({', '.join(v.name for v in program.inputs)}):"]
    used = 0
    for k, (op, *rest) in enumerate(program.nodes):
        names = [f"v{slot[i]}" for i in (rest if op not in ("input", "const") else ())]
        if op == "input":
            text = f"{program.inputs[rest[0]].name}[{rest[1]}]"
        elif op == "const":
            text = repr(float(rest[0]))
        elif op in BINARY:
            text = f"{names[0]} {SYMBOLS[op]} {names[1]}"
        else:
            text = f"-{names[0]}" if op == "neg" else f"{op}({names[0]})"
        free += [slot[i] for i in dict.fromkeys(operands((op, *rest))) if last[i] == k]
        if free:
            slot[k] = free.pop()
        else:
            slot[k], used = used, used + 1
        lines.append(f"    v{slot[k]} = {text}")
    lines.append(f"    return ({''.join(f'v{slot[i]}, ' for i in program.results).rstrip(' ')})")
    return "\n".join(lines)


def numpy_function(program: Program) -> Callable[..., tuple[Any, ...]]:
    """The compiled form of `numpy_source`."""
    scope: dict[str, Any] = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": np.sign}
    exec(compile(numpy_source(program), "<dalembert program>", "exec"), scope)  # noqa: S102 - our own generated text
    return scope["program"]


class NumpyKernel:
    """A program behind a call on arrays with leading batch axes, in chunks of the batch."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._function = numpy_function(program)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumpyKernel, (self.program,)

    def __call__(self, *arrays: Any, out: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """One array per output, (*batch, *shape); inputs broadcast over their leading axes."""
        program = self.program
        given = [np.asarray(a) for a in arrays]
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(v.shape)] for a, v in zip(given, program.inputs, strict=True)))
        dtype = np.result_type(float, *given)
        results = [np.empty((*batch, *v.shape), dtype) for v in program.outputs]
        flat = [np.broadcast_to(a, (*batch, *v.shape)).reshape(-1, v.size) for a, v in zip(given, program.inputs, strict=True)]
        targets = [r.reshape(-1, v.size) for r, v in zip(results, program.outputs, strict=True)]
        count = int(np.prod(batch, dtype=int))
        with np.errstate(all="ignore"):
            for start in range(0, count, CHUNK):
                self._chunk(flat, targets, slice(start, min(start + CHUNK, count)), dtype)
        if out is None:
            return tuple(results)
        for target, result in zip(out, results, strict=True):
            np.copyto(target, result, casting="same_kind")
        return tuple(out)

    def _chunk(self, flat: list[Any], targets: list[Any], part: slice, dtype: Any) -> None:
        rows = self._function(*(np.ascontiguousarray(a[part].T, dtype) for a in flat))
        position = 0
        for target in targets:
            for j in range(target.shape[1]):
                target[part, j] = rows[position]
                position += 1
