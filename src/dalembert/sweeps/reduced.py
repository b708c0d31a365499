"""Reductions by name, with their options, as native code needs them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import by_name, choice, numbers, several, whole
from dalembert.errors import Error, brief
from dalembert.native.sweeps.reductions import SCALES, Reductions
from dalembert.sweeps.ranges import Range
from dalembert.trace.program import Program, Variable

NAMES = ("extremes", "sums", "histogram", "envelope", "limits")
OPTIONS = {"histogram": ("bins", "range", "by", "rows"), "envelope": ("bins", "by"), "limits": ("limits",)}
PILOT = 1 << 14  # states whose results tell the range of a histogram
MARGIN = 0.25  # of that range, at both ends
MOST_CELLS = 1 << 23  # counters of a thread, four copies of 4 bytes each


class Scaled(NamedTuple):
    """What is kept of a sweep: as native code, its numbers, and where bins begin and end."""

    reductions: Reductions
    scales: Any  # (8, r)
    edges: Any  # of histograms: low and high (2, r)
    by: tuple[str, ...]  # the input of each result that its rows or slots are of


def chosen(reduce: Any) -> dict[str, dict[str, Any]]:
    """Options by the names of reductions, from a name, a list of names, or a mapping to options."""
    given = reduce if isinstance(reduce, Mapping) else dict.fromkeys(several(reduce, "reduce"))
    found: dict[str, dict[str, Any]] = {}
    for name, options in by_name(given, "reduce", "{'histogram': {'bins': 64}}").items():
        choice(name, "reduction", NAMES)
        found[name] = dict(by_name(options or {}, f"the options of {name}", "{'bins': 64}"))
        for option in found[name]:
            choice(option, f"option of {name}:", OPTIONS.get(name, ()))
    if "histogram" in found and "envelope" in found and _by(found["histogram"], "") not in ("", _by(found["envelope"], "qd")):
        raise Error("the rows of a histogram and the envelope are by the same input: give both the same by=...")
    return found


def _by(options: Mapping[str, Any], default: str) -> str:
    by = options.get("by", default)
    if not isinstance(by, str):
        raise Error(f"by must be the name of an input, got {brief(by)}")
    return by


def scaled(
    asked: Mapping[str, Mapping[str, Any]], program: Program, ranges: Sequence[Range], pilot: Any, limits: Mapping[str, Any]
) -> Scaled:
    """The reductions of a program; `pilot()` gives results (k, r) of some states, `limits` the robot's, by output."""
    r = len(program.results)
    histogram, envelope = asked.get("histogram"), asked.get("envelope")
    scales, edges = np.zeros((len(SCALES), r)), np.zeros((2, r))
    bins = rows = slots = 0
    by = tuple[int, ...]()
    names = tuple[str, ...]()
    if histogram is not None:
        bins = whole(histogram.get("bins", 256), "the bins of a histogram", 1, 65_000)
        rows = whole(histogram.get("rows", 64), "the rows of a histogram", 1, 10_000) if "by" in histogram else 0
        edges = _edges(histogram.get("range"), program.outputs, pilot)
        scales[0] = bins / (edges[1] - edges[0])
        scales[1] = 1 - edges[0] * scales[0]
    if envelope is not None:
        slots = whole(envelope.get("bins", 64), "the bins of an envelope", 1, 65_000)
    if rows or slots:
        name = _by(histogram or {}, "") or _by(envelope or {}, "qd")
        by, low, high = _inputs(name, program, ranges)
        names = (name,) * r
        for count, at in ((rows, 2), (slots, 4)):
            scales[at] = count / np.where(high > low, high - low, 1.0)
            scales[at + 1] = -low * scales[at]
    if "limits" in asked:
        scales[6:8] = _limits(asked["limits"].get("limits"), program.outputs, limits)
    cells = r * max(rows, 1) * (bins + 2) * bool(bins) + 8 * r * slots
    if cells > MOST_CELLS:
        raise Error(f"histograms and envelopes of {r} results have {cells:,} counters, more than {MOST_CELLS:,}; take fewer bins")
    made = Reductions("extremes" in asked, "sums" in asked, bins, rows, slots, "limits" in asked, by)
    return Scaled(made, scales, edges, names)


def _inputs(name: str, program: Program, ranges: Sequence[Range]) -> tuple[tuple[int, ...], Any, Any]:
    """The scalar of an input that belongs to each result, and its range: the same one of as many, or the only one."""
    choice(name, "input of the sweep:", [part.name for part in ranges])
    start = sum(part.size for part in ranges[: [part.name for part in ranges].index(name)])
    part = next(part for part in ranges if part.name == name)
    places: list[int] = []
    for output in program.outputs:
        if part.size not in (1, output.size):
            raise Error(
                f"{name} has {part.size} scalars and {output.name} has {output.size}: they cannot be laid beside each other"
            )
        places += range(part.size) if part.size == output.size else [0] * output.size
    at = np.array(places)
    return tuple(start + k for k in places), part.low[at], part.high[at]


def _edges(given: Any, outputs: Sequence[Variable], pilot: Any) -> Any:
    """Low and high (2, r) of histograms: as given, or from the results of some states."""
    if given is not None:
        pairs = given if isinstance(given, Mapping) else dict.fromkeys([v.name for v in outputs], given)
        low, high = (np.concatenate([_wide(pairs, v, k) for v in outputs]) for k in (0, 1))
    else:
        values = pilot()
        known = np.where(np.isfinite(values), values, np.nan)
        empty = np.isnan(known).all(axis=0)
        known[:, empty] = 0.0
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        wide = np.maximum(high - low, 1e-9 * np.maximum(np.abs(low), np.abs(high)) + 1e-300)
        low, high = low - MARGIN * wide, high + MARGIN * wide
    if not (np.isfinite(low) & np.isfinite(high) & (high > low)).all():
        raise Error(f"the range of a histogram must be (low, high) with low below high, got {brief(given)}")
    return np.stack([low, high])


def _wide(pairs: Mapping[str, Any], output: Variable, end: int) -> Any:
    pair = pairs.get(output.name)
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise Error(f"the range of a histogram of {output.name} must be (low, high), got {brief(pair)}")
    array = numbers(pair[end], f"the range of {output.name}").astype(float)
    if array.size not in (1, output.size):
        raise Error(f"the range of {output.name} has {array.size} numbers, where 1 or {output.size} would be right")
    return np.broadcast_to(array.reshape(-1), (output.size,))


def _limits(given: Any, outputs: Sequence[Variable], own: Mapping[str, Any]) -> Any:
    """Least and most (2, r): a number means +-; the robot's torque limits by default."""
    found: list[Any] = []
    for output in outputs:
        limit = given.get(output.name) if isinstance(given, Mapping) else given
        limit = own.get(output.name) if limit is None else limit
        if limit is None or (limit is own.get(output.name) and np.isinf(limit).all()):
            raise Error(
                f"{output.name} has no limits of its own; give them: reduce={{'limits': {{'limits': {{{output.name!r}: 50.0}}}}}}"
            )
        pair = limit if isinstance(limit, tuple) else (-np.asarray(limit, dtype=float), limit)
        found.append(np.stack([_wide({output.name: pair}, output, k) for k in (0, 1)]))
    low, high = np.concatenate(found, axis=1)
    if not (low <= high).all():
        raise Error(f"limits must be positive numbers or pairs (low, high), got {brief(given)}")
    return np.stack([low, high])
