"""The phase plane of a fastest motion as a figure."""

from typing import Any

import numpy as np

from dalembert.errors import optional
from dalembert.quantities.drawing import showing

NAMED = 12  # joints that a legend names


def figure(fast: Any) -> Any:
    """ds/dt over s, under the speeds that limits leave and those from which one arrives; below, torques by their limits."""
    made = showing(optional("matplotlib.figure").Figure)(figsize=(9, 7), layout="constrained")
    plane, lanes = made.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    s, found = fast.found.s, fast.found.profile
    y = np.sqrt(found.x)
    top = 1.6 * y.max()
    limit, arrives = (np.sqrt(np.clip(x[:, 1], 0.0, (2 * top) ** 2)) for x in (found.limits, found.reachable))
    inner = slice(1, -1)  # at the ends the robot rests
    plane.fill_between(s[inner], limit[inner], 2 * top, color="0.88", linewidth=0, label="beyond the limits at this point")
    plane.plot(s[inner], limit[inner], color="0.45", linewidth=1)
    plane.plot(s[inner], arrives[inner], color="tab:orange", linestyle="--", linewidth=1, label="the end can be reached from below")
    plane.plot(s, y, color="tab:blue", linewidth=2, label=f"the fastest motion, {fast.duration:.4g} s")
    switches = [x.s for x in fast.switches]
    plane.plot(switches, np.interp(switches, s, y), "o", color="tab:blue", markersize=5, label="another limit takes over")
    plane.set(ylabel="ds/dt", ylim=(0, top), title=f"{fast.robot.name}: the phase plane of the path")
    plane.legend(fontsize="small", loc="upper center", ncols=2)
    lanes.plot(fast.s, fast.saturation, label=fast.robot.joint_names)
    lanes.axhspan(1.0, 1.2, color="0.88", linewidth=0)
    lanes.axhspan(-1.2, -1.0, color="0.88", linewidth=0)
    lanes.set(xlabel="path parameter s", ylabel="torque / limit", ylim=(-1.2, 1.2))
    if fast.robot.n <= NAMED:
        lanes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for panel in (plane, lanes):
        panel.grid(alpha=0.3)
    return made
