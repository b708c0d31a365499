"""Every URDF of the corpus against stored results of Pinocchio (tools/pinocchio_values.py made them)."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import MOVING, RECURSIVE, close, directly, sweep, urdf_corpus
from states import base_motion, joint_states, link_wrenches

import dalembert as da
from dalembert.formulations import formulation

DATA = json.loads((Path(__file__).parent / "data/pinocchio.json").read_text())
STORED, COUPLED = DATA["robots"], DATA["coupled"]
FILES, REASON = urdf_corpus()


def methods_for(n):
    """All methods for arms, the recursive ones for robots with many joints."""
    return () if n == 0 else da.methods("inverse_dynamics") if n <= 9 else RECURSIVE


def load(key, mimic=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        return da.load(FILES[key], mimic=mimic)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(STORED, quick=(18, 20)))
def test_urdf_agrees_with_pinocchio(key):
    stored, robot = STORED[key], load(key).without_friction()
    assert sorted(robot.joint_names) == stored["joints"]
    n = robot.n
    for s, expected in enumerate(stored["tau"]):
        state = [robot.reorder(x, stored["joints"]) for x in joint_states(n, s)]
        for method in methods_for(n)[: None if s == 0 else 1]:
            close(directly(robot, method, *state), robot.reorder(expected, stored["joints"]), 1e-11)
    close(robot.inverse_dynamics(*state), robot.reorder(expected, stored["joints"]), 1e-11)  # native
    forward(robot, state, robot.reorder(expected, stored["joints"]))
    twist, acceleration = base_motion()
    wrenches = np.moveaxis(robot.reorder(np.moveaxis(link_wrenches(n), 0, -1), stored["joints"]), -1, 0)
    state = [robot.reorder(x, stored["joints"]) for x in joint_states(n, 2)]
    options = {"wrenches": wrenches, "base_twist": twist, "base_acceleration": acceleration}
    for method in MOVING if n else ():
        moving = directly(robot, method, *state, **options)
        close(moving, robot.reorder(stored["moving"], stored["joints"]), 1e-11)


@pytest.mark.skipif(not FILES, reason=REASON)
@pytest.mark.parametrize("key", sweep(COUPLED, quick=(1,)))
def test_mimic_joints_agree_with_pinocchio(key):
    """Where its leader is loaded first, Pinocchio lets a joint follow: inverse dynamics and M; its forward dynamics refuses."""
    stored, robot = COUPLED[key], load(key, mimic=True).without_friction()
    assert sorted(robot.joint_names) == stored["joints"]
    order = [stored["joints"].index(name) for name in robot.joint_names]
    for s, expected in enumerate(stored["tau"]):
        state = [robot.reorder(x, stored["joints"]) for x in joint_states(robot.n, s)]
        tau = robot.reorder(expected, stored["joints"])
        close(robot.inverse_dynamics(*state, backend="numpy"), tau, 1e-12)
        close(robot.forward_dynamics(*state[:2], tau, backend="numpy"), state[2], 1e-8)
    M = np.zeros((robot.n, robot.n))
    M[np.triu_indices(robot.n)] = stored["M"]
    M = (M + np.triu(M, 1).T)[np.ix_(order, order)]
    q = robot.reorder(joint_states(robot.n, 0)[0], stored["joints"])
    scale = np.sqrt(np.diag(M))
    close(robot.mass_matrix(q, backend="numpy") / np.outer(scale, scale), M / np.outer(scale, scale), 1e-11)


MASSLESS = ("RThumb3", "r_gripper_joint")  # of Romeo's two files: links without inertia


def forward(robot, state, tau):
    """Pinocchio's forces give the accelerations back, unless some link has no inertia."""
    q, qd, qdd = state
    if not robot.n:
        return
    try:
        close(robot.forward_dynamics(q, qd, tau, backend="native" if robot.n <= 9 else "numpy"), qdd, 1e-9)
        for method in ("brandl", "kalman", "walker_orin_3", "diagonalized_normalized") if robot.n <= 9 else ():
            close(formulation("forward_dynamics", method)(robot.tree, q, qd, tau), qdd, 1e-9)
    except da.Error as singular:
        assert any(f"joint {name!r}" in str(singular) for name in MASSLESS)


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason=REASON)
def test_every_file_loads_and_round_trips(tmp_path):
    mimics = impossible = almost = rubbing = 0
    unread: list[str] = []
    nobody: list[str] = []
    for key in STORED:
        robot = load(key, mimic=True)
        robot.save(tmp_path / "robot.toml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.DataWarning)
            assert da.load(tmp_path / "robot.toml") == robot
        found = robot.check()
        mimics += robot.coupling is not None
        nobody += [key] if found.about("mimic") else []
        impossible += bool(found.about("inertia"))
        almost += bool(found.about("angle"))
        rubbing += robot.without_friction() != robot
        unread += [key] if found.about("unread") else []
    assert len(FILES) >= 69
    assert mimics == 8  # four more files have <mimic> on fixed joints, where it says nothing
    assert nobody == ["alex_description/urdf/alex_psyonic_hands.urdf"]  # its joints mimic some that are not there
    assert (impossible, rubbing) == (16, 32)
    assert almost > 30
    assert unread == ["panda_description/urdf/panda.urdf", "panda_description/urdf/panda_collision.urdf"]  # K, D, mu_viscous


def test_corpus_is_there_in_ci():
    import os

    if os.environ.get("CI"):
        assert FILES, "CI must install the corpus: " + REASON
