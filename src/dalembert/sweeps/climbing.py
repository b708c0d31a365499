"""Local searches with exact derivatives, many at once: the largest values that occur, which bounds are compared with."""

from collections.abc import Callable

import numpy as np

from dalembert.algebra.spatial import Array

STEPS = 4.0 ** -np.arange(12)  # of the line search, all tried at once
ROUNDS = 80
SMALL = 1e-14  # an increase, relative to the value, that ends a search

Slopes = Callable[[Array], tuple[Array, Array]]


@np.errstate(over="ignore", invalid="ignore")  # states whose values or slopes overflow are not climbed from
def climb(slopes: Slopes, starts: Array, low: Array, high: Array) -> tuple[float, Array]:
    """The largest value found from several starts, and where: quasi-Newton steps (BFGS) along the faces of a box.

    `slopes` gives values (k,) and derivatives (k, m) of k states (k, m).
    """
    width = high - low
    x = np.clip((starts - low) / width, 0.0, 1.0)

    def at(u: Array) -> Array:
        return np.clip(low + u * width, low, high)

    f, g = slopes(at(x))
    g = g * width
    inverse = np.tile(np.eye(x.shape[1]), (len(x), 1, 1))
    for _ in range(ROUNDS):
        free = ~(((x <= 0) & (g < 0)) | ((x >= 1) & (g > 0)))
        steepest = np.where(free, g, 0.0)
        d = np.where(free, np.matvec(inverse, steepest), 0.0)
        uphill = np.vecdot(d, g) > 0
        d = np.where(uphill[:, None], d, steepest)
        d /= np.maximum(abs(d).max(1, keepdims=True), 1.0)
        tried = np.clip(x[:, None] + STEPS[:, None] * d[:, None], 0.0, 1.0)
        found = slopes(at(tried).reshape(-1, x.shape[1]))[0].reshape(len(x), -1)
        found = np.where(np.isnan(found), -np.inf, found)
        best = found.argmax(1)
        rows = np.arange(len(x))
        better = found[rows, best] > f + SMALL * abs(f)
        if not better.any():
            break
        new = np.where(better[:, None], tried[rows, best], x)
        f, after = slopes(at(new))
        after = after * width
        _update(inverse, new - x, g - after)
        x, g = new, after
    k = int(np.nanargmax(f)) if not np.isnan(f).all() else 0
    return float(f[k]), at(x[k])


def _update(inverse: Array, s: Array, y: Array) -> None:
    """BFGS, in place, of those whose curvature was seen; the others start again."""
    product = np.vecdot(s, y)
    seen = product > 1e-10 * np.sqrt(np.vecdot(s, s) * np.vecdot(y, y))
    rho = np.divide(1.0, product, out=np.zeros_like(product), where=seen)
    turn = np.eye(s.shape[1]) - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    inverse[:] = turn @ inverse @ turn.swapaxes(1, 2) + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    inverse[~seen] = np.eye(s.shape[1])
