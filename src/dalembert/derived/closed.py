"""The dynamics of robots with closed loops, in all joints and in independent ones, as recipes; `closure` has the equations.

Every program is one of the robot with its loops cut, replayed between motions that keep them closed and the forces that do.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dalembert.algebra import linalg
from dalembert.algebra.spatial import Array, zeros
from dalembert.derived.closing import independent_joints
from dalembert.derived.closure import Embedding, closure, dependent, embedded, held, sizes
from dalembert.derived.make import Body, Make
from dalembert.model.model import Model
from dalembert.trace.program import Program
from dalembert.trace.replay import replay

ROUTES = ("multipliers", "independent")  # of forward dynamics


class ClosedDynamics(NamedTuple):
    """Accelerations of all joints (..., n), and multipliers (..., m) of the loops, which exert J^T multipliers on the joints."""

    qdd: Array
    multipliers: Array


class ClosedMotion(NamedTuple):
    """Velocities and accelerations of all joints, (..., n) each."""

    qd: Array
    qdd: Array


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
        turning = replay(c.jacobian_rate, {"q": q, "qd": at.qd}) @ at.G
        rate = dependent(at.free, replay(c.jacobian, {"q": q}), turning, sizes(model)[1])  # J G = 0, so J G' = -J' G
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
