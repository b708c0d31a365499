"""One step of Moreau's time stepping: velocities and impulses, friction as a set, and stops. Second order in time.

    q_m = q + h/2 v,   M = M(q_m)                                      one mass matrix
    predictor   (M + h/2 T D) v_m + r = M v + h/2 (tau - bias(q_m, v) - (1 - T) D v)
                r_i = h/2 c_i sign(v_i) where the joint moves, anything between -+ h/2 c_i where it stands
    a = (v_m - v) / (h/2),   s_i: when in the step a joint that slows down comes to rest, from 0 to 1
    corrector   (M + h T D) v' + r = M v + h (tau - bias(q_m, v_m) - (1 - T) D v)
                v_i > 0:  r_i = h c_i where v'_i > 0,  h c_i (2 s_i - 1) where v'_i < 0,  between them where v'_i = 0
                v_i < 0:  mirrored;   v_i = 0:  r_i = +-h c_i, or between;   and what stops add
    q' = q + h/2 (v + v')

With s_i = 0 this is the scheme of Moreau and Jean, which is of first order as soon as a joint turns round. The damping D is shared
by the ends of the step as T_i = 1/2 + x/(2 (x + 6)) with x = h D_i (M^-1)_ii: order 2, and stiff damping does not ring. Levels c_i
that depend on speed or load are those of v for the predictor, and of v_m for the corrector.

A stop that the motion under a would meet at the time s h bounds v'_i: the joint arrives with v_i + s h a_i, leaves with -e times
that, and has the rest of the step under a_i. What would come back within the step stays, so that bouncing ends without a threshold.
Velocities jump in such a step, which makes its errors of first order; where they would add energy, v' is made shorter.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.scalars import sqrt, where
from dalembert.algebra.spatial import dot, stack
from dalembert.derived.charts import at_home, position_rate, positions_of
from dalembert.derived.joints import FrictionLaw, friction_law
from dalembert.derived.make import Body, Make
from dalembert.derived.sticking import (
    FREE,
    NEAR,
    Reaction,
    Solution,
    Stop,
    bias,
    holding,
    inverse_diagonal,
    levels,
    limits_of,
    newton,
)
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import OUTSIDE, TAU
from dalembert.model.model import Model
from dalembert.trace.replay import replay

ENERGIES = 3  # the work of joint forces, and what friction and stops have taken
ITERATIONS = 2, 3  # of predictor and corrector: all but one step in 50,000 of moving arms need no more
AT_STOPS = 3, 5  # where there are stops


class Laws(NamedTuple):
    """Of a robot, as functions: M(q), kinetic energy of (q, v), potential energy of q."""

    mass: Callable[[Any], Any]
    kinetic: Callable[[Any, Any], Any]
    potential: Callable[[Any], Any]


class Stopping(NamedTuple):
    """A stop of one joint: the bound of its velocity after the step, and when in the step it is met, from 0 to 1."""

    stop: Stop
    when: Any
    limit: Any


Solver = Callable[[Any, Any, Any, Any, Sequence[Reaction]], Solution]  # (A, b, z, gamma, reactions), as in `newton`


def _step(
    model: Model,
    make: Make,
    method: str,
    optional: tuple[str, ...],
    *,
    iterations: tuple[int, int],
    stops: tuple[tuple[int, int], ...],
) -> Body:
    mass, kinetic, potential = (make(name) for name in ("mass_matrix", "kinetic_energy", "potential_energy"))
    laws = Laws(
        lambda q: replay(mass, {"q": q}),
        lambda q, v: replay(kinetic, {"q": q, "qd": v})[()],
        lambda q: replay(potential, {"q": q})[()],
    )
    solvers = [partial(newton, iterations=count) for count in iterations]
    return stepping(model, laws, optional, stops, solvers)


def stepping(
    model: Model,
    laws: Laws,
    optional: tuple[str, ...],
    stops: tuple[tuple[int, int], ...],
    solvers: Sequence[Solver],
    forces: Callable[..., Any] | None = None,
) -> Body:
    """The state after one step, where Newton's iterations for v_m and v' ended, and the state once more, to keep.

    The predictor begins with the guess that what moves goes on and what stands stays, the corrector with what the predictor has
    found; with `again` = 1 both begin at `guess`. `done` counts steps. Where the iterations were too few the state stays as it
    was, from then on, and done becomes -1 - (steps done). `tau` acts in the predictor, `tau_middle` in the corrector. `forces` are
    C qd + g as a function of q and qd, those of the model by default.
    """
    n, law = model.n, friction_law(model)
    forces = forces or bias(model, tuple(name for name in optional if name == "wrenches"))

    def body(
        q: Any, v: Any, energies: Any, done: Any, guess: Any, tau: Any, tau_middle: Any, step: Any, again: Any, **more: Any
    ) -> Any:
        h, done, again = step[()], done[()], again[()]
        limits = limits_of(stops, n, more)
        wrenches = {"wrenches": more["wrenches"]} if "wrenches" in more else {}
        either = lambda a, b: stack([where(again, x, y) for x, y in zip(a, b, strict=True)])  # noqa: E731
        m = _middle(model, laws, forces, wrenches, q, v, h)
        places = at_home(model, q) if model.runs else q  # of joints that may have stops

        reactions = holding(law, h / 2, tau, places, v, limits)
        first = m.solve(h / 2, tau, v, either(guess[0], v), either(m.gamma, 0 * v), reactions, solvers[0])
        a = 2 / h * (first.v - v)

        up, down = levels(law, tau_middle - law.damping * first.v - law.friction_offset, first.v)
        met = [
            [_met(side, limit, places[i], v[i], a[i], h, more["restitution"][()]) for side, limit in limits[i]] for i in range(n)
        ]
        reactions = [_turning(v[i], a[i], h, up[i], down[i]) if law.sticks[i] else FREE for i in range(n)]
        reactions = [r._replace(stops=[s.stop for s in some]) for r, some in zip(reactions, met, strict=True)]
        last = m.solve(h, tau_middle, first.v, either(guess[1], 2 * first.v - v), m.gamma, reactions, solvers[1])

        moved = _moved(model, m, last, reactions, a, met)
        rubbed = dot(h * (m.damped(last.v) + law.friction_offset) + last.r - stack(moved.beyond), (v + last.v) / 2)
        after, stopped = last.v, 0 * h
        if stops:
            push = tau_middle - (forces(m.at, first.v, **wrenches) - forces(m.at, first.v) if wrenches else 0)
            after, stopped = _struck(m, laws, push, rubbed, last.v, moved)
        used = stack([dot(tau_middle, moved.by), rubbed, stopped])
        alive = done + 0.5
        fine = where(first.excess, -1, where(last.excess, -1, alive))
        q, v, energies = (
            stack([where(fine, after, before) for after, before in zip(afters, befores, strict=True)])
            for afters, befores in ((moved.q, q), (after, v), (energies + used, energies))
        )
        done = where(fine, done + 1, where(alive, -1 - done, done))
        return q, v, energies, done, np.stack([first.v, last.v]), q, v, energies

    return body


class Middle(NamedTuple):
    """What predictor and corrector share: the start of the step, the positions in its middle, and M there."""

    q: Any
    v: Any
    h: Any
    at: Any
    M: Any
    gamma: Any
    theta: Any
    law: FrictionLaw
    forces: Callable[[Any], Any]

    def solve(self, share: Any, push: Any, speed: Any, start: Any, weight: Any, reactions: Any, solver: Solver) -> Solution:
        """Velocities under joint forces for a share of the step, with bias forces at this speed."""
        law, M, theta = self.law, self.M, self.theta
        force = push - law.friction_offset - self.forces(speed)
        A = M + np.diag(share * theta * law.damping) if law.damping.any() else M
        b = M @ self.v + share * (force - (1 - theta) * law.damping * self.v)
        return solver(A, b, start + weight * (b - A @ start), self.gamma, reactions)

    def damped(self, after: Any) -> Any:
        """The force of damping over the step."""
        return self.law.damping * (self.theta * after + (1 - self.theta) * self.v) if self.law.damping.any() else 0 * self.v


def _middle(model: Model, laws: Laws, forces: Any, wrenches: dict[str, Any], q: Any, v: Any, h: Any) -> Middle:
    law, at = friction_law(model), q + position_rate(model, q, h / 2 * v)
    M = laws.mass(at)
    gamma = inverse_diagonal(model, M)
    x = h * law.damping * gamma
    theta = stack([1 - 3 / (y + 6) if d else 0.5 for y, d in zip(x, law.damping, strict=True)])  # 1/2 + x/(2 (x + 6))
    return Middle(q, v, h, at, M, gamma, theta, law, lambda speed: forces(at, speed, **wrenches))


class Moved(NamedTuple):
    """Positions after the step, what joints moved by, the impulses of stops, and whether (above 0) one was struck."""

    q: Any
    by: Any
    beyond: Sequence[Any]
    struck: Any


def _moved(
    model: Model, m: Middle, last: Solution, reactions: Sequence[Reaction], a: Any, met: Sequence[Sequence[Stopping]]
) -> Moved:
    beyond = [_beyond(r, v, reaction) for r, v, reaction in zip(last.r, last.v, reactions, strict=True)]
    share, struck = _earliest(m.v, beyond, met) if any(met) else (0.5, 0)
    by = m.h * (share * m.v + (1 - share) * last.v)
    new = m.q + position_rate(model, m.at, by)  # balls and free bodies: by the midpoint rule
    indices = positions_of(model)
    kept = {indices[i]: _kept(new[indices[i]], last.v[i], beyond[i], a[i], m.h, some) for i, some in enumerate(met) if some}
    new = stack([kept.get(k, x) for k, x in enumerate(new)])
    went = {i: new[k] - m.q[k] for i, k in indices.items()}
    return Moved(new, stack([went.get(i, x) for i, x in enumerate(by)]), beyond, struck)


def _struck(m: Middle, laws: Laws, push: Any, rubbed: Any, v: Any, moved: Moved) -> tuple[Any, Any]:
    """Velocities with no more energy than there was, less what friction took; and what stops took."""
    most = laws.kinetic(m.q, m.v) + laws.potential(m.q) - laws.potential(moved.q) + dot(push, moved.by) - rubbed
    kinetic = laws.kinetic(moved.q, v)
    excess = where(moved.struck, kinetic - most, 0)
    most = where(most, most, 0)
    share = where(excess, most / where(kinetic, kinetic, 1), 1)
    return sqrt(share) * v, where(moved.struck, most - share * kinetic, dot(stack(moved.beyond), (m.v + v) / 2))


def _turning(v: Any, a: Any, h: Any, up: Any, down: Any) -> Reaction:
    """The impulses of friction in a step, in a part s of which the joint goes on as before, if it turns round at all.

    Where the predictor has it go on, s = 1/2: should another joint that comes to rest send it back, friction gives no energy.
    """
    speed, lost = where(v, v, -v), where(v, -a, where(-v, a, 0)) * h
    turns = lost - speed
    s = where(turns, speed / where(turns, lost, 1), 0.5)
    return Reaction(h * where(-v, (1 - s) * up - s * down, up), h * where(v, (1 - s) * down - s * up, down))


def _met(side: int, limit: Any, q: Any, v: Any, a: Any, h: Any, restitution: Any) -> Stopping:
    """A stop that the joint meets if it goes on with the acceleration a."""
    speed, rate, gap = side * v, side * a, side * (limit - q)
    on = h * speed + h * h / 2 * rate - gap + NEAR * (1 + where(limit, limit, -limit))
    gap = where(gap, gap, 0)
    square = speed * speed + 2 * rate * gap
    both = speed + sqrt(where(square, square, 0))
    when = where(gap, where(both, 2 * gap / (h * where(both, both, 1)), 0), 0)
    when = where(1 - when, when, 1)
    arrives = speed + when * h * rate
    leaves = (1 - when) * h * rate - restitution * where(arrives, arrives, 0)
    return Stopping(Stop(side, on, side * where(-leaves, leaves, 0)), when, limit)


def _beyond(r: Any, after: Any, reaction: Reaction) -> Any:
    """What a stop adds to friction's impulse r; friction has the largest part that it can have."""
    up, down = (0, 0) if reaction.up is None else (reaction.up, reaction.down)
    found: Any = 0
    for side, on, bound in reaction.stops:
        more, off = (r - up if side > 0 else r + down), after - bound
        pressed = where(off, 0, where(-off, 0, on))  # where a stop acts, the velocity is the bound, exactly
        found = where(pressed, where(side * more - 1e-9 * where(up, up, 0), more, found), found)
    return found


def _earliest(v: Any, beyond: Sequence[Any], met: Sequence[Sequence[Stopping]]) -> Any:
    """The share of v in the mean velocity of a step: 1/2, or until a joint first strikes its stop; and whether one did."""
    first: Any = 2
    for i, some in enumerate(met):
        for (side, on, _), when, _ in some:
            moves = where(v[i], 1, where(-v[i], 1, 0))  # away from it, too: what comes back within the step strikes it
            struck = where(on, where(side * beyond[i], moves, 0), 0)
            when = where(struck, when, 2)
            first = where(first - when, when, first)
    return where(1.5 - first, first, 0.5), 1.5 - first


def _kept(new: Any, after: Any, beyond: Any, a: Any, h: Any, met: Sequence[Stopping]) -> Any:
    """The position of a joint with stops: on the one that it presses against, and never beyond one."""
    still = where(after, 0, where(-after, 0, 1))
    for (side, _, _), when, limit in met:
        rest = (1 - when) * h
        pressed = where(side * beyond, 1, 0)
        left = limit + rest * (after - rest / 2 * a)  # the parabola on which it leaves a stop that it has struck
        new = where(pressed, where(still, limit, left), new)
    for (side, _, _), _, limit in met:  # after all of them: what leaves one stop may reach the other within the step
        new = where(side * (new - limit), limit, new)
    return new


_N = ("n",)
STATE = {
    "q": Values(("q",), "rad or m"),
    "v": Values(_N, "rad/s or m/s"),
    "energies": Values((ENERGIES,), "J"),
    "done": Values((), "1"),
    "guess": Values((2, "n"), "rad/s or m/s"),
}
KEPT = ("q", "v", "energies")
STOPS = {"lower": Values(_N, "rad or m"), "upper": Values(_N, "rad or m"), "restitution": Values((), "1")}
STEP = Quantity(
    "moreau_step",
    "One step of Moreau's time stepping, with joints that stick and stop.",
    {**STATE, **TAU, "tau_middle": TAU["tau"], "step": Values((), "s"), "again": Values((), "1")},
    {
        **{f"new_{name}": values for name, values in STATE.items()},
        **{f"kept_{name}": STATE[name] for name in KEPT},
    },
    "time_stepping",
    optional={"wrenches": OUTSIDE["wrenches"], **STOPS},
    options={"iterations": ITERATIONS, "stops": ()},
    recipe=_step,
    recipes=("time_stepping",),
    orders={"time_stepping": 3},
    coupled=_step,
    coupled_methods=("time_stepping",),
)
