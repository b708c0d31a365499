"""The fastest way along a path: beside closed forms and toppra, limits everywhere, what is limiting, and paths that are impossible."""

import pickle
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.motion.paths import Motion
from dalembert.native import evaluator
from dalembert.planning import elimination, parametrize
from dalembert.planning.curves import curve

PANDA = np.array([87, 87, 87, 87, 12, 12, 12.0])


@cache
def arm(name, *friction):
    """A built-in arm with damping, Coulomb friction, and Stribeck's law, as given."""
    robot = da.robot(name).without_friction()
    if not friction:
        return robot
    damping, coulomb, *stribeck = friction
    more = {"static_friction": stribeck[0], "stribeck_speed": stribeck[1]} if stribeck else {}
    return robot.with_friction(damping=damping, coulomb=coulomb, **more)


@cache
def slider(mass=2.0, **friction):
    """One mass on a horizontal rail."""
    link = da.Link("cart", "base", da.Joint("rail", "prismatic", **friction), inertia=da.Inertia.from_com(mass, (0, 0, 0), 0.1))
    return da.Robot("slider", (link,), gravity=(-9.81, 0, 0))


def waypoints(robot, seed, count=5, share=0.7):
    return share * robot.random_configuration(np.random.default_rng(seed), count)


def exceeded(fast, robot, torque=np.inf, velocity=np.inf, acceleration=np.inf, seed=0):
    """By which share limits are exceeded at random instants, by inverse dynamics."""
    times = np.sort(np.random.default_rng(seed).uniform(0, fast.duration, 40_000))
    q, qd, qdd = fast(times)
    tau = robot.inverse_dynamics(q, qd, qdd)
    return max(np.abs(x / limit).max() for x, limit in ((tau, torque), (qd, velocity), (qdd, acceleration))) - 1


# --- closed forms ---------------------------------------------------------------------------------------------------------------


def test_a_straight_line_under_accelerations_and_velocities():
    robot, line = arm("two_link"), [[0.0, 0.0], [1.0, -0.5]]
    assert robot.fastest(line, acceleration=5.0).duration == pytest.approx(2 * np.sqrt(1 / 5), rel=1e-9)
    fast = robot.fastest(line, acceleration=5.0, velocity=[1.0, 9.0])
    assert fast.duration == pytest.approx(da.trapezoidal(*line, [1.0, 9.0], 5.0).duration, rel=1e-6)
    assert [x.before.kind for x in fast.switches] == ["acceleration", "velocity"]
    one_sided = robot.fastest(line, acceleration=[[-2.0, -9.0], [5.0, 9.0]])  # 5 to speed up, 2 to slow down
    assert one_sided.duration == pytest.approx(np.sqrt(2 * (1 / 5 + 1 / 2)), rel=1e-6)


def test_a_mass_on_a_rail_with_dry_friction():
    m, F, c, d = 2.0, 10.0, 3.0, 1.5
    fast = slider(coulomb=c).fastest([[0.0], [d]], torque=F)
    speeding, slowing = (F - c) / m, (F + c) / m
    assert fast.duration == pytest.approx(np.sqrt(2 * d * (1 / speeding + 1 / slowing)), rel=1e-6)
    (switch,) = fast.switches
    assert switch.s == pytest.approx(d * slowing / (speeding + slowing), abs=2e-3)
    assert switch.before == ("rail", "torque", 1) and switch.after == ("rail", "torque", -1)


def test_a_mass_on_a_rail_with_viscous_friction():
    from scipy.optimize import brentq

    m, F, b, d = 2.0, 10.0, 4.0, 3.0

    def way(t, T):
        """Where it is when it has been sped up for t, and slowed down to rest; the rest takes T - t."""
        v = F / b * (1 - np.exp(-b / m * t))
        first = F / b * (t - m / b * (1 - np.exp(-b / m * t)))
        left = m / b * np.log1p(v * b / F)
        return first + m / b * v - F / b * left, t + left

    t = brentq(lambda t: way(t, 0)[0] - d, 0.01, 10, xtol=1e-13)
    errors = [slider(damping=b).fastest([[0.0], [d]], torque=F, points=k).duration / way(t, 0)[1] - 1 for k in (1000, 16_000)]
    assert 0 < errors[1] < 3e-4 and 0 < errors[0] < 3e-3  # of first order in the spacing


def test_the_speed_of_a_pendulum_follows_from_its_energy():
    """Up against gravity at full torque, the kinetic energy is the work of the torque less that of gravity."""
    robot = da.Robot.from_dh(
        [da.DHRow(a=1.0, inertia=da.Inertia.from_com(1.0, (0, 0, 0), 0.1))], convention="standard", gravity=(0, -9.81, 0)
    )
    fast = robot.fastest([[0.0], [1.0]], torque=30.0)
    rising = fast.q[:, 0] < fast.switches[0].s - 1e-3
    q = fast.q[rising, 0]
    np.testing.assert_allclose(robot.kinetic_energy(fast.q, fast.qd)[rising], 30 * q - 9.81 * np.sin(q), rtol=2e-4)


# --- beside toppra --------------------------------------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A random path of the Panda with random limits; as a path it has its own parameter for the time."""

    spline: object
    torque: np.ndarray
    velocity: float
    acceleration: float
    duration: float = 1.0
    n: int = 7

    def __call__(self, s):
        return Motion(self.spline(s), self.spline(s, 1), self.spline(s, 2))

    @property
    def limits(self):
        return {"torque": self.torque, "velocity": self.velocity, "acceleration": self.acceleration}


def problem(seed):
    toppra = pytest.importorskip("toppra")
    rng = np.random.default_rng(seed)
    way = arm("panda").random_configuration(rng, 5)
    spline = toppra.SplineInterpolator(np.linspace(0, 1, 5), way)
    return Problem(spline, PANDA * rng.uniform(0.25, 1.2), 2.5, rng.uniform(3, 15))


def toppra_speeds(given, s):
    """ds/dt of toppra at the points, or None where it finds no way."""
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("CRITICAL")
    both = [np.c_[-x, x] for x in (given.torque, np.full(7, given.acceleration), np.full(7, given.velocity))]
    limits = [
        constraint.JointTorqueConstraint(arm("panda").inverse_dynamics, both[0], np.zeros(7), discretization_scheme=1),
        constraint.JointAccelerationConstraint(both[1], discretization_scheme=1),
        constraint.JointVelocityConstraint(both[2]),
    ]
    speeds = algorithm.TOPPRA(limits, given.spline, gridpoints=s, solver_wrapper="seidel").compute_parameterization(0, 0)[1]
    return None if speeds is None or not np.isfinite(speeds).all() else speeds


@pytest.mark.parametrize("seed", sweep(range(30), quick=(0, 1, 8)))
def test_toppra_finds_the_same(seed, monkeypatch):
    given, s = problem(seed), np.linspace(0, 1, 1001)
    theirs = toppra_speeds(given, s)
    if theirs is None:
        with pytest.raises(da.Error, match="cannot be followed at s = "):
            arm("panda").fastest(given, **given.limits, points=s, tolerance=None)
        return
    ours = arm("panda").fastest(given, **given.limits, points=s, tolerance=None).duration
    duration = parametrize.moments(s, theirs**2)[-1]
    assert duration * (1 - 2e-5) <= ours <= duration
    monkeypatch.setattr("toppra.algorithm.reachabilitybased.reachability_algorithm.TINY", 1e-10)
    assert ours == pytest.approx(parametrize.moments(s, toppra_speeds(given, s) ** 2)[-1], rel=1e-6)


# --- limits ---------------------------------------------------------------------------------------------------------------------

FRICTION = [(), (6.0, 1.0), (1.0, 0.5, 2.0, 0.1)]


@pytest.mark.parametrize("friction, seed", sweep([(f, k) for k in range(6) for f in FRICTION], quick=(0, 1, 5)))
def test_limits_hold_between_the_points_too(friction, seed):
    robot = arm("panda", *friction)
    limits = {"torque": PANDA, "velocity": 2.5, "acceleration": 12.0}
    fast = robot.fastest(waypoints(robot, seed), **limits)
    assert fast.over <= 1e-6
    assert exceeded(fast, robot, **limits) <= 1e-6
    coarse = robot.fastest(waypoints(robot, seed), **limits, points=200, tolerance=None)
    assert exceeded(coarse, robot, **limits) > 1e-5  # at the points alone they do not
    assert fast.duration == pytest.approx(coarse.duration, rel=1e-2)


ARMS = ("puma560", "stanford", "panda", "ur5")
GRIDS = [(points, damping) for points in (100, 300, 1000) for damping in (3.0, 30.0)]
RUBBED = [(k, *grid) for j, grid in enumerate(GRIDS) for k in range(j % 3, 80, 3)]  # each path on two of the grids
FEW_RUBBED = [(0, 100, 3.0), (1, 100, 3.0), (72, 300, 3.0), (2, 300, 30.0), (3, 300, 30.0)]
HARD = [(292, 300, 3.0), (292, 1000, 3.0)]  # a joint turns back where it has next to no inertia: rounds may not settle


def rubbed(seed, damping):
    """An arm with dry and viscous friction, waypoints, and torques with which it can be held anywhere on the way."""
    rng, robot = np.random.default_rng(1000 + seed), arm(ARMS[seed % 4])
    if robot.name == "puma560":
        robot = robot.with_armature([1.14, 4.71, 0.83, 0.2, 0.18, 0.19])
    viscous, dry = rng.uniform(0, damping, robot.n), rng.uniform(0, 2, robot.n)
    low, high = np.maximum(robot.lower, -2), np.minimum(robot.upper, 2)
    path = rng.uniform(0.6 * low, 0.6 * high, (int(rng.integers(2, 7)), robot.n))
    weight = np.abs(robot.gravity_force(rng.uniform(low, high, (200, robot.n)))).max(axis=0)
    return robot.with_friction(damping=viscous, coulomb=dry), path, 1.3 * weight + rng.uniform(3, 30, robot.n)


@pytest.mark.filterwarnings("ignore::dalembert.LimitWarning")
@pytest.mark.parametrize(
    "seed, points, damping", [*HARD, *FEW_RUBBED, *sweep([x for x in RUBBED if x not in FEW_RUBBED], quick=())]
)
def test_limits_hold_with_dry_and_viscous_friction(seed, points, damping):
    robot, path, torque = rubbed(seed, damping)
    limits = {"torque": torque, "velocity": np.inf}
    fast = robot.fastest(path, **limits, points=points)
    assert fast.over <= 1e-6
    assert exceeded(fast, robot, **limits) <= 1e-6
    assert fast.duration < 1.1 * robot.fastest(path, **limits, points=points, tolerance=None).duration


def test_a_rail_with_so_much_friction_that_it_hardly_moves():
    """The speed is that at which friction takes the whole force; the first round, which has no friction, is 40 times as fast."""
    F, b, d = 10.0, 100.0, 3.0
    for tolerance in (None, 1e-6):
        assert slider(damping=b).fastest([[0.0], [d]], torque=F, tolerance=tolerance).duration == pytest.approx(d * b / F, rel=5e-3)


def test_rounds_that_do_not_settle_give_the_best_one(monkeypatch):
    robot, path, torque = rubbed(292, 3.0)
    monkeypatch.setattr(parametrize, "MOST_ROUNDS", 1)
    with pytest.warns(da.AccuracyWarning, match="limits are exceeded by"):
        few = robot.fastest(path, torque=torque, velocity=np.inf, points=100)
    assert len(few.found.s) > 350  # twice the points, and twice again
    at_points = robot.fastest(path, torque=torque, velocity=np.inf, points=100, tolerance=None)
    assert exceeded(few, robot, torque=torque) < 0.05 and few.duration < 1.02 * at_points.duration


@pytest.mark.parametrize("points", [20, 100, 300])
def test_few_points_are_refined(points):
    robot = arm("two_link", 0.5, 0.4)
    fast = robot.fastest(waypoints(robot, 3), torque=[60.0, 25.0], points=points)
    assert exceeded(fast, robot, torque=[60.0, 25.0]) <= 1e-6
    assert fast.duration == pytest.approx(robot.fastest(waypoints(robot, 3), torque=[60.0, 25.0]).duration, rel=0.02)


@pytest.mark.parametrize("friction", FRICTION)
def test_everywhere_some_limit_is_reached(friction):
    robot = arm("panda", *friction)
    fast = robot.fastest(waypoints(robot, 1), torque=0.8 * PANDA, velocity=2.0)
    shares = np.hstack([fast.saturation, fast.qd / 2.0])
    assert (np.abs(shares).max(axis=1) > 0.99).mean() > 0.98  # but for a few intervals, in which the limiting joint changes
    names = {robot.joint_names[k % 7] for k in np.argmax(np.abs(shares), axis=1)}
    assert {x.joint for x in fast.limiting if x} <= names


def test_a_point_without_inertia():
    """Where M(q) dq/ds of a joint passes through zero its torque does not limit the acceleration, only the speed."""
    robot, s = arm("two_link"), np.linspace(0, 1, 1001)
    path = waypoints(robot, 5)
    line = curve(path, robot)
    q, q1, _ = line.at(line.length * s)
    inertia = np.matvec(robot.mass_matrix(q), q1)
    assert (np.diff(np.sign(inertia), axis=0) != 0).any()
    limits = {"torque": [60.0, 12.0]}
    fast = robot.fastest(path, **limits)
    assert exceeded(fast, robot, **limits) <= 1e-6
    finer = [robot.fastest(path, **limits, points=points).duration for points in (4000, 16_000)]
    assert 0 < finer[0] - finer[1] < (fast.duration - finer[0]) / 2 < 2e-3  # it converges


def test_a_payload_makes_it_slower():
    robot, path = arm("panda"), waypoints(arm("panda"), 4)
    loaded = robot.with_payload(mass=2.0, com=(0, 0, 0.1))
    limits = {"torque": PANDA, "velocity": 9.0}
    assert loaded.fastest(path, **limits).duration > 1.05 * robot.fastest(path, **limits).duration
    assert exceeded(loaded.fastest(path, **limits), loaded, **limits) <= 1e-6


def test_limits_are_those_of_the_model_by_default():
    robot, path = da.robot("ur5"), [[0, -1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 1.0]]
    given = {
        name: [getattr(j, f"{limit}_limit") for j in robot.joints]
        for name, limit in (("torque", "effort"), ("velocity", "velocity"))
    }
    assert robot.fastest(path).duration == robot.fastest(path, **given).duration


def test_coupled_joints():
    robot = da.random_robot(1, "RRR").with_coupling({"joint3": {"joint2": 0.5}}).with_transmission([2.0, 3.0], rotor_inertia=0.1)
    fast = robot.fastest([[0.0, 0.0], [1.0, 1.0], [0.5, 1.5]], torque=200.0)
    assert exceeded(fast, robot, torque=200.0) <= 1e-6


# --- the motion -----------------------------------------------------------------------------------------------------------------


def test_its_torques_move_the_robot_along_the_path():
    robot, path = arm("two_link"), waypoints(arm("two_link"), 2)
    fast = robot.fastest(path, torque=[60.0, 25.0])
    steps = 40_000
    held = robot.inverse_dynamics(*fast((np.arange(steps) + 0.5) * fast.duration / steps))
    moved = robot.simulate(path[0], duration=fast.duration, torque=held, step=fast.duration / steps, every=100)
    np.testing.assert_allclose(moved.q[-1], path[-1], atol=5e-3)
    assert fast.drift < 1e-4


def test_a_controller_follows_it():
    robot, path = arm("two_link"), waypoints(arm("two_link"), 2)
    fast = robot.fastest(path, torque=[60.0, 25.0])
    control = da.ComputedTorque(robot, fast, kp=400.0, kd=40.0)
    moved = robot.simulate(path[0] + 0.01, duration=round(fast.duration + 0.5, 3), torque=control, step=1e-3)
    np.testing.assert_allclose(moved.q[-1], path[-1], atol=1e-4)


def test_samples_and_function_of_time_agree():
    robot, path = arm("two_link"), waypoints(arm("two_link"), 2)
    fast, even = (robot.fastest(path, torque=[60.0, 25.0], **more) for more in ({}, {"step": 1e-3}))
    for motion in (fast, even):
        inner = slice(1, -1)
        for mine, called in zip((motion.q, motion.qd, motion.qdd), motion(motion.time + 1e-12), strict=True):
            np.testing.assert_allclose(mine[inner], called[inner], atol=1e-6 * np.abs(mine).max())
        np.testing.assert_allclose(motion.tau[inner], robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)[inner], atol=1e-9)
    assert even.duration == pytest.approx(fast.duration) and np.ptp(np.diff(even.time)) < 1e-12
    for time, place in ((-1.0, path[0]), (fast.duration + 1, path[-1])):
        q, qd, qdd = fast(time)
        np.testing.assert_allclose(q, place, atol=1e-12)
        assert not qd.any() and not qdd.any()
    np.testing.assert_allclose(np.gradient(even.q, even.time, axis=0)[2:-2], even.qd[2:-2], atol=2e-3 * np.abs(even.qd).max())


def test_paths_of_any_kind():
    robot, limits = arm("two_link"), {"torque": [60.0, 25.0]}
    start, goal = np.array([[0.1, -0.4], [1.4, 0.3]])
    line = robot.fastest([start, goal], **limits)
    assert robot.fastest(da.quintic(start, goal, 7.0), **limits).duration == line.duration
    assert robot.fastest(line, **limits).duration == pytest.approx(line.duration, rel=1e-5)
    assert robot.fastest(robot.torques_along(da.quintic(start, goal, 7.0)), **limits).duration == pytest.approx(
        line.duration, rel=1e-4
    )
    for motion in (da.spline([0, 1, 3], [start, goal, [0.5, 0.9]]), da.trapezoidal(start, goal, [1.0, 9.0], 2.0)):
        fast = robot.fastest(motion, **limits)
        assert exceeded(fast, robot, **limits) <= 1e-6
        np.testing.assert_allclose(fast.q[[0, -1]], motion([0.0, motion.duration]).q, atol=1e-12)
        np.testing.assert_allclose(fast.qd[[0, -1]], 0, atol=1e-9)
        sampled = robot.fastest(robot.torques_along(motion, step=1e-3), **limits)  # the same curve through its positions
        assert fast.duration == pytest.approx(sampled.duration, rel=1e-2)


def test_the_hand_moves_along_a_line():
    robot, start, goal = da.robot("ur5"), np.array([0.5, -0.3, 0.3]), np.array([0.5, -0.1, 0.4])
    poses = [da.Pose.of(tuple(place), rpy=(0, 1.5, 0)) for place in (start, goal)]
    fast = robot.fastest(robot.follow(da.line(*poses, duration=1.0)))
    places, along = robot.pose(fast.q)[:, :3, 3] - start, (goal - start) / np.linalg.norm(goal - start)
    np.testing.assert_allclose(places, np.outer(places @ along, along), atol=1e-6)
    np.testing.assert_allclose(places[-1], goal - start, atol=1e-9)
    assert fast.duration < 0.7 and fast.over <= 1e-6


def test_it_does_not_depend_on_how_the_path_is_parametrized():
    robot, path = arm("panda"), waypoints(arm("panda"), 6, count=2)
    straight, stretched = path, da.spline([0.0, 2.0], path)
    limits = {"torque": PANDA, "velocity": 2.5}
    assert robot.fastest(stretched, **limits).duration == pytest.approx(robot.fastest(straight, **limits).duration, rel=1e-4)


@pytest.mark.parametrize(
    "path", [[[0.1, -0.4], [1.4, 0.3]], da.spline([0, 1, 3], [[0, 0], [1, 1], [0.5, 0.9]])], ids=("line", "spline")
)
def test_it_can_be_pickled(path):
    fast = arm("two_link").fastest(path, torque=[60.0, 25.0], points=50)
    again = pickle.loads(pickle.dumps(fast))
    np.testing.assert_array_equal(again(0.1).q, fast(0.1).q)
    assert again.switches == fast.switches


def test_the_figure_is_drawn():
    fast = arm("two_link").fastest(waypoints(arm("two_link"), 2), torque=[60.0, 25.0])
    drawn = fast.phase_plane()
    plane, lanes = drawn.axes
    speed = next(line for line in plane.lines if "fastest" in line.get_label())
    np.testing.assert_allclose(speed.get_ydata(), np.sqrt(fast.found.profile.x))
    assert len(lanes.lines) == 2


def test_without_native_code_it_is_the_same(monkeypatch):
    robot, path = arm("two_link", 0.5, 0.4), waypoints(arm("two_link"), 2)
    native = robot.fastest(path, torque=[60.0, 25.0], points=30).duration

    def missing(_):
        raise ImportError("llvmlite")

    monkeypatch.setattr(evaluator, "compile_program", missing)
    elimination._kernel.cache_clear()
    try:
        assert robot.fastest(path, torque=[60.0, 25.0], points=30).duration == pytest.approx(native, rel=1e-9)
    finally:
        elimination._kernel.cache_clear()


# --- what is refused ------------------------------------------------------------------------------------------------------------


def test_impossible_paths_name_the_point_and_the_joint():
    robot = arm("two_link")
    with pytest.raises(
        da.Error, match=r"at s = 0 of 1.41421: joint 'joint1' needs 19.61 N m to hold the robot there, and its limit is 10 N m"
    ):
        robot.fastest([[0.0, 0.0], [1.0, 1.0]], torque=[10.0, 15.0])
    worst = np.array([[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]])  # down, out, up: it is hardest in the middle
    with pytest.raises(da.Error, match=r"s = [12][.]\d* of 3: joint 'joint1' needs"):
        robot.fastest(worst, torque=[15.0, 15.0], velocity=0.5)  # with more speed it swings through


def test_a_joint_that_can_only_push_cannot_stop():
    with pytest.raises(
        da.Error,
        match=r"cannot be followed at s = 0.999 of 1: joint 'rail' needs 0 N to hold the robot there, and its limit is 1 N",
    ):
        slider().fastest([[0.0], [1.0]], torque=[[1.0], [2.0]])
    with pytest.raises(da.Error, match="nothing limits the speed"):
        arm("two_link").fastest([[0.0, 0.0], [1.0, 0.0]], acceleration=[np.inf, 5.0])


@pytest.mark.parametrize(
    "path, given, message",
    [
        ([[0, 0], [1, 1]], {}, "two_link has no torque limits; give torque=..., acceleration=..., or both"),
        ([[0, 0], [1, 1]], {"velocity": 1.0}, "has no torque limits"),
        ([[0, 0], [0, 0], [1, 1]], {"torque": 99}, "waypoints 0 and 1 are the same"),
        ([[0, 0]], {"torque": 99}, "waypoints (K, 2)"),
        ([[0, 0, 0], [1, 1, 1]], {"torque": 99}, "waypoints (K, 2)"),
        ([[0, 0], [np.nan, 1]], {"torque": 99}, "waypoint 1 is not"),
        ("up", {"torque": 99}, "must hold"),
        (da.quintic([0], [1], 1.0), {"torque": 99}, "the path has 1 coordinates"),
        (da.quintic([[0, 0]], [[1, 1]], 1.0), {"torque": 99}, "waypoints (K, 2)"),
        ([[0, 0], [1, 1]], {"torque": -5}, "torque of joint 'joint1' must be above 0, got -5"),
        ([[0, 0], [1, 1]], {"torque": 0}, "torque of joint 'joint1' must be above 0, got 0"),
        ([[0, 0], [1, 1]], {"torque": [[5, -9], [-5, 9]]}, "'joint1' must be the least below the greatest, got 5 to -5"),
        ([[0, 0], [1, 1]], {"torque": [1, 2, 3]}, "one number, or 2 (one for each joint of two_link), or the least and the greatest, (2, 2), got [1, 2, 3]"),
        ([[0, 0], [1, 1]], {"torque": 99, "velocity": 0}, "velocity of joint 'joint1' must be above 0, got 0"),
        ([[0, 0], [1, 1]], {"torque": 99, "points": 1}, "points must be an integer from 2 to 1000000"),
        ([[0, 0], [1, 1]], {"torque": 99, "points": [0, 1, 3]}, "points must increase from 0 to 1.414"),
        ([[0, 0], [1, 1]], {"torque": 99, "tolerance": 0}, "tolerance must be positive"),
        ([[0, 0], [1, 1]], {"torque": 99, "step": 0}, "fastest: step must be positive"),
    ],
)  # fmt: skip
def test_mistakes_are_told(path, given, message):
    with pytest.raises(da.Error) as told:
        arm("two_link").fastest(path, **given)
    assert message in str(told.value)


def test_a_path_beyond_the_range_of_a_joint_is_told():
    robot = da.robot("panda")
    middle = (robot.lower + robot.upper) / 2
    beyond = middle + np.eye(7)[3] * (robot.upper[3] - middle[3] + 0.1)
    with pytest.warns(
        da.LimitWarning, match=r"joint 'panda_joint4' of panda passes its limits, \S+ and \S+, on the path at s = 1\.\d+ of"
    ):
        robot.fastest([middle, beyond])
    robot.fastest([middle, 0.5 * (middle + beyond)])


def test_robots_that_have_no_such_paths():
    for name, message in (("four_bar", "loops"), ("solo12", "free joint")):
        robot = da.robot(name)
        with pytest.raises(da.Error, match=message):
            robot.fastest(np.zeros((2, robot.n)), torque=1.0)
    with pytest.raises(da.Error, match="load_friction"):
        da.robot("two_link").with_friction(load_friction=0.1).fastest([[0, 0], [1, 1]], torque=99)
