"""What all documents share: a head for pdflatex, text that it can set, long formulas on several lines, and files."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dalembert.errors import Error, brief
from dalembert.saving import write

WIDTH = 90  # about as many letters as a line of A4 holds
LONG = 12  # lines of a display that should not be broken by the end of a page

HEAD = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setcounter{MaxMatrixCols}{20}
\allowdisplaybreaks
\let\frac\tfrac
\renewcommand{\arraystretch}{1.2}
\begin{document}
\raggedright
"""

_PLAIN = {
    **{ch: f"\\{ch}" for ch in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$"},
    **{"²": "$^2$", "ß": r"{\ss}", "ø": r"{\o}", "Ø": r"{\O}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "ł": r"{\l}"},
    **{"–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "°": r"$^\circ$", "µ": r"$\mu$"},
}  # fmt: skip
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327", "`'^~=u.\"rHvc", strict=True))
_NO_COMMAND = ("omicron", "final sigma")  # Greek letters without a LaTeX command of their own


def escaped(text: str) -> str:
    r"""Text for pdflatex, whatever letters it has; those that it has no way to set are named by number.

    >>> print(escaped("Schloß_3 é α 机"))
    Schlo{\ss}\_3 \'{e} $\alpha$ [U+673A]
    """
    return "".join(_letter(ch) for ch in text)


def _letter(ch: str) -> str:
    if ch in _PLAIN or ch.isascii():
        return _PLAIN.get(ch, ch if ch.isprintable() else " ")
    first, *marks = unicodedata.normalize("NFD", ch)
    if first.isascii() and len(marks) == 1 and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{first}}}"
    named = unicodedata.name(ch, "").lower().removeprefix("greek small letter ").replace("lamda", "lambda")
    if "α" <= ch <= "ω" and named not in _NO_COMMAND:
        return f"$\\{named}$"
    return " " if ch.isspace() else f"[U+{ord(ch):04X}]"


def plain(name: str) -> str:
    """A name on one line that Markdown does not take for markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", " ".join(name.split()))


def display(entries: Iterable[tuple[str, str]]) -> str:
    """Assignments one below the other, long ones broken; both sides are LaTeX. Nothing for no entries."""
    pairs = list(entries)
    width = max(WIDTH // 2, WIDTH - max((seen(name) for name, _ in pairs), default=0))
    lines = [f"{name} &= {broken(latex, width)}" for name, latex in pairs]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" if lines else ""


def in_markdown(latex: str) -> str:
    """Mathematics between dollar signs."""
    return f"$$\n{latex.replace('align*', 'aligned')}\n$$"


def in_latex(latex: str) -> str:
    """Mathematics on lines of its own; what is long may go on on the next page."""
    if latex.startswith("\\begin{align*}") and latex.count("\\\\\n") > LONG:
        return latex
    return f"\\[\n{latex.replace('align*', 'aligned')}\n\\]"


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
        if lines[-1] and seen(lines[-1]) + seen(piece) > width:
            lines.append("")
        lines[-1] += piece
    return " \\\\\n&\\quad ".join(line.strip() for line in lines)


def seen(latex: str) -> int:
    """About how many letters are seen."""
    flat = re.sub(r"\\frac\{([^}]*)\}\{[^}]*\}", r"\1", latex)
    return len(re.sub(r"\\[a-z]+", "x", re.sub(r"\\(?:d?dot|big[lr])|[{}_^]", "", flat)))


def document(title: str, parts: Iterable[str]) -> str:
    """A complete LaTeX document; the title is text, the parts are LaTeX."""
    return HEAD + "\n\n".join([f"\\section*{{{escaped(title)}}}", *parts]) + "\n\\end{document}\n"


def save(path: Any, writers: Mapping[str, Callable[[], str]], what: str) -> Path:
    """Write what the file's ending names; returns where it is."""
    try:
        found = Path(path)
    except TypeError:
        raise Error(f"cannot save {what} to {brief(path)}: give the name of a file") from None
    if found.suffix.lower() not in writers:
        raise Error(f"cannot write {what} to {found.name!r}: end its name in {' or '.join(writers)}")
    return write(found, writers[found.suffix.lower()]())
