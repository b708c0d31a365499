"""Programs that enclose all results of another program over a box, in two ways: as intervals, and by the mean value form."""

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.trace.differentiate import differentiate, rows
from dalembert.trace.intervals import spans
from dalembert.trace.intervals.rounding import errors, lost
from dalembert.trace.intervals.spans import BIG, Span, add, least, most, mul, point, where
from dalembert.trace.program import Program, trace

Ends = Sequence[Sequence[tuple[float, float]]]


class Enclosing(NamedTuple):
    """A program to enclose: which of its inputs have a width, how much is asked, and whether every end is moved outward."""

    program: Program
    moving: tuple[int, ...]  # inputs by which the mean value form differentiates; none: there is no such form
    outward: bool
    detail: bool = False  # also the results in the middle, and how much each input changes each result

    @property
    def decisions(self) -> list[int]:
        """The nodes that jumps and guards depend on."""
        return [node[1] for node in self.program.nodes if node[0] in ("sign", "where", "above")]

    @property
    def floors(self) -> list[tuple[int, float]]:
        """The nodes that must exceed a number."""
        return [(node[1], node[2]) for node in self.program.nodes if node[0] == "above"]

    @property
    def sizes(self) -> list[int]:
        """How many scalars the moving inputs have."""
        return [self.program.inputs[k].size for k in self.moving]

    def slopes(self) -> Program:
        """The derivatives by moving inputs."""
        return _slopes(self.program, self.moving)

    def record(self) -> Program:
        """The enclosing program.

        Its inputs are the lower ends and the upper ends of the inputs, the margins of both enclosures (see `margins`) and the slack
        of decisions; its outputs `low`, `high`, the ends of what must exceed a number, and the details.
        """
        sizes = {f"{side}{k}": v.shape for side in ("low", "high") for k, v in enumerate(self.program.inputs)}
        count = len(self.program.results)
        shapes = sizes | {"margin": (2, count), "slack": (max(1, len(self.decisions)),)}
        names = ["low", "high", *(("floor_low", "floor_high") if self.floors else ())]
        names += ["middle", "influence"] if self.detail else []
        return trace(self._body, shapes, outputs=tuple(names))

    def _body(self, *given: Any) -> Any:
        program, half = self.program, len(self.program.inputs)
        ends = [
            [Span(a, b) for a, b in zip(np.ravel(x), np.ravel(y), strict=True)]
            for x, y in zip(given[:half], given[half:], strict=False)
        ]
        margin, slack = given[-2], dict(zip(self.decisions, list(given[-1]), strict=False))
        made = spans.enclosed(program, ends, outward=self.outward, slack=lambda i: slack.get(i, 0))
        natural = [made.result(i) for i in program.results]
        low = [x.low - margin[0, i] for i, x in enumerate(natural)]
        high = [x.high + margin[0, i] for i, x in enumerate(natural)]
        extra: list[Any] = []
        if self.moving:
            mean, middle, influence = self._mean(ends)
            smooth = self._smooth(made, slack)
            low = [_tighter(most, a, x.low - margin[1, i], smooth, -1) for i, (a, x) in enumerate(zip(low, mean, strict=True))]
            high = [_tighter(least, b, x.high + margin[1, i], smooth, 1) for i, (b, x) in enumerate(zip(high, mean, strict=True))]
            extra = [middle, influence]
        low, high = [where(x + BIG, x, -math.inf) for x in low], [where(BIG - x, x, math.inf) for x in high]  # no NaN
        held = [made.spans[i] for i, _ in self.floors]
        floors = [[x.low - slack[i] for (i, _), x in zip(self.floors, held, strict=True)], [x.high for x in held]] if held else []
        return tuple(np.array(x, dtype=object) for x in (low, high, *floors, *(extra if self.detail else ())))

    def _mean(self, ends: list[list[Span]]) -> tuple[list[Span], list[Any], list[list[Any]]]:
        """f(c) + f'(X) (X - c), the middle values, and by how much each moving scalar changes each result."""
        program, slopes = self.program, self.slopes()
        centre = [[point((x.low + x.high) / 2) for x in some] for some in ends]
        values = spans.enclosed(program, centre, outward=self.outward)
        made = spans.enclosed(slopes, ends, outward=self.outward)
        jacobian = rows(program, self.sizes, [made.result(i) for i in slopes.results])
        steps = [Span(x.low - c.low, x.high - c.low) for k in self.moving for x, c in zip(ends[k], centre[k], strict=True)]
        mean, changes = list[Span](), list[list[Any]]()
        for i, row in zip(program.results, jacobian, strict=True):
            terms = [mul(a, b) for a, b in zip(row, steps, strict=True)]
            total = reduce(add, terms, values.result(i))
            if self.outward:
                share = reduce(lambda s, x: s + spans.magnitude(x), terms, spans.magnitude(values.spans[i])) * lost(len(terms))
                total = Span(total.low - share, total.high + share)
            mean.append(total)
            changes.append([x.high - x.low for x in terms])
        return mean, [values.spans[i].low for i in program.results], changes

    def _smooth(self, made: spans.Enclosed, slack: dict[int, Any]) -> Any:
        """Positive where every jump is decided, so that there are derivatives; None if there are no jumps."""
        jumps = dict.fromkeys(node[1] for node in self.program.nodes if node[0] in ("sign", "where"))
        decided: Any = None
        for i in jumps:
            c, loose = made.result(i), slack[i]
            sure = most(c.low - loose, -loose - c.high)
            decided = sure if decided is None else where(decided, sure, -1)
        return decided


@lru_cache(maxsize=32)
def _slopes(program: Program, moving: tuple[int, ...]) -> Program:
    return differentiate(program, [program.inputs[k].name for k in moving])


def _tighter(pick: Any, natural: Any, mean: Any, smooth: Any, side: int) -> Any:
    """The tighter of two ends; the second may have no value, and counts only where all is smooth."""
    known = where(mean * side + BIG, mean, side * math.inf)
    both = pick(natural, known)
    return both if smooth is None else where(smooth, both, natural)


def margins(enclosing: Enclosing, ends: Ends) -> tuple[Any, Any] | None:
    """The margins (2, results) and the slack of decisions for all boxes within one; None if there are none (see `rounding`)."""
    program = enclosing.program
    known = errors(program, ends)
    natural = [known[i].margin for i in program.results]
    slack = [known[i].error for i in enclosing.decisions] or [0.0]
    share = lost(1 + sum(enclosing.sizes))
    mean = [2 * known[i].error + share * known[i].size for i in program.results]
    if enclosing.moving:
        slopes = enclosing.slopes()
        found = errors(slopes, ends)
        widths = [high - low for k in enclosing.moving for low, high in ends[k]]
        for i, row in enumerate(rows(program, enclosing.sizes, [found[j] for j in slopes.results])):
            for x, width in zip(row, widths, strict=True):
                mean[i] += (x.error + share * x.size) * width
    made = np.array([natural, mean]) * 1.01, np.array(slack) * 1.01
    return made if all(np.isfinite(x).all() for x in made) else None
