"""Controllers for arms that people and things touch, and an observer that feels them.

As the other controllers they are frozen values that hold the robot they believe in. The laws are those of
`robot.gravity_compensation`, `robot.impedance` and `robot.momentum_observer`, which `robot.generate` prints as C: Takegaki and
Arimoto (1981), Hogan (1985), De Luca and Mattone (2003).
"""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, frozen_array, instance, positive
from dalembert.control.given import gain, keep, rotates, state
from dalembert.derived.control import Observed, gravity_compensation
from dalembert.derived.kinematics import carrier
from dalembert.engine.evaluation import joint_vector
from dalembert.engine.guards import need_rates
from dalembert.errors import Error, brief
from dalembert.model.edit import tip
from dalembert.model.model import refuse_loops
from dalembert.model.values import Frozen, Value
from dalembert.robots import Robot


@dataclass(frozen=True, eq=False)
class GravityCompensation(Value):
    """The forces that hold the arm against gravity, so that it floats and can be moved by hand.

    tau = g(q) + assistance friction(qd) - damping qd

    With assistance below 1 the kinetic energy of the arm only decreases unless somebody pushes: by
    qd^T damping qd + (1 - assistance) qd^T friction(qd). Friction that depends on the load is left to the arm.

    damping: in N m s/rad (N s/m), a number, (n,) or (n, n). assistance: the share of the model's friction that is compensated, a
    number or (n,), 0 to 1: above the true friction the arm would move by itself, so leave some.

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> GravityCompensation(arm, damping=0.5)(0.0, [0.0, 0.0], [1.0, 0.0]).tolist()
    [19.1124, 4.9031]
    """

    robot: Robot
    damping: Frozen = 0.0
    assistance: Frozen = 0.0

    def __post_init__(self) -> None:
        n = instance(self.robot, Robot, "the robot of a controller").n
        assistance = gain(self.assistance, n, "assistance")
        if assistance.ndim > 1 or (assistance > 1).any():
            raise Error(f"assistance must be shares from 0 to 1 of the friction of each joint, got {brief(assistance.tolist())}")
        keep(self, damping=gain(self.damping, n, "damping"), assistance=assistance)

    @np.errstate(all="ignore")  # infinities appear in the results
    def __call__(self, t: Any, q: Any, qd: Any) -> Array:
        """Joint forces (..., n); the time does not matter."""
        q, qd = state(self, q, qd)
        return gravity_compensation(self.robot, q, qd, self.damping, self.assistance)


@dataclass(frozen=True, eq=False)
class Impedance(Value):
    """Springs and dampers between a link and a pose in space: the arm yields to what it touches (Hogan).

    tau = J^T W + g(q) - joint_damping qd

    W pulls the link towards the target by `stiffness` and brakes it by `damping`, about and along the axes of the target:
    `robot.impedance` has the formula. With the right g(q) the energy of the arm and the springs only decreases, whatever the
    environment, and a constant push F at the origin of the link moves it by F / stiffness. Friction is not compensated: Coulomb
    friction c of the joints leaves the link wherever |J^T W| < c.

    target: (..., 4, 4) a pose in the world. stiffness, damping: one number or six, angular part first, in N m/rad, N/m and
    N m s/rad, N s/m. joint_damping: in N m s/rad (N s/m), a number or (n,), for what the joints can do without moving the link.
    link: a link or frame (default: the end of the arm).

    >>> import dalembert as da
    >>> arm, q = da.robot("panda"), [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
    >>> hold = Impedance(arm, arm.pose(q), stiffness=[20.0] * 3 + [400.0] * 3, damping=[2.0] * 3 + [40.0] * 3, joint_damping=0.5)
    >>> bool(abs(hold(0.0, q, [0.0] * 7) - arm.gravity_force(q)).max() < 1e-9)
    True
    """

    robot: Robot
    target: Frozen
    stiffness: Frozen
    damping: Frozen
    joint_damping: Frozen = field(default=0.0, kw_only=True)
    link: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        refuse_loops(robot := instance(self.robot, Robot, "the robot of a controller"), "Impedance")
        if carrier(robot, self.link)[0] < 0:
            named = tip(robot) if self.link is None else self.link
            raise Error(f"no joint of {robot.name} moves {named!r}; give link=... one that moves")
        target = frozen_array(self.target, None, "the target of an impedance")
        if target.shape[-2:] != (4, 4):
            raise Error(f"the target of an impedance must be a pose (..., 4, 4), such as robot.pose(q), got shape {target.shape}")
        R = target[..., :3, :3]
        if not rotates(R):
            raise Error(f"the target of an impedance must have a rotation matrix in it, got {brief(R.tolist())}")
        keep(self, target=target, joint_damping=_each(self.joint_damping, robot.n, "joint_damping"))
        keep(self, stiffness=_each(self.stiffness, 6, "stiffness"), damping=_each(self.damping, 6, "damping"))

    def __call__(self, t: Any, q: Any, qd: Any) -> Array:
        """Joint forces (..., n); the time does not matter."""
        q, qd = state(self, q, qd, target=cast(Array, self.target)[..., 0])
        return self.robot.impedance(q, qd, self.target, self.stiffness, self.damping, self.joint_damping, self.link)


@dataclass(frozen=True, eq=False)
class MomentumObserver(Value):
    """Estimates the joint forces of contacts from motion and motor forces, without a sensor and without accelerations.

    `residual, integral = observer(q, qd, tau, integral)` is one step of `robot.momentum_observer`, which has the formula;
    `observer.start(q, qd)` is the integral to begin with. With the right model the residual follows tau_ext = J^T w like
    r' = gain (tau_ext - r): a larger gain is faster and noisier. A contact at a known place has the wrench w of least squares,
    `np.linalg.lstsq(J.T, residual)`.

    gain: in 1/s, a number or (n,). dt: the time between two calls, in s.

    >>> import dalembert as da
    >>> arm, q = da.robot("two_link"), [0.3, 0.4]
    >>> observer = MomentumObserver(arm, gain=50.0, dt=1e-3)
    >>> integral = observer.start(q, [0.0, 0.0])
    >>> for _ in range(500):  # it rests although a force of 2 N m is missing at the first joint: something holds it
    ...     residual, integral = observer(q, [0.0, 0.0], arm.gravity_force(q) - [2.0, 0.0], integral)
    >>> residual.round(6).tolist()
    [2.0, 0.0]
    """

    robot: Robot
    gain: Frozen
    dt: float

    def __post_init__(self) -> None:
        n = instance(self.robot, Robot, "the robot of an observer").n
        need_rates(self.robot, "MomentumObserver")
        refuse_loops(self.robot, "MomentumObserver")
        keep(self, gain=_each(self.gain, n, "gain"), dt=positive(self.dt, "dt"))

    def start(self, q: Any, qd: Any) -> Array:
        """The momentum M(q) qd (..., n), with which the integral begins: zero at rest."""
        q, qd = state(self, q, qd)
        return np.matvec(self.robot.mass_matrix(q), qd)

    def __call__(self, q: Any, qd: Any, tau: Any, integral: Any) -> Observed:
        """The residual (..., n), and the integral for the next call; tau are the joint forces since the last one."""
        return self.robot.momentum_observer(q, qd, tau, integral, self.gain, self.dt)

    def along(self, q: Any, qd: Any, tau: Any) -> Array:
        """The residuals (..., samples, n) of a recording with a sample every dt; tau[..., k, :] acts from sample k to the next.

        >>> import dalembert as da
        >>> arm = da.robot("two_link")
        >>> fall = arm.simulate([0.3, 0.4], duration=0.5)
        >>> residual = MomentumObserver(arm, 50.0, 1e-3).along(fall.q, fall.qd, fall.tau)
        >>> bool(abs(residual).max() < 0.05)
        True
        """
        q, qd, tau = (joint_vector(self.robot, "MomentumObserver", name, x) for name, x in (("q", q), ("qd", qd), ("tau", tau)))
        shape = batch({"q": q.shape[:-1], "qd": qd.shape[:-1], "tau": tau.shape[:-1]}, "MomentumObserver")
        if not shape or not shape[-1]:
            raise Error(f"MomentumObserver needs a recording (..., samples, {self.robot.n}), got shape {(*shape, self.robot.n)}")
        q, qd, tau = (np.broadcast_to(x, (*shape, self.robot.n)) for x in (q, qd, tau))
        found, integral = [np.zeros((*shape[:-1], self.robot.n))], self.start(q[..., 0, :], qd[..., 0, :])
        for k in range(1, shape[-1]):
            residual, integral = self(q[..., k, :], qd[..., k, :], tau[..., k - 1, :], integral)
            found.append(residual)
        return np.stack(found, axis=-2)


def _each(value: Any, size: int, what: str) -> Array:
    """One gain for each of `size` coordinates."""
    given = gain(value, size, what)
    if given.ndim > 1:
        raise Error(f"{what} must be one number or {size} numbers, got a matrix {given.shape}")
    each = np.array(np.broadcast_to(given, size))
    each.setflags(write=False)
    return each
