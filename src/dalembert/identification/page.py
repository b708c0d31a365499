"""An identification as a section of a report."""

import math
from html import escape

import numpy as np

from dalembert.identification.plots import curves
from dalembert.identification.prepare import Prepared
from dalembert.identification.result import SURE, Identification, delay_words
from dalembert.studies.report.charts import Panel, Series, legend
from dalembert.studies.report.figures import Section, number, panel_html, table_html


def section(found: Identification, motion: Prepared) -> Section:
    """Errors, forces measured and predicted, residuals over time and speed, their autocorrelation, parameters, weak ones."""
    words = (
        f"<p>{len(found.base.names)} base parameters of {len(found.values)} parameters; {delay_words(motion)}, which "
        f"are filtered below {number(motion.cutoff)} Hz. Shown is {escape(motion.recording.name)}.</p>"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    listed = f'<ul class="doubts">{notes}</ul>' if notes else ""
    return Section(
        "identification", "Identification", words + listed + _errors(found) + _charts(found, motion) + _parameters(found)
    )


def _errors(found: Identification) -> str:
    checked = found.validation
    parts = {"residual, %": found.residual, "rms, N m or N": np.where(found.moved, found.estimate.residual, np.nan)}
    if checked:
        parts = {"validation, %": checked.filtered, "raw, %": checked.raw, **parts}
    rows = [
        [escape(name), *("at rest" if np.isnan(x[j]) else number(float(x[j]), 3) for x in parts.values())]
        for j, name in enumerate(found.robot.joint_names)
    ]
    caption = "Residuals of the joint forces, in percent of the root mean square of the measured ones; joints at rest are left out"
    if checked:
        below = f"{number(checked.cutoff)} Hz"
        caption += f". Validation is on other recordings: of forces filtered below {below}, and of raw ones, with their noise"
    return table_html(["joint", *parts], rows, caption=caption)


def _charts(found: Identification, motion: Prepared) -> str:
    time, lags, all_curves = curves(found, motion)
    groups: dict[str, list[str]] = {
        "Forces": [],
        "Residuals over time": [],
        "Over velocity": [],
        "Autocorrelation of residuals": [],
    }
    for j, (joint, one) in enumerate(zip(found.robot.joints, all_curves, strict=True)):
        if not motion.moving[:, j].any():
            continue
        name, unit, speed = joint.name, joint.force_unit, f"velocity, {joint.unit}/s"
        both = (Series("measured", one.measured, "s0"), Series("predicted", one.predicted, "s1"))
        panels = (
            (Panel(name, unit, both), time),
            (Panel(name, unit, (Series("residual", one.residual, "s0"),)), time),
            (Panel(name, unit, (Series("mean residual", one.by_speed, "s0"),), over=speed), one.speeds),
            (Panel(name, "", (Series("autocorrelation", one.autocorrelation, "s0"),), over="lag, s"), lags),
        )
        for group, (panel, over) in zip(groups.values(), panels, strict=True):
            if over[-1] > over[0]:
                group.append(panel_html(panel, over))
    keys = legend([("measured, filtered", "s0"), ("predicted", "s1")])
    parts = [
        f'<h3>{title}</h3>{keys if title == "Forces" else ""}<div class="panels">{"".join(x)}</div>' for title, x in groups.items()
    ]
    return "".join(parts)


def _parameters(found: Identification) -> str:
    rows = []
    for x in found.intervals():
        half = x.high - x.value
        known = f"{number(x.value)} ± {number(half, 2)}" if math.isfinite(half) else "–"
        name = f'<span title="{escape(x.combination)}">{escape(x.name)}</span>'
        rows.append([name, known, number(x.robot), number(x.prior), escape(x.combination if x.combination != x.name else "")])
    caption = (
        "Base parameters in SI units: each stands for a combination of parameters that the torques depend on, and is named after "
        "one of them. Least squares with 95 % intervals, the robot, the prior; a dash where the motion tells nothing"
    )
    head = ["base parameter", "estimate", "robot", "prior", "combination"]
    parts = [table_html(head, rows, text=(0, 4), caption=caption, style="compared named")]
    if weak := found.weak():
        lines = [[escape(x.name), escape(x.motion)] for x in weak]
        told = "What the motion did not excite"
        parts.append(table_html(["parameter", "what excites it"], lines, text=(0, 1), caption=told, style="compared named"))
    else:
        parts.append(f'<p class="note">{SURE.capitalize()}.</p>')
    if found.undetermined:
        parts.append(f'<p class="note">{escape(found.undetermined_words)}.</p>')
    return "".join(parts)
