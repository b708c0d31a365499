"""The steps of differential dynamic programming as programs: one step of a rollout, one step of the recursion back in time.

The state is x = (q, v), moved by steps v' = v + h a(q, v, u), q' = q + h v'. Of the derivatives of a step only P = dv'/d(q, v, u)
is dense, n x 3n, and the recursion uses that. A step costs 1/2 (x - x*)^T W (x - x*) + 1/2 (u - u*)^T R (u - u*), W and R diagonal.

V(x) is the cost from a step on, to second order: gradient Vx (2n), Hessian V, of which the upper triangle is kept. Q is the same as
a function of (q, v, u), and its minimum over u is u = k - K x. The masks of a box are numbers 0 and 1, so nothing branches.
"""

from typing import Any

import numpy as np

from dalembert.algebra.linalg import Factors, solve, udu
from dalembert.algebra.scalars import where
from dalembert.algebra.spatial import Array, dot, matrix, rotate, stack
from dalembert.derived.joints import slipping
from dalembert.derived.make import Body, Make
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import SOLVING, methods
from dalembert.model.model import Model
from dalembert.simulation.stages import ROUTES

BOX_STEPS, BOX_LENGTHS = 4, (1.0, 0.3, 0.1)  # of projected Newton steps within limits
N, NN, _ONE = Values(("n",), "SI"), Values(("n", "n"), "SI"), Values((), "SI")
_X = Values((lambda model, options: 2 * model.n,), "SI")
XX = Values((lambda model, options: model.n * (2 * model.n + 1),), "SI")  # the upper triangle, row by row
UX = Values(("n", lambda model, options: 2 * model.n), "SI")


def packed(full: Any) -> Array:
    """The upper triangle of matrices (..., k, k), row by row."""
    return full[..., *np.triu_indices(full.shape[-1])]


def _unpacked(upper: Any, size: int) -> Array:
    """The symmetric matrix of an upper triangle."""
    place = {pair: k for k, pair in enumerate((i, j) for i in range(size) for j in range(i, size))}
    return matrix({(i, j): upper[place[min(i, j), max(i, j)]] for i in range(size) for j in range(size)}, size)


def clipped(x: Any, lower: Any, upper: Any) -> Any:
    """x within limits, for any scalar."""
    return where(x - upper, upper, where(lower - x, lower, x))


def _recursion(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """The value before a step from the value after it, and the best forces on the way."""
    n = model.n

    def body(Vx: Any, V: Any, aq: Any, av: Any, au: Any, lx: Any, lu: Any, lxx: Any, luu: Any, h: Any, **more: Any) -> Any:
        Q, g = _expanded(Vx, _unpacked(V, 2 * n), h * aq, h * av + np.eye(n, dtype=int), h * au, h)
        g = g + np.concatenate([lx, lu])
        curved = [_unpacked(more["cxx"], 2 * n), more["cux"]] if "cxx" in optional else []
        Qxx, Qux = (Q[s][:, : 2 * n] for s in (slice(2 * n), slice(2 * n, None)))
        Qxx, Qux = (x + c for x, c in zip((Qxx, Qux), curved, strict=True)) if curved else (Qxx, Qux)
        Qxx, Quu = _on_diagonal(Qxx, lxx), _on_diagonal(Q[2 * n :, 2 * n :], luu * (1 + more["mu"]))
        gx, gu = g[: 2 * n], g[2 * n :]
        k, free, factors = _least(Quu, gu, (more["least"], more["most"]) if "least" in optional else None)
        K = np.stack([solve(factors, free * column) for column in Qux.T], axis=-1)
        slope = gu + rotate(Quu, k)  # 0 where u is free
        new_V = stack([Qxx[i, j] - dot(Qux[:, i], K[:, j]) for i, j in zip(*np.triu_indices(2 * n), strict=True)])
        new_Vx = gx + rotate(Qux.T, k) - rotate(K.T, slope)
        return new_Vx, new_V, k, K, dot(k, gu + slope) / 2

    return body


def _expanded(Vx: Any, V: Any, Pq: Any, Pv: Any, Pu: Any, h: Any) -> tuple[Array, Array]:
    """Hessian (3n, 3n) and gradient of V(q + h v', v') by (q, v, u), where dv' = P d(q, v, u)."""
    n = len(Pq)
    P = np.concatenate([Pq, Pv, Pu], axis=1)
    Vqq, Vqv, Vvv = V[:n, :n], V[:n, n:], V[n:, n:]
    mixed = h * Vqq + Vqv  # by q and v'
    T = _unpacked([h * (mixed[i, j] + Vqv[j, i]) + Vvv[i, j] for i in range(n) for j in range(i, n)], n) @ P
    U = mixed @ P
    entries: dict[tuple[int, int], Any] = {}
    for i in range(3 * n):
        for j in range(i, 3 * n):
            x = dot(P[:, i], T[:, j])
            x = x + U[i, j] if i < n else x
            x = x + (U[j, i] + Vqq[i, j]) if j < n else x
            entries[i, j] = entries[j, i] = x
    slope = h * Vx[:n] + Vx[n:]
    g = rotate(P.T, slope)
    return matrix(entries, 3 * n), np.concatenate([g[:n] + Vx[:n], g[n:]])


def _on_diagonal(M: Any, d: Any) -> Array:
    """M + diag(d)."""
    n = len(M)
    return matrix({(i, j): M[i, j] + d[i] if i == j else M[i, j] for i in range(n) for j in range(n)}, n)


def _least(H: Any, g: Any, room: Any) -> tuple[Array, Any, Factors]:
    """The minimum k of 1/2 k^T H k + g^T k, within limits if there are some; which entries are free, and their factors.

    Projected Newton steps, each on the entries that do not press against a limit, as in Tassa, Mansard and Todorov (2014).
    """
    n = len(g)
    if room is None:
        factors = udu(H)
        return -solve(factors, g), np.ones(n, dtype=int), factors
    k: Any = clipped(np.zeros(n, dtype=int), *room)
    slope: Any = g + rotate(H, k)
    for _ in range(BOX_STEPS):
        free, factors = _free(H, k, slope, room)
        k, slope = _searched(H, g, k, slope, -solve(factors, free * slope), room)
    return k, *_free(H, k, slope, room)


def _free(H: Any, k: Any, slope: Any, room: Any) -> tuple[Any, Factors]:
    """Which entries do not press against a limit, as numbers 0 and 1, and the factors of their part of H."""
    least, most = room
    free = where(k - least, where(most - k, 1, where(-slope, 0, 1)), where(slope, 0, 1))
    return free, udu(_on_diagonal(free[:, None] * H * free[None, :], 1 - free))


def _searched(H: Any, g: Any, k: Any, slope: Any, step: Any, room: Any) -> tuple[Any, Any]:
    """The best of several lengths of a step that ends at the limits, and the slope there; k itself if none is better."""
    best = (dot(k, g + slope), k, slope)  # twice the value
    for length in BOX_LENGTHS:
        there = clipped(k + length * step, *room)
        new = g + rotate(H, there)
        value = dot(there, g + new)
        lower = best[0] - value
        best = (where(lower, value, best[0]), where(lower, there, best[1]), where(lower, new, best[2]))
    return best[1], best[2]


RECURSION = Quantity(
    "riccati_step",
    "One step of the recursion of differential dynamic programming, back in time.",
    {"Vx": _X, "V": XX, "aq": NN, "av": NN, "au": NN, "lx": _X, "lu": N, "lxx": _X, "luu": N, "h": _ONE, "mu": _ONE},
    {"new_Vx": _X, "new_V": XX, "k": N, "K": UX, "change": _ONE},
    "riccati",
    optional={"least": N, "most": N, "cxx": XX, "cux": UX},
    recipe=_recursion,
    recipes=("riccati",),
    orders={"riccati": 3},
    coupled=_recursion,
    coupled_methods=("riccati",),
    charted=True,
)


def _rollout(model: Model, make: Make, method: str, optional: tuple[str, ...], *, slip_speed: float) -> Body:
    """One step under u* + alpha k - K (x - x*), and the cost so far."""
    n, rates = model.n, ROUTES["joint"](model, make, method, (), slipping(slip_speed))

    def body(
        x: Any,
        total: Any,
        near: Any,
        u: Any,
        k: Any,
        K: Any,
        alpha: Any,
        goal: Any,
        rest: Any,
        wx: Any,
        wu: Any,
        h: Any,
        **limits: Any,
    ) -> Any:
        u = u + alpha * k - rotate(K, x - near)
        u = clipped(u, limits["lower"], limits["upper"]) if limits else u
        v = x[n:] + h * rates(x[:n], x[n:], u, {})[1]
        new, off, more = np.concatenate([x[:n] + h * v, v]), x - goal, u - rest
        return new, total + (dot(wx * off, off) + dot(wu * more, more)) / 2, new, u

    return body


ROLLOUT = Quantity(
    "feedback_step",
    "One step of a rollout with feedback, and its cost.",
    {
        "x": _X,
        "total": _ONE,
        "near": _X,
        "u": N,
        "k": N,
        "K": UX,
        "alpha": _ONE,
        "goal": _X,
        "rest": N,
        "wx": _X,
        "wu": N,
        "h": _ONE,
    },
    {"new_x": _X, "new_total": _ONE, "kept": _X, "forces": N},
    "articulated_body",
    optional={"lower": N, "upper": N},
    options={"slip_speed": 0.0},
    recipe=_rollout,
    recipes=methods("forward_dynamics"),
    coupled=_rollout,
    coupled_methods=SOLVING,
    charted=True,
)


def _costate(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """The gradient of the cost by the state before a step, from that after it; and by the accelerations in the step."""
    n = model.n

    def body(p: Any, aq: Any, av: Any, lx: Any, h: Any) -> Any:
        by_v = h * p[:n] + p[n:]  # of the new velocity, which the new position has in it
        weights = h * by_v
        new = np.concatenate([p[:n] + rotate(aq.T, weights), by_v + rotate(av.T, weights)]) + lx
        return new, weights

    return body


COSTATE = Quantity(
    "costate_step",
    "One step of the gradient of a cost, back in time.",
    {"p": _X, "aq": NN, "av": NN, "lx": _X, "h": _ONE},
    {"new_p": _X, "weights": N},
    "riccati",
    recipe=_costate,
    recipes=("riccati",),
    coupled=_costate,
    coupled_methods=("riccati",),
    charted=True,
)
