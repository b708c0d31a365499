"""Motions of least effort, against least squares, quadrature, CasADi's Ipopt, and simulation with the forces that were found."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.motion.bsplines import BSpline, basis
from dalembert.native.blas import one_thread, pools
from dalembert.planning.bounded import Bounded, Constraints, motion_limits
from dalembert.planning.costs import FORCE_SLOPES
from dalembert.planning.effort import Coordinates, EffortProblem
from dalembert.planning.transcription import Transcription

pytest.importorskip("scipy")

DOWN, UP = [-1.5, 0.0], [0.4, 0.6]
RUBBING = {"damping": 0.3, "coulomb": 0.4}


def arm():
    return da.robot("two_link")


def slider(mass=2.0):
    """A mass on a horizontal rail."""
    inertia = da.Inertia.from_com(mass, (0, 0, 0), 0.1)
    return da.Robot.from_dh([da.DHRow(joint="prismatic", inertia=inertia)], convention="standard", gravity=(0, -9.81, 0))


def transcribed(robot, start=DOWN, goal=UP, shares=(), points=(), knots=8):
    states = (np.array(x, dtype=float) for x in (start, goal))
    both = (np.stack([x, 0 * x]) if x.ndim == 1 else x for x in states)
    return Transcription(*both, np.array(shares, dtype=float), np.array(points, dtype=float).reshape(-1, robot.n), knots)


# --- splines ------------------------------------------------------------------------------------------------------------------


def test_basis_is_that_of_scipy():
    from scipy.interpolate import BSpline as Reference

    at = np.linspace(0.0, 1.0, 57)
    knots = np.r_[[0.0] * 5, np.linspace(0, 1, 8), [1.0] * 5]
    for derivative in range(4):
        expected = Reference(knots, np.eye(12), 5).derivative(derivative)(at) if derivative else Reference(knots, np.eye(12), 5)(at)
        assert np.abs(basis(at, 7, derivative) - expected).max() < 1e-12 * np.abs(expected).max()


def test_path_is_its_basis_and_rests_outside():
    rng = np.random.default_rng(0)
    path = BSpline(rng.normal(size=(12, 3)), 2.5)
    t = np.linspace(0.0, 2.5, 41)
    for k, values in enumerate(path(t)):
        expected = basis(t / 2.5, 7, k) @ path.coefficients / 2.5**k
        assert np.abs(values - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    assert np.abs(path(1.1).q - path([1.1]).q[0]).max() == 0 and path.sample(0.1).q.shape == (26, 3)
    for t, end in ((-1.0, 0), (9.0, -1)):
        q, qd, qdd = path(t)
        assert np.abs(q - path.coefficients[end]).max() < 1e-12 and not qd.any() and not qdd.any()
    with pytest.raises(da.Error, match=r"coefficients of a B-spline must be \(m, n\)"):
        BSpline(np.zeros(3), 1.0)


def test_the_smoothest_motion_is_the_quintic_and_passes_its_points():
    robot, t = arm(), np.linspace(0, 2.0, 33)
    motions = transcribed(robot)
    for found, expected in zip(motions.path(motions.smoothest(2.0), 2.0)(t), da.quintic(DOWN, UP, 2.0)(t), strict=True):
        assert np.abs(found - expected).max() < 1e-10
    moving = np.array([[0.1, 0.2], [0.5, -0.4]])
    motions = transcribed(robot, start=moving, goal=[UP, [0.3, 0.1]], shares=[0.25, 0.6], points=[[0.5, 1.0], [-0.2, 0.3]])
    for T in (0.7, 2.0):
        path = motions.path(motions.smoothest(T) + np.random.default_rng(0).normal(size=(4, 2)), T)
        assert np.abs(path([0.25 * T, 0.6 * T]).q - [[0.5, 1.0], [-0.2, 0.3]]).max() < 1e-12
        for end, (q, qd) in ((0.0, moving), (T, ([*UP], [0.3, 0.1]))):
            found = path(end)
            assert np.abs(found.q - q).max() < 1e-12 and np.abs(found.qd - qd).max() < 1e-11 and np.abs(found.qdd).max() < 1e-9


# --- derivatives --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["torque", "energy", "function"])
def test_gradients_are_differences(cost):
    robot = arm().with_friction(**RUBBING)
    motions = transcribed(robot, start=[DOWN, [0.4, -0.3]], shares=[0.4], points=[[0.0, 0.3]])
    given = (lambda q, qd, qdd, tau: q @ q + qd[0] * tau[1] + tau @ tau) if cost == "function" else cost
    problem = EffortProblem(robot, motions, given, np.array([0.5, 2.0]), 0.3)
    rng = np.random.default_rng(0)
    z, T, h = motions.smoothest(1.3) + 0.1 * rng.normal(size=(5, 2)), 1.3, 1e-5
    _, by_z, by_duration = problem.gradient(z, T)
    d = rng.normal(size=z.shape)
    along = (problem.gradient(z + h * d, T)[0] - problem.gradient(z - h * d, T)[0]) / (2 * h)
    slower = (problem.gradient(z, T + h)[0] - problem.gradient(z, T - h)[0]) / (2 * h)
    assert abs((by_z * d).sum() - along) < 1e-7 * abs(along) and abs(by_duration - slower) < 1e-7 * abs(slower)


def test_slopes_of_constraints_are_differences():
    robot = arm().with_friction(**RUBBING)
    motions = transcribed(robot)
    problem = EffortProblem(robot, motions, "torque", np.ones(2), 0.3)
    z = motions.smoothest(1.0) + 0.05
    limits = motion_limits(robot, {"lower": -2.0, "upper": 3.0, "velocity": 2.0, "acceleration": 9.0, "torque": [20.0, 6.0]})
    bounded, x = Bounded(problem, limits), Coordinates(problem, z, 1.0, (0.5, 2.0))
    rows = bounded.first(z, 1.0)
    assert set(rows.kind.tolist()) == {0, 1, 2, 3} and set(rows.side.tolist()) == {0, 1}
    held, at, h = Constraints(bounded, rows, x), 0.05 * np.random.default_rng(1).normal(size=x.start.size), 1e-6
    slopes = held.slopes(at)
    for k in range(len(at)):
        step = h * np.eye(len(at))[k]
        expected = (held.slack(at + step) - held.slack(at - step)) / (2 * h)
        assert np.abs(slopes[:, k] - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())


def test_forces_of_the_search_are_those_of_the_robot_without_jumps():
    robot = arm().with_friction(damping=0.2, coulomb=0.4)
    state = np.random.default_rng(0).normal(size=(3, 50, 2))
    tau = robot.compile(FORCE_SLOPES)(*state, 1e-9, 0.0)[0]
    assert np.abs(tau - robot.inverse_dynamics(*state)).max() < 1e-12 * np.abs(tau).max()
    low, high = (robot.compile(FORCE_SLOPES)(*state, 0.1, shift)[0] for shift in (-9.0, 9.0))
    assert (low <= tau + 1e-6).all() and (tau <= high + 1e-6).all()


# --- least cost ---------------------------------------------------------------------------------------------------------------


def test_a_sliding_mass_is_least_squares():
    """The force is m qdd, so the best coefficients solve a linear system; with more knots they near the known least value."""
    found = [slider().least_effort([0.0], [1.5], 2.0, knots=knots) for knots in (5, 12)]
    motions = transcribed(slider(), [0.0], [1.5], knots=5)
    w = np.sqrt(motions.weights)[:, None] * 2.0 / 2.0**2 * np.sqrt(2.0)
    _, left, *_ = np.linalg.lstsq(w * motions.grid.free[2], -w * motions.grid.fixed[2], rcond=None)
    assert abs(found[0].cost / left[0] - 1) < 1e-9
    best = 12 * 2.0**2 * 1.5**2 / 2.0**3  # of the cubic, which has accelerations at its ends
    assert best < found[1].cost < found[0].cost < found[0].quintic_cost and found[1].cost < 1.12 * best
    assert abs(found[0].quintic_cost - 120 / 7 * 2.0**2 * 1.5**2 / 2.0**3) < 1e-9


def cost_along(motion, weights=1.0, energy=False):
    """By many trapezia."""
    t = np.linspace(0.0, motion.duration, 20_001)
    q, qd, qdd = motion.path(t)
    tau = motion.robot.inverse_dynamics(q, qd, qdd)
    return np.trapezoid((weights * tau**2).sum(axis=1) + energy * (tau * qd).sum(axis=1), t)


@pytest.mark.parametrize("cost", ["torque", "energy"])
def test_cost_is_the_integral(cost):
    constants = np.array([1.5, 0.8])
    motion = arm().with_friction(damping=0.2).least_effort(DOWN, UP, 1.0, cost, motor_constants=constants)
    assert motion.unit == "J"
    assert abs(cost_along(motion, 1 / constants**2, cost == "energy") / motion.cost - 1) < 1e-6
    assert motion.cost < motion.quintic_cost and motion.saving == 1 - motion.cost / motion.quintic_cost


def test_no_small_change_costs_less():
    robot = arm()
    motion = robot.least_effort(DOWN, UP, 1.0, knots=10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        changed = motion.path.coefficients.copy()
        changed[3:-3] += 1e-3 * rng.normal(size=changed[3:-3].shape)
        other = BSpline(changed, 1.0)
        t = np.linspace(0, 1, 5001)
        assert np.trapezoid((robot.inverse_dynamics(*other(t)) ** 2).sum(axis=1), t) > motion.cost


def test_the_saving_is_real():
    """The forces, applied to the arm, bring it to the goal; their squares, integrated along the simulation, are the cost."""
    robot = arm()
    motion = robot.least_effort(DOWN, UP, 1.0)
    for path, cost in ((motion.path, motion.cost), (motion.quintic, motion.quintic_cost)):
        done = robot.simulate(DOWN, duration=1.0, step=1e-3, torque=lambda t, q, qd, path=path: robot.inverse_dynamics(*path(t)))
        assert np.abs(done.q[-1] - UP).max() < 2e-3 and np.abs(done.qd[-1]).max() < 2e-2
        assert abs(np.trapezoid((done.tau**2).sum(axis=1), done.time) / cost - 1) < 1e-2
    assert motion.saving > 0.1


def test_free_duration_is_the_best_one():
    robot = arm()
    best = robot.least_effort(DOWN, UP, (0.3, 5.0), knots=10)
    for duration in (0.97 * best.duration, 1.03 * best.duration):
        assert robot.least_effort(DOWN, UP, duration, knots=10).cost > best.cost
    same = robot.least_effort(DOWN, UP, best.duration, knots=10)
    assert abs(same.cost / best.cost - 1) < 1e-6 and abs(best.time[-1] - best.path.duration) < 1e-12
    short = robot.least_effort(DOWN, UP, (0.3, 0.4), knots=10)
    assert abs(short.duration - 0.4) < 1e-9  # haste costs more


def test_a_free_duration_looks_beyond_the_nearest_minimum():
    """There is one at 2.00 s, where the search from the best quintic ends, and a lower one at 3 s."""
    assert arm().least_effort(DOWN, UP, (0.5, 5.0)).cost <= arm().least_effort(DOWN, UP, 3.0).cost


def test_points_on_the_way_and_moving_ends():
    robot = arm()
    points = {0.6: [0.3, -0.4], 0.3: [-0.5, 0.4]}
    motion = robot.least_effort([DOWN, [1.0, 0.0]], [UP, [0.0, -1.0]], 1.2, through=points, step=0.12)
    assert np.abs(motion.q[[0, 3, 6, 10]] - [DOWN, points[0.3], points[0.6], UP]).max() < 1e-9
    assert np.abs(motion.qd[[0, -1]] - [[1.0, 0.0], [0.0, -1.0]]).max() < 1e-9 and motion.cost < motion.quintic_cost
    with_fewer = robot.least_effort([DOWN, [1.0, 0.0]], [UP, [0.0, -1.0]], 1.2)
    assert with_fewer.cost < motion.cost


def test_a_function_is_a_cost():
    robot = arm()
    named = robot.least_effort(DOWN, UP, 1.0, motor_constants=[2.0, 0.5])
    same = robot.least_effort(DOWN, UP, 1.0, cost=lambda q, qd, qdd, tau: tau[0] ** 2 / 4 + 4 * tau[1] ** 2)
    assert abs(same.cost / named.cost - 1) < 1e-8
    slow = robot.least_effort(DOWN, UP, 1.0, cost=lambda q, qd, qdd, tau: qd @ qd)
    assert np.ptp(slow.qd[40:60], axis=0).max() < 0.05 * np.abs(slow.qd).max()  # nearly constant speed in the middle


def test_friction_that_jumps_is_counted_as_it_is():
    robot = arm().with_friction(coulomb=0.5)
    motion = robot.least_effort(DOWN, UP, 1.0, "energy", motor_constants=3.0)
    assert abs(cost_along(motion, 1 / 9.0, True) / motion.cost - 1) < 1e-3
    without = arm().least_effort(DOWN, UP, 1.0, "energy", motor_constants=3.0)
    assert motion.cost > without.cost


def test_the_result_is_a_trajectory(tmp_path):
    robot = arm()
    motion = robot.least_effort(DOWN, UP, 1.0, limits={"torque": [40.0, 20.0]})
    assert isinstance(motion, da.Trajectory) and repr(motion).startswith("<LeastEffort of two_link: 101 samples, 1 s, cost ")
    assert np.abs(motion.tau - robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)).max() < 1e-12
    assert np.abs(motion.at(0.123)[0] - motion.path(0.123).q).max() < 1e-15
    assert np.abs(da.Trajectory.load(motion.to_npz(tmp_path / "motion.npz"), robot).tau - motion.tau).max() == 0
    follow = da.ComputedTorque(robot, motion.path, kp=100.0, kd=20.0)
    assert np.abs(robot.simulate(DOWN, duration=1.0, torque=follow).q[-1] - UP).max() < 1e-3
    seen = []
    robot.least_effort(DOWN, UP, 1.0, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] and all(a <= b for (a, _), (b, _) in pairwise(seen))


def test_it_plots_itself():
    pytest.importorskip("matplotlib")
    made = arm().least_effort(DOWN, UP, 1.0, limits={"torque": [40.0, 20.0]}).plot()
    styles = [line.get_linestyle() for line in made.axes[2].get_lines()]
    assert styles.count("-") == 2 and styles.count("--") == 2 and styles.count(":") == 4


# --- limits -------------------------------------------------------------------------------------------------------------------

LIMITS = {
    "torque": {"torque": [16.4, 9.0]},
    "velocity": {"velocity": [2.6, 1.4]},
    "acceleration": {"acceleration": [11.0, 9.0]},
    "position": {"lower": [-1.6, -0.05], "upper": [0.45, 0.65]},
    "all": {"lower": [-1.5, 0.0], "upper": [0.4, 0.6], "velocity": 2.7, "acceleration": 11.5, "torque": [33.0, 10.5]},
}


@pytest.mark.parametrize("kind", sweep(LIMITS, quick=(0, 4)))
def test_limits_hold_at_all_times(kind):
    robot, t = arm(), np.linspace(0.0, 1.0, 30_001)
    free, kept = robot.least_effort(DOWN, UP, 1.0, limits=False), robot.least_effort(DOWN, UP, 1.0, limits=LIMITS[kind])

    def beyond(motion):
        """How far a limit is exceeded, relative to it."""
        state = motion.path(t)
        values = {"velocity": state.qd, "acceleration": state.qdd, "torque": robot.inverse_dynamics(*state)}
        parts = [np.abs(x) / LIMITS[kind].get(name, np.inf) - 1 for name, x in values.items()]
        parts += [LIMITS[kind].get("lower", -np.inf) - state.q, state.q - LIMITS[kind].get("upper", np.inf)]
        return max(x.max() for x in parts)

    assert beyond(free) > 1e-2 and beyond(kept) < 1e-5 and (beyond(kept) < 0 or kind == "all")
    assert free.cost < kept.cost < kept.quintic_cost


def loaded(motion, robot, limit):
    """The largest forces with friction as it is, relative to their limits."""
    state = motion.path(np.linspace(0.0, motion.duration, 30_001))
    return (np.abs(robot.inverse_dynamics(*state)) / limit).max()


def test_limits_of_forces_hold_with_friction_that_jumps():
    """Also where a joint turns round: with smoothed friction alone, joint 1 would be 3.8 % beyond."""
    robot, start, goal = arm().with_friction(coulomb=[4.0, 2.0]), [0.5, 1.3], [-0.9, 0.4]
    free = robot.least_effort(start, goal, 1.0)
    limit = 0.9 * np.abs(free.tau).max(axis=0)
    held = robot.least_effort(start, goal, 1.0, limits={"torque": limit})
    assert loaded(free, robot, limit) > 1.05 and loaded(held, robot, limit) <= 1.0


def test_a_joint_that_cannot_stop_within_its_limit_is_told():
    """At the goal gravity and friction together take more than the limit of joint 1."""
    robot, limit = arm().with_friction(coulomb=[4.0, 2.0]), [19.0, 13.64]
    with pytest.warns(da.LimitWarning, match="where a joint starts or stops, friction"):
        motion = robot.least_effort(DOWN, UP, 1.0, limits={"torque": limit})
    assert loaded(motion, robot, limit) > 1.01


def test_limits_may_differ_by_side():
    """Joint 1 may not push down with more than 2 N m."""
    robot, limit = arm(), np.array([[-2.0, -9.0], [40.0, 12.0]])
    free, held = robot.least_effort(DOWN, UP, 1.0), robot.least_effort(DOWN, UP, 1.0, limits={"torque": limit})
    forces = [robot.inverse_dynamics(*motion.path(np.linspace(0.0, 1.0, 5001))) for motion in (free, held)]
    assert (forces[0].min(axis=0) < limit[0]).any() and (forces[1] >= limit[0]).all() and (forces[1] <= limit[1]).all()
    assert robot.least_effort(DOWN, UP, 1.0, limits=None).cost == robot.least_effort(DOWN, UP, 1.0, limits=False).cost


def test_few_knots_have_the_cost_of_many_samples():
    motion = arm().least_effort(DOWN, UP, 1.0, knots=3)
    assert abs(cost_along(motion) / motion.cost - 1) < 1e-4


def test_the_robots_own_limits_hold():
    robot = limited()
    motion, free = robot.least_effort(DOWN, UP, 1.0), robot.least_effort(DOWN, UP, 1.0, limits=False)
    assert np.abs(motion.qd[:, 1]).max() <= 1.4 < np.abs(free.qd[:, 1]).max()
    other = robot.least_effort(DOWN, UP, 1.0, limits={"velocity": np.inf})
    assert abs(other.cost / free.cost - 1) < 1e-9


def limited():
    from dataclasses import replace

    robot = arm()
    links = [
        replace(link, joint=replace(link.joint, velocity_limit=limit))
        for link, limit in zip(robot.links, (np.inf, 1.4), strict=True)
    ]
    return replace(robot, links=tuple(links))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_for_any_motion_of_a_real_arm(seed):
    """The smoothest motion keeps the limits of speed; the best one without limits is far beyond them."""
    robot = da.robot("xarm7")
    q = robot.random_configuration(seed, 2)
    fastest = np.array([joint.velocity_limit for joint in robot.joints])
    duration = max(1.2, 2.2 * float((np.abs(q[1] - q[0]) / fastest).max()))
    motion, t = robot.least_effort(*q, duration, limits={"acceleration": 40.0}), np.linspace(0.0, duration, 5001)
    found = motion.path(t)
    assert (np.abs(found.qd) <= fastest).all() and (np.abs(found.qdd) <= 40.0).all()
    assert (found.q >= robot.lower).all() and (found.q <= robot.upper).all() and motion.saving > 0.1


def test_with_a_free_duration_limits_hold_too():
    robot, t = arm(), np.linspace(0.0, 1.0, 5001)
    quick = robot.least_effort(DOWN, UP, (0.5, 3.0), limits={"velocity": [2.0, 0.8]}, knots=10)
    free = robot.least_effort(DOWN, UP, (0.5, 3.0), limits=False, knots=10)
    assert (np.abs(quick.path(t * quick.duration).qd) <= [2.0, 0.8]).all() and free.cost < quick.cost
    assert (np.abs(free.path(t * free.duration).qd) > [2.0, 0.8]).any()


# --- beside Ipopt -------------------------------------------------------------------------------------------------------------


def ipopt(robot, path, goal, knots, limit=None):
    """The least cost that Ipopt finds for the same transcription, begun with a path; limits at eight instants of each interval."""
    ca = pytest.importorskip("casadi")
    motions = transcribed(robot, path(0.0).q, goal, knots=knots)
    inverse, X = da.casadi_function(robot.program("inverse_dynamics"), "inverse_dynamics"), ca.MX.sym("x", robot.n, knots - 2)

    def forces(grid):
        return inverse.map(len(grid.at))(*(X @ ca.DM(F.T) + ca.DM(c.T) for F, c in zip(grid.free, grid.fixed, strict=True)))

    asked, bounds = {"x": ca.vec(X), "f": ca.sum2(ca.DM(motions.weights[None]) * ca.sum1(forces(motions.grid) ** 2))}, {}
    if limit is not None:
        grid = motions.at(np.linspace(0.0, 1.0, 8 * (knots - 1) + 1))
        asked["g"] = ca.vec(forces(grid) / ca.DM(np.tile(np.array(limit)[:, None], (1, len(grid.at)))))
        bounds = {"lbg": -1.0, "ubg": 1.0}
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9}
    return float(ca.nlpsol("solver", "ipopt", asked, quiet)(x0=path.coefficients[3:-3].ravel(), **bounds)["f"])


ROTORS = [1.14, 4.71, 0.83, 0.20, 0.18, 0.19]
CASES = {
    "two_link": (arm, DOWN, UP, 10),
    "puma560": (lambda: da.robot("puma560"), [0.0, 0.3, -0.4, 0.2, 0.5, 0.0], [1.2, -0.6, 0.8, -0.5, -0.4, 1.0], 20),
    "with rotors": (lambda: da.robot("puma560").with_armature(ROTORS), [0.0, 0.3, -0.4, 0.2, 0.5, 0.0], [1.2, -0.6, 0.8, -0.5, -0.4, 1.0], 20),
}  # fmt: skip


@pytest.mark.parametrize("name", sweep(CASES, quick=(0,)))
def test_ipopt_finds_nothing_better(name):
    make, start, goal, knots = CASES[name]
    robot = make()
    free = robot.least_effort(start, goal, 1.0, limits=False, knots=knots)
    assert abs(free.cost / ipopt(robot, free.path, goal, knots) - 1) < 1e-6
    assert free.cost < 1.001 * ipopt(robot, free.quintic, goal, knots)
    if name != "puma560":  # whose last joint, without a rotor, would whirl; local minima abound
        ends = np.abs(robot.gravity_force([start, goal])).max(axis=0)
        tight = np.maximum(0.85 * np.abs(free.tau).max(axis=0), 1.1 * ends)
        kept = robot.least_effort(start, goal, 1.0, limits={"torque": tight, "lower": -np.inf, "upper": np.inf}, knots=knots)
        assert free.cost < kept.cost < 1.001 * ipopt(robot, kept.path, goal, knots, tight)


# --- what is refused ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    "goal": (r"goal must be 2 positions, or \(2, 2\) with velocities, got shape \(3,\); joint order: joint1", {"goal": [0.0] * 3}),
    "a force at the start": (
        r"joint 'joint1' needs a torque of \S+ N m at the start, beyond its limit of 5; widen it: more time does not help",
        {"start": [0.0, 0.0], "limits": {"torque": 5.0}},
    ),
    "mean speed": (r"joint 'joint1' needs a velocity of 1.9 rad/s on average from t = 0 to 1 s, beyond its limit of 1.5", {"limits": {"velocity": 1.5}}),
    "position": (r"joint 'joint2' needs a position of 0.6 rad at the goal, beyond its limit of 0.5", {"limits": {"upper": [3.0, 0.5]}}),
    "on the way": (
        r"joint 'joint1' needs a position of 2 rad at t = 0.5 T, beyond its limit of 1",
        {"through": {0.5: [2.0, 0.0]}, "limits": {"upper": 1.0}},
    ),
    "too fast": (r"joint 'joint2' has a torque of \S+ N m at t = 0\.\d+ s of the nearest motion, beyond its limit of -?\d+", {"limits": {"torque": [17.0, 9.0]}, "duration": 0.5}),
    "energy": (r"cost 'energy' needs motor_constants, in N m/sqrt\(W\)", {"cost": "energy"}),
    "cost": (r"unknown cost: 'work'.*known: torque, energy", {"cost": "work"}),
    "function": (r"cost: the function must return one number", {"cost": lambda q, qd, qdd, tau: tau}),
    "failing function": (r"cost: the function failed: \w+Error.*it may use .*np.sin", {"cost": lambda q, qd, qdd, tau: np.arctan(tau[0])}),
    "no cost": (r"cost: the function returned None", {"cost": lambda q, qd, qdd, tau: None}),
    "at the goal": (r"needs a position of 0.6 rad at the goal, beyond its limit of 0.5; widen it", {"limits": {"upper": 0.5}}),
    "no room": (r"limits: torque of joint 'joint2' must be the least below the greatest, got 5 to -5", {"limits": {"torque": [[-9.0, 5.0], [9.0, -5.0]]}}),
    "bottomless": (r"the cost has no least value: it has fallen to -", {"cost": lambda q, qd, qdd, tau: -tau @ tau}),
    "infinite": (r"the cost of the smoothest motion is (inf|nan); it must be a finite number", {"duration": 1e-200}),
    "constants": (r"motor_constants must be positive, one number or 2", {"motor_constants": [1.0, -1.0]}),
    "shares": (r"through: times are shares of the duration, above 0 and below 1, got 1.5", {"through": {1.5: [0.0, 0.0]}}),
    "too many": (r"through: 3 points are too close in time for 5 knots; use more knots", {"through": dict.fromkeys((0.2, 0.21, 0.22), DOWN), "knots": 5}),
    "durations": (r"a free duration must be \(shortest, longest\), got \(2.0, 1.0\)", {"duration": (2.0, 1.0)}),
    "limits": (r"unknown limit: 'jerk'.*known: lower, upper", {"limits": {"jerk": 1.0}}),
    "another name": (r"limits: 'tau' is called 'torque'", {"limits": {"tau": 1.0}}),
    "range": (r"limits: joint 'joint1': lower 1 is not below upper -1", {"limits": {"lower": 1.0, "upper": -1.0}}),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_a_line(mistake):
    words, given = MISTAKES[mistake]
    with pytest.raises(da.Error, match=words) as told:
        arm().least_effort(**{"start": DOWN, "goal": UP, "duration": 1.0} | given)
    assert "\n" not in str(told.value)


def test_robots_that_have_no_such_motions_say_so():
    free = arm().with_free_base()
    with pytest.raises(da.Error, match="needs velocities that are the rates of the positions"):
        free.least_effort(np.zeros(9), np.zeros(9), 1.0)
    with pytest.raises(da.Error, match="does not support closed loops, which four_bar has"):
        da.robot("four_bar").least_effort(np.zeros(3), np.zeros(3), 1.0)
    with pytest.raises(da.Error, match="needs a robot with joints"):
        da.Robot("base_only", ()).least_effort([], [], 1.0)


def test_coupled_robots_move_their_independent_joints():
    robot = da.robot("planar_3r").with_coupling({"joint3": {"joint2": 0.5}})
    motion = robot.least_effort([0.0, 0.3], [1.0, -0.5], 1.0)
    assert abs(cost_along(motion) / motion.cost - 1) < 1e-5 and motion.cost < motion.quintic_cost


def test_scipy_is_asked_for(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(da.Error, match=r"this needs scipy, which is not installed: pip install scipy"):
        arm().least_effort(DOWN, UP, 1.0)


# --- BLAS ---------------------------------------------------------------------------------------------------------------------


def test_blas_has_one_thread_inside_and_its_own_number_afterwards():
    before = [pool.threads() for pool in pools()]
    for pool in pools():
        pool.choose(2)
    try:
        begun, leave = threading.Event(), threading.Event()

        def other():
            with one_thread():
                begun.set()
                leave.wait(30)

        thread = threading.Thread(target=other)
        with one_thread():
            assert [pool.threads() for pool in pools()] == [1] * len(pools())
            thread.start()
            assert begun.wait(30)
        assert [pool.threads() for pool in pools()] == [1] * len(pools())  # the other one is still inside
        leave.set()
        thread.join()
        assert [pool.threads() for pool in pools()] == [2] * len(pools())
    finally:
        for pool, count in zip(pools(), before, strict=True):
            pool.choose(count)


# --- from a shell -------------------------------------------------------------------------------------------------------------

SWING = ["least-effort", "two_link", "--start=-1.5,0", "--goal", "0.4,0.6"]


def test_command(tmp_path, capsys):
    pytest.importorskip("typer")
    from dalembert.cli import main

    file = str(tmp_path / "motion.csv")
    assert main([*SWING, "--duration", "1", "--torque", "30,15", "--through", "0.5:-1,1", "--knots", "10", "-o", file]) == 0
    shown = capsys.readouterr().out
    motion = arm().least_effort(DOWN, UP, 1.0, limits={"torque": [30.0, 15.0]}, through={0.5: [-1.0, 1.0]}, knots=10)
    assert f"1 s, cost {motion.cost:.6g} (N m)^2 s, of the quintic {motion.quintic_cost:.6g}: " in shown
    assert np.abs(da.Trajectory.load(file, arm()).q - motion.q).max() < 1e-12
    assert (
        main([*SWING[:-1], "0.4,0.6/0.1,0", "--duration", "0.5,3", "--cost", "energy", "--motor-constants", "1", "--no-limits"])
        == 0
    )
    assert " J, of the quintic " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--duration", "1", "-o", "motion.txt"], "motion.txt: a motion is written as .csv or .npz"),
        (["--duration", "1,2,3"], "--duration needs 1 or 2 numbers, got 3"),
        (["--duration", "1", "--no-limits", "--torque", "3"], "--no-limits and limits contradict each other"),
        (["--duration", "1", "--through", "0.5"], "--through must be SHARE:Q, such as 0.5:0.1,0.2, got '0.5'"),
        (["--duration", "1", "--cost", "energy"], "--cost energy needs --motor-constants"),
    ],
)
def test_command_explains_mistakes(given, words, capsys):
    pytest.importorskip("typer")
    from dalembert.cli import main

    assert main([*SWING, *given]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1
