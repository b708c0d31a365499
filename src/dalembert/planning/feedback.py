"""Linear feedback along a motion or about a state, and the best one about a state: the linear-quadratic regulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, number, numbers, positive
from dalembert.engine.evaluation import joint_vector, joint_vectors
from dalembert.engine.names import Backend
from dalembert.errors import Error, SingularWarning, brief, warn
from dalembert.model.degrees import warn_of_positions
from dalembert.model.model import Model
from dalembert.model.values import Frozen, Value
from dalembert.planning.given import diagonal, with_rates
from dalembert.quantities.derivatives import linearize
from dalembert.quantities.dynamics import inverse_dynamics

LATE = 1e-9  # of a step: times are sums of steps
MOST, ROUNDING = 60, 1e-14  # doublings, and what the last of them may still change


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(Value):
    """A controller that holds a state, or follows a motion, by linear feedback.

    tau = tau* - K [q - q*, qd - qd*]

    stays within the limits of the forces, if there are some. About one state q*, qd*, tau* are (..., n) and the gain K is
    (..., n, 2n). Along a motion they have an axis of T instants before that, `step` seconds apart; each holds until the next one,
    and the last one from then on. `robot.lqr` and `robot.optimal_control` make them.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> control = arm.lqr([0.5, 0.5])
    >>> control
    <Feedback of two_link about a state>
    >>> bool((control(0.0, [0.5, 0.5], [0.0, 0.0]) == arm.gravity_force([0.5, 0.5])).all())
    True
    """

    robot: Model
    q: Frozen
    qd: Frozen
    tau: Frozen
    gain: Frozen
    step: float | None = None
    lower: Frozen | None = None
    upper: Frozen | None = None

    def __call__(self, t: Any, q: Any, qd: Any) -> Array:
        """Joint forces (..., n) at a time, for positions and velocities (..., n)."""
        k = self.instant(t)
        place = () if k is None else (k,)
        wanted, rate, tau = (x[..., *place, :] for x in (self.q, self.qd, self.tau))
        gain = self.gain[..., *place, :, :]
        q, qd = (joint_vector(self.robot, "Feedback", name, x) for name, x in (("q", q), ("qd", qd)))
        batch({"q": q.shape[:-1], "qd": qd.shape[:-1], "the motion": tau.shape[:-1]}, "Feedback")
        with np.errstate(all="ignore"):  # infinities appear in the results
            x, y = np.broadcast_arrays(q - wanted, qd - rate)
            found = tau - np.matvec(gain, np.concatenate([x, y], axis=-1))
        return found if self.lower is None else np.clip(found, self.lower, self.upper)

    def __repr__(self) -> str:
        about = "about a state" if self.step is None else f"along {self.tau.shape[-2]} instants, {self.step:g} s apart"
        return f"<Feedback of {self.robot.name} {about}>"

    def instant(self, t: Any) -> int | None:
        """Which of the instants holds at a time; None where there is one law for all times."""
        time = number(t, "Feedback: t", finite=False)
        if self.step is None:
            return None
        last = self.tau.shape[-2] - 1
        return int(min(max(np.floor(time / self.step + LATE), 0), last))


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
    given = {"q": q, "qd": np.zeros(n) if qd is None else qd} | ({} if tau is None else {"tau": tau})
    at, rate, *rest = joint_vectors(robot, "lqr", **{name: numbers(x, f"lqr: {name}") for name, x in given.items()})
    warn_of_positions(robot, at, "lqr: q")
    force = rest[0] if rest else inverse_dynamics(robot, at, rate, np.zeros(n), backend=backend)
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
