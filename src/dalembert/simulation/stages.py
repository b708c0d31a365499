"""Stages of an integrator: one of them as a program, in joint velocities, quasi-velocities or momenta, and the arrays it runs on.

joint       q' = qd                 qd' = M^-1 (tau - C qd - g - friction)
quasi       q' = m^-T nu            nu' = m^-1 (tau - g - friction) - C(q, nu)          (Kozlowski's diagonalized equations)
momentum    q' = M^-1 p             p' = tau - g - friction + C^T qd                    (Hamilton's, with Mdot = C + C^T)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.scalars import sign
from dalembert.algebra.spatial import Array, dot, rotate, rotate_back
from dalembert.derived.charts import position_rate
from dalembert.derived.closed import ROUTES as CLOSED
from dalembert.derived.closed import projection
from dalembert.derived.joints import Jump, friction, left_of, slipping
from dalembert.derived.make import Body, Make
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import OUTSIDE, SOLVING, TAU, methods
from dalembert.errors import Error
from dalembert.model.edit import without_friction
from dalembert.model.model import Model
from dalembert.native.ordered import ordered
from dalembert.simulation.integrators import FACTORS, advance
from dalembert.trace.replay import replay

CONVERGED = 1e-11  # of an implicit step, relative to the state
Rates = Callable[[Any, Any, Any, dict[str, Any]], tuple[Any, Any]]  # (q, v, tau, wrenches) -> q', v'


def _joint(model: Model, make: Make, method: str, optional: tuple[str, ...], jump: Jump) -> Rates:
    if jump is sign:
        forward = make("forward_dynamics", method, optional)
        return lambda q, qd, tau, more: (qd, replay(forward, {"q": q, "qd": qd, "tau": tau, **more}))
    bare = program(without_friction(model), "forward_dynamics", method, optional=optional)
    return lambda q, qd, tau, more: (qd, replay(bare, {"q": q, "qd": qd, "tau": left_of(model, qd, tau, jump), **more}))


def _quasi(model: Model, make: Make, method: str, optional: tuple[str, ...], jump: Jump) -> Rates:
    velocity, force, coriolis = (make(name) for name in ("joint_velocity", "quasi_force", "quasi_coriolis"))
    still = make("inverse_dynamics", None, optional)

    def rates(q: Any, nu: Any, tau: Any, more: dict[str, Any]) -> tuple[Any, Any]:
        qd, zero = replay(velocity, {"q": q, "nu": nu}), np.zeros(model.n)
        held = replay(still, {"q": q, "qd": zero, "qdd": zero, **more})
        left = tau - sum(friction(model, qd, jump), held)
        return qd, replay(force, {"q": q, "tau": left}) - replay(coriolis, {"q": q, "nu": nu})

    return rates


def _momentum(model: Model, make: Make, method: str, optional: tuple[str, ...], jump: Jump) -> Rates:
    inverse, coriolis = make("inverse_mass_matrix"), make("coriolis_matrix")
    still = make("inverse_dynamics", None, optional)

    def rates(q: Any, p: Any, tau: Any, more: dict[str, Any]) -> tuple[Any, Any]:
        qd, zero = rotate(replay(inverse, {"q": q}), p), np.zeros(model.n)
        held = replay(still, {"q": q, "qd": zero, "qdd": zero, **more})
        return qd, tau - sum(friction(model, qd, jump), held) + rotate_back(replay(coriolis, {"q": q, "qd": qd}), qd)

    return rates


ROUTES = {"joint": _joint, "quasi": _quasi, "momentum": _momentum}


def _stage(model: Model, make: Make, method: str, optional: tuple[str, ...], *, velocities: str, slip_speed: float) -> Body:
    """q, v, the point, the sums and the gap after one stage; the state once more, to keep."""
    return staged(model, ROUTES[velocities](model, make, method, optional, slipping(slip_speed)))


def staged(model: Model, rates: Rates) -> Body:
    """One stage as a function of arrays by name, from the rates of positions and velocities; `more` are inputs of these."""

    def body(q: Any, v: Any, at_q: Any, at_v: Any, sum_q: Any, sum_v: Any, gap: Any, tau: Any, factors: Any, **more: Any) -> Any:
        speed, k_v = rates(at_q, at_v, tau, more)
        k_q = position_rate(model, at_q, speed + factors[4] * k_v)
        next_q, next_at_q, sum_q = advance(factors, q, sum_q, k_q)
        next_v, next_at_v, sum_v = advance(factors, v, sum_v, k_v)
        apart = np.concatenate([q + next_q - 2 * at_q, v + next_v - 2 * at_v])
        return next_q, next_v, next_at_q, next_at_v, sum_q, sum_v, gap + factors[5] * dot(apart, apart), next_q, next_v

    return body


def _closed_stage(model: Model, make: Make, method: str, optional: tuple[str, ...], *, velocities: str, slip_speed: float) -> Body:
    """The same of a robot with loops; where a step begins, its state is first moved onto them.

    The projection and the accelerations share the factors of M and of J M^-1 J^T at the state before it, from which it differs by
    the error of one step: the order of the integrator stays.
    """
    projected = projection(model, make)
    stage = _stage(model, make, method, optional, velocities=velocities, slip_speed=slip_speed)

    def body(q: Any, v: Any, at_q: Any, at_v: Any, factors: Any, **more: Any) -> Any:
        moved_q, moved_v = (factors[6] * (new - old) for new, old in zip(projected(at_q, at_v), (at_q, at_v), strict=True))
        return stage(q=q + moved_q, v=v + moved_v, at_q=at_q, at_v=at_v, factors=factors, **more)

    return body


_Q, _V, _GAP = Values(("q",), "SI"), Values(("n",), "SI"), Values((), "SI")
STATE = {"q": _Q, "v": _V, "at_q": _Q, "at_v": _V, "sum_q": _Q, "sum_v": _V}
STAGE = Quantity(
    "stage",
    "One stage of an integrator.",
    {**STATE, "gap": _GAP, **TAU, "factors": Values((FACTORS,), "SI")},
    {**{f"new_{name}": values for name, values in STATE.items()}, "new_gap": _GAP, "kept_q": _Q, "kept_v": _V},
    "articulated_body",
    optional={"wrenches": OUTSIDE["wrenches"]},
    options={"velocities": "joint", "slip_speed": 0.0},
    recipe=_stage,
    recipes=methods("forward_dynamics"),
    coupled=_stage,
    coupled_methods=SOLVING,
    closed=_closed_stage,
    closed_methods=CLOSED,
)


def check_route(velocities: str, integrator: str) -> None:
    """Half-implicit steps use that the velocity is the derivative of the position."""
    if integrator in ("semi_implicit_euler", "moreau") and velocities != "joint":
        smooth = ", with slip_speed where there is Coulomb friction" if integrator == "moreau" else ""
        raise Error(f'{integrator} needs velocities="joint", not {velocities!r}; implicit_midpoint or rk4 take any{smooth}')


class Stages:
    """The arrays of a kernel's stage, for some rollouts: one memory, read and written at every pass."""

    def __init__(self, kernel: Any, q: Array, v: Array, more: Array | None) -> None:
        """`more` is a further input of the kernel, constant in time: wrenches (B, links, 6), for example."""
        self.kernel = kernel
        self.state = {name: np.zeros((1, 1, 1, *(q if values is _Q else v).shape)) for name, values in STATE.items()}
        self.gap = np.zeros((1, 1, 1, len(q)))
        self.more = [] if more is None else [np.array(more, dtype=float)[None, None, None]]
        self.restart(q, v)

    def restart(self, q: Array, v: Array) -> None:
        """Begin a step at this state."""
        for name, value in zip(STATE, (q, v, q, v, 0.0, 0.0), strict=True):
            self.state[name][...] = value
        self.gap[...] = 0.0

    def prepared(
        self,
        factors: Array,
        tau: Array,
        kept: tuple[Array, Array],
        counts: tuple[int, int, int],
        points: tuple[Array, Array] | None = None,
    ) -> Callable[[], None]:
        """The passes of these loops over samples, steps and stages, to be run.

        points: (passes + 1, B, n) where to keep the positions and velocities at which all stages took their derivatives.
        """
        before, after = dict(self.state), dict(self.state)
        for name, x in zip(("at_q", "at_v"), points or (), strict=False):
            x[0] = self.state[name][0, 0, 0]
            before[name], after[name] = (part.reshape(*counts, *x.shape[1:]) for part in (x[:-1], x[1:]))
        inputs = [*before.values(), self.gap, tau, factors[None, None, :, None], *self.more]
        return ordered(self.kernel, inputs, [*after.values(), self.gap, *kept], counts)

    def converged(self) -> bool:
        """Whether the iterations of all implicit steps since the restart met."""
        scale = 1 + sum(np.abs(self.state[name]).max(axis=-1) for name in ("q", "v"))
        met = np.sqrt(self.gap) <= CONVERGED * scale
        return bool((met | ~np.isfinite(self.gap)).all())  # what has run away is found at the end


def apart(step: float, function: str = "simulate") -> Error:
    """Error of an implicit step that is too long."""
    return Error(f"{function}: the iterations of an implicit step of {step:g} s do not converge; use a smaller step")
