"""Joints, links and named frames: the parts of a robot, each checking itself."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from dalembert.algebra.spatial import exp_z
from dalembert.arguments import choice, frozen_array, instance, number, text
from dalembert.cached import cached_property
from dalembert.errors import Error, brief
from dalembert.model.inertia import Inertia
from dalembert.model.pose import Pose, rotation_quaternion, rotation_z
from dalembert.model.values import Value

Kind = Literal["revolute", "prismatic", "helical", "planar", "ball", "free"]
Level = Any  # of a field: a number, or one for each direction (negative, positive); their mean is kept
LETTERS: dict[str, Kind] = {"R": "revolute", "P": "prismatic", "H": "helical"}
_TURNS: tuple[tuple[str, Kind, int], ...] = (("wx", "revolute", 0), ("wy", "revolute", 1), ("wz", "revolute", 2))
# joints of several degrees of freedom: for each the name of its velocity, and the axis that it is about or along
SEVERAL: dict[str, tuple[tuple[str, Kind, int], ...]] = {
    "planar": (("x", "prismatic", 0), ("y", "prismatic", 1), ("theta", "revolute", 2)),
    "ball": _TURNS,
    "free": (*_TURNS, ("vx", "prismatic", 0), ("vy", "prismatic", 1), ("vz", "prismatic", 2)),
}
# those whose positions are a quaternion, and for a free joint a point: the names of their positions
POSES = {"ball": ("qw", "qx", "qy", "qz"), "free": ("qw", "qx", "qy", "qz", "px", "py", "pz")}
MOST_JOINTS = 1000  # of robots given by letters
FRICTION = ("damping", "coulomb", "friction_offset", "static_friction", "stribeck_speed", "load_friction")  # fields of a joint


def joint_letters(given: Any, known: Collection[str] = tuple(LETTERS)) -> str:
    """One letter a joint: R revolute, P prismatic, H helical; not so many that the work has no end."""
    if not isinstance(given, str) or len(given) > MOST_JOINTS:
        raise Error(f"joints must be at most {MOST_JOINTS} letters such as 'RPR', got {brief(given)}")
    for letter in given:
        choice(letter, f"joint letter in {brief(given, 40)}:", known)
    return given


class Mimic(NamedTuple):
    """The joint that a joint follows: position = multiplier * position of `joint` + offset. A robot takes it as its coupling."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


class Note(NamedTuple):
    """A suspicious entry of a link or frame that only the file shows, for `check`: where, why, and what sort."""

    link: str
    remark: str
    topic: str = "inertia"


@dataclass(frozen=True, eq=False)
class Joint(Value):
    """How a link moves: about or along z of its frame, or with several degrees of freedom.

    A "planar" joint moves by x and y along the axes of its frame, and then turns by theta about z: q = (x, y, theta), and qd are
    their rates. A "ball" turns any way, and a "free" body also goes anywhere: q is the quaternion (w, x, y, z) of any length,
    and then the position; qd are the angular velocity and then the velocity of the origin, both in axes of the body, qdd the rates
    of these components, and tau is the moment and then the force, in the same axes. Damping and armature act on each of them
    alike; limits and other friction are for joints of one degree of freedom.

    `pitch` (helical only) is the advance in metres per radian. Limits, friction and armature are on the link side of the
    gearing: `damping` in N m s/rad (N s/m), `coulomb` in N m (N), `armature` in kg m^2 (kg). With the speed v = qd, the friction is

        damping v + [coulomb + (static_friction - coulomb) / (1 + (v / stribeck_speed)^2) + load_friction |load|] sign(v)
            + friction_offset

    where the load is the joint force that is left when friction is overcome. A pair (negative, positive) of Coulomb levels is kept
    as their mean and an addition to `friction_offset` of half their difference: the same law, except that at rest, where friction
    may be anything between the levels, the value is their middle and not 0.
    """

    name: str
    kind: Kind = "revolute"
    pitch: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    damping: float = 0.0
    coulomb: Level = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None
    friction_offset: float = 0.0
    static_friction: float = 0.0  # the level at which motion begins; 0: the same as coulomb
    stribeck_speed: float = 0.0  # at which the level is halfway from static_friction to coulomb
    load_friction: float = 0.0  # friction per load, below 1

    def __post_init__(self) -> None:
        text(self.name, "a joint's name")
        here = f"joint {self.name!r}: "
        choice(self.kind, f"kind of joint {self.name!r}:", get_args(Kind))
        for name in ("lower", "upper", "velocity_limit", "effort_limit"):
            object.__setattr__(self, name, number(getattr(self, name), here + name, finite=False))
        if two_levels(self.coulomb):
            negative, positive = levels(self.coulomb, here + "coulomb")
            offset = number(self.friction_offset, here + "friction_offset") + (positive - negative) / 2
            object.__setattr__(self, "coulomb", (negative + positive) / 2)
            object.__setattr__(self, "friction_offset", offset)
        for name in ("pitch", "armature", *FRICTION):
            object.__setattr__(self, name, number(getattr(self, name), here + name))
        if self.lower > self.upper or self.lower == np.inf or self.upper == -np.inf:
            raise Error(f"{here}lower limit {self.lower} is above upper limit {self.upper}")
        if self.mimic is not None:
            instance(self.mimic, Mimic, f"{here}mimic")
            text(self.mimic.joint, f"{here}what it mimics")
            numeric = (number(getattr(self.mimic, name), f"{here}mimic {name}") for name in ("multiplier", "offset"))
            object.__setattr__(self, "mimic", Mimic(self.mimic.joint, *numeric))
        for name in ("armature", "velocity_limit", "effort_limit", *FRICTION):
            if getattr(self, name) < 0 and name != "friction_offset":
                raise Error(f"{here}{name} must not be negative, got {getattr(self, name)}")
        if self.load_friction >= 1:
            raise Error(f"{here}load_friction must be less than 1, or no force would move the joint; got {self.load_friction}")
        if (self.static_friction > 0) != (self.stribeck_speed > 0):
            given = f"{self.static_friction:g} and {self.stribeck_speed:g}"
            raise Error(f"{here}static_friction and stribeck_speed are given together, both above 0 or both 0; got {given}")
        if (self.pitch != 0.0) != (self.kind == "helical"):
            raise Error(
                f"{here}a helical joint needs a nonzero pitch, other joints must not have one; got {self.kind}, pitch {self.pitch}"
            )
        if self.kind in SEVERAL:
            given = [name for name in FRICTION[1:] if getattr(self, name)]
            given += ["mimic"] if self.mimic is not None else []
            given += [name for name, none in (("lower", -np.inf), ("upper", np.inf)) if getattr(self, name) != none]
            if given:
                raise Error(f"{here}a {self.kind} joint has no {given[0]}; it may have damping and armature")

    @property
    def unit(self) -> str:
        """Of its position: m of prismatic joints, else rad."""
        return "m" if self.kind == "prismatic" else "rad"

    @property
    def force_unit(self) -> str:
        """Of its force: N of prismatic joints, else N m."""
        return "N" if self.kind == "prismatic" else "N m"

    @property
    def rubs(self) -> bool:
        """Whether it has friction of any kind."""
        return any(getattr(self, name) for name in FRICTION)

    @cached_property
    def parts(self) -> "tuple[Joint, ...]":
        """Joints of one degree of freedom, one for each velocity: the joint itself, or those that it is made of."""
        if self.kind not in SEVERAL:
            return (self,)
        own = {name: getattr(self, name) for name in ("velocity_limit", "effort_limit", "damping", "armature")}
        return tuple(Joint(f"{self.name}.{name}", kind, **own) for name, kind, _ in SEVERAL[self.kind])

    @property
    def screw(self) -> tuple[float, float]:
        """(rho, sigma): rotation and translation per unit of the joint variable."""
        if self.kind in SEVERAL:
            raise Error(f"joint {self.name!r} is {self.kind} and has no one screw; its parts have")
        return {"revolute": (1.0, 0.0), "prismatic": (0.0, 1.0), "helical": (1.0, self.pitch)}[self.kind]

    @property
    def letter(self) -> str:
        """R revolute, P prismatic, H helical, L planar, B ball, F free."""
        return "L" if self.kind == "planar" else self.kind[0].upper()

    def motion(self, q: Any) -> Pose:
        """The pose the joint makes at position q: a number, or as many as it has positions."""
        if self.kind in SEVERAL:
            count = 3 if self.kind == "planar" else len(POSES[self.kind])
            at = frozen_array(q, (count,), f"the position of joint {self.name!r}").tolist()
            if self.kind == "planar":
                return Pose(rotation_z(at[2]), (*at[:2], 0.0))
            w, x, y, z, *place = at
            if not any((w, x, y, z)):
                raise Error(f"joint {self.name!r}: the quaternion is zero, which is no rotation; the identity is (1, 0, 0, 0)")
            return Pose(rotation_quaternion(x, y, z, w), place or np.zeros(3))
        return Pose(*exp_z(*self.screw, number(q, f"the position of joint {self.name!r}")))


def two_levels(given: Any) -> bool:
    """Whether a level of friction is given for each direction."""
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)


def levels(given: Any, what: str) -> tuple[float, float]:
    """Levels of friction in the negative and in the positive direction, from one number or both."""
    negative, positive = frozen_array(given, (2,), what).tolist() if two_levels(given) else [number(given, what)] * 2
    if min(negative, positive) < 0:
        raise Error(f"{what} must not be negative, got {brief(given)}")
    return negative, positive


def joint(given: "Joint | str", name: str) -> Joint:
    """A joint from a joint, or from its kind ("revolute", "R", ...) and a name."""
    if isinstance(given, Joint):
        return given
    if not isinstance(given, str):
        raise Error(f"{name} must be a dalembert.Joint or a kind of joint, got {brief(given)}")
    made = Joint(name, cast(Kind, LETTERS.get(given, given)))
    if made.kind in SEVERAL:
        raise Error(f"kind of joint {name!r}: rows and screws have joints of one degree of freedom, not {made.kind} ones")
    return made


@dataclass(frozen=True, eq=False)
class Link(Value):
    """A moving body and the joint that carries it.

    Its pose in its parent's frame is `before @ joint.motion(q) @ after`. Mass, centre of mass and inertia are given
    in its own frame.
    """

    name: str
    parent: str
    joint: Joint
    before: Pose = field(default_factory=Pose.identity)
    after: Pose = field(default_factory=Pose.identity)
    inertia: Inertia = field(default_factory=Inertia.zero)

    def __post_init__(self) -> None:
        text(self.name, "a link's name")
        here = f"link {self.name!r}"
        text(self.parent, f"the parent of {here}")
        instance(self.joint, Joint, f"the joint of {here}")
        instance(self.inertia, Inertia, f"the inertia of {here}")
        for name in ("before", "after"):
            object.__setattr__(self, name, Pose.coerce(getattr(self, name)))

    def pose(self, q: Any) -> Pose:
        """The link's frame in its parent's frame."""
        return self.before @ self.joint.motion(q) @ self.after


@dataclass(frozen=True, eq=False)
class Frame(Value):
    """A named frame fixed in a link or in the base, such as a tool or a link behind a fixed joint."""

    name: str
    link: str
    pose: Pose = field(default_factory=Pose.identity)

    def __post_init__(self) -> None:
        text(self.name, "a frame's name")
        text(self.link, f"the link of frame {self.name!r}")
        object.__setattr__(self, "pose", Pose.coerce(self.pose))
