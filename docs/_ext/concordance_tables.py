"""The concordance and the rows of the inventory as tables; needs no Sphinx."""

from pathlib import Path

from errata_tables import plain
from markdown_tables import markdown_table

from dalembert.studies.concordance import Source, resolved, rows, sources

DOCS = Path(__file__).parents[1]
INVENTORY = tuple(dict.fromkeys(name[0] for name in rows()))


def code(text: str | None) -> str:
    """Text as code; nothing stays nothing."""
    return f"`{text}`" if text else ""


def call(function: str | None, method: str | None) -> str:
    """A public function, linked if the reference has it, and the formulation if there are several."""
    if function is None:
        return "not described"
    short = function.removeprefix("dalembert.")
    referred = callable(resolved(function)) and not short.startswith("formulations.")
    return (f"{{py:obj}}`{short} <{function}>`" if referred else code(short)) + (f" ({plain(method)})" if method else "")


def linked(page: str) -> str:
    """A link to a label or a heading of a page, as the page is named."""
    file, _, anchor = page.partition("#")
    name = plain(Path(file).stem)
    label = f"\n({anchor})=\n" in (DOCS / file).read_text(encoding="utf-8")
    return f"{{ref}}`{Path(file).stem} <{anchor}>`" if label else f"[{name}]({file}#{anchor})"


def item(entry: Source) -> list[str]:
    """One line of the concordance; the item's name is an anchor."""
    anchor = entry.name.lower().replace(" ", "-").replace(".", "-")
    what = plain(entry.what) + (f", to {plain(entry.within.partition(' ')[2])}" if entry.within else "")
    errata = ", ".join(f"{{ref}}`{name} <{name.lower()}>`" for name in entry.errata)
    line = f"<br>{code(entry.place.removeprefix('dalembert/'))}" if entry.place else ""
    test = code(entry.test and entry.test.removeprefix("tests/"))
    return [f"[{entry.name}]{{#{anchor}}}", what, call(entry.function, entry.method) + line, test, errata, linked(entry.page)]


def concordance(document: str) -> str:
    """The Markdown of a document's items."""
    head = ["item", "what it is", "function and line", "test", "misprint", "page"]
    return markdown_table([head, *(item(entry) for entry in sources() if entry.name.startswith(f"{document} "))])


def inventory(letter: str) -> str:
    """The Markdown of the rows that begin with a letter."""
    table = [["row", "what it is", "function", "test", "page"]]
    for name, row in rows().items():
        if name[0] == letter:
            function, test = call(row.get("function"), row.get("method")), code(row.get("test", "").removeprefix("tests/"))
            table.append([name, plain(row["what"]), function, test, linked(row["docs"])])
    return markdown_table(table)
