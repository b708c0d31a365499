"""Following a path of the hand: inverse kinematics along it, from sample to sample in native code.

Several ways to take the first pose are followed at once, as lanes of one run; of those that stay on the path the one with the
smallest accelerations is taken. Velocities and accelerations come from the Jacobian,

    J qd = V,   J qdd + J' qd = V'

and where the arm has freedom left, from splines through the positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array, cross, rotate_back, split
from dalembert.arguments import positive
from dalembert.derived.task_space import ROWS
from dalembert.errors import Error, LimitWarning, SingularWarning, brief, warn
from dalembert.model.limits import own_limit
from dalembert.motion.hand import HandSamples, sample
from dalembert.motion.paths import Spline
from dalembert.native.ordered import ordered
from dalembert.planning import solving
from dalembert.planning.given import typed_positions
from dalembert.planning.inverse_kinematics import request
from dalembert.planning.reaching_step import ANGULAR
from dalembert.planning.solutions import PULL, Request, random_starts, solutions
from dalembert.planning.solving import Solutions, measured
from dalembert.progress import chosen
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.quantities.kinematics import jacobian, jacobian_rate, pose
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.engine.names import TwistFrame
    from dalembert.motion.hand import HandPath
    from dalembert.robots import Robot

WAYS = 16  # of taking the first pose
PASSES = 12  # at each sample
JUMP = 0.7  # rad or m, from one sample to the next: the arm has gone to another branch
SINGULAR = 0.02  # the smallest singular value of a Jacobian with lengths in quarters of the arm's: slower joints than 1/this


def follow(
    robot: Robot,
    path: HandPath,
    link: str | None = None,
    *,
    q0: ArrayLike | None = None,
    step: float = 1e-2,
    rows: Any = None,
    frame: TwistFrame = "world_aligned",
    limits: bool | None = True,
    posture: ArrayLike | None = None,
    tolerance: float = 1e-10,
) -> Trajectory:
    """The motion of the joints that moves a link or frame along a path of poses, and the forces it takes.

    path: `da.line`, `da.circle`, `da.pose_spline`, or anything that gives poses, twists and their rates for times.
    q0: (n,), near which the motion starts; left out, of several ways to take the first pose the one that can follow the whole path
        with the smallest accelerations.
    step: of the samples, in s; link, limits, posture and tolerance as in `inverse_kinematics`.
    rows, frame: what counts of the pose, as there: all; or with "world_aligned" (axes of the world) all three angular rows or none,
        and with "body" (axes of the hand) all three linear rows, so that leaving out "wz" lets the hand spin.

    Where the path cannot be followed, an error says from when on, how near the hand comes, and which joint is at its limit. Near
    singularities, where joints must move fast for little motion of the hand, a `SingularWarning` has the time and the pose;
    `events[0]` of the result are the times. A `LimitWarning` names joints faster than their limits.

    >>> import dalembert as da
    >>> arm = da.robot("puma560")
    >>> start, goal = da.Pose.of((0.5, -0.2, 0.3), rpy=(0, 1.5, 0)), da.Pose.of((0.5, 0.3, 0.3), rpy=(0, 1.5, 0.5))
    >>> motion = arm.follow(da.line(start, goal, duration=1.0))
    >>> motion
    <Trajectory of puma560: 101 samples, 1 s>
    >>> bool(abs(arm.pose(motion.q[-1]) - goal.matrix).max() < 1e-9)
    True
    """
    asked = request(robot, "follow", link, ROWS if rows is None else rows, frame, limits, tolerance, posture)
    _check_rows(asked)
    samples = _samples(path, positive(step, "follow: step"))
    first = _first(asked, samples.pose[0], None if q0 is None else typed_positions(robot, "follow", "q0", q0))
    q = _chosen(asked, samples, *_along(asked, samples.pose, first))
    qd, qdd = _rates(asked, samples, q)
    singular = _singular(asked, samples, q)
    _check_speeds(robot, samples.time, qd)
    return Trajectory(robot, samples.time, q, qd, inverse_dynamics(robot, q, qd, qdd), accelerations=qdd, events=(singular,))


def _check_rows(asked: Request) -> None:
    angular = [row for row in asked.rows if row < ANGULAR]
    body = asked.frame == "body"
    if (len(asked.rows) - len(angular) < ANGULAR) if body else len(angular) not in (0, ANGULAR):
        what = "all of vx, vy, vz" if body else "all of wx, wy, wz, or none"
        raise Error(f'follow: rows with frame="{asked.frame}" must have {what}, got {", ".join(ROWS[row] for row in asked.rows)}')


def _samples(path: Any, step: float) -> HandSamples:
    """The path at equal steps, if it is one of the hand."""
    wanted = (), (4, 4), (6,), (6,)
    try:
        found = sample(path, positive(step, "follow: step"))
        if all(np.shape(x) == (len(found.time), *shape) for x, shape in zip(found, wanted, strict=True)):
            return HandSamples(*(np.ascontiguousarray(x, dtype=float) for x in found))
    except (AttributeError, TypeError):
        pass
    raise Error(f"follow takes a path of the hand (da.line, da.circle, da.pose_spline), got {brief(path)}")


class Ways(NamedTuple):
    """Positions along several ways, (T, B, n), and what is left at each, squared, (T, B, 2)."""

    q: Array
    apart: Array


def _first(asked: Request, target: Array, q0: Array | None) -> Array:
    """Ways to take the first pose, (B, n)."""
    robot, quiet = asked.robot, chosen(False, "")
    if q0 is not None and q0.ndim != 1:
        raise Error(f"follow: q0 must be one position ({robot.n},), got shape {q0.shape}")
    begin = random_starts(robot, WAYS)[:WAYS] if q0 is None else q0[None]
    found = solutions(asked, np.broadcast_to(target, (len(begin), 4, 4)), begin, 64, quiet)
    met = asked.task.met(found.apart)
    if not met.any():
        raise _lost(asked, 0.0, found, int(np.argmin(asked.task.cost(found.apart))))
    return found.q[met]


def _along(asked: Request, target: Array, first: Array) -> tuple[Ways, Array]:
    """Follow poses (T, 4, 4) from several starts (B, n); and how many samples each way stays on them."""
    task, (steps, lanes) = asked.task, (len(target), len(first))
    q = first[None, None, None].copy()
    best_q, best = np.zeros((steps, 1, 1, *first.shape)), np.full((steps, 1, 1, lanes, 2), np.inf)
    shared = [np.array(x, dtype=float)[None, None, None, None] for x in (solving.DAMPING, task.lower, task.upper, task.length)]
    if asked.posture is not None:
        pull = np.where(np.arange(PASSES) < PASSES // 2, PULL, 0.0)
        shared += [asked.posture[None, None, None, None], pull[None, None, :, None]]
    ordered(task.kernel, [q, best_q, best, target[:, None, None, None], *shared], [q, best_q, best], (steps, 1, PASSES))()
    ways = Ways(best_q[:, 0, 0], best[:, 0, 0])
    _again(asked, target, ways)
    jumps = np.abs(np.diff(ways.q, axis=0)).max(axis=-1) > JUMP
    fine = task.met(ways.apart)
    fine[1:] &= ~jumps
    return ways, np.where(fine.all(axis=0), steps, np.argmin(fine, axis=0))


def _again(asked: Request, target: Array, ways: Ways) -> None:
    """More passes where those were too few: near a singularity."""
    task = asked.task
    when, lane = np.nonzero(~task.met(ways.apart))
    near = task.cost(ways.apart[when, lane]) < solving.NEAR
    when, lane = when[near], lane[near]
    found = Solutions(ways.q[when, lane], ways.apart[when, lane], np.ones(len(when), dtype=int))
    solving.polish(task, target[when], found)
    ways.q[when, lane], ways.apart[when, lane] = found.q, found.apart


def _chosen(asked: Request, samples: HandSamples, ways: Ways, lasts: Array) -> Array:
    """The way (T, n) that stays on the path with the smallest accelerations."""
    whole = np.flatnonzero(lasts == len(samples.time))
    if whole.size:
        bends = np.square(np.diff(ways.q[:, whole], n=2, axis=0)).sum(axis=(0, 2))
        return ways.q[:, whole[np.argmin(bends)]].copy()
    lane = int(np.argmax(lasts))
    at = int(lasts[lane])
    raise _lost(asked, float(samples.time[at]), Solutions(ways.q[at], ways.apart[at], np.ones(len(lasts))), lane)


def _lost(asked: Request, time: float, found: Solutions, k: int) -> Error:
    """Why a path cannot be followed from a time on."""
    robot, task, q = asked.robot, asked.task, found.q[k]
    distance, angle = measured(found.apart[k])
    ends = [name for name, x, a, b in zip(robot.joint_names, q, task.lower, task.upper, strict=True) if x in (a, b)]
    held = f", with joint {', '.join(map(repr, ends))} at its limit" if ends else ""
    near = f"the nearest pose around is {distance:.3g} m and {angle:.3g} rad away{held}"
    if task.met(found.apart[k]):
        near = f"the joints would jump{held}; start with another q0, or use a smaller step"
    return Error(f"follow: {robot.name} cannot stay on the path at t = {time:.4g} s: {near}")


def _rates(asked: Request, samples: HandSamples, q: Array) -> tuple[Array, Array]:
    """Velocities and accelerations (T, n): those of splines, corrected so that the hand moves as the path says."""
    robot, link, frame, rows = asked.robot, asked.link, asked.frame, list(asked.rows)
    _, qd, qdd = Spline(samples.time, q)(samples.time)
    J = jacobian(robot, q, link, frame)[:, rows]
    inverse = np.linalg.pinv(J, rcond=1e-7)

    def corrected(rates: Array, wanted: Array) -> Array:
        return rates + np.matvec(inverse, wanted - np.matvec(J, rates))

    V, A, R = samples.twist, samples.acceleration, pose(robot, q, link)[:, :3, :3]
    qd = corrected(qd, (_turned(R, V) if frame == "body" else V)[:, rows])
    if frame == "body":
        omega = split(np.matvec(jacobian(robot, q, link, "world_aligned"), qd))[0]
        A = _turned(R, A - np.concatenate([cross(omega, part) for part in split(V)], axis=-1))
    drift = np.matvec(jacobian_rate(robot, q, qd, link, frame)[:, rows], qd)
    return qd, corrected(qdd, A[:, rows] - drift)


def _turned(R: Array, V: Array) -> Array:
    """Both halves of six-vectors in the axes of the hand."""
    return np.concatenate([rotate_back(R, part) for part in split(V)], axis=-1)


def _singular(asked: Request, samples: HandSamples, q: Array) -> Array:
    """The times of singularities, each told with the pose: where the smallest singular value is small, or a determinant turns."""
    robot, rows = asked.robot, list(asked.rows)
    scale = np.where(np.array(rows) < ANGULAR, 1.0, 1 / asked.task.length)
    J = scale[:, None] * jacobian(robot, q, asked.link, asked.frame)[:, rows][:, :, asked.moving]
    J = J[:, (np.abs(J) > 1e-12).any(axis=(0, 2))]  # a planar arm has rows of zeros wherever it is
    least = np.linalg.svd(J, compute_uv=False)[:, -1]
    near = least < SINGULAR
    if J.shape[1] == J.shape[2]:
        turns = np.flatnonzero(np.diff(np.sign(np.linalg.det(J))))
        near[turns + (least[turns + 1] < least[turns])] = True
    found = [k for k in np.flatnonzero(near) if least[k] == least[max(k - 1, 0) : k + 2].min()]
    for k in found[:3]:
        at = ", ".join(f"{x:.4g}" for x in samples.pose[k, :3, 3])
        more = f" ({len(found)} such times, see events)" if len(found) > 3 else ""
        warn(
            f"follow: {robot.name} is near a singularity at t = {samples.time[k]:.4g} s, where the hand is at ({at}) m: "
            f"the smallest singular value is {least[k]:.2g}{more}",
            SingularWarning,
        )
    return samples.time[found]


def _check_speeds(robot: Robot, time: Array, qd: Array) -> None:
    """Tell of joints that are too fast."""
    speeds, most = np.abs(qd), own_limit(robot, "velocity")
    for i in np.flatnonzero(speeds.max(axis=0) > most):
        k = int(np.argmax(speeds[:, i]))
        warn(
            f"follow: joint {robot.joint_names[i]!r} of {robot.name} moves at {speeds[k, i]:.3g} at t = {time[k]:.4g} s, "
            f"faster than its limit, {most[i]:.3g}; take more time",
            LimitWarning,
        )
