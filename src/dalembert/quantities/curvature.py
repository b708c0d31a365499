"""The curvature of the mass matrix as a metric: Park, Bobrow and Ploen 1995, equation (66).

Where it vanishes there are coordinates in which the equations of motion are those of free particles (Spong); its size measures how
the dynamics depend on the configuration.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import batch, number
from dalembert.errors import Error, SingularWarning
from dalembert.model.model import Model
from dalembert.quantities.dynamics import inverse_mass_matrix, mass_matrix
from dalembert.quantities.quantity import evaluate, joint_vector, program
from dalembert.quantities.table import Q, Quantity, register
from dalembert.spatial import Array
from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program


class _Symbols(NamedTuple):
    """Christoffel symbols, force index first, and their derivatives, the last index being that of q."""

    gamma: Array
    slope: Array


def riemann_curvature(robot: Model, q: Any, *, backend: str = "auto") -> Array:
    """The curvature tensor of the mass matrix, all indices down. Signature (n)->(n,n,n,n).

    R_ijkl = dGamma_jli/dq_k - dGamma_jki/dq_l + sum_r (Gamma_ilr Gamma_jk^r - Gamma_ikr Gamma_jl^r) (66), here with the paper's
    symbols, whose force index is the last. R_ijkl = -R_jikl = -R_ijlk = R_klij, and the sum over cyclic j, k, l vanishes.

    >>> import dalembert as da
    >>> import numpy as np
    >>> arm, q = da.robot("two_link"), [0.3, 0.5]
    >>> bool(abs(arm.riemann_curvature(q)[0, 1, 0, 1] - 7 * np.cos(0.5) / 72 / arm.diagonalize(q).det) < 1e-14)
    True
    """
    first, slope = evaluate(robot, "christoffel_gradient", "differentiated", {"q": q}, backend, None)
    gamma = np.moveaxis(first, -3, -1)  # the force index last, as in the paper
    d = np.moveaxis(slope, -4, -2)  # d[..., i, j, k, l] = dGamma_ijk / dq_l
    up = gamma @ inverse_mass_matrix(robot, q, backend=backend)[..., None, :, :]  # Gamma_ij^r
    products = np.einsum("...ilr,...jkr->...ijkl", gamma, up)
    return np.einsum("...jlik->...ijkl", d) - np.einsum("...jkil->...ijkl", d) + products - np.swapaxes(products, -1, -2)


def scalar_curvature(robot: Model, q: Any) -> Array:
    """sum M^ik M^jl R_ijkl: twice the sum of the sectional curvatures of orthonormal pairs. Signature (n)->().

    >>> import dalembert as da
    >>> float(da.robot("two_link").scalar_curvature([0.0, 1.5707963267948966]).round(12))
    0.0
    """
    up = inverse_mass_matrix(robot, q)
    return np.einsum("...ijkl,...ik,...jl->...", riemann_curvature(robot, q), up, up)


def sectional_curvature(robot: Model, q: Any, u: Any, v: Any) -> Array:
    """The Gaussian curvature of the plane of two joint velocities: R(u, v, u, v) over its area squared. Signature (n),(n),(n)->().

    Parallel u and v raise an error for one state, and give NaN and a warning in a batch.

    >>> import dalembert as da
    >>> float(da.robot("two_link").sectional_curvature([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]).round(6))
    2.571429
    """
    q, u, v = (joint_vector(robot, "sectional_curvature", name, x) for name, x in (("q", q), ("u", u), ("v", v)))
    batch({"q": q.shape[:-1], "u": u.shape[:-1], "v": v.shape[:-1]}, "sectional_curvature")
    M, R = mass_matrix(robot, q), riemann_curvature(robot, q)
    uu, uv, vv = (np.einsum("...i,...ij,...j->...", a, M, b) for a, b in ((u, u), (u, v), (v, v)))
    area = uu * vv - uv * uv
    flat = area <= 1e-14 * uu * vv
    if flat.any():
        if flat.ndim == 0:
            raise Error("sectional_curvature: u and v must span a plane; they are parallel, or zero")
        warnings.warn(
            f"sectional_curvature: u and v span no plane at {int(flat.sum())} of {flat.size} states, the result is NaN there",
            SingularWarning,
            stacklevel=2,
        )
    return np.einsum("...ijkl,...i,...j,...k,...l->...", R, u, v, u, v) / np.where(flat, np.nan, area)


def is_flat(robot: Model, q: Any, *, tolerance: float = 1e-9) -> bool:
    """Whether the curvature vanishes at all given positions, relative to the terms that it is the difference of.

    Terms are compared in joint coordinates in which each joint's own inertia is 1, so that light wrists count as much as shoulders.

    >>> import dalembert as da
    >>> da.robot("two_link").is_flat([0.0, 0.5]), da.robot("rp").is_flat([0.3, 0.5])
    (False, False)
    """
    tolerance = number(tolerance, "the tolerance of is_flat")
    M, up = mass_matrix(robot, q), inverse_mass_matrix(robot, q)
    first, slope = evaluate(robot, "christoffel_gradient", "differentiated", {"q": q}, "auto", None)
    unit = 1 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))

    def scaled(x: Array, indices: int, power: int = 1) -> Array:
        for k in range(indices):
            shape = (*unit.shape[:-1], *(robot.n if axis == k else 1 for axis in range(indices)))
            x = x * unit.reshape(shape) ** power
        return np.abs(x).max(axis=tuple(range(-indices, 0)), initial=0.0)

    largest = scaled(slope, 4) + scaled(first, 3) ** 2 * scaled(up, 2, -1)
    with np.errstate(over="ignore"):
        return bool(np.all(scaled(riemann_curvature(robot, q), 4) <= tolerance * largest))


def _christoffel_gradient(model: Model, method: str, optional: tuple[str, ...], options: dict[str, Any]) -> Program:
    return differentiate(program(model, "christoffel", method), "q", mode="forward", keep=True)


register(
    "christoffel_gradient",
    Quantity(
        Q,
        {"Gamma": ("n", "n", "n"), "dGamma_dq": ("n", "n", "n", "n")},
        "differentiated",
        result=_Symbols,
        derived=_christoffel_gradient,
        methods=("differentiated", "lie_closed_form"),
    ),
)
