"""Programs as generated NumPy source: the path that needs nothing but NumPy.

The generated function works on rows, one contiguous array per scalar with the states of a batch along it, so each
line is one vector operation. Names of dead values are used again, which frees their memory.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from dalembert.algebra.scalars import above, sign, where
from dalembert.arguments import batch as broadcast
from dalembert.arguments import numbers, targets
from dalembert.errors import Error
from dalembert.trace.program import Program, last_uses, operands, written

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
    last = last_uses(program)
    free: list[int] = []
    slot: dict[int, int] = {}
    lines = [f"def {name}({', '.join(v.name for v in program.inputs)}):"]
    used = 0
    for k, (op, *rest) in enumerate(program.nodes):
        if op == "input":
            text = f"{program.inputs[rest[0]].name}[{rest[1]}]"
        else:
            text = _literal(rest[0]) if op == "const" else written((op, *rest), [f"v{slot[i]}" for i in operands((op, *rest))])
        free += [slot[i] for i in dict.fromkeys(operands((op, *rest))) if last[i] == k]
        if free:
            slot[k] = free.pop()
        else:
            slot[k], used = used, used + 1
        lines.append(f"    v{slot[k]} = {text}")
    lines.append(f"    return ({''.join(f'v{slot[i]}, ' for i in program.results).rstrip(' ')})")
    return "\n".join(lines)


def _literal(x: Any) -> str:
    return repr(x if isinstance(x, complex) else float(x))


def numpy_function(program: Program) -> Callable[..., tuple[Any, ...]]:
    """The compiled form of `numpy_source`."""
    scope: dict[str, Any] = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": sign, "above": above, "where": where}
    scope |= {"inf": np.inf, "nan": np.nan}
    exec(compile(numpy_source(program), "<dalembert program>", "exec"), scope)  # noqa: S102 - our own generated text
    return scope["program"]


class NumpyKernel:
    """A program on NumPy alone: one array per input, leading axes broadcast, in chunks of the batch.

    Returns one array, or a tuple of them. Complex inputs give complex results; float32 inputs, if all of them are, results of that
    type, which are computed as doubles.
    """

    backend = "numpy"

    def __init__(self, program: Program) -> None:
        self.program, self.inputs, self.outputs = program, program.inputs, program.outputs
        self._function = numpy_function(program)
        constants = (node[1] for node in program.nodes if node[0] == "const")
        self._dtype = complex if any(isinstance(x, complex) for x in constants) else float

    def __reduce__(self) -> tuple[Any, ...]:
        return NumpyKernel, (self.program,)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate; `out` is an array, or a tuple of arrays where there are several outputs."""
        if len(arrays) != len(self.inputs):
            raise Error(f"{self.program!r} takes {len(self.inputs)} arrays, got {len(arrays)}")
        given = [numbers(a, v.name, complex_=True) for a, v in zip(arrays, self.inputs, strict=True)]
        pairs = list(zip(given, self.inputs, strict=True))
        batch = broadcast({v.name: v.batch(a) for a, v in pairs}, "a kernel")
        dtype = np.result_type(self._dtype, *given)
        if out is not None:
            shapes = {v.name: (*batch, *v.shape) for v in self.outputs}
            targets(out, shapes, "a kernel", complex_=dtype.kind == "c")
        states, count = batch or (1,), prod(batch)
        results = [np.empty((*states, *v.shape), dtype) for v in self.outputs]
        wide = [np.broadcast_to(a, (*states, *v.shape)) for a, v in pairs]
        with np.errstate(all="ignore"):
            for start in range(0, count, CHUNK):
                self._chunk(wide, results, np.unravel_index(np.arange(start, min(start + CHUNK, count)), states), dtype)
        results = [r.reshape((*batch, *v.shape)) for r, v in zip(results, self.outputs, strict=True)]
        with np.errstate(all="ignore"):  # float32 has infinities where doubles have none yet
            if out is None:
                if all(a.dtype == np.float32 for a in given) and dtype.kind == "f":
                    results = [r.astype(np.float32) for r in results]
                return results[0] if len(results) == 1 else tuple(results)
            for target, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
                np.copyto(target, result, casting="same_kind")
        return out

    def _chunk(self, wide: list[Any], results: list[Any], states: Any, dtype: Any) -> None:
        columns = (a[states] for a in wide)  # (states, *shape)
        rows = self._function(*(np.ascontiguousarray(np.moveaxis(a, 0, -1).reshape(-1, len(a)), dtype) for a in columns))
        position = 0
        for result, variable in zip(results, self.outputs, strict=True):
            for index in np.ndindex(*variable.shape):
                result[(*states, *index)] = rows[position]
                position += 1
