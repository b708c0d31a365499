"""Guaranteed bounds of what a program computes over boxes of inputs, by native code."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, frexp, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.arguments import batch, by_name, flag, numbers, room, whole
from dalembert.errors import Error, brief
from dalembert.native.evaluator import evaluator
from dalembert.trace.intervals.enclosing import Enclosing, margins
from dalembert.trace.intervals.halving import Bounds, Box, refined
from dalembert.trace.intervals.precise import PreciseBounds
from dalembert.trace.program import Program, Variable
from dalembert.trace.replay import checked

Array = NDArray[Any]
DOUBLE = 53  # bits
ROWS = 256


def enclosure(
    program: Program,
    lower: Mapping[str, Any],
    upper: Mapping[str, Any],
    *,
    pieces: int = 1,
    bits: int = DOUBLE,
    mean_value: bool = True,
) -> tuple[Any, Any]:
    """Bounds of every output for all inputs between `lower` and `upper`: two arrays, or two tuples of arrays.

    Numbers stand for whole arrays, and leading axes are so many boxes. Two enclosures are intersected: the program on intervals,
    and the mean value form f(c) + f'(X) (X - c), which is the sharper one in small boxes; mean_value=False leaves it out, in a
    tenth of the time. Of each box, up to `pieces` are used; more give sharper bounds, never sharper than the truth. The bounds hold
    for what the program, with exactly its constants, computes without rounding. An output that may divide by zero gets infinite
    bounds. With another precision than 53 `bits` mpmath computes, for which it must be installed.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x - x * x, {"x": ()})
    >>> low, high = enclosure(p, {"x": 0}, {"x": 1})
    >>> float(low.round(9)), float(high.round(9))
    (-0.25, 0.75)
    >>> low, high = enclosure(p, {"x": 0}, {"x": 1}, pieces=50)
    >>> bool(-0.001 < low <= 0.0 and 0.25 <= high < 0.251)
    True
    >>> enclosure(p, {"x": [0.0, 0.5]}, {"x": [0.1, 0.5]})[1].round(3).tolist()
    [0.098, 0.25]
    """
    checked(program, "enclosure")
    pieces, bits = whole(pieces, "pieces", 1, 10**6), whole(bits, "bits", 2, 10**6)
    mean_value = flag(mean_value, "mean_value")
    ends = _ends(program, lower, "lower"), _ends(program, upper, "upper")
    shapes = [v.batch(x) for side in ends for v, x in zip(program.inputs, side, strict=True)]
    boxes = batch({f"{v.name} ({side})": s for (side, v), s in zip(
        [(side, v) for side in ("lower", "upper") for v in program.inputs], shapes, strict=True)}, "enclosure")  # fmt: skip
    room("enclosure", 16 * prod(boxes) * len(program.results), "enclose fewer boxes at once")
    hull = [_hull(a, b, v) for a, b, v in zip(*ends, program.inputs, strict=True)]
    if pieces == 1 and bits == DOUBLE and program.inputs and program.results:
        low, high, *_ = _enclose(program, hull, mean_value)([x for side in ends for x in side])
        shape = (*boxes, len(program.results))
        return _shaped(program, np.broadcast_to(low, shape)), _shaped(program, np.broadcast_to(high, shape))
    return _in_pieces(program, ends, boxes, pieces, bits, mean_value)


def _hull(low: Array, high: Array, v: Variable) -> list[tuple[float, float]]:
    """The box of all boxes, ends of each scalar of an input; ends that are not finite, or in the wrong order, are refused."""
    if not low.size or not high.size:
        return [(0.0, 0.0)] * v.size
    a, b = _extremes(low, v.size, np.minimum), _extremes(high, v.size, np.maximum)
    for side, ends, x in (("lower", a, low), ("upper", b, high)):
        if not np.isfinite(ends).all():
            raise Error(f"the {side} end of {v.name!r} must be finite, got {brief(x[~np.isfinite(x)][0].item())}")
    if (low > high).any():
        raise Error("the lower end of the box is above its upper end; give lower, then upper")
    return list(zip(a.tolist(), b.tolist(), strict=True))


def _extremes(x: Array, size: int, pick: Any) -> Array:
    """The least or greatest of each scalar, over all boxes: rows of many boxes at once take a tenth of the time of single ones."""
    flat = x.reshape(-1, size)
    count = len(flat) // ROWS * ROWS
    if not count:
        return pick.reduce(flat, axis=0)
    wide = pick.reduce(flat[:count].reshape(-1, ROWS * size), axis=0).reshape(ROWS, size)
    return pick.reduce(np.concatenate([wide, flat[count:]]), axis=0)


def _enclose(
    program: Program, hull: list[list[tuple[float, float]]], mean_value: bool, detail: bool = False
) -> Callable[[Any], Any]:
    """The function that encloses boxes within one, given all lower and then all upper ends."""
    moving = tuple(k for k, some in enumerate(hull) if mean_value and any(a < b for a, b in some))
    made = Enclosing(program, moving, False, detail and bool(moving))
    known = _margins(made, tuple(tuple(_rounded(*ends) for ends in some) for some in hull)) or margins(made, hull)
    if known is None or made.floors:
        made, known = made._replace(outward=True), (np.zeros((2, len(program.results))), np.zeros(max(1, len(made.decisions))))
    kernel, (margin, slack) = _kernel(made), known

    def run(ends: Any) -> Any:
        found = list(kernel(*ends, margin, slack))
        if made.floors:
            _check_floors(made.floors, *found[2:4])
            del found[2:4]
        return found

    return run


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Ends moved outward to a multiple of a power of two, so that margins serve for many boxes."""
    unit = 2.0 ** max(frexp(max(-low, high))[1] - 5, -1074)
    return (floor(low / unit) * unit, ceil(high / unit) * unit) if low < high else (low, high)


_margins = lru_cache(maxsize=256)(margins)


@lru_cache(maxsize=32)
def _kernel(made: Enclosing) -> Any:
    return evaluator(made.record())


def _check_floors(floors: list[tuple[int, float]], low: Array, high: Array) -> None:
    """Refuse boxes in which a number may not exceed its floor."""
    for k, (_, least) in enumerate(floors):
        bad = np.flatnonzero(~(low[..., k].ravel() > least))
        if len(bad):
            span = [float(x[..., k].ravel()[bad[0]]) for x in (low, high)]
            raise Error(
                f"the program divides by a number that must exceed {least:g}, and in this box it lies in {span}: take a smaller box"
            )


def _in_pieces(
    program: Program, ends: tuple[list[Array], list[Array]], boxes: tuple[int, ...], pieces: int, bits: int, mean_value: bool
) -> tuple[Any, Any]:
    """Box by box."""
    wide = [
        np.concatenate([np.zeros((*boxes, 0)), *(
            np.broadcast_to(x, (*boxes, *v.shape)).reshape(*boxes, v.size) for v, x in zip(program.inputs, side, strict=True)
        )], axis=-1)
        for side in ends
    ]  # fmt: skip
    results = np.zeros((2, *boxes, len(program.results)))
    for index in np.ndindex(*boxes):
        lower, upper = wide[0][index], wide[1][index]
        precise = bits != DOUBLE or not program.inputs or not program.results
        bounds = PreciseBounds(program, lower, upper, bits) if precise else _bounds(program, lower, upper, mean_value)
        results[(0, *index)], results[(1, *index)] = refined(bounds, lower, upper, pieces)
    return _shaped(program, results[0]), _shaped(program, results[1])


def _bounds(program: Program, lower: Array, upper: Array, mean_value: bool) -> Bounds:
    """Bounds in boxes within one, all inputs and outputs as flat arrays."""
    starts = np.cumsum([0, *(v.size for v in program.inputs)])
    parts = [slice(a, b) for a, b in pairwise(starts)]
    hull = [list(zip(lower[part].tolist(), upper[part].tolist(), strict=True)) for part in parts]
    enclose = _enclose(program, hull, mean_value, detail=True)
    moving = [k for k, some in enumerate(hull) if mean_value and any(a < b for a, b in some)]
    columns = [j for k in moving for j in range(starts[k], starts[k + 1])]

    def bounds(low: Array, high: Array) -> Box:
        ends = [side[part].reshape(1, *v.shape) for side in (low, high) for v, part in zip(program.inputs, parts, strict=True)]
        below, beyond, *detail = (x[0] for x in enclose(ends))
        influence = np.zeros((len(program.results), len(lower)))
        if detail:
            influence[:, columns] = detail[1]
        return Box(low, high, below, beyond, detail[0] if detail else (below + beyond) / 2, influence)

    return bounds


def _ends(program: Program, given: Mapping[str, Any], side: str) -> list[Array]:
    """One side of the boxes, an array for each input."""
    parts: list[Array] = []
    for name in by_name(given, side, "{'q': [0.0, 0.0]}"):
        if name not in [v.name for v in program.inputs]:
            raise Error(f"the program has no input {name!r}: {program.signature}")
    for v in program.inputs:
        if v.name not in given:
            raise Error(f"the box needs input {v.name!r}: {program.signature}")
        core = len(v.shape)
        try:
            part = numbers(given[v.name], v.name).astype(float, copy=False)
            part = part if part.ndim > core else np.broadcast_to(part, v.shape)
        except (TypeError, ValueError):
            part = None
        if part is None or part.shape[part.ndim - core :] != v.shape:
            raise Error(f"the {side} end of {v.name!r} must have shape {v.shape}, got {brief(given[v.name])}")
        parts.append(part)
    return parts


def _shaped(program: Program, flat: Array) -> Any:
    arrays = np.split(flat, np.cumsum([v.size for v in program.outputs])[:-1], axis=-1)
    shaped = tuple(array.reshape((*flat.shape[:-1], *v.shape)) for v, array in zip(program.outputs, arrays, strict=True))
    return shaped[0] if len(shaped) == 1 else shaped
