"""A pendulum swings for a minute: its period and its energy, by every integrator of fixed step."""

import warnings

import numpy as np

import dalembert as da

LENGTH, MASS, GRAVITY, START = 1.0, 2.0, 9.81, 2.0  # m, kg, m/s^2, rad from hanging down

row = da.DHRow(a=LENGTH, alpha=0.0, d=0.0, theta=0.0, joint="R", inertia=da.Inertia.from_com(MASS, (0, 0, 0), 0.0))
pendulum = da.Robot.from_dh([row], convention="standard", name="pendulum", gravity=(GRAVITY, 0, 0))


def period(start):
    """The exact one, by Gauss's arithmetic-geometric mean of 1 and cos(start/2)."""
    a, b = 1.0, np.cos(start / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi * np.sqrt(LENGTH / GRAVITY) / a


if __name__ == "__main__":
    warnings.simplefilter("ignore", da.AccuracyWarning)  # of Euler's method, whose drift is shown here
    lift = MASS * GRAVITY * LENGTH * (1 - np.cos(START))  # J above the lowest point
    drift = {}
    for integrator in ("euler", "semi_implicit_euler", "implicit_midpoint", "rk4"):
        swing = pendulum.simulate([START], duration=60.0, step=1e-3, integrator=integrator)
        drift[integrator] = float(np.abs(swing.energy - swing.energy[0]).max()) / lift
        print(f"{integrator:20} energy off by at most {drift[integrator]:.1e} of {lift:.1f} J")
    assert drift["rk4"] < 1e-9 < drift["implicit_midpoint"] < 1e-5 < drift["semi_implicit_euler"] < 1e-2 < drift["euler"]

    q = swing.q[:, 0]  # of rk4
    k = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))  # steps in which it passes the lowest point, going one way
    passes = swing.time[k] - q[k] / (q[k + 1] - q[k]) * 1e-3
    measured = (passes[-1] - passes[0]) / (len(passes) - 1)
    print(f"period {measured:.6f} s, exactly {period(START):.6f} s; of small swings {period(1e-9):.6f} s")
    assert abs(measured - period(START)) < 1e-6
