"""A study in a few tables, for a terminal: the forces that a motion takes, by cause, and the formulations that stand out."""

import numpy as np

from dalembert.robots import Robot
from dalembert.studies.compare import Comparison
from dalembert.studies.report.analysis import torques
from dalembert.studies.report.motion import follow

Cells = list[list[str]]  # titles, then rows


def forces(robot: Robot) -> tuple[str, Cells]:
    """What is shown, and the largest joint forces along the report's motion: all of it, and each part.

    >>> import dalembert as da
    >>> forces(da.robot("two_link"))[1][0]
    ['joint', 'unit', 'largest force', 'inertial', 'coriolis', 'centrifugal', 'gravity', 'friction']
    """
    motion = follow(robot)
    parts = torques(robot, motion)._asdict()
    del parts["others"]  # nothing else acts on this motion
    cells = [["joint", "unit", "largest force", *list(parts)[1:]]]
    for i, joint in enumerate(robot.joints):
        name, unit = joint.name, joint.force_unit
        sizes = [float(np.abs(part[:, i]).max()) for part in parts.values()]
        cells.append([name, unit, *(f"{x:.4g}" if x > 1e-12 * max(sizes) else "0" for x in sizes)])
    return f"largest joint forces, and their parts, along the motion of the report ({motion.time[-1]:g} s)", cells


def best(comparison: Comparison) -> tuple[str, Cells]:
    """What is shown, and for each quantity the number of methods, the largest error of all, and which are fastest and shortest.

    >>> import dalembert as da
    >>> best(da.compare(da.robot("two_link"), "mass_matrix", states=10))[1][1][:2]
    ['mass matrix', '9']
    """
    cells = [["quantity", "methods", "largest error", "fastest", "ns per state", "fewest operations", "mul", "add"]]
    for quantity in comparison.quantities:
        rows = [row for row in comparison.rows if row.quantity == quantity]
        fast, few = min(rows, key=lambda r: r.nanoseconds), min(rows, key=lambda r: r.customized.total)
        error = f"{max(row.error for row in rows):.0e}"
        counts = str(few.customized.mul), str(few.customized.add)
        speed = f"{fast.nanoseconds:.0f}"
        cells.append([quantity.replace("_", " "), str(len(rows)), error, fast.method, speed, few.method, *counts])
    return "all formulations, in a batch by one thread (dalembert compare shows each)", cells
