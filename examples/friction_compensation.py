"""PD control of an arm whose joints stick, with and without friction compensation: the error that friction leaves."""

import numpy as np

import dalembert as da

LEVEL = np.array([4.0, 1.0])  # N m
GOAL = np.array([1.0, -0.5])
KP, KD = 60.0, 6.0  # with more damping the arm comes to its end without ever stopping
NEAR = 1e-3  # rad: within this distance of the goal the compensation fades


def main() -> None:
    """Both controllers, one after the other."""
    arm = da.robot("two_link").with_friction(coulomb=LEVEL)
    pd = da.GravityPD(arm, target=GOAL, kp=KP, kd=KD)

    def compensated(t, q, qd):
        """What friction will take on the way to the goal is added beforehand."""
        return pd(t, q, qd) + LEVEL * np.tanh((GOAL - q) / NEAR)

    print(f"friction can hold a spring of {KP:g} N m/rad at", LEVEL / KP, "rad from the goal")
    for name, controller in (("PD", pd), ("PD with friction compensation", compensated)):
        motion = arm.simulate([0.0, 0.0], duration=3.0, torque=controller)
        rest = motion.time[np.flatnonzero(motion.qd.any(axis=-1))[-1] + 1]
        print(f"{name}: at rest from {rest:.2f} s on, {abs(motion.q[-1] - GOAL)} rad from the goal")


if __name__ == "__main__":
    main()
