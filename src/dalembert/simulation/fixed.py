"""Steps of fixed length under forces that are known beforehand: whole rollouts in native code."""

from collections.abc import Callable
from threading import Event, Lock, get_ident

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.native import threads
from dalembert.simulation.integrators import ITERATIONS, Integrator, table
from dalembert.simulation.plan import Acting, Forces, Plan, Rollouts, Start
from dalembert.simulation.stages import Stages, apart

BLOCK = 128  # rollouts whose numbers stay near the processor
WORK = 3_000_000  # passes times rollouts in one native call: a tenth of a second or so, then Ctrl-C and progress are handled


Told = Callable[[int], bool]  # how many steps of a block have passed -> whether to go on


def run(plan: Plan, integrator: Integrator, start: Start, forces: Forces, acting: Acting) -> Rollouts:
    """All steps of all rollouts, blocks of them at once on threads."""
    n = plan.robot.n
    q, v = start.flat()
    kernel, tau = plan.kernel(acting), held(forces, len(q), n)
    kept = [np.empty((len(q), plan.samples + 1, x.shape[-1])) for x in (q, v)]
    summed = plan.every > 1 and tau.shape[1] > 1 and not plan.robot.runs  # of which forces times steps of q are no work
    work = np.zeros((len(q), plan.samples + 1)) if summed else None

    def rollouts(part: slice, told: Told) -> None:
        stages = Stages(kernel, q[part], v[part], None if acting.constant is None else acting.constant[part])
        own = [x[part] for x in kept]
        _rollouts(plan, integrator, stages, tau[part], own, None if work is None else work[part], told)

    in_blocks(plan, len(q), rollouts)
    return Rollouts(kept[0], kept[1], sampled(plan, tau), work=work)


def held(forces: Forces, count: int, n: int) -> Array:
    """The forces (B, steps or 1, n) of all rollouts."""
    array = forces.array if forces.array is not None else np.zeros((1, n))
    return np.broadcast_to(array, (*forces.batch, array.shape[-2], n)).reshape(count, -1, n)


def sampled(plan: Plan, tau: Array) -> Array:
    """The forces (B, T, n) that act from each sample on."""
    at = tau[:, :: plan.every] if tau.shape[1] > 1 else np.broadcast_to(tau, (len(tau), plan.samples, tau.shape[-1]))
    return np.concatenate([at, at[:, -1:]], axis=1)


def in_blocks(plan: Plan, count: int, rollouts: Callable[[slice, Told], None]) -> None:
    """All rollouts, block by block on threads; progress is told from the calling one."""

    def work(part: slice) -> Callable[[], None]:
        def job() -> None:
            try:
                rollouts(part, told)
            except BaseException:  # for example Ctrl-C: the other threads need not finish
                failed.set()
                raise

        return job

    parts = [slice(k, k + BLOCK) for k in range(0, count, BLOCK)]
    done, one_by_one, caller, failed = [0], Lock(), get_ident(), Event()

    def told(passed: int) -> bool:
        with one_by_one:
            done[0] += passed
        if get_ident() == caller:  # the user's function may do anything, also start work that waits for these threads
            plan.progress(done[0], plan.samples * plan.every * len(parts))
        return not failed.is_set()

    workers = max(1, min(threads.get_threads(), len(parts)))
    for k in range(0, len(parts), workers):
        threads.run([work(part) for part in parts[k : k + workers]])
        told(0)


def _rollouts(
    plan: Plan,
    integrator: Integrator,
    stages: Stages,
    tau: Array,
    kept: list[Array],
    work: Array | None,
    told: Told,
) -> None:
    """Whole rollouts (B, T, n), a number of samples at a time, unless `told` says to stop; the work (B, T) is summed over steps."""
    for x, name in zip(kept, ("q", "v"), strict=True):
        x[:, 0] = stages.state[name][0, 0, 0]
    tries = list(ITERATIONS if integrator.implicit else (0,))
    k = 0
    while k < plan.samples:
        rows = integrator.steps(tries[0])
        count = min(plan.samples - k, max(1, WORK // (plan.every * len(rows) * len(kept[0]))))
        to_q, to_v = (np.moveaxis(x[:, k + 1 : k + 1 + count], 1, 0)[:, None, None] for x in kept)
        all_q = to_q if work is None else np.empty((count, plan.every, *to_q.shape[2:]))
        force = piece(tau, plan.every, k * plan.every, count)
        stages.prepared(table(rows, plan.step), force, (all_q, to_v), (count, plan.every, len(rows)))()
        if integrator.implicit and not stages.converged():
            if len(tries) == 1:
                raise apart(plan.step)
            tries.pop(0)
            stages.restart(kept[0][:, k], kept[1][:, k])
            continue
        if work is not None:
            to_q[...] = all_q[:, -1:]
            work[:, k + 1 : k + 1 + count] = work[:, k, None] + _done(force, kept[0][:, k], all_q)
        stages.gap[...] = 0.0
        k += count
        if not told(count * plan.every):
            return


def piece(tau: Array, every: int, first: int, count: int) -> Array:
    """The forces (samples, every, 1, B, n) from a step on; constant ones have one sample and step."""
    if tau.shape[1] == 1:
        return np.ascontiguousarray(np.moveaxis(tau, 1, 0)[None, None])
    forces = np.moveaxis(tau[:, first : first + count * every], 1, 0)
    return np.ascontiguousarray(forces.reshape(count, every, *forces.shape[1:])[:, :, None])


def _done(force: Array, start: Array, q: Array) -> Array:
    """The work (B, samples) of forces (samples, every, 1, B, n) held over steps that begin at start (B, n) and end at q."""
    ends = q.reshape(-1, *start.shape)
    steps = (force.reshape(ends.shape) * np.diff(ends, axis=0, prepend=start[None])).sum(axis=-1)
    return np.cumsum(steps.reshape(*q.shape[:2], -1).sum(axis=1), axis=0).T
