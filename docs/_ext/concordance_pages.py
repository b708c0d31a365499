"""The directives `concordance DOCUMENT` and `inventory LETTER`: tables whose rows a box above the first one filters."""

from concordance_tables import INVENTORY, concordance, inventory
from docutils import nodes
from named_tables import NamedTable
from sphinx.application import Sphinx

from dalembert.studies.concordance import DOCUMENTS


class Filtered(NamedTable):
    """A table of the class `filtered`, which _static/filter.js looks for; without JavaScript it is a plain table."""

    classes = ("filtered", "wide")


class Concordance(Filtered):
    """The items of a document."""

    known = tuple(DOCUMENTS)
    text = staticmethod(concordance)


class Inventory(Filtered):
    """The rows of the inventory that begin with a letter."""

    known = INVENTORY
    text = staticmethod(inventory)


def add_filter(app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document | None) -> None:
    """The script, on pages that need it."""
    if doctree is not None and any("filtered" in node["classes"] for node in doctree.findall(nodes.container)):
        app.add_js_file("filter.js")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("concordance", Concordance)
    app.add_directive("inventory", Inventory)
    app.connect("html-page-context", add_filter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
