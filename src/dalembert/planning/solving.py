"""Steps of inverse kinematics over many targets: native passes, between which Python looks who has arrived, or begins elsewhere.

A target has its own sequence of starts, and what becomes of it depends on nothing else: alone or among a million others it gets
the same q, to the last bit. A few hundred targets are worked on at once; whoever is done leaves its place to the next one.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.native import threads
from dalembert.native.ordered import ordered
from dalembert.progress import Progress

PASSES = 8  # in native code, before Python looks
GAIN, NEAR = 0.1, 1e-6  # whose cost has not fallen to this share of it since then begins elsewhere, unless it is smaller than this
SLOW = 0.9  # then it falls slowly, near a singularity
PLACES = 512  # targets at once: their numbers stay near the processor
DAMPING = 0.05
ROUNDS = 40  # that bring the nearest pose of an unreachable target to its place, with more damping where it does not get nearer


class Task(NamedTuple):
    """What all targets share."""

    kernel: Any
    lower: Array  # (n,)
    upper: Array
    length: float  # m that count as much as a radian
    tolerance: float  # rad and m
    starts: Array  # (K, n): where to begin, one after the other
    pull: Sequence[Any] = ()  # further inputs of the kernel: posture (n,) and pull ()

    def cost(self, apart: Array) -> Array:
        """What is minimized, from the squares (..., 2) of what is left in rad and m."""
        return apart[..., 0] + apart[..., 1] / self.length**2

    def met(self, apart: Array) -> Array:
        """Whether the target is reached."""
        return np.logical_and.reduce(apart <= self.tolerance**2, axis=-1)


class Solutions(NamedTuple):
    """The best q of each target (B, n), what is left there, squared, (B, 2), and how many starts it took (B,)."""

    q: Array
    apart: Array
    starts: Array


def measured(apart: Array) -> tuple[Array, Array]:
    """Distances in m and angles in rad from the squares (..., 2) of what is left: of 2 sin(angle/2), and of the distance."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(apart[..., 1]), 2 * np.arcsin(np.minimum(np.sqrt(apart[..., 0]) / 2, 1.0))


class Places:
    """The arrays of the kernel for some targets: one memory, read and written at every pass."""

    def __init__(self, task: Task, q: Array, target: Array, passes: int) -> None:
        self.q, self.best_q, self.best, self.target = q.copy(), q.copy(), np.full((len(q), 2), np.inf), target.copy()
        self.damping = np.full(len(q), DAMPING)
        state, own = (
            [x[None, None, None] for x in some] for some in ((self.q, self.best_q, self.best), (self.target, self.damping))
        )
        shared = [np.array(x, dtype=float)[None, None, None, None] for x in (task.lower, task.upper, task.length, *task.pull)]
        self.run = ordered(task.kernel, [*state, *own, *shared], state, (1, 1, passes))

    def begin(self, which: Array, q: Array, target: Array | None = None) -> None:
        """Begin at these q, with other targets if there are any."""
        self.q[which], self.best[which] = q, np.inf
        if target is not None:
            self.target[which] = target


def solve(task: Task, target: Array, first: Array, told: Progress) -> Solutions:
    """All targets (B, 4, 4) from their first starts (B, n), then from those of the task; the work is shared by threads."""
    count = len(target)
    found = Solutions(first.copy(), np.full((count, 2), np.inf), np.ones(count, dtype=int))
    workers = max(1, min(threads.get_threads(), count // (2 * PLACES)))
    ends = [count * k // workers for k in range(workers + 1)]
    stop = Event()

    def job(part: slice, told: Progress) -> Callable[[], None]:
        def work() -> None:
            try:
                _solve(task, target[part], Solutions(*(x[part] for x in found)), told, stop)
            except BaseException:  # for example Ctrl-C: the other threads need not finish
                stop.set()
                raise

        return work

    parts = [slice(a, b) for a, b in pairwise(ends)]
    quiet: Progress = lambda done, total: None  # noqa: E731
    threads.run([*(job(part, quiet) for part in parts[:-1]), job(parts[-1], told)])  # the last one runs in this thread
    return found


def _solve(task: Task, target: Array, found: Solutions, told: Progress, stop: Event) -> None:
    """Fill `found`, whose q are the first starts."""
    count = len(target)
    which = np.arange(min(PLACES, count))  # the target at each place
    places, last, waiting = Places(task, found.q[which], target[which], PASSES), np.full(len(which), np.inf), len(which)
    while len(which) and not stop.is_set():
        places.run()
        cost, met = task.cost(places.best), task.met(places.best)
        over = met | ~(cost < np.where(cost < NEAR, SLOW, GAIN) * last)
        last = cost
        if not over.any():
            continue
        at = np.flatnonzero(over)
        _keep(task, found, which, at, places, cost)
        again = at[~met[at] & (found.starts[which[at]] <= len(task.starts))]
        if again.size:
            places.begin(again, task.starts[found.starts[which[again]] - 1])
            found.starts[which[again]] += 1
            last[again], over[again] = np.inf, False
        free = np.flatnonzero(over)
        if new := min(len(free), count - waiting):
            more = np.arange(waiting, waiting + new)
            which[free[:new]], last[free[:new]], waiting = more, np.inf, waiting + new
            places.begin(free[:new], found.q[more], target[more])
            told(waiting, count)
        if len(free) > new:
            over[free[:new]] = False
            which, last, places = _narrowed(task, which, last, places, np.flatnonzero(~over))


def _keep(task: Task, found: Solutions, which: Array, at: Array, places: Places, cost: Array) -> None:
    """What the targets at some places have found, where it is nearer than before."""
    at = at[cost[at] < task.cost(found.apart[which[at]])]
    found.q[which[at]], found.apart[which[at]] = places.best_q[at], places.best[at]


def _narrowed(task: Task, which: Array, last: Array, places: Places, kept: Array) -> tuple[Array, Array, Places]:
    """The same with some places only."""
    if not kept.size:
        return kept, last, places
    narrow = Places(task, places.q[kept], places.target[kept], PASSES)
    narrow.best_q[...], narrow.best[...] = places.best_q[kept], places.best[kept]
    return which[kept], last[kept], narrow


def polish(task: Task, target: Array, found: Solutions) -> None:
    """Bring what was not reached to the nearest pose around; the damping grows where it gets no nearer, and falls elsewhere."""
    left = np.flatnonzero(~task.met(found.apart))
    for k in range(0, len(left), PLACES):
        which = left[k : k + PLACES]
        places = Places(task, found.q[which], target[which], PASSES)
        last = task.cost(found.apart[which])
        for _ in range(ROUNDS):
            places.run()
            cost = task.cost(places.best)
            places.damping[...] = np.clip(np.where(cost < last, places.damping / 2, 8 * places.damping), 1e-6, 1e6)
            places.q[...], last = places.best_q, cost
        _keep(task, found, which, np.arange(len(which)), places, task.cost(places.best))
