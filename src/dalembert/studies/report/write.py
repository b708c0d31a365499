"""Writing a report: all sections in order, then the file."""

import re
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import DataWarning, Error, PerformanceWarning, brief, optional, warn
from dalembert.files import write_states
from dalembert.model import zoo
from dalembert.progress import Progress, chosen
from dalembert.robots import Robot
from dalembert.storage.opening import file_path, told
from dalembert.storage.saving import save_text
from dalembert.studies.compare import Comparison
from dalembert.studies.report import model_sections, motion_sections
from dalembert.studies.report.comparison import comparison
from dalembert.studies.report.figures import Section, rounded
from dalembert.studies.report.header import header, made
from dalembert.studies.report.motion import SampledMotion, follow
from dalembert.studies.report.page import page, three
from dalembert.studies.report.scene import scene
from dalembert.visuals.read import Visuals, visuals

Step = Callable[[float], Any]  # told how much of a section is done, 0 to 1

# What makes each section from the robot and the motion, and its share of the time, in percent; in the order of the page.
SECTIONS: tuple[tuple[int, Callable[[Robot, SampledMotion, Step, Comparison | None], Section]], ...] = (
    (1, lambda robot, *_: model_sections.parameters(robot)),
    (1, lambda robot, motion, *_: motion_sections.motion(robot, motion)),
    (6, lambda robot, motion, *_: motion_sections.torques(robot, motion)),
    (2, lambda robot, motion, *_: motion_sections.inertias(robot, motion)),
    (6, lambda robot, motion, *_: motion_sections.quasi(robot, motion)),
    (6, lambda robot, motion, *_: motion_sections.energy(robot, motion)),
    (70, lambda robot, _, step, compared: comparison(robot, compared, lambda done, total: step(done / total))),
    (2, lambda robot, *_: model_sections.closed_forms(robot)),
    (1, lambda robot, *_: model_sections.conventions(robot)),
)


def study(
    robot: Robot | str,
    directory: str | PathLike[str] | None = None,
    *,
    path: Any = None,
    compared: Comparison | None = None,
    progress: Progress | bool | None = None,
) -> Path:
    """Write a report on a robot, one HTML file that works offline, and return where it is: <directory>/report.html.

    Beside it, motion.csv has the motion and its joint forces with all digits, as `dalembert inverse` and `forward` read them.

    `robot` is a robot or the name of a built-in one; `directory` is made if need be, "study-<name>" by default. `path` is the
    motion to show, such as da.quintic(start, goal, duration), or a Trajectory; by default a quintic move within the limits.
    `compared` is the result of `da.compare` for this robot, if there is one.
    `progress`: None (a bar on a terminal), True, False, or a function of (percent done, 100).

    >>> import dalembert as da, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study(da.robot("two_link"), folder).name
    'report.html'
    """
    robot = _robot(robot)
    three()  # missing packages are reported first
    optional("latex2mathml")
    tell, before = chosen(progress, f"studying {robot.name}"), 0
    sections: list[Section] = []
    looks = _looks(robot)
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # absurd figures overflow; what is not finite is not drawn
        warnings.simplefilter("ignore", PerformanceWarning)  # what is slow is reported in the comparison
        motion = follow(robot, path)
        for share, make in SECTIONS:
            tell(before, 100)
            step: Step = lambda part, at=before, share=share: tell(at + round(part * share), 100)  # noqa: E731
            sections.append(make(robot, motion, step, compared))
            before += share
        text = page(
            f"{robot.name} · dalembert study", header(robot, motion, looks), sections, _data(robot, motion, looks), _footer()
        )
    target = file_path(f"study-{safe_name(robot.name)}" if directory is None else directory)
    with told(target, "written"):
        target.mkdir(parents=True, exist_ok=True)
    saved = save_text(target / "report.html", text)
    save_motion(target / "motion.csv", robot, motion)
    tell(100, 100)
    return saved


def save_motion(file: Path, robot: Robot, motion: SampledMotion) -> None:
    """The motion of a report as a table of states."""
    if robot.n:
        tau = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        write_states(robot, file, [{"t": motion.time, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd, "tau": tau}])


def _robot(given: Any) -> Robot:
    if isinstance(given, str):
        return zoo.robot(Robot, given)
    if not isinstance(given, Robot):
        raise Error(f"study takes a robot or a built-in name, got {brief(given)}")
    return given


def safe_name(name: str) -> str:
    """A robot's name as a part of a file name.

    >>> safe_name("../my arm<script>")
    'my-arm-script'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:60] or "robot"


def _looks(robot: Robot) -> Visuals:
    """The visuals of the robot's file, with one warning of what is missing."""
    looks = visuals(robot)
    reasons = [why for _, why in looks.missing]
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        warn(f"{Path(robot.file).name}: {reasons[0]}{more}; plain shapes are drawn instead", DataWarning)
    return looks


def _data(robot: Robot, motion: SampledMotion, looks: Visuals) -> dict[str, Any]:
    """What the page's scripts need besides the figures."""
    return {
        "name": safe_name(robot.name),
        "time": rounded(motion.time),
        "q": [rounded(row) for row in motion.q],
        "scene": scene(robot, motion, looks),
    }


def _footer() -> str:
    words = "One file that loads nothing from the network; the 3D view uses three.js (MIT licence). "
    words += "The file motion.csv beside it has the motion with all digits, as the commands read it."
    return f"<footer><p>Made {made()}. {words}</p></footer>"
