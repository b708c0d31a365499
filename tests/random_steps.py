"""Time steps of random states of the built-in arms, under random friction, forces and stops; every one of them must be solved.

    python tests/random_steps.py --steps 5000000

takes that many, and says how many needed more iterations than straight-line code has, and whether Newton's method ever failed.
"""

import argparse
from typing import NamedTuple

import numpy as np
from builtin import ARMS

import dalembert as da
from dalembert.simulation import moreau
from dalembert.simulation.plan import Acting, Plan
from dalembert.simulation.stops import Stops

ROLLOUTS = 250


class Found(NamedTuple):
    """How many steps were taken; how many went on after the first iterations, and by Gauss-Seidel; and what went wrong."""

    steps: int = 0
    longer: int = 0
    swept: int = 0
    unsolved: int = 0
    nonfinite: int = 0


def random_robot(name, rng):
    """An arm with friction of all sizes, on some of its joints; half of them by all laws that there are."""
    robot = da.robot(name)
    inertia = np.diagonal(robot.mass_matrix(robot.neutral()))
    weight = np.abs(robot.gravity_force(robot.random_configuration(0, 20))).max(axis=0) + 0.1 * inertia
    level = weight * 10 ** rng.uniform(-3, 1, robot.n) * rng.integers(0, 2, robot.n)
    laws = {"coulomb": level, "damping": inertia * 10 ** rng.uniform(-2, 3, robot.n)}
    if rng.random() < 0.5:
        static = level * rng.uniform(0.5, 3, robot.n)
        laws |= {"static_friction": static, "stribeck_speed": (level > 0) * 10 ** rng.uniform(-3, 0, robot.n)}
        laws |= {"friction_offset": level * rng.uniform(-0.5, 0.5, robot.n), "load_friction": rng.uniform(0, 0.5, robot.n)}
    return robot.with_friction(**laws)


def random_steps(name, steps, seed=0):
    """About so many steps, 100 or so for each of some robots with the structure of a built-in arm."""
    rng, found = np.random.default_rng(seed), Found()
    while found.steps < steps:
        robot = random_robot(name, rng)
        h, n, each = 10 ** rng.uniform(-4, -2), robot.n, min(200, -(-(steps - found.steps) // ROLLOUTS))
        low, high = (np.clip(x, -2, 2) for x in (robot.lower, robot.upper))
        stops = Stops(robot.lower, robot.upper, rng.uniform(0, 1)) if rng.random() < 0.5 else None
        plan = Plan(robot, h, each, 1, None, "joint", "auto", lambda *_: None)
        q = low + rng.uniform(0, 1, (ROLLOUTS, n)) * (high - low)
        v = rng.normal(size=(ROLLOUTS, n)) * rng.integers(0, 2, (ROLLOUTS, n))
        state = moreau.Steps.start(moreau.machine(plan, Acting(None, None, None), stops), q, v, None)
        torque = robot.gravity_force(q) * rng.uniform(-1, 2, (ROLLOUTS, 1))
        for _ in range(each):
            found = _one(state, torque, found)
            finite = np.isfinite(state.state["q"]).all(axis=-1) & np.isfinite(state.state["v"]).all(axis=-1)
            found = found._replace(nonfinite=found.nonfinite + int((~finite).sum()))
            lost = ~finite | (np.abs(state.state["v"]) > 1e3).any(axis=-1)
            state.state["v"][lost] = 0.0  # arms that swing wildly begin again
            state.state["q"][lost] = q[lost]
    return found


def _one(state, torque, found):
    """One step of all rollouts, counted."""
    swept = []
    settled = moreau.settled

    def counted(*given):
        result = settled(*given)
        swept.append(result.excess > 0)
        return result

    state.state["done"][...] = 0.0
    state.pushes[...] = torque
    state._pass(False)
    late = np.flatnonzero(state.state["done"] < 0)
    if len(late):
        rest = state.some(late)
        moreau.settled = counted
        try:
            rest.once(torque[late], torque[late], again=True)
        finally:
            moreau.settled = settled
        state.take(late, rest)
    return found._replace(
        steps=found.steps + len(torque),
        longer=found.longer + len(late),
        swept=found.swept + len(swept) // 2,
        unsolved=found.unsolved + sum(swept),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    names = ARMS
    total = [0] * len(Found._fields)
    for name in names:
        found = random_steps(name, -(-given.steps // len(names)), given.seed)
        print(name, found, flush=True)
        total = [a + b for a, b in zip(total, found, strict=True)]
    print("all", Found(*total))
    raise SystemExit(bool(total[3] or total[4]))
