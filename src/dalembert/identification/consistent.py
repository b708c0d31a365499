"""Parameters that bodies can have, by Newton's method on the log-det barrier: Lee, Wensing and Park (2020).

A link with parameters phi is possible if its pseudo-inertia P(phi) = [[second moments, m c], [m c^T, m]], linear in phi, is
positive definite (Wensing, Kim and Slotine 2018). The cost

    1/2 |R x - z|^2 + weight sum_i d(P_i || P_i0),    d(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4

is convex: the entropic (Bregman) distance of log det keeps every P_i inside the cone, has no units and no frame, and pulls whatever
the data leave open to the prior P_i0. Friction and rotors that must be positive have its scalar form, x/x0 - log(x/x0) - 1, the
others ((x - x0)/size)^2 / 2. Each P_i is written as L S L^T with P_i0 = L L^T, so that the prior is S = 1.
"""

from typing import NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import Error

STEPS = 200
PATH = (1e3, 30.0, 1.0)  # multiples of the weight, each starting from the one before
DONE = 1e-10
THIN = "no thickness"
LEAST = 1e-6  # of the largest second moment: what a repaired prior has at least
HALVINGS = 60


def _basis() -> Array:
    """The ten symmetric matrices E_k, (10, 4, 4), with P = sum phi_k E_k."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for a in range(3):
        E[1 + a, a, 3] = E[1 + a, 3, a] = 1.0
    for k, (a, b) in {4: (0, 0), 5: (0, 1), 6: (0, 2), 7: (1, 1), 8: (1, 2), 9: (2, 2)}.items():
        if a == b:
            E[k, :3, :3] += 0.5 * np.eye(3)
            E[k, a, a] -= 1.0
        else:
            E[k, a, b] = E[k, b, a] = -1.0
    return E


BASIS = _basis()
_ENTRIES = BASIS.reshape(10, 16).T  # vec P = entries @ phi
_BACK = np.linalg.pinv(_ENTRIES)


def pseudo(phi: Array) -> Array:
    """P (..., 4, 4) of parameters (..., 10)."""
    return np.tensordot(phi, BASIS, 1)


def parameters_of(P: Array) -> Array:
    """Parameters (10,) of a pseudo-inertia.

    >>> import dalembert as da
    >>> phi = da.robot("puma560").links[1].inertia.parameters
    >>> bool(np.allclose(parameters_of(pseudo(phi)), phi))
    True
    """
    return _BACK @ P.ravel()


def repaired(phi: Array) -> tuple[Array, str]:
    """Parameters (10,) whose pseudo-inertia is positive definite, the nearest with some thickness; and what was wrong, or ""."""
    mass = float(phi[0])
    if not mass > 0:
        size = max(float(np.abs(phi).max()), 1e-3)
        return np.array([size, 0, 0, 0, *(0.02 * size * np.array([1, 0, 0, 1, 0, 1]))]), f"a mass of {mass:g} kg"
    c = phi[1:4] / mass
    P = pseudo(phi)
    about = P[:3, :3] - mass * np.outer(c, c)  # second moments about the centre of mass
    values, vectors = np.linalg.eigh(about)
    least = LEAST * max(float(values[-1]), 1e-3 * mass * float(c @ c), 1e-6 * mass)
    if values[0] >= least:
        return phi, ""
    why = THIN if values[0] > -1e-9 * max(values[-1], 1e-300) else "an impossible inertia"
    floor = max(least, 0.01 * float(values[-1]))
    thick = (vectors * np.maximum(values, floor)) @ vectors.T
    whole = np.block([[thick + mass * np.outer(c, c), mass * c[:, None]], [mass * c, np.array([mass])]])
    return parameters_of(whole), why


class Problem(NamedTuple):
    """What to fit: |R x - z|, the prior of all parameters, which are of links, positive, fixed."""

    R: Array
    z: Array
    prior: Array  # (k,), each link's positive definite
    links: int
    positive: list[int]
    scale: Array  # (k,) of those that are not of links: where the prior has none
    fixed: Array  # (c, k): fixed @ x = to
    to: Array
    weight: float


def fit(problem: Problem) -> tuple[Array, int]:
    """The parameters (k,) and how many steps of Newton's method they took."""
    T, start = _whitened(problem)
    R, C = problem.R @ T, problem.fixed @ T
    y, steps = start, 0
    for factor in PATH:
        for _ in range(STEPS):
            value, g, H = _parts(problem, R, y, factor * problem.weight)
            step, missing = _step(g, H, C, problem.to - C @ y)
            steps += 1
            slope = float(g @ step)
            if abs(slope) < DONE * max(1.0, factor * problem.weight) and missing < 1e-10:
                break
            a = 1.0
            for _ in range(HALVINGS):
                new = _value(problem, R, y + a * step, factor * problem.weight)
                if np.isfinite(new) and (missing > 1e-10 or new <= value + 1e-4 * a * slope + 1e-14 * abs(value)):
                    break
                a /= 2
            else:
                break
            y = y + a * step
    if len(problem.to) and np.abs(C @ y - problem.to).max() > 1e-6 * max(1.0, np.abs(problem.to).max()):
        raise Error("no possible body has the fixed parameters; check fixed=...")
    return T @ y, steps


def _whitened(problem: Problem) -> tuple[Array, Array]:
    """x = T y, and the prior as y: the entries of S = 1 for links, 1 (or 0, if free) for the others."""
    k, n = len(problem.prior), problem.links
    T, start = np.zeros((k, k)), np.zeros(k)
    upper = [(a, b) for a in range(4) for b in range(a, 4)]
    for i in range(n):
        here = slice(10 * i, 10 * i + 10)
        L = np.linalg.cholesky(pseudo(problem.prior[here]))
        for m, (a, b) in enumerate(upper):
            S = np.zeros((4, 4))
            S[a, b] = S[b, a] = 1.0
            T[here, 10 * i + m] = parameters_of(L @ S @ L.T)
            start[10 * i + m] = float(a == b)
    for j in range(10 * n, k):
        own = problem.prior[j] if j in problem.positive and problem.prior[j] > 0 else problem.scale[j]
        T[j, j] = own
        start[j] = 1.0 if j in problem.positive else problem.prior[j] / own
    return T, start


def _matrices(y: Array, n: int) -> Array:
    """S (n, 4, 4)."""
    upper = np.array([(a, b) for a in range(4) for b in range(a, 4)])
    S = np.zeros((n, 4, 4))
    S[:, upper[:, 0], upper[:, 1]] = S[:, upper[:, 1], upper[:, 0]] = y[: 10 * n].reshape(n, 10)
    return S


_UNITS = _matrices(np.eye(10).ravel(), 10)  # d S / d y


def _value(problem: Problem, R: Array, y: Array, weight: float) -> float:
    n = problem.links
    S, own = _matrices(y, n), y[problem.positive]
    if (own <= 0).any():
        return np.inf
    try:
        L = np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return np.inf
    logs = 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum()
    free = y[10 * n :][_free(problem)] - _start(problem)
    distance = np.trace(S, axis1=1, axis2=2).sum() - logs + np.sum(own - np.log(own)) + 0.5 * free @ free
    return 0.5 * float(np.sum((R @ y - problem.z) ** 2)) + weight * float(distance)


def _parts(problem: Problem, R: Array, y: Array, weight: float) -> tuple[float, Array, Array]:
    """The cost, its gradient and its Hessian, exactly."""
    n = problem.links
    g, H = R.T @ (R @ y - problem.z), R.T @ R
    inverse = np.linalg.inv(_matrices(y, n))
    for i in range(n):
        here = slice(10 * i, 10 * i + 10)
        along = inverse[i] @ _UNITS  # S^-1 dS
        g[here] += weight * (np.trace(_UNITS, axis1=1, axis2=2) - np.trace(along, axis1=1, axis2=2))
        H[here, here] += weight * np.einsum("kab,lba->kl", along, along)
    p = problem.positive
    g[p] += weight * (1 - 1 / y[p])
    H[p, p] += weight / y[p] ** 2
    f = 10 * n + np.flatnonzero(_free(problem))
    g[f] += weight * (y[f] - _start(problem))
    H[f, f] += weight
    return _value(problem, R, y, weight), g, H


def _free(problem: Problem) -> Array:
    k = len(problem.prior)
    return np.array([j not in problem.positive for j in range(10 * problem.links, k)], dtype=bool)


def _start(problem: Problem) -> Array:
    f = 10 * problem.links + np.flatnonzero(_free(problem))
    return problem.prior[f] / problem.scale[f]


def _step(g: Array, H: Array, C: Array, missing: Array) -> tuple[Array, float]:
    """Newton's step with C step = missing, in coordinates in which the Hessian's diagonal is 1."""
    d = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled = H * np.outer(d, d)
    scaled[np.diag_indices(len(d))] += 1e-14
    if not len(C):
        return -d * np.linalg.solve(scaled, d * g), 0.0
    A = C * d
    size = np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    kkt = np.block([[scaled, (A / size).T], [A / size, np.zeros((len(A), len(A)))]])
    both = np.linalg.solve(kkt, np.concatenate([-d * g, missing / size[:, 0]]))
    return d * both[: len(d)], float(np.abs(missing).max() / max(1.0, float(np.abs(C).max())))
