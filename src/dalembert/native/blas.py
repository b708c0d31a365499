"""One thread of BLAS for small problems.

NumPy and SciPy pass products and factorizations to a BLAS library, which wakes threads for matrices of a hundred rows. Waking
them takes longer than the work: steps that take 0.08 s on one thread have taken 1.3 s. No function of NumPy or SciPy says how many
threads to use, but the libraries do: `one_thread` asks each of them for one thread, and gives back what there was. The number
belongs to the process, so large products of other threads are slower meanwhile; problems here take a fraction of a second. The
results are those of one thread, whatever the machine. Where no library that is known is found, nothing is changed.
"""

import ctypes
import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, wraps
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, TypeVar

# modules that are linked with BLAS: a symbol is looked up in the libraries that they need, too
LINKED = ("numpy._core._multiarray_umath", "numpy.linalg._umath_linalg", "scipy.linalg._fblas")
OPENBLAS = [f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "_64", "")]
NAMES = (*((name.format("get"), name.format("set")) for name in OPENBLAS), ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"))


class Pool(NamedTuple):
    """The threads of one library: their number, and how to set it."""

    threads: Callable[[], int]
    choose: Callable[[int], Any]


@cache
def pools() -> tuple[Pool, ...]:
    """Of all libraries that are known and loaded, each once."""
    found: dict[int, Pool] = {}
    for module in LINKED:
        try:
            library = ctypes.CDLL(importlib.import_module(module).__file__ or "")
        except (ImportError, OSError):
            continue
        for get, choose in NAMES:
            if hasattr(library, get) and hasattr(library, choose):
                count, setter = getattr(library, get), getattr(library, choose)
                count.restype, count.argtypes, setter.restype, setter.argtypes = ctypes.c_int, (), None, (ctypes.c_int,)
                found.setdefault(ctypes.cast(setter, ctypes.c_void_p).value or 0, Pool(count, setter))
    return tuple(found.values())


P = ParamSpec("P")
R = TypeVar("R")
_lock = Lock()
_before: list[int] = []
_inside = 0


@contextmanager
def one_thread() -> Generator[None]:
    """One thread of BLAS in here; several calls at once, from several threads, give back what there was before the first one.

    >>> with one_thread():
    ...     [pool.threads() for pool in pools()] == [1] * len(pools())
    True
    """
    global _inside
    with _lock:
        if not _inside:
            _before[:] = [pool.threads() for pool in pools()]
            for pool in pools():
                pool.choose(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                for pool, count in zip(pools(), _before, strict=True):
                    pool.choose(count)


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function with one thread of BLAS. Its frame is of this package, so that warnings are of the line that calls it."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_thread():
            return function(*args, **kwargs)

    return call
