"""Torques that an arm cannot exceed while its states stay in a range: guaranteed, not sampled."""

import time

import numpy as np

import dalembert as da

LOWER = {"q": [0.0, 0.5], "qd": [-0.5, -0.5], "qdd": [-1.0, -1.0]}
UPPER = {"q": [0.4, 0.9], "qd": [0.5, 0.5], "qdd": [1.0, 1.0]}

if __name__ == "__main__":
    arm = da.robot("two_link")
    random = np.random.default_rng(0)
    tau = arm.inverse_dynamics(*(random.uniform(LOWER[x], UPPER[x], (100_000, arm.n)) for x in LOWER))
    print(f"{len(tau):,} samples lie in  {tau.min(0).round(3)} to {tau.max(0).round(3)} N m")
    for pieces in (1, 10, 100):
        began = time.perf_counter()
        low, high = da.enclosure(arm.program("inverse_dynamics"), LOWER, UPPER, pieces=pieces)
        seconds = time.perf_counter() - began
        print(f"{pieces:3} boxes guarantee     {low.round(3)} to {high.round(3)} N m ({seconds:.2f} s)")
        assert (low <= tau).all() and (tau <= high).all()

    # branch and bound: as close to the truth as you like, here for all positions
    found = arm.bound("inverse_dynamics", over={"qd": (-0.5, 0.5), "qdd": (-1.0, 1.0)}, tolerance=1e-3)
    print(found)
    print(found.states())
    q = random.uniform(-np.pi, np.pi, (100_000, arm.n))
    qd, qdd = random.uniform(-0.5, 0.5, q.shape), random.uniform(-1.0, 1.0, q.shape)
    share = abs(arm.inverse_dynamics(q, qd, qdd)).max(0) / found.largest
    print(f"{len(q):,} random states reach only {share.round(3)} of the bounds; refined ones {(1 / found.ratio).round(4)}")
