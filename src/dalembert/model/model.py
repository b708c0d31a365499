"""A robot's data: links, base, gravity and named frames, checked as a whole when built."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from dalembert.algebra.precise import product
from dalembert.algebra.spatial import Array, Transform
from dalembert.arguments import frozen_array, instance, listed, text
from dalembert.cached import cached_property
from dalembert.errors import Error, brief, unknown
from dalembert.model import consistency, positions
from dalembert.model.coupling import Coupling, Transmission, coordinates, of_mimics
from dalembert.model.inertia import Inertia
from dalembert.model.links import SEVERAL, Frame, Joint, Link, Note
from dalembert.model.loop import Loop
from dalembert.model.pose import Pose
from dalembert.model.positions import Virtual
from dalembert.model.reduce import reduced
from dalembert.model.tree import Tree
from dalembert.model.values import Frozen, Value

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


def a_robot(given: Any, function: str) -> Any:
    """A robot, for functions that are not its methods."""
    if not isinstance(given, Model):
        raise Error(f"{function} takes a robot, such as da.robot('puma560'), got {brief(given)}")
    return given


def freed(model: "Model") -> str:
    """How to get the tree of a robot that is none, in words."""
    calls = (
        ("without_loops()", model.loops or None), ("without_transmission()", model.transmission), ("uncoupled()", model.coupling)
    )  # fmt: skip
    return ".".join(["robot", *(call for call, there in calls if there is not None)])


def refuse_loops(model: "Model", what: str) -> None:
    """For what is defined without loops alone."""
    if model.loops:
        raise Error(f"{what} does not support closed loops, which {model.name} has; {freed(model)} leaves them open")


def joints_told(model: "Model") -> str:
    """How many joints of which kinds there are, and what else is not the same in number, in words."""
    count = len(model.structure)
    joints = f"{count} joint{'' if count == 1 else 's'} {model.structure}".rstrip()
    joints += "" if count == model.n else f", {model.n} degrees of freedom"
    return joints if model.coupling is None else f"{joints}, {len(model.links)} coupled links"


def _all(kind: type, given: Any, what: str) -> tuple[Any, ...]:
    return tuple(instance(x, kind, f"each of {what}") for x in listed(given, what))


def _note(given: Any) -> Note:
    parts = given if isinstance(given, tuple) else ()
    if len(parts) not in (2, 3):
        raise Error(f"each of notes must be a link, a remark and a topic, got {brief(given)}")
    link, remark, topic = (*parts, "inertia")[:3]
    return Note(text(link, "a note's link"), text(remark, "a note"), text(topic, "a note's topic"))


@dataclass(frozen=True, eq=False, repr=False)
class Model(Value):
    """What a robot is. Users hold its subclass `Robot`, which binds every quantity to it.

    `links` come in order, each after its parent; `base` is the pose of the base frame in the world; `gravity` is the physical
    field in the world, so (0, 0, -9.81) points down. `base_inertia` is the fixed mass: only `total_mass` uses it.
    """

    name: str
    links: tuple[Link, ...]
    gravity: Frozen = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    base: Pose = field(default_factory=Pose.identity)
    base_name: str = "base"
    base_inertia: Inertia = field(default_factory=Inertia.zero)
    frames: tuple[Frame, ...] = ()
    source: str = ""
    notes: tuple[Note, ...] = ()  # (link, remark, topic): suspicious data that links and frames do not show any more, for check()
    file: str = field(
        default="", compare=False
    )  # the URDF file that it was read from, which says how it looks; no part of its value
    coupling: Coupling | None = None  # of joints that follow others; mimics of joints become one
    transmission: Transmission | None = None  # from motors to the joints
    loops: tuple[Loop, ...] = ()  # frames that stay together
    independent: tuple[str, ...] = ()  # the joints that the others follow through the loops; empty: they are found
    virtual: tuple[Virtual, ...] = field(default=(), compare=False)  # of robots made by `spread`, which users do not meet

    def __post_init__(self) -> None:
        text(self.name, "a robot's name")
        text(self.base_name, "the base's name")
        instance(self.base_inertia, Inertia, "the inertia of the base")
        if not isinstance(self.source, str) or self.source:
            text(self.source, "the source of a robot")
        if not isinstance(self.file, str):
            raise Error(f"the file of a robot must be a string, got {brief(self.file)}")
        object.__setattr__(self, "links", _all(Link, self.links, "links"))
        object.__setattr__(self, "frames", _all(Frame, self.frames, "frames"))
        object.__setattr__(self, "notes", tuple(_note(note) for note in listed(self.notes, "notes")))
        object.__setattr__(self, "gravity", frozen_array(self.gravity, (3,), "gravity"))
        object.__setattr__(self, "base", Pose.coerce(self.base))
        object.__setattr__(self, "loops", _all(Loop, self.loops, "loops"))
        object.__setattr__(self, "independent", tuple(listed(self.independent, "the independent joints")))
        consistency.check_names(self)
        mimics = any(link.joint.mimic for link in self.links)
        try:
            if mimics:
                self._follow()
            consistency.check_coupling(self)
        except Error as error:
            if not mimics:
                raise
            raise Error(f"{error}; da.load(..., mimic=False) keeps all joints independent") from None
        consistency.check_transmission(self)
        consistency.check_loops(self)

    def _follow(self) -> None:
        """Take the mimics of joints for the coupling that they are."""
        if (mimics := of_mimics(self._parts)) is None:
            return
        if self.coupling is not None:
            raise Error(f"{self.name} has both a coupling and joints with a mimic; give one of them")
        joints = [x.joint if x.joint.name in mimics.names else replace(x.joint, mimic=None) for x in self.links]
        object.__setattr__(self, "links", tuple(replace(x, joint=j) for x, j in zip(self.links, joints, strict=True)))
        object.__setattr__(self, "coupling", mimics)

    # --- names and sizes ------------------------------------------------------------------------------------------------

    @cached_property
    def n(self) -> int:
        """Number of degrees of freedom: of independent joints, if none is planar, ball or free. The size of qd, qdd and tau."""
        return len(self._parts) if self.coupling is None else len(self.coupling.names)

    @cached_property
    def nq(self) -> int:
        """Size of q: n, and one more for every ball and free joint, whose rotation is a quaternion."""
        return self.n + len(self.runs)

    @cached_property
    def _parts(self) -> tuple[Joint, ...]:
        return tuple(part for link in self.links for part in link.joint.parts)

    @cached_property
    def several(self) -> tuple[Joint, ...]:
        """The joints of several degrees of freedom: planar, ball and free ones."""
        return tuple(link.joint for link in self.links if link.joint.kind in SEVERAL)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The independent joints, in the order of every array; with a coupling, as they feel those that follow them.

        Of a planar, ball or free joint, one for each degree of freedom.
        """
        return self._parts if self.coupling is None else coordinates(self.coupling, self._parts)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints, in the order of qd, qdd and tau; of a free joint `base`, base.wx to base.vz."""
        return tuple(joint.name for joint in self.joints)

    position_names = cached_property(positions.position_names)
    runs = cached_property(positions.runs)

    @property
    def open(self) -> Self:
        """The tree alone: all joints independent, no motors."""
        return self if self.is_tree else self._open

    @cached_property
    def _open(self) -> Self:
        return replace(self, coupling=None, transmission=None, loops=(), independent=())

    @cached_property
    def cut(self) -> Self:
        """The same with its loops open, its coupling and its motors kept."""
        return replace(self, loops=(), independent=())

    @property
    def closures(self) -> int:
        """How many equations the loops have, without those that follow from others."""
        return sum(len(loop.rows or ()) for loop in self.loops)

    @property
    def is_tree(self) -> bool:
        """Whether nothing but the tree matters to the dynamics: no coupling, no loops, and no rotors behind a transmission."""
        moved = self.transmission is not None and bool(self.transmission.rotor_inertia.any())
        return self.coupling is None and not self.loops and not moved

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of the moving links, in the order of every array."""
        return tuple(link.name for link in self.links)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames fixed in links or in the base."""
        return tuple(frame.name for frame in self.frames)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of each link's parent; -1 is the base."""
        index = {self.base_name: -1} | {name: i for i, name in enumerate(self.link_names)}
        return tuple(index[link.parent] for link in self.links)

    @property
    def structure(self) -> str:
        """Letters of the independent joints in order: R revolute, P prismatic, H helical, L planar, B ball, F free."""
        own = {part.name: link.joint.letter if k == 0 else "" for link in self.links for k, part in enumerate(link.joint.parts)}
        return "".join(own.get(joint.name, joint.letter) for joint in self.joints)

    @property
    def total_mass(self) -> float:
        """Mass of all links and of what is fixed to the base, in kg."""
        return sum((link.inertia.mass for link in self.links), self.base_inertia.mass)

    def locate(self, name: str) -> tuple[int, Pose]:
        """The moving link (-1: the base) that carries a link or frame of this name, and its pose there."""
        if isinstance(name, str) and name in self._places:
            return self._places[name]
        raise unknown(f"link or frame of {self.name}:", name, self._places)

    @cached_property
    def _places(self) -> dict[str, tuple[int, Pose]]:
        places = {self.base_name: (-1, Pose.identity())}
        places |= {name: (i, Pose.identity()) for i, name in enumerate(self.link_names)}
        return places | {frame.name: (places[frame.link][0], frame.pose) for frame in self.frames}

    # --- configurations -------------------------------------------------------------------------------------------------

    @property
    def lower(self) -> Array:
        """Lower position limits, -inf where there is none."""
        return np.array([joint.lower for joint in self.joints], dtype=float)

    @property
    def upper(self) -> Array:
        """Upper position limits, inf where there is none."""
        return np.array([joint.upper for joint in self.joints], dtype=float)

    neutral = positions.neutral
    random_configuration = positions.random_configuration
    to_array = positions.to_array
    to_dict = positions.to_dict
    reorder = positions.reorder

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What others made for this robot, by what they call it: it lives and dies with the robot and is not part of its value."""
        return {}

    # --- for formulations -----------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Tree:
        """The plain arrays that formulations take; gravity is turned into the base frame."""
        links = self.links
        if self.several:
            joint = self.several[0]
            raise Error(f"this is defined for joints of one degree of freedom; {joint.name!r} of {self.name} is {joint.kind}")

        def stacked(parts: list[Any], *shape: int) -> Array:
            return frozen_array(np.array(parts, dtype=float).reshape(len(links), *shape), None, "a tree")

        return Tree(
            parents=self.parents,
            before=Transform(stacked([x.before.rotation for x in links], 3, 3), stacked([x.before.translation for x in links], 3)),
            after=Transform(stacked([x.after.rotation for x in links], 3, 3), stacked([x.after.translation for x in links], 3)),
            screw=stacked([x.joint.screw for x in links], 2),
            mass=stacked([x.inertia.mass for x in links]),
            com=stacked([x.inertia.com for x in links], 3),
            inertia=stacked([x.inertia.tensor for x in links], 3, 3),
            gravity=frozen_array(product(self.base.rotation.T, self.gravity), (3,), "gravity"),
        )

    @cached_property
    def exact_tree(self) -> Tree:
        """The same with exact numbers: what programs are traced from."""
        return self.tree.exact

    @cached_property
    def exact_base(self) -> Transform:
        """The base frame in the world, in exact numbers."""
        return self.base.exact

    @cached_property
    def reduced_tree(self) -> Tree:
        """A tree for short programs: the same joint forces on a standing base, but other frames and inertias, in exact numbers."""
        hidden = positions.hidden(self)
        runs = [i for i, link in enumerate(self.links) if link.name in hidden or link.parent in hidden]
        return reduced(self.tree, frozenset(runs))

    def __repr__(self) -> str:
        closed = f", {len(self.loops)} loop{'' if len(self.loops) == 1 else 's'}" if self.loops else ""
        return f"<{type(self).__name__} {self.name!r}: {joints_told(self)}{closed}>"
