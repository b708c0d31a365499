"""The terms and intermediate vectors that the books print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.engine.evaluation import asked, computed, joint_vectors
from dalembert.engine.names import Backend, InverseDynamicsMethod
from dalembert.engine.registry import quantity_named
from dalembert.formulations.generalized_dalembert import Terms as DalembertTerms
from dalembert.formulations.lagrange_euler import Terms as LagrangeEulerTerms
from dalembert.formulations.newton_euler import Pass
from dalembert.formulations.stacked_operators import Operators
from dalembert.model.edit import with_gravity, without_armature, without_friction
from dalembert.model.model import Model, refuse_loops
from dalembert.model.wrench import Wrench
from dalembert.quantities.dynamics import inverse_dynamics


@computed
def lagrange_euler_terms(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, backend: Backend = "auto", out: tuple[Array, ...] | None = None
) -> LagrangeEulerTerms:
    """D, H, h and c of Fu, Gonzalez and Lee, section 3.2: tau = D qdd + h + c, h_i = qd^T H_i qd. Friction, armature left out.

    Signature (n),(n)->(n,n),(n,n,n),(n),(n). H[..., i, k, m] is h_ikm, the force index first; it is symmetric in k and m.

    >>> import dalembert as da
    >>> D, H, h, c = da.robot("two_link").lagrange_euler_terms([0.0, 0.0], [1.0, 0.0])
    >>> D.round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return asked(robot, "lagrange_euler_terms", {"q": q, "qd": qd}, backend=backend, out=out)


@computed
def dalembert_terms(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, backend: Backend = "auto", out: tuple[Array, ...] | None = None
) -> DalembertTerms:
    """D_tran, D_rot, h_tran, h_rot and c of the generalized d'Alembert equations: Fu, Gonzalez and Lee, section 3.4.

    tau = (D_tran + D_rot) qdd + h_tran + h_rot + c, friction and armature left out. Signature (n),(n)->(n,n),(n,n),(n),(n),(n).

    >>> import dalembert as da
    >>> da.robot("two_link").dalembert_terms([0.0, 0.5], [1.0, 0.0]).h_rot.tolist()
    [0.0, 0.0]
    """
    return asked(robot, "dalembert_terms", {"q": q, "qd": qd}, backend=backend, out=out)


@computed
def newton_euler_pass(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, Wrench] | ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    backend: Backend = "auto",
    out: tuple[Array, ...] | None = None,
) -> Pass:
    """omega, omega_dot, v_dot, a_bar, F, N, f, n of every link, each (..., n, 3) in link axes: Fu, Gonzalez and Lee, table 3.3.

    v_dot and a_bar contain minus gravity; F and N are the net force and moment of a link, wrenches left out; f and n are what the
    link before exerts on it, n about the origin of the link before.

    >>> import dalembert as da
    >>> da.robot("two_link").newton_euler_pass([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).v_dot[0].tolist()
    [0.0, 10.8062, 0.0]
    """
    outside = {"wrenches": wrenches, "base_twist": base_twist, "base_acceleration": base_acceleration}
    given = {"q": q, "qd": qd, "qdd": qdd, **outside}
    return asked(robot, "newton_euler_pass", given, backend=backend, out=out)


@computed
def stacked_operators(robot: Model, q: ArrayLike, *, backend: Backend = "numpy", out: tuple[Array, ...] | None = None) -> Operators:
    """The matrices A (6n x n), G, Gamma and L (6n x 6n) of Park and Lynch, (9.64), (9.65), (9.68), (9.76): M = A^T L^T G L A.

    Thousands of entries, most of them 0, are not worth compiling: the default backend is NumPy.

    >>> import dalembert as da
    >>> A, G, Gamma, L = da.robot("two_link").stacked_operators([0.0, 0.0])
    >>> (A.T @ L.T @ G @ L @ A).round(6).tolist()
    [[2.666667, 0.833333], [0.833333, 0.333333]]
    """
    return asked(robot, "stacked_operators", {"q": q}, backend=backend, out=out)


def probe(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, method: InverseDynamicsMethod = "newton_euler", backend: Backend = "auto"
) -> LagrangeEulerTerms:
    """D, H, h and c read out of inverse dynamics by probing it: Fu, Gonzalez and Lee, problem 3.11.

    c = ID(q, 0, 0); without gravity, h = ID(q, qd, 0), column j of D is ID(q, 0, e_j), and with unit velocities
    h_ikk = ID(q, e_k, 0), h_ikm = (ID(q, e_k + e_m, 0) - ID(q, e_k, 0) - ID(q, e_m, 0)) / 2. Any method will do.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> bool(abs(arm.probe([0.1, 0.2], [1.0, 2.0]).D - arm.lagrange_euler_terms([0.1, 0.2], [1.0, 2.0]).D).max() < 1e-14)
    True
    """
    refuse_loops(robot, "probe")
    quantity_named("inverse_dynamics").check_method(method, robot)
    bare = without_armature(without_friction(robot))
    floating = with_gravity(bare, (0.0, 0.0, 0.0))
    q, qd = joint_vectors(robot, "probe", q=q, qd=qd)
    unit, zero = np.eye(robot.n), np.zeros(robot.n)
    at = q[..., None, :]

    def forces(model: Model, *state: Any) -> Any:
        return inverse_dynamics(model, *state, method=method, backend=backend)

    columns = forces(floating, at, zero, unit)  # (..., j, i)
    single = forces(floating, at, unit, zero)  # (..., k, i)
    pairs = forces(floating, at[..., None, :], unit[:, None] + unit, zero)  # (..., k, m, i)
    H = (pairs - single[..., :, None, :] - single[..., None, :, :]) / 2
    return LagrangeEulerTerms(
        np.swapaxes(columns, -1, -2), np.moveaxis(H, -1, -3), forces(floating, q, qd, zero), forces(bare, q, zero, zero)
    )
