"""Joint forces against 80-digit references, against each other, and against laws."""

import numpy as np
import pytest
from conftest import MOVING, REFERENCE, STRUCTURES, close, directly, reference_robot, some_methods, sweep, world_poses

import dalembert as da
from dalembert.formulations import formulation
from dalembert.model.reduce import reduced


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_on_floats(name, method):
    ref, robot = REFERENCE[name], reference_robot(name)
    close(directly(robot, method, ref["q"], ref["qd"], ref["qdd"]), ref["tau"], 1e-12)
    wrenches = np.zeros((robot.n, 6))
    wrenches[-1] = -np.array(ref["tip_wrench"]["F_exerted_by_robot_on_environment_body_frame_n_moment_first"])
    close(directly(robot, method, ref["q"], ref["qd"], ref["qdd"], wrenches=wrenches), ref["tip_wrench"]["tau"], 1e-12)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
def test_reference(name, method):
    ref, robot = REFERENCE[name], reference_robot(name)
    close(robot.inverse_dynamics(ref["q"], ref["qd"], ref["qdd"], method=method), ref["tau"], 1e-12)
    zero = np.zeros(robot.n)
    close(robot.inverse_dynamics(ref["q"], zero, zero, method=method), ref["g"], 1e-12)
    bias = np.add(ref["c"], ref["g"])
    close(robot.inverse_dynamics(ref["q"], ref["qd"], zero, method=method), bias, 1e-12)
    still = robot.with_gravity((0, 0, 0))
    columns = still.inverse_dynamics(ref["q"], zero, np.eye(robot.n), method=method).T
    close(columns, ref["M"], 1e-12)


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
@some_methods
def test_reference_tip_wrench(name, method):
    """The book's wrench is exerted BY the robot; ours acts ON it, so the sign turns."""
    ref, robot = REFERENCE[name], reference_robot(name)
    F = -np.array(ref["tip_wrench"]["F_exerted_by_robot_on_environment_body_frame_n_moment_first"])
    wrench = da.Wrench(moment=F[:3], force=F[3:])
    tau = robot.inverse_dynamics(ref["q"], ref["qd"], ref["qdd"], wrenches={robot.link_names[-1]: wrench}, method=method)
    close(tau, ref["tip_wrench"]["tau"], 1e-12)


def test_zoo_matches_reference():
    for name, known in (("two_link", "FGL_2R"), ("puma560", "PUMA560")):
        ref, robot = REFERENCE[known], da.robot(name)
        close(robot.inverse_dynamics(ref["q"], ref["qd"], ref["qdd"]), ref["tau"], 1e-12)
        assert np.array_equal(robot.gravity, ref["gravity_vector"])


def test_published_puma_figures():
    """Robotics Toolbox prints gravload(qn) and the diagonal of inertia(qn) with rotors."""
    ref = REFERENCE["PUMA560"]
    arm, q, zero = da.robot("puma560"), np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0]), np.zeros(6)
    close(arm.inverse_dynamics(q, zero, zero), [0, 31.6399, 6.0351, 0, 0.0283, 0], 5e-6)
    geared = arm.with_armature(ref["optional_rotor_inertia_G2Jm"]).with_gravity((0, 0, 0))
    M = geared.inverse_dynamics(q, zero, np.eye(6))
    close(M, ref["published_check_at_qn"]["M_plus_rotor_diag"], 1e-12)
    close(np.diag(M), [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941], 5e-5)


def test_rp_problem_3_18(method):
    """(m1 r1^2 + m2 d^2) theta'' + 2 m2 d d' theta' + g (m1 r1 + m2 d) cos theta; m2 (d'' - d theta'^2 + g sin theta)."""
    m1, r1, m2, g = 2.0, 0.5, 1.0, 9.8062
    theta, d, thetad, dd, thetadd, ddd = 0.3, 0.8, -0.7, 0.4, 1.1, -0.6
    tau = da.robot("rp").inverse_dynamics([theta, d], [thetad, dd], [thetadd, ddd], method=method)
    torque = (m1 * r1**2 + m2 * d**2) * thetadd + 2 * m2 * d * dd * thetad + g * (m1 * r1 + m2 * d) * np.cos(theta)
    close(tau, [torque, m2 * (ddd - d * thetad**2 + g * np.sin(theta))], 1e-14)


def test_inverted_gravity_is_upside_down(method):
    arm = da.robot("puma560")
    flipped = arm.with_base(da.Pose.of(rpy=(np.pi, 0, 0)))
    q, zero = arm.random_configuration(3), np.zeros(6)
    close(directly(flipped, method, q, zero, zero), -directly(arm, method, q, zero, zero), 1e-12)


def random_structures(count):
    rng = np.random.default_rng(2024)
    for seed in range(count):
        n = int(rng.integers(1, 9))
        joints = "".join(rng.choice(list("RPH"), n))
        parents = None if seed % 2 else tuple(int(rng.integers(-1, i)) if i else -1 for i in range(n))
        yield seed, joints, parents


def inputs(robot, seed):
    rng = np.random.default_rng(seed)
    n = robot.n
    q, qd, qdd = rng.uniform(-2, 2, (3, n))
    return (
        q,
        qd,
        qdd,
        {
            "wrenches": rng.uniform(-5, 5, (n, 6)),
            "base_twist": rng.uniform(-1, 1, 6),
            "base_acceleration": rng.uniform(-1, 1, 6),
        },
    )


@pytest.mark.parametrize("part", sweep(range(25), quick=(0,)))
def test_formulations_equal_on_200_random_robots(part):
    for seed, joints, parents in list(random_structures(200))[part::25]:
        robot = da.random_robot(seed, joints, parents)
        q, qd, qdd, options = inputs(robot, seed)
        still = {"wrenches": options["wrenches"]}
        for given in ({}, still, options):
            expected = directly(robot, "newton_euler", q, qd, qdd, **given)
            for m in MOVING if "base_twist" in given else da.methods("inverse_dynamics"):
                close(directly(robot, m, q, qd, qdd, **given), expected, 1e-12)
        close(
            formulation("inverse_dynamics", "newton_euler")(reduced(robot.tree), q, qd, qdd),
            directly(robot, "newton_euler", q, qd, qdd),
            1e-12,
        )


def test_only_some_methods_take_a_moving_base():
    arm = da.robot("two_link")
    assert {"newton_euler", "newton_euler_base", "lie_group", "lie_group_com", "stacked_operators"} <= set(MOVING)
    with pytest.raises(da.Error, match="uicker_kahn does not accept base_twist; these methods do: newton_euler"):
        arm.inverse_dynamics([0, 0], [0, 0], [0, 0], base_twist=np.zeros(6), method="uicker_kahn")


@pytest.mark.parametrize(("joints", "parents"), STRUCTURES)
def test_power_balance(joints, parents, method):
    """Without gravity, the power of the joints is the rate of the kinetic energy 1/2 qd^T M qd."""
    robot = da.random_robot(5, joints, parents).with_gravity((0, 0, 0))
    q, qd, qdd, _ = inputs(robot, 8)

    def energy(t):
        q_t, qd_t = q + qd * t + qdd * t * t / 2, qd + qdd * t
        M = directly(robot, method, q_t, np.zeros(robot.n), np.eye(robot.n))
        return 0.5 * qd_t @ M @ qd_t

    h = 1e-20  # complex step: no cancellation
    rate = energy(1j * h).imag / h
    close(qd @ directly(robot, method, q, qd, qdd), rate, 1e-12)


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
@pytest.mark.parametrize("method", MOVING)
def test_moving_base_is_a_moving_link(joints, parents, method):
    """A robot on a turntable with a lift equals the same robot with two more joints below it."""
    robot = da.random_robot(11, joints, parents).with_base(np.eye(4))
    turntable = [
        da.Link("table", "ground", da.Joint("turn")),
        da.Link("lift", "table", da.Joint("rise", "prismatic")),
    ]
    moved = [
        da.Link(x.name, "lift" if x.parent == "base" else x.parent, x.joint, x.before, x.after, x.inertia) for x in robot.links
    ]
    carried = da.Robot("carried", (*turntable, *moved), gravity=robot.gravity, base_name="ground")
    q, qd, qdd, _options = inputs(robot, 3)
    w, v, wd, a = 0.7, -0.4, 1.3, 0.6
    below = carried.inverse_dynamics([0.0, 0.0, *q], [w, v, *qd], [wd, a, *qdd], method=method, backend="numpy")[2:]
    tau = robot.inverse_dynamics(
        q, qd, qdd, base_twist=[0, 0, w, 0, 0, v], base_acceleration=[0, 0, wd, 0, 0, a], method=method, backend="numpy"
    )
    close(tau, below, 1e-12)


@pytest.mark.parametrize("frame", ["body", "world_aligned", "world"])
def test_wrench_frames(frame):
    """A hanging mass is a payload, however the wrench is written down."""
    arm = da.robot("panda").without_friction().with_base(da.Pose.of((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)))
    q = arm.random_configuration(1)
    zero = np.zeros(7)
    point = np.array([0.02, -0.01, 0.05])
    loaded = arm.with_payload(0.7, point, link="panda_hand").inverse_dynamics(q, zero, zero)

    hand = arm.locate("panda_hand")[1]
    link7 = world_poses(arm, q)[6]
    R, p = link7.rotation @ hand.rotation, link7.rotation @ hand.translation + link7.translation
    weight = 0.7 * arm.gravity
    wrench = {
        "body": da.Wrench(force=R.T @ weight, point=point),
        "world_aligned": da.Wrench(force=weight, point=point, frame="world_aligned"),
        "world": da.Wrench(force=weight, point=R @ point + p, frame="world"),
    }[frame]
    close(arm.inverse_dynamics(q, zero, zero, wrenches={"panda_hand": wrench}), loaded, 1e-13)


def test_batched_wrenches():
    arm = da.robot("panda")
    q = arm.random_configuration(1, 4)
    force = np.arange(12.0).reshape(4, 3)
    zero = np.zeros(7)
    together = arm.inverse_dynamics(q, zero, zero, wrenches={"panda_hand": da.Wrench(force=force, frame="world")})
    for k in range(4):
        alone = arm.inverse_dynamics(q[k], zero, zero, wrenches={"panda_hand": da.Wrench(force=force[k], frame="world")})
        close(together[k], alone, 1e-14)


def test_friction_and_armature():
    plain = da.robot("puma560")
    q, qd, qdd = plain.random_configuration(0), np.array([1.0, -2.0, 0.0, 0.5, -0.5, 1.0]), np.arange(6.0)
    arm = plain.with_friction(damping=0.5, coulomb={"joint2": 3.0}).with_armature([0.1] * 6)
    extra = 0.5 * qd + 3.0 * np.array([0, -1, 0, 0, 0, 0]) + 0.1 * qdd
    close(arm.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd), extra, 1e-13)
    assert arm.without_friction().without_armature() == plain
    assert arm.operation_count("inverse_dynamics") == plain.operation_count("inverse_dynamics")


@pytest.mark.parametrize("batch", [(), (1,), (3, 1, 2), (0, 4)])
@some_methods
def test_batch_shapes(batch, method):
    robot = da.random_robot(1, "RPH")
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, *batch, 3))
    tau = robot.inverse_dynamics(q, qd, qdd, method=method)
    assert tau.shape == (*batch, 3)
    for index in np.ndindex(*batch):
        assert np.array_equal(tau[index], robot.inverse_dynamics(q[index], qd[index], qdd[index], method=method))


def test_broadcasting_mixed_batches():
    robot = da.random_robot(1, "RP")
    q, qd, qdd = np.zeros((3, 1, 2)), np.ones((4, 2)), np.zeros(2)
    wrenches = np.zeros((5, 1, 1, 2, 6))
    assert robot.inverse_dynamics(q, qd, qdd, wrenches=wrenches).shape == (5, 3, 4, 2)


def test_out_and_dtypes():
    robot = da.random_robot(1, "RPR")
    q = np.random.default_rng(0).uniform(-1, 1, (6, 3))
    expected = robot.inverse_dynamics(q, q, q)
    out = np.empty((6, 3))
    assert robot.inverse_dynamics(q, q, q, out=out) is out
    assert np.array_equal(out, expected)
    aliased = q.copy()
    assert np.array_equal(robot.inverse_dynamics(aliased, aliased, aliased, out=aliased), expected)
    wide = np.zeros((6, 6))
    wide[:, ::2] = q
    assert np.array_equal(robot.inverse_dynamics(wide[:, ::2], q, q), expected)
    close(robot.inverse_dynamics(q.astype(np.float32), q, q), expected, 1e-6)
    assert robot.inverse_dynamics([0, 1, 0], [0, 0, 0], [0, 0, 0]).dtype == float


def test_no_joints():
    robot = da.Robot("stone", ())
    assert robot.inverse_dynamics([], [], []).shape == (0,)
    assert robot.inverse_dynamics(np.zeros((2, 3, 0)), np.zeros(0), np.zeros(0)).shape == (2, 3, 0)


def test_nan_stays_in_its_state():
    robot = da.robot("puma560")
    q = robot.random_configuration(0, 5)
    clean = robot.inverse_dynamics(q, q, q)
    q[2, 1] = np.nan
    dirty = robot.inverse_dynamics(q, q, q)
    keep = [0, 1, 3, 4]
    assert np.array_equal(dirty[keep], clean[keep])
    assert np.isnan(dirty[2]).any()
