"""Motions of least effort: how long they take to find, and their cost beside CasADi's with Ipopt on the same transcription."""

import time
from importlib.util import find_spec

import numpy as np
from reporting import heading, report
from timing import best

import dalembert as da
from dalembert.planning.transcription import Transcription

START, GOAL = np.array([0.0, 0.3, -0.4, 0.2, 0.5, 0.0]), np.array([1.2, -0.6, 0.8, -0.5, -0.4, 1.0])
FORCES = np.array([97.0, 186.0, 89.0, 24.0, 20.0, 21.0])  # N m, of the size of this arm's motors
KNOTS = 20


def figures():
    heading("motions of least effort")
    arm = da.robot("puma560")
    given = {"motor_constants": FORCES, "knots": KNOTS, "progress": False}

    def move(limits):
        return arm.least_effort(START, GOAL, 1.0, limits=limits, **given)

    free = move(False)
    tight = {"torque": tightened(arm, free), "lower": -np.inf, "upper": np.inf}
    held = move(tight)
    words = f"PUMA, 1 s, {KNOTS} knots"
    report(f"{words}: least effort, free", best(lambda: move(False), rounds=20, least=0), "s", at_most=0.1)
    report(f"{words}: with limits of forces", best(lambda: move(tight), rounds=20, least=0), "s", at_most=0.2)
    range_ = (0.3, 5.0)
    report(f"{words}: free duration", best(lambda: arm.least_effort(START, GOAL, range_, limits=False, **given), 5, 0), "s")
    report("cost, of the quintic's", free.cost / free.quintic_cost, "x")
    forces = np.abs(arm.inverse_dynamics(*held.path(np.linspace(0.0, 1.0, 20_001))))
    report("largest force at 20,001 instants, of its limit", float((forces / tight["torque"]).max()), "x", at_most=1.0)
    if find_spec("casadi"):
        beside_ipopt(arm, free, held, tight["torque"])


def tightened(arm, free):
    """Limits of forces that the free optimum exceeds, and that hold the arm at both ends."""
    ends = np.abs(arm.gravity_force(np.stack([START, GOAL]))).max(axis=0)
    return np.maximum(0.85 * np.abs(free.tau).max(axis=0), 1.1 * ends)


def beside_ipopt(arm, free, held, tight):
    """The same transcription given to Ipopt; forces are limited at four instants of each interval, ours at all times."""
    found, seconds = ipopt(arm, free.path, None)
    report("free: cost, of Ipopt's from our optimum, less 1", abs(free.cost / found - 1), "", at_most=1e-6)
    found, seconds = ipopt(arm, free.quintic, None)
    report("free: cost, of Ipopt's from the quintic", free.cost / found, "x", at_most=1.001)
    report("free: Ipopt from the quintic", seconds, "s")
    found, seconds = ipopt(arm, free.path, tight)
    report("with limits: cost, of Ipopt's from our free optimum", held.cost / found, "x", at_most=1.001)
    report("with limits: Ipopt", seconds, "s")


def ipopt(arm, path, limit):
    """Cost and seconds of Ipopt, begun with a path."""
    import casadi as ca

    n, inverse = arm.n, da.casadi_function(arm.program("inverse_dynamics"), "inverse_dynamics")
    rest = [np.stack([q, np.zeros(n)]) for q in (START, GOAL)]
    motions = Transcription(*rest, np.zeros(0), np.zeros((0, n)), KNOTS)
    X = ca.MX.sym("x", n, motions.free.shape[1])

    def forces(grid, scale):
        motion = [X @ ca.DM(F.T) + ca.DM(c.T) for F, c in zip(grid.free, grid.fixed, strict=True)]
        return inverse.map(len(grid.at))(*motion) / ca.DM(np.tile(scale[:, None], (1, len(grid.at))))

    asked = {"x": ca.vec(X), "f": ca.sum2(ca.DM(motions.weights[None]) * ca.sum1(forces(motions.grid, FORCES) ** 2))}
    given = {"x0": path.coefficients[3:-3].ravel()}
    if limit is not None:
        asked["g"] = ca.vec(forces(motions.at(np.linspace(0.0, 1.0, 4 * motions.intervals + 1)), limit))
        given |= {"lbg": -1.0, "ubg": 1.0}
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "ipopt.max_iter": 300}
    solver = ca.nlpsol("solver", "ipopt", asked, quiet)
    began = time.perf_counter()
    found = solver(**given)
    return float(found["f"]), time.perf_counter() - began
