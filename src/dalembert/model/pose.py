"""Poses of frames: a rotation and an origin, checked when built."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.precise import cos_sin, exact, exact_rotation, precisely, product
from dalembert.algebra.spatial import Array, Transform, cross, dot
from dalembert.arguments import frozen_array, number
from dalembert.errors import DataWarning, Error, warn
from dalembert.model.degrees import rpy_doubt
from dalembert.model.values import Frozen, Value

SNAP = 1e-15  # entries of a rotation nearer than this to 0 or +-1 are meant to be 0 or +-1


def _snapped(rotation: Array, tolerance: float) -> Array:
    near = np.rint(rotation)
    return np.where(np.abs(rotation - near) <= tolerance, near, rotation)


@precisely
def _nearest_rotation(R: Array) -> Array:
    """The orthogonal factor of R, by Newton's iteration for R^T R = 1; the number of right digits doubles at every step."""
    for _ in range(100):
        defect = R.T @ R - np.eye(3, dtype=int)
        R = R - R @ defect / 2
        if abs(defect).max() < 1e-30:
            break
    return R


@dataclass(frozen=True, eq=False, repr=False)
class Pose(Value):
    """Where a frame is: x_outer = rotation x_inner + translation.

    >>> Pose.of(translation=(0, 0, 0.3), rpy=(np.pi / 2, 0, 0))
    Pose(rotation=[[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]], translation=[0.0, 0.0, 0.3])
    """

    rotation: Frozen
    translation: Frozen

    def __post_init__(self) -> None:
        R = frozen_array(self.rotation, (3, 3), "a rotation")
        defect = float(np.abs(product(R, R.T) - np.eye(3)).max())
        if defect > 1e-6:
            raise Error(f"not a rotation: R R^T differs from the identity by {defect:.2g}, R = {R.tolist()}")
        if dot(cross(R[0], R[1]), R[2]) < 0:
            raise Error(f"not a rotation but a reflection (determinant -1): R = {R.tolist()}")
        if defect > 1e-14:  # rounded entries: use the nearest rotation
            R = _nearest_rotation(R)
        object.__setattr__(self, "rotation", frozen_array(_snapped(R, SNAP), (3, 3), "a rotation"))
        object.__setattr__(self, "translation", frozen_array(self.translation, (3,), "a translation"))

    @classmethod
    def identity(cls) -> "Pose":
        """The frame itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def of(cls, translation: Any = (0.0, 0.0, 0.0), rpy: Any = (0.0, 0.0, 0.0)) -> "Pose":
        """Pose from an origin and URDF's roll-pitch-yaw: rotate about fixed x, then y, then z (radians).

        A `DataWarning` tells of angles beyond 2 pi, which are probably degrees.
        """
        angles = frozen_array(rpy, (3,), "rpy")
        if doubt := rpy_doubt(angles):
            warn(f"Pose.of: {doubt}", DataWarning)
        return cls(rotation_rpy(angles), translation)

    @classmethod
    def coerce(cls, value: Any) -> "Pose":
        """A pose from a pose, or from a 4x4 homogeneous matrix.

        >>> Pose.coerce(np.eye(4)) == Pose.identity()
        True
        """
        if isinstance(value, Pose):
            return value
        T = frozen_array(value, (4, 4), "a pose")
        if T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise Error(f"the last row of a 4x4 pose must be 0 0 0 1, got {T[3].tolist()}")
        return cls(T[:3, :3], T[:3, 3])

    @property
    def matrix(self) -> Array:
        """The 4x4 homogeneous matrix."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.rotation, self.translation
        return T

    @property
    def transform(self) -> Transform:
        """The same as formulations take it."""
        return Transform(self.rotation, self.translation)

    @property
    def exact(self) -> Transform:
        """The same in fractions, the rotation orthogonal to the last digit."""
        return Transform(exact_rotation(self.rotation), exact(self.translation))

    @property
    def inverse(self) -> "Pose":
        """The outer frame seen from the inner one."""
        return Pose(self.rotation.T, -product(self.rotation.T, self.translation))

    def __matmul__(self, inner: "Pose") -> "Pose":
        """The pose of `inner`'s frame in this pose's outer frame."""
        inner = Pose.coerce(inner)
        rotation, translation = (product(self.rotation, x) for x in (inner.rotation, inner.translation))
        return Pose(rotation, translation + self.translation)

    def snapped(self, tolerance: float) -> "Pose":
        """A rotation nearby in which the entries that are now smaller than `tolerance` are exactly 0."""
        small = np.abs(self.rotation) <= number(tolerance, "the tolerance of snapped")
        if not self.rotation[small].any():
            return self
        R = self.rotation
        for _ in range(100):  # zero and straighten in turn; what is left of the small entries shrinks at every step
            R = _nearest_rotation(np.where(small, 0.0, R))
            if np.abs(R[small]).max() <= SNAP:
                break
        return Pose(np.where(small, 0.0, R), self.translation)

    def __repr__(self) -> str:
        return f"Pose(rotation={self.rotation.tolist()}, translation={self.translation.tolist()})"


def rotation_x(angle: float) -> Array:
    """Rotation about x; right angles come out exact."""
    c, s = _exact_cos_sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Array:
    """Rotation about y; right angles come out exact."""
    c, s = _exact_cos_sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Array:
    """Rotation about z; right angles come out exact."""
    c, s = _exact_cos_sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_rpy(rpy: Any) -> Array:
    """Rotation about fixed x, then y, then z; right angles come out exact."""
    roll, pitch, yaw = frozen_array(rpy, (3,), "rpy")
    return product(product(rotation_z(yaw), rotation_y(pitch)), rotation_x(roll))


def rotation_quaternion(x: float, y: float, z: float, w: float) -> Array:
    """Rotation by the quaternion w + x i + y j + z k of any length but 0; right angles come out exact.

    Written out in single operations, so that the bits are the same on every machine.

    >>> rotation_quaternion(0.0, 0.0, 0.7071, 0.7071).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    n = xx + yy + zz + ww
    rows = [
        [((ww + xx) - (yy + zz)) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, ((ww + yy) - (xx + zz)) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, ((ww + zz) - (xx + yy)) / n],
    ]
    return np.array(rows) + 0.0


def _exact_cos_sin(angle: float) -> tuple[float, float]:
    c, s = _snapped(np.array(cos_sin(float(angle))), SNAP)
    return float(c), float(s)


def align_z(axis: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`: a signed permutation when the axis is a coordinate axis.

    >>> align_z(np.array([1.0, 0.0, 0.0])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    k = int(np.argmax(np.abs(axis)))
    x = np.eye(3)[(k + 1) % 3]
    x = unit(x - axis * dot(axis, x))
    return _snapped(np.stack([x, cross(axis, x), axis], axis=-1), SNAP) + 0.0


def unit(v: Array) -> Array:
    """A vector as long as 1."""
    return v / np.sqrt(dot(v, v))
