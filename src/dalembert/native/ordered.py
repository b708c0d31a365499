"""Kernels over and over: three nested loops around a kernel, strictly in order.

A gufunc promises nothing about the order of its states. Here the leading axes of all arrays are loops that run one after the other,
and an array of length 1 along a loop is the same memory in every pass: what one pass writes into it, the next one reads. So a
kernel that maps a state to the next one becomes a simulation without a step in Python. The driver is a fixed piece of code that
is independent of programs; it calls the kernel's own loop with other addresses each time.
"""

import ctypes as C  # noqa: N812
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from dalembert.native import machine
from dalembert.native.kept import kept
from dalembert.native.kernel import Kernel
from dalembert.trace.program import Variable

LOOPS = 3
# args[a] = bases[a] + i advances[0][a] + j advances[1][a] + k advances[2][a], for each (i, j, k) in order
DRIVER = """
define void @ordered(ptr %loop, i64 %n, ptr %bases, ptr %advances, ptr %counts, ptr %args, ptr %dims, ptr %steps) {
entry:
  %c1p = getelementptr i64, ptr %counts, i64 1
  %c2p = getelementptr i64, ptr %counts, i64 2
  %c0 = load i64, ptr %counts
  %c1 = load i64, ptr %c1p
  %c2 = load i64, ptr %c2p
  %n2 = mul i64 %n, 2
  %c12 = mul i64 %c1, %c2
  %all = mul i64 %c0, %c12
  %some = icmp sgt i64 %all, 0
  br i1 %some, label %next, label %end
next:
  %pass = phi i64 [0, %entry], [%following, %called]
  %i = udiv i64 %pass, %c12
  %rest = urem i64 %pass, %c12
  %j = udiv i64 %rest, %c2
  %k = urem i64 %rest, %c2
  br label %address
address:
  %a = phi i64 [0, %next], [%a1, %address]
  %a_1 = add i64 %a, %n
  %a_2 = add i64 %a, %n2
  %p0 = getelementptr i64, ptr %advances, i64 %a
  %p1 = getelementptr i64, ptr %advances, i64 %a_1
  %p2 = getelementptr i64, ptr %advances, i64 %a_2
  %s0 = load i64, ptr %p0
  %s1 = load i64, ptr %p1
  %s2 = load i64, ptr %p2
  %d0 = mul i64 %i, %s0
  %d1 = mul i64 %j, %s1
  %d2 = mul i64 %k, %s2
  %d01 = add i64 %d0, %d1
  %d = add i64 %d01, %d2
  %bp = getelementptr ptr, ptr %bases, i64 %a
  %b = load ptr, ptr %bp
  %to = getelementptr i8, ptr %b, i64 %d
  %ap = getelementptr ptr, ptr %args, i64 %a
  store ptr %to, ptr %ap
  %a1 = add i64 %a, 1
  %more = icmp slt i64 %a1, %n
  br i1 %more, label %address, label %call
call:
  call void %loop(ptr %args, ptr %dims, ptr %steps, ptr null)
  br label %called
called:
  %following = add i64 %pass, 1
  %again = icmp slt i64 %following, %all
  br i1 %again, label %next, label %end
end:
  ret void
}
"""


def ordered(
    kernel: Any, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], counts: tuple[int, int, int]
) -> Callable[[], None]:
    """A function that runs the kernel over three loops of these lengths; it may be called any number of times.

    Every array is (loop, loop, loop, batch, *core), in doubles, and 1 long along a loop through which it is carried; the batch is
    as long in all outputs, and that long or 1 in inputs. Input and output may be one memory: a state is read before it is written.

    >>> from dalembert.native import compile_program
    >>> from dalembert.trace import trace
    >>> double = compile_program(trace(lambda x, a: (x + x, x + a), {"x": (1,), "a": (1,)}, outputs=("twice", "kept")))
    >>> x, kept = np.ones((1, 1, 1, 1, 1)), np.zeros((5, 1, 1, 1, 1))
    >>> ordered(double, [x, np.zeros((1, 1, 1, 1, 1))], [x, kept], (5, 1, 1))()
    >>> kept.ravel().tolist()
    [1.0, 2.0, 4.0, 8.0, 16.0]
    """
    if len(counts) != LOOPS or min(counts) < 0 or prod(counts) >> 62:
        raise ValueError(f"loops of {counts} passes: three nonnegative lengths are needed, with fewer passes in total")
    batch = outputs[0].shape[LOOPS]
    arrays = (*inputs, *outputs)
    for k, (array, variable) in enumerate(zip(arrays, (*kernel.inputs, *kernel.outputs), strict=True)):
        _check(array, variable, counts, batch, written=k >= len(inputs))
    if not isinstance(kernel, Kernel):
        return lambda: _in_python(kernel, inputs, outputs, counts)
    function = kernel.one if batch == 1 and all(a[0, 0, 0, 0].flags.c_contiguous for a in arrays if a.size) else kernel.loop
    arrays = (*(x[(None,) * (LOOPS + 1)] for x in function.frame()), *arrays)
    strides = [[s if d > 1 else 0 for s, d in zip(a.strides[: LOOPS + 1], a.shape, strict=False)] for a in arrays]
    n, cores = len(arrays), [s for a in arrays for s in a.strides[LOOPS + 1 :]]
    bases = (C.c_void_p * n)(*(a.ctypes.data for a in arrays))
    advances = (C.c_int64 * (LOOPS * n))(*(s[loop] for loop in range(LOOPS) for s in strides))
    steps = (C.c_int64 * (n + len(cores)))(*(s[LOOPS] for s in strides), *cores)
    lengths, args, dims = (C.c_int64 * LOOPS)(*counts), (C.c_void_p * n)(), (C.c_int64 * 1)(batch)
    driver = _driver()
    call, loop = driver[0], function.address
    alive = kernel, arrays, driver  # the addresses must stay good: of threads that begin at once, each makes its own

    def run(_alive: Any = alive) -> None:
        call(loop, n, bases, advances, lengths, args, dims, steps)

    return run


def _check(array: np.ndarray, variable: Variable, counts: tuple[int, ...], batch: int, written: bool) -> None:
    """Refuse anything else before native code runs."""
    fits = (
        array.ndim == LOOPS + 1 + len(variable.shape)
        and array.shape[LOOPS + 1 :] == variable.shape
        and all(d in (1, count) for d, count in zip(array.shape, counts, strict=False))
        and (array.shape[LOOPS] == batch or (array.shape[LOOPS] == 1 and not written))
    )
    if not fits or array.dtype != float or not array.flags.aligned or (written and not array.flags.writeable):
        raise ValueError(
            f"{variable.name}: an array {array.shape} of {array.dtype} does not fit loops of {counts} over {batch} states"
        )


def _in_python(kernel: Any, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], counts: tuple[int, int, int]) -> None:
    """The same loops without native code."""

    def at(array: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
        return array[tuple(i if d > 1 else 0 for i, d in zip(index, array.shape, strict=False))]

    for index in product(*map(range, counts)):
        results = kernel(*(at(a, index) for a in inputs))
        for target, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
            at(target, index)[...] = result


@cache
def _driver() -> tuple[Any, machine.Code]:
    """The driver as a function that releases the GIL, and its code; made once, kept on disk."""
    held = machine.Code(kept("ordered", lambda: machine.object_code(DRIVER)))
    pointer = C.c_void_p
    make = C.CFUNCTYPE(None, pointer, C.c_int64, *[pointer] * 6)
    return make(held.address_of("ordered")), held
