"""Motions of least effort: how long they take to find, and their cost beside CasADi's with Ipopt on the same transcription.

python benchmarks/effort.py
"""

import os
from importlib.util import find_spec

import numpy as np
from timing import best

import dalembert as da
from dalembert.planning.effort import Problem
from dalembert.planning.transcription import Transcription

START, GOAL = np.array([0.0, 0.3, -0.4, 0.2, 0.5, 0.0]), np.array([1.2, -0.6, 0.8, -0.5, -0.4, 1.0])
FORCES = np.array([97.0, 186.0, 89.0, 24.0, 20.0, 21.0])  # N m, of the size of this arm's motors
KNOTS = 20


def figures():
    """Lines of name, value, unit and the bar, if there is one."""
    arm = da.robot("puma560")
    given = {"motor_constants": FORCES, "knots": KNOTS, "progress": False}

    def move(limits):
        return arm.least_effort(START, GOAL, 1.0, limits=limits, **given)

    free = move(False)
    tight = tightened(arm, free)
    held = move({"tau": tight})
    words = f"PUMA, 1 s, {KNOTS} knots"
    yield f"{words}: least effort, free", best(lambda: move(False), rounds=20, least=0), "s", 0.1
    yield f"{words}: with limits of forces", best(lambda: move({"tau": tight}), rounds=20, least=0), "s", 0.2
    yield f"{words}: free duration", best(lambda: arm.least_effort(START, GOAL, (0.3, 5.0), limits=False, **given), rounds=5, least=0), "s", None
    yield "cost, of the quintic's", free.cost / free.quintic_cost, "x", None
    time = np.linspace(0.0, 1.0, 20_001)
    forces = arm.inverse_dynamics(*held.path(time))
    yield "largest force at 20,001 instants, of its limit", float((np.abs(forces) / tight).max()), "x", 1.0
    if find_spec("casadi"):
        yield from beside_ipopt(arm, free, held, tight)


def tightened(arm, free):
    """Limits of forces that the free optimum exceeds, and that hold the arm at both ends."""
    ends = np.abs(arm.gravity_force(np.stack([START, GOAL]))).max(axis=0)
    return np.maximum(0.85 * np.abs(free.tau).max(axis=0), 1.1 * ends)


def beside_ipopt(arm, free, held, tight):
    """The same problem, its points included, given to Ipopt."""
    for label, ours, limit in (("free", free, None), ("with limits", held, tight)):
        for first, start in (("our optimum", ours.path), ("the quintic", ours.quintic)):
            found, seconds = ipopt(arm, start, limit)
            bar = 1.001 if first == "the quintic" else None if limit is not None else 1 + 1e-6
            yield f"cost {label}, of Ipopt's from {first}", ours.cost / found, "x", bar
            if bar is not None and limit is None:
                yield f"|cost {label} / Ipopt's from {first} - 1|", abs(ours.cost / found - 1), "", 1e-6 if first == "our optimum" else None
            yield f"Ipopt {label}, from {first}", seconds, "s", None


def ipopt(arm, path, limit):
    """Cost and seconds of Ipopt, begun with a path; forces are limited at the points of the quadrature."""
    import time

    import casadi as ca

    n = arm.n
    rest = [np.stack([q, np.zeros(n)]) for q in (START, GOAL)]
    motions = Transcription(*rest, np.zeros(0), np.zeros((0, n)), KNOTS)
    weights = 1 / FORCES**2
    inverse = da.casadi_function(arm.program("inverse_dynamics"), "inverse_dynamics")
    grid, m = motions.grid, len(motions.fixed)
    X = ca.MX.sym("x", n, m - 6)
    motion = [X @ ca.DM(F.T) + ca.DM(c.T) for F, c in zip(grid.free, grid.fixed, strict=True)]
    tau = inverse.map(len(grid.at))(*motion)
    cost = ca.sum2(ca.DM(motions.weights[None]) * ca.sum1(ca.DM(np.tile(weights[:, None], (1, len(grid.at)))) * tau**2))
    asked = {"x": ca.vec(X), "f": cost} | ({} if limit is None else {"g": ca.vec(tau / ca.DM(np.tile(limit[:, None], (1, len(grid.at)))))})
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "ipopt.max_iter": 300}
    solver = ca.nlpsol("solver", "ipopt", asked, quiet)
    given = {"x0": path.coefficients[3:-3].ravel()} | ({} if limit is None else {"lbg": -1.0, "ubg": 1.0})
    began = time.perf_counter()
    found = solver(**given)
    return float(found["f"]), time.perf_counter() - began


if __name__ == "__main__":
    for name, value, unit, bar in figures():
        print(f"{name:60} {value:10.7g} {unit:4} {'' if bar is None else f'<= {bar:.7g}'}", flush=True)
