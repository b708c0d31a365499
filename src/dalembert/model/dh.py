"""Robots from Denavit-Hartenberg tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from dalembert.arguments import choice, instance, listed, number
from dalembert.errors import DataWarning, Error, brief, warn
from dalembert.model.degrees import angle_doubt, range_doubt
from dalembert.model.inertia import Inertia
from dalembert.model.links import Joint, Link, Note, joint
from dalembert.model.model import Model
from dalembert.model.pose import Pose, rotation_x, rotation_z
from dalembert.model.values import Value

M = TypeVar("M", bound=Model)
CONVENTIONS = ("standard", "modified")


@dataclass(frozen=True, eq=False, kw_only=True)
class DHRow(Value):
    """One row of the table, by keywords: books disagree about the order of the four numbers.

    The joint variable is added to `theta` (revolute) or `d` (prismatic); angles in radians.
    """

    alpha: float = 0.0
    a: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    joint: Joint | str = "revolute"
    inertia: Inertia = field(default_factory=Inertia.zero)
    link: str | None = None

    def __post_init__(self) -> None:
        instance(self.inertia, Inertia, "the inertia of a DH row")

    @property
    def doubts(self) -> list[str]:
        """Angles that look like degrees, in words."""
        doubts = (angle_doubt(name, getattr(self, name)) for name in ("alpha", "theta"))
        return [doubt for doubt in doubts if doubt]

    def placements(self, convention: str) -> tuple[Pose, Pose]:
        """The fixed transforms before and after the joint's motion along z.

        standard: Rz(theta) Tz(d) Tx(a) Rx(alpha), the joint acts first: distal frames, as in Fu, Gonzalez and Lee (3.2-5),
        (3.2-6), whose rotation is (3.3-48).
        modified: Rx(alpha) Tx(a) Rz(theta) Tz(d), the joint acts last: proximal frames, as in Craig and Kozlowski.
        """
        choice(convention, "Denavit-Hartenberg convention", CONVENTIONS)
        alpha, a, d, theta = (number(getattr(self, k), f"DH entry {k}") for k in ("alpha", "a", "d", "theta"))
        turn = Pose(rotation_z(theta), np.zeros(3))
        if convention == "standard":
            return turn, Pose(rotation_x(alpha), (a, 0.0, d))
        return Pose(rotation_x(alpha), (a, 0.0, 0.0)) @ turn @ Pose(np.eye(3), (0.0, 0.0, d)), Pose.identity()


def row(given: "DHRow | Mapping[str, Any]") -> DHRow:
    """A row from a row, or from a mapping with its fields."""
    if isinstance(given, DHRow):
        return given
    if not isinstance(given, Mapping):
        raise Error(f"a DH row must be a DHRow or a mapping with its fields, got {brief(given)}")
    for key in given:
        choice(key, "entry of a DH row:", DHRow.__dataclass_fields__)
    return DHRow(**given)


def from_dh(cls: type[M], rows: Iterable[DHRow | Mapping[str, Any]], *, convention: str, name: str = "robot", **options: Any) -> M:
    """A serial chain from Denavit-Hartenberg rows. `convention` is required: "standard" (distal) or "modified" (proximal).

    Mass data are in the axes of the row's own frame. `options` are the fields of the robot: gravity, base, frames, source.
    Angles and limits that look like degrees are accepted with a warning.

    >>> import dalembert as da
    >>> rod = da.Inertia.from_com(1.0, (-0.5, 0, 0), (0, 1 / 12, 1 / 12))
    >>> arm = da.Robot.from_dh([da.DHRow(a=1.0, inertia=rod)] * 2, convention="standard", gravity=(0, -9.81, 0))
    >>> arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(4).tolist()
    [19.62, 4.905]
    """
    choice(convention, "Denavit-Hartenberg convention", CONVENTIONS)
    links: list[Link] = []
    notes: list[Note] = list(options.pop("notes", ()))
    parent = str(options.get("base_name", "base"))
    for i, given in enumerate(listed(rows, "rows"), 1):
        try:
            r = row(given)
            before, after = r.placements(convention)
            links.append(Link(r.link or f"link{i}", parent, joint(r.joint, f"joint{i}"), before, after, r.inertia))
        except Error as error:
            raise Error(f"DH row {i}: {error}") from None
        parent = links[-1].name
        for doubt in r.doubts:
            notes.append(Note(parent, doubt, "degrees"))
            warn(f"DH row {i}: {doubt}", DataWarning)
        if doubt := range_doubt(links[-1].joint, links[-1].joint.lower, links[-1].joint.upper):
            warn(f"DH row {i}: {doubt}", DataWarning)
    return cls(name, tuple(links), notes=tuple(notes), **options)
