"""Rotations and moving frames: Silver 1981, section 2; Fu, Gonzalez and Lee, sections 3.3.1 and 3.3.2; Park, Bobrow and Ploen (16).

W is the rotation of a body: v = W v' (Silver (2.1)), so its columns are the body's axes. Angular velocities are in the axes of the
fixed frame unless a function says otherwise. All functions take any leading axes, and complex numbers.
"""

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra import spatial
from dalembert.algebra.spatial import Array, cross
from dalembert.arguments import arrays

V3, M3 = (3,), (3, 3)


def _levi_civita() -> Array:
    e = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        e[i, j, k], e[i, k, j] = 1.0, -1.0
    e.setflags(write=False)
    return e


#: The tensor P of Silver, section 2.2: 1 and -1 for even and odd permutations of 123, else 0. P_ijk P_ijl = 2 delta_kl (2.3),
#: P_ijk P_ilm = delta_jl delta_km - delta_jm delta_kl (2.4).
EPSILON = _levi_civita()


def skew(a: ArrayLike) -> Array:
    """The matrix [a] with [a] b = a x b. Signature (3)->(3,3).

    >>> skew([1.0, 2.0, 3.0]).tolist()
    [[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]]
    """
    (a,) = arrays("skew", a=(a, V3))
    return spatial.skew(a)


def unskew(matrix: ArrayLike) -> Array:
    """The vector of the skew part of a matrix, eps_ijk A_kj / 2: the inverse of `skew`. Signature (3,3)->(3).

    >>> unskew(skew([1.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    (A,) = arrays("unskew", matrix=(matrix, M3))
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], axis=-1) / 2


def series(square: Any) -> tuple[Array, Array, Array]:
    """sin x / x, (1 - cos x) / x^2 and (x - sin x) / x^3 of x^2, without cancellation near 0."""
    near = np.abs(square) < 0.25
    inner, outer = np.where(near, square, 0.0), np.where(near, 1.0, square)
    x = np.sqrt(outer)
    far = np.sin(x) / x, (1 - np.cos(x)) / outer, (x - np.sin(x)) / (outer * x)
    sums = (sum((-inner) ** k / factorial(2 * k + first) for k in range(9)) for first in (1, 2, 3))
    a, b, c = (np.where(near, small, large) for small, large in zip(sums, far, strict=True))
    return a, b, c


def exp_so3(rotation_vector: ArrayLike) -> Array:
    """The rotation exp([w]) by the angle |w| about w, Rodrigues' formula: Park, Bobrow and Ploen (16). Signature (3)->(3,3).

    exp([w]) = 1 + sin t / t [w] + (1 - cos t) / t^2 [w]^2, t = |w|. Its columns are the axes of the rotated body.

    >>> import numpy as np
    >>> exp_so3([0.0, 0.0, np.pi / 2]).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    (w,) = arrays("exp_so3", rotation_vector=(rotation_vector, V3))
    W = spatial.skew(w)
    a, b, _ = series((w * w).sum(axis=-1))
    return np.eye(3) + a[..., None, None] * W + b[..., None, None] * (W @ W)


@np.errstate(all="ignore")
def rodrigues(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotation about a unit axis by an angle: Park, Bobrow and Ploen (16). Signature (3),()->(3,3).

    >>> rodrigues([1.0, 0.0, 0.0], 0.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    axis, angle = arrays("rodrigues", axis=(axis, V3), angle=(angle, ()))
    return exp_so3(axis * angle[..., None])


def log_so3(rotation: ArrayLike) -> Array:
    """The rotation vector w of length at most pi with exp([w]) = R. Signature (3,3)->(3).

    Exact at half turns too, where one of the two vectors w and -w is returned.

    >>> log_so3([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).round(12).tolist()
    [0.0, 0.0, 1.570796326795]
    """
    (R,) = arrays("log_so3", rotation=(rotation, M3))
    quaternion = quaternion_of(R)
    w, v = quaternion[..., :1], quaternion[..., 1:]
    v = np.where(np.real(w) < 0, -v, v)
    length = np.sqrt((v * v).sum(axis=-1, keepdims=True))
    half = np.arctan2(np.real(length), np.abs(np.real(w)))
    with np.errstate(all="ignore"):
        return np.where(length == 0, 2.0, 2 * half / length) * v


def quaternion_of(R: Array) -> Array:
    """(w, x, y, z) of a rotation, from the largest of the four rows of 4 q q^T."""
    x, y, z = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    rows = (
        (1 + x + y + z, a, b, c),
        (a, 1 + x - y - z, xy, xz),
        (b, xy, 1 - x + y - z, yz),
        (c, xz, yz, 1 - x - y + z),
    )
    K = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(np.real(np.diagonal(K, axis1=-2, axis2=-1)), axis=-1)
    row = np.take_along_axis(K, best[..., None, None], axis=-2)[..., 0, :]
    with np.errstate(all="ignore"):
        return row / np.sqrt((row * row).sum(axis=-1, keepdims=True))


def rotation_matrix(fixed: ArrayLike, rotated: ArrayLike) -> Array:
    """W_ij = e_i . e'_j of fixed axes e and rotated axes e', the rows of the arguments. Signature (3,3),(3,3)->(3,3).

    Silver (2.1): W turns components along e' into those along e, and its transpose is its inverse (2.2).

    >>> rotation_matrix(np.eye(3), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]).tolist()  # a quarter turn about z
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    e, turned = arrays("rotation_matrix", fixed=(fixed, M3), rotated=(rotated, M3))
    return e @ np.swapaxes(turned, -1, -2)  # (2.1)


def rotation_rate(omega: ArrayLike, W: ArrayLike) -> Array:
    """W-dot of a body with angular velocity omega, W-dot = [omega] W: Silver (2.5). Signature (3),(3,3)->(3,3).

    >>> rotation_rate([0.0, 0.0, 2.0], np.eye(3)).tolist()
    [[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    omega, W = arrays("rotation_rate", omega=(omega, V3), W=(W, M3))
    return spatial.skew(omega) @ W


def angular_velocity(W: ArrayLike, W_dot: ArrayLike) -> Array:
    """omega_i = eps_ijk W_jl W-dot_kl / 2, Silver (2.6): the inverse of `rotation_rate`. Signature (3,3),(3,3)->(3).

    With W's second derivative in place of the first, the same formula is the angular acceleration, since the rest of it,
    [omega][omega] W W^T, is symmetric.

    >>> angular_velocity(np.eye(3), rotation_rate([1.0, 2.0, 3.0], np.eye(3))).tolist()
    [1.0, 2.0, 3.0]
    """
    W, W_dot = arrays("angular_velocity", W=(W, M3), W_dot=(W_dot, M3))
    return unskew(W_dot @ np.swapaxes(W, -1, -2))


def rotation_acceleration(omega: ArrayLike, omega_dot: ArrayLike, W: ArrayLike) -> Array:
    """The second derivative of W, ([omega-dot] + [omega][omega]) W: Silver (2.5), differentiated. Signature (3),(3),(3,3)->(3,3).

    >>> rotation_acceleration([0.0, 0.0, 2.0], [0.0, 0.0, 0.0], np.eye(3)).tolist()
    [[-4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 0.0]]
    """
    w, wd, W = arrays("rotation_acceleration", omega=(omega, V3), omega_dot=(omega_dot, V3), W=(W, M3))
    return spatial.tumbling(w, wd) @ W


# --- moving frames --------------------------------------------------------------------------------------------------------


def moving_velocity(r: ArrayLike, starred_velocity: ArrayLike, omega: ArrayLike, origin_velocity: ArrayLike = (0, 0, 0)) -> Array:
    """dr/dt = d*r/dt + omega x r + dh/dt of a point in a frame that rotates and translates. Signature (3),(3),(3),(3)->(3).

    Fu, Gonzalez and Lee (3.3-13), and (3.3-17) with the velocity dh/dt of the frame's origin; (3.3-8) for a point at rest in the
    frame. r is the point relative to that origin, the starred derivative what an observer in the frame sees.

    >>> moving_velocity([1, 0, 0], [0, 0, 0], [0, 0, 2]).tolist()
    [0.0, 2.0, 0.0]
    """
    r, v, w, h = arrays(
        "moving_velocity",
        r=(r, V3),
        starred_velocity=(starred_velocity, V3),
        omega=(omega, V3),
        origin_velocity=(origin_velocity, V3),
    )
    return v + cross(w, r) + h


def moving_acceleration(
    r: ArrayLike,
    starred_velocity: ArrayLike,
    starred_acceleration: ArrayLike,
    omega: ArrayLike,
    omega_dot: ArrayLike = (0, 0, 0),
    origin_acceleration: ArrayLike = (0, 0, 0),
) -> Array:
    """The acceleration of a point in a moving frame: the Coriolis theorem. Signature (3),(3),(3),(3),(3),(3)->(3).

    d2r/dt2 = d*2r/dt2 + 2 omega x d*r/dt + omega x (omega x r) + domega/dt x r + d2h/dt2

    Fu, Gonzalez and Lee (3.3-14), and (3.3-19) with the acceleration of the frame's origin: relative, Coriolis, centripetal and
    Euler's acceleration, in this order.

    >>> moving_acceleration([1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 2]).tolist()
    [-8.0, 0.0, 0.0]
    """
    r, v, a, w, wd, h = arrays(
        "moving_acceleration",
        r=(r, V3),
        starred_velocity=(starred_velocity, V3),
        starred_acceleration=(starred_acceleration, V3),
        omega=(omega, V3),
        omega_dot=(omega_dot, V3),
        origin_acceleration=(origin_acceleration, V3),
    )
    return a + 2 * cross(w, v) + cross(w, cross(w, r)) + cross(wd, r) + h
