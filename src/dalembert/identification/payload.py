"""The ten parameters of a load, of an arm that is otherwise known."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import instance, positive
from dalembert.errors import Error, optional
from dalembert.identification.columns import Base, independent, random_states
from dalembert.identification.consistent import BASIS, Problem, fit, parameters_of, repaired
from dalembert.identification.motions import given_recordings, motions, noted, provenance
from dalembert.identification.prepare import Prepared
from dalembert.identification.regression import reduced, solve
from dalembert.model.edit import tip
from dalembert.model.inertia import Inertia
from dalembert.native.blas import on_one_thread
from dalembert.quantities.parameters import LEADING, PARAMETERS
from dalembert.robots import Robot
from dalembert.text import table

REACH = 0.05  # m: the radius of gyration that a load has where nothing tells it


@dataclass(frozen=True, eq=False, repr=False)
class Payload:
    """A load: its `inertia` in the axes of `link`, the estimate of least squares with its deviations; `robot` is the loaded one."""

    robot: Robot
    link: str
    inertia: Inertia
    names: tuple[str, ...]  # of the parameters that forces depend on
    values: Array
    deviations: Array
    unknown: tuple[str, ...]  # parameters that forces do not depend on by themselves
    residual: Array  # (n,), in percent of the forces of the load

    def __repr__(self) -> str:
        com = ", ".join(f"{x:.4g}" for x in self.inertia.com)
        rows = [["parameter", "least squares", "deviation", "load"]]
        own: dict[str, float] = dict(zip(PARAMETERS, self.inertia.parameters, strict=True))
        for name, value, deviation in zip(self.names, self.values, self.deviations, strict=True):
            rows.append([name, f"{value:.4g}", f"{deviation:.2g}", f"{own[name]:.4g}"])
        head = f"a load of {self.inertia.mass:.4g} kg at ({com}) m on {self.link}"
        return head + "\n" + table(rows, right=True)


@dataclass(frozen=True, eq=False)
class _LoadColumns:
    """The columns of a body fixed to a link or frame, in the axes of that."""

    robot: Robot
    link: int
    frame: Array  # (10, 10): parameters in the link's axes from those in the frame's

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        return self.robot.regressor(q, qd, qdd)[:, :, 10 * self.link : 10 * self.link + 10] @ self.frame

    def base(self) -> Base:
        return independent(self(*random_states(self.robot)), PARAMETERS, list(LEADING[::-1]))

    def filtered(self, motion: Prepared, base: Base | None = None) -> Array:
        base = self.base() if base is None else base
        return motion.filtered(self(motion.q, motion.qd, motion.qdd)[:, :, base.chosen])


@on_one_thread
def identify_payload(
    robot: Robot,
    recordings: Any,
    *,
    link: str | None = None,
    weight: float = 0.01,
    cutoff: float | None = None,
    q_cutoff: float | None = None,
    delay: float | str = "auto",
) -> Payload:
    """A load's mass, centre of mass and inertia from recordings of an arm that carries it, everything else being known.

    What the robot's own forces leave is linear in the ten parameters of the load: tau - tau_robot = Y_link(q, qd, qdd) p. The
    result is a possible body; see `identify` for the options. Needs SciPy.

    robot: without the load, friction included, as `identify` gives it. link: what carries the load (default: the end link).

    >>> import dalembert as da
    >>> arm = da.robot("ur5")
    >>> loaded = arm.with_payload(2.0, com=(0.0, 0.02, 0.08), tensor=0.004)
    >>> path = da.quintic([0.0, -1.0, 1.0, 0.0, 1.0, 0.0], [1.0, -2.0, 2.0, 1.0, 0.0, 2.0], duration=3.0)
    >>> move = loaded.torques_along(path)
    >>> round(da.identify_payload(arm, da.Recording(arm, move.time, move.q, move.tau), delay=0.0).inertia.mass, 3)
    2.0
    """
    optional("scipy.signal")
    instance(robot, Robot, "the robot of identify_payload")
    name = tip(robot) if link is None else link
    index, pose = robot.locate(name)
    if index < 0:
        raise Error(f"{name!r} does not move, so no force depends on its load")
    X = np.block([[pose.rotation, pose.translation[:, None]], [np.zeros(3), np.ones(1)]])
    frame = np.stack([parameters_of(X @ E @ X.T) for E in BASIS], axis=1)
    options = {"cutoff": cutoff, "q_cutoff": q_cutoff, "delay": delay, "standstill": None}
    columns = _LoadColumns(robot, index, frame)
    sources = list[str]()
    given = noted(given_recordings(recordings, robot), sources)
    data = reduced(columns, ((_left(robot, m), inner) for one in given for m, inner in motions(one, options)))
    found = solve(data, np.zeros(len(data.base.names)))
    B = data.base.matrix
    guess = np.linalg.pinv(B) @ found.values
    mass = max(float(guess[0]), 1e-2)
    prior, _ = repaired(np.array(Inertia.from_com(mass, guess[1:4] / mass, mass * REACH**2).parameters))
    R, z = data.stacked(found.noise)
    none = np.zeros((0, 10)), np.zeros(0)
    try:
        x, _ = fit(Problem(R @ B, z, prior, 1, [], np.ones(10), *none, positive(weight, "weight")))
    except np.linalg.LinAlgError:  # it goes to the edge of what bodies can be, as if the load had no mass or less
        raise Error(
            f"no load on {name} explains what {robot.name} leaves of the forces; are they recorded, and is it this arm?"
        ) from None
    load = Inertia.from_parameters(x, check=False)
    squares = data.squares(B @ x)
    size = np.array([np.sum(R[:, -1] ** 2) for R in data.factors])
    residual = 100 * np.sqrt(squares / np.where(size > 0, size, 1.0))
    links = list(robot.links)
    links[index] = replace(links[index], inertia=links[index].inertia + load.seen_from(pose))
    unknown = tuple(data.base.shared(PARAMETERS))
    made = replace(robot, links=tuple(links), source=provenance("load identified", sources, robot))
    return Payload(made, name, load, data.base.names, found.values, np.sqrt(np.diag(found.covariance)), unknown, residual)


def _left(robot: Robot, motion: Prepared) -> Prepared:
    """What the robot without its load leaves of the forces."""
    own = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    return replace(motion, tau=motion.tau - motion.filtered(own), raw=motion.raw - own)
