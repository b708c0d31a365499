"""Coupled joints and motors: every quantity against B^T (...) B of the tree, laws of motion, files, and what is refused."""

import numpy as np
import pytest
from conftest import close

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.trace.source import NumpyKernel

RNG = np.random.default_rng(21)
ROBOTS = {
    "gripper": lambda: da.random_robot(3, "RRPP", (-1, 0, 1, 1)).with_coupling(
        {"joint4": {"joint3": -0.5}}, offset={"joint4": 0.3}
    ),
    "chain": lambda: da.random_robot(4, "RRRR").with_coupling({"joint2": {"joint1": 2.0}, "joint4": {"joint2": -1.0}}),
    "differential": lambda: da.random_robot(5, "RRRH").with_coupling(
        [[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, -0.5], [0, 1, 0.25]], offset=[0, 0.1, 0, -0.2], names=("joint1", "left", "right")
    ),
    "motors": lambda: da.random_robot(6, "RPR").with_transmission(
        [[20, 3, 0], [0, 30, 1], [0, -30, 5]], rotor_inertia=[1e-3, 2e-3, 0]
    ),
    "both": lambda: (
        da.random_robot(7, "RRRR", (-1, 0, 1, 1))
        .with_armature([0.1, 0, 0.2, 0.3])
        .with_coupling({"joint4": {"joint3": 1.5, "joint1": -1.0}})
        .with_transmission([[10, 0, 0], [0, 5, 5], [0, 5, -5]], rotor_inertia=2e-3)
    ),
}


def state(robot):
    return RNG.uniform(-1, 1, (3, robot.n))


def matrices(robot):
    """B and b, and the reflected inertia of the motors."""
    B, b = (np.eye(robot.n), np.zeros(robot.n)) if robot.coupling is None else (robot.coupling.matrix, robot.coupling.offset)
    R = np.zeros((robot.n, robot.n)) if robot.transmission is None else robot.transmission.inertia
    return B, b, R


def evaluated(robot, quantity, method, given, **options):
    return NumpyKernel(robot.program(quantity, method, **options))(*given.values())


OPTIONS = {
    "impedance": {"link": "link3"},
    "regressor": {"friction": True, "armature": True, "friction_offset": True},
    **{key: {"link": "link3"} for key in ("pose", "twist", "jacobian", "jacobian_rate")},
}
FOLLOWING = [name for name, quantity in QUANTITIES.items() if quantity.follows]


@pytest.mark.parametrize("name", FOLLOWING)
@pytest.mark.parametrize("which", ROBOTS)
def test_what_takes_motions_and_gives_forces_is_that_of_the_tree(which, name):
    """The tensor law, written with einsum, for every quantity of the registry that the rule is for, by every method."""
    robot, quantity = ROBOTS[which](), QUANTITIES[name]
    tree, (B, b, R) = robot.open, matrices(robot)
    given = {key: RNG.uniform(-1, 1, values.sized(robot)) for key, values in quantity.inputs.items()}
    spread = {key: B @ x + (b if key == "q" else 0) for key, x in given.items()}
    options = OPTIONS.get(name, {})
    reflected = {  # what rotors behind a transmission add, by hand
        "inverse_dynamics": lambda: (R @ given["qdd"],),
        "mass_matrix": lambda: (R,),
        "kinetic_energy": lambda: (given["qd"] @ R @ given["qd"] / 2,),
        "inverse_dynamics_derivatives": lambda: (0.0, 0.0, R),
    }
    for method in quantity.methods if which in ("gripper", "motors") else (quantity.method,):
        ours, theirs = (evaluated(r, name, method, x, **options) for r, x in ((robot, given), (tree, spread)))
        if not isinstance(ours, tuple):
            ours, theirs = (ours,), (theirs,)
        more = reflected.get(name, lambda: (0.0,) * len(quantity.outputs))()
        for x, y, plus, values in zip(ours, theirs, more, quantity.outputs.values(), strict=True):
            for axis, kind in enumerate(values.shape):
                y = np.moveaxis(np.tensordot(y, B, (axis, 0)), -1, axis) if kind == "n" else y
            close(x, y + plus, 1e-12)


def test_the_rule_covers_what_it_should():
    """The list of what the rule is not for: what takes forces or gives accelerations, control laws, and factors of M."""
    others = {name for name in QUANTITIES if name not in FOLLOWING}
    assert {name for name in others if QUANTITIES[name].coupled} == {
        "forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives", "gravity_compensation", "computed_torque",
        "impedance", "momentum_observer", "task_inertia", "task_bias", "task_gravity", "dynamically_consistent_inverse",
    }  # fmt: skip
    robot = ROBOTS["gripper"]()
    for name in others:
        if not QUANTITIES[name].coupled:
            with pytest.raises(da.Error, match=r"does not know the coupled joints of .*uncoupled\(\) has it"):
                robot.program(name)
