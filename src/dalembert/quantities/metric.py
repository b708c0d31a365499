"""The mass matrix as a metric: coordinates in which it is constant, where they exist, and the energy of paths.

Kozlowski 1995, section 1, after Koditschek and Spong; Park, Bobrow and Ploen, section 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import positive, whole
from dalembert.engine.evaluation import joint_vector, moving
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.quantities.curvature import is_flat
from dalembert.quantities.derivatives import mass_matrix_gradient
from dalembert.quantities.dynamics import mass_matrix
from dalembert.quantities.structure import christoffel


class Canonical(NamedTuple):
    """Coordinates Q (..., n) and their Jacobian L (..., n, n): M = L^T L, and P = L qd are the momenta."""

    Q: Array
    L: Array


class PathEnergy(NamedTuple):
    """The functional (a number) and its gradient by the points, of their shape."""

    J: float
    gradient: Array


@np.errstate(all="ignore")
def canonical_coordinates(robot: Model, q: ArrayLike, origin: ArrayLike | None = None, *, steps: int = 64) -> Canonical:
    """Q(q) with M = L^T L, L = dQ/dq, of an arm whose metric is flat: Kozlowski, section 1. Signature (n)->(n),(n,n).

    In them the arm is a free particle: without gravity Q moves straight and L qd stays. Q = 0 at `origin` (default 0), where L is
    the symmetric root of M. Found along the straight way from there by parallel transport, dL/dt = L Gamma qd, in `steps` steps
    of RK4. Where the curvature does not vanish there are none, and an error says so (`is_flat`); quasi-velocities are what remains.

    >>> import dalembert as da
    >>> gantry = da.Robot.from_dh([da.DHRow(joint="P", alpha=np.pi / 2, inertia=da.Inertia.point(1.0)),
    ...                            da.DHRow(joint="P", inertia=da.Inertia.point(3.0))], convention="standard")
    >>> gantry.canonical_coordinates([1.0, 1.0]).Q.round(12).tolist()
    [2.0, 1.732050807569]
    """
    q, start = moving(robot, "canonical_coordinates", q=q, origin=np.zeros(robot.n) if origin is None else origin)
    count = whole(steps, "steps of canonical_coordinates", 1, 10**6)
    if q.dtype.kind == "c" or start.dtype.kind == "c":
        raise Error("canonical_coordinates takes real numbers")
    way = q - start
    for t in (0.0, 0.37, 1.0):
        if not is_flat(robot, start + t * way, backend="numpy"):
            raise Error(f"canonical_coordinates: the metric of {robot.name} is not flat, so it has none; see is_flat")

    def slope(t: float, L: Array) -> tuple[Array, Array]:
        at = start + t * way
        lowered = np.einsum("...kij,...j->...ki", christoffel(robot, at, backend="numpy"), way)
        return L @ np.linalg.solve(mass_matrix(robot, at, backend="numpy"), lowered), np.matvec(L, way)

    values, vectors = np.linalg.eigh(mass_matrix(robot, start, backend="numpy"))
    L, Q = (vectors * np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2), np.zeros(q.shape)
    h = 1 / count
    for k in range(count):
        t = k * h
        a, qa = slope(t, L)
        b, qb = slope(t + h / 2, L + h / 2 * a)
        c, qc = slope(t + h / 2, L + h / 2 * b)
        d, qdot = slope(t + h, L + h * c)
        L, Q = L + h / 6 * (a + 2 * b + 2 * c + d), Q + h / 6 * (qa + 2 * qb + 2 * qc + qdot)
    return Canonical(Q, L)


@np.errstate(all="ignore")
def path_energy(robot: Model, points: ArrayLike, duration: float) -> PathEnergy:
    """J = integral of sum m_ij qd_i qd_j dt of a path through points (k, n), and its gradient by them.

    Park, Bobrow and Ploen, section 5. The points are passed at equal times; between them the path is straight and the mass matrix
    that of the middle. Minimizing J by the inner points gives minimum-energy paths, the geodesics of the mass matrix. J is twice
    the kinetic energy, integrated.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> round(arm.path_energy([[0, 0], [1, 0]], 1.0).J, 6)  # M_11 at rest of joint 2
    2.666667
    """
    x = joint_vector(robot, "path_energy", "points", points)
    if x.ndim != 2 or len(x) < 2 or x.dtype.kind == "c" or not np.isfinite(x).all():
        raise Error(f"path_energy: points must be finite and of the shape (k, {robot.n}) with k of at least 2, got {x.shape}")
    h = positive(duration, "the duration of path_energy") / (len(x) - 1)
    middle, rate = (x[1:] + x[:-1]) / 2, np.diff(x, axis=0) / h
    M, slope = mass_matrix(robot, middle), mass_matrix_gradient(robot, middle)
    force = 2 * np.matvec(M, rate)  # of the rate
    shift = h * np.einsum("kijl,ki,kj->kl", slope, rate, rate) / 2  # of the middle, half for each end
    gradient = np.zeros(x.shape)
    gradient[1:] += force + shift
    gradient[:-1] += shift - force
    return PathEnergy(float(h * np.vecdot(rate, np.matvec(M, rate)).sum()), gradient)
