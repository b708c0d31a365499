"""The terms of the equations of motion, their laws, and the energies."""

from functools import cache

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, reference_robot, some_methods, sweep

import dalembert as da
from dalembert.algebra.spatial import ad
from dalembert.formulations import formulation
from dalembert.formulations.lie_closed_form import carried, carried_rate, carried_second_rate, screws
from dalembert.studies.proof import ingredients, on_tree, random_point

STEP = 1e-30


@cache
def example(joints, parents):
    return da.random_robot(12, joints, parents).with_friction(damping=0.3, coulomb=0.2).with_armature(0.4)


@pytest.fixture(params=sweep([(s,) for s in STRUCTURES]), ids=lambda s: f"{s[0]}-{s[1]}")
def robot(request):
    return example(*request.param)


def motion(robot, seed=0, batch=(4,)):
    return np.random.default_rng(seed).uniform(-1, 1, (3, *batch, robot.n))


@pytest.mark.parametrize("name", sweep(REFERENCE, quick=(0,)))
@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_reference(name, backend):
    ref, robot = REFERENCE[name], reference_robot(name)
    q, qd = ref["q"], ref["qd"]
    for method in da.methods("coriolis_matrix"):
        close(robot.coriolis_matrix(q, qd, method=method, backend=backend), ref["coriolis_matrix_christoffel"], 1e-12)
    close(robot.mass_matrix_rate(q, qd, backend=backend), ref["Mdot"], 1e-12)
    close(robot.coriolis_force(q, qd, backend=backend), ref["c"], 1e-12)
    close(robot.gravity_force(q, backend=backend), ref["g"], 1e-12)
    close(robot.kinetic_energy(q, qd, backend=backend), ref["kinetic_energy"], 1e-12)
    close(robot.potential_energy(q, backend=backend), ref["potential_energy_zero_at_base_origin"], 1e-12)


@some_methods
def test_the_terms_add_up(robot, method):
    q, qd, qdd = motion(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    by = {"method": method, "backend": "numpy"}  # compiling every term by every method would take a minute and show no more
    C, g = robot.coriolis_matrix(q, qd), robot.gravity_force(q, **by)
    close(robot.coriolis_force(q, qd, **by), np.matvec(C, qd), 1e-11, scale=np.abs(tau).max())
    close(robot.bias_force(q, qd, **by), np.matvec(C, qd) + g, 1e-12, scale=np.abs(tau).max())
    total = np.matvec(robot.mass_matrix(q), qdd) + np.matvec(C, qd) + g + robot.friction_force(qd)
    close(total, tau, 1e-12)


def test_passivity(robot):
    """Mdot - 2 C is skew, and Mdot is the rate of M."""
    q, qd, _ = motion(robot, 1)
    rate, C = robot.mass_matrix_rate(q, qd), robot.coriolis_matrix(q, qd)
    skew = rate - 2 * C
    close(skew, -np.swapaxes(skew, -1, -2), 1e-13, scale=1.0)
    close(rate, robot.mass_matrix(q + 1j * STEP * qd).imag / STEP, 1e-12, scale=1.0)


def test_christoffel_symbols(robot):
    q, qd, _ = motion(robot, 2)
    gamma = robot.christoffel(q)
    assert np.array_equal(gamma, np.swapaxes(gamma, -1, -2))
    close(robot.christoffel(q, method="lie_closed_form"), gamma, 1e-11, scale=1.0)
    close(np.matvec(gamma, qd[:, None, :]), robot.coriolis_matrix(q, qd), 1e-12, scale=1.0)
    close(robot.lagrange_euler_terms(q, qd).H, gamma, 1e-12, scale=1.0)  # (3.2-33)


def test_gravity_is_the_gradient_of_the_potential(robot):
    q = motion(robot, 3)[0]
    gradient = [robot.potential_energy(q + 1j * STEP * e).imag / STEP for e in np.eye(robot.n)]
    close(robot.gravity_force(q), np.stack(gradient, axis=-1), 1e-12, scale=1.0)


def test_kinetic_energy_is_the_links_and_the_rotors(robot):
    """Sum of m v^2 / 2 + w . I w / 2 of the links, from the derivative of their poses."""
    q, qd, _ = motion(robot, 4)
    tree = robot.tree
    total = 0.5 * 0.4 * np.vecdot(qd, qd)
    for i, (now, later) in enumerate(zip(tree.poses(q), tree.poses(q + 1j * STEP * qd), strict=True)):
        turning = np.swapaxes(now.rotation, -1, -2) @ (later.rotation.imag / STEP)  # [w] in link axes
        w = np.stack([turning[..., 2, 1], turning[..., 0, 2], turning[..., 1, 0]], axis=-1)
        v = later.translation.imag / STEP + np.matvec(later.rotation.imag / STEP, tree.com[i])
        total = total + 0.5 * tree.mass[i] * np.vecdot(v, v) + 0.5 * np.vecdot(w, np.matvec(tree.inertia[i], w))
    close(robot.kinetic_energy(q, qd), total, 1e-12)
    nu = robot.quasi_velocity(q, qd)
    close(robot.kinetic_energy(q, qd), np.vecdot(nu, nu) / 2, 1e-12)


def rk4(robot, q, qd, tau, step):
    """One step of Runge and Kutta for forward dynamics."""

    def slope(x):
        return np.stack([x[1], robot.forward_dynamics(x[0], x[1], tau)])

    x = np.stack([q, qd])
    a = slope(x)
    b = slope(x + step / 2 * a)
    c = slope(x + step / 2 * b)
    d = slope(x + step * c)
    return x + step / 6 * (a + 2 * b + 2 * c + d)


@pytest.mark.parametrize(("joints", "parents"), sweep([("RPR", None), ("RRPH", (-1, 0, 0, 1))], quick=(1,)))
def test_energy_balance_along_a_path(joints, parents):
    """Kinetic and potential energy change by the work of the joint forces and of friction."""
    robot = da.random_robot(2, joints, parents).with_friction(damping=0.2).with_armature(0.1)
    q, qd, tau = motion(robot, 5, ())
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    work, step = 0.0, 1e-3
    for _ in range(300):
        before = robot.power(qd, tau - robot.friction_force(qd))
        middle = rk4(robot, q, qd, tau, step / 2)[1]
        q, qd = rk4(robot, q, qd, tau, step)
        after = robot.power(qd, tau - robot.friction_force(qd))
        work += step / 6 * (before + 4 * robot.power(middle, tau - robot.friction_force(middle)) + after)  # Simpson
    now = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert abs(work) > 0.05
    close(now - energy, work, 1e-9)


def test_flat_out_zero_cases():
    stone = da.Robot("stone", ())
    assert stone.gravity_force([]).shape == stone.coriolis_force([], []).shape == (0,)
    assert stone.coriolis_matrix([], []).shape == (0, 0)
    assert float(stone.kinetic_energy([], [])) == float(stone.potential_energy([])) == 0.0
    arm = da.robot("puma560").with_gravity((0, 0, 0))
    assert np.array_equal(arm.gravity_force(np.ones((3, 6))), np.zeros((3, 6)))
    assert arm.kinetic_energy(np.ones((3, 1, 6)), np.ones((2, 6))).shape == (3, 2)


@pytest.mark.slow
def test_outputs_into_arrays():
    arm = da.random_robot(2, "RPR").with_friction(damping=0.1)
    q, qd, _ = motion(arm, 7)
    calls = {
        "coriolis_matrix": (q, qd), "coriolis_force": (q, qd), "gravity_force": (q,), "bias_force": (q, qd), "christoffel": (q,),
        "mass_matrix_rate": (q, qd), "kinetic_energy": (q, qd), "potential_energy": (q,), "mass_matrix_gradient": (q,),
    }  # fmt: skip
    for name, arrays in calls.items():
        function = getattr(arm, name)
        expected = function(*arrays)
        out = np.full_like(expected, np.nan)
        assert function(*arrays, out=out) is out
        assert np.array_equal(out, expected)
        close(function(*arrays, backend="numpy"), expected, 1e-13)


def test_plain_functions():
    arm = da.robot("two_link")
    assert np.array_equal(arm.friction_force([np.inf, 1.0]), [0.0, 0.0])
    assert arm.power([1, 2], [3, -1]).dtype == float
    for call, message in (
        (lambda: arm.friction_force([1, 2, 3]), r"friction_force: qd has shape \(3,\)"),
        (lambda: arm.power([1, 2], [1]), r"power: tau has shape \(1,\)"),
        (lambda: arm.power(np.ones((2, 2)), np.ones((3, 2))), "power: the leading"),
        (lambda: arm.coriolis_matrix([0, 0], [0, 0], method=["a"]), "unknown method"),
    ):
        with pytest.raises(da.Error, match=message):
            call()


def test_counts_grow_as_they_should():
    totals = [da.random_robot(1, "R" * n).operation_count("coriolis_matrix", customized=False).total for n in range(4, 10)]
    assert not np.diff(totals, 3).any()
    assert np.diff(totals, 2).all()
    with pytest.raises(da.Error, match="only its customized count"):
        da.robot("two_link").operation_count("gravity_force", customized=False)


def test_exact_symbols_and_matrices():
    """Christoffel symbols and Coriolis matrix as identities modulo a prime; M and symbols by FGL's U_ijk."""
    for joints, parents in (("RPH", (-1, 0, 0)), ("HRPR", None), ("RRRRP", (-1, 0, 1, 0, 3))):
        parents = parents or tuple(range(-1, len(joints) - 1))
        point = random_point(joints, 5, ingredients("coriolis_matrix"))
        *tree, q, qd = point.values()
        found = [
            on_tree(formulation("coriolis_matrix", m), joints, parents)(*tree, q, qd).ravel().tolist()
            for m in ("composite_body", "composite_body_world", "lie_closed_form")
        ]
        assert found[0] == found[1] == found[2]
        symbols = on_tree(formulation("christoffel", "lie_closed_form"), joints, parents)(*tree, q)
        terms = on_tree(formulation("lagrange_euler_terms", "lagrange_euler"), joints, parents)(*tree, q, qd)
        assert symbols.ravel().tolist() == terms.H.ravel().tolist()


def outer_inside(tree, q, j, i, k, l, X):
    """(54) with its cases as printed: the bracket with the outer joint's screw inside."""
    s = screws(tree, q)
    inner = ad(carried(tree, q, tree.parents[l], i, X), s.A[l])
    return carried(tree, q, j, k, ad(carried(tree, q, tree.parents[k], l, inner) if tree.parents[k] >= 0 else inner, s.A[k]))


def test_propositions_1_and_2():
    """Derivatives of Ad_j^i along the path, by complex steps, for every index on a tree; (54) with the cases exchanged (E-B4)."""
    robot = da.random_robot(3, "RPHR", (-1, 0, 1, 1))
    tree, X = robot.tree, np.array([0.3, -0.2, 0.5, 0.7, 0.1, -0.4])
    q = motion(robot, 6, ())[0]
    swapped = 0.0
    for j, i, k in np.ndindex(4, 4, 4):
        step = carried(tree, q + 1j * STEP * np.eye(4)[k], j, i, X).imag / STEP
        close(carried_rate(tree, q, j, i, k, X), step, 1e-13, scale=1.0)
        for l in range(4):
            second = carried_rate(tree, q + 1j * STEP * np.eye(4)[l], j, i, k, X).imag / STEP
            found = carried_second_rate(tree, q, j, i, k, l, X)
            close(found, second, 1e-13, scale=1.0)
            if i <= k < l and {i, k, l} <= set(tree.path(j)):  # as printed: the outer one inside
                printed = outer_inside(tree, q, j, i, k, l, X)
                swapped = max(swapped, np.abs(printed - found).max())
    assert swapped > 0.01
