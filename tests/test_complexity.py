"""Operation counts: the papers' polynomials, ours, and their growth."""

import pytest

import dalembert as da
from dalembert.study.complexity import PRINTED, complexity, growth, value

ORDERS = {
    "newton_euler": 1, "newton_euler_base": 1, "lie_group": 1, "lie_group_com": 1, "spatial_operator": 1, "recursive_lagrange_3x3": 1,
    "recursive_lagrange_4x4": 1, "angular_velocity_lagrange": 2, "generalized_dalembert": 3, "stacked_operators": 2, "lie_closed_form": 4,
    "lagrange_euler": 4, "uicker_kahn": 4,
}  # fmt: skip


@pytest.mark.slow
def test_growth_is_what_the_papers_say(method):
    """Exact polynomials through n = 3 .. 8 that hold at n = 12."""
    assert growth(method).order == ORDERS[method]


def test_printed_values():
    """The totals that the sources print for n = 6."""
    at = {(p.label, p.method): (value(p.mul, 6), value(p.add, 6)) for p in PRINTED}
    assert at["FGL table 3.1", "lagrange_euler"] == (102440, 78203)
    assert at["FGL table 3.5", "lagrange_euler"] == (101348, 77405)
    assert at["FGL table 3.4", "newton_euler"] == (678, 597)
    assert at["FGL table 3.5", "newton_euler"] == (792, 662)
    assert at["FGL table 3.5", "generalized_dalembert"] == (2963, 2209)
    assert at["Featherstone, in Park et al.", "lie_group"] == (712, 550)
    assert at["Kozlowski, general", "spatial_operator"] == (691, 519)
    assert at["Kozlowski, special axes", "spatial_operator"] == (507, 420)


def test_customizing_always_pays(method):
    arm = da.robot("puma560")
    own, general = (arm.operation_count("inverse_dynamics", method, customized=c) for c in (True, False))
    assert own.mul < general.mul / 2
    assert own.add < general.add / 2


def test_the_table_of_a_robot():
    text = str(da.complexity(da.robot("puma560")))
    for words in ("puma560, n = 6", "newton_euler", "678", "FGL table 3.4", "uicker_kahn"):
        assert words in text


@pytest.mark.slow
def test_the_general_table():
    text = str(complexity())
    assert "117 n - 24 / 103 n - 21" in text
    assert "n^4" in text
    print(text)
