"""Sizing: motor curves, payloads in closed form, duty cycles, worst states; each against brute force."""

import itertools
import json
import re
from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.cli import main
from dalembert.sizing.duty import duty_cycle, motion_of
from dalembert.sizing.loads import carrying, largest
from dalembert.sizing.motors import limits_at, motor_curves
from dalembert.sizing.payload_map import _corners, _pair, raster
from dalembert.sizing.worst import Case, forces

CURVE = da.MotorCurve([0.0, 1.0, 3.0], [90.0, 80.0, 40.0], [50.0, 45.0, 20.0])
RUBBING = {
    "damping": 0.7,
    "coulomb": 1.5,
    "friction_offset": 0.2,
    "static_friction": 2.0,
    "stribeck_speed": 0.1,
    "load_friction": 0.15,
}


@cache
def arm():
    return da.random_robot(5, "RRPR").with_armature(0.05).with_friction(**RUBBING)


def a_case(robot, payload=(0.5, 3.0)):
    n = robot.n
    ranges = -np.ones(n), np.ones(n), np.full(n, 1.5), np.linspace(1.0, 2.0, n)
    return Case(carrying(robot, (0.1, -0.2, 0.3)), motor_curves(robot, CURVE), payload, *ranges)


def beyond(robot, q, qd, qdd, mass):
    """How far the joint forces of a loaded robot are beyond the curve."""
    tau = robot.with_payload(mass, (0.1, -0.2, 0.3)).inverse_dynamics(q, qd, qdd, backend="numpy")
    return (np.abs(tau) - CURVE.peak_at(qd)).max(axis=-1)


# --- motor curves


def test_a_curve_is_straight_between_its_points_and_nothing_beyond():
    assert CURVE.peak_at([[0.5, -2.0], [3.0, 3.1]]).tolist() == [[85.0, 60.0], [40.0, 0.0]]
    assert CURVE.continuous_at(-1.5) == 38.75
    assert da.MotorCurve([0.0], [7.0]).peak_at([0.0, 1e9]).tolist() == [7.0, 7.0]
    geared = CURVE.geared(10.0, 0.9)
    assert np.allclose(geared.peak_at(np.array([0.5, 2.0]) / 10), 9 * CURVE.peak_at([0.5, 2.0]), rtol=1e-15)
    assert da.MotorCurve([0.0, 1.0, 3.0], [90.0, 80.0, 40.0], [50.0, 45.0, 20.0]) == CURVE


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0, 2.0], [1.0, 1.0]), "must rise from 0"),
        (([0.0, 2.0, 2.0], [1.0, 1.0, 1.0]), "must rise from 0"),
        (([0.0, 1.0], [1.0]), "one a speed: must be 2 numbers"),
        (([0.0, 1.0], [1.0, -1.0]), "peak torques of a motor curve must not be negative"),
        (([0.0, 1.0], [1.0, 1.0], [1.0, 2.0]), "at speed 1 it is 2, and the peak 1"),
        (([0.0, np.inf], [1.0, 1.0]), "must be finite"),
        (([], []), "must rise from 0"),
    ],
)
def test_curves_check_themselves(given, said):
    with pytest.raises(da.Error, match=re.escape(said)):
        da.MotorCurve(*given)


def test_curves_from_files(tmp_path):
    one, many, rows = (tmp_path / name for name in ("one.toml", "many.toml", "rows.csv"))
    one.write_text("speed = [0, 1, 3]\npeak = [90, 80, 40]\ncontinuous = [50, 45, 20]\n")
    many.write_text(
        "[joint1]\nspeed = [0, 10]\npeak = [1, 0.5]\nratio = 5.0\nefficiency = 0.8\n[joint2]\nspeed = [0]\npeak = [3]\n"
    )
    rows.write_text("joint, speed, peak\njoint1,0,4\njoint1,2,2\njoint2,0,3\n")
    assert da.MotorCurve.load(one) == CURVE
    expected = {"joint1": da.MotorCurve([0.0, 2.0], [4.0, 2.0]), "joint2": da.MotorCurve([0.0], [3.0])}
    assert da.MotorCurve.load(many) == da.MotorCurve.load(rows) == expected
    two = da.robot("two_link")
    assert motor_curves(two, str(rows)) == tuple(expected.values()) == motor_curves(two, list(expected.values()))
    assert motor_curves(two, {"joint2": CURVE}) == (None, CURVE)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "speed = [0, 1]", "has speed = [...] and peak = [...]; 'speed' is there"),
        ("a.toml", "speed = [0, 1]\npeek = [1, 1]", "did you mean 'peak'"),
        ("a.toml", "[j]\nspeed = [1]\npeak = [1]", "[j]: the speeds of a motor curve must rise from 0"),
        ("a.toml", "speed = [0\n", "not valid TOML"),
        ("a.toml", "x = 1\n[j]\nspeed = [0]\npeak = [1]", "[x]: must have speed"),
        ("a.csv", "speed,torque\n0,1\n", "there is no column peak"),
        ("a.csv", "speed,peak\n0,much\n", "line 2: peak must be a number, got 'much'"),
        ("a.csv", "speed,peak\n", "there are no rows"),
        ("a.csv", "joint,speed,peak\na,0,1\n,0,1\n", "some rows name a joint"),
        ("a.txt", "", "are read from .toml or .csv files"),
    ],
)
def test_mistakes_in_files_of_curves_are_told(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(da.Error, match=re.escape(said)):
        da.MotorCurve.load(tmp_path / name)


def test_limits_of_the_model_are_its_curves():
    ur5 = da.robot("ur5")
    curves = motor_curves(ur5, None)
    efforts = [joint.effort_limit for joint in ur5.joints]
    speeds = np.array([joint.velocity_limit for joint in ur5.joints])
    assert limits_at(curves, speeds).tolist() == efforts
    assert limits_at(curves, 1.01 * speeds).tolist() == [0.0] * 6
    assert motor_curves(da.robot("two_link"), None) == (None, None)


# --- payloads


def test_the_largest_payload_is_where_the_forces_meet_the_curve():
    """With friction of every kind: a little more is too much, and with it some joint is at its limit."""
    robot, rng = arm(), np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 400, 4))
    most = robot.largest_payload(q, qd, qdd, motor=CURVE, com=(0.1, -0.2, 0.3))
    assert most.shape == (400,) and (most > 0).sum() > 100
    for k in np.flatnonzero(np.isfinite(most) & (most > 0))[:8]:
        state = q[k], qd[k], qdd[k]
        assert abs(beyond(robot, *state, most[k])) < 1e-9 * 90
        assert beyond(robot, *state, 1.001 * most[k]) > 0
        assert all(beyond(robot, *state, share * most[k]) <= 1e-9 for share in (0.0, 0.3, 0.7))
    for k in np.flatnonzero(most == 0)[:8]:
        assert beyond(robot, q[k], qd[k], qdd[k], 0.0) > 0


def test_the_largest_payload_broadcasts_and_needs_limits():
    robot = da.robot("ur5")
    q = np.zeros((3, 1, 6))
    assert robot.largest_payload(q, np.zeros((2, 6))).shape == (3, 2)
    assert robot.largest_payload(np.zeros(6)).shape == ()
    with pytest.raises(da.Error, match="two_link has no torque limits; give motor="):
        da.robot("two_link").largest_payload([0.0, 0.0])
    with pytest.raises(da.Error, match=r"q must have the shape \(\.\.\., 6\)"):
        robot.largest_payload([0.0])
    some = robot.largest_payload([np.zeros(6), np.full(6, np.nan), np.ones(6)])
    assert np.isnan(some[1]) and (some[[0, 2]] == robot.largest_payload([np.zeros(6), np.ones(6)])).all()
    still = robot.with_gravity((0, 0, 0))
    assert still.largest_payload(np.zeros(6)) == np.inf


def test_the_largest_payload_over_all_accelerations():
    """The closed form against all corners of the accelerations, each by itself."""
    case, rng = a_case(arm()), np.random.default_rng(1)
    q, qd = rng.uniform(-1, 1, (2, 30, 4))
    found = largest(case.arm.parts(q, qd), case.arm.allowed(case.curves, qd), case.acceleration)
    corners = case.acceleration * np.array(list(itertools.product((-1, 1), repeat=4)))
    each = case.arm.robot.largest_payload(q, qd, corners[:, None], motor=CURVE, com=case.arm.com)
    assert np.allclose(found, each.min(axis=0), rtol=1e-9)
    assert (found > 0).sum() > 10


# --- forces over all accelerations and payloads


def test_extremes_over_accelerations_and_payloads_are_those_of_the_corners():
    case, rng = a_case(arm()), np.random.default_rng(2)
    q, qd = rng.uniform(-1, 1, (2, 20, 4))
    made = forces(case, qd, case.arm.parts(q, qd))
    corners = case.acceleration * np.array(list(itertools.product((-1, 1), repeat=4)))
    for k, mass in enumerate(case.payload):
        tau = case.arm.robot.with_payload(mass, case.arm.com).inverse_dynamics(q, qd, corners[:, None])
        assert np.allclose(made.high[k], tau.max(axis=0), rtol=1e-10) and np.allclose(made.low[k], tau.min(axis=0), rtol=1e-10)
    inside = rng.uniform(-1, 1, (50, 20, 4)) * case.acceleration
    for mass in (0.5, 1.3, 2.9):
        tau = np.abs(case.arm.robot.with_payload(mass, case.arm.com).inverse_dynamics(q, qd, inside))
        assert (tau <= made.size.max(axis=0) * (1 + 1e-12)).all()


# --- duty cycles


def test_duty_cycles_against_fine_sums():
    robot = arm()
    path = da.quintic([0.0] * 4, [1.0, -0.8, 0.5, 1.0], duration=1.3)
    motion = robot.torques_along(path, 1e-3)
    case = a_case(robot)
    found = duty_cycle(case.arm, case.curves, case.payload, motion_of(robot, motion))
    loaded = [robot.with_payload(m, case.arm.com).torques_along(path, 1e-3) for m in case.payload]
    rms = [np.sqrt(np.trapezoid(x.tau**2, x.time, axis=0) / 1.3) for x in loaded]
    assert np.allclose(found.rms, np.max(rms, axis=0), rtol=1e-4)  # friction jumps within a step
    assert np.allclose(found.tau, loaded[1].tau, rtol=1e-10, atol=1e-10)
    shares = np.max([np.abs(x.tau) / CURVE.peak_at(x.qd) for x in loaded], axis=(0, 1))
    assert np.allclose(found.margin, 1 / shares, rtol=1e-9)
    assert np.allclose(np.abs(found.tightest), CURVE.peak_at(found.tightest_speed) / found.margin, rtol=1e-9)
    assert np.allclose(np.abs(found.peak), np.max([np.abs(x.tau) for x in loaded], axis=(0, 1)), rtol=1e-9)
    speed = np.sqrt(np.trapezoid(motion.qd**2, motion.time, axis=0) / 1.3)
    assert np.allclose(found.continuous, CURVE.continuous_at(speed), rtol=1e-5)
    assert np.allclose(found.rms_margin, found.continuous / found.rms)


# --- the whole


@cache
def sized():
    robot = da.robot("two_link").with_friction(damping=0.5, coulomb=1.0)
    path = da.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0)
    return robot.size((0, 2), CURVE, path, velocity=[2.0, 2.5], acceleration=2.0, samples=4000)


def test_worst_states_are_states_and_nothing_sampled_is_worse():
    found, rng = sized(), np.random.default_rng(3)
    robot = found.robot
    for x in (*found.strongest, *found.tightest):
        tau = robot.with_payload(x.payload).inverse_dynamics(x.q, x.qd, x.qdd)[x.joint]
        assert np.isclose(tau, x.tau, rtol=1e-12) and x.limit == CURVE.peak_at(x.qd)[x.joint]
        assert (np.abs(x.qd) <= found.case.velocity).all() and (np.abs(x.qdd) <= 2.0).all()
        assert (np.abs(x.q) <= np.pi).all()
    q, qd, qdd = (rng.uniform(-x, x, (100_000, 2)) for x in (np.pi, found.case.velocity, 2.0))
    qd[::2], qdd[::2] = np.sign(qd[::2]) * found.case.velocity, np.sign(qdd[::2]) * 2.0
    for mass in (0.0, 1.0, 2.0):
        tau = np.abs(robot.with_payload(mass).inverse_dynamics(q, qd, qdd))
        assert (tau <= found.peak).all() and (CURVE.peak_at(qd) / tau >= found.margin).all()
    heavy = np.abs(robot.with_payload(2.0).inverse_dynamics(q, qd, qdd)).max(axis=0)
    assert (heavy > 0.98 * found.peak).all()
    for j in range(2):  # the envelope holds them, too
        k = np.clip(((qd[:, j] / found.case.velocity[j] + 1) / 2 * 48).astype(int), 0, 47)
        middle = tau[np.abs(k - 23.5) < 20, j]
        assert middle.max() <= 1.02 * np.abs(found.envelope[:, j]).max()


def test_the_largest_payload_of_all_states_is_allowed_and_no_more():
    robot = da.robot("two_link")
    strong = da.MotorCurve([0.0, 4.0], [200.0, 150.0])
    found = robot.size((0, 2), strong, velocity=2.0, acceleration=2.0, samples=4000)
    again = robot.size(found.largest_payload, strong, velocity=2.0, acceleration=2.0, samples=4000)
    assert abs(again.margin.min() - 1) < 1e-6
    q, qd = np.split(found.heaviest_at, 2)
    corners = 2.0 * np.array(list(itertools.product((-1, 1), repeat=2)))
    assert np.isclose(robot.largest_payload(q, qd, corners, motor=strong).min(), found.largest_payload, rtol=1e-9)


def test_the_payload_map_against_each_pose():
    found = sized()
    whole, robot = found.map, found.robot
    assert whole.joints == (0, 1) and whole.standing.shape == (61, 61)
    assert np.allclose(whole.standing, robot.largest_payload(whole.q, motor=CURVE), rtol=1e-12)
    signs = np.array(list(itertools.product((-1, 1), repeat=2)))[:, None, None, None]
    each = robot.largest_payload(whole.q, found.case.velocity * signs, 2.0 * signs[:, :, 0][:, None].swapaxes(0, 1), motor=CURVE)
    assert np.allclose(whole.moving, np.minimum(each.min(axis=(0, 1)), whole.standing), rtol=1e-9)
    up = robot.pose(whole.q)[..., :3, 3] @ -robot.gravity / np.linalg.norm(robot.gravity)
    assert np.allclose(whole.place[..., 1], up)
    shown, (left, right, low, high) = raster(whole, whole.standing, 40)
    assert np.nanmin(shown) >= whole.standing.min() - 1e-9 and shown.shape == (41, 41)
    assert left < -1.9 and right > 1.9 and low < -1.9 and high > 1.9


def test_the_section_has_the_joints_that_cover_most():
    for name, pair in {"ur5": (1, 2), "puma560": (1, 2), "panda": (1, 3), "stanford": (1, 2), "planar_3r": (0, 1)}.items():
        robot = da.robot(name)
        ends = np.nan_to_num(robot.lower, neginf=-np.pi), np.nan_to_num(robot.upper, posinf=np.pi)
        case = Case(carrying(robot, (0.0, 0.0, 0.0)), motor_curves(robot, CURVE), (0.0, 1.0), *ends, *np.ones((2, robot.n)))
        assert _pair(case) == pair


def test_the_map_at_full_speed_has_all_directions():
    for n in (1, 3, 7, 10):
        assert len(np.unique(_corners(n), axis=0)) == 2**n
    some = _corners(12)
    assert len(some) == 1024 and (np.abs(some) == 1).all()


def test_the_density_counts_all_states():
    """Against states that NumPy draws and counts."""
    found, rng = sized(), np.random.default_rng(4)
    counts = found.density.counts
    assert counts.shape == (2, 48, 48) and (counts.sum(axis=(1, 2)) == 1_000_000).all()
    q, qd, qdd = (rng.uniform(-x, x, (200_000, 2)) for x in (np.pi, found.case.velocity, 2.0))
    mass = rng.uniform(0, 2, (200_000, 1))
    empty, full = (robot.inverse_dynamics(q, qd, qdd) for robot in (found.robot, found.robot.with_payload(2.0)))
    tau = (1 - mass / 2) * empty + mass / 2 * full
    for j in range(2):
        ends = [[-found.case.velocity[j], found.case.velocity[j]], [-found.peak[j], found.peak[j]]]
        other = np.histogram2d(qd[:, j], tau[:, j], bins=48, range=ends)[0] / 2e5
        share = counts[j] / 1e6
        assert (np.abs(share - other) < 6 * np.sqrt(share / 2e5 + 1e-10)).all() and np.abs(share - other).sum() < 0.1


def test_the_envelope_beside_that_of_a_sweep():
    """Samples with accelerations at all corners stay within it, and come near it."""
    found = sized()
    over = {"q": (-np.pi, np.pi), "qd": (-found.case.velocity, found.case.velocity), "qdd": (-2.0, 2.0), "payload": (0.0, 2.0)}
    made = found.robot.sweep("inverse_dynamics", over, 2_000_000, reduce={"envelope": {"bins": 48}}, progress=False)
    other = made.envelope["inverse_dynamics"]
    size = found.peak[:, None]
    for ours, theirs in ((found.envelope[1], other.maximum), (-found.envelope[0], -other.minimum)):
        assert (theirs < ours + 0.01 * size).all() and (theirs > ours - 0.1 * size).all()


def test_defaults_of_ranges():
    joints = [da.Joint(name, lower=-2.0, upper=1.0, velocity_limit=2.5, effort_limit=90.0) for name in ("a", "b")]
    rows = [da.DHRow(a=0.5, joint=joint, inertia=da.Inertia.rod(2.0, (-0.5, 0, 0), (0, 0, 0))) for joint in joints]
    robot = da.Robot.from_dh(rows, convention="standard", gravity=(0, -9.81, 0))
    found = robot.size(samples=100)
    assert found.case.velocity.tolist() == [2.5, 2.5] and found.case.acceleration.tolist() == [5.0, 5.0]
    assert found.case.lower.tolist() == [-2.0, -2.0] and found.case.payload == (0.0, 0.0)
    path = da.quintic(np.zeros(2), np.full(2, 0.5), duration=1.0)
    found = robot.size(
        2.0, duty=path, samples=100, velocity={"b": 1.0}, lower={"b": -0.5}, motor={"a": da.MotorCurve([0.0, 2.0], [5.0, 5.0])}
    )
    assert found.case.velocity.tolist() == [2.0, 1.0] and found.case.lower.tolist() == [-2.0, -0.5]
    peak = np.abs(robot.torques_along(path).qdd).max(axis=0)
    assert np.allclose(found.case.acceleration, peak) and found.case.payload == (2.0, 2.0)
    loose = da.robot("two_link").size(velocity=1.0, samples=100)
    assert (loose.case.upper == np.pi).all() and loose.map is None and not np.isfinite(loose.margin).any()


def test_one_joint_at_rest_and_coupled_joints(tmp_path):
    """What has no range, no force or fewer joints than links is sized and drawn all the same."""
    from dalembert.studies.report.sizing import section

    one = da.robot("two_link").lock({"joint2": 0.3}).with_gravity((0, 0, 0))
    rest = one.size((0, 1), CURVE, velocity=0.0, acceleration=0.0, samples=20)
    assert rest.peak.tolist() == [0.0] and rest.largest_payload == np.inf and rest.margin.tolist() == [np.inf]
    coupled = da.random_robot(1, "RRR").with_coupling({"joint3": {"joint2": 0.5}})
    found = coupled.size((0, 1), CURVE, velocity=1.0, samples=200)
    worst = found.tightest[1]
    tau = coupled.with_payload(worst.payload).inverse_dynamics(worst.q, worst.qd, worst.qdd)
    assert np.isclose(tau[1], worst.tau, rtol=1e-12)
    for sizing in (rest, found):
        sizing.save(tmp_path / "sizing.png")
        assert section(sizing).body.count('<figure class="pose">') == sizing.robot.n


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: da.robot("two_link").size(), "joint 'joint1' of two_link has no velocity limit; give velocity=1.5"),
        (lambda: da.robot("two_link").size((5, 0), velocity=1.0), "payload must be a mass in kg, or a range"),
        (lambda: da.robot("two_link").size(-1, velocity=1.0), "payload must be a mass in kg"),
        (
            lambda: da.random_robot(1, "RP").size(velocity=1.0),
            "joint 'joint2' is prismatic and has no limits; give lower={'joint2': ...}",
        ),
        (
            lambda: da.robot("two_link").size(velocity=[1.0, 2.0, 3.0]),
            "velocity must be one number, or 2 (one for each joint of two_link)",
        ),
        (lambda: da.robot("two_link").size(velocity=-1.0), "velocity of joint 'joint1' must be finite and not negative, got -1"),
        (lambda: da.robot("two_link").size(velocity={"elbow": 1.0}), "unknown joint of two_link: 'elbow'"),
        (lambda: da.robot("two_link").size(velocity=1.0, lower=2.0, upper=1.0), "joint 'joint1': lower 2 is above upper 1"),
        (lambda: da.robot("two_link").size(velocity=1.0, motor=[CURVE]), "one curve for each of the 2 joints of two_link, got 1"),
        (lambda: da.robot("two_link").size(velocity=1.0, motor=5.0), "motor must be a da.MotorCurve"),
        (lambda: da.robot("two_link").size(velocity=1.0, motor={"joint3": CURVE}), "unknown joint of two_link in motor: 'joint3'"),
        (
            lambda: da.robot("two_link").size(velocity=1.0, motor=CURVE, section="joint9"),
            "unknown joint of two_link in section: 'joint9'",
        ),
        (lambda: da.robot("two_link").size(velocity=1.0, link="base"), "'base' does not move"),
        (lambda: da.robot("two_link").size(velocity=1.0, samples=0), "samples must be an integer from 1"),
        (lambda: da.robot("two_link").size(velocity=1.0, duty="motion.csv"), "follows a path of 2 coordinates"),
        (lambda: da.robot("four_bar").size(velocity=1.0), "size does not support closed loops, which four_bar has"),
        (
            lambda: da.robot("humanoid").size(velocity=1.0),
            "size needs an arm with one motor for each joint, and humanoid has a free joint",
        ),
        (lambda: da.Robot("none", ()).size(), "none has no joints"),
        (lambda: sized().save("sizing.txt"), "a sizing is saved as .csv, .json, .png, .svg, .pdf"),
    ],
)
def test_mistakes_are_told_in_a_line(call, said):
    with pytest.raises(da.Error, match=re.escape(said)):
        call()


def test_a_sizing_prints_saves_and_draws_itself(tmp_path):
    found = sized()
    assert "Too weak at their worst states: joint1" in repr(found) and "overheats joint1" in repr(found)
    saved = found.save(tmp_path / "sizing.csv").read_text().splitlines()
    assert saved[0].startswith("joint,speed,acceleration,peak") and float(saved[1].split(",")[3]) == found.peak[0]
    held = json.loads(found.save(tmp_path / "sizing.json").read_text())
    assert held["margin"] == found.margin.tolist() and held["tightest"][1]["q"] == found.tightest[1].q.tolist()
    drawn = found.plot()
    assert len(drawn.axes) >= 6 and drawn.get_suptitle() == "two_link with 0 to 2 kg on link2"
    assert found.save(tmp_path / "sizing.svg").stat().st_size > 10_000


def test_the_page_and_the_section_of_a_report(tmp_path):
    from dalembert.studies.report.sizing import section, write

    found = sized()
    body = section(found).body
    assert body.count("<svg") >= 2 + 2 + 2 + 4 and body.count("data:image/png;base64,") == 2 + 4
    assert "margin 0." in body and "Too weak" in body and "qdd_joint2" in body
    page = write(tmp_path / "sizing.html", found).read_text()
    assert page.count("<section") == 1 and "<script" not in page and "dalembert sizing" in page
    with pytest.raises(da.Error, match="sized must be a dalembert"):
        da.study("two_link", tmp_path, sized=3)


@pytest.mark.slow
def test_a_study_has_the_section(tmp_path):
    text = da.study("two_link", tmp_path, sized=sized(), progress=False).read_text()
    assert text.count('<section id="sizing">') == 1 and '<a href="#sizing">Sizing</a>' in text


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "motors.toml").write_text("speed = [0, 1, 3]\npeak = [90, 80, 40]\n")
    robot = da.robot("two_link")
    robot.torques_along(da.quintic([0.0, 0.0], [1.0, 0.5], duration=1.0), 0.1).to_csv("duty.csv")
    given = ["--motor", "motors.toml", "--duty", "duty.csv", "--velocity", "2", "--samples", "5e2", "-o", "a.html", "-o", "a.csv"]
    assert main(["size", "two_link", "--payload", "0:2@0,0,0.1", *given]) == 0
    told = capsys.readouterr()
    assert "two_link with 0 to 2 kg on link2 at (0, 0, 0.1) m: 500 states" in told.out and "wrote a.html" in told.err
    assert "acceleration" in (tmp_path / "a.csv").read_text()
    assert main(["size", "two_link", "--payload", "0:2"]) == 2
    assert "give --velocity 1.5 (rad/s or m/s)" in capsys.readouterr().err
    for wrong, said in (("x:2", "--payload must be a number"), ("0:1:2", "unknown link or frame"), ("1@2", "needs 3 numbers")):
        assert main(["size", "two_link", "--payload", wrong, "--velocity", "1"]) == 2
        assert said in capsys.readouterr().err
    assert main(["size", "two_link", "-o", "a.txt"]) == 2 and "a sizing is written as" in capsys.readouterr().err
