"""One registry: what it says of a quantity is what functions, formulations, programs, types and documents have."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import dalembert as da
from dalembert import formulations, groups
from dalembert.derived.kinematics import FRAMES
from dalembert.engine import names
from dalembert.engine.kernels import BACKENDS
from dalembert.engine.registry import QUANTITIES
from dalembert.foreign import NAMES
from dalembert.formulations import METHODS, formulation
from dalembert.model.model import Model

SELECTED = {"rows": ("vx", "vy")}
TASKS = tuple(name for name, quantity in QUANTITIES.items() if "rows" in quantity.options)


@pytest.mark.parametrize("name", QUANTITIES)
def test_the_function_of_a_quantity_is_documented_by_the_registry(name):
    quantity, function = QUANTITIES[name], getattr(da.Robot, name)
    assert " ".join(function.__doc__.split()).startswith(quantity.about)
    parameters = inspect.signature(function).parameters
    assert list(parameters)[: 1 + len(quantity.inputs)] == ["robot", *quantity.inputs]
    assert {*quantity.optional, "backend", "out"} <= {*parameters}
    hidden = {"columns"}  # of base_regressor
    assert {*quantity.options} - hidden <= {*parameters}
    assert quantity.method in quantity.methods and quantity.group


def test_help_has_one_name_for_the_robot():
    """Functions bound to Robot call it `robot`; methods written in a class have `self` and `cls`."""
    for name, bound in inspect.getmembers(da.Robot, inspect.isfunction):
        if name in vars(da.Robot) and not name.startswith("_"):
            assert next(iter(inspect.signature(bound).parameters)) == "robot", f"{bound.__module__}.{bound.__name__}"


@pytest.mark.parametrize("name", QUANTITIES)
def test_programs_have_the_shapes_of_the_registry(name):
    quantity, arm = QUANTITIES[name], da.robot("two_link")
    options = {"rows": (3, 4)} if name in TASKS else {}
    for optional in ((), tuple(quantity.optional)):
        program = arm.program(name, optional=optional, **options)
        chosen = quantity.check_options(options)
        assert {v.name: v.shape for v in program.inputs} == {k: v.sized(arm) for k, v in quantity.arrays(optional).items()}
        assert [v.shape for v in program.outputs] == [v.sized(arm, chosen) for v in quantity.outputs.values()]
        assert [v.name for v in program.outputs] == list(quantity.outputs)
    assert all(values.unit for values in (*quantity.inputs.values(), *quantity.outputs.values()))


@pytest.mark.parametrize("method", METHODS)
def test_formulations_take_what_is_declared(method):
    for quantity, takes in METHODS[method].items():
        function = formulation(quantity, method)
        inputs = [x for x in inspect.signature(function).parameters if x not in ("tree", "t", "inverse_dynamics", "mass_matrix")]
        described = QUANTITIES.get(quantity)
        own = list(described.inputs) if described else ["q", "qd"]
        assert inputs[: len(own)] == own, (quantity, function)
        assert tuple(inputs[len(own) :]) == takes


def test_a_file_is_a_method():
    """A formulation needs one line: every file is listed, and every function of a quantity's name in it."""
    assert {path.stem for path in Path(formulations.__file__).parent.glob("*.py")} - {"__init__"} == {*METHODS}
    for method, listed in METHODS.items():
        module = import_module(f"dalembert.formulations.{method}")
        there = {
            name
            for name, value in vars(module).items()
            if name in QUANTITIES and getattr(value, "__module__", "") == module.__name__
        }
        assert there <= {*listed}, module


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (names.InverseDynamicsMethod, da.methods("inverse_dynamics")),
        (names.ForwardDynamicsMethod, da.methods("forward_dynamics")),
        (names.MassMatrixMethod, da.methods("mass_matrix")),
        (names.InverseMassMatrixMethod, da.methods("inverse_mass_matrix")),
        (names.CoriolisMatrixMethod, da.methods("coriolis_matrix")),
        (names.ChristoffelMethod, da.methods("christoffel")),
        (names.Backend, BACKENDS),
        (names.TwistFrame, FRAMES),
    ],
)
def test_types_list_the_names(literal, known):
    listed = get_args(literal)
    name = next(name for name, value in vars(names).items() if value is literal)
    assert listed == known, f"engine/names.py: {name} lists {listed}, the registry has {known}"


def test_the_tables_of_the_reference():
    """A short table for newcomers, in groups, and one that has all public names, with the headings of the page of robots."""
    page, robots = (
        Path(__file__).parent.parent.joinpath("docs", "api", name).read_text(encoding="utf-8") for name in ("index.md", "robot.md")
    )
    short, table = (page[page.index(head) :].partition("\n\n")[0] for head in ("| name | what", "| what | functions of a robot"))
    first = re.findall(r"^\| `(da|arm)\.(\w+)` \|", short, re.MULTILINE)
    titles = re.findall(r"^\| \*\*.*\*\* \| \|$", short, re.MULTILINE)
    assert 25 <= len(first) <= 42 and len(first) + len(titles) == len(short.splitlines()) - 2
    arm = da.robot("two_link")
    for holder, name in first:
        assert name in dir(da if holder == "da" else arm), f"docs/api/index.md: {holder} has no {name}"
    subjects = re.findall(r"\[([^]]*)\]\(robot\.md#", table)
    assert [*subjects, "completion"] == [title.lower() for title in re.findall("^## (.*)$", robots, re.MULTILINE)]
    listed = set(re.findall(r"`(?:da\.)?(\w+)`", table))
    own = {name for name, x in {**vars(Model), **vars(da.Robot)}.items() if callable(x) or hasattr(x, "__get__")}
    every = {*da._LATER, *da._PACKAGES, *own, *dir(arm)} - {*groups.INTERNAL}
    missing = {name for name in every if not name.startswith("_") and name not in listed}
    assert not missing, f"the table 'what | functions of a robot' of docs/api/index.md needs {missing}"
    for name, count in re.findall(r"`(\w+)` \((\d+)(?: methods)?\)", table):
        assert len(da.methods(name)) == int(count), f"docs/api/index.md says that {name} has {count} methods"
    for name in listed - {"da"}:
        assert hasattr(arm, name) or hasattr(da, name), f"docs/api/index.md: robots have no {name}"


def test_messages_come_from_it():
    arm = da.robot("two_link")
    with pytest.raises(da.Error, match=r"unknown method for gravity_force: 'typo'"):
        arm.program("gravity_force", "typo")
    with pytest.raises(da.Error, match="unknown quantity 'stage'"):
        arm.generate("c", "stage")
    with pytest.raises(da.Error, match="unknown option of jacobian: 'lnk'; did you mean 'link'"):
        arm.program("jacobian", lnk="link2")
    with pytest.raises(da.Error, match="lagrange_euler does not accept base_twist; these methods do: newton_euler"):
        arm.program("inverse_dynamics", "lagrange_euler", optional="base_twist")


def test_options_reach_derived_programs_and_general_counts():
    arm = da.random_robot(0, "RPR")
    for name in (
        "coriolis_force",
        "mass_matrix_rate",
        "inverse_dynamics_derivatives",
        "mass_matrix_gradient",
        "geometry_derivatives",
    ):
        folded, unfolded = (arm.program(name, folding=x) for x in (True, False))
        assert len(arm.program(name, sharing=False)) > len(folded), name
        assert any(node[0] == "const" and node[1] == 0 for node in unfolded.nodes), name
        state = {v.name: np.linspace(0.1, 0.9, v.size) for v in folded.inputs}
        results = [np.ravel(x) for p in (folded, unfolded) for x in da.replay(p, state)]
        np.testing.assert_allclose(results[: len(results) // 2], results[len(results) // 2 :], atol=1e-12)
    plain, pushed = (arm.operation_count("inverse_dynamics", customized=False, optional=x) for x in ((), "wrenches"))
    assert pushed.total > plain.total
    with pytest.raises(da.Error, match="unknown option of mass_matrix: 'link'"):
        arm.operation_count("mass_matrix", customized=False, link="x")


@pytest.mark.slow
def test_calls_are_remembered_by_how_they_are_spelled():
    """The second call of any spelling gives the same bits; what is refused once is refused again."""
    arm = da.robot("panda")
    q, qd = np.linspace(-1, 1, 7), np.linspace(0, 1, 7)
    spelled = [
        lambda: arm.jacobian(q),
        lambda: arm.jacobian(q=q),
        lambda: arm.jacobian(q, "panda_hand"),
        lambda: arm.jacobian(q, link="panda_hand", frame="world"),
        lambda: arm.jacobian(frame="world", link="panda_hand", q=q),
        lambda: arm.inverse_dynamics(q, qd, qdd=qd),
        lambda: arm.inverse_dynamics(q, qd, qd, method="lie_group"),
        lambda: arm.task_inertia(q, rows=("vx", "vy")),
        lambda: arm.inverse_dynamics_derivatives(q, qd, qd).dq,
        lambda: arm.diagonalize(q).U,
        lambda: arm.quasi_velocity(q, qd, normalized=False),
        lambda: arm.regressor(q, qd, qd, friction=True),
        lambda: arm.base_regressor(q, qd, qd),
    ]
    for call in spelled:
        first = call()
        assert np.array_equal(call(), first) and np.array_equal(call(), first)
    for wrong in (lambda: arm.inverse_dynamics(q, qd), lambda: arm.inverse_dynamics(q=q, qd=qd), lambda: arm.jacobian()):
        with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'q(dd)?'"):
            wrong()
    with pytest.raises(TypeError, match="unexpected keyword argument 'links'"):
        arm.jacobian(q, links="panda_hand")
    with pytest.raises(da.Error, match="q has shape"):
        arm.jacobian(q[:3], "panda_hand")


def test_names_of_other_libraries():
    """They raise what to use instead, and are not listed."""
    arm = da.robot("two_link")
    for name, ours in (("rnea", "inverse_dynamics"), ("fkine", "pose"), ("gravload", "gravity_force"), ("crba", "mass_matrix")):
        with pytest.raises(AttributeError, match=rf"Robot has no attribute '{name}'; use robot\.{ours}\("):
            getattr(arm, name)
        assert not hasattr(arm, name) and name not in dir(arm)
        assert hasattr(arm, ours)
    for call in (lambda: da.from_urdf("a.urdf"), lambda: da.Robot.from_urdf("a.urdf")):
        with pytest.raises(AttributeError, match=r"load a robot with dalembert\.load\(path\)"):
            call()
    for use in NAMES.values():
        assert hasattr(arm, re.match(r"\w+", use)[0]), use
