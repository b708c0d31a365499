"""The API reference: docstrings as they should look, and the directive `names`, which documents public names."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from docstring_formulas import FORMULAS, WITHIN
from docutils import nodes
from plain_text import SHAPES, converted
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dalembert
from dalembert.foreign import FOREIGN
from dalembert.groups import INTERNAL

API = Path(__file__).parents[1] / "api"


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What autodoc calls for every docstring."""
    try:
        parameters = frozenset(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        parameters = frozenset()
    lines[:] = converted(lines, parameters)


def public_names() -> list[str]:
    """What users may call: the public names of the package that are no modules, and the methods of a robot."""
    own = [name for name in dir(dalembert) if not name.startswith("_") and not inspect.ismodule(getattr(dalembert, name))]
    left_out = {*dalembert.Robot.__dataclass_fields__, *INTERNAL, *FOREIGN}
    robot = [name for name in dir(dalembert.Robot) if not name.startswith("_") and name not in left_out]
    return own + [f"Robot.{name}" for name in robot]


def documented(folder: Path = API) -> set[str]:
    """The names that some page of the reference names itself."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    return set(re.findall(r"^(?:\.\. (?:auto\w+|py:attribute):: (?:dalembert\.)?|  )([\w.]+)$", pages, re.MULTILINE))


def entry(name: str) -> str:
    """The directive that documents a name."""
    thing: Any = dalembert
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)
    if "." in name:
        kind = "property" if isinstance(thing, property | cached_property) else "method"
    elif inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    else:
        kind = "function" if callable(thing) else "data"
    members = "\n   :members:\n   :exclude-members: count, index" if kind == "class" else ""
    return f".. auto{kind}:: dalembert.{name}{members}\n"


def sentence(name: str) -> str:
    """What a name is, in the first sentence of its docstring, without its signature, as Markdown."""
    thing: Any = dalembert
    for part in name.removeprefix("dalembert.").split("."):
        thing = getattr(thing, part)
    about = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    first = re.split(r"(?<=[^.][.])\s+(?=[A-Z`])", SHAPES.sub("", about).replace("Signature .", ""))[0].strip().removesuffix(".")
    parts = WITHIN.split(first)
    marked = [f"${FORMULAS[x]}$" if k % 2 else re.sub(r"([*_<>\[\]])", r"\\\1", x) for k, x in enumerate(parts)]
    return "".join(marked).replace("|", r"\|")


def contents(page: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of a page of the reference, and the names that each documents."""
    every = set(public_names())
    for section in re.split(r"^## ", page, flags=re.MULTILINE):
        title, _, body = section.partition("\n")
        if names := re.findall(r"^\.\. auto\w+:: ([\w.]+)$|^  ([A-Za-z][\w.]*)$", body, re.MULTILINE):
            yield title.strip("# "), [a or b for a, b in names if a or b in every]  # as `names` does


class Summary(SphinxDirective):
    """`summary`: a table of all that the page documents, section by section, with a sentence and a link."""

    def run(self) -> list[nodes.Node]:
        """The table, made from the page's own text."""
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        rows = ["| | |", "|---|---|"]
        for title, names in contents(page.partition("```{summary}")[2]):
            rows += [f"| **{title}** | |"] if title and not page.startswith(f"# {title}") else []
            for name in names:
                short, whole = name.rpartition(".")[2], f"dalembert.{name.removeprefix('dalembert.')}"
                rows.append(f"| {{py:obj}}`{short} <{whole}>` | {sentence(name)} |")
        made = self.parse_text_to_nodes("\n".join(rows))
        for table in made:
            table["classes"].append("summary")
        return made


class Names(SphinxDirective):
    """`names`: the entries of the names in its body, one a line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """What autodoc makes of them."""
        text = "\n".join(entry(line.strip()) for line in self.content)
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.add_directive("names", Names)
    app.add_directive("summary", Summary)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
