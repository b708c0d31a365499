"""The table of all formulations on this robot."""

import math
from collections.abc import Callable
from html import escape
from typing import Any

from dalembert.robots import Robot
from dalembert.studies.compare import Comparison, Row, compare
from dalembert.studies.complexity import value
from dalembert.studies.report.figures import Section, scientific, table_html

TITLE = "All formulations compared"
PRINTED_HEAD = "total printed in the sources"
HEAD = ["method", "error", "ns per state", "", "customized mul", "add", "general mul", "add", "growth", PRINTED_HEAD]


def comparison(robot: Robot, compared: Comparison | None = None, progress: Callable[[int, int], Any] | None = None) -> Section:
    """The results of da.compare: one table for each quantity."""
    compared = compared or compare(robot, progress=progress)
    told = (
        "<p>All formulations give the same numbers at different costs. Errors are beside sixty digits, the largest at random "
        "states, relative to the size of each entry over these states. Operations are those of one evaluation: customized to this "
        "robot, and general, as the source is written; totals include divisions and square roots. Nanoseconds are those of one "
        f"state in a batch of {compared.states}, by one thread on the machine that made this page; their bars are on a "
        "logarithmic scale.</p>"
    )
    tables = "".join(table(compared, quantity) for quantity in compared.quantities)
    remarks = "".join(f'<p class="note">{escape(x[:1].upper() + x[1:])}.</p>' for x in compared.remarks)
    return Section("comparison", TITLE, (told if compared.rows else "") + tables + remarks)


def table(compared: Comparison, quantity: str) -> str:
    """The formulations of one quantity; the fastest stands out."""
    rows = [row for row in compared.rows if row.quantity == quantity]
    slowest, fastest = max(r.nanoseconds for r in rows), min(r.nanoseconds for r in rows)
    printed = any(r.printed for r in rows)
    keep = [k for k, head in enumerate(HEAD) if head != PRINTED_HEAD or printed]
    cells = [_cells(row, compared.n, _share(row.nanoseconds, fastest, slowest), row.nanoseconds == fastest) for row in rows]
    words = quantity.replace("_", " ").capitalize()
    return table_html(
        [HEAD[k] for k in keep],
        ([line[k] for k in keep] for line in cells),
        text=(0, 3, 9),
        caption=words,
        style="compared",
    )


def _share(x: float, least: float, most: float) -> float:
    """The length of a bar, 0 to 1, on a logarithmic scale that begins a decade below the least."""
    return math.log10(10 * x / least) / math.log10(10 * most / least)


def _cells(row: Row, n: int, share: float, best: bool) -> list[str]:
    counts = (str(x) for c in (row.customized, row.general) for x in (c.mul, c.add))
    printed = "<br>".join(f"{_whole(value(p.total, n))} <span class=small>{escape(p.label)}</span>" for p in row.printed)
    power = "n" if row.order == 1 else f"n<sup>{row.order}</sup>"
    speed = f"{row.nanoseconds:,.0f}" + ("" if row.backend == "native" else "*")
    bar = f'<svg class="bar" viewBox="0 0 100 8" aria-hidden="true"><rect width="{100 * share:.1f}" height="8" rx="2"/></svg>'
    name = f"{escape(row.method)}{' <span class=tag>fastest</span>' if best else ''}"
    return [name, scientific(row.error) if row.error else "–", speed, bar, *counts, power, printed]


def _whole(x: Any) -> str:
    return f"{float(x):,.6g}"
