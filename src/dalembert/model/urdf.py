"""Robots from URDF files. Only kinematics and inertias are read here, and nothing else is opened; `visuals` reads how they look."""

import math
import re
from collections.abc import Iterator
from typing import TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import text
from dalembert.errors import DataWarning, Error, brief, warn
from dalembert.model.assemble import Fixed, assemble
from dalembert.model.degrees import rpy_doubt
from dalembert.model.inertia import Inertia
from dalembert.model.links import SEVERAL, Joint, Kind, Link, Mimic, Note
from dalembert.model.model import Model
from dalembert.model.pose import Pose, align_z, rotation_quaternion, rotation_rpy, unit
from dalembert.model.unread import MOMENTS, unread

M = TypeVar("M", bound=Model)
KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "floating": "free",
    "planar": "planar",
}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")  # float() would take 1_000 and foreign digits too
UNIT = 1e-2  # how far from 1 the length of a quaternion may be that is rounded to two digits


def parse_urdf(cls: type[M], root: Element, what: str, mimic: bool) -> M:
    """A robot from the root element of a URDF file, which is `what` in errors; mimic=False passes over <mimic>.

    Joint order is depth first in the order of the file. Fixed joints are lumped, their links stay as frames. An impossible
    inertia is taken as it is, and what is not understood is noted (see `check`); gravity is (0, 0, -9.81).
    """
    try:
        return _robot(cls, root, what, mimic)
    except Error as error:
        raise Error(f"{what}: {error}") from None


def _robot(cls: type[M], root: Element, what: str, mimic: bool) -> M:
    if root.tag != "robot":
        hint = ": SDF is not supported" if root.tag == "sdf" else ""
        raise Error(f"the root element is <{root.tag[:40]}>, a URDF has <robot>{hint}")
    if any(str(e.tag).startswith("xacro:") or any("${" in v for v in e.attrib.values()) for e in root.iter()):
        raise Error("this is a xacro file: with a name that ends in .xacro it is expanded")
    inertias: dict[str, Inertia] = {}
    for element in root.findall("link"):
        name = text(element.get("name"), "the name of a link")
        if name in inertias:
            raise Error(f"two links are named {name!r}")
        inertias[name] = _inertia(element, f"link {name!r}")
    if not inertias:
        raise Error("there is no <link>")
    joints = _joints(root, inertias)
    carried = {child for _, child, _ in joints}
    roots = [name for name in inertias if name not in carried]
    if len(roots) != 1:
        names = ", ".join(map(repr, roots[:5])) or "none: the joints form a cycle"
        raise Error(f"a robot has exactly one root link, found {len(roots)} ({names})")
    bodies = list(_depth_first(roots[0], joints, inertias, mimic))
    if len(bodies) + 1 != len(inertias):
        lost = sorted(set(inertias) - {b.name for b in bodies} - {roots[0]})
        raise Error(f"link {lost[0]!r} is not connected to {roots[0]!r}: its joints form a cycle")
    made = assemble(roots[0], inertias[roots[0]], bodies)
    made = made._replace(notes=(*made.notes, *_turned(root, joints), *unread(root, roots[0])))
    return cls(root.get("name") or "robot", base_name=roots[0], source=f"URDF {what}", **made._asdict())


def _joints(root: Element, links: dict[str, Inertia]) -> list[tuple[str, str, Element]]:
    """(parent, child, element) of every joint, each child once."""
    joints: list[tuple[str, str, Element]] = []
    names: set[str] = set()
    carried: dict[str, str] = {}
    for element in root.findall("joint"):
        name = text(element.get("name"), "the name of a joint")
        here = f"joint {name!r}"
        if name in names:
            raise Error(f"two joints are named {name!r}")
        names.add(name)
        ends: list[str] = []
        for tag in ("parent", "child"):
            end = element.find(tag)
            link = end.get("link") if end is not None else None
            if link is None:
                raise Error(f'{here} needs <{tag} link="..."/>')
            if link not in links:
                raise Error(f"{here} names {brief(link, 60)} as {tag}, but there is no such link")
            ends.append(link)
        parent, child = ends
        if child in carried:
            raise Error(f"link {child!r} is the child of two joints, {carried[child]!r} and {name!r}; close loops by with_loop")
        carried[child] = name
        joints.append((parent, child, element))
    return joints


def _depth_first(
    root: str, joints: list[tuple[str, str, Element]], inertias: dict[str, Inertia], mimic: bool
) -> Iterator[Link | Fixed]:
    below: dict[str, list[tuple[str, str, Element]]] = {}
    for joint in joints:
        below.setdefault(joint[0], []).append(joint)
    stack = below.get(root, [])[::-1]
    while stack:
        parent, child, element = stack.pop()
        yield _body(parent, child, element, inertias[child], f"joint {element.get('name')!r}", mimic)
        stack += below.get(child, [])[::-1]


def _body(parent: str, child: str, element: Element, inertia: Inertia, here: str, mimics: bool) -> Link | Fixed:
    placed = origin(element.find("origin"), here)
    kind = element.get("type", "")
    if kind == "fixed":
        return Fixed(child, parent, placed, inertia)
    if kind not in KINDS:
        raise Error(f"{here} is of type {brief(kind, 60)}, which is not a URDF joint type")
    limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
    # a <limit> without lower or upper means 0 in URDF; a continuous joint has no range
    several = KINDS[kind] in SEVERAL
    bounded = limit is not None and kind != "continuous" and not several
    lower, upper = (scalar(limit, k, here, 0.0) if bounded else side for k, side in (("lower", -np.inf), ("upper", np.inf)))
    if lower > upper:
        raise Error(f"{here} has lower limit {lower} above upper limit {upper}")
    dry = _not_negative(scalar(dynamics, "friction", here, 0.0), "friction", here)
    if several and dry:
        warn(
            f"{here}: dry friction is for joints of one degree of freedom; friction={dry:g} of a {kind} joint is left out",
            DataWarning,
        )
    joint = Joint(
        element.get("name", ""),
        KINDS[kind],
        lower=lower,
        upper=upper,
        velocity_limit=scalar(limit, "velocity", here, np.inf),
        effort_limit=scalar(limit, "effort", here, np.inf),
        damping=_not_negative(scalar(dynamics, "damping", here, 0.0), "damping", here),
        coulomb=0.0 if several else dry,
        mimic=_mimic(mimic, here) if mimics and mimic is not None else None,
    )
    turn = Pose.identity() if kind == "floating" else Pose(align_z(_axis(element, here)), np.zeros(3))
    return Link(child, parent, joint, placed @ turn, turn.inverse, inertia)


def _mimic(element: Element, here: str) -> Mimic:
    name = element.get("joint")
    if not name:
        raise Error(f'{here}: <mimic> needs joint="..."')
    return Mimic(name, scalar(element, "multiplier", here, 1.0), scalar(element, "offset", here, 0.0))


def _axis(element: Element, here: str) -> Array:
    axis = vector(element.find("axis"), "xyz", here, (1.0, 0.0, 0.0))
    largest = float(np.abs(axis).max())
    if largest < 1e-6:
        raise Error(f"{here} has axis {axis.tolist()}, which is zero")
    return unit(axis / largest)


def _inertia(link: Element, here: str) -> Inertia:
    inertial = link.find("inertial")
    if inertial is None:
        return Inertia.zero()
    for tag, keys in (("mass", ("value",)), ("inertia", MOMENTS)):
        element = inertial.find(tag)
        if element is None or any(element.get(key) is None for key in keys):
            raise Error(f"{here}: <inertial> needs <{tag}> with {', '.join(keys)}")
    xx, xy, xz, yy, yz, zz = (scalar(inertial.find("inertia"), k, here, 0.0) for k in MOMENTS)
    mass = scalar(inertial.find("mass"), "value", here, 0.0)
    try:
        body = Inertia(mass, np.zeros(3), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return body.seen_from(origin(inertial.find("origin"), here))
    except Error as error:
        raise Error(f"{here}: {error}") from None


def origin(element: Element | None, here: str) -> Pose:
    """From xyz and either rpy or, of URDF 1.1, quat_xyzw: read in files of any version."""
    zero = (0.0, 0.0, 0.0)
    xyz, rpy = vector(element, "xyz", here, zero), vector(element, "rpy", here, zero)
    if element is None or element.get("quat_xyzw") is None:
        return Pose(rotation_rpy(rpy), xyz)
    if element.get("rpy") is not None:
        raise Error(f"{here}: <origin> has both rpy and quat_xyzw; give only one")
    x, y, z, w = vector(element, "quat_xyzw", here, (*zero, 1.0)).tolist()
    length = math.hypot(x, y, z, w)
    if abs(length - 1.0) > UNIT:
        raise Error(f"{here}: quat_xyzw must have length 1, got {[x, y, z, w]} of length {length:.6g}")
    return Pose(rotation_quaternion(x, y, z, w), xyz)


def _turned(root: Element, joints: list[tuple[str, str, Element]]) -> Iterator[Note]:
    """Origins of joints and inertias whose angles look like degrees."""
    zero = (0.0, 0.0, 0.0)
    for _, child, element in joints:
        if doubt := rpy_doubt(vector(element.find("origin"), "rpy", child, zero)):
            yield Note(child, f"the origin of its joint: {doubt}", "degrees")
    for element in root.findall("link"):
        name = element.get("name", "")
        if doubt := rpy_doubt(vector(element.find("inertial/origin"), "rpy", name, zero)):
            yield Note(name, f"the origin of its inertia: {doubt}", "degrees")


def vector(element: Element | None, key: str, here: str, default: tuple[float, ...]) -> Array:
    """An attribute of three or four finite numbers; the default where there is none."""
    given = None if element is None else element.get(key)
    if given is None:
        return np.array(default)
    parts = given.split()
    if len(parts) != len(default):
        raise Error(f"{here}: {key} must be {'three' if len(default) == 3 else 'four'} numbers, got {brief(given, 60)}")
    return np.array([_number(part, key, here) for part in parts])


def scalar(element: Element | None, key: str, here: str, default: float) -> float:
    """An attribute that is a finite number; the default where there is none."""
    given = None if element is None else element.get(key)
    return default if given is None else _number(given, key, here)


def _number(given: str, key: str, here: str) -> float:
    if not NUMBER.fullmatch(given.strip()):
        raise Error(f"{here}: {key} must be a finite number, got {brief(given, 60)}")
    value = float(given)
    if not np.isfinite(value):
        raise Error(f"{here}: {key} must be a finite number, got {brief(given, 60)}")
    return value


def _not_negative(value: float, key: str, here: str) -> float:
    if value < 0:
        raise Error(f"{here}: {key} must not be negative, got {value}")
    return value
