"""The method that a quantity takes when none is named: the one with fewer operations, found without tracing both."""

import pytest
from conftest import sweep
from crossovers import HUMANOID, arms, counts, plain

import dalembert as da
from dalembert.engine import program
from dalembert.engine.kernels import kernels_of
from dalembert.engine.registry import QUANTITIES
from dalembert.model.values import parent_indices

DEEP = [name for name, quantity in QUANTITIES.items() if quantity.deep]
CUBIC = "inverse_dynamics_second_derivatives"
SHAPES = {
    "chain of 3": parent_indices(None, 3),
    "chain of 7": parent_indices(None, 7),
    "two arms": arms(1, 7, 2),
    "chain of 20": parent_indices(None, 20),
    "quadruped": arms(1, 3, 4),
    "humanoid": HUMANOID,
}
CASES = [(name, shape) for shape in SHAPES for name in DEEP if name != CUBIC]
CASES += [(CUBIC, "chain of 3"), (CUBIC, "chain of 7")]
CASES.remove(("inverse_dynamics_hessian", "humanoid"))  # long programs: two arms, a quadruped and chains say as much


def test_every_rule_names_methods_of_its_quantity():
    for name in DEEP:
        method, depth = QUANTITIES[name].deep
        assert method in QUANTITIES[name].methods and method != QUANTITIES[name].method and depth > 1


@pytest.mark.parametrize(("name", "shape"), sweep(CASES, quick=range(4)))
def test_the_default_takes_fewer_operations(name, shape):
    """On robots with right angles and on general ones. A fifth may be lost near the crossover: see tools/crossovers.py."""
    parents = SHAPES[shape]
    for robot in (plain(parents), da.random_robot(1, "R" * len(parents), parents)):
        small, deep = counts(name, robot)
        chosen = robot.operation_count(name).total
        assert chosen in (small, deep)
        assert chosen <= 1.25 * min(small, deep), (robot.name, small, deep)
        if max(small, deep) > 1.25 * min(small, deep):
            assert chosen == min(small, deep), (robot.name, small, deep)


def test_a_first_call_traces_one_method(monkeypatch):
    traced, formulated = [], program._formulated

    def recorded(robot, quantity, method, optional):
        traced.append(method)
        return formulated(robot, quantity, method, optional)

    monkeypatch.setattr(program, "_formulated", recorded)
    da.random_robot(1, "R" * 18).mass_matrix([0.0] * 18, backend="numpy")
    assert traced == ["composite_body_world"]


@pytest.mark.parametrize(("n", "method"), [(3, "composite_body"), (18, "composite_body_world")])
def test_one_default_for_every_way_to_ask(n, method):
    """Functions, programs, counts and code of a robot agree on the method."""
    robot = da.random_robot(2, "R" * n)
    assert robot.program("mass_matrix") == robot.program("mass_matrix", method)
    assert robot.operation_count("mass_matrix") == robot.operation_count("mass_matrix", method)
    assert f"mass_matrix by {method}:" in str(robot.generate("python", "mass_matrix"))
    robot.mass_matrix([0.0] * n, backend="numpy")
    robot.compile("mass_matrix", backend="numpy")
    assert {request.method for request in kernels_of(robot)} == {method}
