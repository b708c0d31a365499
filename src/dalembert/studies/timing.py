"""How long a call takes, and states to measure with."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.closing import closed_positions
from dalembert.model.model import Model
from dalembert.native.kernel import Kernel

SPENT = 0.03  # seconds of repeating a measurement
SHORTEST = 2e-5  # seconds: what is shorter is called several times between two looks at the clock


def seconds(function: Callable[..., Any], given: Sequence[Any] = (), spent: float = SPENT) -> float:
    """The time of one call, the best of a few runs, after one to warm up."""
    function(*given)
    loops, best, runs = 1, float("inf"), 0
    end = time.perf_counter() + spent
    while runs < 3 or (time.perf_counter() < end and runs < 1000):
        start = time.perf_counter()
        for _ in range(loops):
            function(*given)
        taken = time.perf_counter() - start
        if taken < SHORTEST:
            loops *= 2
            continue
        best, runs = min(best, taken / loops), runs + 1
    return best


def nanoseconds(kernel: Any, given: Sequence[Array]) -> float:
    """The time of one state in a batch, by one thread."""
    return seconds(kernel.here if isinstance(kernel, Kernel) else kernel, given) / len(given[0]) * 1e9


def random_inputs(robot: Model, names: Iterable[str], rng: np.random.Generator, count: int) -> list[Array]:
    """Arrays (count, n) to measure with: q within the limits, all else between -1 and 1; loops are closed."""
    if robot.loops:
        some = closed_positions(robot)
        q, rates = some[np.arange(count) % len(some)], rng.uniform(-1, 1, (3, count, robot.n))
        motion = robot.closed_motion(q, *rates[:2])  # pyright: ignore[reportAttributeAccessIssue]
        return [{"q": q, "qd": motion.qd, "qdd": motion.qdd}.get(name, rates[2]) for name in names]

    def one(name: str) -> Array:
        return robot.random_configuration(rng, count) if name == "q" else rng.uniform(-1, 1, (count, robot.n))

    return [one(name) for name in names]
