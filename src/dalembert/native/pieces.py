"""Where the values of a program lie while it runs, when its results are written, and the pieces in which a long one is compiled.

LLVM's time and the room it takes on the stack grow faster than a function does, so a long program is cut into pieces, a function
each. They work on a frame: a row (a vector, or a double where one state is computed) for each scalar of the inputs, and further
rows for values that later pieces use; a row is free again after the piece that uses its value last. The sines and cosines of
inputs come first, several in a piece. Results are written in groups of as many as a vector has lanes, as soon as one is complete.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from dalembert.trace.program import LEAVES, Program, operands

WHOLE = 5_000  # nodes and results of a program that is not cut: to here it runs up to a tenth faster, beyond no faster or slower
ALIVE = 1_000  # its values at once: 64 KB of the stack, of which a thread may have as little as 128 KB
PIECE = 300  # operations of a piece
STORE = 5  # operations as which a result counts: LLVM's time grows with the square of how many a function writes
ANGLES = 8  # in a piece
ON_STACK = 4096  # bytes of a frame that may lie on the stack


class Write(NamedTuple):
    """Consecutive scalars of an output: its place among inputs and outputs, the first scalar, and the nodes."""

    array: int
    first: int
    nodes: Sequence[int]


Step = int | Write  # computing a node, or writing results
Piece = Sequence[Step]


class Plan(NamedTuple):
    """How a program is computed."""

    pieces: list[Piece]
    fused: dict[int, int]  # sums and differences, each with the product that is part of it; choices with the difference asked for
    place: dict[int, int]  # the row in which a value lies, if any
    rows: int  # of inputs, and values between pieces
    scalars: int  # of inputs and outputs

    @property
    def whole(self) -> bool:
        """Whether it is not cut."""
        return len(self.pieces) == 1

    def memory(self, lanes: int) -> int:
        """How many vectors of lanes the frame of a block of states has; with room to make a block dense, if it is not."""
        return self.scalars + (0 if self.whole else self.rows) if lanes > 1 else 0 if self.whole else self.rows

    def lent(self, lanes: int, size: int = 8) -> int:
        """How many numbers of this size a caller must lend for the frame, with room to align it; 0 where it lies on the stack."""
        rows = self.memory(lanes)
        return 0 if size * lanes * rows <= ON_STACK else lanes * (rows + 1)


def groups(size: int, lanes: int) -> Iterator[range]:
    """Scalars of an array that are moved at once: as many as a vector has lanes, or all there are; the last may overlap others."""
    length = min(lanes, size)
    return (range(k, k + length) for k in dict.fromkeys(min(k, size - length) for k in range(0, size, lanes)))


def computed(piece: Piece) -> Iterator[int]:
    """The nodes among the steps of a piece."""
    return (step for step in piece if not isinstance(step, Write))


def planned(program: Program, lanes: int) -> Plan:
    """The plan of a program for vectors of so many lanes: what is computed, and so the result, does not depend on them."""
    nodes, fused = program.nodes, _fused(program)
    starts = [sum(v.size for v in program.inputs[:k]) for k in range(len(program.inputs) + 1)]
    place = {i: starts[node[1]] + node[2] for i, node in enumerate(nodes) if node[0] == "input"}
    parts = set(fused.values())
    order = [i for i, node in enumerate(nodes) if node[0] not in LEAVES and i not in parts]
    scalars = starts[-1] + len(program.results)
    if len(nodes) + len(program.results) <= WHOLE:
        steps = _with_writes(program, lanes, order)
        if scalars + _alive(program, fused, steps) <= ALIVE:
            return Plan([steps], fused, place, scalars, scalars)
    first = [i for i in order if nodes[i][0] in ("sin", "cos") and nodes[nodes[i][1]][0] in LEAVES]
    first.sort(key=lambda i: (nodes[i][1], i))
    angles = list(dict.fromkeys(nodes[i][1] for i in first))
    some = [set(angles[k : k + ANGLES]) for k in range(0, len(angles), ANGLES)]
    before = set(first)
    others = _with_writes(program, lanes, [i for i in order if i not in before], first)
    pieces: list[Piece] = [[i for i in first if nodes[i][1] in group] for group in some]
    pieces += _cut(others)
    rows = _keep_between(program, pieces, fused, place, starts[-1])
    return Plan(pieces if len(pieces) > 1 else [*pieces, ()], fused, place, rows, scalars)


def _with_writes(program: Program, lanes: int, order: Sequence[int], before: Sequence[int] = ()) -> list[Step]:
    """Nodes in their order, and what can be written after each; what needs none of them is written last."""
    when = dict.fromkeys(before, -1) | {i: k for k, i in enumerate(order)}
    due: dict[int, list[Write]] = {}
    start = 0
    for array, variable in enumerate(program.outputs, len(program.inputs)):
        for group in groups(variable.size, lanes):
            some = program.results[start + group.start : start + group.stop]
            last = max((when[i] for i in some if i in when), default=-1)
            due.setdefault(last, []).append(Write(array, group.start, some))
        start += variable.size
    return [*(step for k, i in enumerate(order) for step in (i, *due.get(k, ()))), *due.get(-1, ())]


def _cut(steps: Sequence[Step]) -> Iterator[Piece]:
    piece: list[Step] = []
    room = PIECE
    for step in steps:
        piece.append(step)
        room -= STORE * len(step.nodes) if isinstance(step, Write) else 1
        if room <= 0:
            yield piece
            piece, room = [], PIECE
    if piece:
        yield piece


def _keep_between(program: Program, pieces: Sequence[Piece], fused: dict[int, int], place: dict[int, int], rows: int) -> int:
    """Give a place to every value that a later piece uses, after so many rows of others; returns how many there are then."""
    last = {j: k for k, piece in enumerate(pieces) for step in piece for j in _read(program, fused, step)}
    free: list[int] = []
    ends: dict[int, list[int]] = {}
    for k, piece in enumerate(pieces):
        for i in computed(piece):
            if last.get(i, k) > k:
                if not free:
                    free, rows = [rows], rows + 1
                place[i] = heappop(free)
                ends.setdefault(last[i], []).append(place[i])
        for row in ends.get(k, ()):
            heappush(free, row)
    return rows


def _alive(program: Program, fused: dict[int, int], steps: Piece) -> int:
    """How many values that the program computes are needed later, at most."""
    last = {j: k for k, step in enumerate(steps) for j in _read(program, fused, step)}
    ends = Counter(last[i] for i in computed(steps) if i in last)
    alive = most = 0
    for k, step in enumerate(steps):
        alive += (step in last) - ends[k]
        most = max(most, alive)
    return most


def _read(program: Program, fused: dict[int, int], step: Step) -> Sequence[int]:
    """The values that a step takes."""
    if isinstance(step, Write):
        return step.nodes
    return [k for j in operands(program.nodes[step]) for k in (operands(program.nodes[j]) if fused.get(step) == j else (j,))]


def _fused(program: Program) -> dict[int, int]:
    """Sums and differences, each with the product that fuses with it: one that nothing else uses, of two such the later one.

    And choices by the sign of a difference that only choices use: `where(a - b, x, y)` compares a with b, which for doubles is the
    same, so that the lesser and greater of two numbers are an instruction each.
    """
    uses = Counter(program.results)
    for node in program.nodes:
        uses.update(operands(node))
    fused: dict[int, int] = {}
    for i, node in enumerate(program.nodes):
        if node[0] in ("add", "sub"):
            products = [j for j in operands(node) if program.nodes[j][0] == "mul" and uses[j] == 1]
            if products:
                fused[i] = max(products)
    asked = Counter(node[1] for node in program.nodes if node[0] == "where")
    compared = {j for j, count in asked.items() if program.nodes[j][0] == "sub" and j not in fused and count == uses[j]}
    return fused | {i: node[1] for i, node in enumerate(program.nodes) if node[0] == "where" and node[1] in compared}
