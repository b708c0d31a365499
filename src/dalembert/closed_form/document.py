"""Equations as files: a complete LaTeX document, Markdown with mathematics, or text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.closed_form.paper import document, in_latex, in_markdown, plain, save
from dalembert.closed_form.write import LatexStyle, powered

if TYPE_CHECKING:
    from dalembert.closed_form.equations import Equations

_BALANCE = r"\mathbf{M}(q)\,\ddot{q} + \mathbf{C}(q, \dot{q})\,\dot{q} + \mathbf{g}(q) = \tau"
_TITLES = {"M": "Mass matrix", "C": "Coriolis matrix", "g": "Gravity", "tau": "Joint forces"}
_NOTHING = "The robot has no joints: there is nothing to write."


def save_equations(equations: "Equations", path: str | Path, short: bool) -> Path:
    """Write the equations in the language that the file's ending names."""
    writers = {
        ".tex": lambda: _tex(equations, short),
        ".md": lambda: _markdown(equations, short),
        ".txt": lambda: _text(equations),
    }
    return save(path, writers, "equations")


def _values(equations: "Equations") -> Sequence[tuple[str, float | None]]:
    """The parameters that occur, and the robot's values of its own ones."""
    own = equations.values
    powers = [term.powers for form in equations.tau for term in form.decoded()]
    there = [any(p[i] for p in powers) for i in range(len(equations.names))]
    names = [name for name, used in zip(equations.names, there, strict=True) if used]
    return [(name, own.get(name)) for name in names]


def _parameters(equations: "Equations", short: bool) -> str:
    style = LatexStyle(equations.symbols, short)
    entries: list[str] = []
    for symbol, value in _values(equations):
        name = style.names[symbol]
        entries.append(f"${name}$" if value is None else f"${name} = {powered(f'{value:.12g}')}$")
    return ", ".join(entries) or "none"


def _notes(equations: "Equations", short: bool) -> list[str]:
    """What a reader must know before the formulas."""
    angles = [i + 1 for i, letter in enumerate(equations.symbols.joints) if letter != "P"]
    notes: list[str] = []
    if short and len(angles) > 1:
        i, j = angles[:2]
        pair = f"{i},{j}" if len(equations.symbols.joints) > 9 else f"{i}{j}"
        inside = rf"(\theta_{i} + \theta_{j})"
        notes.append(rf"Here $C_{{{pair}}} = \cos{inside}$ and $S_{{{pair}}} = \sin{inside}$; a minus sign subtracts an angle.")
    return [*notes, *([equations.note] if equations.note else []), *([] if equations.symbols.joints else [_NOTHING])]


def _tex(equations: "Equations", short: bool) -> str:
    parts = [f"\\[ {_BALANCE} \\]", *_notes(equations, short)]
    if equations.symbols.joints:
        parts += [f"\\section*{{{_TITLES[p]}}}\n{in_latex(equations.latex(short, p))}" for p in _TITLES]
        parts += [f"\\section*{{Parameters}}\n{_parameters(equations, short)}"]
    return document(f"Equations of motion of {equations.robot.model.name}", parts)


def _markdown(equations: "Equations", short: bool) -> str:
    lines = [f"# Equations of motion of {plain(equations.robot.model.name)}", f"$$ {_BALANCE} $$", *_notes(equations, short)]
    if equations.symbols.joints:
        for part, title in _TITLES.items():
            lines += [f"## {title}", in_markdown(equations.latex(short, part))]
        lines += ["## Parameters", _parameters(equations, short)]
    return "\n\n".join(lines) + "\n"


def _text(equations: "Equations") -> str:
    values = "\n".join(f"{symbol} = {value:.12g}" for symbol, value in _values(equations) if value is not None)
    return f"# {equations.robot.model.name}: M qdd + C qd + g = tau\n{equations}\n\n# parameters\n{values}\n"
