"""A receding horizon on the Panda: 500 times a second the best motion from where the arm is, of which the first 2 ms are used.

The arm reaches for a goal, is pushed on the way, and gets another goal in the middle of the motion; the motors never exceed
their limits. Each plan begins with the last one, so that one iteration is enough.
"""

import time

import numpy as np

import dalembert as da

PERIOD, STEP, HORIZON = 0.002, 0.02, 0.5  # s: of control, of a plan's steps, and how far a plan looks ahead
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
GOALS = HOME + np.array([[0.6, 0.4, -0.3, 0.3, 0.3, 0.2, -0.4], [-0.5, 0.3, 0.2, 0.5, -0.3, 0.4, 0.3]])
PUSH = {"panda_link7": da.Wrench(force=(0.0, 40.0, 0.0))}
PUSHED = 0.4, 0.5  # s
LAST = 2.6  # s


def later(forces):
    """The forces of a plan one period later, held over the same steps."""
    share = PERIOD / STEP
    return (1 - share) * forces + share * np.concatenate([forces[1:], forces[-1:]])


if __name__ == "__main__":
    arm = da.robot("panda").without_friction()
    q, qd, forces = HOME, np.zeros(arm.n), None
    limits = [joint.effort_limit for joint in arm.joints]
    seconds, used, reached = [], [], []
    for k in range(round(LAST / PERIOD)):
        now = k * PERIOD
        goal = GOALS[0] if now < LAST / 2 else GOALS[1]
        start = time.perf_counter()
        plan = arm.optimal_control(
            q, goal, HORIZON, start_velocity=qd, step=STEP, limits=limits, guess=forces, holding=arm.gravity_force(goal),
            iterations=1 if k else 50,
        )  # fmt: skip
        tau = plan(0.0, q, qd)
        seconds.append(time.perf_counter() - start)
        forces = later(plan.feedback.tau)
        push = PUSH if PUSHED[0] <= now < PUSHED[1] else None
        moved = arm.simulate(q, qd, PERIOD, torque=tau, step=PERIOD / 2, wrenches=push)
        q, qd = moved.q[-1], moved.qd[-1]
        used.append(np.abs(tau) / limits)
        reached.append(np.abs(q - goal).max())
    off = [reached[round(t / PERIOD) - 1] for t in (LAST / 2, LAST)]
    print(
        f"off the first goal by {off[0]:.4f} rad, the second by {off[1]:.4f} rad; at most {np.max(used):.0%} of the motors' limits"
    )
    print(f"a plan takes {1e3 * np.median(seconds):.2f} ms (median); {1 / PERIOD:.0f} Hz leave {1e3 * PERIOD:.0f} ms")
    assert max(off) < 0.01 and np.max(used) <= 1.0
