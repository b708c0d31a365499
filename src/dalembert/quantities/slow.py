"""Which terms of the equations may be left out: Fu, Gonzalez and Lee, sections 3.2.5, 3.3 and 3.4; `dominance` goes on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array, cross, dot, scaled, stack, zeros
from dalembert.arguments import arrays
from dalembert.derived.joints import loading
from dalembert.engine.evaluation import moving, of_tree
from dalembert.engine.names import Backend, Result
from dalembert.errors import Error
from dalembert.formulations import angular_velocity_lagrange as silver
from dalembert.model.edit import with_gravity, without_friction
from dalembert.model.model import Model, refuse_loops
from dalembert.quantities.dynamics import inverse_dynamics, mass_matrix
from dalembert.quantities.structure import christoffel, coriolis_force, friction_force

SEED, STATES = 1987, 16
NEGLIGIBLE = 1e-12


class Couplings(NamedTuple):
    """Masks of the coefficients that are 0 at every position: D (n, n), and H (n, n, n) with the force index first."""

    D: Array
    H: Array


class VelocityTerms(NamedTuple):
    """The four terms of h_tran (3.4-26), (..., n) each, in the order of the book: their sum is h_tran."""

    centrifugal_before: Array
    coriolis_before: Array
    centrifugal_own: Array
    coriolis_own: Array


def zero_couplings(robot: Model) -> Couplings:
    """The coefficients D_ik and h_ikm that the design of the arm makes 0 at every position: Fu, Gonzalez and Lee, end of 3.2.5.

    Among them are the "dummy" ones, h_iii = 0. Found at 16 random positions: an analytic function that vanishes there, to rounding
    relative to the inertias of its joints, almost surely vanishes everywhere. Coefficients that pass through 0 now and then are
    not among them.

    >>> import dalembert as da
    >>> zero = da.robot("two_link").zero_couplings()
    >>> zero.D.any(), zero.H.tolist()
    (np.False_, [[[True, False], [False, False]], [[False, True], [True, True]]])
    """
    (q,) = moving(robot, "zero_couplings", q=np.random.default_rng(SEED).uniform(-2.0, 2.0, (STATES, robot.n)))
    M, H = mass_matrix(robot, q, backend="numpy"), christoffel(robot, q, backend="numpy")
    size = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1)).max(axis=0)
    pairs = size[:, None] * size
    triples = np.maximum(np.maximum(pairs[:, :, None], pairs[:, None, :]), pairs)  # of the three derivatives in h_ikm
    return Couplings(np.abs(M).max(axis=0) <= NEGLIGIBLE * pairs, np.abs(H).max(axis=0) <= NEGLIGIBLE * triples)


def inverse_dynamics_without_coriolis(
    robot: Model, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, backend: Backend = "auto"
) -> Result:
    """M(q) qdd + g(q) + friction(qd): the model for slow motions, without h(q, qd). Signature (n),(n),(n)->(n).

    Fu, Gonzalez and Lee, section 3.3 and problem 3.10: cheap once, wrong at speed; `speed_limit` tells from where on. Joint forces
    by Newton and Euler take fewer operations than M(q) alone by Lagrange and Euler.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> slow = arm.inverse_dynamics_without_coriolis([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> bool(abs(slow - arm.gravity_force([0.0, 0.5])).max() < 1e-14)
    True
    """
    refuse_loops(robot, "inverse_dynamics_without_coriolis")
    q, qd, qdd = moving(robot, "inverse_dynamics_without_coriolis", q=q, qd=qd, qdd=qdd)
    still = inverse_dynamics(without_friction(robot), q, np.zeros(qd.shape), qdd, backend=backend)
    return still * loading(robot, qd, still) + friction_force(robot, qd)


@np.errstate(all="ignore")
def speed_limit(robot: Model, q: ArrayLike, qd: ArrayLike, tolerance: ArrayLike, *, backend: Backend = "auto") -> Result:
    """How many times qd an arm may move until leaving out h(q, qd) costs more than `tolerance` of joint force.

    Signature (n),(n),(n)->(). h grows with the square of speed, so this is the smallest sqrt(tolerance_i / |h_i|), infinite where
    there is no h. A path that is run faster needs accelerations that grow with the square, too: against M qdd, h does not become
    small by going slowly, only against gravity and friction.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> s = arm.speed_limit([0.0, 0.5], [1.0, 2.0], 0.1)
    >>> float(abs(arm.coriolis_force([0.0, 0.5], s * np.array([1.0, 2.0]))).max().round(12))
    0.1
    """
    q, qd = moving(robot, "speed_limit", q=q, qd=qd)
    allowed = np.atleast_1d(arrays("speed_limit", tolerance=(tolerance, ()))[0])
    if allowed.dtype.kind == "c" or allowed.shape[-1] not in (1, robot.n) or not (allowed >= 0).all():
        raise Error(f"speed_limit: tolerance must be one joint force or {robot.n} of them, not negative")
    factor = np.sqrt(allowed / np.abs(coriolis_force(robot, q, qd, backend=backend)))
    return np.nan_to_num(factor, nan=np.inf, posinf=np.inf).min(axis=-1)


@np.errstate(all="ignore")
def dalembert_velocity_terms(robot: Model, q: ArrayLike, qd: ArrayLike) -> VelocityTerms:
    """The four terms of h_tran apart: Fu, Gonzalez and Lee (3.4-26). Signature (n),(n)->(n),(n),(n),(n).

    Centrifugal and Coriolis forces by the links before link s, and by link s itself from the origin of the frame before it to its
    centre of mass. The book treats revolute joints; what a prismatic joint adds, 2 omega x z qd, is among the Coriolis terms.

    >>> import dalembert as da
    >>> arm, state = da.robot("two_link"), ([0.0, 0.5], [1.0, 2.0])
    >>> parts = arm.dalembert_velocity_terms(*state)
    >>> bool(abs(sum(parts) - arm.dalembert_terms(*state).h_tran).max() < 1e-14), parts.coriolis_own.tolist()
    (True, [0.0, 0.0])
    """
    q, qd = of_tree(robot, "dalembert_velocity_terms", q=q, qd=qd)
    tree, poses = with_gravity(robot, (0.0, 0.0, 0.0)).tree, robot.tree.poses(q)
    links = silver.outward(tree, poses, qd, np.zeros(qd.shape), None)
    before: list[Any] = []  # centrifugal and Coriolis acceleration of each link's origin
    total: list[list[Any]] = [[0 * q[..., 0]] * robot.n for _ in range(4)]
    for s, link in enumerate(links):
        parent = tree.parents[s]
        w0, wd0, p0 = (
            (zeros(3), zeros(3), zeros(3)) if parent < 0 else (links[parent].w, links[parent].wd, poses[parent].translation)
        )
        start = (np.zeros(3), np.zeros(3)) if parent < 0 else before[parent]
        arm, own, sliding = link.o - p0, link.c - link.o, 2 * tree.joint(s)[3] * cross(w0, scaled(qd[..., s], link.z))
        base = cross(w0, cross(w0, arm)), cross(wd0, arm) + sliding
        reach = poses[s].translation - link.o
        before.append((start[0] + base[0] + cross(link.w, cross(link.w, reach)), start[1] + base[1] + cross(link.wd, reach)))
        parts = (*start, base[0] + cross(link.w, cross(link.w, own)), base[1] + cross(link.wd, own))
        for i in tree.path(s):
            _, _, rho, sigma = tree.joint(i)
            b = rho * cross(links[i].z, link.c - links[i].o) + sigma * links[i].z
            for k, part in enumerate(parts):
                total[k][i] = total[k][i] + tree.mass[s] * dot(part, b)  # (3.4-26)
    return VelocityTerms(*map(stack, total))
