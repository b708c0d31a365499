"""The directive `misprints DOCUMENT`: the entries of `dalembert.studies.errata` of one document, as a table."""

from docutils import nodes
from errata_tables import text
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dalembert.studies.errata import DOCUMENTS


class Misprints(SphinxDirective):
    """A table of one document's misprints."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        document = self.arguments[0]
        if document not in DOCUMENTS:
            raise self.error(f"misprints: there is no document {document!r}; known: {', '.join(DOCUMENTS)}")
        return [nodes.container("", *self.parse_text_to_nodes(text(document)), classes=["misprints"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("misprints", Misprints)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
