"""The linear-quadratic regulator: the best linear feedback about a state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import frozen_array, positive
from dalembert.engine.evaluation import joint_vectors
from dalembert.engine.names import Backend
from dalembert.errors import Error, SingularWarning, brief, warn
from dalembert.model.model import Model
from dalembert.planning.able import with_rates
from dalembert.planning.feedback import Feedback
from dalembert.quantities.derivatives import linearize
from dalembert.quantities.dynamics import inverse_dynamics

MOST, ROUNDING = 60, 1e-14  # doublings, and what the last of them may still change


def lqr(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    position: ArrayLike = 1.0,
    velocity: ArrayLike = 0.1,
    effort: ArrayLike = 1e-3,
    step: float | None = None,
    backend: Backend = "auto",
) -> Feedback:
    """The feedback that brings the arm back to a state at the least cost, as long as it is near: a controller for `simulate`.

    It minimizes the integral of dx^T W dx + dtau^T R dtau over all time, for the linear model x' = A x + B tau of `linearize` with
    x = (q, qd): tau = tau* - K dx with K = R^-1 B^T P, where P solves Riccati's equation A^T P + P A - P B R^-1 B^T P + W = 0.

    q, qd, tau: (..., n) the state and the forces there. By default the arm rests (qd = 0), and tau are the forces at which it does
        not accelerate, which makes it an equilibrium.
    position, velocity, effort: the diagonals of W and R, numbers or (n,), in 1/rad^2, (s/rad)^2 and 1/(N m)^2.
        Not all of W may be 0.
    step: seconds, for a controller that is called once in that time and whose forces are held in between: the sampled problem.

    The result's `gain` is K (..., n, 2n).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> up = [np.pi / 2, 0.0]                                       # upright, where it would fall
    >>> hold = arm.lqr(up)
    >>> back = arm.simulate([np.pi / 2 + 0.2, -0.1], duration=5.0, torque=hold)
    >>> bool(abs(back.q[-1] - up).max() < 1e-3)
    True
    """
    with_rates(robot, "lqr")
    n = robot.n
    weights = [diagonal(x, n, f"lqr: {name}") for name, x in (("position", position), ("velocity", velocity), ("effort", effort))]
    if (weights[2] <= 0).any():
        raise Error(f"lqr: effort must be positive: without a cost the best forces are infinite; got {brief(effort)}")
    if not (weights[0].any() or weights[1].any()):
        raise Error("lqr: position and velocity are 0: without a weight of the state no force is best, wherever the arm goes")
    seconds = None if step is None else positive(step, "lqr: step")
    given = {"q": q, "qd": np.zeros(n) if qd is None else qd}
    at, rate = (real(x, name) for x, name in zip(joint_vectors(robot, "lqr", **given), given, strict=True))
    if tau is None:
        force = inverse_dynamics(robot, at, rate, np.zeros(n), backend=backend)
    else:
        force = real(joint_vectors(robot, "lqr", q=at, qd=rate, tau=tau)[2], "tau")
    A, B = linearize(robot, at, rate, force, step=seconds, backend=backend)
    W, R = np.diag(np.concatenate(weights[:2])), weights[2]
    with np.errstate(all="ignore"):  # NaN appear in the results
        gain = _continuous(A, B, W, R) if seconds is None else _sampled(A, B, seconds * W, seconds * R)
    _look(robot, gain)
    at, rate, force, gain = (_kept(x) for x in (*np.broadcast_arrays(at, rate, force), gain))
    return Feedback(robot, at, rate, force, gain)


def _look(robot: Model, gain: Array) -> None:
    """A gain that is not finite is an error; among several a warning."""
    bad = ~np.isfinite(gain).all(axis=(-2, -1))
    if bad.any():
        say = f"no finite gain was found for {robot.name}: the state must be finite, and the weights and the step of usual sizes"
        if not bad.ndim:
            raise Error(f"lqr: {say}")
        warn(f"lqr: {say} ({bad.sum()} of {bad.size} states)", SingularWarning)


def diagonal(given: Any, n: int, what: str) -> Array:
    """The diagonal (n,) of a weight: a number or one for each joint, none of them negative."""
    weight = frozen_array(given, None, what)
    if weight.shape not in ((), (n,)) or (weight < 0).any():
        raise Error(f"{what} must be one number, or one for each of the {n} joints, and not negative; got {brief(given)}")
    return np.broadcast_to(weight, (n,))


def real(x: Array, name: str) -> Array:
    """An array of real numbers."""
    if x.dtype.kind == "c":
        raise Error(f"{name} must be real")
    return x


def _kept(x: Array) -> Array:
    held = np.array(x)
    held.setflags(write=False)
    return held


def _continuous(A: Array, B: Array, W: Array, R: Array) -> Array:
    """K = R^-1 B^T P of the equation in continuous time, R being the diagonal (n,), by Cayley's transform to the sampled one."""
    G = B @ (_turned(B) / R[:, None])
    one = np.eye(A.shape[-1])
    pole = np.abs(A).sum(axis=-1).max(axis=-1)[..., None, None] + 1  # beyond all eigenvalues
    shifted = A - pole * one
    inverse = _solved(shifted, one)
    both = _solved(_turned(shifted) + W @ inverse @ G, one)  # of the dual
    a = one + 2 * pole * _turned(both)
    g = 2 * pole * inverse @ G @ both
    h = 2 * pole * both @ W @ inverse
    return _turned(B) @ _doubled(a, g, h) / R[:, None]


def _sampled(A: Array, B: Array, W: Array, R: Array) -> Array:
    """K = (R + B^T P B)^-1 B^T P A of the sampled equation."""
    P = _doubled(A, B @ (_turned(B) / R[:, None]), W)
    return _solved(np.diag(R) + _turned(B) @ P @ B, _turned(B) @ P @ A)


def _doubled(A: Array, G: Array, H: Array) -> Array:
    """The solution P = H of P = W + A^T P (1 + G P)^-1 A, by steps that each double the time they look ahead (Anderson, 1978)."""
    one = np.eye(A.shape[-1])
    for _ in range(MOST):
        kernel = _solved(one + G @ H, np.concatenate([A, G @ _turned(A)], axis=-1))
        first, second = np.split(kernel, 2, axis=-1)
        more = _turned(A) @ H @ first
        A, G, H = A @ first, G + A @ second, H + (more + _turned(more)) / 2
        if not (np.abs(more) > ROUNDING * np.abs(H).max(axis=(-2, -1), keepdims=True)).any():
            break
    return H


def _turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _solved(a: Array, b: Array) -> Array:
    """a^-1 b, NaN where there is none."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.full(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:], np.nan)
