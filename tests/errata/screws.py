"""Screws as Park and his co-authors write them: angular part first."""

import numpy as np
from arms import moved, skew, unskew


def Ad(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V):
    w, v = skew(V[:3]), skew(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def inverted(T):
    R = T[:3, :3].T
    return moved(0, 0, 0) @ np.block([[R, -(R @ T[:3, 3])[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def twist(S):
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = skew(S[:3]), S[3:]
    return X


def untwist(X):
    return np.append(unskew(X[:3, :3]), X[:3, 3])


def exponential(S, x):
    """e^[S]x of a unit screw, by its series."""
    X = twist(S)
    term, T = np.eye(4, dtype=complex), np.eye(4, dtype=complex)
    for k in range(1, 40):
        term = term @ X * x / k
        T = T + term
    return T if np.iscomplexobj(x) else T.real
