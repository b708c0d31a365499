"""Mass, centre of mass and inertia tensor of one rigid body."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.precise import product
from dalembert.algebra.spatial import Array, cross, dot, outer, pseudo_inertia, skew, spatial_inertia, tensor_of
from dalembert.arguments import choice, flag, frozen_array, instance, number, numbers, positive
from dalembert.errors import Error
from dalembert.model.pose import Pose
from dalembert.model.values import Frozen, Value


@dataclass(frozen=True, eq=False, repr=False)
class Inertia(Value):
    """Mass, centre of mass `com` and `tensor` about the centre of mass, both in the link's axes.

    The tensor holds true entries: off-diagonal = minus the product integral. Calling the class takes data as they are, as a
    file does; the constructors `from_com`, `from_origin`, `from_parameters` reject physically impossible values; `point`,
    `rod`, `box`, `cylinder`, `sphere`, `from_particles` and `from_mesh` compute them.

    >>> rod = Inertia.from_com(mass=1.0, com=(0.5, 0, 0), tensor=np.diag([0, 1 / 12, 1 / 12]))
    >>> rod.about_origin[2, 2]
    np.float64(0.3333333333333333)
    """

    mass: float
    com: Frozen
    tensor: Frozen

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", number(self.mass, "a mass"))
        object.__setattr__(self, "com", frozen_array(self.com, (3,), "a centre of mass"))
        tensor = frozen_array(self.tensor, (3, 3), "an inertia tensor")
        if np.abs(tensor - tensor.T).max() > 1e-9 * (np.abs(tensor).max() or 1.0):
            raise Error(f"an inertia tensor must be symmetric, got {tensor.tolist()}")
        object.__setattr__(self, "tensor", frozen_array(tensor / 2 + tensor.T / 2, (3, 3), "an inertia tensor"))

    @classmethod
    def zero(cls) -> "Inertia":
        """No mass at all."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def from_com(cls, mass: float, com: Any, tensor: Any = 0.0) -> "Inertia":
        """From the tensor about the centre of mass: 3x3, or three principal moments, or 0 for a point mass."""
        array = frozen_array(tensor, None, "an inertia tensor")
        if array.shape in ((), (3,)):
            array = np.diag(np.broadcast_to(array, (3,)))
        return cls(mass, com, array)._possible()

    @classmethod
    def from_origin(cls, mass: float, com: Any, tensor: Any) -> "Inertia":
        """From the tensor about the origin of the link's frame (the books' pseudo-inertia and I(k))."""
        return cls.moved_to_com(mass, com, tensor)._possible()

    @classmethod
    def moved_to_com(cls, mass: float, com: Any, tensor: Any) -> "Inertia":
        """As `from_origin`, but data are taken as they are."""
        c, mass = skew(frozen_array(com, (3,), "a centre of mass")), number(mass, "a mass")
        return cls(mass, com, frozen_array(tensor, (3, 3), "an inertia tensor") + mass * product(c, c))

    @classmethod
    def from_parameters(cls, parameters: Any, *, check: bool = True) -> "Inertia":
        """From the 10 parameters that enter the dynamics linearly: m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz.

        The tensor is about the origin of the link's frame. check=False takes what no body can have.

        >>> a = Inertia.from_com(2.0, (0.1, 0, 0.3), (0.2, 0.3, 0.4))
        >>> np.allclose(Inertia.from_parameters(a.parameters).tensor, a.tensor)
        True
        """
        p = frozen_array(parameters, (10,), "inertial parameters")
        if p[0] == 0.0 and p[1:4].any():
            raise Error(f"a body without mass has no first moment, got m c = {p[1:4].tolist()}")
        with np.errstate(all="ignore"):  # huge numbers overflow, which the constructor rejects
            com = p[1:4] / p[0] if p[0] else np.zeros(3)
        xx, xy, xz, yy, yz, zz = p[4:]
        made = cls.moved_to_com(float(p[0]), com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return made._possible() if flag(check, "check") else made

    @classmethod
    def from_pseudo_inertia(cls, pseudo: Any) -> "Inertia":
        """From the 4x4 matrix of second moments about the frame's origin: Fu, Gonzalez and Lee (3.2-17), problem 3.14.

        >>> a = Inertia.box(2.0, (0.1, 0.2, 0.3), center=(1, 0, 0))
        >>> np.allclose(Inertia.from_pseudo_inertia(a.pseudo_inertia).tensor, a.tensor)
        True
        """
        J = frozen_array(pseudo, (4, 4), "a pseudo-inertia")
        if J[3, 3] <= 0:
            raise Error(f"a pseudo-inertia must have a positive mass in its last entry, got {J[3, 3]:g}")
        xx, yy, zz = np.diagonal(J)[:3]
        tensor = np.diag([yy + zz, xx + zz, xx + yy]) - (J[:3, :3] - np.diag([xx, yy, zz]))
        return cls.from_origin(float(J[3, 3]), J[:3, 3] / J[3, 3], tensor)

    @classmethod
    def from_radii(cls, mass: float, com: Any, radii: Any) -> "Inertia":
        """From the three radii of gyration about the axes of the frame, whose products of inertia are 0: FGL (3.2-19).

        With products of inertia, use `da.algebra.pseudo_inertia_by_radii` and `from_pseudo_inertia`.

        >>> Inertia.from_radii(2.0, (0, 0, 0), (1.0, 1.0, 1.0)).tensor.diagonal().tolist()
        [2.0, 2.0, 2.0]
        """
        k = frozen_array(radii, (3,), "radii of gyration")
        return cls.from_origin(mass, com, np.diag(number(mass, "a mass") * k * k))

    @classmethod
    def point(cls, mass: float, position: Any = (0.0, 0.0, 0.0)) -> "Inertia":
        """A particle.

        >>> Inertia.point(2.0, (0, 0, 1)).about_origin[0, 0]
        np.float64(2.0)
        """
        return cls.from_com(mass, position)

    @classmethod
    def rod(cls, mass: float, start: Any, end: Any) -> "Inertia":
        """A thin uniform rod between two points: m l^2 / 12 across.

        >>> Inertia.rod(3.0, (0, 0, 0), (2, 0, 0)).tensor.diagonal().tolist()
        [0.0, 1.0, 1.0]
        """
        a, b = (frozen_array(x, (3,), "an end of a rod") for x in (start, end))
        d = skew(b - a)
        return cls.from_com(mass, (a + b) / 2, -number(mass, "a mass") / 12 * product(d, d))

    @classmethod
    def box(cls, mass: float, sizes: Any, center: Any = (0.0, 0.0, 0.0)) -> "Inertia":
        """A solid uniform block with edges along the axes.

        >>> Inertia.box(12.0, (1, 2, 3)).tensor.diagonal().tolist()
        [13.0, 10.0, 5.0]
        """
        x, y, z = _sizes(sizes, 3, "sizes of a box")
        m = number(mass, "a mass") / 12
        return cls.from_com(mass, center, (m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)))

    @classmethod
    def cylinder(cls, mass: float, radius: float, length: float, axis: str = "z", center: Any = (0.0, 0.0, 0.0)) -> "Inertia":
        """A solid uniform cylinder along an axis of the frame: m r^2 / 2 about it.

        >>> Inertia.cylinder(12.0, 1.0, 1.0).tensor.diagonal().tolist()
        [4.0, 4.0, 6.0]
        """
        r, l = _sizes((radius, length), 2, "radius and length of a cylinder")
        m = number(mass, "a mass")
        along = "xyz".index(choice(axis, "axis of a cylinder:", ("x", "y", "z")))
        moments = [m * (3 * r * r + l * l) / 12] * 3
        moments[along] = m * r * r / 2
        return cls.from_com(mass, center, moments)

    @classmethod
    def sphere(cls, mass: float, radius: float, center: Any = (0.0, 0.0, 0.0)) -> "Inertia":
        """A solid uniform sphere: 2/5 m r^2.

        >>> Inertia.sphere(5.0, 1.0).tensor[0, 0]
        np.float64(2.0)
        """
        (r,) = _sizes((radius,), 1, "radius of a sphere")
        return cls.from_com(mass, center, number(mass, "a mass") * 2 * r * r / 5)

    @classmethod
    def from_particles(cls, masses: Any, points: Any) -> "Inertia":
        """Of particles at points (k, 3), rigidly joined: the sums of Park and Lynch, section 9.2.1.

        >>> Inertia.from_particles([1.0, 1.0], [[1, 0, 0], [-1, 0, 0]]).tensor.diagonal().tolist()
        [0.0, 2.0, 2.0]
        """
        m = frozen_array(masses, None, "the masses of particles")
        at = frozen_array(points, None, "the points of particles")
        if m.ndim != 1 or at.shape != (*m.shape, 3) or not m.size:
            raise Error(f"particles need k masses and k points of 3 numbers, got arrays of shape {m.shape} and {at.shape}")
        if (m < 0).any() or not m.any():
            raise Error("the masses of particles must not be negative, nor all zero")
        return _of_moments(*_moments(m, at, at))

    @classmethod
    def from_mesh(cls, vertices: Any, faces: Any, density: float) -> "Inertia":
        """Of a solid of uniform density inside a closed triangle mesh: the integrals of Park and Lynch, section 9.2.1.

        vertices: (k, 3) in metres
        faces: (t, 3) indices of vertices, counterclockwise seen from outside
        density: kg/m^3

        Exact for the polyhedron: the sum over the tetrahedra between its faces and a point.

        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> round(Inertia.from_mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], density=6.0).mass, 12)
        1.0
        """
        x = frozen_array(vertices, None, "vertices of a mesh")
        if x.ndim != 2 or x.shape[1:] != (3,):
            raise Error(f"vertices of a mesh must have the shape (k, 3), got {x.shape}")
        corners = _faces(faces, len(x))
        middle = x.min(axis=0) / 2 + x.max(axis=0) / 2  # any point will do; a near one loses fewest digits
        a, b, c = (x[corners[:, k]] - middle for k in range(3))
        volume = dot(a, cross(b, c)) / 6
        total = math.fsum(volume)
        if total <= 0:
            raise Error(f"a mesh must enclose a volume, its faces counterclockwise seen from outside; got {total:g} m^3")
        weights = positive(density, "the density of a mesh") * volume
        s = a + b + c
        mass, first, _ = _moments(weights, s / 4, s)
        second = sum(_moments(weights / 20, x, x)[2] for x in (a, b, c, s))
        local = _of_moments(mass, first, np.asarray(second))
        return cls(local.mass, local.com + middle, local.tensor)

    @property
    def pseudo_inertia(self) -> Array:
        """The 4x4 matrix of second moments about the frame's origin: FGL (3.2-17)."""
        return pseudo_inertia(self.mass, self.com, self.tensor)

    @property
    def spatial(self) -> Array:
        """The 6x6 inertia about the frame's origin, angular part first: Park, Bobrow and Ploen (21)."""
        return spatial_inertia(self.mass, self.com, self.tensor)

    @property
    def about_origin(self) -> Array:
        """The tensor about the origin of the link's frame (parallel axes)."""
        c = skew(self.com)
        return self.tensor - self.mass * product(c, c)

    @property
    def parameters(self) -> Array:
        """The 10 linear parameters, in the order of `from_parameters`."""
        return np.concatenate([[self.mass], self.mass * self.com, self.about_origin[np.triu_indices(3)]])

    def impossible(self) -> str | None:
        """Why no body can have this inertia, or None. Tolerance: a millionth, and m (1 um)^2."""
        if self.mass < 0:
            return f"negative mass {self.mass:g} kg"
        size = float(np.abs(self.tensor).max()) or 1.0
        moments = np.linalg.eigvalsh(self.tensor / size)  # scaled: nothing overflows
        slack = 1e-6 * max(abs(moments[0]), abs(moments[2])) + 1e-12 * self.mass / size
        shown = "(" + ", ".join(f"{size * m:.6g}" for m in moments) + ")"
        if moments[0] < -slack:
            return f"principal moments {shown} kg m^2 must not be negative"
        if moments[2] > moments[0] + moments[1] + slack:
            return f"principal moments {shown} kg m^2: the largest exceeds the sum of the others"
        return None

    def _possible(self) -> "Inertia":
        if reason := self.impossible():
            raise Error(f"impossible inertia: {reason}")
        return self

    def seen_from(self, pose: Pose) -> "Inertia":
        """The same body described in the outer frame, in which its own frame has the given pose."""
        pose = Pose.coerce(pose)
        R = pose.rotation
        with np.errstate(all="ignore"):  # huge numbers overflow, which the constructor rejects
            return Inertia(self.mass, product(R, self.com) + pose.translation, product(product(R, self.tensor), R.T))

    def __add__(self, other: "Inertia") -> "Inertia":
        """Two bodies in the same frame, rigidly joined. Exact when one of them is zero."""
        if instance(other, Inertia, "what is added to an inertia") == ZERO:
            return self
        if self == ZERO:
            return other
        with np.errstate(all="ignore"):
            mass = self.mass + other.mass
            com = (self.mass * self.com + other.mass * other.com) / mass if mass else self.com
            parts = (b.tensor - b.mass * product(r, r) for b in (self, other) for r in [skew(b.com - com)])
            return Inertia(mass, com, sum(parts, np.zeros((3, 3))))

    def __repr__(self) -> str:
        return f"Inertia(mass={self.mass!r}, com={self.com.tolist()}, tensor={self.tensor.tolist()})"


ZERO = Inertia.zero()


def _sizes(given: Any, count: int, what: str) -> list[float]:
    sizes = frozen_array(given, (count,), what)
    if (sizes < 0).any():
        raise Error(f"{what} must not be negative, got {sizes.tolist()}")
    return sizes.tolist()


def _moments(weights: Array, points: Array, others: Array) -> tuple[float, Array, Array]:
    """Mass, first and second moments, the sums exact to the last digit and so the same on every machine."""
    first = np.array([math.fsum(weights * points[:, i]) for i in range(3)])
    second = [[math.fsum(weights * points[:, i] * others[:, j]) for j in range(3)] for i in range(3)]
    return math.fsum(weights), first, np.array(second)


def _of_moments(mass: float, first: Array, second: Array) -> Inertia:
    """From the moments about the origin; those about the centre of mass are Silver's J, (2.11)."""
    if not mass > 0:
        raise Error(f"a body must have a positive mass, got {mass:g} kg")
    com = first / mass
    about = second - mass * outer(com, com)
    return Inertia.from_com(mass, com, tensor_of((about + about.T) / 2))


def _faces(given: Any, count: int) -> Array:
    """The faces of a closed mesh: each edge belongs to two, which run along it in opposite directions."""
    faces = numbers(given, "faces of a mesh")
    if faces.dtype.kind not in "iu" or faces.ndim != 2 or faces.shape[1:] != (3,) or not faces.size:
        raise Error(f"faces of a mesh must be integers of the shape (t, 3), got {faces.dtype} of shape {faces.shape}")
    if faces.min() < 0 or faces.max() >= count:
        raise Error(f"faces of a mesh must be indices of its {count} vertices, got {int(faces.min())} to {int(faces.max())}")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    there, back = (np.sort(e[:, 0] * count + e[:, 1]) for e in (edges, edges[:, ::-1]))
    if not np.array_equal(there, back) or (np.diff(there) == 0).any():
        raise Error("a mesh must be closed: every edge in two faces, which run along it in opposite directions")
    return faces
