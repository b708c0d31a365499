"""Loops closed in numbers: from a guess by Newton's method, which of their equations count, and which joints move the others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dalembert.algebra.spatial import Array, stack
from dalembert.errors import Error
from dalembert.model.loop import KINDS, Loop
from dalembert.model.model import Model
from dalembert.model.positions import by_kind, ranges
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import trace
from dalembert.trace.source import NumpyKernel

M = TypeVar("M", bound=Model)
CLOSED = 1e-10  # the gap, in m or rad, below which a loop is closed
STEPS = 200  # of Newton's method
GUESSES, ENOUGH = 64, 8  # random positions from which closed ones are sought, and how many of them suffice
RANK = 1e-7  # of singular values, relative to the largest
TIE = 1e-6  # columns as long as this are equally good


class Whole(NamedTuple):
    """All equations of all loops, those that follow from others, too, on NumPy."""

    gap: Any  # q -> phi (m,)
    jacobian: Any  # q -> J (m, n)
    facing: Any  # q -> (loops,)


def whole(model: Model) -> Whole:
    """Recorded once."""
    if whole not in model.memo:
        shape = {"q": (model.n,)}
        gap = trace(lambda q: np.concatenate([loop.equations(model, q) for loop in model.loops]), shape)
        facing = trace(lambda q: stack([loop.facing(model, q) for loop in model.loops]), shape)
        model.memo[whole] = Whole(*map(NumpyKernel, (gap, differentiate(gap, ["q"], mode="forward"), facing)))
    return model.memo[whole]


def gaps(model: Model, q: Array) -> Array:
    """How far the loops are open at q (..., n), in m or rad: the largest of their equations, or 2 where frames are flipped."""
    parts = whole(model)
    with np.errstate(all="ignore"):
        open_ = np.abs(parts.gap(q)).max(axis=-1)
        flipped = parts.facing(q).min(axis=-1) < 0
    return np.where(flipped, np.maximum(open_, 2.0), open_)


def settled(model: Model, q: Array, hold: Sequence[int] = ()) -> Array:
    """Positions (..., n) near a guess at which the loops are closed, as far as that goes: Levenberg's and Newton's steps.

    Each step is the smallest that closes the loops to first order; where that makes the gap larger it is shortened.
    """
    parts, shape = whole(model), q.shape
    q = np.array(q, dtype=float).reshape(-1, model.n)
    moving = np.array([float(i not in hold) for i in range(model.n)])
    size = lambda x: np.square(parts.gap(x)).sum(axis=-1)  # noqa: E731
    damping, now = np.full(len(q), 1e-3), size(q)
    for _ in range(STEPS):
        phi, J = parts.gap(q), parts.jacobian(q) * moving
        scale = np.square(J).sum(axis=(-2, -1)) + np.finfo(float).tiny
        A = J @ np.swapaxes(J, -1, -2) + (damping * scale)[:, None, None] * np.eye(J.shape[-2])
        with np.errstate(all="ignore"):
            step = -np.vecmat(_solved(A, phi), J)
            new = q + step * np.minimum(1.0, 1.0 / (np.abs(step).max(axis=-1) + 1e-300))[:, None]  # at most 1 rad or 1 m
            then = size(new)
            better = then < now
        q, now = np.where(better[:, None], new, q), np.where(better, then, now)
        damping = np.where(better, np.maximum(damping / 10, 1e-15), np.minimum(damping * 4, 1e3))
        if (now <= (0.1 * CLOSED) ** 2).all() or (damping >= 1e3).all():
            break
    return _polished(parts, q, moving).reshape(shape)


def _solved(A: Array, b: Array) -> Array:
    try:
        return np.linalg.solve(A, b[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.matvec(np.linalg.pinv(A, hermitian=True), b)


def _polished(parts: Whole, q: Array, moving: Array) -> Array:
    """To the last digits, where the loops are nearly closed: Newton's steps, of which redundant equations take no part."""
    for _ in range(3):
        phi = parts.gap(q)
        near = np.abs(phi).max(axis=-1) < 1e-4
        if not near.any():
            break
        J = parts.jacobian(q[near]) * moving
        with np.errstate(all="ignore"):
            new = q[near] - np.matvec(np.linalg.pinv(J, rcond=RANK), phi[near])
            better = np.abs(parts.gap(new)).max(axis=-1) <= np.abs(phi[near]).max(axis=-1)
        q[near] = np.where(better[:, None], new, q[near])
    return q


def closed_positions(model: Model, near: Any = None) -> Array:
    """Some positions (k, n) at which all loops are closed, from a guess or from random ones: the same at every call."""
    reach = by_kind(model, 1.0, np.pi)
    low, high = ranges(model.lower, model.upper, 2 * reach)
    rng = np.random.default_rng(0)
    if near is not None:
        first = settled(model, np.asarray(near, float))
        if not gaps(model, first) < CLOSED:
            gap = float(gaps(model, first))
            raise Error(f"with_loop: from near={np.round(near, 6).tolist()} the loops of {model.name} stay open by {gap:.3g}")
        guesses = first + 0.05 * rng.uniform(-1, 1, (ENOUGH, model.n)) * reach
    else:
        guesses = np.concatenate([np.zeros((1, model.n)), low + rng.uniform(size=(GUESSES, model.n)) * (high - low)])
    found = settled(model, guesses)
    found = found[gaps(model, found) < CLOSED]
    if not len(found):
        raise Error(
            f"with_loop: no position was found at which the loops of {model.name} are closed, from {len(guesses)} guesses; give "
            "one that is nearly so as near=q, or look at the lengths of its links"
        )
    return found


def counting_rows(model: M, near: Any = None) -> M:
    """The same robot with the equations of its last loop that do not follow from the others, where the loops are closed.

    They are chosen by QR with pivoting of J^T, at the closed position where J has its largest rank and is farthest from less.
    """
    last, before = model.loops[-1], model.loops[:-1]
    positions = closed_positions(model, near)
    J = whole(model).jacobian(positions)
    starts = _starts(model)
    kept = [starts[i] + row for i, loop in enumerate(before) for row in loop.rows or ()]
    values = np.linalg.svd(J, compute_uv=False)
    ranks = (values > RANK * np.maximum(values[:, :1], np.finfo(float).tiny)).sum(axis=-1)
    best = max(range(len(J)), key=lambda i: (ranks[i], values[i, max(ranks[i] - 1, 0)]))
    chosen = _pivots(J[best].T, kept, range(starts[-2], starts[-1]))
    rows = tuple(sorted(c - starts[-2] for c in chosen))
    if not rows:
        raise Error(f"the loop {last.told} of {model.name} adds nothing to what holds already; leave it out")
    if len(rows) + len(kept) >= model.n:
        raise Error(
            f"the loops of {model.name} leave none of its {model.n} joints free: {len(rows) + len(kept)} equations hold them; is "
            f"the loop {last.told} of the right kind?"
        )
    return replace(model, loops=(*before, replace(last, rows=rows)))


def _starts(model: Model) -> list[int]:
    """Where the equations of each loop begin among all of them, and their number."""
    return np.cumsum([0, *(count(model, loop) for loop in model.loops)]).tolist()


def count(model: Model, loop: Loop) -> int:
    """How many equations a loop has."""
    if isinstance(loop.kind, str):
        return KINDS[loop.kind]
    return trace(lambda q: loop.equations(model, q), {"q": (model.n,)}).outputs[0].size


def _pivots(columns: Array, first: Sequence[int], among: Sequence[int], count: int | None = None) -> list[int]:
    """Columns by QR with pivoting, the longest rest next; of equal ones the earliest. `first` come before all others."""
    rest = np.array(columns, dtype=float)
    least = RANK * float(np.sqrt(np.square(rest).sum(axis=0)).max(initial=0.0))
    chosen: list[int] = []

    def take(c: int) -> None:
        u = rest[:, c] / np.sqrt(np.square(rest[:, c]).sum())
        rest[...] = rest - np.outer(u, u @ rest)

    for c in first:
        if np.sqrt(np.square(rest[:, c]).sum()) > least:
            take(c)
    while count is None or len(chosen) < count:
        lengths = {c: float(np.sqrt(np.square(rest[:, c]).sum())) for c in among if c not in chosen}
        if not lengths or (longest := max(lengths.values())) <= least:
            break
        c = next(c for c, length in lengths.items() if length >= (1 - TIE) * longest)
        chosen.append(c)
        take(c)
    return chosen


def independent_joints(model: Model) -> tuple[int, ...]:
    """The joints that the others follow through the loops: those chosen, or those that leave J_z farthest from singular."""
    if model.independent:
        return tuple(sorted(model.joint_names.index(name) for name in model.independent))
    if independent_joints not in model.memo:
        model.memo[independent_joints] = _found(model)
    return model.memo[independent_joints]


def _found(model: Model) -> tuple[int, ...]:
    """By QR with pivoting of J: its first columns are the joints that follow, later joints before earlier ones if both will do."""
    positions = closed_positions(model)
    starts = _starts(model)
    rows = [starts[i] + row for i, loop in enumerate(model.loops) for row in loop.rows or ()]
    J = whole(model).jacobian(positions)[:, rows]
    values = np.linalg.svd(J, compute_uv=False)
    best = int(np.argmax(values[:, -1] / np.maximum(values[:, 0], np.finfo(float).tiny)))
    bound = _pivots(J[best], (), range(model.n - 1, -1, -1), len(rows))
    if len(bound) < len(rows):
        raise Error(
            f"the equations of the loops of {model.name} depend on each other wherever they hold; with_loop finds those that count"
        )
    return tuple(i for i in range(model.n) if i not in bound)


def made(model: M, loop: Loop, near: Any = None) -> M:
    """The same robot with one more loop, of whose equations only those count that do not follow from others."""
    return counting_rows(replace(model, loops=(*model.loops, replace(loop, rows=(0,))), independent=()), near)
