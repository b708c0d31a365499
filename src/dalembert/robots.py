"""The robot that users hold: a model with every quantity bound to it, one line each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert import groups
from dalembert.engine import kernels, program
from dalembert.foreign import Hints
from dalembert.model import check as looks
from dalembert.model import couple, dh, edit, files, random, screws, zoo
from dalembert.model.model import Model
from dalembert.quantities import dynamics

if TYPE_CHECKING:
    from dalembert.bounds import bound as bounding
    from dalembert.codegen import generate
    from dalembert.planning import fastest, feedback, follow, inverse_kinematics, least_effort, optimal_control, rollout
    from dalembert.quantities import (
        configurations,
        control,
        derivatives,
        diagonalization,
        dominance,
        drawing,
        factors,
        kinematics,
        metric,
        parameters,
        partials,
        quasi,
        slow,
        structure,
        task_space,
        terms,
    )
    from dalembert.quantities import curvature as geometry
    from dalembert.quantities import loops as closing
    from dalembert.simulation import along, simulate
    from dalembert.sizing import loads as carried
    from dalembert.sizing import size as sizes
    from dalembert.sweeps import sweep
    from dalembert.symbolic import parameters as symbolic_parameters
else:  # the same, each imported when one of its functions is first read; dynamics nearly everybody needs
    from dalembert.later import Later

    generate = Later("dalembert.codegen.generate")
    feedback = Later("dalembert.planning.feedback")
    optimal_control = Later("dalembert.planning.optimal_control")
    rollout = Later("dalembert.planning.rollout")
    geometry = Later("dalembert.quantities.curvature")
    configurations = Later("dalembert.quantities.configurations")
    control = Later("dalembert.quantities.control")
    derivatives = Later("dalembert.quantities.derivatives")
    diagonalization = Later("dalembert.quantities.diagonalization")
    dominance = Later("dalembert.quantities.dominance")
    drawing = Later("dalembert.quantities.drawing")
    factors = Later("dalembert.quantities.factors")
    follow = Later("dalembert.planning.follow")
    inverse_kinematics = Later("dalembert.planning.inverse_kinematics")
    kinematics = Later("dalembert.quantities.kinematics")
    closing = Later("dalembert.quantities.loops")
    metric = Later("dalembert.quantities.metric")
    parameters = Later("dalembert.quantities.parameters")
    partials = Later("dalembert.quantities.partials")
    quasi = Later("dalembert.quantities.quasi")
    slow = Later("dalembert.quantities.slow")
    structure = Later("dalembert.quantities.structure")
    task_space = Later("dalembert.quantities.task_space")
    terms = Later("dalembert.quantities.terms")
    least_effort = Later("dalembert.planning.least_effort")
    fastest = Later("dalembert.planning.fastest")
    simulate = Later("dalembert.simulation.simulate")
    along = Later("dalembert.simulation.along")
    bounding = Later("dalembert.bounds.bound")
    carried = Later("dalembert.sizing.loads")
    sizes = Later("dalembert.sizing.size")
    sweep = Later("dalembert.sweeps.sweep")
    symbolic_parameters = Later("dalembert.symbolic.parameters")


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Model, Hints):
    """A robot arm or any tree of links. Frozen: every change returns a new one.

    >>> import dalembert as da
    >>> arm = da.robot("puma560")
    >>> tau = arm.inverse_dynamics(q=[0.0] * 6, qd=[0.0] * 6, qdd=[0.0] * 6)
    """

    # making and keeping
    from_dh = classmethod(dh.from_dh)
    from_screws = classmethod(screws.from_screws)
    save = files.save

    # looking
    summary = looks.summary
    check = looks.check
    plot = drawing.plot
    _repr_html_ = drawing.page

    # what completion shows of the specialized ones
    books = groups.books
    diagonalized = groups.diagonalized
    curvature = groups.curvature
    simplified = groups.simplified

    # changing: each returns a new robot
    with_gravity = edit.with_gravity
    with_base = edit.with_base
    with_free_base = edit.with_free_base
    with_payload = edit.with_payload
    with_friction = edit.with_friction
    with_armature = edit.with_armature
    without_friction = edit.without_friction
    without_armature = edit.without_armature
    with_parameters = edit.with_parameters
    snapped = edit.snapped
    lock = edit.lock
    with_coupling = couple.with_coupling
    uncoupled = couple.uncoupled
    with_transmission = couple.with_transmission
    without_transmission = couple.without_transmission
    with_loop = closing.with_loop
    without_loops = closing.without_loops
    with_independent = closing.with_independent

    # coupled joints and motors
    to_uncoupled = couple.to_uncoupled
    from_uncoupled = couple.from_uncoupled
    to_motors = couple.to_motors

    # positions of balls and free bodies
    integrate = configurations.integrate
    difference = configurations.difference
    position_rate = configurations.position_rate
    to_pinocchio = configurations.to_pinocchio
    from_pinocchio = configurations.from_pinocchio
    to_mujoco = configurations.to_mujoco
    from_mujoco = configurations.from_mujoco
    # closed loops
    settle = closing.settle
    independent_names = closing.independent_names
    loop_gap = closing.loop_gap
    loop_jacobian = closing.loop_jacobian
    independent_jacobian = closing.independent_jacobian
    closed_motion = closing.closed_motion
    constraint_dynamics = closing.constraint_dynamics

    # programs
    compile = kernels.compile
    operation_count = program.operation_count
    program = program.program

    # printed
    generate = generate.generate

    # dynamics
    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    mass_matrix = dynamics.mass_matrix
    inverse_mass_matrix = dynamics.inverse_mass_matrix
    joint_wrenches = dynamics.joint_wrenches
    base_wrench = dynamics.base_wrench

    # the terms of the equations
    coriolis_matrix = structure.coriolis_matrix
    coriolis_force = structure.coriolis_force
    gravity_force = structure.gravity_force
    bias_force = structure.bias_force
    friction_force = structure.friction_force
    christoffel = structure.christoffel
    mass_matrix_rate = structure.mass_matrix_rate
    kinetic_energy = structure.kinetic_energy
    potential_energy = structure.potential_energy
    power = structure.power

    # derivatives and geometry
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    inverse_dynamics_second_derivatives = derivatives.inverse_dynamics_second_derivatives
    inverse_dynamics_hessian = derivatives.inverse_dynamics_hessian
    mass_matrix_gradient = derivatives.mass_matrix_gradient
    geometry_derivatives = derivatives.geometry_derivatives
    dh_derivatives = derivatives.dh_derivatives
    linearize = derivatives.linearize
    riemann_curvature = geometry.riemann_curvature
    scalar_curvature = geometry.scalar_curvature
    sectional_curvature = geometry.sectional_curvature
    is_flat = geometry.is_flat
    canonical_coordinates = metric.canonical_coordinates
    path_energy = metric.path_energy

    # kinematics
    pose = kinematics.pose
    poses = kinematics.poses
    twist = kinematics.twist
    jacobian = kinematics.jacobian
    jacobian_rate = kinematics.jacobian_rate
    center_of_mass = kinematics.center_of_mass
    com_jacobian = kinematics.com_jacobian
    momentum = kinematics.momentum
    centroidal_momentum_matrix = kinematics.centroidal_momentum_matrix
    centroidal_momentum_matrix_rate = kinematics.centroidal_momentum_matrix_rate
    composite_inertia = kinematics.composite_inertia

    # task space
    task_inertia = task_space.task_inertia
    task_bias = task_space.task_bias
    task_gravity = task_space.task_gravity
    dynamically_consistent_inverse = task_space.dynamically_consistent_inverse

    # control laws
    gravity_compensation = control.gravity_compensation
    computed_torque = control.computed_torque
    impedance = control.impedance
    momentum_observer = control.momentum_observer

    # diagonalized equations
    diagonalize = diagonalization.diagonalize
    quasi_velocity = diagonalization.quasi_velocity
    joint_velocity = diagonalization.joint_velocity
    quasi_force = diagonalization.quasi_force
    joint_force = diagonalization.joint_force
    quasi_coriolis = diagonalization.quasi_coriolis
    quasi_coriolis_matrix = diagonalization.quasi_coriolis_matrix
    spatial_operators = diagonalization.spatial_operators
    spatial_operator_rates = diagonalization.spatial_operator_rates

    # terms of the books
    lagrange_euler_terms = terms.lagrange_euler_terms
    dalembert_terms = terms.dalembert_terms
    newton_euler_pass = terms.newton_euler_pass
    stacked_operators = terms.stacked_operators
    probe = terms.probe
    lagrange_euler_matrices = factors.lagrange_euler_matrices
    stacked_terms = factors.stacked_terms
    zero_pose_factors = factors.zero_pose_factors
    partial_velocities = partials.partial_velocities
    kinetic_energy_partials = partials.kinetic_energy_partials
    kinetic_energy_parts = partials.kinetic_energy_parts
    suffix_sums = partials.suffix_sums
    dalembert_velocity_terms = slow.dalembert_velocity_terms
    diagonalized_terms = quasi.diagonalized_terms
    torque_components = quasi.torque_components

    # motion in time
    simulate = simulate.simulate
    torques_along = along.torques_along
    rollout = rollout.rollout

    # motions found by computation
    inverse_kinematics = inverse_kinematics.inverse_kinematics
    follow = follow.follow
    fastest = fastest.fastest
    least_effort = least_effort.least_effort
    lqr = feedback.lqr
    optimal_control = optimal_control.optimal_control

    # extremes over all states of a range
    sweep = sweep.sweep
    bound = bounding.bound
    size = sizes.size
    largest_payload = carried.largest_payload

    # simplified models
    dominance = dominance.dominance
    zero_couplings = slow.zero_couplings
    inverse_dynamics_without_coriolis = slow.inverse_dynamics_without_coriolis
    speed_limit = slow.speed_limit

    # parameters
    parameter_names = parameters.parameter_names
    regressor_parameters = parameters.regressor_parameters
    regressor = parameters.regressor
    base_parameters = parameters.base_parameters
    base_regressor = parameters.base_regressor
    parameters = parameters.parameter_vector
    symbolic = symbolic_parameters.symbolic

    def __dir__(self) -> list[str]:
        absent = {*groups.HIDDEN, *(("tree",) if self.runs else ())}  # of joints with quaternions there is no plain tree
        return [name for name in super().__dir__() if name not in absent]


def robot(name: str) -> Robot:
    """A built-in robot by name; `robot_names()` lists them."""
    return zoo.robot(Robot, name)


def load(path: str | Path, *, mimic: bool = True, free_base: bool = False, xacro: Mapping[str, str | float] | None = None) -> Robot:
    """A robot from a URDF, xacro, MJCF or TOML file. Suspicious data are kept as they are, with one warning.

    `robot.check()` lists them, and what of the file was not understood. MJCF needs the package mujoco, xacro the package xacro.
    Joints that mimic others follow them, and are not among `joint_names`; with mimic=False all joints are independent.
    free_base=True sets the base free, as `with_free_base` does: for robots that walk, fly or float.
    xacro: arguments of a xacro file by name. The file is a program; expand only those that you trust.
    """
    return files.load(Robot, path, mimic=mimic, free_base=free_base, xacro=xacro)


def random_robot(seed: int, joints: str = "RPRRP", parents: list[int] | tuple[int, ...] | None = None) -> Robot:
    """A random robot with full inertias, general geometry and tilted gravity; the same for the same arguments.

    >>> random_robot(7, "RPH")
    <Robot 'random_RPH_7': 3 joints RPH>
    """
    return random.random_robot(Robot, seed, joints, parents)
