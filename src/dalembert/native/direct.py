"""The fast path of plain calls: a built-in function that reads its arrays itself.

A gufunc spends microseconds on iterators before it computes anything. The function (see `builtin`) is one fixed piece of code for
all kernels; a table, which is its `self`, says what a kernel takes. It checks the arguments with a few comparisons: exactly NumPy
arrays of the kernel's type, contiguous and aligned, of exactly the core shapes, or some of them with one more axis in front, which
is then the batch; behind the inputs there may be arrays to write into. It makes the results, runs the code for one state or the
loop, looks for NaN if it is told to, and returns an array or a named tuple. Anything else (lists, other types and layouts, wrong
shapes, batches for several threads, arrays that overlap, NaN) it passes on to a Python function: full checking.

It needs the memory layout of arrays in CPython (checked by a test); elsewhere the Python function itself is the fast path.
"""

import ctypes as C  # noqa: N812
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any
from weakref import ref

import numpy as np

from dalembert.native import machine, recycle
from dalembert.native.builtin import MOST_AXES, MOST_STRIDES, VARIABLE, WORD, assembly
from dalembert.native.gufunc import api
from dalembert.native.kept import kept

_NEW = 93  # PyArray_New in NumPy's table
_RETURN = 76  # PyArray_Return: an array without axes becomes a number
_FASTCALL_KEYWORDS = 0x82


class _Method(C.Structure):
    _fields_ = (("name", C.c_char_p), ("function", C.c_void_p), ("flags", C.c_int), ("doc", C.c_char_p))


class Table(np.ndarray):
    """The table of a function; it keeps alive what its addresses point to. As the `self` of a method it stands for its owner."""

    alive: tuple[Any, ...] = ()
    owner: Any = None

    def pass_on_to(self, slow: Any) -> None:
        """From now on, what is not plain goes there, but for arguments by name; calls under way may go where they went before."""
        self.alive = *self.alive, slow
        self[WORD["slow"]] = id(slow)

    def __reduce__(self) -> Any:
        """The owner, so that a method of it pickles as such."""
        if self.owner is None:
            raise TypeError("this function cannot be pickled; pickle the kernel")
        return _itself, (self.owner,)


def _itself(owner: Any) -> Any:
    return owner


# objects of this interpreter look as expected; which interpreter it is must not show in the code, which others find in the cache
PLAIN = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED") and C.sizeof(C.c_void_p) == 8


def short_way(
    kernel: Any,
    slow: Callable[..., Any] | None = None,
    result: Any = None,
    check: bool = False,
    method: tuple[str, str, Any] | None = None,
) -> Any:
    """A built-in function that computes what a kernel does, and calls `slow`, else the kernel, for what is not plain.

    Several outputs become a tuple, or a `result`, which is a tuple by another name; with `check`, NaN is not plain either. A method
    has a name, a text that documents it, and an owner as which it pickles. Arrays of float32 are plain, too: the first ones make
    such a function of the kernel's `narrow`.
    """
    fallback, axes = slow or kernel, [len(v.shape) for v in (*kernel.inputs, *kernel.outputs)]
    if not PLAIN or max(axes) > MOST_AXES or sum(axes) > MOST_STRIDES:
        return fallback
    table = _table(kernel, fallback, result or (tuple if len(kernel.outputs) > 1 else None), check)
    table.pass_on_to(fallback if kernel.real == "float" else _floats_first(kernel, fallback, result, check, ref(table)))
    made = code(kernel.real)
    name, text, table.owner = method or (kernel.outputs[0].name, "", None)
    document = text.encode() or None
    definition = _Method(name.encode(), made.address_of("direct"), _FASTCALL_KEYWORDS, document)
    table.alive = *table.alive, made, definition, document
    kernel.serve(table)
    make = C.PYFUNCTYPE(C.py_object, C.c_void_p, C.py_object, C.c_void_p)(("PyCFunction_NewEx", C.pythonapi))
    return make(C.addressof(definition), table, None)


def _table(kernel: Any, fallback: Callable[..., Any], named: Any, check: bool) -> Table:
    """What the function needs to know of a kernel; `named` is the tuple that results become, if any."""
    variables, size, shapes = (*kernel.inputs, *kernel.outputs), kernel.dtype.itemsize, [v.shape for v in kernel.outputs]

    def fresh(states: int, k: int) -> Any:
        return recycle.empty((states, *shapes[k]), kernel.dtype)

    python = {
        "call": "PyObject_Vectorcall", "alloc": "PyType_GenericAlloc", "set_item": "PyTuple_SetItem", "save": "PyEval_SaveThread",
        "restore": "PyEval_RestoreThread", "malloc": "PyMem_RawMalloc", "free": "PyMem_RawFree", "incref": "Py_IncRef",
        "decref": "Py_DecRef", "from_size": "PyLong_FromSsize_t",
    }  # fmt: skip
    strides = [size * prod(v.shape[k + 1 :]) for v in variables for k in range(len(v.shape))]
    words = {word: C.cast(getattr(C.pythonapi, name), C.c_void_p).value for word, name in python.items()} | {
        "array": id(np.ndarray), "dtype": id(kernel.dtype), "new": api("_ARRAY_API", _NEW),
        "result": id(named) if named else 0, "return": api("_ARRAY_API", _RETURN), "hash": 24 if tuple.__basicsize__ > 24 else 0,
        "inputs": len(kernel.inputs), "outputs": len(kernel.outputs), "check": check, "strides": len(strides),
        "large": recycle.LEAST, "fresh": id(fresh), "by_name": id(fallback),
    }  # fmt: skip
    table = np.zeros(len(WORD) + VARIABLE * len(variables) + len(strides), np.int64).view(Table)
    for word, value in words.items():
        table[WORD[word]] = value
    for j, v in enumerate(variables):
        begin = len(WORD) + VARIABLE * j
        table[begin : begin + 2 + len(v.shape)] = len(v.shape), size * v.size, *v.shape
    table[len(table) - len(strides) :] = strides
    table.alive = kernel, fallback, fresh, named
    return table


def _floats_first(kernel: Any, fallback: Callable[..., Any], result: Any, check: bool, table: "ref[Table]") -> Callable[..., Any]:
    """The fallback, until arrays of float32 come: a function for them then stands before it."""

    def slow(*given: Any) -> Any:
        if given and all(type(x) is np.ndarray and x.dtype == np.float32 for x in given):
            floats = short_way(kernel.narrow, fallback, result, check)
            if (held := table()) is not None:
                held.pass_on_to(floats)
            return floats(*given)
        return fallback(*given)

    return slow


@cache
def code(real: str) -> machine.Code:
    """The function for all kernels of doubles or floats; made once, kept on disk."""
    return machine.Code(kept(f"direct {real}", lambda: machine.object_code(assembly(real))))
