"""The list of misprints: each entry once, with its own test, on the page and nowhere else."""

import ast
import re
import sys
from pathlib import Path

import pytest

from dalembert.studies.errata import DOCUMENTS, ERRATA

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
COUNTS = {"E-S": 6, "E-F": 16, "E-T": 3, "E-P": 11, "E-K": 20, "E-B": 11, "T": 10}  # how many were found in each document
IDS = [f"{kind}{k}" for kind, count in COUNTS.items() for k in range(1, count + 1)]


def names(file):
    return [node.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]


def test_every_misprint_is_listed_once():
    assert sorted(entry.id for entry in ERRATA) == sorted(IDS)
    for entry in ERRATA:
        assert entry.place and entry.printed and entry.right and entry.printed != entry.right, entry.id
        assert entry.off is None or entry.off > 0, entry.id


def test_every_misprint_has_one_test():
    """By its own name, in the file of its document; no test is of anything that is not listed."""
    found = [f"tests/errata/{file.name}::{name}" for file in HERE.glob("test_*.py") for name in names(file)]
    shown = [test for test in found if re.search(r"::test_(E_[A-Z]|T)\d+$", test)]
    assert sorted(shown) == sorted(entry.test for entry in ERRATA)


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_every_test_judges_its_own_entry(entry):
    file = HERE.parents[1] / entry.test.partition("::")[0]
    name = entry.test.rpartition("::")[2]
    code = next(x for x in ast.parse(file.read_text(encoding="utf-8")).body if getattr(x, "name", None) == name)
    called = [x for x in ast.walk(code) if isinstance(x, ast.Call) and getattr(x.func, "id", None) in ("misprint", "unusable")]
    assert [(x.func.id, x.args[0].value) for x in called] == [("unusable" if entry.off is None else "misprint", entry.id)]


def test_the_page_has_every_document_and_names_nothing_else():
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^```\{misprints\} (\w+)$", page, re.MULTILINE)) == sorted(DOCUMENTS)
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        import errata_tables
    finally:
        sys.path.remove(str(DOCS / "_ext"))
    tables = "\n".join(errata_tables.text(document) for document in DOCUMENTS)
    assert sorted(re.findall(r"\]\{#([^}]+)\}", tables)) == sorted(IDS)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in tables.splitlines())


def test_docstrings_and_pages_name_listed_misprints():
    for file in [*(HERE.parents[1] / "src").rglob("*.py"), *DOCS.rglob("*.md")]:
        for name in re.findall(r"\bE-[SFPKBT]\d+", file.read_text(encoding="utf-8")):
            assert name in IDS, f"{file.name} names {name}"
