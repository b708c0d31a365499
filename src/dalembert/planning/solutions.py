"""From targets to solutions: where to start, what becomes of the freedom that is left, and all solutions of one pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.planning import solving
from dalembert.planning.reaching_step import ANGULAR
from dalembert.planning.solving import Places, Solutions, Task
from dalembert.progress import Progress, chosen
from dalembert.quantities import kinematics

if TYPE_CHECKING:
    from dalembert.engine.names import TwistFrame
    from dalembert.robots import Robot

STARTS = 256
TOWARDS, PULL, REST = 200, 0.5, 16  # passes towards a posture, the share of the way of each, and passes that then settle the hand
SAME = 1e-5  # solutions nearer than this, in rad or m, are one


class Request(NamedTuple):
    """What is asked for, checked: everything but targets and starts."""

    robot: Robot
    link: str | None
    rows: tuple[int, ...]
    frame: TwistFrame
    task: Task
    moving: Array  # (n,) whether a joint moves the hand
    posture: Array | None

    def inside(self, q: Array) -> Array:
        """Positions within the limits."""
        return np.clip(q, self.task.lower, self.task.upper)


def solutions(asked: Request, target: Array, first: Array | None, most: int, told: Progress) -> Solutions:
    """The best of each target (B, 4, 4), from its first start (B, n) and `most` in all; NaN where a target has no numbers."""
    robot, task = asked.robot, asked.task
    if first is None and asked.posture is not None:
        first = np.broadcast_to(asked.posture, (len(target), robot.n))
    good = np.isfinite(target).all(axis=(1, 2)) & (True if first is None else np.isfinite(first).all(axis=1))
    whole = good.all()
    there, table = target if whole else target[good], random_starts(robot, most)
    begin = _nearest(asked, table, there) if first is None else asked.inside(first if whole else first[good])
    found = solving.solve(task._replace(starts=table[: most - 1]), there, begin, told)
    solving.polish(task, there, found)
    if asked.posture is not None:
        _pull(asked, asked.posture, there, found)
    idle = ~asked.moving  # they may be anywhere
    found.q[:, idle] = asked.inside(np.zeros(robot.n))[idle] if first is None else begin[:, idle]
    if whole:
        return found
    all_of = Solutions(np.full((len(target), robot.n), np.nan), np.full((len(target), 2), np.nan), np.zeros(len(target), dtype=int))
    for wide, narrow in zip(all_of, found, strict=True):
        wide[good] = narrow
    return all_of


def random_starts(robot: Model, most: int) -> Array:
    """Random configurations within the limits and without full turns, the same for every target."""
    key = "starts of inverse_kinematics"
    kept: Array | None = robot.memo.get(key)
    if kept is None or len(kept) < most:
        q = robot.random_configuration(0, max(most, STARTS))
        near = _between(robot, q, np.zeros(robot.n))
        kept = robot.memo[key] = np.where((near >= robot.lower) & (near <= robot.upper), near, q)
    return kept


def _nearest(asked: Request, table: Array, target: Array) -> Array:
    """For each target, the configuration whose hand is nearest: |a - b|^2 = |a|^2 - 2 a . b + |b|^2."""
    table = table[:STARTS]
    there = _features(asked, kinematics.pose(asked.robot, table, asked.link))
    size = (there * there).sum(axis=1)
    parts = [np.argmin(size - 2 * _features(asked, target[k : k + 1024]) @ there.T, axis=1) for k in range(0, len(target), 1024)]
    return table[np.concatenate(parts)] if parts else np.empty((0, asked.robot.n))


def _features(asked: Request, T: Array) -> Array:
    """Numbers whose squared distance is the cost of inverse kinematics; of rows in the axes of the hand, roughly."""
    origins = [row - ANGULAR for row in asked.rows if row >= ANGULAR] if asked.frame != "body" else [0, 1, 2]
    turns = {0, 1, 2} <= set(asked.rows)
    rotations = T[:, :3, :3].reshape(len(T), 9) / np.sqrt(2) if turns else np.empty((len(T), 0))
    return np.concatenate([rotations, T[:, origins, 3] / asked.task.length], axis=1)


def _pull(asked: Request, posture: Array, target: Array, found: Solutions) -> None:
    """Move the solutions towards the posture, as far as the hand stays where it is."""
    task = asked.task
    for k in range(0, len(target), solving.PLACES):
        part = slice(k, k + solving.PLACES)
        moved = Places(task._replace(pull=(posture, PULL)), found.q[part], target[part], TOWARDS)
        moved.run()
        settled = Places(task, moved.q, target[part], REST)
        settled.run()
        nearer = ((settled.best_q - posture) ** 2).sum(axis=1) < ((found.q[part] - posture) ** 2).sum(axis=1)
        taken = task.met(settled.best) & nearer
        found.q[part][taken], found.apart[part][taken] = settled.best_q[taken], settled.best[taken]


# --- all solutions ------------------------------------------------------------------------------------------------------


def every_solution(asked: Request, target: Array, first: Array, most: int) -> Solutions:
    """All solutions of one pose (4, 4) that the starts lead to, those near the first start first; or the nearest pose."""
    robot, task, quiet = asked.robot, asked.task, chosen(False, "")
    joints, rows = np.count_nonzero(asked.moving), len(asked.rows)
    if joints > rows:
        raise Error(
            f"inverse_kinematics: {robot.name} has {joints} joints for {rows} row{'s' * (rows > 1)}, so infinitely many solutions; "
            "lock joints (robot.lock), or give several q0 instead"
        )
    first = asked.inside(first)
    begin = np.concatenate([first[None], np.where(asked.moving, random_starts(robot, most), first)[: most - 1]])
    same = np.broadcast_to(target, (most, 4, 4))
    found = solutions(asked, same, begin, 1, quiet)
    q = found.q[task.met(found.apart)]
    near = first + _between(robot, q, first)
    q = np.where(near == asked.inside(near), near, q)
    different: list[Array] = []
    for one in q[np.argsort(((q - first) ** 2).sum(axis=1), kind="stable")]:
        if all(np.abs(_between(robot, one, other)).max() > SAME for other in different):
            different.append(one)
    if different:  # measured again where full turns were taken off
        return solutions(asked, same[: len(different)], np.array(different), 1, quiet)
    best = int(np.argmin(task.cost(found.apart)))
    return Solutions(*(x[best : best + 1] for x in found))


def _between(robot: Model, a: Array, b: Array) -> Array:
    """a - b without full turns, which make no difference to joints that are not coupled."""
    turns = np.array([joint.kind == "revolute" for joint in robot.joints]) & (robot.coupling is None)
    return (a - b) - np.where(turns, np.rint((a - b) / (2 * np.pi)) * 2 * np.pi, 0.0)
