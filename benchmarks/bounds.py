"""Proven bounds and native intervals: how close, how fast, and that no sample exceeds them."""

import time

import numpy as np
from reporting import heading, report
from timing import best

import dalembert as da

BOXES, SAMPLES = 100_000, 10**8
CHUNK = 1 << 18


def figures():
    heading("bounds that no state exceeds, all cores")
    arm = da.robot("puma560")
    enclosures(arm)
    on = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    fixed = {"q": dict.fromkeys(arm.joint_names[3:], 0.0), "qd": (-on, on), "qdd": (-on, on)}
    for name, over, only, tolerance, bar, seconds in (
        ("wrist fixed, joints 1 to 3", fixed, [0, 1, 2], 1e-3, 1.001, 1.0),
        ("all joints free", {"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}, None, 0.05, 1.05, 60.0),
    ):
        began = time.perf_counter()
        arm.bound("inverse_dynamics", over=over, only=only, tolerance=1e9)  # any bound will do
        report(f"PUMA, {name}: recording, compiling", time.perf_counter() - began, "s")
        found = arm.bound("inverse_dynamics", over=over, only=only, tolerance=tolerance, seconds=seconds)
        report(f"PUMA, {name}: bound beside refined maximum", float(found.ratio.max()), "x", at_most=bar * (1 + 1e-9))
        report(f"PUMA, {name}: time", found.seconds, "s", at_most=seconds)
        report(f"PUMA, {name}: boxes", found.boxes / found.seconds / 1e6, "M/s")
    report("of 10^8 states, above a bound", exceeding(arm, found), "states", at_most=0)


def enclosures(arm):
    """Native intervals beside mpmath's, on one thread."""
    da.set_threads(1)
    program, random = arm.program("inverse_dynamics"), np.random.default_rng(0)
    ends = [np.r_[arm.lower, -np.ones(12)], np.r_[arm.upper, np.ones(12)]]
    middle = random.uniform(*ends, (BOXES, 18))
    radius = random.uniform(0, 0.3, middle.shape) * 10 ** random.uniform(-6, 0, (BOXES, 1))
    low, high = np.maximum(middle - radius, ends[0]), np.minimum(middle + radius, ends[1])
    lower, upper = (
        {x: np.ascontiguousarray(side[:, 6 * k : 6 * k + 6]) for k, x in enumerate(("q", "qd", "qdd"))} for side in (low, high)
    )
    for name, options, bar in (("by intervals", {"mean_value": False}, 0.08), ("by intervals and mean value form", {}, None)):
        call = lambda options=options: da.enclosure(program, lower, upper, **options)  # noqa: E731
        report(f"PUMA, torques of a box {name}", best(call, rounds=10, least=0) / BOXES * 1e6, "us", at_most=bar)
    one = [{x: v[0] for x, v in side.items()} for side in (lower, upper)]
    report("PUMA, torques of a box by mpmath", best(lambda: da.enclosure(program, *one, bits=54), rounds=3, least=0) * 1e6, "us")
    da.set_threads(None)


def exceeding(arm, found):
    """How many random states, half of their rates at the ends, have a torque outside the bounds."""
    random, outside = np.random.default_rng(1), 0
    tau = np.empty((CHUNK, 6))
    rate = np.empty((2, CHUNK, 6))
    for _ in range(-(-SAMPLES // CHUNK)):
        q = arm.lower + random.random((CHUNK, 6)) * (arm.upper - arm.lower)
        random.random(out=rate)
        ends = rate < 0.5
        rate[...] = np.where(ends, np.where(rate < 0.25, -1.0, 1.0), 4 * rate - 3)
        arm.inverse_dynamics(q, rate[0], rate[1], out=tau)
        outside += int(((tau > found.upper) | (tau < found.lower)).any(1).sum())
    return outside
