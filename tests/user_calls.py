"""Calls as users write them, for a type checker: `test_types.py` has pyright look at them, nobody runs them.

A line that ends in `# wrong` is a mistake, which pyright must report there; in all others it must find nothing.
"""

import numpy as np

import dalembert as da


def right() -> None:
    arm = da.robot("puma560")
    q, qd, qdd = np.zeros((3, 6))
    tau = arm.inverse_dynamics(q, qd, qdd)
    tau = arm.inverse_dynamics([0.0] * 6, qd, qdd=0 * qd, method="lagrange_euler", backend="numpy", out=tau)
    tau.sum()
    arm.with_gravity((0, 0, -1.62)).with_payload(2.0).without_friction().mass_matrix(q)
    arm.lock({"joint1": 0.0}).jacobian(q, "link6", frame="world")
    arm.inverse_dynamics_derivatives(q, qd, qdd).dq.sum()
    arm.simulate(q, duration=0.1, velocities="quasi").robot.mass_matrix(q)
    arm.simulate(q, qd, method="kalman").robot.torques_along(da.quintic(q, qd, 1.0)).tau.sum()
    arm.program("mass_matrix").digest.upper()
    arm.compile("inverse_dynamics", "lie_group", optional="wrenches")
    da.load("arm.urdf").check().about("mass")
    da.Robot.from_dh([da.DHRow(a=1.0)], convention="standard").pose(q)
    da.equations(arm, ("mass",))
    print(da.compare(arm), da.methods("inverse_dynamics"))


def wrong() -> None:
    arm = da.robot("puma560")
    q, qd, qdd = np.zeros((3, 6))
    arm.inverse_dynamics(q, qd, qdd, method="newton_eulr")  # wrong
    arm.gravity_force(q, method="articulated_body")  # wrong
    arm.mass_matrix(q, method="newton_euler")  # wrong
    arm.jacobian(q, frame="wrld")  # wrong
    arm.mass_matrix(q, backend="cuda")  # wrong
    arm.compile("mass_matrix", backend="cuda")  # wrong
    arm.jacobian("hand", q)  # wrong
    arm.inverse_dynamics(q, qd)  # wrong
    arm.inverse_dynamics(q, qd, qdd, wrench={})  # wrong
    arm.simulate(q, velocities="x")  # wrong
    arm.simulate(q, method="newton_euler")  # wrong
    arm.simulate(q).robot.fkine(q)  # wrong
    arm.program(3)  # wrong
    arm.fkine(q)  # wrong
    arm.lock("joint1")  # wrong
    arm.save(3)  # wrong
    arm.name = "other"  # wrong
    da.load(3)  # wrong
    da.robot()  # wrong
    da.lod("arm.urdf")  # wrong
