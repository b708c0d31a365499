"""Where a method of one quantity begins to take fewer operations than another: the depths in `Quantity.deep` of the registry.

    python tools/crossovers.py

Counts the operations of both methods for chains and trees of several sizes, with general geometry (random axes) and plain geometry
(right angles, as in most robots that are built), and prints for every quantity the mean depth of the joints that, as a bound,
makes the most expensive wrong choice cheapest. `tests/test_defaults.py` checks the depths of the registry on some of these robots.

For the mass matrix, the Coriolis matrix and first derivatives the registry has a little more than that: vectors in the common
frame live to the end. In batches composite_body_world was measured to be no faster until it takes about a fifth fewer operations;
that traffic is the likely reason, not a tested one.
"""

from collections.abc import Iterator, Sequence

import numpy as np

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.model.values import depths, parent_indices

HUMANOID = (-1, 0, *(-1, 2, 3, 4, 5, 6), *(-1, 8, 9, 10, 11, 12), *(1, 14, 15, 16, 17, 18, 19), *(1, 21, 22, 23, 24, 25, 26), 1, 28)
HAND = tuple(-1 if k == 0 else 5 * finger + k - 1 for finger in range(5) for k in range(5))
CHAINS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 30)
CUBIC = ("mass_matrix_gradient", "inverse_dynamics_second_derivatives")


def arms(trunk: int, arm: int, count: int) -> tuple[int, ...]:
    """The parents of a trunk with some arms at its end."""
    parents = list(range(-1, trunk - 1))
    for _ in range(count):
        parents += [trunk - 1, *range(len(parents), len(parents) + arm - 1)]
    return tuple(parents)


TREES = (HUMANOID, HAND, arms(1, 3, 4), arms(3, 6, 2), arms(1, 7, 2), arms(10, 5, 3), arms(2, 15, 2))


def plain(parents: Sequence[int]) -> da.Robot:
    """A robot whose neighbouring axes meet, cross or are parallel at right angles, with full inertias."""
    rng, links = np.random.default_rng(0), list[da.Link]()
    for i, parent in enumerate(parents):
        at = da.Pose(np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) if i % 3 else np.eye(3), [0.3 * (i % 2), 0.1 * (i % 3), 0.0])
        r = rng.uniform(-0.2, 0.2, (8, 3))
        inertia = da.Inertia.from_com(2.0, [0.01, 0.02, 0.1], 0.1 * (np.sum(r * r) * np.eye(3) - r.T @ r))
        carrier = "base" if parent < 0 else f"link{parent}"
        links.append(da.Link(f"link{i}", carrier, da.Joint(f"joint{i}", "revolute"), at, inertia=inertia))
    return da.Robot(f"plain_{len(parents)}", tuple(links))


def robots(largest: int) -> Iterator[da.Robot]:
    """Chains and trees of both kinds."""
    for parents in (*(parent_indices(None, n) for n in CHAINS), *TREES):
        if len(parents) <= largest:
            yield plain(parents)
            yield da.random_robot(1, "R" * len(parents), parents)


def counts(quantity: str, robot: da.Robot) -> tuple[int, int]:
    """The operations of the default for small robots and of that for deep ones."""
    described = QUANTITIES[quantity]
    assert described.deep
    small, deep = (robot.operation_count(quantity, method).total for method in (described.method, described.deep[0]))
    return small, deep


def main() -> None:
    """Print the counts and the best bounds."""
    for name, quantity in QUANTITIES.items():
        if not quantity.deep:
            continue
        print(f"{name}: {quantity.method} or {quantity.deep[0]}, now {quantity.deep[1]}")
        rows = []
        for robot in robots(12 if name in CUBIC else 30):
            small, deep = counts(name, robot)
            depth = sum(depths(robot.parents)) / robot.n
            rows.append((depth, small, deep))
            print(f"    {robot.name[:16]:16} {robot.n:3} joints, mean depth {depth:5.2f}: {small:7} {deep:7} {deep / small:5.2f}")
        bounds = sorted({depth for depth, *_ in rows})
        worst = {t: max((deep if depth > t else small) / min(small, deep) for depth, small, deep in rows) for t in bounds}
        best = min(worst, key=worst.__getitem__)
        print(f"    best bound {best:.2f}: the wrong choice takes at most {worst[best]:.2f} times the operations")


if __name__ == "__main__":
    main()
