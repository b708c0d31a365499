"""What is doubtful in a simulated motion, and why: numbers that are not finite, limits passed, energy out of balance."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.joints import friction_law
from dalembert.errors import AccuracyWarning, Error, LimitWarning, SingularWarning, warn
from dalembert.model.model import Model
from dalembert.model.positions import without_poses
from dalembert.quantities.dynamics import mass_matrix
from dalembert.simulation.adaptive import SOLVERS
from dalembert.simulation.integrators import INTEGRATORS
from dalembert.simulation.loops import near_singular
from dalembert.simulation.trajectory import ROUNDING, Trajectory, alike, exchanged_within

# of the energy exchanged. On the zoo at 1 ms, rk4 drifts by less than 1e-6, the implicit midpoint rule by 3e-5; friction that a
# smooth integrator does not resolve by 2e-2 to 0.5
TOLERANCE = 1e-2
LOCAL = 0.1  # the same within a tenth of the motion
PARTS = 10
LEAST = 1e-3  # of the energy exchanged in the whole motion: what a part of it is compared with at least
FEWEST = 8  # samples from which work and losses can be told
ROLLOUTS = 64  # that are examined: the cost stays small beside that of the simulation
FIRST_ORDER = tuple(name for name, integrator in INTEGRATORS.items() if integrator.order == 1)


def judged(trajectory: Trajectory, integrator: str, step: float) -> Trajectory:
    """The same trajectory with a `doubt`, and a warning, where its energy is out of balance.

    >>> import dalembert as da
    >>> fall = da.robot("two_link").simulate([0.0, 0.0], duration=0.1)
    >>> judged(fall, "rk4", 1e-3).doubt
    ''
    """
    some = _some(trajectory)
    if some is None:
        return trajectory
    with np.errstate(all="ignore"):
        if (some.drift <= LOCAL * LEAST / 2).all():  # then it is in balance in every part, too
            return trajectory
        own = integrator not in SOLVERS and some.time[1] < 1.5 * step  # samples are the integrator's own steps
        found = [x for x in _excesses(some, 0.0 if own else _unresolved(some)) if x.bad.any()]
    if not found:
        return trajectory
    first = found[0]
    reason = _reason(some, integrator, step)
    among = f" in {np.sum(first.bad)} of {first.bad.size} rollouts examined" if first.bad.ndim else ""
    ends = some.time[first.part][[0, -1]]
    when = "" if np.ptp(ends) == some.duration else f" between {ends[0]:g} and {ends[1]:g} s"
    size = f"{np.max(np.where(first.bad, first.drift, 0.0)):.2g} of the energy exchanged{when}"
    warn(f"the energy balance of {trajectory.robot.name} is off by {size}{among}: {reason}", AccuracyWarning)
    return replace(trajectory, doubt=reason)


class _Excess(NamedTuple):
    """By how much the balance is off in a part of the samples, relative to what was exchanged there, and whether it is too much."""

    part: slice
    drift: Array
    bad: Array


def _unresolved(trajectory: Trajectory) -> Array:
    """What work and losses would change by with half of the samples, J: how well samples show what happened between them."""
    half = slice(None, None, 2)
    arrays = {name: getattr(trajectory, name) for name in ("q", "qd", "tau", "accelerations", "lost")}
    halved = {name: None if x is None else x[..., half, :] for name, x in arrays.items()}
    worked = None if trajectory.worked is None else trajectory.worked[..., half]
    other = replace(trajectory, time=trajectory.time[half], worked=worked, **halved)
    return 2 * np.abs(other.balance - trajectory.balance[..., half]).max(axis=-1)


def _excesses(trajectory: Trajectory, unresolved: Any) -> Iterator[_Excess]:
    """Of the whole motion and of each tenth: a joint that creeps at the end is not hidden by the energies before."""
    balance, unsure, samples = trajectory.balance, trajectory.uncertainty, len(trajectory)
    least = ROUNDING * np.abs(trajectory.potential_energy).max(axis=-1) + LEAST * trajectory.exchanged
    finite = np.isfinite(trajectory.q).all(axis=(-2, -1))
    ends = np.linspace(0, samples - 1, PARTS + 1).astype(int).tolist() if samples > PARTS**2 else []
    for tolerance, part in ((TOLERANCE, slice(0, samples)), *((LOCAL, slice(a, b + 1)) for a, b in pairwise(ends))):
        off = np.abs(balance[..., part] - balance[..., part.start, None]).max(axis=-1)
        scale = exchanged_within(trajectory, part) + least
        unknown = unsure[..., part.stop - 1] - unsure[..., part.start] + unresolved
        yield _Excess(part, off / scale, ~(off - unknown <= tolerance * scale) & finite)


def _some(trajectory: Trajectory) -> Trajectory | None:
    """One rollout, or some that are spread evenly over all; None where there is nothing to examine."""
    rollouts = trajectory.q.shape[:-2]
    if not trajectory.q.size or len(trajectory) < FEWEST:
        return None
    if prod(rollouts) <= ROLLOUTS:
        return trajectory
    if trajectory.wrenches is not None and not alike(trajectory.wrenches):
        return None
    chosen = np.linspace(0, prod(rollouts) - 1, ROLLOUTS).round().astype(int)
    return trajectory[np.unravel_index(chosen, rollouts)]


def _reason(trajectory: Trajectory, integrator: str, step: float) -> str:
    """In words: what most likely put the energy out of balance."""
    few = np.unique(np.linspace(0, len(trajectory) - 1, 5).astype(int))
    if stiff := too_stiff(trajectory, trajectory.q[..., few, :], integrator, step):
        return stiff
    if friction_law(trajectory.robot.open).jumps and not trajectory.sticks:
        return f"with slip_speed={trajectory.slip_speed:g} friction is too steep for {integrator}; use a larger one, or moreau"
    if integrator in SOLVERS:
        return f"the tolerances of {integrator} are too loose; reduce rtol and atol"
    better = "; rk4 is of fourth order" if integrator in FIRST_ORDER else ""
    return f"the step of {step:g} s is too long for {integrator}{better}"


def too_stiff(trajectory: Trajectory, q: Array, integrator: str, step: float) -> str:
    """In words: that damping stops a joint faster than steps of fixed length can follow, at some positions; or nothing."""
    damping = np.array([joint.damping for joint in trajectory.robot.joints])
    if integrator in SOLVERS or not damping.any():
        return ""
    try:
        M = mass_matrix(trajectory.robot, q, backend=trajectory.backend)
        fastest = float(np.max(damping * np.diagonal(np.linalg.inv(M), axis1=-2, axis2=-1)))
    except (Error, np.linalg.LinAlgError):
        return ""
    within = f"damping stops a joint within {1 / fastest:.1g} s, less than the step of {step:g} s; use a shorter one"
    return f"{within}{'' if trajectory.sticks else ', moreau or Radau'}" if fastest * step > 2 else ""


def warn_of_limits(robot: Model, trajectory: Trajectory) -> None:
    """Warn of joints that leave the range of their limits."""
    n = robot.n
    q = without_poses(robot, trajectory.q).reshape(prod(trajectory.q.shape[:-2]), len(trajectory), n)
    with np.errstate(invalid="ignore"):
        if not q.size or ((q.min(axis=(0, 1)) >= robot.lower) & (q.max(axis=(0, 1)) <= robot.upper)).all():
            return
        out = (q < robot.lower) | (q > robot.upper)
    passed = out[:, :1] < out  # within at the start
    if not passed.any():
        return
    first = np.unravel_index(np.argmax(np.moveaxis(passed, 1, 0)), (len(trajectory), len(q), n))
    joint = robot.joints[int(first[-1])]
    warn(
        f"joint {joint.name!r} of {robot.name} passes its limits, {joint.lower:g} and {joint.upper:g}, at t = "
        f"{trajectory.time[first[0]]:g} s; restitution=0 makes them stops",
        LimitWarning,
    )


def must_be_finite(trajectory: Trajectory, integrator: str, step: float, function: str) -> None:
    """A motion that leaves the finite numbers is an error; among rollouts a warning."""
    finite = np.isfinite(trajectory.q).all(axis=-1) & np.isfinite(trajectory.qd).all(axis=-1)
    bad = ~np.reshape(finite, (-1, len(trajectory)))  # (rollouts, samples)
    near = near_singular(trajectory.robot, trajectory.time, trajectory.q)
    if not bad.any():
        if near:
            warn(near, SingularWarning)
        return
    first = int(np.argmax(bad.any(axis=0)))
    advice = f": {near}" if near else _advice(trajectory, first, integrator, step)
    say = f"the motion of {trajectory.robot.name} is not finite from t = {trajectory.time[first]:g} s on{advice}"
    if trajectory.q.ndim == 2:
        raise Error(f"{function}: {say}")
    warn(f"{say} ({bad.any(axis=1).sum()} of {len(bad)} rollouts)", SingularWarning)


def _advice(trajectory: Trajectory, first: int, integrator: str, step: float) -> str:
    """Why the motion is not finite from a sample on, or what may help."""
    if not first:
        return ", since q0 or qd0 is not"
    if not np.isfinite(trajectory.tau[..., first - 1, :]).all():
        return ", since the joint forces are not"
    if stiff := too_stiff(trajectory, trajectory.q[..., 0, :], integrator, step):
        return f": {stiff}"
    return (
        "; a smaller step may help" if trajectory.sticks or trajectory.robot.loops else "; a smaller step, moreau or Radau may help"
    )
