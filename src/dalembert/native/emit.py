"""Programs as LLVM assembly: the inner loop of a NumPy gufunc, with as many states at a time as a vector has lanes, and one state.

The loop takes blocks of `lanes` states, runs the straight-line program on vectors, in pieces if it is long, and goes on. A block
that is not dense (an array with strides within a state, or the end of the batch, where the last state is repeated) is made so in
a pad, so that one code serves all. One state alone is computed with plain doubles, but for sines and cosines.

A program has one meaning: its operations are those of IEEE 754, each rounded once, and which product fuses with which sum is
decided here, by the program alone. So the bits of a result (which NaN aside) depend neither on the processor nor on the compiler,
and a state gives the same alone as in a batch.
"""

from typing import NamedTuple

from dalembert.native import huge, sincos
from dalembert.native.assembly import CONSTANTS, Assembly
from dalembert.native.body import compute, room
from dalembert.native.movement import Lanes, Rows, Single, apart, functions, gathered
from dalembert.native.pieces import Plan
from dalembert.trace.program import Program, Variable

SIGNATURE = "(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr noalias %data)"

FAR = 16 << 20  # bytes of results that no cache holds
MANY = 1 << 20  # bytes of inputs that the nearest caches do not hold: blocks are asked for ahead
AHEAD = 2  # blocks
LINE = 64  # bytes
MOST_LINES = 64  # of a block

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
    variables = (*program.inputs, *program.outputs)
    for k, piece in enumerate(() if plan.whole else plan.pieces):
        e.line(f"define internal void @piece{k}(ptr noalias %rows, ptr noalias %states) {{\nentry:\n{CONSTANTS}")
        e.line(room(e, program, piece))
        compute(e, program, plan, piece, Rows(e, program, plan))
        e.line("  ret void\n}")
    e.line(f"define void @loop{SIGNATURE} {{\nentry:\n{CONSTANTS}\n{room(e, program, plan.pieces[0]) if plan.whole else ''}")
    e.line(f"  %counter = alloca i64, align 8\n  %states = alloca [{2 * len(program.outputs)} x i64], align 8")
    _frame(e, plan)
    declared, save, restore = FLAGS.get(processor, ("", "", ""))
    e.line(f"{save}\n  %N = load i64, ptr %dims, align 8\n  %any = icmp sgt i64 %N, 0\n  %last = sub i64 %N, 1")
    arrays = _arrays(e, program, plan)
    e.line("  br i1 %any, label %block, label %end\nblock:\n  %first = phi i64 [0, %entry], [%next, %stored]")
    block = _block(e, program, arrays)
    if plan.whole:
        compute(e, program, plan, plan.pieces[0], Lanes(e, program, [apart(e, *states) for states in block]))
    else:
        _in_pieces(e, program, plan, block)
    _results(e, program, arrays)
    e.line(f"  %next = add i64 %first, {lanes}\n  %more = icmp slt i64 %next, %N\n  br i1 %more, label %block, label %ended")
    # what went past the cache must be there for all before they are told
    e.line(f"ended:\n  br i1 {arrays.far}, label %order, label %end\norder:\n  fence seq_cst\n  br label %end")
    e.line(f"end:\n{restore}\n  ret void\n}}")
    shapes = [f"@shape{j} = internal constant [{len(v.shape) or 1} x i64] [{_shape(v.shape)}]" for j, v in enumerate(variables)]
    masked = f"declare {e.vector} @llvm.masked.load.{e.suffix}.p0(ptr, i32, {e.bits}, {e.vector})"
    return "\n".join([*_declarations(e), masked, declared, *shapes, functions(e), *e.module(), sincos.RARELY])


class Arrays(NamedTuple):
    """Of all inputs, then all outputs: what is known of them before the first block."""

    bases: list[str]
    steps: list[str]  # from state to state
    strides: list[int]  # where among %steps those within a state begin
    pads: list[str]  # room in the frame to make a block dense
    dense: str  # whether the scalars of a state lie one after the other, in all of them
    far: str  # whether results are too many for the cache
    many: str  # whether inputs are


def _arrays(e: Assembly, program: Program, plan: Plan) -> Arrays:
    variables, lent = (*program.inputs, *program.outputs), bool(plan.lent(e.lanes, e.bytes))
    bases = [e.op(f"load ptr, ptr {e.at('%args', j, 'ptr')}, align 8") for j in range(lent, len(variables) + lent)]
    steps = [e.op(f"load i64, ptr {e.at('%steps', j, 'i64')}, align 8") for j in range(lent, len(variables) + lent)]
    core = len(variables) + 2 * lent
    strides = [core + sum(len(v.shape) for v in variables[:j]) for j in range(len(variables))]
    starts = [sum(v.size for v in variables[:j]) for j in range(len(variables))]
    pads = [e.at("%rows", start + (0 if plan.whole else plan.rows), e.vector) for start in starts]
    far = _far(e, program, steps[len(program.inputs) :])
    many = e.op(f"icmp sgt i64 %N, {MANY // (sum(v.size for v in program.inputs) * e.bytes)}")
    return Arrays(bases, steps, strides, pads, _dense(e, program, strides), far, many)


def _block(e: Assembly, program: Program, arrays: Arrays) -> list[tuple[str, str]]:
    """The first address and the step of each array's states in the block of %first: where they are, or in a pad.

    Inputs are in a pad if the block is not dense; results also if they go far.
    """
    variables, inputs = (*program.inputs, *program.outputs), len(program.inputs)
    e.line(f"  %rest = sub i64 %N, %first\n  %full = icmp sge i64 %rest, {e.lanes}\n  %plain = and i1 %full, {arrays.dense}")
    e.line("  br i1 %plain, label %fast, label %slow\nfast:")
    direct = [_state(e, arrays, j) for j in range(len(variables))]
    _ask_ahead(e, program, arrays, direct)
    e.line(f"  br i1 {arrays.far}, label %distant, label %body\ndistant:\n  br label %body\nslow:")
    for j in range(inputs):
        _move(e, variables[j], j, arrays, "false", str(e.lanes))
    e.line("  br label %body\nbody:")
    block: list[tuple[str, str]] = []
    for j, (variable, here, step, pad) in enumerate(zip(variables, direct, arrays.steps, arrays.pads, strict=True)):
        size = str(e.bytes * variable.size)
        far = (here, step) if j < inputs else (pad, size)
        first = e.op(f"phi ptr [{here}, %near], [{far[0]}, %distant], [{pad}, %slow]")
        block.append((first, e.op(f"phi i64 [{step}, %near], [{far[1]}, %distant], [{size}, %slow]")))
    return block


def _ask_ahead(e: Assembly, program: Program, arrays: Arrays, states: list[str]) -> None:
    """Inputs of a later block come from memory while this one is computed: a block reads its lines at once, and would wait."""
    sizes = [e.size * v.size for v in program.inputs]
    if sum(sizes) <= MOST_LINES * LINE:
        e.line(f"  br i1 {arrays.many}, label %asking, label %near\nasking:")
        for here, size in zip(states, sizes, strict=False):
            for k in range(0, size, LINE):
                e.line(f"  call void @llvm.prefetch.p0(ptr {e.at(here, AHEAD * size + k, 'i8')}, i32 0, i32 3, i32 1)")
    e.line("  br label %near\nnear:")


def _in_pieces(e: Assembly, program: Program, plan: Plan, block: list[tuple[str, str]]) -> None:
    """A block of states by the pieces of a program: inputs go to their rows, and a table tells where results go."""
    start = 0
    for variable, states in zip(program.inputs, block, strict=False):
        gathered(e, variable, start, apart(e, *states))
        start += variable.size
    for k, (first, step) in enumerate(block[len(program.inputs) :]):
        e.line(f"  store ptr {first}, ptr {e.at('%states', 2 * k, 'i64')}")
        e.line(f"  store i64 {step}, ptr {e.at('%states', 2 * k + 1, 'i64')}")
    for k in range(len(plan.pieces)):
        e.line(f"  call void @piece{k}(ptr %rows, ptr %states)")


def _results(e: Assembly, program: Program, arrays: Arrays) -> None:
    """What lies in a pad goes to where it belongs."""
    outputs = list(enumerate(program.outputs, len(program.inputs)))
    e.line(f"  br i1 %plain, label %made, label %back\nmade:\n  br i1 {arrays.far}, label %away, label %stored\naway:")
    for j, variable in outputs:
        to = _state(e, arrays, j)
        e.line(f"  call void @stream(ptr {to}, ptr {arrays.pads[j]}, i64 {e.size * variable.size})")
    e.line("  br label %stored\nback:")
    count = e.op(f"call i64 @llvm.smin.i64(i64 %rest, i64 {e.lanes})")
    for j, variable in outputs:
        _move(e, variable, j, arrays, "true", count)
    e.line("  br label %stored\nstored:")


def _state(e: Assembly, arrays: Arrays, j: int) -> str:
    """The address of the state %first."""
    return e.op(f"getelementptr i8, ptr {arrays.bases[j]}, i64 {e.op(f'mul i64 %first, {arrays.steps[j]}')}")


def _move(e: Assembly, variable: Variable, j: int, arrays: Arrays, out: str, count: str) -> None:
    """States of any layout into their pad, or out of it."""
    easy, begin = arrays.dense if variable.shape else "true", e.op(f"getelementptr i64, ptr %steps, i64 {arrays.strides[j]}")
    what = f"i1 {out}, ptr {arrays.pads[j]}, ptr {arrays.bases[j]}, i64 %first, i64 %last, i64 {arrays.steps[j]}, i64 {count}"
    e.line(f"  call void @move({what}, i1 {easy}, i64 {variable.size}, i64 {len(variable.shape)}, ptr @shape{j}, ptr {begin})")


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


def _far(e: Assembly, program: Program, steps: list[str]) -> str:
    """Whether results are too many for the cache, and lie without gaps."""
    far = e.op(f"icmp sgt i64 %N, {FAR // (sum(v.size for v in program.outputs) * e.bytes)}")
    for variable, step in zip(program.outputs, steps, strict=True):
        far = e.op(f"and i1 {far}, {e.op(f'icmp eq i64 {step}, {e.bytes * variable.size}')}")
    return far


def _shape(shape: tuple[int, ...]) -> str:
    return ", ".join(f"i64 {d}" for d in shape or (1,))
