"""From a task to motors: what an arm asks of them over all its states and over a cycle, and what it lifts with them."""

import sys

import numpy as np

import dalembert as da


def main(folder: str = "") -> None:
    """A PUMA 560 that carries up to 2.5 kg; its motors are described by their curves, as data sheets have them."""
    arm = da.robot("puma560")
    top = np.array([1.4, 1.3, 2.1, 4.0, 4.2, 4.0])  # rad/s
    torque = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])  # N m, at the joints
    motors = [da.MotorCurve([0.0, 0.6 * v, v], [t, t, t / 2], [t / 2, t / 2, t / 4]) for v, t in zip(top, torque, strict=True)]
    cycle = da.quintic([0.0, -1.5, 1.5, 0, 0, 0], [1.0, -0.5, 2.3, 1, 1, 1], duration=1.5)

    found = arm.size(payload=(0, 2.5), motor=motors, duty=cycle, acceleration=4.0, samples=50_000, progress=False)
    print(found)

    q = [0.0, -0.5, 1.0, 0.0, 0.0, 0.0]
    print(f"\nholds {arm.largest_payload(q, motor=motors):.1f} kg at q = {q}")
    worst = found.tightest[int(found.margin.argmin())]
    print(f"the worst pose: q = {worst.q.round(3).tolist()} with {worst.payload:g} kg")
    if folder:
        print(found.save(f"{folder}/sizing.png"), found.save(f"{folder}/sizing.csv"))


if __name__ == "__main__":
    main(*sys.argv[1:2])
