"""The top of the page: the robot's name and, in one line, what one wants to know first."""

from html import escape

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.robots import Robot
from dalembert.studies.report.analysis import joint_forces
from dalembert.studies.report.figures import counted, number
from dalembert.studies.report.lanes import saturation
from dalembert.studies.report.motion import SampledMotion

LONG = 12  # letters of a structure that are written out


def structure(robot: Robot) -> str:
    """Joint letters, shortened if there are many, and whether the links branch, close loops or are coupled."""
    letters = robot.structure
    told = letters if len(letters) <= LONG else ", ".join(f"{letters.count(x)} {x}" for x in "FBLRPH" if x in letters)
    more = [f"{robot.n - robot.closures} independent in {counted(len(robot.loops), 'loop')}"] if robot.loops else []
    if not robot.loops and robot.parents != tuple(range(-1, len(robot.links) - 1)):
        more.append("a tree")
    if robot.coupling is not None:
        more.append(f"{len(robot.links)} coupled links")
    return ", ".join([told, *more] if told else more) or "none"


def header(robot: Robot, motion: SampledMotion, kind: str) -> str:
    """Title and facts."""
    source = f'<p class="source">Source: {escape(robot.source)}</p>' if robot.source else ""
    facts = "".join(f"<span{style}>{escape(words)}</span>" for words, style in _facts(robot, motion))
    if doubts := len(robot.check()):
        words = f"suspicious\u00a0data:\u00a0{doubts}"
        linked = f'<a href="#parameters">{words}</a>' if kind == "study" else words  # a live page has no sections
        facts += f'<span class="doubt">{linked}</span>'
    return (
        '<header><div class="corner"><button type="button" id="help" aria-haspopup="dialog">Keys</button>'
        '<button type="button" id="theme" aria-label="Switch between light and dark">◐</button></div>'
        f'<p class="kind">dalembert {kind}</p><h1>{escape(robot.name)}</h1><p class="facts">{facts}</p>{source}</header>'
    )


def _facts(robot: Robot, motion: SampledMotion) -> list[tuple[str, str]]:
    """Words, and how they are styled."""
    count = len(robot.structure)
    facts = [(counted(count, "joint") + (f" ({structure(robot)})" if robot.n else ""), "")]
    facts.append((f"{number(sum(x.inertia.mass for x in robot.links))} kg moving", ""))
    if robot.n:
        tau = joint_forces(robot, motion)
        facts += [(words, "") for words in _largest(robot, tau)] + [_margin(robot, motion, tau)]
    facts.append((f"gravity {number(float(np.linalg.norm(robot.gravity)))} m/s²", ""))
    return facts


def _largest(robot: Robot, tau: Array) -> list[str]:
    driven = np.isin(robot.joint_names, robot.independent_names())
    units = np.where(driven, [joint.force_unit for joint in robot.joints], "")  # of others there is no force
    words: list[str] = []
    for unit in dict.fromkeys(units[driven].tolist()):
        sizes = np.where(units == unit, np.abs(tau).max(axis=0), -1.0)
        what = "torque" if unit == "N m" else "force"
        words.append(f"largest {what} {number(float(sizes.max()), 3)} {unit} at {robot.joint_names[int(sizes.argmax())]}")
    return words


def margin(robot: Robot, motion: SampledMotion, tau: Array) -> tuple[float, str] | None:
    """How much of a joint's largest torque a motion leaves at least, and at which joint; None where no limits are known.

    >>> import dalembert as da
    >>> from dalembert.studies.report.motion import follow
    >>> arm = da.robot("two_link")
    >>> margin(arm, follow(arm), np.ones((201, 2))) is None
    True
    """
    left = 1 - np.nan_to_num(saturation(robot, motion, tau).max(axis=0), nan=-np.inf)
    k = int(left.argmin())
    return (float(left[k]), robot.joint_names[k]) if np.isfinite(left[k]) else None


def _margin(robot: Robot, motion: SampledMotion, tau: Array) -> tuple[str, str]:
    found = margin(robot, motion, tau)
    if found is None:
        return "torque margin unknown (no limits in the model)", ""
    share, joint = found
    if share < -1e-5:  # a motion at its limits may be beyond them by rounding, or by its tolerance
        return f"limit of {joint} exceeded by {-100 * share:.0f} %", ' class="bad"'
    whose = "" if motion.limits is None else ", of the limits for which the motion was made"
    return f"torque margin {100 * share:.0f} % at {joint}{whose}", ""
