"""Gufuncs from function pointers, through NumPy's C interface and ctypes; no C compiler.

`PyUFunc_FromFuncAndDataAndSignature` is slot 31 of NumPy's public ufunc table. NumPy copies none of what it is given, so everything
is hung on the ufunc itself: its `obj` field, which NumPy releases when the ufunc dies (`frompyfunc` uses it the same way).
"""

import ctypes as C  # noqa: N812
from importlib import import_module
from typing import Any

import numpy as np

_MAKE = 31  # __ufunc_api.h
_NAME, _OBJ = 56, 88  # offsets in PyUFuncObject on 64-bit machines (ufuncobject.h)
_immortal: list[Any] = []


def api(table: str, slot: int) -> int:
    """The address in a slot of one of NumPy's C tables, "_ARRAY_API" or "_UFUNC_API"."""
    umath: Any = import_module("numpy._core._multiarray_umath")
    get = C.PYFUNCTYPE(C.c_void_p, C.py_object, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi))
    return C.cast(get(getattr(umath, table), None), C.POINTER(C.c_void_p))[slot] or 0


def make_gufunc(address: int, shapes: list[tuple[int, ...]], inputs: int, name: str, dtype: Any, owner: Any) -> Any:
    """A gufunc of numbers of one type with fixed core shapes, `inputs` of them inputs; it keeps `owner` alive."""
    text, pointer, whole = C.c_char_p, C.c_void_p, C.c_int
    make = C.PYFUNCTYPE(C.py_object, pointer, pointer, text, whole, whole, whole, whole, text, text, whole, text)(
        api("_UFUNC_API", _MAKE)
    )
    functions, pointers = (C.c_void_p * 1)(address), (C.c_void_p * 1)()
    types = C.create_string_buffer(bytes([np.dtype(dtype).num] * len(shapes)))
    texts = C.create_string_buffer(name.encode()), C.create_string_buffer(b"")
    made = make(
        C.addressof(functions), C.addressof(pointers), C.cast(types, C.c_char_p), 1, inputs, len(shapes) - inputs, -1,
        C.cast(texts[0], C.c_char_p), C.cast(texts[1], C.c_char_p), 0, signature(shapes, inputs).encode(),
    )  # fmt: skip
    _keep(made, (functions, pointers, types, texts, owner), C.addressof(texts[0]))
    return made


def signature(shapes: list[tuple[int, ...]], inputs: int) -> str:
    """NumPy's notation with fixed sizes: a wrong size is rejected before any native code runs.

    >>> signature([(6,), (6, 3), ()], 2)
    '(6),(6,3)->()'
    """
    parts = [f"({','.join(map(str, shape))})" for shape in shapes]
    return f"{','.join(parts[:inputs])}->{','.join(parts[inputs:])}"


def _keep(ufunc: Any, what: Any, name_address: int) -> None:
    at = id(ufunc)
    name, obj = C.c_void_p.from_address(at + _NAME), C.c_void_p.from_address(at + _OBJ)
    if name.value == name_address and obj.value is None:
        C.pythonapi.Py_IncRef(C.py_object(what))
        obj.value = id(what)
    else:  # an unknown layout: never free rather than ever dangle
        _immortal.append(what)
