"""The example scripts run without a warning, keep their own assertions, and say what they should."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import sweep, urdf_corpus

EXAMPLES = Path(__file__).parent.parent / "examples"
PINOCCHIO = find_spec("pinocchio") is not None


def said(name, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    sweep(
        [
            ("pendulum_energy", r"period 2\.665871 s, exactly 2\.665871 s"),
            (
                "friction_compensation",
                r"PD: at rest from 1\.\d+ s on, \[0\.03\S+ 0\.01\S+ rad[^:]+PD with .+: at rest from 2\.\d+ s on, \[0\.000",
            ),
            ("computed_torque", r"has found a load of (2\.0|1\.9)\d kg"),
            ("identification", r"error with its model: \d{2,}\.\d mrad\nerror with the identified robot: \d\.\d mrad"),
            ("fastest_path", r"it takes \d\.\d+ s instead of 0\.\d+ s\nthe controller ends \d\.\de-0[4-9] rad"),
            ("sizing", r"joint2 .*0\.97\d? [\s\S]*holds \d+\.\d kg"),
            ("hand_paths", r"5 of 5 solved[^?]+% of the limits\nand .+ not reached, the nearest pose is 0\.\d+ m"),
            ("least_effort", r"heat of the quintic 286 J, least 214 J: 25% saved\n.*(0\.9999|1\.0000) of their limits"),
            ("receding_horizon", r"off the first goal by 0\.00\d+ rad, the second by 0\.00\d+ rad; at most \d\d% of"),
            ("motor_envelopes", r"joint2 needs 1\d\d N m near standstill[^?]+local optima are up to \d\.\d % beyond"),
            ("dominant_terms", "puma560: parts kept along 31 states, threshold 10"),
            (
                "compare_with_pinocchio",
                r"accelerations differ from Pinocchio \S+ by" if PINOCCHIO else "Pinocchio is not installed",
            ),
        ],
        quick=(0,),
    ),
)
def test_example(name, says):
    shown = said(name)
    assert re.search(says, shown), shown


@pytest.mark.slow
@pytest.mark.skipif(not PINOCCHIO, reason="Pinocchio is not installed")
@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("panda_description/urdf/panda.urdf", "panda: 9 joints"),  # with a finger that mimics the other
        ("kinova_description/robots/kinova.urdf", "6 joints"),  # with continuous joints
        ("romeo_description/urdf/romeo.urdf", "no accelerations: .*'RThumb3'"),
        ("hector_description/robots/quadrotor_base.urdf", "has no joints"),
    ],
)
def test_compare_with_pinocchio_on_files(file, says):
    files, reason = urdf_corpus()
    if not files:
        pytest.skip(reason)
    shown = said("compare_with_pinocchio", str(files[file]))
    assert re.search(says, shown), shown


@pytest.mark.slow
def test_export_c(tmp_path):
    shown = said("export_c", str(tmp_path))
    assert "void puma560_inverse_dynamics(\n    const double q[" in shown and (tmp_path / "puma560.c").exists()
    assert shown.endswith(("\nok\n", "not compiled\n"))
    assert "not compiled" in said("export_c", PATH="")  # and without a compiler it says so


def test_every_example_is_tested():
    here, others = Path(__file__).read_text(), (Path(__file__).parent / "test_scalars.py").read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.stem}"' in here + others, path.name
