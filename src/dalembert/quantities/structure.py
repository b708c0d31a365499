"""The terms of M(q) qdd + C(q, qd) qd + g(q) + friction(qd) = tau, the symbols behind C, and the energies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.derived.joints import friction, loading
from dalembert.engine.evaluation import asked, computed, joint_vector, joint_vectors
from dalembert.engine.names import Backend, ChristoffelMethod, CoriolisMatrixMethod, InverseDynamicsMethod, Out, Result
from dalembert.model.model import Model


@computed
def coriolis_matrix(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    method: CoriolisMatrixMethod | None = None,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """The Coriolis matrix of the Christoffel symbols, C_ij = sum_k Gamma_ijk qd_k. Signature (n),(n)->(n,n).

    C qd are the Coriolis and centrifugal forces, and Mdot - 2 C is skew: Park and Lynch (9.87), (9.88). method: `composite_body`,
    and `composite_body_world` for long chains, take a number of steps that grows with n^2; `lie_closed_form` sums the symbols of
    Park, Bobrow and Ploen. The default is the first or the second, whichever takes fewer operations.

    >>> import dalembert as da
    >>> da.robot("two_link").coriolis_matrix([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [[-0.479426, -0.719138], [0.239713, 0.0]]
    """
    return asked(robot, "coriolis_matrix", {"q": q, "qd": qd}, method, backend=backend, out=out)


@computed
def mass_matrix_rate(robot: Model, q: ArrayLike, qd: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """The time derivative of the mass matrix along a motion, Mdot = C + C^T. Signature (n),(n)->(n,n).

    >>> import dalembert as da
    >>> da.robot("two_link").mass_matrix_rate([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [[-0.958851, -0.479426], [-0.479426, 0.0]]
    """
    return asked(robot, "mass_matrix_rate", {"q": q, "qd": qd}, backend=backend, out=out)


@computed
def christoffel(
    robot: Model, q: ArrayLike, *, method: ChristoffelMethod = "differentiated", backend: Backend = "auto", out: Out = None
) -> Result:
    """Christoffel symbols of the first kind, the force index FIRST: Gamma[i, j, k] = Gamma[i, k, j]. Signature (n)->(n,n,n).

    Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2; the Coriolis and centrifugal force on joint i is
    sum_jk Gamma_ijk qd_j qd_k: Park and Lynch (9.12), (9.13). method: `differentiated` takes the derivatives of the traced mass
    matrix, as Park, Bobrow and Ploen do in (52), `lie_closed_form` their (55)-(57); their own symbols have the force index last.

    >>> import dalembert as da
    >>> gamma = da.robot("two_link").christoffel([0.0, 0.5])
    >>> gamma[1].round(6).tolist()          # the second joint's term in the first one's velocity squared
    [[0.239713, 0.0], [0.0, 0.0]]
    """
    return asked(robot, "christoffel", {"q": q}, method, backend=backend, out=out)


@computed
def coriolis_force(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    method: InverseDynamicsMethod = "newton_euler",
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """Coriolis and centrifugal forces C(q, qd) qd. Signature (n),(n)->(n). By any method of inverse dynamics.

    >>> import dalembert as da
    >>> da.robot("two_link").coriolis_force([0.0, 0.5], [1.0, 2.0]).round(6).tolist()
    [-1.917702, 0.239713]
    """
    return asked(robot, "coriolis_force", {"q": q, "qd": qd}, method, backend=backend, out=out)


@computed
def gravity_force(
    robot: Model, q: ArrayLike, *, method: InverseDynamicsMethod = "newton_euler", backend: Backend = "auto", out: Out = None
) -> Result:
    """The joint forces that hold the arm still, g(q). Signature (n)->(n). By any method of inverse dynamics.

    >>> import dalembert as da
    >>> da.robot("two_link").gravity_force([0.0, 0.0]).tolist()
    [19.6124, 4.9031]
    """
    return asked(robot, "gravity_force", {"q": q}, method, backend=backend, out=out)


@computed
def bias_force(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    method: InverseDynamicsMethod = "newton_euler",
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """C(q, qd) qd + g(q): the joint forces at zero acceleration, without friction. Signature (n),(n)->(n).

    Park and Lynch's b (9.1).

    >>> import dalembert as da
    >>> da.robot("two_link").bias_force([0.0, 0.0], [1.0, 2.0]).tolist()
    [19.6124, 4.9031]
    """
    return asked(robot, "bias_force", {"q": q, "qd": qd}, method, backend=backend, out=out)


def friction_force(robot: Model, qd: ArrayLike, tau: ArrayLike | None = None) -> Result:
    """The friction of the joints, as described at `Joint`: damping qd + coulomb sign(qd) and more. Signature (n),(n)->(n).

    tau: the joint forces, of which friction that depends on the load takes its part; without them this part is left out.

    >>> import dalembert as da
    >>> da.robot("two_link").with_friction(damping=0.5, coulomb=2.0).friction_force([1.0, -1.0]).tolist()
    [2.5, -2.5]
    """
    if tau is None:
        qd = joint_vector(robot, "friction_force", "qd", qd)
        return np.asarray(sum(friction(robot, qd), np.zeros(qd.shape)))
    qd, tau = joint_vectors(robot, "friction_force", qd=qd, tau=tau)
    with np.errstate(all="ignore"):  # infinities: the results show them
        left = tau - sum(friction(robot, qd), np.zeros(qd.shape))
        return tau - left / loading(robot, qd, left)


@computed
def kinetic_energy(robot: Model, q: ArrayLike, qd: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """qd . M(q) qd / 2 in J, rotors included. Signature (n),(n)->(). Park and Lynch (9.10).

    >>> import dalembert as da
    >>> round(float(da.robot("two_link").kinetic_energy([0.0, 0.0], [1.0, 0.0])), 6)
    1.333333
    """
    return asked(robot, "kinetic_energy", {"q": q, "qd": qd}, backend=backend, out=out)


@computed
def potential_energy(robot: Model, q: ArrayLike, *, backend: Backend = "auto", out: Out = None) -> Result:
    """-sum m gravity . r in J, of the moving links, zero when their centres of mass are at the base's origin. Signature (n)->().

    Its gradient is `gravity_force`. Fu, Gonzalez and Lee (3.2-21), (3.2-22), (3.4-20); Park, Bobrow and Ploen (58).

    >>> import dalembert as da
    >>> da.robot("two_link").potential_energy([1.5707963267948966, 0.0]).round(4).tolist()
    19.6124
    """
    return asked(robot, "potential_energy", {"q": q}, backend=backend, out=out)


def power(robot: Model, qd: ArrayLike, tau: ArrayLike) -> Result:
    """qd . tau in W: what the joint forces do. Signature (n),(n)->(). Without friction, the rate of kinetic and potential energy.

    >>> import dalembert as da
    >>> float(da.robot("two_link").power([1.0, 2.0], [3.0, -1.0]))
    1.0
    """
    qd, tau = joint_vectors(robot, "power", qd=qd, tau=tau)
    with np.errstate(all="ignore"):  # infinities: the results show them
        return (qd * tau).sum(axis=-1)
