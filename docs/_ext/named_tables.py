"""What the directives share whose argument names one of several tables."""

from collections.abc import Callable, Collection

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class NamedTable(SphinxDirective):
    """`directive NAME`: the Markdown that `text` makes of a known name, in a container of these classes."""

    required_arguments = 1
    known: Collection[str]
    text: Callable[[str], str]
    classes: tuple[str, ...] = ("wide",)

    def run(self) -> list[nodes.Node]:
        """The table, and what stands below it."""
        name = self.arguments[0]
        if name not in self.known:
            raise self.error(f"{self.name}: there is no {name!r}; known: {', '.join(self.known)}")
        return [nodes.container("", *self.parse_text_to_nodes(type(self).text(name)), classes=list(self.classes))]
