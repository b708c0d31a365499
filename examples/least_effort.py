"""Lift a load with the least heat in the motors, within their forces, and play the motion to a simulated arm.

Needs SciPy: pip install scipy
"""

import numpy as np

import dalembert as da

ROTORS = [1.14, 4.71, 0.83, 0.20, 0.18, 0.19]  # kg m^2 at the joints: of the right size for this arm's motors
CONSTANTS = np.array([3.0, 4.0, 2.5, 1.0, 1.0, 1.0])  # N m/sqrt(W) at the joints
START = np.array([0.0, 0.8, -0.6, 0.0, 0.3, 0.0])
GOAL = np.array([1.0, -0.5, 0.4, 0.4, -0.3, 0.6])

if __name__ == "__main__":
    arm = da.robot("puma560").with_armature(ROTORS).with_payload(mass=2.0, com=(0.0, 0.0, 0.1))
    best = arm.least_effort(START, GOAL, duration=1.0, motor_constants=CONSTANTS)
    print(f"heat of the quintic {best.quintic_cost:.0f} J, least {best.cost:.0f} J: {best.saving:.0%} saved")

    tight = 0.9 * np.abs(best.tau).max(axis=0)
    held = arm.least_effort(START, GOAL, duration=1.0, motor_constants=CONSTANTS, limits={"torque": tight})
    often = arm.inverse_dynamics(*held.path(np.linspace(0.0, 1.0, 10_001)))
    print(
        f"with forces of at most 90 % of its own: {held.cost:.0f} J, forces at {(np.abs(often) / tight).max():.4f} of their limits"
    )

    free = arm.least_effort(START, GOAL, duration=(0.5, 4.0), motor_constants=CONSTANTS)
    print(f"the best duration is {free.duration:.2f} s: {free.cost:.0f} J")

    played = arm.simulate(START, duration=1.0, torque=da.ComputedTorque(arm, held.path, kp=100.0, kd=20.0))
    heat = np.trapezoid(((played.tau / CONSTANTS) ** 2).sum(axis=1), played.time)
    print(f"simulated: {heat:.0f} J, off the goal by {np.abs(played.q[-1] - GOAL).max():.1e} rad")
    assert best.saving > 0.1 and best.cost < held.cost < held.quintic_cost and free.cost < best.cost
    assert (np.abs(often) <= tight).all() and abs(heat / held.cost - 1) < 1e-2 and np.abs(played.q[-1] - GOAL).max() < 1e-3
