"""Docstrings are plain text: this makes reStructuredText of them, so that they look well and warn of nothing.

`words in backticks` become code; paragraphs "name: ..." about parameters become a list; formulas that docstring_formulas knows are
typeset, other equations and lines that are indented stay as they are; examples stay examples; all else is escaped.
"""

import re
from collections.abc import Iterable, Iterator

from docstring_formulas import FORMULAS, WITHIN, displayed

SPECIAL = re.compile(r"([*_|\\])")
CODE = re.compile(r"`([^`]+)`")
SHAPES = re.compile(r"\([\w, ]*\)(?:,\([\w, ]*\))*->\([\w, ]*\)(?:,\([\w, ]*\))*(?:, \.\.\.)?")
PARAMETER = re.compile(r"^(\w+(?:, \w+)*): (.*)$")


def converted(lines: Iterable[str], parameters: frozenset[str] = frozenset()) -> list[str]:
    """A docstring's lines as reStructuredText."""
    found: list[str] = []
    for k, block in enumerate(blocks(lines)):
        found += [*render(block, parameters, first=k == 0), ""]
    return found


def blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Paragraphs: what stands between empty lines."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def render(block: list[str], parameters: frozenset[str], first: bool) -> list[str]:
    """One paragraph."""
    if block[0].startswith(">>>"):
        return block
    if block[0].startswith(" "):
        return [".. code-block:: text", "", *(f"    {line}" for line in block)]
    if is_parameter(block[0], parameters):
        return list(parameter_list(block, parameters))
    if block[0].startswith("- "):
        return [line if line.startswith(" ") else f"- {escaped(line[2:])}" for line in block]
    if not first and is_equation(block):
        return displayed(block) or [".. code-block:: text", "", *(f"    {line}" for line in block)]
    at = next((k for k, line in enumerate(block) if line.startswith(">>>")), len(block))
    text = [escaped(line) for line in block[:at]]
    return text if at == len(block) else [*text, "", *block[at:]]


def is_parameter(line: str, parameters: frozenset[str]) -> bool:
    """Whether a line begins with names of parameters and a colon."""
    match = PARAMETER.match(line)
    return bool(match) and set(match[1].split(", ")) <= parameters  # type: ignore[index]


def parameter_list(block: list[str], parameters: frozenset[str]) -> Iterator[str]:
    """Lines "name: text" as list items; other lines go on with the item before."""
    for line in block:
        match = PARAMETER.match(line)
        if match and is_parameter(line, parameters):
            yield f"- {', '.join(f'**{escaped(name)}**' for name in match[1].split(', '))}: {escaped(match[2])}"
        else:
            yield f"  {escaped(line.strip())}"


def is_equation(block: list[str]) -> bool:
    """Whether a paragraph is a formula on lines of its own: it has a sign of equality, and no end of a sentence."""
    return all("=" in line for line in block) and block[-1][-1] not in ".:;"


def escaped(line: str) -> str:
    """Text in which nothing but code is marked up."""
    parts = re.split(r"(`[^`]+`)", line)
    return "".join(f"``{p[1:-1]}``" if CODE.fullmatch(p) else shapes_marked(p) for p in parts)


def shapes_marked(text: str) -> str:
    """Shape signatures as code, the rest escaped."""
    at, out = 0, ""
    for match in SHAPES.finditer(text):
        out += formulas_marked(text[at : match.start()]) + f"``{match[0]}``"
        at = match.end()
    return out + formulas_marked(text[at:])


def formulas_marked(text: str) -> str:
    """Formulas as mathematics, the rest escaped."""
    at, out = 0, ""
    for match in WITHIN.finditer(text):
        out += SPECIAL.sub(r"\\\1", text[at : match.start()]) + f":math:`{FORMULAS[match[1]]}`"
        at = match.end()
    return out + SPECIAL.sub(r"\\\1", text[at:])
