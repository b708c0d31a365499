"""Branch and bound: boxes are cut until no bound in them exceeds a target, and the target falls."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array

BATCH = 8192  # boxes of one call
MOST = 4_000_000  # boxes that wait for a lower target: about half a gigabyte
PAUSE = 0.5  # seconds between two local searches from boxes that resist

Step = Callable[[Array, Array], Any]  # low, high -> bound, gain, lower, middle, centre, upper
Climb = Callable[[Array], tuple[float, Array]]  # starts -> value, place


class Search:
    """The proof of an upper bound over one box, in rounds that may be interrupted: `proven` holds at any time.

    Boxes lie on a stack. Each round takes the last ones: those whose bound is no more than the target wait for the next target,
    those below the goal are done, the others are cut in two. When the stack is empty the target is proven. So nothing is sorted,
    and the memory is that of the boxes between goal and target.
    """

    def __init__(self, step: Step, climb: Climb, low: Array, high: Array, attained: tuple[float, Array], tolerance: float) -> None:
        """`tolerance` is the gap to reach between what is proven and what is attained, in the unit of the result."""
        self.step, self.climb, self.tolerance = step, climb, tolerance
        self.attained, self.at = attained
        bound, *_ = step(low[None], high[None])
        self.proven = self.target = max(float(bound[0]), self.attained)
        self.stack, self.waiting = [(low[None], high[None], np.array([np.inf]))], list[tuple[Array, Array, Array]]()
        self.dropped = -np.inf  # the largest bound of boxes that are done
        self.count, self.looked, self.ended = 1, 0.0, False
        self._lower_target()

    @property
    def goal(self) -> float:
        """A bound that is good enough."""
        return self.attained + self.tolerance

    @property
    def gap(self) -> float:
        """How far what is proven lies above what is attained."""
        return self.proven - self.attained

    @property
    def done(self) -> bool:
        """Whether the goal is reached, or nothing more can be done."""
        return self.proven <= self.goal or self.ended

    def _lower_target(self) -> None:
        gap = self.target - self.attained
        self.target = self.goal if not gap < np.inf else max(self.goal, self.attained + gap / 2)
        if not np.isfinite(self.proven):  # the first target: far above
            self.target = self.attained + 64 * max(abs(self.attained), self.tolerance)

    def work(self, until: float) -> None:
        """Cut boxes until a time of `time.perf_counter`, or until the goal is reached."""
        while not self.done and time.perf_counter() < until:
            if self.stack:
                self._round()
                continue
            left = self._note_what_is_left()
            self.ended = not left > max(self.goal, self.dropped) or sum(top.size for *_, top in self.waiting) > MOST
            if not self.done:
                self.stack, self.waiting = self.waiting, []
                self._lower_target()
        if not self.done:
            self._note_what_is_left()

    def _note_what_is_left(self) -> float:
        """The largest bound of boxes that are not done, which together with the others is proven."""
        left = max((float(top.max()) for *_, top in (*self.stack, *self.waiting) if len(top)), default=-np.inf)
        self.proven = min(self.proven, max(self.attained, self.dropped, left))
        return left

    def _round(self) -> None:
        parts: list[tuple[Array, Array, Array]] = []
        size = 0
        while self.stack and size < BATCH:
            parts.append(self.stack.pop())
            size += len(parts[-1][2])
        low, high, top = (np.concatenate(x) for x in zip(*parts, strict=True))
        if len(top) > 2 * BATCH:
            self.stack.append((low[BATCH:], high[BATCH:], top[BATCH:]))
            low, high, top = low[:BATCH], high[:BATCH], top[:BATCH]
        low, high, top = self._sorted_out(low, high, top)
        if not len(top):
            return
        bound, gain, lower, middle, centre, upper = self.step(low, high)
        self.count += len(top)
        top = np.fmin(top, bound)
        whole = ~(gain > 0)  # nothing to cut: it has contracted, or it is a point, or its bound will not become sharper
        whole[whole] = (top > self.goal)[whole]
        stuck = np.zeros(len(top), bool)
        stuck[whole] = ((lower == low) & (upper == high))[whole].all(1)
        open_, late = (top > self.target) & ~stuck, (top <= self.target) & (top > self.goal) & ~stuck
        self._note(top[~open_ & ~late])
        if late.any():
            self.waiting.append((lower[late], upper[late], top[late]))
        if open_.any():
            self._look(lower, upper, top, open_)
            both = open_ & ~whole
            middle[whole] = upper[whole]
            self.stack.append((
                np.concatenate([lower[open_], centre[both]]),
                np.concatenate([middle[open_], upper[both]]),
                np.concatenate([top[open_], top[both]]),
            ))  # fmt: skip

    def _sorted_out(self, low: Array, high: Array, top: Array) -> tuple[Array, Array, Array]:
        """The boxes above the target; the others are done or wait."""
        fine = top <= self.target
        if fine.any():
            late = fine & (top > self.goal)
            self._note(top[fine & ~late])
            self.waiting.append((low[late], high[late], top[late]))
            low, high, top = low[~fine], high[~fine], top[~fine]
        return low, high, top

    def _note(self, bounds: Array) -> None:
        """Boxes that are done."""
        if len(bounds):
            self.dropped = max(self.dropped, float(bounds.max()))

    def _look(self, lower: Array, upper: Array, top: Array, open_: Array) -> None:
        """Search from the middle of boxes that resist for a value that justifies it."""
        now = time.perf_counter()
        if now - self.looked < PAUSE:
            return
        self.looked = now
        some = np.flatnonzero(open_)
        some = some[np.argsort(top[some])[-16:]]
        value, at = self.climb((lower[some] + upper[some]) / 2)
        if value > self.attained:
            self.attained, self.at = value, at
