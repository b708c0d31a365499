"""An identification as a section of a report."""

from html import escape

from dalembert.identification.plots import curves
from dalembert.identification.prepare import Prepared
from dalembert.identification.result import Identification
from dalembert.studies.report.charts import Panel, Series, legend
from dalembert.studies.report.figures import Section, number, panel_html, table_html


def section(found: Identification, motion: Prepared) -> Section:
    """Errors, forces measured and predicted, residuals over time and speed, their autocorrelation, parameters, weak ones."""
    words = (
        f"<p>{len(found.base.names)} base parameters of {len(found.values)} parameters; joint forces are delayed by "
        f"{number(1e3 * motion.delay)} ms and are filtered below {number(motion.cutoff)} Hz. "
        f"Shown is {escape(motion.recording.name)}.</p>"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    body = (
        words + (f'<ul class="doubts">{notes}</ul>' if notes else "") + _errors(found) + _charts(found, motion) + _parameters(found)
    )
    return Section("identification", "Identification", body)


def _errors(found: Identification) -> str:
    head, checked = ["joint", "residual, %", "rms, N m or N"], found.validation
    head += ["validation, filtered, %", "validation, raw, %"] if checked else []
    rows = []
    for j, name in enumerate(found.robot.joint_names):
        own = [number(float(found.residual[j]), 3), number(float(found.estimate.residual[j]), 3)]
        more = [number(float(x[j]), 3) for x in (checked.filtered, checked.raw)] if checked else []
        rows.append([escape(name), *own, *more])
    caption = "Residuals of the joint forces, in percent of the root mean square of the measured ones; joints at rest are left out"
    return table_html(head, rows, caption=caption)


def _charts(found: Identification, motion: Prepared) -> str:
    time, lags, all_curves = curves(found, motion)
    groups: dict[str, list[str]] = {
        "Forces": [],
        "Residuals over time": [],
        "Over velocity": [],
        "Autocorrelation of residuals": [],
    }
    for joint, one in zip(found.robot.joints, all_curves, strict=True):
        name, unit, speed = joint.name, joint.force_unit, f"velocity, {joint.unit}/s"
        both = (Series("measured", one.measured, "s0"), Series("predicted", one.predicted, "s1"))
        panels = (
            (Panel(name, unit, both), time),
            (Panel(name, unit, (Series("residual", one.residual, "s0"),)), time),
            (Panel(name, unit, (Series("mean residual", one.by_speed, "s0"),), over=speed), one.speeds),
            (Panel(name, "1", (Series("autocorrelation", one.autocorrelation, "s0"),), over="lag, s"), lags),
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
    head = ["base parameter", "low", "estimate", "high", "robot", "prior"]
    rows = [[escape(name), *(number(x) for x in values)] for name, *values in found.intervals()]
    made_of = table_html(head, rows, caption="Base parameters in SI units: least squares with 95 % intervals, the robot, the prior")
    weak = found.weak()
    if not weak:
        return made_of
    lines = [[escape(x.name), number(x.value), number(x.deviation), escape(x.motion)] for x in weak]
    told = table_html(
        ["parameter", "value", "standard deviation", "what excites it"],
        lines,
        text=(0, 3),
        caption="What the motion did not excite",
    )
    return made_of + told
