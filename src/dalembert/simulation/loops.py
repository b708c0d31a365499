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
from dalembert.model.model import OPEN, Model
from dalembert.simulation.integrators import INTEGRATORS

SLIDING = 1e-6  # of a velocity, how much of it may open the loops


def _projection(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    return projection(model, make)


PROJECTION = Quantity(
    "projection", "The nearest state, measured by M, at which the loops are closed to first order.", Q | QD,
    {"closed_q": Q["q"], "closed_qd": QD["qd"]}, "loops", recipe=_projection, recipes=("loops",), coupled=_projection,
    coupled_methods=("loops",), of_loops=True,
)  # fmt: skip


def projected(robot: Model, q: Array, qd: Array, backend: Backend) -> tuple[Array, Array]:
    """Positions and velocities (..., n) moved onto the loops; the second time at the positions that the first has found."""
    kernel = compile(robot, PROJECTION, backend=backend)
    return kernel(*kernel(q, qd))


def check_kind(robot: Model, integrator: str | None, velocities: str, restitution: Any, jumps: bool) -> None:
    """Refuse what a robot with loops does not have."""
    if not robot.loops:
        return
    if restitution is not None or integrator == "moreau":
        raise Error(
            f"simulate: {robot.name} has loops, whose forces stops and sticking friction do not know; leave restitution out, and use "
            "slip_speed=1e-3 or so where there is Coulomb friction"
        )
    if jumps:
        raise Error(
            f"simulate: {robot.name} has loops and Coulomb friction, which cannot stick together; give slip_speed=1e-3 or so, or use "
            "robot.without_friction()"
        )
    if integrator is not None and integrator not in INTEGRATORS:
        raise Error(
            f"simulate: {robot.name} has loops, which are closed again after every step; {integrator} does not stop there, "
            f"{', '.join(INTEGRATORS)} do"
        )
    if velocities != "joint":
        raise Error(f'simulate: {robot.name} has loops, for which velocities must be "joint", not {velocities!r}')


def closed_start(robot: Model, q: Array, qd: Array, backend: Backend) -> tuple[Array, Array]:
    """The state to begin with, to the last digits; one that opens a loop is refused."""
    if (gap := float(np.max(gaps(robot, q), initial=0.0))) > OPEN:
        raise Error(f"simulate: q0 leaves the loops of {robot.name} open by {gap:.3g} (m or rad); robot.settle(q0) closes them")
    at, rates = projected(robot, q, qd, backend)
    off = np.abs(rates - qd).max(axis=-1, initial=0.0)
    if (off > SLIDING * (1 + np.abs(qd).max(axis=-1, initial=0.0))).any():
        raise Error(
            f"simulate: qd0 would open the loops of {robot.name}; robot.closed_motion(q0, qd0, 0 * qd0).qd has the velocities of all "
            "joints that go with those of the independent ones"
        )
    return at, rates
