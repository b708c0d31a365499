"""The directive `misprints DOCUMENT`: the entries of `dalembert.studies.errata` of one document, as a table."""

import re

from docutils import nodes
from markdown_tables import markdown_table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dalembert.studies.errata import DOCUMENTS, ERRATA, Erratum


def plain(text: str) -> str:
    """Text that Markdown must leave alone."""
    return re.sub(r"([\\`*_{}\[\]<>$|^~#])", r"\\\1", text)


def row(entry: Erratum) -> list[str]:
    """One line of the table; the entry's name is an anchor."""
    error = "cannot be evaluated" if entry.off is None else f"{entry.off:.2g}"
    name = f"[{entry.id}]{{#{entry.id}}}"
    return [name, *map(plain, (entry.place, entry.printed, entry.right)), error, f"`{entry.test.rpartition('::')[2]}`"]


def text(document: str) -> str:
    """The Markdown of a document's table."""
    return markdown_table(
        [["entry", "where", "printed", "right", "error", "test"], *(row(e) for e in ERRATA if e.document == document)]
    )


class Misprints(SphinxDirective):
    """A table of one document's misprints."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        document = self.arguments[0]
        if document not in DOCUMENTS:
            raise self.error(f"misprints: there is no document {document!r}; known: {', '.join(DOCUMENTS)}")
        return self.parse_text_to_nodes(text(document))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("misprints", Misprints)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
