"""Forward dynamics of robots with closed loops, beside Pinocchio's constraint dynamics where it is installed: one thread."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from reporting import heading, report
from timing import best_pair

import dalembert as da

sys.path += [str(Path(__file__).parent.parent / folder) for folder in ("tests", "tools")]
STATES = 4000


def figures():
    heading("closed loops, one thread")
    from closed_robots import states

    da.set_threads(1)
    for name in ("four_bar", "delta"):
        robot = da.robot(name)
        q, qd, tau = next(states(robot, 1))
        many, out = [np.tile(x, (STATES, 1)) for x in (q, qd, tau)], np.empty((STATES, robot.n))
        theirs = None
        if find_spec("pinocchio"):
            from pinocchio_loops import solver

            theirs = solver(robot, proximal=1)
        ours, other = best_pair(
            lambda robot=robot, many=many, out=out: robot.forward_dynamics(*many, out=out),
            lambda: theirs(q, qd, tau) if theirs else None,  # noqa: B023 - called at once
            rounds=50,
        )
        one, _ = best_pair(lambda robot=robot, x=(q, qd, tau): robot.forward_dynamics(*x), lambda: None, rounds=50)
        words = f"{name}, {robot.n} joints, {robot.closures} equations"
        report(f"{words}: forward dynamics, a state of a batch", ours / STATES * 1e9, "ns")
        report(f"{words}: one call", one * 1e9, "ns")
        if theirs:
            report(f"{words}: Pinocchio's call", other * 1e9, "ns")
            report(f"{words}: times as fast as Pinocchio's call", other / ours * STATES, "x", at_least=50)
