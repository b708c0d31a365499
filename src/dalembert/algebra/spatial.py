"""Rigid-body algebra on (..., k) arrays of any scalar: floats, traced expressions, residues modulo a prime.

Six-vectors have the angular part first: a twist is (omega, v), a wrench is (moment, force). A `Transform` is the pose of one
frame in another: x_outer = R x_inner + p. Independent of robots.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.scalars import cos_sin

# Arrays hold floats, or objects that behave like numbers; the dtype is the parameter that formulations are generic in.
Array = np.ndarray[Any, np.dtype[Any]]


class Transform(NamedTuple):
    """Pose of a frame: rotation (..., 3, 3) and origin (..., 3)."""

    rotation: Any
    translation: Any


def zeros(shape: int | tuple[int, ...]) -> Array:
    """Zeros that suit every scalar: integers keep fractions and residues exact, and become floats in arithmetic with floats."""
    return np.zeros(shape, dtype=int)


def stack(parts: Any) -> Array:
    """Scalars or batches of them, side by side along a new last axis."""
    if not any(isinstance(x, np.ndarray | list | tuple) for x in parts):
        return np.array(parts)  # the same, at a tenth of the time
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def matrix(entries: Mapping[tuple[int, int], Any], rows: int, columns: int | None = None) -> Array:
    """(..., rows, columns) from entries by index, 0 where there is none; batches of them broadcast."""
    shape = rows, rows if columns is None else columns
    flat = stack([entries.get(index, 0) for index in np.ndindex(*shape)])
    return flat.reshape((*flat.shape[:-1], *shape))


def blocks(entries: Mapping[tuple[int, int], Any], n: int, shape: tuple[int, int]) -> Array:
    """A matrix of n x n blocks of one shape, 0 where there is none."""
    batch = np.broadcast_shapes(*(np.shape(x)[:-2] for x in entries.values()))

    def block(i: int, j: int) -> Any:
        entry = entries.get((i, j))
        return np.broadcast_to(zeros(shape) if entry is None else entry, (*batch, *shape))

    return np.concatenate([np.concatenate([block(i, j) for j in range(n)], axis=-1) for i in range(n)], axis=-2)


def block_diagonal(parts: Sequence[Any]) -> Array:
    """A matrix with these blocks of one shape on its diagonal."""
    return blocks({(i, i): part for i, part in enumerate(parts)}, len(parts), np.shape(parts[0])[-2:])


def join(*parts: Any) -> Array:
    """Vectors end to end along the last axis, their batches broadcast: join(omega, v) is a twist."""
    batch = np.broadcast_shapes(*(np.shape(p)[:-1] for p in parts))
    return np.concatenate([np.broadcast_to(p, (*batch, np.shape(p)[-1])) for p in parts], axis=-1)


def cross(a: Any, b: Any) -> Array:
    """a x b, component by component.

    >>> cross(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    array([0., 0., 1.])
    """
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def tumbling(w: Any, wd: Any) -> Array:
    """The matrix [wd] + [w][w] that gives the acceleration of every point of a rotating body.

    Its six products of velocities are shared by all points and the inertia of the body; recording finds them again each time.
    """
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    a, b, c = wd[..., 0], wd[..., 1], wd[..., 2]
    xy, xz, yz = x * y, x * z, y * z
    xx, yy, zz = x * x, y * y, z * z
    rows = [-(yy + zz), xy - c, xz + b], [xy + c, -(xx + zz), yz - a], [xz - b, yz + a, -(xx + yy)]
    return np.stack([stack(row) for row in rows], axis=-2)


def swing(w: Any, wd: Any, p: Any) -> Array:
    """Acceleration of a point p of a rotating body relative to its reference point: wd x p + w x (w x p)."""
    return rotate(tumbling(w, wd), p)


def second_moments(inertia: Any) -> Array:
    """The integral of r r^T dm from the inertia tensor about the same point: tr(I)/2 - I, Silver (2.11)."""
    half = (inertia[..., 0, 0] + inertia[..., 1, 1] + inertia[..., 2, 2]) / 2
    return np.asarray(half)[..., None, None] * np.eye(3, dtype=int) - inertia


def tensor_of(second: Any) -> Array:
    """The inertia tensor from second moments: each moment of inertia is the sum of two of them, so where one is 0 two are equal."""
    diagonal = {(i, i): second[..., j, j] + second[..., k, k] for i, j, k in ((0, 1, 2), (1, 0, 2), (2, 0, 1))}
    return matrix(diagonal | {(i, j): -second[..., i, j] for i in range(3) for j in range(3) if i != j}, 3)


def spin(inertia: Any, w: Any, wd: Any) -> Array:
    """The moment that rotates a body about its centre of mass: I wd + w x I w.

    Written with the entries of [wd] + [w][w], which its points share. `flat` vanishes for a body without extent along z.
    """
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    a, b, c = wd[..., 0], wd[..., 1], wd[..., 2]
    xy, xz, yz, xx, yy, zz = x * y, x * z, y * z, x * x, y * y, z * z
    Ixx, Ixy, Ixz = (inertia[..., 0, k] for k in range(3))
    Iyy, Iyz, Izz = inertia[..., 1, 1], inertia[..., 1, 2], inertia[..., 2, 2]
    flat = Izz - (Ixx + Iyy)
    return stack(
        [
            Ixx * (yz + a) + flat * yz + Ixz * (xy + c) - Ixy * (xz - b) + Iyz * (yy - zz),
            -Iyy * (xz - b) - flat * xz + Ixy * (yz + a) - Iyz * (xy - c) + Ixz * (zz - xx),
            Izz * c + (Iyy - Ixx) * xy + Iyz * (xz + b) - Ixz * (yz - a) + Ixy * (xx - yy),
        ]
    )


def skew(a: Any) -> Array:
    """The matrix [a] with [a] b = a x b."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = zeros(np.shape(x))
    return np.stack([stack([o, -z, y]), stack([z, o, -x]), stack([-y, x, o])], axis=-2)


def rotate(R: Any, v: Any) -> Array:
    """R v: components in the outer frame from components in the inner one."""
    return np.matvec(R, v)


def rotate_back(R: Any, v: Any) -> Array:
    """R^T v: components in the inner frame from components in the outer one."""
    return np.matvec(np.swapaxes(R, -1, -2), v)


def rotation_about_z(c: Any, s: Any) -> Array:
    """Rz for the rotation by an angle with cosine c and sine s."""
    o = zeros(np.shape(c))
    return np.stack([stack([c, -s, o]), stack([s, c, o]), stack([o, o, o + 1])], axis=-2)


def rotation_of(quaternion: Any) -> Array:
    """The rotation (..., 3, 3) of a quaternion (w, x, y, z) of any length whose square is a normal number.

    Rational, so programs can be proven; NaN for other lengths.
    """
    w, x, y, z = (quaternion[..., k] for k in range(4))
    square = w * w + x * x + y * y + z * z
    inverse = 1 / square
    one, scale = inverse * square, 2 * inverse  # 1, or NaN where the square is 0 or overflows
    a, b, c = scale * x, scale * y, scale * z
    xx, yy, zz, xy, xz, yz, wx, wy, wz = a * x, b * y, c * z, a * y, a * z, b * z, a * w, b * w, c * w
    rows = [one - (yy + zz), xy - wz, xz + wy], [xy + wz, one - (xx + zz), yz - wx], [xz - wy, yz + wx, one - (xx + yy)]
    return np.stack([stack(row) for row in rows], axis=-2)


def turn_z(c: Any, s: Any, v: Any) -> Array:
    """Rz v for the rotation by an angle with cosine c and sine s."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return stack([c * x - s * y, s * x + c * y, z])


def turn_tensor(c: Any, s: Any, T: Any, axis: int = 2) -> Array:
    """R T R^T for the rotation R about a coordinate axis by an angle with cosine c and sine s; T may be unsymmetric.

    In the plane of rotation the trace and the skew part stay, and the rest rotates by twice the angle: four products instead of
    eight. A symmetric T gives the same expressions on both sides of the diagonal.
    """
    x, y, z = (axis + 1) % 3, (axis + 2) % 3, axis
    d, e = T[..., x, x] - T[..., y, y], T[..., x, y] + T[..., y, x]
    ss, cs = s * s, c * s
    u, w = ss * d + cs * e, cs * d - ss * e
    entries: dict[tuple[int, int], Any] = {
        (x, x): T[..., x, x] - u,
        (x, y): T[..., x, y] + w,
        (x, z): c * T[..., x, z] - s * T[..., y, z],
        (y, x): T[..., y, x] + w,
        (y, y): T[..., y, y] + u,
        (y, z): s * T[..., x, z] + c * T[..., y, z],
        (z, x): c * T[..., z, x] - s * T[..., z, y],
        (z, y): s * T[..., z, x] + c * T[..., z, y],
        (z, z): T[..., z, z],
    }
    return matrix(entries, 3)


def congruent(R: Any, T: Any) -> Array:
    """R T R^T: a tensor of the inner frame in the outer one."""
    return R @ T @ np.swapaxes(R, -1, -2)


def symmetric(T: Any) -> Array:
    """The symmetric matrix with the upper triangle of T: what is below need not be computed."""
    n = T.shape[-1]
    return matrix({(i, j): T[..., min(i, j), max(i, j)] for i in range(n) for j in range(n)}, n)


def scaled(x: Any, v: Any) -> Array:
    """A vector times a scalar, for batches of both."""
    return np.asarray(x)[..., None] * v


def outer(a: Any, b: Any) -> Array:
    """a b^T."""
    return a[..., :, None] * b[..., None, :]


def along_z(x: Any) -> Array:
    """The vector (0, 0, x)."""
    o = zeros(np.shape(x))
    return stack([o, o, x])


def compose(outer: Transform, inner: Transform) -> Transform:
    """The pose of the inner frame in the outermost one: outer then inner."""
    return Transform(outer.rotation @ inner.rotation, rotate(outer.rotation, inner.translation) + outer.translation)


def exp_z(rho: Any, sigma: Any, q: Any) -> Transform:
    """The motion of a joint along z: rotation by rho q, translation by sigma q.

    Revolute (1, 0), prismatic (0, 1), helical (1, pitch).
    """
    return Transform(rotation_about_z(*cos_sin(rho * q)), along_z(sigma * q))


def split(V: Any) -> tuple[Array, Array]:
    """The angular and the linear half of a six-vector."""
    return V[..., :3], V[..., 3:]


def Ad(T: Transform, V: Any) -> Array:
    """Twist in the outer frame from the inner one: (R w, R v + p x R w)."""
    w, v = split(V)
    w = rotate(T.rotation, w)
    return join(w, rotate(T.rotation, v) + cross(T.translation, w))


def Ad_inverse(T: Transform, V: Any) -> Array:
    """Twist in the inner frame from the outer one: (R^T w, R^T (v - p x w))."""
    w, v = split(V)
    return join(rotate_back(T.rotation, w), rotate_back(T.rotation, v - cross(T.translation, w)))


def Ad_inverse_dual(T: Transform, F: Any) -> Array:
    """Wrench in the outer frame from the inner one, Ad*_{T^-1} F: (R m + p x R f, R f)."""
    m, f = split(F)
    f = rotate(T.rotation, f)
    return join(rotate(T.rotation, m) + cross(T.translation, f), f)


def ad(V: Any, W: Any) -> Array:
    """Lie bracket of two twists, [V, W]."""
    (w, v), (a, b) = split(V), split(W)
    return join(cross(w, a), cross(w, b) + cross(v, a))


def ad_dual(V: Any, F: Any) -> Array:
    """Transpose of ad_V applied to a wrench: ad*_V F."""
    (w, v), (m, f) = split(V), split(F)
    return join(-(cross(w, m) + cross(v, f)), -cross(w, f))


def inverse(T: Transform) -> Transform:
    """The outer frame seen from the inner one."""
    return Transform(np.swapaxes(T.rotation, -1, -2), -rotate_back(T.rotation, T.translation))


def dot(a: Any, b: Any) -> Any:
    """Inner product along the last axis."""
    return (a * b).sum(axis=-1)


def trace_of_product(A: Any, B: Any) -> Any:
    """Tr(A B)."""
    return (A * np.swapaxes(B, -1, -2)).sum(axis=(-2, -1))


def homogeneous(T: Transform) -> Array:
    """The 4x4 matrix of a transform."""
    bottom = np.array([[0, 0, 0, 1]])
    top = np.concatenate([T.rotation, T.translation[..., None]], axis=-1)
    return np.concatenate([top, np.broadcast_to(bottom, (*top.shape[:-2], 1, 4))], axis=-2)


def hat(V: Any) -> Array:
    """The 4x4 matrix of a twist: its rotation part is [omega], its last column v."""
    w, v = split(V)
    top = np.concatenate([skew(w), v[..., None]], axis=-1)
    return np.concatenate([top, zeros((*top.shape[:-2], 1, 4))], axis=-2)


def pseudo_inertia(mass: Any, com: Any, inertia: Any) -> Array:
    """The 4x4 matrix of second moments about the frame's origin, integral of r r^T dm with r = (x, y, z, 1): FGL (3.2-17).

    The 3x3 part is tr(I)/2 - I about the centre of mass (Silver (2.11)) plus m c c^T; so the off-diagonal entries of FGL (3.2-18)
    are minus the tensor's (E-F1).
    """
    second = second_moments(inertia) + mass * (com[..., :, None] * com[..., None, :])
    first = (mass * com)[..., None]
    last = np.concatenate([np.swapaxes(first, -1, -2), np.asarray(mass)[..., None, None]], axis=-1)
    return np.concatenate([np.concatenate([second, first], axis=-1), last], axis=-2)


def Ad_matrix(T: Transform) -> Array:
    """The 6x6 matrix of Ad: twists of the inner frame to the outer one."""
    R, p = T.rotation, T.translation
    top = np.concatenate([R, zeros(R.shape)], axis=-1)
    return np.concatenate([top, np.concatenate([skew(p) @ R, R], axis=-1)], axis=-2)


def ad_matrix(V: Any) -> Array:
    """The 6x6 matrix of ad_V."""
    w, v = split(V)
    W = skew(w)
    return np.concatenate([np.concatenate([W, zeros(W.shape)], axis=-1), np.concatenate([skew(v), W], axis=-1)], axis=-2)


def spatial_inertia(mass: Any, com: Any, inertia: Any) -> Array:
    """The 6x6 inertia about the frame's origin, from mass, centre of mass and the tensor about it: Park-Bobrow-Ploen (21)."""
    r = skew(com)
    mr = np.asarray(mass)[..., None, None] * r
    m1 = np.asarray(mass)[..., None, None] * np.eye(3, dtype=int)
    return np.concatenate([np.concatenate([inertia - mr @ r, mr], axis=-1), np.concatenate([-mr, m1], axis=-1)], axis=-2)
