"""Figures of trajectories."""

from typing import Any

from dalembert.errors import optional
from dalembert.quantities.drawing import showing

PANELS = (("q", "position, rad or m"), ("qd", "velocity, rad/s or m/s"), ("tau", "force, N m or N"))


def figure(trajectory: Any) -> Any:
    """Positions, velocities, forces and energies over time, one panel each."""
    made = showing(optional("matplotlib.figure").Figure)(figsize=(10, 7), layout="constrained")
    axes = made.subplots(2, 2, sharex=True)
    for panel, (kind, label) in zip(axes.flat, PANELS, strict=False):
        names = trajectory.robot.position_names if kind == "q" else trajectory.robot.joint_names
        panel.plot(trajectory.time, getattr(trajectory, kind), label=names)
        panel.set_ylabel(label)
    for kind in ("kinetic_energy", "potential_energy", "energy"):
        axes.flat[3].plot(trajectory.time, getattr(trajectory, kind), label=kind.replace("_", " "))
    axes.flat[3].set_ylabel("energy, J")
    axes.flat[3].legend(fontsize="small")
    if trajectory.robot.n <= 12:
        axes.flat[0].legend(fontsize="small")
    for panel in axes.flat:
        panel.grid(alpha=0.3)
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    made.suptitle(repr(trajectory).strip("<>"))
    return made
