"""Types that help: pyright accepts what users should write, and reports what they should not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da

HERE = Path(__file__).parent


@pytest.mark.slow
def test_a_type_checker_tells_right_calls_from_wrong_ones():
    pytest.importorskip("pyright", reason="pyright is not installed: pip install '.[lint]'")
    file = HERE / "user_calls.py"
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(file)]
    source = str(Path(da.__file__).parents[1])
    run = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env={**os.environ, "PYTHONPATH": source})
    if not run.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {run.stderr[-200:]}")
    said = {x["range"]["start"]["line"] + 1: x["message"] for x in json.loads(run.stdout)["generalDiagnostics"]}
    lines = dict(enumerate(file.read_text(encoding="utf-8").splitlines(), 1))
    wrong = {k for k, line in lines.items() if line.endswith("# wrong")}
    assert len(wrong) > 15
    assert {lines[k]: said[k] for k in said.keys() - wrong} == {}, "right calls that pyright reports"
    assert [lines[k] for k in sorted(wrong - said.keys())] == [], "wrong calls that pyright does not see"
