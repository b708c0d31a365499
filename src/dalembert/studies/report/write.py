"""Writing pages: a study with all sections, or the live arm alone."""

import re
import warnings
from collections.abc import Callable
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import flag, instance
from dalembert.errors import DataWarning, Error, PerformanceWarning, brief, optional, warn
from dalembert.files import write_states
from dalembert.model import zoo
from dalembert.model.spread import spread
from dalembert.progress import Progress, chosen
from dalembert.robots import Robot
from dalembert.sizing.result import Sizing
from dalembert.storage.opening import file_path, told
from dalembert.storage.saving import save_text
from dalembert.studies.compare import Comparison, compare
from dalembert.studies.report import computing, model_sections, motion_sections, sizing
from dalembert.studies.report.analysis import joint_forces
from dalembert.studies.report.charted import charted
from dalembert.studies.report.comparison import comparison
from dalembert.studies.report.figures import Section
from dalembert.studies.report.header import header
from dalembert.studies.report.motion import SampledMotion, follow
from dalembert.studies.report.page import page, three
from dalembert.studies.report.panels import cards, hero
from dalembert.studies.report.scene import looking, scene
from dalembert.visuals.read import Visuals, visuals

if TYPE_CHECKING:
    from dalembert.identification.result import Identification

HEIGHT = 860  # px of a page inside a notebook

# What makes each section from the robot and the motion, and its share of the time after the comparison; in the order of the page.
SECTIONS: tuple[tuple[int, Callable[[Robot, SampledMotion, Comparison], Section]], ...] = (
    (1, lambda robot, motion, _: motion_sections.motion(robot, motion)),
    (6, lambda robot, motion, _: motion_sections.torques(robot, motion)),
    (6, lambda robot, motion, _: motion_sections.energy(robot, motion)),
    (2, lambda robot, *_: model_sections.closed_forms(robot)),
    (1, lambda robot, *_: model_sections.parameters(robot)),
    (2, lambda robot, motion, _: motion_sections.inertias(robot, motion)),
    (6, lambda robot, motion, _: motion_sections.quasi(robot, motion)),
    (1, lambda robot, _, compared: comparison(robot, compared)),
    (1, lambda robot, *_: model_sections.conventions(robot)),
)
COMPARING = 70  # percent of the time


class Page(type(Path())):
    """Where a page is; a notebook shows the page itself."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which may run its scripts and save files, and nothing else."""
        text = escape(self.read_text(encoding="utf-8"), quote=True)
        style = f"width: 100%; height: {HEIGHT}px; border: 0; border-radius: 12px"
        return (
            f'<iframe srcdoc="{text}" sandbox="allow-scripts allow-downloads" title="{escape(self.name)}" style="{style}"></iframe>'
        )


def study(
    robot: Robot | str,
    directory: str | PathLike[str] | None = None,
    *,
    path: Any = None,
    compared: Comparison | None = None,
    everything: bool = False,
    identified: "Identification | None" = None,
    sized: Sizing | None = None,
    progress: Progress | bool | None = None,
) -> Path:
    """Write a page about a robot, one HTML file that works offline, and return where it is: <directory>/report.html.

    The page computes: it has the robot's programs, so that one can move the arm, load it, push it and let it fall. A notebook
    shows it inline. `robot` is a robot or the name of a built-in one; `directory` is made if need be, "study-<name>" by default.
    `path` is the motion to show, such as da.quintic(start, goal, duration), or a Trajectory; by default a quintic move within the
    limits. `compared` is the result of `da.compare` for this robot, if there is one. `everything`: the page can compute by every
    formulation, as WebAssembly. `identified`, `sized`: what `da.identify` or `robot.size` found, as sections of their own. Beside
    the page, motion.csv has the motion and its joint forces with all digits, as `dalembert inverse` and `forward` read them.
    `progress`: None (a bar on a terminal), True, False, or a function of (percent done, 100).

    >>> import dalembert as da, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study(da.robot("two_link"), folder).name
    'report.html'
    """
    robot, everything = _robot(robot, "study"), flag(everything, "everything")
    if sized is not None:
        instance(sized, Sizing, "sized")
    three()  # missing packages are reported first
    optional("latex2mathml")
    target = file_path(f"study-{safe_name(robot.name)}" if directory is None else directory)
    with told(target, "written"):
        if target.exists() and not target.is_dir():
            raise Error(f"{target}: cannot be written: it is a file, but a report needs a folder")
    tell = chosen(progress, f"studying {robot.name}")
    sections: list[Section] = []
    looks = _looks(spread(robot))
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # absurd figures overflow; what is not finite is not drawn
        warnings.simplefilter("ignore", PerformanceWarning)  # what is slow is reported in the comparison
        motion = follow(robot, path)
        tell(0, 100)
        compared = compared or compare(robot, progress=lambda done, total: tell(round(COMPARING * done / total), 100))
        before, shares = 0, sum(share for share, _ in SECTIONS)
        for share, make in SECTIONS:
            tell(COMPARING + round((95 - COMPARING) * before / shares), 100)
            sections.append(make(robot, motion, compared))
            before += share
        sections += [] if identified is None else [identified.section()]
        sections += [] if sized is None else [sizing.section(sized)]
        text = _page(robot, motion, looks, _ordered(sections), "study", compared, everything)
    with told(target, "written"):
        target.mkdir(parents=True, exist_ok=True)
    saved = Page(save_text(target / "report.html", text))
    save_motion(target / "motion.csv", robot, motion)
    tell(100, 100)
    return saved


def save_motion(file: Path, robot: Robot, motion: SampledMotion) -> None:
    """The motion of a report as a table of states."""
    if robot.n:
        tau = joint_forces(robot, motion)
        write_states(robot, file, [{"t": motion.time, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd, "tau": tau}])


def live(robot: Robot | str, file: str | PathLike[str] | None = None, *, path: Any = None, everything: bool = False) -> Path:
    """Write a page with the live arm alone, one HTML file that works offline, and return where it is; a notebook shows it inline.

    `robot`, `path` and `everything` as for `study`; `file` is "live-<name>.html" by default.

    >>> import dalembert as da, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     live(da.robot("two_link"), f"{folder}/arm.html").name
    'arm.html'
    """
    robot, everything = _robot(robot, "live"), flag(everything, "everything")
    three()
    looks = _looks(spread(robot))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", PerformanceWarning)
        text = _page(robot, follow(robot, path), looks, [], "live", None, everything)
    return Page(save_text(f"live-{safe_name(robot.name)}.html" if file is None else file, text))


def _page(
    robot: Robot, motion: SampledMotion, looks: Visuals, sections: list[Section], kind: str, compared: Any, everything: bool
) -> str:
    head = header(robot, motion, kind)
    robot, motion, own = *charted(robot, motion), robot
    counts = computing.counted(robot, compared if robot is own else None)
    flies = any(link.joint.kind == "free" for link in own.links)
    stage = looking(robot, motion, looks)
    computed = computing.live(robot, motion, stage, everything)
    data = {
        "name": safe_name(robot.name),
        "links": list(robot.link_names),
        "angles": [run.v + 1 for run in own.runs],  # the second of three, for each rotation
        "motion": computing.recorded(motion),
        "scene": scene(robot, motion, stage, looks) | ({"stand": 0.0} if flies else {}),  # nothing carries what is free
    }
    top = (
        head
        + hero(robot, motion, computed.data, bool(looks.shapes), [why for _, why in looks.missing])
        + cards(robot, computed.data, counts)
    )
    note = "One file that loads nothing from the network; the 3D view uses three.js (MIT licence)."
    if kind == "study":
        note += " The file motion.csv beside it has the motion with all digits, as the commands read it."
    return page(f"{robot.name} · dalembert {kind}", top, sections, data, computed, note)


def _looks(robot: Robot) -> Visuals:
    """The visuals of the robot's file, with one warning of what is missing."""
    looks = visuals(robot)
    reasons = [why for _, why in looks.missing]
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        warn(f"{Path(robot.file).name}: {reasons[0]}{more}; plain shapes are drawn instead", DataWarning)
    return looks


def _ordered(sections: list[Section]) -> list[Section]:
    """Equations that can be read come first."""
    return sorted(sections, key=lambda s: not (s.key == "equations" and "<math" in s.body))


def _robot(given: Any, function: str) -> Robot:
    if isinstance(given, str):
        return zoo.robot(Robot, given)
    if not isinstance(given, Robot):
        raise Error(f"{function} takes a robot or a built-in name, got {brief(given)}")
    return given


def safe_name(name: str) -> str:
    """A robot's name as a part of a file name.

    >>> safe_name("../my arm<script>")
    'my-arm-script'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:60] or "robot"
