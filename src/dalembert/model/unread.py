"""Entries of a URDF file that may affect the dynamics but are ignored: mistyped names and extensions, listed by link.

What has nothing to do with them (visual, collision, limit, calibration, ...) is passed over, and so is whatever is 0. A
fixed joint does not move: only its origin matters. Of the extensions for simulators (gazebo, transmission, ros2_control)
springs, drag, links without gravity, joints that close loops, joints that follow others and rotors are listed; contact,
which no robot has here, stops, solvers, sensors and hardware are not.
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
NUMBERS = ("springstiffness", "dampingfactor", "velocitydecay", "damping")  # of <gazebo>, without underscores
FOLLOWERS = ("mimicJoint", "mimic_joint", "virtualJoint/name")  # in plugins
ON, OFF = ("1", "true"), ("0", "false")
SWITCHES = {"turngravityoff": ON, "gravity": OFF, "kinematic": ON, "static": ON, "enablewind": ON}
BODIES = ("joint", "hinge", "slider", "link", "inertial", "include", "model")  # in <gazebo>, with or without a prefix
# plugins that push a link, or join two
PUSHING = re.compile("buoyan|hydrodynamic|underwater|lift.?drag|wind|detachable|spring", re.IGNORECASE)
VERSION = re.compile(r"\s*1(\.[0-9]+)?\s*")


def unread(root: Element, base: str) -> Iterator[Note]:
    """Notes on everything in a <robot> that seems to change its dynamics and is not read; those on the whole go to its base."""
    version = root.get("version")
    if version is not None and not VERSION.fullmatch(version):
        yield _note(base, f"URDF version {brief(version, 20)} is unknown; the file was read as version 1")
    for element in root:
        if element.tag == "link":
            yield from _of_link(element)
        elif element.tag == "joint":
            yield from _of_joint(element)
        elif EXTENSION.fullmatch(element.tag):
            yield _note(base, f"{_tag(element)} {brief(element.get('name', ''), 60)} of the robot is ignored")
    yield from _of_gazebo(root, base)
    yield from _of_transmissions(root)


def _of_gazebo(root: Element, base: str) -> Iterator[Note]:
    """The extensions for Gazebo: each is of a link, of a joint, or of the whole robot."""
    links = {link.get("name", "") for link in root.findall("link")}
    joints = {joint.get("name", ""): joint for joint in root.findall("joint")}
    for element in root.findall("gazebo"):
        reference = element.get("reference", "")
        if reference in links:
            yield from _of_simulator(reference, "", element)
        elif reference not in joints:
            yield from _of_simulator(base, f"{brief(reference, 60)}: " if reference else "", element)
        elif joints[reference].get("type") != "fixed":
            yield from _of_simulator(_child(joints[reference]), _joint(reference) + ": ", element)
        followers = [(follower.text or "").strip() for path in FOLLOWERS for follower in element.iterfind(f".//{path}")]
        if element.find("axis/mimic") is not None:
            followers.append(reference)
        for name in followers:
            if _moves_alone(joints.get(name)):
                remark = "the plugin by which it follows another joint is ignored; see with_coupling"
                yield _note(_child(joints[name]), f"{_joint(name)}: {remark}")


def _of_transmissions(root: Element) -> Iterator[Note]:
    """Transmissions, also those in <ros2_control>."""
    joints = {joint.get("name", ""): joint for joint in root.findall("joint")}
    for element in root.iterfind("ros2_control/joint"):
        name = element.get("name", "")
        mimics = any(parameter.get("name") == "mimic" for parameter in element.findall("param"))
        if mimics and _moves_alone(joints.get(name)):
            remark = "its <ros2_control> by which it follows another joint is ignored; see with_coupling"
            yield _note(_child(joints[name]), f"{_joint(name)}: {remark}")
    for element in root.iter("transmission"):
        for follower in element.findall("passive_joint"):
            name = follower.get("name", "")
            if _moves_alone(joints.get(name)):
                remark = "the transmission by which it follows another joint is ignored; see with_coupling"
                yield _note(_child(joints[name]), f"{_joint(name)}: {remark}")
        if any(ROTOR.fullmatch(x.tag) for x in element.iter()):
            for joint in element.findall("joint"):
                name = joint.get("name", "")
                if name in joints:
                    remark = "the rotor inertia of its transmission is ignored; see with_armature"
                    yield _note(_child(joints[name]), f"{_joint(name)}: {remark}")


def _moves_alone(joint: Element | None) -> bool:
    """Whether a joint is read as one that moves and follows no other."""
    return joint is not None and joint.get("type") != "fixed" and joint.find("mimic") is None


def _of_link(link: Element) -> Iterator[Note]:
    name, inertials = link.get("name", ""), link.findall("inertial")
    if len(inertials) > 1:
        yield _note(name, f"there are {len(inertials)} <inertial>, only the first is used")
    for part in link:
        typed = part.tag != "inertial" and difflib.get_close_matches(part.tag.lower(), ["inertial"], cutoff=0.8)
        strange = part.tag not in ("inertial", *HARMLESS) and any(x.tag.lower() in ("mass", "inertia") for x in part.iter())
        if (typed or strange or part.tag.lower() in MISPLACED) and _says_something(part):
            yield _note(name, f"{_tag(part)} outside <inertial> is ignored")
    yield from _of_simulator(name, "", link)
    yield from _of_attributes(name, "", link, tuple(key for key in link.attrib if key.lower() not in DYNAMIC))
    for inertial in inertials[:1]:
        yield from _of_parts(name, "", inertial, INERTIAL)
        yield from _of_attributes(name, "", inertial, ())


def _of_simulator(link: str, here: str, element: Element) -> Iterator[Note]:
    """What changes the motion in a <gazebo>, or in a <link> beside its <inertial>."""
    inside = " in <gazebo>" if element.tag == "gazebo" else ""
    dynamics = list(element.iterfind("axis/dynamics/*"))
    for part in (*element, *dynamics):
        name = part.tag.rpartition(":")[2]
        kind = name.replace("_", "").lower()
        remark = ""
        if (kind in NUMBERS or (kind == "friction" and part in dynamics)) and not _zero(_content(part)):
            remark = f"<{name}> {brief(_content(part), 30).strip(chr(39))}{inside}"
        elif kind in SWITCHES and _content(part).lower() in SWITCHES[kind]:
            remark = f"<{name}> {_content(part)}{inside}"
        elif kind in BODIES and inside:
            remark = f"<{name}> {brief(part.get('name') or part.get('joint', ''), 60)}{inside}"
        elif kind == "plugin" and PUSHING.search(plugin := f"{part.get('filename', '')} {part.get('name', '')}"):
            remark = f"the plugin {brief(plugin.split()[0], 60)}"
        if remark:
            yield _note(link, f"{here}{remark} is ignored")


def _content(element: Element) -> str:
    """The value of an element, or the text in it, with single spaces."""
    return " ".join(" ".join([element.get("value", ""), *element.itertext()]).split())


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
