"""What does not depend on the motion: the links' data, doubts about them, closed forms, conventions."""

from html import escape
from importlib import import_module

import numpy as np

from dalembert.errors import optional
from dalembert.model.check import CONVENTIONS, around
from dalembert.robots import Robot
from dalembert.studies.report.figures import Section, number, scroll_html, table_html, vector, verdict_html
from dalembert.symbolic.closed_form.equations import Equations, equations
from dalembert.symbolic.closed_form.names import entry_name
from dalembert.symbolic.closed_form.paper import seen, summands

FEW = 8  # named frames that are listed at once
SMALL = 4  # joints: more are not even tried
SYMBOLIC, NUMERIC = 170, 120  # terms of M, C and g that a page may show with symbols, and with numbers only
WIDTH = 130  # letters of a line of mathematics


def parameters(robot: Robot) -> Section:
    """Tables of joints and bodies, and the suspicious data."""
    if not robot.n:
        return Section("parameters", "Parameters", "<p>This robot has no joints: nothing moves.</p>")
    findings = len(robot.check())
    badge = f'<span class="badge doubt">suspicious data: {findings}</span>' if findings else ""
    words = "".join(f'<p class="note">{what.capitalize()}: {escape(told)}.</p>' for what, told in around(robot).items())
    body = _joints(robot) + words + _bodies(robot) + _frames(robot) + doubts(robot)
    return Section("parameters", "Parameters", body, badge=badge)


def _joints(robot: Robot) -> str:
    head = ["joint", "kind", "link", "parent", "range", "max. velocity", "max. torque", "damping", "Coulomb", "armature"]
    more = {
        "friction_offset": "offset",
        "static_friction": "static",
        "stribeck_speed": "Stribeck speed",
        "load_friction": "load-dependent",
    }
    more = {field: title for field, title in more.items() if any(getattr(x.joint, field) for x in robot.links)}
    head += more.values()
    rows = []
    for link in robot.links:
        j = link.joint
        kind = j.kind + (f" {number(j.pitch)} m/rad" if j.kind == "helical" else "")
        span = f"{number(j.lower)} … {number(j.upper)}" if np.isfinite([j.lower, j.upper]).any() else "unlimited"
        fields = ("velocity_limit", "effort_limit", "damping", "coulomb", "armature", *more)
        rest = (number(x) if np.isfinite(x) else "–" for x in (getattr(j, field) for field in fields))
        rows.append([escape(j.name), kind, escape(link.name), escape(link.parent), span, *rest])
    return table_html(head, rows, text=(0, 1, 2, 3), caption="Joints, in SI units and radians, on the link side of the gearing")


def _bodies(robot: Robot) -> str:
    head = ["link", "mass, kg", "centre of mass, m", "I<sub>xx</sub>", "I<sub>yy</sub>", "I<sub>zz</sub>"]
    head += ["I<sub>xy</sub>", "I<sub>xz</sub>", "I<sub>yz</sub>"]
    rows = []
    for link in robot.links:
        b, I = link.inertia, link.inertia.tensor
        entries = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        rows.append([escape(link.name), number(b.mass), vector(b.com), *(number(float(x)) for x in entries)])
    return table_html(
        head, rows, caption="Links: inertia in kg m², about the centre of mass, in link axes; I<sub>xy</sub> = −∫ x y dm"
    )


def _frames(robot: Robot) -> str:
    if not robot.frames:
        return ""
    listed = ", ".join(f"<b>{escape(f.name)}</b> on {escape(f.link)}" for f in robot.frames)
    if len(robot.frames) > FEW:
        return f'<details><summary>{len(robot.frames)} named frames</summary><p class="note">{listed}.</p></details>'
    return f'<p class="note">Named frames, which every <code>link=</code> accepts: {listed}.</p>'


def doubts(robot: Robot) -> str:
    """What robot.check() finds."""
    findings = robot.check()
    if not findings:
        return "<h3>Suspicious data</h3>" + verdict_html("good", "No suspicious data found.")
    items = "".join(
        f"<li><b>{escape(f.link)}</b> {escape(f.message)} <span class=tag>{escape(f.topic)}</span></li>" for f in findings
    )
    told = "The data are used as they are; nothing is corrected silently."
    return f'<h3>Suspicious data <span class="badge doubt">{len(findings)}</span></h3><p>{told}</p><ul class="doubts">{items}</ul>'


def closed_forms(robot: Robot) -> Section:
    """M, C and g as MathML, if the arm is small enough to be read; else why not, and how to get them."""
    key, title = "equations", "Closed-form equations"
    if not robot.n:
        return Section(key, title, "<p>Without joints there are no equations of motion.</p>")
    if robot.several:
        return Section(key, title, "<p>Closed forms need joints of one degree of freedom: none free, ball or planar.</p>")
    if not robot.is_tree:
        more = "<code>da.equations(robot)</code> has those of coupled robots and of loops"
        return Section(key, title, f"<p>This page shows closed forms of trees only; {more}.</p>")
    form, terms = _readable(robot)
    if form is None:
        why = f"{robot.n} joints" if robot.n > SMALL else f"{terms} terms"
        how = 'da.equations(robot).save("equations.tex")'
        words = f"With {why} the closed forms would fill many pages, so they are omitted here."
        return Section(
            key, title, f"<p>{words} To get them: <code>{escape(how)}</code>, or <code>.md</code>, <code>.txt</code>.</p>"
        )
    balance = r"M(q)\,\ddot{q} + C(q, \dot{q})\,\dot{q} + g(q) + \mathrm{friction}(\dot{q}) = \tau"
    names = {"M": "Mass matrix (symmetric)", "C": "Coriolis matrix, of the Christoffel symbols", "g": "Gravity"}
    parts = [f"<p>{_math(balance)}</p>", f"<p>{_shorthand(robot)}</p>"]
    for part, words in names.items():
        rows = "".join(_row(entry_name(part, i), f.latex(True)) for _, i, f in form.entries((part,)))
        parts.append(f"<h3>{words}</h3>" + scroll_html(f'<table class="math">{rows}</table>', words))
    return Section(key, title, "".join(parts) + _values(form))


def _readable(robot: Robot) -> tuple[Equations | None, int]:
    """The equations with the books' symbols or else with numbers, where they are short enough; and how many terms there were."""
    terms = 0
    if robot.n > SMALL:
        return None, terms
    for symbols, most in ((None, SYMBOLIC), ((), NUMERIC)):
        form = equations(robot, where="book") if symbols is None else equations(robot, symbols)
        terms = sum(map(len, form.M.flat))
        if terms <= most:  # the Coriolis matrix is only worth making then
            terms = sum(len(f) for _, _, f in form.entries(("M", "C", "g")))
        if terms <= most:
            return form, terms
    return None, terms


def _shorthand(robot: Robot) -> str:
    one, both = r"\theta_1", r"(\theta_1 + \theta_2)"
    angle, index = (both, "{12}") if robot.n > 1 else (one, "1")
    cosine, sine = (
        f"{_math(f'{letter}_{index}')} stands for {_math(word + angle)}" for letter, word in (("C", r"\cos"), ("S", r"\sin"))
    )
    return f"{cosine} and {sine}. Armature is included in M; friction is not included here."


def _row(name: str, latex: str) -> str:
    lines = broken(latex)
    first = f"<tr><td>{_math(name)}</td><td>{_math('=')}</td><td>{_math(lines[0])}</td></tr>"
    return first + "".join(f'<tr class="on"><td></td><td></td><td>{_math(line)}</td></tr>' for line in lines[1:])


def broken(latex: str, width: int = WIDTH) -> list[str]:
    r"""The same on several lines, broken before a + or - outside braces and brackets.

    >>> broken(r"a + \bigl(b - c\bigr) + d", 12)
    ['a + \\bigl(b - c\\bigr)', '+ d']
    """
    lines = [""]
    for piece, _ in summands(latex):
        if lines[-1] and seen(lines[-1]) + seen(piece) > width:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def _math(latex: str) -> str:
    """MathML of our own LaTeX, which holds no text from files."""
    optional("latex2mathml")
    return import_module("latex2mathml.converter").convert(latex)


def _values(form: Equations) -> str:
    if not form.values:
        return '<p class="note">Lengths, masses and inertias are the numbers of this robot.</p>'
    used = sorted(form.values.items())
    listed = ", ".join(f"{escape(name)} = {number(value, 6)}" for name, value in used)
    return (
        f'<details class="values"><summary>Values of the symbols for this robot</summary><p class="figures">{listed}</p></details>'
    )


def conventions(robot: Robot) -> Section:
    """The conventions that robot.summary() prints."""
    rows = []
    for line in CONVENTIONS.splitlines():
        name, _, words = line.partition("  ")
        rows.append([f"<b>{escape(name)}</b>", escape(words.strip())])
    listed = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in rows)
    gravity = f"<dt><b>here</b></dt><dd>gravity {vector(robot.gravity)} m/s², base at {vector(robot.base.translation)} m</dd>"
    return Section("conventions", "Conventions", f'<dl class="pairs">{listed}{gravity}</dl>')
