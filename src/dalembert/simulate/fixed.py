"""Steps of fixed length under forces that are known beforehand: whole rollouts in native code."""

from collections.abc import Callable
from math import prod
from threading import Event, Lock, get_ident
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.native import threads
from dalembert.native.ordered import ordered
from dalembert.quantities.quantity import compile
from dalembert.simulate.integrators import ITERATIONS, Integrator, table
from dalembert.simulate.motion import STATE
from dalembert.simulate.progress import Progress
from dalembert.spatial import Array

BLOCK = 128  # rollouts whose numbers stay near the processor
WORK = 3_000_000  # passes times rollouts in one native call: a tenth of a second or so, then Ctrl-C and progress get their turn
CONVERGED = 1e-11  # of an implicit step, relative to the state


class Plan(NamedTuple):
    """What to do, apart from where it starts and what drives it."""

    robot: Model
    step: float
    samples: int
    every: int
    method: str | None
    velocities: str
    backend: str
    progress: Progress

    def kernel(self, acting: "Acting") -> Any:
        """One stage as native code, or on NumPy."""
        pushed = ("wrenches",) if acting.constant is not None or acting.function else ()
        return compile(self.robot, "stage", self.method, optional=pushed, backend=self.backend, velocities=self.velocities)


class Start(NamedTuple):
    """Positions and velocities (..., n) to begin with."""

    q: Array
    qd: Array
    batch: tuple[int, ...]

    def widened(self, batch: tuple[int, ...], n: int) -> "Start":
        """For all rollouts."""
        q, qd = (np.ascontiguousarray(np.broadcast_to(x, (*batch, n))) for x in (self.q, self.qd))
        return Start(q, qd, batch)

    def flat(self) -> tuple[Array, Array]:
        """Positions and velocities (B, n) of all rollouts."""
        count = prod(self.batch)
        return self.q.reshape(count, -1), self.qd.reshape(count, -1)


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


class Found(NamedTuple):
    """Samples (B, T, n): positions, velocities of the route, forces; memories (B, T, k).

    work (B, T) is that of forces which change between the samples, and None where the samples tell it.
    """

    q: Array
    v: Array
    tau: Array
    memory: Array | None = None
    work: Array | None = None


def run(plan: Plan, integrator: Integrator, start: Start, forces: Forces, acting: Acting) -> Found:
    """All steps of all rollouts, blocks of them at once on threads."""
    n = plan.robot.n
    q, v = start.flat()
    steps, kernel = plan.samples * plan.every, plan.kernel(acting)
    array = forces.array if forces.array is not None else np.zeros((1, n))
    tau = np.broadcast_to(array, (*forces.batch, array.shape[-2], n)).reshape(len(q), -1, n)
    kept = np.empty((2, len(q), plan.samples + 1, n))
    work = np.zeros((len(q), plan.samples + 1)) if plan.every > 1 and tau.shape[1] > 1 else None

    def rollouts(part: slice) -> Callable[[], None]:
        stages = Stages(kernel, q[part], v[part], None if acting.constant is None else acting.constant[part])
        given = plan, integrator, stages, tau[part], kept[:, part], None if work is None else work[part]

        def job() -> None:
            try:
                _rollouts(*given, told)
            except BaseException:  # Ctrl-C, say: the other threads need not go on to their ends
                failed.set()
                raise

        return job

    parts = [slice(k, k + BLOCK) for k in range(0, len(q), BLOCK)]
    done, one_by_one, caller, failed = [0], Lock(), get_ident(), Event()

    def told(passed: int) -> bool:
        with one_by_one:
            done[0] += passed
        if get_ident() == caller:  # the user's function may do anything, also start work that waits for these threads
            plan.progress(done[0], steps * len(parts))
        return not failed.is_set()

    workers = max(1, min(threads.get_threads(), len(parts)))
    for k in range(0, len(parts), workers):
        threads.run([rollouts(part) for part in parts[k : k + workers]])
        told(0)
    held = tau[:, :: plan.every] if tau.shape[1] > 1 else np.broadcast_to(tau, (len(q), plan.samples, n))
    return Found(kept[0], kept[1], np.concatenate([held, held[:, -1:]], axis=1), work=work)


class Stages:
    """The arrays of a kernel's stage, for some rollouts: one memory, read and written at every pass."""

    def __init__(self, kernel: Any, q: Array, v: Array, wrenches: Array | None) -> None:
        self.kernel = kernel
        self.state = {name: np.zeros((1, 1, 1, *q.shape)) for name in STATE}
        self.gap = np.zeros((1, 1, 1, len(q)))
        self.wrenches = [] if wrenches is None else [np.array(wrenches, dtype=float)[None, None, None]]
        self.restart(q, v)

    def restart(self, q: Array, v: Array) -> None:
        """Begin a step at this state."""
        for name, value in zip(STATE, (q, v, q, v, 0.0, 0.0), strict=True):
            self.state[name][...] = value
        self.gap[...] = 0.0

    def prepared(self, factors: Array, tau: Array, kept: tuple[Array, Array], counts: tuple[int, int, int]) -> Callable[[], None]:
        """The passes of these loops over samples, steps and stages, to be run."""
        held = list(self.state.values())
        outputs = [*held, self.gap, *kept]
        return ordered(self.kernel, [*held, self.gap, tau, factors[None, None, :, None], *self.wrenches], outputs, counts)

    def converged(self) -> bool:
        """Whether the iterations of all implicit steps since the restart met."""
        scale = 1 + sum(np.abs(self.state[name]).max(axis=-1) for name in ("q", "v"))
        met = np.sqrt(self.gap) <= CONVERGED * scale
        return bool((met | ~np.isfinite(self.gap)).all())  # what has run away is found at the end


def _rollouts(
    plan: Plan,
    integrator: Integrator,
    stages: Stages,
    tau: Array,
    kept: Array,
    work: Array | None,
    told: Callable[[int], bool],
) -> None:
    """Whole rollouts (B, T, n), a number of samples at a time, unless `told` says to stop; the work (B, T) is summed over steps."""
    kept[:, :, 0] = stages.state["q"][0, 0, 0], stages.state["v"][0, 0, 0]
    tries = list(ITERATIONS if integrator.implicit else (0,))
    k = 0
    while k < plan.samples:
        rows = integrator.steps(tries[0])
        count = min(plan.samples - k, max(1, WORK // (plan.every * len(rows) * kept.shape[1])))
        to_q, to_v = (np.moveaxis(x[:, k + 1 : k + 1 + count], 1, 0)[:, None, None] for x in kept)
        all_q = to_q if work is None else np.empty((count, plan.every, *to_q.shape[2:]))
        force = _piece(tau, plan.every, k, count)
        stages.prepared(table(rows, plan.step), force, (all_q, to_v), (count, plan.every, len(rows)))()
        if integrator.implicit and not stages.converged():
            if len(tries) == 1:
                raise apart(plan)
            tries.pop(0)
            stages.restart(kept[0, :, k], kept[1, :, k])
            continue
        if work is not None:
            to_q[...] = all_q[:, -1:]
            work[:, k + 1 : k + 1 + count] = work[:, k, None] + _done(force, kept[0, :, k], all_q)
        stages.gap[...] = 0.0
        k += count
        if not told(count * plan.every):
            return


def _piece(tau: Array, every: int, k: int, count: int) -> Array:
    """The forces (samples, every, 1, B, n) from sample k on; constant ones have one sample and step."""
    if tau.shape[1] == 1:
        return np.ascontiguousarray(np.moveaxis(tau, 1, 0)[None, None])
    found = np.moveaxis(tau[:, k * every : (k + count) * every], 1, 0)
    return np.ascontiguousarray(found.reshape(count, every, *found.shape[1:])[:, :, None])


def _done(force: Array, start: Array, q: Array) -> Array:
    """The work (B, samples) of forces (samples, every, 1, B, n) held over steps that begin at start (B, n) and end at q."""
    ends = q.reshape(-1, *start.shape)
    steps = (force.reshape(ends.shape) * np.diff(ends, axis=0, prepend=start[None])).sum(axis=-1)
    return np.cumsum(steps.reshape(*q.shape[:2], -1).sum(axis=1), axis=0).T


def apart(plan: Plan) -> Error:
    """Error of an implicit step that is too long."""
    return Error(f"simulate: the iterations of an implicit step of {plan.step:g} s do not meet; a smaller step would")
