"""The loops of a robot as equations phi(q) = 0, and what keeps them closed: multipliers, or independent joints.

J = dphi/dq, and gamma = J' qd, come from the traced phi by differentiation. In all joints (Lagrange's multipliers lambda):

    M qdd + h = tau + J^T lambda,   J qdd = -gamma,   so   A lambda = -gamma - J M^-1 (tau - h),   A = J M^-1 J^T.

In independent joints y, which the others z follow: qd = G yd, qdd = G ydd + k, with G = [1; -J_z^-1 J_y], k = [0; -J_z^-1 gamma].
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra import linalg
from dalembert.algebra.spatial import Array, dot, stack, symmetric
from dalembert.derived.closing import independent_joints
from dalembert.derived.joints import coupled_inertia, pivots, sampled
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.positions import by_kind
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay
from dalembert.trace.source import NumpyKernel

SINGULAR = 1e-10  # of a pivot, relative to its row: a hundred-thousandth of a radian from where a loop loses a direction
_STUCK = "an equation of the loops is zero or follows from the others at every position; with_loop(...) finds such rows"


class Closure(NamedTuple):
    """Programs of the loops' equations that count, in their order."""

    gap: Program  # q -> phi (m,)
    jacobian: Program  # q -> J (m, n)
    bias: Program  # q, qd -> gamma = J' qd (m,)
    jacobian_rate: Program  # q, qd -> J' (m, n)


def closure(model: Model) -> Closure:
    """The equations of a robot's loops, recorded once."""
    if closure not in model.memo:
        n = {"q": (model.n,)}
        gap = trace(lambda q: equations(model, q), n, outputs=("gap",))
        jacobian = differentiate(gap, ["q"], mode="forward")
        model.memo[closure] = Closure(gap, jacobian, _along(gap, 2), _along(jacobian, 1))
    return model.memo[closure]


def equations(model: Model, q: Any) -> Any:
    """phi(q) of all loops, of any scalar."""
    parts = [loop.equations(model, q) for loop in model.loops]
    for part, loop in zip(parts, model.loops, strict=True):
        if max(loop.rows or ()) >= len(part):
            raise Error(f"the loop {loop.told} has {len(part)} equations, but row {max(loop.rows or ())} is asked for")
    return np.concatenate([np.asarray(part)[list(loop.rows or ())] for part, loop in zip(parts, model.loops, strict=True)])


def _along(program: Program, order: int) -> Program:
    """The derivative of this order by t, at 0, of a program of q at q + t qd."""
    shape = program.inputs[0].shape
    moved = trace(lambda q, qd, t: replay(program, {"q": q + t * qd}), {"q": shape, "qd": shape, "t": ()})
    for _ in range(order):
        moved = differentiate(moved, ["t"], mode="forward")
    return trace(lambda q, qd: replay(moved, {"q": q, "qd": qd, "t": 0}), {"q": shape, "qd": shape})


class Guard(NamedTuple):
    """Pivots that are not small beside what they can be, (m,); NaN elsewhere, which is how singular states are found."""

    sizes: Any = None

    def __call__(self, i: int, D: Any, *_: Any) -> Any:
        """The pivot."""
        if linalg.is_number(D):
            if D <= 0:
                raise Error(_STUCK)
            return D
        if self.sizes is None:
            return D
        return linalg.unless_small(D, D - SINGULAR * float(self.sizes[i]))


def sizes(model: Model) -> tuple[Array, Array]:
    """How large the diagonal of A (m,), and the squares of the columns of J (n,), are at most at some positions.

    They become constants of programs, and must be the same on every machine: powers of two.
    """
    if sizes not in model.memo:
        q = sampled(model.n) * by_kind(model, 1.0, np.pi)
        J, M = NumpyKernel(closure(model).jacobian)(q), coupled_inertia(model.cut, q, model.tree)
        A = J @ np.linalg.pinv(M, hermitian=True) @ np.swapaxes(J, -1, -2)
        parts = np.diagonal(A, axis1=-2, axis2=-1), np.square(J).sum(axis=-2)
        rows, columns = (2.0 ** np.round(np.log2(np.maximum(x.max(axis=0), np.finfo(float).tiny))) for x in parts)
        model.memo[sizes] = rows, columns
    return model.memo[sizes]


def solve_square(A: Any, B: Any, guard: Guard) -> Any:
    """X with A X = B, A (m, m), B (m, k), by orthogonal columns that are not normalized: stable, and without square roots.

    The columns of B go through the same steps as those of A, by which the method is backward stable (Bjoerck).
    """
    m = len(A)
    kept: list[tuple[Any, Any]] = []  # orthogonal columns, and the reciprocals of their squares
    R: dict[tuple[int, int], Any] = {}

    def reduced(v: Any) -> tuple[list[Any], Any]:
        parts: list[Any] = []
        for u, reciprocal in kept:
            parts.append(dot(u, v) * reciprocal)
            v = v - parts[-1] * u
        return parts, v

    for j in range(m):
        parts, v = reduced(A[:, j])
        R |= {(i, j): part for i, part in enumerate(parts)}
        kept.append((v, 1 / guard(j, dot(v, v))))
    columns: list[Any] = []
    for k in range(B.shape[1]):
        c, x = reduced(B[:, k])[0], dict[int, Any]()
        for i in reversed(range(m)):
            x[i] = c[i] - sum((R[i, j] * x[j] for j in range(i + 1, m)), 0)
        columns.append(np.array([x[i] for i in range(m)], dtype=object))
    return stack(columns) if columns else np.zeros((m, 0), dtype=object)


class Held(NamedTuple):
    """What multipliers are found with at a position: M = U D U^T, W = J U^-T, A = W D^-1 W^T."""

    factors: linalg.Factors
    W: Any
    A: linalg.Factors

    def back(self, force: Any, change: Any) -> tuple[Any, Any]:
        """x and lambda with M x = force + J^T lambda and J x = change."""
        reciprocal = 1 / self.factors.D
        u = linalg.unit_upper_solve(self.factors.U, force) if force is not None else None
        wanted = change if u is None else change - np.matvec(self.W * reciprocal, u)
        multipliers = linalg.solve(self.A, wanted)
        pulled = np.vecmat(multipliers, self.W)
        whole = pulled if u is None else u + pulled
        return linalg.unit_upper_transposed_solve(self.factors.U, whole * reciprocal), multipliers


def held(M: Any, J: Any, model: Model | None = None) -> Held:
    """The factors for multipliers; those of a robot are guarded."""
    factors = linalg.udu(M, linalg.Pivots(None, None if model is None else pivots(model.cut).least))
    W = linalg.unit_upper_solve(factors.U, J)
    scaled, m = W * (1 / factors.D), len(J)
    A = symmetric(linalg.matrix({(i, j): dot(W[i], scaled[j]) for i in range(m) for j in range(i, m)}, m))
    return Held(factors, W, linalg.udu(A, Guard(None if model is None else sizes(model)[0])))


class Embedding(NamedTuple):
    """All joints from independent ones: qd = G yd, qdd = G ydd + k."""

    free: Sequence[int]  # the independent joints y
    G: Any  # (n, k)
    k: Any  # (n,), None where velocities do not matter
    qd: Any  # (n,)

    def motion(self, qdd: Any) -> Any:
        """Accelerations of all joints from those of the independent ones among them."""
        return self.G @ qdd[list(self.free)] + self.k

    def forces(self, tau: Any) -> Any:
        """The forces (k,) at the independent joints that do the same as forces at all of them: G^T tau."""
        return self.gathered(tau, 0)

    def gathered(self, x: Any, axis: int) -> Any:
        """An array with an axis of forces, or of derivatives by q, (n,): with one of independent joints, (k,), in its place."""
        return np.moveaxis(np.moveaxis(np.asarray(x), axis, -1) @ self.G, -1, axis)

    def spread(self, tau: Any) -> Any:
        """Forces (k,) of independent joints as an array for all, 0 at the others."""
        places = {i: tau[j] for j, i in enumerate(self.free)}
        return np.array([places.get(i, 0) for i in range(len(self.G))], dtype=object)


def embedding(
    free: Sequence[int], J: Any, bias: Callable[[Any], Any] | None = None, qd: Any = None, columns: Any = None
) -> Embedding:
    """From J (m, n) and gamma = bias(qd), which is asked at the velocities that the independent ones of qd make.

    columns: the squares of those of J at most, (n,), beside which singular ones are small.
    """
    G = dependent(free, J, J[:, list(free)], columns)
    G[list(free)] = np.eye(len(free), dtype=int)
    if bias is None:
        return Embedding(free, G, None, None)
    moved = G @ qd[list(free)]
    return Embedding(free, G, dependent(free, J, np.asarray(bias(moved))[:, None], columns)[:, 0], moved)


def dependent(free: Sequence[int], J: Any, change: Any, columns: Any = None) -> Any:
    """X (n, k) with J X = -change (m, k), 0 at the independent joints."""
    X, bound = np.zeros((J.shape[1], change.shape[1]), dtype=object), [i for i in range(J.shape[1]) if i not in free]
    X[bound] = -solve_square(J[:, bound], change, Guard(None if columns is None else columns[bound]))
    return X


def embedded(model: Model, q: Any, qd: Any = None) -> Embedding:
    """The embedding of a robot at a position, for traced scalars."""
    c, free = closure(model), independent_joints(model)
    J = replay(c.jacobian, {"q": q})
    if qd is None:
        return embedding(free, J, columns=sizes(model)[1])
    return embedding(free, J, lambda moved: replay(c.bias, {"q": q, "qd": moved}), qd, sizes(model)[1])
