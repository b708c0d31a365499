"""The worst states of an arm: where its motors have to give most, and where they have least left.

Positions and speeds are sampled; accelerations are not: the joint forces are affine in them, so their extremes over
|qdd_j| <= a_j are h_i +- sum_j |M_ij| a_j. Both ends of the payload are enough, since a force that is affine in the mass (and
friction that grows with the load, but by less) is largest at an end. The worst samples are then improved by a local search.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.progress import Progress
from dalembert.sizing.loads import Carrying, Parts, largest
from dalembert.sizing.local import Found, Search, refine
from dalembert.sizing.motors import MotorCurve, limits_at

CHUNK = 8192  # states at a time
STARTS = 12  # of the local searches, for each figure
FEW = 2  # of them for an envelope
NODES = 13  # speeds of the local searches for an envelope


class Case(NamedTuple):
    """What is asked: an arm, its motors, the ends of its payload, and the ranges of its states, (n,) each."""

    arm: Carrying
    curves: tuple[MotorCurve | None, ...]
    payload: tuple[float, float]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    @property
    def n(self) -> int:
        """How many joints there are."""
        return self.arm.robot.n

    @property
    def limited(self) -> bool:
        """Whether a curve is known."""
        return any(curve is not None for curve in self.curves)


class Forces(NamedTuple):
    """The least and the largest joint forces over all accelerations, (2, ..., n) each: of both ends of the payload."""

    low: Array
    high: Array

    @property
    def size(self) -> Array:
        """The largest |tau|, (2, ..., n)."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


class Worst(NamedTuple):
    """A state that is worst for a joint: its force, of `limit` what the motor can give at that speed."""

    joint: int
    q: Array
    qd: Array
    qdd: Array
    payload: float
    tau: float
    limit: float

    @property
    def margin(self) -> float:
        """How many times the force the motor could give; infinite without a force or a curve."""
        return float("inf") if self.tau == 0 else self.limit / abs(self.tau)


def forces(case: Case, qd: Array, parts: Parts) -> Forces:
    """The extremes of the joint forces at speeds (..., n), from the parts of these states."""
    arm, (h0, h1, M0, M1) = case.arm, parts
    made = [(h0 + m * h1, np.abs(M0 + m * M1) @ case.acceleration) for m in case.payload]
    return Forces(*(np.stack([arm.rubbed(qd, h + side * spread) for h, spread in made]) for side in (-1, 1)))


def burdens(case: Case, q: Array, qd: Array) -> Array:
    """The largest tau of each joint, the largest -tau, and the largest |tau| as a share of what the motors give, (..., 3 n)."""
    return _burdens(case, qd, forces(case, qd, case.arm.parts(q, qd)))


def _burdens(case: Case, qd: Array, made: Forces) -> Array:
    """The share is infinite where a motor turns too fast."""
    high, low, limit = made.high.max(axis=0), -made.low.min(axis=0), limits_at(case.curves, qd)
    share = np.where(limit > 0, np.maximum(high, low) / np.where(limit > 0, limit, 1.0), np.inf)
    return np.concatenate([high, low, share], axis=-1)


def lightness(case: Case, q: Array, qd: Array) -> Array:
    """One over the largest payload over all accelerations, (..., 1)."""
    return _lightness(case, qd, case.arm.parts(q, qd))[..., None]


def _lightness(case: Case, qd: Array, parts: Parts) -> Array:
    with np.errstate(divide="ignore"):
        return 1 / largest(parts, case.arm.allowed(case.curves, qd), case.acceleration)


def states(case: Case, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Random positions and speeds, (count, n); each speed is at an end of its range as often as within."""
    q = rng.uniform(case.lower, case.upper, (count, case.n))
    within, ends = rng.uniform(-1, 1, (count, case.n)), rng.choice([-1.0, 1.0], (count, case.n))
    return q, case.velocity * np.where(rng.random((count, case.n)) < 0.5, ends, within)


class Samples(NamedTuple):
    """What random states gave: burdens and lightness, and the least and largest forces (2, n, bins) by the joint's own speed."""

    burdens: Found
    lightness: Found
    envelope: Array


def search(case: Case, samples: int, bins: int, tell: Progress) -> Samples:
    """The worst of random states."""
    rng, empty = np.random.default_rng(0), np.full((case.n, bins), np.inf)
    middle = np.concatenate([(case.lower + case.upper) / 2, np.zeros(case.n)])
    found = Samples(Found.none(STARTS, 3 * case.n, middle), Found.none(STARTS, 1, middle), np.stack([empty, -empty]))
    many = min(CHUNK, -(-samples // STARTS))
    for part, done in enumerate(range(0, samples, many)):
        q, qd = states(case, rng, min(many, samples - done))
        parts, start = case.arm.parts(q, qd), part % STARTS
        made = forces(case, qd, parts)
        _widen(found.envelope, case.velocity, qd, made)
        found.burdens.add(start, _burdens(case, qd, made), np.concatenate([q, qd], axis=-1))
        if case.limited:
            least = 1 / max(float(found.lightness.values[start, 0]), 1e-300)
            few = _too_heavy(case, qd, parts, least)
            if few.any():
                light = _lightness(case, qd[few], Parts(*(x[few] for x in parts)))
                found.lightness.add(start, light[:, None], np.concatenate([q, qd], axis=-1)[few])
        tell(done, samples)
    return found


def refined(case: Case, found: Samples) -> tuple[Found, Found]:
    """The worst burdens and the least payload, by local searches."""
    heavy = refine(_search(case, burdens, 3 * case.n), found.burdens)
    return heavy, refine(_search(case, lightness, 1), found.lightness) if case.limited else found.lightness


def _search(case: Case, figures: Callable[[Case, Array, Array], Array], k: int) -> Search:
    low, high = (np.tile(x, (k, 1)) for x in _ends(case))
    return Search(lambda at: figures(case, at[..., : case.n], at[..., case.n :]), np.arange(k), low, high)


def _ends(case: Case) -> tuple[Array, Array]:
    """Of the ranges of states, (2 n,) each."""
    return np.concatenate([case.lower, -case.velocity]), np.concatenate([case.upper, case.velocity])


def _too_heavy(case: Case, qd: Array, parts: Parts, mass: float) -> Array:
    """Where a mass is too much, or the arm alone, (...,): only there the largest payload can be less."""
    if mass > 1e6:  # nothing is known yet
        return np.ones(qd.shape[:-1], dtype=bool)
    made = forces(case._replace(payload=(0.0, mass)), qd, parts)
    return (made.size.max(axis=0) > limits_at(case.curves, qd)).any(axis=-1)


def _widen(envelope: Array, speed: Array, qd: Array, made: Forces) -> None:
    """Add forces (2, count, n) to an envelope (2, n, bins) of speeds from -speed to speed."""
    bins = envelope.shape[-1]
    for j in range(len(speed)):
        k = bin_of(qd[:, j], -speed[j], speed[j], bins)
        np.minimum.at(envelope[0, j], k, made.low[..., j].min(axis=0))
        np.maximum.at(envelope[1, j], k, made.high[..., j].max(axis=0))


def enveloped(case: Case, sampled: Array, heavy: Found) -> Array:
    """The envelope (2, n, bins) of samples, widened by local searches at some speeds of each joint, from its worst states."""
    n, wider, bins = case.n, sampled.copy(), sampled.shape[-1]
    order = np.argsort(-heavy.values[:, : 2 * n], axis=0)[:FEW]
    seeds = np.take_along_axis(heavy.at[:, : 2 * n], order[..., None], axis=0)
    seeds = np.concatenate([seeds, seeds * np.repeat([1.0, -1.0], n)])  # without friction, the other way round is the same
    which, own = np.repeat(np.arange(2 * n), NODES), np.tile(np.arange(NODES), 2 * n)
    low, high = (np.tile(x, (2 * n * NODES, 1)) for x in _ends(case))
    rows, columns = np.arange(len(which)), n + which % n
    low[rows, columns] = high[rows, columns] = (2 * own / (NODES - 1) - 1) * case.velocity[which % n]
    at = np.repeat(seeds, NODES, axis=1)
    at[:, rows, columns] = low[rows, columns]
    search = _search(case, burdens, 3 * n)._replace(which=which, low=low, high=high)
    found = refine(search, Found(np.full(at.shape[:2], -np.inf), at), whole=6, rounds=25)
    through = (2 * np.arange(bins) + 1) / bins - 1
    for j in range(n):
        tried = np.repeat(found.at[:, which % n == j].reshape(-1, 1, 2 * n), bins, axis=1)
        tried[..., n + j] = through * case.velocity[j]
        q, qd = np.split(tried, 2, axis=-1)
        made = forces(case, qd, case.arm.parts(q, qd))
        wider[0, j] = np.minimum(wider[0, j], made.low[..., j].min(axis=(0, 1)))
        wider[1, j] = np.maximum(wider[1, j], made.high[..., j].max(axis=(0, 1)))
    return wider


def bin_of(x: Array, low: float, high: float, bins: int) -> Array:
    """In which of the bins from low to high values are; those beyond are in the last ones."""
    wide = high - low
    return np.clip((x - low) * (bins / wide if wide > 0 else 0.0), 0, bins - 1).astype(int)


def worst_of(case: Case, joint: int, at: Array) -> Worst:
    """The state of a joint's largest force at a position and speeds (2 n,): accelerations are at the ends of their ranges."""
    q, qd = np.split(at, 2)
    parts = case.arm.parts(q, qd)
    made = forces(case, qd, parts)
    end = int(made.size[:, joint].argmax())
    up, down = float(made.high[end, joint]), float(made.low[end, joint])
    side, payload = 1.0 if abs(up) >= abs(down) else -1.0, case.payload[end]
    row = (parts.M0 + payload * parts.M1)[joint]
    qdd = side * np.where(row < 0, -1.0, 1.0) * case.acceleration
    limit = float(limits_at(case.curves, qd)[joint])
    return Worst(joint, q, qd, qdd, payload, up if side > 0 else down, limit)
