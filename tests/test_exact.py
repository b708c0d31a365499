"""Formulations as identities: on symbolic trees, modulo 2^521 - 1, where nothing rounds."""

import random
from itertools import product

import pytest

import dalembert as da
from dalembert.formulations import formulation, methods
from dalembert.proof import INGREDIENTS, MOVING_BASE, compare, on_tree, prove_equal, random_point
from dalembert.trace import replay, trace


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
        still = {k: v for k, v in point.items() if k not in MOVING_BASE}
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
        names = [k for k in INGREDIENTS if moving_base(method) or k not in MOVING_BASE]
        shapes = {k: tuple(len(joints) if d == "n" else d for d in INGREDIENTS[k]) for k in names}
        point = {k: v for k, v in random_point(joints, joints).items() if k in names}
        function = on_tree(formulation("inverse_dynamics", method), joints, parents)
        assert list(replay(trace(function, shapes), point)) == list(function(*point.values()))


def test_certificates(method):
    proof = prove_equal("RPH", method, parents=(-1, 0, 0))
    assert proof
    assert proof.points == 1
    assert 0 < proof.degree < 10_000
    assert proof.log2_probability < -500
    assert prove_equal("RPH", method, parents=(-1, 0, 0)) == proof
    assert f"{method} and newton_euler are equal on RPH with parents (-1, 0, 0)" in str(proof)


def wrong_gravity(tree, *state):
    return formulation("inverse_dynamics", "newton_euler")(tree._replace(gravity=-tree.gravity), *state)


def wrong_coriolis(tree, q, qd, *state):
    return formulation("inverse_dynamics", "newton_euler")(tree, q, -qd, *state)


def wrong_inertia(tree, *state):
    flipped = tree.inertia.copy()
    flipped[0, 0, 1], flipped[0, 1, 0] = -flipped[0, 0, 1], -flipped[0, 1, 0]
    return formulation("inverse_dynamics", "newton_euler")(tree._replace(inertia=flipped), *state)


@pytest.mark.parametrize("wrong", [wrong_gravity, wrong_coriolis, wrong_inertia])
def test_a_wrong_sign_is_caught(wrong):
    right = formulation("inverse_dynamics", "lie_group")
    proof = compare("RP", [wrong, right], ("wrong", "right"))
    assert not proof
    assert "NOT equal" in str(proof)
    assert compare("RP", [right, right], ("right", "right"))


def test_degrees_grow_with_the_number_of_denominators():
    star = [prove_equal("R" * (k + 1), "lie_group", parents=(-1,) + (0,) * k).degree for k in (1, 3, 6)]
    assert star == sorted(set(star))


def test_mistakes():
    for structure, points in (("RR", 0), ("RR", -1), ("", 1), (3, 1), (["R"], 1)):
        with pytest.raises(da.Error, match="at least one point"):
            prove_equal(structure, "lie_group", points=points)
    with pytest.raises(da.Error, match="joint letter"):
        prove_equal("RX", "lie_group")
    with pytest.raises(da.Error, match="unknown method"):
        prove_equal("RR", "lie")
    with pytest.raises(da.Error, match="earlier one"):
        prove_equal("RR", "lie_group", parents=(0, 0))
