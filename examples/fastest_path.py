"""The fastest motion of a Panda along a path: phase plane, what limits it, and a controller that follows it.

python examples/fastest_path.py [FILE.png]
"""

import sys

import numpy as np

import dalembert as da

arm = da.robot("panda").with_payload(mass=1.0, com=(0, 0, 0.1))
path = np.array([
    [0.0, -0.5, 0.0, -2.2, 0.0, 1.7, 0.8],
    [0.9, 0.3, -0.2, -1.5, 0.4, 1.9, 0.2],
    [1.5, 0.6, 0.4, -1.8, -0.3, 2.4, -0.5],
])  # fmt: skip

fast = arm.fastest(path)  # within the limits of the model
print(fast)
for switch in fast.switches:
    print(f"  from {switch.time:.3f} s: {switch.after}")

careful = arm.fastest(path, torque=0.6 * np.array([joint.effort_limit for joint in arm.joints]), acceleration=6.0)
print(f"with 60 % of the torques and at most 6 rad/s^2 it takes {careful.duration:.3f} s instead of {fast.duration:.3f} s")

control = da.ComputedTorque(arm, careful, kp=900.0, kd=60.0)  # it starts a little beside the path
moved = arm.simulate(path[0] + 0.02, duration=np.ceil(1000 * careful.duration + 300) / 1000, torque=control, step=1e-3)
missed = np.abs(moved.q[-1] - path[-1]).max()
print(f"the controller ends {missed:.1e} rad from the goal")
assert missed < 1e-3

if len(sys.argv) > 1:
    fast.phase_plane().savefig(sys.argv[1])
