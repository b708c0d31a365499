"""URDF, xacro and TOML: what is read, what is refused, and that no bytes crash the reader."""

import math
import random
import string
import sys
import warnings

import numpy as np
import pytest
from conftest import close, sweep
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da

URDF = """<?xml version="1.0"?>
<robot name="tester">
  <link name="world"/>
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>
  <link name="slide"><inertial><mass value="0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><mass value="0.25"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="missing.stl"/></geometry></visual></link>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 1"/></joint>
  <joint name="spin" type="continuous"><parent link="base"/><child link="wheel"/><axis xyz="0 -1 0"/><limit effort="3" velocity="4"/></joint>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/>
    <axis xyz="1 1 0"/><limit lower="-1" upper="2" effort="10" velocity="5"/><dynamics damping="0.3" friction="0.7"/></joint>
  <joint name="push" type="prismatic"><parent link="arm"/><child link="slide"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.5" effort="10" velocity="5"/><mimic joint="turn" multiplier="2" offset="0.25"/></joint>
  <joint name="grip" type="fixed"><parent link="slide"/><child link="tool"/><origin xyz="0 0 0.3" rpy="0 0 0.4"/></joint>
  <transmission name="t"><joint name="turn"><hardwareInterface>x</hardwareInterface></joint></transmission>
</robot>
"""
PLAIN = URDF.replace('<mimic joint="turn" multiplier="2" offset="0.25"/>', "")  # nothing in it to warn of


def load(tmp_path, text, suffix=".urdf", quiet=True):
    path = tmp_path / f"robot{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "error", da.DataWarning)
        return da.load(path)


def test_urdf(tmp_path):
    robot = load(tmp_path, URDF)
    assert robot.name == "tester"
    assert robot.joint_names == ("spin", "turn")  # depth first, in the order of the file, without the one that follows
    assert robot.link_names == ("wheel", "arm", "slide")
    assert robot.structure == "RR"
    assert robot.uncoupled().structure == "RRP"
    assert robot.parents == (-1, -1, 1)
    assert set(robot.frame_names) == {"base", "tool"}
    assert robot.total_mass == pytest.approx(5.25)
    spin, turn, push = (link.joint for link in robot.links)
    assert (spin.lower, spin.upper) == (-np.inf, np.inf)
    assert (spin.effort_limit, spin.velocity_limit) == (3, 4)
    assert (turn.lower, turn.upper, turn.damping, turn.coulomb) == (-1, 2, 0.3, 0.7)
    assert push.mimic is None
    assert robot.coupling == da.Coupling(("spin", "turn"), [[1, 0], [0, 1], [0, 2]], [0, 0, 0.25])
    assert robot.links[2].inertia.mass == 0.75
    close(robot.links[2].inertia.com, [0, 0, 0.1], 1e-15)
    close(robot.locate("tool")[1].translation, [0, 0, 0.3], 1e-15)


def test_the_axis_of_a_joint_is_kept(tmp_path):
    """Turning about (1, 1, 0) in the joint's frame, which stands at the origin."""
    robot = load(tmp_path, URDF)
    link = robot.links[1]
    at = lambda q: link.pose(q)  # noqa: E731
    close(at(0.0).translation, [0.1, 0.0, 1.0], 1e-15)  # the base is mounted 1 m up
    axis = at(0.0).rotation @ np.array([1, 1, 0]) / np.sqrt(2)
    close(at(0.7).rotation @ np.array([1, 1, 0]) / np.sqrt(2), axis, 1e-15)
    close(np.trace(at(0.7).rotation @ at(0.0).rotation.T), 1 + 2 * np.cos(0.7), 1e-15)


def test_mimic_joints_are_told_everywhere(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    robot = da.load(path)
    assert "coupled joints: push = 2 turn + 0.25" in robot.summary()
    assert robot == load(tmp_path, URDF)
    free = da.load(path, mimic=False)
    assert free == robot.uncoupled()
    assert not free.check().about("mimic")
    path.write_text(URDF.replace('<mimic joint="turn"', '<mimic joint="nobody"'))
    with pytest.warns(da.DataWarning, match="'push' should follow 2 \\* nobody .*no joint of one degree of freedom has this name"):
        robot = da.load(path)
    assert robot.n == 3
    assert [f.link for f in robot.check().about("mimic")] == ["slide"]


def test_impossible_inertia_is_taken_with_a_warning(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(PLAIN.replace('ixx="0.1" iyy="0.2"', 'ixx="9" iyy="0.2"'))
    with pytest.warns(da.DataWarning, match="robot.urdf: arm: impossible inertia"):
        robot = da.load(path)
    assert robot.check().about("inertia")


def test_the_base_is_looked_at_too(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(PLAIN.replace('<mass value="2"/>', '<mass value="-2"/>'))
    with pytest.warns(da.DataWarning, match="base: impossible inertia: negative mass"):
        robot = da.load(path)
    robot.save(tmp_path / "robot.toml")
    with pytest.warns(da.DataWarning, match="negative mass"):
        assert da.load(tmp_path / "robot.toml") == robot


def test_huge_but_finite_numbers_load(tmp_path):
    robot = load(
        tmp_path,
        URDF.replace('lower="-1" upper="2"', 'lower="-1.7e308" upper="1.7e308"').replace('xyz="1 1 0"', 'xyz="1e308 1e308 0"'),
    )
    assert np.isfinite(robot.random_configuration(0, 5)).all()
    close(robot.links[1].after.rotation.T @ [0, 0, 1], np.array([1, 1, 0]) / np.sqrt(2), 1e-15)
    text = f"{HEAD}[[link]]\nname='l'\nparent='base'\njoint={{name='j'}}\nmass=1.0\ninertia=[[1e308,0,0],[0,1e308,0],[0,0,1e308]]\n[end]"
    load(tmp_path, text, ".toml").check()


def lines_run(work):
    """How many lines of Python a call runs: what it costs, on any machine."""
    count, before = 0, sys.gettrace()

    def line(frame, event, argument):
        nonlocal count
        count += event == "line"
        return line

    sys.settrace(line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("parent", ["b", "l{before}"], ids=["star", "chain"])
def test_work_of_loading_grows_with_the_number_of_joints(tmp_path, parent):
    """And not with its square (`make bench` has the seconds of 20,000 joints)."""

    def file(n):
        made = (
            f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="{parent.format(before=i - 1) if i else "b"}"/>'
            f'<child link="l{i}"/></joint>'
            for i in range(n)
        )
        return f'<robot name="large"><link name="b"/>{"".join(made)}</robot>'

    load(tmp_path, file(1))
    few, many = (lines_run(lambda n=n: load(tmp_path, file(n))) for n in (20, 160))
    assert many < 8.5 * few
    assert load(tmp_path, file(160)).n == 160


def test_no_moving_joint(tmp_path):
    robot = load(tmp_path, '<robot name="stone"><link name="a"/><link name="b"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
                 '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>')  # fmt: skip
    assert robot.n == 0
    assert robot.total_mass == 3
    assert robot.frame_names == ("b",)
    assert robot.inverse_dynamics([], [], []).shape == (0,)
    assert robot.operation_count("inverse_dynamics").total == 0
    assert robot.program("inverse_dynamics", "lie_group").results == ()
    with pytest.raises(da.Error, match="unknown backend"):
        robot.inverse_dynamics([], [], [], backend="cuda")
    assert "stone" in robot.summary()


@pytest.mark.parametrize(("joints", "parents"), [("RPH", None), ("RRPHRP", (-1, 0, 0, 2, 2, 1)), ("", None)])
def test_toml_round_trip(tmp_path, joints, parents):
    robot = da.random_robot(1, joints, parents).with_friction(0.1, 0.2).with_armature(0.3)
    awkward = '"quotes" \\ and ünïcode 関節 #[]{}='
    robot = da.Robot(awkward, robot.links, robot.gravity, robot.base, frames=(da.Frame(awkward, "base"),), source=awkward)
    robot.save(tmp_path / "r.toml")
    assert da.load(tmp_path / "r.toml") == robot


def test_a_limit_without_bounds_is_zero_as_urdf_says(tmp_path):
    robot = load(tmp_path, URDF.replace('lower="-1" upper="2" effort', "effort"))
    assert (robot.links[1].joint.lower, robot.links[1].joint.upper) == (0, 0)
    assert robot.check().about("limit")


def test_inertia_about_the_origin(tmp_path):
    body = "mass = 2.0\ncom = [0.5, 0.0, 0.0]\n"
    link = "[[link]]\nname = 'l'\nparent = 'base'\njoint = {name = 'j'}\n" + body
    about = load(tmp_path, HEAD + link + "inertia_about_origin = [[1,0,0],[0,1,0],[0,0,1]]\n[end]", ".toml").links[0].inertia
    close(about.tensor, np.diag([1.0, 0.5, 0.5]), 1e-15)
    odd = load(tmp_path, HEAD + link + "inertia_about_origin = [[9,0,0],[0,1,0],[0,0,1]]\n[end]", ".toml")
    assert odd.check().about("inertia")


def test_zoo_round_trip(tmp_path, zoo_robot):
    zoo_robot.save(tmp_path / "r.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        assert da.load(tmp_path / "r.toml") == zoo_robot


HALF = math.sqrt(0.5)
QUATERNIONS = {  # and the same as roll, pitch, yaw
    "0 0 0 1": (0, 0, 0),
    "0 0 0 -1": (0, 0, 0),
    f"{HALF} 0 0 {HALF}": (math.pi / 2, 0, 0),
    f"0 {HALF} 0 {HALF}": (0, math.pi / 2, 0),
    "0 0 0.7071 0.7071": (0, 0, math.pi / 2),
    "0 0 -0.707 0.707": (0, 0, -math.pi / 2),
    "1 0 0 0": (math.pi, 0, 0),
    "0.5 0.5 0.5 0.5": (math.pi / 2, 0, math.pi / 2),
    " 0.0  0.0 0.479425538604203 0.8775825618903728": (0, 0, 1.0),
}


@pytest.mark.parametrize("quaternion", sweep(QUATERNIONS, quick=(2, 5)))
@pytest.mark.parametrize("version", ["", ' version="1.0"', ' version="1.1"', ' version="1.2"'])
def test_quaternions_are_read(tmp_path, quaternion, version):
    """URDF 1.1 has quat_xyzw beside rpy; a file that forgets to say so means it all the same."""
    rpy = " ".join(map(repr, QUATERNIONS[quaternion]))
    joint, inertial, fixed = 'rpy="0 1.5707963267948966 0"', 'rpy="0.1 0.2 0.3"', 'rpy="0 0 0.4"'
    text = PLAIN.replace("<robot", "<robot" + version)
    for place in (joint, inertial, fixed):
        found = load(tmp_path, text.replace(place, f'quat_xyzw="{quaternion}"'), quiet=False)
        expected = load(tmp_path, text.replace(place, f'rpy="{rpy}"'), quiet=False)
        for a, b in zip(found.links, expected.links, strict=True):
            close(a.before.rotation, b.before.rotation, 1e-15)
            close(a.inertia.tensor, b.inertia.tensor, 1e-15, scale=1.0)
            close(a.inertia.com, b.inertia.com, 1e-15, scale=1.0)
        close(found.locate("tool")[1].rotation, expected.locate("tool")[1].rotation, 1e-15)


def test_a_general_quaternion(tmp_path):
    """Against the product of two half turns: v -> q v q*."""
    x, y, z, w = 0.2, -0.4, 0.4, 0.8
    text = PLAIN.replace('rpy="0 0 0.4"', f'quat_xyzw="{x} {y} {z} {w}"')
    R, v, u = load(tmp_path, text).locate("tool")[1].rotation, np.array([x, y, z]), np.array([0.3, -1.2, 0.7])
    close(R @ u, u + 2 * np.cross(v, np.cross(v, u) + w * u), 1e-15)


UNREAD = {
    "typo in dynamics": ('damping="0.3"', 'dampping="0.3"', "arm: joint 'turn': <dynamics> has 'dampping'.*did you mean 'damping'"),
    "extension": ('damping="0.3"', 'damping="0.3" armature="0.1"', "joint 'turn': <dynamics> has 'armature', which is ignored .known: damping, friction.; see with_armature, or delete it"),
    "other friction": ('damping="0.3"', 'damping="0.3" K="0.1" D="1"', "are ignored .known: damping, friction.; give friction with robot.with_friction.damping=\\.\\.\\.., or delete them"),
    "typo in origin": ('xyz="0.1 0 0"', 'xzy="0.1 0 0"', "joint 'turn': <origin> has 'xzy'.*did you mean 'xyz'"),
    "quaternion of another order": ('rpy="0 0 0.4"', 'quat_wxyz="1 0 0 0"', "tool: joint 'grip': <origin> has 'quat_wxyz'"),
    "typo in an inertial origin": ('rpy="0.1 0.2 0.3"', 'ryp="0.1 0.2 0.3"', "arm: <origin> has 'ryp'"),
    "inertia": ('iyz="-0.01"', 'iyz="-0.01" iyx="0.1"', "arm: <inertia> has 'iyx'"),
    "mass": ('<mass value="1.5"', '<mass value="1.5" unit="g"', "arm: <mass> has 'unit'"),
    "axis": ('<axis xyz="1 1 0"', '<axis xyz="1 1 0" expressed_in="base"', "joint 'turn': <axis> has 'expressed_in'"),
    "axis without direction": ('<axis xyz="1 1 0"/>', "<axis>1 1 0</axis>", "joint 'turn': <axis> has no xyz; 1 0 0 is used"),
    "child of a joint": ("<axis xyz=\"1 1 0\"/>", "<Axis xyz=\"1 1 0\"/>", "joint 'turn': <Axis> is ignored"),
    "spring": ("<axis xyz=\"1 1 0\"/>", '<axis xyz="1 1 0"/><spring stiffness="3"/>', "joint 'turn': <spring> is ignored"),
    "child of an inertial": ('<mass value="1.5"/>', '<mass value="1.5"/><density value="3"/>', "arm: <density> in <inertial> is ignored"),
    "inside of dynamics": ('friction="0.7"/>', 'friction="0.7"><spring_stiffness/></dynamics>', "<spring_stiffness> in <dynamics>"),
    "two inertials": ('<link name="slide">', '<link name="slide"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
                      'ixz="0" iyz="0"/></inertial>', "slide: there are 2 <inertial>, only the first is used"),
    "two masses": ('<mass value="1.5"/>', '<mass value="1.5"/><mass value="2"/>', "arm: there are 2 <mass> in <inertial>"),
    "two axes": ('<axis xyz="1 1 0"/>', '<axis xyz="1 1 0"/><axis xyz="1 0 0"/>', "joint 'turn': there are 2 <axis>"),
    "outside": ('<link name="world"/>', '<link name="world"><mass value="1"/></link>', "world: <mass> outside <inertial> is ignored"),
    "mistyped inertial": ('<link name="world"/>', '<link name="world"><intertial mass="1"/></link>', "world: <intertial> outside"),
    "loop": ("<transmission", '<loop_joint name="four bar"/><transmission', "world: <loop_joint> 'four bar' of the robot is ignored"),
    "capital": ("<transmission", '<Joint name="lost"/><transmission', "<Joint> 'lost' of the robot is ignored"),
    "rotor": ("<hardwareInterface>", "<drake:rotor_inertia/><hardwareInterface>", "joint 'turn': the rotor inertia of its transmission"),
    "spring of Gazebo": ("<transmission", '<gazebo reference="turn"><springReference>1</springReference><springStiffness>12.5</springStiffness>'
                         '</gazebo><transmission', "arm: joint 'turn': <springStiffness> 12.5 in <gazebo> is ignored"),
    "spring inside an axis": ("<transmission", '<gazebo reference="turn"><axis><dynamics><spring_stiffness>3</spring_stiffness></dynamics>'
                              '</axis></gazebo><transmission', "arm: joint 'turn': <spring_stiffness> 3 in <gazebo> is ignored"),
    "drag of Gazebo": ("<transmission", '<gazebo reference="arm"><dampingFactor value="0.1"/></gazebo><transmission',
                       "arm: <dampingFactor> 0.1 in <gazebo> is ignored"),
    "decay": ("<transmission", '<gazebo reference="arm"><velocity_decay><linear>0</linear><angular>0.2</angular></velocity_decay></gazebo>'
              "<transmission", "arm: <velocity_decay> 0 0.2 in <gazebo> is ignored"),
    "no gravity": ("<transmission", '<gazebo reference="arm"><turnGravityOff> True </turnGravityOff></gazebo><transmission',
                   "arm: <turnGravityOff> True in <gazebo> is ignored"),
    "no gravity of a link": ('<link name="world"/>', '<link name="world"><gravity>0</gravity></link>', "world: <gravity> 0 is ignored"),
    "static": ("<transmission", "<gazebo><static>true</static></gazebo><transmission", "world: <static> true in <gazebo> is ignored"),
    "of nothing": ("<transmission", '<gazebo reference="lost"><kinematic>1</kinematic></gazebo><transmission',
                   "world: 'lost': <kinematic> 1 in <gazebo> is ignored"),
    "loop of Gazebo": ("<transmission", '<gazebo><joint name="rod" type="revolute"/></gazebo><transmission',
                       "world: <joint> 'rod' in <gazebo> is ignored"),
    "loop of old Gazebo": ("<transmission", '<gazebo><s:hinge xmlns:s="http://x/#slider" name="rod"/></gazebo><transmission',
                           "world: <hinge> 'rod' in <gazebo> is ignored"),
    "mimic plugin": ("<transmission", '<gazebo><plugin filename="libmimic.so"><mimicJoint>turn</mimicJoint></plugin></gazebo><transmission',
                     "arm: joint 'turn': the plugin by which it follows another joint is ignored; see with_coupling"),
    "wind plugin": ("<transmission", '<gazebo><plugin filename="libBuoyancyPlugin.so"/></gazebo><transmission',
                    "world: the plugin 'libBuoyancyPlugin.so' is ignored"),
    "another mimic plugin": ("<transmission", '<gazebo><plugin><mimic_joint>turn</mimic_joint></plugin></gazebo><transmission',
                             "joint 'turn': the plugin by which it follows another joint is ignored"),
    "finger plugin": ("<transmission", '<gazebo><plugin filename="libfinger.so"><actuatedJoint>slide</actuatedJoint><virtualJoint>'
                      '<name>turn</name><scale_factor>2.0</scale_factor></virtualJoint></plugin></gazebo><transmission',
                      "joint 'turn': the plugin by which it follows another joint is ignored"),
    "spring plugin": ("<transmission", '<gazebo><plugin filename="gz-sim-joint-spring-system"><stiffness>3</stiffness></plugin></gazebo>'
                      "<transmission", "world: the plugin 'gz-sim-joint-spring-system' is ignored"),
    "mimic of SDF": ("<transmission", '<gazebo reference="turn"><axis><mimic joint="slide"/></axis></gazebo><transmission',
                     "joint 'turn': the plugin by which it follows another joint is ignored"),
    "mimic of ros2_control": ("<transmission", '<ros2_control><joint name="turn"><param name="mimic">slide</param></joint></ros2_control><transmission',
                              "joint 'turn': its <ros2_control> by which it follows another joint is ignored; see with_coupling"),
    "friction inside an axis": ("<transmission", '<gazebo reference="turn"><axis><dynamics><friction>5</friction></dynamics></axis></gazebo>'
                                "<transmission", "arm: joint 'turn': <friction> 5 in <gazebo> is ignored"),
    "lift": ("<transmission", '<gazebo><plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"/></gazebo><transmission',
             "world: the plugin 'gz-sim-lift-drag-system' is ignored"),
    "lift by name": ("<transmission", '<gazebo><plugin filename="libmine.so" name="gz::sim::systems::LiftDrag"/></gazebo><transmission',
                     "world: the plugin 'libmine.so' is ignored"),
    "passive joint": ("<hardwareInterface>", '<hardwareInterface/></joint><passive_joint name="turn"/><joint name="turn"><hardwareInterface>',
                      "joint 'turn': the transmission by which it follows another joint is ignored"),
    "rotor in ros2_control": ("<transmission", '<ros2_control><transmission><joint name="turn"/><motor_inertia>1</motor_inertia></transmission>'
                              "</ros2_control><transmission", "joint 'turn': the rotor inertia of its transmission"),
    "version": ("<robot", '<robot version="2.0"', "world: URDF version '2.0' is unknown"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREAD)
def test_what_is_not_read_is_told(tmp_path, case):
    old, new, message = UNREAD[case]
    assert old in URDF
    path = tmp_path / "robot.urdf"
    path.write_text(PLAIN.replace(old, new, 1))
    with pytest.warns(da.DataWarning, match=f"robot.urdf: .*{message}"):
        robot = da.load(path)
    assert robot.check().about("unread")
    robot.save(tmp_path / "robot.toml")
    with pytest.warns(da.DataWarning, match=message):
        assert da.load(tmp_path / "robot.toml") == robot


HARMLESS = {
    "nothing": ("", ""),
    "outlook": ("<transmission", '<material name="m"/><gazebo reference="arm"><mu1>1</mu1></gazebo><sensor name="s"/><ros2_control/><transmission'),
    "simulator": ("<transmission", '<gazebo reference="turn"><springStiffness>0.0</springStiffness><springReference>1</springReference>'
                  '<implicitSpringDamper>1</implicitSpringDamper><provideFeedback>true</provideFeedback><stopKp>1e6</stopKp></gazebo>'
                  '<gazebo reference="arm"><turnGravityOff>false</turnGravityOff><gravity>1</gravity><selfCollide>true</selfCollide>'
                  '<kp>1</kp><dampingFactor>0</dampingFactor></gazebo><gazebo reference="grip"><springStiffness>3</springStiffness></gazebo>'
                  '<gazebo><plugin filename="libcontrol.so"/></gazebo><transmission'),
    "joint": ('<axis xyz="1 1 0"/>', '<axis xyz="1 1 0"/><calibration rising="0"/><safety_controller k_velocity="1"/><gazebo/>'),
    "limit": ('effort="10" velocity="5"/>', 'effort="10" velocity="5" acceleration="7" jerk="3"/>'),
    "zeros": ('damping="0.3"', 'damping="0.3" spring_reference="0" spring_stiffness="0.0"'),
    "fixed": ('<origin xyz="0 0 0.3"', '<axis/><dynamics damping="1" K="2"/><mimic/><limit/><origin xyz="0 0 0.3"'),
    "attributes": ('<joint name="turn"', '<joint dont_collapse="true" name="turn"'),
    "link": ('<link name="world"/>', '<link name="world" type="x"><contact/><self_filter/><origin xyz="0 0 0"/></link>'),
    "namespace": ('<axis xyz="1 1 0"/>', '<axis xmlns:a="b" xyz="1 1 0"/>'),
    "document type": ('<?xml version="1.0"?>', '<?xml version="1.0"?>\n<!DOCTYPE robot>'),
}  # fmt: skip


@pytest.mark.parametrize("case", HARMLESS)
def test_what_does_not_matter_is_passed_over(tmp_path, case):
    old, new = HARMLESS[case]
    assert load(tmp_path, PLAIN.replace(old, new, 1), quiet=False) == load(tmp_path, PLAIN)


BOMB = '<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><robot name="&b;"><link name="l"/></robot>'
EXTERNAL = '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="r"><link name="&x;"/></robot>'
DTD = '<!DOCTYPE robot SYSTEM "file:///etc/hostname"><robot name="r"><link name="l"/></robot>'
BAD_URDF = {
    "empty": ("", "not well-formed"),
    "text": ("hello", "not well-formed"),
    "truncated": (URDF[:900], "not well-formed"),
    "entity bomb": (BOMB, "entities are not allowed"),
    "external entity": (EXTERNAL, "entities are not allowed"),
    "external DTD": (DTD, "entities are not allowed"),
    "public DTD": (DTD.replace("SYSTEM", 'PUBLIC "-//x//y"'), "entities are not allowed"),
    "empty subset": ('<!DOCTYPE robot []><robot name="r"><link name="l"/></robot>', "entities are not allowed"),
    "parameter entity": ('<!DOCTYPE robot [<!ENTITY % p "x">]><robot name="r"><link name="l"/></robot>', "entities are not allowed"),
    "undeclared entity": ('<!DOCTYPE robot><robot name="&who;"><link name="l"/></robot>', "not well-formed"),
    "undefined entity": ('<robot name="&who;"/>', "not well-formed"),
    "deep": ("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>", "nested deeper"),
    "megabyte attribute": (f'<robot name="{"x" * 1_000_000}"><link name="l"/></robot>', "longer than"),
    "encoding": ('<?xml version="1.0" encoding="no-such"?><robot/>', "robot.urdf"),
    "utf-16": ('<?xml version="1.0" encoding="utf-16"?><robot/>', "robot.urdf"),
    "nul": (b"<robot name='a\x00b'/>", "not well-formed"),
    "no link": ('<robot name="r"/>', "no <link>"),
    "sdf": ("<sdf/>", "SDF is not supported"),
    "xacro": ('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="l"/><xacro:foo/></robot>', "this is a xacro file: with a name that ends in .xacro it is expanded"),
    "two roots": (URDF.replace('<joint name="mount"', '<link name="other"/><joint name="mount"'), "exactly one root link, found 2"),
    "cycle": (URDF.replace('<parent link="world"/>', '<parent link="tool"/>'), "cycle"),
    "only a cycle": ('<robot name="r"><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint></robot>', "cycle"),
    "two parents": (URDF.replace('<child link="slide"/>', '<child link="arm"/>', 1), "child of two joints"),
    "unknown parent": (URDF.replace('<parent link="arm"/>', '<parent link="nobody"/>'), "no such link"),
    "missing child": (URDF.replace('<child link="slide"/>', ""), "joint 'push' needs <child"),
    "spherical": (URDF.replace('type="prismatic"', 'type="spherical"'), "'push' is of type 'spherical', which is not a URDF joint type"),
    "no type": (URDF.replace('type="prismatic"', ""), "not a URDF joint type"),
    "zero axis": (URDF.replace('xyz="1 1 0"', 'xyz="0 0 0"'), "'turn' has axis .* which is zero"),
    "word": (URDF.replace('xyz="0.1 0 0"', 'xyz="0.1 zero 0"'), "'turn': xyz must be a finite number, got 'zero'"),
    "two numbers": (URDF.replace('xyz="0.1 0 0"', 'xyz="0.1 0"'), "three numbers"),
    "nan": (URDF.replace('mass value="1.5"', 'mass value="nan"'), "link 'arm': value must be a finite number"),
    "limits": (URDF.replace('lower="-1"', 'lower="5"'), "'turn' has lower limit"),
    "damping": (URDF.replace('damping="0.3"', 'damping="-0.3"'), "damping must not be negative"),
    "same link": (URDF.replace('<link name="world"/>', '<link name="arm"/><link name="world"/>'), "two links are named 'arm'"),
    "same joint": (URDF.replace('joint name="push"', 'joint name="turn"'), "two joints are named 'turn'"),
    "nameless link": (URDF.replace('<link name="world"/>', "<link/>"), "the name of a link must be"),
    "underscore": (URDF.replace('mass value="1.5"', 'mass value="1_000"'), "finite number, got '1_000'"),
    "foreign digits": (URDF.replace('mass value="1.5"', 'mass value="\u0661\u0662"'), "finite number"),
    "overflow": (URDF.replace('mass value="1.5"', 'mass value="1e400"'), "finite number"),
    "huge tensor": (URDF.replace('xyz="0 0 0.3"', 'xyz="0 0 1e200"'), "joining 'tool' to 'slide': an inertia tensor must be finite"),
    "mass without value": (URDF.replace('mass value="1.5"', "mass"), "link 'arm': <inertial> needs <mass> with value"),
    "mass as text": (URDF.replace('<mass value="1.5"/>', "<mass>1.5</mass>"), "needs <mass> with value"),
    "moment missing": (URDF.replace('ixx="0.1" iyy="0.2"', 'iyy="0.2"'), "needs <inertia> with ixx"),
    "long name": (URDF.replace('name="arm"', f'name="{"a" * 60000}"'), "at most 200 printable characters"),
    "escape in a name": (URDF.replace('name="arm"', 'name="a&#x9b;m"'), "printable"),
    "two rotations": (URDF.replace('rpy="0 0 0.4"', 'rpy="0 0 0.4" quat_xyzw="0 0 0 1"'), "joint 'grip': <origin> has both rpy and quat_xyzw"),
    "two inertial rotations": (URDF.replace('rpy="0.1 0.2 0.3"', 'rpy="0.1 0.2 0.3" quat_xyzw="0 0 0 1"'), "link 'arm': <origin> has both rpy and"),
    "no quaternion": (URDF.replace('rpy="0 0 0.4"', 'quat_xyzw="0 0 0 0"'), "joint 'grip': quat_xyzw must have length 1.* of length 0"),
    "long quaternion": (URDF.replace('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 1 1"'), "link 'arm': quat_xyzw must have length 1.* 1.41421"),
    "short quaternion": (URDF.replace('rpy="0 0 0.4"', 'quat_xyzw="0 0 1"'), "joint 'grip': quat_xyzw must be four numbers"),
    "huge quaternion": (URDF.replace('rpy="0 0 0.4"', 'quat_xyzw="0 0 1e300 1e300"'), "must have length 1"),
    "mimic nobody": (URDF.replace('<mimic joint="turn"', "<mimic"), "<mimic> needs"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_URDF)
def test_bad_urdf(tmp_path, case):
    text, message = BAD_URDF[case]
    with pytest.raises(da.Error, match=message) as caught:
        load(tmp_path, text)
    assert len(str(caught.value)) < 500


TOML = da.robot("puma560")
HEAD = 'format = "dalembert robot 1"\nname = "a"\n'
BAD_TOML = {
    "empty": ("", "must contain format"),
    "format": ('format = "other"', "must contain format"),
    "binary": (b"\xff\xfe\x00", "not valid TOML"),
    "deep": ("a = " + "[" * 100_000, "robot.toml"),
    "digits": ("a = " + "9" * 100_000, "65536 characters or more"),
    "key": ('format = "dalembert robot 1"\nname = "a"\nlinks = []', "did you mean 'link'"),
    "no name": ('format = "dalembert robot 1"', "robot's name must be"),
    "link type": ('format = "dalembert robot 1"\nname = "a"\nlink = 3', "list of tables"),
    "link entry": ('format = "dalembert robot 1"\nname = "a"\nlink = [3]', "link 1 must be a table"),
    "two placements": ('format = "dalembert robot 1"\nname = "a"\n[[link]]\nname = "l"\ndh = {}\nbefore = {}', "both dh and before/after"),
    "no convention": ('format = "dalembert robot 1"\nname = "a"\n[[link]]\nname = "l"\ndh = {}', "convention"),
    "dh text": ('format = "dalembert robot 1"\nname = "a"\n[[link]]\nname = "l"\ndh = {convention = "standard", a = "x"}', "DH entry a"),
    "no joint": ('format = "dalembert robot 1"\nname = "a"\n[[link]]\nname = "l"\nparent = "base"', "joint's name"),
    "rotation": ('format = "dalembert robot 1"\nname = "a"\n[base]\npose = {rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}', "not a rotation"),
    "two rotations": ('format = "dalembert robot 1"\nname = "a"\n[base]\npose = {rotation = 1, rpy = 2}', "give only one"),
    "mass": ('format = "dalembert robot 1"\nname = "a"\n[base]\nmass = "heavy"', "base: a mass must be"),
    "com": ('format = "dalembert robot 1"\nname = "a"\n[base]\ncom = [[1], [2, 3]]', "centre of mass must be"),
    "two inertias": ('format = "dalembert robot 1"\nname = "a"\n[base]\ninertia = 1\ninertia_about_origin = 2', "give only one"),
    "mimic": ('format = "dalembert robot 1"\nname = "a"\n[[link]]\nname = "l"\nparent = "base"\njoint = {name = "j", mimic = 3}', "mimic of"),
    "note": ('format = "dalembert robot 1"\nname = "a"\nnotes = [{link = "l", remark = "r", topic = "colour"}]', "unknown topic of a note"),
    "source": ('format = "dalembert robot 1"\nname = "a"\ngravity = [0, 0]', "gravity must be 3 numbers"),
    "hex mass": (HEAD + "[base]\nmass = 0x" + "f" * 5000, "a mass must be a number, got a int"),
    "hex name": ('format = "dalembert robot 1"\nname = 0x' + "f" * 5000, "robot's name"),
    "hex format": ("format = 0x" + "f" * 5000, "must contain format"),
    "hex gravity": (HEAD + "gravity = [0, 0, 0x" + "f" * 5000 + "]", "gravity must be"),
    "hex kind": (HEAD + '[[link]]\nname = "l"\nparent = "base"\njoint = {name = "j", kind = 0x' + "f" * 5000 + "}", "kind of joint"),
    "booleans": (HEAD + "gravity = [true, false, true]", "gravity must be 3 real numbers"),
    "strings": (HEAD + 'gravity = ["0", "0", "-9.81"]', "gravity must be 3 real numbers"),
    "mass about origin": (HEAD + '[base]\nmass = "a"\ninertia_about_origin = [[1,0,0],[0,1,0],[0,0,1]]', "a mass must be"),
    "escape": (HEAD + 'source = "\\u001b[31m"', "printable"),
    "source number": (HEAD + "source = 3", "source of a robot"),
    "date": ('format = "dalembert robot 1"\nname = 2020-01-01', "robot's name must be"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TOML)
def test_bad_toml(tmp_path, case):
    text, message = BAD_TOML[case]
    text = text + "\n[end]\n" if isinstance(text, str) else text
    with pytest.raises(da.Error, match=message) as caught:
        load(tmp_path, text, ".toml")
    assert len(str(caught.value)) < 500


def test_truncated_toml(tmp_path):
    """Cut anywhere, even between two links, it is no robot."""
    from dalembert.model.files import to_toml

    text = to_toml(da.robot("two_link"))
    for cut in range(len(text) - 1):
        with pytest.raises(da.Error, match=r"not valid TOML|must contain format|truncated"):
            load(tmp_path, text[:cut], ".toml")


@pytest.mark.parametrize(
    ("error", "message"), [(MemoryError, "needs more memory than there is"), (RecursionError, "nested too deeply")]
)
def test_want_of_memory_is_told(tmp_path, monkeypatch, error, message):
    def fails(content):
        raise error

    (tmp_path / "a.toml").write_text("format = 1")
    (tmp_path / "a.urdf").write_text("<robot/>")
    monkeypatch.setattr("tomllib.loads", fails)
    monkeypatch.setattr("dalembert.model.xml.parse", lambda data, text: fails(data))
    for name in ("a.toml", "a.urdf"):
        with pytest.raises(da.Error, match=f"^{name}: {message}$"):
            da.load(tmp_path / name)


def test_tables_in_lists_are_few(tmp_path, monkeypatch):
    """Those that are no [[tables]] with a line of their own count, too."""
    monkeypatch.setattr("dalembert.storage.limits.TOML_TABLES", 10)
    for key in ("link", "frame", "notes", "loop"):
        (tmp_path / "a.toml").write_text(f"format = 'dalembert robot 1'\nname = 'a'\n{key} = [{'{},' * 11}]\n[end]\n")
        with pytest.raises(da.Error, match=f"^a.toml: more than 10 tables in {key}, too many$"):
            da.load(tmp_path / "a.toml")


def test_folder_and_huge_file(tmp_path, monkeypatch):
    (tmp_path / "a.urdf").mkdir()
    with pytest.raises(da.Error, match="is a folder"):
        da.load(tmp_path / "a.urdf")
    monkeypatch.setattr("dalembert.storage.limits.ROBOT_BYTES", 100)
    with pytest.raises(da.Error, match="larger than"):
        load(tmp_path, URDF)


def mutations(text, seed):
    """A file with a few bytes changed, lines doubled or dropped, numbers replaced."""
    rng = random.Random(seed)
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(10)
        i = rng.randrange(len(data))
        if kind > 4:  # another digit: a file that still reads, with other numbers
            digits = [k for k, byte in enumerate(data) if 48 <= byte < 58]
            data[rng.choice(digits)] = rng.randrange(48, 58)
        elif kind == 0:
            data[i] = rng.randrange(256)
        elif kind == 1:
            del data[i : i + rng.randrange(1, 40)]
        elif kind == 2:
            j = rng.randrange(len(data))
            data[i:i] = data[j : j + rng.randrange(1, 120)]
        elif kind == 3:
            data[i:i] = rng.choice([b"1e400", b"-1", b"nan", b"<", b'"', b"[", b"{", b"\x00", b"0x", b"inf", b"'"])
        else:
            data[i : i + 1] = rng.choice(string.printable).encode()
    return bytes(data)


@pytest.mark.parametrize("suffix", [".urdf", ".toml"])
@pytest.mark.parametrize("part", sweep(range(5), quick=(0,)))
def test_fuzz_mutated_files(tmp_path, suffix, part):
    from dalembert.model.files import to_toml

    robot = load(tmp_path, URDF)
    text = URDF if suffix == ".urdf" else to_toml(robot)
    loaded = 0
    for seed in range(part, 3000, 10):
        try:
            mutant = load(tmp_path, mutations(text, seed), suffix)
        except da.Error:
            continue
        loaded += 1
        mutant.summary()
        mutant.check()
        if seed % 20 < 2:
            assert mutant.inverse_dynamics(*np.zeros((3, mutant.n)), backend="numpy").shape == (mutant.n,)
        if seed % 50 < 2:
            mutant.save(tmp_path / "again.toml")
            assert load(tmp_path, (tmp_path / "again.toml").read_bytes(), ".toml") == mutant
    assert loaded > 20


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_fuzz_random_bytes(data):
    from dalembert.model.files import parse_toml
    from dalembert.model.xml import parse

    with pytest.raises(da.Error):
        parse(data)
    with pytest.raises(da.Error):
        parse_toml(da.Robot, data)


# --- xacro ----------------------------------------------------------------------------------------------------------------------

XACRO = """<robot name="macro" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1"/>
  <xacro:macro name="arm" params="side"><link name="${side}"><inertial><mass value="${2 * $(arg mass)}"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="${side}_joint" type="continuous"><parent link="base"/><child link="${side}"/></joint></xacro:macro>
  <link name="base"/><xacro:arm side="left"/><xacro:arm side="right"/>
</robot>
"""


def test_xacro(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(XACRO)
    robot = da.load(path)
    assert (robot.joint_names, robot.total_mass) == (("left_joint", "right_joint"), 4.0)
    assert (robot.source, robot.file) == ("URDF robot.urdf.xacro", "")
    assert da.load(path, xacro={"mass": 1.5}).total_mass == 6.0
    with pytest.raises(da.Error, match=r"unknown xacro argument of robot.urdf.xacro: 'zz' \(known: mass\)"):
        da.load(path, xacro={"zz": 2.5})
    mistakes = {
        "$(arg mass)": ("nobody", "'nobody' is not defined"),
        '<link name="base"/>': ('<xacro:include filename="$(find nobody)/x.xacro"/>', "find"),
        "</robot>": ("", "no element found|not well-formed"),
        '<xacro:arm side="left"/>': ("<xacro:nobody/>", "nobody"),
        'link="base"': ('link="none"', "'left_joint' names 'none' as parent"),
    }
    for old, (new, message) in mistakes.items():
        path.write_text(XACRO.replace(old, new))
        with pytest.raises(da.Error, match=f"^robot.urdf.xacro: .*({message})"):
            da.load(path)


def test_xacro_needs_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    (tmp_path / "robot.xacro").write_text(XACRO)
    with pytest.raises(da.Error, match=r"this needs xacro, which is not installed: pip install 'dalembert\[xacro\]'$"):
        da.load(tmp_path / "robot.xacro")
