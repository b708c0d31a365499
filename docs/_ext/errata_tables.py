"""The entries of `dalembert.studies.errata` as tables; needs no Sphinx."""

import re

from markdown_tables import markdown_table

from dalembert.studies.errata import ERRATA, Erratum


def plain(text: str) -> str:
    """Text that Markdown must leave alone."""
    return re.sub(r"([\\`*_{}\[\]<>$|^~#])", r"\\\1", text)


def row(entry: Erratum) -> list[str]:
    """One line of the table; the entry's name is an anchor."""
    error = "no number" if entry.off is None else f"{entry.off:.2g}"
    name = f"[{entry.id}]{{#{entry.id}}}"
    return [name, *map(plain, (entry.place, entry.printed, entry.right)), error, f"`{entry.test.rpartition('::')[2]}`"]


def text(document: str) -> str:
    """The Markdown of a document's table."""
    return markdown_table(
        [["entry", "where", "printed", "right", "error", "test"], *(row(e) for e in ERRATA if e.document == document)]
    )
