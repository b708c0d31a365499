"""A stage of an integrator with the inertial parameters as inputs, and the adjoint of a stage, which runs back in time.

A stage (`simulation.integrators`) takes the derivative k at a point y*, and from it the sum s, the state y and the next point:

    s' = alpha s + beta h k(y*),    y' = y + delta s',    y*' = y' + gamma h k(y*).

Let the same letters stand for the gradients of a number by these. From those by y', y*' and s' follow those by y, y* and s:

    y = y' + y*',    k = beta h (s' + delta y) + gamma h y*',    y* = (dk/dy*)^T k,    s = alpha (s' + delta y),

so all that must be kept of a rollout are the points y*. For positions k_q = v* + sigma h k_v, with sigma where the end of a step
has the new velocity. The gradients by forces and parameters are sums of (dk/dtau)^T k and (dk/dparameters)^T k over the stages.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.algebra.scalars import where
from dalembert.algebra.spatial import dot, outer
from dalembert.derived.charts import formulated
from dalembert.derived.joints import left_of, pivots, slipping
from dalembert.derived.make import Body, Make
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import SOLVING, TAU, methods
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.simulation.integrators import Stage
from dalembert.simulation.stages import ROUTES, STAGE, Rates, staged
from dalembert.trace.replay import replay

METHOD = "articulated_body"  # of forward dynamics with parameters as inputs
FACTORS = 6  # of an adjoint stage: alpha, beta h, gamma h, delta, sigma h, and whether a step ends with it
PARAMETERS = {"parameters": Values(("links", 10), "kg, kg m, kg m^2")}


def factors_of(stages: tuple[Stage, ...], h: float) -> Any:
    """The factors of all adjoint stages, (stages, FACTORS), in the order of the stages."""
    last = len(stages) - 1
    return np.array([(*stage.factors(h)[:5], float(k == last)) for k, stage in enumerate(stages)], dtype=float)


def _with_parameters(model: Model, parameters: Any) -> Tree:
    """The tree with other inertial parameters, (links, 10): m, m c, and the tensor about the origin of the link."""
    mass, com, inertia = [], [], []
    for m, x, y, z, xx, xy, xz, yy, yz, zz in parameters:
        first = np.array([x, y, z])
        c = first / where(m, m, 1)
        mass.append(m)
        com.append(c)
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia.append(about - (dot(first, c) * np.eye(3, dtype=int) - outer(first, c)))
    return model.exact_tree._replace(mass=np.array(mass), com=np.array(com), inertia=np.array(inertia))


def _rates(model: Model, make: Make, method: str, known: bool, slip_speed: float) -> Rates:
    """q' and qd' as functions of q, qd, tau and what else is an input."""
    jump = slipping(slip_speed)
    if known:
        return ROUTES["joint"](model, make, method, (), jump)
    function, divide = formulated(model, "forward_dynamics", method), pivots(model)

    def rates(q: Any, qd: Any, tau: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
        tree = _with_parameters(model, more["parameters"])
        return qd, function(tree, q, qd, left_of(model, qd, tau, jump), pivots=divide)

    return rates


def _stage(model: Model, make: Make, method: str, optional: tuple[str, ...], *, velocities: str, slip_speed: float) -> Body:
    return staged(model, _rates(model, make, method, False, slip_speed))


STAGE_OF_PARAMETERS = replace(
    STAGE, name="stage_of_parameters", about="One stage of an integrator, with the inertial parameters as inputs.",
    inputs={**STAGE.inputs, **PARAMETERS}, optional={}, recipe=_stage, recipes=(METHOD,), coupled=None, closed=None, charted=True,
)  # fmt: skip


def _adjoint(model: Model, make: Make, method: str, optional: tuple[str, ...], *, known: bool, slip_speed: float) -> Body:
    """The gradients before a stage from those after it."""
    rates, n = _rates(model, make, method, known, slip_speed), model.n
    given = () if known else tuple(PARAMETERS)
    shapes = dict.fromkeys(("q", "qd", "tau", "weights"), (n,)) | {name: (len(model.links), 10) for name in given}

    def weighted(q: Any, qd: Any, tau: Any, weights: Any, *more: Any) -> Any:
        return dot(weights, rates(q, qd, tau, dict(zip(given, more, strict=True)))[1])

    slopes = make.derivative(make.recorded(weighted, shapes), ("q", "qd", "tau", *given), "reverse")

    def body(
        by_q: Any, by_v: Any, by_at_q: Any, by_at_v: Any, by_sum_q: Any, by_sum_v: Any, by_tau: Any,
        at_q: Any, at_v: Any, tau: Any, factors: Any, seed_q: Any, seed_v: Any, **more: Any,
    ) -> Any:  # fmt: skip
        q, k_q, sum_q = _back(factors, by_q + factors[5] * seed_q, by_at_q, by_sum_q)
        v, k_v, sum_v = _back(factors, by_v + factors[5] * seed_v, by_at_v, by_sum_v)
        point = {"q": at_q, "qd": at_v, "tau": tau, "weights": k_v + factors[4] * k_q}
        of_q, of_v, of_tau, *of_more = replay(slopes, point | {name: more[name] for name in given})
        sums = [more[f"by_{name}"] + x for name, x in zip(given, of_more, strict=True)]
        return q, v, of_q, of_v + k_q, sum_q, sum_v, by_tau + of_tau, *sums

    return body


def _back(factors: Any, y: Any, at: Any, s: Any) -> tuple[Any, Any, Any]:
    """The gradients by the state, the derivative and the sum before a stage, from those by state, point and sum after it."""
    alpha, beta, gamma, delta = (factors[i] for i in range(4))
    y = y + at
    s = s + delta * y
    return y, beta * s + gamma * at, alpha * s


_Q, _V = Values(("q",), "SI"), Values(("n",), "SI")
_BY = {"by_q": _Q, "by_v": _V, "by_at_q": _Q, "by_at_v": _V, "by_sum_q": _Q, "by_sum_v": _V, "by_tau": _V}
ADJOINT = Quantity(
    "adjoint_stage",
    "One stage of an integrator, back in time: gradients before it from those after it.",
    {**_BY, "at_q": _Q, "at_v": _V, **TAU, "factors": Values((FACTORS,), "SI"), "seed_q": _Q, "seed_v": _V},
    {f"new_{name}": values for name, values in _BY.items()},
    METHOD,
    options={"known": True, "slip_speed": 0.0},
    recipe=_adjoint,
    recipes=methods("forward_dynamics"),
    coupled=_adjoint,
    coupled_methods=SOLVING,
    charted=True,
)
_SUMS = {"by_parameters": PARAMETERS["parameters"]}
ADJOINT_OF_PARAMETERS = replace(
    ADJOINT, name="adjoint_of_parameters", inputs={**ADJOINT.inputs, **_SUMS, **PARAMETERS},
    outputs={**ADJOINT.outputs, "new_by_parameters": _SUMS["by_parameters"]}, recipes=(METHOD,), coupled=None,
)  # fmt: skip
