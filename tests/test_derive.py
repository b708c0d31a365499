"""Derivations: the books' worked two-link examples, step by step."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import close, sweep
from papers import compiled

import dalembert as da
from dalembert.formulations import METHODS as FORMULATIONS
from dalembert.symbolic.derivation.methods import FAMILIES, METHODS

sympy = pytest.importorskip("sympy")
m1, m2, l, g = sympy.symbols("m1 m2 l g")
(t1, t2), (a, b), (aa, bb) = (sympy.symbols(f"{name}1:3") for name in ("q", "qd", "qdd"))
C1, S1, C2, S2, C12, S12 = (f(x) for x in (t1, t2, t1 + t2) for f in (sympy.cos, sympy.sin))

D12 = m2 * l**2 / 3 + m2 * l**2 * C2 / 2
D = [[m1 * l**2 / 3 + 4 * m2 * l**2 / 3 + m2 * C2 * l**2, D12], [D12, m2 * l**2 / 3]]
h = [-m2 * S2 * l**2 * b**2 / 2 - m2 * S2 * l**2 * a * b, m2 * S2 * l**2 * a**2 / 2]
c = [m1 * g * l * C1 / 2 + m2 * g * l * C12 / 2 + m2 * g * l * C1, m2 * g * l * C12 / 2]
tau = [D[i][0] * aa + D[i][1] * bb + h[i] + c[i] for i in range(2)]


EQUAL = {"ax1": "l", "ax2": "l"}  # the books' rods have one length


def same(got, printed):
    difference = sympy.Matrix(np.asarray(got, dtype=object)) - sympy.Matrix(printed)
    assert sympy.simplify(difference) == sympy.zeros(*difference.shape), (got, printed)


def derived(method):
    return da.derive(da.robot("two_link"), method, where=EQUAL)


INVERSE = [name for name, method in METHODS.items() if not method.forward]


@pytest.mark.parametrize("method", INVERSE)
def test_the_joint_forces_of_the_book(method):
    d = derived(method)
    same([d["tau1"], d["tau2"]], tau)


def test_section_3_2_6():
    d = derived("lagrange_euler")
    same(d["A1"], [[C1, -S1, 0, l * C1], [S1, C1, 0, l * S1], [0, 0, 1, 0], [0, 0, 0, 1]])
    same(d["W2"], [[C12, -S12, 0, l * (C12 + C1)], [S12, C12, 0, l * (S12 + S1)], [0, 0, 1, 0], [0, 0, 0, 1]])
    same(d["Q2"], [[0, -1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4])
    same(d["U11"], [[-S1, -C1, 0, -l * S1], [C1, -S1, 0, l * C1], [0] * 4, [0] * 4])
    same(d["U21"], [[-S12, -C12, 0, -l * (S12 + S1)], [C12, -S12, 0, l * (C12 + C1)], [0] * 4, [0] * 4])
    same(d["U22"], [[-S12, -C12, 0, -l * S12], [C12, -S12, 0, l * C12], [0] * 4, [0] * 4])
    same(d["U212"], sympy.Matrix(d["U21"]).diff(t2))
    for i, m in ((1, m1), (2, m2)):  # E-F3: a third, not a half
        same(d[f"J{i}"], [[m * l**2 / 3, 0, 0, -m * l / 2], [0] * 4, [0] * 4, [-m * l / 2, 0, 0, m]])
    same(d["D"], D)
    same(d["h"], h)
    same(d["c"], c)


def test_section_3_3_7():
    d = derived("newton_euler")
    same(d["omega2"], [0, 0, a + b])
    same(d["omega_dot2"], [0, 0, aa + bb])
    same(d["v_dot1"], [-l * a**2 + g * S1, l * aa + g * C1, 0])
    v2 = [l * (S2 * aa - C2 * a**2 - a**2 - b**2 - 2 * a * b) + g * S12, l * (aa + bb + C2 * aa + S2 * a**2) + g * C12, 0]
    same(d["v_dot2"], v2)
    same(d["s1"], [-l / 2, 0, 0])
    same(d["p2"], [l, 0, 0])
    a1 = [-l * a**2 / 2 + g * S1, l * aa / 2 + g * C1, 0]
    a2 = [
        l * (S2 * aa - C2 * a**2 - a**2 / 2 - b**2 / 2 - a * b) + g * S12,
        l * (C2 * aa + S2 * a**2 + aa / 2 + bb / 2) + g * C12,
        0,
    ]
    same(d["a_bar1"], a1)
    same(d["a_bar2"], a2)
    same(d["f2"], [m2 * x for x in a2])
    f1 = [
        m2 * l * (-(a**2) - C2 * (a**2 + b**2) / 2 - C2 * a * b - S2 * (aa + bb) / 2)
        - m2 * g * (C12 * S2 - C2 * S12)
        - m1 * l * a**2 / 2
        + m1 * g * S1,
        m2 * l * (aa - S2 * (a**2 + b**2) / 2 - S2 * a * b + C2 * (aa + bb) / 2) + m2 * g * C1 + m1 * l * aa / 2 + g * m1 * C1,
        0,
    ]
    same(d["f1"], f1)
    n2 = m2 * l**2 * (aa + bb) / 3 + m2 * l**2 * (C2 * aa + S2 * a**2) / 2 + m2 * g * l * C12 / 2
    same(d["n2"], [0, 0, n2])
    same(d["n1"], [0, 0, tau[0]])
    same(d["N1"], [0, 0, m1 * l**2 * aa / 12])


def test_section_3_4_2():
    d = derived("generalized_dalembert")
    same(d["I1"], sympy.diag(0, m1 * l**2 / 12, m1 * l**2 / 12))
    same(d["r2"], [l * C1 + l * C12 / 2, l * S1 + l * S12 / 2, 0])
    same(d["p2"], [l * (C1 + C12), l * (S1 + S12), 0])
    same(d["b12"], [-l * S1 - l * S12 / 2, l * C1 + l * C12 / 2, 0])
    same(d["zeta12"], [0, 0, 1])
    same(d["D_rot"], [[(m1 + m2) * l**2 / 12, m2 * l**2 / 12], [m2 * l**2 / 12, m2 * l**2 / 12]])
    same(d["D"], D)
    same(d["h_tran"], h)
    same(d["h_rot"], [0, 0])
    same(d["c"], c)


def test_twists_and_wrenches():
    d, newton = derived("lie_group"), derived("newton_euler")
    same(d["S2"], [0, 0, 1, 0, l, 0])
    same(d["V2"], [0, 0, a + b, l * S2 * a, l * C2 * a + l * (a + b), 0])
    same(d["F2"][3:], newton["f2"])
    same(d["J2"][:3, :3], sympy.diag(0, m2 * l**2 / 3, m2 * l**2 / 3))


def state_of(robot, seed=3):
    return np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))


def at(d, name, state, **more):
    """A value of a derivation in numbers."""
    letters = {f"{x}{i + 1}": v for x, row in zip(("q", "qd", "qdd"), state, strict=True) for i, v in enumerate(row)}
    value = np.asarray(d[name], dtype=object)
    return np.array(
        [float(x.evaluate({"m1": 1.0, "m2": 1.0, "l": 1.0, "g": 9.8062} | letters | more)) for x in value.flat]
    ).reshape(value.shape)


def test_silvers_energy_and_partials():
    d, arm = derived("angular_velocity_lagrange"), da.robot("two_link")
    free = arm.with_gravity((0, 0, 0))
    q, qd, qdd = state = state_of(arm)
    p, K = arm.partial_velocities(q, qd), arm.kinetic_energy_partials(q, qd, qdd)
    for i in (1, 2):
        close(at(d, f"v{i}", state), p.v[i - 1], 1e-14)
        close(at(d, f"omega{i}", state), p.omega[i - 1], 1e-14)
        close(at(d, f"dK_dqd{i}", state), K.dK_dqd[i - 1], 1e-14)
        close(at(d, f"dK_dq{i}", state), K.dK_dq[i - 1], 1e-14)
        close(at(d, f"L{i}", state), free.inverse_dynamics(*state)[i - 1], 1e-13)
        for j in range(1, i + 1):
            close(at(d, f"v{i}{j}", state), p.dv_dqd[i - 1, j - 1], 1e-14)
            close(at(d, f"omega{i}{j}", state), p.domega_dqd[i - 1, j - 1], 1e-14)
    close(at(d, "K", state), K.K, 1e-14)
    same([d["dK_dqd1"]], [sympy.diff(sympy.sympify(d["K"]), a)])
    assert "E-S2" in d.markdown() and "E-S4" in d.markdown()


def test_closed_form_by_brackets():
    d, arm = derived("lie_closed_form"), da.robot("two_link")
    same(d["M"], D)
    same(d["phi"], c)
    same(d["X212"], sympy.Matrix([sympy.sympify(x) for x in d["X21"]]).diff(t2))  # (53): a bracket, not a derivative
    state = state_of(arm)
    close(np.stack([at(d, f"Gamma{k}", state) for k in (1, 2)]), arm.christoffel(state[0]), 1e-14)


def test_stacked_blocks():
    d, arm = da.derive(da.robot("planar_3r"), "stacked_operators", symbols=()), da.robot("planar_3r")
    q, qd, _ = state = state_of(arm)
    o, terms = arm.stacked_operators(q), arm.stacked_terms(q, qd)
    close(at(d, "A3", state), o.A[12:, 2], 1e-14)
    close(at(d, "G2", state), o.G[6:12, 6:12], 1e-14)
    close(at(d, "Gamma32", state), o.Gamma[12:, 6:12], 1e-14)
    close(at(d, "L31", state), o.L[12:, :6], 1e-14)
    close(at(d, "V3", state), terms.V[12:], 1e-13)
    close(at(d, "c", state), terms.c, 1e-13)
    close(at(d, "g", state), terms.g, 1e-13)
    close(at(d, "M", state), arm.mass_matrix(q), 1e-13)


def test_filter():
    """D2 and D1 by hand, and accelerations that undo the joint forces of the book."""
    d = derived("kalman")
    same([d["D2"]], [m2 * l**2 / 3])
    D2, D1, e1, e2, q1dd, f1, f2 = sympy.symbols("D2 D1 e1 e2 qdd1 tau1 tau2")
    same([d["D1"]], [m1 * l**2 / 3 + m2 * l**2 - (m2 * l**2 * C2 / 2) ** 2 / D2])
    same([d["qdd1"]], [e1 / D1])
    same([d["qdd2"]], [e2 / D2 - q1dd * (1 + m2 * l**2 * C2 / 2 / D2)])
    known = {f1: tau[0], f2: tau[1], D2: D[1][1], D1: sympy.Matrix(D).det() / D[1][1]}
    known[e2] = sympy.sympify(d["e2"]).subs(known)
    known[e1] = sympy.sympify(d["e1"]).subs({e2: known[e2]}).subs(known)
    known[q1dd] = (e1 / D1).subs(known)
    same([known[q1dd]], [aa])
    same([sympy.sympify(d["qdd2"]).subs(known)], [bb])
    assert "E-K1" in d.markdown() and "forward dynamics in floating-point" in d.markdown()
    close(d.check.expected, d.check.qdd, 1e-12)
    with pytest.raises(da.Error, match="'D1' is one of the derivation's own letters"):
        da.derive(da.robot("two_link"), "kalman", where={"m1": "D1"})
    with pytest.raises(da.Error, match=r"tau must have shape \(2,\)"):
        d.at([0, 0], [0, 0], [0])


def test_diagonal_equations():
    """xi by hand; the energy; C, the rates of P and the forces are those that the library computes."""
    d, arm = derived("diagonalized_unnormalized"), da.robot("two_link")
    D1, D2 = sympy.symbols("D1 D2")
    same([d["xi1"], d["xi2"]], [a, b + a * (1 + m2 * l**2 * C2 / 2 / D2)])
    pivots = {D2: D[1][1], D1: sympy.Matrix(D).det() / D[1][1]}
    energy = sum(Di * sympy.sympify(d[f"xi{i}"]) ** 2 for i, Di in ((1, D1), (2, D2)))
    same([energy.subs(pivots)], [D[0][0] * a**2 + 2 * D[0][1] * a * b + D[1][1] * b**2])
    state = q, qd, _ = state_of(arm)
    given = {"D": arm.diagonalize(q).D, "xi": arm.quasi_velocity(q, qd, normalized=False), "tau": np.array([2.0, -1.0])}
    kappa = given["kappa"] = arm.quasi_force(q, given["tau"], normalized=False)
    known = {f"{name}{i + 1}": x for name, array in given.items() for i, x in enumerate(array)}
    weight = arm.quasi_force(q, arm.gravity_force(q), normalized=False)
    coriolis = arm.quasi_coriolis(q, given["xi"], normalized=False) + weight
    close([at(d, f"c{i}", state, **known) for i in (1, 2)], coriolis, 1e-13)
    close([at(d, f"kappa{i}", state, **known) for i in (1, 2)], kappa, 1e-13)
    D_dot = arm.diagonalize(q + 1e-30j * qd).D.imag / 1e-30
    close([at(d, f"lambda{i}", state, **known)[2, 2] for i in (1, 2)], D_dot, 1e-13, scale=1.0)
    assert str(d["qdd1"]) == str(d["xi_dot1"])  # nothing moves the first joint but itself
    assert {"E-K5", "E-K6", "E-K8", "E-K12"} <= set(re.findall(r"E-K\d+", d.markdown()))


def test_problem_3_18():
    """The theta-d arm: a turning and a sliding joint."""
    r1, (d2, v2, a2) = sympy.Symbol("r1"), sympy.symbols("q2 qd2 qdd2")
    expected = [
        (m1 * r1**2 + m2 * d2**2) * aa + 2 * m2 * d2 * v2 * a + g * C1 * (m1 * r1 + m2 * d2),
        m2 * a2 - m2 * d2 * a**2 + m2 * g * S1,
    ]
    for method in INVERSE:
        d = da.derive(da.robot("rp"), method, where={"cz1": "r1"})
        same([d["tau1"], d["tau2"]], expected)
        assert r"\dot{d}_2" in d.markdown()


ROBOTS = {
    "two_link": lambda: (da.robot("two_link"), {}),
    "rp": lambda: (da.robot("rp"), {}),
    "planar_3r": lambda: (da.robot("planar_3r"), {}),
    "RPR": lambda: (da.random_robot(3, "RPR"), {"symbols": ()}),
    "HR in letters": lambda: (da.random_robot(4, "HR"), {"symbols": ("mass", "gravity")}),
    "fork": lambda: (da.random_robot(5, "RRP", (-1, 0, 0)), {"symbols": ()}),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", sweep(ROBOTS, quick=(5,)))
def test_the_formulas_are_the_robot(name, method):
    robot, options = ROBOTS[name]()
    d = da.derive(robot, method, **options)
    text = d.markdown()
    rng = np.random.default_rng(1)
    for _ in range(3):
        state = rng.uniform(-2, 2, (3, robot.n))
        compute = robot.forward_dynamics if METHODS[method].forward else robot.inverse_dynamics
        close(d.at(*state), compute(*state, backend="numpy"), 1e-12)
    assert d.check.difference < 1e-12 * np.abs(d.check.expected).max()
    assert f"Largest difference: {d.check.difference:.1e}" in text
    well_formed(text)
    well_formed(d.latex())


def well_formed(text):
    """Braces, environments and brackets close; the rows of a matrix are equally long."""
    for part in re.findall(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$([^$]*)\$", text, flags=re.DOTALL):
        math = "".join(part)
        depth = 0
        for ch in math.replace(r"\{", "").replace(r"\}", ""):
            depth += (ch == "{") - (ch == "}")
            assert depth >= 0, math
        assert depth == 0, math
        assert math.count(r"\left") == math.count(r"\right"), math
        assert "<" not in math, math
        for rows in re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", math):
            assert len({row.count("&") for row in rows.split(r"\\")}) == 1, math
    assert re.findall(r"\\begin\{(\w+)\}", text) and sorted(re.findall(r"\\begin\{(\w+)\}", text)) == sorted(
        re.findall(r"\\end\{(\w+)\}", text)
    )


def test_the_document_reads_like_the_book(tmp_path):
    d = derived("lagrange_euler")
    assert r"\mathbf{U}_{22} = \begin{bmatrix} -S_{12} & -C_{12} & 0 & -l S_{12} \\ C_{12} & -S_{12} & 0 & l C_{12}" in str(d)
    assert r"\frac{1}{3} m_1 l^2 + m_2 l^2 \bigl(\frac{4}{3} + C_2\bigr)" in d._repr_markdown_()
    assert d.equation("D") in d.markdown() and d.equation("D").startswith(r"\mathbf{D} = \begin{bmatrix}")
    assert "E-F3" in d.markdown() and "E-F12" not in d.markdown()
    assert "E-F12" in da.derive(da.robot("rp")).markdown()
    assert repr(d) == "<Derivation of two_link by lagrange_euler: 9 steps>"
    assert [step.title for step in d.steps][-1] == "The joint forces"
    assert set(d.steps[2].values) == {"U11", "U21", "U22"}
    assert d.save(tmp_path / "two.md") == tmp_path / "two.md"
    assert (tmp_path / "two.md").read_text(encoding="utf-8") == d.markdown()
    d.save(tmp_path / "two.tex")
    text = (tmp_path / "two.tex").read_text(encoding="utf-8")
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")
    assert r"two\_link" in text and "$$" not in text
    with pytest.raises(da.Error, match=r"\.tex or \.md"):
        d.save(tmp_path / "two.pdf")
    with pytest.raises(da.Error, match="cannot be written"):
        d.save(tmp_path / "nowhere" / "two.md")


def test_branches_are_said(tmp_path):
    """The formulas are those of a chain: a reader must know what their indices mean on a tree."""
    tree = da.random_robot(3, "RPR", (-1, 0, 0))
    d = da.derive(tree, "newton_euler", symbols=())
    assert "the links are carried by 0, 1, 1)" in d.markdown() and "branches" in d.save(tmp_path / "tree.tex").read_text("utf-8")
    assert d.check.difference < 1e-12
    assert "branches" not in derived("newton_euler").markdown()


def test_rotors_and_friction_are_left_out():
    robot = da.robot("two_link").with_armature(0.1).with_friction(damping=0.2)
    d = da.derive(robot, where=EQUAL)
    assert "not included" in d.markdown() and "not included" not in derived("lagrange_euler").markdown()
    assert d.check.difference < 1e-13
    same([d["tau1"], d["tau2"]], tau)


def test_names():
    arm = da.robot("two_link")
    d = da.derive(arm, where={"ax1": "a1", "ax2": "a2", "cx1": "r1", "m1": "M"})
    same([d["D"][1, 1]], [m2 * sympy.Symbol("a2") ** 2 / 3])
    assert {"a1", "a2", "r1", "M"} <= {str(x) for x in sympy.sympify(d["tau1"]).free_symbols}
    assert r"a_1" in d.markdown()
    with pytest.raises(da.Error, match="did you mean 'ax1'"):
        da.derive(arm, where={"ax_1": "l"})
    with pytest.raises(da.Error, match="cannot share the name 'l'"):
        da.derive(da.robot("planar_3r"), where={"ax1": "l", "ax2": "l"})
    for wrong in ("{", "", r"\alpha", "q1", "qdd2", 3, "S_1", "theta1", "1/0"):
        with pytest.raises(da.Error):
            da.derive(arm, where={"ax1": wrong})
    with pytest.raises(da.Error, match="m1, a mass, and ax1, a length, cannot share the name 'x'"):  # both are 1
        da.derive(arm, where={"m1": "x", "ax1": "x"})
    with pytest.raises(da.Error, match=r"cx1 is -0\.5, but -l1 / 3 is -0\.333"):
        da.derive(arm, where={"cx1": "-l1/3"})
    with pytest.raises(da.Error, match="value of r is not known"):
        da.derive(arm, where={"cx1": "-2*r"})
    minus = da.derive(arm, where={"cx1": "-r", "cx2": "-r"})
    assert "$r = 0.5$: minus centre of mass of link 1 along x, m (cx1, cx2)" in minus.markdown()
    assert str(minus["c"][1]) == "m2*g*(-r + l2)*cos(q1 + q2)"


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex here")
@pytest.mark.parametrize("method", sweep(METHODS, quick=(0, 5)))
@pytest.mark.parametrize("name", sweep(["two_link", "planar_3r", "HR in letters"], quick=(0,)))
def test_document_compiles(name, method, tmp_path):
    """And what is too wide for a page is broken."""
    robot, options = ROBOTS[name]()
    compiled(da.derive(replace(robot, name="Ärm 机_1 ς"), method, **options), tmp_path)


def test_wide_matrices_are_listed():
    text = da.derive(da.robot("planar_3r")).latex()
    assert r"\left(\mathbf{D}\right)_{12} = \left(\mathbf{D}\right)_{21} &= " in text
    assert r"\mathbf{c} = \begin{bmatrix}" in text


def test_arms_that_are_too_much():
    with pytest.raises(da.Error, match=r"random_RRR_3 has values of more than 2000 terms; use fewer symbols.*shared"):
        da.derive(da.random_robot(3, "RRR"))
    assert da.derive(da.random_robot(3, "RRR"), "newton_euler", ()).check.difference < 1e-12


def test_mistakes():
    arm = da.robot("two_link")
    with pytest.raises(da.Error, match="did you mean 'lagrange_euler'"):
        da.derive(arm, "lagrange")
    with pytest.raises(da.Error, match=r"6 joints .* many pages.*longest=6"):
        da.derive(da.robot("puma560"))
    with pytest.raises(da.Error, match="takes a robot"):
        da.derive("two_link")
    for wrong in ({"method": ["x"]}, {"symbols": 3}, {"where": 3}, {"where": "x"}, {"longest": "x"}):
        with pytest.raises(da.Error):
            da.derive(arm, **wrong)
    with pytest.raises(da.Error, match="unknown value of this derivation: 'U12'"):
        derived("lagrange_euler")["U12"]
    with pytest.raises(da.Error, match=r"qd must have shape \(2,\)"):
        derived("newton_euler").at([0, 0], [0], [0, 0])
    with pytest.raises(da.Error, match="unknown part"):
        da.derive(arm, symbols="colour")


def test_one_who_insists():
    d = da.derive(da.random_robot(1, "RPPR"), "newton_euler", symbols=(), longest=4)
    assert d.check.difference < 1e-12 * np.abs(d.check.expected).max()


def test_every_formulation_is_derived():
    """By itself, or by the one that the page and the error name."""
    others = [name for family in FAMILIES.values() for name in family]
    missing = {*FORMULATIONS} - {*METHODS, *others}
    assert not missing, (
        f"symbolic/derivation/methods.py: FAMILIES needs {missing}, beside the method that derives what they evaluate"
    )
    assert sorted([*METHODS, *others]) == sorted(FORMULATIONS)
    page = (Path(__file__).parents[1] / "docs" / "equations.md").read_text(encoding="utf-8")
    table = dict(re.findall(r'^\| `"(\w+)"` \|.*\| (.*)\|$', page, re.MULTILINE))
    assert {name: tuple(re.findall(r"`(\w+)`", text)) for name, text in table.items()} == {m: FAMILIES.get(m, ()) for m in METHODS}
    with pytest.raises(da.Error, match="brandl has no derivation; use that of kalman, which derives what it evaluates"):
        da.derive(da.robot("two_link"), "brandl")
