"""What a report shows, as arrays along a motion. Independent of pages."""

import warnings
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.joints import friction_law, rotors
from dalembert.errors import Error
from dalembert.formulations import generalized_dalembert
from dalembert.robots import Robot
from dalembert.studies.report.motion import SampledMotion

FREE = 2.0  # s of free fall
# integrators and steps to try, until energy drifts by less than DRIFT of what is exchanged
WORDS = {"rk4": "the fourth-order Runge–Kutta method", "moreau": "Moreau’s time stepping, in which joints stick and slip,"}
ATTEMPTS = (("rk4", 1e-3), ("rk4", 1e-4), ("moreau", 1e-3), ("moreau", 1e-4))
DRIFT = 1e-4
ROUNDING = 1e-6  # of the largest joint force: what forward and inverse dynamics may differ by


class Torques(NamedTuple):
    """The joint forces of a motion and their parts, (T, n) each: total = the sum of the others.

    The forces that made a motion are less than inverse dynamics by what else acts on it, `others`: pushes, stops, and friction
    that holds joints at rest.
    """

    total: Array
    inertial: Array
    coriolis: Array
    centrifugal: Array
    gravity: Array
    friction: Array
    others: Array

    @property
    def defect(self) -> float:
        """How far the sum of the parts without others is from inverse dynamics, relative to its largest entry."""
        expected = self.total - self.others
        return relative(sum(self[1:-1], np.zeros_like(expected)), expected)


class Inertias(NamedTuple):
    """The mass matrix along a motion and its parts, (T, n, n) each: total = translation + rotation + rotors."""

    total: Array
    translation: Array
    rotation: Array
    rotors: Array

    @property
    def defect(self) -> float:
        """How far the sum of the parts is from the mass matrix, relative to its largest entry."""
        return relative(sum(self[1:], np.zeros_like(self.total)), self.total)


class Quasi(NamedTuple):
    """Quasi-velocities nu, quasi-forces epsilon and the diagonal D, (T, n) each, and the kinetic energy (T,) without them."""

    nu: Array
    epsilon: Array
    D: Array
    kinetic: Array

    @property
    def defect(self) -> float:
        """How far nu . nu / 2 is from the kinetic energy, relative to the largest."""
        return relative((self.nu**2).sum(axis=-1) / 2, self.kinetic)


class Free(NamedTuple):
    """A simulation without torques: time and energies (T,), velocities (T, n)."""

    time: Array
    qd: Array
    kinetic: Array
    potential: Array
    dissipated: Array
    balance: Array
    told: str
    drift: float  # the largest balance, relative to the energy exchanged
    doubt: str  # the likely reason, where that is too much


def relative(result: Array, expected: Array) -> float:
    """The largest difference over the largest expected entry; 0 where there is nothing."""
    if not expected.size:
        return 0.0
    scale = float(np.abs(expected).max())
    return float(np.abs(result - expected).max()) / (scale or 1.0)


def joint_forces(robot: Robot, motion: SampledMotion) -> Array:
    """The joint forces (T, n) that made the motion; where they are not known, those of inverse dynamics."""
    return robot.inverse_dynamics(motion.q, motion.qd, motion.qdd) if motion.tau is None else motion.tau


def torques(robot: Robot, motion: SampledMotion) -> Torques:
    """Inertial, Coriolis (products of different velocities), centrifugal (squares), gravity and friction parts of tau.

    A joint that moves alone causes no Coriolis force, so the centrifugal part is the sum over j of C(q, e_j qd_j) e_j
    qd_j: no Christoffel symbols are needed, whose number grows with n^3.

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> torques(arm, follow(arm)).defect < 1e-12
    True
    """
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    if not robot.n:
        return Torques(*([np.zeros_like(q)] * 7))
    alone = qd[:, :, None] * np.eye(robot.n)
    if robot.loops:
        free = [robot.joint_names.index(name) for name in robot.independent_names()]
        inertial = np.zeros(q.shape)
        inertial[:, free] = np.matvec(robot.mass_matrix(q), qdd[:, free])
        rubbing = robot.inverse_dynamics(q, qd, qdd) - robot.without_friction().inverse_dynamics(q, qd, qdd)
    else:
        inertial, rubbing = np.matvec(robot.mass_matrix(q), qdd), robot.friction_force(qd)
    centrifugal = robot.coriolis_force(np.broadcast_to(q[:, None, :], (*alone.shape[:2], robot.nq)), alone).sum(axis=1)
    needed = robot.inverse_dynamics(q, qd, qdd)
    total = joint_forces(robot, motion)
    if relative(total, needed) < ROUNDING:
        total = needed
    return Torques(
        total,
        inertial,
        robot.coriolis_force(q, qd) - centrifugal,
        centrifugal,
        robot.gravity_force(q),
        rubbing,
        total - needed,
    )


def inertias(robot: Robot, motion: SampledMotion) -> Inertias:
    """M = D_tran + D_rot of Fu, Gonzalez and Lee's (3.4-25), and the rotors on its diagonal.

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> inertias(arm, follow(arm)).defect < 1e-12
    True
    """
    shape = (len(motion.time), robot.n, robot.n)
    if not robot.n:
        return Inertias(*([np.zeros(shape)] * 4))
    tree, coupling = robot.tree, robot.coupling
    g = generalized_dalembert.geometry(tree, motion.q if coupling is None else coupling.positions(motion.q))
    parts = generalized_dalembert.inertia_coefficients(tree, (len(motion.time),), *generalized_dalembert.partials(tree, g))
    if coupling is not None:
        parts = [coupling.pulled_back(coupling.pulled_back(part, -1), -2) for part in parts]
    return Inertias(robot.mass_matrix(motion.q), *parts, np.broadcast_to(rotors(robot).astype(float), shape))


def quasi(robot: Robot, motion: SampledMotion) -> Quasi | str:
    """nu = m^T qd and D of M = U D U^T = m m^T, or why there is none (a joint without inertia).

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> values = quasi(arm, follow(arm))
    >>> isinstance(values, Quasi) and values.defect < 1e-12
    True
    """
    q, qd = motion.q, motion.qd
    if not robot.n:
        return Quasi(q, q, q, np.zeros(len(q)))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # singular states are reported on the page
            tau = robot.inverse_dynamics(q, qd, motion.qdd)
            parts = robot.quasi_velocity(q, qd), robot.quasi_force(q, tau), robot.diagonalize(q).D
            result = Quasi(*parts, robot.kinetic_energy(q, qd))
    except Error as singular:
        return str(singular)
    if not all(np.isfinite(x).all() for x in result):
        return "the mass matrix is singular, or not positive, at some of the positions"
    return result


def free(robot: Robot, motion: SampledMotion) -> Free | str:
    """Energies while the arm falls from where the motion starts, without torques; or why that cannot be computed.

    Coulomb friction takes time stepping, and so does damping of light links, which is stiff; where steps are too long, shorter
    ones are taken.

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> fall = free(arm, follow(arm))
    >>> isinstance(fall, Free) and fall.drift < 1e-6
    True
    """
    if not robot.n:
        return "the robot has no joints"
    best: Free | None = None
    reasons: list[str] = []
    tried = [
        friction_law(robot.open).jumps,
        not any(x.joint.rubs for x in robot.links),
    ]  # smooth integrators cannot, time stepping need not
    for integrator, step in ATTEMPTS:
        if tried[integrator == "moreau"]:
            continue
        try:
            fall = _fall(robot, motion, integrator, step)
        except Error as failed:
            reasons.append(str(failed))
            continue
        best = fall if best is None or fall.drift < best.drift else best
        if best.drift < DRIFT:
            break
    return best or reasons[0]


def _fall(robot: Robot, motion: SampledMotion, integrator: str, step: float) -> Free:
    words = f"{FREE:g} s by {WORDS[integrator]} in steps of {1000 * step:g} ms"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # failures are reported on the page
        t = robot.simulate(motion.q[0], duration=FREE, step=step, integrator=integrator, progress=False)
        few = slice(None, None, round(FREE / step / 200))
        energies = t.kinetic_energy[few], t.potential_energy[few], t.dissipated[few], t.balance[few]
        fall = Free(t.time[few], t.qd[few], *energies, words, float(t.drift), t.doubt)
    if not all(np.isfinite(x).all() for x in (fall.qd, *energies)):
        raise Error("energies are not finite; robot.check() may show why")
    return fall
