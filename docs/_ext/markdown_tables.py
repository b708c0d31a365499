"""Tables in Markdown, for directives."""

import re

NUMBER = re.compile(r"\**[-+~±]?[\d.,/ ]*\d(e[-+]?\d+)?( ?(%|ns|us|ms|s|J|n\^\d))?\**")


def markdown_table(rows: list[list[str]]) -> str:
    """Rows as Markdown; the first is the head. Columns of numbers are aligned at their ends."""
    head, *body = rows
    rule = ["---:" if numeric([row[c] for row in body]) else "---" for c in range(len(head))]
    return "\n".join(["| " + " | ".join(r) + " |" for r in [head, rule, *body]])


def numeric(cells: list[str]) -> bool:
    """Whether a column has numbers, and nothing else but gaps."""
    there = [cell.strip() for cell in cells if cell.strip() not in ("", "-", "–")]
    return bool(there) and all(NUMBER.fullmatch(cell) for cell in there)
