"""Robots of all scales: what every method computes, beside forty digits.

Links from a micrometre to a kilometre, several decades in one robot, bases far away; trees of all kinds of single joints, with
wrenches and a moving base. `python tests/fuzz/scales.py 500` prints what each method holds.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import mpmath
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracle import answer, exact_answer, numbers

import dalembert as da
from dalembert.engine.registry import quantity_named
from fuzz.harness import Failure

BY_METHODS = "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix"
BY_ONE = "mass_matrix_rate", "momentum"
# relative to the terms of a result: the second for methods that take moments about a distant point, or differences of large terms
HELD, LOSING = 1e-9, 1e-6
LOSE = (
    *("newton_euler_base", "lie_group", "lie_group_com", "stacked_operators"),
    *("generalized_dalembert", "angular_velocity_lagrange", "kalman", "joint_acceleration"),
)
MOST_JOINTS = 6
HEAVY = "lagrange_euler", "uicker_kahn", "lie_closed_form"  # their programs of six joints take seconds to write
MOST_HEAVY = 4


class Case(NamedTuple):
    """A robot at a state, with what acts on it."""

    robot: da.Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    outside: dict  # wrenches, base_twist, base_acceleration
    truth: "Truth"


class Truth(NamedTuple):
    """What is right for each quantity, and the size of what it is the sum of, which errors are relative to."""

    results: dict
    sizes: dict


def case(seed: int) -> None:
    """Every method on one robot."""
    problem = drawn(seed)
    check(problem, errors(problem))


def check(problem: Case, errors: dict) -> None:
    """A failure where a method loses more than it may."""
    for (quantity, method), error in errors.items():
        if not error <= (LOSING if method in LOSE else HELD):
            raise Failure(f"{quantity} by {method} of {problem.robot.name}: {error:.1e} of its terms is wrong")


def drawn(seed: int) -> Case:
    """The robot and state of a seed."""
    rng = np.random.default_rng(seed)
    robot, lengths = random_robot(seed, rng)
    n = robot.n
    unit = np.where(robot.tree.screw[:, 0], 1.0, lengths)
    q = rng.uniform(-1, 1, n) * np.where(robot.tree.screw[:, 0], np.pi, lengths)
    qd, qdd = rng.normal(size=(2, n)) * unit
    reach = float(lengths.max())
    outside = {}
    if rng.random() < 0.6:
        weight = 10 * robot.tree.mass[:, None]
        outside["wrenches"] = rng.normal(size=(n, 6)) * weight * np.repeat([lengths, np.ones(n)], 3, axis=0).T
    if rng.random() < 0.6:
        outside["base_twist"] = rng.normal(size=6) * np.repeat([1.0, reach], 3)
        outside["base_acceleration"] = rng.normal(size=6) * np.repeat([1.0, reach], 3)
    tau = answer(robot.tree, q, qd, qdd, **outside).tau
    return Case(robot, q, qd, qdd, tau, outside, truth(robot, unit, q, qd, qdd, tau, outside))


def random_robot(seed, rng):
    """A robot of general geometry, and the length of each of its links."""
    n = int(rng.integers(1, MOST_JOINTS + 1))
    kinds = "".join(rng.choice(list("RRRPH"), n))
    parents = [-1, *(int(rng.integers(max(-1, i - 2), i)) if rng.random() < 0.3 else i - 1 for i in range(1, n))]
    shape = da.random_robot(seed, kinds, parents)
    spread = rng.choice([0.0, 1.0, 3.0])  # decades to either side
    middle = rng.uniform(-6 + spread, 3 - spread)
    lengths = 10 ** (middle + rng.uniform(-spread, spread, n))
    far = 10 ** rng.uniform(0, 4) if rng.random() < 0.3 else 0.0
    links = []
    for link, L, p in zip(shape.links, lengths, parents, strict=True):
        parent = L if p < 0 else lengths[p]
        before = da.Pose(link.before.rotation, link.before.translation * parent)
        if p < 0 and far:
            before = da.Pose(before.rotation, before.translation + far * L * rng.normal(size=3))
        I = link.inertia
        inertia = da.Inertia.from_com(1e3 * L**3 * I.mass, L * np.asarray(I.com), 1e3 * L**5 * np.asarray(I.tensor))
        joint = da.Joint(link.joint.name, link.joint.kind, pitch=link.joint.pitch * L)
        after = da.Pose(link.after.rotation, link.after.translation * L)
        links.append(da.Link(link.name, link.parent, joint, before, after, inertia))
    return da.Robot(f"robot_{seed}", tuple(links), gravity=shape.gravity), lengths


def truth(robot, unit, q, qd, qdd, tau, outside) -> Truth:
    """In forty digits, then as floats."""
    with mpmath.workdps(40):
        at_rest = exact_answer(robot.tree, q, qd, 0 * qd, **outside)
        exact = exact_answer(robot.tree, q, qd, qdd, **outside)
        size = np.array([mpmath.sqrt(x) for x in np.diag(exact.M)])
        slopes = [slope(robot, unit, q, k) for k in range(robot.n)]
        speeds = numbers(qd)
        C = sum(
            np.array([[(slopes[k][i, j] + slopes[j][i, k] - slopes[i][j, k]) / 2 for j in range(robot.n)] for i in range(robot.n)])
            * speeds[k]
            for k in range(robot.n)
        )
        inverse = np.array(mpmath.inverse(mpmath.matrix(exact.M.tolist())).tolist())
        accelerations = inverse @ (numbers(tau) - at_rest.tau)
        forces = at_rest.tau_terms + abs(numbers(tau)) + abs(exact.M) @ abs(accelerations)
        products = np.outer(size, size)
    results = {
        "inverse_dynamics": (exact.tau, exact.tau_terms),
        "forward_dynamics": (accelerations, abs(inverse) @ forces),  # what rounding the terms of forces changes
        "mass_matrix": (exact.M, products),
        "coriolis_matrix": (C, products * max(abs(qd) / unit)),
        "mass_matrix_rate": (C + C.T, products * max(abs(qd) / unit)),
        "momentum": (exact.momentum, exact.momentum_terms),
    }
    return Truth(*({name: pair[k].astype(float) for name, pair in results.items()} for k in (0, 1)))


def slope(robot, unit, q, k):
    """dM/dq_k by central differences, which forty digits leave twenty of."""
    step = mpmath.mpf(10) ** -12 * mpmath.mpf(unit[k])
    ahead, behind = numbers(q), numbers(q)
    ahead[k] += step
    behind[k] -= step
    zero = np.zeros(robot.n)
    return (exact_answer(robot.tree, ahead, zero, zero).M - exact_answer(robot.tree, behind, zero, zero).M) / (2 * step)


def errors(problem: Case) -> dict:
    """Of each method of each quantity, relative to the terms of its result."""
    inputs = {"q": problem.q, "qd": problem.qd, "qdd": problem.qdd, "tau": problem.tau}
    table = {}
    for name in (*BY_METHODS, *BY_ONE):
        quantity = quantity_named(name)
        outside = problem.outside if quantity.optional else {}
        right, size = problem.truth.results[name], problem.truth.sizes[name]
        for method in quantity.methods if name in BY_METHODS else (None,):
            if method in HEAVY and problem.robot.n > MOST_HEAVY:
                continue
            if any(method not in quantity.taking(x) for x in outside):
                continue
            options = outside if method is None else outside | {"method": method}
            try:
                result = getattr(problem.robot, name)(*(inputs[x] for x in quantity.inputs), **options, backend="numpy")
            except da.Error:  # of robots that can move
                table[name, method or quantity.method] = np.inf
                continue
            error = np.abs(result - right)
            table[name, method or quantity.method] = float(np.max(error / np.where(size, size, 1)))
    return table


def report(count: int) -> None:
    """What each method holds on so many robots."""
    worst = defaultdict(list)
    for seed in range(count):
        for key, error in errors(drawn(seed)).items():
            worst[key].append((error, seed))
    for (quantity, method), found in sorted(worst.items()):
        found.sort(reverse=True)
        above = [sum(not error <= limit for error, _ in found) for limit in (1e-12, 1e-10, 1e-8)]
        print(f"{quantity:18} {method:26} {len(found):4} robots, above 1e-12, 1e-10, 1e-8:", *above, end="; worst ")
        print(*(f"{error:.1e} ({seed})" for error, seed in found[:3]))


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
