"""Kernels: programs as native functions of arrays."""

import json
from collections.abc import Callable
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from dalembert import source
from dalembert.arguments import batch, instance, numbers, targets
from dalembert.errors import Error, brief
from dalembert.native import cache, direct, machine, threads
from dalembert.native.gufunc import make_gufunc
from dalembert.trace.program import Program, Variable, signature

WORTH_A_THREAD = 5_000_000  # nodes times states: about 0.2 ms of work, well above the cost of waking a thread
MOST_SCALARS = 16_384  # of all inputs and outputs together: a vector each in the frame
MOST_ARRAYS = 32
_made: WeakValueDictionary[str, "Kernel"] = WeakValueDictionary()


class Kernel:
    """A compiled program: call it with one array per input, leading axes broadcast; returns one array, or a tuple of them.

    It pickles: the other process rebuilds it, from its disk cache if it can.
    """

    backend = "native"

    def __init__(
        self, inputs: list[Variable], outputs: list[Variable], size: int, lent: int, code: bytes, rebuild: tuple[Any, ...]
    ) -> None:
        self.inputs, self.outputs, self.size = tuple(inputs), tuple(outputs), size
        self._lent, self._rebuild = lent, rebuild
        shapes = [*((x,) for x in (lent,) if x), *(v.shape for v in (*inputs, *outputs))]
        self.code = machine.Code(code)
        name = "_".join(v.name for v in outputs)
        self._gufunc = make_gufunc(self.code.address_of("loop"), shapes, len(shapes) - len(outputs), name, "", owner=self.code)
        self._table = direct.bind(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._rebuild

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate; `out` is an array, or a tuple of arrays where there are several outputs."""
        if len(arrays) != len(self.inputs):
            raise Error(f"{self!r} takes {len(self.inputs)} arrays, got {len(arrays)}")
        pairs = zip(arrays, self.inputs, strict=True)
        given = [a if type(a) is np.ndarray and a.dtype.char == "d" else numbers(a, v.name) for a, v in pairs]
        shape = batch({v.name: v.batch(a) for a, v in zip(given, self.inputs, strict=True)}, "a kernel")
        states = prod(shape)
        if out is not None:
            targets(out, {v.name: (*shape, *v.shape) for v in self.outputs}, "a kernel")
        if states * self.size >= 2 * WORTH_A_THREAD and (count := threads.get_threads()) > 1:
            return self._split(given, shape, min(count, states * self.size // WORTH_A_THREAD), out)
        return self.here(*given, out=out)

    def here(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate on this thread alone."""
        lent = self.frame()
        return self._gufunc(*lent, *arrays) if out is None else self._gufunc(*lent, *arrays, out=out)

    def frame(self) -> tuple[Any, ...]:
        """The memory that one call lends, as the first argument of the loop; nothing if the stack suffices."""
        return (np.empty(self._lent),) if self._lent else ()

    def _split(self, arrays: list[Any], batch: tuple[int, ...], count: int, out: Any) -> Any:
        """Cut the batch into parts of whole vectors, one part a thread."""
        shapes = [(*batch, *v.shape) for v in self.outputs]
        parts = [np.empty(shape) for shape in shapes] if out is None else list(out) if isinstance(out, tuple) else [out]
        if out is not None and any(np.may_share_memory(t, a) for t in parts for a in arrays):
            return self.here(*arrays, out=out)  # numpy copies what overlaps within one call
        result = out if out is not None else parts[0] if len(parts) == 1 else tuple(parts)
        wide = [np.broadcast_to(a, (*batch, *v.shape)) for a, v in zip(arrays, self.inputs, strict=True)]
        if len(batch) > 1 and all(x.flags.c_contiguous for x in (*wide, *parts)):  # many short axes are one long one
            wide = [x.reshape(-1, *v.shape) for x, v in zip(wide, self.inputs, strict=True)]
            parts = [x.reshape(-1, *v.shape) for x, v in zip(parts, self.outputs, strict=True)]
            batch = (prod(batch),)
        axis = int(np.argmax(batch))
        length, step = batch[axis], machine.host().lanes
        part = -(-length // (count * step)) * step

        def cut(array: Any, start: int) -> Any:
            return array[(slice(None),) * axis + (slice(start, start + part),)]

        def job(start: int) -> Callable[[], Any]:
            return lambda: self.here(*(cut(a, start) for a in wide), out=tuple(cut(t, start) for t in parts))

        threads.run([job(start) for start in range(0, length, part)])
        return result

    def __repr__(self) -> str:
        return f"<Kernel {signature(self.inputs, self.outputs)}: {self.size} nodes, {self.backend}>"


def compile_program(program: Program) -> Kernel:
    """A program as native vector code behind a NumPy gufunc; compiled once per machine, kept on disk.

    >>> from dalembert.trace import trace
    >>> kernel = compile_program(trace(lambda a, b: a * b + 1, {"a": (2,), "b": (2,)}))
    >>> kernel([[1.0, 2.0], [3.0, 4.0]], [10.0, 100.0]).tolist()
    [[11.0, 201.0], [31.0, 401.0]]
    """
    instance(program, Program, "the program to compile")
    kernel = _made.get(program.digest)
    if kernel is None:
        kernel = _unpack(_code(program), (compile_program, (program,)))
        kernel = _made.setdefault(program.digest, kernel)
    return kernel


def build(key: str, program: Callable[[], Program], rebuild: tuple[Any, ...]) -> Kernel:
    """A kernel from the disk cache, where `key` names all that the program depends on (empty: unknown), or from the program itself.

    The entry of the key is the program's digest, and the code is that of the digest: equal programs share it, whatever they are
    made from, and a kernel that is there already needs no tracing.
    """
    digest = cache.get(key.encode()) if key else None
    code_key = b"" if digest is None else _key(f"program {digest.decode()}")
    entry = cache.get(code_key) if code_key else None
    if entry is None:
        made = program()
        entry = _code(made)
        if key:
            _keep(key.encode(), made.digest.encode())
    return _unpack(entry, rebuild)


def _code(program: Program) -> bytes:
    """The code of a program, from the disk cache or made and kept there."""
    _compilable(program)
    return kept(f"program {program.digest}", lambda: _pack(program, machine.host()))


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What is made for this machine, from the disk cache or made and kept there; without source to name it by, always made."""
    key = _key(name)
    entry = cache.get(key) if key else None
    if entry is None:
        entry = make()
        if key:
            _keep(key, entry)
    return entry


def _keep(key: bytes, entry: bytes) -> None:
    if source.unchanged():  # modules may have been imported since the key was made
        cache.put(key, entry)


def _key(name: str) -> bytes:
    """What names the code of a program: with it, all that the code depends on. Empty if the source is unknown."""
    digest = source.digest("native", "trace")
    return "\n".join([digest, *map(str, machine.host()), name]).encode() if digest else b""


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


def _pack(program: Program, here: machine.Host) -> bytes:
    from dalembert.native.emit import emit  # what only compiling needs
    from dalembert.native.pieces import planned

    plan = planned(program)
    lent = plan.lent(here.lanes)
    code = machine.object_code(f"{emit(program, plan, here.lanes, here.processor)}\n{direct.emit(program, lent)}\n")
    about = {"inputs": program.inputs, "outputs": program.outputs, "size": len(program.nodes), "lent": lent}
    return json.dumps(about).encode() + b"\n" + code


def _unpack(entry: bytes, rebuild: tuple[Any, ...]) -> Kernel:
    head, _, code = entry.partition(b"\n")
    about = json.loads(head)
    inputs, outputs = ([Variable(name, tuple(shape)) for name, shape in about[side]] for side in ("inputs", "outputs"))
    return Kernel(inputs, outputs, about["size"], about["lent"], code, rebuild)
