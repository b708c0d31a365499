"""What the printers share: a function to print, and the statements of its program in a language's syntax."""

from collections.abc import Callable, Sequence
from math import isnan
from textwrap import wrap
from typing import Any, NamedTuple

from dalembert.trace.expr import BINARY, LEAVES
from dalembert.trace.program import SYMBOLS, Program, Variable, last_uses, operands

TOLERANCE = 1e-12  # of self-tests, relative to the largest entry: libraries differ in the last digits of sine and cosine
WIDTH = 100

_WORDS = """
abstract and as assert async auto await baremodule begin bool break case catch char class const constexpr continue def default
del delete do double elif else elseif end enum except export extern false finally float for friend from function global goto if
import in include inline int is isa lambda let local long macro main math module mutable namespace new none nonlocal not
operator or otherwise parfor pass persistent private protected public quote raise register restrict return selftest short
signed sizeof spmd static struct switch template this throw true try type typedef typename union unsigned using virtual void
volatile where while with xor yield sin cos sqrt sign abs reshape permute maximum error base core size max all any disp nargin
nargout varargin varargout numel isequal isempty strcmp num2str sprintf fprintf arguments debugger eval extends finally
implements instanceof interface null package super typeof undefined var atob console float64array infinity nan require
uint8array webassembly
"""
RESERVED = frozenset(_WORDS.split())  # names that are reserved in any of the languages


class Function(NamedTuple):
    """A program to print: its name, lines about it, and what goes in and comes out in the self-test, flat and row-major."""

    name: str
    program: Program
    about: Sequence[str]
    given: Sequence[Sequence[float]]
    expected: Sequence[Sequence[float]]
    tolerances: Sequence[float] = ()  # of the outputs, relative to the largest entry; TOLERANCE where there are none

    @property
    def arguments(self) -> str:
        """The names of the inputs, as a list of arguments."""
        return ", ".join(v.name for v in self.program.inputs)

    @property
    def tested(self) -> tuple[list[tuple[Variable, list[str]]], list[tuple[Variable, list[str]]]]:
        """Inputs and outputs of the self-test, each with the digits of its entries."""
        sides = (self.program.inputs, self.given), (self.program.outputs, self.expected)
        takes, gives = ([(v, [repr(float(x)) for x in row]) for v, row in zip(*side, strict=True)] for side in sides)
        return takes, gives


class Syntax(NamedTuple):
    """How a language writes numbers, entries of inputs, functions and assignments."""

    entry: Callable[[Variable, int], str]
    inf: str
    nan: str
    assign: str  # v{} = {}
    above: str  # of an operand x and numbers floor and otherwise
    where: str  # of operands c, a and b
    sign: str
    functions: str = "{op}({x})"
    written: Callable[[float], str] = repr  # the digits of a number

    def number(self, x: Any) -> str:
        """A number that reads back as the same float."""
        x = float(x)
        text = self.nan if isnan(x) else self.written(x).replace("inf", self.inf)
        return f"({text})" if text.startswith("-") else text


def statements(program: Program, syntax: Syntax) -> tuple[list[str], list[str]]:
    """One assignment per operation, and the texts of the results; inputs and constants are written where they are used.

    >>> from dalembert.trace import trace
    >>> from dalembert.codegen.python import PYTHON
    >>> statements(trace(lambda x: 2 * x[0] + x[1].sin(), {"x": (2,)}), PYTHON)
    (['v0 = 2.0 * x[0]', 'v1 = math.sin(x[1])', 'v2 = v0 + v1'], ['v2'])
    """
    texts: list[str] = []
    lines: list[str] = []
    for node in program.nodes:
        op = node[0]
        if op == "input":
            texts.append(syntax.entry(program.inputs[node[1]], node[2]))
        elif op == "const":
            texts.append(syntax.number(node[1]))
        else:
            texts.append(f"v{len(lines)}")
            lines.append(syntax.assign.format(len(lines), _operation(node, [texts[i] for i in operands(node)], syntax)))
    return lines, [texts[i] for i in program.results]


def _operation(node: tuple[Any, ...], texts: list[str], syntax: Syntax) -> str:
    op, x = node[0], texts[0]
    if op in BINARY:
        return f"{x} {SYMBOLS[op]} {texts[1]}"
    if op == "neg":
        return f"-{x}"
    if op == "sign":
        return syntax.sign.format(x=x)
    if op == "above":
        return syntax.above.format(x=x, floor=syntax.number(node[2]), otherwise=syntax.number(node[3]))
    if op == "where":
        return syntax.where.format(c=x, a=texts[1], b=texts[2])
    return syntax.functions.format(op=op, x=x)


def results_by_output(program: Program, texts: Sequence[str]) -> list[tuple[Variable, Sequence[str]]]:
    """Each output with the texts of its entries."""
    pieces: list[tuple[Variable, Sequence[str]]] = []
    start = 0
    for variable in program.outputs:
        pieces.append((variable, texts[start : start + variable.size]))
        start += variable.size
    return pieces


def footprint(program: Program) -> tuple[int, int, int]:
    """How many statements and different constants a program has, and the most values that are alive at once.

    >>> from dalembert.trace import trace
    >>> footprint(trace(lambda x: 2 * x[0] + x[1].sin(), {"x": (2,)}))
    (3, 1, 2)
    """
    last = last_uses(program)
    alive, most, written = 0, 0, 0
    for k, node in enumerate(program.nodes):
        alive -= sum(last[i] == k and program.nodes[i][0] not in LEAVES for i in {*operands(node)})
        if node[0] not in LEAVES:
            written, alive = written + 1, alive + 1
            most = max(most, alive)
    return written, len({node[1] for node in program.nodes if node[0] == "const"}), most


def comment(mark: str, lines: Sequence[str]) -> list[str]:
    """Lines as comments, wrapped; characters that could end or continue a comment in some language are replaced."""
    wrapped: list[str] = []
    for line in lines:
        safe = "".join(c if c.isprintable() and c not in "\\?" else "_" for c in line)
        indent = " " * (len(safe) - len(safe.lstrip()) + 2)
        wrapped += wrap(safe, WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return [f"{mark} {line}".rstrip() for line in wrapped]


def listed(items: Sequence[str], indent: str, separator: str = ", ", continued: str = "") -> list[str]:
    """Items in lines of readable length, each of which but the last ends in a separator and `continued`."""
    lines: list[str] = []
    row = ""
    for k, item in enumerate(items):
        piece = item + (separator if k + 1 < len(items) else "")
        if row and len(row) + len(piece) > WIDTH:
            lines.append(indent + row.rstrip() + continued)
            row = ""
        row += piece
    return [*lines, indent + row]


def bracketed(entries: Sequence[str], indent: str) -> str:
    """Items in brackets: on the line where they begin, or on lines of their own inside a block of four spaces."""
    rows = listed(entries, indent)
    return f"[{rows[0].strip()}]" if len(rows) == 1 else "[\n" + "\n".join(rows) + "\n    ]"
