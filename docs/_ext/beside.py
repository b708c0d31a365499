"""The directive `beside`: equations on the left, the lines of the source that compute them on the right.

    :::{beside} newton_euler outward
    :from: vd = vd + j.sigma
    :to: vd = vd + swing

    equations in Markdown
    :::

The first argument is a module of `dalembert.formulations` (or of `dalembert`), the second a function, class or method in it. The lines
from the first that holds `from` to the next that holds `to` are shown; a text that is not there stops the build, so that pages cannot
drift from the source.
"""

import ast
import textwrap
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCE = Path(__file__).parents[2] / "src" / "dalembert"


class Excerpt(str):
    """Lines of a source file, and where they stand: `first` and `last` count from 1."""

    first: int
    last: int


def path(module: str) -> Path:
    """The file of a module: a formulation, or any other by its dotted name."""
    own = SOURCE / "formulations" / f"{module}.py"
    return own if own.exists() else SOURCE / f"{module.replace('.', '/')}.py"


def lines(module: str, name: str | None, start: str | None = None, end: str | None = None) -> Excerpt:
    """The source of `name` in a module, or part of it; ValueError if something is not there."""
    text = path(module).read_text(encoding="utf-8")
    first, last = span(ast.parse(text), name) if name else (1, len(text.splitlines()))
    all_lines = text.splitlines()
    if start:
        first = find(all_lines, start, first, last, f"{module} {name}")
    if end:
        last = find(all_lines, end, first, last, f"{module} {name}")
    found = Excerpt(textwrap.dedent("\n".join(all_lines[first - 1 : last])))
    found.first, found.last = first, last
    return found


def span(tree: ast.AST, name: str) -> tuple[int, int]:
    """First and last line of a function, class or method, decorators left out."""
    for part in name.split("."):
        inside = [x for x in ast.iter_child_nodes(tree) if getattr(x, "name", None) == part]
        if not inside:
            raise ValueError(f"there is no {name}")
        tree = inside[0]
    return tree.lineno, tree.end_lineno  # type: ignore[attr-defined]


def find(all_lines: list[str], text: str, first: int, last: int, where: str) -> int:
    """The number of the first line that holds a text."""
    for number in range(first, last + 1):
        if text in all_lines[number - 1]:
            return number
    raise ValueError(f"no line of {where} from {first} to {last} holds {text!r}")


class Beside(SphinxDirective):
    """Equations beside source lines."""

    has_content = True
    required_arguments = 1
    optional_arguments = 1
    option_spec: ClassVar = {"from": directives.unchanged_required, "to": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Two containers side by side; style sheets make the columns."""
        module, name = self.arguments[0], self.arguments[1] if len(self.arguments) > 1 else None
        file = path(module)
        self.env.note_dependency(str(file))
        try:
            code = lines(module, name, self.options.get("from"), self.options.get("to"))
        except (ValueError, OSError) as problem:
            raise self.error(f"beside: {problem}") from None
        where = file.relative_to(SOURCE)
        place = f"{where}, {name}, lines {code.first} to {code.last}" if name else f"{where}, lines {code.first} to {code.last}"
        left = nodes.container("", *self.parse_content_to_nodes(), classes=["beside-equations"])
        block = nodes.literal_block(code, code, language="python")
        right = nodes.container("", nodes.caption("", place), block, classes=["beside-code"])
        return [nodes.container("", left, right, classes=["beside"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("beside", Beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
