"""Programs on intervals whose two ends are traced scalars: the recording is a program that encloses another one.

Every end is made of + - * /, sqrt, sine and cosine of ends, and of the lesser and greater of two, `where(a - b, b, a)`. So an
enclosing program compiles like any other, with a box in each lane. Its rounding is covered in one of two ways: by an error bound
for the whole program, known beforehand (`rounding`), or, with `outward`, by moving both ends outward after each operation.

A quotient by an interval that holds 0 is unbounded. That is not computed with infinities, whose products with 0 would have no
value: a *guard* is recorded, a number that is positive where the quotient has bounds, and whoever writes results asks the guards of
each.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from dalembert.algebra import scalars
from dalembert.trace.expr import Expr, is_rounded
from dalembert.trace.program import Program

STEP = 2.0**-51  # by this share of it an end moves outward: four times the error of one rounding, as sine and cosine need
BIG = 1.7e308
LEAST = 1e-300  # and by this, so that underflow is covered


class Span(NamedTuple):
    """An interval: two ends, numbers or traced scalars."""

    low: Any
    high: Any

    @property
    def thin(self) -> bool:
        """Whether it is known to be a single number."""
        return bool(self.low == self.high)


def where(c: Any, a: Any, b: Any) -> Any:
    """a where c is above 0, else b."""
    return c.where(a, b) if type(c) is Expr else a if c > 0 else b


def point(x: Any) -> Span:
    """The interval of one number."""
    return Span(x, x)


def least(a: Any, b: Any) -> Any:
    """The lesser of two scalars."""
    a, b = _ordered(a, b)
    return min(a, b) if _number(a) and _number(b) else where(a - b, b, a)


def most(a: Any, b: Any) -> Any:
    """The greater of two scalars."""
    a, b = _ordered(a, b)
    return max(a, b) if _number(a) and _number(b) else where(a - b, a, b)


def magnitude(a: Span) -> Any:
    """The greatest absolute value in an interval."""
    return most(-a.low, a.high)


def absolute(x: Any) -> Any:
    """|x|."""
    return abs(x) if _number(x) else where(x, x, -x)


def _number(x: Any) -> bool:
    return type(x) is not Expr


def _ordered(a: Any, b: Any) -> tuple[Any, Any]:
    """Two scalars in the order of recording, so that the lesser and the greater of them share one comparison."""
    return (b, a) if not _number(a) and not _number(b) and a.index > b.index else (a, b)


# --- arithmetic ---------------------------------------------------------------------------------------------------------


def add(a: Span, b: Span) -> Span:
    """a + b."""
    return point(a.low + b.low) if a.thin and b.thin else Span(a.low + b.low, a.high + b.high)


def sub(a: Span, b: Span) -> Span:
    """a - b."""
    return point(a.low - b.low) if a.thin and b.thin else Span(a.low - b.high, a.high - b.low)


def neg(a: Span) -> Span:
    """-a."""
    return point(-a.low) if a.thin else Span(-a.high, -a.low)


def mul(a: Span, b: Span) -> Span:
    """a b: of all products of two ends the least and the greatest."""
    if a.thin and b.thin:
        return point(a.low * b.low)
    if b.thin:
        a, b = b, a
    if a.thin and _number(a.low):
        return Span(a.low * b.low, a.low * b.high) if a.low >= 0 else Span(a.low * b.high, a.low * b.low)
    ends = [a.low] if a.thin else [a.low, a.high]
    products = [x * y for x in ends for y in b]
    return Span(reduce(least, products), reduce(most, products))


def square(a: Span) -> Span:
    """a^2, never negative."""
    if a.thin:
        return point(a.low * a.low)
    low, high = a.low * a.low, a.high * a.high
    return Span(where(a.low, low, where(a.high, 0, high)), most(low, high))


def reciprocal(b: Span) -> Span:
    """1 / b, where its guard is positive."""
    return point(1 / b.low) if b.thin else Span(1 / b.high, 1 / b.low)


def apart(b: Span) -> Any:
    """The guard of a quotient by b: positive where b does not hold 0."""
    return absolute(b.low) if b.thin else where(b.low, b.low, -b.high)


def root(a: Span) -> Span:
    """The square root of what is not negative in a."""
    low = scalars.sqrt(most(a.low, 0))
    return point(low) if a.thin else Span(low, scalars.sqrt(most(a.high, 0)))


def sine(a: Span) -> Span:
    """The sines of an interval."""
    (c, s), (d, t) = scalars.cos_sin(a.low), scalars.cos_sin(a.high)
    return point(s) if a.thin else _turning(a, s, t, c, d)


def cosine(a: Span) -> Span:
    """The cosines of an interval."""
    (c, s), (d, t) = scalars.cos_sin(a.low), scalars.cos_sin(a.high)
    return point(c) if a.thin else _turning(a, c, d, -s, -t)


def _turning(a: Span, first: Any, last: Any, begins: Any, ends: Any) -> Span:
    """The values of a sine between two ends, from the values and slopes there.

    Where it turns between them is seen from the signs of the slopes. In less than half a turn it has a maximum if it rises at first
    and falls at last; in half a turn or more it has one unless it falls at first and rises at last; in a turn it has both.
    """
    width, low, high = a.high - a.low, least(first, last), most(first, last)
    top_short, top_long = where(begins, where(ends, high, 1), high), where(begins, 1, where(ends, high, 1))
    low_short, low_long = where(begins, low, where(ends, -1, low)), where(begins, where(ends, -1, low), -1)
    half, whole = width - math.pi, width - 2 * math.pi
    return Span(where(whole, -1, where(half, low_long, low_short)), where(whole, 1, where(half, top_long, top_short)))


def either(c: Span, a: Span, b: Span, slack: Any = 0) -> Span:
    """a where c is above 0, else b; where c, known to within `slack`, may be both, an interval that holds both."""
    above, below = c.low - slack, c.high + slack

    def end(x: Any, y: Any, both: Any) -> Any:
        return where(above, x, where(below, both, y))

    return Span(end(a.low, b.low, least(a.low, b.low)), end(a.high, b.high, most(a.high, b.high)))


def signs(a: Span, slack: Any = 0) -> Span:
    """-1, 0 or 1 at both ends of an interval whose ends are known to within `slack`."""
    return Span(scalars.sign(a.low - slack), scalars.sign(a.high + slack))


def widened(a: Span) -> Span:
    """An interval whose ends have moved outward by more than one rounding; all numbers, where one has overflowed."""
    return finite(Span(a.low - (absolute(a.low) * STEP + LEAST), a.high + (absolute(a.high) * STEP + LEAST)))


def finite(a: Span) -> Span:
    """a, or all numbers where an end is infinite or has no value: the lesser of a number and of none may be either."""
    known = BIG - (absolute(a.low) + absolute(a.high))
    return Span(where(known, a.low, -math.inf), where(known, a.high, math.inf))


# --- programs -----------------------------------------------------------------------------------------------------------


class Enclosed(NamedTuple):
    """What encloses a program: an interval for each node, and which guards each needs, as bits of a whole number."""

    spans: list[Span]
    needs: list[int]
    guards: list[Any]

    def result(self, i: int) -> Span:
        """The interval of a node; unbounded where one of its guards is not positive."""
        low, high = self.spans[i]
        for k, guard in enumerate(self.guards):
            if self.needs[i] >> k & 1:
                low, high = where(guard, low, -math.inf), where(guard, high, math.inf)
        return Span(low, high)


def enclosed(
    program: Program, inputs: Sequence[Sequence[Span]], *, outward: bool = False, slack: Callable[[int], Any] = lambda i: 0
) -> Enclosed:
    """The intervals of all nodes of a program, from those of its inputs.

    `slack(i)` is by how much the ends of node i may be wrong, where a choice depends on it; `outward` makes it needless.
    """
    made = Enclosed([], [], [])
    for op, *rest in program.nodes:
        if op == "input":
            k, j = map(int, rest)
            span, needs = inputs[k][j], 0
        elif op == "const":
            span, needs = _constant(rest[0], outward), 0
        else:
            span, needs = _step(made, op, rest, slack)
            if outward and op not in ("neg", "sign", "where", "above"):
                span = widened(span)
        made.spans.append(span)
        made.needs.append(needs)
    return made


def _constant(c: Any, outward: bool) -> Span:
    near = float(c)
    return Span(math.nextafter(near, -math.inf), math.nextafter(near, math.inf)) if outward and is_rounded(c) else point(near)


def _step(made: Enclosed, op: str, rest: list[Any], slack: Callable[[int], Any]) -> tuple[Span, int]:
    """One operation on intervals, and the guards of the result."""
    if op == "above":
        x, floor = made.spans[rest[0]], rest[1]
        return x, made.needs[rest[0]] | _guard(made, x.low - slack(rest[0]) - floor)
    a, needs = made.spans[rest[0]], reduce(int.__or__, (made.needs[k] for k in rest))
    if op == "where":
        c, x, y = (made.spans[k] for k in rest)
        return either(c, x, y, slack(rest[0])), _of_both(made, c, rest, slack(rest[0]))
    if op == "div":
        b = made.spans[rest[1]]
        if b.thin and _number(b.low):
            return (Span(a.low / b.low, a.high / b.low) if b.low > 0 else Span(a.high / b.low, a.low / b.low)), needs
        return mul(a, reciprocal(b)), needs | _guard(made, apart(b))
    if op == "mul":
        return square(a) if rest[0] == rest[1] else mul(a, made.spans[rest[1]]), needs
    if op == "sign":
        return signs(a, slack(rest[0])), needs
    if op in ("add", "sub"):
        return (add if op == "add" else sub)(a, made.spans[rest[1]]), needs
    return {"neg": neg, "sqrt": root, "sin": sine, "cos": cosine}[op](a), needs


def _guard(made: Enclosed, guard: Any) -> int:
    """The bit of a guard, which is new or known."""
    if guard not in made.guards:
        made.guards.append(guard)
    return 1 << made.guards.index(guard)


def _of_both(made: Enclosed, c: Span, rest: list[int], slack: Any) -> int:
    """The guards of a choice: those of an alternative count only where it may be taken."""
    needs = made.needs[rest[0]]
    for k, taken in ((rest[1], lambda g: where(c.high + slack, g, 1)), (rest[2], lambda g: where(c.low - slack, 1, g))):
        for bit in range(made.needs[k].bit_length()):
            if made.needs[k] >> bit & 1:
                needs |= _guard(made, taken(made.guards[bit]))
    return needs
