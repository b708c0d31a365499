"""The inertial parameters that joint forces depend on, and how the others combine with them."""

from typing import Any, NamedTuple

import numpy as np

from dalembert.formulations import formulation
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.spatial import Array
from dalembert.text import Text

PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")  # of a link, the tensor about its origin
_LEADING = ("Izz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "mx", "my", "mz", "m")  # which to keep first, as the literature does
_ENTRY = {"Ixx": (0, 0), "Ixy": (0, 1), "Ixz": (0, 2), "Iyy": (1, 1), "Iyz": (1, 2), "Izz": (2, 2)}


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
    """A minimal set of inertial parameters, by name, and the combining matrix: all that joint forces can tell about the inertias.

    Found numerically from the rank of the regressor at random states. Parameters of a link that only act together with those of
    links before it are combined with them, so each combination is led by a parameter as near the base as possible.

    >>> import dalembert as da
    >>> da.robot("two_link").base_parameters().rank
    6
    """
    n = robot.n
    rng = np.random.default_rng(0)
    W = regressor_at(robot.tree, *rng.uniform(-2, 2, (3, 20 * n + 20, n))).reshape(-1, 10 * n) if n else np.zeros((0, 0))
    size = np.linalg.norm(W, axis=0)
    scaled = W / np.where(size > 0, size, 1.0)
    largest = float(size.max()) if n else 0.0
    basis = np.zeros((len(W), 0))
    chosen: list[int] = []
    for k in (10 * i + PARAMETERS.index(name) for i in range(n) for name in _LEADING):
        rest = scaled[:, k] - basis @ (basis.T @ scaled[:, k])
        rest = rest - basis @ (basis.T @ rest)  # twice is enough
        if size[k] > 1e-10 * largest and np.linalg.norm(rest) > 1e-7:
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            chosen.append(k)
    chosen.sort()
    others = [k for k in range(10 * n) if k not in chosen]
    matrix = np.zeros((len(chosen), 10 * n))
    matrix[range(len(chosen)), chosen] = 1.0
    if chosen and others:
        combined = np.linalg.lstsq(scaled[:, chosen], scaled[:, others], rcond=None)[0]  # scaled: the columns have different units
        matrix[:, others] = np.where(np.abs(combined) > 1e-9, combined, 0.0) * size[others] / size[chosen][:, None]
    names = tuple(f"{name}[{link}]" for link in robot.link_names for name in PARAMETERS)
    own = np.concatenate([link.inertia.parameters for link in robot.links]) if n else np.zeros(0)
    return BaseParameters(tuple(names[k] for k in chosen), names, matrix, matrix @ own)


def regressor_at(tree: Tree, q: Any, qd: Any, qdd: Any) -> Array:
    """Y (..., n, 10 n) with Y @ parameters = tau, friction and armature left out: one evaluation a parameter."""
    n = len(tree.parents)
    columns = [column for i in range(n) for column in _of_link(tree, i, q, qd, qdd)]
    return np.stack(columns, axis=-1)


def _of_link(tree: Tree, i: int, q: Any, qd: Any, qdd: Any) -> list[Array]:
    """The ten columns of link i. Joint forces are linear in mass, first moments and the tensor about the origin."""
    function, n = formulation("inverse_dynamics", "newton_euler"), len(tree.parents)

    def forces(mass: float, com: Any, tensor: Any) -> Array:
        masses, coms, tensors = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        masses[i], coms[i], tensors[i] = mass, com, tensor
        return function(tree._replace(mass=masses, com=coms, inertia=tensors), q, qd, qdd)

    moments: dict[str, Array] = {}
    for name, (r, c) in _ENTRY.items():
        unit = np.zeros((3, 3))
        unit[r, c] = unit[c, r] = 1.0
        moments[name] = forces(0.0, np.zeros(3), unit)
    point = forces(1.0, np.zeros(3), np.zeros((3, 3)))
    # a unit point mass at a unit distance has that first moment, and unit tensor entries across it
    across = (("Iyy", "Izz"), ("Ixx", "Izz"), ("Ixx", "Iyy"))
    firsts = [
        forces(1.0, axis, np.zeros((3, 3))) - point - sum(moments[name] for name in names)
        for axis, names in zip(np.eye(3), across, strict=True)
    ]
    return [point, *firsts, *moments.values()]
