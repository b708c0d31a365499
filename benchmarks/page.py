"""The page of figures beside their bars, docs/bars.md, from the bench.json of a whole `make bench`: python benchmarks/page.py."""

import json
from itertools import groupby
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/bars.md"
HEAD = """# Figures beside their bars

Every figure that has a bar to reach, as one run of `make bench` found it: dalembert {dalembert} beside Pinocchio {pinocchio},
{day}, on {machine}.
{met} of {all} bars are met{missed}.
Machines are noisy: ratios (x) count, and a figure near its bar may be on either side of it the next time. *The bound* is what the
multiplications alone would take; [benchmarks](benchmarks.md) says how everything is measured.
`make bench && python benchmarks/page.py` makes this page.
"""


def page(found):
    """Markdown: a table for each heading, with the figures that have a bar."""
    barred = [figure for figure in found["figures"] if figure["bar"]]
    missed = [figure for figure in barred if not figure["met"]]
    telling = "; those that are not are set in bold" if missed else ""
    lines = [HEAD.format(**found, met=len(barred) - len(missed), all=len(barred), missed=telling)]
    for heading, group in groupby(barred, lambda figure: figure["heading"]):
        lines += [f"## {heading[0].upper()}{heading[1:]}\n", "| | measured | bar |", "|---|---:|---|"]
        for figure in group:
            size = figure["value"]
            value = f"{f'{size:,.0f}' if size >= 1000 else f'{size:.3g}'} {figure['unit']}".strip()
            lines.append(f"| {figure['name']} | {value if figure['met'] else f'**{value}**'} | {figure['bar']} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    text = page(json.loads(Path("bench.json").read_text()))
    beside = PAGE.with_suffix(".tmp")
    beside.write_text(text)
    beside.replace(PAGE)
    print(f"written to {PAGE.relative_to(Path.cwd())}")
