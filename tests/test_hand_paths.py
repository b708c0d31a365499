"""Paths of the hand, and arms that follow them."""

import warnings
from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.algebra.rotations import log_so3, unskew

START, GOAL = da.Pose.of((0.45, -0.25, 0.3), rpy=(3.0, 0.0, 0.0)), da.Pose.of((0.45, 0.25, 0.3), rpy=(3.0, 0.0, 0.5))
VIA = da.Pose.of((0.55, 0.0, 0.6), rpy=(2.6, 0.3, 0.2))
POSTURE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
PATHS = {
    "line": da.line(START, GOAL, 4.0),
    "circle": da.circle(START, (0.45, -0.1, 0.3), (1, 0, 0), 4.0),
    "turning": da.circle(START, (0.45, -0.1, 0.3), (0, 0, 2), 4.0, angle=1.0, turning=True),
    "spline": da.pose_spline([0.0, 1.5, 4.0], [START, VIA, GOAL]),
}


@cache
def arm(name):
    return da.robot(name)


@pytest.mark.parametrize("name", PATHS)
def test_rates_are_derivatives(name):
    path, e = PATHS[name], 1e-5
    time = np.linspace(0.1, 3.9, 50)
    before, now, after = path(time - e), path(time), path(time + e)
    rate = (after.pose - before.pose) / (2 * e)
    omega = unskew(rate[:, :3, :3] @ np.swapaxes(now.pose[:, :3, :3], -1, -2))
    np.testing.assert_allclose(now.twist, np.concatenate([omega, rate[:, :3, 3]], axis=1), atol=1e-8)
    np.testing.assert_allclose(now.acceleration, (after.twist - before.twist) / (2 * e), atol=1e-7)


@pytest.mark.parametrize("name", PATHS)
def test_paths_are_rigid_and_rest_at_their_ends(name):
    path = PATHS[name]
    R = path(np.linspace(-1, 5, 40)).pose[:, :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    np.testing.assert_allclose(path(0.0).pose, START.matrix, atol=1e-14)
    assert np.abs(path([-0.5, 0.0, 4.0, 4.5]).twist).max() < 1e-14
    np.testing.assert_array_equal(path(5.0).pose, path(4.0).pose)
    assert path.sample(0.3).pose.shape == (15, 4, 4)


def test_a_line_is_straight_and_turns_evenly():
    poses = PATHS["line"](np.linspace(0, 4, 30)).pose
    assert np.abs(np.cross(poses[:, :3, 3] - START.translation, GOAL.translation - START.translation)).max() < 1e-15
    w = log_so3(poses[:, :3, :3] @ START.rotation.T)
    whole = log_so3(GOAL.rotation @ START.rotation.T)
    share = np.linalg.norm(poses[:, :3, 3] - START.translation, axis=1) / 0.5
    np.testing.assert_allclose(w, share[:, None] * whole, atol=1e-14)


def test_circles():
    poses = PATHS["circle"](np.linspace(0, 4, 30)).pose
    np.testing.assert_allclose(np.linalg.norm(poses[:, :3, 3] - [0.45, -0.1, 0.3], axis=1), 0.15, rtol=1e-14)
    np.testing.assert_array_equal(poses[:, :3, :3], np.broadcast_to(START.rotation, (30, 3, 3)))
    turned = PATHS["turning"](4.0).pose
    np.testing.assert_allclose(log_so3(turned[:3, :3] @ START.rotation.T), [0, 0, 1.0], atol=1e-14)


def test_a_spline_goes_through_its_poses():
    path = PATHS["spline"]
    np.testing.assert_allclose(path([0.0, 1.5, 4.0]).pose, [x.matrix for x in (START, VIA, GOAL)], atol=1e-14)
    jump = path(1.5 + 1e-9).acceleration - path(1.5 - 1e-9).acceleration
    assert np.abs(jump).max() < 1e-7


@pytest.mark.parametrize(("name", "posture"), [(name, p) for name in PATHS for p in (None, POSTURE)])
def test_the_arm_follows(name, posture):
    robot, path = arm("panda"), PATHS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.LimitWarning)  # joints may be too fast where nobody asked for a posture
        motion = robot.follow(path, posture=posture)
    wanted = path(motion.time)
    assert len(motion) == 401
    np.testing.assert_allclose(robot.pose(motion.q), wanted.pose, atol=1e-9)
    np.testing.assert_allclose(robot.twist(motion.q, motion.qd, frame="world_aligned"), wanted.twist, atol=1e-9)
    J, Jd = robot.jacobian(motion.q, frame="world_aligned"), robot.jacobian_rate(motion.q, motion.qd, frame="world_aligned")
    np.testing.assert_allclose(np.matvec(J, motion.qdd) + np.matvec(Jd, motion.qd), wanted.acceleration, atol=1e-9)
    np.testing.assert_allclose(motion.tau, robot.inverse_dynamics(motion.q, motion.qd, motion.qdd), rtol=1e-12)
    assert (motion.q >= robot.lower).all() and (motion.q <= robot.upper).all()


def test_velocities_are_derivatives_of_positions():
    motion = arm("panda").follow(PATHS["line"], posture=POSTURE, step=2e-3)
    h = motion.time[1]
    np.testing.assert_allclose((motion.q[2:] - motion.q[:-2]) / (2 * h), motion.qd[1:-1], atol=1e-5)
    np.testing.assert_allclose((motion.qd[2:] - motion.qd[:-2]) / (2 * h), motion.qdd[1:-1], atol=1e-3)


def test_a_tool_may_spin():
    robot = arm("puma560")
    start, goal = (da.Pose.of((0.5, y, 0.3), rpy=(0, 1.5, 0)) for y in (-0.2, 0.3))
    path = da.line(start, goal, 2.0)
    motion = robot.follow(path, rows=("wx", "wy", "vx", "vy", "vz"), frame="body", step=2e-3)
    wanted = path(motion.time)
    np.testing.assert_allclose(robot.pose(motion.q)[..., 2:], wanted.pose[..., 2:], atol=1e-9)  # z axis and origin
    np.testing.assert_allclose(robot.twist(motion.q, motion.qd, frame="world_aligned")[:, 3:], wanted.twist[:, 3:], atol=1e-9)
    h = motion.time[1]
    np.testing.assert_allclose((motion.q[2:] - motion.q[:-2]) / (2 * h), motion.qd[1:-1], atol=1e-4)
    np.testing.assert_allclose((motion.qd[2:] - motion.qd[:-2]) / (2 * h), motion.qdd[1:-1], atol=1e-2)


def test_singularities_are_told_with_time_and_place():
    robot, q = arm("puma560"), np.array([0.3, 0.4, 0.6, 0.2, 0.5, 0.1])
    begin, end = (da.Pose.coerce(robot.pose(q * [1, 1, 1, 1, s, 1])) for s in (1, -1))  # the wrist goes through its singularity
    with pytest.warns(da.SingularWarning, match=r"near a singularity at t = 1 s, where the hand is at \(") as told:
        motion = robot.follow(da.line(begin, end, 2.0), q0=q)
    assert len(told) == 1
    np.testing.assert_allclose(motion.events[0], [1.0])
    np.testing.assert_allclose(motion.q[[0, -1]], [q, q * [1, 1, 1, 1, -1, 1]], atol=1e-9)
    with pytest.warns(da.SingularWarning, match=r"at t = (0\.857|1\.14)"):  # between two samples, too
        robot.follow(da.line(begin, end, 2.0), q0=q, step=2.0 / 7)


def test_planar_and_coupled_arms():
    planar = arm("planar_3r")
    here = da.Pose.coerce(planar.pose([0.3, 0.6, 0.5]))
    path = da.line(here, da.Pose.coerce(planar.pose([0.5, 0.9, 0.2])), 1.0)
    motion = planar.follow(path, q0=[0.3, 0.6, 0.5])  # no warning of the directions that it never has
    np.testing.assert_allclose(planar.pose(motion.q), path(motion.time).pose, atol=1e-9)
    robot = da.random_robot(3, "RPRRRRR").with_coupling({"joint7": {"joint3": 0.5}})
    q = robot.random_configuration(3)
    path = da.line(robot.pose(q), robot.pose(q + 0.02), 1.0)
    motion = robot.follow(path, q0=q)
    np.testing.assert_allclose(robot.pose(motion.q), path(motion.time).pose, atol=1e-9)
    np.testing.assert_allclose(robot.twist(motion.q, motion.qd, frame="world_aligned"), path(motion.time).twist, atol=1e-9)


def test_what_cannot_be_followed_is_told():
    robot = arm("panda")
    out = da.line(START, da.Pose.of((0.95, 0.25, 0.3), rpy=(3.0, 0.0, 0.0)), 2.0)
    with pytest.raises(da.Error, match=r"panda cannot stay on the path at t = 1\.\d+ s: the nearest pose around is 0\.\d+ m"):
        robot.follow(out)
    with pytest.raises(da.Error, match="at t = 0 s"):
        robot.follow(da.line(da.Pose.of((2, 0, 0)), START, 1.0))
    two = arm("two_link")
    here = da.Pose.coerce(two.pose([0.3, 0.6]))
    with pytest.raises(da.Error, match=r"nearest pose around is 0\.\d+ m"):
        two.follow(da.line(here, da.Pose.of((2.5, 0.5, 0)), 1.0), rows=("vx", "vy", "vz"))
    with pytest.warns(da.LimitWarning, match=r"joint 'panda_joint\d' of panda moves at .* faster than its limit"):
        robot.follow(da.line(START, GOAL, 0.2), posture=POSTURE)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arm("panda").follow(da.quintic([0], [1], 1.0)), "follow takes a path of the hand"),
        (lambda: arm("panda").follow(3), "follow takes a path of the hand"),
        (
            lambda: arm("panda").follow(PATHS["line"], rows=("wx", "vx")),
            'frame="world_aligned" must have all of wx, wy, wz, or none',
        ),
        (lambda: arm("panda").follow(PATHS["line"], rows=("wx", "vx"), frame="body"), 'frame="body" must have all of vx, vy, vz'),
        (lambda: arm("panda").follow(PATHS["line"], q0=np.zeros((2, 7))), r"q0 must be one position \(7,\)"),
        (lambda: arm("panda").follow(PATHS["line"], step=0), "follow: step must be positive"),
        (lambda: arm("four_bar").follow(PATHS["line"]), "follow does not support closed loops"),
        (lambda: da.circle(START, (0, 0, 0), (0, 0, 0), 1.0), "the axis of a circle must have a direction"),
        (lambda: da.pose_spline([0, 1], [START]), "two or more poses, got 1"),
        (lambda: da.pose_spline([0, 1, 2], [START, GOAL]), "needs points"),
        (lambda: da.line(START, GOAL, 0.0), "the duration of a path must be positive"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(da.Error, match=message):
        call()
