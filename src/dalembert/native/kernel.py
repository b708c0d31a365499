"""Kernels: programs as native functions of arrays."""

import ctypes as C  # noqa: N812
import json
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple
from weakref import WeakValueDictionary, ref

import numpy as np

from dalembert.arguments import batch, instance, numbers, targets
from dalembert.cached import cached_property
from dalembert.errors import Error, brief
from dalembert.native import machine, recycle, threads
from dalembert.native.builtin import MOST_ARRAYS, WORD
from dalembert.native.direct import Table
from dalembert.native.gufunc import make_gufunc
from dalembert.native.kept import keep, kept, look
from dalembert.trace.program import Program, Variable, signature

WORTH_A_THREAD = 5_000_000  # nodes times states: about 0.2 ms of work, well above the cost of waking a thread
MOST_SCALARS = 65_536  # of all inputs and outputs together: a vector each in the frame, which has 4 MB then with AVX-512
KEPT = 20_000  # nodes of a program kept in memory, a few MB, for what is compiled later; longer ones are recorded again
_made: WeakValueDictionary[str, "Kernel"] = WeakValueDictionary()


class Compiled(NamedTuple):
    """A function of a program: `void f(char **args, intp *dims, intp *steps, void *data)`, whose first argument may be lent."""

    code: machine.Code
    address: int
    lent: int  # numbers
    dtype: Any

    def frame(self) -> tuple[Any, ...]:
        """The memory that one call lends; nothing if the stack suffices."""
        return (np.empty(self.lent, self.dtype),) if self.lent else ()


class Kernel:
    """A compiled program: call it with one array per input, leading axes broadcast; returns one array, or a tuple of them.

    It has two functions, each compiled when first needed: a loop over the states of a batch, and one for a single state, alone or a
    batch of one. Where all inputs are of type float32, so are results: `narrow` computes them, with twice as many lanes. It
    pickles: the other process rebuilds it, from its disk cache if it can.
    """

    backend = "native"

    def __init__(
        self,
        about: Mapping[str, Any],
        program: Callable[[], Program],
        rebuild: tuple[Any, ...],
        real: str = "double",
        made: Program | None = None,
    ) -> None:
        """`program` makes the program, which is `made` if it is there already."""
        self.inputs, self.outputs = (
            tuple(Variable(name, tuple(shape)) for name, shape in about[side]) for side in ("inputs", "outputs")
        )
        self.size: int = about["size"]
        self._about, self._program, self._made, self._rebuild, self.real = about, program, made, rebuild, real
        self.dtype = np.dtype(float if real == "double" else np.float32)
        self._tables: list[ref[Table]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return self._rebuild

    @cached_property
    def loop(self) -> Compiled:
        """States across the lanes of vectors, any number of them: the inner loop of a gufunc."""
        return self._compiled("loop", machine.host().lanes * 8 // self.dtype.itemsize)

    @cached_property
    def one(self) -> Compiled:
        """One state, whose arrays are dense; all it reads of its arguments is `args`."""
        return self._compiled("one", 1)

    def _compiled(self, name: str, lanes: int) -> Compiled:
        def pack() -> bytes:
            from dalembert.native import emit  # what only compiling needs
            from dalembert.native.pieces import planned

            program, here = self._made or self._program(), machine.host()
            self._made = program if len(program.nodes) <= KEPT else None
            _compilable(program)
            plan = planned(program, lanes)
            if lanes == 1:
                text = emit.one(program, plan, self.real, here.lanes * 8 // self.dtype.itemsize)
            else:
                text = emit.loop(program, plan, self.real, lanes, here.processor)
            lent = json.dumps({"lent": plan.lent(lanes, self.dtype.itemsize)}).encode()
            return lent + b"\n" + machine.object_code(text, len(program.nodes))

        head, _, code = kept(f"{name} {self.real} {self._about['digest']}", pack).partition(b"\n")
        made = machine.Code(code)
        compiled = vars(self).setdefault(name, Compiled(made, made.address_of(name), json.loads(head)["lent"], self.dtype))
        for table in self._tables:
            _fill(table(), name, compiled)
        return compiled

    @cached_property
    def narrow(self) -> "Kernel":
        """The same program in float32."""
        return self if self.real == "float" else Kernel(self._about, self._program, (_narrow, self._rebuild), "float", self._made)

    def serve(self, table: Table) -> None:
        """Tell a fast path where the functions are, now or as soon as they are compiled."""
        table[WORD["most"]] = max(1, 2 * WORTH_A_THREAD // max(1, self.size))
        self._tables = [*(other for other in self._tables if other() is not None), ref(table)]
        for name in ("loop", "one"):
            if name in vars(self):
                _fill(table, name, vars(self)[name])

    @cached_property
    def _gufunc(self) -> Any:
        loop = self.loop
        shapes = [*((x,) for x in (loop.lent,) if x), *(v.shape for v in (*self.inputs, *self.outputs))]
        name = "_".join(v.name for v in self.outputs)
        return make_gufunc(loop.address, shapes, len(shapes) - len(self.outputs), name, self.dtype, owner=loop.code)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate; `out` is an array, or a tuple of arrays where there are several outputs. They may follow the inputs instead."""
        count = len(self.inputs)
        if out is None and len(arrays) == count + len(self.outputs):
            arrays, out = arrays[:count], arrays[count:] if len(self.outputs) > 1 else arrays[count]
        if len(arrays) != count:
            raise Error(f"{self!r} takes {count} arrays, got {len(arrays)}")
        if self.real == "double" and all(type(a) is np.ndarray and a.dtype == np.float32 for a in arrays):
            return self.narrow(*arrays, out=out)
        pairs = zip(arrays, self.inputs, strict=True)
        given = [a if type(a) is np.ndarray and a.dtype == self.dtype else self._converted(a, v.name) for a, v in pairs]
        shape = batch({v.name: v.batch(a) for a, v in zip(given, self.inputs, strict=True)}, "a kernel")
        if out is not None:
            targets(out, {v.name: (*shape, *v.shape) for v in self.outputs}, "a kernel")
        states = prod(shape)
        if states == 1:
            return self._alone(given, shape, out)
        if out is None and self.dtype.itemsize * states * max(v.size for v in self.outputs) >= recycle.LEAST:
            fresh = [recycle.empty((*shape, *v.shape), self.dtype) for v in self.outputs]
            out = tuple(fresh) if len(fresh) > 1 else fresh[0]
        if states * self.size >= 2 * WORTH_A_THREAD and (count := threads.get_threads()) > 1:
            return self._split(given, shape, min(count, states * self.size // WORTH_A_THREAD), out)
        return self.here(*given, out=out)

    def _converted(self, array: Any, name: str) -> Any:
        made = numbers(array, name)
        with np.errstate(over="ignore"):  # what float32 does not hold is infinite
            return made if made.dtype == self.dtype else made.astype(self.dtype)

    def here(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate a batch on this thread alone."""
        lent = self.loop.frame()
        return self._gufunc(*lent, *arrays) if out is None else self._gufunc(*lent, *arrays, out=out)

    def _alone(self, arrays: list[Any], batch: tuple[int, ...], out: Any) -> Any:
        """One state, of a batch with such axes."""
        lent, dense = self.one.frame(), [np.require(a, self.dtype, ("C", "A")) for a in arrays]
        results = [np.empty((*batch, *v.shape), self.dtype) for v in self.outputs]
        pointers = [a.ctypes.data for a in (*lent, *dense, *results)]
        _FUNCTION(self.one.address)((C.c_void_p * len(pointers))(*pointers), None, None, None)
        if out is not None:
            for target, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
                target[...] = result
            return out
        values = [x[()] for x in results]  # no axes: a number
        return tuple(values) if len(values) > 1 else values[0]

    def _split(self, arrays: list[Any], batch: tuple[int, ...], count: int, out: Any) -> Any:
        """Cut the batch into parts of whole vectors, one part a thread."""
        shapes = [(*batch, *v.shape) for v in self.outputs]
        parts = [np.empty(shape, self.dtype) for shape in shapes] if out is None else list(out) if isinstance(out, tuple) else [out]
        if out is not None and any(np.may_share_memory(t, a) for t in parts for a in arrays):
            return self.here(*arrays, out=out)  # numpy copies what overlaps within one call
        result = out if out is not None else parts[0] if len(parts) == 1 else tuple(parts)
        wide = [np.broadcast_to(a, (*batch, *v.shape)) for a, v in zip(arrays, self.inputs, strict=True)]
        if len(batch) > 1 and all(x.flags.c_contiguous for x in (*wide, *parts)):  # many short axes are one long one
            wide = [x.reshape(-1, *v.shape) for x, v in zip(wide, self.inputs, strict=True)]
            parts = [x.reshape(-1, *v.shape) for x, v in zip(parts, self.outputs, strict=True)]
            batch = (prod(batch),)
        axis = int(np.argmax(batch))
        length, step = batch[axis], machine.host().lanes * 8 // self.dtype.itemsize
        part = -(-length // (count * step)) * step

        def cut(array: Any, start: int) -> Any:
            return array[(slice(None),) * axis + (slice(start, start + part),)]

        def job(start: int) -> Callable[[], Any]:
            return lambda: self.here(*(cut(a, start) for a in wide), out=tuple(cut(t, start) for t in parts))

        threads.run([job(start) for start in range(0, length, part)])
        return result

    def __repr__(self) -> str:
        return f"<Kernel {signature(self.inputs, self.outputs)}: {self.size} nodes, {self.backend}>"


def _fill(table: Any, name: str, compiled: Compiled) -> None:
    """What the fast path calls; last, the address, since it may be waiting for it."""
    if table is not None:
        table[WORD[f"{name}_lent"]] = compiled.dtype.itemsize * compiled.lent
        table[WORD[name]] = compiled.address


def _narrow(rebuild: Callable[..., Kernel], arguments: tuple[Any, ...]) -> Kernel:
    return rebuild(*arguments).narrow


_FUNCTION = C.CFUNCTYPE(None, *[C.c_void_p] * 4)


def compile_program(program: Program) -> Kernel:
    """A program as native code behind a NumPy gufunc; compiled once per machine, kept on disk.

    >>> from dalembert.trace import trace
    >>> kernel = compile_program(trace(lambda a, b: a * b + 1, {"a": (2,), "b": (2,)}))
    >>> kernel([[1.0, 2.0], [3.0, 4.0]], [10.0, 100.0]).tolist()
    [[11.0, 201.0], [31.0, 401.0]]
    """
    instance(program, Program, "the program to compile")
    machine.host()  # or an ImportError, now rather than later
    kernel = _made.get(program.digest)
    if kernel is None:
        _compilable(program)
        kernel = _made.setdefault(program.digest, Kernel(_about(program), lambda: program, (compile_program, (program,))))
    return kernel


def build(key: str, program: Callable[[], Program], rebuild: tuple[Any, ...]) -> Kernel:
    """A kernel by the disk cache, where `key` names all that the program depends on (empty: unknown), or from the program itself.

    The entry of the key has the program's digest, and code is kept by the digest: equal programs share it, whatever they are
    made from, and a kernel that is there already needs no tracing.
    """
    machine.host()
    entry = look(key.encode())
    if entry is not None:
        return Kernel(json.loads(entry), program, rebuild)
    made = program()
    _compilable(made)
    keep(key.encode(), json.dumps(_about(made)).encode())
    return Kernel(_about(made), program, rebuild, made=made)


def _about(program: Program) -> dict[str, Any]:
    return {"digest": program.digest, "inputs": program.inputs, "outputs": program.outputs, "size": len(program.nodes)}


def _compilable(program: Program) -> None:
    """Refuse what no kernel can be, before any work is done."""
    variables = (*program.inputs, *program.outputs)
    scalars = sum(v.size for v in variables)
    if not program.inputs or not program.outputs or not all(v.size for v in variables):
        raise Error(f"a kernel needs inputs and outputs with at least one scalar each: {program.signature}; use replay")
    if scalars > MOST_SCALARS or len(variables) > MOST_ARRAYS:
        raise Error(f"a kernel has at most {MOST_SCALARS} scalars in {MOST_ARRAYS} arrays, not {scalars} in {len(variables)}")
    for node in program.nodes:
        if node[0] == "const":
            try:
                float(node[1])
            except (TypeError, OverflowError):
                raise Error(f"a kernel computes with doubles; the program has the constant {brief(node[1])}") from None
