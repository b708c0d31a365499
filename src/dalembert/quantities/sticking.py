"""Forward dynamics with friction that holds joints at rest."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.sticking import settled, standing, sticking_dynamics
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend, Out
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import OUTSIDE, QD, QDD, TAU, Q
from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.model.wrench import wrench_array


class Sticking(NamedTuple):
    """Accelerations, and the friction forces that go with them, (..., n) each."""

    qdd: Array
    friction: Array


LIMIT = Values(("motion",), "rad or m")  # of quaternions only the joints behind them have stops

STICKING = Quantity(
    "sticking_dynamics",
    "Accelerations and friction forces, where friction can hold joints at rest.",
    Q | QD | TAU,
    {**QDD, "friction": TAU["tau"]},
    "semismooth_newton",
    optional={**OUTSIDE, "lower": LIMIT, "upper": LIMIT},
    options={"stops": ()},
    result=Sticking,
    recipe=sticking_dynamics,
    recipes=("semismooth_newton",),
    divides=True,
    orders={"semismooth_newton": 3},
    coupled=sticking_dynamics,
    coupled_methods=("semismooth_newton",),
)


def held(robot: Model, given: Mapping[str, Any], method: str | None, backend: Backend, out: Out) -> Any:
    """What `forward_dynamics` asks for with sticking=True."""
    if method is not None:
        raise Error(f"forward_dynamics: sticking=True has a method of its own, so leave method out; got {brief(method)}")
    return _asked(robot, given, backend, out)


def _asked(robot: Model, given: Mapping[str, Any], backend: Backend, out: Out = None, stops: Any = ()) -> Any:
    """The few states for which straight-line code has too few iterations are computed in Python."""
    return asked(robot, STICKING, given, backend=backend, out=out, stops=stops, guard=partial(_repaired, robot, given, stops))


@computed
def sticking_on_stops(
    robot: Model, q: Any, qd: Any, tau: Any, *, wrenches: Any = None, stops: Any = (), lower: Any = None, upper: Any = None,
    backend: Backend = "auto",
) -> Any:  # fmt: skip
    """The same with joints that rest on stops, whose forces are among those of friction; stops: (joint, side) of each."""
    given = {"q": q, "qd": qd, "tau": tau, "wrenches": wrenches, "lower": lower, "upper": upper}
    return _asked(robot, given, backend, stops=stops)


def _repaired(robot: Model, given: Mapping[str, Any], stops: Any, result: tuple[Array, Array], q: Array, batch: Any) -> None:
    """Compute in Python what is NaN though its inputs are not, in place."""
    optional = tuple(name for name in STICKING.optional if given.get(name) is not None)
    arrays = {name: given[name] for name in ("q", "qd", "tau", *optional)}
    if isinstance(arrays.get("wrenches"), Mapping):
        arrays["wrenches"] = wrench_array(robot, q, arrays["wrenches"])
    sized = STICKING.arrays(optional)
    wide = {name: np.broadcast_to(np.asarray(x, float), (*batch, *sized[name].sized(robot))) for name, x in arrays.items()}
    body = standing(robot, compile(robot, "mass_matrix"), optional, stops, settled)
    for state in np.ndindex(*batch):
        one = {name: x[state] for name, x in wide.items()}
        if np.isnan(result[0][state]).any() and all(np.isfinite(x).all() for x in one.values()):
            for target, value in zip(result, body(**one), strict=True):
                target[state] = value
