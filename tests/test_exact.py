"""Formulations as identities: on symbolic trees, modulo 2^521 - 1, where nothing rounds."""

import random
from itertools import product

import numpy as np
import pytest

from dalembert.formulations import formulation, methods
from dalembert.model.tree import Tree
from dalembert.spatial import Transform
from dalembert.trace import Angle, Residue, replay, trace
from dalembert.trace.exact import PRIME

SHAPES = {
    "before_R": ("n", 3, 3), "before_p": ("n", 3), "after_R": ("n", 3, 3), "after_p": ("n", 3), "pitch": ("n",), "mass": ("n",),
    "com": ("n", 3), "inertia": ("n", 3, 3), "gravity": (3,), "q": ("n",), "qd": ("n",), "qdd": ("n",), "wrenches": ("n", 6),
    "base_twist": (6,), "base_acceleration": (6,),
}  # fmt: skip


def on_tree(function, joints, parents):
    """A formulation as a function of everything a tree of this structure is made of."""

    def body(before_R, before_p, after_R, after_p, pitch, mass, com, inertia, gravity, *state):
        screw = [{"R": (1, 0), "P": (0, 1), "H": (1, pitch[i])}[letter] for i, letter in enumerate(joints)]
        tree = Tree(parents, Transform(before_R, before_p), Transform(after_R, after_p), screw, mass, com, inertia, gravity)
        return function(tree, *state)

    return body


def random_rotation(rng):
    """Cayley: (1 - [a])^-1 (1 + [a]) is orthogonal over any field."""
    x, y, z = (Residue(rng.randrange(PRIME)) for _ in range(3))
    s = 1 / (1 + x * x + y * y + z * z)
    return [
        [(1 + x * x - y * y - z * z) * s, 2 * (x * y - z) * s, 2 * (x * z + y) * s],
        [2 * (x * y + z) * s, (1 - x * x + y * y - z * z) * s, 2 * (y * z - x) * s],
        [2 * (x * z - y) * s, 2 * (y * z + x) * s, (1 - x * x - y * y + z * z) * s],
    ]


def random_point(joints, seed):
    """Values for every input: rotations orthonormal, inertias symmetric, angles on the circle, the rest free."""
    rng, n = random.Random(seed), len(joints)

    def free(*shape):
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            array[index] = Residue(rng.randrange(PRIME))
        return array

    values = {name: free(*(n if d == "n" else d for d in shape)) for name, shape in SHAPES.items()}
    for i in range(n):
        values["before_R"][i], values["after_R"][i] = np.array(random_rotation(rng)), np.array(random_rotation(rng))
        upper = values["inertia"][i]
        for r, c in ((1, 0), (2, 0), (2, 1)):
            upper[r, c] = upper[c, r]
        if joints[i] != "P":
            values["q"][i] = Angle.from_parameter(Residue(rng.randrange(PRIME)), values["q"][i])
    return values


def structures():
    for n in (1, 2, 3):
        for letters, parents in product(product("RPH", repeat=n), product(*(range(-1, i) for i in range(n)))):
            yield "".join(letters), parents
    rng = random.Random(1)
    for n in (4, 5, 6):
        for _ in range(4):
            yield "".join(rng.choices("RPH", k=n)), tuple(rng.randrange(-1, i) if i else -1 for i in range(n))


CASES = list(structures())


def test_structures_are_complete():
    assert len(CASES) == len(set(CASES)) == 3 + 9 * 2 + 27 * 6 + 12


def moving_base(method):
    return method in methods("inverse_dynamics", taking="base_twist")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_formulations_identical_modulo_a_prime(part):
    """Every method against newton_euler on every tree to 3 joints and a sample to 6, wrenches included, nothing rounded."""
    for joints, parents in CASES[part::4]:
        point = random_point(joints, joints)
        still = dict(list(point.items())[:-2])
        expected = {}
        for method in methods("inverse_dynamics"):
            function = on_tree(formulation("inverse_dynamics", method), joints, parents)
            for moving, values in ((False, still), (True, point)):
                if not moving or moving_base(method):
                    result = list(function(*values.values()))
                    assert result == expected.setdefault(moving, result), f"{method} on {joints} {parents}"


@pytest.mark.slow
def test_recording_changes_nothing(method):
    for joints, parents in CASES[::40]:
        shapes = {k: tuple(len(joints) if d == "n" else d for d in s) for k, s in SHAPES.items()}
        point = random_point(joints, joints)
        if not moving_base(method):
            shapes, point = dict(list(shapes.items())[:-2]), dict(list(point.items())[:-2])
        function = on_tree(formulation("inverse_dynamics", method), joints, parents)
        assert list(replay(trace(function, shapes), point)) == list(function(*point.values()))


def test_a_wrong_sign_is_caught():
    def wrong(tree, q, qd, qdd, wrenches, base_twist, base_acceleration):
        flipped = tree._replace(gravity=-tree.gravity)
        return formulation("inverse_dynamics", "newton_euler")(flipped, q, qd, qdd, wrenches, base_twist, base_acceleration)

    parents = (-1, 0)
    point = random_point("RP", 3)
    right = on_tree(formulation("inverse_dynamics", "lie_group"), "RP", parents)(*point.values())
    assert list(on_tree(wrong, "RP", parents)(*point.values())) != list(right)
