"""The robot that users hold: a model with every quantity bound to it, one line each."""

from dataclasses import dataclass

from dalembert.model import check as looks
from dalembert.model import dh, edit, files, screws
from dalembert.model.model import Model
from dalembert.quantities import diagonalization, dynamics, kinematics, parameters, quantity, symbolic, task_space, terms


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Model):
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

    # changing: each returns a new robot
    with_gravity = edit.with_gravity
    with_base = edit.with_base
    with_payload = edit.with_payload
    with_friction = edit.with_friction
    with_armature = edit.with_armature
    without_friction = edit.without_friction
    without_armature = edit.without_armature
    snapped = edit.snapped
    lock = edit.lock

    # programs
    program = quantity.program
    compile = quantity.compile
    operation_count = quantity.operation_count

    # dynamics
    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    mass_matrix = dynamics.mass_matrix
    inverse_mass_matrix = dynamics.inverse_mass_matrix
    joint_wrenches = dynamics.joint_wrenches

    # kinematics
    pose = kinematics.pose
    poses = kinematics.poses
    twist = kinematics.twist
    jacobian = kinematics.jacobian
    jacobian_rate = kinematics.jacobian_rate
    center_of_mass = kinematics.center_of_mass
    com_jacobian = kinematics.com_jacobian
    momentum = kinematics.momentum

    # task space
    task_inertia = task_space.task_inertia
    task_bias = task_space.task_bias
    task_gravity = task_space.task_gravity
    dynamically_consistent_inverse = task_space.dynamically_consistent_inverse

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

    # parameters
    base_parameters = parameters.base_parameters
    symbolic = symbolic.symbolic
