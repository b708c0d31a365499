"""Joint forces from motion, motion from joint forces, and the mass matrix between them."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from dalembert.arguments import flag
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import (
    Backend,
    ForwardDynamicsMethod,
    InverseDynamicsMethod,
    InverseMassMatrixMethod,
    MassMatrixMethod,
    Out,
    Result,
)
from dalembert.model.model import Model
from dalembert.model.wrench import Wrench


@computed
def inverse_dynamics(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    method: InverseDynamicsMethod = "newton_euler",
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Joint forces that produce the given motion. Signature (n),(n),(n)->(n), leading axes broadcast.

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
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "qdd": qdd, **outside}
    return asked(robot, "inverse_dynamics", given, method, backend=backend, out=out)


@computed
def forward_dynamics(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    method: ForwardDynamicsMethod | None = None,
    sticking: bool = False,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Joint accelerations under the given forces. Signature (n),(n),(n)->(n), leading axes broadcast.

    qdd = M(q)^-1 (tau + sum J^T w - C(q, qd) qd - g(q) - friction(qd))

    q, qd, tau: (..., n) joint positions, velocities, forces in joint order (rad or m, seconds, N m or N).
    wrenches, base_twist, base_acceleration, out: as in `inverse_dynamics`.
    method: a name of `dalembert.methods("forward_dynamics")`; all give the same numbers. By default `articulated_body`; robots with
        coupled joints, or with motors behind a transmission, have `walker_orin_3` (their default) and `joint_acceleration`.
    sticking: at joints with qd = 0, Coulomb friction is 0 by default (the law has one value, sign 0 = 0), and they accelerate
        under the smallest force. With True it holds them, up to its level, and the result is a pair: qdd, and the friction forces.

    A joint without inertia raises an error; where that depends on the state, one state raises and a batch gives NaN there with a
    `SingularWarning`.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.forward_dynamics([0.0, 0.0], [0.0, 0.0], [19.6124, 4.9031]).round(12).tolist()
    [0.0, 0.0]
    >>> held = arm.with_friction(coulomb=[5.0, 2.0]).forward_dynamics([0.0, 0.0], [0.0, 0.0], [22.0, 4.0], sticking=True)
    >>> held.qdd.tolist(), held.friction.round(4).tolist()
    ([0.0, 0.0], [2.3876, -0.9031])
    """
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "tau": tau, **outside}
    if flag(sticking, "forward_dynamics: sticking"):
        from dalembert.quantities.sticking import held

        return held(robot, given, method, backend, out)
    return asked(robot, "forward_dynamics", given, method, backend=backend, out=out)


@computed
def mass_matrix(
    robot: Model, q: ArrayLike, *, method: MassMatrixMethod | None = None, backend: Backend = "auto", out: Out = None
) -> Result:
    """The mass matrix M(q): kinetic energy is qd . M qd / 2. Signature (n)->(n,n), leading axes broadcast.

    Symmetric and positive definite; armature counts on its diagonal. method: a name of `dalembert.methods("mass_matrix")`; by
    default `composite_body`, or `composite_body_world` for long chains, where it takes fewer operations.

    >>> import dalembert as da
    >>> da.robot("two_link").mass_matrix([0.0, 0.0]).round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return asked(robot, "mass_matrix", {"q": q}, method, backend=backend, out=out)


@computed
def inverse_mass_matrix(
    robot: Model, q: ArrayLike, *, method: InverseMassMatrixMethod = "composite_body", backend: Backend = "auto", out: Out = None
) -> Result:
    """The inverse of the mass matrix, M(q)^-1. Signature (n)->(n,n), leading axes broadcast.

    method: `composite_body` inverts the factors M = U D U^T; `spatial_operator` is Kozlowski's (25), without M.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> abs(arm.inverse_mass_matrix([0.0, 1.0]) @ arm.mass_matrix([0.0, 1.0])).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return asked(robot, "inverse_mass_matrix", {"q": q}, method, backend=backend, out=out)


@computed
def joint_wrenches(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Bearing loads: the wrench that each joint exerts ON its link. Signature (n),(n),(n)->(n,6).

    Row i is (moment, force) about the origin of link i, in the axes of link i; reversed, it is what the link exerts on the one
    before it. Its part along the joint's axis is the joint force without friction and armature.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")                     # two rods of 1 kg and 1 m, held level
    >>> arm.joint_wrenches([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])[0].tolist()
    [0.0, 0.0, 0.0, 0.0, 19.6124, 0.0]
    """
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "qdd": qdd, **outside}
    return asked(robot, "joint_wrenches", given, backend=backend, out=out)


@computed
def base_wrench(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """What the base bears: the wrench that it exerts ON the links, about its origin in its axes. Signature (n),(n),(n)->(6).

    (moment, force). Of a robot on a free base it is the wrench that must push it, in world axes about the world's origin.

    >>> import dalembert as da
    >>> arm = da.robot("two_link").with_gravity((0, -9.81, 0))
    >>> arm.base_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(6).tolist()[3:]       # it carries two kilograms
    [0.0, 19.62, 0.0]
    """
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    return asked(robot, "base_wrench", {"q": q, "qd": qd, "qdd": qdd, **outside}, backend=backend, out=out)
