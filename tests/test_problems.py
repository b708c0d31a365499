"""Problems 3.1 to 3.18 of Fu, Gonzalez and Lee: the cells of docs/problems.md, each section by itself. Every section asserts its answer."""

import re

import pytest
from pages import blocks, read

SETUP, *SECTIONS = re.split(r"^\(problem-3-\d+\)=\n", read("problems"), flags=re.MULTILINE)


def test_all_problems_are_there():
    assert [re.match(r"## (3\.\d+) ", section)[1] for section in SECTIONS] == [f"3.{k}" for k in range(1, 19)]


@pytest.mark.parametrize("section", SECTIONS, ids=[f"3.{k}" for k in range(1, 19)])
def test_problem(section):
    code = blocks(section, "{code-cell}")
    assert code and any("assert " in cell for cell in code)
    state = {}
    for cell in [*blocks(SETUP, "{code-cell}"), *code]:
        exec(compile(cell, "docs/problems.md", "exec"), state)
