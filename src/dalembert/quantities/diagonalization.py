"""The mass matrix in diagonal form: quasi-velocities, quasi-forces, and the operators behind them. Kozlowski 1995.

M = U D U^T = m m^T with m = U D^1/2 and U unit upper triangular (base first). Normalized quantities are nu = m^T qd and
epsilon = m^-1 tau, so that nu' + C(q, nu) + m^-1 g = epsilon; unnormalized ones xi = U^T qd and kappa = U^-1 tau, so that
D xi' + C(q, xi) + U^-1 g = kappa.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, flag
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, Out, Result
from dalembert.engine.registry import quantity_named
from dalembert.formulations.spatial_operator import Diagonalization, OperatorRates, SpatialOperators
from dalembert.model.model import Model

_LOCAL = quantity_named("spatial_operator_rates")
RATES = {"local": _LOCAL, "inertial": replace(_LOCAL, name="inertial_operator_rates")}


@computed
def diagonalize(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: tuple[Array, ...] | None = None) -> Diagonalization:
    """D, U, m, l and det of M(q) = U diag(D) U^T = m m^T, l = m^-1. Signature (n)->(n),(n,n),(n,n),(n,n),().

    D[i] is the inertia about joint i when all outboard joints are free. Rotors (armature) are included.

    >>> import dalembert as da
    >>> d = da.robot("two_link").diagonalize([0.0, 0.0])
    >>> d.D.round(6).tolist(), round(float(d.det), 6)
    ([0.583333, 0.333333], 0.194444)
    """
    return asked(robot, "diagonalize", {"q": q}, backend=backend, out=out)


def _of(normalized: bool) -> str:
    return "diagonalized_normalized" if flag(normalized, "normalized") else "diagonalized_unnormalized"


@computed
def quasi_velocity(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, normalized: bool = True, backend: Backend = "auto", out: Out = None
) -> Result:
    """nu = m^T qd, or xi = U^T qd. Signature (n),(n)->(n). The kinetic energy is nu . nu / 2 = xi . D xi / 2.

    >>> import dalembert as da
    >>> nu = da.robot("two_link").quasi_velocity([0.0, 0.0], [1.0, 0.0])
    >>> round(float(nu @ nu), 6)                             # M[0, 0]
    2.666667
    """
    return asked(robot, "quasi_velocity", {"q": q, "qd": qd}, _of(normalized), backend=backend, out=out)


@computed
def joint_velocity(
    robot: Model, q: ArrayLike, nu: ArrayLike, *, normalized: bool = True, backend: Backend = "auto", out: Out = None
) -> Result:
    """qd from the quasi-velocities nu (or xi): the inverse of `quasi_velocity`. Signature (n),(n)->(n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.joint_velocity([0.0, 1.0], arm.quasi_velocity([0.0, 1.0], [0.5, -2.0])).round(12).tolist()
    [0.5, -2.0]
    """
    return asked(robot, "joint_velocity", {"q": q, "nu": nu}, _of(normalized), backend=backend, out=out)


@computed
def quasi_force(
    robot: Model, q: ArrayLike, tau: ArrayLike, *, normalized: bool = True, backend: Backend = "auto", out: Out = None
) -> Result:
    """epsilon = m^-1 tau, or kappa = U^-1 tau. Signature (n),(n)->(n). Power is nu . epsilon = xi . kappa = qd . tau.

    >>> import dalembert as da
    >>> da.robot("two_link").quasi_force([0.0, 0.0], [1.0, 0.0], normalized=False).tolist()
    [1.0, 0.0]
    """
    return asked(robot, "quasi_force", {"q": q, "tau": tau}, _of(normalized), backend=backend, out=out)


@computed
def joint_force(
    robot: Model, q: ArrayLike, epsilon: ArrayLike, *, normalized: bool = True, backend: Backend = "auto", out: Out = None
) -> Result:
    """tau from the quasi-forces epsilon (or kappa): the inverse of `quasi_force`. Signature (n),(n)->(n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> arm.joint_force([0.0, 1.0], arm.quasi_force([0.0, 1.0], [0.5, -2.0])).round(12).tolist()
    [0.5, -2.0]
    """
    return asked(robot, "joint_force", {"q": q, "epsilon": epsilon}, _of(normalized), backend=backend, out=out)


@computed
def quasi_coriolis(
    robot: Model, q: ArrayLike, nu: ArrayLike, *, normalized: bool = True, backend: Backend = "auto", out: Out = None
) -> Result:
    """C(q, nu) of nu' + C(q, nu) + m^-1 g = epsilon, or C(q, xi) of D xi' + C(q, xi) + U^-1 g = kappa. Signature (n),(n)->(n).

    Gravity and friction are left out, so that the normalized one does no work: nu . C = 0 (47). The two are connected by
    C(q, xi) = D^1/2 C(q, nu) + Ddot xi / 2 (46). The paper keeps gravity inside; add `quasi_force(q, g)` for that, g being the
    joint forces that hold the arm still.

    >>> import dalembert as da
    >>> arm, q, nu = da.robot("two_link"), [0.3, 0.7], [1.0, -0.5]
    >>> abs(round(float(arm.quasi_coriolis(q, nu) @ nu), 12))
    0.0
    """
    return asked(robot, "quasi_coriolis", {"q": q, "nu": nu}, _of(normalized), backend=backend, out=out)


@computed
def quasi_coriolis_matrix(robot: Model, q: ArrayLike, nu: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The skew matrix c_ki(q, nu) of Kozlowski's (48): C(q, nu) without the part of the bias forces V x M V is this times nu.

    Signature (n),(n)->(n,n).

    >>> import dalembert as da
    >>> c = da.robot("planar_3r").quasi_coriolis_matrix([0.1, 0.5, 0.9], [1.0, -0.5, 0.3])
    >>> bool((c == -c.T).all())
    True
    """
    return asked(robot, "quasi_coriolis_matrix", {"q": q, "nu": nu}, backend=backend, out=out)


@computed
def spatial_operators(
    robot: Model, q: ArrayLike, *, backend: Backend = "numpy", out: tuple[Array, ...] | None = None
) -> SpatialOperators:
    """H, M, E_Phi, Phi, P, D, G, K, tau_bar, E_Psi and Psi as matrices: mass matrix = H Phi M Phi^* H^*. Signature (n)->(n,6n), ...

    Frames stand on the joint axes, base first, six-vectors angular part first; rotors are left out. Thousands of entries, most of
    them 0, are not worth compiling: the default backend is NumPy.

    >>> import dalembert as da
    >>> o = da.robot("two_link").spatial_operators([0.0, 0.0])
    >>> (o.H @ o.Phi @ o.M @ o.Phi.T @ o.H.T).round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return asked(robot, "spatial_operators", {"q": q}, backend=backend, out=out)


@computed
def spatial_operator_rates(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    frame: Literal["local", "inertial"] = "local",
    backend: Backend = "numpy",
    out: tuple[Array, ...] | None = None,
) -> OperatorRates:
    """Time derivatives of the spatial operators by Kozlowski's table 1, with lambda-dot (18) and that of the factor m (29).

    frame="local": of the components in the moving link frames; "inertial": of the tensors, seen from the base but written in link
    axes; lambda-dot and that of m, which are of no one frame, are the same in both. Signature (n),(n)->(n,6n), ...

    >>> import dalembert as da
    >>> da.robot("two_link").spatial_operator_rates([0.0, 0.5], [0.0, 1.0]).D.round(6).tolist()
    [0.631103, 0.0]
    """
    return asked(robot, RATES[choice(frame, "frame of the rates:", RATES)], {"q": q, "qd": qd}, backend=backend, out=out)
