"""Suspicious data, listed by link, and the printed summary of a robot."""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from dalembert.arguments import choice
from dalembert.model.coupling import sum_of
from dalembert.model.degrees import range_doubt
from dalembert.model.inertia import ZERO
from dalembert.model.links import FRICTION, Joint, Link
from dalembert.model.model import Model, joints_told
from dalembert.model.pose import Pose
from dalembert.text import Text, table, wrapped

ALMOST = 2e-3  # an entry of a rotation this near to 0, but not 0, comes from a rounded right angle
HEAVY, FAR = 1e4, 1e2  # kg and m: beyond these, the units may be wrong
SAME = 1e-9  # m, or of a cosine: nearer than this is the same place or axis

CONVENTIONS = """\
equation     M(q) qdd + C(q,qd) qd + g(q) + friction(qd) = tau + sum J^T w
wrenches     w acts ON the robot
units        SI and radians; link side of the gearing
gravity      the physical field in the world; g(q) holds the arm still
six-vectors  angular part first: (omega, v), (moment, force)
inertia      about the centre of mass, in link axes; Ixy = -integral of x y dm
link frame   in its parent's frame: before . motion about or along z . after"""


TOPICS = ("mass", "inertia", "angle", "degrees", "magnitude", "mimic", "limit", "friction", "contact", "actuator", "unread")
# topics with which results are not those of a real robot, or not those of the file's
WRONG = ("unread", "inertia", "mimic", "degrees")


class Finding(NamedTuple):
    """One suspicious entry: where, which topic, why, and whether results are wrong with it or it is only worth a look."""

    link: str
    topic: str
    message: str
    level: Literal["error", "hint"]

    @property
    def told(self) -> str:
        """Where and what, without the level."""
        return f"{self.link}: {self.message} [{self.topic}]"

    def __str__(self) -> str:
        return f"{self.level}: {self.told}"


class Findings(tuple[Finding, ...]):
    """All suspicious entries, errors first; empty (false) if there are none."""

    __slots__ = ()

    @property
    def errors(self) -> "Findings":
        """What makes results wrong: data that no body can have, and what of a file was not taken as it says."""
        return Findings(f for f in self if f.level == "error")

    @property
    def hints(self) -> "Findings":
        """What is possible, but worth a look."""
        return Findings(f for f in self if f.level == "hint")

    def about(self, topic: str) -> "Findings":
        """Only those of one topic."""
        choice(topic, "topic", TOPICS)
        return Findings(f for f in self if f.topic == topic)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no suspicious data found"

    __str__ = __repr__


def check(robot: Model) -> Findings:
    """List suspicious data by link, in topics: mass, inertia, angle, degrees, magnitude, mimic, limit, friction.

    What a file says and was not taken has the topics unread, and in MJCF contact and actuator. Links without mass and without
    extent, by which a joint of several degrees of freedom is made of single ones, are not suspicious.

    >>> import dalembert as da
    >>> da.robot("puma560").check().about("mass")
    hint: link1: moves but has no mass [mass]
    """
    noted = [_found(note.link, note.topic, note.remark) for note in robot.notes]
    carried: dict[str, list[Link]] = {}
    for link in robot.links:
        carried.setdefault(link.parent, []).append(link)
    where = "correct it in the file" if robot.file else "it is so in the source" if robot.source else "correct it"
    cure = f"; {where}; gravity torques do not depend on it"
    findings = [
        doubt
        for i, link in enumerate(robot.links)
        for doubt in (*_doubts(link, carried.get(link.name, []), cure), *_coupled(robot, i))
    ]
    if robot.n and not any(link.inertia.mass or link.inertia.tensor.any() or link.joint.armature for link in robot.links):
        told = "no moving link has mass, so there is nothing to compute: add masses and inertias to the file"
        rest = [doubt for doubt in findings if doubt.topic != "mass"]  # which would say it of every link
        findings = [_found(robot.base_name, "mass", told, serious=True), *rest]
    known = {(doubt.link, doubt.topic) for doubt in findings}
    every = [*(note for note in noted if (note.link, note.topic) not in known), *findings]
    return Findings(sorted(every, key=lambda found: found.level))  # errors before hints, else in their order


def _found(link: str, topic: str, message: str, *, serious: bool = False) -> Finding:
    return Finding(link, topic, message, "error" if serious or topic in WRONG else "hint")


def _between_axes(link: Link, carried: list[Link]) -> bool:
    """Whether a link is no body, but the cross or the slide of a joint made of several: it has neither mass nor extent.

    Between two joints that move the same way it would be none: there is nothing that only one of them moves.
    """

    def crosses(other: Link) -> bool:
        step = link.after @ other.before
        turned = other.joint.kind != link.joint.kind or abs(step.rotation[2, 2]) < 1 - SAME
        return turned and float(np.abs(step.translation).max()) < SAME

    return link.inertia == ZERO and bool(carried) and all(map(crosses, carried))


def _doubts(link: Link, carried: list[Link], cure: str) -> Iterator[Finding]:
    """`cure` is what to do about an inertia that no body can have."""
    body, joint = link.inertia, link.joint
    if body.mass == 0.0 and not _between_axes(link, carried):
        bare = not (body.tensor.any() or carried or joint.armature)
        more = f" and carries no mass: M is singular; add mass with robot.with_payload(0.1, link={link.name!r})" if bare else ""
        yield _found(link.name, "mass", f"moves but has no mass{more}", serious=bare)
    if reason := body.impossible():
        yield _found(link.name, "inertia", f"impossible inertia: {reason}{cure if body.mass >= 0 else ''}")
    for where, pose in (("before", link.before), ("after", link.after)):
        if (off := almost_right(pose)) > 0:
            yield _found(
                link.name,
                "angle",
                f"rotation {where} the joint is {off:.1e} off a right angle; fix with robot.snapped({2 * off:.0e})",
            )
    if doubt := range_doubt(joint, joint.lower, joint.upper):
        yield _found(link.name, "degrees", doubt)
    far = max(float(np.abs(v).max()) for v in (link.before.translation, link.after.translation, body.com))
    if body.mass > HEAVY or far > FAR:
        yield _found(link.name, "magnitude", f"mass {body.mass:g} kg, lengths up to {far:g} m: are these SI units?")
    elif body.mass > 0 and (radius := math.sqrt(float(np.abs(body.tensor).max())) / math.sqrt(body.mass)) > 10.0:
        yield _found(link.name, "magnitude", f"inertia of a body {radius:.3g} m wide for {body.mass:g} kg: are these SI units?")
    if joint.mimic is not None:
        m = joint.mimic
        told = f"joint {joint.name!r} should follow {m.multiplier:g} * {m.joint} + {m.offset:g}"
        why = "but no joint of one degree of freedom has this name; it is treated as independent"
        yield _found(link.name, "mimic", f"{told}, {why}")
    if abs(joint.friction_offset) > (most := max(joint.coulomb, joint.static_friction)):
        told = f"friction offset {joint.friction_offset:g} exceeds the Coulomb level {most:g}: friction would drive the joint"
        yield _found(link.name, "friction", f"joint {joint.name!r}: {told}")
    if 0 < joint.static_friction < joint.coulomb:
        told = f"static friction {joint.static_friction:g} is less than Coulomb friction {joint.coulomb:g}"
        yield _found(link.name, "friction", f"joint {joint.name!r}: {told}")
    if joint.lower == joint.upper:
        yield _found(link.name, "limit", f"joint {joint.name!r} cannot move: both limits are {joint.lower:g}")


def _coupled(robot: Model, i: int) -> Iterator[Finding]:
    """What a coupling makes of a joint's limits."""
    joint, link = robot.links[i].joint, robot.links[i].name
    if robot.coupling is None or joint.lower == joint.upper:
        return
    by = robot.coupling.alone(i)
    if by is None and np.isfinite([joint.lower, joint.upper]).any():
        told = f"joint {joint.name!r} is moved by several coordinates or by none, so its own limits are not kept"
        yield _found(link, "limit", told)
    elif by is not None and (same := robot.joints[by]).lower == same.upper:
        yield _found(
            link,
            "limit",
            f"joint {joint.name!r} cannot move: the limits of coupled joints leave {same.name!r} at {same.lower:g} only",
        )


def almost_right(pose: Pose) -> float:
    """The largest entry of the rotation that is nearly, but not exactly, zero; 0 if there is none."""
    off = np.abs(pose.rotation)
    small = off[(off > 0) & (off < ALMOST)]
    return float(small.max()) if small.size else 0.0


def summary(robot: Model) -> Text:
    """The model and its conventions in words; a prompt shows it, `print` prints it."""
    head = f"{robot.name}: {joints_told(robot)}"
    head += f", {robot.n - robot.closures} of them independent" if robot.loops else ""
    base = " with the base" if robot.base_inertia.mass else ""
    lines = [wrapped(f"{head}, {robot.total_mass:.6g} kg{base}, gravity {_vector(robot.gravity)} m/s^2")]
    if robot.source:
        lines.append(wrapped(robot.source, "source: "))
    if robot.base != Pose.identity():
        lines.append(_placed(robot.base))
    lines += [table(_joint_rows(robot)), table(_body_rows(robot))]
    if robot.frames:
        lines.append(wrapped(", ".join(f"{f.name} (on {f.link})" for f in robot.frames), "frames: "))
    lines += [wrapped(told, f"{what}: ") for what, told in around(robot).items()]
    doubts = check(robot)
    lines.append(f"suspicious data: {len(doubts)}" + (", see robot.check()" if doubts else ""))
    return Text("\n".join([*lines, "", CONVENTIONS]))


def around(robot: Model) -> dict[str, str]:
    """What is free of the base, what couples the joints, and what drives them, in words."""
    free = ", ".join(link.name for link in robot.links if link.joint.kind == "free")
    found = {"free bodies": free} if free else dict[str, str]()
    if robot.coupling is not None:
        found["coupled joints"] = ", ".join(robot.coupling.told(robot.open.joints))
    if robot.loops:
        found["loops"] = ", ".join(loop.told for loop in robot.loops)
        found["equations of the loops"] = f"{robot.closures} for {robot.n} joints"
    if robot.independent:
        found["independent joints"] = ", ".join(robot.independent)
    if (motors := robot.transmission) is not None:
        speeds = [f"{name} = {sum_of(row, robot.joint_names, 0.0)}" for name, row in zip(motors.names, motors.matrix, strict=True)]
        found["motors"] = ", ".join(speeds)
        rotors = zip(motors.names, motors.rotor_inertia.tolist(), strict=True)
        found["rotor inertias"] = ", ".join(f"{name} {inertia:g}" for name, inertia in rotors if inertia) or "none"
    return found


def _placed(base: Pose) -> str:
    """Where the base is, and how it is turned, if it is."""
    turned = "".join(f", {axis} axis {_vector(v)}" for axis, v in zip("xyz", base.rotation.T, strict=True))
    return wrapped(f"at {_vector(base.translation)} m" + ("" if (base.rotation == np.eye(3)).all() else turned), "base: ")


def _joint_rows(robot: Model) -> list[tuple[str, ...]]:
    """How the joints stand, and how far they go."""
    rows = [("#", "joint", "kind", "range", "link", "parent")]
    for link in robot.links:
        j = link.joint
        kind = j.kind + (f" {j.pitch:g} m/rad" if j.kind == "helical" else "")
        places = [robot.joint_names.index(part.name) for part in j.parts if part.name in robot.joint_names]
        number = "-" if not places else str(places[0]) if len(places) == 1 else f"{places[0]}-{places[-1]}"  # in qd
        bounds = "unlimited" if len(places) > 1 else limits_told(j)
        rows.append((number, j.name, kind, bounds, link.name, link.parent))
    return rows


def _body_rows(robot: Model) -> list[tuple[str, ...]]:
    """What moves with the joints; friction is damping, Coulomb's level, and what else there is. Columns of dashes are left out."""
    rows = [("link", "mass", "centre of mass", "friction", "armature")]
    for link in robot.links:
        j, body = link.joint, link.inertia
        rubs = f"{j.damping:g}, {j.coulomb:g}" + "".join(f", {k} {getattr(j, k):g}" for k in FRICTION[2:] if getattr(j, k))
        rotor = f"{j.armature:g}" if j.armature else "-"
        rows.append((link.name, f"{body.mass:g}", _vector(body.com), rubs if j.rubs else "-", rotor))
    columns = [column for column in zip(*rows, strict=True) if set(column[1:]) != {"-"}]
    return list(zip(*columns, strict=True))


def _vector(v: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:g}" for x in v) + ")"


def limits_told(joint: Joint) -> str:
    """The range of a joint in words."""
    return f"{joint.lower:.4g} .. {joint.upper:.4g}" if np.isfinite([joint.lower, joint.upper]).any() else "unlimited"
