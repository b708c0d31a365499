"""One table of all formulations, and measured times."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from builtin import ARMS

import dalembert as da
from dalembert.engine.size import work
from dalembert.studies import compare, timing
from dalembert.studies.bench import BENCHED, bench
from dalembert.studies.compare import COMPARED
from dalembert.studies.complexity import comparable
from dalembert.studies.timing import seconds


@cache
def found(name):
    return da.compare(da.robot(name), states=200)


@pytest.fixture
def small():
    return found("two_link")


@pytest.mark.parametrize("name", ["two_link", pytest.param("puma560", marks=pytest.mark.slow)])
def test_every_method_has_its_row(name):
    """Agreement against the methods themselves on floats, counts against operation_count, and times that are times."""
    arm, all_of_them = da.robot(name), found(name)
    assert [(r.quantity, r.method) for r in all_of_them.rows if r.method in ("newton_euler", "articulated_body", "composite_body")] == [
        ("inverse_dynamics", "newton_euler"), ("forward_dynamics", "articulated_body"), ("mass_matrix", "composite_body")
    ]  # fmt: skip
    for quantity in COMPARED:
        rows = {row.method: row for row in all_of_them.rows if row.quantity == quantity}
        assert set(rows) == set(da.methods(quantity))
        for method, row in rows.items():
            assert row.error < 1e-12
            assert row.customized == arm.operation_count(quantity, method)
            assert row.general == arm.operation_count(quantity, method, customized=False)
            assert row.nanoseconds > 0
            assert row.backend == "native"
            assert 1 <= row.order <= 4
    assert not all_of_them.notes


def test_the_default_comes_first(small):
    firsts = [next(row.method for row in small.rows if row.quantity == quantity) for quantity in COMPARED]
    assert firsts == ["newton_euler", "articulated_body", "composite_body"]


def test_a_wrong_method_shows(monkeypatch):
    """A method that is off by a millionth must not pass for one that agrees."""
    arm, true = da.robot("two_link"), da.Robot.mass_matrix

    def wrong(robot, q, *, method="composite_body", **options):
        return true(robot, q, method=method, **options) * (1 + 1e-6 * (method == "probing"))

    monkeypatch.setattr(da.Robot, "mass_matrix", wrong)
    rows = {row.method: row.error for row in da.compare(arm, "mass_matrix", states=100).rows}
    assert 0.9e-6 < rows.pop("probing") < 1.1e-6
    assert max(rows.values()) < 1e-12


def test_the_text_has_what_the_papers_print():
    found = da.compare(da.robot("planar_3r"), "inverse_dynamics", states=10)
    text = str(found)
    for words in ("planar_3r, n = 3", "FGL table 3.4: 117 n - 24 / 103 n - 21", "n^4"):
        assert words in text
    assert repr(found) == text
    count = da.robot("planar_3r").operation_count("inverse_dynamics")
    assert re.search(rf"newton_euler +\S+ +{count.mul} +{count.add} +{count.total} +\d+ +\d+ +\d+\n", text)
    assert re.search(r"newton_euler +\d+ +n\^1\n", text)
    assert re.search(r"newton_euler +615 +FGL table 3.4", text)


@pytest.mark.slow
def test_the_text_of_six_joints():
    text = str(found("puma560"))
    for words in ("puma560, n = 6", "FGL table 3.4: 117 n - 24 / 103 n - 21", "1275", "n^4", "180643", "2359", "E-K20"):
        assert words in text
    assert re.search(r"newton_euler +\S+ +199 +162 +361 +1260 +1106", text)
    assert re.search(r"newton_euler +1275 +FGL table 3.4", text)


def test_html_and_pandas(small):
    page = small._repr_html_()
    assert page.count("<table>") == 3
    assert page.count("<tr>") >= len(small.rows) + 3
    assert "generalized_dalembert" in page
    pandas = pytest.importorskip("pandas")
    frame = small.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(small.rows)
    assert frame.set_index(["quantity", "method"]).loc[("inverse_dynamics", "newton_euler"), "customized_mul"] == 17


def test_no_polynomials_for_other_structures(small):
    """They are about serial arms of three or more revolute joints."""
    assert not any(row.printed for row in small.rows)
    assert [name for name in ARMS if not comparable(da.robot(name))] == ["rp", "stanford", "two_link"]


def test_singular_robots_compare_the_rest():
    point = da.Link("a", "base", da.Joint("turn"), inertia=da.Inertia(0.0, np.zeros(3), np.zeros((3, 3))))
    found = da.compare(da.Robot("stick", (point,)), states=10)
    assert found.quantities == ("inverse_dynamics", "mass_matrix")
    assert len(found.notes) == 1
    assert "no forward dynamics" in found.notes[0]
    assert "'turn'" in found.notes[0]
    assert "no forward dynamics" in str(found)


def test_a_robot_without_joints():
    found = da.compare(da.Robot("stone", ()))
    assert not found.rows
    assert "no moving joints" in str(found)


def test_large_robots_leave_out_what_takes_minutes(monkeypatch):
    """The rule at a size that takes no minutes: with its limit, the methods that grow with n^4 end at 11 joints."""
    eleven, twelve = (work(range(-1, n - 1), "inverse_dynamics", "lagrange_euler") for n in (11, 12))
    assert eleven <= compare.LARGEST < twelve
    monkeypatch.setattr(compare, "LARGEST", 20)
    found = da.compare(da.random_robot(0, "RR"), "inverse_dynamics", states=10)
    left = {note.split()[2] for note in found.notes}
    assert left == {"lagrange_euler", "uicker_kahn", "lie_closed_form"}
    assert {row.method for row in found.rows} == set(da.methods("inverse_dynamics")) - left


def test_progress_counts_all():
    seen = []
    da.compare(da.robot("two_link"), ["mass_matrix", "inverse_dynamics"], states=10, progress=lambda *x: seen.append(x))
    total = len(da.methods("mass_matrix")) + len(da.methods("inverse_dynamics"))
    assert seen == [(k, total) for k in range(1, total + 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("puma560",), "takes a robot"),
        ((da.robot("two_link"), "energy"), "unknown quantity to compare"),
        ((da.robot("two_link"), "mass_matrix", 0), "states must be"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(da.Error, match=message):
        da.compare(*arguments)


def test_bench():
    found = bench(da.robot("two_link"), states=100, progress=False)
    assert [row.quantity for row in found.rows] == list(BENCHED)
    assert all(row.batch > 0 and row.call > 0 for row in found.rows)
    assert "mass matrix" in str(found)
    assert not bench(da.Robot("stone", ())).rows


def test_bench_beside_pinocchio():
    pytest.importorskip("pinocchio")
    for robot in (da.robot("stanford"), da.random_robot(3, "RPHR", (-1, -1, 0, 0))):
        rows = bench(robot, states=10, progress=False).rows
        assert all(row.pinocchio > 0 for row in rows)
        assert max(row.error for row in rows if row.error is not None) < 1e-12


def test_seconds_measures(monkeypatch):
    """By a clock of our own: the best run counts, and what is shorter than the clock's steps is called many times."""
    now, calls = 0.0, 0

    def call(taken, first=0.0):
        nonlocal now, calls
        now, calls = now + taken + (first if calls == 1 else 0.0), calls + 1

    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now - now % 1e-6))
    assert seconds(call, [1e-3, 5.0], spent=0.0) == pytest.approx(1e-3, rel=0.01)
    assert calls == 4  # to warm up, the one that was disturbed, two more
    assert seconds(call, [1e-3], spent=0.0105) == pytest.approx(1e-3, rel=0.01)
    assert 14 <= calls <= 17
    assert seconds(call, [3e-8], spent=0.03) == pytest.approx(3e-8, rel=0.06)
