"""A tree's mass matrix, forces and momentum in forty digits, straight from the definitions: shares nothing with reductions.

M = sum over links of m Jv^T Jv + Jw^T I Jw and tau = sum of Jv^T (m (a - g) - f) + Jw^T (I alpha + w x I w - moment), all in
base axes, with Jacobians from the joints' axes and points. Beside forces and momenta stand the sums of their terms' absolute
values: what errors are relative to where terms cancel.
"""

from typing import NamedTuple

import mpmath
import numpy as np

_mpf = np.frompyfunc(mpmath.mpf, 1, 1)


class Answer(NamedTuple):
    M: np.ndarray  # (n, n)
    tau: np.ndarray  # (n,)
    tau_terms: np.ndarray  # (n,) the sums of absolute terms
    momentum: np.ndarray  # (6,) angular about the base's origin, linear
    momentum_terms: np.ndarray  # (6,)


def numbers(x):
    """Floats as they are, and numbers that have more digits."""
    return _mpf(np.asarray(x).astype(object))


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


def answer(tree, q, qd, qdd, **outside):
    """Of one state, as floats."""
    return Answer(*(x.astype(float) for x in exact_answer(tree, q, qd, qdd, **outside)))


def exact_answer(tree, q, qd, qdd, wrenches=None, base_twist=None, base_acceleration=None, digits=40):
    """Of one state, as numbers of that many digits; tree holds floats."""
    n = len(tree.parents)
    outside = (np.zeros((n, 6)), wrenches), (np.zeros(6), base_twist), (np.zeros(6), base_acceleration)
    with mpmath.workdps(digits):
        return _answer(tree, *map(numbers, (q, qd, qdd)), *(numbers(rest if x is None else x) for rest, x in outside))


def _answer(tree, q, qd, qdd, wrenches, base_twist, base_acceleration):
    n = len(tree.parents)
    zero = numbers(np.zeros(3))
    before, after = ([*map(numbers, T)] for T in (tree.before, tree.after))
    screw, mass, com, inertia, g = map(numbers, (tree.screw, tree.mass, tree.com, tree.inertia, tree.gravity))
    offset = numbers(np.zeros(n) if tree.offset is None else tree.offset)
    q = q + offset
    w0, v0 = base_twist[:3], base_twist[3:]
    base = _Link(numbers(np.eye(3)), zero, w0, base_acceleration[:3], base_acceleration[3:] + _cross(w0, v0), {})
    links = []
    for i, parent in enumerate(tree.parents):
        R, p, w, wd, a, axes = links[parent] if parent >= 0 else base
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
    M, tau, terms, momentum = numbers(np.zeros((n, n))), numbers(np.zeros(n)), numbers(np.zeros(n)), []
    for k, link in enumerate(links):
        r = link.R @ com[k]
        c, I = link.p + r, link.R @ inertia[k] @ link.R.T
        F = mass[k] * (link.a + _cross(link.wd, r) + _cross(link.w, _cross(link.w, r)))
        N = I @ link.wd + _cross(link.w, I @ link.w)
        moment, force = link.R @ wrenches[k, :3], link.R @ wrenches[k, 3:]
        Jo = {i: rho * _cross(z, link.p - o) + sigma * z for i, (z, o, rho, sigma) in link.axes.items()}
        Jv = {i: rho * _cross(z, c - o) + sigma * z for i, (z, o, rho, sigma) in link.axes.items()}
        Jw = {i: rho * z for i, (z, _, rho, _) in link.axes.items()}
        for i in link.axes:
            parts = Jv[i] @ F, -(Jv[i] @ g) * mass[k], Jw[i] @ N, -(Jo[i] @ force), -(Jw[i] @ moment)
            tau[i] += sum(parts)
            terms[i] += sum(map(abs, parts))
            for j in link.axes:
                M[i, j] += mass[k] * (Jv[i] @ Jv[j]) + Jw[i] @ I @ Jw[j]
        linear = mass[k] * sum((Jv[i] * qd[i] for i in link.axes), zero)
        spin = I @ sum((Jw[i] * qd[i] for i in link.axes), zero)
        momentum += [np.concatenate([_cross(c, linear), linear]), np.concatenate([spin, zero])]
    return Answer(M, tau, terms, sum(momentum), sum(map(abs, momentum)))
