"""Operation counts: the papers' polynomials, ours, and their growth."""

import re

import pytest
from conftest import some_methods, zoo

import dalembert as da
from dalembert.engine.size import order
from dalembert.studies.complexity import PRINTED, complexity, general_chain, growth, printed
from dalembert.studies.tables import FGL_3_1, FGL_3_4, total, value


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_growth_is_what_the_papers_say(quantity):
    """Exact polynomials through n = 3 .. 8 that hold at n = 12."""
    for method in da.methods(quantity):
        counted = growth(method, quantity).order
        assert order(quantity, method) == counted, f"orders= of {quantity} in engine/registry.py: {method} grows as n^{counted}"


def test_growth_of_one_of_each_kind():
    for quantity, method in (("inverse_dynamics", "newton_euler"), ("mass_matrix", "composite_body")):
        assert growth(method, quantity).order == order(quantity, method)


@pytest.mark.parametrize(
    ("quantity", "method", "general", "puma", "panda"),
    [
        ("inverse_dynamics", "newton_euler", 707, 361, 607),
        ("forward_dynamics", "articulated_body", 1767, 650, 1224),
        ("forward_dynamics", "brandl", 1694, 659, 1244),
        ("forward_dynamics", "walker_orin_3", 1509, 652, 1201),
        ("mass_matrix", "composite_body", 639, 172, 348),
        ("mass_matrix", "body_jacobians", 1252, 334, 1297),
        ("coriolis_matrix", "composite_body", 2258, 881, 1609),
    ],
)
def test_customized_counts(quantity, method, general, puma, panda):
    """The same on every machine. The fewest that Kozlowski's table 3 prints for forward dynamics of six joints is 2,359 (Kalman, 1993)."""
    robots = general_chain(6), zoo("puma560"), zoo("panda")
    assert tuple(r.operation_count(quantity, method).total for r in robots) == (general, puma, panda)


def test_printed_values():
    """The totals that the sources print for n = 6."""
    at = {(p.label, p.method): (value(p.mul, 6), value(p.add, 6)) for p in PRINTED if p.mul}
    assert at["FGL table 3.1", "lagrange_euler"] == (102440, 78203)
    assert at["FGL table 3.5", "lagrange_euler"] == (101348, 77405)
    assert at["FGL table 3.4", "newton_euler"] == (678, 597)
    assert at["FGL table 3.5", "newton_euler"] == (792, 662)
    assert at["FGL table 3.5", "generalized_dalembert"] == (2963, 2209)
    assert at["Featherstone, in Park et al.", "lie_group"] == (712, 550)
    assert at["Kozlowski, general", "spatial_operator"] == (691, 519)
    assert at["Kozlowski, special axes", "spatial_operator"] == (507, 420)


def test_printed_equations_counted():
    """Row by row: tables 3.3 and 3.1 take other numbers of operations than tables 3.4 and 3.1 say."""
    counted = [
        [sum(value(part, 6) for part in column) for column in zip(*(row.counted for row in rows), strict=True)]
        for rows in (FGL_3_4, FGL_3_1)
    ]
    assert counted[0] == [708, 594]
    traces = {row.label: row for row in FGL_3_1}["Tr[U_kj J_k U_ki^T]"]
    assert traces.counted.mul == traces.mul and traces.equations[0].once.mul == 256
    assert [value(part, 6) for part in total(FGL_3_4)] == [678, 597]
    for rows in (FGL_3_1, FGL_3_4):
        for row in rows:
            same = all(value(a, n) == value(b, n) for a, b in zip(row.counted, (row.mul, row.add), strict=True) for n in (3, 6))
            assert same or row.note, f"{row.label} differs from its equation, and no note says why"


def test_generalized_dalembert_keeps_the_order_of_the_book():
    """n^3, against 13/6 n^3 and 4/3 n^3: every entry once, I z and m b once for all i."""
    grown = growth("generalized_dalembert")
    assert grown.mul[3] == grown.add[3] == 1
    book = next(x for x in PRINTED if x.method == "generalized_dalembert")
    assert abs(value(grown.total, 6) / value(book.total, 6) - 1) < 0.05


@pytest.mark.slow
def test_what_the_pages_say_about_counts():
    """In words; the numbers themselves are computed when the pages are built."""
    arm = general_chain(6)

    def customized(method, quantity="inverse_dynamics"):
        return arm.operation_count(quantity, method).total

    general = {m: value(growth(m).total, 6) for m in ("recursive_lagrange_4x4", "recursive_lagrange_3x3")}
    assert 0.6 < general["recursive_lagrange_3x3"] / general["recursive_lagrange_4x4"] < 0.72  # a third less
    assert 0.9 < customized("recursive_lagrange_3x3") / customized("recursive_lagrange_4x4") < 1  # next to nothing
    assert all(
        customized("newton_euler") <= customized(m) for m in da.methods("inverse_dynamics") if order("inverse_dynamics", m) < 4
    )
    assert all(
        customized("walker_orin_3", "forward_dynamics") <= customized(m, "forward_dynamics") for m in da.methods("forward_dynamics")
    )
    direct = arm.operation_count("inverse_dynamics", "uicker_kahn", customized=False).total
    assert sum(value(part, 6) for part in total(FGL_3_1)) > 3 * direct  # several times as much
    differing = [row for row in FGL_3_4 if any(value(a, 6) != value(b, 6) for a, b in zip(row.counted, row[1:3], strict=True))]
    assert len(differing) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cheapest"), [(4, {"walker_orin_3"}), (10, {"articulated_body", "brandl", "kalman"})])
def test_short_arms_have_a_mass_matrix_and_long_ones_none(n, cheapest):
    counts = {m: general_chain(n).operation_count("forward_dynamics", m).total for m in da.methods("forward_dynamics")}
    assert min(counts, key=counts.get) in cheapest


@pytest.mark.slow
def test_silvers_ratios():
    """What docs/counts.md says of them: smaller than Silver's by our sources, larger by the books' tables, one when customized."""
    book = {"newton_euler": sum(value(part, 6) for row in FGL_3_4 for part in row.counted)}
    book["uicker_kahn"] = sum(value(part, 6) for part in total(FGL_3_1))
    pairs = {
        ("recursive_lagrange_4x4", "newton_euler"): 5,
        ("uicker_kahn", "recursive_lagrange_4x4"): 15,
        ("recursive_lagrange_3x3", "newton_euler"): 2.5,
    }
    ours = {m: value(growth(m).total, 6) for m in {m for pair in pairs for m in pair}}
    for (above, below), silver in pairs.items():
        assert ours[above] / ours[below] < silver < book.get(above, ours[above]) / book.get(below, ours[below])


def test_printed_forward_dynamics():
    """Table 3 of Kozlowski for n = 6 and 12, E-K18 and E-K19 corrected; no polynomial for conjugate gradients (E-K20)."""
    printed = {
        "articulated_body": (2948, 6422),
        "walker_orin_1": (5920, 21701),
        "walker_orin_2": (4000, 13253),
        "walker_orin_3": (2882, 7857),
        "brandl": (2400, 5220),
        "": (2462, 7227),  # the numerical solution of 1992, which is none of our methods
        "kalman": (2359, 5221),
        "diagonalized_normalized": (5900, 12710),
        "diagonalized_unnormalized": (4951, 10507),
    }
    found = {p.method: (value(p.total, 6), value(p.total, 12)) for p in reversed(PRINTED) if p.quantity == "forward_dynamics"}
    assert found == printed


@some_methods
def test_customizing_always_pays(method):
    arm = da.robot("puma560")
    own, general = (arm.operation_count("inverse_dynamics", method, customized=c) for c in (True, False))
    assert own.mul < general.mul / 2
    assert own.add < general.add / 2


@pytest.mark.slow
def test_the_table_of_a_robot():
    text = str(da.complexity(da.robot("puma560")))
    for words in ("puma560, n = 6", "newton_euler", "678", "FGL table 3.4", "101348", "2963", "FGL table 3.5", "uicker_kahn"):
        assert words in text


@pytest.mark.slow
def test_the_table_of_forward_dynamics():
    text = str(da.complexity(da.robot("puma560"), "forward_dynamics"))
    for words in ("forward dynamics by", "brandl", "2400", "Kozlowski table 3, Brandl 1986", "Kozlowski table 2, general"):
        assert words in text
    assert "special axes" not in text  # the PUMA's axes are square, but displaced along themselves as well
    assert not printed("joint_acceleration", "forward_dynamics")  # Kozlowski's numerical solution is not Park and Lynch's
    assert "mass matrix by" in str(da.complexity(da.robot("two_link"), "mass_matrix"))
    with pytest.raises(da.Error, match="unknown quantity"):
        da.complexity(quantity="force")


@pytest.mark.slow
def test_the_general_table():
    text = str(complexity())
    assert re.search(r"117 n - 24 / 103 n -\s+1275\s+2595\s+21\n", text)  # the cell goes on in the next line
    assert "n^4" in text
    print(text)


def test_large_robots_leave_out_what_takes_minutes(monkeypatch):
    """The rule at a size that takes no minutes."""
    monkeypatch.setattr("dalembert.studies.complexity.MOST_WORK", 20)
    table = complexity(da.random_robot(0, "RR"), "inverse_dynamics")
    assert " ".join(table.split()).endswith("skipped, too large for so many joints: lie_closed_form, lagrange_euler, uicker_kahn")
    assert table.count("lagrange_euler") == 1
