"""Joints that stick, slip and stop: time stepping, forward dynamics at rest, and smooth friction for other integrators."""

from dataclasses import replace

import event_driven
import numpy as np
import pytest
from builtin import ARMS
from conftest import sweep
from random_steps import random_steps
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.derived.sticking import Reaction, Stop, newton, settled
from dalembert.engine.program import program
from dalembert.simulation import moreau
from dalembert.simulation.step import AT_STOPS, STEP, STOPS
from dalembert.simulation.stops import Stops

STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
MASS, WEIGHT = 2.0, 2.0 * 9.81


def block(coulomb=0.0, damping=0.0, lower=-np.inf, **more):
    """A mass that slides up and down."""
    joint = da.Joint("slide", "prismatic", lower=lower, coulomb=coulomb, damping=damping, **more)
    return da.Robot("block", (da.Link("block", "base", joint, inertia=da.Inertia.from_com(MASS, (0, 0, 0), 0.0)),))


def arm(lower=-np.inf, upper=np.inf, **more):
    """A double pendulum that rubs; the elbow may have stops."""
    turn = da.Pose.coerce([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # z of the joint is y of the world
    along = da.Pose.coerce([[1, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]])
    one, two = (da.Inertia.from_com(m, (0, y, 0), np.diag([j, 0.002, j])) for m, y, j in ((1.5, 0.25, 0.03), (1.0, 0.2, 0.015)))
    shoulder = da.Joint("shoulder", damping=0.05, coulomb=0.6, **more)
    elbow = da.Joint("elbow", damping=0.02, coulomb=0.2, lower=lower, upper=upper, **more)
    links = (
        da.Link("upper", "base", shoulder, before=turn, inertia=one),
        da.Link("lower", "upper", elbow, before=along, inertia=two),
    )
    return da.Robot("arm", links)


def slope(steps, errors):
    """Of a line through the errors, both axes logarithmic: the order."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


# --- friction -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("torque", [0.0, WEIGHT, WEIGHT - 29.9, WEIGHT + 29.9])
def test_a_block_that_friction_holds_does_not_move(torque):
    still = block(coulomb=30.0).simulate([0.3], duration=10.0, torque=[torque])
    assert (still.q == 0.3).all() and not still.qd.any() and not still.qdd.any() and still.drift == 0


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
def test_a_block_stops_in_the_right_step_at_the_right_place(h):
    deceleration = (30 + WEIGHT) / MASS
    slide = block(coulomb=30.0).simulate([0.0], [1.3], 0.2, step=h)
    stopped = slide.time[np.argmax(slide.qd[:, 0] == 0)]
    assert 0 <= stopped - 1.3 / deceleration <= h
    assert abs(slide.q[-1, 0] - 1.3**2 / 2 / deceleration) <= deceleration * h**2 / 8 * (1 + 1e-9)
    assert (slide.q[slide.time >= stopped] == slide.q[-1]).all() and not slide.qd[slide.time >= stopped].any()


def test_stick_and_slip_of_two_joints_is_of_second_order():
    """Against pieces between events: nine of them in two seconds."""
    robot, start = arm(), [2.0, 0.5]
    exact, _, events = event_driven.simulate(robot, start, [0.0, 0.0], 2.0)
    assert len(events) == 9
    errors = [abs(robot.simulate(start, duration=2.0, step=h).q[-1] - exact).max() for h in STEPS]
    assert slope(STEPS, errors) >= 1.9 and errors[2] < 1e-4


def test_a_double_pendulum_comes_to_rest_and_stays():
    robot = arm()
    swing = robot.simulate([[2.0, 0.5], [-1.0, 2.5]], duration=20.0, every=10)
    for k in range(2):
        end = np.flatnonzero(swing.qd[k].any(axis=-1))[-1] + 1
        assert 1 < swing.time[end] < 15 and (swing.q[k, end:] == swing.q[k, end]).all()


@pytest.mark.parametrize(("name", "coulomb"), [("xarm7", None), pytest.param("panda", 0.5, marks=pytest.mark.slow)])
def test_arms_with_friction_for_ten_seconds(name, coulomb):
    robot = da.robot(name) if coulomb is None else da.robot(name).with_friction(coulomb=coulomb, damping=0.5)
    fall = robot.simulate(np.full(7, 0.3), duration=10.0, every=10)
    assert np.isfinite(fall.q).all() and not fall.doubt and fall.drift < 1e-4
    assert (fall.qd[-1] == 0).any() and (np.diff(fall.dissipated) >= 0).all()


def test_the_energy_lost_is_the_work_of_friction():
    robot, balances = arm(), []
    for h in STEPS:
        swing = robot.simulate([2.0, 0.5], duration=2.0, step=h)
        balances.append(np.abs(swing.balance).max())
        power = robot.power(swing.qd, robot.friction_force(swing.qd))  # independent of what the integrator sums
        work = (h * (power[1:] + power[:-1]) / 2).sum()
        assert abs(work - swing.dissipated[-1]) < 40 * h**2 * work and swing.dissipated[-1] > 5
        assert not swing.lost_at_stops.any()
    assert slope(STEPS, balances) > 1.9


def test_friction_gives_no_energy():
    """Where several joints come to rest within one step, too, and what stops one of them sends another back."""
    robot, rng = da.robot("two_link").with_gravity((0, 0, 0)).with_friction(coulomb=100.0), np.random.default_rng(0)
    slide = robot.simulate(rng.uniform(-1, 1, (1000, 2)), 0.2 * rng.normal(size=(1000, 2)), duration=0.05)
    assert (np.diff(slide.kinetic_energy) <= 0).all() and (np.diff(slide.dissipated) >= 0).all()
    assert not slide.qd[:, -1].any()


def test_stiff_damping_does_not_ring():
    """A time constant of 1e-5 s in steps of 1 ms: the block creeps down at the speed that damping allows."""
    fall = block(coulomb=1.0, damping=2e5).simulate([0.0], [1.0], 0.01)
    assert (fall.qd[:, 0] * np.sign(fall.qd[:, 0]) <= 1.0).all() and abs(fall.qd[-1, 0] + (WEIGHT - 1.0) / 2e5) < 2e-5


LAWS = {
    "offset and levels by direction": {"coulomb": (0.3, 0.7), "friction_offset": 0.1},
    "load": {"coulomb": 0.3, "load_friction": 0.2},
    "Stribeck": {"coulomb": 0.3, "static_friction": 0.5, "stribeck_speed": 0.1},
}


@pytest.mark.parametrize("law", sweep(LAWS, quick=(1,)))
def test_levels_that_depend_on_speed_or_load_leave_order_two(law):
    """They are frozen at the predictor: sliding, and coming to rest after many reversals, against what is known otherwise."""
    robot = da.robot("two_link").with_friction(damping=0.3, **LAWS[law])
    start, moving = [0.3, 0.0, 3.0, -8.0], lambda h: robot.simulate([0.3, 0.0], [3.0, -8.0], 0.1, step=h)
    assert (np.sign(moving(1e-3).qd) == [1, -1]).all()  # no joint turns round
    rates = lambda t, y: np.append(y[2:], robot.forward_dynamics(y[:2], y[2:], np.zeros(2)))  # noqa: E731
    exact = solve_ivp(rates, (0, 0.1), start, "DOP853", rtol=1e-12, atol=1e-13).y[:2, -1]
    assert slope(STEPS, [abs(moving(h).q[-1] - exact).max() for h in STEPS]) > 1.9
    swing = lambda h: robot.simulate([0.3, 0.0], duration=2.0, step=h, every=round(0.04 / h))  # noqa: E731
    fine = swing(2e-5)
    assert (np.diff(np.sign(fine.qd), axis=0) != 0).sum() > 4
    assert slope(STEPS, [abs(swing(h).q - fine.q).max() for h in STEPS]) > 1.8


# --- stops ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_motions_with_stops_converge_to_pieces_between_events(restitution):
    robot, start = arm(-0.3, 0.7), [2.0, 0.5]
    exact, _, events = event_driven.simulate(robot, start, [0.0, 0.0], 2.0, restitution)
    assert sum(what == "strikes" for _, what, _ in events) > 1
    errors = [
        abs(robot.simulate(start, duration=2.0, step=h, restitution=restitution).q[-1] - exact).max() for h in (1e-3, 6.25e-5)
    ]
    assert errors[0] < 1e-3 and errors[1] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_stops_are_of_first_order(restitution):
    """The mean error of many motions: that of one depends on where in a step a joint strikes."""
    robot, starts = arm(-0.3, 0.7), np.stack(np.meshgrid(np.linspace(1, 2.5, 16), np.linspace(-0.29, 0.69, 16)), axis=-1)
    ends = [robot.simulate(starts, duration=2.0, step=h, restitution=restitution, every=100).q[..., -1, :] for h in (*STEPS, 1e-5)]
    assert slope(STEPS, [np.abs(end - ends[-1]).max(axis=-1).mean() for end in ends[:-1]]) >= 1


def test_bounces_come_at_their_times_and_end():
    e, h = 0.7, 1e-3
    ball = block(lower=0.0)
    fall = ball.simulate([1.0], duration=4.0, step=h, restitution=e)
    first = np.sqrt(2 / 9.81)
    times = first * (1 + 2 * np.cumsum(e ** np.arange(1, 9)))
    found = fall.time[np.flatnonzero((fall.qd[:-1, 0] < 0) & (fall.qd[1:, 0] > 0)) + 1][:9]
    np.testing.assert_allclose(found, [first, *times], atol=h)
    assert fall.q[-1] == 0 and fall.qd[-1] == 0 and fall.q.min() >= 0
    rest = fall.time[np.flatnonzero(fall.qd[:, 0])[-1] + 1]
    assert abs(rest - first * (1 + 2 * e / (1 - e))) < 5 * h
    assert abs(fall.lost_at_stops[-1] - WEIGHT * 1.0) < 0.02 * WEIGHT and (fall.qdd[-1] == 0).all()


def test_wrenches_do_what_gravity_does_at_stops():
    """Their work in the step of a strike counts."""
    ball, options = block(lower=0.0), {"duration": 2.0, "restitution": 0.7}
    fall = ball.simulate([1.0], **options)
    weight = {"block": da.Wrench(force=(0.0, 0.0, -WEIGHT), frame="body")}
    pushed = ball.with_gravity((0, 0, 0)).simulate([1.0], **options, wrenches=weight)
    for name in ("q", "qd", "lost_at_stops"):
        np.testing.assert_allclose(getattr(pushed, name), getattr(fall, name), atol=1e-9)


def test_energy_does_not_grow_at_stops():
    robot = arm(-0.3, 0.7).without_friction()
    for e in (1.0, 0.9):
        swing = robot.simulate([[2.0, 0.5], [1.0, 0.0]], duration=20.0, restitution=e, every=20)
        energy = swing.energy - swing.energy[:, :1]
        assert energy.max() < 1e-4 * swing.kinetic_energy.max()
        assert (swing.q[..., 1] <= 0.7).all() and (swing.q[..., 1] >= -0.3).all()
        assert (energy[:, -1] < -1.0).all() == (e < 1)
    ball = block(lower=0.0).simulate([1.0], duration=20.0, restitution=1.0)
    assert np.abs(ball.energy - ball.energy[0]).max() < 1e-6


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_stops_give_no_energy(restitution):
    """Where several joints strike in one step, and where one that leaves its stop comes back within the step, too."""
    robot, rng = da.robot("panda").with_friction(damping=0.1), np.random.default_rng(0)
    q = robot.lower + rng.uniform(0, 1, (64, 7)) * (robot.upper - robot.lower)
    fall = robot.simulate(q, 2 * rng.normal(size=q.shape), duration=0.5, restitution=restitution)
    assert (np.diff(fall.lost_at_stops) >= -1e-12).all() and fall.lost_at_stops[:, -1].mean() > 0.01
    assert (fall.q >= robot.lower).all() and (fall.q <= robot.upper).all()


def test_a_strike_may_take_all_energy():
    """Both joints are at rest after it, so that there is no kinetic energy to divide by."""
    swing = arm(-0.3, 0.7).simulate([1.8, 0.298], duration=1.0, restitution=0.5)
    assert not swing.qd[941].any() and swing.qd[940].all() and swing.drift < 1e-4


@pytest.mark.parametrize("restitution", [0.0, 0.7, 1.0])
def test_stops_hold_joints_that_would_pass_both_within_a_step(restitution):
    """30 m/s and 1 cm: three times across in each step."""
    narrow = block(lower=0.0, upper=0.01)
    for speed in (-30.0, 30.0):
        motion = narrow.simulate([0.004], [speed], duration=0.1, restitution=restitution)
        assert motion.q.min() >= 0 and motion.q.max() <= 0.01 and motion.drift < 1e-9
        assert (np.diff(motion.energy) <= 1e-9 * motion.energy[0]).all()


def test_limits_that_are_no_stops_are_said_to_be_passed():
    with pytest.warns(
        da.LimitWarning, match=r"joint 'slide' of block passes its limits, -1 and inf, at t = 0\.452 s; restitution=0"
    ):
        block(lower=-1.0).simulate([0.0])
    with pytest.raises(da.Error, match=r"joint 'slide' starts beyond its stops, which are at -1 and inf"):
        block(lower=-1.0).simulate([[0.0], [-2.0]], restitution=0.5)
    for wrong in (-0.1, 1.5, np.nan):
        with pytest.raises(da.Error, match="restitution"):
            block(lower=-1.0).simulate([0.0], restitution=wrong)


# --- defaults and other integrators ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "euler", "semi_implicit_euler", "implicit_midpoint", "RK45", "LSODA", "BDF"])
def test_smooth_integrators_refuse_coulomb_friction(integrator):
    with pytest.raises(da.Error, match=f"arm has Coulomb friction, which jumps .* and {integrator} does not .*moreau.*slip_speed"):
        arm().simulate([0.0, 0.0], integrator=integrator)
    with pytest.raises(da.Error, match="stops"):
        arm(-1, 1).simulate([0.0, 0.0], integrator=integrator, slip_speed=1e-2, restitution=0.0)


def test_the_default_follows_the_robot():
    start, smooth = [2.0, 0.5], arm().without_friction()
    assert (arm().simulate(start).q == arm().simulate(start, integrator="moreau").q).all()
    assert (smooth.simulate(start).q == smooth.simulate(start, integrator="rk4").q).all()
    assert (smooth.simulate(start, restitution=0.0).q == smooth.simulate(start, integrator="moreau").q).all()  # no limits
    assert (arm().simulate(start, slip_speed=0.1).q == arm().simulate(start, slip_speed=0.1, integrator="rk4").q).all()
    for options, wrong in (
        ({"slip_speed": 1e-3}, "takes friction as it is"),
        ({"method": "kalman"}, "method"),
        ({"velocities": "quasi"}, 'velocities="joint"'),
        ({"events": [lambda t, q, qd: 0.0]}, "events"),
    ):
        with pytest.raises(da.Error, match=wrong):
            arm().simulate(start, integrator="moreau", **options)


@pytest.mark.parametrize("integrator", sweep(["LSODA", "BDF", "Radau"], quick=(0,)))
def test_smooth_friction_converges_and_creeps(integrator):
    robot, start = arm(), [2.0, 0.5]
    exact = robot.simulate(start, duration=1.0, step=1e-4).q[-1]
    found, asked = [], []
    for v in (1e-3, 1e-5):
        calls = []
        torque = lambda t, q, qd, calls=calls: calls.append(t) or np.zeros(2)  # noqa: E731
        found.append(robot.simulate(start, duration=1.0, integrator=integrator, slip_speed=v, torque=torque))
        asked.append(len(calls) - len(found[-1]))  # one for each sample comes afterwards
    assert abs(found[1].q[-1] - exact).max() < 2e-5 < abs(found[0].q[-1] - exact).max() and found[1].drift < 1e-5
    assert 100 < asked[1] <= asked[0]  # the steeper law takes no more evaluations
    v = 1e-3  # 10 N on a level of 30: it creeps at slip_speed atanh(f / c)
    creeps = block(coulomb=30.0).simulate([0.0], duration=0.5, integrator=integrator, slip_speed=v, torque=[WEIGHT + 10.0])
    assert abs(creeps.qd[-1, 0] / (v * np.arctanh(10 / 30)) - 1) < 1e-4


@pytest.mark.parametrize("velocities", sweep(["joint", "quasi", "momentum"], quick=(1,)))
def test_smooth_friction_of_fixed_steps(velocities):
    robot, start = arm(), [2.0, 0.5]
    found = robot.simulate(start, duration=0.5, slip_speed=0.05, velocities=velocities)
    fine = robot.simulate(start, duration=0.5, slip_speed=0.05, integrator="DOP853")
    assert abs(found.q[-1] - fine.q[-1]).max() < 1e-6 and found.drift < 1e-6
    np.testing.assert_allclose(found.qdd[100], np.gradient(found.qd, found.time, axis=0)[100], atol=1e-3)


def test_motions_that_leave_the_finite_numbers_say_why():
    robot, start = da.robot("xarm7"), np.zeros(7)
    with pytest.raises(da.Error, match=r"on: damping stops a joint within .*, less than the step of 0\.001 s; .* moreau or Radau"):
        robot.simulate(start, slip_speed=0.1)  # xarm7's damping, which no slip_speed helps against
    for torque in (np.full(7, np.nan), lambda t, q, qd: np.inf * (q - 1)):
        for options in ({}, {"slip_speed": 0.1}):
            with pytest.raises(da.Error, match=r"from t = 0\.001 s on, since the joint forces are not"):
                robot.simulate(start, torque=torque, duration=0.01, **options)
    with pytest.raises(da.Error, match="from t = 0 s on, since q0 or qd0 is not"):
        robot.simulate(np.full(7, np.nan), duration=0.01)


# --- forces, rollouts, controllers ----------------------------------------------------------------------------------------


def test_rollouts_are_the_same_alone_and_together():
    robot, rng = arm(-0.5, 0.9), np.random.default_rng(0)
    q, torque = rng.uniform(-0.4, 0.8, (1000, 2)), rng.normal(size=(1000, 60, 2))
    many = robot.simulate(q, duration=0.06, torque=torque, restitution=0.4, every=3)
    assert many.q.shape == (1000, 21, 2)
    for k in (0, 13, 999):
        one = robot.simulate(q[k], duration=0.06, torque=torque[k], restitution=0.4)
        for name in ("q", "qd", "lost", "work"):
            assert (getattr(one, name)[::3] == getattr(many, name)[k]).all()
    slow = robot.simulate(q[:5], duration=0.06, torque=torque[:5], restitution=0.4, every=3, backend="numpy")
    np.testing.assert_allclose(slow.q, many.q[:5], atol=1e-12)


@pytest.mark.slow
def test_functions_give_what_arrays_give():
    robot, start = arm(), [2.0, 0.5]
    known = robot.simulate(start, duration=0.2, torque=[0.3, -0.1])
    asked = robot.simulate(start, duration=0.2, torque=lambda t, q, qd: np.array([0.3, -0.1]))
    assert (known.q == asked.q).all() and (known.tau == asked.tau).all() and (known.work == asked.work).all()
    push = da.Wrench(force=(0.5, 0.0, 0.2), frame="body")
    turned = robot.simulate(start, duration=0.2, wrenches={"lower": push})
    world = robot.without_friction().simulate(
        start, duration=0.2, wrenches={"lower": da.Wrench(force=(0.5, 0, 0.2), frame="world")}
    )
    stepped = robot.without_friction().simulate(
        start, duration=0.2, wrenches={"lower": da.Wrench(force=(0.5, 0, 0.2), frame="world")}, integrator="moreau"
    )
    assert abs(turned.q - known.q).max() > 1e-3 and turned.drift < 1e-4
    assert abs(world.q - stepped.q).max() < 1e-5


@pytest.mark.slow
def test_controllers_are_of_second_order():
    """With a memory, too: an integral that friction winds up."""

    class Integral:
        memory = np.zeros(2)

        def __call__(self, t, q, qd, memory):
            return robot.gravity_force(q) - 20 * (q - [1.0, 0.5]) - 2 * qd - 10 * memory, q - [1.0, 0.5]

    robot, steps = arm(), STEPS[:4]
    fine = robot.simulate([0.0, 0.0], duration=0.5, step=5e-5, every=100, torque=Integral())
    found = [robot.simulate([0.0, 0.0], duration=0.5, step=h, torque=Integral()) for h in steps]
    assert slope(steps, [abs(x.q[-1] - fine.q[-1]).max() for x in found]) > 1.8
    assert slope(steps, [abs(x.memory[-1] - fine.memory[-1]).max() for x in found]) > 1.8
    assert not found[2].doubt


def test_friction_leaves_a_steady_state_error():
    robot, goal = arm(), np.array([1.0, 0.5])
    held = robot.simulate([0.0, 0.0], duration=4.0, torque=da.GravityPD(robot, goal, kp=20.0, kd=4.0))
    off = np.abs(held.q[-1] - goal)
    assert not held.qd[-1].any() and (off * 20.0 <= [0.6, 0.2]).all() and off.max() > 1e-3


def test_forces_stay_within_the_effort_limits():
    robot = block(coulomb=5.0, effort_limit=25.0)
    for torque in ([40.0], lambda t, q, qd: np.array([40.0])):
        for options in ({}, {"slip_speed": 1e-2}, {"slip_speed": 1e-2, "integrator": "LSODA"}):
            lifted = robot.simulate([0.0], torque=torque, saturate=True, duration=0.1, **options)
            assert (lifted.tau == 25.0).all() and 0 < lifted.qd[-1, 0] < 0.05  # 0.38 N are left

    class Winding:
        memory = np.zeros(1)

        def __call__(self, t, q, qd, memory):
            return 40.0 + 1e3 * memory, np.ones_like(memory)

    for options in ({}, {"slip_speed": 1e-2}):
        lifted = robot.simulate([[0.0], [1.0]], torque=Winding(), saturate=True, duration=0.1, **options)
        assert (lifted.tau == 25.0).all() and (lifted.qd[:, -1] < 0.05).all()
        np.testing.assert_allclose(lifted.memory[:, -1], 0.1, rtol=1e-9)
    with pytest.raises(da.Error, match="saturate"):
        robot.simulate([0.0], saturate="yes")


# --- forward dynamics at rest ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", sweep(range(4), quick=(0,)))
def test_sticking_accelerations_are_those_of_the_only_modes_that_fit(seed):
    rng = np.random.default_rng(seed)
    robot = da.random_robot(seed, "RPRR", (-1, 0, 1, 1)).with_friction(coulomb=rng.uniform(0, 8, 4), damping=0.3)
    q, tau = rng.uniform(-1, 1, (2, 60, 4))
    qd = rng.normal(size=(60, 4)) * rng.integers(0, 2, (60, 4))
    tau = robot.bias_force(q, qd) + 10 * tau
    found = robot.forward_dynamics(q, qd, tau, sticking=True)
    for k in range(60):
        qdd, force, _ = event_driven.accelerations(robot, q[k], qd[k], tau[k])
        np.testing.assert_allclose(found.qdd[k], qdd, atol=1e-9 * (1 + abs(qdd).max()))
        np.testing.assert_allclose(found.friction[k], force + 0.3 * qd[k], atol=1e-9 * (1 + abs(force).max()))
        assert ((found.qdd[k] == 0) == (qdd == 0)).all()
        one = robot.forward_dynamics(q[k], qd[k], tau[k], sticking=True)
        assert (one.qdd == found.qdd[k]).all() and (one.friction == found.friction[k]).all()
    moving = np.where(qd == 0, 0.5, qd)
    np.testing.assert_allclose(
        robot.forward_dynamics(q, moving, tau, sticking=True).qdd, robot.forward_dynamics(q, moving, tau), rtol=1e-9, atol=1e-9
    )


def test_sticking_with_a_load_is_consistent():
    """What friction holds is at most its level, of which the load is a part; what breaks away has the level of its direction."""
    robot = da.robot("two_link").with_friction(coulomb=1.0, load_friction=0.2)
    tau = np.random.default_rng(1).uniform(-30, 60, (200, 2))
    found = robot.forward_dynamics([0.3, 0.4], [0.0, 0.0], tau, sticking=True)
    load = tau - found.friction
    level = 1.0 + 0.2 * np.abs(load)
    assert (np.abs(found.friction) <= level * (1 + 1e-9)).all()
    slides = found.qdd != 0
    np.testing.assert_allclose(found.friction[slides], (np.sign(found.qdd) * level)[slides], rtol=1e-9)
    assert 20 < slides.sum() < 380
    np.testing.assert_allclose(robot.without_friction().inverse_dynamics([0.3, 0.4], [0.0, 0.0], found.qdd), load, atol=1e-8)


def test_sticking_takes_what_forward_dynamics_takes():
    robot, state = arm(), ([0.3, 0.2], [0.0, 0.0], [1.0, 2.0])
    push = {"lower": da.Wrench(force=(3.0, 0.0, 4.0), frame="world")}
    qdd, friction = robot.forward_dynamics(*state, sticking=True, wrenches=push)
    tau = robot.without_friction().inverse_dynamics(*state[:2], qdd, wrenches=push) + friction
    np.testing.assert_allclose(tau, state[2], atol=1e-12)
    qdd, friction = robot.forward_dynamics(*state, sticking=True, base_acceleration=[0, 0, 0, 0, 0, -9.81])
    np.testing.assert_allclose(robot.with_gravity((0, 0, 0)).forward_dynamics(*state, sticking=True).qdd, qdd, atol=1e-12)
    out = np.empty(2), np.empty(2)
    robot.forward_dynamics(*state, sticking=True, out=out)
    assert (out[0] == robot.forward_dynamics(*state, sticking=True).qdd).all()
    some = robot.with_friction(coulomb={"elbow": 0.0}, damping=0.0)
    assert some.forward_dynamics(*state, sticking=True).friction[1] == 0  # nothing rubs there, not even rounding
    with pytest.raises(da.Error, match="sticking=True has a method of its own"):
        robot.forward_dynamics(*state, sticking=True, method="kalman")


def test_sticking_without_inertia_is_refused():
    """The mass matrix is singular, and friction would be anything."""
    robot = da.robot("two_link").with_friction(coulomb=0.1)
    nothing = da.Inertia.from_com(0.0, (0, 0, 0), 0.0)
    bare = da.Robot("bare", (*robot.links, da.Link("tip", "link2", da.Joint("spin", coulomb=0.1), inertia=nothing)))
    with pytest.raises(da.Error, match="joint 'spin' of bare has no positive inertia about its axis"):
        bare.forward_dynamics(np.zeros(3), np.zeros(3), [1.0, 2.0, 3.0], sticking=True)


def test_accelerations_at_stops_behind_a_free_joint():
    """They are the slopes of the velocities: positions of joints stand one place further on than their velocities."""
    joint = {"lower": -0.5, "upper": 0.3, "coulomb": 0.1}
    links = [replace(link, joint=replace(link.joint, **joint)) for link in da.random_robot(3, "RRR").links]
    links[0] = replace(links[0], parent="body")
    body = da.Link("body", "base", da.Joint("float", "free"), inertia=da.Inertia.from_com(2.0, (0, 0, 0.05), (0.1, 0.2, 0.3)))
    robot = da.Robot("flying", (body, *links))
    wrenches = np.zeros((4, 6))
    wrenches[3, 4] = 0.5
    motion = robot.simulate(
        robot.neutral(), duration=0.3, torque=[0, 0, 0, 0, 0, 0, 0, 3, -1], restitution=0.0, wrenches=wrenches, step=1e-4, every=10
    )
    late = slice(-20, -1)
    assert (motion.q[late, -2] == 0.3).all()
    assert np.abs(motion.qdd[late, -2]).max() < 1e-9
    slopes = np.gradient(motion.qd, motion.time, axis=0)
    assert np.abs(motion.qdd - slopes)[late].max() < 1e-3 * np.abs(slopes[late]).max()


@pytest.mark.slow
def test_linearization_at_rest_leaves_the_jump_out():
    robot, state = arm(), ([0.3, 0.2], [0.0, 0.0], [1.0, 2.0])
    smooth = robot.with_friction(coulomb=0.0)
    for one, other in zip(robot.linearize(*state), smooth.linearize(*state), strict=True):
        assert (one == other).all()
    name = "inverse_dynamics_derivatives"
    ways = [("forward_dynamics_derivatives", {}), *((name, {"method": method}) for method in da.methods(name))]
    for name, options in ways:
        both = (getattr(x, name)(*state, **options) for x in (robot, smooth))
        assert all((one == other).all() for one, other in zip(*both, strict=True))
    loaded = robot.with_friction(static_friction=0.9, stribeck_speed=0.1, load_friction=0.2)
    for states, same in ((state, True), ((state[0], [0.1, -0.1], state[2]), False)):
        found, plain = (x.forward_dynamics_derivatives(*states).dqd for x in (loaded, smooth))
        assert np.allclose(found, plain, rtol=1e-12) == same


# --- the solver -----------------------------------------------------------------------------------------------------------


def problem(seed, n=6):
    """A random system with friction and stops."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n)) + 2 * np.eye(n)
    A, level = half @ half.T, rng.uniform(0, 2, n)
    stops = [[Stop(1, 1.0, rng.uniform(-0.5, 0.5))] if rng.random() < 0.4 else [] for _ in range(n)]
    return A, rng.normal(size=n) * 2, np.diagonal(np.linalg.inv(A)), [Reaction(c, c, s) for c, s in zip(level, stops, strict=True)]


def test_the_solution_minimizes_the_energy():
    """v of A v + r = b is the least of v'Av/2 - b'v + sum c |v| within the stops, whatever way it is found."""
    rng = np.random.default_rng(7)
    for seed in range(20):
        A, b, gamma, reactions = problem(seed)
        found, swept = settled(A, b, gamma * b, gamma, reactions), settled(A, b, gamma * b, gamma, reactions, iterations=0)
        assert not found.excess > 0 and not swept.excess > 0
        np.testing.assert_allclose(found.v, swept.v, atol=1e-9 * np.abs(found.v).max())

        def cost(v, A=A, b=b, reactions=reactions):
            return v @ A @ v / 2 - b @ v + sum(r.up * abs(x) for x, r in zip(v, reactions, strict=True))

        for size in (1e-2, 1e-4):
            other = found.v * (1 + size * rng.normal(size=len(b))) + size * rng.normal(size=len(b)) * np.abs(found.v).max()
            for i, r in enumerate(reactions):
                other[i] = min([other[i], *(s.bound for s in r.stops)])
            assert cost(other) >= cost(found.v) - 1e-12 * abs(cost(found.v))


def test_further_iterations_change_not_one_bit():
    for seed in range(20):
        A, b, gamma, reactions = problem(seed)
        right = settled(A, b, gamma * b, gamma, reactions)
        again = newton(A, b, right.v + gamma * right.r, gamma, reactions, 3)
        assert (again.v == right.v).all()


def test_steps_that_need_more_iterations_get_them(monkeypatch):
    """One iteration at a time, or all of them in Python: the same motion."""
    robot, q = arm(-0.5, 0.9), np.random.default_rng(2).uniform(-0.4, 0.8, (40, 2))
    usual = robot.simulate(q, duration=0.3, restitution=0.3)
    monkeypatch.setattr(moreau, "AT_STOPS", (1, 1))
    assert (robot.simulate(q, duration=0.3, restitution=0.3).q == usual.q).all()
    monkeypatch.setattr(moreau, "TRIES", 0)
    calls = []
    monkeypatch.setattr(moreau, "settled", lambda *given: calls.append(1) or settled(*given))
    np.testing.assert_allclose(robot.simulate(q, duration=0.3, restitution=0.3).q, usual.q, atol=1e-12)
    assert calls


@pytest.mark.slow
def test_the_step_is_a_program_that_anyone_can_run():
    """By the rules of `stepping`, here with Python's floats."""
    robot, h = arm(-0.3, 0.7), 1e-3
    stops = Stops(robot.lower, robot.upper, 0.4)
    recorded = program(robot, STEP, optional=tuple(STOPS), stops=stops.which, iterations=AT_STOPS)
    lower, upper, restitution = stops.arrays
    fixed = {"tau": [0.0, 0.0], "tau_middle": [0.0, 0.0], "step": h, "lower": lower, "upper": upper, "restitution": restitution}
    state = {"q": [2.0, 0.5], "v": [0.0, 0.0], "energies": [0.0] * 3, "done": 0.0, "guess": np.zeros((2, 2)), "again": 0.0}
    while state["done"] < 400:
        results = da.replay(recorded, {**fixed, **{k: np.asarray(x).tolist() for k, x in state.items()}})
        state |= dict(zip(("q", "v", "energies", "done", "guess"), results, strict=False))
        state["again"] = float(state["done"] < 0)
        state["done"] = -1 - state["done"] if state["done"] < 0 else state["done"]
    ours = robot.simulate([2.0, 0.5], duration=0.4, restitution=0.4)
    np.testing.assert_allclose(state["q"], ours.q[-1], atol=1e-12)
    assert ours.lost_at_stops[-1] > 0.01


@pytest.mark.parametrize("name", sweep(ARMS, (2, 5)))
def test_random_steps_all_converge(name):
    """`python tests/random_steps.py --steps 5000000` takes as many as one likes."""
    found = random_steps(name, 20_000, seed=3)
    assert found.steps >= 20_000 and found.unsolved == 0 and found.nonfinite == 0


# --- MuJoCo ---------------------------------------------------------------------------------------------------------------


def test_mujoco_hardened_converges_to_ours():
    mujoco = pytest.importorskip("mujoco")
    robot, start, ends = arm(), [2.0, 0.5], []
    exact = robot.simulate(start, duration=1.0, step=1e-4).q[-1]
    for h in (2e-3, 5e-4, 1.25e-4):
        model = mujoco.MjModel.from_xml_string(hardened(h))
        data = mujoco.MjData(model)
        data.qpos[:] = start
        for _ in range(round(1.0 / h)):
            mujoco.mj_step(model, data)
        ends.append(np.abs(data.qpos - exact).max())
    assert ends[2] < ends[1] < ends[0] and ends[2] < 2e-3


def hardened(h):
    """The arm in MuJoCo, with friction as hard as it gets."""
    solver = f'solreffriction="{2 * h} 1" solimpfriction=".9999 .9999 .001 .5 2"'
    joint = f'<joint type="hinge" axis="0 1 0" {solver} damping="{{}}" frictionloss="{{}}"/>'
    inertial = '<inertial pos="0 0 {}" mass="{}" diaginertia="{} {} 0.002"/>'
    lower = joint.format(0.02, 0.2) + inertial.format(-0.2, 1.0, 0.015, 0.015)
    upper = joint.format(0.05, 0.6) + inertial.format(-0.25, 1.5, 0.03, 0.03)
    return (
        f'<mujoco><option timestep="{h}" gravity="0 0 -9.81" integrator="implicitfast" tolerance="1e-14" iterations="200"/>'
        f'<worldbody><body>{upper}<body pos="0 0 -0.5">{lower}</body></body></worldbody></mujoco>'
    )
