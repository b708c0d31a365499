"""Entries of a URDF file that may affect the dynamics but are ignored: mistyped names and extensions, listed by link.

What has nothing to do with them (visual, collision, gazebo, transmission, limit, calibration, ...) is passed over, and so is
whatever is 0. A fixed joint does not move: only its origin matters.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from dalembert.errors import brief
from dalembert.model.links import Note

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ATTRIBUTES = {
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "mass": ("value",),
    "inertia": MOMENTS,
    "axis": ("xyz",),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "parent": ("link",),
    "child": ("link",),
}
INERTIAL = ("origin", "mass", "inertia")
PLACING = ("origin", "parent", "child")
MOVING = (*PLACING, "axis", "dynamics", "mimic")
HARMLESS = ("limit", "calibration", "safety_controller", "gazebo", "transmission", "sensor", "visual", "collision", "material")
MISPLACED = ("mass", "inertia", "origin", "axis", "dynamics")  # in a link; the first three belong into its <inertial>
DYNAMIC = ("mass", "inertia", "com", "damping", "friction", "stiffness", "armature", *MOMENTS)  # as attributes of a link or joint
EXTENSION = re.compile(r"(.*:)?(links?|(loop_)?joints?|gravity|force_element|.*spring.*|.*bushing.*|.*constraint.*)", re.IGNORECASE)
ROTOR = re.compile(r"(.*:)?(rotor|motor)_?inertia", re.IGNORECASE)
VERSION = re.compile(r"\s*1(\.[0-9]+)?\s*")


def unread(root: Element, base: str) -> Iterator[Note]:
    """Notes on everything in a <robot> that seems to change its dynamics and is not read; those on the whole go to its base."""
    version = root.get("version")
    if version is not None and not VERSION.fullmatch(version):
        yield _note(base, f"URDF version {brief(version, 20)} is unknown; the file was read as version 1")
    child: dict[str, str] = {}
    for element in root:
        if element.tag == "link":
            yield from _of_link(element)
        elif element.tag == "joint":
            child[element.get("name", "")] = _child(element)
            yield from _of_joint(element)
        elif EXTENSION.fullmatch(element.tag):
            yield _note(base, f"{_tag(element)} {brief(element.get('name', ''), 60)} of the robot is ignored")
    for element in root.findall("transmission"):
        if any(ROTOR.fullmatch(x.tag) for x in element.iter()):
            for joint in element.findall("joint"):
                name = joint.get("name", "")
                if name in child:
                    yield _note(child[name], f"{_joint(name)}: the rotor inertia of its transmission is ignored; see with_armature")


def _of_link(link: Element) -> Iterator[Note]:
    name, inertials = link.get("name", ""), link.findall("inertial")
    if len(inertials) > 1:
        yield _note(name, f"there are {len(inertials)} <inertial>, only the first is used")
    for part in link:
        typed = part.tag != "inertial" and difflib.get_close_matches(part.tag.lower(), ["inertial"], cutoff=0.8)
        strange = part.tag not in ("inertial", *HARMLESS) and any(x.tag.lower() in ("mass", "inertia") for x in part.iter())
        if (typed or strange or part.tag.lower() in MISPLACED) and _says_something(part):
            yield _note(name, f"{_tag(part)} outside <inertial> is ignored")
    yield from _of_attributes(name, "", link, tuple(key for key in link.attrib if key.lower() not in DYNAMIC))
    for inertial in inertials[:1]:
        yield from _of_parts(name, "", inertial, INERTIAL)
        yield from _of_attributes(name, "", inertial, ())


def _of_joint(joint: Element) -> Iterator[Note]:
    link, here = _child(joint), _joint(joint.get("name", "")) + ": "
    if joint.get("type") == "fixed":
        yield from _of_parts(link, here, joint, PLACING, (*MOVING, *HARMLESS))
        return
    yield from _of_attributes(link, here, joint, tuple(key for key in joint.attrib if key.lower() not in DYNAMIC))
    yield from _of_parts(link, here, joint, MOVING, HARMLESS)
    axis = joint.find("axis")
    if axis is not None and axis.get("xyz") is None:
        yield _note(link, f"{here}<axis> has no xyz; 1 0 0 is used")


def _of_parts(link: str, here: str, element: Element, read: tuple[str, ...], harmless: tuple[str, ...] = ()) -> Iterator[Note]:
    """The children of an element: unknown ones, repeated ones, and what is unknown in those that are read."""
    inside = "in <inertial> " if element.tag == "inertial" else ""
    seen = Counter(part.tag for part in element)
    for tag, count in seen.items():
        if tag in read and count > 1:
            yield _note(link, f"{here}there are {count} <{tag}> {inside}".rstrip() + ", only the first is used")
    for part in element:
        if part.tag not in read and part.tag not in harmless:
            yield _note(link, f"{here}{_tag(part)} {inside}is ignored")
    for tag in read:
        part = element.find(tag)
        if part is not None:
            yield from _of_attributes(link, here, part, ATTRIBUTES[tag])
            for inner in part:
                yield _note(link, f"{here}{_tag(inner)} in <{tag}> is ignored")


def _of_attributes(link: str, here: str, element: Element, known: tuple[str, ...]) -> Iterator[Note]:
    odd = [key for key, value in element.attrib.items() if key not in known and not key.startswith("xml") and not _zero(value)]
    if odd:
        near = difflib.get_close_matches(odd[0], known, n=1)
        listed = f" (known: {', '.join(known)})" if element.tag in ATTRIBUTES else ""
        if element.tag == "dynamics":
            own = "see with_armature" if "armature" in odd else "give friction with robot.with_friction(damping=...)"
            listed += f"; {own}, or delete {'it' if len(odd) == 1 else 'them'}"
        meant = f" (did you mean {near[0]!r}?)" if near else listed
        shown = ", ".join(brief(key, 24) for key in odd[:3]) + (", ..." if len(odd) > 3 else "")
        yield _note(link, f"{here}<{element.tag}> has {shown}, which {'is' if len(odd) == 1 else 'are'} ignored{meant}")


def _says_something(element: Element) -> bool:
    return len(element) > 0 or any(not _zero(value) for value in element.attrib.values())


def _zero(value: str) -> bool:
    """Whether a text holds nothing but zeros."""
    return all(re.fullmatch(r"[+-]?0*\.?0*", part) for part in value.split())


def _child(joint: Element) -> str:
    end = joint.find("child")
    return "" if end is None else end.get("link", "")


def _joint(name: str) -> str:
    return f"joint {brief(name, 60)}"


def _tag(element: Element) -> str:
    return f"<{brief(element.tag, 40).strip(chr(39))}>"


def _note(link: str, remark: str) -> Note:
    return Note(link, remark, "unread")
