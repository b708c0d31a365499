"""The fastest way along a path of the Panda, beside toppra where it is installed: one thread."""

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from reporting import heading, report
from timing import best, best_pair

import dalembert as da
from dalembert.motion.paths import Motion
from dalembert.planning.parametrize import moments

POINTS = 1000
DAMPING = [6, 6, 6, 6, 1.2, 1.2, 1.2]


def figures():
    heading("the fastest way along a path, one thread")
    da.set_threads(1)
    arm = da.robot("panda").without_friction()
    path = 0.7 * arm.random_configuration(np.random.default_rng(0), 5)
    viscous = arm.with_friction(damping=DAMPING, coulomb=1.0)
    for name, robot, most in (("", arm, 4), (", viscous friction", viscous, 8)):
        for words, tolerance in (("limits at the points", None), ("limits between the points, too (default)", 1e-6)):
            taken = best(lambda robot=robot, tolerance=tolerance: robot.fastest(path, points=POINTS, tolerance=tolerance), 30)
            report(f"fastest along a path, {POINTS} intervals{name}: {words}", taken * 1e3, "ms", at_most=most)
    if find_spec("toppra"):
        beside_toppra(arm)


class Path(NamedTuple):
    """A path of toppra as one of ours."""

    spline: object
    duration: float = 1.0
    n: int = 7

    def __call__(self, s):
        return Motion(self.spline(s), self.spline(s, 1), self.spline(s, 2))


def beside_toppra(arm):
    """The same problem on the same points: torques, velocities and accelerations."""
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("CRITICAL")
    s = np.linspace(0, 1, POINTS + 1)
    spline = toppra.SplineInterpolator(np.linspace(0, 1, 5), 0.7 * arm.random_configuration(np.random.default_rng(0), 5))
    torque, velocity, acceleration = np.array([87, 87, 87, 87, 12, 12, 12.0]), np.full(7, 2.5), np.full(7, 12.0)

    def theirs():
        limits = [
            constraint.JointTorqueConstraint(arm.inverse_dynamics, np.c_[-torque, torque], np.zeros(7), discretization_scheme=1),
            constraint.JointAccelerationConstraint(np.c_[-acceleration, acceleration], discretization_scheme=1),
            constraint.JointVelocityConstraint(np.c_[-velocity, velocity]),
        ]
        return algorithm.TOPPRA(limits, spline, gridpoints=s, solver_wrapper="seidel").compute_parameterization(0, 0)[1]

    def ours():
        return arm.fastest(Path(spline), torque=torque, velocity=velocity, acceleration=acceleration, points=s, tolerance=None)

    mine, other = best_pair(ours, theirs, rounds=20)
    report("fastest, also accelerations: on toppra's points", mine * 1e3, "ms")
    report("fastest: toppra", other * 1e3, "ms")
    report("fastest: times as fast as toppra", other / mine, "x")
    report("fastest: duration over toppra's, less 1", ours().duration / moments(s, theirs() ** 2)[-1] - 1, "", at_most=0)
