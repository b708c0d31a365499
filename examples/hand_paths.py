"""Draw a square with the hand of a Panda arm: inverse kinematics at the corners, straight lines between them, and the torques."""

from itertools import pairwise

import numpy as np

import dalembert as da

POSTURE = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7]
CORNERS = [(0.4, -0.15, 0.3), (0.4, 0.15, 0.3), (0.6, 0.15, 0.3), (0.6, -0.15, 0.3), (0.4, -0.15, 0.3)]


def main():
    """The square, side by side."""
    arm = da.robot("panda")
    poses = [da.Pose.of(corner, rpy=(np.pi, 0.0, 0.0)) for corner in CORNERS]  # the hand points down
    corners = arm.inverse_kinematics(poses, posture=POSTURE)
    print(f"{corners}, off by at most {corners.error.max():.0e}")
    assert corners.solved.all()

    q, largest = corners.q[0], np.zeros(arm.n)
    for start, goal in pairwise(poses):
        side = arm.follow(da.line(start, goal, duration=1.5), q0=q, posture=POSTURE)
        hand = arm.pose(side.q)[:, :3, 3]
        along = goal.translation - start.translation
        off = np.linalg.norm(np.cross(hand - start.translation, along), axis=1) / np.linalg.norm(along)
        q, largest = side.q[-1], np.maximum(largest, np.abs(side.tau).max(axis=0))
        print(f"to {goal.translation}: off the line by {off.max():.0e} m, joints at most {np.abs(side.qd).max():.2f} rad/s")
    limits = np.array([joint.effort_limit for joint in arm.joints])
    print(f"largest torques: {(100 * largest / limits).round().astype(int)} % of the limits")

    far = arm.inverse_kinematics(da.Pose.of((0.9, 0.3, 0.3), rpy=(np.pi, 0.0, 0.0)))
    print(f"and (0.9, 0.3, 0.3)? {far}")


if __name__ == "__main__":
    main()
