"""Local searches with exact derivatives, many at once: the largest values that occur, of sweeps and beside bounds."""

from collections.abc import Callable

import numpy as np

from dalembert.algebra.spatial import Array

STEPS = 4.0 ** -np.arange(12)  # of the line search, all tried at once
ROUNDS = 500
SMALL = 1e-14  # an increase, relative to the value, that ends a search

Values = Callable[[Array], Array]
Slopes = Callable[[Array], tuple[Array, Array]]


@np.errstate(over="ignore", invalid="ignore")  # states whose values or slopes overflow are not climbed from
def climb(slopes: Slopes, starts: Array, low: Array, high: Array, values: Values | None = None) -> tuple[float, Array]:
    """The largest value found from several starts, and where: quasi-Newton steps (BFGS) along the faces of a box.

    `slopes` gives values (k,) and derivatives (k, m) of k states (k, m), `values` the values alone, if that takes less.
    """
    values = values or (lambda x: slopes(x)[0])
    width = high - low

    def at(u: Array) -> Array:
        return np.clip(low + u * width, low, high)

    def steep(u: Array) -> tuple[Array, Array]:
        f, g = slopes(at(u))
        return f, g * width

    x = np.clip((starts - low) / width, 0.0, 1.0)
    f, g = steep(x)
    tops, places = f.copy(), x.copy()
    inverse, steepest, rows = np.tile(np.eye(x.shape[1]), (len(x), 1, 1)), np.ones(len(x), bool), np.arange(len(x))
    for _ in range(ROUNDS):
        free = ~(((x <= 0) & (g < 0)) | ((x >= 1) & (g > 0)))
        d = _ascent(inverse, np.where(free, g, 0.0), free)
        tried = np.clip(x[:, None] + STEPS[:, None] * d[:, None], 0.0, 1.0)
        found = values(at(tried).reshape(-1, x.shape[1])).reshape(len(x), -1)
        found = np.where(np.isnan(found), -np.inf, found)
        best, every = found.argmax(1), np.arange(len(x))
        better = found[every, best] > f + SMALL * abs(f)
        going = better | ~steepest  # where a quasi-Newton step fails, the next one is along the slope
        x, old, rows = np.where(better[:, None], tried[every, best], x)[going], x[going], rows[going]
        if not len(x):
            break
        f, after = steep(x)
        tops[rows], places[rows] = f, x
        inverse = inverse[going]
        steepest = ~_update(inverse, x - old, np.where(free[going], g[going] - after, 0.0))
        g = after
    k = int(np.nanargmax(tops)) if not np.isnan(tops).all() else 0
    return float(tops[k]), at(places[k])


def _ascent(inverse: Array, slope: Array, free: Array) -> Array:
    """Quasi-Newton steps, no longer than the box, along the free axes; along the slope where they would lead down."""
    d = np.where(free, np.matvec(inverse, slope), 0.0)
    d = np.where((np.vecdot(d, slope) > 0)[:, None], d, slope)
    return d / np.maximum(abs(d).max(1, keepdims=True), 1.0)


def _update(inverse: Array, s: Array, y: Array) -> Array:
    """BFGS, in place, of those whose curvature was seen, which are returned; the others start again."""
    product = np.vecdot(s, y)
    seen = product > 1e-10 * np.sqrt(np.vecdot(s, s) * np.vecdot(y, y))
    rho = np.divide(1.0, product, out=np.zeros_like(product), where=seen)
    turn = np.eye(s.shape[1]) - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    inverse[:] = turn @ inverse @ turn.swapaxes(1, 2) + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    inverse[~seen] = np.eye(s.shape[1])
    return seen
