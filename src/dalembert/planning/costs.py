"""What a motion costs at an instant, as programs: the cost with its gradient in reverse mode, and joint forces with derivatives.

"torque"    sum_i (tau_i / k_i)^2                    with motor constants k in N m/sqrt(W), the power that heats the windings
"energy"    sum_i (tau_i / k_i)^2 + tau_i qd_i       with the mechanical power: all that the motors draw, and give back

Friction is among the forces. Where it jumps with the sign of a velocity v, the search sees tanh(v / slip) instead; the smaller the
input `slip`, the nearer it is to the sign. With a `shift` it is tanh(v / slip + shift): a smooth bound of the sign from above, or
from below where the shift is negative.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.algebra.scalars import tanh
from dalembert.algebra.spatial import dot
from dalembert.derived.joints import friction, friction_law, load_friction, loading
from dalembert.derived.make import Make
from dalembert.engine.kernels import compile
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import STATE, TAU
from dalembert.errors import Error, brief
from dalembert.model.edit import without_friction
from dalembert.model.model import Model
from dalembert.native.evaluator import kernel_of
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay

COSTS = ("torque", "energy")
ALLOWED = "+ - * /, powers, np.sin, np.cos, np.sqrt and @"
EXACT = 1e-12  # a slip with which tanh is the sign
Forces = Callable[..., Any]  # (q, qd, qdd, slip, shift) -> tau


def _forces(model: Model) -> Forces:
    """Inverse dynamics, in which friction does not jump."""
    if not friction_law(model.open).jumps:
        whole = program(model, "inverse_dynamics")
        return lambda q, qd, qdd, slip, shift=0.0: replay(whole, {"q": q, "qd": qd, "qdd": qdd})
    bare = program(without_friction(model), "inverse_dynamics")

    def forces(q: Any, qd: Any, qdd: Any, slip: Any, shift: Any = 0.0) -> Any:
        def jump(v: Any) -> Any:
            return tanh(v / slip + shift)

        tau = replay(bare, {"q": q, "qd": qd, "qdd": qdd})
        tau = tau * loading(model, qd, tau, jump) if load_friction(model).any() else tau
        return sum(friction(model, qd, jump), tau)

    return forces


def _effort(model: Model, make: Make, method: str, optional: tuple[str, ...], *, cost: str) -> Program:
    forces, n = _forces(model), model.n

    def power(q: Any, qd: Any, qdd: Any, weights: Any, slip: Any) -> Any:
        tau = forces(q, qd, qdd, slip)
        heat = dot(weights, tau * tau)
        return heat + dot(qd, tau) if cost == "energy" else heat

    whole = make.recorded(power, {"q": (n,), "qd": (n,), "qdd": (n,), "weights": (n,), "slip": ()})
    return make.derivative(whole, ["q", "qd", "qdd"], "reverse", keep=True)


def _slopes(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Program:
    whole = make.recorded(_forces(model), {"q": (model.n,), "qd": (model.n,), "qdd": (model.n,), "slip": (), "shift": ()})
    return make.derivative(whole, ["q", "qd", "qdd"], "reverse", keep=True)


_BY, _SLIP = ("newton_euler",), {"slip": Values((), "rad/s or m/s")}
EFFORT = Quantity(
    "effort",
    "The cost of a motion at an instant, and its gradient.",
    {**STATE, "weights": Values(("n",), "SI"), **_SLIP},
    {"cost": Values((), "SI"), **{f"d{name}": Values(("n",), "SI") for name in STATE}},
    "newton_euler",
    options={"cost": "torque"},
    recipe=_effort,
    recipes=_BY,
    coupled=_effort,
    coupled_methods=_BY,
)
FORCE_SLOPES = Quantity(
    "force_slopes",
    "Joint forces with friction that does not jump, and their derivatives.",
    {**STATE, **_SLIP, "shift": Values((), "1")},
    {**TAU, **{f"d{name}": Values(("n", "n"), "SI") for name in STATE}},
    "newton_euler",
    recipe=_slopes,
    recipes=_BY,
    coupled=_slopes,
    coupled_methods=_BY,
)


def cost_kernel(robot: Model, cost: Any) -> Any:
    """(q, qd, qdd, weights, slip) -> cost and gradients by q, qd and qdd; `cost` is a name of `COSTS`, or a function."""
    return _of_function(robot, cost) if callable(cost) else compile(robot, EFFORT, cost=cost)


def _of_function(robot: Model, cost: Callable[..., Any]) -> Any:
    """The same of a function of q, qd, qdd and tau; it is recorded as everything else is."""
    forces, n = _forces(robot), robot.n

    def power(q: Any, qd: Any, qdd: Any, weights: Any, slip: Any) -> Any:
        try:
            found = np.asarray(cost(q, qd, qdd, forces(q, qd, qdd, slip)))
        except Error:
            raise
        except Exception as error:  # whatever a function does that cannot be recorded
            raise Error(f"cost: the function failed: {type(error).__name__}: {error}; it may use {ALLOWED}") from error
        if found.shape == () and found.item() is None:
            raise Error("cost: the function returned None; it must return one number for q, qd, qdd and tau")
        if found.shape != () or found.dtype.kind not in "Oif":
            raise Error(f"cost: the function must return one number for q, qd, qdd and tau, got {brief(found)}")
        return found

    shapes = {"q": (n,), "qd": (n,), "qdd": (n,), "weights": (n,), "slip": ()}
    return kernel_of(differentiate(trace(power, shapes), ["q", "qd", "qdd"], mode="reverse", keep=True))
