"""Arms whose parameters are known, and recordings of them with the defects that real ones have."""

from functools import cache

import numpy as np
from scipy.signal import butter, sosfiltfilt

import dalembert as da

SIGMA = np.array([2.0, 1.0, 0.2])  # N m, noise of the torques of the three-joint arm


@cache
def three_joints():
    """A small arm with friction and rotors: three joints, 24 base parameters."""
    rng = np.random.default_rng(3)
    masses, a, d = (5.0, 4.0, 2.0), (0.0, 0.4, 0.3), (0.3, 0.0, 0.1)
    bodies = [da.Inertia.from_com(m, rng.uniform(-0.1, 0.1, 3), m * rng.uniform(0.01, 0.03, 3)) for m in masses]
    rows = [da.DHRow(a=a[i], d=d[i], alpha=np.pi / 2 if i == 0 else 0.0, inertia=bodies[i]) for i in range(3)]
    arm = da.Robot.from_dh(rows, convention="standard").snapped()
    friction = {"damping": [3.0, 2.0, 0.8], "coulomb": [2.0, 1.5, 0.6], "friction_offset": [0.2, -0.1, 0.05]}
    return arm.with_friction(**friction).with_armature([0.3, 0.2, 0.1])


def other(arm, seed=0, spread=0.3):
    """A prior: the same arm with other masses, and without friction and rotors."""
    factors = np.random.default_rng(seed).uniform(1 - spread, 1 + spread, len(arm.links))
    phi = arm.parameters().reshape(-1, 10) * factors[:, None]
    return arm.with_parameters(phi.ravel(), check=False).without_friction().without_armature()


def fourier(t, n, period=10.0, seed=0, harmonics=5, size=0.6):
    """A periodic motion q, qd, qdd (T, n) at times t."""
    rng = np.random.default_rng(seed)
    w = 2 * np.pi / period * np.arange(1, harmonics + 1)
    a, b = rng.uniform(-size, size, (2, harmonics, n))
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b


def recorded(
    arm, seed=None, *, duration=10.0, rate=100.0, motion=0, size=0.6, sigma=0.0, color=None, encoder=0.0, lag=0.0, step=0.0, jitter=0.0,
    ripple=0.0,
):  # fmt: skip
    """A recording: noise of torques (white, or below `color` Hz), of encoders, their `step`, a lag, ripple, a clock that jitters."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, duration, 1 / rate)
    t = t + rng.uniform(-jitter, jitter, len(t)) / rate
    q = fourier(t, arm.n, motion + 10.0, motion, size=size)[0]
    past = fourier(t - lag, arm.n, motion + 10.0, motion, size=size)
    tau = arm.inverse_dynamics(*past)
    noise = rng.standard_normal(tau.shape)
    if color:
        noise = sosfiltfilt(butter(2, color, fs=rate, output="sos"), noise, axis=0)
        noise = noise / noise.std(axis=0)
    tau = tau + sigma * noise + ripple * tau.std(axis=0) * np.sin(80 * past[0])
    q = q + encoder * rng.standard_normal(q.shape)
    return da.Recording(arm, t, np.round(q / step) * step if step else q, tau)


def truth(found, arm):
    """The base parameters that were to be found."""
    return found.base.matrix @ found.columns.values(arm)
