"""Robots with coupled joints and with motors behind a transmission: each function returns a new robot, or converts values."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import by_name, choice, flag, frozen_array, number, numbers
from dalembert.errors import Error, brief
from dalembert.model.coupling import Coupling, Transmission, following
from dalembert.model.model import Model
from dalembert.model.positions import with_poses, without_poses

M = TypeVar("M", bound=Model)
BROKEN = 1e-6  # how far joints may be off their coupling, relative to 1 + |q|


class Motors(NamedTuple):
    """Speeds (rad/s) and forces (N m) at the motors, (..., m) each."""

    speed: Array
    force: Array


def with_coupling(robot: M, coupling: Any, *, offset: Any = None, names: Any = None) -> M:
    """The same robot with joints that follow others, as through gears, belts, linkages or tendons: q = B y + b.

    coupling: {joint: {other: factor, ...}}, each joint a sum of multiples of others, which may follow further ones; or a matrix
    (n, k) that gives all joints from k coordinates with these `names`. offset: constants to add, {joint: value} or (n,).
    The result has only the independent joints in q, qd, qdd and tau; `uncoupled` goes back. A coupled robot can be coupled further.

    >>> import dalembert as da
    >>> arm = da.random_robot(1, "RRR").with_coupling({"joint3": {"joint1": 0.5, "joint2": -1.0}})
    >>> arm.joint_names, arm.to_uncoupled([0.2, 0.5]).tolist()
    (('joint1', 'joint2'), [0.2, 0.5, -0.4])
    """
    if robot.loops:
        raise Error(f"{robot.name} has loops between its {robot.n} joints; couple these first, then call with_loop")
    if robot.transmission is not None:
        raise Error(f"{robot.name} has a transmission to its {robot.n} joints; couple them first, then call with_transmission")
    more = _by_name(robot, coupling, offset) if isinstance(coupling, Mapping) else _matrix(robot, coupling, offset, names)
    if isinstance(coupling, Mapping) and names is not None:
        raise Error("names are for a coupling by a matrix; a dict keeps those of the joints that follow none")
    before = robot.coupling
    if before is not None:  # its coordinates follow, and with them all joints
        more = Coupling(more.names, before.rates(more.matrix.T).T, before.positions(more.offset))
    return replace(robot, coupling=more)


def _by_name(robot: Model, given: Any, offset: Any) -> Coupling:
    example = "{'finger2': {'finger1': 1.0}}"
    rows = {_joint(robot, name): by_name(row, f"what joint {name!r} follows", example) for name, row in given.items()}
    if not rows:
        raise Error(f"a coupling names at least one joint that follows others, such as {example}")
    follow = {
        name: {_joint(robot, k): number(x, f"the factor of {k!r} for {name!r}") for k, x in row.items()}
        for name, row in rows.items()
    }
    shifts = by_name({} if offset is None else offset, "the offset of a coupling", "{'finger2': 0.01}")
    for name in shifts:
        choice(name, "joint with an offset:", tuple(rows))
    return following(robot.joint_names, follow, {name: number(x, f"the offset of {name!r}") for name, x in shifts.items()})


def _joint(robot: Model, name: Any) -> str:
    """An independent joint."""
    for joint in robot.several:
        if joint.name == name:
            raise Error(f"joint {name!r} of {robot.name} is {joint.kind}; couplings are between joints of one degree of freedom")
    if robot.coupling is not None and name not in robot.joint_names and any(link.joint.name == name for link in robot.links):
        raise Error(f"joint {name!r} of {robot.name} follows others already; uncoupled() makes it independent")
    return choice(name, f"joint of {robot.name}:", robot.joint_names)


def _matrix(robot: Model, given: Any, offset: Any, names: Any) -> Coupling:
    if names is None:
        raise Error(
            f"a coupling is a dict by joint, or a matrix ({robot.n}, k) with names=(...) of its k coordinates; got {brief(given)}"
        )
    matrix = frozen_array(given, None, "the matrix of a coupling")
    if matrix.ndim != 2 or len(matrix) != robot.n:
        raise Error(
            f"the matrix of a coupling has a row for each of the {robot.n} joints of {robot.name}, got shape {matrix.shape}"
        )
    return Coupling(names, matrix, np.zeros(robot.n) if offset is None else frozen_array(offset, (robot.n,), "offset"))


def uncoupled(robot: M) -> M:
    """The same robot with all joints independent.

    >>> import dalembert as da
    >>> da.random_robot(1, "RRR").with_coupling({"joint3": {"joint1": 1.0}}).uncoupled().n
    3
    """
    if robot.coupling is not None and robot.loops:
        raise Error(
            f"the loops of {robot.name} are between its coupled joints; robot.without_loops().uncoupled() makes these independent"
        )
    if robot.coupling is not None and robot.transmission is not None:
        raise Error(
            f"the motors of {robot.name} drive its coupled joints; robot.without_transmission().uncoupled() makes these independent"
        )
    return replace(robot, coupling=None)


def to_uncoupled(robot: Model, q: ArrayLike, *, rates: bool = False) -> Array:
    """Positions of all joints of the tree, (..., N), from those of the independent ones, (..., n): q = B y + b.

    rates=True: velocities or accelerations, without the offset b.
    """
    y, rates = numbers(q, "to_uncoupled: q", complex_=True), flag(rates, "to_uncoupled: rates")
    y, size = y if y.dtype.kind == "c" else y.astype(float), robot.n if rates else robot.nq
    if y.ndim == 0 or y.shape[-1] != size:
        raise Error(f"to_uncoupled: q has shape {y.shape}, {robot.name} needs (..., {size})")
    if robot.coupling is None:
        return np.array(y)
    if rates:
        return robot.coupling.rates(y)
    poses = {run.joint: y[..., run.positions] for run in robot.runs}
    return with_poses(robot.open, robot.coupling.positions(without_poses(robot, y)), lambda run: poses[run.joint])


def from_uncoupled(robot: Model, q: ArrayLike, *, rates: bool = False) -> Array:
    """Positions of the independent joints, (..., n), from those of all joints, (..., N), which must obey the coupling.

    rates=True: velocities or accelerations, without the offset b. Forces go the other way: tau = B^T (forces of all joints), with
    B = robot.coupling.matrix.
    """
    all_, rates = numbers(q, "from_uncoupled: q").astype(float), flag(rates, "from_uncoupled: rates")
    free = robot.open
    if all_.ndim == 0 or all_.shape[-1] != (free.n if rates else free.nq):
        raise Error(f"from_uncoupled: q has shape {all_.shape}, {robot.name} has {free.n} joints without its coupling")
    if robot.coupling is None:
        return np.array(all_)
    poses = {} if rates else {run.joint: all_[..., run.positions] for run in free.runs}
    all_ = all_ if rates else without_poses(free, all_)
    B, names = robot.coupling.matrix, free.joint_names
    moved = all_ if rates else all_ - robot.coupling.offset
    y = np.matvec(np.linalg.pinv(B), moved)
    for j, name in enumerate(robot.coupling.names):
        if name in names:
            y[..., j] = moved[..., names.index(name)]
    off = np.abs(np.matvec(B, y) - moved)
    if (broken := off > BROKEN * (1 + np.abs(all_))).any():
        joint = int(np.argmax(broken.reshape(-1, len(names)).any(axis=0)))
        raise Error(f"from_uncoupled: joint {names[joint]!r} is {off[..., joint].max():.3g} off what its coupling says")
    return y if rates else with_poses(robot, y, lambda run: poses[run.joint])


def with_transmission(robot: M, matrix: Any, *, rotor_inertia: Any = 0.0, names: Any = None) -> M:
    """The same robot driven by motors whose speeds are matrix @ qd: gear ratios, differentials, tendons.

    matrix: (m, n), a row for each motor; or n ratios of motors that drive one joint each. rotor_inertia: of all motors, or (m,), in
    kg m^2 about their own axes; the whole matrix^T diag(rotor_inertia) matrix counts in M. q, qd and tau stay those of the joints;
    `to_motors` converts. names: of the motors.

    >>> import dalembert as da
    >>> wrist = da.random_robot(1, "RR").with_transmission([[50.0, 50.0], [50.0, -50.0]], rotor_inertia=1e-5)
    >>> wrist.to_motors(qd=[0.1, 0.0], tau=[1.0, 0.0]).speed.tolist()
    [5.0, 5.0]
    """
    ratios = frozen_array(matrix, None, "the matrix of a transmission")
    if ratios.ndim not in (1, 2) or ratios.shape[-1] != robot.n:
        raise Error(
            f"the matrix of a transmission has a column for each of the {robot.n} joints of {robot.name}, got shape {ratios.shape}"
        )
    ratios = np.diag(ratios) if ratios.ndim == 1 else ratios
    called = tuple(f"motor{k + 1}" for k in range(len(ratios))) if names is None else names
    return replace(robot, transmission=Transmission(called, ratios, rotor_inertia))


def without_transmission(robot: M) -> M:
    """The same robot without motors behind a transmission, and without their rotors."""
    return replace(robot, transmission=None)


def to_motors(robot: Model, qd: ArrayLike, tau: ArrayLike) -> Motors:
    """Speeds and forces of the motors, (..., m), from those of the joints, (..., n): G qd, and f with G^T f = tau.

    With more motors than joints f is the one of least norm. tau of `inverse_dynamics` accelerates the rotors, too, so f is all
    that the motors must give.
    """
    if robot.transmission is None:
        raise Error(f"{robot.name} has no motors; with_transmission(matrix, rotor_inertia=...) adds them")
    speeds, forces = (numbers(x, f"to_motors: {name}") for name, x in (("qd", qd), ("tau", tau)))
    for name, x in (("qd", speeds), ("tau", forces)):
        if x.ndim == 0 or x.shape[-1] != robot.n:
            raise Error(f"to_motors: {name} has shape {x.shape}, {robot.name} needs (..., {robot.n})")
    G = robot.transmission.matrix
    made = np.matvec(np.linalg.pinv(G.T), forces)
    left = np.abs(np.matvec(G.T, made) - forces)
    if (left > BROKEN * (1 + np.abs(forces))).any():
        joint = robot.joint_names[int(np.argmax(left.reshape(-1, robot.n).max(axis=0)))]
        raise Error(f"to_motors: the {len(G)} motors of {robot.name} cannot make these forces; {joint!r} lacks {left.max():.3g}")
    return Motors(np.matvec(G, speeds), made)
