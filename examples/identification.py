"""From a recording to a robot: excite an arm, identify it, and follow a path before and after."""

import numpy as np

import dalembert as da


def main() -> None:
    """The arm is simulated: heavier than its model says, with friction, noise and a lag of the torques."""
    model = da.robot("planar_3r")
    real = model.with_parameters(1.3 * model.parameters()).with_friction(damping=0.5, coulomb=0.1)
    path = da.excitation(model, {"velocity": 3.0, "acceleration": 12.0}, period=5.0, harmonics=4, starts=1, progress=False)
    print(path)
    move = real.torques_along(path, 0.005)
    rng = np.random.default_rng(0)
    tau = np.concatenate([move.tau[:1], move.tau[:-1]]) + 0.05 * rng.standard_normal(move.tau.shape)
    found = da.identify(model, da.Recording(model, move.time, np.round(move.q / 1e-4) * 1e-4, tau), progress=False)
    print(found)

    test = da.quintic([0.0, 0.0, 0.0], [1.0, -1.0, 0.5], duration=1.0)
    for name, robot in (("its model", model), ("the identified robot", found.robot)):
        control = da.ComputedTorque(robot, test, kp=400.0, kd=40.0)
        motion = real.simulate(test(0.0).q, duration=1.0, torque=control)
        print(f"error with {name}: {1e3 * np.abs(test(motion.time).q - motion.q).max():.1f} mrad")


if __name__ == "__main__":
    main()
