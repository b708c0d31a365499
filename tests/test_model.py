"""Robots as values: construction, conventions, changes, names, suspicious data."""

import pickle
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from builtin import ARMS
from conftest import REFERENCE, STRUCTURES, close, directly, reference_robot, sweep, world_poses

import dalembert as da

ARM = da.robot("puma560")
GOOD = np.zeros(6)
ROD = da.Inertia.from_com(1.0, (0, 0, 0), 0.1)


def state(robot, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))


def test_frozen_equal_hashable():
    a, b = da.robot("puma560"), da.robot("puma560")
    assert a == b
    assert hash(a) == hash(b)
    assert a != a.with_gravity((0, 0, -1.62))
    assert pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(FrozenInstanceError):
        a.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        a.links[0].inertia.com[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(a)).gravity[0] = 1.0
    a.inverse_dynamics(*np.zeros((3, 6)))
    assert a == b
    assert pickle.loads(pickle.dumps(a)) == a


@pytest.mark.parametrize("name", REFERENCE)
def test_standard_dh_keeps_the_books_frames(name):
    robot = reference_robot(name)
    poses = world_poses(robot, np.array(REFERENCE[name]["q"]))
    for pose, T in zip(poses, np.array(REFERENCE[name]["link_frames_T0i"]), strict=True):
        close(pose.rotation, T[:3, :3], 1e-14)
        close(pose.translation, T[:3, 3], 1e-14)


def test_both_dh_conventions_describe_the_same_robot():
    """A modified table is the standard one with (alpha, a) moved down a row; only the link frames differ."""
    rng = np.random.default_rng(3)
    alpha, a, d, theta = rng.uniform(-1, 1, (4, 5))
    kinds = "RPRPR"
    standard = da.Robot.from_dh(
        [{"alpha": alpha[i], "a": a[i], "d": d[i], "theta": theta[i], "joint": kinds[i]} for i in range(5)], convention="standard"
    )
    modified = da.Robot.from_dh(
        [
            {"alpha": alpha[i - 1] if i else 0, "a": a[i - 1] if i else 0, "d": d[i], "theta": theta[i], "joint": kinds[i]}
            for i in range(5)
        ],
        convention="modified",
    )
    q = rng.uniform(-1, 1, 5)
    last = da.DHRow(alpha=alpha[4], a=a[4]).placements("modified")[0]  # Rx Tx commute
    flange = da.Pose(*world_poses(modified, q)[-1]) @ last
    expected = world_poses(standard, q)[-1]
    close(flange.rotation, expected.rotation, 1e-14)
    close(flange.translation, expected.translation, 1e-14)


def screws_of(robot):
    """Space screws and home poses of any robot, read off its zero position."""
    homes = [da.Pose(*pose) for pose in world_poses(robot, np.zeros(robot.n))]
    screws = []
    for home, link in zip(homes, robot.links, strict=True):
        axis = home @ link.after.inverse
        z, (rho, sigma) = axis.rotation[:, 2], link.joint.screw
        screws.append([*(rho * z), *(rho * np.cross(axis.translation, z) + sigma * z)])
    return np.array(screws), homes


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
@pytest.mark.parametrize("frame", ["space", "body"])
def test_from_screws(joints, parents, frame):
    robot = da.random_robot(2, joints, parents).with_base(np.eye(4))
    screws, homes = screws_of(robot)
    tip = None
    if frame == "body":
        tip = da.Pose.of((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
        R, p = tip.rotation, tip.translation
        screws = np.array([[*(R.T @ s[:3]), *(R.T @ (s[3:] - np.cross(p, s[:3])))] for s in screws])
    again = da.Robot.from_screws(
        screws,
        homes,
        [x.inertia for x in robot.links],
        frame=frame,
        tip=tip,
        parents=robot.parents,
        gravity=robot.gravity,
    )
    assert again.structure == robot.structure
    tau, expected = (r.inverse_dynamics(*state(robot), backend="numpy") for r in (again, robot))
    close(tau, expected, 1e-12)


def test_right_angles_are_exact():
    tree = da.robot("puma560").tree
    assert set(np.abs(tree.after.rotation).ravel()) == {0.0, 1.0}
    assert (
        da.Pose.of(rpy=(np.pi, np.pi / 2, -np.pi / 2)).rotation.tolist()
        == np.rint(da.Pose.of(rpy=(np.pi, np.pi / 2, -np.pi / 2)).rotation).tolist()
    )


def test_inertia_constructors_agree():
    a = da.Inertia.from_com(2.0, (0.1, -0.2, 0.3), [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]])
    b = da.Inertia.from_origin(2.0, a.com, a.about_origin)
    c = da.Inertia.from_parameters(a.parameters)
    for other in (b, c):
        close(other.tensor, a.tensor, 1e-14)
        close(other.com, a.com, 1e-15)


def test_inertia_of_a_block_about_its_corner():
    """Fu, Gonzalez and Lee, problem 3.6: sides 2a, 2b, 2c; the product entries are minus M a b."""
    M, a, b, c = 3.0, 0.1, 0.2, 0.3
    block = da.Inertia.from_com(M, (a, b, c), (M * (b * b + c * c) / 3, M * (a * a + c * c) / 3, M * (a * a + b * b) / 3))
    close(block.about_origin[0, 0], 4 / 3 * M * (b * b + c * c), 1e-15)
    close(block.about_origin[0, 1], -M * a * b, 1e-15)


def test_inertias_add_like_bodies():
    rng = np.random.default_rng(0)
    from dalembert.model.random import random_inertia, random_pose

    a, b, pose = random_inertia(rng), random_inertia(rng), random_pose(rng)
    close((a + b).parameters, a.parameters + b.parameters, 1e-14)
    moved = (a + b).seen_from(pose)
    close(moved.parameters, (a.seen_from(pose) + b.seen_from(pose)).parameters, 1e-14)
    assert moved.impossible() is None


@pytest.mark.parametrize(("joints", "parents"), STRUCTURES)
def test_lock_is_a_joint_held_still(joints, parents, method):
    robot = da.random_robot(9, joints, parents)
    held = {name: 0.3 * (k + 1) for k, name in enumerate(robot.joint_names) if k % 2 == 0}
    rigid = robot.lock(held)
    q, qd, qdd = state(robot)
    for k, name in enumerate(robot.joint_names):
        if name in held:
            q[k], qd[k], qdd[k] = held[name], 0.0, 0.0
    free = [k for k, name in enumerate(robot.joint_names) if name not in held]
    if free:
        close(directly(rigid, method, q[free], qd[free], qdd[free]), directly(robot, "newton_euler", q, qd, qdd)[free], 1e-12)
    assert abs(rigid.total_mass - robot.total_mass) < 1e-12
    assert set(rigid.frame_names) == {robot.link_names[k] for k in range(robot.n) if k not in free}


def test_locked_links_stay_frames():
    arm = da.robot("panda").lock({"panda_joint7": 0.4})
    load = arm.with_payload(1.0, (0, 0, 0.1), link="panda_hand")
    assert load.total_mass == pytest.approx(arm.total_mass + 1.0)
    full = da.robot("panda").with_payload(1.0, (0, 0, 0.1), link="panda_hand").lock({"panda_joint7": 0.4})
    close(load.inverse_dynamics(*state(arm)), full.inverse_dynamics(*state(arm)), 1e-12)


def test_payload_is_a_point_mass_at_the_tip():
    arm = da.robot("two_link").with_gravity((0, -10.0, 0))
    loaded = arm.with_payload(mass=2.0)
    zero = np.zeros(2)
    close(loaded.inverse_dynamics(zero, zero, zero) - arm.inverse_dynamics(zero, zero, zero), [40.0, 20.0], 1e-14)
    with pytest.raises(da.Error, match="2 end links"):
        da.random_robot(1, "RRR", (-1, 0, 0)).with_payload(1.0)


def picker(roll="gripper_roll", opening="gripper", palm="palm", part="moving_part", frame="tcp", elbow="elbow"):
    """An arm that ends in the one moving jaw of its gripper, as the SO-101 does."""
    out = da.Pose.of((0.3, 0, 0), (0.5, 0, 0))
    links = (
        da.Link("forearm", "base", da.Joint(elbow), after=out, inertia=ROD),
        da.Link(palm, "forearm", da.Joint(roll), after=out, inertia=ROD),
        da.Link(part, palm, da.Joint(opening), after=out, inertia=ROD),
    )
    return da.Robot("picker", links, frames=(da.Frame(frame, palm, da.Pose.of((0, 0, 0.1))),))


def test_a_moving_jaw_is_not_the_end():
    """Of a gripper with one moving jaw the hand must be named; where the joint is locked, there is no doubt."""
    arm = picker()
    message = (
        "picker ends in 'moving_part', the jaw that joint 'gripper' opens and closes; "
        "choose a link, or a frame, with link=...: 'palm', 'tcp', 'moving_part'"
    )
    functions = {
        "payload": lambda link: arm.with_payload(1.0, link=link),
        "pose": lambda link: arm.pose([0.1, 0.2, 0.3], link),
        "jacobian": lambda link: arm.jacobian([0.1, 0.2, 0.3], link),
        "impedance": lambda link: da.Impedance(arm, np.eye(4), 1.0, 1.0, link=link),
        "inverse_kinematics": lambda link: arm.inverse_kinematics(arm.pose([0.1, 0.2, 0.3], "tcp"), link),
    }
    for function in functions.values():
        with pytest.raises(da.Error, match=re.escape(message)):
            function(None)
        function("tcp")
    locked = arm.lock({"gripper": 0.0})
    assert locked.with_payload(1.0) == locked.with_payload(1.0, link="palm")
    for roll in ("wrist_roll", "joint5"):  # the half of the gripper that carries the other
        fixed = picker(roll, "Jaw", "Fixed_Jaw", "Moving_Jaw")
        with pytest.raises(da.Error, match=r"picker ends in 'Moving_Jaw', the jaw .*: 'Fixed_Jaw', 'tcp', 'Moving_Jaw'"):
            fixed.with_payload(1.0)
    other = da.Link("other_part", "palm", da.Joint("other_gripper"), inertia=ROD)
    with pytest.raises(
        da.Error, match=r"2 end links \(moving_part, other_part\), all on 'palm', which has frames such as 'tcp'; choose one"
    ):
        da.Robot("picker", (*arm.links, other), frames=arm.frames).with_payload(1.0)
    for names in (
        ("joint5", "joint6", "gripper", "gripper-moving-part"),
        ("joint5", "joint6", "static_side", "moving_side"),
        ("gripper_joint", "gripper_open", "gripper_palm", "jaw"),
        ("joint5", "joint6", "link5", "pincher"),
    ):
        with pytest.raises(da.Error, match=f"picker ends in {names[3]!r}, the jaw that joint {names[1]!r} opens and closes"):
            picker(*names).with_payload(1.0)
    with pytest.raises(
        da.Error, match=r"picker ends in 'distal', the jaw that joint 'finger_joint2' opens and closes; .*: 'forearm', 'distal'"
    ):
        picker("finger_joint1", "finger_joint2", "proximal", "distal").with_payload(1.0)
    tool = picker("joint_5", "joint_6", "link_5", "link_6")
    for frame in ("tcp", "picker_tool0", "ee_link", "gripperCenter", "end_effector"):
        with pytest.raises(da.Error, match=f"picker ends in 'link_6', but '{frame}' on 'link_5' looks like the tool; choose"):
            picker("joint_5", "joint_6", "link_5", "link_6", frame).with_payload(1.0)
    for frame in ("tool_box", "tool_mount", "tool_flange", "elbow_ee", "camera"):
        other = picker("joint_5", "joint_6", "link_5", "link_6", frame)
        assert other.with_payload(1.0) == other.with_payload(1.0, link="link_6")
    tool = da.Robot("picker", tool.links, frames=(*tool.frames, da.Frame("tool0", "link_6", da.Pose.of((0, 0, 0.1)))))
    assert tool.with_payload(1.0) == tool.with_payload(1.0, link="link_6")
    finger = picker("finger_middle", "finger_tip", "middle", elbow="finger_root")  # the whole robot is a finger
    assert finger.with_payload(1.0) == finger.with_payload(1.0, link="moving_part")


def test_base_pose_turns_gravity():
    arm = da.robot("puma560")
    tilted = arm.with_base(da.Pose.of((1, 2, 3), (0.3, -0.4, 0.5)))
    same = arm.with_gravity(tilted.base.rotation.T @ arm.gravity)
    close(tilted.inverse_dynamics(*state(arm)), same.inverse_dynamics(*state(arm)), 1e-14)
    matrix = tilted.base.matrix
    assert arm.with_base(matrix) == tilted


def test_snapped_mends_almost_right_angles():
    rows = [{"alpha": 1.5708, "a": 0.1}, {"alpha": -1.57079}, {"alpha": 0.4, "inertia": ROD}]
    robot = da.Robot.from_dh(rows, convention="standard")
    assert len(robot.check().about("angle")) == 2
    straight = robot.snapped(1e-4)
    assert not straight.check().about("angle")
    exact = da.Robot.from_dh(
        [{"alpha": np.pi / 2, "a": 0.1}, {"alpha": -np.pi / 2}, {"alpha": 0.4, "inertia": ROD}], convention="standard"
    )
    assert straight.links[0] == exact.links[0]
    assert robot.links[2] == straight.links[2]
    assert straight.operation_count("inverse_dynamics").total < robot.operation_count("inverse_dynamics").total


@pytest.mark.parametrize(
    "rpy", [(1.5708, 0.4, 1.2), (1e-5, 0.7, 0.3), (0.3, 0.4, 1e-5), (1.5708, -1.5708, 3.1416), (0.1, 0.2, 0.3)]
)
def test_snapping_one_small_entry(rpy):
    pose = da.Pose.of((1, 2, 3), rpy)
    robot = da.Robot("a", (da.Link("l", "base", da.Joint("j"), before=pose),), base=pose, frames=(da.Frame("f", "l", pose),))
    small = np.abs(pose.rotation) < 1e-4
    snapped = robot.snapped(1e-4)
    for got in (snapped.links[0].before, snapped.base, snapped.frames[0].pose):
        assert (got.rotation[small] == 0).all()
        close(got.rotation @ got.rotation.T, np.eye(3), 1e-14)
        close(got.rotation, pose.rotation, 2e-5)
    assert not snapped.check().about("angle")
    assert snapped.snapped(1e-4) == snapped


def test_rounded_rotations_are_straightened():
    from dalembert.model.random import random_pose

    rng = np.random.default_rng(0)
    poses = [random_pose(rng) for _ in range(6)]
    links = [
        da.Link(
            f"l{i}", f"l{i - 1}" if i else "base", da.Joint(f"j{i}"), da.Pose(np.round(p.rotation, 7), p.translation), inertia=ROD
        )
        for i, p in enumerate(poses)
    ]
    robot = da.Robot("rounded", tuple(links))
    x = state(robot)
    for m in da.methods("inverse_dynamics"):
        close(directly(robot, m, *x), directly(robot, "newton_euler", *x), 1e-13)
    assert robot.lock(dict.fromkeys(robot.joint_names, 0.1)).n == 0


def test_frozen_to_the_bottom():
    arm = da.robot("puma560")
    with pytest.raises(ValueError, match="read-only"):
        arm.tree.mass[0] = 100.0
    with pytest.raises(FrozenInstanceError):
        arm.tree = None
    with pytest.raises(FrozenInstanceError):
        arm.anything = 1
    force = np.ones(3)
    wrench = da.Wrench(force=force)
    force[0] = 9
    assert wrench == da.Wrench(force=(1, 1, 1))
    assert hash(wrench) == hash(da.Wrench(force=(1, 1, 1)))
    assert wrench != da.Wrench(force=np.ones((1, 3)))


def test_one_sided_limits():
    joints = [da.Joint("a", lower=2.0), da.Joint("b", upper=-3.0), da.Joint("c", "prismatic", lower=1.0)]
    links = [da.Link(j.name, "base", j) for j in joints]
    q = da.Robot("limits", tuple(links)).random_configuration(0, 200)
    assert q.min(axis=0)[0] >= 2
    assert q.max(axis=0)[0] > 5
    assert q.max(axis=0)[1] <= -3
    assert q.min(axis=0)[1] < -6
    assert q.min(axis=0)[2] >= 1
    assert q.max(axis=0)[2] <= 3


def test_payload_tensor_counts():
    arm = da.robot("two_link").with_gravity((0, 0, 0))
    zero, one = np.zeros(2), np.array([1.0, 0.0])
    point, disc = arm.with_payload(1.0), arm.with_payload(1.0, tensor=(0.1, 0.1, 0.2))
    difference = disc.inverse_dynamics(zero, zero, one) - point.inverse_dynamics(zero, zero, one)
    close(difference, [0.2, 0.2], 1e-13)


def test_body_screws_default_to_the_last_home():
    robot = da.random_robot(2, "RR").with_base(np.eye(4))
    screws, homes = screws_of(robot)
    R, p = homes[-1].rotation, homes[-1].translation
    body = np.array([[*(R.T @ s[:3]), *(R.T @ (s[3:] - np.cross(p, s[:3])))] for s in screws])
    again = da.Robot.from_screws(body, homes, [x.inertia for x in robot.links], frame="body", gravity=robot.gravity)
    close(again.inverse_dynamics(*state(robot), backend="numpy"), robot.inverse_dynamics(*state(robot), backend="numpy"), 1e-12)


def test_some_joints_with_armature():
    arm = da.robot("two_link").with_armature({"joint2": 0.5})
    zero = np.zeros(2)
    difference = arm.inverse_dynamics(zero, zero, [1.0, 1.0]) - da.robot("two_link").inverse_dynamics(zero, zero, [1.0, 1.0])
    close(difference, [0.0, 0.5], 1e-13)


def test_what_pushes_the_base_is_not_felt():
    push = {"base": da.Wrench(force=(100, 100, 100), moment=(50, 50, 50))}
    close(ARM.inverse_dynamics(GOOD, GOOD, GOOD, wrenches=push), ARM.inverse_dynamics(GOOD, GOOD, GOOD), 1e-14)


def test_lock_keeps_notes():
    odd = da.Inertia(1.0, (0, 0, 0), np.diag([0.15, 0.05, 0.05]))
    links = (da.Link("a", "base", da.Joint("ja"), inertia=ROD), da.Link("b", "a", da.Joint("jb"), inertia=odd))
    locked = da.Robot("r", links).lock({"jb": 0.0})
    assert [f.link for f in locked.check().about("inertia")] == ["b"]


def test_general_counts_are_what_the_formulation_does():
    """Without friction nothing is added, and a recording without folding and sharing has the same operations, less unused ones."""
    from dalembert.formulations import formulation
    from dalembert.trace import operation_count, tally

    arm = da.random_robot(0, "RRR")
    function = formulation("inverse_dynamics", "newton_euler")
    plain = tally(lambda *x: function(arm.tree, *x), dict.fromkeys(("q", "qd", "qdd"), (3,)))
    general = arm.operation_count("inverse_dynamics", customized=False)
    recorded = operation_count(arm.program("inverse_dynamics", folding=False, sharing=False))
    assert general.mul == plain.mul
    assert abs(general.add - plain.add) <= 3  # the joint offsets of the internal frames
    assert 0.9 * general.mul < recorded.mul <= general.mul
    assert recorded.sincos == general.sincos == 3


def test_names_arrays_and_dicts():
    arm = da.robot("panda")
    q = np.arange(7.0)
    assert np.array_equal(arm.to_array(arm.to_dict(q)), q)
    assert arm.to_array({"panda_joint2": 1.5}, default=0.0)[1] == 1.5
    shuffled = ["extra", *reversed(arm.joint_names)]
    assert np.array_equal(arm.reorder(np.array([9.0, *q[::-1]]), shuffled), q)
    batch = np.stack([q, q + 1])
    assert np.array_equal(arm.to_array(arm.to_dict(batch)), batch)
    assert np.array_equal(arm.reorder(batch[:, ::-1], arm.joint_names[::-1]), batch)


def test_configurations_respect_limits():
    arm = da.robot("panda")
    q = arm.random_configuration(0, 500)
    assert q.shape == (500, 7)
    assert (q >= arm.lower).all()
    assert (q <= arm.upper).all()
    assert arm.neutral()[3] == arm.upper[3] < 0
    assert np.array_equal(arm.random_configuration(5), arm.random_configuration(np.random.default_rng(5)))


def test_zoo(zoo_robot):
    assert zoo_robot.source
    assert zoo_robot.name in repr(zoo_robot)
    assert zoo_robot.n in (2, 3, 6, 7) or zoo_robot.loops
    assert np.isfinite(zoo_robot.neutral()).all()  # at which loops are closed
    assert not zoo_robot.check().about("angle")
    assert not zoo_robot.check().about("magnitude")


def test_zoo_is_complete():
    assert {
        "two_link",
        "planar_3r",
        "rp",
        "stanford",
        "puma560",
        "panda",
        "ur5",
        "four_bar",
        "five_bar",
        "palletizer",
        "delta",
        "solo12",
        "humanoid",
        "space_arm",
    } < set(da.robot_names())
    assert sum(da.robot(name).n == 7 for name in ARMS) == 2
    assert da.robot("stanford").structure == "RRPRRR"


def test_summary_says_what_matters(zoo_robot):
    text = str(zoo_robot.summary())
    for word in (*zoo_robot.joint_names, "angular part first", "acts ON the robot", "gravity", "kg"):
        assert word in text
    assert (" kg with the base, " in text) == (zoo_robot.base_inertia.mass > 0)
    assert repr(zoo_robot.summary()) == text and "base: " not in text
    moved = zoo_robot.with_base(da.Pose.of((0, 0, 1.5), rpy=(np.pi, 0, 0)))
    assert "\nbase: at (0, 0, 1.5) m, x axis (1, 0, 0), y axis (0, -1, 0), z axis (0, 0, -1)\n" in str(moved.summary())


def test_check_lists_doubtful_data():
    bodies = {
        "massless": da.Inertia.zero(),
        "impossible": da.Inertia(1.0, (0, 0, 0), np.diag([1.0, 0.1, 0.1])),
        "grams": da.Inertia(5000.0, (250.0, 0, 0), np.eye(3)),
        "millimetres": da.Inertia(1.0, (0, 0, 0), np.eye(3) * 1e4),
    }
    links, parent = [], "base"
    for name, inertia in bodies.items():
        links.append(da.Link(name, parent, da.Joint(f"j_{name}", mimic=da.Mimic("nobody")), inertia=inertia))
        parent = name
    found = da.Robot("doubtful", tuple(links)).check()
    assert [f.link for f in found.about("mass")] == ["massless"]
    assert [f.link for f in found.about("inertia")] == ["impossible"]
    assert [f.link for f in found.about("magnitude")] == ["grams", "millimetres"]
    assert len(found.about("mimic")) == 4
    assert "impossible: impossible inertia" in str(found)
    assert not da.robot("panda").check()
    assert "no suspicious data" in repr(da.robot("panda").check())


def test_crosses_of_joints_are_not_doubtful():
    """Links without mass or extent make joints of several degrees of freedom; forgotten bodies have an extent."""
    assert not da.robot("delta").check() and not da.robot("humanoid").check()
    body = da.Inertia.box(1.0, (0.1, 0.2, 0.3))

    def found(**row):
        rows = [da.DHRow(**{"alpha": np.pi / 2, **row}), da.DHRow(inertia=body)]
        return [f.link for f in da.Robot.from_dh(rows, convention="standard").check().about("mass")]

    assert not found() and not found(alpha=0.0, joint="P")
    assert found(a=0.1) == found(d=0.1) == found(alpha=0.0) == ["link1"]
    assert found(inertia=da.Inertia(0.0, np.zeros(3), np.eye(3))) == ["link1"]


def test_random_robots_are_repeatable():
    assert da.random_robot(3, "RPH", (-1, 0, 0)) == da.random_robot(3, "RPH", (-1, 0, 0))
    assert da.random_robot(3, "RPH") != da.random_robot(4, "RPH")
    assert not da.random_robot(3, "RPH").check()


def test_replace_revalidates():
    with pytest.raises(da.Error, match="gravity"):
        replace(ARM, gravity=(0, 0))
