"""Degrees where radians are meant: told wherever a person types or loads angles, and never of what is radians."""

import io

import numpy as np
import pytest

import dalembert as da
from dalembert.cli import main
from dalembert.files import load_states
from dalembert.model.degrees import position_doubt, range_doubt

URDF = """<robot name="arm"><link name="base"/><link name="a"><inertial>{inertial}<mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="{kind}"><parent link="base"/><child link="a"/>{origin}<axis xyz="0 0 1"/>
<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/></joint></robot>"""


def urdf(path, lower=-3.0, upper=3.0, kind="revolute", origin="", inertial=""):
    file = path / "arm.urdf"
    file.write_text(URDF.format(lower=lower, upper=upper, kind=kind, origin=origin, inertial=inertial))
    return file


def limited(lower, upper):
    joint = da.Joint("j", lower=lower, upper=upper, armature=1.0)
    return da.Robot("arm", (da.Link("a", "base", joint),))


@pytest.mark.parametrize(("lower", "upper"), [(-180, 180), (0, 92.5), (-360, 360), (-5, 120), (-166.0031, 166.0031)])
def test_limits_of_a_file_in_degrees(tmp_path, lower, upper):
    told = f"limits {lower:g} to {upper:g} rad of joint 'j': are these degrees"
    with pytest.warns(da.DataWarning, match=f"arm.urdf: a: {told}"):
        arm = da.load(urdf(tmp_path, lower, upper))
    assert told in str(arm.check().errors.about("degrees"))
    arm.save(tmp_path / "arm.toml")
    with pytest.warns(da.DataWarning, match=told):
        da.load(tmp_path / "arm.toml")
    with pytest.warns(da.DataWarning, match=f"DH row 1: {told}"):
        da.Robot.from_dh([da.DHRow(joint=arm.joints[0])], convention="standard")


@pytest.mark.parametrize(
    ("lower", "upper", "kind"),
    [
        (-6.28, 12.5, "revolute"),
        (-125.66, 125.66, "revolute"),
        (0, 31.416, "revolute"),
        (-1e4, 1e4, "revolute"),
        (0, 90, "prismatic"),
        (-180, 180, "continuous"),
    ],
)
def test_limits_that_may_be_radians(tmp_path, lower, upper, kind):
    """Four turns at most, turns of a winch, "no limit" as a large number, metres, and what a continuous joint has none of."""
    assert not da.load(urdf(tmp_path, lower, upper, kind)).check().about("degrees")


@pytest.mark.parametrize("where", ["joint", "inertia"])
def test_origins_of_a_file_in_degrees(tmp_path, where):
    element = '<origin xyz="0 0 0" rpy="0 180 0"/>'
    file = urdf(tmp_path, **{"origin" if where == "joint" else "inertial": element})
    with pytest.warns(da.DataWarning, match=f"arm.urdf: a: the origin of its {where}: pitch = 180 rad is more than 2 pi"):
        arm = da.load(file)
    assert arm.check().errors.about("degrees")


def test_angles_of_toml_in_degrees(tmp_path):
    arm = da.robot("two_link")
    arm.save(tmp_path / "arm.toml")
    text = (tmp_path / "arm.toml").read_text()
    (tmp_path / "base.toml").write_text(text.replace("[base]\n", "[base]\npose = { rpy = [0.0, 0.0, 90.0] }\n", 1))
    with pytest.warns(da.DataWarning, match="the pose of the base: yaw = 90 rad is more than 2 pi"):
        da.load(tmp_path / "base.toml")
    head = text.partition("[[link]]")[0]
    row = "name = 'l'\nparent = 'base'\njoint = {name = 'j'}\nmass = 1.0\ndh = {convention = 'standard', alpha = 90.0}\n"
    (tmp_path / "dh.toml").write_text(head + "[[link]]\n" + row + "[end]\n")
    with pytest.warns(da.DataWarning, match="link 'l': alpha = 90 rad is more than 2 pi"):
        da.load(tmp_path / "dh.toml")


def test_rows_in_degrees():
    with pytest.warns(da.DataWarning, match="DH row 1: alpha = -90 rad is more than 2 pi: are these degrees"):
        arm = da.Robot.from_dh([da.DHRow(alpha=-90, joint="P")], convention="standard")
    assert "alpha = -90 rad" in str(arm.check().errors.about("degrees"))


def test_poses_in_degrees():
    with pytest.warns(da.DataWarning, match=r"Pose.of: roll = 180 rad is more than 2 pi: are these degrees\?") as told:
        turned = da.Pose.of(rpy=(180, 0, 0))
    assert told[0].filename == __file__ and turned.rotation[1, 1] == pytest.approx(np.cos(180))  # taken as it is
    da.Pose.of(rpy=(2 * np.pi, -np.pi, 6.2832))  # no warning
    for quarters in range(16):  # as of a spiral
        da.Pose.of(rpy=(0, 0, quarters * np.pi / 2))
    planar = da.Joint("slide", "planar").motion([1.0, 2.0, 180.0])  # which may turn round and round
    assert planar.rotation[0, 0] == pytest.approx(np.cos(180)) and planar.translation.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("robot", "q", "name"),
    [
        (da.robot("panda"), [0, 0, 0, -90, 0, 90, 45], "panda_joint4"),
        (da.robot("ur5"), [30, 60, 45, 0, 0, 0], "shoulder_pan_joint"),
        (da.robot("ur5"), [0.1, -75.31, 0, 0, 0, 0], "shoulder_lift_joint"),  # not round, but far beyond the limits
        (da.robot("two_link"), [0, 45], "joint2"),
        (limited(-2.0, 2.0), [10], "j"),
    ],
)
def test_positions_in_degrees(robot, q, name):
    assert f"q of {name} reaches" in position_doubt(robot, np.array(q, dtype=float))
    with pytest.warns(da.DataWarning, match=f"simulate: q0: positions look like degrees: q of {name} reaches"):
        robot.simulate(q, duration=0.01)


def test_a_motion_in_degrees(tmp_path):
    """Of its samples only the last one is round."""
    two = da.robot("two_link")
    path = da.quintic([0.0, 0.0], [np.pi / 2, -1.0], 1.0).sample(0.01)
    q = np.degrees(path.q)
    assert position_doubt(two, q) == "positions look like degrees: q of joint1 reaches 90 rad"
    assert position_doubt(two, path.q) == position_doubt(two, q[:-1]) == ""


@pytest.mark.parametrize("name", da.robot_names())
def test_positions_in_radians(name):
    """All within limits, full turns, joints that spin, a joint a little beyond its limits; what nobody would call degrees."""
    robot = da.robot(name)
    if not robot.loops:
        assert position_doubt(robot, robot.random_configuration(np.random.default_rng(0), 1000)) == ""
    for joint in robot.joints:
        assert range_doubt(joint, joint.lower, joint.upper) == ""
    if robot.runs:
        return
    free = np.isinf(robot.upper) & np.isinf(robot.lower)
    for most in (12.5, 31.416, 1234.5678, 1e9):
        assert position_doubt(robot, np.where(free, most, 0.0)) == ""
    assert position_doubt(robot, np.where(free, 0.0, 1.9 * robot.upper)) == ""
    assert position_doubt(robot, np.where(robot.upper > 3, 6.5, 0.0)) == ""
    assert position_doubt(robot, np.full(robot.n, 6.2832)) == ""
    assert position_doubt(robot, np.full((3, robot.n), np.nan)) == position_doubt(robot, np.zeros((0, robot.n))) == ""


def test_free_bodies_have_quaternions():
    """The fourth number of q is no angle, nor are the coordinates of a body; a joint behind it is told by its own name."""
    robot = da.robot("two_link").with_free_base()
    q = np.array([1.0, 0, 0, 0, 90, 45, 30, 0, 0])
    assert position_doubt(robot, q) == ""
    q[-1] = 45
    assert position_doubt(robot, q) == "positions look like degrees: q of joint2 reaches 45 rad"


def test_files_and_functions_that_take_positions():
    arm = da.robot("panda")
    q = np.array([0.0, 10.0, 0.0, -90.0, 0.0, 90.0, 45.0])
    table = ",".join(f"q{k + 1}" for k in range(7)) + "\n0,0,0,-1,0,1,0\n" + ",".join(map(str, q)) + "\n"
    words = "positions look like degrees: q of panda_joint2 reaches 10 rad, beyond its limits, -1.763 to 1.763"
    with pytest.warns(da.DataWarning, match=f"^the states: {words}") as told:
        load_states(arm, io.BytesIO(table.encode()), ["q"])
    assert len(told) == 1
    for function, call in {
        "inverse_kinematics: q0": lambda: arm.inverse_kinematics(np.array([0.4, 0.1, 0.4]), q0=q),
        "inverse_kinematics: posture": lambda: arm.inverse_kinematics(np.array([0.4, 0.1, 0.4]), posture=q),
        "lock": lambda: arm.lock({"panda_joint2": 10.0}),
    }.items():
        with pytest.warns(da.DataWarning, match=f"^{function}: {words}"):
            call()
    two = da.robot("two_link")
    far, path = np.array([90.0, 0.0]), [[0.0, 0.0], [90.0, 0.0]]
    for function, call in {
        "rollout: q0": lambda: two.rollout(far, duration=0.01),
        "fastest: path": lambda: two.fastest(path, torque=80.0, velocity=5.0, points=20),
        "lqr: q": lambda: two.lqr(far),
        "optimal_control: goal": lambda: two.optimal_control([0.0, 0.0], far, 0.1, iterations=1, progress=False),
        "size: duty": lambda: two.size(
            0.0, duty=da.Trajectory(two, np.arange(2.0), np.array(path), np.zeros((2, 2)), np.zeros((2, 2))), samples=100
        ),
    }.items():
        with pytest.warns(da.DataWarning, match=f"^{function}: positions look like degrees: q of joint1 reaches 90 rad"):
            call()
    with pytest.warns(da.DataWarning, match="^size: duty: positions look like degrees: q of joint1 reaches 90 rad"):
        two.size(0.0, duty=da.quintic([0.0, 0.0], far, 1.0), samples=100)
    with pytest.warns(da.DataWarning, match="^least_effort: goal: positions look like degrees: q of joint1 reaches 90 rad"):
        two.least_effort([0.0, 0.0], [90.0, 0.0], 1.0, knots=4, progress=False)
    with pytest.warns(da.DataWarning, match="^over: positions -180 to 180 rad of joint 'joint1': are these degrees"):
        two.sweep(over={"q": (-180, 180), "qd": 0, "qdd": 0}, samples=10)
    with pytest.warns(da.DataWarning, match="positions -90 to 90 rad of joint 'joint1': are these degrees"):
        da.excitation(two, {"lower": -90, "upper": 90, "velocity": 1.0}, period=2.0, starts=1, harmonics=2)


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("inverse ur5 --at-rest", "30,60,45,0,0,0", "standard input: positions look like degrees: q of shoulder_pan_joint reaches 30 rad"),
        ("inverse two_link --at-rest --base 0,0,0,180,0,0", "0,0", "--base: roll = 180 rad is more than 2 pi: are these degrees?"),
        ("check two_link --base 0,0,0,0,90,0", "", "--base: pitch = 90 rad is more than 2 pi: are these degrees?"),
        ("ik panda --pose 0.4,0.2,0.3,180,0,0", "", "--pose: roll = 180 rad is more than 2 pi: are these degrees?"),
        ("simulate two_link --q0 90,0 --duration 0.01", "", "simulate: q0: positions look like degrees: q of joint1 reaches 90 rad"),
        ("simulate two_link --q0 - --duration 0.01", "q1,q2,qd1,qd2\n90,0,0,0\n", "simulate: q0: positions look like degrees: q of joint1 reaches 90 rad"),
        ("inverse two_link --at-rest --lock joint1=90", "0", "lock: positions look like degrees: q of joint1 reaches 90 rad"),
    ],
)  # fmt: skip
def test_commands_tell_of_degrees_once(command, text, told, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(command.split()) == 0
    assert capsys.readouterr().err.count(f"dalembert: warning: {told}") == 1
