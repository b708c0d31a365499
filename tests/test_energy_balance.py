"""A simulation whose energy is out of balance says so, and why; others say nothing (warnings are errors in these tests)."""

import warnings

import numpy as np
import pytest
from conftest import sweep

import dalembert as da
from dalembert.simulation import doubts
from dalembert.studies.report import analysis, motion_sections
from dalembert.studies.report.motion import follow

TWO = da.robot("two_link")


def block(coulomb, gravity=9.81):
    """A mass of 1 kg that slides up and down."""
    body = da.Inertia.from_com(1.0, (0, 0, 0), 0.0)
    link = da.Link("block", "base", da.Joint("slide", "prismatic", coulomb=coulomb), inertia=body)
    return da.Robot("block", (link,), gravity=(0, 0, -gravity))


def told(robot, *args, **options):
    """The trajectory, and what was said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        motion = robot.simulate(*args, **options)
    assert all(w.category is da.AccuracyWarning for w in said)
    return motion, [str(w.message) for w in said]


INTEGRATORS = ("rk4", "implicit_midpoint", "RK45", "DOP853", "Radau", "BDF", "LSODA")
GOOD = [(name, i) for name in ("two_link", "stanford", "panda") for i in INTEGRATORS]
QUICK = [GOOD.index(case) for case in (("two_link", "rk4"), ("two_link", "LSODA"), ("two_link", "implicit_midpoint"))]


@pytest.mark.parametrize(("name", "integrator"), sweep(GOOD, QUICK))
def test_good_simulations_are_not_doubted(name, integrator):
    robot = da.robot(name).without_friction()
    q = np.random.default_rng(3).uniform(-1, 1, robot.n)
    inertia = 1 / np.diagonal(np.linalg.inv(robot.mass_matrix(q)))  # with the other joints free
    tau = 10 * inertia * np.random.default_rng(4).uniform(-1, 1, robot.n)
    for arm in (robot, robot.with_friction(damping=inertia / 2)):
        for torque in (None, tau, lambda t, q, qd: np.sin(20 * t) * tau):
            motion = arm.simulate(q, duration=0.5, integrator=integrator, torque=torque)
            assert not motion.doubt and motion.drift < 1e-3


def test_forces_that_jump_between_samples_are_not_doubted():
    """Work is known from samples only, so its quadrature may be off: that is no error of the integrator."""

    def digital(t, q, qd):
        return 30.0 * np.sign(np.sin(40.0 * np.floor(t * 100) / 100)) * np.ones(2) - 4 * qd

    for every in (1, 20):
        motion = TWO.simulate([0.0, 0.0], duration=2.0, torque=digital, every=every)
        assert not motion.doubt and (motion.uncertainty[-1] > 0).all()
    for every in (10, 100, 250):  # damping that ends within one spacing
        assert not TWO.with_friction(damping=5.0).simulate([0.0, 0.0], duration=2.0, every=every).doubt


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_smooth_friction_that_is_too_steep_is_doubted(integrator):
    motion, said = told(block(20.0), [0.0], integrator=integrator, slip_speed=1e-5)
    assert motion.drift > 0.3
    assert len(said) == 1 and "block" in said[0] and motion.doubt in said[0]
    assert "slip_speed=1e-05" in motion.doubt and integrator in motion.doubt
    assert not told(block(20.0), [0.0], integrator="BDF", slip_speed=1e-5)[1]


def test_errors_at_the_end_are_doubted():
    """The energy of the motion before is hundreds of times what is wasted where the block should stand."""
    robot, push = block(2.0, gravity=0.0), {"torque": [-1.0]}
    motion, said = told(robot, [0.0], [0.5], slip_speed=1e-4, **push)
    assert motion.drift < 1e-2 and len(said) == 1 and "between 0.2 and 0.3 s" in said[0] and "slip_speed" in motion.doubt
    assert not told(robot, [0.0], [0.5], **push)[1]


@pytest.mark.slow
def test_xarm7_with_its_own_friction():
    arm = da.robot("xarm7")
    fall = arm.simulate(np.full(7, 0.3), duration=0.5)
    assert not fall.doubt and fall.drift < 1e-5 and fall.dissipated[-1] > 1
    with pytest.raises(da.Error, match="not finite"):
        arm.simulate(np.full(7, 0.3), slip_speed=1e-3)


def test_the_likely_reason():
    stiff = TWO.with_friction(damping=[0.0, 30.0])
    assert "damping stops a joint within" in told(stiff, [0.0, 0.0], [0.0, 1.0], step=1e-2, duration=0.1)[0].doubt
    assert "rk4 is of fourth order" in told(TWO, [0.0, 0.0], integrator="euler", step=1e-2)[0].doubt
    assert "too long for rk4" in told(TWO, [0.0, 0.0], [0.0, 30.0], step=5e-2)[0].doubt
    loose = told(TWO, [0.0, 0.0], [0.0, 0.0], integrator="RK45", rtol=0.1, atol=0.1)[0]
    assert "tolerances" in loose.doubt


def test_rollouts_are_examined_together():
    robot, start = block(20.0), np.zeros((200, 1))
    motion, said = told(robot, start, duration=0.1, slip_speed=1e-5)
    assert motion.doubt and f"in {doubts.ROLLOUTS} of {doubts.ROLLOUTS} rollouts examined" in said[0]
    assert motion.drift.shape == (200,) and motion.exchanged.shape == (200,)
    few, said = told(robot, [[0.0], [0.0]], [[0.0], [300.0]], duration=0.1, slip_speed=1e-5)
    assert "in 1 of 2 rollouts" in said[0] and few[1].drift < 1e-6


def test_nothing_moves_nothing_is_doubted():
    assert TWO.with_gravity((0, 0, 0)).simulate([0.0, 0.0], duration=0.1).drift == 0
    hanging = TWO.simulate([-np.pi / 2, 0.0], duration=1.0)  # 1e-16 from equilibrium: energies of 1e-30 J
    assert not hanging.doubt and hanging.drift < 1e-4


def test_the_report_shows_the_balance(monkeypatch):
    good = motion_sections.energy(TWO, follow(TWO)).body
    assert 'class="check good"' in good and "of the energy exchanged" in good
    rubs = TWO.with_friction(coulomb=20.0)
    fall = analysis.free(rubs, follow(rubs))
    assert isinstance(fall, analysis.Free) and not fall.doubt and fall.drift < 1e-4
    wrong = fall._replace(doubt="the step is too long", drift=0.5)
    monkeypatch.setattr(analysis, "free", lambda *_: wrong)
    bad = motion_sections.energy(rubs, follow(rubs)).body
    assert 'class="check bad"' in bad and "the step is too long" in bad and "do not trust" in bad
