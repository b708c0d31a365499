"""Base parameters: their number, their meaning, and that nothing else matters."""

import numpy as np
import pytest
from conftest import REFERENCE, STRUCTURES, close, directly, reference_robot

import dalembert as da
from dalembert.quantities.parameters import regressor_at


@pytest.mark.parametrize(("name", "rank"), [("FGL_2R", 6), ("PUMA560", 36), ("RPRRP_random", 24)])
def test_ranks_of_the_references(name, rank):
    robot = reference_robot(name)
    assert str(rank) in str(REFERENCE[name]["minimal_parameter_count_rank_of_regressor"])
    assert robot.base_parameters().rank == rank


def test_ranks_of_the_zoo():
    assert da.robot("two_link").base_parameters().rank == 6
    assert da.robot("puma560").base_parameters().rank == 36


@pytest.mark.parametrize(("joints", "parents"), STRUCTURES)
def test_base_parameters_say_everything(joints, parents):
    """The regressor times all parameters, and its leading columns times the combinations, are the joint forces."""
    robot = da.random_robot(7, joints, parents)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, robot.n))
    Y = regressor_at(robot.tree, q, qd, qdd)
    expected = directly(robot, "newton_euler", q, qd, qdd)
    own = np.concatenate([link.inertia.parameters for link in robot.links])
    close(Y @ own, expected, 1e-12)
    base = robot.base_parameters()
    leading = [base.all_names.index(name) for name in base.names]
    close(Y[..., leading] @ base.values, expected, 1e-10)
    close(base.matrix @ own, base.values, 1e-14)
    assert base.matrix.shape == (base.rank, 10 * robot.n)


def test_moving_mass_along_an_axis_changes_nothing():
    """What the internal reduction does to inertias leaves the base parameters as they are."""
    from dalembert.model.reduce import reframed, regrouped

    robot = da.random_robot(3, "RRR")
    tree = reframed(robot.tree)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, 3))
    before, after = tree, regrouped(tree)

    def parameters(t):
        found = []
        for m, c, I in zip(t.mass, t.com, t.inertia, strict=True):
            origin = I + m * (c @ c * np.eye(3) - np.outer(c, c))
            found += [m, *(m * c), *origin[np.triu_indices(3)]]
        return np.array(found)

    Y = regressor_at(tree, q, qd, qdd)
    close(Y @ parameters(after), Y @ parameters(before), 1e-12)
    assert np.abs(parameters(after) - parameters(before)).max() > 0.01


def test_names():
    base = da.robot("two_link").base_parameters()
    assert "Izz[link1]" in base.names
    assert "6 base parameters of 20" in repr(base)
    assert "m[link2]" in str(base)
    assert da.Robot("stone", ()).base_parameters().rank == 0


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e3])
def test_small_and_large_robots(size):
    rows = [
        da.DHRow(
            alpha=a,
            a=0.3 * size,
            d=0.2 * size,
            inertia=da.Inertia.from_com(1, (0.1 * size, 0.2 * size, 0.05 * size), size * size * 0.01),
        )
        for a in (0.5, 0.7, 1.1, 0.3)
    ]
    robot = da.Robot.from_dh(rows, convention="standard")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, 4))
    base = robot.base_parameters()
    leading = [base.all_names.index(name) for name in base.names]
    close(regressor_at(robot.tree, q, qd, qdd)[..., leading] @ base.values, directly(robot, "newton_euler", q, qd, qdd), 1e-10)
