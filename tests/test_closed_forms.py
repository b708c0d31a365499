"""Closed forms of robots that are no trees: coupled joints in their coordinates, and loops."""

import shutil

import numpy as np
import pytest
import sympy
from closed_robots import ROBOTS, free_joints, states
from conftest import close, sweep
from papers import compiled

import dalembert as da
from dalembert.symbolic.closed_form.quotient import quotient
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.trace.replay import replay


def beside(actual, expected, size=0.0):
    """Equal to 1e-12 of the largest entry, or of a size where all may be zero."""
    close(actual, expected, 1e-12, max(float(abs(np.asarray(expected)).max()), float(size)) or None)


# --- couplings ----------------------------------------------------------------------------------------------------------------


def follower(factor, offset=0.0):
    return da.robot("two_link").with_coupling({"joint2": {"joint1": factor}}, offset={"joint2": offset})


def rack():
    """A wheel that a slide turns, on an arm, with rotors behind gears."""
    arm = da.random_robot(1, "RPRR").with_coupling({"joint3": {"joint2": 2.0}, "joint4": {"joint1": -3.0, "joint2": 0.25}})
    return arm.with_armature(0.01).with_transmission([[3.0, 1.0], [0.0, 2.0]], rotor_inertia=0.1)


COUPLED = {
    "against": lambda: follower(-1.0),
    "half": lambda: follower(0.5, 0.3),
    "gear": lambda: follower(1.13),
    "two": lambda: da.random_robot(1, "RRR").with_coupling({"joint3": {"joint1": 0.5, "joint2": -1.0}}),
    "rack": rack,
    "matrix": lambda: da.random_robot(3, "RHR").with_coupling([[1, 0], [0.5, 0.5], [0.5, -0.5]], names=("left", "right")),
    "motors": lambda: da.robot("planar_3r").with_transmission(np.triu(np.ones((3, 3))), rotor_inertia=0.2),
}


@pytest.mark.parametrize("name", sweep(COUPLED, quick=(1, 4)))
def test_coupled_robots(name):
    robot = COUPLED[name]()
    made = da.equations(robot, ("mass", "gravity"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4, robot.n))
    found = made.evaluate(q, qd, qdd)
    expected = {
        "M": robot.mass_matrix(q, backend="numpy"),
        "C": robot.coriolis_matrix(q, qd, backend="numpy"),
        "g": robot.gravity_force(q, backend="numpy"),
        "tau": robot.inverse_dynamics(q, qd, qdd, backend="numpy"),
    }
    for part, value in expected.items():
        beside(getattr(found, part), value, abs(expected["M"]).max())
    shared = made.shared(*expected)
    given = {"q": q[0], "qd": qd[0], "qdd": qdd[0], "parameters": [made.values[name] for name in made.names]}
    for part, value in zip(expected, replay(shared.program, given), strict=True):
        beside(np.array(value, float), expected[part][0], abs(expected["M"]).max())
    scope = {"sin": np.sin, "cos": np.cos, **made.values}
    scope |= {f"{x}{i + 1}": values[0, i] for x, values in (("q", q), ("qd", qd), ("qdd", qdd)) for i in range(robot.n)}
    exec(str(made.shared("tau")), scope)
    beside([scope[f"tau{i + 1}"] for i in range(robot.n)], expected["tau"][0])


def test_what_is_written_of_a_coupling():
    made = da.equations(follower(-1.0), where="book")  # the second link keeps its direction
    assert str(made.M[0, 0]) == "l1**2*(m1/3 + m2)" and str(made.C[0, 0]) == "0"
    assert str(made.g[0]) == "l1*g*(m1/2 + m2)*cos(q1)"
    assert str(made).startswith("# coordinates: q1 is joint1; joint2 = -q1\n")
    half = da.equations(follower(0.5), where="book")
    assert str(half.g[0]) == "g*(l1*(m1/2 + m2)*cos(q1) + 3*m2*l2*cos(3*q1/2)/4)"
    first, second = r"l_1 \bigl(\frac{1}{2} m_1 + m_2\bigr) C_1", r"\frac{3}{4} m_2 l_2 \cos(\frac{3}{2} \theta_1)"
    assert half.g[0].latex() == rf"g \bigl({first} + {second}\bigr)"
    assert half.g[0].diff("q1").sympy() == sympy.diff(half.g[0].sympy(), "q1")
    assert half.potential_energy.diff("q1") == half.g[0]


def test_harmonics_have_more_room_than_exponents():
    s = Symbols(("l",), "R", divisors=(2,))
    fast = s.combined({0: 400}, s["q1"] * 200).cos()
    assert str(fast * fast * fast * fast * fast) == "5*cos(200*q1)/8 + 5*cos(600*q1)/16 + cos(1000*q1)/16"
    with pytest.raises(da.Error, match="exponents beyond"):
        _ = fast * fast * fast * fast * fast * fast


# --- loops --------------------------------------------------------------------------------------------------------------------


def geared():
    """The five-bar with a gear between its motors."""
    tree = da.robot("five_bar").without_loops().with_coupling({"motor2": {"motor1": -0.5}})
    return tree.with_loop("left_tip", "right_tip", "revolute")


CLOSED = {name: ROBOTS[name] for name in ("four_bar", "five_bar", "palletizer", "tilted")} | {"geared": geared}


@pytest.mark.parametrize("name", sweep(CLOSED, quick=(0,)))
def test_loops(name):
    robot, numpy = CLOSED[name](), {"backend": "numpy"}
    made, free = da.equations(robot, ("mass", "length", "gravity")), free_joints(robot)
    q, qd, qdd = map(np.array, zip(*states(robot), strict=True))
    found = made.evaluate(q, qd, qdd)
    tree = robot.without_loops()
    size = abs(found.M).max()
    beside(found.M, tree.mass_matrix(q, **numpy))
    beside(found.C, tree.coriolis_matrix(q, qd, **numpy), size)
    beside(found.tau, tree.inverse_dynamics(q, qd, qdd, **numpy))
    assert abs(found.phi).max() < 1e-12
    beside(found.J, robot.loop_jacobian(q, **numpy))
    beside(found.G, robot.independent_jacobian(q, **numpy))
    beside(found.reduced.M, robot.mass_matrix(q, **numpy))
    beside(found.reduced.C, robot.coriolis_matrix(q, qd, **numpy), size)
    beside(found.reduced.g, robot.gravity_force(q, **numpy)[:, free], size)
    beside(found.reduced.tau, robot.inverse_dynamics(q, qd, qdd, **numpy)[:, free])
    moved = robot.closed_motion(q, qd, qdd, **numpy)
    assert abs(np.matvec(found.J, moved.qdd) + found.gamma).max() < 1e-12 * (1 + abs(found.gamma).max())
    if "G" in made.parts:
        values = made.values | {f"q{i + 1}": q[0, i] for i in range(robot.n)}
        beside([[x.evaluate(values) for x in row] for row in made.G], found.G[0])


def test_what_is_written_of_a_four_bar():
    made = da.equations(da.robot("four_bar"), where="book")
    assert [x.latex() for x in made.phi] == ["-b_3 + l_1 C_1 - l_3 C_3 + l_2 C_{12}", "l_1 S_1 - l_3 S_3 + l_2 S_{12}"]
    assert str(made.phi[1]) == "l1*sin(q1 + 1.82347658194) - l3*sin(q3 + 1.31811607165) + l2*sin(q1 + q2)"
    assert str(made.G[0, 0]) == "1" and made.G[2, 0].latex() == r"\dfrac{l_1 S_2}{l_3 S_{12-3}}"
    assert made.G[1, 0].latex() == r"-\dfrac{l_1 S_{1-3} + l_2 S_{12-3}}{l_2 S_{12-3}}"
    assert str(made.g[0]).startswith("g*((m1*l_c1 + m2*l1)*cos(q1 + 1.8")  # not l1/2: the inertias are not those of rods
    assert "in independent joints y = (q1), which z = (q2, q3) follow" in str(made)
    J = sympy.Matrix([[sympy.diff(row, f"q{j + 1}") for j in range(3)] for row in made.sympy()["phi"]])
    assert sympy.simplify(J - made.sympy()["J"]) == sympy.zeros(2, 3)


def test_loops_by_a_function():
    """A rack that moves as a wheel turns, and a lever by sines."""
    arm = da.robot("planar_3r").with_loop(kind=lambda q: [q[1] - 0.25 * q[0]], independent=("joint1", "joint3"))
    made = da.equations(arm, symbols=())
    assert str(made.phi[0]) == "-q1/4 + q2" and [str(x) for x in made.G[1]] == ["1/4", "0"]
    lever = da.robot("planar_3r").with_loop(kind=lambda q: [np.sin(q[1]) - np.sin(q[0])], independent=("joint1", "joint3"))
    assert str(da.equations(lever, symbols=()).G[1, 0]) == "cos(q1)/(cos(q2))"
    square = da.robot("planar_3r").with_loop(kind=lambda q: [q[1] * q[1] - q[0]], independent=("joint1", "joint3"))
    made = da.equations(square, symbols=())
    assert str(made.G[1, 0]) == "1/(2*q2)" and made.evaluate([[0.25, 0.5, 0.0]]).G[0, 1, 0] == 1.0
    with pytest.raises(da.Error, match="singular at this position"):
        made.evaluate(np.zeros(3))


def test_a_delta_has_its_equations_but_not_their_solution():
    made = da.equations(da.robot("delta"), symbols=())
    assert made.parts == ("M", "C", "g", "phi", "J", "gamma") and made.phi.shape == (9,)
    with pytest.raises(da.Error, match="no closed form that anybody could read"):
        _ = made.G
    arm = da.equations(da.robot("two_link"))
    assert arm.phi.shape == arm.gamma.shape == (0,) and arm.J.shape == (0, 2) and str(arm.G) == "[[1 0]\n [0 1]]"
    with pytest.raises(da.Error, match="would be read as an entry"):
        da.equations(da.robot("four_bar"), where={"m1": "J11"})


def test_quotients():
    s = Symbols(("a", "b"), "RR")
    c, d = s.angle(0).cos(), s.angle(1).sin()
    assert str(quotient(2 * s["a"] * c, 2 * s["a"] * c)) == "1" and str(quotient(c, -c)) == "-1" and str(quotient(0 * c, d)) == "0"
    assert str(quotient(s["a"] ** 2 * c / 3, s["a"] * s["b"] * d / 2)) == "2*a*cos(q1)/(3*b*sin(q2))"
    assert str(quotient(-c - d, s["b"] - c * s["b"])) == "-(cos(q1) + sin(q2))/(b*(1 - cos(q1)))"
    at = {"q1": 0.3, "q2": 0.7, "a": 2.0, "b": 3.0}
    close(quotient(c, 0.1234567891234 * d).evaluate(at), np.cos(0.3) / (0.1234567891234 * np.sin(0.7)), 1e-14)


# --- files --------------------------------------------------------------------------------------------------------------------

SAVED = {
    "four_bar": lambda: da.equations(da.robot("four_bar"), where="book"),
    "half": lambda: da.equations(follower(0.5, 0.3), where="book"),
    "palletizer": lambda: da.equations(da.robot("palletizer"), ("mass", "length", "gravity")),
    "shared": lambda: da.equations(follower(0.5, 0.3)).shared(),
}


@pytest.mark.parametrize("name", SAVED)
def test_saved_as_text_and_markdown(name, tmp_path):
    made = SAVED[name]()
    text = made.save(tmp_path / "paper.txt").read_text()
    assert str(made) in text
    markdown = made.save(tmp_path / "paper.md").read_text()
    assert markdown.count("$$") % 2 == 0
    if name == "four_bar":
        assert r"\theta_1 = q_{1} + 1.82347658194" in markdown and r"\mathbf{G}^T \mathbf{g} = \mathbf{G}^T \tau" in markdown
    if name == "half":
        assert r"joint joint2 $= \frac{1}{2} \theta_1 + \frac{3}{10}$" in markdown


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex here")
@pytest.mark.parametrize("name", sweep(SAVED, quick=(0,)))
def test_document_compiles(name, tmp_path):
    compiled(SAVED[name](), tmp_path)
