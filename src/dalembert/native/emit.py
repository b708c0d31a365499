"""Programs as LLVM assembly: the inner loop of a NumPy gufunc, with as many states at a time as a vector has lanes.

The loop takes blocks of `lanes` states. It gathers the scalars of a block into the rows of a frame, a vector per input scalar, runs
the straight-line program on vectors, in pieces if it is long, and scatters the results. Past the end of the batch a lane repeats
the last state, so the same code handles body and tail, and a state gives the same bits alone as in a batch.

A program has one meaning: its operations are those of IEEE 754, each rounded once, and which product fuses with which sum is
decided here, by the program alone. So the bits of a result (which NaN aside) depend neither on the processor nor on the compiler.
"""

from collections.abc import Callable

from dalembert.native import sincos
from dalembert.native.assembly import Assembly
from dalembert.native.body import address, compute, room
from dalembert.native.pieces import Plan
from dalembert.trace.program import Program, Variable

UNROLLED = 64  # scalars of an array that are moved without a loop


# NaN and infinity are not reported: kernels leave the processor's exception flags, which NumPy reads, as they were
FLAGS = {
    "x86_64": (
        "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
        "  %flags = alloca i32, align 4\n  call void @llvm.x86.sse.stmxcsr(ptr %flags)",
        "  call void @llvm.x86.sse.ldmxcsr(ptr %flags)",
    ),
    "aarch64": (
        "declare i64 @llvm.aarch64.get.fpsr()\ndeclare void @llvm.aarch64.set.fpsr(i64)",
        "  %flags = call i64 @llvm.aarch64.get.fpsr()",
        "  call void @llvm.aarch64.set.fpsr(i64 %flags)",
    ),
}


def emit(program: Program, plan: Plan, lanes: int, processor: str = "") -> str:
    """Assembly of `void loop(char **args, intp *dims, intp *steps, void *data)`, which needs no data.

    Where the frame does not lie on the stack, the first argument lends it: an array of `plan.lent(lanes)` doubles.
    """
    e = Assembly(lanes)
    cut = len(plan.pieces) > 1
    for k, piece in enumerate(plan.pieces if cut else ()):
        e.line(f"define internal void @piece{k}(ptr noalias %rows) {{\nentry:\n{room(e, program, piece)}")
        compute(e, program, plan, piece)
        e.line("  ret void\n}")
    e.line("define void @loop(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr noalias %data) {\nentry:")
    e.line(f"{'' if cut else room(e, program, plan.pieces[0])}\n  %counter = alloca i64, align 8")
    arrays = _arrays(e, program, plan)
    e.line("  %N = load i64, ptr %dims, align 8\n  %any = icmp sgt i64 %N, 0\n  %last = sub i64 %N, 1")
    declared, save, restore = FLAGS.get(processor, ("", "", ""))
    e.line(save)
    e.line("  br i1 %any, label %block, label %end\nblock:\n  %first = phi i64 [0, %entry], [%next, %stored]")
    index = []
    for lane in range(lanes):
        i = e.op(f"add i64 %first, {lane}")
        index.append(e.op(f"call i64 @llvm.smin.i64(i64 {i}, i64 %last)"))
    for array in arrays:
        array.states = [e.op(f"getelementptr i8, ptr {array.base}, i64 {e.op(f'mul i64 {i}, {array.step}')}") for i in index]
    inputs = len(program.inputs)
    _either_layout(e, arrays[:inputs], _gather, _gather_rows, "loaded")
    if cut:
        for k in range(len(plan.pieces)):
            e.line(f"  call void @piece{k}(ptr %rows)")
    else:
        compute(e, program, plan, plan.pieces[0])
    _either_layout(e, arrays[inputs:], _scatter, _scatter_rows, "stored")
    e.line(f"  %next = add i64 %first, {lanes}\n  %more = icmp slt i64 %next, %N\n  br i1 %more, label %block, label %end")
    e.line(f"end:\n{restore}\n  ret void\n}}")
    declarations = ["declare i64 @llvm.smin.i64(i64, i64)", "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)", declared]
    return "\n".join([*declarations, *sincos.declarations(e), *e.lines, sincos.RARELY])


class _Array:
    """One argument of the loop: where its states are, and the strides of its core axes."""

    def __init__(self, variable: Variable, start: int, base: str, step: str, strides: list[str]) -> None:
        self.variable, self.start, self.base, self.step, self.strides = variable, start, base, step, strides
        self.states: list[str] = []


def _arrays(e: Assembly, program: Program, plan: Plan) -> list[_Array]:
    """The addresses and strides of all arguments; the frame, on the stack or lent as the first argument, is %rows from here on."""
    variables, first = (*program.inputs, *program.outputs), 0
    arrays: list[_Array] = []
    if plan.lent(e.lanes):
        first = 1
        beyond = e.op(f"getelementptr i8, ptr {e.op('load ptr, ptr %args, align 8')}, i64 {8 * e.lanes - 1}")
        e.line(f"  %rows = call ptr @llvm.ptrmask.p0.i64(ptr {beyond}, i64 {-8 * e.lanes})")
    else:
        e.line(f"  %rows = alloca [{plan.rows} x {e.vector}], align {8 * e.lanes}")
    start, core = 0, len(variables) + 2 * first
    for j, variable in enumerate(variables, first):
        base = e.op(f"load ptr, ptr {e.op(f'getelementptr ptr, ptr %args, i64 {j}')}, align 8")
        step = e.op(f"load i64, ptr {e.op(f'getelementptr i64, ptr %steps, i64 {j}')}, align 8")
        strides: list[str] = []
        for _ in variable.shape:
            strides.append(e.op(f"load i64, ptr {e.op(f'getelementptr i64, ptr %steps, i64 {core}')}, align 8"))
            core += 1
        arrays.append(_Array(variable, start, base, step, strides))
        start += variable.size
    return arrays


def _either_layout(e: Assembly, arrays: list[_Array], any_layout: Callable, dense_layout: Callable, done: str) -> None:
    """Move a block by vectors where the core axes are contiguous, else scalar by scalar."""
    dense = "true"
    for array in arrays:
        wanted = 8
        for stride, length in zip(reversed(array.strides), reversed(array.variable.shape), strict=True):
            if length > 1:
                dense = e.op(f"and i1 {dense}, {e.op(f'icmp eq i64 {stride}, {wanted}')}")
            wanted *= length
    fast, slow = e.label(), e.label()
    e.line(f"  br i1 {dense}, label %{fast}, label %{slow}")
    for label, move in ((fast, dense_layout), (slow, any_layout)):
        e.line(f"{label}:")
        for array in arrays:
            move(e, array)
        e.line(f"  br label %{done}")
    e.line(f"{done}:")


def _repeat(e: Assembly, count: int, unrolled: bool, body: Callable[[str], None]) -> None:
    """The body for each index from 0: written out, or as a loop, so that large arrays do not make large code."""
    if unrolled:
        for k in range(count):
            body(str(k))
        return
    again, after = e.label(), e.label()
    e.line(f"  store i64 0, ptr %counter, align 8\n  br label %{again}\n{again}:")
    k = e.op("load i64, ptr %counter, align 8")
    body(k)
    following = e.op(f"add i64 {k}, 1")
    e.line(f"  store i64 {following}, ptr %counter, align 8")
    e.line(f"  br i1 {e.op(f'icmp slt i64 {following}, {count}')}, label %{again}, label %{after}\n{after}:")


def _offset(e: Assembly, array: _Array, k: str) -> str:
    """The distance in bytes of scalar k (row-major) from the start of its state."""
    offset, rest = "0", k
    for stride, length in zip(reversed(array.strides), reversed(array.variable.shape), strict=True):
        index = e.op(f"urem i64 {rest}, {length}")
        rest = e.op(f"udiv i64 {rest}, {length}")
        offset = e.op(f"add i64 {offset}, {e.op(f'mul i64 {stride}, {index}')}")
    return offset


def _gather(e: Assembly, array: _Array) -> None:
    def scalar(k: str) -> None:
        offset, vector = _offset(e, array, k), "poison"
        for lane, state in enumerate(array.states):
            x = e.op(f"load double, ptr {e.op(f'getelementptr i8, ptr {state}, i64 {offset}')}, align 8")
            vector = e.op(f"insertelement {e.vector} {vector}, double {x}, i32 {lane}")
        e.line(f"  store {e.vector} {vector}, ptr {address(e, array.start, k)}, align {8 * e.lanes}")

    _repeat(e, array.variable.size, array.variable.size < e.lanes, scalar)


def _scatter(e: Assembly, array: _Array) -> None:
    def scalar(k: str) -> None:
        vector = e.op(f"load {e.vector}, ptr {address(e, array.start, k)}, align {8 * e.lanes}")
        offset = _offset(e, array, k)
        for lane, state in enumerate(array.states):
            x = e.op(f"extractelement {e.vector} {vector}, i32 {lane}")
            e.line(f"  store double {x}, ptr {e.op(f'getelementptr i8, ptr {state}, i64 {offset}')}, align 8")

    _repeat(e, array.variable.size, array.variable.size < e.lanes, scalar)


def _by_groups(e: Assembly, array: _Array, group: Callable[[str], None]) -> None:
    """Groups of scalars as long as a vector, by their first one; the last group may overlap its neighbour."""
    size = array.variable.size

    def at(k: str) -> None:
        group(e.op(f"call i64 @llvm.smin.i64(i64 {e.op(f'mul i64 {k}, {e.lanes}')}, i64 {size - e.lanes})"))

    _repeat(e, -(-size // e.lanes), size <= UNROLLED, at)


def _gather_rows(e: Assembly, array: _Array) -> None:
    if array.variable.size < e.lanes:
        return _gather(e, array)

    def group(first: str) -> None:
        places = [e.op(f"getelementptr double, ptr {state}, i64 {first}") for state in array.states]
        states = [e.op(f"load {e.vector}, ptr {place}, align 8") for place in places]
        for j, row in enumerate(_transposed(e, states)):
            e.line(f"  store {e.vector} {row}, ptr {address(e, array.start + j, first)}, align {8 * e.lanes}")

    _by_groups(e, array, group)


def _scatter_rows(e: Assembly, array: _Array) -> None:
    if array.variable.size < e.lanes:
        return _scatter(e, array)

    def group(first: str) -> None:
        rows = [e.op(f"load {e.vector}, ptr {address(e, array.start + j, first)}, align {8 * e.lanes}") for j in range(e.lanes)]
        for state, vector in zip(array.states, _transposed(e, rows), strict=True):
            e.line(f"  store {e.vector} {vector}, ptr {e.op(f'getelementptr double, ptr {state}, i64 {first}')}, align 8")

    _by_groups(e, array, group)


def _transposed(e: Assembly, rows: list[str]) -> list[str]:
    """A square of vectors with rows and columns exchanged, by butterflies of shuffles."""
    n, s = e.lanes, 1
    while s < n:
        low = ", ".join(f"i32 {k if not k & s else k - s + n}" for k in range(n))
        high = ", ".join(f"i32 {k + s if not k & s else k + n}" for k in range(n))
        for i in range(n):
            if not i & s:
                a, b = rows[i], rows[i + s]
                pair = f"shufflevector {e.vector} {a}, {e.vector} {b}, <{n} x i32>"
                rows[i], rows[i + s] = e.op(f"{pair} <{low}>"), e.op(f"{pair} <{high}>")
        s *= 2
    return rows
