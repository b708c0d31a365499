"""`identify`: the parameters of an arm from recordings of it, and a robot that has them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, flag, instance, number, positive, several
from dalembert.errors import DataWarning, Error, optional, unknown, warn
from dalembert.identification.columns import Columns, drives
from dalembert.identification.consistent import THIN, Problem, fit, repaired
from dalembert.identification.doubts import doubts
from dalembert.identification.motions import Within, given_recordings, motions, noted, provenance
from dalembert.identification.prepare import Prepared
from dalembert.identification.recording import Recording
from dalembert.identification.regression import Fit, Reduced, reduced, solve
from dalembert.identification.result import Identification
from dalembert.native.blas import on_one_thread
from dalembert.progress import Progress, chosen
from dalembert.quantities.parameters import PARAMETERS
from dalembert.robots import Robot

TOTAL = "total_mass"
SIGNED = ("mx", "my", "mz", "Ixy", "Ixz", "Iyz")  # parameters of a link that may be 0
DUST = 1e-12  # of a link's size: rounding


@on_one_thread
def identify(
    robot: Robot,
    recordings: Any,
    friction: Any = ("viscous", "coulomb", "offset"),
    *,
    rotors: bool = True,
    consistent: bool = True,
    prior: Any = None,
    weight: float = 0.01,
    fixed: Mapping[str, float] | None = None,
    validate: Any = None,
    cutoff: float | None = None,
    q_cutoff: float | None = None,
    delay: float | str = "auto",
    standstill: float | None = None,
    progress: Progress | bool | None = None,
) -> Identification:
    """The inertial, friction and rotor parameters of an arm from recordings of its motion: tau = Y(q, qd, qdd) p.

    Weighted least squares finds the base parameters, the combinations that forces depend on, with their covariance. Among all
    parameters with these, and with bodies that can exist, those nearest to the prior make the robot:

        min 1/2 sum_j |Y_j p - tau_j|^2 / noise_j^2 + weight sum_i d(P_i || P_i0)

    Forces and columns go through the same low-pass filter; rows of a joint at rest are left out; the noise of a joint is that of
    its residuals at the frequencies of its columns. Needs SciPy.

    robot: gives the geometry, gravity, couplings and motors; its masses, rotors and friction are the prior.
    recordings: a `Recording`, a file that `Recording.load` takes, or any number of them; they are read one after the other.
    friction: any of "viscous", "coulomb" (tanh, a hundredth of the greatest speed wide), "offset", "sqrt", "stribeck", "load"
    (proportional to |rigid force|, in a second stage).
    rotors: whether reflected rotor inertias are sought.
    consistent: whether every link must be a possible body; False takes what least squares gives.
    prior: another robot, or False for none. What forces do not depend on is then that of small bodies, and named in the notes.
    weight: of the prior; 0.01 is a standard deviation of ten times the value.
    fixed: known parameters by name, such as {"total_mass": 18.4, "m[link2]": 3.9}; `total_mass` is that of all moving links.
    validate: a recording, or several, that the result is tried on, with forces low-passed as in the fit.
    cutoff, q_cutoff, delay, standstill: see `Recording.prepare`.

    >>> import dalembert as da, numpy as np
    >>> arm = da.robot("planar_3r").with_friction(damping=0.5, coulomb=1.0)
    >>> path = da.excitation(arm, period=5.0, starts=1, harmonics=3)
    >>> move = path.trajectory(0.01)
    >>> found = da.identify(arm.with_parameters(1.5 * arm.parameters()), da.Recording(arm, move.time, move.q, move.tau))
    >>> bool(abs(found.robot.inverse_dynamics(move.q, move.qd, move.qdd) - move.tau).max() < 0.1)
    True
    """
    optional("scipy.signal")
    instance(robot, Robot, "the robot of identify")
    options: dict[str, Any] = {"cutoff": cutoff, "q_cutoff": q_cutoff, "delay": delay, "standstill": standstill}
    if robot.n == 0:
        raise Error(f"{robot.name} has no joints to identify")
    known, notes = _prior(robot, prior)
    tell = chosen(progress, f"identifying {robot.name}")
    sources = list[str]()
    given = noted(given_recordings(recordings, robot), sources)
    friction = several(friction, "friction")
    if "load" in friction:
        given = list(given)
    filters = list[tuple[float, float]]()
    flow = _counted(given, options, tell, filters)
    first = next(flow, None)
    if first is None:
        raise Error("identify needs at least one recording")
    columns = Columns.of(robot, friction, flag(rotors, "rotors"), first[0])
    if prior is not False:
        notes += doubts(columns, known, first[0])
    notes += _resting(first[0])
    data = reduced(columns.plain, _chained(first, flow))
    if "load" in columns.terms:
        data, columns = _with_load(data, columns, known, _counted(given, options, tell, filters))
    values = columns.values(known)
    estimate = solve(data, data.base.matrix @ values)
    x = _consistent(data, estimate, columns, values, weight, fixed) if flag(consistent, "consistent") else None
    if x is None:
        if fixed:
            raise Error("fixed parameters need consistent=True")
        x = _nearest(data, estimate, values)
    if prior is False and (shared := data.base.shared(columns.names)):
        notes.append(f"without a prior, joint forces do not determine {len(shared)} parameters: {', '.join(shared)}")
    x = _without_dust(x, columns, known)
    made, more = _robot(robot, columns, x)
    made = replace(made, source=provenance("identified", sources, None if prior is False else known))
    notes = [*notes, *more]
    if told := [note for note in notes if THIN not in note]:
        warn(f"identify: {'; '.join(told)}", DataWarning)
    cutoffs, q_cutoffs = zip(*filters, strict=True)
    options |= {"cutoff": max(cutoffs), "q_cutoff": max(q_cutoffs)}
    ends = min(cutoffs), max(cutoffs)
    result = Identification(made, known, columns, x, data, estimate, consistent, tuple(notes), options, first[0], ends)
    if validate is not None:
        checked = list(given_recordings(validate, robot))
        result = replace(result, validation=result.validate(checked))
    return result


# --- recordings -----------------------------------------------------------------------------------------------------------------


def _counted(
    given: Iterable[Recording], options: Mapping[str, Any], tell: Progress, filters: list[tuple[float, float]]
) -> Iterator[Within]:
    """All motions, while their cutoffs are noted, and it is told how many recordings are done."""
    total = len(given) if isinstance(given, list) else 0
    for k, recording in enumerate(given):
        for motion, inner in motions(recording, options):
            filters.append((motion.cutoff, motion.q_cutoff))
            yield motion, inner
        tell(k + 1, max(total, k + 1))


def _chained(first: Within, others: Iterator[Within]) -> Iterator[Within]:
    yield first
    yield from others


def _resting(motion: Prepared) -> list[str]:
    names, still = motion.recording.robot.joint_names, ~motion.moving.any(axis=0)
    return [f"{motion.recording.name}: {names[j]} is at rest throughout; its rows are left out" for j in np.flatnonzero(still)]


# --- the prior ------------------------------------------------------------------------------------------------------------------


def _prior(robot: Robot, prior: Any) -> tuple[Robot, list[str]]:
    """A robot whose links are all possible bodies, and what was done to make them so."""
    if prior is False:
        body = np.array([1.0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0.02])
        return robot.without_friction().without_armature().with_parameters(np.tile(body, len(robot.links))), []
    known = robot if prior is None else instance(prior, Robot, "the prior, unless it is False,")
    if known.link_names != robot.link_names or known.joint_names != robot.joint_names:
        raise Error(f"the prior {known.name} has other links or joints than {robot.name}")
    made, notes = list[Array](), list[str]()
    for link in known.links:
        phi, why = repaired(np.asarray(link.inertia.parameters))
        made.append(phi)
        if why:
            notes.append(f"the prior of {link.name} has {why}; it was replaced by the nearest body with thickness")
    return known.with_parameters(np.concatenate(made), check=False), notes


def _with_load(data: Reduced, columns: Columns, known: Robot, again: Iterator[Within]) -> tuple[Reduced, Columns]:
    """The second stage: columns of |rigid force|, of the first stage's parameters."""
    plain = columns.plain
    if not columns.robot.is_tree:
        raise Error(f"load-dependent friction does not support couplings and motors behind a transmission, which {known.name} has")
    values = plain.values(known)
    x = _nearest(data, solve(data, data.base.matrix @ values), values)
    rigid = dict(zip(plain.names, x, strict=True))
    own = {*plain.names[: plain.inertial], *(name for name in plain.names if name.startswith("armature["))}
    columns = replace(columns, rigid=np.array([rigid[name] if name in own else 0.0 for name in columns.names]))
    return reduced(columns, again), columns


# --- all parameters ---------------------------------------------------------------------------------------------------------------


def _nearest(data: Reduced, estimate: Fit, values: Array) -> Array:
    """All parameters with these base parameters, nearest to the prior, each in its own size."""
    B = data.base.matrix
    size = np.maximum(np.abs(values), 1e-3)
    return values + size * (np.linalg.pinv(B * size) @ (estimate.values - B @ values))


def _consistent(
    data: Reduced, estimate: Fit, columns: Columns, values: Array, weight: float, fixed: Mapping[str, float] | None
) -> Array:
    """Possible bodies, and friction that takes energy."""
    R, z = data.stacked(estimate.noise)
    whole, names = R @ data.base.matrix, columns.names
    free = _nearest(data, estimate, values)
    seen = np.linalg.norm(whole, axis=0)
    scale = np.maximum(np.abs(free), 1e-2 * np.linalg.norm(z) / np.maximum(seen, 1e-300))
    scale = np.where(seen > 0, np.maximum(scale, 1e-12), 1.0)
    prior = values.copy()
    for k in columns.positive:
        if prior[k] <= 0 and free[k] > 0:
            prior[k] = free[k]
    C, to = _fixed(columns, fixed)
    x, _ = fit(Problem(whole, z, prior, len(columns.robot.links), columns.positive, scale, C, to, positive(weight, "weight")))
    unseen = [k for k in range(columns.inertial, len(names)) if seen[k] == 0 and not (len(C) and C[:, k].any())]
    x[unseen] = values[unseen]
    return x


def _fixed(columns: Columns, fixed: Mapping[str, float] | None) -> tuple[Array, Array]:
    names, rows, to = columns.names, list[Array](), list[float]()
    for name, value in by_name({} if fixed is None else fixed, "fixed", "{'total_mass': 20.0}").items():
        row = np.zeros(len(names))
        if name == TOTAL:
            row[: columns.inertial : 10] = 1.0
        elif name in names:
            row[names.index(name)] = 1.0
        else:
            raise unknown("parameter to fix:", name, (TOTAL, *names))
        rows.append(row)
        to.append(number(value, f"fixed {name}"))
    return np.array(rows).reshape(-1, len(names)), np.array(to)


def _without_dust(x: Array, columns: Columns, known: Robot) -> Array:
    """The parameters with 0 for what is rounding, next to the size of its link: of first moments and products of inertia."""
    signed = np.zeros(len(x), dtype=bool)
    signed[: columns.inertial] = [name in SIGNED for name in PARAMETERS] * len(known.links)
    return np.where(signed & (np.abs(x) < DUST * columns.scales(known, 0.0)), 0.0, x)


def _robot(robot: Robot, columns: Columns, x: Array) -> tuple[Robot, list[str]]:
    """The robot with these parameters, and what it cannot hold."""
    made = robot.with_parameters(x[: columns.inertial], check=False).without_friction().without_armature()
    joints, notes = {link.joint.name for link in robot.links}, list[str]()
    fields: dict[str, dict[str, float]] = {}
    for name, value in zip(columns.names[columns.inertial :], x[columns.inertial :].tolist(), strict=True):
        kind, _, of = name.removesuffix("]").partition("[")
        fields.setdefault(kind, {})[of] = value
    lost = [f"sqrt_friction[{of}]" for of in fields.pop("sqrt_friction", {})]
    armature, extra = fields.pop("armature", {}), fields.pop("stribeck", {})
    for kind, values in fields.items():
        lost += [f"{kind}[{of}]" for of in values if of not in joints]
        fields[kind] = {of: v if kind == "friction_offset" else max(v, 0.0) for of, v in values.items() if of in joints}
        notes += [
            f"{kind} of {of} came out as {v:.3g}; the robot has 0"
            for of, v in values.items()
            if v < 0 and kind != "friction_offset"
        ]
    if "load_friction" in fields:
        fields["load_friction"] = {of: min(v, 0.99) for of, v in fields["load_friction"].items()}
    if extra:
        speeds = dict(zip(drives(robot)[1], columns.stribeck.tolist(), strict=False))
        level = fields.get("coulomb", {})
        static = {of: level.get(of, 0.0) + v for of, v in extra.items() if of in joints}
        fields["static_friction"] = {of: v for of, v in static.items() if v > 0 and speeds[of] > 0}
        fields["stribeck_speed"] = {of: speeds[of] for of in fields["static_friction"]}
    made = made.with_friction(**fields)
    rotors = {of: max(v, 0.0) for of, v in armature.items()}
    if robot.transmission is None:
        made = made.with_armature(rotors) if rotors else made
    else:
        motors = robot.transmission
        made = replace(made, transmission=replace(motors, rotor_inertia=np.array([rotors.get(x, 0.0) for x in motors.names])))
    if lost:
        notes.append(f"the robot has no such friction, only the prediction: {', '.join(lost)}")
    return made, notes
