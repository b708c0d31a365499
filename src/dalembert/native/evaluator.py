"""Programs as functions of many states, on whatever this machine has."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.native.kernel import compile_program
from dalembert.trace.program import Program
from dalembert.trace.source import NumpyKernel


def evaluator(program: Program) -> Callable[..., tuple[Any, ...]]:
    """A function of arrays with one batch axis, or of single numbers and vectors beside them: native code, or NumPy without llvmlite.

    It returns a tuple of arrays. A single state is computed twice: the code for batches is all that is compiled.

    >>> from dalembert.trace import trace
    >>> evaluator(trace(lambda x: x + 1, {"x": ()}))(np.array([1.0]))
    (array([2.]),)
    """
    try:
        kernel: Any = compile_program(program)
    except ImportError:
        kernel = NumpyKernel(program)
    cores = [len(v.shape) for v in program.inputs]

    def run(*arrays: Any) -> tuple[Any, ...]:
        given = [np.asarray(a, dtype=float) for a in arrays]
        batched = [a.ndim > core for a, core in zip(given, cores, strict=True)]
        alone = all(len(a) == 1 for a, more in zip(given, batched, strict=True) if more)
        if alone:
            given = [np.repeat(a, 2, axis=0) if more else a for a, more in zip(given, batched, strict=True)]
        found = kernel(*given)
        results = found if isinstance(found, tuple) else (found,)
        return tuple(x[:1] for x in results) if alone else results

    return run
