"""One standalone HTML page that tells everything about a robot."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dalembert.errors import Error, brief
from dalembert.robot import Robot
from dalembert.study.report import model_sections, motion_sections
from dalembert.study.report.comparison import comparison
from dalembert.study.report.figures import Section, rounded
from dalembert.study.report.header import header, made
from dalembert.study.report.motion import Motion, follow
from dalembert.study.report.page import page
from dalembert.study.report.scene import scene

Progress = Callable[[str, int, int], Any]

# title, and what makes the section from the robot and the motion; in the order of the page
SECTIONS: tuple[tuple[str, Callable[[Robot, Motion], Section]], ...] = (
    ("parameters", lambda robot, _: model_sections.parameters(robot)),
    ("motion", motion_sections.motion),
    ("torques", motion_sections.torques),
    ("mass matrix", motion_sections.inertias),
    ("quasi-velocities", motion_sections.quasi),
    ("energy", motion_sections.energy),
    ("comparison", lambda robot, _: comparison(robot)),
    ("equations", lambda robot, _: model_sections.closed_forms(robot)),
    ("conventions", lambda robot, _: model_sections.conventions(robot)),
)


def study(
    robot: Robot | str, directory: str | Path | None = None, *, path: Any = None, progress: Progress | None = None
) -> Path:
    """Write a report on a robot, one HTML file that works offline, and return where it is: <directory>/report.html.

    `robot` is a robot or the name of a built-in one; `directory` is made if need be, "study-<name>" by default. `path` is the
    motion to show, such as da.quintic(start, goal, duration), or a Trajectory; by default a quintic move within the limits.
    progress(section, done, total) is called as each section begins, and once at the end.

    >>> import dalembert as da, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study(da.robot("two_link"), folder).name
    'report.html'
    """
    robot = _robot(robot)
    tell = progress or (lambda section, done, total: None)
    motion = follow(robot, path)
    sections: list[Section] = []
    for name, make in SECTIONS:
        tell(name, len(sections), len(SECTIONS))
        sections.append(make(robot, motion))
    text = page(f"{robot.name} · dalembert study", header(robot, motion), sections, _data(robot, motion), _footer())
    target = Path(f"study-{safe_name(robot.name)}" if directory is None else directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / "report.html").write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {target / 'report.html'}: {error.strerror or error}") from None
    tell("", len(SECTIONS), len(SECTIONS))
    return target / "report.html"


def _robot(given: Any) -> Robot:
    if isinstance(given, str):
        import dalembert

        return dalembert.robot(given)
    if not isinstance(given, Robot):
        raise Error(f"study takes a robot or a built-in name, got {brief(given)}")
    return given


def safe_name(name: str) -> str:
    """A robot's name as a part of a file name.

    >>> safe_name("../my arm<script>")
    'my-arm-script'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:60] or "robot"


def _data(robot: Robot, motion: Motion) -> dict[str, Any]:
    """What the page's scripts need beside the figures."""
    return {
        "name": safe_name(robot.name),
        "time": rounded(motion.time),
        "q": [rounded(row) for row in motion.q],
        "scene": scene(robot, motion),
    }


def _footer() -> str:
    return f"<footer><p>Made {made()}. One file, nothing is loaded from the network; the 3D view uses three.js (MIT licence).</p></footer>"
