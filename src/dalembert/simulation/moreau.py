"""Moreau's time stepping of whole rollouts in native code, and under forces that Python gives; `step` has the step itself."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.sticking import settled
from dalembert.engine.kernels import compile
from dalembert.errors import Error
from dalembert.native.ordered import ordered
from dalembert.quantities.configurations import integrate
from dalembert.quantities.dynamics import mass_matrix
from dalembert.quantities.structure import kinetic_energy, potential_energy
from dalembert.simulation.driven import Control
from dalembert.simulation.fixed import Told, held, in_blocks, piece, sampled
from dalembert.simulation.plan import Acting, Forces, Plan, Rollouts, Start
from dalembert.simulation.step import AT_STOPS, ENERGIES, KEPT, STATE, STEP, STOPS, Laws, stepping
from dalembert.simulation.stops import Stops

CHUNK = 128  # steps in one native call at least: rollouts that need more iterations get them before the others go on
WORK = 1 << 17  # steps times rollouts in one: beside its steps a call costs about half a millisecond
TRIES = 24  # of a step with further iterations; then it is computed in Python


class Machine(NamedTuple):
    """The step of a robot: its kernel, and what does not change from step to step."""

    plan: Plan
    kernel: Any
    optional: tuple[str, ...]
    stops: Stops | None


def machine(plan: Plan, acting: Acting, stops: Stops | None) -> Machine:
    """The step for these rollouts, compiled."""
    stops = stops if stops and stops.which else None
    pushed = acting.constant is not None or acting.function is not None
    optional = (*(("wrenches",) if pushed else ()), *(STOPS if stops else ()))
    options: dict[str, Any] = {"stops": stops.which, "iterations": AT_STOPS} if stops else {}
    return Machine(plan, compile(plan.robot, STEP, optional=optional, backend=plan.backend, **options), optional, stops)


class Steps:
    """The state of some rollouts, which steps advance."""

    def __init__(self, made: Machine, state: dict[str, Array], wrenches: Array | None) -> None:
        self.machine, self.state, self.wrenches = made, state, wrenches
        self.pushes = np.zeros((2, 1, 1, 1, *state["v"].shape))  # the forces of a single step
        self.single: dict[bool, Callable[[], None]] = {}

    @classmethod
    def start(cls, made: Machine, q: Array, v: Array, wrenches: Array | None) -> "Steps":
        """At rest or in motion, nothing done."""
        count, n = v.shape
        shapes = {"energies": (ENERGIES,), "done": (), "guess": (2, n)}
        state = {"q": q.copy(), "v": v.copy()} | {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
        return cls(made, state, wrenches)

    def some(self, which: Array) -> "Steps":
        """A copy of some of the rollouts."""
        wrenches = None if self.wrenches is None else self.wrenches[which]
        return Steps(self.machine, {name: x[which] for name, x in self.state.items()}, wrenches)

    def passes(
        self, tau: Array, tau_middle: Array, kept: list[Array], counts: tuple[int, int, int], again: bool = False
    ) -> Callable[[], None]:
        """Loops over samples and steps, to be run."""
        stops, one = self.machine.stops, (None,) * 3
        state = [self.state[name][one] for name in STATE]
        constant = [np.full((1, 1, 1, 1), x) for x in (self.machine.plan.step, float(again))]
        wrenches = [] if self.wrenches is None else [self.wrenches[one]]
        limits = [np.array(x)[(*one, None)] for x in stops.arrays] if stops else []
        return ordered(self.machine.kernel, [*state, tau, tau_middle, *constant, *wrenches, *limits], [*state, *kept], counts)

    def once(self, tau: Array, tau_middle: Array, again: bool = False) -> None:
        """One step under forces (B, n), with as many iterations as it takes."""
        state = self.state
        self.pushes[:, 0, 0, 0] = tau, tau_middle
        for attempt in range(TRIES):
            late = state["done"] < 0
            if attempt and not late.any():
                return
            if attempt and not late.all():
                break
            state["done"][late] = -1 - state["done"][late]
            self._pass(again or attempt > 0)
        late = np.flatnonzero(state["done"] < 0)
        if not len(late):
            return
        if len(late) < len(tau):  # the others must not go on
            rest = self.some(late)
            rest.once(tau[late], tau_middle[late], again=True)
            self.take(late, rest)
            return
        for k in late:
            self._settle(int(k), tau[k], tau_middle[k])

    def _pass(self, again: bool) -> None:
        """One step under the forces that were put down."""
        if again not in self.single:
            kept = [np.empty_like(self.state[name])[None, None, None] for name in KEPT]
            self.single[again] = self.passes(self.pushes[0], self.pushes[1], kept, (1, 1, 1), again)
        self.single[again]()

    def take(self, which: Array, rest: "Steps") -> None:
        """The state of some rollouts that were advanced by themselves."""
        for name, x in self.state.items():
            x[which] = rest.state[name]

    def _settle(self, k: int, tau: Array, tau_middle: Array) -> None:
        """One step of one rollout in Python."""
        plan, _, optional, stops = self.machine
        laws = Laws(*(partial(function, plan.robot) for function in (mass_matrix, kinetic_energy, potential_energy)))
        body = stepping(plan.robot, laws, optional, stops.which if stops else (), (settled, settled))
        more = dict(zip(STOPS, stops.arrays, strict=True)) if stops else {}
        more |= {} if self.wrenches is None else {"wrenches": self.wrenches[k]}
        self.state["done"][k] = -1 - self.state["done"][k]
        given = {name: x[k] for name, x in self.state.items()}
        results = body(**given, tau=tau, tau_middle=tau_middle, step=np.array(plan.step), again=np.array(0.0), **more)
        for name, result in zip(STATE, results, strict=False):
            self.state[name][k] = result
        if self.state["done"][k] < 0:
            raise Error(f"simulate: the friction forces in a step of {plan.step:g} s cannot be found; use a smaller step")


def run(plan: Plan, start: Start, forces: Forces, acting: Acting, stops: Stops | None) -> Rollouts:
    """All steps of all rollouts, under forces that are known beforehand."""
    q, v = start.flat()
    made, tau = machine(plan, acting, stops), held(forces, len(q), plan.robot.n)
    kept = [np.empty((len(q), plan.samples + 1, x.shape[-1])) for x in (q, v)] + [np.zeros((len(q), plan.samples + 1, ENERGIES))]

    def rollouts(part: slice, told: Told) -> None:
        steps = Steps.start(made, q[part], v[part], None if acting.constant is None else acting.constant[part])
        own = [x[part] for x in kept]
        own[0][:, 0], own[1][:, 0] = q[part], v[part]
        step, last = 0, plan.samples * plan.every
        while step < last:
            length = max(CHUNK, min(8 * CHUNK, WORK // len(own[0])))
            count = min(last - step, length if step else 1)  # where joints begin to move, more iterations are needed
            _advance(steps, tau[part], own, 0, step, step + count)
            step += count
            if not told(count):
                return

    in_blocks(plan, len(q), rollouts)
    return _gathered(kept, sampled(plan, tau))


def _gathered(kept: list[Array], tau: Array, memory: Array | None = None) -> Rollouts:
    q, v, energies = kept
    return Rollouts(q, v, tau, memory, work=energies[..., 0], lost=energies[..., 1:])


def _advance(steps: Steps, tau: Array, kept: list[Array], origin: int, first: int, last: int) -> None:
    """From step to step; rollouts that need more iterations somewhere get them there, and go on by themselves.

    `kept` are arrays of samples (B, T, ...), the first of which is number `origin`.
    """
    every, done = steps.machine.plan.every, steps.state["done"]
    step = first
    while step < last:
        inside, sample = step % every, step // every - origin
        whole = not inside and last - step >= every
        samples, each = ((last - step) // every, every) if whole else (1, min(every - inside, last - step))
        targets = [x[:, sample + 1 : sample + 1 + samples].swapaxes(0, 1)[:, None, None] for x in kept]
        done[...] = 0.0
        force = piece(tau, each, step, samples)
        steps.passes(force, force, targets, (samples, each, 1))()
        for late in sorted({*done[done < 0].tolist()}):
            _finish(steps, np.flatnonzero(done == late), tau, kept, origin, step + int(-1 - late), step + samples * each)
        step += samples * each


def _finish(steps: Steps, which: Array, tau: Array, kept: list[Array], origin: int, step: int, last: int) -> None:
    """Rollouts that all need more iterations at one step."""
    every = steps.machine.plan.every
    part = slice(step // every - origin, -(-last // every) - origin + 1)
    rest, own = steps.some(which), [x[which, part] for x in kept]
    force = tau[which][:, step if tau.shape[1] > 1 else 0]
    rest.once(force, force, again=True)
    if (step + 1) % every == 0:
        for x, name in zip(own, KEPT, strict=True):
            x[:, 1] = rest.state[name]
    _advance(rest, tau[which], own, step // every, step + 1, last)
    steps.take(which, rest)
    for x, y in zip(kept, own, strict=True):
        x[which, part] = y


def drive(plan: Plan, start: Start, forces: Forces, acting: Acting, stops: Stops | None) -> Rollouts:
    """All steps under forces or wrenches that Python gives: twice in the middle of each step, before and after the predictor."""
    q, v = start.flat()
    control, robot = Control(start, forces), plan.robot
    pushed: Any = np.zeros((len(q), len(robot.links), 6)) if acting.function else acting.constant
    steps, h = Steps.start(machine(plan, acting, stops), q, v, pushed), plan.step
    state = steps.state
    kept: dict[str, list[Any]] = {name: [] for name in (*KEPT, "tau", "memory")}

    def asked(time: float, k: int, q: Array, v: Array, memory: Array | None) -> tuple[Array, Any]:
        given = None if memory is None else memory.copy()
        tau, rate = control(time, k, q.reshape(*start.batch, robot.nq).copy(), v.reshape(*start.batch, robot.n).copy(), given)
        return tau.reshape(v.shape), rate

    def keep(tau: Array) -> None:
        for name in KEPT:
            kept[name].append(state[name].copy())
        kept["tau"].append(tau)
        kept["memory"].append(control.memory)

    for k in range(plan.samples * plan.every):
        middle, time = integrate(robot, state["q"], h / 2 * state["v"]), (k + 0.5) * h
        acting.push(pushed, middle.reshape(*start.batch, -1))
        before, memory = {name: x.copy() for name, x in state.items()}, control.memory
        tau, rate = asked(time, k, middle, state["v"], memory)
        steps.once(tau, tau)
        predicted = state["guess"][:, 0].copy()
        for name, x in before.items():
            state[name][...] = x
        later = None if memory is None else memory + h / 2 * rate
        after, rate = asked(time, k, middle, predicted, later)
        if k % plan.every == 0:
            keep(after)
            plan.progress(k // plan.every, plan.samples)
        steps.once(tau, after)
        control.memory = None if memory is None else memory + h * rate
        if not np.isfinite(state["v"]).all(axis=-1).any():  # all have run away: asking on would only take time
            break
    keep(asked(plan.samples * plan.every * h, plan.samples * plan.every, state["q"], state["v"], control.memory)[0])
    for part in kept.values():
        part += [part[-1]] * (plan.samples + 1 - len(part))
    memories = None if control.memory is None else np.stack(kept["memory"], axis=-2).reshape(len(q), plan.samples + 1, -1)
    return _gathered([np.stack(kept[name], axis=1) for name in KEPT], np.stack(kept["tau"], axis=1), memories)
