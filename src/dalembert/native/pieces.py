"""Where the values of a program lie while it runs, and the pieces in which a long one is compiled.

LLVM's time and the room it takes on the stack grow faster than a function does, so a long program is cut into pieces, a function
each. They work on a frame: a row (a vector, or a double where one state is computed) for each scalar of the inputs and outputs, and
further rows for values that later pieces use; a row is free again after the piece that uses its value last. The sines and cosines
of inputs come first, several in a piece.
"""

from collections import Counter
from collections.abc import Container, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from dalembert.trace.program import LEAVES, Program, operands

WHOLE = 8_000  # nodes and results of a program that is not cut: up to here that takes no longer to compile, and runs a tenth faster
ALIVE = 1_000  # its values at once: 64 KB of the stack, of which a thread may have as little as 128 KB
PIECE = 300  # operations of a piece
STORE = 5  # operations as which a result counts: LLVM's time grows with the square of how many a function writes
ANGLES = 8  # in a piece
ON_STACK = 4096  # bytes of a frame that may lie on the stack


class Piece(NamedTuple):
    """Nodes that are computed, in the order of the program, then values that are only copied, each with its row."""

    nodes: Sequence[int]
    copies: Sequence[tuple[int, int]]


class Plan(NamedTuple):
    """How a program is computed."""

    pieces: list[Piece]
    fused: dict[int, int]  # sums and differences, each with the product that is part of it
    place: dict[int, int]  # the row in which a value lies, if any
    rows: int  # of inputs, outputs, and values between pieces
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


def planned(program: Program) -> Plan:
    """The plan of a program; it depends on nothing else."""
    nodes, fused = program.nodes, _fused(program)
    starts = [sum(v.size for v in program.inputs[:k]) for k in range(len(program.inputs) + 1)]
    place = {i: starts[node[1]] + node[2] for i, node in enumerate(nodes) if node[0] == "input"}
    copies: list[tuple[int, int]] = []
    for row, i in enumerate(program.results, starts[-1]):
        if nodes[i][0] in LEAVES or i in place:
            copies.append((i, row))
        else:
            place[i] = row
    parts = set(fused.values())
    order = [i for i, node in enumerate(nodes) if node[0] not in LEAVES and i not in parts]
    scalars = starts[-1] + len(program.results)
    if len(nodes) + len(program.results) <= WHOLE and scalars + _alive(program, order, fused) <= ALIVE:
        return Plan([Piece(order, copies)], fused, place, scalars, scalars)
    first = [i for i in order if nodes[i][0] in ("sin", "cos") and nodes[nodes[i][1]][0] in LEAVES]
    first.sort(key=lambda i: (nodes[i][1], i))
    angles = list(dict.fromkeys(nodes[i][1] for i in first))
    some = [set(angles[k : k + ANGLES]) for k in range(0, len(angles), ANGLES)]
    before = set(first)
    parts = [[i for i in first if nodes[i][1] in group] for group in some] + _cut([i for i in order if i not in before], place)
    pieces = [Piece(part, ()) for part in parts]
    rows = _keep_between(program, pieces, fused, place, scalars)
    size = PIECE // STORE
    pieces += [Piece((), copies[k : k + size]) for k in range(0, len(copies), size)]
    return Plan(pieces if len(pieces) > 1 else [*pieces, Piece((), ())], fused, place, rows, scalars)


def _cut(order: list[int], results: Container[int]) -> list[list[int]]:
    parts: list[list[int]] = []
    room = 0
    for i in order:
        if room <= 0:
            parts.append([])
            room = PIECE
        parts[-1].append(i)
        room -= STORE if i in results else 1
    return parts


def _keep_between(program: Program, pieces: list[Piece], fused: dict[int, int], place: dict[int, int], rows: int) -> int:
    """Give a place to every value that a later piece uses, after so many rows of others; returns how many there are then."""
    last = {j: k for k, piece in enumerate(pieces) for i in piece.nodes for j in _read(program, fused, i)}
    free: list[int] = []
    ends: dict[int, list[int]] = {}
    for k, piece in enumerate(pieces):
        for i in piece.nodes:
            if i not in place and last.get(i, k) > k:
                if not free:
                    free, rows = [rows], rows + 1
                place[i] = heappop(free)
                ends.setdefault(last[i], []).append(place[i])
        for row in ends.get(k, ()):
            heappush(free, row)
    return rows


def _alive(program: Program, order: list[int], fused: dict[int, int]) -> int:
    """How many values that the program computes are needed later, at most."""
    last = {j: k for k, i in enumerate(order) for j in _read(program, fused, i)}
    ends = Counter(last[i] for i in order if i in last)
    alive = most = 0
    for k, i in enumerate(order):
        alive += (i in last) - ends[k]
        most = max(most, alive)
    return most


def _read(program: Program, fused: dict[int, int], i: int) -> list[int]:
    """The values that computing node i takes."""
    return [k for j in operands(program.nodes[i]) for k in (operands(program.nodes[j]) if fused.get(i) == j else (j,))]


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
