"""Numbers for closed forms at states, and for the equations of robots with loops in independent joints."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.symbolic.closed_form.loops import LoopForms


class Values(NamedTuple):
    """Numbers for the parts of the equations."""

    M: Array
    C: Array
    g: Array
    tau: Array


class ClosedValues(NamedTuple):
    """Numbers for the parts of the equations of a robot with loops; `reduced` has those in its independent joints.

    M, C, g and tau are of all joints, as if the loops were open; tau is M qdd + C qd + g.
    """

    M: Array
    C: Array
    g: Array
    tau: Array
    phi: Array
    J: Array
    gamma: Array
    G: Array
    reduced: Values


def evaluated(forms: Any, values: Mapping[str, Any], batch: tuple[int, ...]) -> Array:
    """Numbers (*batch, ...) for an array of forms (...)."""
    numbers = np.zeros((*batch, *forms.shape))
    for index in np.ndindex(forms.shape):
        numbers[(..., *index)] = forms[index].evaluate(values)
    return numbers


def closed_values(open_: Values, C: Any, loops: LoopForms, values: Mapping[str, Any], batch: tuple[int, ...]) -> ClosedValues:
    """From those with open loops, and C as forms, which is needed at the velocities that the independent joints make."""
    n, free, bound = loops.model.n, loops.free, loops.bound
    phi, J, gamma = (evaluated(x, values, batch) for x in (loops.phi, loops.J, loops.gamma))
    yd, ydd = (np.stack([np.broadcast_to(values[f"{x}{i + 1}"], batch) for i in free], axis=-1) for x in ("qd", "qdd"))
    G, slope = np.zeros((*batch, n, len(free))), np.zeros((*batch, n, len(free)))
    G[..., free, :] = np.eye(len(free))
    G[..., bound, :] = -_solved(loops, J, J[..., free])
    moved = dict(values) | {f"qd{i + 1}": x for i, x in enumerate(np.moveaxis(np.matvec(G, yd), -1, 0))}
    slope[..., bound, :] = -_solved(loops, J, evaluated(loops.rate, moved, batch) @ G)  # J G = 0, so J G' = -J' G
    onto, forces = np.swapaxes(G, -1, -2), evaluated(C, moved, batch)
    M_y, C_y, g_y = onto @ open_.M @ G, onto @ (forces @ G + open_.M @ slope), np.matvec(onto, open_.g)
    reduced = Values(M_y, C_y, g_y, np.matvec(M_y, ydd) + np.matvec(C_y, yd) + g_y)
    return ClosedValues(*open_, phi, J, gamma, G, reduced)


def _solved(loops: LoopForms, J: Array, B: Array) -> Array:
    try:
        return np.linalg.solve(J[..., loops.bound], B)
    except np.linalg.LinAlgError:
        raise Error(
            f"the loops of {loops.model.name} are singular at this position: its independent joints do not move the others"
        ) from None
