"""Equations as files: a complete LaTeX document, Markdown with mathematics, or text."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.closed_form.rational import exact
from dalembert.closed_form.write import LatexStyle
from dalembert.errors import Error

if TYPE_CHECKING:
    from dalembert.closed_form.equations import Equations

WIDTH = 90  # about as many letters as a line of A4 holds

_HEAD = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
\begin{document}
"""


def display(entries: Iterable[tuple[str, str]]) -> str:
    """Assignments one below the other, long ones broken; both sides are LaTeX."""
    return "\\begin{align*}\n" + " \\\\\n".join(f"{name} &= {broken(latex)}" for name, latex in entries) + "\n\\end{align*}"


def broken(latex: str, width: int = WIDTH) -> str:
    r"""The same on several lines of an alignment, broken before a + or - that stands in no braces, nor in a \cos(...).

    >>> print(broken("a + b - c", width=5))
    a + b \\
    &\quad - c
    """
    pieces, depth, start = [], 0, 0
    for found in re.finditer(r"\\(?:cos|sin)\([^)]*\)|[{}]| (?=[+-] )", latex):
        sign = found.group()
        depth += (sign == "{") - (sign == "}")
        if sign == " " and depth == 0:
            pieces.append(latex[start : found.start()])
            start = found.start()
    pieces.append(latex[start:])
    lines = [""]
    for piece in pieces:
        if lines[-1] and _length(lines[-1]) + _length(piece) > width:
            lines.append("")
        lines[-1] += piece
    return " \\\\\n&\\quad ".join(line.strip() for line in lines)


def _length(latex: str) -> int:
    """About how many letters are seen."""
    flat = re.sub(r"\\frac\{([^}]*)\}\{[^}]*\}", r"\1", latex)
    return len(re.sub(r"\\[a-z]+", "x", re.sub(r"\\(?:d?dot|big[lr])|[{}_^]", "", flat)))


def save(equations: "Equations", path: Path, short: bool) -> Path:
    """Write the equations in the language that the file's ending names."""
    writers = {".tex": _tex, ".md": _markdown, ".txt": _text}
    if path.suffix not in writers:
        raise Error(f"cannot write equations to {path.name!r}: give it the ending {', '.join(writers)}")
    path.write_text(writers[path.suffix](equations, short), encoding="utf-8")
    return path


_BALANCE = r"\mathbf{M}(q)\,\ddot{q} + \mathbf{C}(q, \dot{q})\,\dot{q} + \mathbf{g}(q) = \tau"
_TITLES = {"M": "Mass matrix", "C": "Coriolis matrix", "g": "Gravity", "tau": "Joint forces"}


def _values(equations: "Equations") -> Sequence[tuple[str, Fraction | None]]:
    """The parameters that occur, and the robot's values of its own ones."""
    own = equations.values
    powers = [term.powers for form in equations.tau for term in form.decoded()]
    there = [any(p[i] for p in powers) for i in range(len(equations.names))]
    names = [name for name, used in zip(equations.names, there, strict=True) if used]
    return [(name, Fraction(exact(own[name])) if name in own else None) for name in names]


def _parameters(equations: "Equations", short: bool) -> str:
    style = LatexStyle(equations.symbols, short)
    entries: list[str] = []
    for symbol, value in _values(equations):
        name, sign = style.names[symbol], "-" if value and value < 0 else ""
        entries.append(f"${name}$" if value is None else f"${name} = {sign}{style.product(abs(value), [])}$")
    return ", ".join(entries) or "none"


def _tex(equations: "Equations", short: bool) -> str:
    name = re.sub(r"[^ -~]|[\\~^]", " ", equations.robot.model.name)
    title = re.sub(r"([&%$#_{}])", r"\\\1", name)
    parts = [f"\\section*{{{_TITLES[p]}}}\n{equations.latex(short, (p,))}" for p in _TITLES]
    shorthand = "Here $C_{12} = \\cos(\\theta_1 + \\theta_2)$ and $S_{12} = \\sin(\\theta_1 + \\theta_2)$.\n" if short else ""
    body = f"\\section*{{Equations of motion of {title}}}\n\\[ {_BALANCE} \\]\n{shorthand}" + "\n".join(parts)
    return f"{_HEAD}{body}\n\\section*{{Parameters}}\n\\raggedright {_parameters(equations, short)}\n\\end{{document}}\n"


def _markdown(equations: "Equations", short: bool) -> str:
    lines = [f"# Equations of motion of {equations.robot.model.name}", "", f"$$ {_BALANCE} $$", ""]
    for part, title in _TITLES.items():
        shown = equations.latex(short, (part,)).replace("align*", "aligned")
        lines += [f"## {title}", "", f"$$\n{shown}\n$$", ""]
    return "\n".join([*lines, "## Parameters", "", _parameters(equations, short), ""])


def _text(equations: "Equations", short: bool) -> str:
    values = "\n".join(f"{symbol} = {float(value):.12g}" for symbol, value in _values(equations) if value is not None)
    return f"# {equations.robot.model.name}: M qdd + C qd + g = tau\n{equations}\n\n# parameters\n{values}\n"
