"""Weighted least squares by a QR that streams, with intervals that are right for residuals that are correlated in time.

Every joint keeps the triangular factor of its rows [A_j, tau_j] alone, so the weights can change without the data. The noise of a
joint counts at the frequencies at which its columns live: its spectrum, smoothed, weighted by that of an orthonormal basis of the
columns. Where a share h of a frequency is fitted, the residual has lost that share of the noise, which is given back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error
from dalembert.identification.columns import Base
from dalembert.identification.prepare import Prepared, slope

TURNS = 4
UNDETERMINED = 1e-7  # of the largest singular value of scaled columns
KEPT = 200 << 20  # bytes of rows that are kept to look at residuals
SMOOTHED = 0.05  # of all frequencies, to either side


class Fitted(Protocol):
    """Columns that forces are fitted with."""

    @property
    def robot(self) -> Any:
        """Whose forces they are."""
        ...

    def base(self) -> Base:
        """Which are independent."""
        ...

    def filtered(self, motion: Prepared, base: Base | None = None) -> Array:
        """Those that lead the base, (T, n, k), as forces are filtered."""
        ...


class Fit(NamedTuple):
    """Base parameters (k,) with covariance, the noise of each joint that a row counts with, and what is not determined."""

    values: Array
    covariance: Array  # (k, k); infinite variances where the data say nothing
    noise: Array  # (n,)
    residual: Array  # (n,), root mean square
    freedom: float
    undetermined: Array  # (directions, k)
    condition: float  # of the scaled columns


@dataclass(eq=False)
class Reduced:
    """All that least squares needs of any number of recordings."""

    columns: Fitted
    base: Base
    factors: list[Array] = field(default_factory=list)  # (<= k + 2, k + 2) a joint: the slope of tau, the columns, tau
    count: Array = field(default_factory=lambda: np.zeros(0))
    kept: list[tuple[Array, Array, Array]] = field(default_factory=list)  # A (T, n, k), tau and moving (T, n) of segments
    bytes: int = 0

    def __post_init__(self) -> None:
        n, k = self.columns.robot.n, len(self.base.names)
        self.factors, self.count = [np.zeros((0, k + 2)) for _ in range(n)], np.zeros(n)

    def add(self, motion: Prepared, inner: tuple[float, float] = (-np.inf, np.inf)) -> None:
        """The rows of a motion between two times."""
        A = self.columns.filtered(motion, self.base)
        late = np.concatenate([slope(motion.tau[part], motion.rate) for part in motion.segments]) * motion.sought
        for part in motion.segments:
            rows = np.arange(part.start, part.stop)[:: motion.every]
            rows = rows[(motion.time[rows] >= inner[0]) & (motion.time[rows] < inner[1])]
            some, tau, moving = A[rows], motion.tau[rows], motion.moving[rows]
            for j, R in enumerate(self.factors):
                own = np.concatenate([late[rows, j, None], some[:, j], tau[:, j, None]], axis=1)[moving[:, j]]
                if len(own):
                    self.factors[j] = triangle(np.concatenate([R, own]))
            self.count += moving.sum(axis=0)
            if self.bytes < KEPT:
                self.kept.append((some, tau, moving))
                self.bytes += some.nbytes

    def squares(self, x: Array) -> Array:
        """Sum of the squares of the residuals, (n,)."""
        return np.array([np.sum((R[:, 1:] @ np.concatenate([x, [-1.0]])) ** 2) for R in self.factors])

    def stacked(self, noise: Array) -> tuple[Array, Array]:
        """R and z with |R x - z|^2 the weighted sum of squares, up to a constant.

        A lag that was searched is uncertain, too: what a change of it, a multiple of the slope of tau, can explain is left out.
        """
        k = len(self.base.names)
        rows = np.concatenate([R / s for R, s in zip(self.factors, noise, strict=True)])
        rows = triangle(rows)[1:, 1:] if rows[:, 0].any() else triangle(rows[:, 1:])
        return rows[:k, :k], rows[:k, k]


def triangle(rows: Array) -> Array:
    """The factor R of a QR decomposition."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def reduced(columns: Fitted, motions: Iterable[tuple[Prepared, tuple[float, float]]]) -> Reduced:
    """Any number of motions, one after the other, each between two times."""
    made = Reduced(columns, columns.base())
    for motion, inner in motions:
        made.add(motion, inner)
    if not made.count.any():
        raise Error("no joint moves in the recordings")
    return made


def solve(data: Reduced, prior: Array) -> Fit:
    """Base parameters; in directions that the data do not determine they stay those of the prior, (k,)."""
    n, moved = len(data.count), data.count > 0
    size = np.sqrt(np.array([np.sum(R[:, -1] ** 2) for R in data.factors]) / np.maximum(data.count, 1))
    if not size.any():
        raise Error("the forces of the recordings are zero throughout; were they recorded?")
    noise = np.where(moved & (size > 0), size, max(size.max(initial=0.0), 1e-300))
    values = prior
    for _ in range(TURNS):
        values, covariance, undetermined, condition = _solved(data, noise, prior)
        noise = _noise(data, values, noise)
    values, covariance, undetermined, condition = _solved(data, noise, prior)
    rms = np.sqrt(data.squares(values) / np.maximum(data.count, 1))
    effective = float(np.sum(data.count * np.where(moved, rms**2 / noise**2, 0.0)))
    freedom = max(effective - len(values) + len(undetermined), 1.0)
    return Fit(values, covariance, noise, np.where(moved, rms, np.zeros(n)), freedom, undetermined, condition)


def _solved(data: Reduced, noise: Array, prior: Array) -> tuple[Array, Array, Array, float]:
    R, z = data.stacked(noise)
    size = np.linalg.norm(R, axis=0)
    scale = np.where(size > 0, size, 1.0)
    U, s, V = np.linalg.svd(R / scale, full_matrices=True)
    s = np.concatenate([s, np.zeros(len(V) - len(s))])
    known = s > UNDETERMINED * s[0]
    z = z - R @ prior
    step = (U.T @ z)[: known.sum()] / s[known] if known.any() else np.zeros(0)
    values = prior + (V[known].T @ step) / scale
    covariance = (V[known].T / s[known] ** 2) @ V[known] / np.outer(scale, scale)
    missing = V[~known] / scale
    lost = (np.abs(V[~known]) > 1e-3).any(axis=0) if len(missing) else np.zeros(len(values), dtype=bool)
    covariance[lost, lost] = np.inf
    return values, covariance, missing, float(s[0] / s[known][-1])


def _noise(data: Reduced, x: Array, before: Array) -> Array:
    """The standard deviation with which a row of each joint counts, (n,)."""
    R, _ = data.stacked(before)
    size = np.linalg.norm(R, axis=0)
    scale = np.where(size > 0, size, 1.0)
    _, s, V = np.linalg.svd(R / scale)
    good = s > UNDETERMINED * s[0]
    whiten = (V[: len(s)][good].T / s[good]) / scale[:, None]  # A whiten / noise is orthonormal over all rows
    made = before.copy()
    squares = data.squares(x)
    for j in range(len(made)):
        power, fitted, total, rows = 0.0, 0.0, 0.0, 0
        for A, tau, moving in data.kept:
            residual = np.where(moving[:, j], tau[:, j] - A[:, j] @ x, 0.0)
            basis = np.where(moving[:, j, None], A[:, j] @ whiten, 0.0) / before[j]
            seen, left = _seen(residual, basis)
            part = len(residual) / max(int(moving[:, j].sum()), 1)
            power, fitted = power + part * seen, fitted + left
            total, rows = total + float(residual @ residual), rows + int(moving[:, j].sum())
        if rows and fitted > 0 and total > 0:
            made[j] = np.sqrt(power / fitted * (squares[j] / data.count[j]) / (total / rows))  # of all rows, from those kept
    least = 1e-9 * made.max(initial=0.0)
    return np.maximum(made, max(least, 1e-300))


def _seen(residual: Array, basis: Array) -> tuple[float, float]:
    """The power of a residual (T,) about the frequencies of a basis (T, k), and that of noise of 1 after the fit.

    With h(f) the share that the basis takes of a frequency, and g(f) its mean over neighbours: sum g |r(f)|^2 and sum g (1 - h).
    """
    T = len(residual)
    spectrum = np.abs(np.fft.fft(residual)) ** 2 / T
    share = (np.abs(np.fft.fft(basis, axis=0)) ** 2).sum(axis=1) / T
    width = min(max(2, int(SMOOTHED * T)), (T - 1) // 2)
    about = np.sum([np.roll(share, k) for k in range(-width, width + 1)], axis=0) / (2 * width + 1)
    return float(about @ spectrum), float(about @ (1 - share))
