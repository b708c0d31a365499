"""Poses, twists and Jacobians of links and of named frames, the centre of mass, and the momentum.

A link or frame is given by name; left out, it is the one link at the end of the arm, unless that is
the jaw of a gripper. `point` (..., 3) is given in its own axes
(default: its origin). A twist is (angular, linear); its `frame` says in which axes, and whose velocity the linear part is:

- "body": in the axes of the link or frame, of the point;
- "world_aligned": in the axes of the world, of the point;
- "world": in the axes of the world, of what is just passing the world's origin (the spatial twist; the point does not matter).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dalembert.derived.kinematics import carrier, check_about, check_frame
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, Out, Result, TwistFrame
from dalembert.model.model import Model


@computed
def pose(
    robot: Model,
    q: ArrayLike,
    link: str | None = None,
    *,
    point: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """The pose of a link or frame in the world, as a 4x4 matrix. Signature (n)->(4,4), leading axes broadcast.

    x_world = pose @ (x, y, z, 1). The robot's mounting (`with_base`) is included. With `point` the origin moves there.

    >>> import dalembert as da
    >>> da.robot("two_link").pose([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    >>> da.robot("panda").pose([0.0] * 7, "panda_hand_tcp", point=(0, 0, 0.1))[:3, 3].round(6).tolist()
    [0.088, 0.0, 0.7226]
    """
    carrier(robot, link)
    return asked(robot, "pose", {"q": q, "point": point}, backend=backend, out=out, link=link)


@computed
def poses(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The poses of all moving links in the world, in joint order. Signature (n)->(n,4,4).

    >>> import dalembert as da
    >>> da.robot("two_link").poses([0.0, 0.0])[:, 0, 3].tolist()
    [1.0, 2.0]
    """
    return asked(robot, "poses", {"q": q}, backend=backend, out=out)


@computed
def twist(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    point: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Angular velocity of a link and linear velocity of a point of it: (omega, v) = J(q) qd. Signature (n),(n)->(6).

    frame: "body" (axes of the link or frame, velocity of the point), "world_aligned" (axes of the world, velocity of the point) or
    "world" (axes of the world, velocity of what is passing the world's origin). point: (..., 3) in the axes of the link or frame.
    The velocity of a link's origin is Fu, Gonzalez and Lee's (3.3-32).

    >>> import dalembert as da
    >>> da.robot("two_link").twist([0.0, 0.0], [1.0, 0.0], frame="world_aligned")[[2, 4]].tolist()  # about z, along y
    [1.0, 2.0]
    """
    _check(robot, link, frame)
    return asked(robot, "twist", {"q": q, "qd": qd, "point": point}, backend=backend, out=out, link=link, frame=frame)


@computed
def jacobian(
    robot: Model,
    q: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    point: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """The matrix J with J qd = (omega, v), the twist of a link at a point. Signature (n)->(6,n), angular rows first.

    A wrench (moment, force) on the robot at that point in those axes makes joint forces J^T w. Joints that do not move the link
    have zero columns. Park and Lynch (9.91); with frame="body" Park, Bobrow and Ploen (20).

    frame: "body" (axes of the link or frame, velocity of the point), "world_aligned" (axes of the world, velocity of the point) or
    "world" (axes of the world, velocity of what is passing the world's origin). point: (..., 3) in the axes of the link or frame.

    >>> import dalembert as da
    >>> da.robot("two_link").jacobian([0.0, 0.0], frame="world_aligned")[[2, 4]].tolist()
    [[1.0, 1.0], [2.0, 1.0]]
    """
    _check(robot, link, frame)
    return asked(robot, "jacobian", {"q": q, "point": point}, backend=backend, out=out, link=link, frame=frame)


@computed
def jacobian_rate(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    frame: TwistFrame = "body",
    *,
    point: ArrayLike | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """dJ/dt of `jacobian` with the same link, frame and point, while the joints move with qd. Signature (n),(n)->(6,n).

    It is the derivative of the entries, in moving axes too, so that J qdd + J' qd is the rate of the twist's components, Park
    and Lynch (9.92): its linear part is the acceleration of the point with frame="world_aligned" only.

    >>> import dalembert as da
    >>> da.robot("two_link").jacobian_rate([0.0, 0.0], [1.0, 0.0], frame="world_aligned")[3].tolist()
    [-2.0, -1.0]
    """
    _check(robot, link, frame)
    return asked(robot, "jacobian_rate", {"q": q, "qd": qd, "point": point}, backend=backend, out=out, link=link, frame=frame)


def _check(robot: Model, link: str | None, frame: str) -> None:
    """Refuse names that do not exist before they become keys."""
    carrier(robot, link)
    check_frame(frame)


@computed
def center_of_mass(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The centre of mass in the world, of the links and of what is fixed to the base (`total_mass`). Signature (n)->(3).

    >>> import dalembert as da
    >>> da.robot("two_link").center_of_mass([0.0, 0.0]).tolist()
    [1.0, 0.0, 0.0]
    """
    return asked(robot, "center_of_mass", {"q": q}, backend=backend, out=out)


@computed
def com_jacobian(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The matrix that gives the velocity of `center_of_mass` in the world from qd. Signature (n)->(3,n).

    >>> import dalembert as da
    >>> da.robot("two_link").com_jacobian([0.0, 0.0])[1].tolist()
    [1.0, 0.25]
    """
    return asked(robot, "com_jacobian", {"q": q}, backend=backend, out=out)


@computed
def momentum(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, about: str = "world", backend: Backend = "auto", out: Out = None
) -> Result:
    """Total momentum (angular, linear) in the axes of the world. Signature (n),(n)->(6).

    about="world": the angular part is about the origin of the world; "com": about `center_of_mass`. Rotors (armature) are left
    out. Its rate is the moment and force of gravity, of the wrenches and of what holds the base.

    >>> import dalembert as da
    >>> da.robot("two_link").momentum([0.0, 0.0], [1.0, 0.0]).round(6).tolist()
    [0.0, 0.0, 2.666667, 0.0, 2.0, 0.0]
    >>> da.robot("two_link").momentum([0.0, 0.0], [1.0, 0.0], about="com")[2].round(6).item()
    0.666667
    """
    check_about(about)
    return asked(robot, "momentum", {"q": q, "qd": qd}, backend=backend, out=out, about=about)


@computed
def centroidal_momentum_matrix(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The matrix that gives the momentum about the centre of mass, in world axes, from qd. Signature (n)->(6,n).

    momentum(q, qd, about="com") = A(q) qd, angular part first. Without forces from outside it stays the same, whatever the joints
    do; of a robot on a free base, A' qd + A qdd is the wrench of gravity and of all that pushes it.

    >>> import dalembert as da
    >>> arm, q, qd = da.robot("two_link"), [0.1, 0.2], [1.0, 2.0]
    >>> bool(abs(arm.centroidal_momentum_matrix(q) @ qd - arm.momentum(q, qd, about="com")).max() < 1e-14)
    True
    """
    return asked(robot, "centroidal_momentum_matrix", {"q": q}, backend=backend, out=out)


@computed
def centroidal_momentum_matrix_rate(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, backend: Backend = "auto", out: Out = None
) -> Result:
    """dA/dt of `centroidal_momentum_matrix`, while the joints move with qd. Signature (n),(n)->(6,n).

    >>> import dalembert as da
    >>> da.robot("two_link").centroidal_momentum_matrix_rate([0.1, 0.2], [1.0, 2.0]).shape
    (6, 2)
    """
    return asked(robot, "centroidal_momentum_matrix_rate", {"q": q, "qd": qd}, backend=backend, out=out)


@computed
def composite_inertia(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The inertia of the whole robot as one body, about its centre of mass in world axes. Signature (n)->(6,6).

    The tensor (kg m^2), and the mass three times; what is fixed to the base counts, as in `center_of_mass`.

    >>> import dalembert as da
    >>> da.robot("two_link").composite_inertia([0.0, 0.0])[3:, 3:].tolist()
    [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    """
    return asked(robot, "composite_inertia", {"q": q}, backend=backend, out=out)
