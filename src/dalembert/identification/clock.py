"""The clocks of recordings: their units, and clocks that cannot be in seconds."""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, numbers
from dalembert.errors import Error

UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of which one second has so many
SLOWEST, FASTEST = 5.0, 20_000.0  # Hz, at which arms are recorded
SECOND = 1e9  # ns
CARRIES = 3  # seconds that a fraction must pass before it is judged
SAMPLES = 100_000  # that show the rate


def in_seconds(given: Any, unit: str | None, what: str) -> Array:
    """Times in seconds, from the first one if they are in another unit.

    A clock that would be too slow or too fast for a recording is refused, unless `unit` says seconds.

    >>> in_seconds([1_700_000_000_000_000_000, 1_700_000_000_004_000_000], "ns", "time").tolist()
    [0.0, 0.004]
    """
    time = numbers(given, what)
    if unit is None:
        _check_rate(time, "s", what)
    elif choice(unit, "time_unit", UNITS) != "s":
        time = _from_the_first(time) / UNITS[unit]
        _check_rate(time, unit, what)
    return time.astype(float, copy=False)


def with_fraction(seconds: Array, nanoseconds: Array, what: str) -> Array:
    """Times from the first one, in seconds, of a clock in two columns, the second of which goes nearly to 1e9 before a carry."""
    finite = nanoseconds[np.isfinite(nanoseconds)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    carries = np.count_nonzero(np.diff(seconds) > 0)
    if largest >= SECOND or (carries >= CARRIES and 0 < largest < SECOND / 2):
        raise Error(
            f"{what} must be seconds and nanoseconds, but the second column goes up to {largest:.4g} in "
            f"{carries + 1} seconds; convert it, or give the times in one column"
        )
    return _from_the_first(seconds) + nanoseconds / SECOND


def _from_the_first(time: Array) -> Array:
    """Differences, exact for integers: of nanoseconds since 1970 a float shows 256 only."""
    if time.dtype.kind in "iub":
        time = time.astype(np.int64)
    first = time[np.isfinite(time)][:1]
    return time - (first[0] if first.size else 0)


def _check_rate(time: Array, unit: str, what: str) -> None:
    """An error where times, which are seconds if they are in a unit, have a rate at which nobody records arms."""
    if time.ndim != 1:
        return
    steps = np.diff(time[:SAMPLES].astype(float))
    forward = steps[(steps > 0) & np.isfinite(steps)]
    if not forward.size or SLOWEST <= (rate := 1 / float(np.median(forward))) <= FASTEST:
        return
    if unit == "s" and 2 * np.count_nonzero(steps == 0) > len(steps):
        raise Error(
            f"{what} stays the same in most rows: is the fraction of its seconds in another column? "
            'columns={"t": ["secs", "nsecs"]} takes both, seconds and nanoseconds'
        )
    per_count = rate / UNITS[unit]
    others = {other: per_count * count for other, count in UNITS.items() if SLOWEST <= per_count * count <= FASTEST}
    meant = "".join(f", {other_rate:.4g} Hz in {other}" for other, other_rate in others.items())
    converts = "".join(f'time_unit="{other}" converts it, ' for other in others if other != "s")
    usual = "" if others else f"arms are recorded at {SLOWEST:g} to {FASTEST:g} Hz; "
    raise Error(
        f"{what} has {rate:.3g} Hz and takes {float(forward.sum()):.3g} s if it is in {'seconds' if unit == 's' else unit}{meant}; "
        f'{usual}{converts}time_unit="s" takes it as seconds'
    )
