"""Programs as LLVM assembly: the inner loop of a NumPy gufunc, with as many states at a time as a vector has lanes, and one state.

The loop takes blocks of `lanes` states, runs the straight-line program on vectors, in pieces if it is long, and goes on. A block
that is not dense (an array with strides within a state, or the end of the batch, where the last state is repeated) is made so in
a pad, so that one code serves all. One state alone is computed with plain doubles, but for sines and cosines.

A program has one meaning: its operations are those of IEEE 754, each rounded once, and which product fuses with which sum is
decided here, by the program alone. So the bits of a result (which NaN aside) depend neither on the processor nor on the compiler,
and a state gives the same alone as in a batch.
"""

from dalembert.native import huge, sincos
from dalembert.native.assembly import CONSTANTS, Assembly
from dalembert.native.body import compute, room
from dalembert.native.movement import MOVE, Lanes, Rows, Single, apart, gathered
from dalembert.native.pieces import Plan
from dalembert.trace.program import Program

SIGNATURE = "(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr noalias %data)"

FAR = 16 << 20  # bytes of results that no cache holds
LINE = 64  # bytes of a line of the cache

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


def loop(program: Program, plan: Plan, real: str, lanes: int, processor: str = "") -> str:
    """Assembly of `void loop(char **args, intp *dims, intp *steps, void *data)`, which needs no data.

    Where the frame does not lie on the stack, the first argument lends it: an array of `plan.lent(lanes, bytes)` numbers.
    """
    e = Assembly(real, lanes)
    T, variables, inputs = e.vector, (*program.inputs, *program.outputs), len(program.inputs)
    for k, piece in enumerate(() if plan.whole else plan.pieces):
        e.line(f"define internal void @piece{k}(ptr noalias %rows, ptr noalias %states) {{\nentry:\n{CONSTANTS}")
        e.line(room(e, program, piece))
        compute(e, program, plan, piece, Rows(e, program, plan))
        e.line("  ret void\n}")
    shapes = [f"@shape{j} = internal constant [{len(v.shape) or 1} x i64] [{_shape(v.shape)}]" for j, v in enumerate(variables)]
    e.line(f"define void @loop{SIGNATURE} {{\nentry:\n{CONSTANTS}\n{room(e, program, plan.pieces[0]) if plan.whole else ''}")
    e.line(f"  %counter = alloca i64, align 8\n  %states = alloca [{2 * len(program.outputs)} x i64], align 8")
    _frame(e, plan)
    bases, steps, strides = _arguments(e, program, bool(plan.lent(lanes, e.bytes)))
    declared, save, restore = FLAGS.get(processor, ("", "", ""))
    e.line(f"{save}\n  %N = load i64, ptr %dims, align 8\n  %any = icmp sgt i64 %N, 0\n  %last = sub i64 %N, 1")
    dense = _dense(e, program, strides)
    starts = [sum(v.size for v in variables[:j]) for j in range(len(variables))]
    pads = [e.at("%rows", start + (0 if plan.whole else plan.rows), T) for start in starts]
    e.line("  br i1 %any, label %block, label %end\nblock:\n  %first = phi i64 [0, %entry], [%next, %stored]")
    e.line(f"  %rest = sub i64 %N, %first\n  %full = icmp sge i64 %rest, {lanes}\n  %plain = and i1 %full, {dense}")
    e.line("  br i1 %plain, label %fast, label %slow\nfast:")
    direct = [e.op(f"getelementptr i8, ptr {b}, i64 {e.op(f'mul i64 %first, {s}')}") for b, s in zip(bases, steps, strict=True)]
    _prefetch(e, program, direct[inputs:], steps[inputs:])
    e.line("  br label %body\nslow:")

    def move(j: int, out: bool, count: str) -> None:
        v, easy, begin = (
            variables[j],
            dense if variables[j].shape else "true",
            e.op(f"getelementptr i64, ptr %steps, i64 {strides[j]}"),
        )
        what = f"i1 {str(out).lower()}, ptr {pads[j]}, ptr {bases[j]}, i64 %first, i64 %last, i64 {steps[j]}, i64 {count}"
        e.line(f"  call void @move({what}, i1 {easy}, i64 {v.size}, i64 {len(v.shape)}, ptr @shape{j}, ptr {begin})")

    for j in range(inputs):
        move(j, False, str(lanes))
    e.line("  br label %body\nbody:")
    at = [e.op(f"phi ptr [{a}, %ready], [{b}, %slow]") for a, b in zip(direct, pads, strict=True)]
    between = [e.op(f"phi i64 [{s}, %ready], [{e.bytes * v.size}, %slow]") for s, v in zip(steps, variables, strict=True)]
    if plan.whole:
        states = [apart(e, a, s) for a, s in zip(at, between, strict=True)]
        compute(e, program, plan, plan.pieces[0], Lanes(e, program, states))
    else:
        for j in range(inputs):
            gathered(e, variables[j], starts[j], apart(e, at[j], between[j]))
        for k, (a, s) in enumerate(zip(at[inputs:], between[inputs:], strict=True)):
            e.line(
                f"  store ptr {a}, ptr {e.at('%states', 2 * k, 'i64')}\n  store i64 {s}, ptr {e.at('%states', 2 * k + 1, 'i64')}"
            )
        for k in range(len(plan.pieces)):
            e.line(f"  call void @piece{k}(ptr %rows, ptr %states)")
    e.line("  br i1 %plain, label %stored, label %back\nback:")
    count = e.op(f"call i64 @llvm.smin.i64(i64 %rest, i64 {lanes})")
    for j in range(inputs, len(variables)):
        move(j, True, count)
    e.line(f"  br label %stored\nstored:\n  %next = add i64 %first, {lanes}\n  %more = icmp slt i64 %next, %N")
    e.line(f"  br i1 %more, label %block, label %end\nend:\n{restore}\n  ret void\n}}")
    move_states = MOVE.replace("REAL", real).replace("SIZE", str(e.bytes))
    masked = f"declare {T} @llvm.masked.load.{e.suffix}.p0(ptr, i32, {e.bits}, {T})"
    return "\n".join([*_declarations(e), masked, declared, *shapes, move_states, *e.module(), sincos.RARELY])


def one(program: Program, plan: Plan, real: str, lanes: int) -> str:
    """Assembly of `void one(char **args, intp *dims, intp *steps, void *data)`: one state, whose arrays are dense.

    The first argument lends `plan.lent(1, bytes of a number)` numbers, if any; nothing is read of the others but `args`.
    """
    e = Assembly(real, 1, lanes)
    lent = bool(plan.lent(1, e.bytes))

    def arrays(j: int) -> str:
        if j not in known:
            known[j] = e.op(f"load ptr, ptr {e.at('%args', j + lent, 'ptr')}, align 8")
        return known[j]

    known: dict[int, str] = {}
    if plan.whole:
        e.line(f"define void @one{SIGNATURE} {{\nentry:\n{CONSTANTS}\n{room(e, program, plan.pieces[0])}")
        for j in range(len(program.inputs) + len(program.outputs)):
            arrays(j)
        compute(e, program, plan, plan.pieces[0], Single(e, program, plan, arrays))
    else:
        for k, piece in enumerate(plan.pieces):
            known = {}
            e.line(f"define internal void @piece{k}(ptr noalias %rows, ptr noalias %args) {{\nentry:\n{CONSTANTS}")
            e.line(room(e, program, piece))
            compute(e, program, plan, piece, Single(e, program, plan, arrays))
            e.line("  ret void\n}")
        known = {}
        e.line(f"define void @one{SIGNATURE} {{\nentry:")
        _frame(e, plan)
        start = 0
        for j, v in enumerate(program.inputs):
            e.line(
                f"  call void @llvm.memcpy.p0.p0.i64(ptr {e.at('%rows', start)}, ptr {arrays(j)}, i64 {e.bytes * v.size}, i1 false)"
            )
            start += v.size
        for k in range(len(plan.pieces)):
            e.line(f"  call void @piece{k}(ptr %rows, ptr %args)")
    e.line("  ret void\n}")
    copy = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    return "\n".join([*_declarations(e), copy, *e.module(), sincos.RARELY])


def _declarations(e: Assembly) -> list[str]:
    """Intrinsic functions, and those for huge angles, which need doubles."""
    kinds = [Assembly(e.real, 1), Assembly(e.real, e.widest), Assembly("double", 1)]
    lines = [line for kind in kinds for line in kind.declarations()]
    lines += ["declare i64 @llvm.smin.i64(i64, i64)", "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"]
    lines += ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"]
    return [*dict.fromkeys(lines), huge.ASSEMBLY, huge.FLOATS if e.real == "float" else ""]


def _frame(e: Assembly, plan: Plan) -> None:
    """The frame, on the stack or lent as the first argument, is %rows from here on."""
    size = e.size
    if plan.lent(e.lanes, e.bytes):
        beyond = e.op(f"getelementptr i8, ptr {e.op('load ptr, ptr %args, align 8')}, i64 {size - 1}")
        e.line(f"  %rows = call ptr @llvm.ptrmask.p0.i64(ptr {beyond}, i64 {-size})")
    else:
        e.line(f"  %rows = alloca [{plan.memory(e.lanes)} x {e.vector}], align {size}")


def _arguments(e: Assembly, program: Program, lent: bool) -> tuple[list[str], list[str], list[int]]:
    """The addresses of all arrays, the steps from state to state, and where among %steps their strides begin."""
    variables = (*program.inputs, *program.outputs)
    bases = [e.op(f"load ptr, ptr {e.at('%args', j, 'ptr')}, align 8") for j in range(lent, len(variables) + lent)]
    steps = [e.op(f"load i64, ptr {e.at('%steps', j, 'i64')}, align 8") for j in range(lent, len(variables) + lent)]
    core = len(variables) + 2 * lent
    return bases, steps, [core + sum(len(v.shape) for v in variables[:j]) for j in range(len(variables))]


def _dense(e: Assembly, program: Program, strides: list[int]) -> str:
    """Whether the scalars of each state lie one after the other, in all arrays."""
    dense = "true"
    for variable, begin in zip((*program.inputs, *program.outputs), strides, strict=True):
        wanted = e.bytes
        for axis in reversed(range(len(variable.shape))):
            if variable.shape[axis] > 1:
                stride = e.op(f"load i64, ptr {e.at('%steps', begin + axis, 'i64')}, align 8")
                dense = e.op(f"and i1 {dense}, {e.op(f'icmp eq i64 {stride}, {wanted}')}")
            wanted *= variable.shape[axis]
    return dense


def _prefetch(e: Assembly, program: Program, states: list[str], steps: list[str]) -> None:
    """Ask for the memory of the next block's results where they are too many for the cache, while this block is computed.

    Results are written here and there in a block, which no processor foresees; without this, writing waits for memory.
    """
    size = sum(v.size for v in program.outputs) * e.bytes
    e.line(f"  %far = icmp sgt i64 %N, {FAR // size}\n  br i1 %far, label %ahead, label %ready\nahead:")
    for variable, state, step in zip(program.outputs, states, steps, strict=True):
        before, again, after = e.label(), e.label(), e.label()
        start = e.op(f"mul i64 {step}, {e.lanes}")
        e.line(f"  br label %{before}\n{before}:\n  br label %{again}\n{again}:")
        k, following = e.op(f"phi i64 [0, %{before}], [%{again}next, %{again}]"), f"%{again}next"
        place = e.op(f"getelementptr i8, ptr {state}, i64 {e.op(f'add i64 {start}, {k}')}")
        e.line(f"  call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 1, i32 1)\n  {following} = add i64 {k}, {LINE}")
        more = e.op(f"icmp slt i64 {following}, {variable.size * e.bytes * e.lanes}")
        e.line(f"  br i1 {more}, label %{again}, label %{after}\n{after}:")
    e.line("  br label %ready\nready:")


def _shape(shape: tuple[int, ...]) -> str:
    return ", ".join(f"i64 {d}" for d in shape or (1,))
