"""Many recordings of arms that are known: bias, coverage of intervals, possible bodies; and arms with the defects of real ones."""

import warnings

import numpy as np
import pytest
from recorded import SIGMA, other, recorded, three_joints, truth

import dalembert as da
from dalembert.identification.consistent import pseudo

RUNS = 200
CASES = {
    "white": {},
    "coloured": {"color": 5.0},
    "encoder": {"encoder": 1e-4},
    "coarse encoder": {"encoder": 1e-3},
    "lag": {"lag": 0.013},
}


def possible(robot):
    return all(np.linalg.eigvalsh(pseudo(np.array(link.inertia.parameters)))[0] > 0 for link in robot.links)


def unconstrained(found):
    """The residual of least squares alone, in percent."""
    size = np.array([np.sum(R[:, -1] ** 2) for R in found.data.factors])
    return 100 * np.sqrt(found.data.squares(found.estimate.values) / size)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_bias_and_coverage(case):
    arm, errors, inside = three_joints(), [], []
    prior = other(arm)
    for seed in range(RUNS):
        recording = recorded(arm, seed, sigma=SIGMA, **CASES[case])
        found = da.identify(prior, recording, delay="auto" if case == "lag" else 0.0)
        true = truth(found, arm)
        errors.append(found.base.values - true)
        inside.append([x.low <= p <= x.high for x, p in zip(found.intervals(), true, strict=True)])
        assert possible(found.robot) and (found.residual < unconstrained(found) + 0.5).all()
    errors = np.array(errors)
    bias, coverage = np.abs(errors.mean(axis=0) / errors.std(axis=0)), 100 * np.mean(inside)
    print(f"{case}: bias at most {bias.max():.2f} deviations, coverage {coverage:.1f} %")
    assert bias.max() < 0.35 and 92 < coverage < 97


def validated(arm, prior, friction, **defects):
    """Errors in percent on a motion of another kind: splines with rests between them."""
    recording = recorded(arm, 1, duration=20.0, rate=250.0, size=0.35, **defects)
    move = da.spline(np.arange(6) * 2.0, 0.8 * np.random.default_rng(5).uniform(-1, 1, (6, arm.n)))
    t = np.arange(0, 13.0, 0.004)  # three seconds of rest at the end
    lag = move(np.clip(t - defects["lag"], 0, None))
    rng = np.random.default_rng(2)
    tau = arm.inverse_dynamics(*lag)
    tau = tau + defects["ripple"] * tau.std(axis=0) * np.sin(80 * lag.q) + defects["sigma"] * rng.standard_normal(tau.shape)
    q = np.round(move(t).q / defects["step"]) * defects["step"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        found = da.identify(prior, recording, friction, validate=da.Recording(arm, t, q, tau))
    assert possible(found.robot) and (found.validation.moving < 0.95).all()
    return found.validation


DEFECTS = {"step": 2e-4, "lag": 0.006, "ripple": 0.03, "jitter": 0.1}
ARMS = {
    "ur5": [7, 2, 2, 4, 7, 6.5],  # percent that were reached on recordings of a UR10e
    "puma560": [5, 5, 10, 7, 11, 12],  # of a TX40
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_arms_with_the_defects_of_real_ones(name):
    nominal = da.robot(name)
    factors = np.repeat(np.random.default_rng(0).uniform(0.7, 1.4, 6), 10)
    size = np.abs(nominal.gravity_force(nominal.random_configuration(0, 200))).max(axis=0) + 5.0
    arm = nominal.with_parameters(factors * nominal.parameters(), check=False)
    arm = arm.with_friction(damping=0.08 * size, coulomb=0.1 * size, load_friction=0.05).with_armature(0.02 * size)
    found = validated(arm, nominal, ("viscous", "coulomb", "offset", "load"), sigma=0.03 * size, **DEFECTS)
    print(name, found)
    assert (found.filtered < ARMS[name]).all()


@pytest.mark.slow
def test_an_arm_with_torque_sensors():
    nominal = da.robot("panda")
    factors = np.repeat(np.random.default_rng(0).uniform(0.7, 1.4, 7), 10)
    arm = nominal.with_parameters(factors * nominal.parameters(), check=False).with_friction(damping=0.1, coulomb=0.05)
    defects = {**DEFECTS, "step": 1e-5, "ripple": 0.0, "lag": 0.001}
    found = validated(arm, nominal, ("viscous", "coulomb", "offset"), sigma=0.05, **defects)
    print(found)
    assert np.sqrt(np.sum(found.rms**2)) / np.sqrt(np.sum((100 * found.rms / found.filtered) ** 2)) < 0.01
