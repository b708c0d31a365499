"""Mass matrix and joint forces of a tree in forty digits, straight from the definitions: shares nothing with reductions and programs.

M = sum over links of m Jv^T Jv + Jw^T I Jw and tau = sum of Jv^T m (a - g) + Jw^T (I alpha + w x I w), all in base axes, with
Jacobians from the joints' axes and points. Beside each force stands the sum of its terms' absolute values: what errors are
relative to where terms cancel.
"""

from typing import NamedTuple

import mpmath
import numpy as np

_mpf = np.frompyfunc(mpmath.mpf, 1, 1)


class Answer(NamedTuple):
    M: np.ndarray  # (n, n)
    tau: np.ndarray  # (n,)
    terms: np.ndarray  # (n,) the sums of absolute terms


def _numbers(x):
    return _mpf(np.asarray(x, dtype=float).astype(object))


def _cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _turn(angle):
    c, s = mpmath.cos(angle), mpmath.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], dtype=object)


class _Link(NamedTuple):
    """In base axes: orientation, origin, what it turns and moves with, and its Jacobians' columns by joint."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    wd: np.ndarray
    a: np.ndarray  # of the origin
    axes: dict  # joint -> (direction, a point of the axis, rho, sigma)


def answer(tree, q, qd, qdd, digits=40):
    """Of one state, as floats; tree holds floats."""
    with mpmath.workdps(digits):
        return _answer(tree, *map(_numbers, (q, qd, qdd)))


def _answer(tree, q, qd, qdd):
    n = len(tree.parents)
    zero = _numbers(np.zeros(3))
    before, after = ([*map(_numbers, T)] for T in (tree.before, tree.after))
    screw, mass, com, inertia, g = map(_numbers, (tree.screw, tree.mass, tree.com, tree.inertia, tree.gravity))
    links = []
    for i, parent in enumerate(tree.parents):
        R, p, w, wd, a, axes = links[parent] if parent >= 0 else (_numbers(np.eye(3)), zero, zero, zero, zero, {})
        rho, sigma = screw[i]
        step = R @ before[1][i]
        a = a + _cross(wd, step) + _cross(w, _cross(w, step))
        R, p = R @ before[0][i], p + step
        z = R[:, 2]
        slide = sigma * q[i] * z
        a = a + _cross(wd, slide) + _cross(w, _cross(w, slide)) + 2 * sigma * qd[i] * _cross(w, z) + sigma * qdd[i] * z
        R, here = R @ _turn(rho * q[i]), p + slide
        wd = wd + rho * qdd[i] * z + rho * qd[i] * _cross(w, z)
        w = w + rho * qd[i] * z
        rest = R @ after[1][i]
        a = a + _cross(wd, rest) + _cross(w, _cross(w, rest))
        links.append(_Link(R @ after[0][i], here + rest, w, wd, a, axes | {i: (z, p, rho, sigma)}))
    M, tau, terms = _numbers(np.zeros((n, n))), _numbers(np.zeros(n)), _numbers(np.zeros(n))
    for k, link in enumerate(links):
        r = link.R @ com[k]
        c, I = link.p + r, link.R @ inertia[k] @ link.R.T
        F = mass[k] * (link.a + _cross(link.wd, r) + _cross(link.w, _cross(link.w, r)))
        N = I @ link.wd + _cross(link.w, I @ link.w)
        Jv = {i: rho * _cross(z, c - o) + sigma * z for i, (z, o, rho, sigma) in link.axes.items()}
        Jw = {i: rho * z for i, (z, _, rho, _) in link.axes.items()}
        for i in link.axes:
            parts = Jv[i] @ F, -(Jv[i] @ g) * mass[k], Jw[i] @ N
            tau[i] += sum(parts)
            terms[i] += sum(map(abs, parts))
            for j in link.axes:
                M[i, j] += mass[k] * (Jv[i] @ Jv[j]) + Jw[i] @ I @ Jw[j]
    return Answer(*(x.astype(float) for x in (M, tau, terms)))
