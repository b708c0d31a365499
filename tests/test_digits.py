"""What every method holds of sixteen digits, on robots of all scales beside forty."""

from decimal import Decimal, localcontext

import mpmath
import numpy as np
import pytest
from conftest import close
from fuzz import scales

import dalembert as da
from dalembert.algebra import precise
from dalembert.formulations import walker_orin_4
from dalembert.studies.compare import in_sixty_digits


def far_away():
    """Small links on a long arm."""
    links = []
    for i, length in enumerate((100.0, 1.0, 1e-3)):
        inertia = da.Inertia.from_com(length**3, (0.4 * length, 0.1 * length, 0.2 * length), 0.1 * length**5)
        before = da.Pose.of((links[-1].inertia.com[0] / 0.4 if links else 1000.0, 0.3 * length, 0.0), (1.0, 0.5, 0.2))
        links.append(da.Link(f"l{i}", f"l{i - 1}" if i else "base", da.Joint(f"j{i}"), before, inertia=inertia))
    return da.Robot("far away", tuple(links))


@pytest.mark.parametrize("seed", [16, 19, 74, 87, 93, 127, 129, 224, 1009])
def test_robots_of_all_scales(seed):
    """Every method holds what the page of formulations says; these two hold more, which measured from the base or unscaled they did not.

    Of 1009, a regrouped link weighed 1e-35 kg at 1e17 m: methods about centres of mass were wrong by a factor of forty. 224 is of
    micrometres and stands centimetres from its base: it was called singular.
    """
    problem = scales.drawn(seed)
    errors = scales.errors(problem)
    scales.check(problem, errors)
    assert max(error for (_, method), error in errors.items() if method in ("lie_closed_form", "walker_orin_4")) < 1e-12


def test_accelerations_of_links_of_very_different_size():
    """On prismatic joints in line, M is known in letters: from the tip on, each joint carries what the ones behind it do."""
    masses = 10.0 ** -np.arange(0, 9, 2)
    links = [
        da.Link(f"l{i}", f"l{i - 1}" if i else "base", da.Joint(f"j{i}", "prismatic"), inertia=da.Inertia.point(m))
        for i, m in enumerate(masses)
    ]
    robot = da.Robot("telescope", tuple(links), gravity=(0, 0, 0))
    tau = np.array([1.0, -2.0, 3.0, 0.5, -1.5])
    forces = np.append(tau[:-1] - tau[1:], tau[-1])  # on each link
    expected = np.diff(forces / masses, prepend=0.0)
    qdd = robot.forward_dynamics(np.zeros(5), np.zeros(5), tau, method="walker_orin_4")
    assert (np.abs(qdd - expected) < 1e-10 * np.abs(expected)).all()


def test_a_tiny_link_between_long_ones():
    """Recursions over links hold their digits where methods that factor M lose as many as its condition number has."""
    arm = planar(1.0, 1e-6, 0.3)
    state = np.array([[0.3, 0.4, 0.5], [0.0, 0.0, 0.0], [1.0, 2.0, -1.0]])
    true = in_sixty_digits(arm, "forward_dynamics", dict(zip(("q", "qd", "tau"), state[:, None], strict=True)))[0]
    errors = {m: np.abs(arm.forward_dynamics(*state, method=m) / true - 1).max() for m in da.methods("forward_dynamics")}
    assert max(errors[m] for m in ("articulated_body", "brandl")) < 1e-14
    assert max(errors[m] for m in ("kalman", "diagonalized_normalized", "diagonalized_unnormalized")) < 1e-11
    factoring = ("walker_orin_1", "walker_orin_2", "walker_orin_3", "joint_acceleration")
    assert min(errors[m] for m in factoring) > 1e-9 and max(errors[m] for m in factoring) < 1e-4


@pytest.mark.parametrize("seed", [6, 35, 50, 53])
def test_conjugate_gradients_on_links_of_all_sizes(seed):
    """About as exact as recursions, or an error that names a method that is. Where what is left was not computed anew, 53 had two digits."""
    rng = np.random.default_rng(seed)
    lengths = 10 ** rng.uniform(-6, 3, 5)
    rows = [da.DHRow(alpha=0.3, a=a, inertia=da.Inertia.from_com(1e3 * a**3, (-a / 2, 0.1 * a, 0), 1e2 * a**5)) for a in lengths]
    arm = da.Robot.from_dh(rows, convention="standard", gravity=(0, -9.81, 0))
    q, qd, qdd = rng.normal(size=(3, 5))
    tau = arm.inverse_dynamics(q, qd, qdd)
    if seed == 6:
        with pytest.raises(da.Error, match=r"walker_orin_4 cannot tell the inertia of joint .* method=.articulated_body., the"):
            arm.forward_dynamics(q, qd, tau, method="walker_orin_4")
        with pytest.warns(da.SingularWarning, match="walker_orin_1 cannot tell the inertia of joint .* the first of 3 of 3 states"):
            arm.forward_dynamics(np.stack([q] * 3), qd, tau, method="walker_orin_1")
        return
    true = in_sixty_digits(arm, "forward_dynamics", {"q": q[None], "qd": qd[None], "tau": tau[None]})[0]
    found, recursive = (arm.forward_dynamics(q, qd, tau, method=m) for m in ("walker_orin_4", "articulated_body"))
    assert np.abs(found / true - 1).max() < 100 * np.abs(recursive / true - 1).max() + 1e-8


@pytest.mark.parametrize("seed", [229, 905, 1390])
def test_what_conjugate_gradients_miss_at_one_joint_is_said(seed):
    """What is left of the force of a grain is nothing beside the forces of towers; unsaid, its acceleration was wrong by factors."""
    rng = np.random.default_rng(seed)
    lengths, parents = 10 ** rng.uniform(-6, 3, 4), (-1, 0, 1, 1)
    links = []
    for link, length, parent in zip(da.random_robot(seed, "RPRR", parents).links, lengths, parents, strict=True):
        before = da.Pose(link.before.rotation, link.before.translation * lengths[max(parent, 0)])
        I = link.inertia
        inertia = da.Inertia.from_com(1e3 * length**3 * I.mass, length * np.array(I.com), 1e3 * length**5 * np.array(I.tensor))
        links.append(da.Link(link.name, link.parent, link.joint, before, inertia=inertia))
    arm = da.Robot("scaled", tuple(links))
    q, qd, qdd = rng.normal(size=(3, 4)) * [1.0, lengths[1], 1.0, 1.0]
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert np.abs(arm.forward_dynamics(q, qd, tau) / qdd - 1).max() < 1e-6
    with pytest.raises(da.Error, match="walker_orin_4 does not converge for scaled in this state"):
        arm.forward_dynamics(q, qd, tau, method="walker_orin_4")


def tiny(size):
    """Turning, sliding and turning links of a size in metres."""
    body = da.Inertia.from_com(1e3 * size**3, (size / 2, 0, 0), 1e2 * size**5)
    out = da.Pose.of((size, 0, 0), (0.3, 1.2, 0))
    kinds = ("revolute", "prismatic", "revolute")
    links = [
        da.Link(f"l{i}", f"l{i - 1}" if i else "base", da.Joint(f"j{i}", kind), out, inertia=body) for i, kind in enumerate(kinds)
    ]
    return da.Robot("tiny", tuple(links))


@pytest.mark.parametrize("method", da.methods("forward_dynamics"))
def test_robots_of_any_size_are_regular(method):
    """What counts as a rounding error of M is in proportion to the robot: nobody moves links of a micrometre by a metre."""
    unit = np.array([1.0, 1e-7, 1.0])
    state = np.array([[0.3, 0.5, 0.7], [0.1, -0.2, 0.3], [0.0, 0.0, 0.0]]) * unit
    large = tiny(1.0).forward_dynamics(state[0] / unit, state[1] / unit, state[2], method=method)
    weight = tiny(1e-7).with_gravity((0, 0, -9.81e-7))  # accelerations in proportion
    close(weight.forward_dynamics(*state, method=method) / unit, large, 1e-9)


def test_what_conjugate_gradients_do_not_reach_is_said(monkeypatch):
    monkeypatch.setattr(walker_orin_4, "REACHED", 0.0)
    monkeypatch.setattr(walker_orin_4, "ROUNDING", 0.0)
    robot, states = da.random_robot(5, "RRRRR"), np.random.default_rng(0).normal(size=(3, 4, 5))
    with pytest.warns(da.SingularWarning, match=r"walker_orin_4 does not converge for .* at [1-4] of 4 states, .*NaN"):
        missed = np.isnan(robot.forward_dynamics(*states, method="walker_orin_4")).any(axis=-1)
    with pytest.raises(da.Error, match=r"does not converge.* method=.articulated_body., the default"):
        robot.forward_dynamics(*states[:, int(np.argmax(missed))], method="walker_orin_4")
    states[0, 1, 2] = np.nan  # what was not known before is not the method's doing
    assert np.isnan(robot.forward_dynamics(*states[:, 1], method="walker_orin_4")).any()


def test_compare_shows_the_digits_that_methods_lose():
    """Beside the default in sixty digits, whatever the default's own error."""
    robot = far_away()
    rows = {row.method: row.error for row in da.compare(robot, "inverse_dynamics", states=10).rows}
    assert rows["newton_euler"] < 1e-13
    assert rows["lie_closed_form"] < 1e-10
    assert rows["newton_euler_base"] > 1e-12
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 3))
    true = in_sixty_digits(robot, "inverse_dynamics", {"q": q, "qd": qd, "qdd": qdd})
    close(robot.inverse_dynamics(q, qd, qdd), true, 1e-13)


def planar(*lengths):
    """An arm in a plane, of links of these lengths and of one density."""
    rows = [da.DHRow(a=a, inertia=da.Inertia.from_com(1e3 * a**3, (-a / 2, 0, 0), 1e2 * a**5)) for a in lengths]
    return da.Robot.from_dh(rows, convention="standard", gravity=(0, -9.81, 0))


def test_compare_shows_what_methods_lose_at_the_smallest_joint():
    """Of a grain on a tower, whose forces are nothing beside the tower's."""
    arm = planar(1000.0, 1e-6)
    state = np.array([[0.3, 0.4], [0.1, -0.2]])
    tau = arm.inverse_dynamics(*state, [1.0, -2.0])
    true = in_sixty_digits(arm, "forward_dynamics", {"q": state[:1], "qd": state[1:], "tau": tau[None]})[0]
    rows = {row.method: row.error for row in da.compare(arm, "forward_dynamics", states=3).rows}
    for method in ("articulated_body", "kalman"):
        error = np.abs(arm.forward_dynamics(*state, tau, method=method) / true - 1).max()
        assert error / 100 < rows[method] < 1000 * error
    assert rows["articulated_body"] < 1e-5 < 1e-2 < rows["kalman"]


@pytest.mark.parametrize("digits", [28, 60, 150])
def test_decimals_have_the_digits_of_their_context(digits):
    program = da.robot("puma560").program("inverse_dynamics")
    q = ["0.1", "-7.7", "1e12", "3.25", "0", "1.5707963267948966"]
    with localcontext(prec=digits), mpmath.workdps(digits + 20):
        tau = da.replay(program, {name: [Decimal(x) for x in q] for name in ("q", "qd", "qdd")})
        expected = da.replay(program, {name: [mpmath.mpf(x) for x in q] for name in ("q", "qd", "qdd")})
        for a, b in zip(tau, expected, strict=True):
            assert abs(mpmath.mpf(str(a)) - b) < mpmath.mpf(10) ** (4 - digits) * max(1, *map(abs, expected))


def test_cosines_and_sines_of_decimals():
    for x in (Decimal("0.3"), Decimal("1e300"), Decimal("-7.5"), Decimal(10) ** 10):
        with localcontext(prec=100), mpmath.workdps(420):
            for found, true in zip(
                precise.cos_sin_decimal(x), (mpmath.cos(mpmath.mpf(str(x))), mpmath.sin(mpmath.mpf(str(x)))), strict=True
            ):
                assert abs(mpmath.mpf(str(found)) - true) < mpmath.mpf(10) ** -99
