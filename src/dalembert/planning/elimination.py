"""The highest speed along a path under linear rows, by elimination: no linear programs.

With the path parameter s, x = ds/dt squared and u the second derivative of s, every limit is a row `lo <= a u + b x <= hi`. Turn
signs so that a >= 0. Then the upper side of row k and the lower side of row l leave, without u,

    (a_l b_k - a_k b_l) x <= a_l hi_k - a_k lo_l

and u exists for an x exactly if all pairs of rows hold (Fourier and Motzkin). Pairs at one point give an interval of x there: its
upper end is the curve of highest speeds. To the next point x changes by 2 u times the distance, which is one more row: with twice
the distance d, `d u + x` lies in the next point's interval. Backward from the end this gives the speeds from which the end can be
reached; forward from the start the greatest u is taken. Nothing divides by a where it is 0: zero-inertia points need no care.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dalembert.algebra.scalars import where
from dalembert.algebra.spatial import Array
from dalembert.native import recycle
from dalembert.native.evaluator import kernel_of
from dalembert.native.ordered import ordered
from dalembert.trace.program import Program, trace

UNBOUNDED = 1e30
GENTLY = 0.5  # of the highest next x


class Rows(NamedTuple):
    """Limits at P points, (P, m) each: lo <= a u + b x <= hi."""

    a: Array
    b: Array
    lo: Array
    hi: Array

    @classmethod
    def empty(cls, points: int, m: int) -> "Rows":
        """Room for rows, in memory that was used before."""
        return cls(*recycle.empty((4, points, m)))

    def turn(self) -> None:
        """Turn signs so that a >= 0."""
        sign = np.where(self.a < 0, -1.0, 1.0)
        for x in self:
            x *= sign
        least = np.minimum(self.lo, self.hi)
        np.maximum(self.lo, self.hi, out=self.hi)
        self.lo[...] = least


class Profile(NamedTuple):
    """At P points: x, u of each interval, the interval of x that limits leave, and that from which one arrives."""

    x: Array
    u: Array
    limits: Array  # (P, 2)
    reachable: Array  # (P, 2)


def profile(rows: Rows, most: Array, spacing: Array, start: Array, end: Array, gently: bool = False) -> Profile:
    """The highest x along the path: `most` (P,) bounds it, `start` and `end` (2,) are its intervals at the ends.

    Near points without inertia the highest x may force the next one to be very low. `gently` leaves out such x where others do.

    Where no x is left, the lower end of an interval is above the upper one; what is behind it means nothing.
    """
    limits = _limits(rows, most)
    for k, given in ((0, start), (-1, end)):
        limits[k] = max(limits[k, 0], given[0]), min(limits[k, 1], given[1])
    reachable = _backward(rows, limits, 2 * spacing, gently)
    x, u = _forward(rows, reachable, 2 * spacing)
    return Profile(x, u, limits, reachable)


def _limits(rows: Rows, most: Array) -> Array:
    """The interval of x at every point, (P, 2), from all pairs of its rows: each with the next, the one after it, ... around."""
    P, m = rows.a.shape
    held = np.zeros((2, 1, 1, 1, P))
    held[1] = most
    if m > 1:
        own = [x[None, None, None] for x in rows]
        twice = Rows.empty(P, m + m // 2)
        for x, wide in zip(rows, twice, strict=True):
            wide[:, :m], wide[:, m:] = x, x[:, : m // 2]
        # rows 1, 2, ... places further on, as views of rows that are there twice
        others = [sliding_window_view(x, m, axis=1).swapaxes(0, 1)[1:, None, None] for x in twice]
        ordered(_kernel("pairs", m), [*held, *own, *others], [*held], (m // 2, 1, 1))()
    return held.reshape(2, P).T.copy()


def _backward(rows: Rows, limits: Array, d: Array, gently: bool) -> Array:
    """The x from which the end can be reached, (P, 2)."""
    kept = limits.copy()
    inner = [x[:-1] for x in (*rows, limits[:, 0], limits[:, 1])]
    after = [np.full((1, 1, 1, 1), x) for x in limits[-1]]
    found = [kept[:-1, k] for k in (0, 1)]
    given = [*after, *map(_reversed, inner), _reversed(d)]
    ordered(_kernel("gently" if gently else "backward", rows.a.shape[1]), given, [*after, *map(_reversed, found)], (len(d), 1, 1))()
    return kept


def _forward(rows: Rows, reachable: Array, d: Array) -> tuple[Array, Array]:
    """x at the points, u between them: the greatest that keeps x within reach."""
    x, u = np.empty(len(d) + 1), np.empty(len(d))
    x[0] = max(reachable[0, 1], 0.0)
    carried = np.full((1, 1, 1, 1), x[0])
    given = [_looped(y[: len(d)]) for y in rows] + [_looped(reachable[1:, k]) for k in (0, 1)]
    outputs = [carried, _looped(x[1:]), _looped(u)]
    ordered(_kernel("forward", rows.a.shape[1]), [carried, *given, _looped(d)], outputs, (len(d), 1, 1))()
    return x, u


def _looped(array: Array) -> Array:
    return array[:, None, None, None]


def _reversed(array: Array) -> Array:
    return array[::-1, None, None, None]


# --- programs -------------------------------------------------------------------------------------------------------------------


def _tightened(low: Any, high: Any, A: Any, up: Any, down: Any) -> tuple[Any, Any]:
    """The interval of x under A x <= up and -A x <= down."""
    r = 1 / where(A, A, where(-A, A, 1))
    first, second = up * r, -down * r
    upper = where(A, first, where(-A, second, UNBOUNDED))
    lower = where(A, second, where(-A, first, -UNBOUNDED))
    flat = where(A, 1, where(-A, 1, where(-up, -1, where(-down, -1, 1))))  # A = 0: it holds for every x, or for none
    lower = where(flat, lower, UNBOUNDED)
    return where(lower - low, lower, low), where(high - upper, upper, high)


def _pairs(low: Any, high: Any, *rows: Any) -> tuple[Any, Any]:
    """All rows against as many others, one by one."""
    for a, b, lo, hi, a2, b2, lo2, hi2 in zip(*rows, strict=True):
        low, high = _tightened(low, high, a2 * b - a * b2, a2 * hi - a * lo2, a * hi2 - a2 * lo)
    return low, high


def _step_back(next_low: Any, next_high: Any, a: Any, b: Any, lo: Any, hi: Any, low: Any, high: Any, d: Any) -> Any:
    """The rows against d u + x of the next point."""
    for k in range(len(a)):
        low, high = _tightened(low, high, d * b[k] - a[k], d * hi[k] - a[k] * next_low, a[k] * next_high - d * lo[k])
    return low, high, low, high


def _gently_back(next_low: Any, next_high: Any, a: Any, b: Any, lo: Any, hi: Any, low: Any, high: Any, d: Any) -> Any:
    """The same without the highest x from which the next one has to be below a share of what it may be, if others are left."""
    least, most, *_ = _step_back(next_low, next_high, a, b, lo, hi, low, high, d)
    well = where(GENTLY * next_high - next_low, GENTLY * next_high, next_low)
    some, fewer, *_ = _step_back(well, next_high, a, b, lo, hi, low, high, d)
    most = where(fewer - some, where(fewer - least, fewer, most), most)
    return least, most, least, most


def _step_on(x: Any, a: Any, b: Any, lo: Any, hi: Any, next_low: Any, next_high: Any, d: Any) -> Any:
    """The greatest u, and the next x."""
    u = (next_high - x) / d
    for k in range(len(a)):
        some = a[k] - 1e-14
        most = where(some, (hi[k] - b[k] * x) / where(some, a[k], 1), UNBOUNDED)
        u = where(u - most, most, u)
    after = x + d * u
    after = where(next_low - after, next_low, where(after - next_high, next_high, after))
    return after, after, (after - x) / d


def _program(name: str, m: int) -> Program:
    row: dict[str, Any] = dict.fromkeys(Rows._fields, (m,))
    one: dict[str, Any] = {"low": (), "high": ()}
    after: dict[str, Any] = {"next_low": (), "next_high": ()}
    if name == "pairs":
        return trace(_pairs, {**one, **row, **{f"{key}2": (m,) for key in row}}, outputs=("new_low", "new_high"))
    if name in ("backward", "gently"):
        outputs = ("new_low", "new_high", "kept_low", "kept_high")
        return trace(_gently_back if name == "gently" else _step_back, {**after, **row, **one, "d": ()}, outputs=outputs)
    return trace(_step_on, {"x": (), **row, **after, "d": ()}, outputs=("new", "kept", "u"))


@cache
def _kernel(name: str, m: int) -> Any:
    return kernel_of(_program(name, m))
