"""Problems 3.1 to 3.18 of Fu, Gonzalez and Lee: the cells of docs/problems.md, each section by itself. Every section asserts its answer."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "problems.md").read_text(encoding="utf-8")
SETUP, *SECTIONS = re.split(r"^\(problem-3-\d+\)=\n", PAGE, flags=re.MULTILINE)


def cells(text):
    return re.findall(r"^```\{code-cell\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_all_problems_are_there():
    assert [re.match(r"## (3\.\d+) ", section)[1] for section in SECTIONS] == [f"3.{k}" for k in range(1, 19)]


@pytest.mark.parametrize("section", SECTIONS, ids=[f"3.{k}" for k in range(1, 19)])
def test_problem(section):
    code = cells(section)
    assert code and any("assert " in cell for cell in code)
    state = {}
    for cell in [*cells(SETUP), *code]:
        exec(compile(cell, "docs/problems.md", "exec"), state)
