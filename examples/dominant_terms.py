"""Which terms of the PUMA's equations may be dropped along a move? Fu, Gonzalez and Lee, section 3.4.

The generalized d'Alembert equations split every entry of the inertia matrix, and every velocity term, into the part of the links'
translation and the part of their rotation. Where one is small all along the path, the model does without it.
"""

import numpy as np

import dalembert as da

START, GOAL = np.array([0.0, -0.8, 2.5, 0.0, 0.8, 0.0]), np.array([1.5, 0.2, 1.8, 0.5, -0.4, 1.0])

if __name__ == "__main__":
    arm = da.robot("puma560")
    move = da.quintic(START, GOAL, duration=1.0).sample(1 / 30)  # 31 points, as in the book
    for threshold in (1.0, 3.0, 10.0):
        simple = arm.dominance(move.q, move.qd, move.qdd, threshold=threshold)
        count, full = simple.operation_count().total, simple.full_operation_count().total
        worst = simple.torque_error().relative_max
        print(
            f"parts below 1/{threshold:g} dropped: {count} operations of {full}, torques off by {worst[:3].max():.2%} "
            f"(arm) and {worst[3:].max():.2%} (wrist) of the largest"
        )
        assert count < full
    print()
    chosen = arm.dominance(move.q, move.qd, move.qdd, threshold=10.0)
    print(chosen)
    assert chosen.torque_error().relative_max[:3].max() < 0.05
