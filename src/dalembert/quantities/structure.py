"""The terms of M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau, the symbols behind C, and the energies."""

from typing import Any

import numpy as np

from dalembert.arguments import batch
from dalembert.formulations import formulation, methods
from dalembert.model.model import Model
from dalembert.quantities.quantity import evaluate, joint_vector, program
from dalembert.quantities.table import QD, Q, Quantity, joint_parameters, register
from dalembert.quantities.table import friction as friction_terms
from dalembert.spatial import Array, dot, rotate, zeros
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay


def coriolis_matrix(
    robot: Model, q: Any, qd: Any, *, method: str = "composite_body", backend: str = "auto", out: Any = None
) -> Array:
    """The Coriolis matrix of the Christoffel symbols, C_ij = sum_k Gamma_ijk qd_k. Signature (n),(n)->(n,n).

    C qd are the Coriolis and centrifugal forces, and Mdot - 2 C is skew. method: `composite_body` takes a number of steps that
    grows with n^2; `lie_closed_form` sums the symbols of Park, Bobrow and Ploen.

    >>> import dalembert as da
    >>> da.robot("two_link").coriolis_matrix([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [[-0.479426, -0.719138], [0.239713, 0.0]]
    """
    return evaluate(robot, "coriolis_matrix", method, {"q": q, "qd": qd}, backend, out)


def mass_matrix_rate(robot: Model, q: Any, qd: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """The time derivative of the mass matrix along a motion, Mdot = C + C^T. Signature (n),(n)->(n,n).

    >>> import dalembert as da
    >>> da.robot("two_link").mass_matrix_rate([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [[-0.958851, -0.479426], [-0.479426, 0.0]]
    """
    return evaluate(robot, "mass_matrix_rate", "composite_body", {"q": q, "qd": qd}, backend, out)


def christoffel(robot: Model, q: Any, *, method: str = "differentiated", backend: str = "auto", out: Any = None) -> Array:
    """Christoffel symbols of the first kind, the force index FIRST: Gamma[i, j, k] = Gamma[i, k, j]. Signature (n)->(n,n,n).

    Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2; the Coriolis and centrifugal force on joint i is
    sum_jk Gamma_ijk qd_j qd_k. method: `differentiated` takes the derivatives of the traced mass matrix, `lie_closed_form` the
    formulas (55)-(57) of Park, Bobrow and Ploen (whose own symbols have the force index last).

    >>> import dalembert as da
    >>> gamma = da.robot("two_link").christoffel([0.0, 0.5])
    >>> gamma[1].round(6).tolist()          # the second joint feels the first one's velocity squared
    [[0.239713, 0.0], [0.0, 0.0]]
    """
    return evaluate(robot, "christoffel", method, {"q": q}, backend, out)


def coriolis_force(robot: Model, q: Any, qd: Any, *, method: str = "newton_euler", backend: str = "auto", out: Any = None) -> Array:
    """Coriolis and centrifugal forces C(q, qd) qd. Signature (n),(n)->(n). By any method of inverse dynamics.

    >>> import dalembert as da
    >>> da.robot("two_link").coriolis_force([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [-1.917702, 0.239713]
    """
    return evaluate(robot, "coriolis_force", method, {"q": q, "qd": qd}, backend, out)


def gravity_force(robot: Model, q: Any, *, method: str = "newton_euler", backend: str = "auto", out: Any = None) -> Array:
    """The joint forces that hold the arm still, g(q). Signature (n)->(n). By any method of inverse dynamics.

    >>> import dalembert as da
    >>> da.robot("two_link").gravity_force([0.0, 0.0]).tolist()
    [19.6124, 4.9031]
    """
    return evaluate(robot, "gravity_force", method, {"q": q}, backend, out)


def bias_force(robot: Model, q: Any, qd: Any, *, method: str = "newton_euler", backend: str = "auto", out: Any = None) -> Array:
    """C(q, qd) qd + g(q): what is left of the joint forces without acceleration and friction. Signature (n),(n)->(n).

    >>> import dalembert as da
    >>> da.robot("two_link").bias_force([0.0, 0.0], [1.0, 2.0]).tolist()
    [19.6124, 4.9031]
    """
    return evaluate(robot, "bias_force", method, {"q": q, "qd": qd}, backend, out)


def friction_force(robot: Model, qd: Any) -> Array:
    """damping qd + coulomb sign(qd). Signature (n)->(n).

    >>> import dalembert as da
    >>> da.robot("two_link").with_friction(damping=0.5, coulomb=2.0).friction_force([1.0, -1.0]).tolist()
    [2.5, -2.5]
    """
    qd = joint_vector(robot, "friction_force", "qd", qd)
    return np.asarray(sum(friction_terms(robot, qd), np.zeros(qd.shape)))


def kinetic_energy(robot: Model, q: Any, qd: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """qd . M(q) qd / 2 in J, rotors included. Signature (n),(n)->().

    >>> import dalembert as da
    >>> round(float(da.robot("two_link").kinetic_energy([0.0, 0.0], [1.0, 0.0])), 6)
    1.333333
    """
    return evaluate(robot, "kinetic_energy", "newton_euler", {"q": q, "qd": qd}, backend, out)


def potential_energy(robot: Model, q: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """-sum m gravity . r in J, of the moving links, zero when their centres of mass are at the base's origin. Signature (n)->().

    Its gradient is `gravity_force`.

    >>> import dalembert as da
    >>> da.robot("two_link").potential_energy([1.5707963267948966, 0.0]).round(4).tolist()
    19.6124
    """
    return evaluate(robot, "potential_energy", "poses", {"q": q}, backend, out)


def power(robot: Model, qd: Any, tau: Any) -> Array:
    """qd . tau in W: what the joint forces do. Signature (n),(n)->(). Without friction, the rate of kinetic and potential energy.

    >>> import dalembert as da
    >>> float(da.robot("two_link").power([1.0, 2.0], [3.0, -1.0]))
    1.0
    """
    qd, tau = joint_vector(robot, "power", "qd", qd), joint_vector(robot, "power", "tau", tau)
    batch({"qd": qd.shape[:-1], "tau": tau.shape[:-1]}, "power")
    with np.errstate(all="ignore"):  # infinities: the results say so
        return (qd * tau).sum(axis=-1)


# --- their programs ---------------------------------------------------------------------------------------------------------


def _forces(gravity: bool, moving: bool) -> Any:
    """The program of a part of inverse dynamics, friction left out."""

    def derived(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
        tree = model.reduced_tree if gravity else model.reduced_tree._replace(gravity=zeros(3))
        function, still = formulation("inverse_dynamics", method), zeros(model.n)

        def body(*state: Any) -> Any:
            return function(tree, state[0], state[1] if moving else still, still) if model.n else zeros(0)

        return trace(body, dict.fromkeys(("q", "qd") if moving else ("q",), (model.n,)), outputs=("tau",))

    return derived


def _mass_matrix_rate(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    C = program(model, "coriolis_matrix", method)

    def body(q: Any, qd: Any) -> Any:
        found = replay(C, {"q": q, "qd": qd})
        return found + found.T

    return trace(body, {"q": (model.n,), "qd": (model.n,)}, outputs=("Mdot",))


def _christoffel(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    gradient = program(model, "mass_matrix_gradient")

    def body(q: Any) -> Any:
        D = replay(gradient, {"q": q})  # D[i, j, k] = dM_ij / dq_k
        return (D + np.moveaxis(D, 2, 1) - np.moveaxis(D, 2, 0)) / 2

    return trace(body, {"q": (model.n,)}, outputs=("Gamma",))


def _mass_matrix_gradient(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    return differentiate(program(model, "mass_matrix", method), "q", mode="forward")


def _kinetic_energy(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    tree = model.reduced_tree._replace(gravity=zeros(3))
    function, armature = formulation("inverse_dynamics", method), joint_parameters(model)[0]

    def body(q: Any, qd: Any) -> Any:
        if not model.n:
            return 0
        momentum = function(tree, q, zeros(model.n), qd)  # M qd
        return dot(qd, momentum + armature * qd if armature.any() else momentum) / 2

    return trace(body, {"q": (model.n,), "qd": (model.n,)}, outputs=("energy",))


def _potential_energy(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    tree = model.exact_tree

    def body(q: Any) -> Any:
        points = (rotate(T.rotation, c) + T.translation for T, c in zip(tree.poses(q), tree.com, strict=True))
        return -sum((m * dot(tree.gravity, r) for m, r in zip(tree.mass, points, strict=True)), 0)

    return trace(body, {"q": (model.n,)}, outputs=("energy",))


_ANY = methods("inverse_dynamics")
_TAU = {"tau": ("n",)}
register("coriolis_force", Quantity(Q | QD, _TAU, "newton_euler", derived=_forces(False, True), methods=_ANY))
register("gravity_force", Quantity(Q, _TAU, "newton_euler", derived=_forces(True, False), methods=_ANY))
register("bias_force", Quantity(Q | QD, _TAU, "newton_euler", derived=_forces(True, True), methods=_ANY))
register(
    "mass_matrix_rate",
    Quantity(
        Q | QD, {"Mdot": ("n", "n")}, "composite_body", derived=_mass_matrix_rate, methods=("composite_body", "lie_closed_form")
    ),
)
register(
    "mass_matrix_gradient",
    Quantity(Q, {"dM_dq": ("n", "n", "n")}, "composite_body", derived=_mass_matrix_gradient, methods=methods("mass_matrix")),
)
register(
    "christoffel",
    Quantity(Q, {"Gamma": ("n", "n", "n")}, "differentiated", derived=_christoffel, methods=("differentiated",), invariant=True),
)
register(
    "kinetic_energy", Quantity(Q | QD, {"energy": ()}, "newton_euler", derived=_kinetic_energy, methods=methods("inverse_dynamics"))
)
register("potential_energy", Quantity(Q, {"energy": ()}, "poses", derived=_potential_energy, methods=("poses",)))
