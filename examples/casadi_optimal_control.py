"""Move the two-link arm from one rest to another in one second with the least torque: CasADi and IPOPT on our inverse dynamics.

Needs CasADi: pip install casadi
"""

import time

import casadi
import numpy as np

import dalembert as da

START, END, DURATION, INTERVALS = [-np.pi / 2, 0.0], [0.0, np.pi / 2], 1.0, 20


def solve(robot):
    """Minimise the integral of tau^2 with trapezoidal collocation; q, qd, qdd and tau at the nodes, and the cost."""
    inverse_dynamics = da.casadi_function(robot.program("inverse_dynamics"), "inverse_dynamics")
    step = DURATION / INTERVALS
    opti = casadi.Opti()
    q, qd, qdd = (opti.variable(robot.n, INTERVALS + 1) for _ in range(3))
    tau = inverse_dynamics(q, qd, qdd)  # one column per node: CasADi maps the Function
    for rate, value in ((qd, q), (qdd, qd)):
        opti.subject_to(value[:, 1:] == value[:, :-1] + step / 2 * (rate[:, 1:] + rate[:, :-1]))
    for k, position in ((0, START), (INTERVALS, END)):
        opti.subject_to(q[:, k] == position)
        opti.subject_to(qd[:, k] == 0)
    effort = casadi.sum1(tau**2)
    opti.minimize(step / 2 * casadi.sum2(effort[1:] + effort[:-1]))
    for k in range(INTERVALS + 1):
        opti.set_initial(q[:, k], np.array(START) + (np.array(END) - START) * k / INTERVALS)
    opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
    solution = opti.solve()
    return [np.array(solution.value(x)).T for x in (q, qd, qdd, tau)], float(solution.value(opti.f))


if __name__ == "__main__":
    arm = da.robot("two_link")
    began = time.perf_counter()
    (q, qd, qdd, tau), cost = solve(arm)
    print(f"integral of tau^2: {cost:.1f} (N m)^2 s, solved in {time.perf_counter() - began:.2f} s")
    print(f"largest torques: {np.abs(tau).max(0).round(2)} N m")
    print(f"ends at q = {q[-1].round(6) + 0.0} with qd = {qd[-1].round(6) + 0.0}")
    print(f"farthest from robot.inverse_dynamics: {np.abs(arm.inverse_dynamics(q, qd, qdd) - tau).max():.1e} N m")
