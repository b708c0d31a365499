"""Robots with named parameters."""

import numpy as np
import pytest
from conftest import STRUCTURES, close, directly, sweep

import dalembert as da


@pytest.mark.parametrize("method", ["newton_euler", "lagrange_euler", "lie_closed_form"])
@pytest.mark.parametrize("parts", [("mass", "com", "inertia", "length", "gravity"), ("length",), "mass"])
def test_values_substitute_back(method, parts):
    for robot in (da.robot("two_link"), da.robot("rp"), da.random_robot(2, "RPH", (-1, 0, 0))):
        s = robot.symbolic(parts)
        q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
        tau = da.replay(s.program("inverse_dynamics", method), {"q": q, "qd": qd, "qdd": qdd, "parameters": s.values})
        close(tau, directly(robot, method, q, qd, qdd), 1e-14)
        tree = s.tree(s.values)
        for field in ("mass", "com", "inertia", "gravity"):
            assert np.array_equal(getattr(tree, field).astype(float), getattr(robot.tree, field))


def test_other_values_are_another_robot():
    arm = da.robot("two_link")
    s = arm.symbolic("mass")
    x = [0.3, 0.4]
    heavier = da.replay(s.program("inverse_dynamics"), {"q": x, "qd": x, "qdd": x, "parameters": [1.0, 3.5]})
    links = (
        arm.links[0],
        da.Link(
            "link2",
            "link1",
            arm.links[1].joint,
            after=arm.links[1].after,
            inertia=da.Inertia(3.5, (-0.5, 0, 0), arm.links[1].inertia.tensor),
        ),
    )
    close(heavier, da.Robot("heavier", links, gravity=arm.gravity).inverse_dynamics(x, x, x), 1e-14)


def test_the_two_link_arm_in_symbols():
    """The book's equations come out of any formulation with masses, lengths and gravity as letters."""
    sympy = pytest.importorskip("sympy")
    s = da.robot("two_link").symbolic()
    assert s.names == ("m1", "cx1", "Iyy1", "Izz1", "ax1", "m2", "cx2", "Iyy2", "Izz2", "ax2", "gy")
    letters = dict(zip(s.names, sympy.symbols(s.names), strict=True))
    q, qd, qdd = (sympy.symbols(f"{name}1:3") for name in ("q", "qd", "qdd"))
    tau = da.replay(s.program("inverse_dynamics"), {"q": q, "qd": qd, "qdd": qdd, "parameters": list(letters.values())})
    M22 = sympy.expand(tau[1]).coeff(qdd[1])
    m2, c2, I2, l2 = (letters[k] for k in ("m2", "cx2", "Izz2", "ax2"))
    assert sympy.simplify(M22 - (I2 + m2 * (l2 + c2) ** 2)) == 0


@pytest.mark.parametrize(("joints", "parents"), sweep(STRUCTURES))
def test_derivatives_by_parameters(joints, parents):
    """What calibration needs: the derivative of joint forces by masses and lengths, against a complex step."""
    robot = da.random_robot(5, joints, parents)
    s = robot.symbolic(("mass", "length"))
    program = s.program("inverse_dynamics")
    x = dict(zip(("q", "qd", "qdd"), np.random.default_rng(0).uniform(-1, 1, (3, robot.n)), strict=True))
    jacobian = da.replay(da.differentiate(program, "parameters"), x | {"parameters": s.values})
    stepped = da.replay(program, x | {"parameters": s.values + 1e-30j * np.eye(len(s.values))})
    close(jacobian, stepped.imag.T / 1e-30, 1e-12)


def test_mistakes():
    with pytest.raises(da.Error, match="did you mean 'length'"):
        da.robot("rp").symbolic("lengths")
    assert da.Robot("stone", ()).symbolic("mass").names == ()
