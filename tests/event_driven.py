"""Dry friction and stops by brute force, to compare with: smooth pieces between events, and every combination of modes tried.

Nothing here is shared with the library's own solvers but M(q) and the bias forces.
"""

from itertools import product

import numpy as np
from scipy.integrate import solve_ivp


def friction(robot):
    """Damping and Coulomb levels, (n,) each."""
    return (np.array([getattr(link.joint, name) for link in robot.links], dtype=float) for name in ("damping", "coulomb"))


def accelerations(robot, q, v, tau, pressed=()):
    """qdd and the force of friction and stops on each joint, by trying all modes of joints that stand.

    +1 and -1 slide, 0 stays; `pressed` are (joint, side) of stops that a joint rests on: it may only leave them.
    """
    damping, coulomb = friction(robot)
    M, left = robot.mass_matrix(q), tau - robot.bias_force(q, v) - damping * v
    stops = dict(pressed)
    for modes in product(*([s] if s else [0, -1, 1] for s in np.sign(v))):
        mode = np.array(modes, dtype=float)
        free, qdd = mode != 0, np.zeros(robot.n)
        if free.any():
            qdd[free] = np.linalg.solve(M[np.ix_(free, free)], (left - coulomb * mode)[free])
        force, near = left - M @ qdd, 1e-12 * (1 + np.abs(left))
        above = [stops.get(i) != 1 and force[i] > coulomb[i] + near[i] for i in range(robot.n)]
        below = [stops.get(i) != -1 and force[i] < -coulomb[i] - near[i] for i in range(robot.n)]
        turns = (v == 0) & free & (mode * qdd <= 0)
        leaves = [v[i] == 0 and i in stops and stops[i] * mode[i] > 0 for i in range(robot.n)]
        if not (any(turns) or any(leaves) or any(~free & (np.array(above) | np.array(below)))):
            return qdd, force, mode
    raise RuntimeError("no modes fit")


def simulate(robot, q, v, duration, restitution=None):
    """The end state and the events [(time, what, joint)], with smooth pieces to 1e-11 between them."""
    n, t = robot.n, 0.0
    damping, coulomb = friction(robot)
    q, v, events = np.array(q, dtype=float), np.array(v, dtype=float), []
    lower, upper = (robot.lower, robot.upper) if restitution is not None else (np.full(n, -np.inf), np.full(n, np.inf))
    broke = {}
    while True:
        pressed = [(i, s) for i in range(n) for s, x in ((1, upper), (-1, lower)) if v[i] == 0 and q[i] == x[i]]
        _, held, mode = accelerations(robot, q, v, np.zeros(n), pressed)
        for i, side in broke.items():  # what broke away slides, whatever rounding says of a force at its limit
            mode[i] = mode[i] or side
        free, stops = mode != 0, dict(pressed)

        def rates(t, y, mode=mode, free=free):
            left = -robot.bias_force(y[:n], y[n:]) - damping * y[n:]
            M, a = robot.mass_matrix(y[:n]), np.zeros(n)
            if free.any():
                a[free] = np.linalg.solve(M[np.ix_(free, free)], (left - coulomb * mode)[free])
            return a, left - M @ a

        watched = []

        def watch(what, i, direction, function, watched=watched):
            function.terminal, function.direction = True, direction
            watched.append((what, i, function))

        for i in range(n):
            if free[i]:
                if coulomb[i]:
                    watch("stops", i, -mode[i], lambda t, y, i=i: y[n + i])
                for side, limit in ((1, upper[i]), (-1, lower[i])):
                    slack = side * 1e-12 * (q[i] == limit)  # what has just struck it does not meet it again
                    if np.isfinite(limit):
                        watch("strikes", i, side, lambda t, y, i=i, z=limit + slack: y[i] - z)
            elif i in stops and stops[i] * held[i] > coulomb[i]:
                watch("leaves", i, -1, lambda t, y, i=i, s=stops[i]: s * rates(t, y)[1][i] + coulomb[i])
            else:
                watch("breaks", i, -1, lambda t, y, i=i: coulomb[i] - abs(rates(t, y)[1][i]))
        found = solve_ivp(
            lambda t, y: np.concatenate([y[n:], rates(t, y)[0]]), (t, duration), np.concatenate([q, v]), "DOP853",
            rtol=1e-11, atol=1e-13, events=[f for _, _, f in watched] or None,
        )  # fmt: skip
        t, q, v, broke = found.t[-1], found.y[:n, -1].copy(), found.y[n:, -1].copy(), {}
        if found.status != 1:
            return q, v, events
        for (what, i, _), times in zip(watched, found.t_events, strict=True):
            if len(times):
                events.append((t, what, i))
                if what == "stops":
                    v[i] = 0.0
                elif what in ("breaks", "leaves"):
                    broke[i] = np.sign(rates(t, np.concatenate([q, v]))[1][i])
                elif (v[i] > 0) == (q[i] > (lower[i] + upper[i]) / 2):
                    q[i] = upper[i] if v[i] > 0 else lower[i]
                    e = restitution if abs(v[i]) > 1e-6 else 0.0
                    W = np.linalg.inv(robot.mass_matrix(q))
                    v = v - W[:, i] * ((1 + e) * v[i] / W[i, i])
                    v[i] = v[i] if e else 0.0
