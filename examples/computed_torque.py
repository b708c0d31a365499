"""Computed torque on the PUMA: a quick move with 2 kg in the hand, which the controller knows of, does not, or learns.

What it does not know pulls it off the path; Slotine and Li's adaptive law finds out while it moves.
"""

import numpy as np

import dalembert as da

RADIAN = np.pi / 180
ROTORS = [1.14, 4.71, 0.83, 0.20, 0.18, 0.19]  # kg m^2 at the joints: of the right size for this arm's motors
START = np.array([0, -45, 180, 0, 45, 0]) * RADIAN
GOAL = np.array([90, 10, 120, 30, -20, 60]) * RADIAN
LAST = "link6"

if __name__ == "__main__":
    empty = da.robot("puma560").with_armature(ROTORS)
    loaded = empty.with_payload(mass=2.0, com=(0.0, 0.0, 0.1))
    move = da.quintic(START, GOAL, duration=1.5)
    learned = [name for name in empty.parameter_names() if name.endswith(f"[{LAST}]")]
    controllers = {
        "knows the load": da.ComputedTorque(loaded, move, kp=100.0, kd=20.0),
        "does not know it": da.ComputedTorque(empty, move, kp=100.0, kd=20.0),
        "learns it": da.SlotineLi(empty, move, slope=10.0, gain=10 * np.array(ROTORS), rate=3.0, adapt=learned),
    }
    error = {}
    for name, controller in controllers.items():
        done = loaded.simulate(START, duration=3.0, torque=controller, step=2e-3)
        off = np.abs(done.q - move(done.time).q).max(axis=1) / RADIAN
        error[name] = off.max(), off[-1]
        print(f"a controller that {name:16} is off by at most {off.max():8.5f} degrees, {off[-1]:8.5f} after 3 s")
    mass = done.memory[-1][learned.index(f"m[{LAST}]")] - empty.parameters()[empty.parameter_names().index(f"m[{LAST}]")]
    print(f"the last one has found a load of {mass:.2f} kg")
    assert error["knows the load"][0] < 1e-4 < 0.1 < error["does not know it"][1]
    assert error["learns it"][1] < error["does not know it"][1] / 100 and abs(mass - 2.0) < 0.05
