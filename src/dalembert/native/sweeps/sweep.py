"""Sweeps: states from their numbers, a program, and reductions in one native function; nothing as long as a sweep is in memory."""

import ctypes as C  # noqa: N812
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dalembert.native import huge, machine, sincos
from dalembert.native.assembly import CONSTANTS, Assembly
from dalembert.native.body import compute, room
from dalembert.native.kept import kept
from dalembert.native.pieces import Plan, Write, computed, planned
from dalembert.native.sweeps import plain
from dalembert.native.sweeps.drawn import Emitted, Inputs, spread
from dalembert.native.sweeps.reductions import CLASSES, Memory, Reducer, Reductions, memory
from dalembert.native.sweeps.totals import Totals, gathered
from dalembert.trace.program import Program

LEAF = 1 << 18  # states whose sums are added up in one go, and exactly from there on
SIGNATURE = "(i64 %first, i64 %blocks, i64 %end, ptr noalias %arguments)"
ARRAYS = ("table", "kept", "histogram", "envelope", "frame")


@dataclass(frozen=True)
class Job:
    """A sweep as data that travel: what varies, what is computed, what is kept of it."""

    program: Program
    inputs: Inputs
    reductions: Reductions
    scales: Any  # (8, r), see SCALES
    samples: int
    backend: str = "native"  # or "numpy"

    @property
    def leaves(self) -> int:
        """In how many parts it is done; any number of them, in any order, make a task."""
        return -(-self.samples // LEAF)

    def bounds(self, leaf: int) -> tuple[int, int]:
        """The numbers of the first state of a leaf, and of that behind its last."""
        return leaf * LEAF, min((leaf + 1) * LEAF, self.samples)

    @property
    def kernel(self) -> Any:
        """What computes the results of some states again."""
        from dalembert.native.kernel import compile_program
        from dalembert.trace.source import NumpyKernel

        return compile_program(self.program) if self.backend == "native" else NumpyKernel(self.program)

    def run(self, leaves: Sequence[int], stop: Callable[[], bool] = lambda: False) -> tuple[Totals, list[int]]:
        """The totals of some leaves, and which of them were done until `stop()`."""
        made = memory(self.reductions, len(self.program.results))
        call, lanes = self._bound(made)
        total, done = Totals.empty(self.reductions, len(self.program.results)), list[int]()
        for leaf in leaves:
            if stop():
                break
            first, end = self.bounds(leaf)
            blocks = -(-(end - first) // CLASSES) * CLASSES // lanes
            call(first, blocks, end)
            total.harvest(made, end - first, blocks * lanes - (end - first), lambda o, a=first, b=end: self.first_nan(o, a, b))
            done.append(leaf)
        return total + gathered(made), done

    def _bound(self, made: Memory) -> tuple[Callable[[int, int, int], None], int]:
        if self.backend == "numpy":
            kernel = self.kernel
            return plain.bound(lambda states: evaluated(kernel, states), self.inputs, self.reductions, self.scales, made), CLASSES
        native = compiled(self.program, self.inputs.kinds, self.reductions)
        return native.bound(np.concatenate([self.inputs.table.view(float).ravel(), self.scales.ravel()]), made), native.lanes

    def first_nan(self, result: int, first: int, end: int) -> int:
        """The number of the first state in a range whose result is NaN."""
        values = self.values(np.arange(first, end))[:, result]
        return first + int(np.argmax(np.isnan(values)))

    def values(self, index: Any) -> Any:
        """The results (..., r) of some states, computed again."""
        return self.values_of(self.inputs.states(index))

    def values_of(self, states: Any) -> Any:
        """The results (..., r) of states (..., m)."""
        return evaluated(self.kernel, states)


def evaluated(kernel: Any, states: Any) -> Any:
    """Results (..., r) of states (..., m), by a kernel of the program."""
    inputs = kernel.inputs
    ends = np.cumsum([0, *(v.size for v in inputs)])
    lead = states.shape[:-1]
    given = [states[..., a:b].reshape((*lead, *v.shape)) for a, b, v in zip(ends, ends[1:], inputs, strict=False)]
    found = kernel(*given)
    outputs = found if isinstance(found, tuple) else (found,)
    return np.concatenate([np.reshape(x, (*lead, -1)) for x in outputs], axis=-1)


class Compiled:
    """The native function of a sweep, by way of the disk cache."""

    def __init__(self, program: Program, kinds: str, reductions: Reductions) -> None:
        self.lanes = machine.host().lanes
        self.rows = 0 if (plan := planned(program, 1)).whole else plan.rows + len(program.results)
        name = f"sweep {kinds} {tuple(reductions)} {program.digest}"
        text = lambda: machine.object_code(assembly(program, plan, kinds, reductions, self.lanes), len(program.nodes))  # noqa: E731
        self.code = machine.Code(kept(name, text))
        self.function = C.CFUNCTYPE(None, *[C.c_int64] * 3, C.c_void_p)(self.code.address_of("sweep"))

    def bound(self, table: Any, made: Any) -> Callable[[int, int, int], None]:
        """The function of (first, blocks, end) that reads this table and adds to this memory."""
        frame = np.empty((self.rows + 1) * self.lanes)
        start = -(frame.ctypes.data // 8) % self.lanes
        arrays = (table, *made, frame[start:])
        pointers = (C.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))

        def call(first: int, blocks: int, end: int, held: Any = arrays) -> None:
            self.function(first, blocks, end, pointers)

        return call


@lru_cache(maxsize=64)
def compiled(program: Program, kinds: str, reductions: Reductions) -> Compiled:
    """The native function, made once in a process."""
    return Compiled(program, kinds, reductions)


class _Streaming:
    """The places of a program that is not cut: inputs are made where they are first used, results reduced as they come."""

    def __init__(self, program: Program, inputs: Emitted, reducer: Reducer) -> None:
        self.program, self.inputs, self.reducer = program, inputs, reducer

    def load(self, i: int) -> str:
        return self.inputs.value(_scalar(self.program, i))

    def keep(self, i: int, value: str) -> None:
        """There are no later pieces."""

    def write(self, write: Write, values: Sequence[str]) -> None:
        self.reducer.reduce(_result(self.program, write), values[0])


class _Framed:
    """The places of a piece: rows of a frame, in which inputs lie already, and into which results go."""

    def __init__(self, e: Assembly, program: Program, plan: Plan) -> None:
        self.e, self.program, self.plan = e, program, plan

    def load(self, i: int) -> str:
        return self.e.load(self.e.at("%frame", self.plan.place[i], self.e.vector))

    def keep(self, i: int, value: str) -> None:
        self.e.store(value, self.e.at("%frame", self.plan.place[i], self.e.vector))

    def write(self, write: Write, values: Sequence[str]) -> None:
        row = self.plan.rows + _result(self.program, write)
        self.e.store(values[0], self.e.at("%frame", row, self.e.vector))


def _scalar(program: Program, i: int) -> int:
    _, array, scalar = program.nodes[i]
    return sum(v.size for v in program.inputs[:array]) + scalar


def _result(program: Program, write: Write) -> int:
    return sum(v.size for v in program.outputs[: write.array - len(program.inputs)]) + write.first


def assembly(program: Program, plan: Plan, kinds: str, reductions: Reductions, lanes: int) -> str:
    """`void sweep(first, blocks, end, arrays)`: so many blocks of states from the first on; those from `end` on do not count."""
    e = Assembly("double", lanes)
    inputs = Emitted(e, kinds)
    reducer = Reducer(e, reductions, inputs, len(program.results))
    for k, piece in enumerate(() if plan.whole else plan.pieces):
        e.line(f"define internal void @piece{k}(ptr noalias %frame) {{\nentry:\n{CONSTANTS}\n{room(e, program, piece)}")
        compute(e, program, plan, piece, _Framed(e, program, plan))
        e.line("  ret void\n}")
    _begin(e, program, plan)
    if plan.whole:
        compute(e, program, plan, plan.pieces[0], _Streaming(program, inputs, reducer))
    else:
        for i in dict.fromkeys(i for i, node in enumerate(program.nodes) if node[0] == "input"):
            e.store(inputs.value(_scalar(program, i)), e.at("%frame", plan.place[i], e.vector))
        for k in range(len(plan.pieces)):
            e.line(f"  call void @piece{k}(ptr %frame)")
        for o in range(len(program.results)):
            reducer.reduce(o, e.load(e.at("%frame", plan.rows + o, e.vector)))
    reducer.end()
    e.line("  br label %stored\nstored:\n  %next = add i64 %block, 1\n  %more = icmp slt i64 %next, %blocks")
    e.line("  br i1 %more, label %again, label %done\ndone:\n  ret void\n}")
    kinds_of = [Assembly("double", 1), Assembly("double", lanes)]
    declared = [line for kind in kinds_of for line in kind.declarations()]
    declared += [f"declare {e.vector} @llvm.floor.{e.suffix}({e.vector})"]
    return "\n".join([*dict.fromkeys(declared), huge.ASSEMBLY, *e.module(), sincos.RARELY])


def _begin(e: Assembly, program: Program, plan: Plan) -> None:
    """The function up to the loop, and what each block begins with: %where and %partial."""
    angles = room(e, program, list(computed(plan.pieces[0]))) if plan.whole else ""
    e.line(f"define void @sweep{SIGNATURE} {{\nentry:\n{CONSTANTS}\n{angles}")
    e.line(f"  %indices = alloca [{e.lanes} x i32], align 4\n  %spilled = alloca {e.vector}, align {e.size}")
    e.line(f"  %numbers = alloca {e.integers}, align {e.size}")
    for k, name in enumerate(ARRAYS):
        target = f"%{name}" if name != "kept" else "%all"
        e.line(f"  %at_{name} = getelementptr ptr, ptr %arguments, i64 {k}\n  {target} = load ptr, ptr %at_{name}, align 8")
    e.line("  %any = icmp sgt i64 %blocks, 0\n  br i1 %any, label %again, label %done\nagain:")
    e.line(f"  %block = phi i64 [0, %entry], [%next, %stored]\n  %so_far = mul i64 %block, {e.lanes}")
    e.line(f"  %number = add i64 %so_far, %first\n  %class = and i64 %so_far, {CLASSES - 1}")
    e.line("  %kept = getelementptr double, ptr %all, i64 %class")
    lanes = ", ".join(f"i64 {k}" for k in range(e.lanes))
    e.line(f"  %where = add {e.integers} {spread(e, e.integers, 'i64', '%number')}, <{lanes}>")
    e.line(f"  %behind = add i64 %number, {e.lanes}\n  %partial = icmp sgt i64 %behind, %end")
