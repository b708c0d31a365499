"""How values come from the arrays of a caller and go back: for a block of states across the lanes of vectors, and for one state.

A block is a square matter: a vector has the same scalar of several states, an array several scalars of the same state. Groups of as
many scalars as a vector has lanes are loaded, a vector per state, and transposed by shuffles; results likewise. All inputs
are read before the first result is written, so that both may be one memory. Results that no cache holds are gathered in a pad, a
block at a time, and go to memory from there.
"""

from collections.abc import Callable, Sequence
from functools import reduce

from dalembert.native.assembly import Assembly, number
from dalembert.native.pieces import Plan, Write, groups
from dalembert.trace.expr import Node
from dalembert.trace.program import Program, Variable

UNROLLED = 64  # scalars of an array that are moved without a loop

# move(out, pad, base, first, last, step, lanes, dense, axes, dims, strides): states of any layout into a dense pad, or out of it;
# states beyond the last one are the last one
MOVE = """
define internal void @move(i1 %out, ptr %pad, ptr %base, i64 %first, i64 %last, i64 %step, i64 %lanes, i1 %dense, i64 %size,
    i64 %axes, ptr %dims, ptr %strides) noinline cold {
entry:
  br label %lane
lane:
  %l = phi i64 [0, %entry], [%l1, %laneend]
  %wanted = add i64 %first, %l
  %i = call i64 @llvm.smin.i64(i64 %wanted, i64 %last)
  %far = mul i64 %i, %step
  %state = getelementptr i8, ptr %base, i64 %far
  %begin = mul i64 %l, %size
  %mine = getelementptr REAL, ptr %pad, i64 %begin
  br label %scalar
scalar:
  %k = phi i64 [0, %lane], [%k1, %scalarend]
  %in_pad = getelementptr REAL, ptr %mine, i64 %k
  %near = mul i64 %k, BYTES
  br i1 %dense, label %found, label %axis
axis:
  %a = phi i64 [%axes, %scalar], [%a1, %axis]
  %rest = phi i64 [%k, %scalar], [%over, %axis]
  %sum = phi i64 [0, %scalar], [%sum1, %axis]
  %a1 = sub i64 %a, 1
  %dp = getelementptr i64, ptr %dims, i64 %a1
  %d = load i64, ptr %dp, align 8
  %sp = getelementptr i64, ptr %strides, i64 %a1
  %s = load i64, ptr %sp, align 8
  %index = urem i64 %rest, %d
  %over = udiv i64 %rest, %d
  %part = mul i64 %index, %s
  %sum1 = add i64 %sum, %part
  %moreaxes = icmp sgt i64 %a1, 0
  br i1 %moreaxes, label %axis, label %found
found:
  %offset = phi i64 [%near, %scalar], [%sum1, %axis]
  %in_array = getelementptr i8, ptr %state, i64 %offset
  %from = select i1 %out, ptr %in_pad, ptr %in_array
  %to = select i1 %out, ptr %in_array, ptr %in_pad
  %x = load REAL, ptr %from, align BYTES
  store REAL %x, ptr %to, align BYTES
  br label %scalarend
scalarend:
  %k1 = add i64 %k, 1
  %morescalars = icmp slt i64 %k1, %size
  br i1 %morescalars, label %scalar, label %laneend
laneend:
  %l1 = add i64 %l, 1
  %morelanes = icmp slt i64 %l1, %lanes
  br i1 %morelanes, label %lane, label %end
end:
  ret void
}
"""


# stream(to, from, size): the results of a block, that many bytes, to memory past the cache, but for the parts of vectors at the
# ends. Results come here and there in a block; written one by one, each would first bring its line from memory into the cache
STREAM = """
define internal void @stream(ptr %to, ptr %from, i64 %size) noinline {
entry:
  %address = ptrtoint ptr %to to i64
  %before = sub i64 0, %address
  %head = and i64 %before, WIDEST
  %rest = sub i64 %size, %head
  %over = and i64 %rest, WIDEST
  %tail = sub i64 %size, %over
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %one], [%k2, %many]
  %more = icmp slt i64 %k, %size
  br i1 %more, label %some, label %end
some:
  %f = getelementptr i8, ptr %from, i64 %k
  %t = getelementptr i8, ptr %to, i64 %k
  %inside = icmp sge i64 %k, %head
  %enough = icmp slt i64 %k, %tail
  %vector = and i1 %inside, %enough
  br i1 %vector, label %many, label %one
one:
  %x = load REAL, ptr %f, align BYTES
  store REAL %x, ptr %t, align BYTES
  %k1 = add i64 %k, BYTES
  br label %next
many:
  %y = load VECTOR, ptr %f, align BYTES
  store VECTOR %y, ptr %t, align WIDTH, !nontemporal !2
  %k2 = add i64 %k, WIDTH
  br label %next
end:
  ret void
}
!2 = !{i32 1}
"""


def functions(e: Assembly) -> str:
    """The functions that move states of any layout, and results past the cache."""
    sizes = {"REAL": e.real, "VECTOR": e.vector, "WIDEST": e.size - 1, "WIDTH": e.size, "BYTES": e.bytes}
    return reduce(lambda text, name: text.replace(name, str(sizes[name])), sizes, MOVE + STREAM)


class Lanes:
    """The places of a program that is not cut: inputs are transposed when first used, all of them before the first result."""

    def __init__(self, e: Assembly, program: Program, states: Sequence[Sequence[str]]) -> None:
        """`states` has the addresses of a block's states, of each input, then of each output."""
        self.e, self.program, self.states = e, program, states
        self.inputs = [i for i, node in enumerate(program.nodes) if node[0] == "input"]
        self.values: dict[tuple[int, int], str] = {}  # of inputs

    def load(self, i: int) -> str:
        """The value of an input."""
        array, scalar = map(int, self.program.nodes[i][1:])
        if (array, scalar) not in self.values:
            group = next(g for g in groups(self.program.inputs[array].size, self.e.lanes) if scalar in g)
            for k, value in zip(group, loaded(self.e, self.states[array], str(group.start), len(group)), strict=True):
                self.values.setdefault((array, k), value)
        return self.values[array, scalar]

    def keep(self, i: int, value: str) -> None:
        """There are no later pieces."""

    def write(self, write: Write, values: Sequence[str]) -> None:
        """Transposed, to the states of an output."""
        for i in self.inputs:
            self.load(i)
        self.inputs = []
        written(self.e, self.program, write, values, self.states[write.array])


class Rows:
    """The places of a piece of a program: rows of the frame, in which all inputs lie already; results go to the states."""

    def __init__(self, e: Assembly, program: Program, plan: Plan) -> None:
        self.e, self.program, self.plan = e, program, plan
        self.states: dict[int, list[str]] = {}

    def address(self, i: int) -> str:
        """Of the row of a value."""
        return self.e.at("%rows", self.plan.place[i], self.e.vector)

    def load(self, i: int) -> str:
        """An input, or a value that an earlier piece has computed."""
        return self.e.load(self.address(i))

    def keep(self, i: int, value: str) -> None:
        """At its row."""
        self.e.store(value, self.address(i))

    def write(self, write: Write, values: Sequence[str]) -> None:
        """Transposed, to the states of an output, whose first address and step are in a table."""
        e = self.e
        if write.array not in self.states:
            entry = 2 * (write.array - len(self.program.inputs))
            first, step = (
                e.op(f"load {t}, ptr {e.at('%states', entry + k, 'i64')}, align 8") for k, t in enumerate(("ptr", "i64"))
            )
            self.states[write.array] = apart(e, first, step)
        written(e, self.program, write, values, self.states[write.array])


class Single:
    """The places of one state: results go to their arrays at once; inputs come from theirs, or from the frame of a cut program."""

    def __init__(self, e: Assembly, program: Program, plan: Plan, arrays: Callable[[int], str]) -> None:
        """`arrays` gives the address of each input, then of each output."""
        self.e, self.program, self.plan, self.arrays = e, program, plan, arrays
        self.inputs = [i for i, node in enumerate(program.nodes) if node[0] == "input"] if plan.whole else []
        self.loads: dict[int, str] = {}

    def address(self, i: int) -> str:
        """Of an input, or of a row of the frame."""
        if self.plan.whole:
            _, array, scalar = self.program.nodes[i]
            return self.e.at(self.arrays(array), scalar)
        return self.e.at("%rows", self.plan.place[i])

    def load(self, i: int) -> str:
        """An input, or a value that an earlier piece has computed."""
        if i not in self.loads:
            self.loads[i] = self.e.load(self.address(i))
        return self.loads[i]

    def keep(self, i: int, value: str) -> None:
        """At its row, if there are later pieces."""
        self.e.store(value, self.address(i))

    def write(self, write: Write, values: Sequence[str]) -> None:
        """To its array; before the first result, all inputs are read."""
        for i in self.inputs:
            self.load(i)
        self.inputs = []
        self.e.store(values[0], self.e.at(self.arrays(write.array), write.first))


def gathered(e: Assembly, variable: Variable, start: int, states: Sequence[str]) -> None:
    """An input of a block of states, into the rows of the frame from `start` on: written out, or as a loop if it is large."""

    def group(first: str, length: int) -> None:
        for k, vector in enumerate(loaded(e, states, first, length)):
            e.store(vector, e.op(f"getelementptr {e.vector}, ptr %rows, i64 {e.op(f'add i64 {first}, {start + k}')}"))

    size, length = variable.size, min(e.lanes, variable.size)
    if size <= UNROLLED:
        for some in groups(size, e.lanes):
            group(str(some.start), length)
        return
    again, after = e.label(), e.label()
    e.line(f"  store i64 0, ptr %counter, align 8\n  br label %{again}\n{again}:")
    k = e.op("load i64, ptr %counter, align 8")
    group(e.op(f"call i64 @llvm.smin.i64(i64 {k}, i64 {size - length})"), length)
    following = e.op(f"add i64 {k}, {e.lanes}")
    e.line(f"  store i64 {following}, ptr %counter, align 8")
    e.line(f"  br i1 {e.op(f'icmp slt i64 {following}, {size}')}, label %{again}, label %{after}\n{after}:")


def apart(e: Assembly, first: str, step: str) -> list[str]:
    """The addresses of a block's states."""
    return [first, *(e.op(f"getelementptr i8, ptr {first}, i64 {e.op(f'mul i64 {step}, {k}')}") for k in range(1, e.lanes))]


def loaded(e: Assembly, states: Sequence[str], first: str, length: int) -> list[str]:
    """So many scalars of each state, a vector per scalar."""
    places = [e.op(f"getelementptr {e.real}, ptr {state}, i64 {first}") for state in states]
    if length == 1:
        vector = "poison"
        for lane, place in enumerate(places):
            x = e.op(f"load {e.real}, ptr {place}, align {e.bytes}")
            vector = e.op(f"insertelement {e.vector} {vector}, {e.real} {x}, i32 {lane}")
        return [vector]
    if length == e.lanes:
        return transposed(e, [e.load(place, e.bytes) for place in places])
    mask = ", ".join(f"i1 {'true' if k < length else 'false'}" for k in range(e.lanes))
    some = f"<{e.lanes} x i1> <{mask}>, {e.vector} zeroinitializer"
    load = f"call {e.vector} @llvm.masked.load.{e.suffix}.p0(ptr"
    return transposed(e, [e.op(f"{load} {place}, i32 {e.bytes}, {some})") for place in places])[:length]


def written(e: Assembly, program: Program, write: Write, values: Sequence[str], states: Sequence[str]) -> None:
    """Vectors, one per scalar, to each state; where there are fewer than lanes, by one or two shorter vectors."""
    length = len(values)
    part = 1 << (length.bit_length() - 1)
    if length > 1 and all(_zero(program.nodes[i]) for i in write.nodes):
        by_state = ["zeroinitializer"] * e.lanes
    else:
        by_state = transposed(e, [*values, *["poison"] * (e.lanes - length)]) if length > 1 else []
    for lane, state in enumerate(states):
        place = e.at(state, write.first)
        if length == 1:
            x = e.op(f"extractelement {e.vector} {values[0]}, i32 {lane}")
            e.line(f"  store {e.real} {x}, ptr {place}, align {e.bytes}")
        elif length == e.lanes:
            e.store(by_state[lane], place, e.bytes)
        else:
            for begin in dict.fromkeys((0, length - part)):
                x = e.shuffle(by_state[lane], "poison", list(range(begin, begin + part)))
                e.line(f"  store <{part} x {e.real}> {x}, ptr {e.at(place, begin)}, align {e.bytes}")


def _zero(node: Node) -> bool:
    return node[0] == "const" and number(float(node[1])) == number(0.0)


def transposed(e: Assembly, rows: list[str]) -> list[str]:
    """A square of vectors with rows and columns exchanged, by shuffles that need no more than a constant in their instruction.

    First within parts of 16 bytes, the columns of as many rows as a part has numbers; then the parts among themselves.
    """
    width = 16 // e.bytes
    blocks = [_within(e, rows[k : k + width]) for k in range(0, e.lanes, width)]
    columns = [_columns(e, list(block), width) for block in zip(*blocks, strict=True)]
    return [columns[c][m] for m in range(e.lanes // width) for c in range(width)]


def _within(e: Assembly, rows: list[str]) -> list[str]:
    """Rows as long as a part: in each part of the results stands a column of that part."""
    if len(rows) == 2:
        return [_mixed(e, rows[0], rows[1], 1, half) for half in (0, 1)]
    a, b, c, d = rows
    low, high = ((_mixed(e, a, b, 1, half), _mixed(e, c, d, 1, half)) for half in (0, 1))
    return [_mixed(e, first, second, 2, half) for first, second in (low, high) for half in (0, 1)]


def _mixed(e: Assembly, a: str, b: str, group: int, half: int) -> str:
    """The lower or upper halves of all parts of two vectors, mixed in groups of so many numbers."""
    width, lanes = 16 // e.bytes, list[int]()
    for part in range(half * width // 2, e.lanes, width):
        for k in range(part, part + width // 2, group):
            lanes += [*range(k, k + group), *range(e.lanes + k, e.lanes + k + group)]
    return e.shuffle(a, b, lanes)


def _columns(e: Assembly, rows: list[str], width: int) -> list[str]:
    """The same with whole parts in place of numbers."""
    if len(rows) == 1:
        return rows
    chosen = [[k + j for k in range(odd * width, 2 * e.lanes, 2 * width) for j in range(width)] for odd in (0, 1)]
    halves = [[e.shuffle(a, b, lanes) for a, b in zip(rows[::2], rows[1::2], strict=True)] for lanes in chosen]
    return [x for both in zip(*(_columns(e, half, width) for half in halves), strict=True) for x in both]
