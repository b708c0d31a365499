"""First and second derivatives of accelerations, friction being smooth where it would jump.

With the forces left by friction, a = FD(q, v, left(v, tau)), where FD is that of the robot without friction.
"""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, dot, matrix, rotate
from dalembert.derived.joints import friction, left_of, load_friction, slipping
from dalembert.derived.make import Body, Make
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error
from dalembert.model.edit import without_friction
from dalembert.model.model import Model
from dalembert.planning.riccati import NN, UX, XX, N, packed
from dalembert.simulation.stages import ROUTES
from dalembert.trace.program import Program
from dalembert.trace.replay import replay

_STATE = {"q": Values(("q",), "SI"), "qd": N, "tau": N}
METHOD = "derivatives"


def _slopes(model: Model, make: Make, method: str, optional: tuple[str, ...], *, slip_speed: float) -> Body | Program:
    """da/dq, da/dv and da/dtau."""
    if not slip_speed:
        return make("forward_dynamics_derivatives")
    bare, n = program(without_friction(model), "forward_dynamics_derivatives"), model.n
    left = make.recorded(lambda qd, tau: left_of(model, qd, tau, slipping(slip_speed)), {"qd": (n,), "tau": (n,)})
    rubbed = make.derivative(left, ("qd", "tau"), "forward", keep=True)

    def body(q: Any, qd: Any, tau: Any) -> Any:
        force, by_v, by_tau = replay(rubbed, {"qd": qd, "tau": tau})
        aq, av, au = replay(bare, {"q": q, "qd": qd, "tau": force})
        return aq, av + au @ by_v, au @ by_tau

    return body


ACCELERATION_SLOPES = Quantity(
    "acceleration_slopes",
    "Derivatives of accelerations by positions, velocities and forces.",
    _STATE,
    {"aq": NN, "av": NN, "au": NN},
    METHOD,
    options={"slip_speed": 0.0},
    recipe=_slopes,
    recipes=(METHOD,),
    orders={METHOD: 2},
    coupled=_slopes,
    coupled_methods=(METHOD,),
    charted=True,
)


def _curvature(model: Model, make: Make, method: str, optional: tuple[str, ...], *, slip_speed: float) -> Body:
    """Second derivatives of weights^T a(q, v, tau): by the state, packed, and by tau and the state; those by tau twice are 0.

    From tau = ID(q, v, a(q, v, tau)), with lambda = M^-1 weights:
    weights^T a_yz = -lambda^T (ID_yz + ID_ya a_z + (ID_za a_y)^T), where ID_qa = dM/dq is the only one with a.
    """
    if load_friction(model).any():
        raise Error(f"optimal_control: {model.name} has load-dependent friction, which second derivatives do not support")
    n, slopes = model.n, _slopes(model, make, method, optional, slip_speed=slip_speed)
    rates = ROUTES["joint"](model, make, quantity_named("forward_dynamics").method_of(model), (), slipping(slip_speed))
    hessian = program(without_friction(model), "inverse_dynamics_hessian")
    rubbed = _bend_of_friction(model, make, slip_speed)

    def body(q: Any, qd: Any, tau: Any, weights: Any) -> Any:
        state = {"q": q, "qd": qd, "tau": tau}
        aq, av, au = replay(slopes, state) if isinstance(slopes, Program) else slopes(**state)
        multipliers = rotate(au.T, weights)
        found = {"q": q, "qd": qd, "qdd": rates(q, qd, tau, {})[1], "weights": multipliers}
        qq, qv, qa, vv = replay(hessian, found)
        vv = vv + replay(rubbed, {"qd": qd, "weights": multipliers})
        by_q, by_v = qa @ aq, qa @ av
        xx = {(i, j): -(qq[i, j] + by_q[i, j] + by_q[j, i]) for i in range(n) for j in range(i, n)}
        xx |= {(i, n + j): -(qv[i, j] + by_v[i, j]) for i in range(n) for j in range(n)}
        xx |= {(n + i, n + j): -vv[i, j] for i in range(n) for j in range(i, n)}
        return packed(matrix(xx, 2 * n)), np.concatenate([-(qa @ au).T, np.zeros((n, n), dtype=int)], axis=-1)

    return body


def _bend_of_friction(model: Model, make: Make, slip_speed: float) -> Program:
    """The second derivative of weights^T friction(qd) by qd, (n, n)."""

    def weighed(qd: Any, weights: Any) -> Array:
        return dot(weights, sum(friction(model, qd, slipping(slip_speed)), np.zeros(model.n, dtype=int)))

    slope = make.derivative(make.recorded(weighed, dict.fromkeys(("qd", "weights"), (model.n,))), ("qd",), "reverse")
    return make.derivative(slope, ("qd",), "forward")


CURVATURE = Quantity(
    "acceleration_curvature",
    "Second derivatives of a weighted sum of accelerations by the state, and by forces and the state.",
    {**_STATE, "weights": N},
    {"cxx": XX, "cux": UX},
    METHOD,
    options={"slip_speed": 0.0},
    recipe=_curvature,
    recipes=(METHOD,),
    orders={METHOD: 3},
    coupled=_curvature,
    coupled_methods=(METHOD,),
    charted=True,
)
