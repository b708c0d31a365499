"""Programs as functions of many states, on whatever this machine has."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from dalembert.native.kernel import compile_program
from dalembert.trace.program import Program
from dalembert.trace.source import NumpyKernel


def kernel_of(program: Program) -> Any:
    """Native code, or NumPy without llvmlite."""
    try:
        return compile_program(program)
    except ImportError:
        return NumpyKernel(program)


def evaluator(program: Program) -> Callable[..., tuple[Any, ...]]:
    """A function of arrays, leading axes broadcast: native code, or NumPy without llvmlite.

    It returns a tuple of arrays. A single state is computed twice: the code for batches is all that is compiled.

    >>> from dalembert.trace import trace
    >>> evaluator(trace(lambda x: x + 1, {"x": ()}))(np.array([1.0]))
    (array([2.]),)
    """
    kernel, cores = kernel_of(program), [len(v.shape) for v in program.inputs]

    def run(*arrays: Any) -> tuple[Any, ...]:
        given = [np.asarray(a, dtype=float) for a in arrays]
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - core] for a, core in zip(given, cores, strict=True)))
        if prod(batch) != 1:
            found = kernel(*given)
            return found if isinstance(found, tuple) else (found,)
        given[0] = np.broadcast_to(given[0], (2, *batch, *given[0].shape[given[0].ndim - cores[0] :]))
        found = kernel(*given)
        return tuple(x[0] for x in (found if isinstance(found, tuple) else (found,)))

    return run
