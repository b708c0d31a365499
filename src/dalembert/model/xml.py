"""XML from strangers: no document types but bare names (so no entities), no deep nesting, no huge attributes, never a crash."""

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from dalembert.errors import Error

MAX_DEPTH = 64
MAX_ATTRIBUTE = 1 << 16


def parse(data: bytes) -> Element:
    """The root element of a document, or an error that says where it is broken."""
    builder, depth = TreeBuilder(), 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise Error(f"elements nested deeper than {MAX_DEPTH} (line {parser.CurrentLineNumber})")
        for name, value in attributes.items():
            if len(value) > MAX_ATTRIBUTE:
                raise Error(f"attribute {name[:40]!r} of <{tag[:40]}> is longer than {MAX_ATTRIBUTE} characters")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def doctype(name: str, system: str | None, public: str | None, inside: bool) -> None:
        if system is None and public is None and not inside:
            return  # <!DOCTYPE robot> declares nothing
        raise Error(f"document type declarations and entities are refused (line {parser.CurrentLineNumber})")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
        return builder.close()
    except expat.ExpatError as error:
        raise Error(f"not well-formed XML: {error}") from None
    except (LookupError, UnicodeError, ValueError) as error:  # unknown or broken encodings
        if isinstance(error, Error):
            raise
        raise Error(f"cannot be read as XML: {error}") from None
