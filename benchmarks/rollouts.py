"""Simulation of arms without friction, beside a loop around Pinocchio."""

import numpy as np
import pinocchio as pin
from arm import panda
from reporting import heading, report
from timing import best, best_pair

import dalembert as da


def simulation():
    heading("simulation: 10 s at 1 kHz by RK4, no friction")
    puma = da.robot("puma560").without_friction()
    q0 = np.array([0.0, -0.5, 0.5, 0.1, 0.2, 0.3])
    run = lambda: puma.simulate(q0, duration=10.0)  # noqa: E731
    run()
    report("PUMA, one rollout", best(run, rounds=5, least=0) * 1e3, "ms", at_most=100)
    starts = q0 + np.random.default_rng(0).uniform(-0.1, 0.1, (1000, 6))
    many = lambda: puma.simulate(starts, duration=1.0, every=10)  # noqa: E731
    report("PUMA, 1,000 rollouts of 1 s, all cores", best(many, rounds=3, least=0), "s")
    arm, model, data = panda()
    q0 = arm.neutral()
    ours = lambda: arm.simulate(q0, duration=1.0)  # noqa: E731
    theirs = lambda: runge_kutta(model, data, q0, 1000, 1e-3)  # noqa: E731
    apart = np.abs(ours().q[-1] - theirs()).max()
    a, b = best_pair(ours, theirs, rounds=5, least=0)
    long = lambda: arm.simulate(q0, duration=10.0)  # noqa: E731
    report("Panda: an RK4 step of one robot", best(long, rounds=10, least=0) * 1e5, "ns", at_most=1600)
    report("Panda, 1 s: the same loop in Python around Pinocchio, relative", b / a, "x")
    report("Panda, 1 s: the last position differs from that loop's by", apart, "rad", at_most=1e-6)
    da.set_threads(None)


def runge_kutta(model, data, q, steps, h):
    """What a user of Pinocchio writes."""
    qd, tau = np.zeros_like(q), np.zeros_like(q)
    for _ in range(steps):
        a1 = pin.aba(model, data, q, qd, tau).copy()
        v2 = qd + h / 2 * a1
        a2 = pin.aba(model, data, q + h / 2 * qd, v2, tau).copy()
        v3 = qd + h / 2 * a2
        a3 = pin.aba(model, data, q + h / 2 * v2, v3, tau).copy()
        v4 = qd + h * a3
        a4 = pin.aba(model, data, q + h * v3, v4, tau)
        q, qd = q + h / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q
