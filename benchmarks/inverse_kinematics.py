"""Inverse kinematics of random poses within reach and limits, beside Robotics Toolbox's compiled ik_LM if installed: one thread."""

import statistics
import time
from importlib.util import find_spec

import numpy as np
from reporting import heading, report

import dalembert as da

ARMS = ("puma560", "ur5", "panda", "xarm7")
TARGETS, ALONE, THEIRS = 100_000, 1000, 300


def toolbox(robot):
    """The same arm as a chain of elementary transforms; its solver is C++ code."""
    import roboticstoolbox as rtb

    parts = [
        (
            rtb.ET.SE3(link.before.matrix),
            rtb.ET.Rz(jindex=i, qlim=[link.joint.lower, link.joint.upper]),
            rtb.ET.SE3(link.after.matrix),
        )
        for i, link in enumerate(robot.links)
    ]
    return rtb.ETS([x for part in parts for x in part])


def seconds(function, arguments):
    """The time of each call, and the results."""
    found, times = [], []
    for x in arguments:
        start = time.perf_counter()
        found.append(function(x))
        times.append(time.perf_counter() - start)
    return times, found


def figures():
    heading("inverse kinematics, one thread")
    da.set_threads(1)
    for name in ARMS:
        robot = da.robot(name)
        targets = robot.pose(robot.random_configuration(0, TARGETS))
        robot.inverse_kinematics(targets[:1000]), robot.inverse_kinematics(targets[0])  # compiled now
        start = time.perf_counter()
        found = robot.inverse_kinematics(targets, progress=False)
        mean = (time.perf_counter() - start) / TARGETS
        off = np.abs(robot.pose(found.q) - targets).max()
        outside = np.maximum(robot.lower - found.q, found.q - robot.upper).max()
        alone, _ = seconds(robot.inverse_kinematics, targets[:ALONE])
        report(f"{name}: of {TARGETS:,} poses, not solved to 1e-10", np.count_nonzero(~found.solved), "", at_most=0)
        report(f"{name}: largest difference from the target", off, "", at_most=1e-10)
        report(f"{name}: joints beyond their limits by", max(outside, 0.0), "rad", at_most=0)
        report(f"{name}: a target of a batch", mean * 1e6, "us", at_most=8)
        report(f"{name}: one target, median", statistics.median(alone) * 1e6, "us", at_most=500)
        if find_spec("roboticstoolbox"):
            beside(name, toolbox(robot), targets[:THEIRS], mean)


def beside(name, chain, targets, mean):
    """Robotics Toolbox to the same accuracy, with the better of its two usual dampings."""
    best = 0.0, 0.0
    for method, k in (("chan", 0.1), ("sugihara", 1e-4)):
        times, found = seconds(lambda T: chain.ik_LM(T, tol=5e-21, joint_limits=True, method=method, k=k), targets)  # noqa: B023
        solved = float(np.mean([bool(x.success) for x in found]))
        best = max(best, (solved, -statistics.mean(times)))
    share, theirs = best[0], -best[1]
    report(f"{name}: Robotics Toolbox's ik_LM, a target", theirs * 1e6, "us")
    report(f"{name}: Robotics Toolbox's ik_LM, solved", share * 100, "%")
    report(f"{name}: times as fast as that in a batch", theirs / mean, "x")
