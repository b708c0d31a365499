"""How far the rounded ends of an enclosing program may lie from the exact ones: one number for each node, before anything is run.

Let a box B and all its sub-boxes be enclosed (`spans`), let A be the exact end of a node for some sub-box, and A~ what is computed.
By induction over the nodes |A~ - A| <= E, with the E below. Intervals of sub-boxes lie in those of B (inclusion is monotone), so
|A| <= V and |A~| <= V + E, where V is the greatest absolute value in the interval of B, and m <= |A|, m - E <= |A~|, where m is the
least. With u = 2^-53, each operation rounds its exact result r by at most u |r|, or less where products and sums are fused:

    a + b, a - b   E = Ea + Eb + u (V + Ea + Eb)
    a b            E = Va Eb + Vb Ea + Ea Eb + u (Va + Ea)(Vb + Eb)
    1 / b          E = Eb / (m (m - Eb)) + u / (m - Eb), m that of b; unbounded if m <= Eb
    sqrt a         E = min(Ea / sqrt(m - Ea), sqrt(Ea)) + u (V + E)
    sin a, cos a   E = Ea + 4 u + (4 u Va)^2

Taking the lesser or greater of two numbers, as products and choices do, adds nothing: |min(a~, b~) - min(a, b)| <= max(Ea, Eb). The
extremes of sine over an interval change by no more than its ends do, sine and cosine themselves are computed to 2 u, and where a
turning point is misjudged, an end is within 4 u Va of it, where the sine has changed by half the square of that. Sign and `where`
are not continuous: they are asked at ends that are moved outward by E ("slack"), which makes their choices exact. A constant that
is no float is rounded by u of it.

The ends of B's own intervals are computed here, too, with rounding, and B is one of its sub-boxes: they are within E of the exact
ones. After a cancellation that may be much of V. So the formulas take V~ + E in place of V, V~ + 2 E in place of V + E, m~ - E in
place of m, and m~ - 2 E in place of m - E, of the computed V~ and m~. All terms are positive, so what their evaluation
rounds is below a share of 1e-9, added; m~ - 2 E is the only difference, and counts as 0 where it is below a millionth of m~.

So the exact interval lies within the computed one, moved outward by E. Moving it rounds once more, which `Known.margin` covers:
with M = E + 2 u (V~ + 2 E), M >= E + u (|A~| + M). This costs nothing while the program runs.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.trace.expr import is_rounded
from dalembert.trace.intervals import spans
from dalembert.trace.intervals.spans import Span
from dalembert.trace.program import Program

U = 2.0**-53
MORE, LEAST = 1 + 1e-9, 1e-300  # the latter covers underflow


def lost(terms: int) -> float:
    """What adding so many terms, each of a few factors, may lose: this share of the sum of their absolute values.

    >>> lost(100) < 1e-13
    True
    """
    return 2 * U * (terms + 16)


class Known(NamedTuple):
    """Of a node over a box: an interval that holds its values, and the error of both ends of every enclosure in the box."""

    low: float
    high: float
    error: float

    @property
    def size(self) -> float:
        """V~ + E: no exact end is larger."""
        return max(-self.low, self.high) + self.error

    @property
    def reach(self) -> float:
        """V~ + 2 E: no computed end is larger."""
        return self.size + self.error

    @property
    def least(self) -> float:
        """m~, the least absolute value; 0 if there is 0 among them."""
        return max(0.0, self.low, -self.high)

    @property
    def gap(self) -> float:
        """m~ - 2 E: no computed end is smaller; 0 if that is next to nothing."""
        gap = self.least - 2 * self.error
        return gap if gap > 1e-6 * self.least else 0.0

    @property
    def margin(self) -> float:
        """By how much computed ends must move outward, if moving them rounds."""
        return self.error + 2 * U * self.reach if self.error else 0.0


UNKNOWN = Known(-math.inf, math.inf, math.inf)


def errors(program: Program, inputs: Sequence[Sequence[tuple[float, float]]]) -> list[Known]:
    """What is known of every node, for all boxes within one: `inputs` has the ends of each scalar.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x[0] * x[1], {"x": (2,)})
    >>> known = errors(p, [[(-1.0, 2.0), (0.0, 3.0)]])[p.results[0]]
    >>> known.low, known.high, known.error < 1e-15
    (-3.0, 6.0, True)
    """
    found: list[Known] = []
    for op, *rest in program.nodes:
        if op == "input":
            low, high = inputs[rest[0]][rest[1]]
            found.append(Known(low, high, 0.0))
            continue
        made = _constant(rest[0]) if op == "const" else _step(found, op, rest)
        made = made._replace(error=made.error * MORE)
        finite = math.isfinite(made.low) and math.isfinite(made.high) and math.isfinite(made.reach)
        found.append(made if finite or op == "const" else UNKNOWN)
    return found


def _constant(c: Any) -> Known:
    x = float(c)
    return Known(x, x, U * abs(x) + LEAST if is_rounded(c) else 0.0)


def _step(found: list[Known], op: str, rest: list[Any]) -> Known:
    a = found[rest[0]]
    match op:
        case "add" | "sub":
            b = found[rest[1]] if op == "add" else _negative(found[rest[1]])
            return Known(a.low + b.low, a.high + b.high, a.error + b.error + U * (a.reach + b.reach))
        case "mul":
            return _square(a) if rest[0] == rest[1] else _product(a, found[rest[1]])
        case "div":
            return _product(a, _reciprocal(found[rest[1]]))
        case "neg":
            return _negative(a)
        case "sqrt":
            low, high = math.sqrt(max(a.low, 0.0)), math.sqrt(max(a.high, 0.0))
            error = min(a.error / math.sqrt(a.gap) if a.gap > 0 else math.inf, math.sqrt(a.error))
            return Known(low, high, error + U * (high + 2 * error) + LEAST)
        case "sin" | "cos":
            if not math.isfinite(a.reach):
                return UNKNOWN
            low, high = (spans.sine if op == "sin" else spans.cosine)(Span(a.low, a.high))
            missed = 4 * U * a.reach
            return Known(float(low), float(high), a.error + 4 * U + missed * missed)
        case "sign":
            low, high = a.low - 4 * a.error, a.high + 4 * a.error  # the ends that are asked are moved outward
            return Known(float((low > 0) - (low < 0)), float((high > 0) - (high < 0)), 0.0)
        case "where":
            b, c = found[rest[1]], found[rest[2]]
            return Known(min(b.low, c.low), max(b.high, c.high), max(b.error, c.error))
        case _:  # above
            return Known(max(a.low, rest[1]), max(a.high, rest[1]), a.error)


def _negative(a: Known) -> Known:
    return Known(-a.high, -a.low, a.error)


def _product(a: Known, b: Known) -> Known:
    ends = [0.0 if x == 0 or y == 0 else x * y for x in a[:2] for y in b[:2]]
    error = a.size * b.error + a.error * b.reach + U * a.reach * b.reach + LEAST
    return Known(min(ends), max(ends), error)


def _square(a: Known) -> Known:
    product = _product(a, a)
    return product._replace(low=a.least * a.least)


def _reciprocal(b: Known) -> Known:
    if b.gap <= 0:
        return UNKNOWN
    error = b.error / b.gap / (b.gap + b.error) + U / b.gap + LEAST  # no product, which may underflow
    return Known(1 / b.high, 1 / b.low, error)
