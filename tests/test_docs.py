"""The pages of the documentation, as far as they can be judged without building them (`make docs` does, warnings being errors)."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert.formulations import METHODS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted((DOCS / "formulations").glob("*.md"))
BESIDE = re.compile(r"^:::\{beside\} (\S+)(?: (\S+))?\n((?::\w+: .*\n)*)", re.MULTILINE)


@pytest.fixture(autouse=True)
def helpers(monkeypatch):
    """What the build uses, on the path; nothing of it needs Sphinx."""
    names = (
        "methods",
        "source",
        "plain_text",
        "offline",
        "rows",
        "concordance_tables",
        "docstring_formulas",
        "docstrings",
        "markdown_tables",
    )
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


def helper(name):
    return importlib.import_module(name)


def test_what_the_build_imports_exists():
    """Of the package; most extensions need Sphinx, which tests do without."""
    for file in (DOCS / "_ext").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dalembert"):
                module = importlib.import_module(node.module)
                for name in node.names:
                    assert hasattr(module, name.name), f"{file.name} imports {name.name} from {node.module}, which has no such name"


def test_every_method_has_its_page():
    entries = helper("methods").METHODS
    known = {*METHODS}
    assert set(entries) == known, (
        f"docs/_ext/methods.py: METHODS needs {known - set(entries) or 'no'} and not {set(entries) - known}"
    )
    index = (DOCS / "formulations" / "index.md").read_text(encoding="utf-8")
    for method, entry in entries.items():
        assert f"\n{entry.page}\n" in index, f"the table of contents of docs/formulations/index.md needs {entry.page}"
        page = (DOCS / "formulations" / f"{entry.page}.md").read_text(encoding="utf-8")
        assert f"({method})=\n" in page, f"{entry.page}.md has no label ({method})="
        assert f"{{counts}} {method}\n" in page, f"{entry.page}.md does not show the counts of {method}"
        files = {file for file, _, _ in BESIDE.findall(page)}
        assert method in files or entry.page == "articulated_body", f"{entry.page}.md shows no line of {method}.py"
    assert all(f"\n{page.stem}\n" in index for page in PAGES if page.stem != "index")


def test_default_methods_are_counted_on_their_pages():
    for quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        assert f"{{method-table}} {quantity}\n" in (DOCS / "formulations" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lines_beside_equations_exist(page):
    lines = helper("source").lines
    text = page.read_text(encoding="utf-8")
    found = BESIDE.findall(text)
    assert len(found) == text.count("{beside}")
    for file, name, options in found:
        given = dict(re.findall(r"^:(\w+): (.*)$", options, re.MULTILINE))
        code = lines(file, name or None, given.get("from"), given.get("to"))
        assert 1 <= len(code.splitlines()) <= 60, f"{page.name}: {file} {name} shows {len(code.splitlines())} lines"


def test_lines_that_are_gone_are_an_error():
    lines = helper("source").lines
    whole = lines("newton_euler", "outward")
    assert whole.startswith("def outward(") and "(3.3-50)" in whole
    assert lines("newton_euler", "JointMotion.into").startswith("def into(")
    part = lines("newton_euler", "outward", "vd = vd + j.sigma", "w = w + j.rho")
    assert len(part.splitlines()) == 3 == part.last - part.first + 1
    assert not part.startswith(" ")
    for wrong in (
        ("outwards",),
        ("outward", "no such text"),
        ("outward", "links.append", "vd = vd + j.sigma"),
        ("JointMotion.nowhere",),
    ):
        with pytest.raises(ValueError, match=r"there is no|holds"):
            lines("newton_euler", *wrong)


def test_reference_names_exist():
    named = re.findall(
        r"^\.\. auto\w+:: (\S+)$", "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "api").glob("*.md")), re.MULTILINE
    )
    assert len(named) > 100 and len(set(named)) == len(named)
    for name in named:
        thing = da
        for part in name.removeprefix("dalembert.").split("."):
            thing = getattr(thing, part)


def test_every_public_name_is_in_the_reference():
    pytest.importorskip("sphinx")
    docstrings = helper("docstrings")
    every, said = set(docstrings.public_names()), docstrings.documented()
    assert not every - said, f"the pages of docs/api need {every - said}, such as .. automethod:: Robot.<name> in robot.md"


def test_docstrings_become_markup():
    converted = helper("plain_text").converted
    text = [
        "The `x` of a_b * c, and **not** this. Signature (n),(n)->(n,n).", "",
        "tau = M qdd + c", "",
        "q, qd: (..., n) joint positions", "    that go on here", "out: an array", "",
        "Lambda = 1 is a sentence.", "",
        ">>> x_ = 1", ">>> x_", "1",
    ]  # fmt: skip
    assert converted(text, frozenset({"q", "qd", "out"})) == [
        r"The ``x`` of a\_b \* c, and \*\*not\*\* this. Signature ``(n),(n)->(n,n)``.", "",
        ".. code-block:: text", "", "    tau = M qdd + c", "",
        "- **q**, **qd**: (..., n) joint positions", "  that go on here", "- **out**: an array", "",
        "Lambda = 1 is a sentence.", "",
        ">>> x_ = 1", ">>> x_", "1", "",
    ]  # fmt: skip


def test_formulas_of_docstrings_are_typeset():
    """Every formula of the table is in a docstring, and every line of mathematics of a docstring is in the table."""
    formulas, text = helper("docstring_formulas"), helper("plain_text")
    holders = [da, da.algebra, da.Robot, da.Inertia, da.Trajectory]
    docs = {id(x): inspect.getdoc(x) or "" for holder in holders for x in (getattr(holder, name) for name in dir(holder))}
    every = "\n".join(docs.values())
    assert not [formula for formula in formulas.FORMULAS if formula not in every]
    for doc in docs.values():
        for block in list(text.blocks(doc.splitlines()))[1:]:
            if text.is_equation(block) and not block[0].startswith((">>>", " ", "- ")) and "ndarray(" not in block[0]:
                assert formulas.displayed(block), f"docs/_ext/docstring_formulas.py needs {block}"
    assert text.converted(["Coriolis forces C(q, qd) qd. And a_b."]) == [
        r"Coriolis forces :math:`C(q,\dot q)\,\dot q`. And a\_b.",
        "",
    ]
    for latex in formulas.FORMULAS.values():
        assert latex.count("{") == latex.count("}") and latex.count(r"\begin") == latex.count(r"\end")


def test_tables_align_numbers():
    table = helper("markdown_tables").markdown_table
    rule = table([["what", "count", "time"], ["a", "1,200", "3 ns"], ["b", "-", "12 ns"]]).splitlines()[1]
    assert rule == "| --- | ---: | ---: |"


def test_the_summary_of_a_page_has_all_its_names():
    pytest.importorskip("sphinx")
    docstrings = helper("docstrings")
    for page in (DOCS / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page.stem == "index":
            continue
        assert "```{summary}" in text, f"{page.name} needs a summary"
        listed = [name for _, names in docstrings.contents(text.partition("```{summary}")[2]) for name in names]
        named = re.findall(r"^\.\. auto\w+:: (\S+)$", text.partition("```{summary}")[2], re.MULTILINE)
        assert set(named) <= set(listed)
        assert all(docstrings.sentence(name) for name in listed), page.name


@pytest.mark.parametrize("holder", [da, da.Robot], ids=["dalembert", "Robot"])
def test_examples_in_docstrings_look_like_code(holder):
    """Lines of code without a prompt are indented: else the page runs them together as a sentence."""
    things = {name: getattr(da, name) for name in dir(da)} if holder is da else vars(da.Robot)
    for name, thing in things.items():
        text = inspect.getdoc(thing) or ""
        flat = [line for line in text.splitlines() if re.match(r"\w+ = (da|robot|arm)\.\w+\(", line)]
        assert not flat, f"{name}: indent {flat} in its docstring"


def test_what_pages_would_fetch_is_found(tmp_path):
    fetches = helper("offline").fetches
    (tmp_path / "good.html").write_text('<a href="https://example.org">x</a><script src="_static/a.js"></script><img src="a.png">')
    assert list(fetches(tmp_path)) == []
    (tmp_path / "bad.html").write_text(
        '<script src="https://cdn.example/a.js"></script><link rel="stylesheet" href="//cdn.example/a.css">'
        '<style>@import "https://cdn.example/b.css";</style><p style="background: url(http://cdn.example/c.png)">'
    )
    (tmp_path / "bad.css").write_text("@font-face { src: url('https://cdn.example/font.woff2') }")
    assert len(list(fetches(tmp_path))) == 5


def test_parts_of_other_files_that_pages_include_exist():
    for page in DOCS.rglob("*.md"):
        for file, options in re.findall(
            r"^```\{include\} (\S+)\n((?::[\w-]+: .*\n)*)", page.read_text(encoding="utf-8"), re.MULTILINE
        ):
            text = (page.parent / file).read_text(encoding="utf-8")
            for mark in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.MULTILINE):
                assert f"\n{mark}\n" in text, f"{page.name} includes a part of {file} at {mark!r}"


EDITIONS = {"silver": "silver", "fgl": "fu", "park_lynch": "park_lynch", "kozlowski": "kozlowski", "park_bobrow_ploen": "park"}


@pytest.mark.parametrize("name", EDITIONS)
def test_editions_have_claims_misprints_and_exercises(name):
    """Every exercise has a hidden solution that asserts its answer."""
    text = (DOCS / "editions" / f"{name}.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == ["Step by step", "Its claims", "Its misprints", "Exercises"]
    assert f"```{{misprints}} {EDITIONS[name]}\n" in text
    exercises = text[text.index("## Exercises") :]
    solutions = re.findall(r"<details><summary>Solution</summary>\n(.*?)\n</details>", exercises, re.DOTALL)
    assert len(solutions) == len(re.findall(r"^\*\*\d\.\*\* ", exercises, re.MULTILINE)) >= 4
    assert all("\nassert " in solution for solution in solutions)
    assert f"\n{name}\n" in (DOCS / "editions" / "index.md").read_text(encoding="utf-8")


def test_charts_are_well_formed():
    from xml.etree import ElementTree

    charts = helper("charts")
    series = {"one": [(2, 10.0), (4, 20.0)], "two": [(2, 50.0), (4, 900.0)]}
    for legend in (0, 200):
        drawn = ElementTree.fromstring(charts.loglog(series, "a title", charts.nanoseconds, legend))
        lines = [x.get("d") for x in drawn.findall(".//{*}path") if x.get("fill") == "none"]
        assert len(lines) == 2 and len(drawn.findall(".//{*}circle")) == 4
        texts = [x.text for x in drawn.findall(".//{*}text")]
        assert {"2", "4", "joints", "100 ns", "one", "two"} <= set(texts)
        assert (texts.index("two") < texts.index("one")) == bool(legend)  # the highest line first


def test_charts_have_a_colour_for_every_method():
    page = (DOCS / "story.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^```\{growth-chart\} (\w+) (\w+)$", page, re.MULTILINE)
    assert sorted(drawn) == [(what, of) for what in ("counts", "times") for of in ("forward_dynamics", "inverse_dynamics")]
    most = max(len(da.methods(quantity)) for _, quantity in drawn)
    assert len(set(helper("charts").COLORS)) >= most, f"docs/_ext/charts.py: COLORS needs {most} colours"


def test_links_between_pages_exist():
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in target and not target.startswith("{"):
                assert (page.parent / target).exists(), f"{page.relative_to(DOCS)} points to {target}"


def test_rows_of_tables_are_lines_of_the_source():
    """Every row names statements that exist, and the rows add up to the whole program."""
    rows = helper("rows")
    from dalembert.studies.complexity import general_chain
    from dalembert.studies.tables import FGL_3_1, FGL_3_4, NORMALIZED_STAGES, SHARED_STAGES, UNNORMALIZED_STAGES

    tables = {
        "lagrange_euler": FGL_3_1,
        "newton_euler": FGL_3_4,
        "diagonalized_normalized": (*SHARED_STAGES, *NORMALIZED_STAGES),
        "diagonalized_unnormalized": (*SHARED_STAGES, *UNNORMALIZED_STAGES),
    }
    robot = general_chain(3)
    for name, method in rows.ROWS.items():
        found = rows.counted(name, robot)
        assert rows.together(list(found.values())) == robot.operation_count(method.quantity, name)
        assert sum(row.label in found for row in tables[name]) >= len(tables[name]) - 3
    with pytest.raises(ValueError, match="no statement of newton_euler outward begins with"):
        rows.places("newton_euler outward: nothing of the kind")
    with pytest.raises(ValueError, match="newton_euler has no function outwards"):
        rows.places("newton_euler outwards")


@pytest.mark.parametrize("form", ["normalized", "unnormalized"])
def test_table_2_of_kozlowski_against_ours(form):
    """What docs/counts.md says: the rows together are about as many as printed, and P has the largest excess."""
    rows = helper("rows")
    from dalembert.studies.complexity import general_chain
    from dalembert.studies.tables import NORMALIZED_STAGES, SHARED_STAGES, UNNORMALIZED_STAGES, value

    stages = (*SHARED_STAGES, *(NORMALIZED_STAGES if form == "normalized" else UNNORMALIZED_STAGES))
    ours = rows.counted(f"diagonalized_{form}", general_chain(6))
    printed = {row.label: value(row.mul, 6) + value(row.add, 6) for row in stages}
    excess = {label: ours[label].total - printed[label] for label in printed if label in ours}
    together = sum(ours[label].total for label in excess)
    assert 0.95 < together / sum(printed.values()) < 1.01
    assert max(excess, key=excess.get) == "P"
    assert all(excess[label] < 0 for label in ("Psi", "lambda-dot", "b", "y"))
    assert sum(count.total for count in ours.values()) > sum(printed.values())  # with what the table leaves out


NOT_OURS = {
    "4 additions less": "of table 3.5, by arithmetic (E-T3)",
    '100,000" additions': "Silver's words",
    "5,000 operations": "a limit of the compiler",
    "127 multiplications": "Khalil and Kleinfinger's",
    "117 additions": "Khalil and Kleinfinger's",
}


def test_counts_are_computed_and_not_typed():
    """Pages give operation counts by directives and cells; what others print, and limits, are words."""
    found = set()
    for page in DOCS.rglob("*.md"):
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for typed in re.findall(r'\d[\d,]*"? (?:operations|multiplications|additions)(?: less)?', prose):
            assert typed in NOT_OURS, f"{page.relative_to(DOCS)}: {typed}"
            found.add(typed)
        for head, body in re.findall(r"^\|(.*)\n\|[-:| ]+\n((?:\|.*\n)+)", prose, re.MULTILINE):
            counts = [k for k, cell in enumerate(head.split("|")) if re.search("operations|multiplications|additions", cell)]
            typed = [row for row in body.splitlines() for k in counts if re.search(r"\d", row.split("|")[k + 1])]
            assert not typed, f"{page.relative_to(DOCS)}: {typed}"
    assert found == set(NOT_OURS)


def test_tables_of_the_counts_page_exist():
    page = (DOCS / "counts.md").read_text(encoding="utf-8")
    source = (DOCS / "_ext" / "printed_tables.py").read_text(encoding="utf-8")
    known = re.findall(r'^    "([a-z0-9.-]+)": ', source[source.index("TABLES:") :], re.MULTILINE)
    assert sorted(re.findall(r"^```\{printed-table\} (\S+)$", page, re.MULTILINE)) == sorted(known)


def test_tables_of_the_concordance_are_complete():
    """Every item and every row of the inventory is on its page, and pages ask for tables that exist."""
    tables = helper("concordance_tables")
    from dalembert.studies.concordance import DOCUMENTS, entries, rows

    for name, known, text, count in (
        ("concordance", tuple(DOCUMENTS), tables.concordance, len(entries())),
        ("inventory", tables.INVENTORY, tables.inventory, len(rows())),
    ):
        page = (DOCS / ("rows.md" if name == "inventory" else "concordance.md")).read_text(encoding="utf-8")
        assert re.findall(rf"^```\{{{name}\}} (\S+)$", page, re.MULTILINE) == list(known)
        made = [text(part).splitlines() for part in known]
        assert sum(len(lines) - 2 for lines in made) == count
        for lines in made:
            assert len({re.sub(r"\\\|", "", line).count("|") for line in lines}) == 1
