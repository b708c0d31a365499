"""The list of quantities: what users can compute for a robot, by name.

Programs that only the library itself uses (for example a stage of the simulator) are `Quantity` objects where they are used.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice
from dalembert.derived import centroidal, closed, control, derivatives, joints, kinematics, regressor, task_space, terms
from dalembert.derived.make import Recipe
from dalembert.engine.quantity import Quantity, Values
from dalembert.formulations import generalized_dalembert, lagrange_euler, newton_euler, spatial_operator, stacked_operators
from dalembert.formulations import methods as formulated

N, NN, NNN, BIG = ("n",), ("n", "n"), ("n", "n", "n"), ("6n", "6n")
MOTION, FACTOR, FACTORS = ("motion",), ("factors",), ("factors", "factors")
Q, QD, QDD, TAU = (
    {"q": Values(("q",), "rad or m")},
    {"qd": Values(MOTION, "rad/s or m/s")},
    {"qdd": Values(MOTION, "rad/s^2 or m/s^2")},
    {"tau": Values(N, "N m or N")},
)
NU, EPSILON = {"nu": Values(FACTOR, "sqrt(J)")}, {"epsilon": Values(FACTOR, "sqrt(J)/s")}
STATE = Q | QD | QDD
OUTSIDE = {
    "wrenches": Values(("links", 6), "N m, N"),
    "base_twist": Values((6,), "rad/s, m/s"),
    "base_acceleration": Values((6,), "rad/s^2, m/s^2"),
}
POINT, DAMPING = {"point": Values((3,), "m")}, {"damping": Values((), "1/sqrt(kg m^2) or 1/sqrt(kg)")}
LINK: dict[str, Any] = {"link": None}
FRAME: dict[str, Any] = {**LINK, "frame": "body"}
INVERSE = formulated("inverse_dynamics")
SOLVING = ("walker_orin_3", "joint_acceleration")  # forward dynamics that takes M and forces as they are: of coupled robots, too
DERIVATIVES = (*formulated("inverse_dynamics_derivatives"), *INVERSE)
WORLD = "composite_body_world"

_RATES = dict.fromkeys(spatial_operator.OperatorRates._fields, Values(BIG, "SI")) | {
    "H": Values(("n", "6n"), "1/s"),
    "D": Values(FACTOR, "tau/qd"),
    "G": Values(("6n", "n"), "SI"),
    "m": Values(FACTORS, "sqrt(J)/qd/s"),
}
_OPERATORS = dict.fromkeys(spatial_operator.SpatialOperators._fields, Values(BIG, "SI")) | {
    "H": Values(("n", "6n"), "1"),
    "D": Values(FACTOR, "tau/qdd"),
    "G": Values(("6n", "n"), "SI"),
    "K": Values(("6n", "n"), "SI"),
}


def _kinematic(
    function: Callable[..., Array], about: str, inputs: Any, values: Values, optional: Any = None, options: Any = None
) -> Quantity:
    """A plain function of a model, of arrays by name and of options, which is recorded."""

    def recipe(model: Any, make: Any, method: str, given: tuple[str, ...], **chosen: Any) -> Any:
        return lambda **arrays: function(model, **arrays, **chosen)

    name = function.__name__
    return Quantity(
        name, about, inputs, {name: values}, "recursive", "kinematics",
        optional or {}, options or {}, recipe=recipe, recipes=("recursive",),
    )  # fmt: skip


def _task(name: str, about: str, function: Callable[..., Array], inputs: Any, values: Values) -> Quantity:
    return Quantity(
        name, about, inputs, {name: values}, "composite_body", "task space",
        POINT | DAMPING, {**FRAME, "rows": tuple(range(6))}, recipe=(recipe := task_space.task(name, function)),
        recipes=("composite_body",), coupled=recipe, coupled_methods=("composite_body",),
    )  # fmt: skip


def _part(name: str, about: str, recipe: Recipe, inputs: Any, output: Any = None, **more: Any) -> Quantity:
    """What any method of inverse dynamics gives."""
    like = ("inverse_dynamics", 0)
    return Quantity(name, about, inputs, output or TAU, "newton_euler", "terms", recipe=recipe, recipes=INVERSE, like=like, **more)


def _diagonal(name: str, about: str, inputs: Any, output: Any, invariant: bool = True) -> Quantity:
    return Quantity(
        name, about, inputs, output, "diagonalized_normalized", "diagonalization", invariant=invariant, divides=True, charted=True
    )  # fmt: skip


def _law(name: str, about: str, author: str, recipe: Recipe, inputs: Any, output: Any = None, **more: Any) -> Quantity:
    return Quantity(
        name, about, inputs, output or TAU, author, "control",
        recipe=recipe, recipes=(author,), coupled=recipe, coupled_methods=(author,), **more,
    )  # fmt: skip


_GAINS = {"kp": Values(N, "1/s^2"), "kd": Values(N, "1/s")}
_WANTED = {"q_d": Q["q"], "qd_d": QD["qd"], "qdd_d": QDD["qdd"]}
_JOINT_DAMPING = Values(N, "tau/qd")
_ENERGY = {"energy": Values((), "J")}
_LIST = (
    # --- dynamics
    Quantity(
        "inverse_dynamics", "Joint forces that produce the given motion.",
        STATE, TAU, "newton_euler", "dynamics", OUTSIDE, joints=joints.forces, invariant=True, motors=joints.rotor_forces,
        orders={
            "angular_velocity_lagrange": 2, "stacked_operators": 2, "generalized_dalembert": 3,
            "lie_closed_form": 4, "lagrange_euler": 4, "uicker_kahn": 4,
        },
    ),
    Quantity(
        "forward_dynamics", "Joint accelerations under the given forces.",
        Q | QD | TAU, QDD, "articulated_body", "dynamics", OUTSIDE, joints=joints.accelerations, invariant=True, divides=True,
        coupled=terms.forward_dynamics, coupled_methods=SOLVING,
        orders=dict.fromkeys(
            ("walker_orin_1", "walker_orin_2", "walker_orin_3", "walker_orin_4", "joint_acceleration", *closed.ROUTES), 3
        ),
    ),
    Quantity(
        "mass_matrix", "The mass matrix M(q): kinetic energy is qd . M qd / 2.",
        Q, {"M": Values(NN, "tau/qdd")}, "composite_body", "dynamics", joints=joints.inertias, invariant=True,
        motors=joints.rotor_inertias,
        orders=dict.fromkeys(formulated("mass_matrix"), 3) | {"composite_body": 2, WORLD: 2, "probing": 2}, deep=(WORLD, 9.0),
    ),
    Quantity(
        "inverse_mass_matrix", "The inverse of the mass matrix, M(q)^-1.",
        Q, {"M_inverse": Values(("motion", "motion"), "qdd/tau")}, "composite_body", "dynamics", invariant=True, divides=True,
        coupled=terms.inverse_mass_matrix, coupled_methods=("composite_body",),
    ),
    Quantity(
        "joint_wrenches", "Bearing loads: the wrench that each joint exerts ON its link.",
        STATE, {"joint_wrenches": Values(("links", 6), "N m, N")}, "newton_euler", "dynamics", OUTSIDE,
    ),
    Quantity(
        "base_wrench", "What the base bears: the wrench that it exerts ON the links, about its origin in its axes.",
        STATE, {"base_wrench": Values((6,), "N m, N")}, "newton_euler", "dynamics", OUTSIDE,
        recipe=centroidal.base_wrench, recipes=("newton_euler",),
    ),
    # --- terms
    Quantity(
        "coriolis_matrix", "The Coriolis matrix of the Christoffel symbols, C_ij = sum_k Gamma_ijk qd_k.",
        Q | QD, {"C": Values(NN, "tau/qd")}, "composite_body", "terms", invariant=True,
        orders={"composite_body": 2, WORLD: 2, "lie_closed_form": 4}, deep=(WORLD, 7.5),
    ),
    _part(
        "coriolis_force", "Coriolis and centrifugal forces C(q, qd) qd.",
        terms.part_of_forces(gravity=False, moving=True), Q | QD,
    ),
    _part(
        "gravity_force", "The joint forces that hold the arm still, g(q).",
        terms.part_of_forces(gravity=True, moving=False), Q,
    ),
    _part(
        "bias_force", "C(q, qd) qd + g(q): the joint forces at zero acceleration, without friction.",
        terms.part_of_forces(gravity=True, moving=True), Q | QD,
    ),
    Quantity(
        "christoffel", "Christoffel symbols of the first kind, the force index FIRST: Gamma[i, j, k] = Gamma[i, k, j].",
        Q, {"Gamma": Values(NNN, "tau/qd^2")}, "differentiated", "terms",
        invariant=True, recipe=terms.christoffel, recipes=("differentiated",),
        orders={"differentiated": 3, "lie_closed_form": 4}, charted=True,
    ),
    Quantity(
        "mass_matrix_rate", "The time derivative of the mass matrix along a motion, Mdot = C + C^T.",
        Q | QD, {"Mdot": Values(NN, "tau/qd")}, "composite_body", "terms",
        recipe=terms.mass_matrix_rate, recipes=formulated("coriolis_matrix"),
        like=("coriolis_matrix", 0), deep=(WORLD, 7.5),
    ),
    _part(
        "kinetic_energy", "qd . M(q) qd / 2 in J, rotors included.", terms.kinetic_energy, Q | QD, _ENERGY,
        motors=joints.rotor_energy,
    ),
    Quantity(
        "potential_energy",
        "-sum m gravity . r in J, of the moving links, zero when their centres of mass are at the base's origin.",
        Q, _ENERGY, "poses", "terms", recipe=terms.potential_energy, recipes=("poses",),
    ),
    # --- kinematics
    _kinematic(
        kinematics.pose, "The pose of a link or frame in the world, as a 4x4 matrix.", Q, Values((4, 4), "1, m"), POINT, LINK
    ),
    _kinematic(kinematics.poses, "The poses of all moving links in the world, in joint order.", Q, Values(("links", 4, 4), "1, m")),
    _kinematic(
        kinematics.twist,
        "Angular velocity of a link and linear velocity of a point of it: (omega, v) = J(q) qd.",
        Q | QD, Values((6,), "rad/s, m/s"), POINT, FRAME,
    ),
    _kinematic(
        kinematics.jacobian,
        "The matrix J with J qd = (omega, v), the twist of a link at a point.",
        Q, Values((6, "n"), "(omega, v)/qd"), POINT, FRAME,
    ),
    _kinematic(
        kinematics.jacobian_rate,
        "dJ/dt of `jacobian` with the same link, frame and point, while the joints move with qd.",
        Q | QD, Values((6, "n"), "(omega, v)/qd/s"), POINT, FRAME,
    ),
    _kinematic(
        kinematics.center_of_mass,
        "The centre of mass in the world, of the links and of what is fixed to the base (`total_mass`).", Q, Values((3,), "m"),
    ),
    _kinematic(
        kinematics.com_jacobian,
        "The matrix that gives the velocity of `center_of_mass` in the world from qd.", Q, Values((3, "n"), "v/qd"),
    ),
    _kinematic(
        kinematics.momentum,
        "Total momentum (angular, linear) in the axes of the world.",
        Q | QD, Values((6,), "N m s, N s"), options={"about": "world"},
    ),
    Quantity(
        "centroidal_momentum_matrix", "The matrix that gives the momentum about the centre of mass, in world axes, from qd.",
        Q, {"A": Values((6, "n"), "momentum/qd")}, "recursive", "kinematics",
        recipe=centroidal.momentum_matrix, recipes=("recursive",),
    ),
    Quantity(
        "centroidal_momentum_matrix_rate", "dA/dt of `centroidal_momentum_matrix`, while the joints move with qd.",
        Q | QD, {"Adot": Values((6, "n"), "momentum/qd/s")}, "recursive", "kinematics",
        recipe=centroidal.momentum_matrix_rate, recipes=("recursive",),
    ),
    _kinematic(
        centroidal.composite_inertia,
        "The inertia of the whole robot as one body, about its centre of mass in world axes.", Q, Values((6, 6), "kg m^2, kg"),
    ),
    # --- task space
    _task(
        "task_inertia", "Lambda = (J M^-1 J^T)^-1, the apparent inertia of the link in task space.",
        task_space.inertia, Q, Values((task_space.row_count,) * 2, "F/V'"),
    ),
    _task(
        "task_bias", "eta of Lambda V' + eta + gravity = F: Lambda (J M^-1 c - J' qd), c the Coriolis force.",
        task_space.bias, Q | QD, Values((task_space.row_count,), "N m or N"),
    ),
    _task(
        "task_gravity", "Lambda J M^-1 g, the gravity term of F; J^-T g where J is square.",
        task_space.gravity, Q, Values((task_space.row_count,), "N m or N"),
    ),
    _task(
        "dynamically_consistent_inverse", "Jbar = M^-1 J^T Lambda, the inverse of J with the least kinetic energy.",
        task_space.consistent_inverse, Q, Values(("motion", task_space.row_count), "qd/V"),
    ),
    # --- control
    _law(
        "gravity_compensation", "tau = g(q) + assistance friction(qd) - damping qd: the arm floats, and is moved by hand.",
        "takegaki_arimoto", control.law(control.gravity_compensation),
        Q | QD | {"damping": _JOINT_DAMPING, "assistance": Values(N, "1")},
    ),
    _law(
        "computed_torque", "tau = ID(q, qd, qdd_d + kd (qd_d - qd) + kp (q_d - q)): follows a motion with linear error dynamics.",
        "luh_walker_paul", control.law(control.computed_torque), Q | QD | _WANTED | _GAINS, charted=True,
    ),
    _law(
        "impedance", "tau = J^T W + g(q) - joint_damping qd: springs and dampers W between a link and its target pose.",
        "hogan", control.impedance,
        Q | QD | {
            "target": Values((4, 4), "1, m"), "stiffness": Values((6,), "N m/rad, N/m"),
            "damping": Values((6,), "N m s/rad, N s/m"), "joint_damping": _JOINT_DAMPING,
        },
        options=LINK,
    ),
    _law(
        "momentum_observer", "One step of an observer that estimates external joint forces without a sensor.",
        "de_luca_mattone", control.momentum_observer,
        Q | QD | TAU | {"integral": Values(N, "N m s or N s"), "gain": Values(N, "1/s"), "dt": Values((), "s")},
        {"residual": TAU["tau"], "next_integral": Values(N, "N m s or N s")}, result=control.Observed, charted=True,
    ),
    # --- derivatives
    Quantity(
        "inverse_dynamics_derivatives", "d tau / d q, d tau / d qd, d tau / d qdd of inverse dynamics.",
        STATE, {f"dtau_d{x}": Values(NN, f"tau/{x}") for x in STATE}, "newton_euler", "derivatives", OUTSIDE,
        result=derivatives.InverseDerivatives, recipe=derivatives.inverse_dynamics_derivatives, recipes=INVERSE,
        joints=joints.slopes, invariant=True, like=("inverse_dynamics", 1), deep=(WORLD, 4.0), motors=joints.rotor_slopes,
        charted_methods=formulated("inverse_dynamics_derivatives"),
    ),
    Quantity(
        "forward_dynamics_derivatives", "d qdd / d q, d qdd / d qd, d qdd / d tau of forward dynamics.",
        Q | QD | TAU, {f"dqdd_d{x}": Values(("motion", "n"), f"qdd/{x}") for x in ("q", "qd", "tau")},
        "articulated_body", "derivatives", OUTSIDE, result=derivatives.ForwardDerivatives, divides=True,
        recipe=derivatives.forward_dynamics_derivatives, recipes=("articulated_body",),
        like=("forward_dynamics", 1), coupled=derivatives.forward_dynamics_derivatives, coupled_methods=SOLVING[:1],
    ),
    Quantity(
        "inverse_dynamics_second_derivatives", "The second derivatives of inverse dynamics that are not zero.",
        STATE, {name: Values(NNN, f"tau/{name[1:].replace('_d', '/')}") for name in derivatives.SecondDerivatives._fields},
        "newton_euler", "derivatives", result=derivatives.SecondDerivatives,
        recipe=derivatives.inverse_dynamics_second_derivatives, recipes=DERIVATIVES,
        like=("inverse_dynamics", 2), deep=(WORLD, 3.0), charted=True,
    ),
    Quantity(
        "inverse_dynamics_hessian", "Second derivatives of inverse dynamics, weighted: sum_i weights_i d2 tau_i / dx dy.",
        STATE | {"weights": Values(MOTION, "1/tau")},
        {name: Values(NN, f"1/{name[1:].replace('_d', '/')}") for name in derivatives.Hessian._fields},
        "newton_euler", "derivatives", result=derivatives.Hessian,
        recipe=derivatives.inverse_dynamics_hessian, recipes=INVERSE, joints=joints.curvatures,
        invariant=True, like=("inverse_dynamics", 1), deep=(WORLD, 3.0), charted=True,
    ),
    Quantity(
        "mass_matrix_gradient", "dM_ij / dq_k at [..., i, j, k].",
        Q, {"dM_dq": Values(NNN, "tau/qdd/q")}, "composite_body", "derivatives",
        recipe=terms.mass_matrix_gradient, recipes=formulated("mass_matrix"),
        like=("mass_matrix", 1), charted=True,
    ),
    Quantity(
        "geometry_derivatives", "How joint forces change with the geometry: for design, calibration, tolerances.",
        STATE, dict.fromkeys(derivatives.GeometryDerivatives._fields, Values(("n", "links", 6), "tau/rad, tau/m")),
        "newton_euler", "derivatives",
        result=derivatives.GeometryDerivatives, recipe=derivatives.geometry_derivatives, recipes=("newton_euler",), charted=True,
    ),
    # --- parameters
    Quantity(
        "regressor", "Y(q, qd, qdd) with Y @ parameters = tau, gravity included.",
        STATE, {"Y": Values(("n", regressor.width), "tau/parameter")}, "regressor", "parameters",
        options={"columns": None, "friction": False, "armature": False, "friction_offset": False},
        recipe=regressor.regressor, recipes=("regressor",),
    ),
    # --- diagonalization
    Quantity(
        "diagonalize", "D, U, m, l and det of M(q) = U diag(D) U^T = m m^T, l = m^-1.",
        Q,
        {
            "D": Values(FACTOR, "tau/qdd"), "U": Values(FACTORS, "qd/qd"), "m": Values(FACTORS, "sqrt(J)/qd"),
            "l": Values(FACTORS, "qd/sqrt(J)"), "det": Values((), "product of D"),
        },
        "spatial_operator", "diagonalization", result=spatial_operator.Diagonalization, invariant=True, divides=True, charted=True,
    ),
    _diagonal("quasi_velocity", "nu = m^T qd, or xi = U^T qd.", Q | QD, NU),
    _diagonal("joint_velocity", "qd from the quasi-velocities nu (or xi): the inverse of `quasi_velocity`.", Q | NU, QD),
    _diagonal("quasi_force", "epsilon = m^-1 tau, or kappa = U^-1 tau.", Q | TAU, EPSILON),
    _diagonal("joint_force", "tau from the quasi-forces epsilon (or kappa): the inverse of `quasi_force`.", Q | EPSILON, TAU),
    _diagonal(
        "quasi_coriolis",
        "C(q, nu) of nu' + C(q, nu) + m^-1 g = epsilon, or C(q, xi) of D xi' + C(q, xi) + U^-1 g = kappa.",
        Q | NU, {"C": Values(FACTOR, "sqrt(J)/s")},
    ),
    _diagonal(
        "quasi_coriolis_matrix",
        "The skew matrix c_ki(q, nu) of Kozlowski's (48): C(q, nu) without the part of the bias forces V x M V is this times nu.",
        Q | NU, {"C": Values(FACTORS, "1/s")}, invariant=False,
    ),
    Quantity(
        "spatial_operators", "H, M, E_Phi, Phi, P, D, G, K, tau_bar, E_Psi and Psi as matrices: mass matrix = H Phi M Phi^* H^*.",
        Q, _OPERATORS, "spatial_operator", "diagonalization",
        result=spatial_operator.SpatialOperators, divides=True, rotors=False, charted=True,
    ),
    Quantity(
        "spatial_operator_rates",
        "Time derivatives of the spatial operators by Kozlowski's table 1, with lambda-dot (18) and that of the factor m (29).",
        Q | QD, _RATES, "spatial_operator", "diagonalization",
        result=spatial_operator.OperatorRates, divides=True, rotors=False,
        orders={"spatial_operator": 3}, charted=True,
    ),
    # --- terms of the books
    Quantity(
        "newton_euler_pass",
        "omega, omega_dot, v_dot, a_bar, F, N, f, n of every link, each (..., n, 3) in link axes: "
        "Fu, Gonzalez and Lee, table 3.3.",
        STATE,
        dict(zip(newton_euler.Pass._fields, (
            Values(("links", 3), u) for u in ("rad/s", "rad/s^2", "m/s^2", "m/s^2", "N", "N m", "N", "N m")), strict=True)),
        "newton_euler", "books", OUTSIDE, result=newton_euler.Pass,
    ),
    Quantity(
        "lagrange_euler_terms",
        "D, H, h and c of Fu, Gonzalez and Lee, section 3.2: tau = D qdd + h + c, h_i = qd^T H_i qd.",
        Q | QD,
        {
            "D": Values(NN, "tau/qdd"), "H": Values(NNN, "tau/qd^2"),
            "h": Values(N, "N m or N"), "c": Values(N, "N m or N"),
        },
        "lagrange_euler", "books", result=lagrange_euler.Terms,
        orders={"lagrange_euler": 4}, charted=True,
    ),
    Quantity(
        "dalembert_terms",
        "D_tran, D_rot, h_tran, h_rot and c of the generalized d'Alembert equations: Fu, Gonzalez and Lee, section 3.4.",
        Q | QD,
        {
            "D_tran": Values(NN, "tau/qdd"), "D_rot": Values(NN, "tau/qdd"),
            "h_tran": Values(N, "N m or N"), "h_rot": Values(N, "N m or N"), "c": Values(N, "N m or N"),
        },
        "generalized_dalembert", "books", result=generalized_dalembert.Terms,
        orders={"generalized_dalembert": 3}, charted=True,
    ),
    Quantity(
        "stacked_operators",
        "The matrices A (6n x n), G, Gamma and L (6n x 6n) of Park and Lynch, (9.64), (9.65), (9.68), (9.76): M = A^T L^T G L A.",
        Q,
        {"A": Values(("6n", "n"), "1"), "G": Values(BIG, "SI"), "Gamma": Values(BIG, "SI"), "L": Values(BIG, "SI")},
        "stacked_operators", "books", result=stacked_operators.Operators, charted=True,
    ),
)  # fmt: skip
# what robots with loops have: by recipes of their own, or as the robot with its loops cut has it at motions that keep them closed
_OF_LOOPS: dict[str, tuple[Recipe, tuple[str, ...]]] = {
    "forward_dynamics": (closed.forward_dynamics, closed.ROUTES),
    "inverse_mass_matrix": (closed.inverse_mass_matrix, ("composite_body",)),
    "coriolis_matrix": (closed.coriolis_matrix, formulated("coriolis_matrix")),
    "coriolis_force": (closed.part_of_forces("coriolis_force"), INVERSE),
    "bias_force": (closed.part_of_forces("bias_force"), INVERSE),
    "mass_matrix_rate": (terms.mass_matrix_rate, formulated("coriolis_matrix")),
    "inverse_dynamics_derivatives": (closed.inverse_dynamics_derivatives, INVERSE),
    "forward_dynamics_derivatives": (closed.forward_dynamics_derivatives, closed.ROUTES),
    "computed_torque": (control.law(control.computed_torque), ("luh_walker_paul",)),
}
_FOLLOWING_LOOPS = (
    "inverse_dynamics", "mass_matrix", "gravity_force", "kinetic_energy", "potential_energy", "pose", "poses", "twist", "jacobian",
    "center_of_mass", "com_jacobian", "momentum", "regressor",
)  # fmt: skip


def _with_loops(quantity: Quantity) -> Quantity:
    if quantity.name in _FOLLOWING_LOOPS:
        shapes = {name: values.shape for name, values in quantity.outputs.items()}
        return replace(quantity, closed=closed.following(quantity.name, shapes))
    recipe, by = _OF_LOOPS.get(quantity.name, (None, ()))
    return replace(quantity, closed=recipe, closed_methods=by)


QUANTITIES = {quantity.name: _with_loops(quantity) for quantity in _LIST}


def quantity_named(quantity: str | Quantity) -> Quantity:
    """A quantity by name; one that is already a `Quantity` is returned as it is."""
    if isinstance(quantity, Quantity):
        return quantity
    return QUANTITIES[choice(quantity, "quantity", QUANTITIES)]


def methods(quantity: str, taking: str | None = None) -> tuple[str, ...]:
    """Names of the methods that compute a quantity; `taking` keeps those that have an optional input, such as "base_twist".

    >>> methods("inverse_dynamics")[:3]
    ('newton_euler', 'newton_euler_base', 'lie_group')
    """
    described = quantity_named(quantity)
    if taking is None:
        return described.methods
    return described.taking(choice(taking, f"optional input of {described.name}:", OUTSIDE | dict(described.optional)))
