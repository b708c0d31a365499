"""Figures and their bars, a line each."""

from typing import Any

rows: list[dict[str, Any]] = []


def report(name, value, unit, bar=None, better=None):
    """One line: the figure, and whether it reaches its bar."""
    met = None if bar is None else value >= bar if better == "more" else value <= bar
    met = None if met is None else bool(met)
    rows.append({"name": name, "value": float(value), "unit": unit, "bar": bar, "met": met})
    wanted = "" if bar is None else f"{'>=' if better == 'more' else '<='} {bar:g}"
    print(f"  {name:58} {value:10.4g} {unit:9} {wanted:10} {'' if met is None else 'ok' if met else 'MISSED'}", flush=True)


def section(title, figures, better):
    """The lines of a module: name, value, unit, bar if there is one, and which side of it is better, if not the given one."""
    print(title)
    for name, value, unit, bar, *side in figures():
        report(name, value, unit, bar, *(side or [better]))
