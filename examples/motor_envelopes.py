"""What the motors of an arm must deliver: torques over all poses, speeds, accelerations and payloads within limits."""

import numpy as np

import dalembert as da

OVER = {"qd": (-2.0, 2.0), "qdd": (-5.0, 5.0), "payload": (0.0, 3.0)}

if __name__ == "__main__":
    arm = da.robot("puma560")
    found = arm.sweep("inverse_dynamics", OVER, samples=2_000_000, reduce=["extremes", "sums", "envelope"])
    print(found)

    slow, fast = found.envelope["inverse_dynamics"].maximum[1][[32, -1]]
    print(f"joint2 needs {slow:.0f} N m near standstill and {fast:.0f} N m at full speed")

    number = found.argmax["inverse_dynamics"][1]
    state = {name: x.round(2).tolist() for name, x in found.states(number).items()}
    print(f"the worst of the sampled states is number {number}: {state}")

    best = found.refine(16)
    beyond = best.largest["inverse_dynamics"] / found.largest["inverse_dynamics"]
    print(f"local optima are up to {100 * (beyond.max() - 1):.1f} % beyond the samples")
    assert (beyond >= 1).all() and np.isfinite(beyond).all()
