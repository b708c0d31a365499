"""Limits of a motion: what they are, where a motion comes nearest to them, and the least cost within them.

Limits hold at all times, not only at some points: wherever a motion that was found goes beyond one, the peak becomes a constraint,
and the search goes on. SLSQP solves for the constraints at hand, in the coordinates of the Gauss-Newton metric. Where friction
jumps, each side of a limit sees a smooth bound of it; `Bounded.jumped` looks at the limits with friction as it is.
"""

from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error, optional
from dalembert.model.limits import ENDS, SIDED, limits_of
from dalembert.model.model import Model
from dalembert.planning.costs import EXACT
from dalembert.planning.effort import Coordinates, EffortProblem, Tell
from dalembert.planning.transcription import Grid, rates

WORDS = ("a position", "a velocity", "an acceleration", "a force")
MARGIN = 2e-6  # of a limit: constraints are at least so much inside
KEPT = 1e-6  # and peaks so much, which leaves room for what lies between the instants that were looked at
SMALL = 1e-4  # of a limit: where no peak is farther beyond, constraints move inside by twice as much, and that settles it
FINE = 16  # instants looked at in each interval
COARSE = 2  # of them that may be constraints from the start
NEAR = 0.25  # of a limit: instants nearer to it are
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0, 1e4)
LOST = 0.1  # of a limit: where SLSQP ends farther beyond its own constraints, it has failed
FAR = 0.1  # of a limit: constraints with more room are left out of the next round
MOVED = 0.02  # of a limit: where a motion goes farther beyond one, it has moved, and instants are looked for anew
LEASH = 10.0  # of the penalty for going beyond limits at instants that are no constraints yet,
MILD = 0.5  # which the search can do without where the motion it begins with is less than this part of a limit beyond it
BESIDE = 1e-5  # of the duration: how far before and behind a jump of friction one looks
ROUNDS = 20
ITERATIONS = 100
BOTH_ENDS = np.array([0.0, 1.0])  # of the duration


class MotionLimits(NamedTuple):
    """Lowest and highest values of q, qd, qdd and tau, (4, n), infinite where there is no limit, and what they are relative to."""

    low: Array
    high: Array
    size: Array

    def slack(self, values: Array) -> Array:
        """(2, 4, K, n): how far q, qd, qdd and tau (4, K, n), or those of each side (2, 4, K, n), are inside; else negative."""
        low, high, size = (x[:, None, :] for x in self)
        least, most = values if values.ndim == 4 else (values, values)
        return np.stack([least - low, high - most]) / size


def motion_limits(robot: Model, given: Any) -> MotionLimits | None:
    """The robot's own limits with those that are given by name; None where there are none."""
    if given is None or given is False:
        return None
    found = limits_of(robot, given)
    low, high = (np.stack([found[end], *(found[name][k] for name in SIDED)]) for k, end in enumerate(ENDS))
    wide = (high - low) / 2
    size = np.where(np.isfinite(wide), wide, np.minimum(np.abs(low), np.abs(high)))
    limits = MotionLimits(low, high, np.where(np.isfinite(size) & (size > 0), size, 1.0))
    return limits if np.isfinite(low).any() or np.isfinite(high).any() else None


class LimitRows(NamedTuple):
    """Constraints, (k,) each: the side (0: low, 1: high), the kind (q, qd, qdd, tau), the share of the duration, and the joint."""

    side: Array
    kind: Array
    at: Array
    joint: Array


class Bounded:
    """The motions of a problem within limits."""

    def __init__(self, problem: EffortProblem, limits: MotionLimits, shift: float = 0.0) -> None:
        """The shift is that of friction that jumps: with one, each side of the limits sees a bound of it."""
        self.problem, self.limits, self.shifts = problem, limits, (0.0,)
        more = np.maximum(2 * MARGIN - self._nearest_of_what_is_fixed(), 0.0)
        # a hair wider where a given state or position lies on a limit: no motion could keep a margin there
        self.touched = more > 0
        self.limits = limits._replace(low=limits.low - more[0] * limits.size, high=limits.high + more[1] * limits.size)
        if problem.jumps and shift:
            self.shifts = -shift, shift
        count = problem.motions.intervals * FINE
        self.rough = problem.motions.at(np.arange(count // 4 + 1) * 4 / count)
        self.fine = problem.motions.at(np.arange(count + 1) / count)

    def _fixed(self, shares: Array) -> Array:
        """The slacks (2, 4, k, n) at some instants of one of the motions, for what all of them have in common there."""
        motions = self.problem.motions
        z = np.zeros((motions.free.shape[1], self.problem.robot.n))
        return self.limits.slack(self.values(motions.at(shares), z, 1.0))

    def _nearest_of_what_is_fixed(self) -> Array:
        """The least slacks (2, 4, n) of the states at both ends and of the positions on the way."""
        nearest = self._fixed(BOTH_ENDS).min(axis=2)
        on_the_way = self._fixed(self.problem.motions.shares)[:, 0].min(axis=1, initial=np.inf)
        nearest[:, 0] = np.minimum(nearest[:, 0], on_the_way)
        return nearest

    def holds_ends(self) -> bool:
        """Whether limits hold in the states at both ends, with the bounds of friction."""
        return bool((self._fixed(BOTH_ENDS) > -KEPT).all())

    def values(self, grid: Grid, z: Array, T: float) -> Array:
        """q, qd, qdd and tau, (4, K, n); of each side (2, 4, K, n) where friction jumps."""
        motion, problem = grid.motion(z, T), self.problem
        both = [np.concatenate([motion, problem.slopes(*motion, problem.slip, shift)[0][None]]) for shift in self.shifts]
        return both[0] if len(both) == 1 else np.array(both)

    def forces(self, motion: Array) -> tuple[Array, Array]:
        """tau of each side (2, K, n), and the derivatives (2, 3, K, n, n)."""
        both = [self.problem.forces(motion, shift) for shift in self.shifts]
        tau, slopes = (np.array(x) for x in zip(both[0], both[-1], strict=True))
        return tau, slopes

    def jumped(self, z: Array, T: float, below: float) -> tuple[LimitRows, Array]:
        """The instants at which slacks with friction as it is are below a number, also right beside its jumps."""
        if not self.problem.jumps:
            return LimitRows(*np.zeros((4, 0), dtype=int)), np.zeros(0)
        grid = self.problem.motions.at(np.union1d(self.fine.at, self._beside_jumps(z, T)))
        tau = self.problem.slopes(*grid.motion(z, T), EXACT, 0.0)[0]
        s = self.limits.slack(np.broadcast_to(tau, (4, *tau.shape)))[:, 3:]
        side, _, k, joint = np.nonzero(s < below)
        return LimitRows(side, np.full_like(side, 3), grid.at[k], joint), s[s < below]

    def _beside_jumps(self, z: Array, T: float) -> Array:
        """Shares of the duration right before and behind the zeros of velocities."""
        at, v = self.fine.at, self.fine.motion(z, T)[1]
        k, joint = np.nonzero(v[:-1] * v[1:] < 0)
        a, b, k_zero = at[k], at[k + 1], np.arange(len(k))
        for _ in range(30):  # halved until they are known to rounding
            middle = (a + b) / 2
            same = self.problem.motions.at(middle).motion(z, T)[1][k_zero, joint] * v[k, joint] > 0
            a, b = np.where(same, middle, a), np.where(same, b, middle)
        return np.clip(np.concatenate([a - BESIDE, b + BESIDE, [10 * BESIDE, 1 - 10 * BESIDE]]), 0.0, 1.0)

    def peaks(self, z: Array, T: float, below: float) -> tuple[LimitRows, Array]:
        """Where slacks are least, among their neighbours, and below a number; each on a parabola through three, and once more."""
        s = self.limits.slack(self.values(self.fine, z, T))
        before, after = np.roll(s, 1, axis=2), np.roll(s, -1, axis=2)
        before[:, :, 0], after[:, :, -1] = np.inf, np.inf
        found = np.nonzero((s < below + 0.01) & (s <= before) & (s < after))
        side, kind, k, joint = found
        h = 1 / (len(self.fine.at) - 1)
        rows = LimitRows(side, kind, h * (k + _lowest(before[found], s[found], after[found])), joint)
        h /= 16
        near = [self.slack_of(rows._replace(at=np.clip(rows.at + d, 0.0, 1.0)), z, T) for d in (-h, 0.0, h)]
        rows = rows._replace(at=np.clip(rows.at + h * _lowest(*near), 0.0, 1.0))
        least = self.slack_of(rows, z, T)
        there = least < below
        return LimitRows(*(x[there] for x in rows)), least[there]

    def slack_of(self, rows: LimitRows, z: Array, T: float) -> Array:
        """The slacks (k,) of constraints."""
        shares, place = np.unique(rows.at, return_inverse=True)
        s = self.limits.slack(self.values(self.problem.motions.at(shares), z, T))
        return s[rows.side, rows.kind, place, rows.joint]

    def first(self, z: Array, T: float) -> LimitRows:
        """Constraints to begin with: at instants where the free optimum is near a limit of a joint, or beyond it."""
        s = self.limits.slack(self.values(self.fine, z, T))[:, :, :: FINE // COARSE]
        s[:, :, [0, -1]] = np.inf  # the ends are fixed
        side, kind, k, joint = np.nonzero(s < NEAR)
        return LimitRows(side, kind, self.fine.at[:: FINE // COARSE][k], joint)


def _lowest(a: Array, b: Array, c: Array) -> Array:
    """Where the parabola through values at -1, 0 and 1 is lowest, within them; 0 at an end, where one of them is infinite."""
    bend = a - 2 * b + c
    inner = np.isfinite(bend) & (bend > 0)
    return np.where(inner, np.clip(0.5 * np.where(inner, a - c, 0.0) / np.where(inner, bend, 1.0), -1.0, 1.0), 0.0)


class Constraints:
    """The slacks of some constraints beyond a margin, and their derivatives, as functions of x."""

    def __init__(self, bounded: Bounded, rows: LimitRows, x: Coordinates, margin: float = MARGIN) -> None:
        self.margin = np.where(bounded.touched[rows.side, rows.kind, rows.joint], MARGIN, margin)
        self.bounded, self.x, self.side, self.kind, self.joint = bounded, x, rows.side, rows.kind, rows.joint
        shares, self.place = np.unique(rows.at, return_inverse=True)
        self.grid = bounded.problem.motions.at(shares)
        self.factor = np.where(rows.side == 0, 1.0, -1.0) / bounded.limits.size[rows.kind, rows.joint]

    def slack(self, x: Array) -> Array:
        """(k,)."""
        values = self.bounded.values(self.grid, *self.x.at(x))
        return self.bounded.limits.slack(values)[self.side, self.kind, self.place, self.joint] - self.margin

    def slopes(self, x: Array) -> Array:
        """(k, x)."""
        z, T = self.x.at(x)
        motion, (n, k) = self.grid.motion(z, T), (z.shape[1], len(self.kind))
        D = np.moveaxis(self.bounded.forces(motion)[1], 0, 1)
        # how the value of each row depends on q, qd and qdd of all joints there, (3, k, n)
        through = np.zeros((3, k, n))
        plain = self.kind < 3
        through[self.kind[plain], np.flatnonzero(plain), self.joint[plain]] = 1.0
        through[:, ~plain] = D[:, self.side[~plain], self.place[~plain], self.joint[~plain]]
        through *= self.factor[:, None]
        by_z = np.einsum("akf,akn->kfn", self.grid.free[:, self.place] * rates(T), through)
        by_duration = (through * self.grid.by_duration(motion, T)[:, self.place]).sum(axis=(0, 2))
        return self.x.pulled(by_z, by_duration, T)


class Penalty:
    """The cost with a penalty for the squares of what exceeds a limit, at instants of a grid, and its gradient."""

    def __init__(self, bounded: Bounded, x: Coordinates, weight: float) -> None:
        self.bounded, self.x, self.weight = bounded, x, weight
        self.grid = bounded.rough

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Relative to the cost at the start, as that of the coordinates."""
        cost, gradient = self.x.cost(x)
        (z, T), limits = self.x.at(x), self.bounded.limits
        motion = self.grid.motion(z, T)
        tau, D = self.bounded.forces(motion)
        beyond = np.maximum(-limits.slack(np.array([[*motion, x] for x in tau])), 0.0)
        by_value = self.weight * np.stack([-beyond[0], beyond[1]]) / limits.size[:, None, :]
        by_motion = by_value[:, :3].sum(axis=0) + np.vecmat(by_value[:, None, 3], D).sum(axis=0)
        by_duration = (by_motion * self.grid.by_duration(motion, T)).sum()
        gradient = gradient + self.x.pulled(self.grid.pulled(by_motion, T), by_duration, T)
        return cost + 0.5 * self.weight * float((beyond**2).sum()), gradient


Durations = tuple[float, float]


def within(
    problem: EffortProblem, limits: MotionLimits, z: Array, T: float, durations: Durations, tell: Tell, shift: float = 0.0
) -> tuple[Array, float]:
    """The motion of least cost near a given one, which is best without limits, that keeps all limits at all times.

    Where SLSQP does not find it from there, penalties bring that motion, or else the smoothest one, near the limits first.
    """
    bounded = Bounded(problem, limits, shift)
    least = bounded.peaks(z, T, KEPT)[1]
    if not len(least):
        return z, T
    x = Coordinates(problem, z, T, durations).curved()
    aim = x.cost if least.min() > -MILD else Penalty(bounded, x, LEASH)
    if (found := _solved(bounded, x, x.start, aim, tell)) is not None:
        return x.at(found)
    for begin in (x, Coordinates(problem, problem.motions.smoothest(T), T, durations)):
        near = _penalized(bounded, begin, tell)
        if (found := _solved(bounded, begin, near, Penalty(bounded, begin, LEASH), tell)) is not None:
            return begin.at(found)
    raise impossible(problem.robot, limits, bounded, *begin.at(near))


def _solved(bounded: Bounded, x: Coordinates, at: Array, aim: Any, tell: Tell) -> Array | None:
    """By SLSQP, round by round, until no peak is beyond a limit; None where it does not get there."""
    minimize, margin = optional("scipy.optimize").minimize, MARGIN
    rows = _joined(bounded.first(*x.at(at)), bounded.peaks(*x.at(at), KEPT)[0])
    for _ in range(ROUNDS):
        held = Constraints(bounded, rows, x, margin)
        solved = minimize(
            aim, at, jac=True, method="SLSQP", bounds=x.bounds if x.free_duration else None, callback=lambda _: tell(),
            constraints={"type": "ineq", "fun": held.slack, "jac": held.slopes}, options={"maxiter": ITERATIONS, "ftol": 1e-7},
        )  # fmt: skip
        at = solved.x
        if not (np.isfinite(at).all() and held.slack(at).min() > -LOST):
            return None
        found, least = bounded.peaks(*x.at(at), KEPT)
        if not len(least):
            found, least = bounded.jumped(*x.at(at), KEPT)
            if not len(least) or least.min() < -SMALL:
                return at  # the caller looks at jumps that matter
        near = held.slack(at) < FAR
        elsewhere = [bounded.first(*x.at(at))] if least.min() < -MOVED else []
        rows = _joined(LimitRows(*(x[near] for x in rows)), found, *elsewhere)
        margin += 2 * float(-least.min()) if -least.min() < SMALL else 0.0
    return None


def _penalized(bounded: Bounded, x: Coordinates, tell: Tell) -> Array:
    """The motion that exceeds limits least, or nearly so: penalties grow, each begun with what the last one found."""
    minimize, at = optional("scipy.optimize").minimize, x.start
    for weight in PENALTIES:
        options = {"maxiter": ITERATIONS, "maxcor": 30, "ftol": 1e-6, "gtol": 1e-5}
        penalty = Penalty(bounded, x, weight)
        at = minimize(penalty, at, jac=True, method="L-BFGS-B", bounds=x.bounds, options=options, callback=lambda _: tell()).x
    return at


def _joined(*some: LimitRows) -> LimitRows:
    """All of them, each once."""
    all_ = np.unique(np.concatenate([np.stack(rows, axis=1) for rows in some]), axis=0)
    return LimitRows(all_[:, 0].astype(int), all_[:, 1].astype(int), all_[:, 2], all_[:, 3].astype(int))


def impossible(robot: Model, limits: MotionLimits, bounded: Bounded, z: Array, T: float) -> Error:
    """The error of a motion that cannot keep its limits: the one that it exceeds most."""
    rows, least = bounded.peaks(z, T, KEPT)
    worst = int(np.argmin(least))
    side, kind, joint = rows.side[worst], rows.kind[worst], rows.joint[worst]
    limit = (limits.low, limits.high)[side][kind, joint]
    value = limit + (1, -1)[side] * least[worst] * limits.size[kind, joint]
    when = f"at t = {rows.at[worst] * T:.4g} s of the nearest motion"
    about = "has", "allow more time, or wider limits, also of other joints"
    return exceeding(robot, int(kind), int(joint), float(value), float(limit), when, *about)


def exceeding(robot: Model, kind: int, joint: int, value: float, limit: float, when: str, verb: str, advice: str) -> Error:
    """The error of a limit that cannot be kept."""
    which = robot.joints[joint]
    what = "a torque" if kind == 3 and which.force_unit == "N m" else WORDS[kind]
    unit = which.force_unit if kind == 3 else which.unit + ("", "/s", "/s^2")[kind]
    return Error(
        f"least_effort: no motion within the limits was found: joint {robot.joint_names[joint]!r} {verb} {what} of "
        f"{value:.4g} {unit} {when}, beyond its limit of {limit:.4g}; {advice}"
    )
