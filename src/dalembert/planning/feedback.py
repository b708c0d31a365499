"""Feedback along a motion, or about one state: forces that are linear in what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch, number
from dalembert.engine.evaluation import joint_vector
from dalembert.model.model import Model
from dalembert.model.values import Frozen, Value

ROUNDING = 1e-9  # of a step: times are sums of steps


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
        return int(min(max(np.floor(time / self.step + ROUNDING), 0), last))
