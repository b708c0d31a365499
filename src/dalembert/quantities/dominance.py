"""Simplified models: Fu, Gonzalez and Lee, section 3.4.1.

In the generalized d'Alembert equations (3.4-24) every inertia D_ij and every velocity term h_i has two parts, one from the
translation and one from the rotation of the links. Along a path one part is often far smaller than the other, and a controller can
do without it. Which ones depends on the path and on the robot; the book's own lists contradict each other (E-F11), so its method
is here, not its verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import number
from dalembert.cached import cached_property
from dalembert.derived.simplified import simplified
from dalembert.engine.evaluation import asked, evaluate, joint_vectors, of_tree
from dalembert.engine.program import operation_count, program
from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import STATE, TAU
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.quantities.dynamics import inverse_dynamics
from dalembert.quantities.terms import dalembert_terms
from dalembert.text import table
from dalembert.trace.count import OperationCount
from dalembert.trace.program import Program

NEGLIGIBLE = 1e-12  # of what an entry could be: below this there are only rounding errors


class Parts(NamedTuple):
    """Something of each part of the equations: of D by translation and rotation (n, n), of h likewise (n,)."""

    D_tran: Array
    D_rot: Array
    h_tran: Array
    h_rot: Array


class TorqueError(NamedTuple):
    """What a simplified model gets wrong along a path, by joint (n,): absolute, and relative to the largest joint force there."""

    max: Array
    rms: Array
    relative_max: Array
    relative_rms: Array


@dataclass(frozen=True, eq=False, repr=False)
class Dominance:
    """Which parts of the equations a path needs, and the model without the others.

    `keep` has a mask of what stays for each part; `largest` the greatest magnitudes along the path, rounding errors made 0.
    """

    robot: Model
    threshold: float
    path: tuple[Array, Array, Array]  # q, qd, qdd, (m, n) each
    largest: Parts
    keep: Parts

    @cached_property
    def _options(self) -> dict[str, Any]:
        return {"keep": tuple(map(_tuples, self.keep))}

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, *, backend: str = "auto", out: Any = None) -> Array:
        """Joint forces by the simplified model: only the kept parts, gravity, friction and armature. Signature (n),(n),(n)->(n)."""
        given = {"q": q, "qd": qd, "qdd": qdd}
        return evaluate(asked(self.robot, SIMPLIFIED, given, backend=backend, out=out, **self._options))

    def program(self) -> Program:
        """The traced program of the simplified model."""
        return program(self.robot, SIMPLIFIED, **self._options)

    def operation_count(self) -> OperationCount:
        """What one evaluation of the simplified model takes, friction and armature left out."""
        return operation_count(self.robot, SIMPLIFIED, **self._options)

    def full_operation_count(self) -> OperationCount:
        """The same with no part dropped."""
        return operation_count(self.robot, SIMPLIFIED)

    def torque_error(self, q: Any = None, qd: Any = None, qdd: Any = None) -> TorqueError:
        """How far the simplified model is off along its own path, or along another one (m, n)."""
        state = self.path if q is qd is qdd is None else _path(self.robot, q, qd, qdd)
        tau = inverse_dynamics(self.robot, *state)
        error = self.inverse_dynamics(*state) - tau
        worst, rms, size = np.abs(error).max(axis=0), np.sqrt((error**2).mean(axis=0)), np.abs(tau).max(axis=0)
        with np.errstate(all="ignore"):  # no error relative to no force is none
            relative = [np.where(x > 0, x / size, 0.0) for x in (worst, rms)]
        return TorqueError(worst, rms, *relative)

    def __str__(self) -> str:
        names, (D, h) = self.robot.joint_names, (_words(self.largest[k : k + 2], self.keep[k : k + 2]) for k in (0, 2))
        error = self.torque_error()
        rows = [["", *names], *([f"D {name}", *row] for name, row in zip(names, D, strict=True)), ["h", *h]]
        rows += [["error", *(f"{x:.2g}" for x in error.max)], ["relative", *(f"{x:.2g}" for x in error.relative_max)]]
        return (
            f"{self.robot.name}: parts kept along {len(self.path[0])} states, threshold {self.threshold:g}\n"
            f"{table(rows, right=True)}\n"
            f"operations: {self.operation_count()}; with all parts {self.full_operation_count()}"
        )

    __repr__ = __str__


def dominance(robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, threshold: float = 10.0) -> Dominance:
    """The simplified model of a path (m, n): which parts of D and h dominate there, and the equations without the others.

    Of each entry, the translational or the rotational part is dropped if its largest magnitude along the path is less than
    1/threshold of the other's; if both vanish there, the rotational one is. threshold=1 leaves one part of every entry,
    threshold=inf everything. Gravity, friction and armature always stay. The result has the masks, the simplified
    `inverse_dynamics`, its `operation_count` and its `torque_error`; printed, it is a table of all that.

    >>> import dalembert as da
    >>> import numpy as np
    >>> arm, t = da.robot("puma560"), np.linspace(0, 1, 31)[:, None]
    >>> q, qd, qdd = 10 * t**3 - 15 * t**4 + 6 * t**5, 30 * t**2 * (1 - t) ** 2, 60 * t * (1 - t) * (1 - 2 * t)
    >>> simple = arm.dominance(*(x * [1, -1, 0.5, 1, -0.5, 1] for x in (q, qd, qdd)))
    >>> simple.keep.D_tran[0, :3].tolist(), simple.keep.D_rot[0, :3].tolist()
    ([True, True, True], [True, False, False])
    >>> simple.operation_count().total < simple.full_operation_count().total
    True
    """
    limit = number(threshold, "the threshold of dominance()", finite=False)
    if limit < 1:
        raise Error(f"the threshold of dominance() must be at least 1, got {limit:g}")
    path = _path(robot, q, qd, qdd)
    terms = dalembert_terms(robot, *path[:2], backend="numpy")
    largest = _largest(*(np.abs(x).max(axis=0) for x in terms), qdd=np.abs(path[2]).max(axis=0))
    return Dominance(robot, limit, path, largest, Parts(*_kept(*largest[:2], limit), *_kept(*largest[2:], limit)))


def _largest(D_tran: Array, D_rot: Array, h_tran: Array, h_rot: Array, c: Array, qdd: Array) -> Parts:
    """The magnitudes, symmetric to the last digit and without rounding errors."""
    reach = np.sqrt(np.diagonal(D_tran + D_rot))
    D = np.outer(reach, reach)  # no smaller than |D_ij|
    h = h_tran + h_rot + c + D @ qdd
    parts = ((np.maximum(D_tran, D_tran.T), D), (np.maximum(D_rot, D_rot.T), D), (h_tran, h), (h_rot, h))
    return Parts(*(np.where(x > NEGLIGIBLE * scale, x, 0.0) for x, scale in parts))


def _kept(tran: Array, rot: Array, threshold: float) -> tuple[Array, Array]:
    """Masks of the parts that stay."""
    if np.isinf(threshold):
        return np.ones(tran.shape, bool), np.ones(rot.shape, bool)
    return tran >= rot / threshold, rot > tran / threshold


def _path(robot: Model, *state: Any) -> tuple[Array, Array, Array]:
    """q, qd and qdd as arrays (m, n) of real numbers."""
    q, qd, qdd = (of_tree if robot.n else joint_vectors)(robot, "dominance", **dict(zip(STATE, state, strict=True)))
    if not q.size or not all(x.dtype.kind == "f" and np.isfinite(x).all() for x in (q, qd, qdd)):
        raise Error("dominance() needs a robot with joints and a path of at least one state, with real and finite numbers")
    return q.reshape(-1, robot.n), qd.reshape(-1, robot.n), qdd.reshape(-1, robot.n)


def _words(largest: Sequence[Array], keep: Sequence[Array]) -> Any:
    """What stays of each entry: tran, rot or both; 0 where there is nothing."""
    marks = np.array([["-", "rot"], ["tran", "both"]])
    tran, rot = (mask.astype(int) for mask in keep)
    return np.where(np.maximum(*largest) > 0, marks[tran, rot], "0").tolist()


def _tuples(mask: Array) -> Any:
    return tuple(map(_tuples, mask)) if mask.ndim else bool(mask)


SIMPLIFIED = Quantity(
    "simplified_inverse_dynamics",
    "Joint forces by the parts of the generalized d'Alembert equations that matter.",
    STATE,
    TAU,
    "generalized_dalembert",
    options={"keep": None},
    recipe=simplified,
    recipes=("generalized_dalembert",),
    orders={"generalized_dalembert": 3},
)
