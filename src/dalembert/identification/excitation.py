"""Motions that show the parameters: Fourier series within limits, found by the search of `search.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, frozen_array, instance, positive, whole
from dalembert.errors import Error, LimitWarning, warn
from dalembert.identification.recording import identifiable
from dalembert.identification.search import CRITERIA, Search, excitation_limits, series
from dalembert.model.values import Frozen, Value
from dalembert.motion.paths import Motion, sample
from dalembert.native.blas import on_one_thread
from dalembert.progress import Progress, chosen
from dalembert.robots import Robot
from dalembert.simulation.along import torques_along
from dalembert.simulation.trajectory import Trajectory

STEP = 1e-2  # s, of the trajectory
LIMITED = ("distance from the middle of the positions", "velocity", "acceleration", "force")


@dataclass(frozen=True, eq=False)
class Excitation(Value):
    """A periodic motion q(t) = c_0 + sum_k a_k sin(k w t) - b_k cos(k w t) from rest to rest, to be followed like a path.

    `condition` is that of the scaled columns along it, `start` the one of the random motion that the search began with.
    """

    robot: Robot
    coefficients: Frozen  # (2 harmonics + 1, n): c_0, a, b
    duration: float  # one period, s
    condition: float
    start: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", frozen_array(self.coefficients, None, "coefficients"))

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    def __call__(self, time: Any) -> Motion:
        """The motion at a time, (n,), or at times (T,), (T, n); before and after the period it rests."""
        t = np.asarray(time, dtype=float)
        inside = ((t >= 0) & (t <= self.duration))[..., None]
        P, V, A = series(np.clip(t, 0.0, self.duration), self.duration, len(self.coefficients) // 2)
        return Motion(P @ self.coefficients, (V @ self.coefficients) * inside, (A @ self.coefficients) * inside)

    sample = sample

    def trajectory(self, step: float = STEP) -> Trajectory:
        """The motion with its joint forces at steps of so many seconds; `to_csv` writes what a controller can play."""
        return torques_along(self.robot, self, step)

    def __repr__(self) -> str:
        return (
            f"<Excitation of {self.robot.name}: {self.duration:g} s, {len(self.coefficients) // 2} harmonics, "
            f"condition {self.condition:.3g} (from {self.start:.3g})>"
        )


@on_one_thread
def excitation(
    robot: Robot,
    limits: Mapping[str, Any] | None = None,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    criterion: str = "logdet",
    rotors: bool = True,
    starts: int = 2,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Excitation:
    """A motion that excites the base parameters, friction and rotors included, as well as limits allow.

    Limits hold between the samples of the search, too, friction included; if none is found that keeps them, a warning says so.
    Collisions with the floor and with itself are not checked: look at the motion first (in a report, a plot), and narrow it with
    lower and upper limits.

    limits: what differs from the robot's own: {"lower": ..., "upper": ..., "velocity": ..., "acceleration": ..., "torque": ...},
    one number, (n,) or a dict by joint each. Where there are none: +-pi rad (1 m), 2 rad/s (0.5 m/s); accelerations twice the
    velocity limit per second.
    period: in s; the motion begins and ends at rest. harmonics: of 1/period.
    criterion: "logdet" makes all intervals small, "condition" the ratio of the largest to the smallest.
    starts: random motions to begin with; the best result is kept. seed: another number begins with others.

    >>> import dalembert as da
    >>> path = da.excitation(da.robot("planar_3r"), period=5.0, harmonics=3, starts=1)
    >>> path.condition < path.start and path.trajectory(0.01).tau.shape == (501, 3)
    True
    """
    identifiable(instance(robot, Robot, "the robot of an excitation"))
    if robot.n == 0:
        raise Error(f"{robot.name} has no joints to move")
    choice(criterion, "criterion:", CRITERIA)
    kept, count = excitation_limits(robot, limits), whole(starts, "starts", 1, 1000)
    search = Search(robot, kept, positive(period, "period"), whole(harmonics, "harmonics", 2, 50), criterion, rotors)
    tell = chosen(progress, f"exciting {robot.name}")
    best, begun, value, first = np.zeros(0), np.zeros(0), np.inf, np.inf
    for k in range(count):
        start = search.begin(whole(seed, "seed", 0) + k)
        first = min(first, search.condition(start))
        x = search.optimized(start, lambda done, k=k: tell(k * 100 + done, 100 * count))
        if (new := search.cost(x, 0.0)[0]) < value:
            best, begun, value = x, start, new
    best = search.tightened(best, begun)
    tell(100 * count, 100 * count)
    if told := _exceeded(search, best):
        warn(f"excitation: {'; '.join(told)}", LimitWarning)
    return Excitation(robot, search.coefficients(best), search.period, search.condition(best), first)


def _exceeded(search: Search, x: Array) -> list[str]:
    """Which limits a motion exceeds."""
    used, names = search.used(x), search.robot.joint_names
    return [
        f"the {LIMITED[k]} of {names[j]} reaches {used[k, j]:.4g}, its limit is {search.most[k, j]:.4g}"
        for k, j in np.argwhere(used > search.most)
    ]
