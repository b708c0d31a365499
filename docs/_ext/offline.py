"""Whether built pages work without a network: `python offline.py FOLDER` lists what they would fetch, and fails if they would.

Links that a reader may follow (`<a href>`) may go anywhere; scripts, styles, fonts and images may not.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ELSEWHERE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
HARMLESS = {"a", "area"}


class Fetches(HTMLParser):
    """Collects what a browser would fetch of a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Addresses in src, href, srcset, data, poster and style."""
        self.style = tag == "style"
        given = dict(attrs)
        if tag in HARMLESS or given.get("rel") in ("canonical", "license"):
            return
        for name in ("src", "href", "srcset", "data", "poster"):
            if given.get(name) and ELSEWHERE.match(given[name] or ""):
                self.found.append(f"<{tag} {name}={given[name]!r}>")
        self.found += IN_STYLES.findall(given.get("style") or "")

    def handle_data(self, data: str) -> None:
        """Addresses in style sheets inside the page."""
        if self.style:
            self.found += IN_STYLES.findall(data)


def fetches(folder: Path) -> Iterator[tuple[Path, str]]:
    """(file, address) of everything that would come from elsewhere."""
    for page in sorted(folder.rglob("*.html")):
        parser = Fetches()
        parser.feed(page.read_text(encoding="utf-8"))
        yield from ((page, found) for found in parser.found)
    for sheet in sorted(folder.rglob("*.css")):
        yield from ((sheet, found) for found in IN_STYLES.findall(sheet.read_text(encoding="utf-8")))


def main() -> int:
    """Tell, and say how it went."""
    folder = Path(sys.argv[1])
    pages = len(list(folder.rglob("*.html")))
    bad = list(fetches(folder))
    for file, address in bad:
        print(f"{file.relative_to(folder)} fetches {address}", file=sys.stderr)
    if not pages:
        print(f"there are no pages in {folder}", file=sys.stderr)
    return 1 if bad or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
