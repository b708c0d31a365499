"""Where the equations, tables, figures, algorithms and problems of the five documents are computed, tested and explained.

`concordance.toml` says what each item is, and which row of `rows.toml` has its function, its test and its place in the pages. The
line comes from the source: a tag is an equation's number in parentheses, in a comment or docstring, as formulations have always
numbered them. Its form tells the document (FGL 3.x-y, PL 9.x, Silver other x.y); for plain numbers it is the one named last before
the tag, or the only one that the module's docstring names. `(a) to (b)` and `(a)-(b)` are ranges.
"""

import ast
import inspect
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from dalembert.errors import Error, brief
from dalembert.formulations import methods
from dalembert.studies import errata

#: The documents by the names that items have, each with its key in `errata.DOCUMENTS`.
DOCUMENTS = {"Silver": "silver", "FGL": "fu", "PL": "park_lynch", "Kozlowski": "kozlowski", "PBP": "park"}
KINDS = ("table", "figure", "algorithm", "definition", "proposition", "problem")
PACKAGE = Path(__file__).parents[1]

_AUTHORS = {
    "Silver": ("silver",),
    "FGL": ("fgl", "fu", "gonzalez", "lee"),
    "PL": ("pl", "park", "lynch"),
    "Kozlowski": ("kozlowski", "k"),
    "PBP": ("pbp", "park", "bobrow", "ploen"),
}
_NUMBER = r"\((\d\.\d-\d+[ab]?|\d\.\d+|A\.\d|\d{1,2})\)"
_TAG = re.compile(rf"(?<![\w\])}}>,]){_NUMBER}(?!->|,\()(?:(?:-|\s+to\s+){_NUMBER})?")
_NAMES = re.compile(r"(Kozlowski)|Park,\s+Bobrow\s+and\s+Ploen|PBP\b|Park-Bobrow-Ploen")  # of documents with plain numbers
_OTHER = re.compile(rf"\b({'|'.join(KINDS)})s? ((?:\d+(?:\.\d+)?(?:,| and|) ?)+)")
_ASKED = re.compile(  # authors, kind, number
    r"([a-z ,.:&'-]*?) *(?:\b(tab|fig|alg|def|prop|prob|eq)[a-z]*\.? *)?\(?((?:\bA\.?)?\d[\d.]*(?:-\d+)?)[ab]?\)?", re.IGNORECASE
)
_LOOK_ALIKE = str.maketrans("\u0142\u2010\u2011\u2012\u2013\u2212", "l-----")  # l and dashes as PDFs have them


class Tag(NamedTuple):
    """An item named in the source; `rank` is 0 for a comment, 1 for the docstring of a function or class, 2 for a module's."""

    name: str
    file: Path
    line: int
    rank: int

    @property
    def claims(self) -> bool:
        """Whether it says where something is computed; a module's docstring only says what the module is about."""
        return self.rank < 2


@dataclass(frozen=True)
class Source:
    """An item of a document: what it is, and where it is computed, tested and explained. The page is relative to `docs`.

    `within` names the item that a step of a derivation or a definition leads to, whose line this is. Without a function the
    document only mentions it, or draws it.
    """

    name: str
    document: str
    what: str
    within: str | None
    function: str | None
    method: str | None
    file: str | None
    line: int | None
    test: str | None
    errata: tuple[str, ...]
    page: str

    @property
    def number(self) -> str:
        """The item's number in its document, such as 3.3-55 or table 3.4."""
        return self.name.partition(" ")[2]

    @property
    def place(self) -> str | None:
        """File and line, as editors understand it."""
        return None if self.file is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        call = self.function and self.function + (f" ({self.method})" if self.method else "")
        lines = {
            "document": self.document,
            "leads to": self.within,
            "function": call or "none: the document does not describe a computation",
            "line": self.place,
            "test": self.test,
            "page": f"docs/{self.page}",
        }
        shown = [(key, value) for key, value in lines.items() if value]
        for e in (e for e in errata.ERRATA if e.id in self.errata):
            shown += [("misprint", f"{e.id}, {e.place}"), ("  printed", e.printed), ("  right", e.right), ("  test", e.test)]
        return "\n".join([f"{self.name}: {self.what}", *(f"  {key:<9} {value}" for key, value in shown)])


def source(item: str) -> Source:
    """Where an equation, table, figure, algorithm or problem of the five documents is computed, tested and explained.

    Documents are Silver, FGL (Fu, Gonzalez and Lee, chapter 3), PL (Park and Lynch, chapter 9), Kozlowski and PBP (Park, Bobrow
    and Ploen); names of authors, or their beginnings, will do. Where the number is in one document only, `3.3-55` is enough.

    >>> import dalembert as da
    >>> found = da.source("FGL 3.3-55")
    >>> found.what, found.method
    ('net moment on a link, in its own axes', 'newton_euler')
    >>> da.source("Kozlowski 48").errata
    ('E-K13',)
    """
    return _source(_named(item))


def sources() -> tuple[Source, ...]:
    """All items, document by document."""
    return tuple(map(_source, entries()))


@cache
def rows() -> dict[str, dict[str, str]]:
    """The rows of the inventory: what, function, method, test, docs."""
    return tomllib.loads((Path(__file__).parent / "rows.toml").read_text(encoding="utf-8"))


@cache
def entries() -> dict[str, dict[str, str]]:
    """The entries of `concordance.toml` by name, such as FGL 3.3-55."""
    tables = tomllib.loads((Path(__file__).parent / "concordance.toml").read_text(encoding="utf-8"))
    return {f"{document} {number}": entry for document, entries in tables.items() for number, entry in entries.items()}


def _named(item: str) -> str:
    """The name of an item as somebody may write it."""
    if not isinstance(item, str):
        raise Error(f"an item must be a name such as 'FGL 3.3-55', got {brief(item)}")
    asked = _ASKED.fullmatch(re.sub(r" *- *(?=\d)", "-", item.strip()[:100].translate(_LOOK_ALIKE)))
    if item.strip().upper() in (e.id for e in errata.ERRATA):
        raise Error(_where_misprinted(item.strip().upper()))
    if asked is None:
        raise Error(f"an item must be a name such as 'FGL 3.3-55', 'Kozlowski 36' or 'FGL table 3.4', got {brief(item)}")
    authors, kind, number = asked.groups()
    kind = next((k for k in KINDS if kind and k.startswith(kind.lower())), None)
    number = re.sub("^[aA]\\.?", "A.", number)
    wanted = f"{kind} {number}" if kind else number
    known = _documents_of(authors, item)
    found = [name for name in (f"{d} {wanted}" for d in known) if name in entries()]
    if len(found) == 1:
        return found[0]
    if found:
        raise Error(f"{brief(item)} is in more than one document: say {' or '.join(found)}")
    numbers = {name.partition(" ")[2]: name for name in entries() if name.partition(" ")[0] in known}
    near = ", ".join(numbers[x] for x in get_close_matches(wanted, numbers, cutoff=0.5))
    raise Error(
        f"no item {brief(item)}; " + (f"near it: {near}" if near else "items are named as in 'FGL 3.3-55' or 'FGL table 3.4'")
    )


def _documents_of(authors: str, item: str) -> list[str]:
    """The documents whose authors, or the beginnings of their names, are given; all of them if nobody is."""
    words = [word for word in re.findall("[a-z]+", authors.lower()) if word not in ("and", "et", "al")]
    known = [
        document
        for document, names in _AUTHORS.items()
        if all(any(word == name or (len(word) > 2 and name.startswith(word)) for name in names) for word in words)
    ]
    if not known:
        raise Error(f"unknown document in {brief(item)}; known: {', '.join(DOCUMENTS)}")
    return known


def _where_misprinted(name: str) -> str:
    """A misprint is no item, but may be at some."""
    entry = next(e for e in errata.ERRATA if e.id == name)
    items = [item for item in entries() if item in _misprinted(entry)]
    return f"{name} is a misprint at {', '.join(items)}: ask for that" if items else f"{name} has no number: see docs/errata.md"


@cache
def _source(name: str) -> Source:
    document = name.partition(" ")[0]
    entry = entries()[name]
    within = f"{document} {entry['in']}" if "in" in entry else None
    main = _source(within) if within else None
    row: dict[str, str] = rows()[entry["row"]] if "row" in entry else {}
    row = {**({"docs": main.page} if main else {}), **row, **entry}
    function, method, test = row.get("function"), row.get("method"), row.get("test")
    if main and "row" not in entry:
        function, method, test = function or main.function, method or main.method, test or main.test
    file, line = (main.file, main.line) if main else _line(name, function, method)
    return Source(
        name=name,
        document=errata.DOCUMENTS[DOCUMENTS[document]],
        what=entry["what"],
        within=within,
        function=function,
        method=method,
        file=file,
        line=line,
        test=test,
        errata=tuple(e.id for e in errata.ERRATA if name in _misprinted(e)),
        page=row["docs"],
    )


def _line(name: str, function: str | None, method: str | None) -> tuple[str | None, int | None]:
    """A comment rather than a docstring, the one nearest the function; without a tag the function itself."""
    if function is None:
        return None, None
    home, span = _home(function, method)
    claims = sorted(
        (tag.rank, tag.file != home, tag.line not in span, tag.file, tag.line) for tag in tags() if tag.name == name and tag.claims
    )
    if not claims and not span:
        return None, None
    file, line = claims[0][3:] if claims else (home, span.start)
    return f"dalembert/{file.relative_to(PACKAGE).as_posix()}", line


def _home(function: str, method: str | None) -> tuple[Path, range]:
    """The file and lines of a public function; of its formulation, if a method is named or there is only one."""
    thing, name = resolved(function), function.rpartition(".")[2]
    able = methods(name)
    if function.startswith("dalembert.Robot.") and (method or len(able) == 1):
        thing = getattr(import_module(f"dalembert.formulations.{method or able[0]}"), name, thing)
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    try:
        lines, first = inspect.getsourcelines(thing)
        decorated = next(i for i, line in enumerate(lines) if re.match(r" *(def|class) ", line))
        return Path(inspect.getsourcefile(thing) or ""), range(first + decorated, first + len(lines))
    except (TypeError, OSError):  # a constant, whose lines have tags; a package without its source
        return PACKAGE, range(0)


def resolved(function: str) -> Any:
    """The object of a dotted name below `dalembert`."""
    thing: Any = import_module("dalembert")
    for part in function.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


# --- tags -----------------------------------------------------------------------------------------------------------------


@cache
def tags() -> tuple[Tag, ...]:
    """All tags of the package's source. A tag whose document cannot be told has no document in its name."""
    return tuple(tag for file in sorted(PACKAGE.rglob("*.py")) for tag in _tags(file))


def _tags(file: Path) -> Iterator[Tag]:
    text = file.read_text(encoding="utf-8")
    if not _TAG.search(text):
        return
    module = ast.parse(text)
    named = set(_documents(ast.get_docstring(module) or ""))
    for line, rank, words in sorted([*_docstrings(module), *_comments(text)]):
        for found in _TAG.finditer(words):
            told = set(_documents(words[: found.start()])[-1:]) or named
            for name in _items(found, told):
                yield Tag(name, file, line + words.count("\n", 0, found.start()), rank)


def _documents(words: str) -> list[str]:
    return ["Kozlowski" if found[1] else "PBP" for found in _NAMES.finditer(words)]


def _docstrings(module: ast.Module) -> Iterator[tuple[int, int, str]]:
    """First line, rank and text of every docstring; examples are blank."""
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node, clean=False)):
            text = re.sub(r"^ *(>>>|\.\.\.) .*$", "", text, flags=re.MULTILINE)
            yield node.body[0].lineno, 2 if isinstance(node, ast.Module) else 1, text


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], 0, token.string


def _items(found: re.Match[str], plain: set[str]) -> list[str]:
    """The items of one tag or range; none for a plain number where no document is named."""
    first, last = (number and re.sub("[ab]$", "", number) for number in found.groups())
    if first.isdigit():
        if not plain:
            return []
        document = next(iter(plain)) if len(plain) == 1 else ""
    else:
        document = "FGL" if "-" in first else "PL" if first.startswith("9.") else "Silver"
    ends = [f"{document} {number}" for number in (first, last) if number]
    known = list(entries())
    if last is None or any(end not in entries() for end in ends):
        return ends
    return known[known.index(ends[0]) : known.index(ends[1]) + 1]


@cache
def _misprinted(entry: errata.Erratum) -> frozenset[str]:
    """The items that an erratum's place names."""
    document = next((name for name, key in DOCUMENTS.items() if key == entry.document), None)
    if document is None:
        return frozenset()
    numbers = [name for found in _TAG.finditer(entry.place) for name in _items(found, {document})]
    others = [(kind, number) for kind, several in _OTHER.findall(entry.place) for number in re.findall(r"[\d.]+", several)]
    return frozenset([*numbers, *(f"{document} {kind} {number}" for kind, number in others)])
