"""Linear feedback and differential dynamic programming: the laws that their solutions obey, and peers that compute them otherwise."""

import numpy as np
import pytest
from conftest import close, sweep

import dalembert as da
from dalembert.engine.kernels import compile
from dalembert.planning.dynamic_programming import ControlProblem, Search
from dalembert.planning.riccati import RECURSION, packed
from dalembert.planning.slopes import ACCELERATION_SLOPES, CURVATURE

UP, DOWN = np.array([np.pi / 2, 0.0]), np.array([-np.pi / 2, 0.0])
SOFT = {"position": 0.5, "velocity": 0.2, "effort": 1e-2, "end_position": 20.0, "end_velocity": 5.0}


def arm():
    return da.robot("two_link").with_friction(damping=[0.2, 0.1])


def robots():
    yield arm()
    yield da.robot("panda").without_friction().with_armature(0.1)
    yield da.random_robot(1, "RPR").with_coupling({"joint3": {"joint1": 0.5}})


# --- the regulator ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [None, 0.01])
@pytest.mark.parametrize("robot", sweep(robots(), quick=(0, 2)), ids=lambda robot: robot.name)
def test_the_gain_is_scipys(robot, step):
    linalg = pytest.importorskip("scipy.linalg")
    n, rng = robot.n, np.random.default_rng(0)
    q, qd, tau = rng.uniform(-1, 1, (3, n))
    position, velocity, effort = rng.uniform(0.1, 2, (3, n))
    A, B = robot.linearize(q, qd, tau, step=step)
    W, R = np.diag(np.r_[position, velocity]), np.diag(effort)
    if step is None:
        P = linalg.solve_continuous_are(A, B, W, R)
        expected = np.linalg.solve(R, B.T @ P)
    else:
        P = linalg.solve_discrete_are(A, B, step * W, step * R)
        expected = np.linalg.solve(step * R + B.T @ P @ B, B.T @ P @ A)
    found = robot.lqr(q, qd, tau, position=position, velocity=velocity, effort=effort, step=step)
    close(found.gain, expected, 1e-8)
    close(found(0.0, q + 0.1, qd), tau - expected[:, :n].sum(axis=1) * 0.1, 1e-8)


def test_the_regulator_holds_the_arm_upright():
    robot = arm()
    hold = robot.lqr(UP)
    assert np.linalg.eigvals(robot.linearize(UP, [0, 0], robot.gravity_force(UP)).A).real.max() > 1  # it would fall
    back = robot.simulate(UP + np.array([0.3, -0.2]), duration=4.0, torque=hold, step=2e-3)
    assert np.abs(back.q[-1] - UP).max() < 1e-3
    sampled = robot.lqr(UP, step=0.02)
    q, qd = UP + np.array([0.1, 0.0]), np.zeros(2)
    for _ in range(200):  # forces held for 20 ms, as the sampled problem has it
        moved = robot.simulate(q, qd, 0.02, torque=sampled(0.0, q, qd), step=2e-3)
        q, qd = moved.q[-1], moved.qd[-1]
    assert np.abs(q - UP).max() < 1e-3


def test_regulators_of_several_states_at_once():
    robot, states = arm(), np.random.default_rng(1).uniform(-1, 1, (3, 2, 2))
    many = robot.lqr(states, tau=[1.0, 2.0])
    assert many.gain.shape == (3, 2, 2, 4)
    close(many.gain[1, 1], robot.lqr(states[1, 1], tau=[1.0, 2.0]).gain, 1e-12)
    assert many(0.0, [0.0, 0.0], [0.0, 0.0]).shape == (3, 2, 2)


def test_a_state_without_a_gain_is_told():
    with pytest.raises(da.Error, match="no finite gain"):
        arm().lqr([np.nan, 0.0])
    with pytest.warns(da.SingularWarning, match="1 of 2 states"):
        found = arm().lqr([[np.nan, 0.0], [0.0, 0.0]])
    assert np.isfinite(found.gain[1]).all()


# --- one iteration ------------------------------------------------------------------------------------------------------


def problem(robot, steps, limits=None, second_order=False, count=1):
    rng, n = np.random.default_rng(2), robot.n
    start, goal = rng.uniform(-1, 1, (2, count, 2 * n))
    running, ending, effort = rng.uniform(0.1, 1, 2 * n), rng.uniform(1, 10, 2 * n), rng.uniform(0.1, 1, n)
    made = ControlProblem(
        robot, 0.02, start, goal, rng.uniform(-1, 1, (count, n)), running, ending, effort, limits, second_order, "auto"
    )
    search = Search(made, rng.uniform(-1, 1, (steps, count, n)))
    search.roll()
    search.take(np.ones(count, bool), np.zeros(count, int))
    return search


@pytest.mark.parametrize("robot", sweep(robots(), quick=(0, 2)), ids=lambda robot: robot.name)
def test_the_recursion_is_riccatis(robot):
    search, n = problem(robot, 6), robot.n
    search.expand()
    search.recur()
    p, h = search.problem, 0.02
    Vx, V = p.ending * (search.x[-1, 0] - p.goal[0]), np.diag(p.ending)
    for k in reversed(range(6)):
        aq, av, au = (x[k, 0] for x in search.slopes)
        below = np.block([h * aq, np.eye(n) + h * av])
        A = np.vstack([np.block([np.eye(n), np.zeros((n, n))]) + h * below, below])
        B = np.vstack([h * h * au, h * au])
        Quu, Qux = np.diag(p.effort) + B.T @ V @ B, B.T @ V @ A
        Qu, Qx = p.effort * (search.u[k, 0] - p.rest[0]) + B.T @ Vx, p.running * (search.x[k, 0] - p.goal[0]) + A.T @ Vx
        change, gain = -np.linalg.solve(Quu, Qu), np.linalg.solve(Quu, Qux)
        close(search.k[k, 0], change, 1e-10)
        close(search.K[k, 0], gain, 1e-10)
        Vx, V = Qx + Qux.T @ change, np.diag(p.running) + A.T @ V @ A - Qux.T @ gain


def test_the_recursion_stays_within_limits():
    robot, n = da.random_robot(1, "RRRR"), 4
    rng = np.random.default_rng(3)
    kernel = compile(robot, RECURSION, optional=("least", "most"))
    root, slope = rng.normal(size=(2 * n, 2 * n)), rng.normal(size=2 * n)
    aq, av, au = rng.normal(size=(3, n, n))
    lu, room = rng.normal(size=n), rng.uniform(0.1, 0.5, n)
    given = slope, packed(root @ root.T), aq, av, au, np.zeros(2 * n), lu, np.ones(2 * n), np.full(n, 0.5), 0.1, 0.0
    _, _, k, K, _ = kernel(*given, -room, room)
    B = np.vstack([0.01 * au, 0.1 * au])
    H, g = 0.5 * np.eye(n) + B.T @ (root @ root.T) @ B, lu + B.T @ slope
    pressed = H @ k + g  # the conditions of Karush, Kuhn and Tucker
    free = np.abs(k) < room
    assert 0 < free.sum() < n and (np.abs(k) <= room).all()
    assert np.abs(pressed[free]).max() < 1e-10
    assert (np.sign(k[~free]) == -np.sign(pressed[~free])).all()
    assert not K[~free].any() and K[free].any()


def rubbing(robot, q, qd, tau, slip):
    """Accelerations on complex numbers under friction that is smooth, written once more."""
    friction = sum(
        np.array([getattr(joint, name) for joint in robot.joints]) * motion
        for name, motion in (("damping", qd), ("coulomb", np.tanh(qd / slip) if slip else 0 * qd))
    )
    return robot.without_friction().forward_dynamics(q, qd, tau - friction, backend="numpy")


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_derivatives_of_accelerations(slip):
    robot = da.random_robot(2, "RPR").with_friction(damping=0.3, coulomb=0.5 if slip else 0.0)
    rng, n = np.random.default_rng(4), robot.n
    q, qd, tau, weights = rng.uniform(-1, 1, (4, n))
    z, slopes = np.concatenate([q, qd, tau]), compile(robot, ACCELERATION_SLOPES, slip_speed=slip)
    J = np.array([rubbing(robot, *np.split(z + 1e-30j * unit, 3), slip).imag / 1e-30 for unit in np.eye(3 * n)]).T
    close(np.concatenate(slopes(q, qd, tau), axis=1), J, 1e-12)
    cxx, cux = compile(robot, CURVATURE, slip_speed=slip)(q, qd, tau, weights)
    again = compile(robot, ACCELERATION_SLOPES, backend="numpy", slip_speed=slip)

    def gradient(z):
        return np.concatenate([weights @ x for x in again(*np.split(z, 3))])

    H = np.array([gradient(z + 1e-30j * unit).imag / 1e-30 for unit in np.eye(3 * n)])
    close(cxx, packed(H[: 2 * n, : 2 * n]), 1e-11)
    close(cux, H[2 * n :, : 2 * n], 1e-11)


# --- whole problems -----------------------------------------------------------------------------------------------------


def total(robot, q0, forces, goal, h=0.02):
    """The cost of forces, from a simulation of its own."""
    run = robot.simulate(q0, duration=len(forces) * h, torque=forces, step=h, integrator="semi_implicit_euler")
    off = np.concatenate([run.q - goal, run.qd], axis=1)
    running, ending = np.repeat([SOFT["position"], SOFT["velocity"]], 2), np.repeat([SOFT["end_position"], SOFT["end_velocity"]], 2)
    return (h * ((running * off[:-1] ** 2).sum() + SOFT["effort"] * (forces**2).sum()) + (ending * off[-1] ** 2).sum()) / 2


@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.filterwarnings("ignore::dalembert.AccuracyWarning")
def test_no_other_forces_cost_less(second_order):
    robot, goal = arm(), np.array([0.5, 0.5])
    found = robot.optimal_control([0.0, 0.0], goal, 0.4, **SOFT, second_order=second_order, tolerance=1e-14)
    forces = found.trajectory.tau[:-1]
    assert found.converged
    close(total(robot, [0.0, 0.0], forces, goal), found.cost, 1e-12)
    run = robot.rollout([0.0, 0.0], duration=0.4, torque=forces, step=0.02, integrator="semi_implicit_euler")
    off_q, off_v = run.q - goal, run.qd.copy()
    off_q[:-1] *= 0.02 * SOFT["position"]
    off_v[:-1] *= 0.02 * SOFT["velocity"]
    off_q[-1] *= SOFT["end_position"]
    off_v[-1] *= SOFT["end_velocity"]
    slope = run.gradient(off_q, off_v).tau + 0.02 * SOFT["effort"] * forces
    assert np.abs(slope).max() < 1e-6 * np.abs(0.02 * SOFT["effort"] * forces).max()  # the gradient is zero
    rng = np.random.default_rng(5)
    assert all(total(robot, [0.0, 0.0], forces + rng.normal(size=forces.shape), goal) > found.cost for _ in range(3))


def test_second_derivatives_make_the_end_quadratic():
    robot, given = arm(), (DOWN + 0.4, UP * 0.3, 0.6)
    plain = robot.optimal_control(*given, **SOFT, tolerance=1e-15)
    newton = robot.optimal_control(*given, **SOFT, tolerance=1e-15, second_order=True)
    close(newton.cost, plain.cost, 1e-9)
    assert newton.iterations < plain.iterations


@pytest.mark.slow
def test_limits_hold_and_bind():
    robot = da.robot("panda").without_friction()
    q0, q1 = [0.0, -0.5, 0.2, -2.0, 0.1, 1.6, 0.5], [0.8, 0.3, -0.4, -1.4, 0.6, 2.0, 0.0]
    most = np.array([30, 60, 30, 30, 4, 4, 4.0])
    free, held = robot.optimal_control(q0, q1, 1.0), robot.optimal_control(q0, q1, 1.0, limits=most)
    assert (np.abs(free.trajectory.tau) > most).any() and (np.abs(held.trajectory.tau) <= most).all()
    assert (np.abs(held.trajectory.tau) == most).any() and held.cost > free.cost
    assert np.abs(held.trajectory.q[-1] - q1).max() < 0.05
    assert (np.abs(held(0.1, np.array(q0) + 1.0, np.zeros(7))) <= most).all()  # the feedback, too


def test_problems_side_by_side_are_those_alone():
    robot, rng = arm(), np.random.default_rng(6)
    starts, goals = rng.uniform(-1, 1, (3, 1, 2)), rng.uniform(-1, 1, (2, 2))
    many = robot.optimal_control(starts, goals, 0.4, **SOFT, limits=20.0)
    assert many.cost.shape == (3, 2) and many.gains.shape == (3, 2, 20, 2, 4) and many.trajectory.q.shape == (3, 2, 21, 2)
    for i, j in ((0, 0), (2, 1)):
        alone = robot.optimal_control(starts[i, 0], goals[j], 0.4, **SOFT, limits=20.0)
        close(many.cost[i, j], alone.cost, 1e-10)
        close(many.gains[i, j], alone.gains, 1e-6)
        assert many.iterations[i, j] == alone.iterations
    best = many.best
    assert best.cost == many.cost.min() and best.gains.shape == (20, 2, 4)
    assert best(0.05, starts[0, 0], [0.0, 0.0]).shape == (2,)


def test_the_feedback_brings_the_arm_back_onto_the_motion():
    robot = arm()
    found = robot.optimal_control([0.0, 0.0], [1.0, 0.5], 1.0)
    off, still = (
        robot.simulate([0.1, -0.1], duration=1.0, torque=x, step=2e-3) for x in (found, found.trajectory.tau[:-1].repeat(10, 0))
    )
    assert np.abs(off.q[-1] - [1.0, 0.5]).max() < 0.02 < 0.1 < np.abs(still.q[-1] - [1.0, 0.5]).max()
    close(found(0.4, found.trajectory.q[20], found.trajectory.qd[20]), found.trajectory.tau[20], 1e-15)
    close(found(99.0, found.trajectory.q[49], found.trajectory.qd[49]), found.trajectory.tau[49], 1e-15)


def test_forces_that_cost_nothing_hold_the_goal():
    robot, goal = arm(), np.array([0.5, 0.5])
    hold = robot.gravity_force(goal)
    still = robot.optimal_control(goal, goal, 0.2, holding=hold)
    assert (
        np.abs(still.trajectory.q - goal).max() < 1e-12 and np.abs(still.trajectory.tau - hold).max() < 1e-12 and still.cost < 1e-20
    )
    assert robot.optimal_control(goal, goal, 0.2).cost > 1e-3


def test_smooth_friction():
    robot, given = arm().with_friction(coulomb=1.0), {"start": [0.0, 0.0], "goal": [0.5, 0.5], "duration": 0.4, "slip_speed": 0.2}
    plain, newton = (robot.optimal_control(**given, second_order=second) for second in (False, True))
    free = arm().optimal_control([0.0, 0.0], [0.5, 0.5], 0.4)
    assert plain.converged and abs(newton.cost - plain.cost) < 1e-6 * plain.cost and abs(plain.cost - free.cost) > 1e-3 * free.cost
    forces = plain.trajectory.tau[:-1]
    run = robot.rollout([0.0, 0.0], duration=0.4, torque=forces, step=0.02, integrator="semi_implicit_euler", slip_speed=0.2)
    close(run.q, plain.trajectory.q, 1e-11)


def test_the_same_on_numpy():
    robot, given = arm(), ([0.0, 0.0], [0.5, 0.5], 0.1)
    native, numpy = (
        robot.optimal_control(*given, **SOFT, limits=25.0, second_order=True, backend=backend) for backend in ("native", "numpy")
    )
    close(numpy.cost, native.cost, 1e-11)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dalembert.AccuracyWarning")  # its steps are long
def test_swing_up_with_a_third_of_the_force_that_holds_it():
    robot = da.robot("two_link").without_friction()
    most = 0.3 * np.abs(robot.gravity_force([0.0, 0.0]))
    guesses = np.random.default_rng(0).normal(size=(8, 250, 2)) * 0.1 * most
    light = {"position": 1e-2, "velocity": 1e-3}
    found = robot.optimal_control(DOWN, UP, 5.0, limits=most, guess=guesses, iterations=500, **light).best
    assert (np.abs(found.trajectory.tau) <= most).all()
    assert np.abs(found.trajectory.q[-1] - UP).max() < 1e-3 and np.abs(found.trajectory.qd[-1]).max() < 1e-2
    again = robot.simulate(
        DOWN, duration=5.0, torque=found.trajectory.tau[:-1], step=0.02, integrator="semi_implicit_euler"
    )  # the same motion by the simulator
    assert np.abs(again.q - found.trajectory.q).max() < 1e-6


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"duration": 0.505}, "multiple of step"),
        ({"tolerance": -1.0}, "tolerance must not be negative"),
        ({"limits": True}, "has no torque limits"),
        ({"limits": [1.0, -1.0]}, "limits: torque of joint 'joint2' must be above 0"),
        ({"effort": 0.0}, "effort must be positive"),
        ({"position": [1.0, 2.0, 3.0]}, "one for each of the 2 joints"),
        ({"guess": np.zeros((3, 2))}, "one force per step"),
        ({"goal": [np.nan, 0.0]}, "goal must be finite"),
        ({"guess": np.full((25, 2), 1e200)}, "not finite"),
    ],
)
def test_what_is_refused(change, says):
    with pytest.raises(da.Error, match=says):
        arm().optimal_control(**({"start": [0.0, 0.0], "goal": [1.0, 0.0], "duration": 0.5} | change))


def test_a_regulator_needs_a_weight_of_the_state():
    with pytest.raises(da.Error, match="without a weight of the state no force is best"):
        arm().lqr([np.pi / 2, 0.0], position=0.0, velocity=0.0)
    assert np.abs(arm().lqr([np.pi / 2, 0.0], position=0.0).gain).max() > 1.0


def test_iterations_that_end_early_show():
    move = {"start": [0.0, 0.0], "goal": [1.0, 0.0], "duration": 0.5, "limits": None}
    assert "not converged" in repr(arm().optimal_control(**move, iterations=1))
    assert "not converged" not in repr(arm().optimal_control(**move))


def test_robots_that_are_refused():
    rough = da.robot("two_link").with_friction(coulomb=1.0)
    with pytest.raises(da.Error, match="give slip_speed"):
        rough.optimal_control([0, 0], [1, 1], 0.5)
    for robot, says in ((da.robot("four_bar"), "loops"), (da.robot("solo12"), "velocities")):
        with pytest.raises(da.Error, match=says):
            robot.lqr(robot.neutral())
