"""Boxes halved where bounds of results are worst: branch and bound, whatever the bounds of one box come from."""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array


class Box(NamedTuple):
    """A piece of the inputs and what is known of the outputs in it."""

    lower: Array
    upper: Array
    low: Array  # bounds of the outputs
    high: Array
    middle: Array  # the outputs in its middle, about
    influence: Array  # influence[i, j]: by how much input j may change output i


Bounds = Callable[[Array, Array], Box]


def refined(bounds: Bounds, lower: Array, upper: Array, pieces: int) -> tuple[Array, Array]:
    """Bounds of every result in a box, from up to so many pieces: the worst is halved, again and again."""
    whole, boxes = (lower, upper), [bounds(lower, upper)]
    while len(boxes) < pieces and (split := _split(boxes, whole)) is not None:
        k, j = split
        box = boxes.pop(k)
        below, beyond = box.upper.copy(), box.lower.copy()
        below[j] = beyond[j] = (box.lower[j] + box.upper[j]) / 2
        boxes += [bounds(box.lower, below), bounds(beyond, box.upper)]
    return np.min([b.low for b in boxes], axis=0), np.max([b.high for b in boxes], axis=0)


def _split(boxes: list[Box], whole: tuple[Array, Array]) -> tuple[int, int] | None:
    """Which box to halve, and across which input, to sharpen the bound that is farthest from values that occur."""
    low, high, middle = (np.array([getattr(b, name) for b in boxes]) for name in ("low", "high", "middle"))
    size = np.where(np.isfinite(spread := high.max(0) - low.min(0)) & (spread > 0), spread, 1.0)
    with np.errstate(invalid="ignore"):  # infinite bounds
        gaps = np.nan_to_num(np.stack([middle.min(0) - low.min(0), high.max(0) - middle.max(0)]) / size, posinf=inf)
    side, i = np.unravel_index(np.argmax(gaps), gaps.shape)
    if not gaps[side, i] > 0:
        return None
    k = int(high[:, i].argmax() if side else low[:, i].argmin())
    box, (lower, upper) = boxes[k], whole
    share = (box.upper - box.lower) / np.where(upper > lower, upper - lower, 1.0)
    j = int(np.argmax(box.influence[i] if np.isfinite(box.influence[i]).all() and box.influence[i].any() else share))
    return (k, j) if box.lower[j] < (box.lower[j] + box.upper[j]) / 2 < box.upper[j] else None
