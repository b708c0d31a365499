"""The live part of the page as HTML: the view with its dock, the controls, and the cards. Script fills in the numbers."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalembert.robots import Robot
from dalembert.studies.report.charts import legend
from dalembert.studies.report.figures import scroll_html
from dalembert.studies.report.motion import SampledMotion

FIELDS = (("Earth", 9.81), ("Mars", 3.73), ("Moon", 1.62), ("none", 0.0))  # m/s^2
LAYERS = (("ease", "mobility"), ("weight", "weight"), ("com", "centres of mass"), ("frame", "hand frame"), ("trail", "path"))
USES = {"inverse_dynamics": "Torques from a motion", "forward_dynamics": "Motion from torques, as in a fall"}
COMPUTED = ("ease", "weight")  # layers of a live arm alone
MOST_UNDRAWN = 3  # visuals whose absence is explained one by one
MANY = 10  # joints in a list that scrolls
LONG = 14  # letters of a joint's name
WRITTEN, TIGHT, COLOURED = 9, 7, 24  # joints up to which entries of the mass matrix have numbers, large ones, and colours
KEYS = (
    ("Arrow keys, + and −", "rotate the view and zoom"),
    ("W S, A D, R F", "move the hand up and down, left and right, forward and back"),
    ("Space", "drop the arm, or hold it"),
    ("H, G, P", "hold, float, play or pause the motion"),
    ("0", "back to the start"),
    ("[ and ]", "choose the link to push"),
    ("L J, I K, U O", "push it along x, y and z, while the key is held"),
    ("Mouse or finger", "drag the hand to move it, a link to push it, anything else to rotate the view"),
    ("Shift and drag, right drag", "shift the view; the wheel zooms once the view is focused"),
    ("?", "these keys"),
)


def hero(robot: Robot, motion: SampledMotion, data: Mapping[str, Any], looks: bool = False, undrawn: Sequence[str] = ()) -> str:
    """The view and the controls beside it; `looks`: the robot has shapes of its own, of which some may be `undrawn`, and why."""
    notes = [f"Not drawn: {reason}" for reason in undrawn[:MOST_UNDRAWN]]
    notes += [f"And {len(undrawn) - MOST_UNDRAWN} more are not drawn."] if len(undrawn) > MOST_UNDRAWN else []
    live = not data["missing"].get("all")
    return f'<div class="hero">{_view(robot, motion, looks, live)}{_controls(robot, motion, data, notes)}</div>{_keys()}'


def _view(robot: Robot, motion: SampledMotion, looks: bool, live: bool) -> str:
    layers = [*([("skin", "shapes of the file")] if looks else []), *(x for x in LAYERS if live or x[0] not in COMPUTED)]
    hint = (
        "drag the hand to move it · drag a link to push it · drag elsewhere to rotate the view"
        if live
        else "drag to rotate the view"
    )
    toggles = "".join(
        f'<label><input type="checkbox" data-show="{key}"{"" if looks and key == "com" else " checked"}> {words}</label>'
        for key, words in layers
    )
    words = (
        f"3D view of {escape(robot.name)}. Arrow keys rotate the view, W S A D R F move the hand, L J I K U O push, "
        "space drops or holds the arm; question mark lists all keys."
    )
    return (
        f'<div class="view" id="view"><canvas id="scene" tabindex="0" role="application" aria-label="{words}"></canvas>'
        f'<div class="toggles">{toggles}<button type="button" id="home">reset view</button></div>'
        f'<p class="hint">{hint}</p><output class="push" id="push" hidden></output>{_dock(motion, live)}</div>'
    )


def _dock(motion: SampledMotion, live: bool) -> str:
    start, end = float(motion.time[0]), float(motion.time[-1])
    modes = "".join(
        f'<button type="button" data-mode="{mode}" aria-pressed="false" title="{words}">{mode.capitalize()}</button>'
        for mode, words in (
            ("hold", "Motors hold the arm"),
            ("float", "Motors carry the weight and brake gently"),
            ("drop", "Motors off: the arm falls"),
        )
        if live
    )
    speeds = "".join(
        f'<option value="{s}"{" selected" if s == "1" else ""}>{s}×</option>' for s in ("0.1", "0.25", "0.5", "1", "2")
    )
    return (
        '<div class="dock" role="group" aria-label="Motion and motors"><div class="buttons">'
        f'<button type="button" id="play" aria-pressed="false">▶ Play</button>{modes}'
        '<button type="button" id="reset" aria-label="Reset" title="Back to the start">↺</button>'
        f'<select id="speed" aria-label="Speed">{speeds}</select></div>'
        f'<div class="scrub"><input type="range" id="time" min="{start:.6g}" max="{end:.6g}" step="any" value="{start:.6g}" '
        f'aria-label="Time of the motion, s"><output id="clock" for="time">{start:.2f} s</output></div></div>'
    )


def _controls(robot: Robot, motion: SampledMotion, data: Mapping[str, Any], notes: Sequence[str]) -> str:
    status, told = '<p id="status" role="status"></p>', "".join(f'<p class="note">{escape(x)}</p>' for x in notes)
    if reason := data["missing"].get("all"):
        return f'<aside class="controls"><h2>Not live</h2><p class="check doubt">{escape(reason)}</p>{status}{told}</aside>'
    reasons = "".join(f'<p class="note">{escape(x)}</p>' for x in data["missing"].values()) + told
    key = "bar: motor torque now · tick: torque to hold still" + (" · orange: limit" if any(data["efforts"]) else "")
    return (
        '<aside class="controls" aria-label="Controls"><h2>Joints</h2>'
        f'<p class="what">{key}</p>'
        f"{_joints(robot, motion, data)}{_knobs(data)}{status}{reasons}</aside>"
    )


def _joints(robot: Robot, motion: SampledMotion, data: Mapping[str, Any]) -> str:
    rows: list[str] = []
    whose, none = ("", "no limit known") if motion.limits is None else (", for which the motion was made", "no limit shown")
    for i, short in enumerate(short_names(robot.joint_names)):
        name, (low, high), limit = robot.joint_names[i], data["ranges"][i], data["efforts"][i]
        prismatic = data["prismatic"][i]
        told = f"limit {limit:.4g} {'N' if prismatic else 'N m'}{whose}" if limit is not None else none
        step = 0.001 if prismatic else 0.5 * 3.141592653589793 / 180
        rows.append(
            f'<div id="row{i}"><label for="q{i}" title="{escape(name)}">{escape(short)}</label>'
            f'<input type="range" id="q{i}" min="{low:.9g}" max="{high:.9g}" step="{min(step, (high - low) / 100):.6g}" '
            f'aria-label="{escape(name)}"><output id="place{i}" class="q" for="q{i}"></output>'
            f'<div class="{"meter" if limit is None else "meter limited"}" title="{told}">'
            f'<i id="bar{i}"></i><b id="need{i}"></b></div>'
            f'<output id="effort{i}" class="tau" title="{told}"></output></div>'
        )
    many = " many" if robot.n > MANY else ""
    focus = ' tabindex="0"' if many else ""
    return f'<div class="joints{many}" role="group" aria-label="Joints"{focus}>{"".join(rows)}</div>'


def short_names(names: Sequence[str]) -> list[str]:
    """Names in few letters: without what all begin with, without "_joint" at the end, and with shorter words where need be.

    >>> short_names(["arm_left_shoulder_pitch_joint", "arm_elbow_joint"])
    ['left_shou_pitc', 'elbow']
    """
    start = shared(names)
    if any(name[start : start + 1].isdigit() for name in names):  # a number alone is no name
        start = names[0][: max(0, start - 1)].rfind("_") + 1
    short = [_abbreviated(name[start:].removesuffix("_joint")) for name in names]
    return short if len(set(short)) == len(short) else [name[start:] for name in names]


def _abbreviated(name: str) -> str:
    words = re.findall(r"[A-Za-z][a-z]*|[^A-Za-z]", name[:100])
    for _ in range(len(name[:100]) - LONG):
        k = max(range(len(words)), key=lambda i: len(words[i]))
        words[k] = words[k][:-1]
    return "".join(words)


def shared(names: Sequence[str]) -> int:
    """How many letters all names begin with, up to an underscore: they tell nothing apart.

    >>> shared(["arm_joint1", "arm_joint2"]), shared(["joint1"])
    (4, 0)
    """
    if len(names) < 2:
        return 0
    least, most = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))
    return least[:same].rfind("_") + 1


def _knobs(data: Mapping[str, Any]) -> str:
    size, most = data["gravity"]["size"], data["load"]
    fields = [*FIELDS] if any(abs(size - x) < 1e-9 for _, x in FIELDS) else [("as given", size), *FIELDS]
    gravity = _segments(
        "gravity",
        [(words, repr(float(x))) for words, x in fields],
        repr(float(min((x for _, x in fields), key=lambda x: abs(x - size)))),
    )
    friction = ""
    if data["rubs"]:
        friction = '<span class="name">friction</span>' + _segments(
            "friction", [("as modelled", "model"), ("none", "none")], "model"
        )
    keeps = " checked" if data["hands"][0]["keeps"] else ""
    which = ""
    if len(data["hands"]) > 1:
        options = "".join(f'<option value="{k}">{escape(hand["name"])}</option>' for k, hand in enumerate(data["hands"]))
        which = f'<label class="name" for="which">hand</label><select id="which">{options}</select>'
    return (
        f'<div class="knobs">{which}<label class="name" for="load">payload</label>'
        f'<input type="range" id="load" min="0" max="{most:g}" step="{most / 100:g}" value="0">'
        '<output id="load-told" for="load">0 kg</output>'
        f'<span class="name">gravity</span>{gravity}<label class="name" for="tilt">tilt</label>'
        '<input type="range" id="tilt" min="-180" max="180" step="1" value="0"><output id="tilt-told" for="tilt">0°</output>'
        f'{friction}<div class="ticks"><label><input type="checkbox" id="keep"{keeps}> the hand keeps its orientation</label>'
        '<label><input type="checkbox" id="stops" checked> elastic stops at the limits (not in the model)</label></div></div>'
    )


def _segments(name: str, choices: Sequence[tuple[str, str]], chosen: str) -> str:
    parts = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == chosen else ""}>{words}</label>'
        for words, value in choices
    )
    return f'<div class="segments" role="radiogroup" aria-label="{name}">{parts}</div>'


def _keys() -> str:
    rows = "".join(f"<dt>{escape(keys)}</dt><dd>{escape(words)}</dd>" for keys, words in KEYS)
    return (
        f'<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><p>While the 3D view has the focus:</p>'
        f'<dl class="pairs">{rows}</dl><form method="dialog"><button>Close</button></form></dialog>'
    )


# --- cards --------------------------------------------------------------------------------------------------------------


def cards(robot: Robot, data: Mapping[str, Any], counts: Mapping[str, Mapping[str, int]]) -> str:
    """The mass matrix, energies, the hand and the formulations."""
    if data["missing"].get("all"):
        return ""
    return f'<div class="cards">{_matrix(robot)}{_energy()}{_hand(data)}{_formulations(data, counts)}</div>'


def _matrix(robot: Robot) -> str:
    n = robot.n
    if n > COLOURED:
        body = f'<p class="note">With {n} joints it has {n * n} entries, which are not shown.</p>'
    else:
        cell = "<td><span></span></td>" if n <= WRITTEN else "<td></td>"
        style = "" if n > WRITTEN else "written" if n <= TIGHT else "written tight"
        rows = ("<tr>" + cell * n + "</tr>") * n
        table = f'<table id="matrix" class="{style}" aria-label="Mass matrix"><tbody>{rows}</tbody></table>'
        body = scroll_html(table, "Mass matrix")
    kinds = {joint.kind == "prismatic" for joint in robot.joints}
    units = "kg m², kg m, kg" if len(kinds) > 1 else "kg" if True in kinds else "kg m²"
    words = f"{units}. Colour: coupling, M<sub>ij</sub> / √(M<sub>ii</sub> M<sub>jj</sub>); blue positive, orange negative."
    return f'<section class="wide"><h2>Mass matrix</h2><p class="what">{words}</p>{body}</section>'


def _energy() -> str:
    parts = (("kinetic", "s0"), ("potential", "s2"), ("total", "total"))
    keys = legend([("kinetic", "s0"), ("potential, from the start", "s2"), ("total", "total")])
    lines = "".join(f'<path class="line {style}" id="line-{name}"/>' for name, style in parts)
    figures = "".join(
        f'<div><dt>{words}</dt><dd><span id="{key}"></span> <small>J</small></dd></div>'
        for key, words in (("kinetic", "kinetic"), ("potential", "potential"), ("change", "change of the total"))
    )
    return (
        '<section class="mid"><h2>Energy</h2>'
        '<p class="what">Only motors, friction, pushes and the stops at the limits change the total.</p>'
        f'<dl class="amounts">{figures}</dl>{keys}'
        '<svg class="energy" viewBox="0 0 340 146" role="img" aria-label="Energy over the last six seconds">'
        '<line class="zero" id="energy-zero" x1="62" x2="334"/>'
        '<text id="energy-high" x="56" y="18" text-anchor="end"></text>'
        '<text id="energy-low" x="56" y="120" text-anchor="end"></text>'
        '<text x="62" y="138">6 s ago</text><text x="334" y="138" text-anchor="end">now</text>'
        f'<text id="energy-wait" x="198" y="70" text-anchor="middle">press Drop</text>{lines}</svg></section>'
    )


def _hand(data: Mapping[str, Any]) -> str:
    name = data["hands"][0]["name"] if len(data["hands"]) == 1 else "The chosen hand"
    figures = "".join(
        f'<div><dt>{words}</dt><dd id="{key}"></dd></div>'
        for key, words in (
            ("hand-at", "position, m"),
            ("lightest", "effective mass, least"),
            ("heaviest", "greatest"),
            ("dexterity", "dexterity (0: singular)"),
        )
    )
    words = f"{escape(name)}. Green in the view: the mobility ellipsoid J M⁻¹ Jᵀ, longest where a push accelerates the hand most."
    return f'<section class="slim"><h2>Hand</h2><p class="what">{words}</p><dl class="amounts">{figures}</dl></section>'


def _formulations(data: Mapping[str, Any], counts: Mapping[str, Mapping[str, int]]) -> str:
    parts: list[str] = []
    for quantity, rows in counts.items():
        ready, longest = data["methods"].get(quantity, {}), max(rows.values(), default=1) or 1
        choice, words = len(ready) > 1, quantity.replace("_", " ")
        lines = "".join(_method(quantity, m, rows[m], longest, choice and m in ready) for m in rows)
        parts.append(
            f'<section class="half"><h2>{words.capitalize()}</h2><p class="what">{USES[quantity]}. Operations of each formulation, '
            f"customized to this robot; all agree.{' Choose one to compute with it.' if choice else ''}</p>"
            f'<div class="methods" role="{"radiogroup" if choice else "group"}" aria-label="{words}">{lines}</div>'
            f'<p class="told" id="told-{quantity}" role="status"></p></section>'
        )
    return "".join(parts)


def _method(quantity: str, method: str, total: int, longest: int, ready: bool) -> str:
    bar = f'<rect width="{max(0.6, 100 * total / longest):.1f}" height="8" rx="1"/>'
    bar = f'<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{bar}</svg>'
    inside = f'<span class="name">{method}</span>{bar}<span class="count">{total:,}</span>'
    if not ready:
        return f'<div class="method">{inside}</div>'
    chosen = f'role="radio" aria-checked="false" data-quantity="{quantity}" data-method="{method}"'
    return f'<button type="button" class="method" {chosen}>{inside}</button>'
