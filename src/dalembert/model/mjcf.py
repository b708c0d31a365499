"""Robots from MJCF files, through the package mujoco: its compiled model has bodies, inertias and joints as the file means them.

A body of MJCF moves by any number of joints, one after the other; here each has a link, those before the last without mass. A joint
goes through `jnt_pos` along `jnt_axis`, both in the frame of the body, which at `qpos0` stands where the file places it. Positions
are those of MuJoCo, in the order of the file; `robot.to_mujoco` gives free joints in MuJoCo's way.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from dalembert.arguments import LONGEST
from dalembert.errors import Error, brief
from dalembert.model.assemble import Fixed, assemble
from dalembert.model.couple import with_coupling
from dalembert.model.inertia import Inertia
from dalembert.model.links import SEVERAL, Frame, Joint, Link, Note
from dalembert.model.mjcf_motors import KINDS, by_joint, driven, effort, gear
from dalembert.model.mjcf_source import Source, compiled
from dalembert.model.mjcf_unread import Flags, unread
from dalembert.model.model import Model
from dalembert.model.pose import Pose, align_z, rotation_quaternion, unit

M = TypeVar("M", bound=Model)
CONNECT, WELD, JOINT = range(3)  # mjtEq
SITE = 6  # mjtObj


def parse_mjcf(cls: type[M], root: Element, path: Path, size: int, mimic: bool) -> M:
    """A robot from the root element of an MJCF file and the file's size. With mimic=False equalities are passed over.

    Links are the bodies that move, in the order of the file; bodies that do not, and sites, are frames. What is not understood is
    noted (see `check`).
    """
    try:
        if root.tag != "mujoco":
            raise Error(f"the root element is <{root.tag[:40]}>, an MJCF file has <mujoco>; it may be a part that another includes")
        source = compiled(root, path.parent, size)
        with np.errstate(all="ignore"):  # huge numbers overflow, which constructors reject
            return _robot(cls, root.get("model") or path.stem, source, path.name, mimic)
    except Error as error:
        raise Error(f"{path.name}: {error}") from None


class _Names(NamedTuple):
    """Names of everything in MuJoCo's order; of links and frames all different, as MJCF has a set of names for each kind."""

    bodies: list[str]
    joints: list[str]
    sites: list[str]
    equalities: list[str]
    actuators: list[str]
    taken: set[str]


def _names(m: Any) -> _Names:
    bodies = _different(["world", *(m.body(i).name or f"body{i}" for i in range(1, m.nbody))], taken := set[str]())
    own = [m.joint(j).name or f"{bodies[int(m.jnt_bodyid[j])]}_joint" for j in range(m.njnt)]
    return _Names(
        bodies,
        _different(own, set()),
        _different([m.site(i).name or f"site{i}" for i in range(m.nsite)], taken),
        [m.equality(i).name or f"equality{i}" for i in range(m.neq)],
        _different([m.actuator(i).name or f"actuator{i}" for i in range(m.nactuator)], set()),
        taken,
    )


def _different(names: list[str], taken: set[str]) -> list[str]:
    """The same names, those that are taken with a number."""
    found: list[str] = []
    for name in names:
        other, k = name, 2
        while other in taken:
            other, k = f"{name}_{k}", k + 1
        taken.add(other)
        found.append(other)
    return found


def _robot(cls: type[M], name: str, source: Source, file: str, mimic: bool) -> M:
    m, names = source.model, _names(source.model)
    flags = Flags.of(m)
    bodies = list(_bodies(m, names, flags))
    loops = list(_loops(m, names)) if mimic and flags.equality else []
    frames = [
        Frame(names.sites[i], names.bodies[int(m.site_bodyid[i])], _pose(m.site_pos[i], m.site_quat[i])) for i in range(m.nsite)
    ]
    made = assemble(names.bodies[0], Inertia.zero(), bodies, [*frames, *(frame for loop in loops for frame in loop.frames)])
    found = (*made.notes, *source.notes, *unread(m, flags, names.bodies, names.joints, source.touching))
    robot = cls(
        name,
        gravity=m.opt.gravity if flags.gravity else np.zeros(3),
        base_name=names.bodies[0],
        source=f"MJCF {file}",
        **made._replace(notes=tuple(_short(found)))._asdict(),
    )
    notes: list[Note] = []  # a robot with one more is checked as a whole again, so they come at the end
    if mimic and flags.equality:
        robot = _coupled(robot, m, names, notes)
        start = _start(robot, m, names)
        for loop in loops:
            robot = _closed(robot, loop, start, notes)
    robot = driven(robot, m, names.actuators, notes)
    return replace(robot, notes=(*robot.notes, *_short(notes))) if notes else robot


# --- bodies and joints --------------------------------------------------------------------------------------------------------


def _pose(place: Any, quaternion: Any) -> Pose:
    w, x, y, z = (float(part) for part in quaternion)
    return Pose(rotation_quaternion(x, y, z, w), place)


def _inertia(m: Any, body: int) -> Inertia:
    local = Inertia(float(m.body_mass[body]), np.zeros(3), np.diag(m.body_inertia[body]))
    return local.seen_from(_pose(m.body_ipos[body], m.body_iquat[body]))


def _bodies(m: Any, names: _Names, flags: Flags) -> Iterator[Link | Fixed]:
    """All bodies but the world, each on as many links as it has joints."""
    motors = by_joint(m)
    for body in range(1, m.nbody):
        name, parent = names.bodies[body], names.bodies[int(m.body_parentid[body])]
        placed, inertia = _pose(m.body_pos[body], m.body_quat[body]), _inertia(m, body)
        first = int(m.body_jntadr[body])
        joints = range(first, first + int(m.body_jntnum[body]))
        if not joints:
            yield Fixed(name, parent, placed, inertia)
        for j in joints:
            last = j == joints[-1]
            link = name if last else _different([f"{name}.{names.joints[j]}"], names.taken)[0]
            joint = _joint(m, j, names.joints[j], flags, motors)
            at = _axis(m, j, joint)
            ref = 0.0 if joint.kind in SEVERAL else float(m.qpos0[m.jnt_qposadr[j]])
            still = at @ joint.motion(-ref) if ref else at
            before = still if joint.kind == "free" else placed @ still
            yield Link(link, parent, joint, before, at.inverse, inertia if last else Inertia.zero())
            parent, placed = link, Pose.identity()


def _axis(m: Any, j: int, joint: Joint) -> Pose:
    """The frame of a joint in that of its body: its z is the axis."""
    if joint.kind == "free":
        return Pose.identity()
    if joint.kind != "ball" and not 0.5 < float(np.sqrt((m.jnt_axis[j] ** 2).sum())) < 2:  # MuJoCo makes it 1, if it can
        raise Error(f"joint {joint.name!r} has an axis that has no direction")
    return Pose(np.eye(3) if joint.kind == "ball" else align_z(unit(m.jnt_axis[j])), m.jnt_pos[j])


def _joint(m: Any, j: int, name: str, flags: Flags, motors: dict[int, list[int]]) -> Joint:
    kind, dof = KINDS[int(m.jnt_type[j])], int(m.jnt_dofadr[j])
    armature, damping = float(m.dof_armature[dof]), float(m.dof_damping[dof])
    for a in motors.get(j, ()):
        square = gear(m, a) ** 2
        armature, damping = armature + square * float(m.actuator_armature[a]), damping + square * float(m.actuator_damping[a])
    single: dict[str, Any] = {}
    if kind not in SEVERAL:
        if m.jnt_limited[j] and flags.limit:
            single |= {"lower": float(m.jnt_range[j][0]), "upper": float(m.jnt_range[j][1])}
        single |= {
            "coulomb": float(m.dof_frictionloss[dof]) if flags.frictionloss else 0.0,
            "effort_limit": effort(m, j, motors.get(j, ())),
        }
    try:
        return Joint(name, kind, damping=damping if flags.damper else 0.0, armature=armature, **single)
    except Error as error:
        raise Error(f"body {brief(m.body(int(m.jnt_bodyid[j])).name, 60)}: {error}") from None


# --- what holds joints and bodies together ------------------------------------------------------------------------------------


def _coupled(robot: M, m: Any, names: _Names, notes: list[Note]) -> M:
    """With <equality> of joints, where it is linear: y - y0 = a0 + a1 (x - x0)."""
    follow: dict[str, dict[str, float]] = {}
    offset: dict[str, float] = {}
    for e in range(m.neq):
        if m.eq_type[e] != JOINT or not m.eq_active0[e]:
            continue
        first, second, (a0, a1, *more) = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e][:5].tolist()
        name, link = names.joints[first], names.bodies[int(m.jnt_bodyid[first])]
        if second >= 0 and any(more):
            told = f"equality {names.equalities[e]!r}: joint {name!r} follows a polynomial of higher degree, which is ignored"
            notes.append(Note(link, told, "unread"))
        elif name in follow:
            told = f"equality {names.equalities[e]!r} is ignored: joint {name!r} follows another already"
            notes.append(Note(link, told, "unread"))
        else:
            y0, x0 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (first, max(second, 0)))
            follow[name] = {names.joints[second]: a1} if second >= 0 and a1 else {}
            offset[name] = y0 + a0 - (a1 * x0 if second >= 0 else 0.0)
    if not follow:
        return robot
    try:
        return with_coupling(robot, follow, offset=offset)
    except Error as error:
        notes.append(Note(names.bodies[0], f"the equalities of joints are ignored: {error}", "unread"))
        return robot


class _Loop(NamedTuple):
    """An equality of two bodies, by frames that it keeps together; new ones where it names no sites."""

    name: str
    kind: str
    first: str
    second: str
    frames: tuple[Frame, ...]


def _loops(m: Any, names: _Names) -> Iterator[_Loop]:
    for e in range(m.neq):
        kind = {CONNECT: "point", WELD: "weld"}.get(int(m.eq_type[e]))
        if kind is None or not m.eq_active0[e]:
            continue
        ends, called = (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])), names.equalities[e]
        if m.eq_objtype[e] == SITE:
            first, second = (names.sites[i] for i in ends)
            yield _Loop(called, kind, first, second, ())
            continue
        data, here = m.eq_data[e], _different([f"{called}_1", f"{called}_2"], names.taken)
        # a weld has the anchor in the second body, then the pose of the second body in the first
        poses = Pose(np.eye(3), data[:3]), Pose(np.eye(3), data[3:6])
        if kind == "weld":
            poses = _pose(data[3:6], data[6:10]), Pose(np.eye(3), data[:3])
        frames = tuple(Frame(n, names.bodies[i], pose) for n, i, pose in zip(here, ends, poses, strict=True))
        yield _Loop(called, kind, here[0], here[1], frames)


def _start(robot: Model, m: Any, names: _Names) -> dict[str, Any]:
    """Where the file places the joints, at which equalities of bodies hold: for those who close loops, if positions are numbers."""
    at = {name: float(m.qpos0[m.jnt_qposadr[j]]) for j, name in enumerate(names.joints)}
    return {"near": [at[name] for name in robot.joint_names]} if robot.n == robot.nq else {}


def _closed(robot: M, loop: _Loop, start: dict[str, Any], notes: list[Note]) -> M:
    """With a loop closed, if that can be done."""
    closing: Any = robot  # `with_loop` is of robots, whose package builds on this one
    try:
        return closing.with_loop(loop.first, loop.second, kind=loop.kind, **start)
    except Error as error:
        link = robot.links[i].name if (i := robot.locate(loop.first)[0]) >= 0 else robot.base_name
        told = f"equality {loop.name!r} between frames {loop.first!r} and {loop.second!r} is ignored: {error}"
        notes.append(Note(link, told, "unread"))
        return robot


def _short(notes: Iterable[Note]) -> Iterator[Note]:
    """The same notes, none longer than a note may be."""
    for note in notes:
        yield note if len(note.remark) <= LONGEST else note._replace(remark=note.remark[: LONGEST - 3] + "...")
