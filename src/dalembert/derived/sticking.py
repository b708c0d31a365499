"""Joints that stick: friction as a set, forces or impulses that may be anything between two levels while a joint does not move.

The unknown v (velocities after a step, or accelerations) of

    A v + r = b,    r_i = up_i where v_i > 0,  -down_i where v_i < 0,  anything between them where v_i = 0,

and of stops, which let v_i be at most (at least) a bound, is that of a strictly convex problem, and therefore unique: A is
symmetric and positive definite, and -down_i <= up_i. Newton's method for functions with kinks finds it: a guess which joints
slide, and in which direction, makes the system linear, and its solution makes the next guess. The guess is that of the proximal
point z = v + gamma (b - A v) with gamma_i = (M^-1)_ii; with 1 / A_ii instead the guesses can go round in circles. v depends on the
guess alone, so that iterating on changes not one bit once it is right.

All functions take any scalar: recorded they are straight-line code, in which `where` stands for every branch.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.linalg import Pivots, inverse, udu
from dalembert.algebra.scalars import sign, where
from dalembert.algebra.spatial import dot, stack, zeros
from dalembert.derived.charts import at_home
from dalembert.derived.joints import FrictionLaw, friction_law, pivots, tree_forces
from dalembert.derived.make import Body, Make
from dalembert.model.model import Model
from dalembert.trace.replay import replay

NEAR = 1e-12  # of a position: what is this near to a stop is on it
CLOSE = 1e-11  # of a solution, relative to sqrt(b . gamma b)
TINY = 1e-300
SWEEPS = 20_000
ITERATIONS = 8  # for accelerations


class Stop(NamedTuple):
    """A bound of a joint's velocity from one side: +1 from above, -1 from below."""

    side: float
    on: Any  # above 0 where it acts
    bound: Any


class Reaction(NamedTuple):
    """What r may be at one joint; None: a joint that nothing can hold, and `down` is minus the constant r."""

    up: Any
    down: Any
    stops: Sequence[Stop] = ()


Limits = Sequence[Sequence[tuple[int, Any]]]  # of each joint: the side of a stop, and where it is


class Modes(NamedTuple):
    """For each joint: 1 where it slides, else 0; r where it slides; the velocity where it does not; the proximal point."""

    free: list[Any]
    force: list[Any]
    at: list[Any]
    point: list[Any]


def modes(z: Any, gamma: Any, reactions: Sequence[Reaction]) -> Modes:
    """The guess that belongs to z = v + gamma (b - A v)."""
    found = Modes([], [], [], [])
    for i, (up, down, stops) in enumerate(reactions):
        free, force, at, point = 1, -down if up is None else up, 0, z[i] - gamma[i] * (-down if up is None else up)
        if up is not None:
            back = z[i] + gamma[i] * down
            free, force = where(point, 1, where(-back, 1, 0)), where(point, up, -down)
            point = where(point, point, where(-back, back, 0))
        for side, on, bound in stops:
            acts = where(side * (point - bound), on, 0)
            free, at, point = where(acts, 0, free), where(acts, bound, at), where(acts, bound, point)
        for name, value in zip(Modes._fields, (free, force, at, point), strict=True):
            getattr(found, name).append(value)
    return found


def solve_free(A: Any, b: Any, free: Sequence[Any]) -> Any:
    """x with A x = b in the rows of free joints, and x_i = 0 for the others.

    A = U D U^T as in `udu`, where a joint that is not free has 1 / D_i = 0: its column of U, and x_i, vanish.
    """
    n = len(b)
    scaled: dict[tuple[int, int], Any] = {}
    U: dict[tuple[int, int], Any] = {}
    share: dict[int, Any] = {}
    x: dict[int, Any] = {}
    for j in reversed(range(n)):
        for i in range(j + 1):
            scaled[i, j] = A[i, j] - sum((scaled[i, k] * U[j, k] for k in range(j + 1, n)), 0)
        share[j] = where(free[j], 1 / scaled[j, j], 0)
        for i in range(j):
            U[i, j] = scaled[i, j] * share[j]
        x[j] = b[j] - sum((U[j, k] * x[k] for k in range(j + 1, n)), 0)
    y: list[Any] = []
    for i in range(n):
        y.append(x[i] * share[i] - sum((U[j, i] * y[j] for j in range(i)), 0))
    return stack(y)


class Solution(NamedTuple):
    """v and r = b - A v; `excess` is above 0 where the iterations were too few."""

    v: Any
    r: Any
    excess: Any


def newton(A: Any, b: Any, z: Any, gamma: Any, reactions: Sequence[Reaction], iterations: int) -> Solution:
    """So many iterations from the guess that belongs to z."""
    guess = modes(z, gamma, reactions)
    v = left = z
    stopped = any(reaction.stops for reaction in reactions)
    for _ in range(iterations):
        right = b - stack(guess.force) - (A @ stack(guess.at) if stopped else 0)
        v = solve_free(A, right, guess.free)
        v = v + stack(guess.at) if stopped else v
        left = b - A @ v
        guess = modes(v + gamma * left, gamma, reactions)
    return Solution(v, left, excess(v, stack(guess.point), b, gamma))


def settled(A: Any, b: Any, z: Any, gamma: Any, reactions: Sequence[Reaction], iterations: int = 50) -> Solution:
    """The solution in floating-point numbers, whatever it takes: Newton's method, and where that does not end Gauss-Seidel's.

    The latter solves for one reaction after the other, with W = A^-1, and converges always, if slowly.
    """
    found = newton(A, b, z, gamma, reactions, 1)
    for _ in range(iterations):
        if not found.excess > 0:
            return found
        found = newton(A, b, found.v + gamma * found.r, gamma, reactions, 1)
    W, r = np.linalg.inv(A), np.array(found.r, dtype=float)
    free, w = W @ b, np.diagonal(W)
    for _ in range(SWEEPS):
        for i, reaction in enumerate(reactions):
            z = free[i] - W[i] @ r + w[i] * r[i]
            r[i] = (z - modes([z], [w[i]], [reaction]).point[0]) / w[i]
        found = newton(A, b, free - W @ r + gamma * r, gamma, reactions, 1)  # which is right as soon as the modes are
        if not found.excess > 0:
            break
    return found


def excess(v: Any, point: Any, b: Any, gamma: Any) -> Any:
    """Above 0 where v is not its own proximal point."""
    apart = point - v
    return dot(1 / gamma * apart, apart) - CLOSE**2 * dot(b * gamma, b)


def levels(law: FrictionLaw, left: Any, speed: Any) -> tuple[Any, Any]:
    """Friction's force where a joint goes forward, and minus that where it goes back, (n,) each, at speeds that set the level.

    The part of the load y: y + load_friction |y| + c = left for a joint that goes forward, so that y is a multiple of left - c.
    `left` is what damping and offset leave of the joint forces.
    """
    c = law.coulomb + law.extra / (1 + (law.per_speed * speed) ** 2) if law.extra.any() else law.coulomb
    mu = law.load_friction
    if not mu.any():
        return c, c
    forward, back = left - c, left + c
    return left - forward / (1 + mu * sign(forward)), back / (1 - mu * sign(back)) - left


def inverse_diagonal(model: Model, M: Any) -> Any:
    """gamma, (n,): the diagonal of M^-1; NaN where M is singular."""
    return np.diagonal(inverse(udu(M, Pivots(None, pivots(model).least))))


def bias(model: Model, optional: tuple[str, ...]) -> Callable[..., Any]:
    """C qd + g - sum J^T w as a function of q, qd and the wrenches, if there are any."""
    tree, function = (model.exact_tree if optional else model.reduced_tree), tree_forces(model)
    return lambda q, qd, **wrenches: function(tree, q, qd, zeros(model.n), **wrenches)


FREE = Reaction(None, 0)


def moving(speed: Any, up: Any, down: Any) -> Reaction:
    """Friction that acts against the motion, and may be anything between its levels where there is none."""
    return Reaction(where(speed, up, where(-speed, -down, up)), where(speed, -up, down))


def resting(side: int, limit: Any, q: Any, v: Any) -> Stop:
    """A joint on a stop that does not move may only leave it."""
    on = side * (q - limit) + NEAR * (1 + where(limit, limit, -limit))
    return Stop(side, where(v, 0, where(-v, 0, on)), 0)


def holding(law: FrictionLaw, share: Any, tau: Any, q: Any, v: Any, limits: Limits) -> list[Reaction]:
    """Of all joints, for a share of time: what moves keeps its friction, what stands may stick, or rest on a stop."""
    up, down = (share * level for level in levels(law, tau - law.damping * v - law.friction_offset, v))
    reactions = [moving(v[i], up[i], down[i]) if sticks else FREE for i, sticks in enumerate(law.sticks)]
    stops = [[resting(side, limit, q[i], v[i]) for side, limit in some] for i, some in enumerate(limits)]
    return [r._replace(stops=s) for r, s in zip(reactions, stops, strict=True)]


def limits_of(stops: tuple[tuple[int, int], ...], n: int, given: Mapping[str, Any]) -> Limits:
    """Where the stops (joint, side) are, from the arrays `lower` and `upper`."""
    return [[(side, given["upper" if side > 0 else "lower"][i]) for k, side in stops if k == i] for i in range(n)]


def sticking_dynamics(
    model: Model, make: Make, method: str, optional: tuple[str, ...], *, stops: tuple[tuple[int, int], ...]
) -> Body:
    """Accelerations and friction forces, where friction may be anything between its levels at joints that do not move.

    Both are NaN in the rare case that the iterations are too few.
    """
    mass = make("mass_matrix")
    return standing(model, lambda q: replay(mass, {"q": q}), optional, stops, partial(newton, iterations=ITERATIONS))


def standing(
    model: Model, mass: Callable[[Any], Any], optional: tuple[str, ...], stops: tuple[tuple[int, int], ...], solver: Any
) -> Body:
    """The same with any solver, on any scalar."""
    law, n = friction_law(model), model.n
    forces = bias(model, tuple(name for name in optional if name not in ("lower", "upper")))

    def body(q: Any, qd: Any, tau: Any, **more: Any) -> Any:
        if n == 0:
            return zeros(0), zeros(0)
        limits, outside = limits_of(stops, n, more), {name: x for name, x in more.items() if name not in ("lower", "upper")}
        M = mass(q)
        left = tau - law.damping * qd - law.friction_offset
        b, gamma = left - forces(q, qd, **outside), inverse_diagonal(model, M)
        places = at_home(model, q) if model.runs else q  # of joints that may have stops
        found = solver(M, b, gamma * b, gamma, holding(law, 1, tau, places, qd, limits))
        rubs = stack([r if sticks or some else 0 for r, sticks, some in zip(found.r, law.sticks, limits, strict=True)])
        results = found.v, tau - left + rubs
        is_right = TINY - found.excess  # not above 0 where M is singular, and this is NaN
        return tuple(stack([where(is_right, x, np.nan) for x in result]) for result in results)

    return body
