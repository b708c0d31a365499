"""The fast path for one state: a built-in function that reads its arrays itself.

A gufunc spends a microsecond on iterators before it computes anything. The function here, emitted next to the loop, checks its
arguments with a few comparisons: exactly NumPy arrays of doubles, of exactly the core shapes, aligned and contiguous. Then it makes
the result and runs the loop once. Anything else (lists, batches, other types, wrong shapes) it passes to the kernel: full
checking. It needs the memory layout of arrays in CPython (checked by a test); elsewhere the kernel itself is the fast path.
"""

import ctypes as C  # noqa: N812
import sys
import sysconfig
from typing import Any

import numpy as np

from dalembert.native.gufunc import api
from dalembert.trace.program import Program, Variable

TYPE, NDIM, SHAPE, DTYPE, FLAGS = 8, 24, 32, 56, 64  # offsets in a NumPy array object, 64-bit CPython
DATA = 16
CONTIGUOUS_ALIGNED = 0x101
_NEW = 93  # PyArray_New in NumPy's table
_FASTCALL = 0x80
_TABLE = 7
_DOUBLE = 12


class _Method(C.Structure):
    _fields_ = (("name", C.c_char_p), ("function", C.c_void_p), ("flags", C.c_int), ("doc", C.c_char_p))


# objects of this interpreter look as expected; which interpreter it is must not show in the code, which others find in the cache
PLAIN = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED") and C.sizeof(C.c_void_p) == 8


def _one_array(inputs: tuple[Variable, ...], outputs: tuple[Variable, ...]) -> bool:
    return len(outputs) == 1 and outputs[0].shape != () and all(v.size for v in (*inputs, *outputs))


def emit(program: Program, lent: int) -> str:
    """Assembly of `PyObject *direct(PyObject *self, PyObject *const *args, Py_ssize_t count)`, and of `bind`, which sets its table.

    The table: array type, dtype of doubles, kernel, PyObject_Vectorcall, PyArray_New, PyMem_Malloc, PyMem_Free. `lent` doubles, if
    any, are what the loop wants as its first argument.
    """
    if not _one_array(program.inputs, program.outputs):
        return ""
    n, (output,) = len(program.inputs), program.outputs
    variables = (*((Variable("frame", (lent,)),) if lent else ()), *program.inputs, output)
    count, first = len(variables), len(variables) - n - 1
    strides = [8 * int(np.prod(v.shape[k + 1 :], dtype=int)) for v in variables for k in range(len(v.shape))]
    steps = [0] * count + strides
    lines = [
        "@table = internal global ptr null",
        f"@steps = internal constant [{len(steps)} x i64] [{', '.join(f'i64 {s}' for s in steps)}]",
        f"@shape = internal constant [{len(output.shape)} x i64] [{', '.join(f'i64 {d}' for d in output.shape)}]",
        "@once = internal constant [1 x i64] [i64 1]",
        "define void @bind(ptr %t) {\n  store ptr %t, ptr @table, align 8\n  ret void\n}",
        "define ptr @direct(ptr %self, ptr %args, i64 %count) {\nentry:",
        f"  %pointers = alloca [{count} x ptr], align 8\n  %t = load ptr, ptr @table, align 8",
        *(f"  %t{k}p = getelementptr ptr, ptr %t, i64 {k}\n  %t{k} = load ptr, ptr %t{k}p, align 8" for k in range(_TABLE)),
        f"  %enough = icmp eq i64 %count, {n}\n  br i1 %enough, label %type0, label %slow",
    ]
    for j, variable in enumerate(program.inputs):
        lines += _check(j, variable, "borrow" if j == n - 1 else f"type{j + 1}")
    lines += ["borrow:"]
    if lent:  # if there is no memory, the slow path raises the error
        lines += [
            f"  %frame = call ptr %t5(i64 {8 * lent})\n  %none = icmp eq ptr %frame, null\n  br i1 %none, label %slow, label %run"
        ]
        lines += ["run:\n  store ptr %frame, ptr %pointers, align 8"]
    lines += [
        f"  %out = call ptr %t4(ptr %t0, i32 {len(output.shape)}, ptr @shape, i32 {_DOUBLE}, ptr null, ptr null, "
        "i32 0, i32 0, ptr null)",
        "  %failed = icmp eq ptr %out, null\n  br i1 %failed, label %end, label %go\ngo:",
    ]
    for j in range(n + 1):
        array = f"%a{j}" if j < n else "%out"
        lines += [
            f"  %d{j}p = getelementptr i8, ptr {array}, i64 {DATA}\n  %d{j} = load ptr, ptr %d{j}p, align 8",
            f"  %s{j} = getelementptr ptr, ptr %pointers, i64 {first + j}\n  store ptr %d{j}, ptr %s{j}, align 8",
        ]
    lines += [
        "  call void @loop(ptr %pointers, ptr @once, ptr @steps, ptr null)\n  br label %end",
        f"end:\n{'  call void %t6(ptr %frame)' if lent else ''}\n  ret ptr %out",
        "slow:\n  %other = call ptr %t3(ptr %t2, ptr %args, i64 %count, ptr null)\n  ret ptr %other\n}",
    ]
    return "\n".join(lines)


def _check(j: int, variable: Variable, then: str) -> list[str]:
    """Argument j is exactly an array of doubles of this shape, contiguous and aligned; else to the slow way."""

    def field(offset: int, kind: str, name: str) -> str:
        size = 4 if kind == "i32" else 8
        return (
            f"  %{name}{j}p = getelementptr i8, ptr %a{j}, i64 {offset}\n  %{name}{j} = load {kind}, ptr %{name}{j}p, align {size}"
        )

    lines = [
        f"type{j}:\n  %a{j}p = getelementptr ptr, ptr %args, i64 {j}\n  %a{j} = load ptr, ptr %a{j}p, align 8",
        f"{field(TYPE, 'ptr', 'kind')}\n  %array{j} = icmp eq ptr %kind{j}, %t0\n  br i1 %array{j}, label %fields{j}, label %slow",
        f"fields{j}:\n{field(NDIM, 'i32', 'ndim')}\n{field(DTYPE, 'ptr', 'dtype')}\n{field(FLAGS, 'i32', 'flags')}",
        f"  %set{j} = and i32 %flags{j}, {CONTIGUOUS_ALIGNED}\n  %dense{j} = icmp eq i32 %set{j}, {CONTIGUOUS_ALIGNED}",
        f"  %double{j} = icmp eq ptr %dtype{j}, %t1\n  %axes{j} = icmp eq i32 %ndim{j}, {len(variable.shape)}",
        f"  %some{j} = and i1 %dense{j}, %double{j}\n  %all{j} = and i1 %some{j}, %axes{j}",
    ]
    if not variable.shape:
        return [*lines, f"  br i1 %all{j}, label %{then}, label %slow"]
    lines += [f"  br i1 %all{j}, label %shape{j}, label %slow\nshape{j}:\n{field(SHAPE, 'ptr', 'dims')}"]
    fits = "true"
    for k, d in enumerate(variable.shape):
        lines += [
            f"  %d{j}_{k}p = getelementptr i64, ptr %dims{j}, i64 {k}\n  %d{j}_{k} = load i64, ptr %d{j}_{k}p, align 8",
            f"  %e{j}_{k} = icmp eq i64 %d{j}_{k}, {d}\n  %f{j}_{k} = and i1 {fits}, %e{j}_{k}",
        ]
        fits = f"%f{j}_{k}"
    return [*lines, f"  br i1 {fits}, label %{then}, label %slow"]


def bind(kernel: Any) -> Any:
    """Tell the code of a kernel where things are; the table returned must live as long as the kernel."""
    if not PLAIN or not _one_array(kernel.inputs, kernel.outputs):
        return None
    python = (C.pythonapi.PyObject_Vectorcall, C.pythonapi.PyMem_Malloc, C.pythonapi.PyMem_Free)
    call, borrow, give_back = (C.cast(function, C.c_void_p).value for function in python)
    new = api("_ARRAY_API", _NEW)
    table = (C.c_void_p * _TABLE)(id(np.ndarray), id(np.dtype(float)), id(kernel), call, new, borrow, give_back)
    C.CFUNCTYPE(None, C.c_void_p)(kernel.code.address_of("bind"))(C.addressof(table))
    return table


def short_way(kernel: Any) -> Any:
    """The built-in function of a kernel, or the kernel itself where there is none. It keeps the kernel alive."""
    if not PLAIN or not _one_array(kernel.inputs, kernel.outputs):
        return kernel
    method = _Method(kernel.outputs[0].name.encode(), kernel.code.address_of("direct"), _FASTCALL, None)
    make = C.PYFUNCTYPE(C.py_object, C.c_void_p, C.py_object, C.c_void_p)(("PyCFunction_NewEx", C.pythonapi))
    return make(C.addressof(method), (method, kernel), None)
