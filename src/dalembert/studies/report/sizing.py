"""A sizing as a section of a report, and as a page of its own."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.sizing.payload_map import raster
from dalembert.sizing.plots import Pictured, height, maps_of, middles, poses_of, scale_of
from dalembert.sizing.result import Sizing, times
from dalembert.sizing.worst import Worst
from dalembert.studies.report.charts import LEFT, TOP, Box, axes, legend, line_path, raised
from dalembert.studies.report.figures import Section, number, table_html, verdict_html
from dalembert.studies.report.page import save_section
from dalembert.studies.report.pictures import coloured, image, shaded

SIDE = 190  # units of a picture of a pose
ALONG = 201  # points of a curve
CLASS = ' class="own"'
POINTS = 400  # of a duty cycle, at most about


def section(found: Sizing) -> Section:
    """The verdict, the table, force against speed, the payload map, the worst poses, and all tables as text."""
    words = (
        f"<p>With {escape(found.payload_words)}: {found.samples:,} states within the limits of position and velocity, and searches "
        "around the worst of them; accelerations and payloads are taken at their worst in closed form. A margin of 2 "
        "says that the motor could give twice the torque at the speed of that state.</p>"
    )
    verdict = "".join(_told(line) for line in found.verdict())
    body = words + verdict + _table(found) + _speeds(found) + _maps(found) + _poses(found)
    return Section("sizing", "Sizing of the motors", body)


def write(path: Any, found: Sizing) -> Path:
    """The section as a page of its own."""
    return save_section(path, found.robot, section(found), f"payload {found.payload_words}")


def _told(line: str) -> str:
    bad = not line.startswith(("Every", "Largest", "The duty cycle is within")) or "none:" in line
    return verdict_html("bad" if bad else "good", escape(line)) + "<br>"


def _table(found: Sizing) -> str:
    head, *rows = found.cells()
    told = "Speeds in rad/s (m/s), accelerations in rad/s² (m/s²), torques in N m (forces in N), payloads in kg"
    cells = [[escape(x).replace("-", "−").replace("inf", "∞") if k else escape(x) for k, x in enumerate(row)] for row in rows]
    return table_html([escape(x) for x in head], cells, text=(0, 4), caption=told) + _copied(found.cells(), "The table as text")


def _copied(rows: list[list[str]], title: str) -> str:
    """A table as text with tabs, which spreadsheets take; one click selects all of it."""
    lines = "\n".join("\t".join(row) for row in rows)
    return f'<details><summary>{escape(title)}</summary><pre class="copied" tabindex="0">{escape(lines)}</pre></details>'


def _speeds(found: Sizing) -> str:
    """Force against speed of each joint."""
    keys = [("states", "dense"), ("envelope", "s0")]
    keys += [("peak torque of the motor", "limit"), ("continuous torque", "limit soft")] if found.case.limited else []
    keys += [("duty cycle", "s2")] if found.duty is not None else []
    panels = "".join(_joint(found, j) for j in range(found.robot.n))
    caption = (
        "Shaded: how often torques and speeds occur together in uniformly random states. The envelope holds for all accelerations; "
        "the dot is the state of least margin. Curves far beyond the torques are not drawn."
    )
    return (
        f'<h3>Torque against speed</h3><figure>{legend(keys)}<div class="panels">{panels}</div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _joint(found: Sizing, j: int) -> str:
    joint, curve, worst = found.robot.joints[j], found.case.curves[j], found.tightest[j]
    speed, tall = float(found.density.speed[j]), height(found, j)
    fast = speed if found.duty is None else max(speed, float(np.abs(found.duty.qd[:, j]).max()))
    wide = 1.04 * max(fast, min(curve.top_speed, 1.2 * fast) if curve else fast)
    box = Box(-wide, wide, -tall, tall)
    force = float(found.density.force[j])
    parts = [_image(box, (-speed, speed, -force, force), shaded(found.density.counts[j].T))]
    parts += [_line(box, middles(speed, len(side)), side, "s0") for side in found.envelope[:, j]]
    if curve is not None:
        at = np.linspace(-1, 1, ALONG) * min(curve.top_speed, wide)
        for torque, style in ((curve.peak_at(at), "limit"), (curve.continuous_at(at), "limit soft")):
            parts += [_line(box, at, torque, style), _line(box, at, -torque, style)]
    if found.duty is not None:
        every = slice(None, None, len(found.duty.time) // POINTS + 1)
        x, y = box.along(found.duty.qd[every, j]), box.across(found.duty.tau[every, j])
        parts.append(f'<path class="line s2" d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))}"/>')
    parts.append(f'<circle class="worst" cx="{box.along(worst.qd[j]):.1f}" cy="{box.across(worst.tau):.1f}" r="4.5"/>')
    unit = f"{raised(box.power)} {found.units[j]}" if box.power else found.units[j]
    margin = "" if curve is None else f", margin {times(worst.margin)}"
    name, bad = escape(joint.name), ' class="bad"' if worst.margin < 1 else ""
    label = f"{joint.name}: torque against speed, at most {found.peak[j]:.4g} {found.units[j]}{margin}"
    over = f"speed, {joint.unit}/s"
    return (
        f'<div class="panel"><h4 title="{name}">{name} <span{bad}>{escape(unit)}{margin}</span></h4>'
        f'<svg class="chart still" viewBox="0 0 {box.width} {box.height}" role="img" aria-label="{escape(label)}">'
        f'<g class="axes" aria-hidden="true">{axes(box, over)}</g>{"".join(parts)}</svg></div>'
    )


def _line(box: Box, x: Array, y: Array, style: str) -> str:
    """A line within the chart: what is beyond is left out."""
    inside = np.where((np.abs(y) <= box.high) & np.isfinite(y), y, np.nan)
    return f'<path class="line {style}" d="{line_path(box.along(x), box.across(inside))}"/>'


def _image(box: Box, extent: tuple[float, float, float, float], rgba: Array) -> str:
    left, right, low, high = extent
    (a, b), (c, d) = (box.along(left), box.along(right)), (box.across(high), box.across(low))
    place = f'x="{a:.1f}" y="{c:.1f}" width="{b - a:.1f}" height="{d - c:.1f}"'
    return f'<image {place} preserveAspectRatio="none" href="{image(rgba)}"/>'


def _maps(found: Sizing) -> str:
    """The payload that every joint allows, by the place of the hand."""
    if found.map is None:
        return ""
    names = " and ".join(escape(found.robot.joint_names[j]) for j in found.map.joints)
    panels = ""
    for title, values in maps_of(found.map):
        shown, extent = raster(found.map, values)
        panels += _map(title, shown, extent, found.map.labels)
    every = "all directions" if found.map.directions == 2**found.robot.n else f"{found.map.directions:,} random directions"
    words = (
        f"The largest payload in kg with which every joint stays within its motor’s curve, in closed form at each pose: {names} "
        f"take all positions, the other joints stand still. At full speed: the least over {every} of the joints’ speeds and over "
        "all accelerations. Where the hand reaches a place in several poses, the least is shown."
    )
    return f'<h3>Payload map</h3><figure><div class="panels maps">{panels}</div><figcaption>{words}</figcaption></figure>'


def _map(title: str, shown: Array, extent: tuple[float, float, float, float], labels: tuple[str, str]) -> str:
    left, right, low, high = extent
    scale = min(290 / max(right - left, 1e-9), 300 / max(high - low, 1e-9))
    box = Box(*extent, width=(right - left) * scale + LEFT + 10, height=(high - low) * scale + TOP + 42)
    most = scale_of(shown)
    x = box.width + 6
    bar = image(coloured(np.linspace(0, most, 64)[:, None], most))
    marks = f'<image x="{x:.0f}" y="{TOP}" width="12" height="{box.bottom - TOP:.0f}" preserveAspectRatio="none" href="{bar}"/>'
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y, more = box.bottom - share * (box.bottom - TOP), "≥ " if share == 1 else ""
        marks += f'<text x="{x + 16:.0f}" y="{y + 5:.1f}">{more}{number(share * most, 2)}</text>'
    label = f"largest payload {title}: at least {np.nan_to_num(shown, nan=np.inf).min():.3g} kg"
    return (
        f'<div class="panel"><h4>{escape(title)} <span>kg; {escape(labels[1])} over {escape(labels[0])}</span></h4>'
        f'<svg class="chart still" viewBox="0 0 {box.width + 62:.0f} {box.height:.0f}" role="img" aria-label="{escape(label)}">'
        f'<g class="axes" aria-hidden="true">{axes(box, labels[0])}</g>'
        f"{_image(box, extent, coloured(shown, most))}{marks}</svg></div>"
    )


def _poses(found: Sizing) -> str:
    """The arm at the worst state of each joint, and these states as a table."""
    drawn, reach = poses_of(found)
    names = found.robot.joint_names
    pictures = "".join(_pose(found, one, worst, (SIDE - 30) / reach) for one, worst in zip(drawn, found.tightest, strict=True))
    head = ["worst for", "payload", *(f"{part}_{name}" for part in ("q", "qd", "qdd") for name in names)]
    rows = [[names[x.joint], f"{x.payload:g}", *(repr(float(v)) for v in (*x.q, *x.qd, *x.qdd))] for x in found.tightest]
    words = "Seen from the direction that shows most of the arm; the joint is marked, the square is the payload."
    text = _copied([head, *rows], "These states as text, with all digits")
    return f'<h3>Worst poses</h3><div class="poses">{pictures}</div><p class="note">{words}</p>{text}'


def _pose(found: Sizing, one: Pictured, worst: Worst, scale: float) -> str:
    middle = (one.seen.places.min(axis=0) + one.seen.places.max(axis=0)) / 2

    def point(place: Array) -> str:
        x, y = (place - middle) * scale
        return f"{SIDE / 2 + x:.1f},{SIDE / 2 - y:.1f}"

    def dot(place: Array, radius: float, style: str = "") -> str:
        x, y = point(place).split(",")
        return f'<circle{style} cx="{x}" cy="{y}" r="{radius}"/>'

    lines = "".join(f'<polyline points="{" ".join(map(point, line))}"/>' for line in one.seen.lines)
    dots = "".join(dot(place, 3.5) for place in one.seen.joints)
    x, y = map(float, point(one.load).split(","))
    a, b = map(float, point(one.seen.others[0]).split(","))
    ground = f'<path class="ground" d="M{a - 16:.1f} {b + 5:.1f}H{a + 16:.1f}"/>'
    load = f'<rect class="load" x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" rx="2"/>' if worst.payload > 0 else ""
    name, speed = escape(found.robot.joint_names[worst.joint]), number(float(worst.qd[worst.joint]), 3)
    joint = found.robot.joints[worst.joint]
    words = f"{number(worst.tau, 3)} {joint.force_unit} at {speed} {joint.unit}/s, {number(worst.payload)} kg"
    return (
        f'<figure class="pose"><svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="the arm where {name} is worst">'
        f'{ground}<g class="arm">{lines}</g><g class="dots">{dots}</g>{load}{dot(one.joint, 6.5, CLASS)}</svg>'
        f"<figcaption><b>{name}</b><br>{words}</figcaption></figure>"
    )
