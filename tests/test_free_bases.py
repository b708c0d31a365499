"""Free bases, balls and planar joints: against Pinocchio, the laws, and each other."""

import json
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import close, sweep, urdf_corpus
from states import free_state

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.trace import operation_count

STORED = json.loads((Path(__file__).parent / "data/pinocchio_free.json").read_text())["robots"]
FILES, REASON = urdf_corpus()
BY_SIZE = sorted(STORED, key=lambda key: len(STORED[key]["joints"]), reverse=True)
FAMILIES = sorted({key.split("/")[0]: key for key in BY_SIZE}.values())  # of each, the robot with the fewest joints
NUMPY = {"backend": "numpy"}
SMALL = 1e-6  # of finite differences


def random_body(rng):
    A = rng.normal(size=(3, 3))
    return da.Inertia(rng.uniform(1, 2), rng.normal(size=3), np.trace(A @ A.T) * np.eye(3) - A @ A.T)


def mixed(kinds="ball revolute free ball planar", parents=(-1, 0, 1, 2, 0), seed=5):
    """A tree of joints of all kinds, placed at random."""
    rng = np.random.default_rng(seed)
    links = []
    for i, (kind, parent) in enumerate(zip(kinds.split(), parents, strict=True)):
        pose = [da.Pose.of(rng.normal(size=3), rng.normal(size=3)) for _ in range(2)]
        above = "base" if parent < 0 else f"body{parent}"
        links.append(da.Link(f"body{i}", above, da.Joint(f"joint{i}", kind), *pose, random_body(rng)))
    return da.Robot("mixed", tuple(links), gravity=(0.3, -0.2, -9.81), base=da.Pose.of((1, 2, 3), (0.1, 0.2, 0.3)))


def flying(seed=1, joints="RPR"):
    """An arm on a body that floats."""
    arm = da.random_robot(seed, joints)
    return arm.with_payload(3.0, (0.1, 0.2, -0.1), [0.3, 0.4, 0.5], link="base").with_free_base()


def state(robot, seed=1):
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng)
    for run in robot.runs:
        q[run.q : run.q + 4] *= 1.7
    return q, *rng.normal(size=(2, robot.n))


ROBOTS = {
    "flying": flying(),
    "planar": mixed("planar revolute", (-1, 0)),
    "inner": mixed("revolute ball prismatic", (-1, 0, 1)),
    "mixed": mixed(),
}
each = pytest.mark.parametrize(
    "robot", [pytest.param(r, id=name, marks=() if r.n < 10 else pytest.mark.slow) for name, r in ROBOTS.items()]
)


def along(robot, function, q, v):
    """The rate of a function of q while the robot moves with v."""
    return (function(robot.integrate(q, SMALL * v)) - function(robot.integrate(q, -SMALL * v))) / (2 * SMALL)


def by_displacement(robot, function, q):
    return np.stack([along(robot, function, q, e) for e in np.eye(robot.n)], axis=-1)


# --- Pinocchio ----------------------------------------------------------------------------------------------------------


class OnFreeBase(NamedTuple):
    """A robot of the corpus, its state, and what Pinocchio says of it, in the robot's own order of joints."""

    robot: da.Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    x: np.ndarray  # what matrices are multiplied with
    given: dict


def on_free_base(key):
    stored = STORED[key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        robot = da.load(FILES[key], mimic=False, free_base=True).without_friction()
    n = len(stored["joints"])
    order = [*range(6), *(6 + stored["joints"].index(name) for name in robot.joint_names[6:])]
    q, *rates = free_state(n)
    q = np.concatenate([q[:7], q[7:][np.array(order[6:], int) - 6]])
    given = {name: np.array(stored[name])[order] for name in stored if name not in ("joints", "condition", "momentum")}
    return OnFreeBase(robot, q, *(y[order] for y in rates), given)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(STORED, quick=(65,)))
def test_every_file_on_a_free_base_agrees_with_pinocchio(key):
    (robot, q, qd, qdd, x, given), condition = on_free_base(key), STORED[key]["condition"]
    close(robot.inverse_dynamics(q, qd, qdd, **NUMPY), given["tau"], 1e-12)
    close(robot.mass_matrix(q, **NUMPY) @ x, given["M"], 1e-12)
    close(robot.coriolis_matrix(q, qd, **NUMPY) @ qd, given["C"], 1e-12)
    close(robot.momentum(q, qd, about="com", **NUMPY), STORED[key]["momentum"], 1e-12)
    if condition < 1e12:
        close(robot.forward_dynamics(q, qd, given["tau"], **NUMPY), qdd, 1e-9 + 1e-14 * condition)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(FAMILIES, quick=(len(FAMILIES) - 2,)))
def test_derivatives_of_every_family_on_a_free_base_agree_with_pinocchio(key):
    robot, q, qd, qdd, x, given = on_free_base(key)
    slopes = robot.inverse_dynamics_derivatives(q, qd, qdd, **NUMPY)
    close(slopes.dq @ x, given["dq"], 1e-12)
    close(slopes.dqd @ x, given["dqd"], 1e-12)
    if "forward_dq" in given:
        allowed = 1e-10 + 1e-15 * STORED[key]["condition"]
        slopes = robot.forward_dynamics_derivatives(q, qd, given["tau"], **NUMPY)
        close(slopes.dq @ x, given["forward_dq"], allowed)
        close(slopes.dqd @ x, given["forward_dqd"], allowed)


# --- laws ---------------------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix"])
def test_all_methods_agree(robot, quantity):
    q, qd, x = state(robot)
    given = (q, qd, x) if quantity in ("inverse_dynamics", "forward_dynamics") else (q,)
    function = getattr(robot, quantity)
    expected = function(*given)
    for method in da.methods(quantity):
        if robot.n > 9 and method in ("lagrange_euler", "uicker_kahn", "lie_closed_form", "generalized_dalembert"):
            continue
        close(function(*given, method=method, backend="numpy"), expected, 1e-9)


@each
def test_equation_of_motion(robot):
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    M, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, qd), robot.gravity_force(q)
    close(M @ qdd + C @ qd + g, tau, 1e-12)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-10)
    close(robot.bias_force(q, qd), C @ qd + g, 1e-12)
    close(robot.regressor(q, qd, qdd) @ robot.parameters(), tau, 1e-11)
    close(robot.kinetic_energy(q, qd), qd @ M @ qd / 2, 1e-12)
    rate = robot.mass_matrix_rate(q, qd)
    close(rate, along(robot, robot.mass_matrix, q, qd), 1e-7)
    close(rate - 2 * C, -(rate - 2 * C).T, 1e-12)


@each
def test_power_is_the_rate_of_energy(robot):
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    kinetic = along(robot, lambda x: robot.kinetic_energy(x, qd), q, qd) + robot.mass_matrix(q) @ qd @ qdd
    close(kinetic + along(robot, robot.potential_energy, q, qd), tau @ qd, 1e-6)


@each
def test_derivatives_are_by_small_displacements(robot):
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    slopes = robot.inverse_dynamics_derivatives(q, qd, qdd)
    close(slopes.dq, by_displacement(robot, lambda x: robot.inverse_dynamics(x, qd, qdd), q), 1e-6)
    close(slopes.dqdd, robot.mass_matrix(q), 1e-12)
    forward = robot.forward_dynamics_derivatives(q, qd, tau)
    close(forward.dq, by_displacement(robot, lambda x: robot.forward_dynamics(x, qd, tau), q), 1e-6)
    close(forward.dtau @ robot.mass_matrix(q), np.eye(robot.n), 1e-9)


@each
def test_kinematics(robot):
    q, qd, _ = state(robot)
    link, point = robot.link_names[-1], (0.1, -0.2, 0.3)
    for frame in ("body", "world", "world_aligned"):
        options = {"link": link, "point": point, "frame": frame}
        J = robot.jacobian(q, **options)
        close(robot.twist(q, qd, **options), J @ qd, 1e-12)
        close(robot.jacobian_rate(q, qd, **options), along(robot, lambda x, o=options: robot.jacobian(x, **o), q, qd), 1e-6)
    place = along(robot, lambda x: robot.pose(x, link, point=point)[:3, 3], q, qd)
    close(robot.twist(q, qd, link, point=point, frame="world_aligned")[3:], place, 1e-7)
    close(robot.com_jacobian(q) @ qd, along(robot, robot.center_of_mass, q, qd), 1e-7)
    close(robot.poses(q)[-1], robot.pose(q, link), 1e-12)
    A = robot.centroidal_momentum_matrix(q)
    close(A @ qd, robot.momentum(q, qd, about="com"), 1e-12)
    close(robot.centroidal_momentum_matrix_rate(q, qd), along(robot, robot.centroidal_momentum_matrix, q, qd), 1e-6)
    close(robot.composite_inertia(q)[5, 5], robot.total_mass, 1e-12)


def test_momentum_obeys_newton_and_euler():
    robot = flying()
    q, qd, qdd = state(robot)
    rate = robot.centroidal_momentum_matrix_rate(q, qd) @ qd + robot.centroidal_momentum_matrix(q) @ qdd
    pushed = robot.base_wrench(q, qd, qdd)  # about the world's origin
    c, weight = robot.center_of_mass(q), robot.total_mass * np.array(robot.gravity)
    close(rate[3:], pushed[3:] + weight, 1e-11)
    close(rate[:3], pushed[:3] - np.cross(c, pushed[3:]), 1e-11)


def test_base_wrench_of_a_free_base_is_its_force():
    robot = flying()
    q, qd, qdd = state(robot)
    tau, T = robot.inverse_dynamics(q, qd, qdd), robot.pose(q, "base")
    force = T[:3, :3] @ tau[3:6]
    close(robot.base_wrench(q, qd, qdd), [*(T[:3, :3] @ tau[:3] + np.cross(T[:3, 3], force)), *force], 1e-12)
    close(robot.joint_wrenches(q, qd, qdd)[0], tau[:6], 1e-12)


def test_base_wrench_of_a_standing_robot_holds_its_weight():
    robot = da.robot("puma560")
    q = robot.random_configuration(3)
    wrench = robot.base_wrench(q, np.zeros(6), np.zeros(6))
    moving = sum(link.inertia.mass for link in robot.links)
    close(wrench[3:], [0.0, 0.0, 9.81 * moving], 1e-12)


@each
def test_length_of_quaternions_does_not_matter(robot):
    q, qd, qdd = state(robot)
    other = q.copy()
    for run in robot.runs:
        other[run.q : run.q + 4] *= -3.0
    close(robot.inverse_dynamics(other, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-12)
    close(robot.inverse_dynamics_derivatives(other, qd, qdd).dq, robot.inverse_dynamics_derivatives(q, qd, qdd).dq, 1e-11)


@pytest.mark.parametrize(("factor", "told"), [(1e160, "too long"), (0.9e154, "too long"), (1e-160, "too short")])
@pytest.mark.parametrize("backend", ["auto", "numpy"])
def test_lengths_of_quaternions_beyond_the_range_are_refused(factor, told, backend):
    """In the first call and in later ones, which go straight to the kernel."""
    ball = da.Link("l", "base", da.Joint("x", "ball"), inertia=da.Inertia.box(1.0, (0.1, 0.2, 0.3), center=(0.1, 0.2, 0.3)))
    robot, q, v = da.Robot("b", (ball,)), np.array([0.9, 0.8, -0.9, 1.1]), np.zeros(3)
    for _ in range(3):
        close(robot.gravity_force(1e-150 * q, backend=backend), robot.gravity_force(1e150 * q, backend=backend), 1e-13)
        close(robot.gravity_force((1e18 * q).astype("f4"), backend=backend), robot.gravity_force(q, backend=backend), 1e-5)
        with pytest.raises(da.Error, match=f"quaternion of joint 'x' in q is {told}"):
            robot.gravity_force(factor * q, backend=backend)
        with pytest.raises(da.Error, match="in q is too long: the square of its length must be a normal number of float32"):
            robot.gravity_force((3e19 * q).astype("f4"), backend=backend)
    for call in (
        lambda: robot.integrate(factor * q, v),
        lambda: robot.difference(q, factor * q),
        lambda: robot.simulate(factor * q, v),
    ):
        with pytest.raises(da.Error, match=told):
            call()


def test_pose_of_a_free_base_matters_through_gravity_alone():
    robot = flying()
    q, qd, qdd = state(robot)
    elsewhere = q.copy()
    elsewhere[4:7] += 100.0
    assert (robot.inverse_dynamics(elsewhere, qd, qdd) == robot.inverse_dynamics(q, qd, qdd)).all()
    other = robot.random_configuration(9)
    other[7:] = q[7:]
    close(robot.mass_matrix(other), robot.mass_matrix(q), 1e-13)
    weightless = robot.with_gravity((0, 0, 0))
    close(weightless.inverse_dynamics(other, qd, qdd), weightless.inverse_dynamics(q, qd, qdd), 1e-12)


def test_two_free_bodies_are_two_robots():
    rng = np.random.default_rng(3)
    bodies = [da.Link(f"b{i}", "world", da.Joint(f"j{i}", "free"), inertia=random_body(rng)) for i in range(2)]
    both = da.Robot("two", tuple(bodies), base_name="world")
    one = [da.Robot("one", (body,), base_name="world") for body in bodies]
    q, qd, qdd = state(both)
    parts = [r.inverse_dynamics(q[7 * k : 7 * k + 7], qd[6 * k : 6 * k + 6], qdd[6 * k : 6 * k + 6]) for k, r in enumerate(one)]
    close(both.inverse_dynamics(q, qd, qdd), np.concatenate(parts), 1e-12)


def test_euler_equations_of_one_body():
    """I w' + w x I w = moment, m (v' + w x v) = force + weight, in body axes about the centre of mass."""
    moments = np.array([0.3, 0.5, 0.7])
    body = da.Robot(
        "top",
        (da.Link("body", "world", da.Joint("j", "free"), inertia=da.Inertia(2.0, np.zeros(3), np.diag(moments))),),
        base_name="world",
    )
    q, qd, qdd = state(body)
    w, v = qd[:3], qd[3:]
    weight = body.pose(q)[:3, :3].T @ [0, 0, -2.0 * 9.81]
    expected = [*(moments * qdd[:3] + np.cross(w, moments * w)), *(2.0 * (qdd[3:] + np.cross(w, v)) - weight)]
    close(body.inverse_dynamics(q, qd, qdd), expected, 1e-14)


def test_free_joint_costs_a_few_operations():
    """The virtual joints fold away: what is left is the motion of the base, its own body, and the turn of gravity."""
    arm = da.random_robot(1, "RRRRRR")
    free = arm.with_free_base()
    fixed, more = (operation_count(r.program("inverse_dynamics")) for r in (arm, free))
    assert more.mul + more.add < 1.35 * (fixed.mul + fixed.add) + 150


# --- wrenches, couplings, transmissions ---------------------------------------------------------------------------------------


@each
def test_wrenches(robot):
    q, qd, qdd = state(robot)
    link, force, point = robot.link_names[-1], np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, -0.3])
    free = robot.inverse_dynamics(q, qd, qdd)
    for frame in ("body", "world_aligned"):
        J = robot.jacobian(q, link, point=point, frame=frame)
        wrench = da.Wrench(force=force, point=point, frame=frame)
        close(robot.inverse_dynamics(q, qd, qdd, wrenches={link: wrench}), free - J[3:].T @ force, 1e-12)
    array = np.zeros((len(robot.links), 6))
    array[-1, 3:] = force
    J = robot.jacobian(q, link)
    close(robot.inverse_dynamics(q, qd, qdd, wrenches=array), free - J[3:].T @ force, 1e-12)


def test_coupled_joints_on_a_free_base():
    tree = flying(2, "RRR")
    robot = tree.with_coupling({"joint3": {"joint1": 0.5, "joint2": -1.0}}, offset={"joint3": 0.2})
    assert (robot.n, robot.nq) == (8, 9)
    q, qd, qdd = state(robot)
    B, all_ = robot.coupling.matrix, robot.to_uncoupled(q)
    tau = robot.inverse_dynamics(q, qd, qdd)
    close(tau, B.T @ tree.inverse_dynamics(all_, B @ qd, B @ qdd), 1e-12)
    close(robot.mass_matrix(q), B.T @ tree.mass_matrix(all_) @ B, 1e-12)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-9)
    close(
        robot.inverse_dynamics_derivatives(q, qd, qdd).dq,
        B.T @ tree.inverse_dynamics_derivatives(all_, B @ qd, B @ qdd).dq @ B,
        1e-11,
    )
    close(robot.from_uncoupled(all_), q, 1e-12)
    assert (
        robot
        == da.random_robot(2, "RRR")
        .with_payload(3.0, (0.1, 0.2, -0.1), [0.3, 0.4, 0.5], link="base")
        .with_coupling({"joint3": {"joint1": 0.5, "joint2": -1.0}}, offset={"joint3": 0.2})
        .with_free_base()
    )


PUSHED = {"free": flying(2, "RRR"), "ball": mixed("ball revolute revolute revolute", (-1, 0, 1, 2))}


@pytest.mark.parametrize("kind", PUSHED)
@pytest.mark.parametrize("method", ["walker_orin_3", "joint_acceleration"])
@pytest.mark.parametrize("names", ["wrenches", "base_twist base_acceleration", "wrenches base_twist"])
def test_pushes_on_coupled_joints_of_free_and_ball_joints_count(kind, method, names):
    *_, leader, follower = PUSHED[kind].joint_names
    robot = PUSHED[kind].with_coupling({follower: {leader: -0.5}})
    q, qd, qdd = state(robot)
    shapes = {"wrenches": (len(robot.links), 6), "base_twist": 6, "base_acceleration": 6}
    rng = np.random.default_rng(3)
    pushes = {name: rng.normal(size=shapes[name]) for name in names.split()}
    tau = robot.inverse_dynamics(q, qd, qdd, **pushes)
    close(robot.forward_dynamics(q, qd, tau, **pushes, method=method), qdd, 1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "moreau"])
def test_a_push_moves_a_simulated_robot_with_a_free_base_and_coupled_joints(integrator):
    robot = PUSHED["free"].with_coupling({"joint3": {"joint2": -0.5}})
    start, still, duration = robot.neutral(), np.zeros(robot.n), 1e-3
    push = np.zeros((len(robot.links), 6))
    push[0, 5] = 1000.0
    speed = {}
    for name, wrenches in {"fall": None, "push": push}.items():
        motion = robot.simulate(start, duration=duration, wrenches=wrenches, integrator=integrator)
        speed[name] = motion.qd[-1]
    pushed, falling = (robot.forward_dynamics(start, still, still, wrenches=w) for w in (push, None))
    assert np.linalg.norm(pushed - falling) > 10 * np.linalg.norm(falling)
    close(speed["push"] - speed["fall"], duration * (pushed - falling), 1e-2)


def test_moreau_asks_for_forces_at_positions_with_quaternions():
    """Pushes along axes of the world and forces from Python, in the middle of each step; as other integrators have them."""
    robot = da.robot("solo12")
    start, push = robot.neutral(), {"FL_LOWER_LEG": da.Wrench((1.0, 2.0, -1.0), frame="world")}
    sizes = set()

    def torque(time, q, qd):
        sizes.add((q.shape, qd.shape))
        return -0.1 * qd

    one, other = (
        robot.simulate(start, duration=0.05, wrenches=push, torque=torque, integrator=integrator)
        for integrator in ("moreau", "rk4")
    )
    assert sizes == {((robot.nq,), (robot.n,))}
    close(one.q[-1], other.q[-1], 1e-4)
    batch = robot.simulate([start, start], duration=0.05, wrenches=push, torque=torque, integrator="moreau")
    close(batch.q[1], one.q, 1e-12)


def test_friction_and_rotors():
    robot = flying().with_friction(damping={"joint1": 0.5}).with_armature({"joint2": 0.2})
    q, qd, qdd = state(robot)
    bare = flying()
    more = robot.inverse_dynamics(q, qd, qdd) - bare.inverse_dynamics(q, qd, qdd)
    expected = np.zeros(robot.n)
    expected[6], expected[7] = 0.5 * qd[6], 0.2 * qdd[7]
    close(more, expected, 1e-10)
    close(robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, qdd)), qdd, 1e-9)


# --- positions ----------------------------------------------------------------------------------------------------------


@each
def test_integrate_and_difference_are_inverse(robot):
    q, v, _ = state(robot)
    close(robot.difference(q, robot.integrate(q, v)), v, 1e-10)
    rate = along(robot, lambda x: x, q / 1.0, v)
    unit = robot.integrate(q, np.zeros(robot.n))
    close(robot.position_rate(unit, v), rate, 1e-7)
    other = robot.random_configuration(8, (5,))
    back = robot.integrate(q, robot.difference(q, other))
    close(robot.difference(other, back), np.zeros((5, robot.n)), 1e-9)


@each
def test_order_of_mujoco(robot):
    q, qd, qdd = state(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    made = robot.to_mujoco(q, qd, qdd, tau)
    for x, y in zip(robot.from_mujoco(*made), (q, qd, qdd, tau), strict=True):
        close(x, y, 1e-12)
    steps = robot.to_mujoco(q, qd, qdd, tau * 1j)
    close(robot.from_mujoco(*steps).tau.imag, tau, 1e-12)
    close(made.tau @ made.qd, tau @ qd, 1e-12)  # power does not depend on the axes


def test_names():
    robot = mixed("free revolute ball", (-1, 0, 1))
    assert (robot.n, robot.nq, robot.structure) == (10, 12, "FRB")
    assert robot.joint_names[:7] == (*(f"joint0.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")), "joint1")
    assert robot.position_names[-4:] == tuple(f"joint2.{x}" for x in ("qw", "qx", "qy", "qz"))
    assert robot.link_names == ("body0", "body1", "body2")
    assert robot.to_array(robot.to_dict(robot.neutral())).tolist() == robot.neutral().tolist()
    assert repr(robot) == "<Robot 'mixed': 3 joints FRB, 10 degrees of freedom>"
    assert "0-5" in str(robot.summary()) and "body0.wx" not in str(robot.summary())


def test_round_trip(tmp_path):
    robot = mixed("ball revolute planar", (-1, 0, 0))
    robot.save(tmp_path / "mixed.toml")
    assert da.load(tmp_path / "mixed.toml") == robot
    motion = robot.simulate(*state(robot)[:2], 0.02)
    motion.to_csv(tmp_path / "motion.csv")
    motion.to_npz(tmp_path / "motion.npz")
    for name in ("motion.csv", "motion.npz"):
        again = da.Trajectory.load(tmp_path / name, robot)
        assert (again.q == motion.q).all() and (again.qd == motion.qd).all()


URDF = """<robot name="cart"><link name="ground"/>
<link name="cart"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="moving" type="{kind}"><parent link="ground"/><child link="cart"/><axis xyz="0 0 1"/></joint></robot>"""


def test_floating_and_planar_joints_of_urdf(tmp_path):
    for kind, n, nq in (("floating", 6, 7), ("planar", 3, 3)):
        (tmp_path / "cart.urdf").write_text(URDF.format(kind=kind))
        robot = da.load(tmp_path / "cart.urdf")
        assert (robot.n, robot.nq) == (n, nq)
        close(robot.mass_matrix(robot.neutral()), np.diag([1.0, 1, 1, 2, 2, 2] if n == 6 else [2.0, 2, 1]), 1e-15)


def test_dry_friction_of_a_floating_joint_is_told(tmp_path):
    rubs = URDF.replace('<axis xyz="0 0 1"/>', '<dynamics damping="0.1" friction="0.5"/>').format(kind="floating")
    (tmp_path / "cart.urdf").write_text(rubs)
    with pytest.warns(da.DataWarning, match="friction=0.5 of a floating joint is left out"):
        robot = da.load(tmp_path / "cart.urdf")
    assert robot.links[0].joint.damping == 0.1


# --- simulation ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [("rk4", 4, 50), ("implicit_midpoint", 2, 100), ("moreau", 2, 100), ("euler", 1, 200), ("semi_implicit_euler", 1, 200)],
)
def test_orders_of_integrators(integrator, order, steps):
    robot = flying()
    q, qd, _ = state(robot)
    tau = 0.5 * np.sin(np.arange(robot.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = robot.simulate(q, qd, 0.2, torque=tau, integrator="DOP853", rtol=1e-12, atol=1e-13, step=0.2).q[-1]
        ends = [robot.simulate(q, qd, 0.2, torque=tau, integrator=integrator, step=0.2 / k).q[-1] for k in (steps, 2 * steps)]
    errors = [np.abs(robot.difference(exact, end)).max() for end in ends]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.15


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "DOP853"])
def test_tumbling_keeps_energy_and_momentum(integrator):
    robot = flying(1, "RR").with_gravity((0, 0, 0))
    q = robot.random_configuration(2)
    qd = np.array([2.0, 0.1, -0.3, 0.2, 0.1, 0.0, 0.4, -0.6])
    motion = robot.simulate(q, qd, 10.0, integrator=integrator, step=2e-3, every=50)
    assert not motion.doubt
    h = robot.momentum(motion.q, motion.qd)
    energy, momentum = (5e-5, 5e-4) if integrator == "implicit_midpoint" else (1e-6, 1e-6)
    assert np.abs(motion.energy / motion.energy[0] - 1).max() < energy
    assert np.abs(h - h[0]).max() < momentum * np.abs(h[0]).max()
    lengths = np.sqrt((motion.q[:, :4] ** 2).sum(axis=-1))
    close(lengths, np.ones(len(motion)), 1e-14)


def test_falling_body_follows_its_parabola():
    robot = flying()
    q = robot.neutral()
    qd = np.zeros(robot.n)
    motion = robot.simulate(q, qd, 0.5)
    c = robot.center_of_mass(motion.q)
    close(c[-1] - c[0], 0.5 * 0.25 * np.array(robot.gravity), 1e-11)
    assert abs(motion.balance).max() < 1e-9


def test_forces_wrenches_and_rollouts():
    robot = flying()
    q = robot.random_configuration(1, (3,))
    qd = np.zeros(robot.n)
    hover = lambda t, q, qd: robot.gravity_force(q)  # noqa: E731
    held = robot.simulate(q, qd, 0.1, torque=hover)
    close(held.q, np.broadcast_to(q[:, None], held.q.shape), 1e-12)
    lift = {"base": da.Wrench(force=-robot.total_mass * np.array(robot.gravity), frame="world_aligned")}
    up = robot.simulate(q, qd, 0.05, wrenches=lift)
    c = robot.center_of_mass(up.q)
    close(c[:, -1], c[:, 0], 1e-9)
    assert up.at(0.02)[0].shape == (3, robot.nq)


def test_friction_holds_a_joint_of_a_floating_arm():
    robot = flying(1, "R").with_gravity((0, 0, 0)).with_friction(coulomb=5.0)
    qd = np.array([0.5, -0.3, 0.2, 0.1, 0.0, 0.0, 0.0])
    motion = robot.simulate(robot.neutral(), qd, 1.0)
    assert (motion.qd[:, 6] == 0).all() and (motion.q[:, 7] == motion.q[0, 7]).all()
    h = robot.momentum(motion.q, motion.qd)
    assert np.abs(h - h[0]).max() < 1e-4 * np.abs(h[0]).max()


def test_linearization_predicts_the_motion():
    robot = flying(1, "R")
    q, qd, tau = state(robot)
    A = robot.linearize(q, qd, tau).A
    errors = []
    for step in (2e-3, 1e-3):
        reference = robot.simulate(q, qd, step, torque=tau, step=step / 4)
        e = 1e-5 * np.cos(np.arange(2 * robot.n))
        moved = robot.simulate(robot.integrate(q, e[: robot.n]), qd + e[robot.n :], step, torque=tau, step=step / 4)
        found = np.concatenate([robot.difference(reference.q[-1], moved.q[-1]), moved.qd[-1] - reference.qd[-1]])
        errors.append(np.abs((found - e) / step - A @ e).max() / np.abs(A @ e).max())
    assert errors[1] < 0.55 * errors[0] < 0.05


# --- what is refused ----------------------------------------------------------------------------------------------------


def test_quantities_work_or_say_why_not():
    robot = flying(1, "RR")
    q, qd, x = state(robot)
    given = {"q": q, "q_d": q, "qd": qd, "qd_d": qd}
    refused = []
    for name, quantity in QUANTITIES.items():
        try:
            program = robot.program(name)
        except da.Error as error:
            assert "needs velocities that are the rates of the positions" in str(error), name
            refused.append(name)
            continue
        for variable in program.inputs:
            assert variable.shape == quantity.arrays()[variable.name].sized(robot)
        assert all(np.isfinite(np.asarray(y, float)).all() for y in _values(program, given, x))
    assert "christoffel" in refused and "inverse_dynamics_second_derivatives" in refused
    assert not {"inverse_dynamics", "regressor", "task_inertia", "impedance"} & set(refused)


def _values(program, given, x):
    from dalembert.trace.source import NumpyKernel

    rng = np.random.default_rng(0)
    arrays = [given.get(v.name, rng.uniform(0.1, 1.0, v.shape)) for v in program.inputs]
    found = NumpyKernel(program)(*arrays)
    return found if isinstance(found, tuple) else (found,)


def test_what_is_taken_away_is_gone_from_free_joints_too():
    robot = flying(1, "RR").with_friction(damping={"base": 1.0}).with_armature({"base": 0.5})
    assert not robot.without_friction().friction_force(np.ones(robot.n)).any()
    assert robot.without_armature().links[0].joint.armature == 0.0


def test_locked_joints():
    robot = flying(1, "RR")
    q, qd, _ = state(robot)
    held = robot.lock({"base": q[:7]})
    assert held.n == 2
    still = np.zeros(robot.n)
    still[6:] = qd[6:]
    close(held.bias_force(q[7:], qd[6:]), robot.bias_force(q, still)[6:], 1e-11)
    coupled = robot.with_coupling({"joint2": {"joint1": 0.5}})
    assert coupled.lock({"joint1": 0.3}).joint_names == robot.joint_names[:6]


def test_motors_of_a_robot_that_floats():
    robot = flying(1, "RR")
    geared = robot.with_transmission(np.hstack([np.zeros((2, 6)), 50 * np.eye(2)]), rotor_inertia=1e-4)
    assert geared.to_motors(np.ones(8), np.r_[np.zeros(6), 5.0, 10.0]).force.round(12).tolist() == [0.1, 0.2]
    with pytest.raises(da.Error, match="cannot make these forces"):
        geared.to_motors(np.ones(8), np.ones(8))


def test_positions_are_reordered_by_name():
    robot = flying(1, "RR")
    q = robot.random_configuration(1)
    names = robot.position_names[::-1]
    assert (robot.reorder(q[::-1], names) == q).all()
    assert (robot.reorder(q, to_names=names) == q[::-1]).all()


def test_joints_of_several_degrees_of_freedom_are_reordered_as_a_whole():
    robot = mixed("free revolute ball planar revolute", (-1, 0, 1, 0, 0))
    q, qd, _ = state(robot)
    names = ["joint4", "joint2", "joint0", "joint3", "joint1"]
    there = robot.reorder(q, to_names=names)
    assert there.tolist() == [q[15], *q[8:12], *q[:7], *q[12:15], q[7]]
    assert (robot.reorder(there, names) == q).all()
    assert (robot.reorder([1.0, *there], ["other", *names]) == q).all()
    batch = np.stack([qd, 2 * qd])
    there = robot.reorder(batch, to_names=names)
    assert there[0].tolist() == [qd[13], *qd[7:10], *qd[:6], *qd[10:13], qd[6]]
    assert (robot.reorder(there, names) == batch).all()
    assert robot.reorder(qd, to_names=["joint3", "joint0.vz"]).tolist() == [*qd[10:13], qd[5]]


MISTAKES = {
    "free already": (lambda r: r.with_free_base(), "is free already: the free joint 'base' carries 'base'"),
    "name taken": (lambda r: da.random_robot(1, "R").with_free_base(joint="joint1"), r"name the free one with with_free_base"),
    "path": (lambda r: r.torques_along(da.quintic([0] * r.n, [1] * r.n, duration=1.0)), "a path cannot have the free joint 'base'"),
    "coupling as a whole": (lambda r: r.with_coupling({"base": {"joint1": 1.0}}), "'base' of .* is free; couplings are between"),
    "following a rotation": (lambda r: r.with_coupling({"joint1": {"base.wx": 1.0}}), "cannot follow 'base.wx'"),
    "locked in part": (lambda r: r.lock({"base.vx": 0.0}), "locked as a whole"),
    "zero quaternion at the start": (lambda r: r.simulate(np.zeros(r.nq)), "quaternion of joint 'base' in q0"),
    "controller": (lambda r: da.GravityPD(r, np.zeros(r.n), 1.0, 1.0), "GravityPD needs velocities"),
    "derivation": (da.derive, "of one degree of freedom"),
    "excitation": (da.excitation, "identification does not support the free joint 'base'"),
    "zero quaternion": (lambda r: r.mass_matrix(np.zeros(r.nq)), "quaternion of joint 'base'"),
    "size": (lambda r: r.mass_matrix(np.zeros(r.n)), "base.qw"),
    "limits": (lambda r: da.Joint("b", "ball", lower=-1.0), "has no lower"),
    "coulomb": (lambda r: da.Joint("b", "free", coulomb=1.0), "may have damping and armature"),
    "coupling": (lambda r: r.with_coupling({"base.wx": {"joint2": 1.0}}), "cannot follow"),
    "names of both sides": (
        lambda r: r.reorder(np.ones(r.n), ["universe", "root_joint", "joint1"]),
        "from_names has no 'base', 'joint2'; .* has no 'universe', 'root_joint'",
    ),
    "names of entries": (lambda r: r.reorder(np.ones(r.n), r.joint_names[1:]), "from_names has no 'base.wx'$"),
    "names there": (lambda r: r.reorder(np.ones(r.n), to_names=["base", "x"]), "has no 'x'; to_names has no 'joint1', 'joint2'$"),
    "size of names": (
        lambda r: r.reorder(np.ones(r.n - 1), ["base", "joint1", "joint2"]),
        r"from_names needs an array of size 9 or 8 along the last axis, got shape \(7,\)",
    ),
    "size of robot": (lambda r: r.reorder(1.0, to_names=["joint1"]), r"needs an array of size 9 or 8 .* got shape \(\)"),
    "joint and entry": (lambda r: r.reorder(np.ones(1), ["base", "base.vx"]), "joint 'base.vx' is named twice in from_names"),
    "coordinates in another order": (
        lambda r: r.with_coupling(np.eye(r.n)[::-1], names=r.joint_names[::-1]),
        "joint 'base' is free: base.wx, .* keep this order among the coordinates of a coupling",
    ),
    "world route": (lambda r: r.inverse_dynamics_derivatives(*state(r), method="composite_body_world"), "these methods do not"),
    "quasi": (lambda r: r.simulate(r.neutral(), velocities="quasi"), "needs velocities"),
    "massless": (
        lambda r: da.robot("puma560").with_free_base().forward_dynamics(np.eye(1, 13)[0], *np.zeros((2, 12))),
        "give link 'base'",
    ),
    "massless in a task": (lambda r: da.robot("puma560").with_free_base().task_inertia(np.eye(1, 13)[0]), "give link 'base'"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes(what):
    call, told = MISTAKES[what]
    with pytest.raises(da.Error, match=told):
        call(flying(1, "RR"))
