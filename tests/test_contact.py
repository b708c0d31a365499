"""Arms that are touched: laws of the closed loops of gravity compensation, impedance and the momentum observer, and their C."""

import ctypes
import pickle

import numpy as np
import pytest
from conftest import close, sweep
from test_generate import LAWS, build, needs, pointers

import dalembert as da
from dalembert import ComputedTorque, GravityCompensation, Impedance, MomentumObserver, Wrench
from dalembert.derived.control import computed_torque, gravity_compensation

PUMA = da.robot("puma560").with_friction(damping=0.5, coulomb=0.3).with_armature(0.2)
TREE = da.random_robot(3, "RPHR", (-1, -1, 0, 0)).with_friction(damping=0.1, **LAWS).with_armature(0.1)
ROBOTS = {
    "two_link": da.robot("two_link").with_friction(damping=0.3, coulomb=0.2),
    "tree": TREE,
    "puma560": PUMA,
    "panda": da.robot("panda"),
}
robots = pytest.mark.parametrize("key", sweep(ROBOTS, quick=(0, 1)))
rng = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def same_numbers():
    """Every test draws the same numbers, whichever others run."""
    global rng
    rng = np.random.default_rng(8)


def drawn(robot, *shape):
    return rng.uniform(-1, 1, (2, *shape, robot.n))


def dots(a, b):
    return (a * b).sum(-1)


# --- gravity compensation


@robots
def test_kinetic_energy_is_lost_to_damping_and_what_is_left_of_friction(key):
    """d/dt qd M qd / 2 = -qd D qd - (1 - share) qd friction, for friction that the law knows."""
    robot = ROBOTS[key].with_friction(load_friction=0.0)
    q, qd = drawn(robot, 30)
    damping, share = rng.uniform(0, 2, robot.n), rng.uniform(0, 1, robot.n)
    qdd = robot.forward_dynamics(q, qd, GravityCompensation(robot, damping, share)(0.0, q, qd))
    rate = dots(qd, np.matvec(robot.mass_matrix(q), qdd) + np.matvec(robot.mass_matrix_rate(q, qd), qd) / 2)
    close(rate, -dots(qd, damping * qd + (1 - share) * robot.friction_force(qd)), 1e-10)


def test_an_arm_that_floats_stays_where_it_is_put():
    arm = ROBOTS["two_link"]
    q = rng.uniform(-2, 2, (5, 2))
    still = arm.simulate(q, duration=0.5, torque=GravityCompensation(arm, damping=0.1), step=1e-2)
    close(still.q[:, -1], q, 1e-9)


# --- impedance


def springs(robot, q, target, stiffness, link):
    """The energy of the springs, with the angle and axis of the rotation where they are equal: another formula than the law's."""
    E = np.linalg.inv(target) @ robot.pose(q, link)
    K = np.diag(stiffness[:3])
    G = np.trace(K) / 2 * np.eye(3) - K
    turned = np.einsum("ij,...ji->...", G, np.eye(3) - E[..., :3, :3])
    return (E[..., :3, 3] ** 2 @ stiffness[3:]) / 2 + turned


@robots
def test_arm_and_springs_lose_energy_to_dampers_alone(key):
    """The law of passivity: d/dt (kinetic energy + springs) = -V D V - qd Dj qd - qd friction, exactly, for any large motion."""
    robot = ROBOTS[key].with_friction(load_friction=0.0)
    link = robot.link_names[-1]
    q, qd = drawn(robot, 20)
    target = robot.pose(rng.uniform(-1, 1, robot.n), link)
    stiffness, damping, joints = rng.uniform(1, 5, 6), rng.uniform(0, 2, 6), rng.uniform(0, 1, robot.n)
    control = Impedance(robot, target, stiffness, damping, joint_damping=joints, link=link)
    qdd = robot.forward_dynamics(q, qd, control(0.0, q, qd))
    kinetic = dots(qd, np.matvec(robot.mass_matrix(q), qdd) + np.matvec(robot.mass_matrix_rate(q, qd), qd) / 2)
    h = 1e-5
    stored = (springs(robot, q + h * qd, target, stiffness, link) - springs(robot, q - h * qd, target, stiffness, link)) / (2 * h)
    V = robot.twist(q, qd, link, "world_aligned").reshape(20, 2, 3) @ target[:3, :3]
    lost = (V.reshape(20, 6) ** 2) @ damping + dots(qd, joints * qd + robot.friction_force(qd))
    close(kinetic + stored, -lost, 1e-8)


def test_springs_of_small_rotations_are_those_asked_for():
    """1/2 phi K phi, about the axes of the target."""
    phi, stiffness = 1e-4 * rng.normal(size=3), np.array([5.0, 20.0, 70.0, 0, 0, 0])
    K = np.cross(np.eye(3), phi)
    E = np.eye(4)
    E[:3, :3] = np.eye(3) - K + K @ K / 2

    class Turned:
        def pose(self, q, link):
            return E

    close(springs(Turned(), None, np.eye(4), stiffness, None), (phi**2 @ stiffness[:3]) / 2, 1e-3)


@pytest.mark.slow
def test_a_steady_push_moves_the_link_by_force_over_stiffness():
    """The end of the arm, pushed by a constant force, comes to rest where the springs hold it; the moment is zero, so it turns not."""
    arm = da.robot("puma560").with_armature(0.2)
    q = np.array([0.2, -0.7, 0.5, 0.3, 0.9, 0.1])
    stiffness, target = np.array([60.0, 60, 60, 400, 800, 600]), arm.pose(q)
    control = Impedance(arm, target, stiffness, [12.0] * 3 + [120.0] * 3, joint_damping=0.5)
    force = np.array([6.0, -4.0, 8.0])
    push = {arm.link_names[-1]: Wrench(force=tuple(force), frame="world_aligned")}
    held = arm.simulate(q, duration=5.0, torque=control, step=5e-3, wrenches=push, every=100)
    assert np.abs(held.qd[-1]).max() < 1e-4
    found = np.linalg.inv(target) @ arm.pose(held.q[-1])
    close(found[:3, 3], (target[:3, :3].T @ force) / stiffness[3:], 1e-3)
    close(found[:3, :3], np.eye(3), 1e-4)
    assert np.abs(found[:3, 3]).max() > 5e-3


@pytest.mark.slow
def test_turned_links_are_turned_back():
    arm = da.robot("puma560").with_armature(0.2)
    q = np.array([0.2, -0.7, 0.5, 0.3, 0.9, 0.1])
    control = Impedance(arm, arm.pose(q), [60.0] * 3 + [800.0] * 3, [12.0] * 3 + [160.0] * 3)
    done = arm.simulate(q + np.array([0, 0, 0, 0.8, -0.5, 0.9]), duration=3.0, torque=control, step=5e-3, every=100)
    close(arm.pose(done.q[-1]), arm.pose(q), 1e-3)


# --- the observer


@robots
def test_a_steady_force_is_found_at_the_observers_own_rate(key):
    """Held still by unknown forces f while the motors give g - f: the distance to f falls by 1 + gain dt in every step."""
    robot = ROBOTS[key].without_friction()
    q, still = drawn(robot)[0], np.zeros(robot.n)
    f, gain, dt = rng.normal(size=robot.n), rng.uniform(20, 300, robot.n), 2e-3
    observer = MomentumObserver(robot, gain, dt)
    integral = observer.start(q, still)
    for k in range(1, 40):
        residual, integral = observer(q, still, robot.gravity_force(q) - f, integral)
        close(f - residual, f / (1 + gain * dt) ** k, 1e-9, scale=1.0)


@robots
def test_residual_and_integral_are_the_equations(key):
    """At any state, with friction, rotors and the Coriolis matrix from elsewhere."""
    robot = ROBOTS[key]
    q, qd = drawn(robot, 4, 3)
    tau, integral = 30 * rng.normal(size=(2, 4, 3, robot.n))
    gain, dt = rng.uniform(1, 100, robot.n), 1e-3
    residual, after = MomentumObserver(robot, gain, dt)(q, qd, tau, integral)
    p, C = np.matvec(robot.mass_matrix(q), qd), robot.coriolis_matrix(q, qd)
    force = tau - robot.friction_force(qd, tau) + np.vecmat(qd, C) - robot.gravity_force(q)
    close(after, integral + dt * (force + residual), 1e-11)
    close(residual, gain * (p - after), 1e-9)


@pytest.mark.slow
def test_a_push_in_motion_is_found():
    """A falling arm with friction is pushed at its end after 0.3 s: before, nothing; later J^T w, at the rate of the gain."""
    arm, dt, gain = da.robot("puma560").with_friction(damping=2.0).with_armature(0.2), 5e-4, 100.0
    held = GravityCompensation(arm, damping=4.0)
    first = arm.simulate([0.2, -0.7, 0.5, 0.3, 0.9, 0.1], [0.5, 0.3, -0.4, 0.5, 0.4, 0.6], 0.3, torque=held, step=dt)
    link, force = arm.link_names[-1], np.array([15.0, -10.0, 20.0])
    push = {link: Wrench(force=tuple(force), frame="world_aligned")}
    then = arm.simulate(first.q[-1], first.qd[-1], 0.3, torque=held, step=dt, wrenches=push)
    q, qd, tau = (np.concatenate([getattr(x, name)[:-1] for x in (first, then)]) for name in ("q", "qd", "tau"))
    residual = MomentumObserver(arm, gain, dt).along(q, qd, tau)
    expected = np.matvec(np.swapaxes(arm.jacobian(q, frame="world_aligned")[:, 3:], -1, -2), force)
    k = 600
    assert np.abs(residual[:k]).max() < 0.05 < 3 < np.abs(expected[k]).max()
    close(residual[-1], expected[-1], 0.03)
    found = np.linalg.lstsq(arm.jacobian(q[-1], frame="world_aligned").T, residual[-1], rcond=None)[0]
    close(found[3:], force, 0.05)
    steps = 40  # 0.02 s: 1 - (1 + gain dt)^-40 = 86 %
    close(residual[k + steps], expected[k] * (1 - (1 + gain * dt) ** -steps), 0.1)


# --- as C, and everywhere


QUANTITIES = ("gravity_compensation", "computed_torque", "impedance", "momentum_observer")


@needs("gcc")
@robots
def test_c_and_python_are_one_law(key, tmp_path):
    """To rounding, over a closed loop of the observer, too, whose integral goes out and in."""
    robot = ROBOTS[key]
    where = {"link": robot.link_names[-1]}
    source = robot.generate("c", QUANTITIES, name="arm", header=True, batch=False, options={"impedance": where}).save(tmp_path)
    library = ctypes.CDLL(str(build("gcc", source, tmp_path / "arm.so", "-shared", "-fPIC", "-O1", "-DDALEMBERT_SELF_TEST")))
    assert library.main() == 0
    for quantity in QUANTITIES[:3]:
        options = where if quantity == "impedance" else {}
        inputs = {v.name: rng.uniform(0, 2, v.shape) for v in robot.program(quantity, **options).inputs}
        tau = np.empty(robot.n)
        getattr(library, f"arm_{quantity}")(*pointers([*inputs.values(), tau]))
        close(tau, getattr(robot, quantity)(**inputs, **options), 1e-12)
    gain, dt, held = np.full(robot.n, 50.0), np.array(1e-3), [np.zeros(robot.n), np.zeros(robot.n)]
    residual, integral = np.empty(robot.n), np.zeros(robot.n)
    for k in range(100):
        (q, qd), tau = drawn(robot), rng.normal(size=robot.n)
        library.arm_momentum_observer(*pointers([q, qd, tau, held[k % 2], gain, dt, residual, held[1 - k % 2]]))
        expected, integral = MomentumObserver(robot, 50.0, 1e-3)(q, qd, tau, integral)
        close(residual, expected, 1e-11)
        close(held[1 - k % 2], integral, 1e-11)


@robots
def test_controllers_and_quantities_are_one_law(key):
    robot = ROBOTS[key]
    q, qd = drawn(robot, 3)
    kp, kd = rng.uniform(1, 9, (2, robot.n))
    place = rng.uniform(-1, 1, robot.n)
    still = np.zeros(robot.n)
    close(ComputedTorque(robot, place, kp, kd)(0.0, q, qd), robot.computed_torque(q, qd, place, still, still, kp, kd), 1e-11)
    close(GravityCompensation(robot, kp, kd / 10)(0.0, q, qd), robot.gravity_compensation(q, qd, kp, kd / 10), 1e-11)
    close(
        computed_torque(robot, q, qd, place, still, still, np.diag(kp), np.diag(kd)),
        computed_torque(robot, q, qd, place, still, still, kp, kd),
        1e-12,
    )
    close(gravity_compensation(robot, q, qd, np.diag(kp), kd), gravity_compensation(robot, q, qd, kp, kd), 1e-12)


def test_later_calls_take_the_short_way(monkeypatch):
    """Straight to the kernel, although `damping` is an optional input of other quantities."""
    arm = da.robot("two_link")
    q, still = np.array([0.3, 0.4]), np.zeros(2)
    control, held = Impedance(arm, np.eye(4), 1.0, 1.0), (q, still, still, still)
    first = control(0.0, q, still), arm.gravity_compensation(*held)
    monkeypatch.setattr("dalembert.engine.evaluation.evaluate", None)
    np.testing.assert_array_equal(first, (control(0.0, q, still), arm.gravity_compensation(*held)))


@pytest.mark.slow
def test_batches_copies_and_frozen_values():
    arm = ROBOTS["puma560"]
    q, qd = drawn(arm, 3, 2)
    targets = arm.pose(q)
    for control in (GravityCompensation(arm, 0.3, 0.5), Impedance(arm, targets, 3.0, 2.0, joint_damping=0.1)):
        many = control(0.0, 0.9 * q, qd)
        one = control if isinstance(control, GravityCompensation) else Impedance(arm, targets[2, 1], 3.0, 2.0, joint_damping=0.1)
        close(many[2, 1], one(0.0, 0.9 * q[2, 1], qd[2, 1]), 1e-12)
        assert pickle.loads(pickle.dumps(control)) == control
    observer = MomentumObserver(arm, 10.0, 1e-3)
    assert pickle.loads(pickle.dumps(observer)) == observer
    recording = rng.normal(size=(3, 2, 5, arm.n))
    close(observer.along(*recording)[1], observer.along(*recording[:, 1]), 1e-12)
    with pytest.raises(AttributeError):
        observer.gain = 3.0


ARM = da.robot("two_link")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GravityCompensation("two_link"), "the robot of a controller must be a dalembert.Robot"),
        (lambda: GravityCompensation(ARM, -1.0), "damping must not be negative"),
        (lambda: GravityCompensation(ARM, 0.0, 1.5), "assistance must be shares from 0 to 1 of the friction of each joint, got 1.5"),
        (lambda: Impedance(ARM, np.eye(3), 1.0, 1.0), r"must be a pose \(..., 4, 4\), such as robot.pose\(q\), got shape \(3, 3\)"),
        (lambda: Impedance(ARM, np.diag([1.0, 1, -1, 1]), 1.0, 1.0), "must have a rotation matrix in it"),
        (lambda: Impedance(ARM, np.eye(4), [1.0] * 3, 1.0), r"stiffness must be one number, 6 numbers, .* got shape \(3,\)"),
        (lambda: Impedance(ARM, np.eye(4), np.eye(6), 1.0), "stiffness must be one number or 6 numbers, got a matrix"),
        (lambda: Impedance(ARM, np.eye(4), 1.0, 1.0, link="hand"), "unknown link or frame of two_link: 'hand'"),
        (lambda: Impedance(ARM, np.eye(4), 1.0, 1.0, link="base"), "no joint of two_link moves 'base'; give link=... one that moves"),
        (lambda: ARM.program("impedance", link="base"), "no joint of two_link moves 'base'"),
        (lambda: MomentumObserver(ARM, 10.0, 0.0), "dt must be"),
        (lambda: MomentumObserver(ARM, [1.0] * 3, 1e-3), "gain must be one number, 2 numbers"),
        (lambda: MomentumObserver(ARM, 10.0, 1e-3).along([0.0] * 2, [0.0] * 2, [0.0] * 2), r"needs a recording \(..., samples, 2\)"),
        (lambda: MomentumObserver(ARM, 10.0, 1e-3)([0.0] * 3, [0.0] * 2, [0.0] * 2, [0.0] * 2), r"q has shape \(3,\), two_link needs \(..., 2\)"),
        (lambda: Impedance(ARM, np.eye(4)[None][[0, 0]], 1.0, 1.0)(0.0, np.zeros((3, 2)), np.zeros(2)), "target"),
    ],
)  # fmt: skip
def test_mistakes(make, message):
    with pytest.raises(da.Error, match=message):
        make()
