"""studies/rows.toml: every row of the inventory names a public function, a test and a place in the documentation that exist."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import dalembert
from dalembert.studies.concordance import resolved, rows

ROOT = Path(__file__).parents[1]
ROWS = rows()
PROBLEMS = (
    "3.1",
    "3.2",
    "3.3",
    "3.4",
    "3.5,3.6",
    "3.7,3.8",
    "3.9,3.10,3.15",
    "3.11",
    "3.12",
    "3.13",
    "3.14",
    "3.16,3.17",
    "3.18",
    "refs",
)
COUNTS = {"X": 10, "S": 21, "F": 26, "P": 20, "K": 29, "B": 26}
MENTIONED = {"F26", "P20", "K29", "B26", "refs"}  # without being described


@cache
def names(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@cache
def anchors(page):
    """Labels, and headings as MyST names them."""
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = (re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {*re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE), *headings}


def test_all_rows_are_there():
    wanted = {f"{letter}{k}" for letter, count in COUNTS.items() for k in range(1, count + 1)} | set(PROBLEMS)
    assert len(wanted) == 146
    assert {name for name in ROWS if not name.startswith("N")} == wanted
    assert {name for name, row in ROWS.items() if "function" not in row} == MENTIONED


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    row = ROWS[name]
    assert set(row) <= {"what", "function", "method", "test", "docs"} and row["what"]
    page, _, anchor = row["docs"].partition("#")
    assert anchor in anchors(page), f"{page} has no {anchor}"
    if name in MENTIONED:
        return
    assert "._" not in row["function"]
    resolved(row["function"])
    if "method" in row:
        assert row["method"] in dalembert.methods(row["function"].rpartition(".")[2])
    file, _, test = row["test"].partition("::")
    assert test in names(file), f"{file} has no {test}"
    runs(row["test"], row["function"], row.get("method"), name)


def runs(test, function, method, problems):
    """A test calls a function, by the method that is named if it is not the default."""
    file, _, name = test.partition("::")
    called, text = function.rpartition(".")[2], source(file, name, problems)
    as_written = rf"(?<!\bal)\.{called}\b|\"{called}\"" if "Robot." in function else rf"\b{called}\b"  # al is dalembert.algebra
    assert re.search(as_written, text), f"{test} does not call {called}"
    choice = inspect.signature(resolved(function)).parameters.get("method") if method else None
    if choice and choice.default != method:
        assert re.search(rf"\b{method}\b|\bmethod=method\b|\"method\": method\b", text), (
            f"{test} does not call {called} by {method}"
        )


def source(file, test, problems):
    """Of a test, and of what it calls in its file and in conftest.py; of problems, their sections of the page."""
    if file.endswith("problems.py"):
        sections = re.split(r"^## (3\.\d+) ", (ROOT / "docs" / "problems.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
        return "".join(sections[sections.index(number) + 1] for number in problems.split(","))
    parts = functions("tests/conftest.py") | functions(file)
    return parts[test] + "".join(part for name, part in parts.items() if f"{name}(" in parts[test])


@cache
def functions(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    return {x.name: ast.get_source_segment(text, x) for x in ast.parse(text).body if isinstance(x, ast.FunctionDef)}
