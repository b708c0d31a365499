"""Robots with closed loops, phi(q) = 0: their equations, and the dynamics in all joints and in independent ones, as recipes.

J = dphi/dq, and gamma = J' qd, come from the traced phi by differentiation. In all joints (Lagrange's multipliers lambda):

    M qdd + h = tau + J^T lambda,   J qdd = -gamma,   so   A lambda = -gamma - J M^-1 (tau - h),   A = J M^-1 J^T.

In independent joints y, which the others z follow: qd = G yd, qdd = G ydd + k, with G = [1; -J_z^-1 J_y], k = [0; -J_z^-1 gamma].
Every program is one of the robot with its loops cut, replayed between these.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra import linalg
from dalembert.algebra.scalars import above
from dalembert.algebra.spatial import Array, dot, stack, symmetric, zeros
from dalembert.derived.closing import independent_joints
from dalembert.derived.joints import coupled_inertia, pivots
from dalembert.derived.make import Body, Make
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay
from dalembert.trace.source import NumpyKernel

ROUTES = ("multipliers", "independent")  # of forward dynamics
SINGULAR = 1e-10  # of a pivot, relative to its row: a hundred-thousandth of a radian from where a loop loses a direction


class ClosedDynamics(NamedTuple):
    """Accelerations of all joints (..., n), and multipliers (..., m) of the loops, which exert J^T multipliers on the joints."""

    qdd: Array
    multipliers: Array


class ClosedMotion(NamedTuple):
    """Velocities and accelerations of all joints, (..., n) each."""

    qd: Array
    qdd: Array


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


# --- linear algebra -----------------------------------------------------------------------------------------------------------


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
        sure = D - SINGULAR * float(self.sizes[i])
        return D + (above(sure, 0.0, np.nan) - sure)  # exactly D, or NaN


def sizes(model: Model) -> tuple[Array, Array]:
    """How large the diagonal of A (m,), and the squares of the columns of J (n,), are at most at some positions.

    They become constants of programs, and must be the same on every machine: powers of two.
    """
    if sizes not in model.memo:
        n, p = model.n, 17  # a prime: joints run through the positions in orders of their own
        shares = np.array([[2 * ((k * (i + 1) + i) % p + 0.5) / p - 1 for i in range(n)] for k in range(p)])
        q = shares * np.array([1.0 if joint.kind == "prismatic" else np.pi for joint in model.joints])
        J, M = NumpyKernel(closure(model).jacobian)(q), coupled_inertia(model.cut, q, model.tree)
        A = J @ np.linalg.pinv(M, hermitian=True) @ np.swapaxes(J, -1, -2)
        parts = np.diagonal(A, axis1=-2, axis2=-1), np.square(J).sum(axis=-2)
        rows, columns = (2.0 ** np.round(np.log2(np.maximum(x.max(axis=0), np.finfo(float).tiny))) for x in parts)
        model.memo[sizes] = rows, columns
    return model.memo[sizes]


_STUCK = "an equation of the loops is zero or follows from the others at every position; with_loop(...) finds such rows"


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
    n = J.shape[1]
    bound = [i for i in range(n) if i not in free]
    guard = Guard(None if columns is None else columns[bound])
    G = np.zeros((n, len(free)), dtype=object)
    G[list(free)], G[bound] = np.eye(len(free), dtype=int), -solve_square(J[:, bound], J[:, list(free)], guard)
    if bias is None:
        return Embedding(free, G, None, None)
    moved, k = G @ qd[list(free)], np.zeros(n, dtype=object)
    k[bound] = -solve_square(J[:, bound], np.asarray(bias(moved))[:, None], guard)[:, 0]
    return Embedding(free, G, k, moved)


def embedded(model: Model, q: Any, qd: Any = None) -> Embedding:
    """The embedding of a robot at a position, for traced scalars."""
    c, free = closure(model), independent_joints(model)
    J = replay(c.jacobian, {"q": q})
    if qd is None:
        return embedding(free, J, columns=sizes(model)[1])
    return embedding(free, J, lambda moved: replay(c.bias, {"q": q, "qd": moved}), qd, sizes(model)[1])


# --- recipes ------------------------------------------------------------------------------------------------------------------


def _pulled(model: Model, make: Make, optional: tuple[str, ...]) -> Callable[..., tuple[Any, Any]]:
    """(qdd, lambda) in all joints."""
    c, mass, forces = closure(model), make.cut("mass_matrix"), make.cut("inverse_dynamics", None, optional)

    def body(q: Any, qd: Any, tau: Any, **outside: Any) -> tuple[Any, Any]:
        at = held(replay(mass, {"q": q}), replay(c.jacobian, {"q": q}), model)
        h = replay(forces, {"q": q, "qd": qd, "qdd": zeros(model.n), **outside})
        return at.back(tau - h, -replay(c.bias, {"q": q, "qd": qd}))

    return body


def constraint_dynamics(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """Accelerations and multipliers."""
    return _pulled(model, make, optional)


def forward_dynamics(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """By multipliers, or in independent joints."""
    if method == "multipliers":
        pulled = _pulled(model, make, optional)
        return lambda **given: pulled(**given)[0]
    mass, forces = make.cut("mass_matrix"), make.cut("inverse_dynamics", None, optional)

    def body(q: Any, qd: Any, tau: Any, **outside: Any) -> Any:
        at = embedded(model, q, qd)
        h = replay(forces, {"q": q, "qd": at.qd, "qdd": at.k, **outside})
        M = at.gathered(at.gathered(replay(mass, {"q": q}), 0), 1)
        return at.G @ linalg.solve(linalg.udu(M), at.forces(tau - h)) + at.k

    return body


def projection(model: Model, make: Make) -> Callable[[Any, Any], tuple[Any, Any]]:
    """(q, qd) nearer to the loops, measured by M: one step of Newton's method, and velocities that keep them closed."""
    c, mass = closure(model), make.cut("mass_matrix")

    def body(q: Any, qd: Any) -> tuple[Any, Any]:
        J = replay(c.jacobian, {"q": q})
        at = held(replay(mass, {"q": q}), J, model)
        return q - at.back(None, replay(c.gap, {"q": q}))[0], qd - at.back(None, J @ qd)[0]

    return body


def following(name: str, outputs: Mapping[str, tuple[Any, ...]]) -> Callable[..., Any]:
    """The recipe of what takes motions and gives forces: of the robot with its loops cut, at motions that keep them closed.

    Vectors of forces are those of the independent joints, 0 at the others; of matrices only the rows and columns of these remain.
    What has no axis of forces is the same with loops and without.
    """
    shapes = tuple(outputs.values())

    def recipe(model: Model, make: Make, method: str, optional: tuple[str, ...], **options: Any) -> Body | Program:
        cut = make.cut(name, method, optional, **options)
        if not any("n" in shape for shape in shapes):
            return cut

        def body(**given: Any) -> Any:
            at = embedded(model, given["q"], given.get("qd"))
            given |= {"qd": at.qd} if at.qd is not None else {}
            given |= {"qdd": at.motion(given["qdd"])} if "qdd" in given else {}
            found = replay(cut, given)
            results = found if isinstance(found, tuple) else (found,)
            return tuple(_gathered(at, x, shape) for x, shape in zip(results, shapes, strict=True))

        return body

    return recipe


def _gathered(at: Embedding, x: Any, shape: tuple[Any, ...]) -> Any:
    for axis, kind in enumerate(shape):
        x = at.gathered(x, axis) if kind == "n" else x
    return at.spread(x) if shape == ("n",) else x


def part_of_forces(name: str) -> Callable[..., Any]:
    """Coriolis or bias forces: G^T (of all joints + M k)."""

    def recipe(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
        part, mass = make.cut(name, method), make.cut("mass_matrix")

        def body(q: Any, qd: Any) -> Any:
            at = embedded(model, q, qd)
            return at.spread(at.forces(replay(part, {"q": q, "qd": at.qd}) + replay(mass, {"q": q}) @ at.k))

        return body

    return recipe


def coriolis_matrix(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """G^T (C G + M G'), so that M' - 2 C stays skew."""
    c, coriolis, mass = closure(model), make.cut("coriolis_matrix", method), make.cut("mass_matrix")

    def body(q: Any, qd: Any) -> Any:
        at = embedded(model, q, qd)
        rate, bound = np.zeros(at.G.shape, dtype=object), [i for i in range(model.n) if i not in at.free]
        turning = replay(c.jacobian_rate, {"q": q, "qd": at.qd}) @ at.G
        guard = Guard(sizes(model)[1][bound])
        rate[bound] = -solve_square(replay(c.jacobian, {"q": q})[:, bound], turning, guard)  # J G = 0, so J G' = -J' G
        C, M = replay(coriolis, {"q": q, "qd": at.qd}), replay(mass, {"q": q})
        return at.G.T @ (C @ at.G + M @ rate)

    return body


def inverse_mass_matrix(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """(G^T M G)^-1."""
    mass = make("mass_matrix")
    return lambda q: linalg.inverse(linalg.udu(replay(mass, {"q": q})))


def _residual(model: Model, make: Make, method: str | None, optional: tuple[str, ...]) -> Program:
    """G^T (inverse dynamics - tau), (k,), of q, qd, qdd, tau and what acts from outside."""
    forces = make.cut("inverse_dynamics", method, optional)
    shapes = {v.name: v.shape for v in forces.inputs} | {"tau": (model.n,)}

    def body(*given: Any) -> Any:
        arrays = dict(zip(shapes, given, strict=True))
        at, tau = embedded(model, arrays["q"], arrays["qd"]), arrays.pop("tau")
        return at.forces(replay(forces, arrays | {"qd": at.qd, "qdd": at.motion(arrays["qdd"])}) - tau)

    return make.recorded(body, shapes)


def _slopes(model: Model, make: Make, method: str | None, optional: tuple[str, ...]) -> Callable[..., tuple[Any, Any, Any]]:
    """How the residual changes with independent joints, along the loops: d/dy = (d/dq) G."""
    slope = make.derivative(_residual(model, make, method, optional), ["q", "qd", "qdd"], "reverse")
    free = list(independent_joints(model))

    def body(**given: Any) -> tuple[Any, Any, Any]:
        dq, dqd, dqdd = replay(slope, given)
        return dq @ embedded(model, given["q"]).G, dqd[:, free], dqdd[:, free]

    return body


def inverse_dynamics_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """By positions, velocities and accelerations of the independent joints."""
    slopes = _slopes(model, make, method, optional)
    return lambda **given: slopes(**given, tau=zeros(model.n))


def forward_dynamics_derivatives(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """From those of inverse dynamics at the accelerations that the forces make."""
    forward, slopes = make("forward_dynamics", method, optional), _slopes(model, make, None, optional)

    def body(**given: Any) -> Any:
        dq, dqd, M = slopes(**given, qdd=replay(forward, given))
        inverse = linalg.inverse(linalg.udu(M))
        return -(inverse @ dq), -(inverse @ dqd), inverse

    return body


# --- the loops themselves -----------------------------------------------------------------------------------------------------


def loop_gap(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """phi(q)."""
    return lambda q: replay(closure(model).gap, {"q": q})


def loop_jacobian(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """dphi/dq."""
    return lambda q: replay(closure(model).jacobian, {"q": q})


def independent_jacobian(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """G."""
    return lambda q: embedded(model, q).G


def closed_motion(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """G yd and G ydd + k."""

    def body(q: Any, qd: Any, qdd: Any) -> Any:
        at = embedded(model, q, qd)
        return at.qd, at.motion(qdd)

    return body
