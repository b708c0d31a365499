"""Poses, twists and Jacobians of links and of named frames, the centre of mass, and the momentum.

A link or frame is given by name; left out, it is the one link at the end of the arm. `point` (..., 3) is given in its own axes
(default: its origin). A twist is (angular, linear); its `frame` says in which axes, and whose velocity the linear part is:

- "body": in the axes of the link or frame, of the point;
- "world_aligned": in the axes of the world, of the point;
- "world": in the axes of the world, of what is just passing the world's origin (the spatial twist; the point does not matter).
"""

from collections.abc import Callable
from typing import Any

from dalembert.model.model import Model
from dalembert.quantities import chain
from dalembert.quantities.quantity import evaluate, shapes_of
from dalembert.quantities.table import QD, Q, Quantity, quantity_named, register
from dalembert.spatial import Array
from dalembert.trace.program import Program, trace

POINT = {"point": (3,)}
_LINK: dict[str, Any] = {"link": None}
_FRAME: dict[str, Any] = {**_LINK, "frame": "body"}
_METHOD = "recursive"


def recorded(name: str, function: Callable[..., Any]) -> Callable[..., Program]:
    """The way to the program of a quantity that is a plain function of a model, of arrays by name, and of options."""

    def derived(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
        shapes = shapes_of(model, name, optional)

        def body(*arrays: Any) -> Any:
            return function(model, **dict(zip(shapes, arrays, strict=True)), **options)

        return trace(body, shapes, outputs=tuple(quantity_named(name).outputs))

    return derived


def _register(function: Callable[..., Any], inputs: Any, shape: tuple[Any, ...], optional: Any = None, options: Any = None) -> None:
    name: str = function.__name__
    made = recorded(name, function)
    register(
        name, Quantity(inputs, {name: shape}, _METHOD, optional or {}, derived=made, methods=(_METHOD,), options=options or {})
    )


_register(chain.pose, Q, (4, 4), POINT, _LINK)
_register(chain.poses, Q, ("n", 4, 4))
_register(chain.twist, Q | QD, (6,), POINT, _FRAME)
_register(chain.jacobian, Q, (6, "n"), POINT, _FRAME)
_register(chain.jacobian_rate, Q | QD, (6, "n"), POINT, _FRAME)
_register(chain.center_of_mass, Q, (3,))
_register(chain.com_jacobian, Q, (3, "n"))
_register(chain.momentum, Q | QD, (6,), options={"about": "world"})


def pose(robot: Model, q: Any, link: str | None = None, *, point: Any = None, backend: str = "auto", out: Any = None) -> Array:
    """The pose of a link or frame in the world, as a 4x4 matrix. Signature (n)->(4,4), leading axes broadcast.

    x_world = pose @ (x, y, z, 1). The robot's mounting (`with_base`) is included. With `point` the origin moves there.

    >>> import dalembert as da
    >>> da.robot("two_link").pose([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    >>> da.robot("panda").pose([0.0] * 7, "panda_hand_tcp", point=(0, 0, 0.1))[:3, 3].round(6).tolist()
    [0.088, 0.0, 0.7226]
    """
    try:
        if point is out is None and backend == "auto":
            return robot.memo["pose"][_METHOD, link](q)
    except (KeyError, TypeError, ValueError, RuntimeError):
        pass  # the first call, wrong shapes, complex numbers: the long way serves or explains
    chain.carrier(robot, link)
    return evaluate(robot, "pose", _METHOD, {"q": q, "point": point}, backend, out, link=link)


def poses(robot: Model, q: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """The poses of all moving links in the world, in joint order. Signature (n)->(n,4,4).

    >>> import dalembert as da
    >>> da.robot("two_link").poses([0.0, 0.0])[:, 0, 3].tolist()
    [1.0, 2.0]
    """
    return evaluate(robot, "poses", _METHOD, {"q": q}, backend, out)


def twist(
    robot: Model,
    q: Any,
    qd: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    point: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """Angular velocity of a link and linear velocity of a point of it: (omega, v) = J(q) qd. Signature (n),(n)->(6).

    frame: "body" (axes of the link or frame, velocity of the point), "world_aligned" (axes of the world, velocity of the point) or
    "world" (axes of the world, velocity of what is passing the world's origin). point: (..., 3) in the axes of the link or frame.

    >>> import dalembert as da
    >>> da.robot("two_link").twist([0.0, 0.0], [1.0, 0.0], frame="world_aligned")[[2, 4]].tolist()  # about z, along y
    [1.0, 2.0]
    """
    try:
        if point is out is None and backend == "auto":
            return robot.memo["twist"][_METHOD, link, frame](q, qd)
    except (KeyError, TypeError, ValueError, RuntimeError):
        pass
    _check(robot, link, frame)
    return evaluate(robot, "twist", _METHOD, {"q": q, "qd": qd, "point": point}, backend, out, link=link, frame=frame)


def jacobian(
    robot: Model,
    q: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    point: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """The matrix J with J qd = (omega, v), the twist of a link at a point. Signature (n)->(6,n), angular rows first.

    A wrench (moment, force) on the robot at that point in those axes makes joint forces J^T w. Joints that do not move the link
    have zero columns.

    frame: "body" (axes of the link or frame, velocity of the point), "world_aligned" (axes of the world, velocity of the point) or
    "world" (axes of the world, velocity of what is passing the world's origin). point: (..., 3) in the axes of the link or frame.

    >>> import dalembert as da
    >>> da.robot("two_link").jacobian([0.0, 0.0], frame="world_aligned")[[2, 4]].tolist()
    [[1.0, 1.0], [2.0, 1.0]]
    """
    try:
        if point is out is None and backend == "auto":
            return robot.memo["jacobian"][_METHOD, link, frame](q)
    except (KeyError, TypeError, ValueError, RuntimeError):
        pass
    _check(robot, link, frame)
    return evaluate(robot, "jacobian", _METHOD, {"q": q, "point": point}, backend, out, link=link, frame=frame)


def jacobian_rate(
    robot: Model,
    q: Any,
    qd: Any,
    link: str | None = None,
    frame: str = "body",
    *,
    point: Any = None,
    backend: str = "auto",
    out: Any = None,
) -> Array:
    """dJ/dt of `jacobian` with the same link, frame and point, while the joints move with qd. Signature (n),(n)->(6,n).

    It is the derivative of the entries, in moving axes too, so that J qdd + J' qd is the rate of the twist's components: its
    linear part is the acceleration of the point with frame="world_aligned" only.

    >>> import dalembert as da
    >>> da.robot("two_link").jacobian_rate([0.0, 0.0], [1.0, 0.0], frame="world_aligned")[3].tolist()
    [-2.0, -1.0]
    """
    try:
        if point is out is None and backend == "auto":
            return robot.memo["jacobian_rate"][_METHOD, link, frame](q, qd)
    except (KeyError, TypeError, ValueError, RuntimeError):
        pass
    _check(robot, link, frame)
    return evaluate(robot, "jacobian_rate", _METHOD, {"q": q, "qd": qd, "point": point}, backend, out, link=link, frame=frame)


def _check(robot: Model, link: str | None, frame: str) -> None:
    """Refuse names that do not exist before they become keys."""
    chain.carrier(robot, link)
    chain.check_frame(frame)


def center_of_mass(robot: Model, q: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """The centre of mass in the world, of the links and of what is fixed to the base (`total_mass`). Signature (n)->(3).

    >>> import dalembert as da
    >>> da.robot("two_link").center_of_mass([0.0, 0.0]).tolist()
    [1.0, 0.0, 0.0]
    """
    return evaluate(robot, "center_of_mass", _METHOD, {"q": q}, backend, out)


def com_jacobian(robot: Model, q: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """The matrix that gives the velocity of `center_of_mass` in the world from qd. Signature (n)->(3,n).

    >>> import dalembert as da
    >>> da.robot("two_link").com_jacobian([0.0, 0.0])[1].tolist()
    [1.0, 0.25]
    """
    return evaluate(robot, "com_jacobian", _METHOD, {"q": q}, backend, out)


def momentum(robot: Model, q: Any, qd: Any, *, about: str = "world", backend: str = "auto", out: Any = None) -> Array:
    """Total momentum (angular, linear) in the axes of the world. Signature (n),(n)->(6).

    about="world": the angular part is about the origin of the world; "com": about `center_of_mass`. Rotors (armature) are left
    out. Its rate is the moment and force of gravity, of the wrenches and of what holds the base.

    >>> import dalembert as da
    >>> da.robot("two_link").momentum([0.0, 0.0], [1.0, 0.0]).round(6).tolist()
    [0.0, 0.0, 2.666667, 0.0, 2.0, 0.0]
    >>> da.robot("two_link").momentum([0.0, 0.0], [1.0, 0.0], about="com")[2].round(6).item()
    0.666667
    """
    chain.check_about(about)
    return evaluate(robot, "momentum", _METHOD, {"q": q, "qd": qd}, backend, out, about=about)
