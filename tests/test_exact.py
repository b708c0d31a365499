"""Formulations as identities: on symbolic trees, modulo 2^521 - 1, where nothing rounds."""

import random
from functools import partial
from itertools import product

import numpy as np
import pytest
from conftest import some_methods, sweep

import dalembert as da
from dalembert.algebra.spatial import Transform
from dalembert.formulations import formulation, methods
from dalembert.studies.proof import MOVING_BASE, compare, ingredients, on_tree, prove_equal, random_point, spelled
from dalembert.trace import differentiate, replay, trace
from dalembert.trace.exact import Angle, Residue


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


EXACT = [  # every quantity that has several methods, less those with square roots
    ("inverse_dynamics", methods("inverse_dynamics")),
    ("forward_dynamics", tuple(m for m in methods("forward_dynamics") if m != "diagonalized_normalized")),
    ("mass_matrix", methods("mass_matrix")),
    ("inverse_mass_matrix", methods("inverse_mass_matrix")),
]


@pytest.mark.parametrize("part", sweep(range(40), quick=(0,)))
@pytest.mark.parametrize(("quantity", "by"), EXACT)
def test_formulations_identical_modulo_a_prime(quantity, by, part):
    """Every method against the others on every tree to 3 joints and a sample to 6, wrenches included, nothing rounded."""
    for joints, parents in CASES[part::40]:
        point = random_point(joints, joints, ingredients(quantity))
        still = {k: v for k, v in point.items() if k not in MOVING_BASE}
        expected = {}
        for method in by:
            function = on_tree(formulation(quantity, method), joints, parents)
            for moving, values in ((False, still), (True, point)):
                if not moving or method in methods(quantity, taking="base_twist"):
                    result = function(*values.values()).ravel().tolist()
                    assert result == expected.setdefault(moving, result), f"{quantity} by {method} on {joints} {parents}"


@pytest.mark.parametrize(("quantity", "by"), sweep(EXACT, quick=(3,)))
def test_recording_changes_nothing(quantity, by):
    for method in by:
        for joints, parents in CASES[::40]:
            wanted = ingredients(quantity, moving=method in methods(quantity, taking="base_twist"))
            shapes = {k: tuple(len(joints) if isinstance(d, str) else d for d in shape) for k, shape in wanted.items()}
            point = random_point(joints, joints, wanted)
            function = on_tree(formulation(quantity, method), joints, parents)
            assert replay(trace(function, shapes), point).ravel().tolist() == function(*point.values()).ravel().tolist()


def test_planar_turns_are_exact():
    """In Denavit-Hartenberg frames brandl turns tensors about x; the others see any rotation."""
    rng = random.Random(3)

    def about_x():
        angle = Angle.from_parameter(Residue(rng.randrange(10**40)), Residue(0))
        c, s = angle.cos(), angle.sin()
        return [[1, 0, 0], [0, c, -s], [0, s, c]]

    for joints, parents in CASES[::9]:
        fixed = np.array([about_x() for _ in joints], dtype=object)
        straight = np.array([np.eye(3, dtype=int)] * len(joints), dtype=object)

        def turned(tree, *state, method, fixed=fixed, straight=straight):
            tree = tree._replace(
                before=Transform(fixed, tree.before.translation), after=Transform(straight, tree.after.translation)
            )
            return formulation("forward_dynamics", method)(tree, *state)

        point = random_point(joints, joints, ingredients("forward_dynamics"))
        found = [
            on_tree(partial(turned, method=method), joints, parents)(*point.values()).tolist() for method in ("brandl", "kalman")
        ]
        assert found[0] == found[1]


def test_unnormalized_velocities_and_forces_are_exact():
    """Round trips without any tolerance."""
    for joints, parents in CASES[::15]:
        wanted = ingredients("quasi_velocity")
        point = random_point(joints, joints, wanted)
        *tree, q, qd = point.values()
        for there, back in (("quasi_velocity", "joint_velocity"), ("quasi_force", "joint_force")):
            go, come = (on_tree(formulation(x, "diagonalized_unnormalized"), joints, parents) for x in (there, back))
            assert come(*tree, q, go(*tree, q, qd)).tolist() == qd.tolist()


def test_certificates_of_quotients():
    for method in ("brandl", "walker_orin_4", "diagonalized_unnormalized"):
        proof = prove_equal("RPH", method, quantity="forward_dynamics", parents=(-1, 0, 0))
        assert proof
        assert proof.degree > 1000
        assert proof.log2_probability < -490
    assert prove_equal("RRP", "lagrange_euler", quantity="mass_matrix")
    with pytest.raises(da.Error, match="diagonalized_normalized takes square roots"):
        prove_equal("RR", "diagonalized_normalized", quantity="forward_dynamics")


@pytest.mark.parametrize(("joints", "parents"), sweep(CASES[::3], quick=(1, 7, 33, 63)))
def test_formulas_of_derivatives_are_exact(joints, parents):
    """Equal to the derivatives of the program of Newton and Euler, with wrenches on the links and a moving base."""
    wanted = ingredients("inverse_dynamics_derivatives")
    point, expected = differentiated(joints, parents, formulation("inverse_dynamics", "newton_euler"), wanted, ["q", "qd", "qdd"])
    formulas = on_tree(formulation("inverse_dynamics_derivatives", "composite_body_world"), joints, parents)
    for found, part in zip(formulas(*point.values()), expected, strict=True):
        assert found.tolist() == part.tolist()


@pytest.mark.parametrize(("joints", "parents"), sweep(CASES[::3], quick=(1, 7, 33, 63)))
def test_formulas_of_weighted_second_derivatives_are_exact(joints, parents):
    """Equal to the derivatives of weights . (d tau / dx)."""

    def weighted(tree, q, qd, qdd, weights):
        return tuple(
            weights @ part for part in formulation("inverse_dynamics_derivatives", "composite_body_world")(tree, q, qd, qdd)
        )

    wanted = ingredients("inverse_dynamics_hessian")
    point, parts = differentiated(joints, parents, weighted, wanted, ["q", "qd"], ("dq", "dqd", "dqdd"))
    dq_dq, _, dqd_dq, dqd_dqd, dqdd_dq, _ = parts
    formulas = on_tree(formulation("inverse_dynamics_hessian", "composite_body_world"), joints, parents)
    for found, part in zip(formulas(*point.values()), (dq_dq, dqd_dq.T, dqdd_dq.T, dqd_dqd), strict=True):
        assert found.tolist() == part.tolist()


def differentiated(joints, parents, function, wanted, wrt, outputs=("tau",)):
    """A random point, and the derivatives of a function of a tree there."""
    shapes = {name: tuple(len(joints) if isinstance(axis, str) else axis for axis in shape) for name, shape in wanted.items()}
    program = trace(on_tree(function, joints, parents), shapes, outputs=outputs)
    point = random_point(joints, joints, wanted)
    return point, replay(differentiate(program, wrt, mode="forward"), point)


@some_methods
def test_certificates(method):
    proof = prove_equal("RPH", method, parents=(-1, 0, 0))
    assert proof
    assert proof.points == 1
    assert 0 < proof.degree < 10_000
    assert proof.log2_probability < -500
    assert prove_equal("RPH", method, parents=(-1, 0, 0)) == proof
    assert f"inverse_dynamics by {method} and newton_euler is equal on RPH with parents (-1, 0, 0)" in str(proof)


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


def test_joints_of_several_degrees_of_freedom():
    proof = prove_equal("FRL", "lie_group", parents=(-1, 0, 0))
    assert proof and "is equal on FRL with parents (-1, 0, 0):" in str(proof)
    assert prove_equal("RB", "lagrange_euler", quantity="mass_matrix")

    def wrong(tree, *state):
        return formulation("inverse_dynamics", "lie_group")(tree._replace(mass=2 * tree.mass), *state)

    letters, parents = spelled("F", (-1,))
    true = formulation("inverse_dynamics", "newton_euler")
    assert (letters, parents) == ("RRRPPP", (-1, 0, 1, 2, 3, 4))
    assert not compare(letters, [wrong, true], ("wrong", "newton_euler"), parents=parents, moving=True)


def test_mistakes():
    for structure, points in (("RR", 0), ("RR", -1), ("", 1), (3, 1), (["R"], 1)):
        with pytest.raises(da.Error, match=r"points must be an integer|letters such as"):
            prove_equal(structure, "lie_group", points=points)
    with pytest.raises(da.Error, match="joint letter"):
        prove_equal("RX", "lie_group")
    with pytest.raises(da.Error, match="unknown method"):
        prove_equal("RR", "lie")
    with pytest.raises(da.Error, match="earlier one"):
        prove_equal("RR", "lie_group", parents=(0, 0))
