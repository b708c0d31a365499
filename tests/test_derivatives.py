"""Derivatives of the equations of motion, against complex steps, references and stored values of Pinocchio."""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, directly, reference_robot, some_methods, sweep

import dalembert as da

STEP = 1e-30
STORED = json.loads((Path(__file__).parent / "data/pinocchio_derivatives.json").read_text())["robots"]


@cache
def example(joints, parents):
    return da.random_robot(21, joints, parents).with_friction(damping=0.3).with_armature(0.4)


@pytest.fixture(params=sweep([(s,) for s in STRUCTURES]), ids=lambda s: f"{s[0]}-{s[1]}")
def robot(request):
    return example(*request.param)


def motion(robot, seed=0, batch=(3,)):
    return np.random.default_rng(seed).uniform(-1, 1, (3, *batch, robot.n))


def outside(robot):
    """Wrenches, and a base that moves."""
    x = np.random.default_rng(1).uniform(-1, 1, (robot.n + 2, 6))
    return {"wrenches": 3 * x[2:], "base_twist": x[0], "base_acceleration": x[1]}


def by_steps(function, arrays, which):
    """d function / d arrays[which], one complex step per column."""
    n = arrays[which].shape[-1]
    columns = []
    for e in np.eye(n):
        moved = list(arrays)
        moved[which] = moved[which] + 1j * STEP * e
        columns.append(function(*moved).imag / STEP)
    return np.stack(columns, axis=-1)


# formulas of their own, and the default of the other kind: programs of inverse dynamics, differentiated
both_ways = pytest.mark.parametrize("method", ["composite_body_world", "newton_euler"])


@both_ways
@pytest.mark.parametrize("name", REFERENCE)
def test_reference(name, method):
    ref, robot = REFERENCE[name], reference_robot(name)
    dq, dqd, dqdd = robot.inverse_dynamics_derivatives(ref["q"], ref["qd"], ref["qdd"], method=method)
    close(dq, ref["derivatives"]["dtau_dq"], 1e-12)
    close(dqd, ref["derivatives"]["dtau_dqd"], 1e-12)
    close(dqdd, ref["M"], 1e-12)


@both_ways
@pytest.mark.parametrize("backend", sweep(["numpy", "native"], quick=(1,)))
def test_inverse_dynamics(robot, backend, method):
    state = motion(robot)
    for options in ({}, outside(robot)):
        found = robot.inverse_dynamics_derivatives(*state, backend=backend, method=method, **options)
        for k, part in enumerate(found):
            expected = by_steps(lambda *x, options=options: robot.inverse_dynamics(*x, **options), list(state), k)
            close(part, expected, 1e-11, scale=1.0)


@some_methods
def test_every_method_has_the_same_derivatives(method):
    robot = da.random_robot(3, "RPH", (-1, 0, 0))
    state = motion(robot, 1)
    for a, b in zip(
        robot.inverse_dynamics_derivatives(*state, method=method, backend="numpy"),
        robot.inverse_dynamics_derivatives(*state),
        strict=True,
    ):
        close(a, b, 1e-11)


@pytest.mark.parametrize("backend", sweep(["numpy", "native"], quick=(0,)))
def test_forward_dynamics(robot, backend):
    state = motion(robot, 2)
    for options in ({}, outside(robot)):
        found = robot.forward_dynamics_derivatives(*state, backend=backend, **options)
        for k, part in enumerate(found):
            expected = by_steps(lambda *x, options=options: robot.forward_dynamics(*x, **options), list(state), k)
            close(part, expected, 1e-10, scale=max(1.0, np.abs(expected).max()))


def test_singular_forward_derivatives():
    limp = da.Robot("limp", (da.Link("tip", "base", da.Joint("wrist"), inertia=da.Inertia.zero()),))
    with pytest.raises(da.Error, match="'wrist'"):
        limp.forward_dynamics_derivatives([0.0], [0.0], [0.0])


def test_second_derivatives(robot):
    state = list(motion(robot, 3))
    found = robot.inverse_dynamics_second_derivatives(*state, backend="numpy")
    smooth = robot.inverse_dynamics_derivatives
    close(found.dq_dq, by_steps(lambda *x: smooth(*x).dq, state, 0), 1e-11, scale=1.0)
    close(found.dq_dqd, by_steps(lambda *x: smooth(*x).dq, state, 1), 1e-11, scale=1.0)
    close(found.dq_dqdd, by_steps(lambda *x: smooth(*x).dq, state, 2), 1e-11, scale=1.0)
    close(found.dqd_dqd, by_steps(lambda *x: smooth(*x).dqd, state, 1), 1e-11, scale=1.0)
    close(found.dqd_dqd, 2 * robot.christoffel(state[0]), 1e-11, scale=1.0)
    close(found.dq_dqdd, np.swapaxes(robot.mass_matrix_gradient(state[0]), -1, -2), 1e-11, scale=1.0)


@both_ways
def test_weighted_second_derivatives(robot, method):
    *state, weights = np.random.default_rng(7).uniform(-1, 1, (4, 3, robot.n))
    expected = robot.inverse_dynamics_second_derivatives(*state, backend="numpy")
    found = robot.inverse_dynamics_hessian(*state, weights, method=method, backend="numpy")
    for name, part in found._asdict().items():
        close(part, np.einsum("...i,...ijk->...jk", weights, getattr(expected, name)), 1e-11, scale=1.0)
    assert np.array_equal(found.dq_dq, np.swapaxes(found.dq_dq, -1, -2))


@both_ways
def test_weighted_second_derivatives_cost_n_times_the_forces(method):
    """n gradients, each a few times as long as the program of the forces: not n^2 of them."""
    for n in (2, 4, 6):
        robot = da.random_robot(1, "R" * n)
        forces, weighted = len(robot.program("inverse_dynamics")), len(robot.program("inverse_dynamics_hessian", method))
        assert weighted < 3 * n * forces, (n, forces, weighted)


def test_mass_matrix_gradient(robot):
    q = motion(robot, 4)[0]
    expected = by_steps(robot.mass_matrix, [q], 0)
    for method in ("composite_body", "composite_body_world", "stacked_operators", "body_jacobians"):
        close(robot.mass_matrix_gradient(q, method=method), expected, 1e-11, scale=1.0)


def displaced(robot, joint, k, size, side):
    """A robot with joint `joint` moved by a small turn or shift, exactly, side by side with the first-order claim."""
    turn, shift = np.zeros(3), np.zeros(3)
    (turn if k < 3 else shift)[k % 3] = size
    small = da.Pose(rotation_vector(turn), shift)
    links = list(robot.links)
    link = links[joint]
    before, after = link.before, link.after
    if side in ("before", "axis"):
        before = before @ small
    if side == "after":
        after = after @ small
    if side == "axis":
        after = small.inverse @ after
    links[joint] = da.Link(link.name, link.parent, link.joint, before, after, link.inertia)
    return da.Robot(robot.name, tuple(links), gravity=robot.gravity, base=robot.base)


def rotation_vector(w):
    angle = np.linalg.norm(w)
    if angle == 0:
        return np.eye(3)
    x, y, z = w / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@pytest.mark.parametrize(("joints", "parents"), sweep([("RPH", None), ("RPRR", (-1, 0, 0, 2))], quick=(0,)))
def test_geometry(joints, parents):
    robot = da.random_robot(5, joints, parents)
    state = motion(robot, 5, ())
    found = robot.geometry_derivatives(*state)
    h = 1e-5
    for side in ("before", "after", "axis"):
        for j, k in np.ndindex(robot.n, 6):
            up, down = (directly(displaced(robot, j, k, s * h, side), "newton_euler", *state) for s in (1, -1))
            close(getattr(found, side)[:, j, k], (up - down) / (2 * h), 1e-7, scale=np.abs(getattr(found, side)).max())


@pytest.mark.parametrize("convention", sweep(["standard", "modified"], quick=(0,)))
def test_denavit_hartenberg_entries(convention):
    """By differences of tables."""
    rng = np.random.default_rng(0)
    inertia = da.Inertia.from_com(1.0, (0.1, 0.2, -0.1), (0.3, 0.4, 0.5))
    entries = [dict(zip(("alpha", "a", "d", "theta"), rng.uniform(0.2, 0.8, 4), strict=True)) for _ in range(3)]

    def robot(j=0, **changes):
        rows = [{**row, **({k: row[k] + v for k, v in changes.items()} if i == j else {})} for i, row in enumerate(entries)]
        return da.Robot.from_dh([da.DHRow(**row, inertia=inertia) for row in rows], convention=convention, name="arm")

    state = motion(robot(), 6, ())
    found, h = robot().dh_derivatives(*state, convention=convention), 1e-5
    for j in range(3):
        for entry in found._fields:
            up, down = (directly(robot(j, **{entry: s * h}), "newton_euler", *state) for s in (1, -1))
            close(getattr(found, entry)[:, j], (up - down) / (2 * h), 1e-7, scale=np.abs(np.array(found)).max())
    with pytest.raises(da.Error, match="convention"):
        robot().dh_derivatives(*state, convention="craig")


def test_linearization():
    robot = da.random_robot(7, "RPR").with_friction(damping=0.5)
    q, qd, tau = motion(robot, 7, ())
    A, B = robot.linearize(q, qd, tau)
    d = robot.forward_dynamics_derivatives(q, qd, tau)
    zero, one = np.zeros((3, 3)), np.eye(3)
    close(A, np.block([[zero, one], [d.dq, d.dqd]]), 1e-14)
    close(B, np.block([[zero], [d.dtau]]), 1e-14)
    half, whole = robot.linearize(q, qd, tau, step=0.05), robot.linearize(q, qd, tau, step=0.1)
    close(half.A @ half.A, whole.A, 1e-13)  # a semigroup
    close(half.A @ half.B + half.B, whole.B, 1e-13)
    tiny = robot.linearize(q, qd, tau, step=1e-7)
    close((tiny.A - np.eye(6)) / 1e-7, A, 1e-5)
    batch = robot.linearize(np.stack([q, q]), qd, tau, step=0.1)
    assert batch.A.shape == (2, 6, 6)
    close(batch.B[1], whole.B, 1e-14)
    for wrong in (0.0, -1.0, np.inf, "fast", True):
        with pytest.raises(da.Error, match="linearize: step must be"):
            robot.linearize(q, qd, tau, step=wrong)
    assert np.array_equal(robot.linearize(q, qd, tau, step=np.float32(0.5)).A, robot.linearize(q, qd, tau, step=0.5).A)
    pushed = robot.linearize(q, qd, tau, **outside(robot)).A[3:]
    d = robot.forward_dynamics_derivatives(q, qd, tau, **outside(robot))
    close(pushed, np.concatenate([d.dq, d.dqd], axis=-1), 1e-14)
    assert np.abs(pushed - A[3:]).max() > 0.1


def test_nan_stays_in_its_state():
    arm = da.robot("puma560").with_friction(damping=0.5)
    q = arm.random_configuration(0, 3)
    clean = arm.linearize(q, 0 * q, 0 * q, step=0.01)
    q[2, 1] = np.nan
    dirty = arm.linearize(q, 0 * q, 0 * q, step=0.01)
    close(dirty.A[:2], clean.A[:2], 1e-13)
    assert np.isnan(dirty.A[2]).any()
    moved = arm.linearize(arm.random_configuration(0) + 1e-30j * np.eye(6)[1], np.zeros(6), np.zeros(6), step=0.01)
    assert np.abs(moved.A.imag).max() > 0


def test_linearization_against_scipy_style_exponential():
    """A pendulum: e^{A t} is known."""
    rod = da.Robot(
        "rod", (da.Link("rod", "base", da.Joint("hinge"), inertia=da.Inertia.from_com(1.0, (1.0, 0, 0))),), gravity=(0, -9.0, 0)
    )
    A, B = rod.linearize([-np.pi / 2], [0.0], [0.0], step=0.7)
    w, t = 3.0, 0.7
    close(A, [[np.cos(w * t), np.sin(w * t) / w], [-w * np.sin(w * t), np.cos(w * t)]], 1e-13)
    close(B, [[(1 - np.cos(w * t)) / w**2], [np.sin(w * t) / w]], 1e-13)


@pytest.mark.parametrize("name", sweep(STORED, quick=(3,)))
def test_stored_derivatives_of_pinocchio(name):
    stored, robot = STORED[name], da.robot(name).without_friction()
    q, qd, qdd, tau = (np.array(stored[k]) for k in ("q", "qd", "qdd", "tau"))
    for method in ("composite_body_world", "newton_euler"):
        parts = robot.inverse_dynamics_derivatives(q, qd, qdd, method=method, backend="numpy")
        for found, key in zip(parts, ("dtau_dq", "dtau_dqd", "M"), strict=True):
            close(found, stored[key], 1e-10)
    for found, key in zip(robot.forward_dynamics_derivatives(q, qd, tau), ("dqdd_dq", "dqdd_dqd", "M_inverse"), strict=True):
        close(found, stored[key], 1e-10)
    for method in ("composite_body", "composite_body_world"):
        close(robot.coriolis_matrix(q, qd, method=method, backend="numpy"), stored["C"], 1e-10)
    close(robot.forward_dynamics(q, qd, tau), stored["forward"], 1e-10)


def test_wrenches_that_turn_against_the_link_are_refused():
    arm = da.robot("two_link")
    push = {"link2": da.Wrench(force=(0, 50, 0), frame="world_aligned")}
    for call in (arm.inverse_dynamics_derivatives, arm.forward_dynamics_derivatives, arm.linearize):
        with pytest.raises(da.Error, match="wrench on 'link2' is given in frame \"world_aligned\""):
            call([0.3, 0.6], [0, 0], [0, 0], wrenches=push)
    body = {"link2": da.Wrench(force=(0, 50, 0))}
    assert arm.inverse_dynamics_derivatives([0.3, 0.6], [0, 0], [0, 0], wrenches=body).dq.shape == (2, 2)


def test_robots_without_a_table():
    state = np.zeros((3, 7))
    with pytest.raises(da.Error, match="not a robot of standard Denavit-Hartenberg rows"):
        da.robot("panda").dh_derivatives(*state, convention="standard")
    with pytest.raises(da.Error, match="not a robot of modified"):
        da.robot("puma560").dh_derivatives(*np.zeros((3, 6)), convention="modified")
    with pytest.raises(da.Error, match="not a robot of"):
        da.random_robot(1, "RRR", (-1, 0, 0)).dh_derivatives(*np.zeros((3, 3)), convention="standard")
    assert da.robot("puma560").dh_derivatives(*np.zeros((3, 6)), convention="standard").alpha.shape == (6, 6)


def test_no_joints():
    stone, none = da.Robot("stone", ()), np.zeros((3, 2, 0))
    assert stone.inverse_dynamics_derivatives(*none).dq.shape == (2, 0, 0)
    assert stone.forward_dynamics_derivatives(*none).dtau.shape == (2, 0, 0)
    assert stone.inverse_dynamics_second_derivatives(*none).dq_dq.shape == (2, 0, 0, 0)
    assert stone.inverse_dynamics_hessian(*none, none[0]).dq_dq.shape == (2, 0, 0)
    assert stone.geometry_derivatives(*none).axis.shape == (2, 0, 0, 6)
    assert stone.linearize(*none, step=0.1).A.shape == (2, 0, 0)


@pytest.mark.slow
def test_second_derivatives_by_every_recursion():
    robot = da.random_robot(3, "RPH", (-1, 0, 0))
    state = motion(robot, 9)
    expected = robot.inverse_dynamics_second_derivatives(*state)
    out = tuple(np.empty_like(x) for x in expected)
    usual = robot.program("inverse_dynamics_second_derivatives")
    for method in ("composite_body_world", "lie_group", "spatial_operator", "recursive_lagrange_3x3"):
        assert robot.program("inverse_dynamics_second_derivatives", method) != usual
        found = robot.inverse_dynamics_second_derivatives(*state, method=method, out=out, backend="numpy")
        for a, b in zip(found, expected, strict=True):
            close(a, b, 1e-11, scale=1.0)


def test_batches_and_out():
    robot = da.random_robot(1, "RPR")
    q, qd, qdd = motion(robot, 8, (2, 1))
    out = tuple(np.empty((2, 1, 3, 3)) for _ in range(3))
    assert robot.inverse_dynamics_derivatives(q, qd, qdd, out=out).dq is out[0]
    again = robot.inverse_dynamics_derivatives(q, qd, qdd)
    assert robot.inverse_dynamics_derivatives(q, qd, 2 * qdd, out=again).dq is again.dq
    with pytest.raises(da.Error, match="must not overlap"):
        robot.inverse_dynamics_derivatives(q, qd, qdd, out=(out[0], out[0], out[1]))
    one = robot.inverse_dynamics_derivatives(q[1, 0], qd[1, 0], qdd[1, 0])
    assert np.array_equal(out[1][1, 0], one.dqd)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.forward_dynamics_derivatives(q, qd, qdd)
