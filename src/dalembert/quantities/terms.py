"""The terms and intermediate vectors that the books print."""

from collections.abc import Mapping
from typing import Any

from dalembert.formulations.generalized_dalembert import Terms as DalembertTerms
from dalembert.formulations.lagrange_euler import Terms as LagrangeEulerTerms
from dalembert.formulations.newton_euler import Pass
from dalembert.formulations.stacked_operators import Operators
from dalembert.model.model import Model
from dalembert.quantities.quantity import evaluate
from dalembert.quantities.wrench import Wrench, as_array


def lagrange_euler_terms(robot: Model, q: Any, qd: Any, *, backend: str = "auto") -> LagrangeEulerTerms:
    """D, H, h and c of Fu, Gonzalez and Lee, section 3.2: tau = D qdd + h + c, h_i = qd^T H_i qd. Friction, armature left out.

    Signature (n),(n)->(n,n),(n,n,n),(n),(n). H[..., i, k, m] is h_ikm, the force index first; it is symmetric in k and m.

    >>> import dalembert as da
    >>> D, H, h, c = da.robot("two_link").lagrange_euler_terms([0.0, 0.0], [1.0, 0.0])
    >>> D.round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return evaluate(robot, "lagrange_euler_terms", "lagrange_euler", {"q": q, "qd": qd}, backend, None)


def dalembert_terms(robot: Model, q: Any, qd: Any, *, backend: str = "auto") -> DalembertTerms:
    """D_tran, D_rot, h_tran, h_rot and c of the generalized d'Alembert equations: Fu, Gonzalez and Lee, section 3.4.

    tau = (D_tran + D_rot) qdd + h_tran + h_rot + c, friction and armature left out. Signature (n),(n)->(n,n),(n,n),(n),(n),(n).

    >>> import dalembert as da
    >>> da.robot("two_link").dalembert_terms([0.0, 0.5], [1.0, 0.0]).h_rot.tolist()
    [0.0, 0.0]
    """
    return evaluate(robot, "dalembert_terms", "generalized_dalembert", {"q": q, "qd": qd}, backend, None)


def newton_euler_pass(
    robot: Model,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    wrenches: Mapping[str, Wrench] | Any = None,
    base_twist: Any = None,
    base_acceleration: Any = None,
    backend: str = "auto",
) -> Pass:
    """omega, omega_dot, v_dot, a_bar, F, N, f, n of every link, each (..., n, 3) in link axes: Fu, Gonzalez and Lee, table 3.3.

    v_dot and a_bar contain minus gravity; f and n are what the link before exerts, n about its origin.

    >>> import dalembert as da
    >>> da.robot("two_link").newton_euler_pass([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).v_dot[0].tolist()
    [0.0, 10.8062, 0.0]
    """
    given = {"q": q, "qd": qd, "qdd": qdd, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given["wrenches"] = as_array(robot, "newton_euler_pass", q, wrenches)
    return evaluate(robot, "newton_euler_pass", "newton_euler", given, backend, None)


def stacked_operators(robot: Model, q: Any, *, backend: str = "auto") -> Operators:
    """The matrices A (6n x n), G, Gamma and L (6n x 6n) of Park and Lynch, (9.64), (9.65), (9.68), (9.76): M = A^T L^T G L A.

    >>> import dalembert as da
    >>> A, G, Gamma, L = da.robot("two_link").stacked_operators([0.0, 0.0])
    >>> (A.T @ L.T @ G @ L @ A).round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return evaluate(robot, "stacked_operators", "stacked_operators", {"q": q}, backend, None)
