"""XML from strangers: no document types but bare names (so no entities), no deep nesting, nothing huge, never a crash."""

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from dalembert.errors import Error
from dalembert.storage import limits

PIECE = 1 << 16  # bytes


def parse(data: bytes, text: bool = False, most: int | None = None) -> Element:
    """The root element of a document, with the text in its elements if wanted, or an error with the place where it is broken.

    `most`: how many elements and attributes there may be, if not as many as in a robot.
    """
    items_allowed = limits.XML_ITEMS if most is None else most
    builder, depth, items, nested = TreeBuilder(), 0, 0, False
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, items, nested
        depth += 1
        nested = nested or (depth == 1 and tag.startswith("mujoco"))
        items += 1 + len(attributes)
        deepest = limits.MJCF_DEPTH if nested else limits.XML_DEPTH
        if depth > deepest:
            raise Error(f"elements nested deeper than {deepest} (line {parser.CurrentLineNumber})")
        if items > items_allowed:
            raise Error(f"more than {items_allowed} elements and attributes, too large")
        for name, value in attributes.items():
            if len(value) > limits.XML_ATTRIBUTE:
                raise Error(f"attribute {name[:40]!r} of <{tag[:40]}> is longer than {limits.XML_ATTRIBUTE} characters")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def doctype(name: str, system: str | None, public: str | None, inside: bool) -> None:
        if system is None and public is None and not inside:
            return  # <!DOCTYPE robot> declares nothing
        raise Error(f"document type declarations and entities are not allowed (line {parser.CurrentLineNumber})")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = doctype
    if text:
        parser.buffer_text = True
        parser.CharacterDataHandler = builder.data
    try:
        for at in range(0, len(data), PIECE):
            parser.Parse(data[at : at + PIECE])
            if at - parser.CurrentByteIndex > limits.XML_TOKEN:
                raise Error(f"a tag or comment is longer than {limits.XML_TOKEN >> 20} MiB (line {parser.CurrentLineNumber})")
        parser.Parse(b"", True)
        return builder.close()
    except expat.ExpatError as error:
        raise Error(f"not well-formed XML: {error}") from None
    except (LookupError, UnicodeError, ValueError) as error:  # unknown or broken encodings
        if isinstance(error, Error):
            raise
        raise Error(f"cannot be read as XML: {error}") from None
