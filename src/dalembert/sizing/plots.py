"""Figures of sizings."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.errors import optional
from dalembert.quantities.drawing import Seen, seen, showing
from dalembert.quantities.kinematics import pose
from dalembert.sizing.payload_map import PayloadMap, raster
from dalembert.sizing.result import Sizing, times
from dalembert.storage.saving import saving

COLUMNS = (4, 3)
WIDTH = 14.0  # inches
FAR = 4.0  # times the largest force: a curve beyond is not drawn
BLUE, RED, GREEN, GREY = "#1f5fa8", "#c2410c", "#12845f", "#555555"


def figure(found: Sizing) -> Any:
    """Force against speed of each joint; below, the payload maps and the worst poses."""
    n = found.robot.n
    columns = n if n < COLUMNS[0] else min(COLUMNS, key=lambda count: -n % count)  # few places stay empty
    rows = -(-n // columns)
    made = showing(optional("matplotlib.figure").Figure)(figsize=(WIDTH, 0.6 + 2.6 * rows + 3.8), layout="constrained")
    above, below = made.subfigures(2, 1, height_ratios=[0.3 + 2.6 * rows, 3.8])
    for j, axes in enumerate(_panels(above, rows, columns, n)):
        _joint(axes, found, j)
    handles, names = above.axes[0].get_legend_handles_labels()
    above.legend(handles, names, loc="outside upper center", ncols=len(names), fontsize="small", frameon=False)
    if found.map is None:
        _poses(below, found)
    else:
        left, right = below.subfigures(1, 2, width_ratios=[1.1, 1])
        _maps(left, found, found.map)
        _poses(right, found)
    made.suptitle(f"{found.robot.name} with {found.payload_words}")
    return made


def save_figure(found: Sizing, place: Path) -> Path:
    """The figure as a file, by the ending of its name."""
    made = figure(found)
    with saving(place) as file:
        made.savefig(file, format=place.suffix[1:].lower(), dpi=120)
    return place


def _panels(part: Any, rows: int, columns: int, count: int) -> list[Any]:
    every = part.subplots(rows, columns, squeeze=False).ravel()
    for axes in every[count:]:
        axes.set_axis_off()
    return list(every[:count])


def _joint(axes: Any, found: Sizing, j: int) -> None:
    """The density of states, the envelope over all accelerations, the motor's curves, the duty cycle and the worst state."""
    speed, force, counts = found.density.speed[j], found.density.force[j], found.density.counts[j]
    joint, curve, worst = found.robot.joints[j], found.case.curves[j], found.tightest[j]
    shown = np.where(counts > 0, np.log(np.maximum(counts, 1)) + 1, np.nan).T
    axes.imshow(shown, extent=(-speed, speed, -force, force), origin="lower", aspect="auto", cmap="Greys", vmin=0, alpha=0.55)
    for side, label in zip(found.envelope[:, j], ("envelope", None), strict=True):
        axes.plot(middles(speed, len(side)), np.where(np.isfinite(side), side, np.nan), color=BLUE, linewidth=1.5, label=label)
    fast = speed if found.duty is None else max(speed, float(np.abs(found.duty.qd[:, j]).max()))
    if curve is not None:
        at = np.linspace(-1, 1, 401) * min(curve.top_speed, 1.2 * fast)
        fast = max(fast, at[-1])
        for torque, style, label in ((curve.peak_at(at), "-", "peak torque"), (curve.continuous_at(at), "--", "continuous torque")):
            axes.plot(at, torque, style, color=RED, linewidth=1.2, label=label)
            axes.plot(at, -torque, style, color=RED, linewidth=1.2)
    if found.duty is not None:
        axes.plot(found.duty.qd[:, j], found.duty.tau[:, j], color=GREEN, linewidth=1.2, label="duty cycle")
    axes.plot([worst.qd[j]], [worst.tau], "o", color=BLUE, markersize=5, label="worst state")
    axes.set_xlim(*np.array([-1.04, 1.04]) * fast)
    axes.set_ylim(-(tall := height(found, j)), tall)
    words = "" if curve is None else f", margin {times(worst.margin)}"
    axes.set_title(f"{joint.name}{words}", fontsize="medium", color=RED if worst.margin < 1 else "black")
    axes.set_xlabel(f"speed, {joint.unit}/s", fontsize="small")
    axes.set_ylabel(f"{'force' if joint.force_unit == 'N' else 'torque'}, {joint.force_unit}", fontsize="small")
    axes.tick_params(labelsize="small")
    axes.grid(alpha=0.25)


def middles(speed: float, bins: int) -> Array:
    """Of the bins from -speed to speed."""
    return ((2 * np.arange(bins) + 1) / bins - 1) * speed


def height(found: Sizing, j: int) -> float:
    """Up to where forces of a joint are drawn: its curve is seen unless it is far away."""
    most, curve = float(found.peak[j]), found.case.curves[j]
    most = most if found.duty is None else max(most, float(np.abs(found.duty.tau[:, j]).max()))
    limit = 0.0 if curve is None else float(curve.peak.max())
    return 1.08 * max(most, min(limit, FAR * most)) or 1.0


def _maps(part: Any, found: Sizing, whole: PayloadMap) -> None:
    names = " and ".join(found.robot.joint_names[j] for j in whole.joints)
    part.suptitle(f"largest payload, kg, where {names} move the tool", fontsize="medium")
    for axes, (title, values) in zip(part.subplots(1, 2), maps_of(whole), strict=True):
        shown, extent = raster(whole, values)
        drawn = axes.imshow(shown, extent=extent, origin="lower", cmap="viridis", vmin=0, vmax=scale_of(shown), aspect="equal")
        part.colorbar(drawn, ax=axes, extend="max", shrink=0.8)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(whole.labels[0], fontsize="small")
        axes.set_ylabel(whole.labels[1], fontsize="small")
        axes.tick_params(labelsize="small")


def maps_of(whole: PayloadMap) -> tuple[tuple[str, Array], tuple[str, Array]]:
    """The two maps with their titles."""
    return ("holding it", whole.standing), ("at full speed", whole.moving)


def scale_of(shown: Array) -> float:
    """Where the colours of a map end: few places, near an axis, bear many times what the others do."""
    there = shown[np.isfinite(shown)]
    return float(np.quantile(there, 0.9)) if len(there) and there.max() > 0 else 1.0


class Pictured(NamedTuple):
    """A pose as it is seen, and in it the joint that it is worst for, and the load, (2,) each."""

    seen: Seen
    joint: Array
    load: Array


def poses_of(found: Sizing) -> tuple[list[Pictured], float]:
    """The worst poses, and the extent of the largest, in m."""
    robot, arm = found.robot, found.case.arm
    place = {part.name: k for k, link in enumerate(robot.links) for part in (link.joint, *link.joint.parts)}
    drawn: list[Pictured] = []
    for x in found.tightest:
        load = np.asarray(pose(robot, x.q, arm.link, point=arm.com))[:3, 3]
        one = seen(robot, x.q, load, aside=True)
        drawn.append(Pictured(one, one.joints[place[robot.joint_names[x.joint]]], one.others[-1]))
    return drawn, max(float(np.ptp(x.seen.places, axis=0).max()) for x in drawn) or 1.0


def _poses(part: Any, found: Sizing) -> None:
    """The worst pose of each joint, all on one scale."""
    part.suptitle("the worst pose of each joint", fontsize="medium")
    drawn, reach = poses_of(found)
    columns, reach = min(len(drawn), 4 if found.map is not None else 8), 0.56 * reach
    panels = _panels(part, -(-len(drawn) // columns), columns, len(drawn))
    for axes, one, worst in zip(panels, drawn, found.tightest, strict=True):
        a, b = one.seen.others[0]
        axes.plot(
            [a - 0.16 * reach, a + 0.16 * reach], [b - 0.03 * reach] * 2, color="#aaaaaa", linewidth=4, solid_capstyle="round"
        )
        for line in one.seen.lines:
            axes.plot(*line.T, color=BLUE, linewidth=3, solid_capstyle="round")
        axes.plot(*one.seen.joints.T, "o", color=GREY, markersize=3)
        axes.plot(*one.joint[:, None], "o", color=RED, markersize=7)
        if worst.payload > 0:
            axes.plot(*one.load[:, None], "s", color=GREEN, markersize=7)
        x, y = (one.seen.places.min(axis=0) + one.seen.places.max(axis=0)) / 2
        axes.set(xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), aspect="equal")
        axes.set_axis_off()
        unit = found.units[worst.joint]
        axes.set_title(f"{found.robot.joint_names[worst.joint]}\n{worst.tau:.3g} {unit}, {worst.payload:g} kg", fontsize="small")
