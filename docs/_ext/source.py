"""Lines of the package's source by what they say, for pages that show them."""

import ast
import textwrap
from pathlib import Path

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
