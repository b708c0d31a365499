"""What happens along the motion: torques, inertias, quasi-velocities; and the energies of a free fall."""

from collections.abc import Sequence
from html import escape

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.files.layout import column_names
from dalembert.files.layout import entries as entry_names
from dalembert.model.positions import QUATERNION, position_units
from dalembert.robots import Robot
from dalembert.studies.report import analysis
from dalembert.studies.report.charts import Panel, Series
from dalembert.studies.report.figures import SHOWN, Figure, Section, check_html, figure_html, scientific, verdict_html
from dalembert.studies.report.lanes import lanes, saturation
from dalembert.studies.report.motion import SampledMotion, largest_torques

LINES = 8  # of different colours in one chart
ENTRIES = 36  # of the mass matrix that a page keeps
STATE_PANELS = {"q": ("Position", ""), "qd": ("Velocity", "/s"), "qdd": ("Acceleration", "/s²")}
NO_JOINTS = "<p>This robot has no joints.</p>"


def _prismatic(robot: Robot) -> list[bool]:
    return [joint.kind == "prismatic" for joint in robot.joints]


def _section(key: str, title: str, before: str, figures: tuple[Figure, ...], after: str = "") -> Section:
    return Section(key, title, before + "".join(map(figure_html, figures)) + after, figures)


def motion(robot: Robot, m: SampledMotion) -> Section:
    """Positions, velocities and accelerations; with many joints, those that move most are drawn."""
    if not robot.n:
        return Section("motion", "The motion", NO_JOINTS)
    rates = [joint.unit for joint in robot.joints]
    units = {"q": position_units(robot), "qd": rates, "qdd": rates}
    panels: list[Panel] = []
    hidden = False
    for unit in ("rad", QUATERNION, "m"):
        for part, (title, per_time) in STATE_PANELS.items():
            chosen = [k for k, own in enumerate(units[part]) if own == unit]
            if not chosen:
                continue
            # the same joints in all panels, unless positions have entries of their own
            changes = m.qd if robot.runs and part != "q" else m.q
            drawn = leaders(changes, chosen)
            hidden = hidden or len(drawn) < len(chosen)
            heading = "Orientation" if unit == QUATERNION else title
            names, columns = entry_names(robot, part), column_names(robot, [part])
            panels.append(_lines(heading, unit + per_time, names, getattr(m, part), chosen, drawn, columns))
    few = f" Of {robot.n} joints, the {LINES} of each kind that change most are plotted; the table has all." if hidden else ""
    caption = (
        f"Positions, velocities and accelerations of the joints along {escape(m.told)}.{few} Click a chart to move the arm there."
    )
    return _section("motion", "The motion", "", (Figure("motion", "motion", m.time, tuple(panels), caption),))


def leaders(values: Array, chosen: list[int]) -> list[int]:
    """The joints whose values (T, n) change most, as many as there are colours, in order."""
    return sorted(sorted(chosen, key=lambda i: -float(np.ptp(values[:, i])))[:LINES])


def _lines(
    title: str,
    unit: str,
    names: Sequence[str],
    values: Array,
    chosen: list[int],
    drawn: list[int],
    columns: Sequence[str] = (),
) -> Panel:
    """One line for each chosen entry (T, names); those that are not drawn are kept for the table.

    columns: what a table of states calls the entries, if they are states of the motion.
    """
    colours = range(len(names)) if len(names) <= LINES else {k: i for i, k in enumerate(drawn)}
    styles = {k: f"s{colours[k]}" for k in drawn}
    columns = columns or [""] * len(names)
    series = [Series(names[k], values[:, k], styles.get(k, ""), columns[k]) for k in chosen]
    return Panel(title, unit, tuple(series))


def _few(robot: Robot) -> str:
    return f" The {LINES} joints that change most are plotted; the table has all." if robot.n > LINES else ""


def torques(robot: Robot, m: SampledMotion) -> Section:
    """Joint forces, split by cause."""
    if not robot.n:
        return Section("torques", "Torques", NO_JOINTS)
    split, driven = analysis.torques(robot, m), robot.independent_names()
    styles = {"inertial": "s0", "coriolis": "s1", "centrifugal": "s3", "gravity": "s2", "friction": "s4", "others": "s5"}
    parts = [name for name in styles if getattr(split, name).any()]
    most = largest_torques(robot, m)  # lanes show limits that differ by direction
    panels = [
        Panel(
            joint.name,
            joint.force_unit,
            (
                *(Series("Coriolis" if p == "coriolis" else p, getattr(split, p)[:, i], styles[p]) for p in parts),
                Series("total", split.total[:, i], "total", column),
            ),
            float(most[i]),
        )
        for i, (joint, column) in enumerate(zip(robot.joints, column_names(robot, ["tau"]), strict=True))
        if joint.name in driven
    ]
    order = _ordered([p.size for p in panels])
    missing = [name.replace("coriolis", "Coriolis") for name in styles if name not in (*parts, "others")]
    none = f" There is no {' and no '.join(missing)} part." if missing else ""
    whose = "the joint’s limit" if m.limits is None else "the limit for which the motion was made"
    limits = f" Dashed in orange: {whose}, where it is near." if any(np.isfinite(p.limit) for p in panels) else ""
    caption = (
        "The joint forces of the motion. Inertial: M(q) q̈, armature included. Coriolis: products of two different velocities. "
        f"Centrifugal: squares of velocities. Gravity: the forces that hold the arm still.{none}{limits}"
    )
    if "others" in parts:
        caption += (
            " Total: the joint forces that made the motion. Others: what pushes, stops, and friction that holds joints at rest "
            "add to them."
        )
    which = "parts but the others" if "others" in parts else "parts"
    words = f"The sum of the {which} equals inverse dynamics by Newton–Euler"
    figure = Figure("torques", "motion", m.time, tuple(panels[i] for i in order), caption, "joints with smaller torques")
    near = lanes(robot.joint_names, m.time, saturation(robot, m, split.total))
    return _section("torques", "Torques and their parts", "", (figure,), check_html(words, split.defect) + near)


def _ordered(sizes: list[float]) -> list[int]:
    """Indices in order, but the largest ones first for the panels that are open at once."""
    if len(sizes) <= SHOWN:
        return list(range(len(sizes)))
    largest = sorted(sorted(range(len(sizes)), key=lambda i: -sizes[i])[:SHOWN])
    return largest + [i for i in range(len(sizes)) if i not in largest]


def inertias(robot: Robot, m: SampledMotion) -> Section:
    """Entries of the mass matrix with their translational and rotational parts."""
    title = "Mass matrix"
    if robot.loops:
        words = (
            "<p>For a robot with loops <code>robot.mass_matrix(q)</code> has the rows and columns of its independent joints.</p>"
        )
        return Section("mass-matrix", title, words)
    if not robot.n:
        return Section("mass-matrix", title, NO_JOINTS)
    if robot.several:
        which = f"{escape(robot.several[0].name)} is {robot.several[0].kind}"
        words = f"<p>Translation and rotation are separated for joints of one degree of freedom; {which}.</p>"
        return Section("mass-matrix", title, words)
    parts = analysis.inertias(robot, m)
    chosen = entries(parts.total)
    panels = []
    for i, j in chosen:
        unit = ("kg m²", "kg m", "kg")[sum(_prismatic(robot)[k] for k in (i, j))]
        rotor = (Series("rotor", parts.rotors[:, i, j], "s4"),) if parts.rotors[0].any() else ()
        lines = (
            Series("translation", parts.translation[:, i, j], "s0"),
            Series("rotation", parts.rotation[:, i, j], "s1"),
            *rotor,
            Series("total", parts.total[:, i, j], "total"),
        )
        panels.append(Panel(f"M{_below(i)}{_comma(robot)}{_below(j)}", unit, lines))
    all_of_them = robot.n * (robot.n + 1) // 2
    left = f" The {all_of_them - len(chosen)} smallest are omitted." if len(chosen) < all_of_them else ""
    caption = (
        "Entries of the mass matrix along the motion, as in figures 3.10 and 3.11 of Fu, Gonzalez and Lee: what the links' masses "
        "contribute by moving their centres (translation), and what their inertias contribute by rotating (rotation). Diagonal "
        f"entries come first, then the others by how strongly they couple two joints.{left} "
        "<code>robot.dalembert_terms(q, qd)</code> has them all."
    )
    words = "The sum of the parts equals the mass matrix by composite bodies"
    figure = Figure("mass-matrix", "motion", m.time, tuple(panels), caption, "more entries")
    return _section("mass-matrix", title, "", (figure,), check_html(words, parts.defect))


def entries(M: Array) -> list[tuple[int, int]]:
    """Which entries of M (T, n, n) to show: the diagonal, then those that couple two joints most, |M_ij| / sqrt(M_ii M_jj)."""
    n = M.shape[-1]
    largest = np.abs(M).max(axis=0)
    scale = np.sqrt(np.diag(largest))
    with np.errstate(all="ignore"):
        coupling = np.nan_to_num(largest / np.outer(scale, scale))
    others = sorted(((i, j) for i in range(n) for j in range(i + 1, n) if coupling[i, j] > 1e-12), key=lambda e: -coupling[e])
    return ([(i, i) for i in range(n)] + others)[:ENTRIES]


def _below(i: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(d)] for d in str(i + 1))


def _comma(robot: Robot) -> str:
    return "," if robot.n > 9 else ""


def quasi(robot: Robot, m: SampledMotion) -> Section:
    """Quasi-velocities, and D(k) next to the diagonal of M."""
    key, title = "quasi-velocities", "Quasi-velocities and D(k)"
    if not robot.n:
        return Section(key, title, NO_JOINTS)
    values = analysis.quasi(robot, m)
    if isinstance(values, str):
        return Section(key, title, verdict_html("doubt", f"Not for this robot: {escape(values)}."))
    locked = np.diagonal(robot.mass_matrix(m.q), axis1=-2, axis2=-1)
    everyone, drawn = list(range(robot.n)), leaders(values.nu, list(range(robot.n)))
    nu = _lines("Quasi-velocities ν", "√kg m/s", robot.joint_names, values.nu, everyone, drawn)
    share = _lines("Kinetic energy by joint, ν²/2", "J", robot.joint_names, values.nu**2 / 2, everyone, drawn)
    push = _lines("Quasi-forces ε = m⁻¹τ", "√kg m/s²", robot.joint_names, values.epsilon, everyone, drawn)
    panels = [
        Panel(
            f"{robot.joint_names[k]}: D({k + 1})",
            "kg" if prismatic else "kg m²",
            (
                Series("M_kk, outboard joints locked", locked[:, k], "s0"),
                Series("D(k), outboard joints free", values.D[:, k], "s1"),
            ),
        )
        for k, prismatic in enumerate(_prismatic(robot))
    ]
    order = _ordered([p.size for p in panels])
    first = Figure(
        "quasi-velocities",
        "motion",
        m.time,
        (nu, push, share),
        "Quasi-velocities ν = mᵀq̇, the corresponding quasi-forces (ν·ε = q̇·τ, the power), and each joint’s part of the "
        f"kinetic energy.{_few(robot)}",
    )
    words = "D(k) is the inertia at a joint when all outboard joints are free; M<sub>kk</sub> when they are locked."
    second = Figure("D", "motion", m.time, tuple(panels[i] for i in order), words, "more joints")
    before = (
        "<p>Kozłowski’s diagonalized equations: with M = U D Uᵀ = m mᵀ the mass matrix becomes diagonal, and the equations "
        "decouple in the accelerations.</p>"
    )
    after = check_html("ν·ν/2 equals the kinetic energy", values.defect)
    return _section(key, title, before, (first, second), after)


def _rate_unit(robot: Robot) -> str:
    return " or ".join(sorted({f"{joint.unit}/s" for joint in robot.joints}, reverse=True))


def energy(robot: Robot, m: SampledMotion) -> Section:
    """Energies of a simulation without torques."""
    key, title = "energy", "Energy of a free fall"
    fall = analysis.free(robot, m)
    if isinstance(fall, str):
        return Section(key, title, verdict_html("doubt", f"No simulation: {escape(fall)}."))
    total, everyone = fall.kinetic + fall.potential, list(range(robot.n))
    lost = (Series("lost to friction", fall.dissipated, "s4"),) if fall.dissipated.any() else ()
    lines = (
        Series("kinetic", fall.kinetic, "s0"),
        Series("potential", fall.potential - fall.potential[0], "s2"),
        *lost,
        Series("total" + (", with what is lost" if lost else ""), total - fall.potential[0] + fall.dissipated, "total"),
    )
    panels = (
        Panel("Energy, from the start", "J", lines),
        Panel("Drift of the total", "J", (Series("drift", fall.balance, "s1"),)),
        _lines(
            "Joint velocities of the fall",
            _rate_unit(robot),
            robot.joint_names,
            fall.qd,
            everyone,
            leaders(fall.qd, everyone),
        ),
    )
    caption = (
        f"The arm is released at the start of the motion and falls without torques ({escape(fall.told)}). "
        f"The total energy{', with what is lost,' if lost else ''} should be constant."
    )
    off = f"The energy balance is off by at most {scientific(fall.drift)} of the energy exchanged"
    style, why = ("bad", f": do not trust this motion. {escape(fall.doubt)}") if fall.doubt else ("good", "")
    verdict = verdict_html(style, f"{off}{why}.")
    return _section(key, title, "", (Figure("energy", "free", fall.time, panels, caption),), verdict)
