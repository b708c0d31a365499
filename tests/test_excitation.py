"""Motions that show the parameters: within their limits, better than random ones, with exact gradients."""

from itertools import product

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.identification.search import CRITERIA, Search, excitation_limits


def search(robot, criterion="logdet", limits=None):
    return Search(robot, excitation_limits(robot, limits), 6.0, 4, criterion, True)


def analytic(made, x, barrier):
    """The cost as a function that complex numbers pass through."""
    q, qd, qdd = made.motion(x)
    slack = made.slacks(q, qd, qdd)
    W = made.stacked(q, qd, qdd)
    if made.criterion == "logdet":
        sign, size = np.linalg.slogdet(W.T @ W)
        value = -(size + np.log(sign))
    else:
        values = np.linalg.eigvals(W.T @ W)
        values = values[np.argsort(values.real)]
        value = 0.5 * np.log(values[-1] / values[0])
    return value - barrier / q.size * sum(np.log(s).sum() for s in slack)


@pytest.mark.parametrize(("kind", "criterion"), sweep(product(("forces limited", "coupled", "motors"), CRITERIA), quick=(0, 3, 5)))
def test_gradients_are_exact(kind, criterion):
    arm, limits = da.random_robot(4, "RRR"), {"velocity": 2.0}
    if kind == "forces limited":
        limits["torque"] = 1.5 * np.abs(arm.gravity_force(arm.random_configuration(0, 50))).max(axis=0) + 1
    if kind == "coupled":
        arm = arm.with_coupling({"joint3": {"joint1": 0.5, "joint2": -1.0}})
    if kind == "motors":
        arm = arm.with_transmission([[10.0, 0, 0], [0, 10.0, 0], [0, 5.0, 5.0]], rotor_inertia=1e-3)
    made = search(arm, criterion, limits)
    x = made.optimized(made.begin(0), lambda done: None)  # where neither of the two ways to compute it loses digits
    value, g = made.cost(x, 1.0)
    assert value < made.cost(made.begin(0), 1.0)[0] - 1
    assert value == pytest.approx(analytic(made, x + 0j, 1.0).real, rel=1e-10)
    numeric = np.array([analytic(made, x + 1e-30j * e, 1.0).imag / 1e-30 for e in np.eye(len(x))])
    assert np.abs(g - numeric).max() < 1e-9 * np.abs(g).max()


def test_the_gradient_costs_about_what_the_regressor_does():
    made = search(da.robot("ur5"))
    assert 1000 < da.trace.operation_count(made.gradient).total < 6000


def test_limits_are_kept_and_the_ends_are_at_rest():
    arm = da.robot("ur5")
    limits = {"lower": -1.0, "upper": 1.2, "velocity": 1.5, "acceleration": 4.0, "torque": [150.0, 150, 150, 28, 28, 28]}
    path = da.excitation(arm, limits, period=6.0, harmonics=4, starts=1)
    q, qd, qdd = path(np.linspace(0, 6, 2000))
    assert q.min() > -1.0 and q.max() < 1.2 and np.abs(qd).max() < 1.5 and np.abs(qdd).max() < 4.0
    assert (np.abs(path.trajectory().tau) < limits["torque"]).all()
    assert max(np.abs(x).max() for t in (0.0, 6.0) for x in path(t)[1:]) < 1e-9
    assert path(7.0).qd.max() == 0 and np.allclose(path(7.0).q, path(6.0).q)
    assert path.condition < 25 < path.start and "condition" in repr(path)


def used(path, limits):
    """The greatest part of each limit, on a grid much finer than that of the search: of q, qd, qdd, tau with friction."""
    q, qd, qdd = path(np.linspace(0.0, path.duration, 12_501))
    tau = path.robot.inverse_dynamics(q, qd, qdd)
    kept = excitation_limits(path.robot, limits)
    shares = (q / kept.upper, q / kept.lower, qd / kept.velocity, qdd / kept.acceleration, tau / kept.torque)
    return [share.max() for share in (*shares[:2], *map(np.abs, shares[2:]))]


@pytest.mark.parametrize("friction", [{}, {"damping": 2.0, "coulomb": 3.0, "friction_offset": 0.5}], ids=["", "friction"])
@pytest.mark.parametrize("torque", sweep((60.0, 40.0, 30.0), quick=(1, 2)))
def test_limits_are_kept_between_the_samples(torque, friction):
    arm, limits = da.robot("ur5").with_friction(**friction), {"torque": torque}
    assert max(used(da.excitation(arm, limits), limits)) <= 1.0


def test_limits_that_are_exceeded_are_told(monkeypatch):
    monkeypatch.setattr("dalembert.identification.search.TIGHTENED", 0)
    limits = {"torque": 40.0}
    with pytest.warns(da.LimitWarning, match=r"the force of \w+ reaches 4\d\.\d+, its limit is 40") as told:
        path = da.excitation(da.robot("ur5"), limits)
    assert used(path, limits)[-1] > 1 and told[0].filename == __file__


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "ur5"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_it_is_well_conditioned(name, criterion):
    path = da.excitation(da.robot(name), {"velocity": 2.0, "acceleration": 5.0}, criterion=criterion, starts=1)
    assert path.condition < {"logdet": 15, "condition": 9}[criterion] and path.start > 50


def test_a_controller_can_play_it(tmp_path):
    arm = da.robot("two_link")
    path = da.excitation(arm, period=4.0, harmonics=3, starts=1)
    path.trajectory(0.02).to_csv(tmp_path / "motion.csv")
    assert np.allclose(da.Trajectory.load(tmp_path / "motion.csv", arm).q, path.sample(0.02).q)
    control = da.ComputedTorque(arm, path, kp=100.0, kd=20.0)
    follow = arm.simulate(path(0.0).q, duration=4.0, torque=control, step=2e-3)
    assert np.abs(follow.q - path(follow.time).q).max() < 2e-3


def test_joints_that_follow_one_another_have_one_dry_friction():
    arm = da.robot("two_link").with_coupling({"joint2": {"joint1": 0.5}})
    made = search(arm)
    assert [name for name in made.base.names if name.startswith("coulomb")] == ["coulomb[joint1]"]
    assert np.isfinite(made.cost(made.begin(0), 1.0)[0])


def test_what_cannot_be_is_told():
    sledge = da.Robot("sledge", (da.Link("a", "base", da.Joint("slide", "planar"), inertia=da.Inertia.box(1.0, (1, 1, 1))),))
    base, bar = da.robot("space_arm"), da.robot("four_bar")
    for robot, what in ((base, "the free joint"), (bar, "the loops"), (sledge, "the planar joint 'slide'")):
        with pytest.raises(da.Error, match=f"identification does not support {what}"):
            da.excitation(robot)
    arm = da.robot("ur5")
    with pytest.raises(da.Error, match="unknown criterion: 'trace'"):
        da.excitation(arm, criterion="trace")
    with pytest.raises(da.Error, match="no motion of ur5 within the limits"):
        da.excitation(arm, {"torque": 1e-3})
    with pytest.raises(da.Error, match="lower 1 is not below upper"):
        da.excitation(arm, {"lower": 1.0, "upper": 0.5})
    with pytest.raises(da.Error, match="friction alone exceeds"):
        da.excitation(arm.with_friction(coulomb=200.0))
