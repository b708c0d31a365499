"""Equations as files: a complete LaTeX document, Markdown with mathematics, or text."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dalembert.symbolic.closed_form.book import described, letters
from dalembert.symbolic.closed_form.coordinates import told
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.meaning import lone_name
from dalembert.symbolic.closed_form.names import latex_name
from dalembert.symbolic.closed_form.paper import document, escaped_text, in_latex, in_markdown, plain, save
from dalembert.symbolic.closed_form.write import LatexStyle, powered

if TYPE_CHECKING:
    from dalembert.symbolic.closed_form.equations import Equations

_BALANCE = r"\mathbf{M}(q)\,\ddot{q} + \mathbf{C}(q, \dot{q})\,\dot{q} + \mathbf{g}(q) = \tau"
_OF_LOOPS = (
    r"\mathbf{M}(q)\,\ddot{q} + \mathbf{C}(q, \dot{q})\,\dot{q} + \mathbf{g}(q) = \tau + \mathbf{J}^T \lambda, \quad "
    r"\varphi(q) = 0, \quad \mathbf{J}\,\ddot{q} + \gamma = 0",
    r"\dot{q} = \mathbf{G}\,\dot{y}, \quad \mathbf{G}^T \mathbf{M}\,\mathbf{G}\,\ddot{y} + "
    r"\mathbf{G}^T (\mathbf{C}\,\mathbf{G} + \mathbf{M}\,\dot{\mathbf{G}})\,\dot{y} + \mathbf{G}^T \mathbf{g} = \mathbf{G}^T \tau",
)
_TITLES = {
    "M": "Mass matrix", "C": "Coriolis matrix", "g": "Gravity", "tau": "Joint forces", "phi": "Loops",
    "J": "Jacobian of the loops", "gamma": "What velocities add to the accelerations of the loops",
    "G": "All joints from the independent ones",
}  # fmt: skip
_NOTHING = "The robot has no joints, so there are no equations."


def save_equations(equations: "Equations", path: str | Path, short: bool) -> Path:
    """Write the equations in the language that the file's ending names."""
    writers = {
        ".tex": lambda: _tex(equations, short),
        ".md": lambda: _markdown(equations, short),
        ".txt": lambda: _text(equations),
    }
    return save(path, writers, "equations")


def balance(equations: "Equations") -> list[str]:
    """What the parts are to each other, in words; nothing of a robot whose joints are all free."""
    model, symbols = equations.robot.model, equations.symbols
    lines = [f"{name} = {form}" for name, form in told(symbols, model)]
    if lines:
        names = ", ".join(f"q{i + 1} is {name}" for i, name in enumerate(model.joint_names))
        lines = [f"coordinates: {names}; {'; '.join(lines)}"]
    if not model.loops:
        return lines
    loops = equations.loops
    y, z = (", ".join(f"q{i + 1}" for i in some) for some in (loops.free, loops.bound))
    return [
        *lines,
        "M qdd + C qd + g = tau + J^T lambda, phi(q) = 0, J qdd + gamma = 0",
        f"in independent joints y = ({y}), which z = ({z}) follow: qd = G yd, G = [1; -J_z^-1 J_y],",
        "G^T M G ydd + G^T (C G + M G') yd + G^T g = G^T tau",
    ]


class _Parameter(NamedTuple):
    """A symbol that occurs, what it is, and its value; a symbol of the user's own may have none."""

    name: str
    words: str
    value: float | None


def _parameters(equations: "Equations") -> list[_Parameter]:
    own, known = equations.values, letters(equations.robot, equations.where)
    forms = [*equations.tau, *(equations.phi if equations.robot.model.loops else ())]
    powers = [term.powers for form in forms for term in form.decoded()]
    there = [any(p[i] for p in powers) for i in range(len(equations.names))]
    names = [name for name, used in zip(equations.names, there, strict=True) if used]
    return [_Parameter(name, "; ".join(dict.fromkeys(x.words for x in known.get(name, ()))), own.get(name)) for name in names]


def rewritten(equations: "Equations") -> list[tuple[str, Form]]:
    """What is written with other letters, in words, and how: the centre of mass of link 1, -l/2."""
    made, where = equations.robot, equations.where
    own, scalars = dict(zip(made.names, map(float, made.values), strict=True)), equations.parameters()
    return [(described(name, own), scalars[name]) for name in made.names if name in where and lone_name(where[name]) is None]


def _listed(equations: "Equations", short: bool) -> list[str]:
    """The parameters, one line each, in words and mathematics."""
    style = LatexStyle(equations.symbols, short)
    lines: list[str] = []
    for name, words, value in _parameters(equations):
        shown = style.names[name] + ("" if value is None else f" = {powered(f'{value:.12g}')}")
        lines.append(f"${shown}$" + (f": {words}" if words else ""))
    lines += [f"{words}: ${form.latex(short)}$" for words, form in rewritten(equations)]
    lines += [f"joint {name} $= {form.latex(short)}$" for name, form in told(equations.symbols, equations.robot.model)]
    field = equations.symbols.forms(equations.tree.gravity)
    down = ", ".join(x.latex(short) for x in field)
    return [*lines, f"gravity in the base frame, m/s²: $({down})$" if any(field) else "no gravity"]


def _notes(equations: "Equations", short: bool) -> list[str]:
    """The remarks before the formulas."""
    angles = [i + 1 for i, letter in enumerate(equations.symbols.joints) if letter != "P"]
    notes = _of_loops(equations)
    if short and len(angles) == 1:
        inside = rf"\theta_{{{angles[0]}}}"
        notes.append(rf"Here $C_{{{angles[0]}}} = \cos{inside}$ and $S_{{{angles[0]}}} = \sin{inside}$.")
    if short and len(angles) > 1:
        i, j = angles[:2]
        pair = f"{i},{j}" if len(equations.symbols.joints) > 9 else f"{i}{j}"
        inside = rf"(\theta_{i} + \theta_{j})"
        notes.append(rf"Here $C_{{{pair}}} = \cos{inside}$ and $S_{{{pair}}} = \sin{inside}$; a minus sign subtracts an angle.")
    return [*notes, *([equations.note] if equations.note else []), *([] if equations.symbols.joints else [_NOTHING])]


def _of_loops(equations: "Equations") -> list[str]:
    """Which joints are independent, and where angles begin."""
    if not equations.robot.model.loops:
        return []
    loops, names = equations.loops, [latex_name(f"q{i + 1}", equations.symbols) for i in range(len(equations.symbols.joints))]
    y, z = (", ".join(names[i] for i in some) for some in (loops.free, loops.bound))
    notes = [
        f"Independent joints $y$: ${y}$; the others, $z$, follow: ${z}$. "
        r"$\mathbf{G} = (1; -\mathbf{J}_z^{-1} \mathbf{J}_y)$; of its rows those of $z$ are given."
    ]
    turned = [(i, x) for i, x in enumerate(equations.symbols.offsets) if x]
    begin = [f"{names[i]} = q_{{{i + 1}}} {'-' if x < 0 else '+'} {abs(x):.12g}" for i, x in turned]
    return [*notes, *([f"Angles: ${', '.join(begin)}$ rad."] if begin else [])]


def _tex(equations: "Equations", short: bool) -> str:
    parts = [*(f"\\[ {line} \\]" for line in _balances(equations)), *_notes(equations, short)]
    if equations.symbols.joints:
        parts += [f"\\section*{{{_TITLES[p]}}}\n{in_latex(equations.latex(short, p))}" for p in equations.parts]
        listed = (escaped_text(line) for line in _listed(equations, short))
        parts += ["\\section*{Parameters}\n" + " \\\\[2pt]\n".join(listed)]
    return document(f"Equations of motion of {equations.robot.model.name}", parts)


def _markdown(equations: "Equations", short: bool) -> str:
    lines = [f"# Equations of motion of {plain(equations.robot.model.name)}", *(f"$$ {x} $$" for x in _balances(equations))]
    lines += _notes(equations, short)
    if equations.symbols.joints:
        for part in equations.parts:
            lines += [f"## {_TITLES[part]}", in_markdown(equations.latex(short, part))]
        lines += ["## Parameters", "\n".join(f"- {line}" for line in _listed(equations, short))]
    return "\n\n".join(lines) + "\n"


def _balances(equations: "Equations") -> tuple[str, ...]:
    return _OF_LOOPS if equations.robot.model.loops else (_BALANCE,)


def _text(equations: "Equations") -> str:
    values = [f"{name} = {value:.12g}  # {words}" for name, words, value in _parameters(equations) if value is not None]
    values += [f"# {words}: {form}" for words, form in rewritten(equations)]
    values.append(f"# gravity in the base frame, m/s²: ({', '.join(map(str, equations.symbols.forms(equations.tree.gravity)))})")
    head = f"# {equations.robot.model.name}" + ("" if equations.robot.model.loops else ": M qdd + C qd + g = tau")
    return "\n".join([head, str(equations), "", "# parameters", *values]) + "\n"
