"""Control laws: plain functions of arrays of any scalar, which controllers call with numbers and programs record.

Each takes first what knows the robot's dynamics, `terms`: a `Robot`, whose functions take numbers, or `Recorded`, whose functions
take traced scalars. So the law that a simulation runs is the law that is printed as C. Gains are numbers, vectors, or matrices.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array, dot, join, rotate, rotate_back, split, stack, zeros
from dalembert.derived import kinematics
from dalembert.derived.charts import spread_positions
from dalembert.derived.joints import friction, load_friction, loading
from dalembert.derived.make import Body, Make, Recipe
from dalembert.derived.task_space import named
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.trace.replay import replay


class Observed(NamedTuple):
    """What `momentum_observer` gives: the estimate, and the integral to hand in at the next call."""

    residual: Any
    next_integral: Any


class Recorded:
    """The dynamics of a robot for traced scalars: the same functions as a `Robot` has for numbers."""

    def __init__(self, model: Model, make: Make) -> None:
        self.model, self.make = model, make

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Friction and rotors included."""
        return replay(self.make("inverse_dynamics"), {"q": q, "qd": qd, "qdd": qdd})

    def gravity_force(self, q: Any) -> Any:
        """What holds the arm still."""
        return replay(self.make("gravity_force"), {"q": q})

    def friction_force(self, qd: Any) -> Any:
        """Without the part that depends on the load."""
        return sum(friction(self.model, qd), zeros(self.model.n))


def times(gain: Any, x: Any) -> Any:
    """A gain times a vector (..., k): a number, (k,) or a matrix (k, k)."""
    return np.matvec(gain, x) if np.ndim(gain) == 2 else gain * x


def gravity_compensation(terms: Any, q: Any, qd: Any, damping: Any, assistance: Any) -> Any:
    """tau = g(q) + assistance friction(qd) - damping qd."""
    return terms.gravity_force(q) + assistance * terms.friction_force(qd) - times(damping, qd)


def computed_torque(terms: Any, q: Any, qd: Any, q_d: Any, qd_d: Any, qdd_d: Any, kp: Any, kd: Any) -> Any:
    """tau = ID(q, qd, qdd_d + kd (qd_d - qd) + kp (q_d - q))."""
    return terms.inverse_dynamics(q, qd, qdd_d + times(kd, qd_d - qd) + times(kp, q_d - q))


def impedance(model: Model, make: Make, method: str, optional: tuple[str, ...], *, link: str | None) -> Body:
    """tau = J^T W + g(q) - joint_damping qd, W the wrench of springs and dampers between a link and its target.

    With E = T_d^-1 T = (R, p), the pose of the link in the axes of its target, the springs store

        U = 1/2 p^T K_v p + tr(G (1 - R)),   G = tr(K_w)/2 - K_w,

    which is 1/2 phi^T K_w phi for a small rotation phi. Its gradient is the wrench (moment, force) in the target's axes, at the
    origin of the link: K_v p, and the axial vector of R G - (R G)^T.
    """
    if model.n and kinematics.carrier(model, link)[0] < 0:
        raise Error(f"impedance: no joint of {model.name} moves {named(model, link)}; give link=... one that moves")

    def body(q: Any, qd: Any, target: Any, stiffness: Any, damping: Any, joint_damping: Any) -> Any:
        if not model.n:
            return zeros(0)
        R_d, p_d = target[:3, :3], target[:3, 3]
        coupling, tree = model.coupling, model.open
        at, rates = spread_positions(model, q), qd if coupling is None else coupling.rates(qd)
        columns = kinematics.columns(tree, at, None, link, "world_aligned")
        V = sum((J * rates[i] for i, J in columns.items()), zeros(6))
        R = R_d.T @ kinematics.pose(tree, at, link=link)[:3, :3]
        p = rotate_back(R_d, kinematics.position(tree, at, link=link) - p_d)
        K_w, K_v = split(stiffness)
        A = R * (0.5 * sum(K_w) - K_w)  # R G, column by column
        turned = stack([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
        w, v = (rotate_back(R_d, x) for x in split(V))
        moment, force = split(join(turned, K_v * p) + damping * join(w, v))
        W = join(rotate(R_d, moment), rotate(R_d, force))
        pulled = stack([dot(columns[i], W) if i in columns else 0 for i in range(tree.n)])
        pulled = pulled if coupling is None else coupling.forces(pulled)
        return Recorded(model, make).gravity_force(q) - joint_damping * qd - pulled

    return body


def momentum_observer(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
    """One step of the observer of generalized momentum, by Euler's implicit rule.

    p = dL/dqd = M qd obeys Lagrange's equations p' = dL/dq + tau - friction + tau_ext, where dL/dq = C^T qd - g. The residual
    r = gain (p - integral), integral' = dL/dq + tau - friction + r, follows tau_ext like r' = gain (tau_ext - r).
    """

    def body(q: Any, qd: Any, tau: Any, integral: Any, gain: Any, dt: Any) -> Any:
        if not model.n:
            return zeros(0), zeros(0)
        p, force = replay(momentum_terms(model, make), {"q": q, "qd": qd})
        left = tau - sum(friction(model, qd), zeros(model.n))
        if load_friction(model).any():
            left = left / loading(model, qd, left)
        reached = integral + dt * (force + left)
        residual = gain * (p - reached) / (1 + gain * dt)
        return residual, reached + dt * residual

    return body


def momentum_terms(model: Model, make: Make) -> Any:
    """The program of dL/dqd and dL/dq, by one sweep back through L = kinetic - potential energy.

    For arms of six joints it takes about half the operations of the Coriolis matrix, whose transpose would do as well.
    """
    kinetic, potential = make("kinetic_energy"), make("potential_energy")

    def lagrangian(q: Any, qd: Any) -> Any:
        return replay(kinetic, {"q": q, "qd": qd}) - replay(potential, {"q": q})

    recorded = make.recorded(lagrangian, {"q": (model.n,), "qd": (model.n,)})
    return make.derivative(recorded, ["qd", "q"], "reverse")


def law(function: Callable[..., Array]) -> Recipe:
    """The recipe of a law of `terms` and arrays."""

    def recipe(model: Model, make: Make, method: str, optional: tuple[str, ...]) -> Body:
        terms = Recorded(model, make)
        return lambda **given: function(terms, **given) if model.n else zeros(0)

    return recipe
