"""Stand-ins until the real ones land; to be deleted."""

import numpy as np


class quintic:  # noqa: N801
    def __init__(self, a, b, duration):
        self.a, self.b, self.duration = a, b, duration

    def __call__(self, t):
        T = self.duration
        s = np.clip(np.asarray(t) / T, 0, 1)[..., None]
        d = self.b - self.a
        return (
            self.a + d * (10 * s**3 - 15 * s**4 + 6 * s**5),
            d * (30 * s**2 - 60 * s**3 + 30 * s**4) / T,
            d * (60 * s - 180 * s**2 + 120 * s**3) / T**2,
        )


class Fall:
    def __init__(self, robot, q, step, duration, every):
        qd, zero = np.zeros(robot.n), np.zeros(robot.n)
        f = lambda q, qd: robot.forward_dynamics(q, qd, zero)
        rows = [(q, qd)]
        lost = [0.0]
        power = lambda v: float(v @ robot.friction_force(v))
        for _ in range(round(duration / step)):
            h = step
            k1 = f(q, qd)
            k2 = f(q + h / 2 * qd, qd + h / 2 * k1)
            k3 = f(q + h / 2 * (qd + h / 2 * k1), qd + h / 2 * k2)
            k4 = f(q + h * (qd + h / 2 * k2), qd + h * k3)
            new = qd + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            lost.append(lost[-1] + h / 2 * (power(qd) + power(new)))
            q, qd = q + h * qd + h * h / 6 * (k1 + k2 + k3), new
            rows.append((q, qd))
        Q, V = (np.array(x)[::every] for x in zip(*rows, strict=True))
        self.time = np.arange(len(Q)) * step * every
        self.kinetic_energy, self.potential_energy = robot.kinetic_energy(Q, V), robot.potential_energy(Q)
        self.energy = self.kinetic_energy + self.potential_energy
        self.work, self.dissipated = 0 * self.energy, np.array(lost)[::every]


def simulate(robot, q, duration, step, every, progress):
    return Fall(robot, q, step, duration, every)
