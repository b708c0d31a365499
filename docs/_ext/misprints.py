"""The directive `misprints DOCUMENT`: the entries of `dalembert.studies.errata` of one document, as a table."""

from errata_tables import text
from named_tables import NamedTable
from sphinx.application import Sphinx

from dalembert.studies.errata import DOCUMENTS


class Misprints(NamedTable):
    """A table of one document's misprints."""

    known = DOCUMENTS
    text = staticmethod(text)
    classes = ("misprints",)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("misprints", Misprints)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
