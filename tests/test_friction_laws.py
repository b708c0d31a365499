"""Friction beyond Coulomb and viscous: offsets, levels by direction, Stribeck's law, and friction of the load."""

import numpy as np
import pytest

import dalembert as da
from dalembert.derived.joints import friction_law
from dalembert.model.files import parse_toml, to_toml

LAWS = {"damping": 0.3, "coulomb": [[0.4, 0.6]], "static_friction": 0.9, "stribeck_speed": 0.2, "load_friction": 0.1}
ARM = da.random_robot(5, "RPR").with_friction(**LAWS).with_armature(0.2)
BARE = ARM.without_friction()
RNG = np.random.default_rng(8)
Q, QD, QDD = RNG.uniform(-2, 2, (3, 50, 3))


def written(v, damping, low, high, static, speed):
    """The law without the load, in other words."""
    level = np.where(v > 0, high, low)
    mean = (low + high) / 2
    return damping * v + np.sign(v) * (level + (static - mean) / (1 + v**2 / speed**2))


def test_values():
    expected = written(QD, 0.3, 0.4, 0.6, 0.9, 0.2)
    np.testing.assert_allclose(ARM.friction_force(QD), expected, rtol=1e-13)
    rigid = BARE.inverse_dynamics(Q, QD, QDD)
    tau = ARM.inverse_dynamics(Q, QD, QDD)
    loaded = 0.1 * np.abs(rigid) * np.sign(QD)
    np.testing.assert_allclose(tau, rigid + loaded + expected, rtol=1e-11)
    np.testing.assert_allclose(ARM.friction_force(QD, tau), loaded + expected, rtol=1e-9)
    np.testing.assert_allclose(ARM.friction_force(np.zeros(3)), 0.1)  # the middle of the levels
    half = da.Robot("one", (da.Link("l", "base", da.Joint("j", coulomb=1.0, static_friction=3.0, stribeck_speed=0.5)),))
    assert half.friction_force([0.5]).tolist() == [2.0]


@pytest.mark.parametrize("method", da.methods("forward_dynamics"))
def test_forward_dynamics_inverts_inverse_dynamics(method):
    for push in (None, RNG.uniform(-1, 1, (50, 3, 6))):
        tau = ARM.inverse_dynamics(Q, QD, QDD, wrenches=push)
        if push is None or method in ("articulated_body", "brandl"):
            found = ARM.forward_dynamics(Q, QD, tau, wrenches=push, method=method, backend="numpy")
            np.testing.assert_allclose(found, QDD, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_both_backends_and_the_cache_agree():
    for quantity, given in (("inverse_dynamics", QDD), ("forward_dynamics", QD)):
        native, plain = (getattr(ARM, quantity)(Q, QD, given, backend=b) for b in ("native", "numpy"))
        np.testing.assert_allclose(native, plain, rtol=1e-11)
    for name in friction_law(ARM)._fields:  # no kernel of one robot is taken for another's
        more = {"static_friction": {"stribeck_speed": 1.0}, "stribeck_speed": {"static_friction": 1.0}}.get(name, {})
        other = ARM.without_friction().with_friction(**{name: 0.5}, **more)
        tau = other.inverse_dynamics(Q, QD, QDD)
        assert (tau != BARE.inverse_dynamics(Q, QD, QDD)).all()
        np.testing.assert_array_equal(other.inverse_dynamics(Q, QD, QDD, backend="numpy").round(9), tau.round(9))


@pytest.mark.parametrize("method", ["newton_euler", "composite_body_world"])
def test_derivatives(method):
    """Against complex steps and central differences, away from where friction jumps."""
    q, qd, qdd = Q[0], QD[0], QDD[0]
    found = ARM.inverse_dynamics_derivatives(q, qd, qdd, method=method)
    h = 1e-6 * np.eye(3)
    for slope, moved in zip(
        found, (lambda d: (q + d, qd, qdd), lambda d: (q, qd + d, qdd), lambda d: (q, qd, qdd + d)), strict=True
    ):
        expected = [(ARM.inverse_dynamics(*moved(d)) - ARM.inverse_dynamics(*moved(-d))) / 2e-6 for d in h]
        np.testing.assert_allclose(slope, np.transpose(expected), rtol=1e-6, atol=1e-6)
    tau = ARM.inverse_dynamics(q, qd, qdd)
    forward = ARM.forward_dynamics_derivatives(q, qd, tau)
    steps = (lambda d: (q + d, qd, tau), lambda d: (q, qd + d, tau), lambda d: (q, qd, tau + d))
    for slope, moved in zip(forward, steps, strict=True):
        expected = [(ARM.forward_dynamics(*moved(d)) - ARM.forward_dynamics(*moved(-d))) / 2e-6 for d in h]
        np.testing.assert_allclose(slope, np.transpose(expected), rtol=1e-4, atol=1e-4)


def test_second_derivatives_have_it_or_say_that_they_do_not():
    weights = np.array([1.0, -0.5, 2.0])
    hessian = ARM.inverse_dynamics_hessian(Q[0], QD[0], QDD[0], weights, method="newton_euler")
    h = 1e-5 * np.eye(3)
    ends = [[ARM.inverse_dynamics_derivatives(Q[0], QD[0] + s * d, QDD[0]).dqd for d in h] for s in (1, -1)]
    expected = np.einsum("kij,i->jk", (np.array(ends[0]) - ends[1]) / 2e-5, weights)
    np.testing.assert_allclose(hessian.dqd_dqd, expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(da.Error, match="Stribeck or load-dependent"):
        ARM.inverse_dynamics_second_derivatives(Q[0], QD[0], QDD[0])
    with pytest.raises(da.Error, match="method='newton_euler'"):
        ARM.inverse_dynamics_hessian(Q[0], QD[0], QDD[0], weights, method="composite_body_world")


def test_the_regressor_is_linear_where_friction_is():
    arm = BARE.with_friction(damping=0.3, coulomb=[[0.4, 0.6]])
    chosen = {"friction": True, "armature": True, "friction_offset": True}
    names, values = arm.regressor_parameters(**chosen)
    Y = arm.regressor(Q, QD, QDD, **chosen)
    assert Y.shape == (50, 3, 42) and names[-1] == "friction_offset[joint3]" and values[-1] == pytest.approx(0.1)
    np.testing.assert_allclose(Y @ values, arm.inverse_dynamics(Q, QD, QDD), rtol=1e-10, atol=1e-10)
    fit = np.linalg.lstsq(Y[..., -3:].reshape(-1, 3), (arm.friction_force(QD) - 0.3 * QD - 0.5 * np.sign(QD)).ravel(), rcond=None)[
        0
    ]
    np.testing.assert_allclose(fit, 0.1, rtol=1e-9)


def test_files_keep_them():
    again = parse_toml(da.Robot, to_toml(ARM).encode())
    assert again == ARM and again.links[0].joint.static_friction == 0.9
    text = to_toml(BARE).replace('kind = "revolute"', 'kind = "revolute", coulomb = [0.25, 0.75]')
    joint = parse_toml(da.Robot, text.encode()).links[0].joint
    assert (joint.coulomb, joint.friction_offset) == (0.5, 0.25)
    assert "friction" not in to_toml(BARE)


def test_pairs_and_names():
    arm = da.robot("two_link")
    assert arm.with_friction(coulomb=[1.0, 2.0]).links[1].joint.coulomb == 2.0  # one a joint
    assert arm.with_friction(coulomb=[[1.0, 2.0]]) == arm.with_friction(coulomb={"joint1": (1, 2), "joint2": (1, 2)})
    once = arm.with_friction(coulomb=[[1.0, 2.0]])
    assert once.with_friction(coulomb=[[1.0, 2.0]]) == once  # offsets do not add up
    assert once.with_friction(coulomb=3.0).links[0].joint.friction_offset == 0.5
    assert once.with_friction(coulomb=[[1.0, 2.0]], friction_offset=1.0).links[0].joint.friction_offset == 1.5
    assert once.without_friction() == arm


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"load_friction": 1.0}, "load_friction must be less than 1"),
        ({"load_friction": -0.1}, "load_friction must not be negative"),
        ({"static_friction": 1.0}, "static_friction and stribeck_speed are given together"),
        ({"stribeck_speed": 1.0}, "static_friction and stribeck_speed are given together"),
        ({"coulomb": [[-1.0, 1.0]]}, "coulomb of joint 'joint1' must not be negative"),
        ({"coulomb": [[1.0, 1.0, 1.0]]}, r"coulomb must be one number, 2 \(one per joint\) or \(2, 2\), got shape"),
        ({"coulomb": {"joint1": (1.0,)}}, "coulomb of joint 'joint1' must be"),
        ({"coulomb": {"joint9": 1.0}}, "unknown joint of two_link: 'joint9'"),
        ({"friction_offset": np.inf}, "friction_offset must be finite"),
    ],
)
def test_mistakes(given, message):
    with pytest.raises(da.Error, match=message):
        da.robot("two_link").with_friction(**given)
    with pytest.raises(da.Error, match="joint 'a': coulomb must be"):
        da.Joint("a", coulomb=[[1.0], 2.0])


def test_check_finds_what_is_implausible():
    arm = da.robot("two_link")
    assert not arm.with_friction(coulomb=1.0, friction_offset=0.5).check().about("friction")
    assert "would drive the joint" in str(arm.with_friction(coulomb=1.0, friction_offset=-1.5).check().about("friction"))
    slow = arm.with_friction(coulomb=1.0, static_friction=0.5, stribeck_speed=0.1)
    assert "is less than Coulomb friction" in str(slow.check().about("friction"))
    assert "load_friction 0.1" in str(ARM.summary())


def test_simulation_and_energy():
    """Sliding all the time, where tanh(v / slip_speed) is 1: what friction takes is what the motion loses."""
    body = da.Inertia.from_com(2.0, (0, 0, 0), 0.0)
    joint = da.Joint(
        "slide", "prismatic", damping=0.1, coulomb=(1.0, 2.0), static_friction=3.0, stribeck_speed=0.5, load_friction=0.2
    )
    slider = da.Robot("slider", (da.Link("body", "base", joint, inertia=body),), gravity=(0, 0, -9.81))
    slide = slider.simulate([0.0], [8.0], duration=0.5, torque=[5.0], slip_speed=0.01)
    assert slide.qd.min() > 1 and slide.dissipated[-1] > 5 and slide.drift < 1e-9
    left = 5.0 - slider.friction_force(slide.qd[:1])[0, 0]
    a = (left / (1 + 0.2 * np.sign(left)) - 2 * 9.81) / 2
    assert slide.qdd[0, 0] == pytest.approx(a)
    wrench = {"body": da.Wrench(force=(0, 0, 3.0))}
    assert slider.simulate([0.0], [8.0], duration=0.5, torque=[5.0], wrenches=wrench, slip_speed=0.01).drift < 1e-9
    stepped = slider.simulate([0.0], [8.0], duration=0.5, torque=[5.0])
    assert abs(stepped.q[-1] - slide.q[-1]).max() < 1e-6 and stepped.drift < 1e-6
    with pytest.raises(da.Error, match="load-dependent friction"):
        slider.simulate([0.0], velocities="quasi", slip_speed=0.01)


def test_controllers_compensate_it():
    arm = da.robot("two_link").with_friction(damping=0.2, coulomb=[[0.2, 0.4]], static_friction=0.5, stribeck_speed=0.3)
    path = da.quintic([0.0, 0.0], [1.0, -1.0], duration=1.0)
    wanted = path(0.5)
    expected = arm.inverse_dynamics(*wanted)
    adaptive = da.SlotineLi(arm, path, slope=5.0, gain=5.0, rate=0.0)
    np.testing.assert_allclose(adaptive(0.5, wanted.q, wanted.qd, adaptive.memory)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(da.ComputedTorque(arm, path, kp=10.0, kd=5.0)(0.5, wanted.q, wanted.qd), expected, rtol=1e-9)
    slow = arm.inverse_dynamics_without_coriolis(wanted.q, 1e-9 * wanted.qd, wanted.qdd)
    np.testing.assert_allclose(slow, arm.inverse_dynamics(wanted.q, 1e-9 * wanted.qd, wanted.qdd), rtol=1e-6)
