"""Programs are the same on every machine: whatever BLAS and NumPy choose for the processor, to the last bit of every constant."""

import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from conftest import close, sweep
from digests import SEEDS

import dalembert as da
from dalembert.algebra.precise import arctan2, cos_sin, exact_rotation, precisely, product, rounded
from dalembert.algebra.scalars import cos_sin as cos_sin_of
from dalembert.algebra.scalars import sqrt
from dalembert.model.pose import Pose
from dalembert.studies.complexity import general_chain
from dalembert.trace import trace
from dalembert.trace.expr import Rounded, unrounded

# OpenBLAS's kernels, and what a processor must have for them
CORES = {"Prescott": "SSE3", "Nehalem": "SSE42", "Sandybridge": "AVX", "Haswell": "FMA3", "SkylakeX": "AVX512_SKX"}
FEATURES = np._core._multiarray_umath.__cpu_features__
OPTIONAL = ("AVX512_SKX", "AVX512F", "FMA3", "AVX2", "X86_V4", "X86_V3")  # that NumPy may be told to do without


def machines():
    """Environments in which the same processor computes as others do."""
    found = [{"OPENBLAS_CORETYPE": core} for core, needed in CORES.items() if FEATURES.get(needed)]
    return [*found, {"NPY_DISABLE_CPU_FEATURES": " ".join(x for x in OPTIONAL if FEATURES.get(x) and x not in _baseline())}]


def _baseline():
    return set(np.show_config("dicts")["SIMD Extensions"]["baseline"])


def digests(which, environment):
    """Started at once; `lines` waits for it. It writes to a file: a pipe that nobody reads yet would stop it."""
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("digests.py")), which]
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115
    return subprocess.Popen(command, stdout=output, text=True, env={**os.environ, **environment}), output


def lines(started):
    process, output = started
    assert process.wait() == 0
    with output:
        output.seek(0)
        return output.read().splitlines()


@pytest.mark.skipif(len(machines()) < 3, reason="needs a processor on which OpenBLAS has several kernels to choose from")
@pytest.mark.parametrize(("which", "programs", "every"), sweep([("few", 15, 2), ("quick", 30, 1)], quick=(0,)))
def test_programs_do_not_depend_on_the_processor(which, programs, every):
    """Under all kernels of OpenBLAS, or every other one, and without NumPy's vector instructions."""
    first, *others = (lines(digests(which, machine)) for machine in (*machines()[:-1:every], machines()[-1]))
    assert len(first) > programs
    assert all(other == first for other in others)


@pytest.mark.slow
@pytest.mark.skipif(len(machines()) < 5, reason="needs a processor on which OpenBLAS has four kernels to choose from")
def test_no_program_of_any_method_depends_on_the_processor():
    """Every method of every quantity on all built-in robots and on general arms: digests and counts under the oldest and the newest
    kernel of OpenBLAS; the test above has all of them. Between general arms, which differ in their numbers only, the counts are equal."""
    first, last = map(lines, [digests("full", machine) for machine in (machines()[0], machines()[-2])])
    assert len(first) > 1500
    assert [a for a, b in zip(first, last, strict=True) if a != b] == []
    counts = defaultdict(set)
    for line in first:
        _, name, quantity, method, *rest = line.split("\t")
        if name == "general 3R":
            counts[quantity, method].add(rest[-1])
    assert {key: found for key, found in counts.items() if len(found) > 1} == {}


def test_general_arms_have_one_count():
    for quantity, method in (("inverse_dynamics", "newton_euler"), ("forward_dynamics", "brandl"), ("dalembert_terms", None)):
        assert len({general_chain(4, seed).operation_count(quantity, method) for seed in SEEDS}) == 1


def test_prismatic_joints_keep_constants_exact():
    """A joint that does not turn has a constant rotation, which is combined with those of its neighbours."""
    for joints, quantity, method in (("RPR", "mass_matrix", "lie_closed_form"), ("PRP", "forward_dynamics", "kalman")):
        assert len({da.random_robot(seed, joints).operation_count(quantity, method) for seed in range(4)}) == 1


def test_functions_of_constants():
    """In programs that are not folded, and where a program is traced again with some of its inputs fixed."""
    whole = trace(lambda x: np.sin(x * 0 + 0.5) + sqrt(x * 0 + 0.25) + x, {"x": ()}, folding=False)
    assert da.replay(da.differentiate(whole), {"x": 3.0}) == 1.0
    M = da.robot("two_link").program("mass_matrix")
    fixed = trace(lambda q: da.replay(M, {"q": [q[0], 0.5]}), {"q": (1,)})
    close(da.replay(fixed, {"q": np.array([0.3])}), da.robot("two_link").mass_matrix([0.3, 0.5]), 1e-15)
    assert all(map(math.isnan, cos_sin_of(np.array([math.inf, math.nan], dtype=object))[0]))


def test_models_are_built_without_the_machines_functions():
    """What BLAS, LAPACK and NumPy's vector code round by processor has no place where constants are made; `impossible` only judges."""
    for path in Path(da.__file__).parent.joinpath("model").rglob("*.py"):
        for word in ("np.cos(", "np.sin(", "arctan2(", "hypot(", "einsum", "np.dot(", "linalg.svd", "linalg.norm", "linalg.inv"):
            allowed = {"reduce.py": "arctan2(", "urdf.py": "hypot("}.get(path.name)
            assert word == allowed or word not in path.read_text(), (path.name, word)


# --- numbers ------------------------------------------------------------------------------------------------------------


def test_cosines_and_angles_are_correctly_rounded():
    rng = np.random.default_rng(0)
    with mpmath.workdps(400):
        for size in (1e-300, 1e-8, 1.0, 3.2, 1e5, 1e9, 1e22, 1e300):
            for x in (rng.uniform(-1, 1, 30) * size).tolist():
                assert cos_sin(x) == (float(mpmath.cos(x)), float(mpmath.sin(x)))
                y = float(rng.uniform(-1, 1))
                assert arctan2(y, x) == float(mpmath.atan2(y, x))


@pytest.mark.parametrize("order", ["x", "xz", "zy", "xyz", "zyz"])
def test_exact_rotations(order):
    """Orthogonal to the last digit, as near as the floats are, and with their zeros."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        R = np.eye(3)
        for letter in order:
            angle = float(rng.choice([rng.uniform(-math.pi, math.pi), math.pi / 2, math.pi]))
            R = product(R, Pose.of(rpy=[angle * (letter == x) for x in "xyz"]).rotation)
        R = Pose(R, np.zeros(3)).rotation
        E = exact_rotation(R)
        assert np.array_equal(E @ E.T, np.eye(3, dtype=int))
        close(rounded(E), R, 1e-15)
        assert not E[R == 0].any()


def test_nearest_rotations_are_nearest():
    """The orthogonal factor of a matrix, as singular vectors give it."""
    rough = np.round(Pose.of(rpy=(0.3, -1.1, 2.0)).rotation, 7)
    u, _, vt = np.linalg.svd(rough)
    close(Pose(rough, np.zeros(3)).rotation, u @ vt, 1e-15)


def test_decimals_round_once():
    assert precisely(lambda x: (x + 1) - 1)(1e-30) == 1e-30
    assert precisely(lambda x: x / 3 * 3)(np.array([0.1, 7.0])).tolist() == [0.1, 7.0]


def test_constants_of_programs_are_combined_exactly():
    """A third is rounded where it meets an input, and three of them are 1 all the same."""
    program = trace(lambda x: x * Fraction(1, 3), {"x": ()})
    (third,) = (node[1] for node in program.nodes if node[0] == "const")
    assert isinstance(third, Rounded) and third == 1 / 3 and unrounded(third) == Fraction(1, 3)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(third, protocol)).fraction == Fraction(1, 3)
    negative = trace(lambda x: x * Fraction(-1, 3), {"x": ()})
    assert da.replay(negative, {"x": Fraction(1)}) == Fraction(-1, 3)
    whole = da.differentiate(trace(lambda x: x * Fraction(1, 3) + x * Fraction(2, 3), {"x": ()}))
    assert [node for node in whole.nodes if node[0] == "const"] == [("const", 1)]
