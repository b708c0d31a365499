"""The joint forces along a given motion."""

from typing import TYPE_CHECKING

from dalembert.errors import Error, brief
from dalembert.motion.paths import Path, sample
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.quantities.loops import closed_motion, independent_names, settle
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.robots import Robot


def torques_along(robot: "Robot", path: Path | Trajectory, step: float = 1e-2) -> Trajectory:
    """The joint forces that a motion takes: a path at steps of about `step` seconds, or the motion of another trajectory.

    tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) at every sample. Of a robot with loops the independent joints follow the
    path, the others follow them, from where the path has them.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> move = arm.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0))
    >>> move
    <Trajectory of two_link: 201 samples, 2 s>
    >>> bool((move.tau[0] == arm.gravity_force([0.0, 0.0])).all())
    True
    """
    if isinstance(path, Trajectory):
        time, q, qd, qdd = path.time, path.q, path.qd, path.qdd
    elif robot.runs:
        joint = robot.runs[0]
        raise Error(f"torques_along: a path cannot have the {joint.kind} joint {joint.joint!r} of {robot.name}; give a trajectory")
    elif callable(path) and getattr(path, "n", None) == robot.n:
        time, q, qd, qdd = sample(path, step)
    else:
        raise Error(f"{robot.name} follows a path of {robot.n} coordinates (da.quintic, ...) or a trajectory, got {brief(path)}")
    if robot.loops:
        q = settle(robot, q, hold=independent_names(robot))
        qd, qdd = closed_motion(robot, q, qd, qdd)
    tau = inverse_dynamics(robot, q, qd, qdd)
    return Trajectory(robot, time, q, qd, tau, accelerations=qdd)
