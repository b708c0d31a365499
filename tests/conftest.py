"""Robots that many tests use, and where to find helpers."""
# ruff: noqa: E402 - BLAS reads its settings when NumPy is imported

import atexit
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

for library in ("OPENBLAS", "MKL", "OMP"):  # there is a worker for every core: more threads of theirs only wait for one another
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import pytest
from builtin import ARMS

import dalembert as da
from dalembert import imported
from dalembert.formulations import formulation
from dalembert.studies import timing

HERE = Path(__file__).parent
SNAPSHOT = "DALEMBERT_TEST_SNAPSHOT"

if "PYTEST_XDIST_WORKER" not in os.environ:  # parallel workers inherit both folders
    os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-test-")  # tests leave the user's cache alone
    os.environ[SNAPSHOT] = tempfile.mkdtemp(prefix="dalembert-test-source-")
    shutil.copytree(Path(da.__file__).parent, Path(os.environ[SNAPSHOT], "dalembert"))
    for variable in ("DALEMBERT_CACHE", SNAPSHOT):
        atexit.register(shutil.rmtree, os.environ[variable], ignore_errors=True)

# Entries of the disk cache are named by the source, which may be edited while the tests run. So the
# names come from a copy that nobody edits, and processes that tests start import that copy.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ[SNAPSHOT], os.environ.get("PYTHONPATH")]))
imported._FOLDER = str(Path(os.environ[SNAPSHOT], "dalembert"))
imported._AS_IMPORTED = imported._files(imported._FOLDER)
imported.digest.cache_clear()
sys.path.insert(0, str(HERE.parent / "tools"))

REFERENCE = {r["name"]: r for r in json.loads((HERE / "data/reference.json").read_text())["robots"]}

# serial and branching structures with all three kinds of joints
STRUCTURES = [
    ("R", None),
    ("P", None),
    ("H", None),
    ("RRR", None),
    ("RPRRP", None),
    ("HPRH", None),
    ("PRRHRRP", (-1, 0, 1, 0, 3, -1, 5)),
    ("RPHR", (-1, 0, 1, 0)),
]
FEW = (1, 7)  # a single joint, and a tree with all three kinds


def sweep(cases, quick=FEW):
    """All cases as parameters: `make test` runs those at the places `quick`, `make test-slow` the others."""
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=() if k in quick else pytest.mark.slow) for k, case in enumerate(cases)]


def urdf_corpus():
    """The URDF files of others by name; or none, and why."""
    from corpus import urdf_files

    try:
        return urdf_files(), ""
    except FileNotFoundError as missing:
        return {}, str(missing)


@cache
def reference_robot(name):
    ref = REFERENCE[name]
    rows = [
        da.DHRow(
            alpha=x["dh_alpha"],
            a=x["dh_a"],
            d=x["dh_d"],
            theta=x["dh_theta"],
            joint=x["type"],
            inertia=da.Inertia(x["mass"], x["com_in_dh_frame"], x["inertia_about_com_dh_axes"]),
        )
        for x in ref["links"]
    ]
    return da.Robot.from_dh(rows, convention="standard", name=name, gravity=ref["gravity_vector"])


def world_poses(robot, q):
    """The pose of every link in the world."""
    return [da.Pose.coerce(T).transform for T in robot.poses(q)]


def close(actual, expected, tolerance, scale=None):
    """Equal up to a tolerance relative to the largest entry of what is expected (to `scale` where that may be zero)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    if expected.size:
        size = scale or float(np.abs(expected).max()) or 1.0
        error = float(np.abs(actual - expected).max()) / size
        assert error <= tolerance, f"differs by {error:.2e}, allowed {tolerance:.0e}"


def run(code, **environment):
    """Python code in a fresh process: what it printed, and its errors."""
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, env=environment, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


CALL = """
import pickle, sys
import numpy as np
function, arrays = pickle.load(sys.stdin.buffer)
values = function(*arrays)
values = values if isinstance(values, tuple) else (values,)
pickle.dump([np.asarray(x) for x in values], sys.stdout.buffer)
"""


def in_another_process(function, *arrays):
    """What a function computes after pickling in a fresh process, as a list of arrays."""
    done = subprocess.run([sys.executable, "-c", CALL], input=pickle.dumps((function, arrays)), capture_output=True, timeout=900)
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


MOVING = da.methods("inverse_dynamics", taking="base_twist")
RECURSIVE = (*MOVING, "spatial_operator", "recursive_lagrange_3x3", "recursive_lagrange_4x4", "angular_velocity_lagrange")


def directly(robot, method, q, qd, qdd, **options):
    """A formulation on plain arrays, nothing traced: joint forces without friction and armature."""
    given = {k: np.asarray(v) for k, v in options.items() if method in da.methods("inverse_dynamics", taking=k)}
    return formulation("inverse_dynamics", method)(robot.tree, *map(np.asarray, (q, qd, qdd)), **given)


def pytest_collection_finish():
    """What was collected lives to the end: the garbage collector need not look through it again and again."""
    gc.freeze()


numpys = np.testing.assert_allclose


def assert_allclose(actual, desired, rtol=None, atol=0.0, **options):
    """NumPy's; but a test that states an absolute tolerance means it, and nothing is allowed beside (by default 1e-7 of the value)."""
    numpys(actual, desired, (0.0 if atol else 1e-7) if rtol is None else rtol, atol, **options)


np.testing.assert_allclose = assert_allclose
timing.seconds.__defaults__ = ((), 0.0)  # three runs of every method instead of 30 ms: no test is about the figures


@pytest.fixture(params=da.methods("inverse_dynamics"))
def method(request):
    return request.param


# for what takes long with every method: one that goes out and back, one of screws, and one of sums
some_methods = pytest.mark.parametrize("method", sweep(da.methods("inverse_dynamics"), quick=(0, 2, 8)))

zoo = cache(da.robot)  # robots are frozen: tests that have no use for a fresh one share it, and so its programs and kernels


@pytest.fixture(params=ARMS)
def zoo_robot(request):
    return zoo(request.param)


@pytest.fixture(params=sweep(ARMS, quick=(1, 3)))
def some_zoo_robot(request):
    """For what takes long with six or seven joints."""
    return zoo(request.param)


@pytest.fixture(scope="module")
def browser():
    """Chromium, one for the tests of a file."""
    import browsing

    yield from browsing.chromium()
