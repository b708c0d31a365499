"""The robot of a command, and the options by which every command can change it."""

import inspect
import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from dalembert.cli.parts import RobotName, complete_robot, find_robot
from dalembert.errors import DataWarning, Error, warn
from dalembert.model.degrees import rpy_doubt
from dalembert.model.pose import Pose, rotation_rpy
from dalembert.robots import Robot

PANEL = "Change the robot"
NAMED = re.compile(r"(.+?)=([^=]+)")  # a joint and its value
ANGLES = {"pi": math.pi, "-pi": -math.pi, "pi/2": math.pi / 2, "-pi/2": -math.pi / 2}  # as words among numbers
HIGH = r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*(?=[:@]|$)"  # the upper end of a range of masses: a number, and not a link


def _option(name: str, metavar: str, help: str) -> inspect.Parameter:
    shown = typer.Option(f"--{name}", metavar=metavar, help=help, rich_help_panel=PANEL)
    return inspect.Parameter(
        name.replace("-", "_"), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, shown]
    )


OPTIONS = (
    _option(
        "payload",
        "LOAD",
        "A load of MASS kg at X,Y,Z m, on the end link, or on LINK (or a frame): MASS, MASS@X,Y,Z, MASS:LINK or MASS@X,Y,Z:LINK.",
    ),
    _option("gravity", "X,Y,Z", "Gravity in world axes, m/s^2; 0 for none."),
    _option("damping", "D", "Viscous friction, N m s/rad or N s/m: one number, one for each joint, or JOINT=D,..."),
    _option("coulomb", "C", "Coulomb friction, N m or N, given in the same way."),
    _option("armature", "I", "Rotor inertia on the link side of the gearing, kg m^2 or kg, given in the same way."),
    _option("lock", "JOINT=Q,...", "Lock these joints at positions Q, rad or m."),
    _option("snap", "TOL", "Make almost right angles exact, within TOL rad; 1e-4 takes 1.5708 for pi/2."),
    _option("mimic", "on|off", "Whether mimic joints of a file follow others; off: all are independent. Default: on."),
    _option("free-base", "on|off", "Whether the base is free, as of robots that walk, fly or float. Default: as in the file."),
    _option("base", "POSE", "Pose of the fixed base: X,Y,Z or X,Y,Z,ROLL,PITCH,YAW, m and rad; pi and pi/2 are numbers."),
)


def changing(command: Callable[..., None], *, lists_findings: bool = False) -> Callable[..., None]:
    """A command whose parameter `robot` is a Robot, as one that takes the name of a robot and the options above.

    One that lists suspicious data itself needs no warning of it.
    """
    signature = inspect.signature(command)
    optional = signature.parameters["robot"].default is None
    shown = typer.Argument(
        metavar="ROBOT",
        help="A built-in name or a file; without one, counts are polynomials in the number n of joints.",
        autocompletion=complete_robot,
    )
    name: Any = Annotated[str | None, shown] if optional else RobotName

    options = [option for option in OPTIONS if option.name not in signature.parameters]  # a command may have its own of a name

    @wraps(command)
    def run(**given: Any) -> None:
        changes = {option.name: given.pop(option.name) for option in options}
        named, coupled = given.pop("robot"), _switch(changes.pop("mimic"), "--mimic")
        if named is None and any(x is not None for x in (coupled, *changes.values())):
            raise Error("options that change the robot need a robot")
        with warnings.catch_warnings():
            if lists_findings:
                warnings.simplefilter("ignore", DataWarning)
            robot = None if named is None else find_robot(named, mimic=coupled is not False)
        command(robot=None if robot is None else changed(robot, **changes), **given)

    own = [x.replace(kind=inspect.Parameter.KEYWORD_ONLY) for x in signature.parameters.values() if x.name != "robot"]
    first = inspect.Parameter("robot", inspect.Parameter.KEYWORD_ONLY, annotation=name, **({"default": None} if optional else {}))
    parameters = [first, *own, *options]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {x.name: x.annotation for x in parameters}
    return run


def changed(
    robot: Robot,
    payload: str | None = None,
    gravity: str | None = None,
    damping: str | None = None,
    coulomb: str | None = None,
    armature: str | None = None,
    lock: str | None = None,
    snap: str | None = None,
    free_base: str | None = None,
    base: str | None = None,
) -> Robot:
    """The robot with what the options say, in this order.

    Joints held, base, angles made right, gravity, friction, rotors, payload, base set free.

    >>> import dalembert as da
    >>> changed(da.robot("two_link"), payload="0.5@0,0,0.1", gravity="0,0,-1.62").total_mass
    2.5
    """
    if lock is not None:
        robot = robot.lock(_named(lock, "--lock"))
    free = _switch(free_base, "--free-base")
    if base is not None:
        if free:
            raise Error("--base places a fixed base; the place of a free base is part of its positions q")
        robot = robot.with_base(pose(base, "--base"))
    if snap is not None:  # the base's, too: who types 3.1416 means pi
        robot = robot.snapped(values(snap, "--snap", (1,))[0])
    if gravity is not None:
        field = values(gravity, "--gravity", (1, 3))
        if field == [0.0]:
            field = [0.0] * 3
        if len(field) == 1:
            raise Error(f"--gravity needs 3 numbers X,Y,Z, such as 0,0,{-abs(field[0]):g}, got {gravity!r}")
        robot = robot.with_gravity(field)
    if damping is not None:
        robot = robot.with_friction(damping=_of_each(robot, damping, "--damping"))
    if coulomb is not None:
        robot = robot.with_friction(coulomb=_of_each(robot, coulomb, "--coulomb"))
    if armature is not None:
        robot = robot.with_armature(_of_each(robot, armature, "--armature"))
    if payload is not None:
        robot = _loaded(robot, payload)
    return robot.with_free_base() if free else robot


def _switch(text: str | None, what: str) -> bool | None:
    if text not in (None, "on", "off"):
        raise Error(f"{what} must be on or off, got {text!r}")
    return None if text is None else text == "on"


def values(text: str, what: str, counts: tuple[int, ...] = ()) -> list[float]:
    """Comma-separated or space-separated numbers, as many as allowed; pi and pi/2 of either sign are numbers, too.

    >>> values("0,-pi/2", "--q0")
    [0.0, -1.5707963267948966]
    """
    try:
        found = [ANGLES[x] if x in ANGLES else float(x) for x in re.split(r"\s*,\s*|\s+", text.strip())]
    except ValueError:
        kind = "a number" if counts == (1,) else "comma-separated numbers"
        raise Error(f"{what} must be {kind}, got {text!r}") from None
    if counts and len(found) not in counts:
        raise Error(f"{what} needs {' or '.join(map(str, counts))} number{'s' * (counts != (1,))}, got {len(found)}")
    return found


def pose(text: str, what: str) -> Pose:
    """A pose X,Y,Z or X,Y,Z,ROLL,PITCH,YAW."""
    place = values(text, what, (3, 6))
    rpy = place[3:] or [0.0, 0.0, 0.0]
    if doubt := rpy_doubt(rpy):
        warn(f"{what}: {doubt}", DataWarning)
    return Pose(rotation_rpy(rpy), place[:3])


def one_or_several(text: str | None, what: str) -> Any:
    """One number, or several; None for None."""
    if text is None:
        return None
    found = values(text, what)
    return found[0] if len(found) == 1 else found


def per_joint(text: str, what: str) -> Any:
    """One number for all joints, one for each, or a dictionary by the names of joints."""
    return _named(text, what) if "=" in text else one_or_several(text, what)


def _of_each(robot: Robot, text: str, what: str) -> Any:
    """The same, as many as this robot has joints."""
    found = per_joint(text, what)
    if isinstance(found, list) and len(found) != (count := len(robot.links)):
        raise Error(f"{what} needs 1 or {count} numbers (one for each joint of {robot.name}), got {len(found)}")
    return found


def _named(text: str, what: str) -> dict[str, float]:
    """Numbers by the names of joints."""
    given = dict[str, float]()
    for part in text.split(","):
        match = NAMED.fullmatch(part.strip())
        if not match:
            raise Error(f"{what} must be JOINT=NUMBER, comma-separated for several joints, got {part!r}")
        given[match[1]] = values(match[2], f"{what} of {match[1]}", (1,))[0]
    return given


def load(text: str, what: str, *, ranged: bool = False) -> tuple[list[float], Sequence[float], str | None]:
    """The mass, the place and the link of a load MASS[@X,Y,Z][:LINK]; `ranged`, the mass may be both ends of a range, LOW:HIGH.

    >>> load("2:tool0", "--payload", ranged=True), load("0:5@0,0,0.1", "--payload", ranged=True)
    (([2.0], (0.0, 0.0, 0.0), 'tool0'), ([0.0, 5.0], [0.0, 0.0, 0.1], None))
    """
    high = f"(?::{HIGH})?" if ranged else ""
    match: Any = re.fullmatch(rf"(?P<mass>[^:@]*{high})(@(?P<place>[^:]*))?(:(?P<link>.*))?", text, re.DOTALL)  # any text does
    ends = [values(x, f"the mass of {what}", (1,))[0] for x in match["mass"].split(":")]
    if ends[-1] < ends[0]:
        raise Error(f"{what} must be a mass in kg, or a range such as 0:5, got {text!r}")
    com = (0.0, 0.0, 0.0) if match["place"] is None else values(match["place"], f"the place of {what}", (3,))
    return ends, com, match["link"]


def _loaded(robot: Robot, text: str) -> Robot:
    (mass,), com, link = load(text, "--payload")
    try:
        return robot.with_payload(mass, com, link=link)
    except Error as error:
        raise Error(str(error).replace("with link=...", f"behind the mass, as in --payload {mass:g}:LINK")) from None
