"""The API reference. Docstrings are plain text: this makes reStructuredText of them, so that they look well and warn of nothing.

`words in backticks` become code; paragraphs "name: ..." about parameters become a list; a paragraph that is an equation, and lines that
are indented, stay as they are; examples stay examples; all else is escaped.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dalembert

API = Path(__file__).parents[1] / "api"

SPECIAL = re.compile(r"([*_|\\])")
CODE = re.compile(r"`([^`]+)`")
SHAPES = re.compile(r"\([\w, ]*\)(?:,\([\w, ]*\))*->\([\w, ]*\)(?:,\([\w, ]*\))*(?:, \.\.\.)?")
PARAMETER = re.compile(r"^(\w+(?:, \w+)*): (.*)$")


def converted(lines: Iterable[str], parameters: frozenset[str] = frozenset()) -> list[str]:
    """A docstring's lines as reStructuredText.

    >>> converted(["The `x` of _y.", "", ">>> 1", "1"])
    ['The ``x`` of \\\\_y.', '', '>>> 1', '1', '']
    """
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
        return ["::", "", *(f"    {line}" for line in block)]
    if is_parameter(block[0], parameters):
        return list(parameter_list(block, parameters))
    if block[0].startswith("- "):
        return [line if line.startswith(" ") else f"- {escaped(line[2:])}" for line in block]
    if not first and is_equation(block):
        return ["::", "", *(f"    {line}" for line in block)]
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
        out += SPECIAL.sub(r"\\\1", text[at : match.start()]) + f"``{match[0]}``"
        at = match.end()
    return out + SPECIAL.sub(r"\\\1", text[at:])


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What autodoc calls for every docstring."""
    try:
        parameters = frozenset(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        parameters = frozenset()
    lines[:] = converted(lines, parameters)


def public_names() -> list[str]:
    """What users may call: the public names of the package that are no modules, and the methods of a robot."""
    own = [name for name, x in vars(dalembert).items() if not name.startswith("_") and not inspect.ismodule(x)]
    fields = set(dalembert.Robot.__dataclass_fields__)
    hidden = {"memo", "locate"}  # for the package's own use
    robot = [name for name in dir(dalembert.Robot) if not name.startswith("_") and name not in fields | hidden]
    return own + [f"Robot.{name}" for name in robot]


def documented(folder: Path = API) -> set[str]:
    """The names that some page of the reference names itself."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    return set(re.findall(r"^(?:\.\. auto\w+:: (?:dalembert\.)?|  )([\w.]+)$", pages, re.MULTILINE))


def entry(name: str) -> str:
    """The directive that documents a name."""
    thing: Any = dalembert
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part)
    if "." in name:
        kind = "property" if isinstance(thing, property | cached_property) else "method"
    elif inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    else:
        kind = "function" if callable(thing) else "data"
    members = "\n   :members:\n   :exclude-members: count, index" if kind == "class" else ""
    return f".. auto{kind}:: dalembert.{name}{members}\n"


class Names(SphinxDirective):
    """`names`: the entries of the names in its body, one a line, as far as they exist; with the argument `rest`, of all that no page names."""

    has_content = True
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What autodoc makes of them."""
        every = public_names()
        if self.arguments == ["rest"]:
            known = documented()
            wanted = [name for name in every if name not in known]
        else:
            wanted = [name for line in self.content if (name := line.strip()) in every]
        text = "\n".join(map(entry, wanted))
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```") if wanted else []


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.add_directive("names", Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
