"""studies/concordance.toml and the tags in the source: every item of the five documents is claimed, and every claim is of an item."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from test_rows import anchors, names, runs

import dalembert as da
from dalembert.formulations import METHODS, methods
from dalembert.studies import concordance
from dalembert.studies.concordance import _NUMBER, KINDS, entries, resolved, sources, tags
from dalembert.studies.errata import ERRATA

EQUATIONS = {"Silver": 33, "FGL": 127, "PL": 99, "Kozlowski": 49, "PBP": 83}
OTHERS = {"Silver": 1, "FGL": 35, "PL": 4, "Kozlowski": 4, "PBP": 4}


def kind(name):
    word = name.split()[1]
    return word if word in KINDS else "equation"


def test_every_number_is_there():
    for document, count in EQUATIONS.items():
        own = [name for name in entries() if name.startswith(f"{document} ")]
        assert sum(kind(name) == "equation" for name in own) == count
        assert sum(kind(name) != "equation" for name in own) == OTHERS[document]
    chapters = {
        "FGL 3.2-": 40,
        "FGL 3.3-": 59,
        "FGL 3.4-": 28,
        "PL 9.": 99,
        "Kozlowski ": 49,
        "PBP ": 83,
        "Silver 2.": 11,
        "Silver 3.": 16,
    }
    for start, last in chapters.items():
        assert {f"{start}{k}" for k in range(1, last + 1)} <= set(entries()), start
    assert {f"FGL problem 3.{k}" for k in range(1, 19)} <= set(entries())


def test_tags_name_items():
    for tag in tags():
        assert tag.name in entries(), f"{tag.file}:{tag.line} names {tag.name}, which concordance.toml does not have"


def test_items_are_claimed():
    """By a tag or by the equation that they lead to, and not by both; figures and the like by the function of their row."""
    claimed = {tag.name for tag in tags() if tag.claims}
    for name, entry in entries().items():
        assert not ("in" in entry and name in claimed), f"{name} has a tag: `in` is not needed"
        if "in" not in entry:
            assert name in claimed or kind(name) != "equation", f"nobody claims {name}: a tag or `in` is missing"


def test_items_are_understood_alone():
    """`dalembert where` shows one of them, without the one before."""
    for name, entry in entries().items():
        assert not re.match(r"(the same|its|their|that|these|both|it)\b", entry["what"]), f"{name}: {entry['what']}"


@pytest.mark.parametrize("document", EQUATIONS)
def test_items_name_what_exists(document):
    for item in sources():
        if item.name.startswith(f"{document} "):
            check(item)


def check(item):
    assert set(entries()[item.name]) <= {"what", "row", "in", "function", "method", "test", "docs"} and item.what, item.name
    page, _, anchor = item.page.partition("#")
    assert anchor in anchors(page), f"{item.name}: {page} has no {anchor}"
    if item.function is None:
        assert item.name == "FGL figure 3.9" and item.place is None
        return
    assert "._" not in item.function
    resolved(item.function)
    if item.method:
        assert item.method in da.methods(item.function.rpartition(".")[2]), item
    file, _, test = item.test.partition("::")
    assert test in names(file), f"{item.name}: {file} has no {test}"
    runs(item.test, item.function, item.method, item.number.removeprefix("problem "))
    line = (concordance.PACKAGE.parent / item.file).read_text(encoding="utf-8").splitlines()[item.line - 1]
    if item.within is None:
        wanted = _NUMBER if kind(item.name) == "equation" else r"\s*(def|class) "
        assert re.search(wanted, line), f"{item.name}: {line}"


parsed = cache(lambda file: ast.parse((concordance.PACKAGE.parent / file).read_text(encoding="utf-8")))


def enclosing(item):
    """The outermost function of the line of an item, or None."""
    around = (x for x in parsed(item.file).body if isinstance(x, ast.FunctionDef) and x.lineno <= item.line <= x.end_lineno)
    return next(around, None)


def test_lines_are_those_of_the_function():
    """A line of a public function is claimed for that function, and for no other; lines of what it calls are free."""
    of_robots = {name for name in vars(da.Robot) if not name.startswith("_")}
    for item in (item for item in sources() if item.within is None and item.file):
        home, named = Path(item.file), item.function.rpartition(".")[2]
        known = (
            METHODS.get(home.stem, {}) if home.parts[1] == "formulations" else of_robots if home.parts[1] == "quantities" else {}
        )
        if named in known and (found := enclosing(item)) and found.name in known:
            assert found.name == named, f"{item.name}: {item.place} is in {found.name}, not in {named}"
        if home.parts[1] == "formulations" and home.stem in (able := methods(named)) and len(able) > 1:
            assert item.method == home.stem, f"{item.name}: {item.place} is not what {named} runs without a method"


IDENTITIES = {"Kozlowski 46", "Kozlowski 47"}  # of two quantities, or of one: nothing evaluates them but their tests


def test_lines_are_those_that_compute():
    """A function that asks the engine for a quantity computes nothing itself; problems are solved on their page."""
    for item in (item for item in sources() if item.within is None and item.file and kind(item.name) == "equation"):
        inside = enclosing(item)
        asks = inside is not None and bool(re.match(r"return _?asked\(", ast.unparse(inside.body[-1])))
        assert asks == (item.name in IDENTITIES), f"{item.name}: {item.place}"


def test_misprints_are_at_their_items():
    """Every misprint whose place has a number is found by it."""
    found = {name for item in sources() for name in item.errata}
    numbered = {e.id for e in ERRATA if e.id.startswith("E-") and re.match(r"\(|table|problem|algorithm", e.place)}
    assert numbered <= found
    assert da.source("FGL table 3.2").errata == ("E-F4",)
    assert da.source("FGL table 3.5").errata == ("E-T1", "E-T2", "E-T3")
    assert da.source("PBP 62").errata == ("E-B6",)
    assert da.source("PL 9.82").errata == ("E-P10",)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("FGL 3.3-55", "FGL 3.3-55"),
        ("fgl 3.3-55", "FGL 3.3-55"),
        (" (3.3-55) ", "FGL 3.3-55"),
        ("Fu, Gonzalez and Lee, equation (3.2-8a)", "FGL 3.2-8"),
        ("kozlowski 36", "Kozlowski 36"),
        ("Silver (A.2)", "Silver A.2"),
        ("PL 9.83", "PL 9.83"),
        ("Park and Lynch Eq. (9.83)", "PL 9.83"),
        ("pbp 20", "PBP 20"),
        ("FGL Table 3.4", "FGL table 3.4"),
        ("Kozlowski fig. 1", "Kozlowski figure 1"),
        ("problem 3.11", "FGL problem 3.11"),
        ("prob. 3.11", "FGL problem 3.11"),
        ("FGL figs 3.10", "FGL figure 3.10"),
        ("prop 9.1", "PL proposition 9.1"),
        ("silver a2", "Silver A.2"),
        ("FGL 3.3 \u2013 55", "FGL 3.3-55"),  # the dash of a PDF
        ("Koz\u0142owski 36", "Kozlowski 36"),  # as he writes himself
        ("Fu et al. 3.3-55", "FGL 3.3-55"),
        ("Park 9.83", "PL 9.83"),  # one of two documents has it
        ("bobrow 20", "PBP 20"),
    ],
)
def test_names_as_people_write_them(asked, name):
    assert da.source(asked).name == name


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("36", "'36' is in more than one document: say Kozlowski 36 or PBP 36"),
        ("FGL 3.3-60", r"no item 'FGL 3.3-60'; near it: FGL 3.3-"),
        ("3.3-60", r"no item '3.3-60'; near it: FGL 3.3-"),
        ("Park 3.3-55", "no item 'Park 3.3-55'"),
        ("Lynch and Bobrow 9.83", "unknown document in 'Lynch and Bobrow 9.83'"),
        ("e-b6", "E-B6 is a misprint at PBP 61, PBP 62, PBP 63, PBP 64: ask for that"),
        ("T1", "T1 has no number: see docs/errata.md"),
        ("Goldstein 3", "unknown document in 'Goldstein 3'; known: Silver, FGL, PL, Kozlowski, PBP"),
        ("", "an item must be a name such as 'FGL 3.3-55'"),
        (3, "an item must be a name such as 'FGL 3.3-55', got 3"),
    ],
)
def test_names_that_do_not_exist(asked, message):
    with pytest.raises(da.Error, match=message):
        da.source(asked)


def test_shown():
    text = str(da.source("FGL 3.3-55"))
    assert text.startswith("FGL 3.3-55: net moment on a link, in its own axes\n")
    assert re.search(r"line +dalembert/formulations/newton_euler.py:\d+\n", text)
    assert "inverse_dynamics (newton_euler)" in text and "docs/formulations/newton_euler.md#newton_euler" in text
    assert re.search(
        r"misprint  E-F14, \(3.3-50\) to \(3.3-53\), \(3.3-55\)\n    printed +omegadot .*\n    right +omega in .*\n", text
    )
    assert text.endswith("  test    tests/errata/test_fu.py::test_E_F14")
    assert "leads to  FGL 3.3-13" in str(da.source("FGL 3.3-7"))
    assert "does not describe a computation" in str(da.source("FGL figure 3.9"))


def test_what_a_tag_is(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        '"""Kozlowski (1) to (3)."""\n\n\ndef f(x):\n'
        '    """Signature (3),(6)->(6); with E-K9 (9.83), Park, Bobrow\n    and Ploen (12).\n\n    >>> f(3)  # (4)\n    """\n'
        "    return g(7) + (8)  # (9), (3.2-99)\n"
    )
    found = [(tag.name, tag.line, tag.claims) for tag in concordance._tags(file)]
    assert found == [
        ("Kozlowski 1", 1, False),
        ("Kozlowski 2", 1, False),
        ("Kozlowski 3", 1, False),
        ("PL 9.83", 5, True),
        ("PBP 12", 6, True),
        ("Kozlowski 9", 10, True),
        ("FGL 3.2-99", 10, True),
    ]
