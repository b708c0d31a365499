"""What a person sees at the terminal."""

import ast
import inspect
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import run, sweep
from pages import read

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.files import load_states

pytest.importorskip("typer")
pytest.importorskip("rich")
from dalembert.cli import main
from dalembert.cli.app import PANELS

COMMANDS = [f.__name__.replace("_", "-") for modules in PANELS.values() for module in modules for f, _ in module.COMMANDS]
STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,0.3,0.4,0.5,0.6\n-1,2,-3,4,-5,6\n"


@pytest.fixture
def ran(capsys, monkeypatch, tmp_path):
    """A command in an empty folder: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, text=""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_robots(ran):
    code, out, err = ran("robots")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:] if line[0] != " "] == list(da.robot_names())
    assert not err


def test_info_and_check(ran):
    assert ran("info", "panda")[0] == 0
    assert "angular part first" in ran("info", "panda")[1]
    assert ran("check", "panda")[:2] == (0, "no suspicious data found\n")
    code, out, err = ran("check", "puma560")
    assert code == 1
    assert "\nhint: link1: moves but has no mass [mass]\n" in out and out.startswith("error: link1: impossible inertia")
    assert not err


def test_doubtful_files_warn_in_one_line(ran, tmp_path):
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>'
    inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm"><link name="a"/><link name="b">{inertia}</link>{joint}</robot>')
    code, out, err = ran("info", "arm.urdf")
    assert code == 0
    assert "arm: 1 joint R" in out
    assert err.startswith("dalembert: warning: arm.urdf: b: impossible inertia")
    assert err.count("\n") == 1
    code, out, _ = ran("check", "arm.urdf")
    assert code == 1 and "; correct it in the file; gravity torques do not depend on it [inertia]" in out


def test_angles_may_be_written_with_pi(ran):
    hanging = ran("info", "two_link", "--base", "0,0,2.5,pi,0,0")
    assert hanging[0] == 0 and hanging == ran("info", "two_link", "--base", f"0,0,2.5,{np.pi!r},0,0")
    short = ("simulate", "two_link", "-t", "0.01", "-o", "-", "--q0")
    assert ran(*short, "-pi/2,pi/2") == ran(*short, f"{-np.pi / 2!r},{np.pi / 2!r}")
    reach = ("least-effort", "two_link", "--no-limits", "--duration", "1", "--start", "0,0", "--goal")
    assert ran(*reach, "pi/2,0/0,0")[1] == ran(*reach, f"{np.pi / 2!r},0/0,0")[1] != ""


def test_toml_files_and_files_without_ending(ran):
    da.robot("two_link").save("mine.toml")
    assert "two_link: 2 joints" in ran("info", "./mine.toml")[1]
    Path("plain").write_text("")
    assert "unknown file extension" in ran("info", "plain")[2]
    Path("folder").mkdir()
    Path("folder/a.toml").write_text("[project]\n")
    assert "there is none in it" in ran("check", "folder")[2]
    da.robot("two_link").save("folder/b.toml")
    assert "such as folder/b.toml" in ran("check", "folder")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "pumma"], "did you mean 'puma560'"),
        (["info", "x.urdf"], "cannot be read"),
        (["info", "none/x.urdf"], "none/x.urdf: cannot be read"),
        (["info", "."], ". is a folder: name a file in it (.urdf, .xml, .mjcf, .xacro, .toml), there is none in it"),
        (["inverse", "two_link", "."], ".: cannot be read: Is a directory"),
        (["info", "two_link", "--payload", "two"], "the mass of --payload must be a number, got 'two'"),
        (["info", "two_link", "--payload", "2@1,2"], "the place of --payload needs 3 numbers"),
        (["info", "two_link", "--payload", "2:hand"], "unknown link or frame of two_link: 'hand'"),
        (["info", "two_link", "--gravity", "9.81"], "--gravity needs 3 numbers X,Y,Z, such as 0,0,-9.81"),
        (["info", "two_link", "--damping", "1,2,3"], "--damping needs 1 or 2 numbers"),
        (["info", "two_link", "--coulomb", "elbow=1"], "unknown joint of two_link: 'elbow'"),
        (["info", "two_link", "--coulomb", "joint1=1,2"], "--coulomb must be JOINT=NUMBER"),
        (["info", "two_link", "--base", "1,2"], "--base needs 3 or 6 numbers"),
        (["info", "two_link", "--snap", "1"], "--snap must be between 0 and 0.1"),
        (["info", "two_link", "--snap", "1e-4,1"], "--snap needs 1 number, got 2"),
        (["info", "two_link", "--coulomb", "-1"], "must not be negative, got -1.0"),
        (["complexity", "--payload", "2"], "need a robot"),
        (["generate", "two_link", "c", "-q", "gravity"], "did you mean 'gravity_force'?"),
        (["generate", "two_link", "c", "-q", "crba"], "did you mean 'mass_matrix'?"),
        (["info", "x.txt"], "x.txt: cannot be read: No such file"),
        (["info"], "Missing argument 'ROBOT'"),
        (["inof", "panda"], "No such command 'inof'"),
        (["info", "panda", "more"], "unexpected extra argument"),
        (["info", "panda", "--fast"], "No such option"),
        (["simulate", "two_link", "-q", "0.3,0.9"], "No such option: -q; did you mean --q0 or --qd0? (see"),
        (["info", "two_link", "--base", "0,0,0,pi/3,0,0"], "--base must be comma-separated numbers"),
        (["compare", "panda", "-q", "energy"], "unknown quantity"),
        (["compare", "panda", "--states", "0"], "--states"),
        (["inverse", "two_link", "none/x.csv"], "none/x.csv: cannot be read"),
        (["inverse", "two_link", "-", "-m", "magic"], "unknown method"),
        (["inverse", "two_link", "-", "-o", "x.txt"], "known are .csv, .npy, .npz"),
        (["inverse", "two_link", "-", "-o", "none/x.csv"], "none/x.csv: cannot be written"),
        (["simulate", "two_link", "--q0", "1,2,3"], "--q0 needs 2 numbers"),
        (["simulate", "two_link", "--q0", "0.5"], "--q0 needs 2 numbers, one for each joint of two_link, got 1"),
        (["simulate", "two_link", "--q0", "a,b"], "--q0 must be comma-separated numbers, or a file"),
        (["simulate", "two_link", "--q0", "[0.5, 0]"], "--q0 must be comma-separated numbers, or a file"),
        (["simulate", "two_link", "--q0", "0.5", "0"], "unexpected 0: numbers need commas between them, as in --q0 0.5,0"),
        (["simulate", "two_link", "--coulomb", "1", "-i", "rk4"],
         "use --integrator moreau (the default), --slip-speed 1e-3 or so for smooth friction, or --coulomb 0"),
        (["simulate", "two_link", "-i", "rk4", "--restitution", "0.5"], "stops (--restitution 0.5) need --integrator moreau"),
        (["equations", "panda"], "dalembert equations --shared writes it"),
        (["study", "two_link", "-o", "there"], "there: cannot be written: it is a file, but a report needs a folder"),
        (["simulate", "two_link", "-t", "0.1", "-s", "0.03"], "--step 0.025 would fit"),
        (["simulate", "two_link", "-i", "magic"], "unknown integrator"),
        (["simulate", "two_link", "-o", "x.xls"], ".csv or .npz"),
        (["simulate", "two_link", "--step", "-1"], "step"),
        (["equations", "two_link", "-f", "word"], "unknown format"),
        (["equations", "two_link", "--symbols", "colour"], "colour"),
        (["equations", "two_link", "-o", "x.doc"], ".tex"),
        (["equations", "two_link", "-o", "none/x.tex"], "cannot be written"),
        (["derive", "puma560"], "many pages"),
        (["derive", "two_link", "-m", "magic"], "unknown method"),
        (["generate", "two_link", "cobol"], "unknown language"),
        (["complexity", "-q", "energy"], "unknown quantity"),
        (["where", "FGL 3.3-60"], "no item 'FGL 3.3-60'; near it: FGL 3.3-"),
    ],
)  # fmt: skip
def test_errors_are_one_line(ran, arguments, message):
    Path("there").touch()
    code, out, err = ran(*arguments, text=STATES)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
    assert err.startswith("dalembert: ")
    assert err.count("\n") == 1
    assert out == ""


@pytest.mark.parametrize("arguments", [["--debug", "info", "pumma"], ["info", "pumma", "--debug"], ["info", "--debug", "pumma"]])
def test_debug_shows_where(ran, arguments):
    code, _, err = ran(*arguments)
    assert code == 2
    assert "Traceback" in err
    assert "did you mean 'puma560'" in err


def test_what_nobody_foresaw_is_one_line_too(ran, monkeypatch):
    monkeypatch.setattr(da.Robot, "summary", lambda robot: [].pop())
    assert ran("info", "panda") == (2, "", "dalembert: IndexError: pop from empty list (--debug shows the traceback)\n")
    assert "Traceback" in ran("info", "panda", "--debug")[2]


def test_version_and_help(ran):
    assert ran("--version") == (0, f"dalembert {da.__version__}\n", "")
    code, out, _ = ran("--help")
    assert code == 0
    for words in (
        "Inspect a robot",
        "inverse",
        "generate",
        "--debug",
        "--install-completion",
        "Exit codes",
        "dalembert study puma560",
    ):
        assert words in out
    for command in COMMANDS:
        code, out, _ = ran(command, "--help")
        assert code == 0
        assert not re.search(r"<(bool|list|int|float|str|path)", out) and "-h" in out
        assert "--payload" in out or command in ("robots", "where")
        assert "Examples" in out
        assert f"dalembert {command}" in out
    assert ran()[0] == 2


def test_help_lists_what_the_registry_has(ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "5000")
    shown = {command: ran(command, "--help")[1] for command in ("inverse", "forward", "simulate", "generate")}
    for command, quantity in [("inverse", "inverse_dynamics"), ("forward", "forward_dynamics"), ("simulate", "forward_dynamics")]:
        assert ", ".join(da.methods(quantity)) in shown[command]
    assert ", ".join(QUANTITIES) in shown["generate"]
    assert ", ".join(da.methods("inverse_dynamics")) in shown["generate"]


def test_the_table_of_commands_is_complete(ran):
    listed = re.findall(r"^\| `dalembert ([\w-]+)", read("command_line"), re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    overview = ran("--help")[1]
    shown = re.findall(r"^\W*([\w-]+) ", overview[overview.index("Inspect a robot") :].partition("Examples")[0], re.MULTILINE)
    assert {*listed} <= {*shown}


@pytest.mark.slow
def test_compare_has_every_method(ran):
    code, out, err = ran("compare", "two_link", "--states", "100")
    assert code == 0
    assert not err
    for quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        for method in da.methods(quantity):
            assert method in out
    assert "\x1b" not in out


def test_compare_and_complexity(ran):
    assert "\nmass matrix by " in ran("compare", "rp", "-q", "mass_matrix", "--states", "10")[1]
    assert (
        ran("complexity", "two_link", "--quantity", "mass_matrix")[1] == f"{da.complexity(da.robot('two_link'), 'mass_matrix')}\n"
    )


def test_where(ran):
    assert ran("where", "FGL 3.3-55")[1] == ran("where", "fgl", "(3.3-55)")[1] == f"{da.source('FGL 3.3-55')}\n"


def test_bench(ran):
    code, out, _ = ran("bench", "two_link", "--states", "100")
    assert code == 0
    assert "inverse dynamics derivatives" in out


def test_inverse_and_forward(ran):
    arm = da.robot("two_link")
    code, out, err = ran("inverse", "two_link", text=STATES)
    assert (code, err) == (0, "")
    q, qd, qdd = (np.array([[0.1, 0.2], [-1, 2]]), np.array([[0.3, 0.4], [-3, 4]]), np.array([[0.5, 0.6], [-5, 6]]))
    expected = arm.inverse_dynamics(q, qd, qdd)
    names, *rows = out.splitlines()
    assert names == "tau_joint1,tau_joint2"
    assert [[float(x) for x in row.split(",")] for row in rows] == expected.tolist()
    code, everything, _ = ran("inverse", "two_link", "-", "--all", "-m", "lagrange_euler", text=STATES)
    code, back, _ = ran("forward", "two_link", "--no-header", "-m", "kalman", text=everything)
    np.testing.assert_allclose([[float(x) for x in row.split(",")] for row in back.splitlines()], qdd, atol=1e-12)


def test_positions_alone_are_held(ran):
    """With or without names, and with all that belongs to the state, so that `forward` takes it back."""
    arm, q = da.robot("two_link").with_payload(2.0), [[0.1, 0.2], [-1, 2]]
    code, out, err = ran("inverse", "two_link", "--at-rest", "--payload", "2", "--all", text="0.1 0.2\n-1 2\n")
    assert (code, err) == (0, "")
    assert out.startswith("q_joint1,q_joint2,qd_joint1,qd_joint2,qdd_joint1,qdd_joint2,tau_joint1,tau_joint2\n")
    rows = np.array([row.split(",") for row in out.splitlines()[1:]], dtype=float)
    np.testing.assert_allclose(rows, np.c_[q, np.zeros((2, 4)), arm.gravity_force(q)], atol=1e-12)
    still = ran("forward", "two_link", "--payload", "2", "--no-header", text=out)[1]
    np.testing.assert_allclose([eval(row) for row in still.splitlines()], 0.0, atol=1e-12)
    named = ran("inverse", "two_link", "--at-rest", "--payload", "2", text="time,q2,q1,qd1\n0,0.2,0.1,5\n")[1]
    np.testing.assert_allclose(eval(named.splitlines()[1]), rows[0, -2:], atol=1e-12)
    assert ran("inverse", "two_link", text="0.1 0.2\n")[2].endswith("; --at-rest takes positions only\n")
    told = "; for positions alone, --at-rest gives the torques that hold the robot\n"
    assert ran("inverse", "two_link", text="t,q1,q2\n0,0.1,0.2\n")[2].endswith(told)


def test_files_in_and_out(ran):
    Path("in.csv").write_text(STATES)
    code, out, err = ran("inverse", "two_link", "in.csv", "-o", "tau.npz")
    assert (code, out, err) == (0, "", "wrote tau.npz: 2 states\n")
    assert np.load("tau.npz")["tau"].shape == (2, 2)


def test_wrong_numbers_are_named(ran):
    assert ran("inverse", "two_link", text=STATES.replace("-3", "three"))[2] == (
        "dalembert: standard input, line 3, column 3 (qd1): 'three' is not a number\n"
    )


def test_nan_in_a_duty_cycle_ends_with_1(ran, tmp_path):
    motion = da.robot("planar_3r").torques_along(da.quintic([0.0] * 3, [1.0] * 3, 1.0))
    lines = motion.to_csv(tmp_path / "duty.csv").read_text().splitlines()
    lines[5] = ",".join(["nan" if k == 2 else x for k, x in enumerate(lines[5].split(","))])
    (tmp_path / "duty.csv").write_text("\n".join(lines))
    code, out, err = ran("size", "planar_3r", "--velocity", "1", "--acceleration", "1", "--duty", str(tmp_path / "duty.csv"))
    assert (code, out) == (1, "") and err.endswith("duty.csv, line 6, column 3 (q_joint2): nan is not a finite number\n")


def test_nan_ends_with_1_unless_it_is_allowed(ran):
    given = STATES.replace("-3", "nan")
    place = "standard input, line 3, column 3 (qd1): nan is not a finite number"
    code, out, err = ran("inverse", "two_link", text=given)
    assert (code, out, err) == (1, "", f"dalembert: {place}; --allow-nan gives NaN for this state\n")
    code, out, err = ran("inverse", "two_link", "--allow-nan", text=given)
    assert (code, err) == (0, "") and "nan" in out.splitlines()[-1] and "nan" not in out.splitlines()[1]
    Path("start.csv").write_text("q1,q2,qd1,qd2\nnan,0,0,0\n")
    code, _, err = ran("simulate", "two_link", "--q0", "start.csv")
    assert (code, err) == (1, "dalembert: start.csv, row 1, column 1 of q: nan is not a finite number\n")
    Path("start.csv").write_text("q1,q2,qd1,qd2\n0,0,0,0\nnan,0,0,0\n")
    assert ran("simulate", "two_link", "--q0", "start.csv", "--duration", "0.01")[0] == 0  # of which the first is read
    Path("tau.csv").write_text("tau1,tau2\n1,inf\n")
    code, _, err = ran("simulate", "two_link", "--torque", "tau.csv", "--duration", "0.01")
    assert (code, err) == (1, "dalembert: tau.csv, line 2, column 2 (tau2): inf is not a finite number\n")


def test_simulate(ran):
    code, out, _ = ran("simulate", "two_link", "--q0", "0.5,0", "--duration", "0.5")
    motion = da.robot("two_link").simulate([0.5, 0.0], duration=0.5)
    assert code == 0
    assert f"{motion.q[-1, 1]:.6g}" in out
    assert "balance: change of energy" in out and "of the energy exchanged" in out and "too much" not in out
    code, _, err = ran("simulate", "two_link", "--q0", "0.5,0", "-t", "0.5", "-o", "motion.csv")
    assert code == 0 and "balance: change" in err
    np.testing.assert_array_equal(load_states(da.robot("two_link"), "motion.csv", ["q"])["q"], motion.q)
    code, again, _ = ran("simulate", "two_link", "--q0", "0.5,0", "-t", "0.5", "-o", "-")
    assert again == Path("motion.csv").read_text()


def test_fastest(ran):
    way = "q_joint1,q_joint2\n0,0\n1,-0.5\n1.5,0.5\n"
    motion = da.robot("two_link").fastest([[0, 0], [1, -0.5], [1.5, 0.5]], torque=[40, 15])
    code, out, _ = ran("fastest", "two_link", "-", "--torque", "40,15", text=way)
    assert code == 0 and out.startswith(f"two_link: {motion.duration:.6g} s along a path of")
    assert "torque of joint1 (+)" in out and "100.0%" in out
    options = ("-s", "0.001", "-o", "motion.csv", "--figure", "plane.png")
    code, _, err = ran("fastest", "two_link", "-", "--torque", "40,15", *options, text=way)
    assert code == 0 and err == f"wrote motion.csv: {np.ceil(1000 * motion.duration) + 1:.0f} states\nwrote plane.png\n"
    np.testing.assert_allclose(load_states(da.robot("two_link"), "motion.csv", ["q"])["q"][-1], [1.5, 0.5], atol=1e-12)
    code, table, _ = ran("fastest", "two_link", "-", "--torque", "40,15", "-o", "-", text=way)
    assert code == 0 and len(table.splitlines()) == len(motion) + 1
    code, _, err = ran("fastest", "two_link", "-", "--torque", "10", text=way)
    assert code == 2 and "joint 'joint1' needs 19.61 N m to hold the robot there, and its limit is 10 N m" in err
    for more, message in (("-o", "x.txt"), "written as .csv or .npz"), (("--figure", "x.txt"), "written as .png, .svg or .pdf"):
        code, _, err = ran("fastest", "two_link", "-", "--torque", "40", *more, text=way)
        assert code == 2 and message in err


@pytest.mark.filterwarnings("ignore")
def test_simulate_says_when_a_limit_is_passed(ran):
    """Whatever filters the shell has set for Python."""
    slide = da.Joint("slide", "prismatic", lower=-1.0)
    da.Robot("block", (da.Link("block", "base", slide, inertia=da.Inertia.from_com(2.0, (0, 0, 0), 0.0)),)).save("limited.toml")
    code, _, err = ran("simulate", "limited.toml")
    assert code == 0 and "warning: joint 'slide' of block passes its limits, -1 and inf, at t = 0.452 s" in " ".join(err.split())
    code, out, err = ran("simulate", "limited.toml", "--restitution", "0.5")
    assert code == 0 and not err and "+ lost at stops" in " ".join(out.split())


def test_simulate_says_when_the_balance_is_bad(ran):
    da.robot("two_link").with_friction(coulomb=20.0).save("rubs.toml")
    code, out, err = ran("simulate", "rubs.toml", "--slip-speed", "1e-5")
    assert code == 0 and "which is too much: with --slip-speed 1e-05" in " ".join(out.split()) and "--slip-speed 1e-05" in err
    code, out, err = ran("simulate", "rubs.toml")
    assert code == 0 and "too much" not in out and not err
    code, out, err = ran("simulate", "rubs.toml", "--integrator", "rk4")
    assert code != 0 and "Coulomb friction" in err


@pytest.mark.slow
def test_simulate_with_stops(ran):
    code, out, _ = ran("simulate", "xarm7", "--q0", "0.3,0.3,0.3,0.3,0.3,0.3,0.3", "--restitution", "0.5", "-t", "2", "--saturate")
    assert code == 0 and "lost at stops" in out and "lost to friction" in out


def test_only_the_first_state_of_a_file_is_read(ran):
    Path("many.csv").write_text("q1,q2,qd1,qd2\n" + "0.5,0.25,1,2\n" * 200_000 + "nonsense\n")
    assert ran("simulate", "two_link", "--q0", "many.csv", "-t", "0.01", "-o", "out.npz")[0] == 0
    with np.load("out.npz") as held:
        assert held["q"][0].tolist() == [0.5, 0.25] and held["qd"][0].tolist() == [1.0, 2.0]


def test_simulate_from_files(ran):
    """A start and forces out of the file of another motion."""
    assert ran("simulate", "two_link", "--torque", "3,-1", "--qd0", "1 1", "-t", "0.1", "-o", "first.npz")[0] == 0
    assert ran("simulate", "two_link", "--q0", "first.npz", "--torque", "first.npz", "-t", "0.1", "-o", "second.npz")[0] == 0
    first, second = np.load("first.npz"), np.load("second.npz")
    assert first["tau"][0].tolist() == [3, -1]
    assert first["qd"][0].tolist() == [1, 1]
    np.testing.assert_allclose(second["q"], first["q"], atol=1e-14)
    ran("simulate", "two_link", "--torque", "3,-1", "--qd0", "1, 1", "-t", "0.1", "-o", "first.csv")
    start, same = ["simulate", "two_link", "-t", "0.1", "-o", "-"], Path("first.csv").read_text()
    assert ran(*start, "--torque", "3,-1", "--q0", "-", text=same)[1] == same  # a pipe gives velocities as a file does


def test_equations(ran):
    arm = da.robot("two_link")
    assert ran("equations", "two_link")[1] == f"{da.equations(arm)}\n"
    assert ran("equations", "two_link", "-f", "latex", "--parts", "g")[1] == f"{da.equations(arm).latex(parts=('g',))}\n"
    assert ran("equations", "two_link", "--symbols", "none", "--parts", "g")[1].startswith("g1 = ")
    assert ran("equations", "two_link", "-o", "eom.tex") == (0, "", "wrote eom.tex\n")
    assert Path("eom.tex").read_text().startswith(r"\documentclass")
    assert "m1*l1**2/3 + m2*l1**2 + m2*l2**2/3 + m2*l1*l2*cos(q2)" in ran("equations", "two_link", "--book")[1]
    assert ran("equations", "two_link", "--shared", "--parts", "M")[1] == f"{da.equations(arm).shared('M')}\n"
    pytest.importorskip("sympy")
    assert ran("equations", "two_link", "-f", "sympy", "--parts", "M,g")[1].count("Matrix(") == 2


def test_equations_of_loops(ran):
    made = da.equations(da.robot("four_bar"), where="book")
    assert ran("equations", "four_bar", "--book")[1] == f"{made}\n"
    assert ran("equations", "four_bar", "--book", "--parts", "G")[1].endswith(f"\nG31 = {made.G[2, 0]}\n")
    assert ran("equations", "four_bar", "-f", "latex", "--parts", "phi", "--book")[1] == f"{made.latex(parts='phi')}\n"
    assert ran("equations", "four_bar", "--shared")[1] == f"{da.equations(da.robot('four_bar')).shared()}\n"
    assert "dalembert equations has closed forms" in ran("derive", "four_bar")[2]


def test_derive(ran):
    assert ran("derive", "two_link", "-m", "newton_euler")[1] == da.derive(da.robot("two_link"), "newton_euler").markdown()
    assert ran("derive", "two_link", "-f", "latex")[1].startswith(r"\documentclass")
    assert ran("derive", "two_link", "-o", "d.md") == (0, "", "wrote d.md\n")
    assert Path("d.md").read_text().startswith("# two_link: Lagrange-Euler")


def test_generate(ran):
    code, out, _ = ran("generate", "two_link", "python", "-q", "inverse_dynamics", "-q", "mass_matrix")
    assert code == 0
    assert out == str(da.robot("two_link").generate("python", ["inverse_dynamics", "mass_matrix"]))
    assert ran("generate", "two_link", "c", "-o", ".", "--name", "arm")[2] == "wrote arm.c\n"
    assert "arm_inverse_dynamics" in Path("arm.c").read_text()
    made = da.robot("panda").generate("c", ["jacobian", "mass_matrix"], options={"jacobian": {"link": "panda_hand"}})
    assert ran("generate", "panda", "c", "-q", "jacobian,mass_matrix", "--link", "panda_hand")[1] == str(made)
    code, _, message = ran("generate", "two_link", "c", "-q", "mass_matrix", "-l", "link1")
    assert code == 2 and "--link: none of mass_matrix is of one link; these are: pose, " in message


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("info {} --payload 2", "choose a link, or a frame, behind the mass, as in --payload 2:LINK: 'hand', 'jaw'"),
        ("generate {} c -q pose", "choose a link, or a frame, with --link: 'hand', 'jaw'"),
        ("ik {} --pose 0.3,0,0.3", "choose a link, or a frame, with --link: 'hand', 'jaw'"),
        ("bound {} -q pose", "choose a link, or a frame, with --link: 'hand', 'jaw'"),
        ("sweep {} -q pose", "choose a link, or a frame, with --link: 'hand', 'jaw'"),
    ],
)
def test_the_end_of_a_gripper_is_asked_for_in_words_of_the_command(ran, tmp_path, command, told):
    body = da.Inertia.from_com(1.0, (0.1, 0, 0), 0.01)
    turn, grip = (da.Joint(name, lower=-1.0, upper=1.0) for name in ("turn", "gripper"))
    links = (da.Link("hand", "base", turn, inertia=body), da.Link("jaw", "hand", grip, inertia=body))
    file = tmp_path / "gripper.toml"
    da.Robot("gripper", links).save(file)
    code, out, err = ran(*command.format(file).split())
    assert (code, out) == (2, "") and err.endswith(told + "\n")
    if "-q" in command:
        assert ran(*command.format(file).split(), "--link", "hand", *(["-n", "100"] if command[0] == "s" else []))[0] == 0


def test_options_of_one_name_are_given_in_one_way(ran):
    """Loads of `size` as those of all commands, limits by joint as friction, quantities by commas or one by one."""
    brisk = ("--velocity", "joint1=1,joint2=2", "--acceleration", "1", "-n", "1000")
    sized = [
        ran("size", "two_link", *brisk, *words)
        for words in (("--payload", "0:2:link1"), ("--payload", "0:2", "--link", "link1"), ("--payload", "0:2", "-l", "link1"))
    ]
    assert sized[0][0] == 0 and sized[0] == sized[1] == sized[2] != ran("size", "two_link", *brisk, "--payload", "0:2")
    placed = ran("size", "two_link", *brisk, "--payload", "1@0.1,0,0:link2")
    assert (
        placed == ran("size", "two_link", *brisk, "--payload", "1:1@0.1,0,0") != ran("size", "two_link", *brisk, "--payload", "1")
    )
    assert "names a link, and so does --link" in ran("size", "two_link", "--payload", "1:link1", "--link", "link2")[2]
    assert "or a range such as 0:5" in ran("size", "two_link", "--payload", "2:1")[2]
    assert "unknown joint of two_link: 'elbow'" in ran("size", "two_link", "--velocity", "elbow=1")[2]
    swept = [
        ran("sweep", "two_link", "--over", "q=-1:1", "--over", "qd=-1:1", "-n", "100", *words)[1].splitlines()[1:]
        for words in (("-q", "gravity_force,coriolis_force"), ("-q", "gravity_force", "-q", "coriolis_force"))
    ]
    assert swept[0] == swept[1] and "coriolis_force" in str(swept[0])
    generated = ran("generate", "two_link", "python", "-q", "inverse_dynamics,mass_matrix")
    assert generated == ran("generate", "two_link", "python", "-q", "inverse_dynamics", "-q", "mass_matrix")


CHANGES = {
    "payload": ("0.5@0,0,0.1:link1", lambda arm: arm.with_payload(0.5, (0, 0, 0.1), link="link1")),
    "gravity": ("0, -1.62, 0", lambda arm: arm.with_gravity((0, -1.62, 0))),
    "damping": ("0.5", lambda arm: arm.with_friction(damping=0.5)),
    "coulomb": ("joint2=0.25", lambda arm: arm.with_friction(coulomb={"joint2": 0.25})),
    "armature": ("0.1 0.2", lambda arm: arm.with_armature([0.1, 0.2])),
    "lock": ("joint1=0.5", lambda arm: arm.lock({"joint1": 0.5})),
    "snap": ("1e-4", lambda arm: arm.snapped(1e-4)),
    "mimic": ("off", lambda arm: arm.uncoupled()),
    "free_base": ("on", lambda arm: arm.with_free_base()),
    "base": ("0,0,1,1.5,0,0", lambda arm: arm.with_base(da.Pose.of((0, 0, 1), rpy=(1.5, 0, 0)))),
}


def test_every_command_changes_the_robot_by_the_same_options(ran):
    """One option at a time and all together, against Python; every command that takes a robot takes them all."""
    from dalembert.cli.app import app
    from dalembert.cli.changes import OPTIONS

    assert [option.name for option in OPTIONS] == list(CHANGES)
    for command in app.registered_commands:
        names = list(inspect.signature(command.callback).parameters)
        wanted = [name for name in CHANGES if (command.name, name) != ("size", "payload")]  # which has a range of payloads
        assert "robot" not in names or names[-len(wanted) :] == wanted, f"{command.name} lacks them"
    arm, every = da.robot("two_link"), []
    for name, (text, _) in CHANGES.items():
        option = f"--{name.replace('_', '-')}"
        every += [option, text] if name not in ("lock", "free_base") else []
        assert ran("save", "two_link", "one.toml", option, text)[2] == "wrote one.toml\n"
        assert da.load("one.toml") == CHANGES[name][1](arm)
    tau = ran("inverse", "two_link", *every, text=STATES)[1]
    assert ran("save", "two_link", "all.toml", *every)[0] == 0
    assert ran("inverse", "all.toml", text=STATES)[1] == tau != ran("inverse", "two_link", text=STATES)[1]
    for name in ("base", "snap", "gravity", "damping", "coulomb", "armature", "payload"):
        arm = CHANGES[name][1](arm)
    assert da.load("all.toml") == arm
    assert ran("save", "two_link", "hanging.toml", "--base", "0,0,2,3.1416,0,0", "--snap", "1e-4")[0] == 0
    assert da.load("hanging.toml").base == da.Pose.of((0, 0, 2), rpy=(np.pi, 0, 0))
    assert ran("save", "two_link", "weightless.toml", "--gravity", "0")[0] == 0
    assert not da.load("weightless.toml").gravity.any()
    coupled = da.robot("two_link").with_coupling({"joint2": {"joint1": 2.0}})
    coupled.save("coupled.toml")
    assert ran("save", "coupled.toml", "free.toml", "--mimic", "off")[0] == 0
    assert (da.load("coupled.toml"), da.load("free.toml")) == (coupled, coupled.uncoupled())
    assert "coupled joints: joint2 = 2 joint1" in ran("info", "coupled.toml")[1]
    assert "must be on or off" in ran("info", "coupled.toml", "--mimic", "maybe")[2]
    assert (
        "the place of a free base is part of its positions q" in ran("info", "two_link", "--free-base", "on", "--base", "0,0,1")[2]
    )


URDF = """<robot name="arm"><link name="a"/><link name="b">{}</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
<origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/></joint></robot>"""


def test_check_prints_the_command_that_mends_a_robot(ran):
    """Almost-right angles are no error; the command that is printed makes a file without them."""
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    Path("my arm.urdf").write_text(URDF.format(body))
    code, out, err = ran("check", "my arm.urdf", "--payload", "2")
    assert (code, err) == (0, "")
    assert "hint: b: rotation before the joint is 3.7e-06 off a right angle; fix with --snap 7e-06 [angle]" in out
    command = shlex.split(out.splitlines()[-1])
    assert command[0] == "dalembert" and ran(*command[1:])[0] == 0
    assert ran("check", "arm.toml")[:2] == (0, "no suspicious data found\n")
    assert da.load("arm.toml") == da.load("my arm.urdf").with_payload(2.0).snapped(7e-6)


def test_a_robot_without_mass(ran):
    Path("bare.urdf").write_text(URDF.format(""))
    code, out, err = ran("check", "bare.urdf")
    assert code == 1 and out.startswith("error: a: no moving link has mass")
    assert not err  # it is told once
    assert ran("info", "bare.urdf")[2].startswith("dalembert: warning: bare.urdf: a: no moving link has mass")


def test_tables_without_states(ran):
    for text in ("", "\n", "q1,q2,qd1,qd2,qdd1,qdd2\n"):
        Path("empty.csv").write_text(text)
        assert ran("inverse", "two_link", "empty.csv") == (2, "", "dalembert: empty.csv: it contains no states\n")


def test_messages_name_options(ran):
    """No message of a command tells how to do it in Python."""
    da.Robot("two_arms", (da.Link("a", "base", da.Joint("i")), da.Link("b", "base", da.Joint("j")))).save("tree.toml")
    Path("tau.csv").write_text("tau1,tau2\n1,2\n3,4\n")
    circle = [
        f'[[link]]\nname = "{a}"\nparent = "base"\njoint = {{ name = "{a}", mimic = {{ joint = "{b}" }} }}' for a, b in ("ab", "ba")
    ]
    Path("circle.toml").write_text("\n".join(['format = "dalembert robot 1"', 'name = "circle"', *circle, "[end]"]))
    told = {
        "--payload 2:LINK": ran("info", "tree.toml", "--payload", "2")[2],
        "(--armature)": ran("forward", "tree.toml", "--payload", "1:b", text="q1,q2,qd1,qd2,tau1,tau2\n0,0,0,0,0,0\n")[2],
        "--longest 6": ran("derive", "puma560")[2],
        "--every 3": ran("simulate", "two_link", "-t", "0.1", "--every", "3")[2],
        "see dalembert check": ran("info", "puma560")[1],
        "--mimic off keeps all joints independent": ran("check", "circle.toml")[2],
        "--restitution 0 makes them stops": ran("simulate", "panda", "-t", "0.01")[2],
        "one force per step": ran("simulate", "two_link", "-t", "0.1", "--torque", "tau.csv")[2],
        "--payload 0.1:a": ran("check", "tree.toml", "--payload", "1:b")[1],
    }
    for words, message in told.items():
        assert words in message, message
        assert not re.search(r"robot\.\w+\(|\w+=\.\.\.|with_\w+|\w+\[", message), message
    held = ran("save", "circle.toml", "held.toml", "--mimic", "off", "--lock", "a=0.0,b=0.5", "--payload", "1:b")
    assert held[0] == 0 and da.load("held.toml").n == 0


def test_every_rule_of_wording_is_of_a_message():
    """Each matches a string of the source, values left open, or a message that is put together elsewhere."""
    from dalembert.cli.wording import RULES

    def text(part):
        if isinstance(part, ast.FormattedValue):
            return "'0'" if chr(max(part.conversion, 0)) == "r" else "0"
        return "".join(map(text, part.values)) if isinstance(part, ast.JoinedStr) else str(part.value)

    paths = [path for path in Path(da.__file__).parent.rglob("*.py") if path.name != "wording.py"]
    parts = [part for path in paths for part in ast.walk(ast.parse(path.read_text()))]
    texts = {text(part) for part in parts if isinstance(part, ast.JoinedStr | ast.Constant)}
    texts |= {
        "Got unexpected extra argument (0)",  # of click
        "; for one constant per rollout use torque[:, None, :]",
        "needs 4 (q, qd, qdd); or name the columns",
        "; robot.without_loops() leaves them open",
    }
    assert [rule.pattern for rule, _ in RULES if not any(map(rule.search, texts))] == []


@pytest.mark.slow
def test_what_is_shown_fits_80_columns(ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands = [["robots"], ["complexity", "puma560"], ["simulate", "panda", "-t", "0.01"], ["--help"], ["generate", "--help"]]
    commands += [["compare", "planar_3r", "-q", "mass_matrix", "--states", "10"]]
    for arguments in commands + [["info", name] for name in da.robot_names()]:
        for line in ran(*arguments)[1].splitlines():
            assert len(line) <= 80, f"{arguments}: {line}"


def test_tables_of_long_names_fit_80_columns(ran):
    """Names are not folded, however many words they are made of: further columns go below."""
    name = "gripper_left_motor_double_link"
    da.Robot("arm", tuple(da.Link(f"{name}_{i}", "base", da.Joint(f"{name}_joint_{i}")) for i in range(2))).save("long.toml")
    out = ran("info", "long.toml")[1]
    assert out.count(f"{name}_1") == 2 and max(map(len, out.splitlines())) <= 80


def test_the_motion_of_a_report_is_read_back(ran):
    """With all digits: what `inverse` computes from it is what it has."""
    pytest.importorskip("latex2mathml")
    arm = da.robot("two_link")
    da.study(arm, ".", compared=da.compare(arm, "mass_matrix", states=10))
    states = load_states(arm, "motion.csv", ["q", "qd", "qdd", "tau"])
    assert ran("inverse", "two_link", "motion.csv", "-o", "tau.npz")[0] == 0
    np.testing.assert_array_equal(np.load("tau.npz")["tau"], states["tau"])
    path = da.quintic(states["q"][0], states["q"][-1], 3.0)
    np.testing.assert_array_equal(states["q"], path(np.linspace(0.0, 3.0, len(states["q"])))[0])


def test_live(ran, monkeypatch):
    """A page; opened only on a terminal, and only if it may be."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert ran("live", "two_link", "-o", "arm.html") == (0, "arm.html\n", "")
    assert "<title>two_link" in Path("arm.html").read_text(encoding="utf-8") and not opened
    monkeypatch.setattr("dalembert.cli.looking.on_terminal", lambda: True)
    ran("live", "two_link", "-o", "arm.html", "--no-open")
    assert not opened
    ran("live", "two_link", "-o", "arm.html")
    assert opened == [Path("arm.html").resolve().as_uri()]


def test_study_of_a_stone(ran):
    Path("stone.urdf").write_text('<robot name="stone"><link name="a"/></robot>')
    code, out, _ = ran("study", "stone.urdf")
    assert code == 0
    assert "stone: 0 joints" in out


@pytest.mark.slow
def test_terminals_get_tables_in_colours(monkeypatch):
    """Standard output that claims to be a terminal."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def shown(command=("compare", "two_link", "-q", "mass_matrix"), **environment):
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": "100", **environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout", out := Terminal())
        assert main([*command, "--states", "10"]) == 0
        return out.getvalue()

    assert "\x1b[1;36m" in shown()
    plain = shown(NO_COLOR="1")
    assert "\x1b[1;36m" not in plain
    assert "36m" not in plain
    assert "composite_body" in plain
    assert "─" in plain
    for command in (["compare", "planar_3r", "-q", "inverse_dynamics"], ["bench", "two_link"]):
        narrow = re.sub(r"\x1b\[[\d;]*m", "", shown(command, NO_COLOR="1", COLUMNS="80"))
        assert max(map(len, narrow.splitlines())) <= 80


# --- in processes of their own --------------------------------------------------------------------------------------------


def process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **options.pop("environment", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "dalembert", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True, **options
    )  # fmt: skip


@pytest.mark.slow
def test_a_reader_that_goes_away(tmp_path):
    """As in `| head`: no traceback, no words."""
    (tmp_path / "in.csv").write_text(STATES + "1,2,3,4,5,6\n" * 100_000)
    for arguments in (["inverse", "two_link", str(tmp_path / "in.csv")], ["generate", "puma560", "c", "-m", "lie_closed_form"]):
        with process(*arguments) as running:
            running.stdout.readline()
            running.stdout.close()
            err = running.stderr.read()
            assert running.wait(900) == 141, err
        assert err == ""


def test_states_come_through_a_pipe_at_once():
    """Each line is answered before the next is sent."""
    with process("inverse", "two_link", stdin=subprocess.PIPE) as running:
        running.stdin.write("q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0\n")
        running.stdin.flush()
        assert running.stdout.readline() == "tau_joint1,tau_joint2\n"
        assert running.stdout.readline() == "19.6124,4.9031\n"
        running.stdin.write("0,0,0,0,0,0\n")
        running.stdin.flush()
        assert running.stdout.readline() == "19.6124,4.9031\n"
        running.stdin.close()
        assert running.wait(900) == 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_says_nothing():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    try:
        running = process("inverse", "two_link", stdin=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    with running:
        running.stdin.write(STATES)
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        err = running.communicate(timeout=900)[1]
        assert running.returncode == 130
        assert "Traceback" not in err


def test_arrays_through_a_pipe():
    held = io.BytesIO()
    np.savez(held, q=np.zeros((3, 2)), qd=np.zeros((3, 2)), qdd=np.zeros((3, 2)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "dalembert", "inverse", "two_link", "-"]
    done = subprocess.run(command, input=held.getvalue(), capture_output=True, env=environment, check=True)
    assert done.stdout.decode().splitlines() == ["tau_joint1,tau_joint2", *["19.6124,4.9031"] * 3]


def test_without_typer(tmp_path):
    """A folder that hides it: one line that says what to install."""
    code = "import sys; sys.modules['typer'] = None\nimport importlib.util as u\nfind = u.find_spec\n"
    code += "u.find_spec = lambda name, *a: None if name == 'typer' else find(name, *a)\n"
    code += "from dalembert.cli import main; sys.exit(main(['robots']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "dalembert: the command line needs typer and rich: pip install 'dalembert[cli]'\n"


ASKED = [
    ("dalembert info pu", "puma560"),
    ("dalembert inverse puma560 -m lag", "lagrange_euler"),
    ("dalembert generate puma560 c -q mass_matrix -m comp", "composite_body"),
    ("dalembert com", "compare"),
]


def test_completion():
    """What bash asks for: each time a command that ends when it has answered."""
    code = "import os; from dalembert.cli import main\n"
    code += "os.environ['_DALEMBERT_COMPLETE'] = 'complete_bash'\n"
    code += f"for typed, _ in {ASKED!r}:\n"
    code += "    os.environ |= {'COMP_WORDS': typed, 'COMP_CWORD': str(typed.count(' '))}\n"
    code += "    try:\n        main([])\n    except SystemExit:\n        print('\\n---')"
    out, err = run(code)
    answers = out.split("---")
    assert len(answers) == len(ASKED) + 1, err
    for (_, expected), answer in zip(ASKED, answers, strict=False):
        assert expected in answer.split(), err


def test_completion_of_files(tmp_path, monkeypatch):
    from dalembert.cli.parts import complete_robot

    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms").mkdir()
    (tmp_path / "arms" / "a.urdf").write_text("")
    (tmp_path / "arms" / "a.txt").write_text("")
    assert complete_robot("ar") == ["arms/"]
    assert complete_robot("arms/") == ["arms/a.urdf"]
    assert complete_robot("none/") == []


def test_it_starts_without_what_it_does_not_need():
    """Half a second is the aim (`make bench` measures it): no compiler, no plots, no algebra for a list of names."""
    code = "import sys; from dalembert.cli import main; main(['robots']); print(*{x.split('.')[0] for x in sys.modules})"
    out, err = run(code)
    loaded = out.splitlines()[-1].split()
    assert "typer" in loaded, err
    heavy = {
        "llvmlite",
        "scipy",
        "matplotlib",
        "sympy",
        "pandas",
        "trimesh",
        "jax",
        "torch",
        "casadi",
        "dask",
        "xarray",
        "latex2mathml",
    }
    assert heavy.isdisjoint(loaded)


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("command", "code", "said"),
    sweep(
        [
            ("robots >&-", 2, "dalembert: standard output is closed\n"),
            ("inverse two_link <&-", 2, "dalembert: standard input is closed\n"),
            ("inverse two_link states.csv >&-", 2, "dalembert: standard output is closed\n"),
            ("inverse two_link states.csv -o out.csv <&- >&-", 0, "wrote out.csv: 1 states\n"),
            ("nonsense 2>&-", 2, ""),
        ],
        quick=(1, 2),
    ),
)
def test_closed_streams(command, code, said, tmp_path):
    """The shell closes a stream: one line where it was needed, and nothing where it was not."""
    (tmp_path / "states.csv").write_text(",".join(["0"] * 6) + "\n")
    words = shlex.join([sys.executable, "-m", "dalembert"])
    done = subprocess.run(f"{words} {command}", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (code, said, "")
