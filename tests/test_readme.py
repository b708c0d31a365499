"""What the README shows runs, and what it names exists."""

import re
from pathlib import Path

import pytest

import dalembert as da

README = (Path(__file__).parent.parent / "README.md").read_text()


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_ten_lines_run(capsys, all_of_them):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    if not all_of_them:  # the comparison of all formulations takes seconds
        code = code.replace("da.compare(arm)", 'da.compare(da.robot("rp"), states=10)')
    scope = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["tau"].shape == (1000, 6) and scope["fall"].time[-1] == 0.4
    assert "newton_euler" in capsys.readouterr().out


def test_names_exist():
    table = README.partition("## What is in it")[2].partition("|---|---|")[2].partition("The documentation")[0]
    for da_name, name in re.findall(r"`(da\.)?(\w+)`", table):
        assert hasattr(da if da_name else da.Robot, name) or hasattr(da, name), name
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parent.parent / link).exists(), link
