"""What is imported when: nothing before it is needed, and everything is found all the same."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dalembert as da
from dalembert import later

ROOT = Path(da.__file__).parent


def started(code, **variables):
    """What a fresh process prints, as JSON."""
    environment = {**os.environ, **variables}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_importing_the_package_imports_next_to_nothing():
    code = "import sys, json, dalembert; print(json.dumps([x for x in sys.modules if x.startswith(('dalembert', 'numpy'))]))"
    assert set(started(code)) == {"dalembert", "dalembert.imported", "dalembert.version"}


WARM = """
import json, sys
import dalembert as da
arm = da.robot("rp")
robot = list(sys.modules)
arm.inverse_dynamics(*[[0.0] * 2] * 3)
print(json.dumps([robot, list(sys.modules)]))
"""
NOBODY = ("scipy", "sympy", "numpy.testing", "numpy.random", "concurrent.futures", "difflib", "xml", "secrets", "csv")
OTHERS = ("codegen", "control", "files", "motion", "simulation", "studies", "symbolic", "interop", "native.emit", "native.pieces")


def test_a_robot_and_its_first_call_import_what_they_need(tmp_path):
    """From the disk cache: neither a compiler's parts, nor formulations that no quantity asks for."""
    place = {"DALEMBERT_CACHE": str(tmp_path / "cache")}
    started(WARM, **place)
    robot, call = map(set, started(WARM, **place))
    assert not call & {*NOBODY, *(f"dalembert.{name}" for name in OTHERS)}
    assert "llvmlite" in call - robot
    assert not {x for x in call - robot if x.startswith("dalembert")}, "a first call should not wait for our own modules"
    assert {x for x in call if x.startswith("dalembert.quantities.")} == {"dalembert.quantities.dynamics"}
    assert "dalembert.formulations.kalman" not in call


def types_of(file, flag):
    """{name: (module, name there)} of the imports that only type checkers read."""
    (block,) = (x for x in ast.parse(file.read_text()).body if isinstance(x, ast.If) and ast.unparse(x.test) == flag)
    imports = [x for x in block.body if isinstance(x, ast.ImportFrom)]
    return {alias.asname or alias.name: (x.module, alias.name) for x in imports for alias in x.names}


def test_types_of_the_package_are_those_of_what_comes_later():
    said = types_of(ROOT / "__init__.py", "_typing.TYPE_CHECKING")
    assert all(said.pop(name) == ("dalembert", name) for name in da._PACKAGES)
    assert {name: place for name, (place, _) in said.items()} == {n: f"dalembert.{place}" for n, place in da._LATER.items()}
    for name, (place, there) in said.items():
        assert getattr(da, name) is getattr(import_module(place), there)
    assert {*said, "trace"} <= {*dir(da)}
    assert da.trace is import_module("dalembert.trace")


def test_types_of_a_robot_are_those_of_what_comes_later():
    robots = import_module("dalembert.robots")
    said = {name: f"{place}.{there}" for name, (place, there) in types_of(ROOT / "robots.py", "TYPE_CHECKING").items()}
    assert {name: x._path for name, x in vars(robots).items() if isinstance(x, later.Later)} == said


FRESH = """
import inspect, json, pydoc
import dalembert as da
arm = da.robot("rp")
late = [name for name, x in vars(da.Robot).items() if type(x).__name__ == "Later" and name[0] != "_"]
grouped = dir(arm.books) + dir(arm.diagonalized) + dir(arm.curvature) + dir(arm.simplified)
listed = [name in dir(da.Robot) and (name in dir(arm)) != (name in grouped) for name in late]
signature = str(inspect.signature(da.Robot.mass_matrix))
page = pydoc.plain(pydoc.render_doc(da.Robot))
left = [name for name, x in vars(da.Robot).items() if type(x).__name__ == "Later"]
print(json.dumps([late, listed, signature, page, left]))
"""


def test_methods_that_come_later_are_found():
    late, listed, signature, page, left = started(FRESH)
    assert len(late) > 40 and all(listed)
    assert signature == str(inspect.signature(da.Robot.mass_matrix)) and signature.startswith("(robot: 'Model', q: 'ArrayLike'")
    shown = re.findall(r"^ \|  (\w+)(?: = \w+)?\(robot: ", page, re.MULTILINE)  # `parameters` is a function of another name
    assert {*late} <= {*shown}
    assert left == []


def test_a_function_takes_the_place_of_the_one_to_come():
    class Shape:
        size = later.Later("math").fsum

    class Square(Shape):
        pass

    assert Square().size is import_module("math").fsum
    assert vars(Shape)["size"] is import_module("math").fsum and "size" not in vars(Square)
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = later.Later("math").__wrapped__
