"""Files of states and of motions with mistakes in them: they are read, or an Error explains what is wrong."""

import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import dalembert as da
from dalembert import files
from fuzz.harness import explained
from fuzz.mutate import mutated

ENDINGS = (".csv", ".npy", ".npz")


@cache
def arm():
    return da.robot("two_link")


@cache
def sources() -> dict[str, bytes]:
    """Good files, by name."""
    states = {part: np.linspace(0, 1, 2 * 7).reshape(7, 2) for part in ("q", "qd", "qdd")}
    motion = arm().simulate([0.1, 0.2], duration=0.01)
    with tempfile.TemporaryDirectory() as folder:
        for ending in ENDINGS:
            files.write_states(arm(), Path(folder) / f"states{ending}", [states])
        motion.to_csv(Path(folder) / "motion.csv")
        motion.to_npz(Path(folder) / "motion.npz")
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def case(seed: int) -> None:
    """One file with mistakes, or a good one under the name of another."""
    rng = random.Random(seed)
    name = rng.choice(list(sources()))
    content = mutated(sources()[name], rng) if rng.random() < 0.95 else sources()[rng.choice(list(sources()))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            if name.startswith("motion"):
                da.Trajectory.load(path, arm())
            else:
                found = files.load_states(arm(), path)
                assert all(x.shape == (len(found["q"]), 2) for part, x in found.items() if part != "t")
        except Exception as error:
            explained(error, f"a changed {name}")
