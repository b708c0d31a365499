"""Closed forms beside SymPy's LagrangesMethod on the same arms: `make bench-symbolic`.

SymPy gets the Lagrangian of the same chain, forms the equations and reads off the mass matrix and the forcing; then simplifies the
mass matrix with trigsimp, which is what makes it comparable to a canonical form. A time limit ends what takes too long.
"""

import signal
import time
from math import pi

import numpy as np
from reporting import heading, report
from timing import best

import dalembert as da

LIMIT = 120  # seconds for one step of SymPy


def spatial_3r():
    """A base that turns about the vertical, and two links in a vertical plane; principal inertias."""
    rows = [(pi / 2, 0.0, 0.4, (0, -0.2, 0)), (0.0, 0.5, 0.0, (-0.25, 0, 0)), (0.0, 0.3, 0.0, (-0.15, 0, 0))]
    links = [
        da.DHRow(alpha=alpha, a=a, d=d, inertia=da.Inertia.from_com(2.0 - i / 2, com, (0.02, 0.03, 0.04)))
        for i, (alpha, a, d, com) in enumerate(rows)
    ]
    return da.Robot.from_dh(links, convention="standard", name="spatial_3r")


def expanded(robot):
    e = da.equations(robot)
    return e.M, e.C, e.g


def lagrangian(robot):
    """Of the same chain with the same symbols."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    made = robot.symbolic()
    symbols = {name: sp.Symbol(name) for name in made.names}
    t = made.tree([symbols[name] for name in made.names])
    q = dynamicsymbols(f"q1:{robot.n + 1}")
    whole = np.vectorize(lambda x: sp.nsimplify(x) if isinstance(x, float) else x, otypes=[object])
    R, p, L = sp.eye(3), sp.zeros(3, 1), 0
    for i in range(robot.n):
        c, s = sp.cos(q[i]), sp.sin(q[i])
        turn = sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        before, after = (sp.Matrix(whole(x.rotation[i])) for x in (t.before, t.after))
        b, a = (sp.Matrix(whole(x.translation[i])) for x in (t.before, t.after))
        p = p + R * b
        R = R * before * turn
        p, R = p + R * a, R * after
        v = (p + R * sp.Matrix(whole(t.com[i]))).diff(dynamicsymbols._t)
        S = R.T * R.diff(dynamicsymbols._t)
        w = sp.Matrix([S[2, 1], S[0, 2], S[1, 0]])
        r = p + R * sp.Matrix(whole(t.com[i]))
        L += t.mass[i] * (v.dot(v) / 2 + sp.Matrix(whole(t.gravity)).dot(r)) + w.dot(sp.Matrix(whole(t.inertia[i])) * w) / 2
    return L, q


def lagranges_method(robot):
    from sympy.physics.mechanics import LagrangesMethod

    L, q = lagrangian(robot)
    method = LagrangesMethod(L, q)
    method.form_lagranges_equations()
    return method.mass_matrix, method.forcing


def limited(work):
    """Seconds, or None beyond the limit."""

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    start = time.perf_counter()
    try:
        result = work()
        return time.perf_counter() - start, result
    except TimeoutError:
        return None, None
    finally:
        signal.alarm(0)


def shown(seconds):
    return f"> {LIMIT} s" if seconds is None else f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def figures():
    heading("closed forms, one thread")
    for robot, bar in arms():
        report(f"{robot.name}: M, C and g", seconds(lambda robot=robot: expanded(robot)), "s", at_most=bar)
    puma = da.robot("puma560")
    report("puma560: M as shared subexpressions", seconds(lambda: str(da.equations(puma).shared("M"))), "s", at_most=20)
    report("puma560: M, expanded", seconds(lambda: da.equations(puma).M), "s")
    report("puma560: M, C and g, expanded", seconds(lambda: expanded(puma)), "s")


def arms():
    """Small arms, and how many seconds they may take."""
    return (da.robot("two_link"), 0.05), (da.robot("planar_3r"), 1.0), (spatial_3r(), 1.0)


def seconds(work):
    return best(work, rounds=3, least=0)


def beside_sympy():
    import sympy as sp

    heading("SymPy")
    for robot, _ in arms():
        theirs, found = limited(lambda robot=robot: lagranges_method(robot))
        tidy = limited(lambda found=found: found[0].applyfunc(sp.trigsimp))[0] if found else None
        print(f"  {robot.name}: LagrangesMethod {shown(theirs)}, trigsimp of M {shown(tidy)}", flush=True)


if __name__ == "__main__":
    figures()
    beside_sympy()
