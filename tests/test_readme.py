"""What the README shows runs, and what it names exists."""

import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.studies.complexity import PRINTED, general_chain
from dalembert.studies.tables import value

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


def test_counts():
    """Operations are the same on every machine, so what the README says of them is checked."""
    text = " ".join(README.split())
    general = general_chain(6)
    counts = [robot.operation_count("inverse_dynamics", "newton_euler") for robot in (general, da.robot("puma560"))]
    assert f"{counts[0].mul} multiplications and {counts[0].add} additions on a general 6R arm" in text
    assert f"{counts[1].mul} and {counts[1].add} on the PUMA 560" in text
    third, brandl, default = (
        f"{general.operation_count('forward_dynamics', m).total:,}" for m in ("walker_orin_3", "brandl", "articulated_body")
    )
    assert f"{third} operations with `walker_orin_3`, {brandl} with `brandl`, {default} with the default `articulated_body`" in text
    least = min(value(p.total, 6) for p in PRINTED if p.quantity == "forward_dynamics" and not p.special)
    assert f"(the fewest in Kozlowski's table 3: {int(least):,})" in text
