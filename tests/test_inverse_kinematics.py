"""Inverse kinematics: what was asked for is reached, within limits; what cannot be reached is told with the nearest pose."""

import io
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from conftest import sweep
from scipy.optimize import least_squares

import dalembert as da
from dalembert.algebra.rotations import log_so3
from dalembert.cli import main
from dalembert.planning.reaching_step import STEP, _left, quaternion
from dalembert.trace import trace

POSITION = ("vx", "vy", "vz")


@cache
def arm(name):
    return da.robot(name)


def apart(robot, q, target, link=None):
    """Distance in m and angle in rad between the hand and its target, by the logarithm."""
    T = robot.pose(q, link)
    turn = log_so3(np.swapaxes(T[..., :3, :3], -1, -2) @ target[..., :3, :3])
    return np.linalg.norm(T[..., :3, 3] - target[..., :3, 3], axis=-1), np.linalg.norm(turn, axis=-1)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("puma560", 500),
        ("panda", 500),
        *(pytest.param(name, 20_000, marks=pytest.mark.slow) for name in ("puma560", "ur5", "panda", "xarm7", "stanford")),
    ],
)
def test_all_random_poses_are_reached(name, count):
    robot = arm(name)
    target = robot.pose(robot.random_configuration(1, count))
    found = robot.inverse_kinematics(target)
    assert found.solved.all() and found.q.shape == (count, robot.n)
    assert (found.q >= robot.lower).all() and (found.q <= robot.upper).all()
    distance, angle = apart(robot, found.q, target)
    assert max(distance.max(), angle.max()) < 1.01e-10
    np.testing.assert_allclose(found.distance, distance, atol=3e-15)  # what is returned was measured
    np.testing.assert_allclose(found.angle, angle, atol=3e-15)
    assert np.median(found.error) < 1e-14


def test_the_derivative_of_what_is_left():
    robot = arm("puma560")
    q, target = robot.random_configuration(1), robot.pose(robot.random_configuration(2))
    for frame in ("world_aligned", "body"):
        both = trace(lambda q, T, f=frame: _left(robot, q, T, None, f), {"q": (6,), "T": (4, 4)}, outputs=("left", "A"))
        only = trace(lambda q, T, f=frame: _left(robot, q, T, None, f)[0], {"q": (6,), "T": (4, 4)})
        slope = da.replay(da.differentiate(only, ["q"]), {"q": q, "T": target})
        left, A = da.replay(both, {"q": q, "T": target})
        np.testing.assert_allclose(A, -slope, atol=1e-14)
        np.testing.assert_allclose(np.linalg.norm(left[:3]), 2 * np.sin(apart(robot, q, target)[1] / 2), rtol=1e-13)


def test_quaternions_of_all_rotations():
    turns = [np.array(axis) * angle for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)) for angle in (0, 0.1, 2, np.pi)]
    for w in turns:
        q = quaternion(da.algebra.exp_so3(w))
        assert q[0] >= -1e-16
        size = np.linalg.norm(w)
        np.testing.assert_allclose(abs(q[1:]), abs(np.sin(size / 2) * w / (size or 1)), atol=1e-15)


def test_half_turns_are_not_taken_for_nothing():
    robot = arm("puma560")
    q = np.array([0.1, -0.4, 0.7, 0.2, 0.5, 0.3])
    for joint in (3, 5):
        goal = q + np.pi * np.eye(6)[joint]
        found = robot.inverse_kinematics(robot.pose(goal), q0=q)
        assert found.solved and max(apart(robot, found.q, robot.pose(goal))) < 1e-10


def test_alone_and_in_a_batch_are_the_same():
    robot = arm("puma560")
    target = robot.pose(robot.random_configuration(3, 700))  # more than there are places at once
    many = robot.inverse_kinematics(target)
    assert many.starts.max() > 3
    for k in (0, 1, int(np.argmax(many.starts)), 699):
        np.testing.assert_array_equal(robot.inverse_kinematics(target[k]).q, many.q[k])
    da.set_threads(3)
    try:
        again = robot.inverse_kinematics(np.tile(target, (6, 1, 1)))
    finally:
        da.set_threads(None)
    np.testing.assert_array_equal(again.q, np.tile(many.q, (6, 1)))


def test_poses_and_starts_broadcast():
    robot = arm("two_link")
    target, q0 = robot.pose([[[0.1, 0.7]], [[0.3, 0.5]], [[0.2, 0.9]]]), [[0.1, 0.5], [0.5, -0.5]]
    found = robot.inverse_kinematics(target, q0=q0, rows=("vx", "vy"))
    assert found.q.shape == (3, 2, 2) and found.solved.shape == found.error.shape == (3, 2) and found.pose.shape == (3, 2, 4, 4)
    assert (np.sign(found.q[..., 1]) == [1, -1]).all()  # each start has its own elbow
    np.testing.assert_allclose(found.pose[..., :3, 3], np.broadcast_to(target[..., :3, 3], (3, 2, 3)), atol=1e-12)
    assert robot.inverse_kinematics(np.empty((0, 4, 4))).q.shape == (0, 2)
    one = robot.inverse_kinematics(da.Pose.coerce(target[0, 0]))
    assert one.q.shape == (2,) and np.ndim(one.solved) == 0
    pair = robot.inverse_kinematics([da.Pose.coerce(T) for T in target[:2, 0]])
    assert repr(pair) == "<InverseKinematics of two_link: 2 of 2 solved>"


def test_every_solution_of_the_textbook_arm():
    robot, (x, y) = arm("two_link"), (1.2, 0.5)  # lengths 1 and 1: the law of cosines
    elbow = np.arccos((x * x + y * y - 2) / 2)
    expected = [(np.arctan2(y, x) - s * elbow / 2, s * elbow) for s in (1, -1)]
    found = robot.inverse_kinematics([x, y, 0.0], rows=("vx", "vy"), every=True, q0=[0.0, -0.5])
    assert found.q.shape == (2, 2)
    np.testing.assert_allclose(found.q, expected[::-1], atol=1e-9)  # near q0 first


def test_every_solution_of_an_arm_with_offsets():
    robot = arm("ur5")
    q = np.array([0.1, -0.7, 0.9, 0.4, 0.5, 0.6])
    found = robot.inverse_kinematics(robot.pose(q), every=True, q0=q)
    assert len(found.q) == 8 and found.solved.all()
    np.testing.assert_allclose(found.q[0], q, atol=1e-12)
    turns = found.q[:, None] - found.q[None]
    assert (np.abs(turns - 2 * np.pi * np.rint(turns / (2 * np.pi))).max(axis=-1) + np.eye(8) > 0.01).all()
    with pytest.raises(da.Error, match="6 joints for 3 rows, so infinitely many solutions"):
        robot.inverse_kinematics([0.4, 0.2, 0.3], every=True)
    with pytest.raises(da.Error, match="one pose and one q0 at a time"):
        robot.inverse_kinematics(np.tile(robot.pose(q), (2, 1, 1)), every=True)
    far = robot.inverse_kinematics(da.Pose.of((3.0, 0, 0)), every=True, starts=8)
    assert far.q.shape == (1, 6) and not far.solved.any()


def test_out_of_reach():
    robot = arm("two_link")
    found = robot.inverse_kinematics([0.0, 3.0, 0.0])
    assert not found.solved and repr(found).endswith("not reached, the nearest pose is 1 m away>")
    np.testing.assert_allclose(found.distance, 1.0, rtol=1e-12)
    np.testing.assert_allclose(found.pose[:3, 3], [0, 2, 0], atol=1e-6)
    np.testing.assert_allclose(robot.inverse_kinematics([0.0, 300.0, 0.4]).distance, np.hypot(298, 0.4), rtol=1e-10)


@pytest.mark.slow
def test_the_nearest_pose_is_nearest():
    robot, rng = arm("puma560"), np.random.default_rng(0)
    for target in rng.uniform(-1.2, 1.2, (6, 3)):
        found = robot.inverse_kinematics(target)
        starts = robot.random_configuration(rng, 20)
        others = [
            least_squares(
                lambda q, p=target: robot.pose(q)[:3, 3] - p, q, bounds=(robot.lower, robot.upper), xtol=1e-12, ftol=1e-12
            )
            for q in starts
        ]
        nearest = min(np.linalg.norm(x.fun) for x in others)
        assert found.distance <= nearest + 1e-7 and (found.solved == (nearest < 1e-8))


def test_limits():
    robot = arm("puma560")
    goal = robot.upper + 0.3
    beyond = robot.inverse_kinematics(robot.pose(goal), q0=goal, limits=False, starts=1)
    assert beyond.solved
    np.testing.assert_allclose(beyond.q, goal, atol=1e-9)
    inside = robot.inverse_kinematics(robot.pose(goal))
    assert (inside.q >= robot.lower).all() and (inside.q <= robot.upper).all()


def test_chosen_rows():
    robot = arm("puma560")
    target = robot.pose(robot.random_configuration(4, 50))
    drill = robot.inverse_kinematics(target, rows=("wx", "wy", *POSITION), frame="body")
    assert drill.solved.all()
    np.testing.assert_allclose(drill.pose[..., 2:], target[..., 2:], atol=1e-9)  # the z axis and the origin
    assert np.abs(drill.pose[..., 0] - target[..., 0]).max() > 0.1
    points = robot.inverse_kinematics(target[:, :3, 3])
    np.testing.assert_allclose(points.pose[:, :3, 3], target[:, :3, 3], atol=1e-9)
    np.testing.assert_array_equal(points.q, robot.inverse_kinematics(target, rows=POSITION).q)
    turned = robot.inverse_kinematics(target, rows=(0, 1, 2))
    np.testing.assert_allclose(turned.pose[:, :3, :3], target[:, :3, :3], atol=1e-9)
    assert (turned.distance == 0).all()


def test_a_posture():
    robot, posture = arm("panda"), np.array([0, -0.5, 0, -2, 0, 1.6, 0.7])
    target = robot.pose(posture + np.random.default_rng(0).uniform(-0.4, 0.4, (20, 7)))
    found, any_of = robot.inverse_kinematics(target, posture=posture), robot.inverse_kinematics(target)
    assert found.solved.all() and max(x.max() for x in apart(robot, found.q, target)) < 1.01e-10
    J = robot.jacobian(found.q)
    left = posture - found.q - np.matvec(np.linalg.pinv(J), np.matvec(J, posture - found.q))
    free = ((found.q > robot.lower + 1e-6) & (found.q < robot.upper - 1e-6)).all(axis=1)
    assert free.sum() > 15 and np.abs(left[free]).max() < 1e-6  # no way towards the posture is left that keeps the hand
    assert (np.linalg.norm(found.q - posture, axis=1) < np.linalg.norm(any_of.q - posture, axis=1) + 1e-9).all()


def test_joints_that_do_not_move_the_link_stay():
    robot = arm("panda")
    q0, q = robot.random_configuration(5), robot.random_configuration(6)
    found = robot.inverse_kinematics(robot.pose(q, "panda_link3")[:3, 3], "panda_link3", q0=q0)
    assert found.solved
    np.testing.assert_array_equal(found.q[3:], q0[3:])
    np.testing.assert_allclose(robot.pose(found.q, "panda_link3")[:3, 3], robot.pose(q, "panda_link3")[:3, 3], atol=1e-9)


def test_coupled_joints():
    robot = da.random_robot(3, "RPRRRRR").with_coupling({"joint7": {"joint3": 0.5, "joint4": -1.0}}, offset={"joint7": 0.2})
    target = robot.pose(robot.random_configuration(1, 20))
    found = robot.inverse_kinematics(target)
    assert found.solved.all() and found.q.shape == (20, 6)
    np.testing.assert_allclose(robot.uncoupled().pose(robot.to_uncoupled(found.q)), target, atol=1e-9)


def test_planar_joints():
    base = da.Link("cart", "base", da.Joint("slide", "planar"), inertia=da.Inertia.from_com(1.0, (0, 0, 0), 0.1))
    mast = da.Link("mast", "cart", da.Joint("lift", "prismatic"), inertia=da.Inertia.from_com(1.0, (0, 0, 0), 0.1))
    robot = da.Robot("cart", (base, mast))
    found = robot.inverse_kinematics(da.Pose.of((0.3, -0.4, 0.7), rpy=(0, 0, 0.5)))
    assert found.solved
    np.testing.assert_allclose(robot.pose(found.q)[:3, 3], [0.3, -0.4, 0.7], atol=1e-10)


def test_targets_that_are_no_numbers_stay_alone():
    robot = arm("two_link")
    target = robot.pose([[0.1, 0.7], [0.3, 0.5], [0.2, 0.9]])
    clean = robot.inverse_kinematics(target)
    dirty = target.copy()
    dirty[1] = np.nan
    found = robot.inverse_kinematics(dirty)
    assert np.isnan(found.q[1]).all() and not found.solved[1] and np.isnan(found.distance[1])
    np.testing.assert_array_equal(found.q[[0, 2]], clean.q[[0, 2]])
    dirty[1, 0, 3], dirty[1, :3, :3], dirty[1, 3] = np.inf, np.eye(3), (0, 0, 0, 1)
    assert np.isnan(robot.inverse_kinematics(dirty).q[1]).all()


def test_without_native_code():
    robot = arm("two_link")
    target = robot.pose(robot.random_configuration(1, 5))
    native, plain = (robot.inverse_kinematics(target, backend=backend) for backend in ("native", "numpy"))
    np.testing.assert_allclose(plain.q, native.q, atol=1e-9)
    assert plain.solved.all()


def test_rounded_rotations_are_made_right():
    robot = arm("puma560")
    target = robot.pose([0.1, -0.4, 0.7, 0.2, 0.5, 0.3])
    found = robot.inverse_kinematics(np.round(target, 7))
    assert found.solved and np.abs(found.pose - target).max() < 2e-7


def test_progress_is_told():
    told = []
    robot = arm("two_link")
    robot.inverse_kinematics(
        robot.pose(robot.random_configuration(1, 1500)), progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (1500, 1500) and [x for x, _ in told] == sorted(x for x, _ in told)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda r: r("four_bar").inverse_kinematics([0, 0, 0]),
            "inverse_kinematics does not support closed loops, which four_bar has",
        ),
        (
            lambda r: r("two_link").with_free_base().inverse_kinematics([0, 0, 0]),
            "those of the free joint 'base' of two_link are not",
        ),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], "base"), "no joint of two_link moves 'base'"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], "hand"), "unknown link or frame of two_link: 'hand'"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], rows=("wz", "vx")), "points have no rotation"),
        (lambda r: r("two_link").inverse_kinematics(2 * np.eye(4)), "the last row of each pose must be 0 0 0 1"),
        (lambda r: r("two_link").inverse_kinematics(np.diag([2, 1, 1, 1])), "is no rotation: R R.T differs from the identity by 3"),
        (lambda r: r("two_link").inverse_kinematics(np.diag([-1, 1, 1, 1])), "is a reflection"),
        (lambda r: r("two_link").inverse_kinematics([0, 0]), r"poses \(..., 4, 4\) or points \(..., 3\), got shape \(2,\)"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], q0=[0]), "q0 has shape"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], posture=[[0, 0]]), "posture must be 2 finite numbers"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], frame="world"), "unknown frame of inverse_kinematics: 'world'"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], tolerance=0), "tolerance must be positive"),
        (lambda r: r("two_link").inverse_kinematics([0, 0, 0], tolerance=2), "tolerance must be at most 1"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(da.Error, match=message):
        change(arm)


def test_it_is_one_program_for_all_limits():
    robot = arm("panda")
    joint = replace(robot.links[0].joint, lower=-0.1, upper=0.1)
    narrow = replace(robot, links=(replace(robot.links[0], joint=joint), *robot.links[1:]))
    assert robot.program(STEP).digest == narrow.program(STEP).digest
    assert len(robot.program(STEP).nodes) < 1300
    target = narrow.pose(narrow.random_configuration(1, 20))
    found = narrow.inverse_kinematics(target)
    assert found.solved.all() and np.abs(found.q[:, 0]).max() <= 0.1


def test_from_a_shell(capsys, tmp_path):
    robot = arm("two_link")
    assert main(["ik", "two_link", "--pose", "1.2,0.5,0", "--q0", "0,0.5"]) == 0
    out = capsys.readouterr().out
    assert "solved, off by" in out and f"{robot.inverse_kinematics([1.2, 0.5, 0], q0=[0, 0.5]).q[1]:.9g}" in out
    assert main(["ik", "two_link", "--pose", "-3,0,0"]) == 1
    assert "not reached, the nearest pose is 1 m away" in capsys.readouterr().out
    path = tmp_path / "q.csv"
    words = ["ik", "two_link", "-p", "1.2,0.5,0", "-p", "1,0.5,0", "--rows", "vx,vy", "--no-limits", "-o", str(path)]
    assert main(words) == 0
    assert io.StringIO(path.read_text()).readline().strip() == "q_joint1,q_joint2" and len(path.read_text().splitlines()) == 3
    assert main(["ik", "two_link", "-p", "1.2,0.5,0", "--rows", "vx,vy", "--every"]) == 0
    assert "q2: solved" in capsys.readouterr().out
    assert main(["ik", "two_link"]) == 2
    assert "ik needs a pose" in capsys.readouterr().err
    assert main(["ik", "two_link", "-p", "1,2,3", "-p", "1,2,3,0,0,0"]) == 2


@pytest.mark.parametrize("seed", *[sweep(range(4), quick=(0,))])
def test_random_arms(seed):
    robot = da.random_robot(seed, "RPRRHRR")
    target = robot.pose(robot.random_configuration(seed, 100))
    found = robot.inverse_kinematics(target)
    assert found.solved.all()
    assert max(x.max() for x in apart(robot, found.q, target)) < 1.01e-10
