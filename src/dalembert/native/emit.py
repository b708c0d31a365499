"""Programs as LLVM assembly: the inner loop of a NumPy gufunc, with as many states at a time as a vector has lanes.

The loop takes blocks of `lanes` states. It gathers the scalars of a block into vectors (a row per input scalar, on the stack),
runs the straight-line program on vectors, and scatters the results. Past the end of the batch a lane repeats the last state, so
one code serves body and tail, and a state gives the same bits alone as in a batch.

A program has one meaning: its operations are those of IEEE 754, each rounded once, and which product fuses with which sum is
decided here, by the program alone. So the bits of a result (which NaN aside) depend neither on the processor nor on the compiler.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from dalembert.native import sincos
from dalembert.native.assembly import Assembly
from dalembert.trace.expr import Node
from dalembert.trace.program import Program, Variable, operands

UNROLLED = 64  # scalars of an array that are moved without a loop
OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


# NaN and infinity are no news: kernels leave the processor's exception flags, which NumPy reads, as they were
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


def emit(program: Program, lanes: int, processor: str = "") -> str:
    """Assembly of `void loop(char **args, intp *dims, intp *steps, void *data)`, which needs no data."""
    e = Assembly(lanes)
    variables = (*program.inputs, *program.outputs)
    inputs, rows = len(program.inputs), sum(v.size for v in variables)
    e.line("define void @loop(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr noalias %data) {")
    e.line(f"entry:\n  %rows = alloca [{rows} x {e.vector}], align {8 * lanes}")
    e.line(f"  %scratch = alloca [4 x {e.vector}], align {8 * lanes}\n  %counter = alloca i64, align 8")
    e.line("  %N = load i64, ptr %dims, align 8\n  %any = icmp sgt i64 %N, 0\n  %last = sub i64 %N, 1")
    arrays = _arrays(e, variables)
    declared, save, restore = FLAGS.get(processor, ("", "", ""))
    e.line(save)
    e.line("  br i1 %any, label %block, label %end\nblock:\n  %first = phi i64 [0, %entry], [%next, %stored]")
    index = []
    for lane in range(lanes):
        i = e.op(f"add i64 %first, {lane}")
        index.append(e.op(f"call i64 @llvm.smin.i64(i64 {i}, i64 %last)"))
    for array in arrays:
        array.states = [e.op(f"getelementptr i8, ptr {array.base}, i64 {e.op(f'mul i64 {i}, {array.step}')}") for i in index]
    _either_layout(e, arrays[:inputs], _gather, _gather_rows, "loaded")
    values = _body(e, program)
    for k, i in enumerate(program.results, sum(v.size for v in program.inputs)):
        e.line(f"  store {e.vector} {values[i]}, ptr {_row(e, k)}, align {8 * lanes}")
    _either_layout(e, arrays[inputs:], _scatter, _scatter_rows, "stored")
    e.line(f"  %next = add i64 %first, {lanes}\n  %more = icmp slt i64 %next, %N\n  br i1 %more, label %block, label %end")
    e.line(f"end:\n{restore}\n  ret void\n}}")
    declarations = ["declare i64 @llvm.smin.i64(i64, i64)", declared, *sincos.declarations(e)]
    return "\n".join([*declarations, *e.lines, sincos.RARELY])


class _Array:
    """One argument of the loop: where its states are, and the strides of its core axes."""

    def __init__(self, variable: Variable, start: int, base: str, step: str, strides: list[str]) -> None:
        self.variable, self.start, self.base, self.step, self.strides = variable, start, base, step, strides
        self.states: list[str] = []


def _arrays(e: Assembly, variables: tuple[Variable, ...]) -> list[_Array]:
    """The addresses and strides of all arguments."""
    arrays: list[_Array] = []
    start, core = 0, len(variables)
    for j, variable in enumerate(variables):
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


def _row(e: Assembly, start: int, k: str = "0") -> str:
    return e.op(f"getelementptr {e.vector}, ptr %rows, i64 {e.op(f'add i64 {start}, {k}')}")


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
        e.line(f"  store {e.vector} {vector}, ptr {_row(e, array.start, k)}, align {8 * e.lanes}")

    _repeat(e, array.variable.size, array.variable.size < e.lanes, scalar)


def _scatter(e: Assembly, array: _Array) -> None:
    def scalar(k: str) -> None:
        vector = e.op(f"load {e.vector}, ptr {_row(e, array.start, k)}, align {8 * e.lanes}")
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
            e.line(f"  store {e.vector} {row}, ptr {_row(e, array.start + j, first)}, align {8 * e.lanes}")

    _by_groups(e, array, group)


def _scatter_rows(e: Assembly, array: _Array) -> None:
    if array.variable.size < e.lanes:
        return _scatter(e, array)

    def group(first: str) -> None:
        rows = [e.op(f"load {e.vector}, ptr {_row(e, array.start + j, first)}, align {8 * e.lanes}") for j in range(e.lanes)]
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


def _body(e: Assembly, program: Program) -> dict[int, str]:
    """The straight-line program on vectors; sines and cosines of inputs come first, with one test for huge angles."""
    starts = [sum(v.size for v in program.inputs[:k]) for k in range(len(program.inputs))]
    values: dict[int, str] = {}

    def value(i: int) -> str:
        if i not in values:  # inputs and constants come in where they are first used
            op, *rest = program.nodes[i]
            values[i] = (
                e.splat(float(rest[0]))
                if op == "const"
                else e.op(f"load {e.vector}, ptr {_row(e, starts[rest[0]] + rest[1])}, align {8 * e.lanes}")
            )
        return values[i]

    taken = dict.fromkeys(node[1] for node in program.nodes if node[0] in ("sin", "cos"))
    plain = [i for i in taken if program.nodes[i][0] in ("input", "const")]
    angles = dict(zip(plain, sincos.emit(e, [value(i) for i in plain]), strict=True))
    fused = _fused(program)
    part_of_a_sum = set(fused.values())
    for i, (op, *rest) in enumerate(program.nodes):
        if op in ("input", "const") or i in part_of_a_sum:
            continue
        if op in ("sin", "cos"):
            if rest[0] not in angles:
                angles[rest[0]] = sincos.emit(e, [value(rest[0])])[0]
            values[i] = angles[rest[0]][op == "cos"]
        elif op == "neg":
            values[i] = e.negative(value(rest[0]))
        elif op == "sqrt":
            values[i] = e.op(f"call {e.vector} @llvm.sqrt.v{e.lanes}f64({e.vector} {value(rest[0])})")
        elif op == "sign":
            values[i] = _sign(e, value(rest[0]))
        elif op == "above":
            enough = e.op(f"fcmp ogt {e.vector} {value(rest[0])}, {e.splat(rest[1])}")
            values[i] = e.op(f"select {e.bits} {enough}, {e.vector} {value(rest[0])}, {e.vector} {e.splat(rest[2])}")
        elif op == "div" and (reciprocal := _exact_reciprocal(program.nodes[rest[1]])):
            values[i] = e.do("fmul", value(rest[0]), e.splat(reciprocal))
        elif i in fused:
            values[i] = _fused_sum(e, op, rest, fused[i], program.nodes[fused[i]], value)
        else:
            values[i] = e.do(OPERATIONS[op], value(rest[0]), value(rest[1]))
    for i in program.results:
        value(i)
    return values


def _fused(program: Program) -> dict[int, int]:
    """Sums and differences, each with the product that fuses with it: one that nothing else uses, of two such the later one."""
    uses = Counter(program.results)
    for node in program.nodes:
        uses.update(operands(node))
    fused: dict[int, int] = {}
    for i, node in enumerate(program.nodes):
        if node[0] in ("add", "sub"):
            products = [j for j in operands(node) if program.nodes[j][0] == "mul" and uses[j] == 1]
            if products:
                fused[i] = max(products)
    return fused


def _fused_sum(e: Assembly, op: str, terms: Sequence[int], product: int, factors: Node, value: Callable[[int], str]) -> str:
    """The sum or difference of two terms, one of them a product that has no value of its own."""
    _, a, b = factors
    first, second = terms
    if product == first:
        return e.fma(value(a), value(b), e.negative(value(second)) if op == "sub" else value(second))
    return e.fma(e.negative(value(a)) if op == "sub" else value(a), value(b), value(first))


def _exact_reciprocal(node: Node) -> float:
    """1 / x for a constant x that is a power of two, so that dividing by it is multiplying; else 0."""
    x = float(node[1]) if node[0] == "const" else 0.0
    return 1 / x if math.isfinite(x) and abs(math.frexp(x)[0]) == 0.5 and 1e-300 < abs(x) < 1e300 else 0.0


def _sign(e: Assembly, x: str) -> str:
    """(x > 0) - (x < 0), and NaN for NaN."""
    zero, one, minus = e.splat(0.0), e.splat(1.0), e.splat(-1.0)
    positive, negative = (e.op(f"fcmp {test} {e.vector} {x}, {zero}") for test in ("ogt", "olt"))
    known = e.op(f"select {e.bits} {positive}, {e.vector} {one}, {e.vector} {x}")
    return e.op(f"select {e.bits} {negative}, {e.vector} {minus}, {e.vector} {known}")
