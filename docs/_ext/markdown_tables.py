"""Tables in Markdown, for directives."""


def markdown_table(rows: list[list[str]]) -> str:
    """Rows as Markdown; the first is the head."""
    head, *body = rows
    return "\n".join(["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *body]])
