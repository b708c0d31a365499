"""Closed forms of the equations of motion."""

import re
import shutil
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import pi

import numpy as np
import pytest
from conftest import close, sweep
from papers import compiled

import dalembert as da
from dalembert.symbolic.closed_form.paper import broken, escaped, seen
from dalembert.symbolic.closed_form.rational import exact
from dalembert.symbolic.closed_form.symbols import Symbols

PARTS = ("mass", "com", "inertia", "length", "gravity")
# the book's arm: uniform rods of one length
RODS = {"ax1": "l", "ax2": "l", "cx1": "-l/2", "cx2": "-l/2", "Izz1": "m1*l^2/12", "Izz2": "m2*l^2/12", "gy": "-g"}


def two_link(**options):
    return da.equations(da.robot("two_link"), **{"where": RODS, **options})


def spatial_3r():
    """A turning base and two links in a vertical plane, with principal inertias."""
    rows = [(pi / 2, 0.0, 0.4, (0, -0.2, 0)), (0.0, 0.5, 0.0, (-0.25, 0, 0)), (0.0, 0.3, 0.0, (-0.15, 0, 0))]
    links = [
        da.DHRow(alpha=alpha, a=a, d=d, inertia=da.Inertia.from_com(2.0 - i / 2, com, (0.02, 0.03, 0.04)))
        for i, (alpha, a, d, com) in enumerate(rows)
    ]
    return da.Robot.from_dh(links, convention="standard", name="spatial_3r")


@cache
def arm(name):
    kind, _, rest = name.partition(":")
    if kind == "spatial":
        return spatial_3r()
    return da.random_robot(3, rest, (-1, 0, 0) if rest == "RPH" else None) if kind == "random" else da.robot(name)


ARMS = ["two_link", "planar_3r", "rp", "spatial", "random:RPR", "random:RRR", "random:HR", "random:PH", "random:RPH", "stanford"]


@pytest.mark.parametrize("name", sweep(ARMS, quick=(0, 2, 8)))
@pytest.mark.parametrize("symbols", [PARTS, ("mass", "gravity"), ()])
def test_values_are_those_of_the_library(name, symbols):
    robot = arm(name)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 4, robot.n))
    found = da.equations(robot, symbols).evaluate(q, qd, qdd)
    scale = float(np.abs(robot.mass_matrix(q, backend="numpy")).max())
    close(found.M, robot.mass_matrix(q, backend="numpy"), 1e-12)
    close(found.C, robot.coriolis_matrix(q, qd, backend="numpy"), 1e-12, scale)
    close(found.g, robot.gravity_force(q, backend="numpy"), 1e-12)
    close(found.tau, robot.inverse_dynamics(q, qd, qdd, backend="numpy"), 1e-12)


def test_no_symbols_by_name():
    robot = arm("two_link")
    assert da.equations(robot, symbols="none").text() == da.equations(robot, symbols=()).text()
    assert da.derive(robot, symbols="none").markdown() == da.derive(robot, symbols=()).markdown()


def test_other_parameters_are_another_robot():
    rows = [da.DHRow(a=0.7, inertia=da.Inertia.from_com(m, (-0.35, 0, 0), (0, m * 0.49 / 12, m * 0.49 / 12))) for m in (2.0, 3.0)]
    other = da.Robot.from_dh(rows, convention="standard", gravity=(0, -1.62, 0))
    found = two_link().evaluate([0.3, 0.4], [1.0, 2.0], [0.5, -1.0], {"m1": 2.0, "m2": 3.0, "l": 0.7, "g": 1.62})
    close(found.tau, other.inverse_dynamics([0.3, 0.4], [1.0, 2.0], [0.5, -1.0]), 1e-13)
    close(two_link().evaluate([0.3, 0.4]).g, da.robot("two_link").gravity_force([0.3, 0.4]), 1e-14)  # l is the robot's length
    with pytest.raises(da.Error, match="value of r is missing"):
        two_link(where={"ax1": "2*r"}).evaluate([0.3, 0.4])
    with pytest.raises(da.Error, match="did you mean 'm1'"):
        two_link().evaluate([0.3, 0.4], parameters={"m11": 1.0})


def test_constant_entries_come_in_batches():
    found = da.equations(da.random_robot(0, "PP")).evaluate(np.zeros((3, 1, 2)), np.zeros((5, 2)))
    assert found.M.shape == (3, 5, 2, 2)
    assert found.g.shape == (3, 5, 2)


def test_rotors_are_in_the_mass_matrix():
    robot = da.robot("two_link").with_armature(0.25)
    assert da.equations(robot, ()).M[1, 1] == Fraction(1, 3) + Fraction(1, 4)
    shared = values(da.equations(robot, "mass"), ("M", "tau"))
    close(shared["M"], robot.mass_matrix(Q[:2]), 1e-14)


@pytest.mark.parametrize("name", sweep(["two_link", "planar_3r", "rp", "spatial", "stanford"], quick=range(4)))
def test_formulations_give_equal_objects(name):
    """Exact robots: the same form, whatever the method."""
    one, other, third = (da.equations(arm(name), method=m) for m in ("composite_body", "lagrange_euler", "lie_closed_form"))
    for i, j in np.ndindex(one.M.shape):
        assert one.M[i, j] == other.M[i, j] == third.M[i, j]
        assert one.M[i, j] == one.M[j, i]
        assert hash(one.M[i, j]) == hash(other.M[i, j])


@pytest.mark.parametrize("name", ["two_link", "planar_3r", "rp", "spatial", "random:RRR", "random:HR", "random:RPH"])
def test_laws(name):
    """Mdot - 2C is skew, tau is linear in what it should be: identities of forms, not of numbers."""
    e = da.equations(arm(name))
    n = len(e.g)
    qd = e.symbols.rates("qd")
    rate = np.array([[sum(x.diff(f"q{k + 1}") * qd[k] for k in range(n)) for x in row] for row in e.M], dtype=object)
    skew = rate - 2 * e.C
    assert all(skew[i, j] + skew[j, i] == 0 for i in range(n) for j in range(n))
    assert all(e.tau[i].diff(f"qdd{j + 1}") == e.M[i, j] for i in range(n) for j in range(n))
    assert all(e.g[i].diff(f"q{j + 1}") == e.g[j].diff(f"q{i + 1}") for i in range(n) for j in range(n))


def test_the_books_two_link_arm():
    """Fu, Gonzalez and Lee, section 3.2.6, with the corrected thirds (E-F3)."""
    e = two_link()
    D = [[r"l^2 \bigl(\frac{1}{3} m_1 + \frac{4}{3} m_2 + m_2 C_2\bigr)", r"m_2 l^2 \bigl(\frac{1}{3} + \frac{1}{2} C_2\bigr)"]]
    D += [[D[0][1], r"\frac{1}{3} m_2 l^2"]]
    assert [[x.latex() for x in row] for row in e.M] == D
    c = [r"l g \bigl(\bigl(\frac{1}{2} m_1 + m_2\bigr) C_1 + \frac{1}{2} m_2 C_{12}\bigr)", r"\frac{1}{2} m_2 l g C_{12}"]
    assert [x.latex() for x in e.g] == c
    h = e.C @ e.symbols.rates("qd")
    assert h[0].latex() == r"-m_2 l^2 \bigl(\dot{\theta}_1 + \frac{1}{2} \dot{\theta}_2\bigr) S_2 \dot{\theta}_2"
    assert h[1].latex() == r"\frac{1}{2} m_2 l^2 S_2 \dot{\theta}_1^2"
    assert str(e.g[1]) == "m2*l*g*cos(q1 + q2)/2"
    assert e.g[1].latex(short=False) == r"\frac{1}{2} m_2 l g \cos(\theta_1 + \theta_2)"
    assert str(e.M[0, 0]) == "l**2*(m1/3 + 4*m2/3 + m2*cos(q2))"
    assert str(two_link(symbols=(), where=None).g[0]) == "14.7093*cos(q1) + 4.9031*cos(q1 + q2)"
    assert str(two_link(where=None).C[0, 1]) == "-m2*ax1*(cx2 + ax2)*(qd1 + qd2)*sin(q2)"
    hanging = da.equations(da.robot("two_link").with_gravity((9.8062, 0, 0)), "gravity")
    assert str(hanging.g[1]) == "gx*sin(q1 + q2)/2"


def test_sliding_and_screwing_joints():
    e = da.equations(da.robot("rp"), symbols="mass")
    assert str(e.M[0, 0]) == "m1/4 + m2*q2**2"
    assert e.C[0, 1].latex() == r"m_2 d_2 \dot{\theta}_1"
    screw = da.Link("a", "base", da.Joint("j", "helical", pitch=0.5), inertia=da.Inertia.from_com(2.0, (0.25, 0, 0.5)))
    side = da.Robot("screw", (screw,), gravity=(-9.81, 0, -9.81))
    energy = da.equations(side, "gravity").potential_energy
    assert str(energy) == "-gz*(q1 + 1) - gx*cos(q1)/2"
    assert str(energy.diff("q1")) == "-gz + gx*sin(q1)/2"


def test_canonical_trigonometry():
    s = Symbols(("a",), "RR")
    x, y = s.angle(0), s.angle(1)
    assert x.cos() * y.cos() - x.sin() * y.sin() == (x + y).cos()
    assert x.sin() * y.cos() + x.cos() * y.sin() == (x + y).sin()
    assert (y - x).sin() == -(x - y).sin()
    assert str((y - x).sin()) == "-sin(q1 - q2)"
    assert x.cos() * x.cos() + x.sin() * x.sin() == 1
    assert hash(x.cos() * x.cos() + x.sin() * x.sin()) == hash(1)
    assert (x.cos() ** 3 * 4 - 3 * x.cos()).latex() == r"\cos(3 \theta_1)"
    assert str(((x + x) + y).cos()) == "cos(2*q1 + q2)"
    a = s["a"]
    assert (a * a * x.cos() + a) / a == a * x.cos() + 1
    assert (a + 1) * (a - 1) == a**2 - 1
    assert (2 / a).evaluate({"a": 4.0}) == 0.5
    assert not a - a
    assert str(a - a) == "0"
    for i, j in [(1, 1), (2, -3), (0, 2)]:
        form = (a + x.cos()) ** 2 * (y.sin() * i + j) + (x.sin() * y.cos()) ** 2
        value = (0.3 + np.cos(0.7)) ** 2 * (np.sin(1.1) * i + j) + (np.sin(0.7) * np.cos(1.1)) ** 2
        assert abs(form.evaluate({"a": 0.3, "q1": 0.7, "q2": 1.1}) - value) < 1e-14


def test_exponents_never_run_over():
    """Digits of 8 bits: x^127 is the highest, and what goes beyond is refused instead of becoming powers of the neighbour."""
    s = Symbols(("x", "y"), "R")
    x = s["x"]
    high = x**16 * x**16 * x**16 * x**16 * x**16 * x**16 * x**16
    assert (high * x**15).decoded()[0].powers[:2] == (127, 0)
    for wrong in (lambda: high * x**16, lambda: s["y"] * (high * x**15) * x, lambda: s.number(1) / high / x**16, lambda: high**16):
        with pytest.raises(da.Error, match="exponents beyond 127"):
            wrong()
    low = 1 / (high * x**15)
    with pytest.raises(da.Error, match="exponents beyond 127"):
        low.diff("x")
    c = s.angle(0).cos()
    once = c
    for _ in range(200):  # the bound is recomputed where high powers cancel
        once = once * x / x
    assert once == c


def test_products_leave_their_factors_alone():
    """Forms are shared between equations and threads: a bound that a product finds too high stays with its owner."""
    s = Symbols(("x",), "R")
    wide = s["x"] ** 16 * s["x"] ** 16 * s["x"] ** 16
    low = wide / wide  # 1, whose bound is 96
    kept = {form: (form.degree, form.over, dict(form.terms)) for form in (low, wide)}
    for _ in (low * wide, wide / low, low.diff("x")):
        assert {form: (form.degree, form.over, dict(form.terms)) for form in kept} == kept


def test_small_numbers_of_other_units_stay():
    """A length of 0.1 um in an arm of large masses is no rounding."""
    rows = [
        da.DHRow(alpha=0.3, a=a, inertia=da.Inertia.from_com(m, (0, 0, 0), (m * 1e-16,) * 3)) for a, m in ((1e-7, 3e3), (1e-7, 5e3))
    ]
    robot = da.Robot.from_dh(rows, convention="standard")
    state = np.random.default_rng(2).uniform(-1, 1, (3, 5, 2))
    for symbols in (("mass",), ("mass", "gravity"), ("length",), ()):
        found = da.equations(robot, symbols).evaluate(*state)
        close(found.M, robot.mass_matrix(state[0], backend="numpy"), 1e-12)
        close(found.tau, robot.inverse_dynamics(*state, backend="numpy"), 1e-12)
    s = Symbols(("m", "l"), "R")
    tiny = s["l"] * 1.23456789012345e-17
    assert tiny + s["m"] * np.pi - s["m"] * np.pi == tiny
    assert (tiny + np.sqrt(2) - np.sqrt(2)).evaluate({"l": 1.0}) == 1.23456789012345e-17
    assert s["m"] * 0.1 * 3 - s["m"] * 0.3 == 0


def test_small_links_of_large_arms_stay():
    """An arm of tons with a finger of milligrams: M22 is 1e16 times smaller than M11, and no rounding."""

    def rod(mass, length):
        inertia = mass * length**2 / 12
        return da.DHRow(a=length, inertia=da.Inertia.from_com(mass, (-length / 2, 0, 0), (0, inertia, inertia)))

    robot = da.Robot.from_dh([rod(1e4, 10.0), rod(1e-6, 1e-2)], convention="standard").with_gravity((0.1, -9.81, 0))
    q, qd, qdd = [0.3, 0.4], [0.5, -0.7], [1.0, 2.0]
    for symbols in ((), "gravity", PARTS):
        found = da.equations(robot, symbols).evaluate(q, qd, qdd)
        assert pytest.approx(robot.mass_matrix(q), rel=1e-12, abs=0) == found.M
        assert found.g == pytest.approx(robot.gravity_force(q), rel=1e-12, abs=0)
        assert found.tau == pytest.approx(robot.inverse_dynamics(q, qd, qdd), rel=1e-11, abs=0)


def test_what_rounding_left_of_zeros_goes():
    """Centres of mass on the axis of a wrist with odd angles: no force of the masses about it."""
    rows = [da.DHRow(alpha=alpha, a=a, inertia=da.Inertia.from_com(1.0, com, (0.02, 0.03, 0.04)))
            for alpha, a, com in ((0.7, 0.3, (-0.1, 0.02, 0)), (-0.4, 0.0, (0, 0, 0.1)), (0.0, 0.0, (0, 0, 0.2)))]  # fmt: skip
    robot = da.Robot.from_dh(rows, convention="standard")
    e = da.equations(robot, "mass")
    assert str(e.M[2, 2]) == "1/25"
    assert e.g[2] == 0 and da.equations(robot, ()).g[2] == 0
    assert not re.search(r"e-1\d", str(e.M))


def test_numbers_that_were_meant():
    assert [exact(x) for x in (0.0, -1.0, 1 / 12, 9.8062, 0.020000000000000004)] == [
        0,
        -1,
        Fraction(1, 12),
        Fraction("9.8062"),
        Fraction(1, 50),
    ]
    assert isinstance(exact(np.sqrt(0.5)), float)
    rows = [da.DHRow(alpha=pi / 4, a=1.0, inertia=da.Inertia.from_com(1.0, (0, 0, 0))) for _ in range(2)]
    tilted = da.equations(da.Robot.from_dh(rows, convention="standard"), symbols=("mass", "length"))
    assert "e-1" not in str(tilted)  # nothing is left of rounding
    assert str(tilted.M[1, 1]) == "m2*ax2**2"


def test_sympy_lagrangian():
    """An independent derivation in SymPy."""
    import sympy as sp

    t = sp.Symbol("t")
    m1, m2, l, g = sp.symbols("m1 m2 l g")
    q = [sp.Function(f"f{i}")(t) for i in (1, 2)]
    angles, tip, L = [q[0], q[0] + q[1]], sp.zeros(2, 1), 0
    for m, angle in zip((m1, m2), angles, strict=True):
        along = sp.Matrix([sp.cos(angle), sp.sin(angle)]) * l
        v = (tip + along / 2).diff(t)
        L += m * v.dot(v) / 2 + m * l**2 / 24 * angle.diff(t) ** 2 - m * g * (tip + along / 2)[1]
        tip = tip + along
    found = two_link().sympy()["tau"]
    for i in range(2):
        tau = L.diff(q[i].diff(t)).diff(t) - L.diff(q[i])
        for k in (2, 1, 0):
            names = [sp.Symbol(f"q{'d' * k}{j + 1}") for j in range(2)]
            tau = tau.subs({(q[j].diff(t, k) if k else q[j]): names[j] for j in range(2)})
        assert sp.expand((tau - found[i]).rewrite(sp.exp)) == 0


def test_text_is_python():
    """What is printed evaluates to what it stands for."""
    e = da.equations(spatial_3r())
    values = e.values | {f"q{d}{i}": 0.1 * i + len(d) for d in ("", "d", "dd") for i in (1, 2, 3)}
    for form in (*e.M.flat, *e.C.flat, *e.g, *e.tau):
        assert eval(str(form), {"sin": np.sin, "cos": np.cos, **values}) == pytest.approx(form.evaluate(values), abs=1e-13)


Q = np.array([0.3, -0.7, 0.5, 1.1, -0.4, 0.2, 0.9])


def values(e, parts):
    """The assignments of the shared form, run as Python."""
    n = len(e.symbols.joints)
    space = {"sin": np.sin, "cos": np.cos, **e.values}
    space |= {f"q{d}{i + 1}": x for d, s in (("", 1), ("d", 2), ("dd", 3)) for i, x in enumerate(Q[:n] * s)}
    exec(str(e.shared(*parts)), space)
    shapes = {"M": (n, n), "C": (n, n), "g": (n,), "tau": (n,)}
    return {
        p: np.array([space[p + "".join(str(k + 1) for k in i)] for i in np.ndindex(shapes[p])]).reshape(shapes[p]) for p in parts
    }


@pytest.mark.parametrize("name", sweep(["two_link", "rp", "spatial", "random:RPH", "puma560", "panda"], quick=(0, 1, 2)))
def test_shared_subexpressions(name):
    robot = arm(name).without_friction()
    e = da.equations(robot)
    found, q = values(e, ("M", "C", "g", "tau")), Q[: robot.n]
    close(found["M"], robot.mass_matrix(q, backend="numpy"), 1e-12)
    close(found["C"], robot.coriolis_matrix(q, 2 * q, backend="numpy"), 1e-12, 1.0)
    close(found["g"], robot.gravity_force(q, backend="numpy"), 1e-12)
    close(found["tau"], robot.inverse_dynamics(q, 2 * q, 3 * q, backend="numpy"), 1e-12)
    balanced(e.shared("M").latex())
    names = [a.name for a in e.shared().assignments]
    assert len(set(names)) == len(names)


def test_numbers_of_shared_subexpressions_are_short():
    text = str(da.equations(da.robot("puma560"), ()).shared("M"))
    assert "0.4318*" in text and "0.43180" not in text  # the length of a link, as it was given


def test_squares_and_twice_the_same():
    """l*l is written as a square, and x + x as 2*x."""
    shared = da.equations(da.robot("puma560")).shared("M")
    assert "c5*c5" not in str(shared) and "s5**2" in str(shared) and "S_5^2" in shared.latex()
    assert not re.search(r"\b(\w+) \+ \1\b(?!\*)", str(shared))
    assert two_link().shared("M", "C").assignments[-1][:2] == ("C22", "0")  # t - t has cancelled
    names = [a.name for a in shared.assignments]
    for k, a in enumerate(shared.assignments):
        assert a.name[0] == "M" or any(a.name in re.findall(r"\w+", b.text) for b in shared.assignments[k + 1 :])
        assert a.text not in names or a.name[0] == "M"
    taken = two_link(where={"ax1": "c2", "ax2": "t1"}).shared("M", "C").latex()
    assert "'^2" not in taken  # which pdflatex refuses


def test_numbers_stand_in_front_or_last():
    """Never in the middle of a product: (a + b)/2*(c + d) reads like a fraction with both brackets below."""
    e = da.equations(da.robot("planar_3r"), where="book")
    assert str(e.C[0, 2]) == "-m3*l3*(l2*sin(q3) + l1*sin(q2 + q3))*(qd1 + qd2 + qd3)/2"
    assert e.C[0, 2].latex().startswith(r"-\frac{1}{2} m_3 l_3 \bigl(")


def test_names_that_are_taken():
    e = two_link(where={"ax1": "c2", "ax2": "t1"})
    assert "c2_ = cos(q2)" in str(e.shared("M"))
    with pytest.raises(da.Error, match="joints' own names"):
        two_link(where={"ax1": "q1"})


@pytest.mark.parametrize("joints", ["RR", "RP", "PR", "PP", "HR", "RH"])
def test_lie_group_form_of_two_joints(joints):
    """Park, Bobrow and Ploen (60)-(64) with E-B6."""
    robot = da.random_robot(8, joints)
    lie, e = da.lie_two_joint(robot), da.equations(robot, ())
    values = e.values | {"q1": 0.3, "q2": -0.7, "qd1": 0.5, "qd2": 1.2}
    for mine, other in ((lie.M, e.M), (lie.C, e.C)):
        numbers = [[np.array([[x.evaluate(values) for x in row] for row in m], dtype=float)] for m in (mine, other)]
        close(numbers[0], numbers[1], 1e-12, 1.0)
    balanced(lie.latex())


def test_lie_group_form_of_exact_arms():
    for name in ("two_link", "rp"):
        lie, e = da.lie_two_joint(da.robot(name), PARTS), da.equations(da.robot(name))
        assert (lie.M == e.M).all()
        assert (lie.C == e.C).all()
    assert "C21 = -a qd1" in str(lie)
    with pytest.raises(da.Error, match="chain of two joints"):
        da.lie_two_joint(da.robot("planar_3r"))


def balanced(latex):
    for opening, closing in ("{}", "()"):
        assert latex.count(opening) == latex.count(closing)
    assert len(re.findall(r"\\begin", latex)) == len(re.findall(r"\\end", latex))
    assert latex.count(r"\bigl") == latex.count(r"\bigr")


@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("name", sweep(["two_link", "rp", "spatial", "random:HR"], quick=(0, 2)))
def test_documents(name, short, tmp_path):
    e = da.equations(arm(name))
    document = e.save(tmp_path / "eom.tex", short).read_text()
    balanced(document)
    assert document.startswith("\\documentclass")
    assert document.rstrip().endswith("\\end{document}")
    assert "{align" in document
    assert "$$" in e.save(tmp_path / "eom.md", short).read_text()
    assert str(e.M[0, 0]) in e.save(tmp_path / "eom.txt").read_text()
    with pytest.raises(da.Error, match=r"\.tex, \.md or \.txt"):
        e.save(tmp_path / "eom.pdf")


@pytest.mark.parametrize("width", [30, 60, 90])
def test_long_formulas_are_broken_outside_of_brackets(width):
    for form in da.equations(spatial_3r()).tau:
        latex = form.latex()
        lines = re.split(r" \\\\\n&", broken(latex, width))
        assert " ".join(re.sub(r"^\\q?quad ", "", line) for line in lines) == latex
        inside = 0
        for line in lines:
            assert line.startswith(r"\qquad") == (inside > 0)
            inside += line.count(r"\bigl") - line.count(r"\bigr")
        for bracket in re.findall(r"\\bigl\([^()]*\\bigr\)", latex):  # the innermost ones
            assert seen(bracket) > width / 2 or bracket in broken(latex, width)


def test_documents_say_what_the_letters_are(tmp_path):
    e = two_link(where={**RODS, "cx1": "-r", "cx2": "r2"})
    for ending in ("tex", "md"):
        text = e.save(tmp_path / f"eom.{ending}").read_text(encoding="utf-8")
        assert "$m_1 = 1$: mass of link 1, kg" in text
        assert "$l = 1$: length after joint 1 along x, m; length after joint 2 along x, m" in text
        assert "$r = 0.5$: minus centre of mass of link 1 along x, m" in text
        assert "$r_2 = -0.5$: centre of mass of link 2 along x, m" in text
        assert r": $\frac{1}{12} m_1 l^2$" in text
        assert "$(0, -g, 0)$" in text
    text = e.save(tmp_path / "eom.txt").read_text(encoding="utf-8")
    assert "\nr = 0.5  # minus centre of mass of link 1 along x, m\n" in text
    assert "kg m²: m1*l**2/12\n" in text and "(0, -g, 0)" in text
    assert "no gravity" in da.equations(da.robot("rp").with_gravity((0, 0, 0))).save(tmp_path / "rp.md").read_text("utf-8")
    assert r"$C_{1} = \cos\theta_{1}$" in da.equations(da.robot("rp")).save(tmp_path / "rp.md").read_text("utf-8")
    own = da.equations(da.robot("two_link"), where={"ax1": "2*k"}).save(tmp_path / "own.md").read_text("utf-8")
    assert "- $k$\n" in own and "length after joint 1 along x, m: $2 k$" in own


def strange(robot):
    """The same under a name with letters that TeX has trouble with."""
    return replace(robot, name="Ärm_№1 & 100% {ß} ~^\\\\ αβς Ω 机器人 $x$ #<|>")


COMPILED = {
    "two_link": lambda: da.equations(da.robot("two_link"), where="book"),
    "spatial": lambda: da.equations(arm("spatial")),
    "random:HR": lambda: da.equations(arm("random:HR")),
    "strange": lambda: da.equations(strange(da.robot("two_link").with_friction(damping=0.1))),
    "no joints": lambda: da.equations(da.Robot("stone", ())),
    "shared": lambda: da.equations(strange(da.robot("rp"))).shared("tau"),
    "screws": lambda: da.lie_two_joint(strange(da.robot("two_link")), PARTS),
    "no shorthand": lambda: da.equations(da.random_robot(1, "R" * 12, (-1, 0, *(0,) * 10)), ()),
}


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex here")
@pytest.mark.parametrize("name", sweep(COMPILED, quick=(3, 5)))
def test_document_compiles(name, tmp_path):
    compiled(COMPILED[name](), tmp_path)


def test_letters_for_pdflatex():
    assert escaped(strange(da.robot("rp")).name).isascii()
    assert escaped("é_ø α机") == r"\'{e}\_{\o} $\alpha$[U+673A]"


def test_files_are_where_save_says(tmp_path):
    robot = da.robot("two_link").with_friction(damping=0.1)
    e = da.equations(robot)
    for made in (e, e.shared("g"), da.lie_two_joint(robot, "mass")):
        for ending in ("tex", "md", "txt", "TEX"):
            path = made.save(tmp_path / f"eom.{ending}")
            assert path == tmp_path / f"eom.{ending}"
            assert "riction" in path.read_text(encoding="utf-8")  # that it is left out
        with pytest.raises(da.Error, match="there is no folder"):
            made.save(tmp_path / "nowhere" / "eom.tex")
        assert made._repr_latex_().startswith("$$")
        assert "# Friction" in str(made)
    assert "riction" not in str(da.equations(robot.without_friction()))


def test_names_that_mislead():
    for wrong in ("C_1", "S12", "C1", "theta1", "tau2", "M11", "g1", "qd1", "cos"):
        with pytest.raises(da.Error, match="name"):
            two_link(where={"ax1": wrong})
    with pytest.raises(da.Error, match="'l_1' and 'l1' would both be written l_1"):
        two_link(where={"ax1": "l1", "ax2": "l_1"})
    da.equations(da.robot("rp"), where={"cz1": "theta2"})  # joint 2 slides: it has no angle
    with pytest.raises(da.Error, match="d_2"):
        da.equations(da.robot("rp"), where={"cz1": "d2"})


def test_shorthand_of_many_joints():
    """C_{12} is joint 12, or joints 1 and 2."""
    few, many = Symbols((), "R" * 9), Symbols((), "R" * 12)
    assert (few.angle(0) + few.angle(1)).cos().latex() == "C_{12}"
    assert (few.angle(0) - few.angle(1)).sin().latex() == "S_{1-2}"
    assert (many.angle(0) + many.angle(1)).cos().latex() == "C_{1,2}"
    assert (many.angle(0) - many.angle(1)).cos().latex() == "C_{1,-2}"
    assert many.angle(11).cos().latex() == "C_{12}"


def test_book_letters():
    """where="book" is what the book's arm needs, and what a robot is worth."""
    e = two_link(where="book")
    assert e.values == {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.8062}
    for name in ("planar_3r", "rp", "spatial", "random:RPR", "stanford"):
        robot = arm(name)
        q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, robot.n))
        close(da.equations(robot, where="book").evaluate(q, qd, qdd).tau, robot.inverse_dynamics(q, qd, qdd), 1e-12)
    heavy = da.equations(da.robot("two_link"), ("com", "inertia", "length"), where="book")  # masses stay numbers
    close(heavy.evaluate([0.3, 0.4]).M, da.robot("two_link").mass_matrix([0.3, 0.4]), 1e-14)
    assert heavy.names == ("l1", "l2")


def chain(links, convention="standard"):
    """A planar arm of two links: mass, length, centre of mass from the joint, inertia about it."""
    rows = []
    before = 0.0
    for mass, length, middle, moments in links:
        standard = convention == "standard"
        com = (middle - length, 0, 0) if standard else (middle, 0, 0)
        body = da.Inertia(mass, com, np.diag(moments))  # not checked: books give one moment in a plane
        rows.append(da.DHRow(a=length if standard else before, inertia=body))
        before = length
    return da.Robot.from_dh(rows, convention=convention, gravity=(0, -9.81, 0))


def rods(m1, m2, l1, l2):
    return [(m, l, l / 2, (0, m * l * l / 12, m * l * l / 12)) for m, l in ((m1, l1), (m2, l2))]


def masses(m1, m2, l1, l_c2):
    """A point mass at the end of link 1, and one somewhere on link 2, which has no end in modified tables."""
    return [(m1, l1, l1, (0, 0, 0)), (m2, 0.7, l_c2, (0, 0, 0))]


def bodies(m1, m2, l1, l2, l_c1, l_c2, Ixx1, Iyy1, Izz1, I2):
    return [(m1, l1, l_c1, (Ixx1, Iyy1, Izz1)), (m2, l2, l_c2, (0, 0, I2))]


ROUND = {  # numbers between which there are many simple ratios
    "rods": (rods, "standard", {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0}),
    "modified rods": (lambda m1, m2, l1: rods(m1, m2, l1, 0.0), "modified", {"m1": 1.0, "m2": 1.0, "l1": 1.0}),
    "point masses": (masses, "modified", {"m1": 1.0, "m2": 2.0, "l1": 0.5, "l_c2": 0.5}),
    "bodies": (
        bodies,
        "standard",
        {"m1": 2.0, "m2": 1.0, "l1": 0.5, "l2": 0.5, "l_c1": 0.25, "l_c2": 0.1}
        | {"Ixx1": 0.02, "Iyy1": 0.1, "Izz1": 0.1, "I2": 0.05},
    ),
}


@pytest.mark.parametrize("name", ROUND)
def test_book_letters_are_general(name):
    """Put in other values of the letters: the equations are those of a robot with these numbers."""
    build, convention, own = ROUND[name]
    made = da.equations(chain(build(**own), convention), where="book")
    assert set(made.names) == {*own, "g"}
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2))
    close(made.evaluate(q, qd, qdd).tau, chain(build(**own), convention).inverse_dynamics(q, qd, qdd), 1e-13)
    others = {letter: value * rng.uniform(1.0, 1.3) for letter, value in own.items()}
    other = chain(build(**others), convention)
    close(made.evaluate(q, qd, qdd, parameters=others).tau, other.inverse_dynamics(q, qd, qdd), 1e-13)


def test_half_a_link_is_not_its_length():
    """With frames at the centres of mass, as Lynch and Park have them, link 1 has a length before its frame and one behind it."""
    screws = [(0, 0, 1, 0, 0, 0), (0, 0, 1, 0, -1.0, 0)]
    body = da.Inertia.from_com(1.0, (0, 0, 0), 0.1)
    homes = [da.Pose.of((0.5, 0, 0)).matrix, da.Pose.of((1.5, 0, 0)).matrix]
    form = da.equations(da.Robot.from_screws(screws, homes, [body, body], gravity=(0, -9.81, 0)), where="book")
    assert "l1" not in form.names and {"a1", "bx2"} <= set(form.names)


def test_book_letters_that_the_user_has_taken(tmp_path):
    """A letter of the user's is not taken for something else, and what l_c is stands in the document."""
    arm = chain(bodies(**ROUND["bodies"][2]))
    text = da.equations(arm, where="book").save(tmp_path / "eom.txt").read_text("utf-8")
    assert "l_c1 = 0.25  # centre of mass of link 1 from its joint along x, m\n" in text
    crossed = da.derive(arm, where={"ax1": "l2", "m1": "I2"})
    assert "$l_2 = 0.5$: length after joint 1 along x, m (ax1)" in crossed.markdown()
    assert "$a_{x2} = 0.5$: length after joint 2 along x, m (ax2)" in crossed.markdown()
    assert crossed.check.difference < 1e-12


def uneven():
    """Two rods with m1 = 1.3, m2 = 0.8, ax1 = 0.5 and ax2 = 0.4."""
    rows = [(1.3, 0.5), (0.8, 0.4)]
    links = [da.DHRow(a=l, inertia=da.Inertia.from_com(m, (-l / 2, 0, 0), (0, m * l * l / 12, m * l * l / 12))) for m, l in rows]
    return da.Robot.from_dh(links, convention="standard", gravity=(0, -9.81, 0))


CONTRADICTIONS = [
    ({"m1": "M", "m2": "2*M"}, "m2 is 0.8, but 2 * M is 2.6, since m1 = M is 1.3"),
    ({"m2": "2*M", "m1": "M"}, "m2 is 0.8, but 2 * M is 2.6, since m1 = M is 1.3"),
    ({"m2": "2*M", "m1": "3*M"}, "m1 is 1.3, but 3 * M is 1.2, since m2 = 2 * M is 0.8"),
    ({"ax1": "k^2/2", "cx1": "k^3/4", "cx2": "0.2*k^5*k^0 + 0*k", "m1": "1.3*k^7"}, "m1 is 1.3, but 1.3 * k ** 7 is -1.3"),
    ({"m1": "M", "m2": "M"}, "m1 = 1.3 and m2 = 0.8 cannot share the name 'M'"),
    ({"m1": "M", "m2": "-M"}, "m2 is 0.8, but -M is -1.3, since m1 = M is 1.3"),
    ({"m1": "M^2", "m2": "M"}, "m1 is 1.3, but M ** 2 is 0.64, since m2 = M is 0.8"),
    ({"m1": "-M^2"}, "no value of M gives m1 = -M ** 2 = 1.3"),
    ({"m1": 2.0}, "m1 is 1.3, but where makes it 2"),
    ({"m1": "m2"}, "m1 is 1.3, but m2 is 0.8"),
    ({"m1": "2*m1", "m2": "m1"}, "m1 is 1.3, but 2 * m1 is 1.6, since m2 = m1 is 0.8"),
    ({"cx1": "-ax1/3"}, "cx1 is -0.25, but -ax1 / 3 is -0.1666666667, since ax1 is 0.5"),
    (
        {"ax1": "l", "Izz1": "m1*l^2/3"},
        "Izz1 is 0.02708333333, but m1 * l ** 2 / 3 is 0.1083333333, since m1 is 1.3, ax1 = l is 0.5",
    ),
    ({"m1": "a + b", "m2": "2*(a + b)"}, "m2 is 0.8, but 2 * (a + b) is 2.6, since m1 = a + b is 1.3"),
    ({"ax1": "l + k", "ax2": "l - k", "cx1": "-l"}, "ax2 is 0.4, but l - k is 0, since cx1 = -l is -0.25, ax1 = l + k is 0.5"),
    ({"Izz1": "m*l^2/12", "Izz2": "m*l^2/6"}, "Izz2 is 0.01066666667, but m * l ** 2 / 6 is 0.05416666667, since Izz1 = "),
    ({"m1": "M^2", "m2": "M^4"}, "m2 is 0.8, but M ** 4 is 1.69, since m1 = M ** 2 is 1.3"),
    ({"ax1": "1/l", "ax2": "l"}, "ax1 is 0.5, but 1 / l is 2.5, since ax2 = l is 0.4"),
    ({"ax1": "l", "ax2": "1/(l + 1)"}, "ax2 is 0.4, but 1 / (l + 1) is 0.6666666667, since ax1 = l is 0.5"),
]


@pytest.mark.parametrize(("where", "message"), CONTRADICTIONS)
def test_meanings_that_are_not_true_of_the_robot(where, message):
    with pytest.raises(da.Error, match=f"^{re.escape(message)}"):
        da.equations(uneven(), where=where)


POSSIBLE = [
    {"m1": "M", "m2": "0.8/1.3*M"},
    {"m1": "a + b", "m2": "a - b"},
    {"m1": "M^2", "m2": "0.8*M^2/1.3", "cx1": "-k*M"},
    {"ax1": "5*u", "ax2": "4*u", "cx1": "-5*u/2", "cx2": "-2*u"},
    {"ax1": "k^2/2", "ax2": "0.4*k^4", "cx1": "k*n", "cx2": "0.8*k*n"},  # k is 1 or -1
    {"ax1": "k^2/2", "cx1": "k^3/4"},  # k is -1
    {"m1": "2*m1", "ax1": 0.5},
    {"ax1": "x + 0.5", "cx2": "-0.2 + x"},
    {"ax1": "l", "ax2": "0.6/(l + 1)"},
    {"m1": "a*b", "m2": "a^2*b^2"},  # not found out
    {"m1": "1e-300*M", "m2": "1e-300*M^16"},  # neither
    dict(zip(("m1", "m2", "ax1", "ax2", "Izz1", "Izz2", "Iyy1", "Iyy2"), (f"{x}^2" for x in "abdefhij"), strict=True)),
]


@pytest.mark.parametrize("where", POSSIBLE)
def test_meanings_that_may_be_true(where):
    da.equations(uneven(), where=where)


def test_one_name_or_several():
    e = two_link()
    assert e.latex(parts="tau") == e.latex(parts=["tau"]) == e.latex(parts=("tau",))
    assert str(e.shared(["M", "g"])) == str(e.shared("M", "g")) == str(e.shared(("M", "g"), "g"))
    assert str(da.equations(da.robot("two_link"), "mass").tau) == str(da.equations(da.robot("two_link"), ["mass"]).tau)


def test_nothing_to_write(tmp_path):
    stone = da.equations(da.Robot("stone", ()))
    assert len(stone.shared()) == 0
    assert str(stone.shared("tau")) == stone.latex() == str(stone) == ""
    assert stone._repr_latex_() is None and stone.shared()._repr_latex_() is None
    for ending in ("tex", "md"):
        text = stone.save(tmp_path / f"stone.{ending}").read_text()
        assert "no joints" in text and "align" not in text


def test_notebooks_and_prompts():
    e = two_link()
    assert e.M[1, 1]._repr_latex_() == r"$\displaystyle \frac{1}{3} m_2 l^2$"
    assert "aligned" in e._repr_latex_()
    assert repr(e) == "<Equations two_link: m1, m2, Iyy1, Iyy2, l, g>"
    assert "assignments" in repr(e.shared("M"))


def test_mistakes():
    with pytest.raises(da.Error, match="unknown symbol 'ax3'"):
        two_link(where={"ax3": "l"})
    for wrong in ("l +", "sin(l)", "l.real", "'x'", "", "cos", None, np.inf, [1.0], "True", "λ", 10**400, "9" * 5000):
        with pytest.raises(da.Error):
            two_link(where={"ax1": wrong})
    for wrong in ("1/0", "l/0", "l**0.5", "l**l", "l**-1", "2.0**5000"):
        with pytest.raises(da.Error):
            _ = two_link(where={"ax1": wrong}).M
        with pytest.raises(da.Error):
            two_link(where={"ax1": wrong}).shared()
    for wrong in (3, "books", ["ax1"], {3: "l"}):
        with pytest.raises(da.Error):
            two_link(where=wrong)
    for wrong in (3, [3], "colour"):
        with pytest.raises(da.Error):
            da.equations(da.robot("two_link"), wrong)
    for wrong in (3, "nonesuch", ["composite_body"]):
        with pytest.raises(da.Error, match="method"):
            da.equations(da.robot("two_link"), method=wrong)
    for wrong in (("ab",), ([0, 0], "ab"), (None,), ([[0, 0]] * 3, [[0, 0]] * 2), ([0, 0], None, None, 3)):
        with pytest.raises(da.Error):
            two_link().evaluate(*wrong)
    with pytest.raises(da.Error, match="unknown part of the equations 'N'"):
        two_link().shared("N")
    with pytest.raises(da.Error, match="whole powers"):
        two_link().M[0, 0] ** -1
    with pytest.raises(da.Error, match="different symbols"):
        two_link().M[0, 0] + two_link(where=None).M[0, 0]
    with pytest.raises(da.Error, match="divide by numbers"):
        1 / two_link().M[0, 0]
    with pytest.raises(da.Error, match=r"q needs shape \(\.\.\., 2\)"):
        two_link(where=None).evaluate([0.0] * 3)
    form = two_link().M[0, 0]
    assert form != np.nan and form != np.inf and form != 1j and form != "x"
    for wrong in (lambda: form / 0, lambda: form / 0.0, lambda: form + np.nan, lambda: form * 1j, lambda: form.evaluate("ab")):
        with pytest.raises(da.Error):
            wrong()
    with pytest.raises(da.Error, match="q2 must hold numbers, got 'x'"):
        form.evaluate({"q2": "x", "m1": 1.0, "m2": 1.0, "l": 1.0})
    stone = da.equations(da.Robot("stone", ()))
    assert stone.M.shape == (0, 0)
    assert stone.tau.shape == (0,)
    assert stone.evaluate([]).M.shape == (0, 0)


def test_large_forms_are_refused():
    panda = da.equations(da.robot("panda"))
    with pytest.raises(da.Error, match="shared"):
        _ = panda.M
    assert len(panda.shared("M")) > 100
    with pytest.raises(da.Error, match="fewer symbols"):
        _ = Symbols(("m",), "R", most=1)["m"] + 1
    with pytest.raises(da.Error, match=r"shared subexpressions$"):  # there are no symbols to take away
        _ = Symbols((), "R", most=1).angle(0).cos() + 1
