"""Changes to a robot; each returns a new one."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dalembert.arguments import choice, frozen_array, number
from dalembert.errors import Error, brief
from dalembert.model.assemble import Fixed, assemble
from dalembert.model.coupling import Coupling, Transmission
from dalembert.model.degrees import warn_of_positions
from dalembert.model.inertia import Inertia
from dalembert.model.links import FRICTION, SEVERAL, Joint, Link, levels, two_levels
from dalembert.model.model import Model
from dalembert.model.pose import Pose

M = TypeVar("M", bound=Model)
GRIPPER_JOINT = re.compile("grip|jaw|finger|claw", re.IGNORECASE)
WRIST_JOINT = re.compile("yaw|pitch|roll|rot|wrist|to.?grip", re.IGNORECASE)  # turns a gripper as a whole
JAW = re.compile("jaw|finger|claw|pincer|pincher|thumb|tong|clamp|knuckle|grip.*mov|moving.?(grip|side)", re.IGNORECASE)
FIXED_JAW = re.compile("fixed|static|stationary|stator|palm|hand|base|body|wrist", re.IGNORECASE)
WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
TOOL_WORDS = {"tcp", "tool", "ee", "eef", "effector", "gripper", "grip", "grasp"}
PLACE_WORDS = {"end", "frame", "link", "center", "centre", "point", "target", "tip", "left", "right"}
AGREES = 1e-9  # rad or m: how far a given position may be off what a coupling says


def with_gravity(robot: M, gravity: Any) -> M:
    """The same robot in another gravity field: the physical vector in the world, m/s^2.

    >>> import dalembert as da
    >>> moon = da.robot("puma560").with_gravity((0, 0, -1.62))
    """
    return replace(robot, gravity=gravity)


def with_base(robot: M, pose: Any) -> M:
    """The same robot mounted at a pose in the world (a `Pose` or a 4x4 matrix): tilted, hanging, on a wall."""
    return replace(robot, base=Pose.coerce(pose))


def with_free_base(robot: M, *, joint: str = "base") -> M:
    """The same robot with its base set free: a body like the others, on a free joint, before all other joints.

    q begins with the quaternion (w, x, y, z) and the position of the base in the world, qd with its angular and its linear velocity
    in axes of the base, tau with the moment and the force on it in the same axes: zero for a robot that floats, walks or flies.
    The fixed world is now the base, and is called "world", or "fixed_world" if something else is. Where `with_base` had placed the
    robot does not matter any more: q says where it is.

    >>> import dalembert as da
    >>> flying = da.robot("puma560").with_free_base()
    >>> flying.n, flying.nq, flying.joint_names[5:8]
    (12, 13, ('base.vz', 'joint1', 'joint2'))
    """
    for link in robot.links:
        if link.parent == robot.base_name and link.joint.kind == "free":
            raise Error(f"{robot.name} is free already: the free joint {link.joint.name!r} carries {link.name!r}")
        if isinstance(joint, str) and link.joint.name == joint:  # anything else is refused by the joint
            raise Error(f"{robot.name} has a joint {joint!r}; name the free one with with_free_base(joint=...)")
    taken = (robot.base_name, *robot.link_names, *robot.frame_names)
    world = next(name for name in ("world", *(f"fixed_world{k or ''}" for k in range(len(taken)))) if name not in taken)
    base = Link(robot.base_name, world, Joint(joint, "free"), inertia=robot.base_inertia)
    coupling, more = robot.coupling, len(base.joint.parts)
    if coupling is not None:
        matrix = np.zeros((len(coupling.offset) + more, len(coupling.names) + more))
        matrix[:more, :more], matrix[more:, more:] = np.eye(more), coupling.matrix
        names = (*(part.name for part in base.joint.parts), *coupling.names)
        coupling = Coupling(names, matrix, np.concatenate([np.zeros(more), coupling.offset]))
    motors = robot.transmission
    if motors is not None:
        motors = replace(motors, matrix=np.hstack([np.zeros((len(motors.names), more)), motors.matrix]))
    around: dict[str, Any] = {"coupling": coupling, "transmission": motors}
    return replace(robot, links=(base, *robot.links), base=Pose.identity(), base_name=world, base_inertia=Inertia.zero(), **around)


def with_payload(robot: M, mass: float, com: Any = (0.0, 0.0, 0.0), tensor: Any = 0.0, link: str | None = None) -> M:
    """The same robot carrying a rigid load on a link or named frame (default: the one link at the end).

    `com` and `tensor` (about the load's centre of mass; 3x3, three principal moments, or 0) are in that frame's axes.

    >>> import dalembert as da
    >>> da.robot("puma560").with_payload(mass=2.0, com=(0, 0, 0.1)).total_mass - da.robot("puma560").total_mass
    2.0
    """
    try:
        load = Inertia.from_com(mass, com, tensor)
    except Error as error:
        raise Error(f"payload: {error}") from None
    index, pose = robot.locate(link if link is not None else tip(robot))
    load = load.seen_from(pose)
    if index < 0:
        return replace(robot, base_inertia=robot.base_inertia + load)
    links = list(robot.links)
    links[index] = replace(links[index], inertia=links[index].inertia + load)
    return replace(robot, links=tuple(links))


def tip(robot: Model) -> str:
    """The one link that carries no other: what `link` means where it is left out.

    An error where there are several, and where it is the one moving jaw of a gripper: a load or a target belongs to the
    hand then, and only the user knows by which name.
    """
    carried = set(robot.parents)
    ends = [i for i in range(len(robot.links)) if i not in carried]
    names = [robot.link_names[i] for i in ends]
    if len(ends) != 1:
        hands = {robot.parents[i] for i in ends}
        hand = hands.pop() if len(hands) == 1 else -1
        what = f"{len(ends)} end links ({', '.join(names) or 'none'})"
        if hand >= 0:
            what += f", all on {robot.link_names[hand]!r}"
            if frames := _frame_names_on(robot, hand):
                what += f", which has frames such as {frames[0]!r}"
        raise Error(f"{robot.name} has {what}; choose one, or a frame, with link=...")
    hand = hand_of_jaw(robot, ends[0])
    if hand < 0:
        return names[0]
    choices = [robot.link_names[hand], *_frame_names_on(robot, hand)[:3], *names]
    if _opens(robot.links[ends[0]]):
        joint = robot.links[ends[0]].joint.name
        what = f"ends in {names[0]!r}, the jaw that joint {joint!r} opens and closes"
    else:
        what = f"ends in {names[0]!r}, but {_tools_on(robot, hand)[0]!r} on {robot.link_names[hand]!r} looks like the tool"
    raise Error(f"{robot.name} {what}; choose a link, or a frame, with link=...: {', '.join(map(repr, choices))}")


def hand_of_jaw(robot: Model, i: int) -> int:
    """The link that carries the gripper in which link i, at the end, moves: by names, or by a tool's frame there; otherwise -1.

    A robot that is a finger as a whole has no hand.
    """
    hand = robot.parents[i]
    if _opens(robot.links[i]):
        while hand >= 0 and _moves_in_gripper(robot.links[hand]):
            hand = robot.parents[hand]
        return hand
    return hand if _tools_on(robot, hand) and not _tools_on(robot, i) else -1


def _frame_names_on(robot: Model, i: int) -> list[str]:
    return [name for name in robot.frame_names if i >= 0 and robot.locate(name)[0] == i]


def _tools_on(robot: Model, i: int) -> list[str]:
    """Frames on a link whose names say that a load is held there, or a target reached: tcp, tool0, ee_link, but not tool_box."""
    found: list[str] = []
    for name in _frame_names_on(robot, i):
        words = {word.lower() for word in WORD.findall(name.removeprefix(robot.name))}
        if "tcp" in words or (words & TOOL_WORDS and words <= TOOL_WORDS | PLACE_WORDS):
            found.append(name)
    return found


def _opens(link: Link) -> bool:
    """Whether a link is part of a gripper that moves in it, by the names of it and of its joint."""
    opens = GRIPPER_JOINT.search(link.joint.name) and not WRIST_JOINT.search(link.joint.name)
    return bool(opens or JAW.search(link.name))


def _moves_in_gripper(link: Link) -> bool:
    """Whether a link is itself a part that opens and closes, such as the first of a finger, and not the half that a wrist turns."""
    return _opens(link) and not (FIXED_JAW.search(link.name) or WRIST_JOINT.search(link.joint.name))


def with_parameters(robot: M, parameters: Any, *, check: bool = True) -> M:
    """The same robot with other inertial parameters (10 n,), in the order of `parameters`: what an identification found.

    A link whose parameters are unchanged keeps its inertia to the last digit. Of the others, what no body can have is an error;
    check=False takes it, as files are taken.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.with_parameters(2 * arm.parameters()).total_mass
    4.0
    """
    count = len(robot.links)
    values = frozen_array(parameters, (10 * count,), f"the parameters of {robot.name} (10 a link)").reshape(count, 10)

    def changed(link: Link, own: Any) -> Link:
        if np.array_equal(own, link.inertia.parameters):
            return link
        try:
            made = Inertia.from_parameters(own, check=False)
        except Error as reason:
            raise Error(f"link {link.name!r}: {reason}") from None
        if check and (reason := made.impossible()):
            raise Error(f"link {link.name!r}: impossible inertia: {reason}; check=False accepts it")
        return replace(link, inertia=made)

    return replace(robot, links=tuple(changed(link, own) for link, own in zip(robot.links, values, strict=True)))


def with_friction(
    robot: M,
    damping: Any = None,
    coulomb: Any = None,
    *,
    friction_offset: Any = None,
    static_friction: Any = None,
    stribeck_speed: Any = None,
    load_friction: Any = None,
) -> M:
    """The same robot with other friction, each part as one number for all joints, one for each, or a dict by name.

    Ball, free and planar joints are meant only where they are named.

    What the parts mean is said at `Joint`; those not given stay. `coulomb` may have one level for each direction, (negative,
    positive): an array (n, 2), or (1, 2) for all joints, or a dict of pairs; half the difference becomes the `friction_offset`, to
    which a given one is added.

    >>> import dalembert as da
    >>> arm = da.robot("two_link").with_friction(damping=0.5, coulomb={"joint1": (1.0, 2.0)})
    >>> arm.friction_force([[1.0, 0.0], [-1.0, 0.0]]).tolist()
    [[2.5, 0.0], [-1.5, 0.0]]
    """
    if coulomb is not None:
        both = _levels(robot, coulomb)
        offsets = {} if friction_offset is None else _per_joint(robot, friction_offset, "friction_offset")
        offsets |= {name: offsets.get(name, 0.0) + (b - a) / 2 for name, (a, b, pair) in both.items() if pair}
        coulomb, friction_offset = {name: (a + b) / 2 for name, (a, b, _) in both.items()}, offsets
    changes = {"damping": damping, "coulomb": coulomb, "friction_offset": friction_offset, "static_friction": static_friction}
    return _joints(robot, **changes, stribeck_speed=stribeck_speed, load_friction=load_friction)


def _levels(robot: Model, given: Any) -> dict[str, tuple[float, float, bool]]:
    """The Coulomb levels of joints in both directions, and whether they were given for each."""
    if not isinstance(given, Mapping):
        values = frozen_array(given, None, "coulomb")
        names = _single(robot)
        n = len(names)
        if values.shape not in ((), (n,), (1, 2), (n, 2)):
            raise Error(f"coulomb must be one number, {n} (one per joint) or ({n}, 2), got shape {values.shape}")
        wide = np.broadcast_to(values, (n, 2) if values.ndim == 2 else (n,))
        given = dict(zip(names, wide, strict=True))
    _known(robot, given)
    return {str(name): (*levels(x, f"coulomb of joint {name!r}"), two_levels(x)) for name, x in given.items()}


def with_armature(robot: M, armature: Any) -> M:
    """The same robot with reflected rotor inertias: one number for all joints, n numbers, or a dict by name."""
    return _joints(robot, armature=armature)


def without_friction(robot: M) -> M:
    """The same robot without friction of any kind."""
    return _joints(robot, **dict.fromkeys(FRICTION, dict.fromkeys(_all_joints(robot), 0.0)))


def without_armature(robot: M) -> M:
    """The same robot without rotor inertias, those of the motors of a transmission included."""
    motors = robot.transmission
    still = None if motors is None else replace(motors, rotor_inertia=np.zeros(len(motors.names)))
    return replace(_joints(robot, armature=dict.fromkeys(_all_joints(robot), 0.0)), transmission=still)


def _joints(robot: M, **changes: Any) -> M:
    wanted = {field: _per_joint(robot, value, field) for field, value in changes.items() if value is not None}

    def changed(joint: Joint) -> Joint:
        return replace(joint, **{field: by[joint.name] for field, by in wanted.items() if joint.name in by})

    return replace(robot, links=tuple(replace(link, joint=changed(link.joint)) for link in robot.links))


def _per_joint(robot: Model, value: Any, what: str) -> dict[str, float]:
    if isinstance(value, Mapping):
        _known(robot, value)
        return {str(name): number(v, f"{what} of joint {name!r}") for name, v in value.items()}
    values, names = frozen_array(value, None, what), _single(robot)
    if values.shape not in ((), (len(names),)):
        raise Error(f"{what} must be one number or {len(names)} (one per joint), got shape {values.shape}")
    return dict(zip(names, np.broadcast_to(values, (len(names),)).tolist(), strict=True))


def _single(robot: Model) -> list[str]:
    """The joints of one degree of freedom: what is given for all joints does not mean a free base."""
    return [link.joint.name for link in robot.links if link.joint.kind not in SEVERAL]


def _all_joints(robot: Model) -> list[str]:
    """Of the tree: a joint that follows another has friction and a rotor of its own."""
    return [link.joint.name for link in robot.links]


def _known(robot: Model, names: Any) -> None:
    known = _all_joints(robot)
    for name in names:
        choice(name, f"joint of {robot.name}:", known)


def snapped(robot: M, tolerance: float = 1e-4) -> M:
    """The same robot with almost-right angles made right: rotation entries below `tolerance` become 0.

    Files often have 1.5708 for pi/2. Exact zeros make every program shorter; angles are never changed unless you call this.
    """
    size = number(tolerance, "the tolerance of snapped()")
    if not 0.0 <= size < 0.1:
        raise Error(f"the tolerance of snapped() must be between 0 and 0.1, got {size}")

    def straight(link: Link) -> Link:
        return replace(link, before=link.before.snapped(size), after=link.after.snapped(size))

    frames = tuple(replace(frame, pose=frame.pose.snapped(size)) for frame in robot.frames)
    return replace(robot, links=tuple(map(straight, robot.links)), base=robot.base.snapped(size), frames=frames)


def lock(robot: M, positions: Mapping[str, float]) -> M:
    """The same robot with some joints held at given positions: their links join their carriers and stay named frames.

    A joint that follows others (mimic) is held with them; its position may be given, too, where it is the one that they give it.

    >>> import dalembert as da
    >>> da.robot("panda").lock({"panda_joint3": 0.0}).n
    6
    """
    if not isinstance(positions, Mapping):
        raise Error(f"lock needs positions by joint name, such as {{'joint1': 0.0}}, got {brief(positions)}")
    several = {joint.name: joint for joint in robot.several}
    known = (*several, *robot.joint_names)
    coupling, joints = robot.coupling, robot.open.joint_names
    followers = {} if coupling is None else {x: i for i, x in enumerate(joints) if x not in coupling.names}
    for name in positions:
        if name in followers:
            continue
        choice(name, f"joint of {robot.name}:", known)
        if part := next((joint for joint in several.values() if name in [x.name for x in joint.parts]), None):
            raise Error(
                f"lock: {name!r} is a part of the {part.kind} joint {part.name!r}, which is locked as a whole: give its position"
            )
    whole = {name: x for name, x in positions.items() if name in several}
    values = {name: number(x, f"the position of joint {name!r}") for name, x in positions.items() if name not in several}
    held = np.array([values.get(name, 0.0) for name in robot.position_names])
    warn_of_positions(robot, held, "lock")
    if coupling is not None:
        for name in [x for x in followers if x in values]:
            _check_follower(coupling, followers[name], name, values.pop(name), values)
    if whole and (robot.coupling is not None or robot.transmission is not None):
        raise Error(f"lock: free, ball and planar joints cannot be locked beside the coupled joints or motors of {robot.name}")
    values |= whole
    if robot.loops and values:
        raise Error(f"lock: the loops of {robot.name} depend on all joints; call robot.without_loops().lock(...), then with_loop")
    if robot.coupling is not None or robot.transmission is not None:
        return _held(robot, values)
    return _locked(robot, values)


def _check_follower(coupling: Coupling, i: int, name: str, position: float, values: Mapping[str, float]) -> None:
    """Joint i follows others and is where they put it: a position that says so adds nothing, any other is a mistake."""
    by = [leader for leader, factor in zip(coupling.names, coupling.matrix[i], strict=True) if factor]
    there = coupling.positions(np.array([values.get(leader, 0.0) for leader in coupling.names]))[i]
    if any(leader not in values for leader in by) or abs(there - position) > AGREES:
        leaders = ", ".join(map(repr, by)) or "nothing"
        those = "(mimic); lock that one alone" if len(by) == 1 else "(a coupling); lock only what it follows"
        raise Error(f"lock: {name!r} follows {leaders} {those}")


def _locked(robot: M, positions: Mapping[str, float]) -> M:
    bodies = [
        Fixed(link.name, link.parent, link.pose(positions[link.joint.name]), link.inertia) if link.joint.name in positions else link
        for link in robot.links
    ]
    made = assemble(robot.base_name, robot.base_inertia, bodies, robot.frames)
    return replace(robot, **made._asdict() | {"notes": tuple(dict.fromkeys(robot.notes + made.notes))})


def _held(robot: M, values: Mapping[str, float]) -> M:
    """With coordinates held: joints that no other moves are locked where they then are, motors that drive no other are gone."""
    names = robot.joint_names
    free = [j for j, name in enumerate(names) if name not in values]
    held = np.array([values.get(name, 0.0) for name in names])
    coupling, motors = robot.coupling, robot.transmission
    kept, at = replace(robot, coupling=None, transmission=None), values
    if coupling is not None:
        B, b, joints = coupling.matrix[:, free], coupling.positions(held), robot.open.joint_names
        still = [i for i, row in enumerate(B) if not row.any()]
        at, left = {joints[i]: float(b[i]) for i in still}, [i for i in range(len(b)) if i not in still]
        plain = (
            [joints[i] for i in left] == [names[j] for j in free]
            and not b[left].any()
            and np.array_equal(B[left], np.eye(len(free)))
        )
        coupling = Coupling(tuple(names[j] for j in free), B[left], b[left]) if free and not plain else None
    if motors is not None:
        driving = [k for k, row in enumerate(motors.matrix[:, free]) if row.any()]
        rows = tuple(motors.names[k] for k in driving), motors.matrix[:, free][driving], motors.rotor_inertia[driving]
        motors = Transmission(*rows) if driving else None
    return replace(_locked(kept, at), coupling=coupling, transmission=motors)
