"""Equations as a list of assignments with readable names and shared subexpressions: a traced program on paper."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.cached import cached_property
from dalembert.symbolic.closed_form.names import braced, entry_name, label
from dalembert.symbolic.closed_form.paper import display, in_markdown, save_display
from dalembert.symbolic.closed_form.rational import exact
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.symbolic.closed_form.write import LatexStyle, TextStyle
from dalembert.trace.program import Program, operands

NO_SYMBOLS = Symbols((), "")
_LONGEST = 12  # operations on a line
_NAME = re.compile(r"[A-Za-z_]\w*")


class Assignment(NamedTuple):
    """name = text, and the same in LaTeX."""

    name: str
    text: str
    latex_name: str
    latex: str


class _Written(NamedTuple):
    """An operand: a number times something written in both languages, nothing for a plain number; how many operations it holds."""

    size: Fraction
    text: str = ""
    latex: str = ""
    addends: tuple["_Written", ...] = ()  # of a sum
    weight: int = 0

    def factor(self) -> "_Written":
        """Itself, as it stands in a product."""
        return self._replace(text=f"({self.text})", latex=f"\\bigl({self.latex}\\bigr)", addends=()) if self.addends else self

    def unsigned(self) -> tuple[str, str]:
        """The whole of it but for the sign."""
        inside = self if abs(self.size) == 1 else self.factor()
        sides = (TextStyle(None), inside.text), (LatexStyle(NO_SYMBOLS), inside.latex)
        text, latex = (style.product(abs(self.size), [x] if x else []) for style, x in sides)
        return text, latex

    def whole(self) -> tuple[str, str]:
        """All of it."""
        if self.size < 0:
            text, latex = self.factor().unsigned()
            return f"-{text}", f"-{latex}"
        return self.unsigned()


ZERO = _Written(Fraction(0))


@dataclass(frozen=True, repr=False)
class Shared:
    """A program as assignments: c2 = cos(q2), then t1, t2, ... for what occurs more than once, then the entries of the results.

    No operation of the traced program is written twice. Operations are the same if they have the same operands: two that differ in
    a sign or in the order of their factors are two, unless one has been given a name already.

    >>> import dalembert as da
    >>> print(da.equations(da.robot("two_link"), symbols="mass").shared("M"))
    c2 = cos(q2)
    t1 = m2/2
    t2 = 1/12 + t1/2
    t3 = c2*t1
    t4 = t2 + t3
    M11 = 1/12 + m1/4 + t2 + 2*t3 + m2
    M12 = t4
    M21 = t4
    M22 = t2
    """

    symbols: Symbols
    program: Program
    note: str = ""

    @cached_property
    def assignments(self) -> tuple[Assignment, ...]:
        """All of them, in an order in which they can be evaluated."""
        return tuple(_Writer(self.symbols, self.program).assignments())

    def __len__(self) -> int:
        return len(self.assignments)

    def __str__(self) -> str:
        lines = [f"{a.name} = {a.text}" for a in self.assignments]
        return "\n".join([*([f"# {self.note}"] if self.note else []), *lines])

    def __repr__(self) -> str:
        return f"<Shared {self.program.signature}: {len(self)} assignments>"

    def latex(self) -> str:
        """One aligned display."""
        return display((a.latex_name, a.latex) for a in self.assignments)

    def _repr_latex_(self) -> str | None:
        return in_markdown(self.latex()) if 0 < len(self) <= 50 else None

    def save(self, path: str | Path) -> Path:
        """Write a complete LaTeX document (.tex), Markdown with mathematics (.md), or text (.txt)."""
        title = f"{self.symbols.robot}: {', '.join(v.name for v in self.program.outputs)} with shared subexpressions"
        return save_display(path, title, self.note, self.latex, self.__str__)


class _Writer:
    """Names for the nodes of a program."""

    def __init__(self, symbols: Symbols, program: Program) -> None:
        self.symbols, self.program = symbols, program
        self.style = LatexStyle(symbols)
        self.taken = set(symbols.names)
        self.written: list[Assignment] = []
        self.values: list[_Written] = []
        self.temporaries = 0
        self.angles: dict[int, int] = {}  # that are not positions themselves, by number
        self.named: dict[tuple[Fraction, str], _Written] = {}  # what has a name, but for its sign

    def assignments(self) -> list[Assignment]:
        """All that the entries of the results need, in order."""
        uses = Counter(i for node in self.program.nodes for i in operands(node)) + Counter(self.program.results)
        for i, node in enumerate(self.program.nodes):
            value = self._known(self._written(node))
            if node[0] in ("sin", "cos"):
                value = self._assign(*self._angle_name(node), value)
            elif value.weight and (value.weight > _LONGEST or (uses[i] > 1 and node[0] != "neg")):
                self.temporaries += 1
                value = self._assign(f"t{self.temporaries}", f"t_{braced(str(self.temporaries))}", value)
            self.values.append(value)
        first = len(self.written)
        for variable, nodes in self.program.output_nodes():
            for index, node in zip(np.ndindex(variable.shape), nodes, strict=True):
                name = label(variable.name, index), entry_name(variable.name, index)
                named = self._assign(*name, self.values[node])
                self.values[node] = named if self.values[node].weight else self.values[node]
        return _needed(self.written[:first], self.written[first:])

    def _known(self, value: _Written) -> _Written:
        """By its name, if it has one, also if that is the name of its negative."""
        name = self.named.get((abs(value.size), value.text)) if value.weight else None
        return value if name is None else name._replace(size=Fraction(1 if value.size > 0 else -1) * name.size)

    def _assign(self, name: str, latex: str, value: _Written) -> _Written:
        while name in self.taken:
            name, latex = name + "_", latex + "'"
        self.taken.add(name)
        text, shown = value.whole()
        self.written.append(Assignment(name, text, latex, shown))
        sign = Fraction(1 if value.size > 0 else -1)
        if value.weight:
            self.named.setdefault((abs(value.size), value.text), _Written(sign, name, latex))
        return _Written(Fraction(1), name, latex)

    def _angle_name(self, node: Any) -> tuple[str, str]:
        inner = self.program.nodes[node[1]]
        if inner[0] == "input":
            return f"{node[0][0]}{inner[2] + 1}", f"{node[0][0].upper()}_{braced(str(inner[2] + 1))}"
        index = f"a{self.angles.setdefault(node[1], len(self.angles) + 1)}"  # of a joint that follows others
        return f"{node[0][0]}{index}", f"{node[0][0].upper()}_{{{index}}}"

    def _written(self, node: Any) -> _Written:
        op = node[0]
        if op == "input":
            inputs = [f"{v.name}{j + 1}" for v in self.program.inputs[node[1] : node[1] + 1] for j in range(v.size)]
            name = self.symbols.parameters[node[2]] if self.program.inputs[node[1]].name == "parameters" else inputs[node[2]]
            return _Written(Fraction(1), name, self.style.names[name])
        if op == "const":
            return _Written(Fraction(exact(float(node[1]))))
        parts = [self.values[i] for i in operands(node)]
        weight = 1 + sum(p.weight for p in parts)
        if op in ("sin", "cos"):
            text, latex = parts[0].whole()
            return _Written(Fraction(1), f"{op}({text})", f"\\{op}({latex})", weight=weight)
        if op == "neg":
            return parts[0]._replace(size=-parts[0].size)
        value = _OPERATIONS[op](*parts)
        named = not value.text or (value.text.isidentifier() and abs(value.size) == 1)
        return value._replace(weight=0 if named else weight)


def _needed(before: list[Assignment], results: list[Assignment]) -> list[Assignment]:
    """Results after what occurs in them, and in what occurs; the rest has cancelled."""
    used = {name for a in results for name in _NAME.findall(a.text)}
    kept: list[Assignment] = []
    for a in reversed(before):
        if a.name in used:
            used.update(_NAME.findall(a.text))
            kept.append(a)
    return [*reversed(kept), *results]


def _times(a: _Written, b: _Written) -> _Written:
    if ZERO in (a, b):
        return ZERO
    if not a.text or not b.text:
        return (a if a.text else b)._replace(size=a.size * b.size)
    if a.text == b.text and a.text.isidentifier():
        latex = f"{{{a.latex}}}" if "'" in a.latex else a.latex  # a prime is an exponent already
        return _Written(a.size * b.size, f"{a.text}**2", f"{latex}^2")
    size, a, b = a.size * b.size, a.factor(), b.factor()
    text = f"{a.text}*({b.text})" if "/" in b.text and b.text[0] != "(" else f"{a.text}*{b.text}"  # a*b/c would be (a*b)/c
    return _Written(size, text, f"{a.latex} {b.latex}")


def _over(a: _Written, b: _Written) -> _Written:
    if not b.text or a == ZERO:
        return a._replace(size=a.size / b.size)
    return _Written(a.size / b.size, f"{a.factor().text or 1}/({b.text})", f"\\frac{{{a.latex or 1}}}{{{b.latex}}}")


def _plus(a: _Written, b: _Written, sign: int = 1) -> _Written:
    if a.text == b.text:  # alike, or both numbers
        size = a.size + sign * b.size
        return a._replace(size=size) if size else ZERO
    if ZERO in (a, b):
        return b._replace(size=sign * b.size) if a == ZERO else a
    if b.addends and b.size * sign == 1:
        return reduce(_plus, b.addends, a)
    return _sum(_joined(a.addends if a.addends and a.size == 1 else (a,), b._replace(size=sign * b.size)))


def _joined(addends: tuple[_Written, ...], another: _Written) -> list[_Written]:
    """All of them, what is alike as one."""
    sums = [x._replace(size=x.size + another.size) if x.text == another.text else x for x in addends]
    return [x for x in sums if x.size] if any(x.text == another.text for x in addends) else [*sums, another]


def _sum(addends: list[_Written]) -> _Written:
    if len(addends) < 2:
        return addends[0] if addends else ZERO
    text, latex = addends[0].whole()
    for x in addends[1:]:
        sign, parts = ("-", x.factor().unsigned()) if x.size < 0 else ("+", x.unsigned())
        text, latex = f"{text} {sign} {parts[0]}", f"{latex} {sign} {parts[1]}"
    return _Written(Fraction(1), text, latex, addends=tuple(addends))


def _minus(a: _Written, b: _Written) -> _Written:
    return _plus(a, b, -1)


_OPERATIONS: dict[str, Callable[[_Written, _Written], _Written]] = {"add": _plus, "sub": _minus, "mul": _times, "div": _over}
