"""Small dense systems on any scalar: M = U D U^T without pivoting, which for mass matrices is stable and has a meaning.

U is unit upper triangular. With the base first, D_i is the inertia about joint i when all outboard joints are free
(Kozlowski's D(k), Featherstone's articulated inertia about the axis), whichever method computes it.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.precise import exact
from dalembert.algebra.scalars import above
from dalembert.algebra.spatial import Array, dot, matrix, stack, symmetric
from dalembert.errors import Error


class SingularError(Error):
    """A pivot of the mass matrix that is zero in every state: joint `index` has no inertia."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(f"joint {index} has no inertia: the mass matrix is singular")


ROUNDING = 64 * float(np.finfo(float).eps)  # of the inertia about a joint: a pivot below is nothing but errors


class Pivots(NamedTuple):
    """How D_i becomes a pivot: the rotor's inertia is added, and what is not above `least` counts as zero.

    A zero known while recording raises `SingularError`; one that depends on the state becomes NaN.
    """

    armature: Any = None  # (n,) reflected rotor inertias
    least: Any = None  # (n,) the rounding errors of D

    def has_rotor(self, i: int) -> bool:
        """Whether something else than the links adds to D_i."""
        return self.armature is not None and self.armature[i] != 0

    def __call__(self, i: int, D: Any, size: Any = None, later: Mapping[int, Any] | None = None) -> Any:
        """The pivot of joint i; `later` has 1 / D_k of the joints behind it where D_i was found by subtracting, as in `udu`.

        Then the errors of D_k come in too, by U_ik^2, which is at most M_ii / D_k.
        """
        if self.has_rotor(i):
            D = D + (exact(float(self.armature[i])) if isinstance(D, int | Fraction) else self.armature[i])
        least = 0.0 if self.least is None else float(self.least[i])
        if is_number(D) and D <= least:  # noqa: SIM300
            raise SingularError(i)
        if self.least is None or (is_number(D) and not later):
            return D
        if not later:
            return above(D, least, np.nan)
        sure = D - least * (1 + sum(self.least[k] / ROUNDING * reciprocal for k, reciprocal in later.items()))
        return unless_small(D, sure)


def unless_small(D: Any, sure: Any, least: float = 0.0) -> Any:
    """Exactly D where what is sure of it exceeds a number, else NaN."""
    return D + (above(sure, least, np.nan) - sure)


def is_number(x: Any) -> bool:
    """Whether a scalar is a real number, known while recording."""
    return isinstance(x, int | float | np.number | Fraction) and not isinstance(x, complex)


PLAIN = Pivots()


class Factors(NamedTuple):
    """M = U diag(D) U^T."""

    U: Array  # (..., n, n) unit upper triangular
    D: Array  # (..., n)


def udu(M: Any, pivots: Callable[[int, Any, Any, dict[int, Any]], Any] = PLAIN) -> Factors:
    """The factors of a symmetric matrix; only its upper triangle is read.

    `pivots` makes each D_i what it divides by, from D_i, M_ii, and the reciprocals of the pivots so far.

    >>> udu(np.array([[2.0, 1.0], [1.0, 1.0]]))
    Factors(U=array([[1., 1.],
           [0., 1.]]), D=array([1., 1.]))
    """
    n = M.shape[-1]
    scaled: dict[tuple[int, int], Any] = {}  # U_ij D_j, before the division
    reciprocals: dict[int, Any] = {}
    U: dict[tuple[int, int], Any] = {}
    D: dict[int, Any] = {}
    for j in reversed(range(n)):
        for i in range(j + 1):
            scaled[i, j] = M[..., i, j] - sum((scaled[i, k] * U[j, k] for k in range(j + 1, n)), 0)
        D[j] = pivots(j, scaled[j, j], M[..., j, j], reciprocals)
        reciprocals[j] = 1 / D[j]
        for i in range(j):
            U[i, j] = scaled[i, j] * reciprocals[j]
    unit = matrix(U | {(i, i): 1 for i in range(n)}, n)
    return Factors(np.broadcast_to(unit, M.shape), stack([D[i] for i in range(n)]))


def solve(factors: Factors, b: Any) -> Array:
    """x (..., n) with M x = b."""
    U, D = factors
    return unit_upper_transposed_solve(U, unit_upper_solve(U, b) * (1 / D))


def unit_upper_solve(U: Any, b: Any) -> Array:
    """x (..., n) with U x = b, for a unit upper triangular matrix."""
    n = U.shape[-1]
    x: list[Any] = [None] * n
    for i in reversed(range(n)):
        x[i] = b[..., i] - sum((U[..., i, j] * x[j] for j in range(i + 1, n)), 0)
    return stack(x)


def unit_upper_transposed_solve(U: Any, b: Any) -> Array:
    """x (..., n) with U^T x = b, for a unit upper triangular matrix."""
    x: list[Any] = []
    for i in range(U.shape[-1]):
        x.append(b[..., i] - sum((U[..., j, i] * x[j] for j in range(i)), 0))
    return stack(x)


def unit_upper_inverse(U: Any) -> Array:
    """The inverse of a unit upper triangular matrix."""
    n = U.shape[-1]
    W: dict[tuple[int, int], Any] = {(i, i): 1 for i in range(n)}
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            W[i, j] = -sum((U[..., i, k] * W[k, j] for k in range(i + 1, j + 1)), 0)
    return matrix(W, n)


def inverse(factors: Factors) -> Array:
    """M^-1 = U^-T D^-1 U^-1, symmetric."""
    W, D = unit_upper_inverse(factors.U), factors.D
    n = D.shape[-1]
    scaled = W * (1 / D)[..., :, None]
    return symmetric(matrix({(i, j): dot(W[..., : i + 1, i], scaled[..., : i + 1, j]) for i in range(n) for j in range(i, n)}, n))
