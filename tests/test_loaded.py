"""Programs with a load and gravity as inputs compute what the robot with that load in that field computes."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import STRUCTURES, close, sweep

import dalembert as da
from dalembert.derived.loaded import INPUTS, carriers, hand, loaded
from dalembert.engine.registry import methods
from dalembert.trace.source import NumpyKernel

ARMS = [da.random_robot(4, joints, parents) for joints, parents in STRUCTURES]
ARMS += [da.robot(name) for name in ("stanford", "two_link", "panda")]
ARMS += [
    da.robot("puma560").with_armature(0.3).with_friction(damping=0.4),
    replace(da.robot("rp"), base=da.Pose.of((1, 2, 3), (0.3, 1, 2))),
]
arms = pytest.mark.parametrize("robot", sweep(ARMS, quick=(len(ARMS) - 1,)), ids=lambda r: f"{r.name}-{r.structure}")


def run(program, **arrays):
    found = NumpyKernel(program)(*(np.asarray(arrays[v.name], dtype=float) for v in program.inputs))
    return found


@arms
@pytest.mark.parametrize("quantity", INPUTS)
def test_a_load_and_a_field_are_those_of_another_robot(robot, quantity):
    rng = np.random.default_rng(2)
    for link in {0, robot.n // 2, robot.n - 1}:
        by = carriers(robot, link)
        program = loaded(
            robot,
            by,
            quantity,
            {"mass_matrix": "composite_body", "inverse_dynamics": "newton_euler"}.get(quantity, "articulated_body"),
        )
        for mass, field in ((0.0, robot.gravity), (1.7, (1.0, -2.0, 0.5)), (3.0, (0, 0, 0))):
            other = robot.without_friction().with_gravity(field)
            if mass:
                other = other.with_payload(mass, (0.1, -0.2, 0.3), (0.01, 0.02, 0.025), link=robot.link_names[link])
            q, x, y = rng.uniform(-2, 2, (3, robot.n))
            given = dict(zip(INPUTS[quantity], (q, x, y), strict=False))
            found = run(program, **given, bodies=carriers(other, link).bodies, gravity=other.tree.gravity)
            close(found, getattr(other, quantity)(**given, backend="numpy"), 1e-10)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_every_method_takes_a_load(quantity):
    robot = da.random_robot(1, "RPR")
    by, rng = carriers(robot, 2), np.random.default_rng(0)
    other = robot.with_payload(2.0, (0.1, 0.2, 0.0))
    body, (q, x, y) = carriers(other, 2).bodies, rng.uniform(-1, 1, (3, 3))
    for method in methods(quantity):
        found = run(loaded(robot, by, quantity, method), q=q, qd=x, qdd=y, tau=y, bodies=body, gravity=robot.tree.gravity)
        close(found, getattr(other, quantity)(q, x, y), 1e-10)


@arms
def test_the_frame_of_the_body_is_where_it_is_said_to_be(robot):
    """A point mass at c of a link's own frame adds m R^T (c - p) to the first moment in the frame of the programs."""
    for link in range(robot.n):
        c, bare = np.array([0.3, -0.1, 0.2]), carriers(robot, link)
        (after,), (before,) = carriers(robot.with_payload(2.0, c, link=robot.link_names[link]), link).bodies, bare.bodies
        R, p = (np.asarray(x, dtype=float) for x in bare.frames[0])
        close(after[0] * after[1:4] - before[0] * before[1:4], 2.0 * R.T @ (c - p), 1e-12, 1.0)
        close(before[0], robot.links[link].inertia.mass, 1e-15, 1.0)  # it keeps its own body


def test_several_links_may_carry():
    robot = da.random_robot(3, "RRPRR", (-1, 0, 1, 0, 3))
    program = loaded(robot, carriers(robot, 2, 4), "inverse_dynamics", "newton_euler")
    other = robot.with_payload(1.0, (0, 0.1, 0), link="link3").with_payload(2.0, (0.3, 0, 0), link="link5")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 5))
    found = run(program, q=q, qd=qd, qdd=qdd, bodies=carriers(other, 2, 4).bodies, gravity=robot.tree.gravity)
    close(found, other.inverse_dynamics(q, qd, qdd), 1e-11)


def test_a_load_costs_few_operations():
    robot = da.robot("puma560")
    program = loaded(robot, carriers(robot, 5), "inverse_dynamics", "newton_euler")
    assert da.trace.operation_count(program).total < 1.6 * robot.operation_count("inverse_dynamics").total


@arms
def test_the_hand(robot):
    q = np.random.default_rng(1).uniform(-1, 1, robot.n)
    name = robot.link_names[-1]
    pose, J, com = run(hand(robot, name), q=q)
    close(pose, robot.pose(q, name)[:3], 1e-13, 1.0)
    close(J, robot.jacobian(q, name, frame="world_aligned"), 1e-13, 1.0)
    moved = [x.inertia for x in robot.links]
    places = [T[:3, :3] @ b.com + T[:3, 3] for T, b in zip(robot.poses(q), moved, strict=True)]
    close(com, sum(b.mass * x for b, x in zip(moved, places, strict=True)) / sum(b.mass for b in moved), 1e-13, 1.0)
