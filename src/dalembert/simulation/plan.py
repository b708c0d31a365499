"""The inputs of a simulation (the plan, the start, the forces) and its results, shared by all integrators."""

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import numbers, positive
from dalembert.engine.evaluation import joint_vector
from dalembert.engine.kernels import compile
from dalembert.engine.names import Backend
from dalembert.errors import Error, brief
from dalembert.model.model import Model
from dalembert.progress import Progress
from dalembert.simulation.stages import STAGE

if TYPE_CHECKING:
    from dalembert.robots import Robot


class Plan(NamedTuple):
    """What to do, apart from where it starts and what drives it."""

    robot: "Robot"
    step: float
    samples: int
    every: int
    method: str | None
    velocities: str
    backend: Backend
    progress: Progress
    slip_speed: float = 0.0  # of friction that is smooth; 0: it jumps

    def kernel(self, acting: "Acting") -> Any:
        """One stage as native code, or on NumPy."""
        pushed = ("wrenches",) if acting.constant is not None or acting.function else ()
        return compile(
            self.robot,
            STAGE,
            self.method,
            optional=pushed,
            backend=self.backend,
            velocities=self.velocities,
            slip_speed=self.slip_speed,
        )


class Start(NamedTuple):
    """Positions and velocities (..., n) to begin with."""

    q: Array
    qd: Array
    batch: tuple[int, ...]

    def widened(self, batch: tuple[int, ...]) -> "Start":
        """For all rollouts."""
        q, qd = (np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1]))) for x in (self.q, self.qd))
        return Start(q, qd, batch)

    def flat(self) -> tuple[Array, Array]:
        """Positions and velocities (B, n) of all rollouts."""
        count = prod(self.batch)
        return self.q.reshape(count, self.q.shape[-1]), self.qd.reshape(count, self.qd.shape[-1])


class Forces(NamedTuple):
    """Joint forces: an array (..., steps or 1, n), or a function, perhaps with a memory."""

    array: Array | None
    function: Callable[..., Any] | None
    memory: Array | None
    batch: tuple[int, ...]

    @property
    def constant(self) -> bool:
        """Whether they never change."""
        return self.array is not None and self.array.shape[-2] == 1


class Acting(NamedTuple):
    """Wrenches as the user gave them; as constants (B, n, 6) in link axes; or as a function of q."""

    given: Any
    constant: Array | None
    function: Callable[[Array], Array] | None

    def push(self, target: Array, q: Array) -> None:
        """Write those that are a function of q (..., nq) into an array (B, links, 6)."""
        if self.function:
            target[...] = np.broadcast_to(self.function(q), (*q.shape[:-1], *target.shape[1:])).reshape(target.shape)


class Rollouts(NamedTuple):
    """Samples (B, T, n): positions, velocities of the route, forces; memories (B, T, k).

    work (B, T) is that of forces which change between the samples, and None where it follows from the samples; lost (B, T, 2) is
    what friction and stops have taken, where the integrator knows.
    """

    q: Array
    v: Array
    tau: Array
    memory: Array | None = None
    work: Array | None = None
    lost: Array | None = None


MOST = 1e12  # steps: months of work
WHOLE = 1e-6  # how near a duration must be to a multiple of the step


def counted(duration: Any, step: Any, function: str) -> int:
    """How many steps a duration has."""
    duration, step = positive(duration, f"{function}: duration"), positive(step, f"{function}: step")
    if duration / step > MOST:
        raise Error(f"{function}: {duration:g} s in steps of {step:g} s is more than {MOST:g} steps")
    steps = round(duration / step)
    if steps < 1 or abs(duration / step - steps) > WHOLE * steps:
        nearest = duration / max(1, np.ceil(duration / step))
        raise Error(
            f"{function}: duration must be a multiple of step, got {duration:g} s and {step:g} s; step={nearest:.9g} would fit"
        )
    return steps


def over_steps(robot: Model, given: Any, steps: int, function: str, name: str) -> Array:
    """Forces (..., steps or 1, n) that are held over each step, or constant."""
    tau = joint_vector(robot, function, name, given)
    if tau.dtype.kind == "c":
        raise Error(f"{function}: {name} must be real")
    tau = tau[None] if tau.ndim == 1 else tau
    if tau.shape[-2] not in (1, steps):
        raise Error(
            f"{function}: {name} has shape {np.shape(given)}; its last axes must be ({steps}, {robot.n}), one force per step, or "
            f"(1, {robot.n}), constant; for one constant per rollout use {name}[:, None, :]"
        )
    return tau


GIVES = "torque(t, q, qd) must return forces"


def wide(given: Any, shape: tuple[int, ...], what: str, time: float) -> Array:
    """Real numbers of this shape, or an error with the expected shape."""
    try:
        return np.broadcast_to(numbers(given, what).astype(float, copy=False), shape)
    except ValueError:  # no numbers, or not of this shape
        pass
    raise Error(f"simulate: {what} {shape}, it returned {brief(given)} at t = {time:g} s")
