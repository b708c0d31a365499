"""What all documents share: a head for pdflatex, text that it can set, long formulas on several lines, and files."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from dalembert.errors import Error
from dalembert.storage.opening import file_path
from dalembert.storage.saving import save_text

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
    r"""Text for pdflatex with any characters; those that it cannot typeset are named by number.

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


def escaped_text(text: str) -> str:
    """Text for pdflatex; what stands between dollar signs stays as it is."""
    return "$".join(piece if k % 2 else escaped(piece) for k, piece in enumerate(text.split("$")))


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
    r"""The same on several lines of an alignment, broken before a + or -.

    A summand is broken in its brackets only if it is too long for a line, and then it begins one.

    >>> print(broken(r"a + b - c \bigl(d + e\bigr)", width=12))
    a + b \\
    &\quad - c \bigl(d + e\bigr)
    """
    pieces = summands(latex, width)
    lines = [""]
    for k, (text, inside) in enumerate(pieces):
        long = inside == 0 and any(deeper for _, deeper in pieces[k + 1 : k + 2])
        if lines[-1] and (long or seen(lines[-1]) + seen(text) > width):
            lines[-1] += f" \\\\\n&\\{'qquad' if inside else 'quad'}"
            lines.append("")
        lines[-1] += text if lines[-1] or len(lines) == 1 else text.strip()
    return " ".join(lines)


def summands(latex: str, width: float = inf) -> list[tuple[str, int]]:
    r"""What stays on one line: summands, of long ones those in their brackets; each with the number of brackets it begins in."""
    signs = {0: 0}  # place: brackets around it; of signs outside braces and outside a \cos(...)
    braces = brackets = 0
    for match in re.finditer(r"\\(?:cos|sin)\([^)]*\)|\\big[lr]|[{}]| (?=[+-] )", latex):
        sign = match.group()
        braces += (sign == "{") - (sign == "}")
        brackets += (sign == "\\bigl") - (sign == "\\bigr")
        if sign == " " and braces == 0:
            signs[match.start()] = brackets

    def split(start: int, end: int, inside: int, within: list[int]) -> list[int]:
        cuts = [start, *(k for k in within if signs[k] == inside), end]
        places: list[int] = []
        for a, b in pairwise(cuts):
            deeper = [k for k in within if a < k < b]
            places += split(a, b, inside + 1, deeper) if deeper and seen(latex[a:b]) > width else [a]
        return places

    cuts = split(0, len(latex), 0, list(signs)[1:])
    return [(latex[a:b], signs[a]) for a, b in pairwise([*cuts, len(latex)])]


def seen(latex: str) -> int:
    """About how many letters are seen."""
    flat = re.sub(r"\\frac\{([^}]*)\}\{[^}]*\}", r"\1", latex)
    return len(re.sub(r"\\[a-z]+", "x", re.sub(r"\\(?:d?dot|big[lr])|[{}_^]", "", flat)))


def document(title: str, parts: Iterable[str]) -> str:
    """A complete LaTeX document; the title is text, the parts are LaTeX."""
    return HEAD + "\n\n".join([f"\\section*{{{escaped(title)}}}", *parts]) + "\n\\end{document}\n"


def save_display(path: Any, title: str, note: str, latex: Callable[[], str], text: Callable[[], str]) -> Path:
    """Write one display with its title and a note, if there is one, as LaTeX (.tex), Markdown (.md) or text (.txt)."""
    notes = [note] if note else []
    writers = {
        ".tex": lambda: document(title, [*notes, latex()]),
        ".md": lambda: "\n\n".join([f"# {plain(title)}", *notes, in_markdown(latex())]) + "\n",
        ".txt": lambda: f"# {title}\n{text()}\n",
    }
    return save(path, writers, "equations")


def save(path: Any, writers: Mapping[str, Callable[[], str]], what: str) -> Path:
    """Write what the file's ending names; returns where it is."""
    place = file_path(path)
    if place.suffix.lower() not in writers:
        raise Error(f"cannot write {what} to {place.name!r}: end its name in {', '.join([*writers][:-1])} or {[*writers][-1]}")
    return save_text(place, writers[place.suffix.lower()]())
