"""The search for an exciting motion: a criterion of its coefficients with exact gradients, and limits that it keeps to.

With W(x) the stacked columns of the base along the motion with coefficients x, each in its own size, the criterion is

    "logdet": -log det(W^T W),    "condition": log(s_max / s_min) of W,

to which limits add logarithmic barriers. Its gradient is a sum of Z * dW for a matrix Z, so one scalar, sum(Z * Y(q, qd, qdd)), is
traced, differentiated in reverse and compiled: 1,700 operations for the UR5. The Jacobian of Y is never made.

Barriers keep the limits at the samples. Forces may go beyond between them, since a fast motion passes through many poses from one
sample to the next; so the result is looked at on a finer grid, and where it exceeds a limit, that one is tightened.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.cached import cached_property
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.identification.columns import Base, Columns, drives
from dalembert.model.limits import SIDED, around_zero, limits_of
from dalembert.native.evaluator import kernel_of
from dalembert.robots import Robot
from dalembert.trace import Program, differentiate, trace

CRITERIA = ("logdet", "condition")
TERMS = ("viscous", "coulomb", "offset")
BARRIERS = (30.0, 3.0, 0.3)
ITERATIONS = 120
SAMPLES = 25  # per harmonic
FINER = 10  # times as many samples, at which limits are checked
TIGHTENED = 6  # times at most
MARGIN = 0.98  # of limits: they are kept at the samples, between which the motion may go a little beyond


class ExcitationLimits(NamedTuple):
    """What the motion keeps to, (n,) each; forces are of the model, without friction."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array


def excitation_limits(robot: Robot, given: Mapping[str, Any] | None) -> ExcitationLimits:
    """The robot's limits with those that are given, all finite but for forces; of two sides the nearer to 0 counts for both."""
    found, turning = limits_of(robot, given), np.array([joint.kind != "prismatic" for joint in robot.joints])
    low, high, reach = found["lower"], found["upper"], np.where(turning, np.pi, 1.0)
    low, high = (
        np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach)),
        np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2 * reach, reach)),
    )
    sided = {name: found[name] for name in SIDED}
    around_zero(robot, sided, "limits")
    size = {name: np.minimum(-least, most) for name, (least, most) in sided.items()}
    velocity = np.where(np.isfinite(size["velocity"]), size["velocity"], np.where(turning, 2.0, 0.5))
    acceleration = np.where(np.isfinite(size["acceleration"]), size["acceleration"], 2 * velocity)
    return ExcitationLimits(low, high, velocity, acceleration, size["torque"])


def series(t: Array, period: float, harmonics: int) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations, (..., 2 harmonics + 1) each, of the coefficients c_0, a, b."""
    w = 2 * np.pi / period * np.arange(1, harmonics + 1)
    S, C = np.sin(t[..., None] * w), np.cos(t[..., None] * w)
    one = np.ones((*t.shape, 1))
    join = np.concatenate
    return join([one, S, -C], -1), join([0 * one, w * C, w * S], -1), join([0 * one, -w * w * S, w * w * C], -1)


class Search:
    """The criterion as a function of the free coefficients, with its gradient, and its optimization."""

    def __init__(self, robot: Robot, limits: ExcitationLimits, period: float, harmonics: int, criterion: str, rotors: bool) -> None:
        self.robot, self.limits, self.period, self.criterion = robot, limits, period, criterion
        speeds = np.abs(drives(robot)[0]) @ limits.velocity
        self.columns = Columns(robot, TERMS, rotors, 0.02 * speeds, speeds)
        t = np.linspace(0.0, period, SAMPLES * harmonics, endpoint=False)
        P, V, A = series(t, period, harmonics)
        self.still = np.linalg.svd(np.array([V[0], A[0]]))[2][2:].T  # coefficients of motions at rest at t = 0
        self.P, self.V, self.A = P @ self.still, V @ self.still, A @ self.still
        self.rigid = robot.without_friction()
        law = robot.joints
        rubbing = np.array([joint.damping for joint in law]) * limits.velocity + np.array([joint.coulomb for joint in law])
        self.middle = (limits.upper + limits.lower) / 2
        self.most = np.array([limits.upper - self.middle, *limits[2:]])  # (4, n), of |q - middle|, |qd|, |qdd| and |force|
        self.kept = MARGIN * self.most  # at the samples, of forces without friction
        self.kept[3] -= rubbing
        if (self.kept[3] <= 0).any():
            raise Error(f"limits: friction alone exceeds the forces of {robot.joint_names[int(np.argmin(self.kept[3]))]}")

    @cached_property
    def base(self) -> Base:
        """Which columns are independent."""
        return self.columns.base()

    @cached_property
    def size(self) -> Array:
        """The size of each column at random states within the limits, (k,)."""
        rng, L = np.random.default_rng(1), self.limits
        q = rng.uniform(L.lower, L.upper, (300, self.robot.n))
        qd, qdd = (rng.uniform(-x, x, (300, self.robot.n)) for x in (L.velocity, L.acceleration))
        W = self.columns(q, qd, qdd)[:, :, self.base.chosen] / self.noise[:, None]
        return np.sqrt((W**2).sum(axis=(0, 1)) * len(self.P) / 300)

    @cached_property
    def noise(self) -> Array:
        """What errors of the joints' forces are taken to be proportional to, (n,): their limits, or the forces that occur."""
        rng, L = np.random.default_rng(2), self.limits
        q = rng.uniform(L.lower, L.upper, (300, self.robot.n))
        qd, qdd = (rng.uniform(-x, x, q.shape) for x in (L.velocity, L.acceleration))
        found = np.abs(self.rigid.inverse_dynamics(q, qd, qdd)).max(axis=0)
        return np.maximum(found, 1e-3 * max(float(found.max()), 1e-9))

    @cached_property
    def gradient(self) -> Program:
        """(q, qd, qdd, Z) -> gradients of sum(Z * the inertial columns of the base)."""
        robot, columns = self.robot, [int(k) for k in self.base.chosen if k < self.columns.inertial]
        tree, coupling = robot.exact_tree, robot.coupling

        def body(q: Any, qd: Any, qdd: Any, Z: Any) -> Any:
            if coupling is not None:
                q, qd, qdd = coupling.positions(q), coupling.rates(qd), coupling.rates(qdd)
            Y = formulation("regressor", "regressor")(tree, q, qd, qdd)
            Y = (Y if coupling is None else coupling.pulled_back(Y, -2))[:, columns]
            return np.array([sum(y * z for y, z in zip(Y.ravel(), Z.ravel(), strict=True))])

        shapes = {"q": (robot.n,), "qd": (robot.n,), "qdd": (robot.n,), "Z": (robot.n, len(columns))}
        program = trace(body, shapes, outputs=("sum",))
        return differentiate(program, ["q", "qd", "qdd"], mode="reverse")

    @cached_property
    def pulled(self) -> Any:
        """The same, compiled."""
        return kernel_of(self.gradient)

    def coefficients(self, x: Array) -> Array:
        """c_0, a, b (2 harmonics + 1, n) of the free coefficients."""
        return self.still @ x.reshape(-1, self.robot.n)

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """q, qd, qdd (T, n) of the free coefficients."""
        X = x.reshape(-1, self.robot.n)
        return self.P @ X, self.V @ X, self.A @ X

    def stacked(self, q: Array, qd: Array, qdd: Array) -> Array:
        """W (T n, k)."""
        W = self.columns(q, qd, qdd)[:, :, self.base.chosen]
        return (W / self.noise[:, None] / self.size).reshape(-1, W.shape[-1])

    def condition(self, x: Array) -> float:
        """Of W with its columns scaled to 1."""
        W = self.stacked(*self.motion(x))
        s = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
        return float(s[0] / s[-1]) if s[-1] > 0 else np.inf

    def slacks(self, q: Array, qd: Array, qdd: Array) -> list[Array]:
        """How far the motion is from its limits, in parts of them, (T, n) each: two for each of q, qd, qdd and forces."""
        used = (q - self.middle, qd, qdd, self.rigid.inverse_dynamics(q, qd, qdd))
        return [1 - sign * x / most for x, most in zip(used, self.kept, strict=True) for sign in (1, -1)]

    def cost(self, x: Array, barrier: float) -> tuple[float, Array]:
        """The criterion with barriers of this weight, and its gradient; infinite beyond the limits."""
        q, qd, qdd = self.motion(x)
        slack, n = self.slacks(q, qd, qdd), self.robot.n
        if min(float(s.min()) for s in slack) <= 0:
            return np.inf, x
        W = self.stacked(q, qd, qdd)
        values, vectors = np.linalg.eigh(W.T @ W)
        if values[0] <= 1e-14 * values[-1]:
            return np.inf, x
        if self.criterion == "logdet":
            value, Z = -np.log(values).sum(), -2 * W @ ((vectors / values) @ vectors.T)
        else:
            value = 0.5 * np.log(values[-1] / values[0])
            Z = W @ (np.outer(vectors[:, -1], vectors[:, -1]) / values[-1] - np.outer(vectors[:, 0], vectors[:, 0]) / values[0])
        share = barrier / q.size
        value = value - share * sum(np.log(s).sum() for s in slack)
        Z = Z.reshape(len(q), n, -1) / self.noise[:, None] / self.size
        gradients = self._through_columns(q, qd, qdd, Z)
        pulls = [share * (1 / slack[2 * k] - 1 / slack[2 * k + 1]) / most for k, most in enumerate(self.kept)]
        gradients = [g + pull for g, pull in zip(gradients, pulls[:3], strict=True)]
        if np.isfinite(self.kept[3]).any():
            pull, slopes = pulls[3], self.rigid.inverse_dynamics_derivatives(q, qd, qdd)
            gradients = [g + np.vecmat(pull, slope) for g, slope in zip(gradients, slopes, strict=True)]
        gq, gv, ga = gradients
        return float(value), (self.P.T @ gq + self.V.T @ gv + self.A.T @ ga).ravel()

    def _through_columns(self, q: Array, qd: Array, qdd: Array, Z: Array) -> list[Array]:
        """Gradients (T, n) of sum(Z * columns of the base) with respect to q, qd, qdd."""
        inertial = int((self.base.chosen < self.columns.inertial).sum())
        gradients = [np.reshape(g, q.shape) for g in self.pulled(q, qd, qdd, np.ascontiguousarray(Z[:, :, :inertial]))]
        G, rubbing, spinning = drives(self.robot)
        place = {name: inertial + k for k, name in enumerate(self.base.names[inertial:])}
        for k, name in enumerate(rubbing):
            v, v0 = qd @ G[k], self.columns.smooth[k]
            if f"damping[{name}]" in place:
                gradients[1] = gradients[1] + (Z[:, :, place[f"damping[{name}]"]] @ G[k])[:, None] * G[k]
            if f"coulomb[{name}]" in place:
                bend = (1 - np.tanh(v / v0) ** 2) / v0
                gradients[1] = gradients[1] + (bend * (Z[:, :, place[f"coulomb[{name}]"]] @ G[k]))[:, None] * G[k]
        for k, name in enumerate(spinning):
            g = G[len(G) - len(spinning) + k]
            if f"armature[{name}]" in place:
                gradients[2] = gradients[2] + (Z[:, :, place[f"armature[{name}]"]] @ g)[:, None] * g
        return gradients

    def begin(self, seed: int) -> Array:
        """A random motion within the limits, about the middle of the positions or another place."""
        rng, n, L = np.random.default_rng(seed), self.robot.n, self.limits
        steady = np.linalg.lstsq(self.P, np.ones(len(self.P)), rcond=None)[0]
        half = (L.upper - L.lower) / 2
        for trial in range(20):
            place = (L.upper + L.lower) / 2 + (0 if trial == 0 else rng.uniform(-0.8, 0.8, n) * half)
            x = rng.standard_normal((self.P.shape[1], n)) * half
            x -= np.outer(steady, (self.P @ x).mean(axis=0))
            for power in range(40):
                made = np.outer(steady, place) + 0.8**power * x
                if np.isfinite(self.cost(made.ravel(), 1.0)[0]):
                    return (np.outer(steady, place) + 0.9 * 0.8**power * x).ravel()
        raise Error(f"no motion of {self.robot.name} within the limits was found; are its forces large enough to hold it?")

    def used(self, x: Array) -> Array:
        """The greatest |q - middle|, |qd|, |qdd| and |force|, friction included, also between the samples, (4, n)."""
        t = np.linspace(0.0, self.period, FINER * len(self.P), endpoint=False)
        coefficients = self.coefficients(x)
        q, qd, qdd = (part @ coefficients for part in series(t, self.period, len(coefficients) // 2))
        return np.abs([q - self.middle, qd, qdd, self.robot.inverse_dynamics(q, qd, qdd)]).max(axis=1)

    def tightened(self, x: Array, start: Array) -> Array:
        """The motion that began at `start` within its limits between the samples, too, if a few turns find one.

        A limit that is exceeded is tightened by the ratio; the search goes on from between the motion and its start.
        """
        for _ in range(TIGHTENED):
            excess = self.used(x) / self.most
            if (excess <= 1).all():
                break
            before, self.kept = self.kept, self.kept / np.maximum(excess, 1.0)
            between = (start + share * (x - start) for share in np.linspace(1.0, 0.0, 21))
            inside = next((one for one in between if np.isfinite(self.cost(one, 1.0)[0])), None)
            if inside is None:
                self.kept = before
                break
            x = self.optimized(inside, lambda done: None, BARRIERS[1:])
        return x

    def optimized(self, x: Array, tell: Any, barriers: tuple[float, ...] = BARRIERS) -> Array:
        """By BFGS, barrier by barrier."""
        for k, barrier in enumerate(barriers):
            value, g = self.cost(x, barrier)
            H = np.eye(len(x)) / max(float(np.linalg.norm(g)), 1e-12) * 0.05 * max(float(np.linalg.norm(x)), 1e-3)
            for turn in range(ITERATIONS):
                tell(int(100 * (k + turn / ITERATIONS) / len(barriers)))
                step = -H @ g
                slope, a = float(g @ step), 1.0
                if slope > -1e-6:
                    break
                new, g2 = self.cost(x + step, barrier)
                while not new <= value + 1e-4 * a * slope and a > 1e-8:
                    a /= 2
                    new, g2 = self.cost(x + a * step, barrier)
                if a <= 1e-8:
                    break
                s, y = a * step, g2 - g
                if s @ y > 1e-12:
                    rho = 1 / (s @ y)
                    Hy = H @ y
                    H = H + (1 + rho * (y @ Hy)) * rho * np.outer(s, s) - rho * (np.outer(Hy, s) + np.outer(s, Hy))
                done, x, value, g = value - new < 1e-4, x + s, new, g2
                if done:
                    break
        return x
