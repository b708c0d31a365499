"""Time and memory of excitation and identification: 20,000 samples of a six-joint arm, and ten million from disk."""

import re
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from reporting import heading, report

import dalembert as da

SAMPLES, MANY, RATE = 20_000, 10_000_000, 1000.0


def motion(arm, count):
    """A recording with noise, lag-free: 20 s of a Fourier motion, repeated."""
    t = np.arange(count) / RATE
    w = 2 * np.pi / 20.0 * np.arange(1, 9)
    a, b = np.random.default_rng(0).uniform(-0.35, 0.35, (2, 8, arm.n))
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b
    noise = np.random.default_rng(1).standard_normal(q.shape)
    return q, arm.inverse_dynamics(q, qd, qdd) + 0.3 * noise


def figures():
    heading("from recordings to a robot")
    arm = da.robot("ur5").with_friction(damping=2.0, coulomb=3.0).with_armature(0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        start = time.perf_counter()
        path = da.excitation(arm, {"velocity": 2.0, "acceleration": 5.0}, progress=False)
        report("UR5: excitation, everything", time.perf_counter() - start, "s", at_most=5.0)
        report("UR5: condition of a random motion", path.start, "")
        report("UR5: condition of the exciting motion", path.condition, "")
        q, tau = motion(arm, SAMPLES)
        recording = da.Recording(arm, np.arange(SAMPLES) / RATE, q, tau)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            da.identify(arm, recording, progress=False)
            times.append(time.perf_counter() - start)
        report("UR5: identification from 20,000 samples, first", times[0], "s")
        report("UR5: identification from 20,000 samples", min(times), "s", at_most=2.0)
        ten_million(arm, q, tau)


def ten_million(arm, q, tau):
    """Ten million samples in files that are mapped into memory."""
    with tempfile.TemporaryDirectory() as folder:
        held = [
            np.lib.format.open_memmap(Path(folder) / f"{name}.npy", "w+", shape=(MANY, *shape))
            for name, shape in (("t", ()), ("q", (arm.n,)), ("tau", (arm.n,)))
        ]
        for k in range(0, MANY, SAMPLES):
            for array, part in zip(held, (np.arange(k, k + SAMPLES) / RATE, q, tau), strict=True):
                array[k : k + SAMPLES] = part
        with Memory() as memory:
            start = time.perf_counter()
            da.identify(arm, da.Recording(arm, *held), progress=False)
            report("UR5: identification from 10 million samples", time.perf_counter() - start, "s", at_most=300.0)
        report("UR5: identification from 10 million samples: memory (the arrays: 1,040 MB)", memory.most, "MB", at_most=600.0)


class Memory:
    """How much the memory of this process that is not of mapped files grows at most, in MB: looked at five times a second."""

    def __enter__(self):
        self.start, self.most, self.done = self._now(), 0.0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def _look(self):
        while not self.done.wait(0.2):
            self.most = max(self.most, self._now() - self.start)

    @staticmethod
    def _now():
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) / 1024
