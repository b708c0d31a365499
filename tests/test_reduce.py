"""Internal frames and regrouped inertias: the same joint forces, shorter programs."""

from contextlib import suppress

import numpy as np
import pytest
from builtin import ARMS
from conftest import MOVING, STRUCTURES, close, directly, some_methods, sweep
from oracle import answer

import dalembert as da
from dalembert.algebra.precise import rounded
from dalembert.formulations import formulation
from dalembert.model.random import random_inertia
from dalembert.model.reduce import reduced


def general_6r(seed=0):
    """Arbitrary alpha, a, d and full inertias, the first axis along gravity."""
    rng = np.random.default_rng(seed)
    rows = [
        da.DHRow(alpha=rng.uniform(0.3, 1.2), a=rng.uniform(0.2, 0.5), d=rng.uniform(0.1, 0.4), inertia=random_inertia(rng))
        for _ in range(6)
    ]
    return da.Robot.from_dh(rows, convention="standard", name="general 6R")


def almost_parallel():
    """Rounded angles: axes that were meant to be parallel, or at right angles."""
    rows = [
        da.DHRow(alpha=x, a=0.3, d=0.2, inertia=random_inertia(np.random.default_rng(i)))
        for i, x in enumerate((1e-5, 3.1416, 1.5708, 1e-9, 1e-3))
    ]
    return da.Robot.from_dh(rows, convention="standard", name="almost parallel")


def forces(tree, method, q, qd, qdd):
    return formulation("inverse_dynamics", method)(tree.mapped(rounded), q, qd, qdd)


def massless_links():
    """Virtual links between joints that meet, as humanoids have them: all mass at the end."""
    links, parent = [], "base"
    rng = np.random.default_rng(4)
    for i, letter in enumerate("RRPRRR"):
        joint = da.Joint(f"j{i}", {"R": "revolute", "P": "prismatic"}[letter])
        pose = da.Pose.of(rng.uniform(-1, 1, 3) * (i % 2), rng.uniform(-2, 2, 3))
        links.append(da.Link(f"l{i}", parent, joint, pose, inertia=random_inertia(rng) if i in (1, 5) else da.Inertia.zero()))
        parent = f"l{i}"
    return da.Robot("massless", tuple(links))


ROBOTS = (
    [massless_links(), almost_parallel()]
    + [da.robot(name) for name in ARMS]
    + [da.random_robot(3, j, p) for j, p in STRUCTURES]
    + [general_6r()]
)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{len(set(r.parents))}")
def test_joint_forces_do_not_change(robot):
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 20, robot.n))
    expected = directly(robot, "newton_euler", q, qd, qdd)
    close(forces(robot.reduced_tree, "newton_euler", q, qd, qdd), expected, 1e-13)
    close(forces(robot.exact_tree, "newton_euler", q, qd, qdd), expected, 1e-13)


@some_methods
def test_every_method_takes_reduced_trees(method):
    for robot in (*map(da.robot, ARMS), da.random_robot(1, "RPHR", (-1, 0, 0, 1))):
        q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4, robot.n))
        expected = directly(robot, "newton_euler", q, qd, qdd)
        close(forces(robot.reduced_tree, method, q, qd, qdd), expected, 1e-12)
        close(directly(robot, method, q, qd, qdd), expected, 1e-12)


def test_link_frames_are_denavit_hartenberg_like():
    tree = reduced(da.random_robot(5, "RRRRRR").tree)
    assert np.array_equal(tree.after.rotation, np.broadcast_to(np.eye(3), (6, 3, 3)))
    assert not tree.after.translation.any()
    assert (tree.before.rotation[1:, 0] == [1, 0, 0]).all()
    assert not tree.before.translation[1:, 1].any()


def test_inertias_are_regrouped():
    """A turning link keeps no moment along its axis, and of the second moments none along it; a wrist without offsets keeps no mass."""
    tree = reduced(da.random_robot(5, "RRRRRR").tree)
    assert not tree.com[:, 2].any()
    wrist = reduced(da.robot("puma560").tree)
    assert wrist.mass[5] == 0
    assert (tree.inertia[:, 2, 2] == tree.inertia[:, 0, 0] + tree.inertia[:, 1, 1]).all()
    sliding = reduced(da.random_robot(5, "RP").tree)
    assert not sliding.inertia[1].any()


@pytest.mark.parametrize(
    ("robot", "mul", "add"),
    [(general_6r(), 500, 400), (general_6r(7), 425, 369), (da.robot("puma560"), 250, 180)],
    ids=["general 6R", "general 6R, Khalil and Kleinfinger", "puma560"],
)
def test_customized_newton_euler_counts(robot, mul, add):
    """Bars: 500 / 400 and 250 / 180; the best published for a general arm is 92 n - 127 / 81 n - 117, 425 / 369 for n = 6."""
    count = robot.operation_count("inverse_dynamics")
    assert count.mul < mul
    assert count.add < add


def test_with_wrenches_or_a_moving_base_nothing_is_reduced():
    """Wrenches are given in link frames, and a moving base feels every body; these programs keep the robot as it is."""
    robot = da.random_robot(2, "RPR")
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    options = {"wrenches": rng.normal(size=(3, 6)), "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6)}
    expected = directly(robot, "newton_euler", q, qd, qdd, **options)
    for method in MOVING:
        close(robot.inverse_dynamics(q, qd, qdd, **options, method=method, backend="numpy"), expected, 1e-12)


@pytest.mark.parametrize("ratio", [1e-3, 1e-6, 1e-9, 1e-12])
def test_slender_links_keep_their_digits(ratio):
    """A rod that turns about its own axis: its torque is tiny, and exact."""
    inertia = da.Inertia.from_com(1.0, (0, 0, 0.5), np.array([1 / 12, 1 / 12, ratio / 12]))
    rod = da.Robot("rod", (da.Link("a", "base", da.Joint("j"), inertia=inertia),))
    for tree in (rod.tree, reduced(rod.tree)):
        assert forces(tree, "newton_euler", np.array([0.3]), np.array([1.0]), np.array([1.0]))[0] == pytest.approx(
            ratio / 12, rel=1e-14
        )
    assert rod.inverse_dynamics([0.3], [1.0], [1.0])[0] == pytest.approx(ratio / 12, rel=1e-14)


@pytest.mark.parametrize("seed", range(30))
def test_each_joint_keeps_its_own_digits(seed):
    """Masses from milligrams to tonnes in one robot: errors relative to every joint's own force."""
    rng = np.random.default_rng(seed)
    joints = "".join(rng.choice(list("RRP"), 5))
    robot = da.random_robot(seed, joints)
    links = [
        da.Link(x.name, x.parent, x.joint, x.before, x.after, da.Inertia(x.inertia.mass * s, x.inertia.com, x.inertia.tensor * s))
        for x, s in zip(robot.links, 10.0 ** rng.uniform(-6, 3, 5), strict=True)
    ]
    scaled = da.Robot("scaled", tuple(links), gravity=robot.gravity)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20, 5))
    expected = directly(scaled, "newton_euler", q, qd, qdd)
    error = np.abs(forces(reduced(scaled.tree), "newton_euler", q, qd, qdd) - expected)
    assert (error.max(axis=0) / np.abs(expected).max(axis=0)).max() < 1e-11


def stretched(seed):
    """A chain or tree whose lengths differ by up to a million, with axes from almost parallel to square, and links away from them."""
    rng = np.random.default_rng(seed)
    n, branching = int(rng.integers(2, 6)), rng.random() < 0.25
    links = []
    for i in range(n):
        parent = int(rng.integers(-1, i)) if branching else i - 1
        size, distance = 10.0 ** rng.uniform(-6, 0, 2)
        tilt = 10.0 ** rng.uniform(-2, 0.3) if rng.random() < 0.7 else float(rng.choice([0.0, np.pi / 2, -np.pi / 2]))
        before = da.Pose.of(rng.uniform(-1, 1, 3) * distance, (tilt, 0.0, rng.uniform(-3, 3)))
        after = da.Pose.of(rng.uniform(-1, 1, 3) * size * rng.integers(0, 2), rng.uniform(-1, 1, 3) * rng.integers(0, 2))
        shape = random_inertia(rng)
        mass = shape.mass * 10.0 ** rng.uniform(-3, 0)
        inertia = da.Inertia(mass, shape.com * size, shape.tensor * (mass / shape.mass * size**2))
        kind = str(rng.choice(["revolute"] * 4 + ["prismatic", "helical"]))
        joint = da.Joint(f"j{i}", kind, pitch=0.1 * size if kind == "helical" else 0.0)
        links.append(da.Link(f"l{i}", "base" if parent < 0 else f"l{parent}", joint, before, after, inertia))
    return da.Robot(f"stretched {seed}", tuple(links), gravity=rng.uniform(-10, 10, 3))


@pytest.mark.parametrize("start", sweep(range(0, 300, 10), quick=(0,)))
def test_small_links_far_out_keep_their_digits(start):
    """Against forty digits of the robot as it is: entries of M to 1e-12 of sqrt(M_ii M_jj), forces to 1e-12 of their terms.

    So the default methods, reduced. Methods that work in base axes, or about origins far from the links, lose digits by themselves."""
    for seed in range(start, start + 10):
        robot = stretched(seed)
        q, qd, qdd = np.random.default_rng([seed, 1]).uniform(-2, 2, (3, robot.n))
        true = answer(robot.tree, q, qd, qdd)
        size = np.sqrt(np.diagonal(true.M))
        for method in ("composite_body", "body_jacobians"):
            error = np.abs(robot.mass_matrix(q, method=method, backend="numpy") - true.M) / np.outer(size, size)
            assert error.max() < 1e-12, (seed, method)
        error = np.abs(robot.inverse_dynamics(q, qd, qdd, backend="numpy") - true.tau) / true.tau_terms
        assert error.max() < 1e-12, seed


@pytest.mark.parametrize("joints", ["RH", "RRH", "RHH", "RRR", "RPR"])
def test_a_small_link_keeps_its_products_of_inertia(joints):
    """Of a micrometre, in a frame that has slid four metres: for every kind of joint."""
    links, kinds = [], {"R": "revolute", "P": "prismatic", "H": "helical"}
    tensor = np.array([[1.0, 0.1, 0.2], [0.1, 1.2, 0.15], [0.2, 0.15, 0.9]])
    for i, letter in enumerate(joints):
        size = 1e-6 if i == len(joints) - 1 else 0.3
        joint = da.Joint(f"j{i}", kinds[letter], pitch=0.1 * size if letter == "H" else 0.0)
        before = da.Pose.of((1.0, 0.3, 0.2) if i else (0, 0, 0), (0.26, 0, 0.4))
        inertia = da.Inertia(1.0, np.array([0.3, 0.2, 0.5]) * size, tensor * size**2)
        links.append(da.Link(f"l{i}", f"l{i - 1}" if i else "base", joint, before, inertia=inertia))
    robot = da.Robot("micro", tuple(links))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
    true = answer(robot.tree, q, qd, qdd)
    size = np.sqrt(np.diagonal(true.M))
    assert (np.abs(robot.mass_matrix(q, backend="numpy") - true.M) / np.outer(size, size)).max() < 1e-13
    assert (np.abs(robot.inverse_dynamics(q, qd, qdd, backend="numpy") - true.tau) / true.tau_terms).max() < 1e-13


@pytest.mark.parametrize("size", [1e-3, 1e-4, 1e-5])
def test_a_small_link_behind_a_tilted_axis(size):
    """At 1 m, behind an axis tilted by 0.06 rad, whose common normal with the first is 17 m away."""
    small = da.Inertia(1.0, (size, size, 0.0), np.diag([1.0, 2.0, 2.5]) * size**2)
    links = (
        da.Link("a", "base", da.Joint("ja"), inertia=da.Inertia.from_com(1.0, (0.5, 0, 0), 0.1)),
        da.Link("b", "a", da.Joint("jb"), da.Pose.of((1.0, 0.3, 0.0), (0.06, 0, 0.4)), inertia=small),
    )
    robot = da.Robot("small", links)
    assert robot.mass_matrix([0.3, 0.4])[1, 1] == pytest.approx(4.5 * size**2, rel=1e-14)


def test_absurd_figures_are_left_as_they_are():
    """Lengths whose squares overflow: no warning, no error, and the numbers that the robot as it is gives."""
    far = da.Pose.of((1e200, 0, 0), (0.3, 0.2, 0.1))
    links = (
        da.Link("a", "base", da.Joint("ja"), far, inertia=da.Inertia.from_com(1.0, (0, 0, 0), 0.1)),
        da.Link("b", "a", da.Joint("jb"), far, inertia=da.Inertia.from_com(1.0, (0, 0, 0), 0.1)),
    )
    robot = da.Robot("far", links)
    assert np.array_equal(robot.reduced_tree.com, robot.exact_tree.com)
    assert robot.reduced_tree.offset is None
    zero = np.zeros(2)
    close(robot.inverse_dynamics(zero, zero, zero, backend="numpy"), directly(robot, "newton_euler", zero, zero, zero), 1e-12)


@pytest.mark.parametrize(("kind", "pitch"), [("revolute", 0.0), ("prismatic", 0.0), ("helical", 1e200)])
def test_absurd_figures_raise_nothing_but_errors_of_ours(kind, pitch):
    inertia = da.Inertia(1e150, (1e200, 1e200, 0), np.eye(3) * 0.1)
    pose = da.Pose.of((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    links = [
        da.Link(f"l{i}", f"l{i - 1}" if i else "base", da.Joint(f"j{i}", kind, pitch=pitch), pose, inertia=inertia)
        for i in range(2)
    ]
    robot = da.Robot("absurd", tuple(links))
    for quantity in ("inverse_dynamics", "forward_dynamics", "diagonalize", "momentum", "quasi_coriolis"):
        for method in da.methods(quantity):
            with suppress(da.Error):
                robot.program(quantity, method)
