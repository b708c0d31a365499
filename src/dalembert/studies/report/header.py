"""The top of the page: the robot's name, the 3D view, and the key figures."""

import datetime
import platform
from collections.abc import Sequence
from html import escape

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.robots import Robot
from dalembert.studies.report.figures import number
from dalembert.studies.report.motion import SampledMotion
from dalembert.studies.report.motion_sections import force_units
from dalembert.version import __version__
from dalembert.visuals.read import Visuals

LONG = 12  # letters of a structure that are written out
MOST_MISSING = 3  # visuals whose absence is explained one by one


def made() -> str:
    """When and with what the page was made."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{now}, dalembert {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"


def structure(robot: Robot) -> str:
    """Joint letters, shortened if there are many, and whether the links branch."""
    letters = robot.structure
    told = letters if len(letters) <= LONG else ", ".join(f"{letters.count(x)} {x}" for x in "RPH" if x in letters)
    branches = robot.parents != tuple(range(-1, robot.n - 1))
    return (told + (", a tree" if branches else "")) or "none"


def header(robot: Robot, motion: SampledMotion, looks: Visuals) -> str:
    """Title, view and facts."""
    count = f"{robot.n} joint{'' if robot.n == 1 else 's'}"
    source = f'<p class="source">Source: {escape(robot.source)}</p>' if robot.source else ""
    return (
        '<header><div class="title"><p class="kind">dalembert study</p>'
        f"<h1>{escape(robot.name)}</h1><p>{count} · {structure(robot)}</p>{source}</div>"
        '<button type="button" id="theme" aria-label="Switch between light and dark">◐</button></header>'
        f'<div class="hero">{_view(robot, looks)}<aside class="facts">{_facts(robot, motion)}</aside></div>{_player(motion)}'
    )


def _view(robot: Robot, looks: Visuals) -> str:
    own = [("skin", "shapes of the file")] if looks.shapes else []
    missing = "".join(f"<br>not drawn: {escape(why)}" for _, why in looks.missing[:MOST_MISSING])
    more = len(looks.missing) - MOST_MISSING
    missing += f"<br>and {more} more" if more > 0 else ""
    toggles = "".join(
        f'<label><input type="checkbox" data-show="{key}"{"" if own and key == "com" else " checked"}> {words}</label>'
        for key, words in (*own, ("com", "centres of mass"), ("trail", "path of the hand"), ("frame", "hand frame"))
    )
    return (
        f'<div class="view" id="view"><canvas id="scene" tabindex="0" role="img" aria-label="3D view of {escape(robot.name)}, '
        'moving along the trajectory; drag or use the arrow keys to rotate the view, + and − to zoom"></canvas>'
        f'<div class="toggles">{toggles}<button type="button" id="home">reset view</button></div>'
        f'<p class="hint">drag to rotate · click, then wheel to zoom · right drag to shift{missing}</p></div>'
    )


def _facts(robot: Robot, motion: SampledMotion) -> str:
    facts: list[tuple[str, str, str]] = [
        ("moving mass", f"{number(sum(x.inertia.mass for x in robot.links))} kg", f"{len(robot.links)} links"),
    ]
    if robot.n:
        units, tau = np.array(force_units(robot)), robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        for unit in dict.fromkeys(units.tolist()):
            sizes = np.where(units == unit, np.abs(tau).max(axis=0), -1.0)
            facts.append(
                (
                    "largest torque" if unit == "N m" else "largest force",
                    f"{number(float(sizes.max()), 3)} {unit}",
                    f"at {robot.joint_names[int(sizes.argmax())]}",
                )
            )
        facts.append(_largest_inertia(robot, motion))
        count = robot.operation_count("inverse_dynamics")
        facts.append(("inverse dynamics", f"{count.mul} mul, {count.add} add", "operations, customized to this robot"))
    doubts = len(robot.check())
    facts.append(("suspicious data", str(doubts) if doubts else "none", "see Parameters" if doubts else "nothing found"))
    facts.append(("gravity", f"{number(float(np.linalg.norm(robot.gravity)))} m/s²", f"along ({_direction(robot.gravity)})"))
    return (
        "<dl>"
        + "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd><dd class=small>{escape(c)}</dd></div>" for a, b, c in facts)
        + "</dl>"
    )


def _largest_inertia(robot: Robot, motion: SampledMotion) -> tuple[str, str, str]:
    """The range of the diagonal entry of M, among the revolute joints if there are any, that becomes largest."""
    M = np.diagonal(robot.mass_matrix(motion.q), axis1=-2, axis2=-1)
    units = np.array(force_units(robot))
    unit = "N m" if "N m" in units else "N"
    k = int(np.where(units == unit, M.max(axis=0), -np.inf).argmax())
    low, high = (number(float(x), 3) for x in (M[:, k].min(), M[:, k].max()))
    span = high if low == high else f"{low} … {high}"
    return "largest inertia", f"{span} {'kg m²' if unit == 'N m' else 'kg'}", f"at {robot.joint_names[k]}, along the motion"


def _direction(gravity: Array) -> str:
    size = float(np.linalg.norm(gravity))
    return ", ".join(number(float(x) / size if size else 0.0, 3) for x in gravity)


def _player(motion: SampledMotion) -> str:
    start, end = float(motion.time[0]), float(motion.time[-1])
    speeds: Sequence[str] = ("0.25", "0.5", "1", "2")
    options = "".join(f'<option value="{s}"{" selected" if s == "1" else ""}>{s}×</option>' for s in speeds)
    return (
        '<div class="player" role="group" aria-label="Time">'
        '<button type="button" id="play" aria-pressed="false" aria-label="Play">▶</button>'
        f'<input type="range" id="time" min="{start:.6g}" max="{end:.6g}" step="any" value="{start:.6g}" aria-label="Time, s">'
        f'<output id="clock" for="time">{start:.2f} s</output>'
        f'<select id="speed" aria-label="Speed">{options}</select></div>'
    )
