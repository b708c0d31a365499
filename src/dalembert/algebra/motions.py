"""Rigid motions: SE(3), its algebra and its dual.

Park, Bobrow and Ploen, section 2; Park and Lynch (9.22) to (9.31); Kozlowski (1) to (8).

Poses are 4x4 matrices T = [[R, p], [0, 1]], as `robot.pose` gives them; twists are (omega, v) and wrenches (moment, force). All
functions take any leading axes, and complex numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra import spatial
from dalembert.algebra.rotations import log_so3, series
from dalembert.algebra.spatial import Array, Transform, cross, dot, join, rotate, split
from dalembert.arguments import arrays

V3, V6, M4, M6 = (3,), (6,), (4, 4), (6, 6)


def _transform(T: Any) -> Transform:
    return Transform(T[..., :3, :3], T[..., :3, 3])


def hat(twist: ArrayLike) -> Array:
    """The 4x4 matrix [[omega], v; 0, 0] of a twist. Signature (6)->(4,4).

    >>> hat([0, 0, 1, 2, 3, 4])[:3, 3].tolist()
    [2.0, 3.0, 4.0]
    """
    (V,) = arrays("hat", twist=(twist, V6))
    return spatial.hat(V)


def unhat(matrix: ArrayLike) -> Array:
    """The twist of a 4x4 matrix: the inverse of `hat`. Signature (4,4)->(6).

    >>> unhat(hat([1, 2, 3, 4, 5, 6])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    (X,) = arrays("unhat", matrix=(matrix, M4))
    return np.stack([X[..., 2, 1], X[..., 0, 2], X[..., 1, 0], X[..., 0, 3], X[..., 1, 3], X[..., 2, 3]], axis=-1)


def exp_se3(twist: ArrayLike) -> Array:
    """The motion exp of a twist, screw times angle: Park, Bobrow and Ploen (15) to (17). Signature (6)->(4,4).

    >>> exp_se3([0, 0, 0, 1, 2, 3])[:3, 3].tolist()
    [1.0, 2.0, 3.0]
    """
    (V,) = arrays("exp_se3", twist=(twist, V6))
    w, v = split(V)
    W = spatial.skew(w)
    a, b, c = (x[..., None, None] for x in series(dot(w, w)))
    one = np.eye(3)
    return spatial.homogeneous(Transform(one + a * W + b * (W @ W), rotate(one + b * W + c * (W @ W), v)))


def log_se3(pose: ArrayLike) -> Array:
    """The twist V, its rotation at most a half turn, with exp V = T: the inverse of `exp_se3`. Signature (4,4)->(6).

    >>> log_se3(exp_se3([0.1, 0.2, 0.3, 4.0, 5.0, 6.0])).round(12).tolist()
    [0.1, 0.2, 0.3, 4.0, 5.0, 6.0]
    """
    (T,) = arrays("log_se3", pose=(pose, M4))
    w = log_so3(T[..., :3, :3])
    W = spatial.skew(w)
    _, b, c = (x[..., None, None] for x in series(dot(w, w)))
    v = np.linalg.solve(np.eye(3) + b * W + c * (W @ W), T[..., :3, 3:])[..., 0]
    return join(w, v)


def inverse(pose: ArrayLike) -> Array:
    """The outer frame seen from the inner one: (R^T, -R^T p). Signature (4,4)->(4,4).

    >>> inverse(exp_se3([0, 0, 0, 1, 2, 3]))[:3, 3].tolist()
    [-1.0, -2.0, -3.0]
    """
    (T,) = arrays("inverse", pose=(pose, M4))
    return spatial.homogeneous(spatial.inverse(_transform(T)))


def Ad(pose: ArrayLike) -> Array:
    """The 6x6 matrix of the adjoint map, which carries twists of the inner frame to the outer one. Signature (4,4)->(6,6).

    Park, Bobrow and Ploen (2), (3): (omega, v) -> (R omega, R v + p x R omega). Ad of a product is the product of the Ad, and
    Ad of the inverse the inverse of Ad.

    >>> (Ad(exp_se3([0, 0, 0, 1, 0, 0])) @ [0, 0, 1, 0, 0, 0]).tolist()
    [0.0, 0.0, 1.0, 0.0, -1.0, 0.0]
    """
    (T,) = arrays("Ad", pose=(pose, M4))
    return spatial.Ad_matrix(_transform(T))


def Ad_dual(pose: ArrayLike) -> Array:
    """The 6x6 matrix of Ad*, the transpose of Ad: wrenches of the outer frame in the inner one. Signature (4,4)->(6,6).

    Park, Bobrow and Ploen (4), (11). The power of a wrench and a twist is the same in both frames.

    >>> (Ad_dual(exp_se3([0, 0, 0, 1, 0, 0])) @ [0, 0, 0, 0, 1, 0]).tolist()
    [0.0, 0.0, -1.0, 0.0, 1.0, 0.0]
    """
    return np.swapaxes(Ad(pose), -1, -2)


def ad(twist: ArrayLike) -> Array:
    """The 6x6 matrix of ad_V, W -> [V, W]: Park, Bobrow and Ploen (6), Park and Lynch (9.29). Signature (6)->(6,6).

    >>> (ad([0, 0, 1, 0, 0, 0]) @ [1, 0, 0, 0, 0, 0]).tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    (V,) = arrays("ad", twist=(twist, V6))
    return spatial.ad_matrix(V)


def ad_dual(twist: ArrayLike) -> Array:
    """The 6x6 matrix of ad*_V, the transpose of ad_V: Park, Bobrow and Ploen (7), Park and Lynch (9.31). Signature (6)->(6,6).

    >>> (ad_dual([0, 0, 1, 0, 0, 0]) @ [1, 0, 0, 0, 0, 0]).tolist()
    [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    """
    return np.swapaxes(ad(twist), -1, -2)


def bracket(a: ArrayLike, b: ArrayLike) -> Array:
    """The Lie bracket [V1, V2] of twists: Park, Bobrow and Ploen (1), (5), Park and Lynch (9.27), (9.28), (9.30).

    Signature (6),(6)->(6). (omega1 x omega2, omega1 x v2 - omega2 x v1), the commutator of their 4x4 matrices.

    >>> bracket([0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    a, b = arrays("bracket", a=(a, V6), b=(b, V6))
    return spatial.ad(a, b)


def body_twist(pose: ArrayLike, pose_rate: ArrayLike) -> Array:
    """The body-fixed velocity T^-1 T-dot: Park, Bobrow and Ploen, section 2.2. Signature (4,4),(4,4)->(6).

    A frame T A with A fixed in the body has the twist Ad_A^-1 of this (right translation).

    >>> body_twist(np.eye(4), hat([1, 2, 3, 4, 5, 6])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    T, Td = arrays("body_twist", pose=(pose, M4), pose_rate=(pose_rate, M4))
    return unhat(inverse(T) @ Td)


def space_twist(pose: ArrayLike, pose_rate: ArrayLike) -> Array:
    """The inertial velocity T-dot T^-1: Park, Bobrow and Ploen, section 2.2. Signature (4,4),(4,4)->(6).

    Its linear part is the velocity of the point of the body that is passing the origin of the fixed frame, not that of the frame.

    >>> space_twist(exp_se3([0, 0, 0, 1, 0, 0]), exp_se3([0, 0, 0, 1, 0, 0]) @ hat([0, 0, 1, 0, 0, 0])).tolist()
    [0.0, 0.0, 1.0, 0.0, -1.0, 0.0]
    """
    T, Td = arrays("space_twist", pose=(pose, M4), pose_rate=(pose_rate, M4))
    return unhat(Td @ inverse(T))


# --- screws ---------------------------------------------------------------------------------------------------------------


class Screw(NamedTuple):
    """A twist as a screw: the direction of its axis, the point of the axis nearest to the origin, pitch (m/rad) and magnitude.

    Without rotation the pitch is infinite, the point 0 and the magnitude that of the linear velocity.
    """

    axis: Array
    point: Array
    pitch: Array
    magnitude: Array


def screw(axis: ArrayLike, point: ArrayLike = (0, 0, 0), pitch: ArrayLike = 0.0) -> Array:
    """The twist of a unit rotation about an axis, with a translation by the pitch along it. Signature (3),(3),()->(6).

    (s, p x s + h s) for the unit direction s and a point p of the axis; (0, s) for an infinite pitch: a prismatic joint.

    >>> screw([0, 0, 2], point=[1, 0, 0]).tolist()
    [0.0, 0.0, 1.0, 0.0, -1.0, 0.0]
    >>> screw([0, 0, 1], pitch=np.inf).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """
    axis, point, pitch = arrays("screw", axis=(axis, V3), point=(point, V3), pitch=(pitch, ()))
    with np.errstate(all="ignore"):
        s = axis / np.sqrt(dot(axis, axis))[..., None]
    slides = np.isinf(pitch)[..., None]
    finite = np.where(np.isinf(pitch), 0.0, pitch)[..., None]
    return join(np.where(slides, 0.0, s), np.where(slides, s, cross(point, s) + finite * s))


def screw_of(twist: ArrayLike) -> Screw:
    """Axis, point, pitch and magnitude of a twist: the inverse of `screw`. Signature (6)->(3),(3),(),().

    >>> axis, point, pitch, magnitude = screw_of([0, 0, 2, 0, -2, 1])
    >>> axis.tolist(), (point + 0).tolist(), float(pitch), float(magnitude)
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 0.5, 2.0)
    """
    (V,) = arrays("screw_of", twist=(twist, V6))
    w, v = split(V)
    ww, vv = dot(w, w), dot(v, v)
    turns = np.real(ww) > 0
    with np.errstate(all="ignore"):
        size = np.sqrt(np.where(turns, ww, vv))
        axis = np.where(turns[..., None], w, v) / size[..., None]
        point = np.where(turns[..., None], cross(w, v) / ww[..., None], 0.0)
        return Screw(axis, point, np.where(turns, dot(w, v) / ww, np.inf), size)


# --- derivatives in moving frames -----------------------------------------------------------------------------------------


def vector_rate(local_rate: ArrayLike, x: ArrayLike, omega: ArrayLike) -> Array:
    """Dx/Dt = dx/dt + Omega x: a six-vector's derivative in another frame, in own axes. Signature (6),(6),(3)->(6).

    Kozlowski (1) with the angular velocity of the frame in the inertial one, (3) with that relative to the next frame; Omega =
    diag([omega], [omega]) (2), (4). This is the derivative of components in turned axes, the point of reference stays.

    >>> vector_rate(np.zeros(6), [1, 0, 0, 0, 1, 0], [0, 0, 2]).tolist()
    [0.0, 2.0, 0.0, -2.0, 0.0, 0.0]
    """
    xd, x, w = arrays("vector_rate", local_rate=(local_rate, V6), x=(x, V6), omega=(omega, V3))
    return xd + join(*(cross(w, part) for part in split(x)))


def matrix_rate(local_rate: ArrayLike, X: ArrayLike, omega: ArrayLike) -> Array:
    """DX/Dt = dX/dt + [Omega, X]: a 6x6 tensor's derivative in another frame: Kozlowski (6), (7). Signature (6,6),(6,6),(3)->(6,6).

    >>> matrix_rate(np.zeros((6, 6)), np.diag([1.0, 2, 3, 1, 1, 1]), [0, 0, 1])[0, :2].tolist()
    [0.0, -1.0]
    """
    Xd, X, w = arrays("matrix_rate", local_rate=(local_rate, M6), X=(X, M6), omega=(omega, V3))
    W = spatial.skew(w)
    Omega = spatial.blocks({(0, 0): W, (1, 1): W}, 2, (3, 3))
    return Xd + Omega @ X - X @ Omega
