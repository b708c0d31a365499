"""Random robots for tests and studies."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from dalembert.algebra.precise import product
from dalembert.arguments import whole
from dalembert.model.inertia import Inertia
from dalembert.model.links import LETTERS, Joint, Link, joint_letters
from dalembert.model.model import Model
from dalembert.model.pose import Pose, unit
from dalembert.model.values import parent_indices

M = TypeVar("M", bound=Model)
REACH = 0.4  # m


def random_pose(rng: "np.random.Generator") -> Pose:
    """A pose with a uniformly random rotation."""
    quaternion = rng.normal(size=4)
    w, x, y, z = unit(quaternion)
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return Pose(np.array(R), rng.uniform(-REACH, REACH, 3))


def random_inertia(rng: "np.random.Generator") -> Inertia:
    """The inertia of a random cloud of eight points, so it is always possible."""
    points, masses = rng.uniform(-0.3, 0.3, (8, 3)), rng.uniform(0.1, 0.6, 8)
    com = product(points.T, masses) / masses.sum()
    r = points - com
    second = product(masses * r.T, r)
    return Inertia.from_com(float(masses.sum()), com, np.trace(second) * np.eye(3) - second)


def random_robot(cls: type[M], seed: int, joints: str = "RPRRP", parents: Sequence[int] | None = None) -> M:
    """A random robot with full inertias, general geometry and tilted gravity; the same for the same arguments.

    `joints`: one letter a joint, R revolute, P prismatic, H helical. `parents`: index of each link's parent, -1 for the
    base; left out, the links form a chain.
    """
    seed, joints = whole(seed, "the seed of random_robot", 0, 10**18), joint_letters(joints)
    rng = np.random.default_rng(seed)
    above = parent_indices(parents, len(joints))
    links: list[Link] = []
    for i, (letter, p) in enumerate(zip(joints, above, strict=True)):
        pitch = float(rng.uniform(0.05, 0.3)) if letter == "H" else 0.0
        joint = Joint(f"joint{i + 1}", LETTERS[letter], pitch=pitch)
        parent = "base" if p < 0 else f"link{p + 1}"
        links.append(Link(f"link{i + 1}", parent, joint, random_pose(rng), random_pose(rng), random_inertia(rng)))
    gravity = np.array([0.0, 0.0, -9.81]) + rng.uniform(-2.0, 2.0, 3)
    shown = joints if len(joints) <= 100 else f"{len(joints)}_joints"
    return cls(f"random_{shown}_{seed}", tuple(links), gravity=gravity, base=random_pose(rng))
