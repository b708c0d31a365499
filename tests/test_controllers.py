"""Controllers: the laws of their closed loops, on robots they know and on robots they do not."""

import pickle

import numpy as np
import pytest
from conftest import close, sweep

import dalembert as da
from dalembert.control.controllers import (
    ComputedTorque,
    GravityPD,
    SlotineLi,
    TaskSpaceControl,
    rotation_vector,
    slotine_li_regressor,
)
from dalembert.motion.paths import Motion, quintic, spline

rng = np.random.default_rng(4)
WORLD = {"frame": "world_aligned"}


@pytest.fixture(autouse=True)
def same_numbers():
    """Every test draws the same numbers, whichever others run."""
    global rng
    rng = np.random.default_rng(4)


def simulate(robot, controller, q, qd, duration, step=5e-3):
    """Times, positions, velocities and memories of the closed loop."""
    done = robot.simulate(q, qd, duration, torque=controller, step=step)
    return done.time, done.q, done.qd, done.memory


def states(robot, shape=()):
    return rng.uniform(-1, 1, (2, *shape, robot.n))


def robots():
    yield da.robot("two_link").with_friction(damping=0.3, coulomb=0.2)
    yield da.robot("puma560").with_armature(0.2)
    yield da.random_robot(3, "RPHR", (-1, -1, 0, 0)).with_friction(damping=0.1, coulomb=0.4).with_armature(0.1)


@pytest.fixture(params=sweep(robots(), quick=(0, 2)), ids=lambda robot: robot.name)
def robot(request):
    return request.param


def moving(n):
    """A path of n coordinates without an end, as a user may write one."""

    class Waves:
        duration, k = np.inf, np.arange(1.0, n + 1)

        def __call__(self, time):
            phase = np.multiply.outer(time, self.k) + self.k
            return Motion(0.4 * np.sin(phase), 0.4 * self.k * np.cos(phase), -0.4 * self.k**2 * np.sin(phase))

    Waves.n = n
    return Waves()


def spd(n, least=1.0):
    A = rng.normal(size=(n, n))
    return A @ A.T + least * np.eye(n)


# --- PD with gravity ----------------------------------------------------------------------------------------------------------


def test_gravity_pd_takes_away_energy_as_damping_and_friction_do(robot):
    kp, kd = spd(robot.n), spd(robot.n)
    q, qd = states(robot, (50,))
    target = rng.uniform(-1, 1, robot.n)
    qdd = robot.forward_dynamics(q, qd, GravityPD(robot, target, kp, kd)(0.0, q, qd))
    M, Mdot, e = robot.mass_matrix(q), robot.mass_matrix_rate(q, qd), target - q
    dots = np.einsum("...i,...i->...", qd, np.matvec(M, qdd) + np.matvec(Mdot, qd) / 2 - e @ kp)
    close(dots, -np.einsum("...i,...i->...", qd, qd @ kd + robot.friction_force(qd)), 1e-11)


def test_gravity_pd_reaches_its_target_while_its_energy_decreases():
    arm = da.robot("puma560").with_armature([1.14, 4.71, 0.83, 0.2, 0.18, 0.19])
    target, (q, qd) = np.array([0.5, -0.4, 0.3, 0.2, 0.7, -0.3]), states(arm)
    kp, kd = np.array([300.0, 400, 200, 20, 20, 10]), np.array([80.0, 80, 40, 4, 4, 2])
    _, q, qd, _ = simulate(arm, GravityPD(arm, target, kp, kd), q, qd, 4.0, 2e-3)
    V = arm.kinetic_energy(q, qd) + ((target - q) ** 2 @ kp) / 2
    assert (np.diff(V) <= 1e-9).all() and V[-1] < 1e-4 * V[0]
    close(q[-1], target, 2e-3)
    assert np.abs(q[0] - target).max() > 0.3


def test_gravity_pd_needs_no_masses_of_a_robot_without_weight():
    """Where there is no gravity, any model of it will do."""
    flying, guess = da.robot("two_link").with_gravity((0, 0, 0)), da.robot("two_link").with_payload(5.0).with_gravity((0, 0, 0))
    _, q, qd, _ = simulate(flying, GravityPD(guess, [1.0, -1.0], 20.0, 10.0), np.zeros(2), np.zeros(2), 12.0)
    close(q[-1], [1.0, -1.0], 1e-4)
    assert np.abs(qd[-1]).max() < 1e-3


# --- computed torque ----------------------------------------------------------------------------------------------------------


def test_computed_torque_makes_the_errors_linear(robot):
    path, kp, kd = moving(robot.n), spd(robot.n), spd(robot.n)
    q, qd = states(robot, (3, 1, 2))
    qdd = robot.forward_dynamics(q, qd, ComputedTorque(robot, path, kp, kd)(0.7, q, qd))
    wanted = path(0.7)
    close(wanted.qdd - qdd + (wanted.qd - qd) @ kd.T + (wanted.q - q) @ kp.T, np.zeros(qdd.shape), 1e-9, scale=np.abs(qdd).max())


def test_computed_torque_errors_follow_their_own_equation():
    """e'' + 2 z w e' + w^2 e = 0, with the solution of every textbook: over-, under- and critically damped joints."""
    arm = da.robot("planar_3r").with_friction(damping=0.5).with_armature(0.05)
    w, z = np.array([6.0, 9.0, 5.0]), np.array([1.0, 0.3, 1.5])
    path = quintic([0.1, 0.2, -0.5], [1.0, -1.0, 0.7], 1.0)
    e0, ed0 = np.array([0.3, -0.4, 0.2]), np.array([-0.5, 0.8, 1.0])
    t, q, _, _ = simulate(arm, ComputedTorque(arm, path, w**2, 2 * z * w), path(0).q - e0, path(0).qd - ed0, 1.5, 2e-3)
    root = w * np.sqrt(z**2 - 1 + 0j)
    t = t[:, None]
    with np.errstate(all="ignore"):
        slow = np.where(z == 1, t, np.sinh(root * t) / root)
    e = np.exp(-z * w * t) * (e0 * np.cosh(root * t) + (ed0 + z * w * e0) * slow)
    close(path(t[:, 0]).q - q, e.real, 1e-7)


def test_computed_torque_of_a_wrong_model_is_off():
    """The steady error under a forgotten load is M^-1 (g_true - g) / kp, to first order: not zero."""
    arm, path = da.robot("two_link"), quintic([0.0, 0.5], [0.5, 1.0], 1.0)
    ends = []
    for robot in (arm, arm.with_payload(0.2)):
        _, q, qd, _ = simulate(robot, ComputedTorque(arm, path, 400.0, 40.0), *path(0.0)[:2], 3.0)
        ends.append(path(9.0).q - q[-1])
        assert np.abs(qd[-1]).max() < 1e-6
    missing = arm.with_payload(0.2).gravity_force(path(9.0).q - ends[1]) - arm.gravity_force(path(9.0).q - ends[1])
    assert np.abs(ends[0]).max() < 1e-7
    close(arm.mass_matrix(path(9.0).q - ends[1]) @ ends[1] * 400.0, missing, 1e-6)


# --- task space ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "link"),
    sweep(
        [
            ("two_link", ("vx", "vy"), None),
            ("planar_3r", ("vx", "vy"), None),
            ("puma560", ("vx", "vy", "vz"), None),
            ("puma560", ("wx", "wy", "wz", "vx", "vy", "vz"), None),
            ("panda", ("vz", "vx", "wy"), "panda_hand_tcp"),
        ],
        quick=(1,),
    ),
)
def test_task_space_accelerations_are_the_wanted_ones(name, rows, link):
    robot = da.robot(name).with_friction(damping=0.4, coulomb=0.1).with_armature(0.1)
    k, index = len(rows), [("wx", "wy", "wz", "vx", "vy", "vz").index(row) for row in rows]
    kp, kd, path, point = spd(k), spd(k), moving(3), (0.1, 0.0, 0.05) if robot.n > 3 else None
    turned = robot.pose(states(robot)[0], link)[:3, :3]
    control = TaskSpaceControl(robot, path, kp, kd, link, point, rows=rows, rotation=turned)
    q, qd = states(robot, (4, 2))
    q[..., 1] += np.pi / 2 * (robot.n < 4)  # away from the stretched arm
    qdd = robot.forward_dynamics(q, qd, control(0.4, q, qd))
    J, rate = robot.jacobian(q, link, **WORLD, point=point), robot.jacobian_rate(q, qd, link, **WORLD, point=point)
    pose, wanted = robot.pose(q, link, point=point), path(0.4)
    pad = np.zeros(3)
    turn = np.array([[log(turned @ one[:3, :3].T) for one in row] for row in pose])
    e = np.concatenate([turn, wanted.q - pose[..., :3, 3]], axis=-1)[..., index]
    ed = np.concatenate([pad, wanted.qd])[index] - np.matvec(J, qd)[..., index]
    a = np.concatenate([pad, wanted.qdd])[index] + ed @ kd.T + e @ kp.T
    close((np.matvec(J, qdd) + np.matvec(rate, qd))[..., index], a, 1e-7)


def log(R):
    """Axis times angle from the quaternion, another way than the library's."""
    values, vectors = np.linalg.eigh(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R.trace()],
        ]
    )
    x = vectors[:, values.argmax()]
    x = x * (np.sign(x[3]) or 1.0)
    length = np.linalg.norm(x[:3])
    return 2 * np.arctan2(length, x[3]) * x[:3] / length if length else x[:3]


def test_rotation_vectors():
    for angle in (0.0, 1e-9, 1e-3, 2.0, 3.1, np.pi - 1e-7):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        K = np.cross(np.eye(3), axis)
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        close(rotation_vector(R), angle * axis, 1e-8, scale=1.0)
        close(log(R), angle * axis, 1e-7, scale=1.0)


@pytest.mark.slow
def test_task_space_reaches_the_point_along_a_straight_line():
    arm, q = da.robot("puma560"), np.array([0.3, -0.6, 0.4, 0.2, 0.8, 0.1])
    start = arm.pose(q)[:3, 3]
    goal = start + np.array([0.1, -0.25, 0.2])
    rows, R = ("wx", "wy", "wz", "vx", "vy", "vz"), arm.pose(q)[:3, :3]
    control = TaskSpaceControl(arm, quintic(start, goal, 1.0), 100.0, 20.0, rows=rows, rotation=R)
    _, q, qd, _ = simulate(arm, control, q, 0 * q, 1.2, 1e-2)
    pose = arm.pose(q)
    close(pose[-1, :3, 3], goal, 1e-6)
    close(pose[:, :3, :3], np.broadcast_to(R, pose[:, :3, :3].shape), 1e-6)
    along, offset = (goal - start) / np.linalg.norm(goal - start), pose[:, :3, 3] - start
    assert np.abs(offset - np.outer(offset @ along, along)).max() < 1e-6
    assert np.ptp(offset @ along) > 0.3 and np.abs(qd[-1]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(["planar_3r", "panda"], quick=(0,)))
def test_task_space_brings_redundant_arms_to_rest(name):
    """The point is where it should be, and what moves without moving it dies out as it should."""
    arm = da.robot(name)
    q = np.array([0.2, 0.7, -0.5]) if arm.n == 3 else np.array([0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.3])
    rows = ("vx", "vy") if arm.n == 3 else ("vx", "vy", "vz")
    k, place = len(rows), arm.pose(q)[:3, 3]
    J = arm.jacobian(q, **WORLD)[3 : 3 + k]
    qd = np.linalg.svd(J)[2][-1] * 1.5  # the point rests, the arm does not
    t, q, qd, _ = simulate(arm, TaskSpaceControl(arm, place, 100.0, 20.0, rows=rows, null_damping=3.0), q, qd, 3.0, 1e-2)
    close(arm.pose(q)[:, :3, 3], np.broadcast_to(place, (len(q), 3)), 1e-6)
    assert np.linalg.norm(qd[0]) > 1 and np.linalg.norm(qd[-1]) < 1e-3
    assert np.ptp(q, axis=0).max() > 0.2
    energy = arm.kinetic_energy(q, qd)
    close(energy, energy[0] * np.exp(-6.0 * t), 1e-5)


@pytest.mark.slow
def test_task_space_damping_keeps_a_stretched_arm_finite():
    arm, q, qd = da.robot("two_link"), np.zeros(2), np.zeros(2)
    options = {"rows": ("vx", "vy")}
    with pytest.raises(da.Error, match="singular"):
        TaskSpaceControl(arm, [1.9, 0.0, 0.0], 100.0, 20.0, **options)(0.0, q, qd)
    control = TaskSpaceControl(arm, [1.2, 0.9, 0.0], 100.0, 20.0, **options, damping=0.3)
    assert np.isfinite(control(0.0, q, qd)).all()
    _, q, _, _ = simulate(arm, control, np.array([0.0, 1e-3]), qd, 4.0, 1e-2)
    close(arm.pose(q[-1])[:2, 3], [1.2, 0.9], 1e-3)


def test_task_space_with_damping_still_carries_the_weight():
    arm, q = da.robot("panda"), np.array([0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.3])
    control = TaskSpaceControl(arm, arm.pose(q)[:3, 3], 50.0, 10.0, damping=0.5)
    close(control(0.0, q, 0 * q), arm.gravity_force(q), 1e-10)


# --- Slotine and Li -----------------------------------------------------------------------------------------------------------


def test_the_regressor_of_slotine_and_li(robot):
    q, qd, qd_r, qdd_r = rng.uniform(-1, 1, (4, 3, 2, robot.n))
    Y, p = slotine_li_regressor(robot, q, qd, qd_r, qdd_r), robot.regressor_parameters(friction=True, armature=True).values
    tau = np.matvec(robot.mass_matrix(q), qdd_r) + np.matvec(robot.coriolis_matrix(q, qd), qd_r)
    close(Y @ p, tau + robot.gravity_force(q) + robot.friction_force(qd_r), 1e-12)
    close(slotine_li_regressor(robot, q, qd, qd, qdd_r), robot.regressor(q, qd, qdd_r, friction=True, armature=True), 1e-12)
    # and not only for this robot's parameters
    other = robot.with_parameters(p[: 10 * robot.n] * np.repeat(rng.uniform(0.5, 2, robot.n), 10), check=False).with_armature(0.7)
    p = other.regressor_parameters(friction=True, armature=True).values
    tau = np.matvec(other.mass_matrix(q), qdd_r) + np.matvec(other.coriolis_matrix(q, qd), qd_r)
    close(Y @ p, tau + other.gravity_force(q) + other.friction_force(qd_r), 1e-12)


def lyapunov(robot, control, t, q, qd, memory, truth):
    """V = s^T M s / 2 + p~^T rate^-1 p~ / 2, and s."""
    wanted, slope = control.path(t), control.slope * np.eye(robot.n)
    s = qd - wanted.qd - (wanted.q - q) @ slope.T
    error, rate = memory - truth, control.rate * np.eye(memory.shape[-1])
    return (np.vecdot(s, np.matvec(robot.mass_matrix(q), s)) + np.vecdot(error, error @ np.linalg.inv(rate))) / 2, s


def test_slotine_li_lyapunov_function_falls_as_it_should():
    """V' = -s^T gain s - s^T (friction(qd) - friction(qd_r)), by a difference in time of the closed loop."""
    arm = da.robot("two_link").with_friction(damping=0.3, coulomb=0.2).with_armature(0.1)
    truth = arm.parameters()
    guess = arm.with_parameters(truth * np.repeat([0.6, 1.8], 10), check=False)
    control = SlotineLi(guess, moving(2), slope=3.0, gain=[4.0, 2.0], rate=rng.uniform(0.5, 2, 20))
    for _ in range(10):
        q, qd = states(arm)
        memory, t, h = guess.parameters() + rng.normal(size=20), 0.6, 1e-5
        tau, learning = control(t, q, qd, memory)
        qdd = arm.forward_dynamics(q, qd, tau)
        V, s = zip(
            *(
                lyapunov(arm, control, t + k, q + k * qd + k * k / 2 * qdd, qd + k * qdd, memory + k * learning, truth)
                for k in (-h, 0, h)
            ),
            strict=True,
        )
        qd_r = qd - s[1]
        fall = -s[1] @ (control.gain * s[1]) - s[1] @ (arm.friction_force(qd) - arm.friction_force(qd_r))
        assert fall < 0
        assert (V[2] - V[0]) / (2 * h) == pytest.approx(fall, rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_slotine_li_tracks_what_it_does_not_know():
    arm = da.robot("two_link")
    guess = arm.with_parameters(arm.parameters() * np.repeat([0.5, 2.0], 10))
    control, blind = (SlotineLi(guess, moving(2), slope=2.0, gain=5.0, rate=rate) for rate in (3.0, 0.0))
    t, q, qd, memory = simulate(arm, control, np.array([0.0, 0.5]), np.zeros(2), 12.0, 1e-2)
    V, _ = lyapunov(arm, control, t, q, qd, memory, arm.parameters())
    assert (np.diff(V) <= 1e-9).all()
    e = np.abs(control.path(t).q - q).max(-1)
    unlearned = np.abs(control.path(t).q - simulate(arm, blind, q[0], qd[0], 12.0, 1e-2)[1]).max(-1)
    assert e[-400:].max() < 0.03 < 0.3 < unlearned[-400:].max()


@pytest.mark.slow
def test_slotine_li_learns_a_payload_that_its_path_makes_felt():
    """Only what is unknown is learned: the mass and first moment of a load on the second link come out."""
    arm = da.robot("two_link")
    loaded = arm.with_payload(0.5, (0.1, 0.0, 0.0))
    names = ["m[link2]", "mx[link2]", "Izz[link2]"]
    true = loaded.parameters()[[arm.parameter_names().index(name) for name in names]]
    control = SlotineLi(arm, moving(2), slope=8.0, gain=10.0, rate=3.0, adapt=names)
    t, q, _, memory = simulate(loaded, control, *moving(2)(0.0)[:2], 20.0, 1e-2)
    assert memory.shape[-1] == 3 and np.abs(memory[0] - true).max() > 0.1
    close(memory[-1], true, 0.02)
    e = np.abs(control.path(t).q - q).max(-1)
    assert e[-500:].max() < 5e-4 < 5e-3 < e[:500].max()


def test_slotine_li_with_the_true_parameters_is_at_home():
    arm, path = da.robot("puma560"), quintic(np.zeros(6), np.ones(6), 1.0)
    control = SlotineLi(arm, path, 5.0, 10.0, 1.0)
    q, qd, qdd = path(0.3)
    tau, rate = control(0.3, q, qd, control.memory)
    close(tau, arm.inverse_dynamics(q, qd, qdd), 1e-12)
    assert np.abs(rate).max() < 1e-9


# --- all of them --------------------------------------------------------------------------------------------------------------


def controllers(arm):
    n, path = arm.n, spline([0.0, 1.0, 2.0], rng.uniform(-1, 1, (3, arm.n)))
    yield GravityPD(arm, np.ones(n), 3.0, np.arange(n) + 1.0)
    yield ComputedTorque(arm, path, spd(n), 2.0)
    yield TaskSpaceControl(arm, [0.4, 0.1, 0.3], 3.0, spd(3), arm.link_names[-2], (0.1, 0.2, 0.3))
    yield SlotineLi(arm, path, 2.0, np.arange(n) + 1.0, 0.3)


@pytest.mark.parametrize("control", [*controllers(da.robot("puma560"))], ids=lambda c: type(c).__name__)
def test_batches_and_values(control):
    arm = control.robot
    q, qd = states(arm, (3, 4))
    extra = () if not hasattr(control, "memory") else (control.memory + rng.normal(size=(3, 4, 60)),)

    def all_of(*given):
        found = control(0.7, *given)
        return found if extra else (found,)

    batch = all_of(q, qd, *extra)
    for k, x in enumerate(all_of(q[2, 1].tolist(), qd[2, 1].tolist(), *(m[2, 1] for m in extra))):
        close(batch[k][2, 1], x, 1e-12)
    copy = pickle.loads(pickle.dumps(control))
    assert copy == control and hash(copy) == hash(control)
    for x, y in zip(copy(0.7, q, qd, *extra) if extra else (copy(0.7, q, qd),), batch, strict=True):
        np.testing.assert_array_equal(x, y)
    with pytest.raises(AttributeError):
        control.kp = 3.0


def test_rollouts_are_those_of_one_at_a_time():
    arm = da.robot("two_link")
    q, goals = rng.uniform(-1, 1, (2, 3, 2))
    names = ["m[link2]", "mx[link2]"]
    for make in (lambda path: ComputedTorque(arm, path, 50.0, 10.0), lambda path: SlotineLi(arm, path, 5.0, 5.0, 1.0, names)):
        real = arm.with_payload(0.3)
        many = real.simulate(q, duration=0.5, torque=make(quintic(q, goals, 0.4)), step=0.01)
        one = real.simulate(q[2], duration=0.5, torque=make(quintic(q[2], goals[2], 0.4)), step=0.01)
        close(many.q[2], one.q, 1e-12)
        if one.memory is not None:
            assert many.memory.shape == (3, 51, 2)
            close(many.memory[2], one.memory, 1e-12)


def test_gains_of_every_shape_mean_the_same():
    arm, path = da.robot("planar_3r"), moving(3)
    q, qd = states(arm)
    for make in (lambda k: GravityPD(arm, q + 1, k, k)(0.0, q, qd), lambda k: ComputedTorque(arm, path, k, k)(0.2, q, qd)):
        np.testing.assert_allclose(make(3.0), make([3.0] * 3), rtol=1e-13)
        np.testing.assert_allclose(make(3.0), make(3.0 * np.eye(3)), rtol=1e-13)
    memory = SlotineLi(arm, path, 1.0, 1.0, 1.0).memory
    for k in ([2.0] * 30, 2.0 * np.eye(30)):
        for x, y in zip(
            SlotineLi(arm, path, 1.0, 1.0, k)(0.2, q, qd, memory),
            SlotineLi(arm, path, 1.0, 1.0, 2.0)(0.2, q, qd, memory),
            strict=True,
        ):
            np.testing.assert_allclose(x, y, rtol=1e-12)


def test_a_path_may_be_a_place():
    arm, q = da.robot("two_link"), np.array([0.3, 0.4])
    held = ComputedTorque(arm, q, 5.0, 1.0)
    np.testing.assert_array_equal(held(0.5, q, [0.0, 0.0]), arm.gravity_force(q))


ARM = da.robot("two_link")
FINE = quintic([0.0, 0.0], [1.0, 1.0], 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GravityPD("two_link", [0.0, 0.0], 1.0, 1.0),
            "the robot of a controller must be a dalembert.Robot, got 'two_link'",
        ),
        (
            lambda: GravityPD(ARM, [0.0] * 3, 1.0, 1.0),
            r"two_link needs a target \(..., 2\), one position per joint, got shape \(3,\)",
        ),
        (lambda: GravityPD(ARM, [0.0, np.inf], 1.0, 1.0), "the target of a controller must be finite"),
        (
            lambda: GravityPD(ARM, [0.0] * 2, [1.0] * 3, 1.0),
            r"kp must be one number, 2 numbers, or a 2 x 2 matrix, got shape \(3,\)",
        ),
        (lambda: GravityPD(ARM, [0.0] * 2, 1.0, -1.0), "kd must not be negative, which would make the feedback unstable; got -1.0"),
        (lambda: ComputedTorque(ARM, FINE, [[0.0, 2.0], [2.0, 0.0]], 1.0), "kp must not be negative"),
        (lambda: ComputedTorque(ARM, quintic([0.0], [1.0], 1.0), 1.0, 1.0), "two_link needs a path of 2 coordinates, got one of 1"),
        (
            lambda: ComputedTorque(ARM, [0.0] * 3, 1.0, 1.0),
            r"a path of 2 coordinates, or a place \(..., 2\), got an array of shape",
        ),
        (lambda: ComputedTorque(ARM, np.sin, 1.0, 1.0), "two_link needs a path of 2 coordinates, got one of none"),
        (lambda: TaskSpaceControl(ARM, FINE, 1.0, 1.0), "a point in space needs a path of 3 coordinates, got one of 2"),
        (lambda: TaskSpaceControl(ARM, [0.0] * 3, 1.0, 1.0, "hand"), "unknown link or frame of two_link: 'hand'"),
        (lambda: TaskSpaceControl(ARM, [0.0] * 3, 1.0, 1.0, rows=("vx", "vq")), "unknown row of a twist"),
        (
            lambda: TaskSpaceControl(ARM, [0.0] * 3, 1.0, 1.0, rows=("vx", "wz")),
            "need rotation=..., the axes of the link in the world",
        ),
        (lambda: TaskSpaceControl(ARM, [0.0] * 3, 1.0, 1.0, rotation=np.ones((3, 3))), "must be a rotation matrix"),
        (lambda: TaskSpaceControl(ARM, [0.0] * 3, 1.0, 1.0, null_damping=-1.0), "null_damping must not be negative"),
        (lambda: SlotineLi(ARM, FINE, 1.0, 1.0, 1.0, ["m[link3]"]), r"unknown parameter of two_link 'm\[link3\]'; did you mean"),
        (lambda: SlotineLi(ARM, FINE, 1.0, 1.0, 1.0, ["m[link2]"] * 2), "adapt must be a list of different parameters"),
        (
            lambda: SlotineLi(ARM, FINE, 1.0, 1.0, 1.0, "m[link2]"),
            r"adapt must be a list, got 'm\[link2\]'",
        ),
        (lambda: SlotineLi(ARM, FINE, 1.0, 1.0, [1.0] * 3), r"rate must be one number, 20 numbers, or a 20 x 20 matrix"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(da.Error, match=message):
        make()
