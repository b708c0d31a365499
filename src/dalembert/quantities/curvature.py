"""The curvature of the mass matrix as a metric: Park, Bobrow and Ploen 1995, equation (66).

Where it vanishes there are coordinates in which the equations of motion are those of free particles (Spong); its size measures how
the dynamics depend on the configuration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import number
from dalembert.derived.terms import christoffel_gradient
from dalembert.engine.evaluation import asked, computed, joint_vectors
from dalembert.engine.names import Backend, Result
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import Q
from dalembert.errors import Error, SingularWarning, warn
from dalembert.model.model import Model
from dalembert.quantities.dynamics import inverse_mass_matrix, mass_matrix


class Symbols(NamedTuple):
    """Christoffel symbols, force index first, and their derivatives, the last index being that of q."""

    gamma: Array
    slope: Array


GRADIENT = Quantity(
    "christoffel_gradient",
    "Christoffel symbols and their derivatives.",
    Q,
    {"Gamma": Values(("n", "n", "n"), "tau/qd^2"), "dGamma_dq": Values(("n", "n", "n", "n"), "tau/qd^2/q")},
    "differentiated",
    result=Symbols,
    recipe=christoffel_gradient,
    recipes=("differentiated", "lie_closed_form"),
    like=("christoffel", 1),
)


@computed
def symbols(robot: Model, q: ArrayLike, *, backend: Backend = "auto") -> Symbols:
    """The symbols and their derivatives."""
    return asked(robot, GRADIENT, {"q": q}, backend=backend)


def riemann_curvature(robot: Model, q: ArrayLike, *, backend: Backend = "auto") -> Result:
    """The curvature tensor of the mass matrix, all indices down. Signature (n)->(n,n,n,n).

    R_ijkl = dGamma_jli/dq_k - dGamma_jki/dq_l + sum_r (Gamma_ilr Gamma_jk^r - Gamma_ikr Gamma_jl^r) (66), here with the paper's
    symbols, whose force index is the last. R_ijkl = -R_jikl = -R_ijlk = R_klij, and the sum over cyclic j, k, l vanishes.

    >>> import dalembert as da
    >>> import numpy as np
    >>> arm, q = da.robot("two_link"), [0.3, 0.5]
    >>> bool(abs(arm.riemann_curvature(q)[0, 1, 0, 1] - 7 * np.cos(0.5) / 72 / arm.diagonalize(q).det) < 1e-14)
    True
    """
    first, slope = symbols(robot, q, backend=backend)
    gamma = np.moveaxis(first, -3, -1)  # the force index last, as in the paper
    d = np.moveaxis(slope, -4, -2)  # d[..., i, j, k, l] = dGamma_ijk / dq_l
    up = gamma @ inverse_mass_matrix(robot, q, backend=backend)[..., None, :, :]  # Gamma_ij^r
    products = np.einsum("...ilr,...jkr->...ijkl", gamma, up)
    derivatives = np.einsum("...jlik->...ijkl", d) - np.einsum("...jkil->...ijkl", d)
    return derivatives + products - np.swapaxes(products, -1, -2)  # (66)


def scalar_curvature(robot: Model, q: ArrayLike, *, backend: Backend = "auto") -> Result:
    """sum M^ik M^jl R_ijkl: twice the sum of the sectional curvatures of orthonormal pairs. Signature (n)->().

    >>> import dalembert as da
    >>> float(da.robot("two_link").scalar_curvature([0.0, 1.5707963267948966]).round(12))
    0.0
    """
    up = inverse_mass_matrix(robot, q, backend=backend)
    return np.einsum("...ijkl,...ik,...jl->...", riemann_curvature(robot, q, backend=backend), up, up)


def sectional_curvature(robot: Model, q: ArrayLike, u: ArrayLike, v: ArrayLike, *, backend: Backend = "auto") -> Result:
    """The Gaussian curvature of the plane of two joint velocities: R(u, v, u, v) over its area squared. Signature (n),(n),(n)->().

    Parallel u and v raise an error for one state, and give NaN and a warning in a batch.

    >>> import dalembert as da
    >>> float(da.robot("two_link").sectional_curvature([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]).round(6))
    2.571429
    """
    q, u, v = joint_vectors(robot, "sectional_curvature", q=q, u=u, v=v)
    M, R = mass_matrix(robot, q, backend=backend), riemann_curvature(robot, q, backend=backend)
    uu, uv, vv = (np.einsum("...i,...ij,...j->...", a, M, b) for a, b in ((u, u), (u, v), (v, v)))
    area = uu * vv - uv * uv
    flat = area <= 1e-14 * uu * vv
    if flat.any():
        if flat.ndim == 0:
            raise Error("sectional_curvature: u and v must span a plane, but they are parallel or zero")
        warn(
            f"sectional_curvature: u and v do not span a plane at {int(flat.sum())} of {flat.size} states, the result is NaN there",
            SingularWarning,
        )
    return np.einsum("...ijkl,...i,...j,...k,...l->...", R, u, v, u, v) / np.where(flat, np.nan, area)


def is_flat(robot: Model, q: ArrayLike, *, tolerance: float = 1e-9, backend: Backend = "auto") -> bool:
    """Whether the curvature vanishes at all given positions, relative to the terms that it is the difference of.

    Terms are compared in joint coordinates in which each joint's own inertia is 1, so that light wrists count as much as shoulders.

    >>> import dalembert as da
    >>> da.robot("two_link").is_flat([0.0, 0.5]), da.robot("rp").is_flat([0.3, 0.5])
    (False, False)
    """
    tolerance = number(tolerance, "the tolerance of is_flat")
    M, up = mass_matrix(robot, q, backend=backend), inverse_mass_matrix(robot, q, backend=backend)
    first, slope = symbols(robot, q, backend=backend)
    unit = 1 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))

    def scaled(x: Array, indices: int, power: int = 1) -> Array:
        for k in range(indices):
            shape = (*unit.shape[:-1], *(robot.n if axis == k else 1 for axis in range(indices)))
            x = x * unit.reshape(shape) ** power
        return np.abs(x).max(axis=tuple(range(-indices, 0)), initial=0.0)

    largest = scaled(slope, 4) + scaled(first, 3) ** 2 * scaled(up, 2, -1)
    with np.errstate(over="ignore"):
        return bool(np.all(scaled(riemann_curvature(robot, q, backend=backend), 4) <= tolerance * largest))
