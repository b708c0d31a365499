"""Simulations of robots with closed loops: what they begin with, and samples that keep the loops closed."""

from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.closed import projection
from dalembert.derived.closing import gaps
from dalembert.derived.make import Body, Make
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend
from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import QD, Q
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.positions import OPEN
from dalembert.quantities.loops import JACOBIAN
from dalembert.simulation.integrators import INTEGRATORS

NEAR = 1e-3  # of the smallest singular value of J, relative to the largest
MOST_EXAMINED, ROLLOUTS = 5000, 16  # samples, and rollouts
MOST_STEPS, ROUNDING = 5, 1e-12  # of projections, and what a position may still move by
SLIDING = 1e-6  # of a velocity, how much of it may open the loops


def _projection(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    return projection(model, make)


PROJECTION = Quantity(
    "projection", "The nearest state, measured by M, at which the loops are closed to first order.", Q | QD,
    {"closed_q": Q["q"], "closed_qd": QD["qd"]}, "loops", recipe=_projection, recipes=("loops",), coupled=_projection,
    coupled_methods=("loops",), of_loops=True,
)  # fmt: skip


def projected(robot: Model, q: Array, qd: Array, backend: Backend) -> tuple[Array, Array]:
    """Positions and velocities (..., n) moved onto the loops: once more at the positions found, until these stay."""
    kernel = compile(robot, PROJECTION, backend=backend)
    for _ in range(MOST_STEPS):
        before, (q, qd) = q, kernel(q, qd)
        if not np.abs(q - before).max(initial=0.0) > ROUNDING:
            break
    return q, qd


def check_kind(robot: Model, integrator: str | None, velocities: str, restitution: Any, jumps: bool) -> None:
    """Refuse what a robot with loops does not have."""
    if not robot.loops:
        return
    if restitution is not None or integrator == "moreau":
        raise Error(
            f"simulate: {robot.name} has loops, which stops and sticking friction do not support; leave restitution out, and "
            "give slip_speed=1e-3 or so if there is Coulomb friction"
        )
    if jumps:
        raise Error(
            f"simulate: {robot.name} has loops, in which joints cannot stick by Coulomb friction; give slip_speed=1e-3 or so, or "
            "use robot.without_friction()"
        )
    if integrator is not None and integrator not in INTEGRATORS:
        raise Error(
            f"simulate: {robot.name} has loops, which must be closed again after every step; {integrator} does not, use one of "
            f"{', '.join(INTEGRATORS)}"
        )
    if velocities != "joint":
        raise Error(f'simulate: {robot.name} has loops, for which velocities must be "joint", not {velocities!r}')


def closed_start(robot: Model, q: Array, qd: Array, backend: Backend) -> tuple[Array, Array]:
    """The state to begin with, to the last digits; one that opens a loop is refused."""
    if (gap := float(np.max(gaps(robot, q), initial=0.0))) > OPEN:
        raise Error(f"simulate: q0 leaves the loops of {robot.name} open by {gap:.3g} (m or rad); robot.settle(q0) closes them")
    at, rates = projected(robot, q, qd, backend)
    if np.isnan(at).any() and np.isfinite(q).all() and np.isfinite(qd).all():
        raise Error(f"simulate: q0 is a singular position of the loops of {robot.name}, from which the motion is not determined")
    off = np.abs(rates - qd).max(axis=-1, initial=0.0)
    if (off > SLIDING * (1 + np.abs(qd).max(axis=-1, initial=0.0))).any():
        raise Error(
            f"simulate: qd0 would open the loops of {robot.name}; robot.closed_motion(q0, qd0, 0 * qd0).qd completes the "
            "velocities of the independent joints"
        )
    return at, rates


def near_singular(robot: Model, time: Array, q: Array) -> str:
    """In words: when a motion (..., T, n) comes near to a position where the loops lose a direction, and may change branches."""
    if not robot.loops or not q.size:
        return ""
    some = np.unique(np.linspace(0, len(time) - 1, MOST_EXAMINED).astype(int))
    J = np.asarray(compile(robot, JACOBIAN)(q[..., some, :].reshape(-1, len(some), robot.n)[:ROLLOUTS]))
    finite = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    values: Array = np.linalg.svd(np.where(finite[..., None, None], J, 0.0), compute_uv=False)
    near = np.asarray(np.where(finite, values[..., -1] / np.maximum(values[..., 0], np.finfo(float).tiny), 1.0))
    if not np.any(near < NEAR):
        return ""
    first = int(np.argmax(np.any(near < NEAR, axis=0)))
    return f"the loops of {robot.name} are nearly singular at t = {time[some[first]]:g} s, where the motion may take another branch"
