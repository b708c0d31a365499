"""One step of branch and bound as a program: from a box, a bound of one result in it, and the two parts of a smaller box.

`bounding` has the formulas.
"""

import math
import operator
from functools import reduce
from typing import Any

import numpy as np

from dalembert.trace.intervals import spans
from dalembert.trace.intervals.bounding import Step
from dalembert.trace.intervals.degrees import Key
from dalembert.trace.intervals.spans import Span, absolute, add, least, magnitude, most, mul, point, where
from dalembert.trace.program import Program, trace

NARROW = 1e-12  # what is not wider is not cut


def step_program(step: Step, outward: bool) -> Program:
    """The step: boxes (low, high) of y and z, side (1 or -1), slack, fixed inputs -> bound of side f, and the two parts of the box.

    The parts are lower to middle and centre to upper; they differ in one input, whose change is worth `gain`, 0 where there is
    nothing left to cut. The margin must be added to the bound.
    """
    g = step.groups
    wide, marks = len(g.wide), len(step.kinds)
    shapes = {"low": (wide,), "high": (wide,), "side": ()}
    shapes |= {"slack": (len(g.y) + 2 * len(g.z) + marks,)} | ({"thin": (len(g.thin),)} if g.thin else {})

    def body(low: Any, high: Any, side: Any, slack: Any, thin: Any = ()) -> Any:
        return _Box(step, list(low), list(high), side[()], list(slack), list(thin), outward).result()

    return trace(body, shapes, outputs=("bound", "gain", "lower", "middle", "centre", "upper"))


class _Box:
    """The computation of a step on traced scalars."""

    def __init__(
        self, step: Step, low: list[Any], high: list[Any], sign: Any, slack: list[Any], thin: list[Any], outward: bool
    ) -> None:
        self.step, self.low, self.high, self.sign, self.outward = step, low, high, sign, outward
        g, ny, nz = step.groups, len(step.groups.y), len(step.groups.z)
        self.slack_y, self.slack_z = slack[:ny], slack[ny : ny + nz]
        self.slack_curve = slack[ny + nz : ny + 2 * nz]
        box = dict(zip(g.wide, (Span(a, b) for a, b in zip(low, high, strict=True)), strict=True))
        fixed = dict(zip(g.thin, map(point, thin), strict=True))
        self.jumps = self._jumps(box | fixed, slack[ny + 2 * nz :])
        y = [*(box[key] for key in g.y), *(self.jumps[j] for j in g.jumps_y)]
        z = [*(box[key] for key in g.z), *(self.jumps[j] for j in g.jumps_z)]
        self.y0, self.z0 = ([(x.low + x.high) / 2 for x in some] for some in (y, z))
        self.radius = [most(x.high - c, c - x.low) for x, c in zip(y, self.y0, strict=True)]
        self.dz = [Span(x.low - c, x.high - c) for x, c in zip(z, self.z0, strict=True)]
        middle = [list(map(point, some)) for some in (self.y0, self.z0, thin)]
        here = spans.enclosed(step.values, middle, outward=outward)
        self.there = spans.enclosed(step.slopes, [y, *middle[1:]], outward=outward)
        count = len(step.monomials)
        self.c0 = [here.spans[i] for i in step.values.results]
        self.c = [self.there.spans[i] for i in step.slopes.results[:count]]
        rest = step.slopes.results[count:]
        self.d = [[self.there.spans[i] for i in rest[len(y) * m : len(y) * (m + 1)]] for m in range(count)]

    def _jumps(self, box: dict[Key, Span], slack: list[Any]) -> list[Span]:
        """What each jump may be."""
        program = self.step.jumps
        if not program.results:
            return []
        inputs = [[box.get((k, j), point(0)) for j in range(v.size)] for k, v in enumerate(program.inputs)]
        allowed = dict(zip(program.results, slack, strict=True))
        made = spans.enclosed(program, inputs, outward=self.outward, slack=lambda i: allowed.get(i, 0))
        found: list[Span] = []
        for i, kind, loose in zip(program.results, self.step.kinds, slack, strict=True):
            c = made.result(i)
            found.append(spans.signs(c, loose) if kind == "sign" else Span(where(c.low - loose, 1, 0), where(c.high + loose, 1, 0)))
        return found

    def signed(self, a: Span) -> Span:
        """sign a."""
        return Span(where(self.sign, a.low, -a.high), where(self.sign, a.high, -a.low))

    def undecided(self, key: Key) -> Any:
        """Positive where a jump that depends on an input is not decided; None if there is none."""
        widths = [t.high - t.low for t, cone in zip(self.jumps, self.step.cone, strict=True) if key in cone]
        return sum(widths[1:], widths[0]) if widths else None

    def contracted(self, key: Key, slope: Span, slack: Any) -> tuple[Any, Any]:
        """Positive where the maximum is at the upper end, and at the lower end, of an input: df/dx has one sign."""
        up, down = slope.low - slack, -slack - slope.high
        loose = self.undecided(key)
        return (up, down) if loose is None else (where(loose, -1, up), where(loose, -1, down))

    def result(self) -> Any:
        """All outputs."""
        g, step = self.step.groups, self.step
        curve = {m: c for m, c in zip(step.monomials, self.c, strict=True) if len(m) == 2}
        radius_z = [most(-x.low, x.high) for x in self.dz]
        moves: list[tuple[Any, Any]] = []
        ranges, scores_z = list(self.dz), list[Any]()
        for k, key in enumerate(g.z):
            spread = reduce(operator.add, (magnitude(c) * radius_z[m[0] + m[1] - k] for m, c in curve.items() if k in m), 0)
            slope = self.signed(dict(zip(step.monomials, self.c, strict=True)).get((k,), point(0)))
            more = self.slack_z[k] + spread * (1 + step.lost) + (magnitude(slope) * step.lost if self.outward else 0)
            up, down = self.contracted(key, slope, more)
            moves.append((up, down))
            ranges[k] = Span(where(up, self.dz[k].high, self.dz[k].low), where(down, self.dz[k].low, self.dz[k].high))
            scores_z.append(where(up, 0, where(down, 0, spread * radius_z[k])))
        monomials = [self.signed(self._monomial(m, ranges)) if m else point(self.sign) for m in step.monomials]
        bound, slopes = self._bound(monomials)
        scores_y: list[Any] = []
        moves_y: list[tuple[Any, Any]] = []
        for i, key in enumerate(g.y):
            up, down = self.contracted(key, slopes[i][0], self.slack_y[i] + slopes[i][1])
            moves_y.append((up, down))
            scores_y.append(where(up, 0, where(down, 0, magnitude(slopes[i][0]) * self.radius[i])))
        convex = [self._convex(key, curve.get((k, k)), self.slack_curve[k]) for k, key in enumerate(g.z)]
        return self._outputs(bound, [*moves_y, *moves], [*scores_y, *scores_z], [*[0] * len(g.y), *convex], monomials)

    def _convex(self, key: Key, curvature: Span | None, slack: Any) -> Any:
        """Positive where the maximum is at one of the two ends of an input: sign f is convex, and does not jump."""
        if curvature is None:
            return 0
        bent, loose = self.signed(curvature).low - slack, self.undecided(key)
        return bent if loose is None else where(loose, -1, bent)

    @staticmethod
    def _monomial(m: tuple[int, ...], ranges: list[Span]) -> Span:
        if len(m) == 1:
            return ranges[m[0]]
        return mul(spans.square(ranges[m[0]]), point(0.5)) if m[0] == m[1] else mul(ranges[m[0]], ranges[m[1]])

    def _bound(self, monomials: list[Span]) -> tuple[Any, list[tuple[Span, Any]]]:
        """The bound, and the slopes of sign f by all of y with what their sums may have lost."""
        natural = [mul(c, mu) for c, mu in zip(self.c, monomials, strict=True)]
        middle = [mul(c, mu).high for c, mu in zip(self.c0, monomials, strict=True)]
        slopes: list[tuple[Span, Any]] = []
        for i in range(len(self.y0)):
            terms = [mul(row[i], mu) for row, mu in zip(self.d, monomials, strict=True)]
            terms = list(map(spans.finite, terms)) if self.outward else terms
            lost = sum(map(magnitude, terms), 0) * self.step.lost if self.outward else 0
            slopes.append((reduce(add, terms), lost))
        changes = [(magnitude(s) + lost) * r for (s, lost), r in zip(slopes, self.radius, strict=True)]
        first, second = (reduce(operator.add, terms, 0) for terms in ([x.high for x in natural], [*middle, *changes]))
        if self.outward:
            first = first + self.step.lost * reduce(operator.add, [absolute(x.high) for x in natural], 0)
            second = second + self.step.lost * reduce(operator.add, [absolute(x) for x in [*middle, *changes]], 0)
        return self._guarded(first, second), slopes

    def _guarded(self, natural: Any, mean: Any) -> Any:
        """The lesser bound; infinite where a quotient is, and the first alone where only slopes are not bounded."""
        count, results, there = len(self.step.monomials), self.step.slopes.results, self.there
        values, slopes = (
            [guard for bit, guard in enumerate(there.guards) if any(there.needs[i] >> bit & 1 for i in part)]
            for part in (results[:count], results[count:])
        )
        bound = least(natural, mean)
        for guard in slopes:
            bound = where(guard, bound, natural)
        for guard in values:
            bound = where(guard, bound, math.inf)
        return bound

    def _outputs(
        self, bound: Any, moves: list[tuple[Any, Any]], scores: list[Any], convex: list[Any], monomials: list[Span]
    ) -> Any:
        widths = [b - a for a, b in zip(self.low, self.high, strict=True)]
        scores = [self._with_jumps(key, s, w, monomials) for key, s, w in zip(self.step.groups.wide, scores, widths, strict=True)]
        count = len(self.step.groups.y) or len(widths)
        for guard in self.there.guards:  # nothing is known: halve the widest of y, on which the guards depend
            moves = [(where(guard, up, -1), where(guard, down, -1)) for up, down in moves]
            convex = [where(guard, x, 0) for x in convex]
            scores = [where(guard, s, w if i < count else 0) for i, (s, w) in enumerate(zip(scores, widths, strict=True))]
        lower = [where(up, b, a) for (up, _), a, b in zip(moves, self.low, self.high, strict=True)]
        upper = [where(down, a, b) for (_, down), a, b in zip(moves, self.low, self.high, strict=True)]
        best, cut = scores[0], 0
        for i in range(1, len(scores)):
            better = scores[i] - best
            cut, best = where(better, i, cut), where(better, scores[i], best)
        middle, centre, width = [], [], 0
        for i, (a, b) in enumerate(zip(lower, upper, strict=True)):
            here = 0.5 - absolute(cut - i)
            half = (a + b) / 2
            middle.append(where(here, where(convex[i], a, half), b))
            centre.append(where(here, where(convex[i], b, half), a))
            width = where(here, b - a, width)
        gain = where(width - NARROW, best, 0)
        return tuple(np.array(x, dtype=object) for x in (bound, gain, lower, middle, centre, upper))

    def _with_jumps(self, key: Key, score: Any, width: Any, monomials: list[Span]) -> Any:
        """How worthwhile a cut is, with the jumps that it may decide."""
        g, ny, nz = self.step.groups, len(self.step.groups.y), len(self.step.groups.z)
        terms = dict(zip(self.step.monomials, zip(self.c, monomials, strict=True), strict=True))
        for place, j in enumerate(g.jumps_z):
            if key in self.step.cone[j] and (nz + place,) in terms:
                c, _ = terms[nz + place,]
                score = score + magnitude(c) * (self.jumps[j].high - self.jumps[j].low) * width
        for place, j in enumerate(g.jumps_y):
            if key in self.step.cone[j]:
                score = score + magnitude(self.d[0][ny + place]) * (self.jumps[j].high - self.jumps[j].low) * width
        return score
