"""Traced scalars. Arithmetic on an `Expr` appends nodes to its `Tape`; one rule table removes zeros, ones and signs.

A node is a tuple (op, operand, ...): ("input", variable, position), ("const", number), or an operation on earlier nodes given by
their index; ("above", operand, floor, otherwise) has two numbers besides, and ("where", c, a, b) is a where c > 0, else b. Nodes
stay in the order of creation, which is a topological order.

`folding` applies the rules below; `sharing` gives equal expressions one node. With both off the tape holds what the source wrote.
Folding 0 * x to 0 means that NaN and infinity in x do not reach results that do not depend on x.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from dalembert.algebra.precise import nearest
from dalembert.errors import Error, brief

Node = tuple[Any, ...]
BINARY = ("add", "sub", "mul", "div")
SYMMETRIC = ("add", "mul")
LEAVES = ("input", "const")
PLAIN = (float, int)


class Tape:
    """The nodes recorded so far."""

    def __init__(self, folding: bool = True, sharing: bool = True) -> None:
        self.nodes: list[Node] = []
        self.folding, self.sharing = folding, sharing
        self._index: dict[Any, int] = {}

    def node(self, *node: Any) -> "Expr":
        """A new node, or the one that exists already."""
        nodes = self.nodes
        if self.sharing or node[0] in LEAVES:
            key = (node[0], node[2], node[1]) if node[0] in SYMMETRIC and node[1] > node[2] else node
            index = self._index.setdefault(key, len(nodes))
            if index < len(nodes):
                return Expr(self, index)
        nodes.append(node)
        return Expr(self, len(nodes) - 1)

    def find(self, *key: Any) -> "Expr | None":
        """The node of an operation, if it was recorded."""
        index = self._index.get(key)
        return None if index is None else Expr(self, index)

    def lift(self, x: Any) -> "Expr":
        """A number as a node."""
        if type(x) is Expr:
            if x.tape is not self:
                raise Error("a traced scalar of one recording was used in another")
            return x
        if type(x) in PLAIN:
            return self.node("const", x)
        if not isinstance(x, Number):
            raise Error(f"recording needs numbers, got {brief(x)}")
        return self.node("const", x.item() if isinstance(x, np.generic) else _rounded(x))

    def raw(self, op: str, *operands: Any) -> "Expr":
        """An operation as it stands, no rule applied."""
        return self.node(op, *[x.index if type(x) is Expr else self.lift(x).index for x in operands])


class Rounded(float):
    """A constant that is not a float: the nearest float, which remembers the fraction. What is made of it later is made of that."""

    __slots__ = ("fraction",)

    fraction: Fraction

    def __new__(cls, fraction: Fraction) -> "Rounded":
        """The float next to a fraction."""
        made = super().__new__(cls, fraction)
        made.fraction = fraction
        return made

    def __neg__(self) -> "Rounded":
        """As exact as it is."""
        return Rounded(-self.fraction)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rounded, (self.fraction,)


def unrounded(x: Any) -> Any:
    """The exact value of a constant; integers and non-finite values are unchanged."""
    if isinstance(x, Rounded):
        return x.fraction
    return Fraction(x) if isinstance(x, float) and math.isfinite(x) else x


def is_rounded(c: Any) -> bool:
    """Whether a constant of a program is not exactly the float that it becomes.

    >>> is_rounded(0.5), is_rounded(Rounded(Fraction(1, 3))), is_rounded(2**53 + 1)
    (False, True, True)
    """
    return isinstance(c, Rounded) or (math.isfinite(near := float(c)) and unrounded(near) != c)


def _rounded(x: Any) -> Any:
    """A number as a program holds it: fractions, in which constants are combined, are rounded where they meet an input."""
    if not isinstance(x, Fraction):
        return x
    above, below = ratio = x.as_integer_ratio()
    try:
        value = above / below
    except OverflowError:
        return nearest(x)
    return value if value.as_integer_ratio() == ratio else Rounded(x)


def _operator(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operator and its reflection. Sums and products of scalars without a sign, most of all operations, take a short way."""
    symmetric = op in SYMMETRIC

    def operate(self: "Expr", other: Any) -> Any:
        tape = self.tape
        if type(other) is not Expr:
            other = _number(other)
            if other is NotImplemented:
                return other
        elif other.tape is not tape:
            tape.lift(other)  # which refuses it
        elif symmetric and tape.nodes[self.index][0] != "neg" and tape.nodes[other.index][0] != "neg":
            return tape.node(op, self.index, other.index)
        return _RULES[op](tape, self, other) if tape.folding else tape.raw(op, self, other)

    def reflected(self: "Expr", other: Any) -> Any:
        tape, other = self.tape, _number(other)
        if other is NotImplemented:
            return other
        return _RULES[op](tape, other, self) if tape.folding else tape.raw(op, other, self)

    return operate, reflected


def _number(x: Any) -> Any:
    """A number as programs hold it; NotImplemented for arrays, over which NumPy loops itself.

    This runs for every other operation, so it tests the common types first: isinstance(x, Number) takes ten times as long.
    """
    kind = type(x)
    if kind in PLAIN:
        return x
    return _rounded(x) if kind is Fraction or isinstance(x, Number) else NotImplemented


class Expr:
    """A traced scalar: behaves like a number, has no value."""

    __slots__ = ("index", "tape")

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape, self.index = tape, index

    @property
    def _node(self) -> Node:
        return self.tape.nodes[self.index]

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")

    def __pow__(self, power: Any) -> Any:
        if not isinstance(power, int | np.integer) or not 0 <= power <= 16:
            raise TypeError(f"traced scalars have integer powers from 0 to 16, got {power!r}")
        result: Any = 1
        for bit in bin(power)[2:]:  # square and multiply
            result = result * result * self if bit == "1" else result * result
        return result

    def __neg__(self) -> Any:
        return _negated(self)

    def __pos__(self) -> "Expr":
        return self

    def sqrt(self) -> "Expr":
        """Square root."""
        return self.tape.raw("sqrt", self)

    def sin(self) -> Any:
        """Sine; of a negated angle, the negated sine."""
        if self.tape.folding and self._node[0] == "neg":
            return -Expr(self.tape, self._node[1]).sin()
        return self.tape.raw("sin", self)

    def cos(self) -> Any:
        """Cosine; of a negated angle, the same cosine."""
        if self.tape.folding and self._node[0] == "neg":
            return Expr(self.tape, self._node[1]).cos()
        return self.tape.raw("cos", self)

    def sign(self) -> "Expr":
        """-1, 0 or 1."""
        return self.tape.raw("sign", self)

    def above(self, floor: float, otherwise: float) -> "Expr":
        """Itself where it is above a number, else another number."""
        return self.tape.node("above", self.index, float(floor), float(otherwise))

    def where(self, a: Any, b: Any) -> Any:
        """a where it is above 0, else b."""
        if self.tape.folding and (a is b or (type(a) is type(b) and a == b)):
            return a
        return self.tape.raw("where", self, a, b)

    def conjugate(self) -> "Expr":
        """The same: traced scalars stand for real numbers (complex ones may be replayed through them)."""
        return self

    def __bool__(self) -> bool:
        raise TypeError("a traced scalar has no value: a formulation must not branch on numbers")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and other.tape is self.tape and other.index == self.index

    def __hash__(self) -> int:
        return hash((id(self.tape), self.index))

    def __repr__(self) -> str:
        return f"<Expr {self.index}: {self._node[0]}>"


# --- the rules ----------------------------------------------------------------------------------------------------------


def _inside(x: Expr) -> Expr | None:
    """y where x is the node -y, else None."""
    node = x.tape.nodes[x.index]
    return Expr(x.tape, node[1]) if node[0] == "neg" else None


def _negated(x: Any) -> Any:
    if type(x) is not Expr:
        return -x
    inner = _inside(x) if x.tape.folding else None
    return x.tape.node("neg", x.index) if inner is None else inner


def _add(tape: Tape, a: Any, b: Any) -> Any:
    if type(a) is not Expr and a == 0:
        return b
    if type(b) is not Expr and b == 0:
        return a
    (x, minus_x), (y, minus_y) = _unsigned(a), _unsigned(b)
    if minus_y:
        return _negated(_add(tape, x, y)) if minus_x else _sub(tape, a, y)
    return _sub(tape, b, x) if minus_x else tape.raw("add", a, b)


def _sub(tape: Tape, a: Any, b: Any) -> Any:
    if type(b) is not Expr and b == 0:
        return a
    if type(a) is not Expr and a == 0:
        return _negated(b)
    (x, minus_x), (y, minus_y) = _unsigned(a), _unsigned(b)
    if minus_y:
        return _sub(tape, y, x) if minus_x else _add(tape, a, y)
    if minus_x:
        return _negated(_add(tape, x, b))
    a, b = tape.lift(a), tape.lift(b)
    if a.index == b.index:
        return 0
    other = tape.find("sub", b.index, a.index)
    return tape.raw("sub", a, b) if other is None else _negated(other)


def _unsigned(x: Any) -> tuple[Any, bool]:
    """x without its sign, and whether it had one."""
    if type(x) is not Expr:
        return (-x, True) if not isinstance(x, complex) and x < 0 else (x, False)
    inner = _inside(x)
    return (x, False) if inner is None else (inner, True)


def _mul(tape: Tape, a: Any, b: Any) -> Any:
    (a, minus_a), (b, minus_b) = _unsigned(a), _unsigned(b)
    number, product = (b, a) if type(a) is Expr else (a, b)
    if type(number) is Expr or (number != 0 and number != 1):
        product = tape.raw("mul", a, b)
    elif number == 0:
        return 0
    return _negated(product) if minus_a != minus_b else product


def _div(tape: Tape, a: Any, b: Any) -> Any:
    if type(b) is not Expr and b == 0:
        raise Error("division by a structural zero while recording")
    if type(a) is not Expr and a == 0:
        return 0
    (a, minus_a), (b, minus_b) = _unsigned(a), _unsigned(b)
    quotient = a if type(b) is not Expr and b == 1 else 1 if type(a) is Expr and a == b else tape.raw("div", a, b)
    return _negated(quotient) if minus_a != minus_b else quotient


_RULES: dict[str, Callable[[Tape, Any, Any], Any]] = {"add": _add, "sub": _sub, "mul": _mul, "div": _div}
