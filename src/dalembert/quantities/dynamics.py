"""Joint forces from motion."""

from collections.abc import Mapping
from typing import Any

from dalembert.model.model import Model
from dalembert.quantities.quantity import evaluate
from dalembert.quantities.wrench import Wrench, as_array
from dalembert.spatial import Array


def inverse_dynamics(
    robot: Model,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    wrenches: Mapping[str, Wrench] | Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    method: str = "newton_euler",
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """Joint forces that make the given motion. Signature (n),(n),(n)->(n), leading axes broadcast.

    tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - sum J^T w

    q, qd, qdd: (..., n) joint positions, velocities, accelerations in joint order (rad or m and seconds).
    wrenches: {link or frame: Wrench}, or an array (..., n, 6) of (moment, force) ON each link, at its origin in its axes.
    base_twist, base_acceleration: (..., 6) angular first, in the base frame, component rates, gravity not included.
    method: a name of `dalembert.methods("inverse_dynamics")`; all give the same numbers.
    out: an array to write the result into.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).tolist()
    [19.6124, 4.9031]
    >>> arm.inverse_dynamics([[0.1, 0.2]] * 3, [1.0, 0.0], [0.0, 0.0], method="lie_group").shape
    (3, 2)
    """
    if wrenches is base_twist is base_acceleration is out is None and backend == "auto":
        try:  # no look at shapes or values here: the kernel refuses what is wrong
            return robot.memo["inverse_dynamics"][method](q, qd, qdd)
        except (KeyError, TypeError, ValueError, RuntimeError):
            pass  # the first call, wrong shapes, complex numbers: the long way serves or explains
    given = {"q": q, "qd": qd, "qdd": qdd, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given["wrenches"] = as_array(robot, "inverse_dynamics", q, wrenches)
    return evaluate(robot, "inverse_dynamics", method, given, backend, out)
