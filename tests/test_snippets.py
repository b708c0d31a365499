"""Every block of code of the pages, and every example of the command line's help, is run; only what is listed here is not.

`test_readme.py` runs the README, `test_problems.py` the cells of problems.md, `test_embedded.py` compiles what is in C.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest
from mjcf_models import HUMANOID
from pages import DOCS, PAGES, ROOT, URDF, blocks, read

import dalembert as da

# --- Python -------------------------------------------------------------------------------------------------------------------

XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="prefix" default=""/>
<xacro:arg name="payload" default="1"/><link name="base"/><link name="$(arg prefix)arm"><inertial><mass value="$(arg payload)"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="$(arg prefix)arm"/></joint></robot>"""
BEFORE = {  # what a reader has before the first block, where a page says so in words or in cells
    "files": "import dalembert as da, numpy as np\nq, (qd, qdd) = da.load('walker.xml').neutral(), np.zeros((2, da.load('walker.xml').n))",
    "sweeps": "import dalembert as da\narm, over = da.robot('puma560'), {'qd': (-1.0, 1.0), 'qdd': (-1.0, 1.0)}",
}
SMALLER = {"10**10": "10**4", "-n 1e9": "-n 1e4", "-n 5e6": "-n 1e4"}  # these take hours, and the law is the same
NOT_RUN = {"tcp://scheduler": "needs a cluster; test_scale.py starts one"}
LIBRARIES = {
    "torch": "torch",
    "jax": "jax",
    "casadi": "casadi",
    "sympy": "sympy",
    "mpmath": "mpmath",
    "xacro=": "xacro",
    "mujoco": "mujoco",
    "import pinocchio": "pinocchio",
}
LONG = {"howto/batches", "howto/gradients", "howto/gravity_compensation", "motions"}


def smaller(code):
    for many, few in SMALLER.items():
        code = code.replace(many, few)
    return code


def chapters():
    """What a reader runs in one session: a block that imports dalembert begins a new one."""
    found = []
    for name in PAGES:
        made = []
        for block in blocks(read(name), "python"):
            if not made or "import dalembert" in block:
                made.append([])
            made[-1].append(block)
        for k, chapter in enumerate(made):
            slow = name in LONG or any("import jax" in block for block in chapter)
            found.append(pytest.param(name, chapter, id=f"{name}-{k}", marks=[pytest.mark.slow] if slow else []))
    return found


@pytest.mark.parametrize(("name", "chapter"), chapters())
def test_blocks_run(name, chapter, tmp_path, monkeypatch, capsys):
    """From top to bottom. Comments say what `print(sympy...)` prints, and the shapes of results; what others say is not checked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "walker.xml").write_text(HUMANOID)
    (tmp_path / "arm.urdf.xacro").write_text(XACRO)
    for mark, library in LIBRARIES.items():
        if any(mark in block for block in chapter):
            pytest.importorskip(library)
    state = {}
    exec(BEFORE.get(name, ""), state)
    for block in chapter:
        if not any(mark in block for mark in NOT_RUN):
            exec(compile(smaller(block), f"docs/{name}.md", "exec"), state)
            for said in re.findall(r"^print\(sympy.*\)  # (.*)$", block, re.MULTILINE):
                assert said in capsys.readouterr().out
            for names, said in re.findall(r"^([\w, ]+) = .*  # (\(\d+, .*)$", smaller(block), re.MULTILINE):
                shapes = [ast.literal_eval(shape) for shape in re.findall(r"\(\d+(?:, \d+)+\)", said)]
                for result, shape in zip(names.split(", "), cycle(shapes)):
                    assert state[result].shape == shape, f"docs/{name}.md: {result}"


CELLS = [name for name in PAGES if blocks(read(name), "{code-cell}") and name != "problems"]


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("CI")), reason="`make docs` runs them, which is part of CI")
@pytest.mark.parametrize("name", CELLS)
def test_cells_run(name, tmp_path, monkeypatch):
    """Without a notebook: a page that fails stops the whole build."""
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    state = {}
    for cell in blocks(read(name), "{code-cell}"):
        code = re.sub(r"^%(time|timeit -n \d+ -r \d+) ", "", cell, flags=re.MULTILINE)
        code = re.sub(r"^[:%].*$", "", code, flags=re.MULTILINE)
        exec(code.replace("from IPython.display import Markdown", "Markdown = str"), state)


# --- commands -----------------------------------------------------------------------------------------------------------------


def shell(name):
    """The lines of a page's shell blocks, without comments."""
    lines = "".join(blocks(read(name), "sh")).splitlines()
    return [line.partition("  #")[0].strip() for line in lines if not line.startswith("make ")]


def inline():
    """Commands with their robot in the text of the pages and of the README; words in capitals stand for something else."""
    texts = {"README": (ROOT / "README.md").read_text(encoding="utf-8"), **{name: read(name) for name in PAGES}}
    found = {
        name: re.findall(r"`(dalembert [a-z-]+ [^`-][^`]*)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
        for name, text in texts.items()
    }
    return {name: [x for x in each if not re.search(r"\b[A-Z]{4,}\b|\\", x)] for name, each in found.items() if each}


def examples():
    """{command: the examples of its help}."""
    from dalembert.cli.app import EPILOG, PANELS

    commands = (command for modules in PANELS.values() for module in modules for command in module.COMMANDS)
    every = {function.__name__.replace("_", "-"): list(lines) for function, lines in commands}
    return every | {"dalembert": [line for line in EPILOG.splitlines() if line.startswith("dalembert ")]}


def test_commands_are_understood():
    """Every option and argument of the examples, of the pages and of the README exists."""
    typer = pytest.importorskip("typer")
    from dalembert.cli.app import app

    group, seen = typer.main.get_command(app), 0
    for where, lines in {**examples(), **{name: shell(name) for name in PAGES}, **inline()}.items():
        for line in lines:
            for piece in re.split(r"\|\|?|&&|>", line):
                if piece.split()[:1] == ["dalembert"]:
                    _, name, *given = shlex.split(piece)
                    assert name in group.commands, f"{where}: {line}"
                    group.commands[name].make_context(name, given)  # fails with the reason
                    seen += 1
    assert seen > 70


def table(path, robots, parts, rows, time=False):
    """A CSV file with the columns of several robots: a smooth motion that is small enough for all of them."""
    columns = [f"{part}_{joint}" for robot in robots for part in parts for joint in robot.joint_names]
    t = np.linspace(0.0, 10.0, rows)
    values = np.stack([0.2 * np.sin((1 + k % 5) * t + k) for k in range(len(columns))], axis=-1)
    if time:
        columns, values = ["t", *columns], np.column_stack([t, values])
    np.savetxt(path, values, delimiter=",", header=",".join(columns), comments="")


def recording(path, robot, headings=("q", "tau"), names=None):
    """A motion and its forces."""
    t = np.linspace(0.0, 6.0, 601)[:, None]
    k = np.arange(robot.n)
    q, qd, qdd = np.sin((1 + k) * t + k), (1 + k) * np.cos((1 + k) * t + k), -((1 + k) ** 2) * np.sin((1 + k) * t + k)
    tau = robot.inverse_dynamics(q, qd, qdd)
    if names is not None:  # degrees, and currents of motors with 0.1 N m/A
        q, tau = np.degrees(q), 10 * tau
    columns = [
        "t" if names is None else "timestamp",
        *(f"{heading}_{x}" for heading in headings for x in (names or robot.joint_names)),
    ]
    np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=",".join(columns), comments="")


def message(path, robot):
    """The same as ROS says it: nanoseconds since 1970, and joints by name."""
    recording(path, robot)
    rows = np.loadtxt(path, delimiter=",", skiprows=1).tolist()
    head = ["%time", *(f"field.{kind}{k}" for kind in ("name", "position", "effort") for k in range(robot.n))]
    stamps = (str(1_700_000_000_000_000_000 + round(1e9 * row[0])) for row in rows)
    lines = [",".join([stamp, *robot.joint_names, *map(repr, row[1:])]) for stamp, row in zip(stamps, rows, strict=True)]
    path.write_text("\n".join([",".join(head), *lines]))


STANDING_IN = {"excite": "ur5", "identify": "ur5", "least-effort": "two_link"}  # for arm.urdf: so many joints, or stronger motors


@pytest.fixture
def folder(tmp_path):
    """The files that readers are told to have."""
    (tmp_path / "arm.urdf").write_text(URDF)
    arm, puma, panda, ur5 = da.load(tmp_path / "arm.urdf"), da.robot("puma560"), da.robot("panda"), da.robot("ur5")
    table(tmp_path / "states.csv", (arm, puma, panda), ("q", "qd", "qdd", "tau"), 3)
    table(tmp_path / "waypoints.csv", (arm, puma, panda), ("q",), 3)
    table(tmp_path / "tau.csv", (panda,), ("tau",), 1001, time=True)
    table(tmp_path / "motion.csv", (arm,), ("q", "qd", "qdd", "tau"), 101, time=True)
    np.savez(tmp_path / "states.npz", q=np.zeros((3, 6)), qd=np.zeros((3, 6)), tau=np.zeros((3, 6)))
    (tmp_path / "motors.toml").write_text("speed = [0, 1, 3]\npeak = [90, 80, 40]\n")
    for name in ("run1", "run2", "other"):
        recording(tmp_path / f"{name}.csv", ur5)
    recording(tmp_path / "log.csv", ur5, ("actual_q", "current"), range(6))
    message(tmp_path / "joint_states.csv", ur5)
    return tmp_path


def ran(lines, folder):
    """One after the other, in a shell; a line whose compiler or emulator is missing is left out."""
    script = ["set -e -o pipefail", f'dalembert() {{ "{sys.executable}" -m dalembert "$@"; }}', "make_states() { cat states.csv; }"]
    for line in lines:
        others = [
            piece.split()[0]
            for piece in re.split(r"\|\|?|&&", line)
            if piece.split()[0] not in ("dalembert", "make_states", "./a.out")
        ]
        if all(map(shutil.which, others)):
            command = re.search(r"\bdalembert ([\w-]+)", line)
            line = line.replace("arm.urdf", STANDING_IN.get(command[1] if command else "", "arm.urdf"))
            script.append(smaller(line.replace("panda.urdf", "panda").replace("my_arm", "arm")))
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if shell(name)])
def test_commands_of_pages_run(name, folder):
    pytest.importorskip("typer")
    ran(shell(name), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(examples()) if shutil.which("bash") else [])
def test_examples_of_help_run(name, folder):
    pytest.importorskip("typer")
    ran(examples()[name], folder)


# --- the rest -----------------------------------------------------------------------------------------------------------------


def test_every_block_has_a_test():
    """Languages that no test here knows are named."""
    known = {"python", "sh", "{code-cell}"}
    elsewhere = {("howto/microcontroller", "c"), ("format", "toml"), ("sizing", "toml")}  # test_embedded.py, and below
    for name in PAGES:
        for language in re.findall(r"^```(\w+|\{code-cell\})$", read(name), re.MULTILINE):
            assert language in known or (name, language) in elsewhere, f"docs/{name}.md: nothing runs its block of {language}"
    everything = "".join(PAGES[name].read_text(encoding="utf-8") for name in PAGES)
    assert all(mark in everything for mark in NOT_RUN)


def test_files_that_pages_show_are_read(tmp_path):
    (shown,) = blocks(read("format"), "toml")
    (tmp_path / "arm.toml").write_text(shown)
    arm = da.load(tmp_path / "arm.toml")
    assert (arm.joint_names, arm.total_mass, arm.frames[-1].name) == (("joint1", "joint2"), 7.0, "tool")
    (shown,) = blocks(read("sizing"), "toml")
    (tmp_path / "motors.toml").write_text(shown)
    (curve,) = da.MotorCurve.load(tmp_path / "motors.toml").values()
    assert curve == da.MotorCurve([0, 300, 400], [1.2, 1.2, 0.0], [0.6, 0.5, 0.0]).geared(100, efficiency=0.8)


def test_commands_for_contributors_exist():
    """Targets of the Makefile, and scripts with their options, which CONTRIBUTING and the pages name."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md", ".ci/run")]
    for text in (*texts, *(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))):
        for target in re.findall(r"(?:`|^ *)make ([a-z]+(?:-[a-z]+)*)(?=[\s`])", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"there is no `make {target}`"
        for path in re.findall(r"\b((?:tests|tools|benchmarks|examples)/[\w/]+\.py)\b", text):
            assert (ROOT / path).exists(), path
        for path, given in re.findall(r"`python ((?:tests|tools|benchmarks)/[\w/]+\.py)([^`]*)`", text):
            for option in re.findall(r"--[\w-]+", given):
                assert f'"{option}"' in (ROOT / path).read_text(encoding="utf-8"), f"{path} has no {option}"


def test_pictures_are_made_by_one_command():
    """`make pictures` makes those that are stored, and pages show no others."""
    makefile, stored = (ROOT / "Makefile").read_text(encoding="utf-8"), {path.name for path in (DOCS / "images").iterdir()}
    assert stored == set(re.findall(r"docs/images/(\S+)", makefile))
    shown = re.findall(
        r"!\[[^]]*\]\((?:docs/)?images/([^)]+)\)", "".join(map(read, PAGES)) + (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert set(shown) == stored
