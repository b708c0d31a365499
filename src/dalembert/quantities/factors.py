"""The matrices that the books build the equations of: 4x4 ones of Fu, Gonzalez and Lee, stacks of 6x6 ones of Park and others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import (
    Ad_inverse,
    Ad_matrix,
    Array,
    block_diagonal,
    blocks,
    compose,
    inverse,
    spatial_inertia,
)
from dalembert.arguments import arrays
from dalembert.engine.evaluation import of_tree
from dalembert.formulations import stacked_operators as formulation
from dalembert.formulations.lie_closed_form import screws
from dalembert.formulations.shared.homogeneous import first_partials, kinematics, second_partials
from dalembert.formulations.stacked_operators import StackedTerms
from dalembert.model.model import Model


class LagrangeEulerMatrices(NamedTuple):
    """4x4 matrices of Fu, Gonzalez and Lee, section 3.2.

    A (..., n, 4, 4): links in their parents; T: in the base; Q: dA/dq = Q A; U (..., n, n, 4, 4): U_ij = dT_i/dq_j;
    U2 (..., n, n, n, 4, 4): U_ijk = dU_ij/dq_k; J (n, 4, 4): pseudo-inertias.
    """

    A: Array
    T: Array
    Q: Array
    U: Array
    U2: Array
    J: Array


class ZeroPoseFactors(NamedTuple):
    """Factors of the mass matrix, Park, Bobrow and Ploen (41) to (51): M = A^T L^T D L A = S^T G^T J G S.

    A (6n, n) and D (6n, 6n): screws and inertias at the zero position, in base axes, constant; L (..., 6n, 6n) alone depends on q.
    S, J, G: the same in the links' own frames. Q = Diag[Ad] of the links' zero poses is the bridge: A = Q S, L = Q G Q^-1,
    D = Q^-T J Q^-1.
    """

    A: Array
    L: Array
    D: Array
    S: Array
    G: Array
    J: Array
    Q: Array


@np.errstate(all="ignore")
def lagrange_euler_matrices(robot: Model, q: ArrayLike) -> LagrangeEulerMatrices:
    """A, T, Q, U_ij, U_ijk and J of Fu, Gonzalez and Lee, section 3.2. Signature (n)->(n,4,4),(n,4,4),(n,4,4),(n,n,4,4), ...

    A point r of link i is at T_i r (3.2-3), its velocity is sum_j U_ij qd_j r (3.2-12); with R and p of A_i, R^T p is the vector
    from origin to origin in the axes of the link (3.3-59). In the book's own frames (standard Denavit-Hartenberg) Q is printed;
    in others it is the matrix of the joint's screw in the parent's frame.

    >>> import dalembert as da
    >>> m = da.robot("two_link").lagrange_euler_matrices([0.0, 0.0])
    >>> ((m.U[1] * np.array([1.0, 2.0])[:, None, None]).sum(0) @ [0, 0, 0, 1]).tolist()  # the tip
    [0.0, 4.0, 0.0, 0.0]
    """
    (q,) = of_tree(robot, "lagrange_euler_matrices", q=q)
    tree, n, batch = robot.tree, robot.n, q.shape[:-1]
    k = kinematics(tree, q)
    one, two = first_partials(tree, k), second_partials(tree, k)
    zero = np.zeros((*batch, 4, 4))

    def array(shape: tuple[int, ...], entries: dict[Any, Any]) -> Array:
        flat = [np.broadcast_to(entries.get(index, zero), zero.shape) for index in np.ndindex(*shape)]
        return np.stack(flat, axis=-3).reshape((*batch, *shape, 4, 4))

    A, T, Q = (np.stack([np.broadcast_to(x, zero.shape) for x in part], axis=-3) for part in (k.A, k.W, k.Q))
    return LagrangeEulerMatrices(A, T, Q, array((n, n), one), array((n, n, n), two), np.stack(k.J))


@np.errstate(all="ignore")
def stacked_terms(
    robot: Model, q: ArrayLike, qd: ArrayLike, *, base_twist: ArrayLike | None = None, base_acceleration: ArrayLike | None = None
) -> StackedTerms:
    """V, V_base, its rate, ad_V, ad_{A qd}, and c and g of the stacked matrices: Park and Lynch, section 9.4.

    c = A^T L^T (-G L ad_{A qd} Gamma - ad_V^T G) L A qd
    g = A^T L^T G L Vd_base

    The signs are the corrected ones (E-P6, E-P3: Vd_base carries minus gravity); with a moving base the V_base terms
    stay (E-P10). `stacked_operators` has A, G, Gamma and L. Signature (n),(n)->(6n),(6n),(6n),(6n,6n),(6n,6n),(n),(n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> t = arm.stacked_terms([0.0, 0.5], [1.0, 2.0])
    >>> t.c.round(6).tolist(), bool(abs(t.g - arm.gravity_force([0.0, 0.5])).max() < 1e-14)
    ([-1.917702, 0.239713], True)
    """
    q, qd = of_tree(robot, "stacked_terms", q=q, qd=qd)
    V0, Vd0 = arrays(
        "stacked_terms",
        base_twist=(np.zeros(6) if base_twist is None else base_twist, (6,)),
        base_acceleration=(np.zeros(6) if base_acceleration is None else base_acceleration, (6,)),
    )
    return formulation.stacked_terms(robot.tree, q, qd, V0, Vd0)


@np.errstate(all="ignore")
def zero_pose_factors(robot: Model, q: ArrayLike) -> ZeroPoseFactors:
    """Two factorizations of the mass matrix on SE(3) and the bridge between them: Park, Bobrow and Ploen (41) to (51).

    L A is the Jacobian of the map from q to the poses of all links, and D the metric on that product of groups: M is its pullback
    (65). Blocks of L are the matrices of Ad_j^i (42). Signature (n)->(6n,n),(6n,6n),(6n,6n),(6n,n),(6n,6n),(6n,6n),(6n,6n).

    >>> import dalembert as da
    >>> f = da.robot("two_link").zero_pose_factors([0.3, 0.5])
    >>> M = f.A.T @ f.L.T @ f.D @ f.L @ f.A
    >>> bool(abs(M - da.robot("two_link").mass_matrix([0.3, 0.5])).max() < 1e-14)
    True
    """
    (q,) = of_tree(robot, "zero_pose_factors", q=q)
    tree, n = robot.tree, robot.n
    s, poses = screws(tree, q), tree.poses(q)
    paths = [(i, j) for i in range(n) for j in tree.path(i)]
    return ZeroPoseFactors(
        A=block_diagonal([x[:, None] for x in s.A]),  # PBP (41)
        L=blocks({(i, j): Ad_matrix(compose(inverse(s.E[i]), s.E[j])) for i, j in paths}, n, (6, 6)),  # PBP (42), (43)
        D=block_diagonal(s.D),  # PBP (44), (45)
        S=block_diagonal([Ad_inverse(tree.joint(i)[1], tree.axis(i))[:, None] for i in range(n)]),  # PBP (47)
        G=blocks({(i, j): Ad_matrix(compose(inverse(poses[i]), poses[j])) for i, j in paths}, n, (6, 6)),  # PBP (49)
        J=block_diagonal([spatial_inertia(tree.mass[i], tree.com[i], tree.inertia[i]) for i in range(n)]),  # PBP (48)
        Q=block_diagonal([Ad_matrix(T) for T in s.home]),  # PBP (50); E-B3
    )
