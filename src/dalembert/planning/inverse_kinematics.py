"""Inverse kinematics: the joints of a pose of the hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, choice, flag, numbers, positive, whole
from dalembert.cached import cached_property
from dalembert.derived.kinematics import carrier
from dalembert.derived.task_space import ROWS, named, row_indices
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend, TwistFrame
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.pose import Pose
from dalembert.model.spread import spread
from dalembert.planning.given import typed_positions, with_rates
from dalembert.planning.reaching_step import ANGULAR, POSTURE, STEP
from dalembert.planning.solutions import STARTS, Request, every_solution, solutions
from dalembert.planning.solving import Solutions, Task, measured
from dalembert.progress import Progress, chosen
from dalembert.quantities import kinematics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.robots import Robot

FRAMES = ("world_aligned", "body")


def off(distance: float, angle: float) -> str:
    """How far from a target, in words; of a point there is no angle."""
    return f"{distance:.3g} m and {angle:.3g} rad" if angle else f"{distance:.3g} m"


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics:
    """What `inverse_kinematics` returns: leading axes are those of the targets.

    `q` (..., n) was measured: there the hand is `distance` m and `angle` rad from its target, in the rows that count. Where
    `solved` is False, q is the nearest that was found. `starts` is how many starts it took.
    """

    robot: Robot
    link: str | None
    q: Array
    solved: Any
    distance: Any
    angle: Any
    starts: Any

    @property
    def error(self) -> Any:
        """The larger of distance and angle, (...,)."""
        return np.maximum(self.distance, self.angle)

    @cached_property
    def pose(self) -> Array:
        """The pose of the hand at q, (..., 4, 4): of what was not reached, the nearest one."""
        return kinematics.pose(self.robot, self.q, self.link)

    def __repr__(self) -> str:
        if np.ndim(self.solved):
            told = f"{np.count_nonzero(self.solved)} of {np.size(self.solved)} solved"
        elif self.solved:
            told = "solved"
        else:
            told = f"not reached, the nearest pose is {off(self.distance, self.angle)} away"
        return f"<InverseKinematics of {self.robot.name}: {told}>"


def inverse_kinematics(
    robot: Robot,
    pose: Any,
    link: str | None = None,
    *,
    q0: ArrayLike | None = None,
    rows: Any = None,
    frame: TwistFrame = "world_aligned",
    limits: bool | None = True,
    posture: ArrayLike | None = None,
    every: bool = False,
    starts: int = STARTS,
    tolerance: float = 1e-10,
    progress: Progress | bool | None = None,
    backend: Backend = "auto",
) -> InverseKinematics:
    """Joint positions that bring a link or frame to a pose, within the limits. Signature (4,4)->(n).

    pose: `da.Pose`, a list of them, or (..., 4, 4); or points (..., 3), which the origin of the frame shall reach.
    q0: (..., n), where to start; leading axes of poses and starts broadcast. Otherwise one of many configurations, whose hand is
        near the target. From there the first solution is taken; where there is none, further starts are tried, `starts` in all.
    rows: what counts of (wx, wy, wz, vx, vy, vz), such as ("vx", "vy", "vz"); default: all, or those of the points.
    frame: whose axes these are: "world_aligned", or "body", in which leaving out "wz" lets the hand turn about its own z axis.
    limits: whether joint positions stay within the robot's limits; None or False for none.
    posture: (n,), what an arm with freedom left, more joints than rows, shall be near: the nearest q around the solution found.
    every: all solutions of one pose that the starts lead to, along the first axis, those near q0 (or zero) first; solutions that
        differ by full turns are one.
    tolerance: in rad and m, of what counts as solved.

    Levenberg-Marquardt on 4 sin^2(angle/2) + (distance/length)^2, where length is a quarter of the arm's; of a target out of
    reach the result is the nearest pose in this measure, over all starts. The same target gives the same q, alone or in a batch.

    >>> import dalembert as da
    >>> arm = da.robot("puma560")
    >>> found = arm.inverse_kinematics(da.Pose.of((0.4, 0.2, 0.3), rpy=(0, 1.5, 0)))
    >>> found
    <InverseKinematics of puma560: solved>
    >>> bool(abs(arm.pose(found.q)[:3, 3] - [0.4, 0.2, 0.3]).max() < 1e-10)
    True
    >>> arm.inverse_kinematics([1.5, 0.0, 0.3])
    <InverseKinematics of puma560: not reached, the nearest pose is 0.653 m away>
    """
    target, points = _targets(pose)
    wanted = rows if rows is not None else ROWS[ANGULAR:] if points else ROWS
    asked = request(robot, "inverse_kinematics", link, wanted, frame, limits, tolerance, posture, backend)
    if points and min(asked.rows) < ANGULAR:
        raise Error("inverse_kinematics: points have no rotation, so rows must be among vx, vy, vz; give poses (..., 4, 4) instead")
    most = whole(starts, "inverse_kinematics: starts", 1, 100_000)
    first = None if q0 is None else typed_positions(robot, "inverse_kinematics", "q0", q0)
    if flag(every, "every"):
        if target.ndim > 2 or (first is not None and first.ndim > 1):
            raise Error("inverse_kinematics: every solution is found for one pose and one q0 at a time")
        found = every_solution(asked, target, np.zeros(robot.n) if first is None else first, most)
        return _result(asked, found, (len(found.q),))
    shape = batch({"pose": target.shape[:-2], "q0": () if first is None else first.shape[:-1]}, "inverse_kinematics")
    target = np.broadcast_to(target, (*shape, 4, 4)).reshape(-1, 4, 4)
    begin = None if first is None else np.broadcast_to(first, (*shape, robot.n)).reshape(-1, robot.n)
    told = chosen(progress, f"inverse kinematics of {robot.name}")
    return _result(asked, solutions(asked, target, begin, most, told), shape)


# --- what is given ------------------------------------------------------------------------------------------------------


def _targets(pose: Any) -> tuple[Array, bool]:
    """Poses (..., 4, 4), and whether only their origins were given."""
    if isinstance(pose, Pose):
        return pose.matrix, False
    if isinstance(pose, list | tuple) and pose and all(isinstance(x, Pose) for x in pose):
        return np.stack([x.matrix for x in pose]), False
    T = numbers(pose, "inverse_kinematics: pose").astype(float)
    if T.shape[-2:] != (4, 4):
        if T.ndim == 0 or T.shape[-1] != 3:
            raise Error(f"inverse_kinematics: pose must be da.Pose, poses (..., 4, 4) or points (..., 3), got shape {T.shape}")
        points = T
        T = np.broadcast_to(np.eye(4), (*points.shape[:-1], 4, 4)).copy()
        T[..., :3, 3] = points
        return T, True
    if ((T[..., 3, :] != [0.0, 0.0, 0.0, 1.0]) & np.isfinite(T[..., 3, :])).any():
        raise Error("inverse_kinematics: the last row of each pose must be 0 0 0 1")
    return _with_rotations(T), False


@np.errstate(all="ignore")
def _with_rotations(T: Array) -> Array:
    """The same with the nearest rotations, where entries are rounded; other matrices are refused."""
    R = T[..., :3, :3]
    defect = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    turned = (np.cross(R[..., 0, :], R[..., 1, :]) * R[..., 2, :]).sum(axis=-1)
    if (bad := (defect > 1e-6) | (turned < 0)).any():  # NaN is neither, and stays NaN
        where = np.argwhere(np.atleast_1d(bad))[0].tolist()
        off = np.atleast_1d(defect)[tuple(where)]
        what = f"is no rotation: R R^T differs from the identity by {off:.2g}" if off > 1e-6 else "is a reflection, no rotation"
        raise Error(f"inverse_kinematics: the matrix of pose{where if bad.ndim else ''} {what}")
    if (rounded := defect > 1e-14).any():
        for _ in range(2):
            R = np.where(rounded[..., None, None], R - R @ (np.swapaxes(R, -1, -2) @ R - np.eye(3)) / 2, R)
        T = T.copy()
        T[..., :3, :3] = R
    return T


def request(
    robot: Robot,
    function: str,
    link: str | None,
    rows: Any,
    frame: TwistFrame,
    limits: bool | None,
    tolerance: float,
    posture: Any,
    backend: Backend = "auto",
) -> Request:
    """What is asked for, checked, and its kernel."""
    with_rates(robot, function)
    choice(frame, f"frame of {function}:", FRAMES)
    moving = _moving(robot, link)
    if not moving.any():
        raise Error(f"{function}: no joint of {robot.name} moves {named(robot, link) if robot.links else 'its base'}")
    counted = row_indices(rows)
    inside = limits is not None and flag(limits, "limits")
    lower, upper = (robot.lower, robot.upper) if inside else (np.full(robot.n, -np.inf), np.full(robot.n, np.inf))
    wanted = None if posture is None else typed_positions(robot, function, "posture", posture)
    if wanted is not None and (wanted.ndim > 1 or not np.isfinite(wanted).all()):
        raise Error(f"{function}: posture must be {robot.n} finite numbers, one for each joint, got shape {wanted.shape}")
    optional = () if wanted is None else tuple(POSTURE)
    kernel = compile(robot, STEP, optional=optional, backend=backend, link=link, frame=frame, rows=counted)
    tight = positive(tolerance, f"{function}: tolerance")
    if tight > 1:
        raise Error(f"{function}: tolerance must be at most 1 (rad and m), got {tight:g}")
    task = Task(kernel, lower, upper, _length(robot, link), tight, np.empty((0, robot.n)), () if wanted is None else (wanted, 0.0))
    return Request(robot, link, counted, frame, task, moving, wanted)


def _moving(robot: Model, link: str | None) -> Array:
    """Which of the independent joints move a link or frame."""
    whole = spread(robot)
    path = list(whole.open.tree.path(carrier(whole, link)[0])) if whole.links else []
    own = np.eye(robot.n) if robot.coupling is None else robot.coupling.matrix
    return np.logical_or.reduce(own[path] != 0, axis=0)


def _length(robot: Model, link: str | None) -> float:
    """A quarter of the arm's length, in m: what counts as much as a radian."""
    whole = spread(robot)
    index, at = carrier(whole, link)
    tree = whole.open.tree
    path = list(tree.path(index))
    parts = [*tree.before.translation[path[1:]], *tree.after.translation[path], at.translation]
    return float(sum(np.sqrt(x @ x) for x in parts)) / 4 or 1.0


def _result(asked: Request, found: Solutions, shape: tuple[int, ...]) -> InverseKinematics:
    one_each = (x.reshape(shape)[()] for x in (asked.task.met(found.apart), *measured(found.apart), found.starts))
    return InverseKinematics(asked.robot, asked.link, found.q.reshape(*shape, asked.robot.n), *one_each)
