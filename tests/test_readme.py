"""What the README shows runs, and what it names exists."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from pages import ROOT, URDF

import dalembert as da

README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"^## ([^\n]*)$(?:(?!^## ).)*?^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE))


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    """A snippet in a folder with a URDF file, and a recording of a heavier arm with friction: its variables, and what it printed."""
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(URDF.replace('effort="1"', 'effort="100"'))  # strong enough to hold itself
    arm = da.load("arm.urdf")
    real = arm.with_parameters(1.2 * arm.parameters()).with_friction(damping=0.5, coulomb=1.0)
    q = arm.neutral() + 0.8 * np.random.default_rng(0).uniform(-1, 1, (9, arm.n))
    real.torques_along(da.spline(np.arange(9.0), q), 0.01).to_csv("recording.csv")

    def run(beginning):
        (code,) = (code for title, code in SNIPPETS.items() if title.startswith(beginning))
        scope = {}
        exec(compile(code, "README.md", "exec"), scope)
        return scope, capsys.readouterr().out

    return run


LOOKED_AT = ("Homework", "My robot", "Recordings", "Learning", "Formulations")  # tests below


def test_every_block_is_under_a_title_of_its_own():
    assert len(SNIPPETS) == README.count("```python") >= len(LOOKED_AT)


@pytest.mark.parametrize("title", [title for title in SNIPPETS if not title.startswith(LOOKED_AT)])
def test_other_snippets(ran, title):
    ran(title)


def test_homework(ran):
    """The comments tell the truth: the equation they quote is printed, and holds."""
    scope, out = ran("Homework")
    quoted = re.search(r"# (M11 = .*?), \.\.\.", README)[1]
    assert quoted in out.splitlines()
    m1, m2, l1, l2, q2 = 2.0, 1.0, 0.5, 0.3, 0.5
    entry = eval(quoted.partition("=")[2], {"m1": m1, "m2": m2, "l1": l1, "l2": l2, "q2": q2, "cos": np.cos})
    np.testing.assert_allclose(scope["arm"].mass_matrix([0.3, q2])[0, 0], entry, rtol=1e-12)
    assert Path("equations.tex").read_text().startswith(r"\documentclass")
    assert "Lagrange-Euler" in Path("derivation.tex").read_text()
    assert scope["tau"].shape == (2,) and scope["fall"].time[-1] == 2.0
    assert np.ptp(scope["fall"].energy) < 1e-6 and Path("fall.png").exists()


def test_my_robot(ran):
    scope, _ = ran("My robot")
    assert scope["holding"].total_mass == scope["arm"].total_mass + 2.0
    assert "gravity_force" in Path("gravity.c").read_text()
    assert np.abs(scope["motion"].q[-1] - scope["q"]).max() < 0.1  # the controller pulls it back


def test_recordings(ran):
    """The mass that was recorded is found."""
    scope, out = ran("Recordings")
    assert all(name in out for name in scope["arm"].joint_names)
    better = da.load("identified.toml")
    assert better == scope["found"].robot
    q = scope["arm"].neutral() + 0.3
    np.testing.assert_allclose(better.gravity_force(q), 1.2 * scope["arm"].gravity_force(q), atol=0.05)


def test_commands(ran, capsys):
    pytest.importorskip("typer")
    from dalembert.cli import main

    Path("positions.csv").write_text("0.1,0.2,0.3\n-1,0,0.5\n")
    shown = [line.partition("#")[0] for line in re.findall(r"^dalembert .*$", README, re.MULTILINE)]
    assert len(shown) == 6
    printed = {}
    for line in shown:
        assert main(shlex.split(line)[1:]) == 0, line
        printed[shlex.split(line)[1]] = capsys.readouterr().out
    assert all(Path(name).exists() for name in ("gravity.c", "motion.csv", "identified.toml", "identified.html"))
    loaded = da.load("arm.urdf").with_payload(2.0, (0, 0, 0.1))
    held = printed["inverse"].partition("tau_")[2].splitlines()[1:]
    np.testing.assert_allclose([eval(row) for row in held], loaded.gravity_force([[0.1, 0.2, 0.3], [-1, 0, 0.5]]), atol=1e-12)


@pytest.mark.slow
def test_learning(ran):
    pytest.importorskip("torch")
    scope, _ = ran("Learning")
    assert scope["tau"].shape == (1_000_000, 7) and scope["dq"].shape == (1000, 7, 7)
    np.testing.assert_allclose(scope["acceleration"][:1000], 0.0, atol=1e-8)
    assert scope["rollouts"].q.shape == (100, 101, 7)


def test_formulations(ran):
    _, out = ran("Formulations")
    assert all(method in out for method in da.methods("inverse_dynamics"))


def test_names_and_links_exist():
    for name in re.findall(r"`(?:[^`]*\b)?da\.(\w+)", README) + re.findall(r"\bda\.(\w+)\(", "".join(SNIPPETS.values())):
        assert hasattr(da, name), name
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_version_is_the_same_everywhere():
    """Changelog and citation name the version of the package, and the same day."""
    version, day = re.search(r"^## \[([^\]]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).groups()
    citation = (ROOT / "CITATION.cff").read_text()
    assert version == da.__version__
    assert f"\nversion: {version}\n" in citation and f"\ndate-released: {day}\n" in citation
