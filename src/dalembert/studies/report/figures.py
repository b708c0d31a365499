"""Groups of charts with one legend, their numbers behind them, and tables: pieces of HTML from plain data.

Whatever comes from a robot's file passes through `escape` here.
"""

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.studies.report.charts import Panel, Series, legend, line_chart, power_of, raised, span

SHOWN = 12  # panels that are open at once
TALL = 20  # rows of a table that scrolls
SHOWN_AS_ZERO = 1e-13  # of the largest value in a figure: what is below is called 0


class Figure(NamedTuple):
    """Panels over the same time axis, in order of reading; those beyond the first `SHOWN` are folded away."""

    key: str
    clock: str  # "motion" or "free": which time axis, hence which cursor
    time: Array
    panels: tuple[Panel, ...]
    caption: str  # HTML
    more: str = "more"


class Section(NamedTuple):
    """A part of the page: HTML, and the figures whose numbers the page keeps."""

    key: str
    title: str
    body: str
    figures: tuple[Figure, ...] = ()
    badge: str = ""  # HTML beside the title, seen when the section is folded, too

    @property
    def label(self) -> str:
        """One or two words for the list of sections."""
        return self.key.capitalize().replace("Mass-", "Mass ")


def figure_html(figure: Figure) -> str:
    """The charts, a legend, a caption, and a place for the table of numbers, which the page's script fills when it is opened."""
    least = SHOWN_AS_ZERO * max((p.size for p in figure.panels), default=0.0)
    keys = [legend([(s.name, s.style) for s in p.series if s.style]) for p in figure.panels]
    shared = len(set(keys)) == 1
    panels = [panel_html(p, figure.time, least, "" if shared else key) for p, key in zip(figure.panels, keys, strict=True)]
    open_ones, folded = panels[:SHOWN], panels[SHOWN:]
    rest = (
        f'<details class="more"><summary>{len(folded)} {escape(figure.more)}</summary>{_grid(folded)}</details>' if folded else ""
    )
    return (
        f'<figure class="plots" data-figure="{escape(figure.key)}" data-clock="{figure.clock}">'
        f"{keys[0] if shared else ''}{_grid(open_ones)}{rest}<figcaption>{figure.caption}</figcaption>"
        '<details class="numbers"><summary>Numbers behind the charts</summary>'
        '<button type="button" class="csv">Download as CSV</button>'
        f"{scroll_html('', 'Numbers behind the charts')}</details></figure>"
    )


def _grid(panels: Sequence[str]) -> str:
    return f'<div class="panels">{"".join(panels)}</div>'


def panel_html(panel: Panel, time: Array, least: float = 0.0, keys: str = "") -> str:
    """One chart under its title, with a legend of its own where the panels of a figure show different things."""
    title, drawn = escape(panel.title), _drawn(panel)
    power = power_of(*span(drawn, least))
    unit = f"{raised(power)} {panel.unit}" if power else panel.unit  # where it is read, not in a corner
    unit += f", limit {panel.limit:.4g}" if math.isfinite(panel.limit) else ""
    head = f'<h4 title="{title}">{title} <span>{escape(unit)}</span></h4>'
    return f'<div class="panel">{head}{keys}{line_chart(drawn, time, least)}</div>'


def _drawn(panel: Panel) -> Panel:
    return panel._replace(series=tuple(s for s in panel.series if s.style))


def figure_data(figure: Figure) -> dict[str, Any]:
    """The numbers of a figure for the page's script: states of the motion with all digits, others with seven."""
    least = SHOWN_AS_ZERO * max((p.size for p in figure.panels), default=0.0)

    def line(s: Series) -> dict[str, str]:
        values = packed(s.values) if s.column else packed(s.values, least, "<f4")
        return {"name": s.name, "style": s.style, "column": s.column, "values": values}

    panels = [{"title": p.title, "unit": p.unit, "series": [line(s) for s in p.series]} for p in figure.panels]
    return {"time": packed(figure.time), "panels": panels}


def packed(values: Array, least: float = 0.0, kind: str = "<f8") -> str:
    """Numbers as base64 of doubles or floats, shorter than decimals; what is smaller than `least` is 0.

    >>> packed(np.array([1.0, 1e-20]), 1e-15)
    'AAAAAAAA8D8AAAAAAAAAAA=='
    """
    with np.errstate(over="ignore"):
        entries = np.where(np.abs(values) > least, values, np.where(np.isnan(values), np.nan, 0.0)).astype(kind)
    return base64.b64encode(entries.tobytes()).decode()


def table_html(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, text: Sequence[int] = (0,), caption: str = "", style: str = ""
) -> str:
    """A table; cells are HTML already. Columns in `text` are words, aligned left; the others are numbers, aligned right."""

    def cell(tag: str, k: int, content: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{' class=word' if k in text else ''}>{content}</{tag}>"

    top = "".join(cell("th", k, x) for k, x in enumerate(head))
    lines = [f"<tr>{''.join(cell('td', k, x) for k, x in enumerate(row))}</tr>" for row in rows]
    told = f'<p class="cap">{caption}</p>' if caption else ""
    table = f'<table class="{style}"><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return told + scroll_html(table, escape(caption) or "table", tall=len(lines) > TALL)


def scroll_html(inside: str, label: str, tall: bool = False) -> str:
    """What may be wider than the page, or `tall`: a region that scrolls, also by keys."""
    return f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="region" aria-label="{label}">{inside}</div>'


def verdict_html(style: str, words: str) -> str:
    """Something that is "good", in "doubt" or "bad"; `words` are HTML."""
    return f'<p class="check {style}"><span aria-hidden="true">{"✓" if style == "good" else "!"}</span> {words}</p>'


def check_html(words: str, defect: float, bound: float = 1e-9) -> str:
    """A computed check with its result; `words` are HTML."""
    return verdict_html("good" if defect <= bound else "doubt", f"{words}: {scientific(defect)} relative difference.")


def scientific(x: float) -> str:
    """A small number for readers, as HTML.

    >>> scientific(3.2e-16)
    '3 × 10<sup>−16</sup>'
    """
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else "not finite"
    mantissa, exponent = f"{x:.0e}".split("e")
    return f"{mantissa} × 10<sup>{int(exponent)}</sup>".replace("-", "−")


def number(x: float, digits: int = 4) -> str:
    """A number for a table, with a true minus.

    >>> number(-0.125), number(float("inf")), number(0.0)
    ('−0.125', '∞', '0')
    """
    if math.isinf(x):
        return "−∞" if x < 0 else "∞"
    return f"{x + 0.0:.{digits}g}".replace("-", "−")


def counted(count: int, what: str) -> str:
    """So many of them.

    >>> counted(1, "joint"), counted(2, "joint")
    ('1 joint', '2 joints')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def vector(values: Any, digits: int = 4) -> str:
    """Numbers in parentheses."""
    return "(" + ", ".join(number(float(x), digits) for x in np.asarray(values).flat) + ")"
