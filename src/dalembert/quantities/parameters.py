"""The inertial parameters, in which joint forces are linear, and which of them joint forces depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import flag
from dalembert.derived.joints import armatures, friction_law
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, Out, Result
from dalembert.formulations import formulation
from dalembert.model.model import Model, refuse_loops
from dalembert.text import Text

INDEPENDENT = 1e-7  # of a column of length 1: what must be left of it
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")  # of a link, the tensor about its origin
# which of them to keep first, as the literature does
LEADING = tuple(map(PARAMETERS.index, ("Izz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "mx", "my", "mz", "m")))


class Parameters(NamedTuple):
    """Parameters by name, in the order of the regressor's columns."""

    names: tuple[str, ...]
    values: Array


def parameter_vector(robot: Model) -> Result:
    """The ten inertial parameters of every link, (10 links,): m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz of the first, and so on.

    First moments m c and true tensor entries about the link's origin, in link axes; `parameter_names` names them, and
    `with_parameters` makes a robot of them.

    >>> import dalembert as da
    >>> da.robot("two_link").parameters()[:4].tolist()
    [1.0, -0.5, 0.0, 0.0]
    """
    return np.concatenate([np.zeros(0), *(link.inertia.parameters for link in robot.links)])


def parameter_names(robot: Model) -> tuple[str, ...]:
    """Names of the inertial parameters in the order of `parameters`: m[link1], mx[link1], ..., Izz[link1], m[link2], ..."""
    return tuple(f"{name}[{link}]" for link in robot.link_names for name in PARAMETERS)


def regressor_parameters(
    robot: Model, *, friction: bool = False, armature: bool = False, friction_offset: bool = False
) -> Parameters:
    """The parameters that belong to the columns of `regressor` with the same options, by name, with this robot's values.

    The inertial ones; then damping and coulomb of each joint in turn; then the armature, and the friction_offset of each.

    >>> import dalembert as da
    >>> da.robot("two_link").regressor_parameters(friction=True).names[-2:]
    ('damping[joint2]', 'coulomb[joint2]')
    """
    names, values = [*parameter_names(robot)], [parameter_vector(robot)]
    law = friction_law(robot.open)
    joints = robot.open.joint_names  # those that follow others have friction and rotors of their own
    if flag(friction, "friction"):
        names += [f"{name}[{joint}]" for joint in joints for name in ("damping", "coulomb")]
        values.append(np.stack([law.damping, law.coulomb], axis=-1).ravel())
    if flag(armature, "armature"):
        names += [f"armature[{joint}]" for joint in joints]
        values.append(armatures(robot.open))
    if flag(friction_offset, "friction_offset"):
        names += [f"friction_offset[{joint}]" for joint in joints]
        values.append(law.friction_offset)
    return Parameters(tuple(names), np.concatenate(values))


@computed
def regressor(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    friction: bool = False,
    armature: bool = False,
    friction_offset: bool = False,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Y(q, qd, qdd) with Y @ parameters = tau, gravity included. Signature (n),(n),(n)->(n,10n), leading axes broadcast.

    Columns follow `parameters`. friction=True appends two per joint, qd_i and sign(qd_i) in row i, for damping and coulomb;
    armature=True then appends one per joint, qdd_i, and friction_offset=True another, 1. `regressor_parameters` has names and
    values in the same order; with all of them, Y @ values is all of `inverse_dynamics`, except for Stribeck and load-dependent
    friction, which are not linear, and for rotors behind a transmission, which are no columns. Coulomb levels (c-, c+) have their
    mean as coulomb and (c+ - c-) / 2 as friction_offset. A coupled robot has the columns of all its links and joints.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> (arm.regressor([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]) @ arm.parameters()).round(6).tolist()
    [19.6124, 4.9031]
    """
    flags = {"friction": friction, "armature": armature, "friction_offset": friction_offset}
    chosen: dict[str, Any] = {name: flag(value, name) for name, value in flags.items()}
    return asked(robot, "regressor", {"q": q, "qd": qd, "qdd": qdd}, backend=backend, out=out, **chosen)


@computed
def base_regressor(
    robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, backend: Backend = "auto", out: Out = None
) -> Result:
    """The columns of the regressor that matter: base_regressor @ base_parameters().values = tau. Signature (n),(n),(n)->(n,rank).

    They are independent, so least squares on stacked motions finds the base parameters. Friction and armature are left out.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> (arm.base_regressor([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]) @ arm.base_parameters().values).round(6).tolist()
    [19.6124, 4.9031]
    """
    if base_parameters not in robot.memo:
        robot.memo[base_parameters] = base_parameters(robot).columns
    columns = robot.memo[base_parameters]
    return asked(robot, "regressor", {"q": q, "qd": qd, "qdd": qdd}, backend=backend, out=out, columns=columns)


class BaseParameters(NamedTuple):
    """A minimal set of combinations: base = matrix @ parameters, with parameters (10 n,) in the order of `all_names`."""

    names: tuple[str, ...]  # of the parameters that lead the combinations
    all_names: tuple[str, ...]
    matrix: Array  # (rank, 10 n)
    values: Array  # (rank,) of this robot

    @property
    def rank(self) -> int:
        """How many parameters matter."""
        return len(self.names)

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices of the leading parameters among all."""
        return tuple(map(self.all_names.index, self.names))

    def __str__(self) -> str:
        lines: list[str] = []
        for name, row in zip(self.names, self.matrix, strict=True):
            others = [(c, other) for c, other in zip(row, self.all_names, strict=True) if c and other != name]
            sizes = ((c, "" if abs(abs(c) - 1) < 1e-9 else f"{abs(c):.6g} ", other) for c, other in others)
            lines.append(name + "".join(f" {'-' if c < 0 else '+'} {size}{other}" for c, size, other in sizes))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return Text(f"{self.rank} base parameters of {len(self.all_names)}:\n{self}")


def base_parameters(robot: Model) -> BaseParameters:
    """A minimal set of inertial parameters, by name, and the combining matrix: all that can be identified from joint forces.

    Found numerically from the rank of the regressor at random states. Parameters of a link that only act together with those of
    links before it are combined with them, so each combination is led by a parameter as near the base as possible.

    >>> import dalembert as da
    >>> da.robot("two_link").base_parameters().rank
    6
    """
    refuse_loops(robot, "base_parameters")
    n, coupling = len(robot.links), robot.coupling
    rng = np.random.default_rng(0)
    states = list(rng.uniform(-2, 2, (3, 20 * n + 20, robot.n)))
    if robot.several:
        q = np.concatenate([states[0], rng.uniform(-2, 2, (len(states[0]), robot.nq - robot.n))], axis=-1)
        W = np.asarray(regressor(robot, q, *states[1:])).reshape(-1, 10 * n)
    else:
        if coupling is not None:
            states = [coupling.positions(states[0]), *map(coupling.rates, states[1:])]
        Y = formulation("regressor", "regressor")(robot.tree, *states) if n else np.zeros((0, 0))
        W = (Y if coupling is None else coupling.pulled_back(Y, -2)).reshape(-1, 10 * n) if n else Y
    chosen, matrix = independent_columns(W, [10 * i + k for i in range(n) for k in LEADING])
    names = parameter_names(robot)
    return BaseParameters(tuple(names[k] for k in chosen), names, matrix, matrix @ parameter_vector(robot))


def independent_columns(W: Array, order: Sequence[int]) -> tuple[list[int], Array]:
    """Which columns of W (T, k) are independent, taken in this order, and the matrix (r, k) by which those make all of them."""
    size = np.linalg.norm(W, axis=0)
    there = size > 1e-10 * size.max(initial=0.0)
    scaled = W / np.where(size > 0, size, 1.0)  # the columns have different units
    basis, chosen = np.zeros((len(W), len(order))), list[int]()
    for k in order:
        Q = basis[:, : len(chosen)]
        rest = scaled[:, k] - Q @ (Q.T @ scaled[:, k])
        rest = rest - Q @ (Q.T @ rest)  # twice is enough
        if there[k] and (left := np.linalg.norm(rest)) > INDEPENDENT:
            basis[:, len(chosen)] = rest / left
            chosen.append(k)
    chosen.sort()
    others = [k for k in range(W.shape[1]) if k not in chosen]
    matrix = np.zeros((len(chosen), W.shape[1]))
    matrix[range(len(chosen)), chosen] = 1.0
    if chosen and others:
        combined = np.linalg.lstsq(scaled[:, chosen], scaled[:, others], rcond=None)[0]
        matrix[:, others] = np.where(np.abs(combined) > 1e-9, combined, 0.0) * size[others] / size[chosen][:, None]
    return chosen, matrix
