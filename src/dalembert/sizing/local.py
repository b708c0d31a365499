"""Local searches for the largest values of functions over boxes, many at once.

Without derivatives: absolute values and the curves of motors have corners, at which the worst states often are.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array

ALONG = 9  # places along a whole axis
SHRINK = 0.6  # of the steps, where nothing better is found

Figures = Callable[[Array], Array]  # of places (..., m), (..., figures)


class Found(NamedTuple):
    """The largest of k figures, (starts, k), and where they are so large, (starts, k, m)."""

    values: Array
    at: Array

    @staticmethod
    def none(starts: int, k: int, place: Array) -> "Found":
        """Nothing yet, at a place (m,)."""
        return Found(np.full((starts, k), -np.inf), np.tile(place, (starts, k, 1)))

    def add(self, start: int, values: Array, at: Array) -> None:
        """Keep what is larger of figures (count, k) at places (count, m), as a start."""
        best = values.argmax(axis=0)
        most = values[best, np.arange(len(best))]
        better = most > self.values[start]
        self.at[start][better], self.values[start][better] = at[best[better]], most[better]

    def best(self, figure: int) -> Array:
        """The place of the largest value of a figure, (m,)."""
        return self.at[int(self.values[:, figure].argmax()), figure]


class Search(NamedTuple):
    """Figures, of which each of k is sought in a box of its own: (k,), and the ends (k, m)."""

    figures: Figures
    which: Array
    low: Array
    high: Array

    def at(self, tried: Array) -> Array:
        """Each figure (starts, k, tries) at the places (starts, k, tries, m) that are tried for it."""
        every = np.arange(len(self.which))
        return self.figures(tried)[:, every, :, self.which].swapaxes(0, 1)

    def better(self, found: Found, tried: Array) -> Found:
        """What was found, or the best of what is tried, where that is larger."""
        values = self.at(tried)
        best = values.argmax(axis=-1)[..., None]
        most = np.take_along_axis(values, best, axis=-1)[..., 0]
        larger = most > found.values
        at = np.where(larger[..., None], np.take_along_axis(tried, best[..., None], axis=2)[:, :, 0], found.at)
        return Found(np.where(larger, most, found.values), at)


def refine(search: Search, found: Found, whole: int = 12, rounds: int = 60) -> Found:
    """The same, larger: along whole axes first, then by steps along the axes, uphill, and on the way of the last step.

    >>> box = Search(lambda x: -((x - 0.3) ** 2).sum(axis=-1, keepdims=True), np.array([0]), -np.ones((1, 2)), np.ones((1, 2)))
    >>> refine(box, Found.none(1, 1, np.zeros(2))).at.round(6).tolist()
    [[[0.3, 0.3]]]
    """
    low, high = search.low[:, None], search.high[:, None]
    axes, wide, shape = np.eye(low.shape[-1]), high - low, found.values.shape
    for share in np.linspace(0, 1, ALONG)[None] + np.linspace(0, 1 / (ALONG - 1), whole, endpoint=False)[:, None]:
        places = low[:, None] + np.minimum(share, 1.0)[:, None, None] * wide[:, None]
        tried = np.where(axes > 0, places, found.at[:, :, None, None]).reshape(*shape, -1, len(axes))
        found = search.better(found, tried)
    reach, way = np.full((*shape, 1, 1), 1 / ALONG), np.zeros_like(found.at)
    for _ in range(rounds):
        here = found.at[:, :, None]
        around = np.concatenate([here + reach * wide * axes, here - reach * wide * axes], axis=2).clip(low, high)
        uphill = reach * wide * _slopes(found.values[..., None], search.at(around))[:, :, None]
        steps = [t * uphill for t in (0.25, 0.5, 1.0, 2.0)] + [t * way[:, :, None] for t in (0.5, 1.0, 3.0)]
        larger = search.better(found, np.concatenate([around, *(here + step for step in steps)], axis=2).clip(low, high))
        better, way = larger.values > found.values, larger.at - found.at
        reach, found = np.where(better[..., None, None], reach, reach * SHRINK), larger
    return found


def _slopes(here: Array, around: Array) -> Array:
    """How many steps along each axis, (..., m), lead to the top of a parabola through a value and its neighbours (..., 2 m)."""
    with np.errstate(invalid="ignore"):  # where a figure is infinite, there is no way up
        before, after = np.split(around, 2, axis=-1)
        up, down = before - here, here - after
        bend = np.maximum(down - up, np.abs(up + down).max(axis=-1, keepdims=True) / 20)  # where it bends upwards, a longer step
        return np.clip(np.nan_to_num(np.where(bend > 0, (up + down) / 2 / np.where(bend > 0, bend, 1.0), 0.0)), -4, 4)
