"""The mass matrix in diagonal form: quasi-velocities, quasi-forces, and the operators behind them. Kozlowski 1995.

M = U D U^T = m m^T with m = U D^1/2 and U unit upper triangular (base first). Normalized quantities are nu = m^T qd and
epsilon = m^-1 tau, so that nu' + C(q, nu) + m^-1 g = epsilon; unnormalized ones xi = U^T qd and kappa = U^-1 tau, so that
D xi' + C(q, xi) + U^-1 g = kappa.
"""

from typing import Any

from dalembert.arguments import choice, flag
from dalembert.formulations.spatial_operator import Diagonalization, OperatorRates, SpatialOperators
from dalembert.model.model import Model
from dalembert.quantities.quantity import evaluate
from dalembert.spatial import Array


def diagonalize(robot: Model, q: Any, *, backend: str = "auto", out: Any = None) -> Diagonalization:
    """D, U, m, l and det of M(q) = U diag(D) U^T = m m^T, l = m^-1. Signature (n)->(n),(n,n),(n,n),(n,n),().

    D[i] is the inertia that joint i feels when all joints behind it are free. Rotors (armature) count.

    >>> import dalembert as da
    >>> d = da.robot("two_link").diagonalize([0.0, 0.0])
    >>> d.D.round(6).tolist(), round(float(d.det), 6)
    ([0.583333, 0.333333], 0.194444)
    """
    return evaluate(robot, "diagonalize", "spatial_operator", {"q": q}, backend, out)


def _of(normalized: bool) -> str:
    return "diagonalized_normalized" if flag(normalized, "normalized") else "diagonalized_unnormalized"


def quasi_velocity(robot: Model, q: Any, qd: Any, *, normalized: bool = True, backend: str = "auto", out: Any = None) -> Array:
    """nu = m^T qd, or xi = U^T qd. Signature (n),(n)->(n). The kinetic energy is nu . nu / 2 = xi . D xi / 2.

    >>> import dalembert as da
    >>> nu = da.robot("two_link").quasi_velocity([0.0, 0.0], [1.0, 0.0])
    >>> round(float(nu @ nu), 6)                             # M[0, 0]
    2.666667
    """
    return evaluate(robot, "quasi_velocity", _of(normalized), {"q": q, "qd": qd}, backend, out)


def joint_velocity(robot: Model, q: Any, nu: Any, *, normalized: bool = True, backend: str = "auto", out: Any = None) -> Array:
    """qd from nu (or xi): the inverse of `quasi_velocity`. Signature (n),(n)->(n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.joint_velocity([0.0, 1.0], arm.quasi_velocity([0.0, 1.0], [0.5, -2.0])).round(12).tolist()
    [0.5, -2.0]
    """
    return evaluate(robot, "joint_velocity", _of(normalized), {"q": q, "nu": nu}, backend, out)


def quasi_force(robot: Model, q: Any, tau: Any, *, normalized: bool = True, backend: str = "auto", out: Any = None) -> Array:
    """epsilon = m^-1 tau, or kappa = U^-1 tau. Signature (n),(n)->(n). Power is nu . epsilon = xi . kappa = qd . tau.

    >>> import dalembert as da
    >>> da.robot("two_link").quasi_force([0.0, 0.0], [1.0, 0.0], normalized=False).tolist()
    [1.0, 0.0]
    """
    return evaluate(robot, "quasi_force", _of(normalized), {"q": q, "tau": tau}, backend, out)


def joint_force(robot: Model, q: Any, epsilon: Any, *, normalized: bool = True, backend: str = "auto", out: Any = None) -> Array:
    """tau from epsilon (or kappa): the inverse of `quasi_force`. Signature (n),(n)->(n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.joint_force([0.0, 1.0], arm.quasi_force([0.0, 1.0], [0.5, -2.0])).round(12).tolist()
    [0.5, -2.0]
    """
    return evaluate(robot, "joint_force", _of(normalized), {"q": q, "epsilon": epsilon}, backend, out)


def quasi_coriolis(robot: Model, q: Any, nu: Any, *, normalized: bool = True, backend: str = "auto", out: Any = None) -> Array:
    """C(q, nu) of nu' + C(q, nu) + m^-1 g = epsilon, or C(q, xi) of D xi' + C(q, xi) + U^-1 g = kappa. Signature (n),(n)->(n).

    Gravity and friction are left out, so that the normalized one does no work: nu . C = 0. The paper keeps gravity inside; add
    `quasi_force(q, g)` for that, g being the joint forces that hold the arm still.

    >>> import dalembert as da
    >>> arm, q, nu = da.robot("two_link"), [0.3, 0.7], [1.0, -0.5]
    >>> abs(round(float(arm.quasi_coriolis(q, nu) @ nu), 12))
    0.0
    """
    return evaluate(robot, "quasi_coriolis", _of(normalized), {"q": q, "nu": nu}, backend, out)


def quasi_coriolis_matrix(robot: Model, q: Any, nu: Any, *, backend: str = "auto", out: Any = None) -> Array:
    """The skew matrix c_ki(q, nu) of Kozlowski's (48): C(q, nu) without the part of the bias forces V x M V is this times nu.

    Signature (n),(n)->(n,n).

    >>> import dalembert as da
    >>> c = da.robot("planar_3r").quasi_coriolis_matrix([0.1, 0.5, 0.9], [1.0, -0.5, 0.3])
    >>> bool((c == -c.T).all())
    True
    """
    return evaluate(robot, "quasi_coriolis_matrix", "diagonalized_normalized", {"q": q, "nu": nu}, backend, out)


def spatial_operators(robot: Model, q: Any, *, backend: str = "numpy", out: Any = None) -> SpatialOperators:
    """H, M, E_Phi, Phi, P, D, G, K, tau_bar, E_Psi and Psi as matrices: mass matrix = H Phi M Phi^* H^*. Signature (n)->(n,6n), ...

    Frames stand on the joint axes, base first, six-vectors angular part first; rotors are left out. Thousands of entries, most of
    them 0, are not worth compiling: the default backend is NumPy.

    >>> import dalembert as da
    >>> o = da.robot("two_link").spatial_operators([0.0, 0.0])
    >>> (o.H @ o.Phi @ o.M @ o.Phi.T @ o.H.T).round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return evaluate(robot, "spatial_operators", "spatial_operator", {"q": q}, backend, out)


def spatial_operator_rates(
    robot: Model, q: Any, qd: Any, *, frame: str = "local", backend: str = "numpy", out: Any = None
) -> OperatorRates:
    """Time derivatives of the spatial operators by Kozlowski's table 1, with lambda-dot (18) and that of the factor m (29).

    frame="local": of the components in the moving link frames; "inertial": of the tensors, seen from the base but written in link
    axes; lambda-dot and that of m, which are of no one frame, are the same in both. Signature (n),(n)->(n,6n), ...

    >>> import dalembert as da
    >>> da.robot("two_link").spatial_operator_rates([0.0, 0.5], [0.0, 1.0]).D.round(6).tolist()
    [0.631103, 0.0]
    """
    quantities = {"local": "spatial_operator_rates", "inertial": "inertial_operator_rates"}
    name = quantities[choice(frame, "frame of the rates:", quantities)]
    return evaluate(robot, name, "spatial_operator", {"q": q, "qd": qd}, backend, out)
