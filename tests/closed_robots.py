"""Robots with loops that tests and tools share, and states at which they are closed."""

from functools import cache

import numpy as np

import dalembert as da


def closing_frame(robot, q, link, name="goal"):
    """The same robot with a frame on the base where a link is at q."""
    T = np.linalg.inv(robot.base.matrix) @ robot.pose(q, link, backend="numpy")
    goal = da.Frame(name, robot.base_name, da.Pose(T[:3, :3], T[:3, 3]))
    return da.Robot(robot.name, robot.links, robot.gravity, robot.base, frames=(*robot.frames, goal))


HOME = np.array([0.3, -0.4, 0.5, 0.2, -0.6, 0.4, 0.1, 0.7])


@cache
def welded():
    """A general chain of eight joints whose end is welded to the base: six equations, two degrees of freedom."""
    robot = closing_frame(da.random_robot(5, "RRRRRRRR"), HOME, "link8")
    return robot.with_loop("link8", "goal", "weld", near=HOME)


@cache
def hinged():
    """The same with a hinge at its end, a prismatic joint among the others, on a tilted base."""
    robot = closing_frame(da.random_robot(6, "RRRPRRRR").with_base(da.Pose.of((1, 2, 3), (0.3, 0.2, 0.1))), HOME, "link8")
    return robot.with_loop("link8", "goal", "revolute", near=HOME)


@cache
def tilted():
    """The four-bar out of the coordinate planes: one of its three equations is zero up to rounding, and is not known to be."""
    bar, turn = da.robot("four_bar").without_loops(), da.Pose.of((0, 0, 0), (0.3, 0.5, 0.7))
    links = [
        da.Link(x.name, x.parent, x.joint, turn @ x.before if x.parent == "base" else x.before, x.after, x.inertia)
        for x in bar.links
    ]
    made = da.Robot("tilted", tuple(links), frames=bar.frames)
    return made.with_loop("coupler_end", "rocker_end", "point", independent="crank")


@cache
def coupled():
    """A coupled robot with a loop: the last joint follows the first, a point of the end stays in place."""
    robot = da.random_robot(8, "RRRRRR")
    at = HOME[:6] * [1, 1, 1, 1, 1, 0]
    at[5] = -0.5 * at[0]
    robot = closing_frame(robot, at, "link6").with_coupling({"joint6": {"joint1": -0.5}})
    return robot.with_loop("link6", "goal", "point", near=at[:5])


def zoo(name):
    return cache(lambda: da.robot(name))


ROBOTS = {name: zoo(name) for name in ("four_bar", "five_bar", "palletizer", "delta")} | {
    "welded": welded,
    "hinged": hinged,
    "tilted": tilted,
}


def free_joints(robot):
    return [robot.joint_names.index(name) for name in robot.independent_names()]


def states(robot, count=2, seed=0, forces=True):
    """q, qd, tau with closed loops, near zero for built-in robots, near HOME for others."""
    rng, free = np.random.default_rng(seed), free_joints(robot)
    near = HOME[: robot.n] if robot.name.startswith("random") else np.zeros(robot.n)
    for _ in range(count):
        guess = near.copy()
        guess[free] += rng.uniform(-0.2, 0.2, len(free))
        q = robot.settle(guess)
        wanted = np.zeros((2, robot.n))
        wanted[:, free] = rng.normal(size=(2, len(free)))
        qd = robot.closed_motion(q, wanted[0], wanted[1], backend="numpy").qd
        yield q, qd, rng.normal(size=robot.n) if forces else np.zeros(robot.n)
