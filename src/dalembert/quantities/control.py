"""Control laws of a robot as functions of numbers alone, gains included: what runs on hardware, and what `generate` prints.

The controllers of `dalembert.control` hold gains and paths, and call these laws.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dalembert.derived.control import Observed
from dalembert.engine.evaluation import asked, computed
from dalembert.engine.names import Backend, Out, Result
from dalembert.model.model import Model


@computed
def gravity_compensation(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    damping: ArrayLike,
    assistance: ArrayLike,
    *,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """tau = g(q) + assistance friction(qd) - damping qd: the arm floats, and is moved by hand. Signature (n),(n),(n),(n)->(n).

    damping: (..., n) in N m s/rad (N s/m).
    assistance: (..., n), the share of the model's friction to compensate, 0 to 1; friction that depends on the load is left to the
    arm. More than there is would drive the joints.

    >>> import dalembert as da
    >>> da.robot("two_link").gravity_compensation([0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]).tolist()
    [19.1124, 4.9031]
    """
    return asked(
        robot, "gravity_compensation", {"q": q, "qd": qd, "damping": damping, "assistance": assistance}, backend=backend, out=out
    )


@computed
def computed_torque(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    q_d: ArrayLike,
    qd_d: ArrayLike,
    qdd_d: ArrayLike,
    kp: ArrayLike,
    kd: ArrayLike,
    *,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """tau = ID(q, qd, qdd_d + kd (qd_d - qd) + kp (q_d - q)): follows a motion with linear error dynamics.

    Signature (n),(n),(n),(n),(n),(n),(n)->(n). `da.ComputedTorque` follows a path.

    q_d, qd_d, qdd_d: (..., n) the wanted motion at this moment.
    kp: (..., n) in 1/s^2.
    kd: (..., n) in 1/s; critically damped with kd = 2 sqrt(kp).

    >>> import dalembert as da
    >>> arm = da.robot("two_link")
    >>> rest, still = [0.3, 0.4], [0.0, 0.0]
    >>> tau = arm.computed_torque(rest, still, rest, still, still, [100.0, 100.0], [20.0, 20.0])
    >>> bool((tau == arm.gravity_force(rest)).all())
    True
    """
    given = {"q": q, "qd": qd, "q_d": q_d, "qd_d": qd_d, "qdd_d": qdd_d, "kp": kp, "kd": kd}
    return asked(robot, "computed_torque", given, backend=backend, out=out)


@computed
def impedance(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    target: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike,
    joint_damping: ArrayLike,
    link: str | None = None,
    *,
    backend: Backend = "auto",
    out: Out = None,
) -> Result:
    """tau = J^T W + g(q) - joint_damping qd: springs and dampers W between a link and its target pose.

    Signature (n),(n),(4,4),(6),(6),(n)->(n).

    target: (..., 4, 4) the pose in the world that the link is pulled to.
    stiffness, damping: (..., 6) about and along the axes of the target, angular part first, in N m/rad, N/m and N m s/rad, N s/m.
    joint_damping: (..., n) in N m s/rad (N s/m), brakes what the joints can do without moving the link.
    link: a link or frame, default the end of the arm.

    The springs store U = 1/2 p^T K_v p + tr(G (1 - R)), G = tr(K_w)/2 - K_w, with R, p the pose of the link seen from the target:
    for a small rotation phi the second part is 1/2 phi^T K_w phi. So the energy of arm and springs only decreases, whatever the
    link touches. Held at rest by an external wrench F, the link yields until W = -F: by F/stiffness, if the rotation is small.
    A rotation by pi about an axis is the farthest away; the moment is zero there.

    >>> import dalembert as da
    >>> arm, q, still = da.robot("two_link"), [0.3, 0.4], [0.0, 0.0]
    >>> tau = arm.impedance(q, still, arm.pose(q), [10.0] * 3 + [500.0] * 3, [1.0] * 3 + [50.0] * 3, still)
    >>> bool(abs(tau - arm.gravity_force(q)).max() < 1e-9)
    True
    """
    given = {"q": q, "qd": qd, "target": target, "stiffness": stiffness, "damping": damping, "joint_damping": joint_damping}
    return asked(robot, "impedance", given, backend=backend, out=out, link=link)


@computed
def momentum_observer(
    robot: Model,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    integral: ArrayLike,
    gain: ArrayLike,
    dt: ArrayLike,
    *,
    backend: Backend = "auto",
    out: tuple[Out, Out] | None = None,
) -> Observed:
    """One step of an observer that estimates external joint forces without a sensor.

    Signature (n),(n),(n),(n),(n),()->(n),(n).

    q, qd: (..., n) now.
    tau: (..., n) the joint forces of the motors since the last call.
    integral: (..., n) what the last call returned as next_integral; to begin with, the momentum M(q) qd, which is 0 at rest.
    gain: (..., n) in 1/s.
    dt: (...) the time since the last call, in s.

    residual = gain (M qd - next_integral),   next_integral = integral + dt (tau - friction + C^T qd - g + residual)

    With the right model the residual follows the external joint forces tau_ext = J^T w like r' = gain (tau_ext - r), by the
    implicit Euler rule: the distance to a constant force is divided by 1 + gain dt in every step, for any gain and dt. Friction
    is that of the model; of a joint at rest, which may hold anything up to its Coulomb level, the unknown rest is in the residual.

    >>> import dalembert as da
    >>> arm, q, still = da.robot("two_link"), [0.3, 0.4], [0.0, 0.0]
    >>> residual, _ = arm.momentum_observer(q, still, arm.gravity_force(q), still, [100.0, 100.0], 1e-3)
    >>> bool(abs(residual).max() < 1e-12)
    True
    """
    given = {"q": q, "qd": qd, "tau": tau, "integral": integral, "gain": gain, "dt": dt}
    return asked(robot, "momentum_observer", given, backend=backend, out=out)
