"""Mass, centre of mass and inertia tensor of one rigid body."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.precise import product
from dalembert.algebra.spatial import Array, skew
from dalembert.arguments import flag, frozen_array, instance, number
from dalembert.errors import Error
from dalembert.model.pose import Pose
from dalembert.model.values import Frozen, Value


@dataclass(frozen=True, eq=False, repr=False)
class Inertia(Value):
    """Mass, centre of mass `com` and `tensor` about the centre of mass, both in the link's axes.

    The tensor holds true entries: off-diagonal = minus the product integral. Calling the class takes data as they are, as a
    file does; the constructors `from_com`, `from_origin`, `from_parameters` reject physically impossible values.

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
