"""Line charts over time as inline SVG. Colours and dashes are classes, so that the page's style sheet decides them."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array

WIDTH, HEIGHT = 360, 214
LEFT, RIGHT, TOP, BOTTOM = 54, 10, 8, 42  # of the plot, in units of the view box: where it is narrowest, 1.2 to a pixel
FINE = 0.12  # units by which a line may miss its points


class Series(NamedTuple):
    """One line: what it is, its values (T,), its class, and its name in a table of states, if it belongs there."""

    name: str
    values: Array
    style: str
    column: str = ""


class Panel(NamedTuple):
    """One chart: a title, the unit of its values, and its lines."""

    title: str
    unit: str
    series: tuple[Series, ...]
    limit: float = np.inf  # of the absolute values: drawn where it is near
    over: str = "time, s"  # what its values are shown over

    @property
    def size(self) -> float:
        """The largest finite value that it shows."""
        return max((float(np.abs(s.values[np.isfinite(s.values)]).max(initial=0.0)) for s in self.series), default=0.0)


NEAR = 2.5  # times the largest value: limits beyond are not drawn


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from low to high, at most about `most`.

    >>> ticks(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    >>> ticks(-0.3, 1.1)
    [0.0, 0.5, 1.0]
    """
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def span(panel: Panel, least: float = 0.0) -> tuple[float, float]:
    """The range of values to show: it contains 0, and what is smaller than `least` is rounding and looks flat."""
    if panel.size <= least:
        return -1.0, 1.0
    values = np.concatenate([s.values[np.isfinite(s.values)] for s in panel.series])
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if panel.limit <= NEAR * panel.size:
        low, high = (min(low, -panel.limit) if low < 0 else low), (max(high, panel.limit) if high > 0 else high)
    margin = 0.06 * (high - low)
    return low - margin * (low < 0), high + margin * (high > 0)


def shown(x: float) -> str:
    """A tick's label: short, with a true minus.

    >>> shown(-1200.0), shown(0.25)
    ('−1200', '0.25')
    """
    return f"{x:.6g}".replace("-", "−")


def power_of(low: float, high: float) -> int:
    """The power of ten to take out of the labels of an axis, so that they stay short; 0 for everyday sizes.

    >>> power_of(0.0, 0.0004), power_of(-3.0, 250.0), power_of(0.0, 2e6)
    (-4, 0, 6)
    """
    power = math.floor(math.log10(max(abs(low), abs(high)) / 1.06))
    return 0 if -2 <= power < 4 else power


def raised(power: int) -> str:
    """Ten to a power, in letters that need no markup.

    >>> raised(-4)
    '×10⁻⁴'
    """
    return "×10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] if d != "-" else "⁻" for d in str(power))


def line_path(x: Array, y: Array) -> str:
    """SVG path data through the points, lifted where a value is not finite; points that nobody would miss are left out."""
    there = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(int)))
    parts: list[str] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        kept = thinned(x[start:end], y[start:end])
        parts += [f"{'L' if k else 'M'}{x[start + i]:.1f} {y[start + i]:.1f}" for k, i in enumerate(kept)]
    return "".join(parts)


def thinned(x: Array, y: Array, most: float = FINE) -> list[int]:
    """Which points of a line to keep, so that none is further than `most` from it (Douglas and Peucker's way, upwards only).

    >>> thinned(np.arange(5.0), np.array([0.0, 1.0, 2.0, 1.0, 0.0]))
    [0, 2, 4]
    """
    kept, waiting = {0, len(x) - 1}, [(0, len(x) - 1)]
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        inner = slice(a + 1, b)
        straight = y[a] + (y[b] - y[a]) * (x[inner] - x[a]) / (x[b] - x[a])
        miss = np.abs(y[inner] - straight)
        worst = int(miss.argmax())
        if miss[worst] > most:
            middle = a + 1 + worst
            kept.add(middle)
            waiting += [(a, middle), (middle, b)]
    return sorted(kept)


def described(panel: Panel) -> str:
    """The chart in words, for those who cannot see it."""
    lines = [
        f"{s.name} from {np.nanmin(s.values):.3g} to {np.nanmax(s.values):.3g}" for s in panel.series if np.isfinite(s.values).any()
    ]
    return f"{panel.title}, {panel.unit}, over {panel.over.split(',')[0]}: " + "; ".join(lines)


class Box(NamedTuple):
    """The ends of a chart's axes; values that are shown without a power of ten."""

    start: float
    end: float
    low: float
    high: float
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def right(self) -> float:
        """Where the plot ends, in units of the view box."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """Where the plot ends below."""
        return self.height - BOTTOM

    def along(self, x: Any) -> Any:
        """Where values of the horizontal axis are."""
        return LEFT + (x - self.start) / (self.end - self.start) * (self.right - LEFT)

    def across(self, y: Any) -> Any:
        """Where values of the vertical axis are."""
        return self.bottom - (y - self.low) / (self.high - self.low) * (self.bottom - TOP)

    @property
    def power(self) -> int:
        """The power of ten that is taken out of the vertical labels."""
        return power_of(self.low, self.high)


def axes(box: Box, over: str) -> str:
    """Both axes with their labels, and what is shown over the horizontal one."""
    drawn: list[str] = []
    for value in ticks(box.low, box.high):
        y = box.across(value)
        style = "zero" if value == 0 else "grid"
        drawn.append(f'<line class="{style}" x1="{LEFT}" x2="{box.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text x="{LEFT - 6}" y="{y + 5:.1f}" text-anchor="end">{shown(value / 10.0**box.power)}</text>')
    for value in ticks(box.start, box.end, 5):
        at = box.along(value)
        drawn.append(f'<line class="tick" x1="{at:.1f}" x2="{at:.1f}" y1="{box.bottom}" y2="{box.bottom + 4}"/>')
        drawn.append(f'<text x="{at:.1f}" y="{box.bottom + 19}" text-anchor="middle">{shown(value)}</text>')
    drawn.append(f'<text class="unit" x="{box.right}" y="{box.height - 4}" text-anchor="end">{escape(over)}</text>')
    return "".join(drawn)


def line_chart(panel: Panel, time: Array, least: float = 0.0) -> str:
    """The chart as an <svg>, its labels without their power of ten; its data attributes hold the axes for the page's script."""
    low, high = span(panel, least)
    start, end = float(time[0]), float(time[-1])
    box = Box(start, end, low, high)
    limits = [
        f'<line class="limit" x1="{LEFT}" x2="{box.right}" y1="{box.across(value):.1f}" y2="{box.across(value):.1f}"/>'
        for value in (-panel.limit, panel.limit)
        if low < value < high
    ]
    lines = [
        f'<path class="line {s.style}" '
        f'd="{line_path(box.along(time), box.bottom - _share(s.values, low, high) * (box.bottom - TOP))}"/>'
        for s in panel.series
    ]
    places = f'data-box="{LEFT} {box.right} {TOP} {box.bottom}" data-span="{start:.6g} {end:.6g} {low:.6g} {high:.6g}"'
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(described(panel))}" {places}>'
        f'<g class="axes" aria-hidden="true">{axes(box, panel.over)}{"".join(limits)}</g>{"".join(lines)}</svg>'
    )


def _share(values: Array, low: float, high: float) -> Array:
    return np.clip((values - low) / (high - low), -0.02, 1.02)


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """A legend of (name, style) pairs, each with a piece of its line."""
    piece = '<svg class="key" viewBox="0 0 28 8" aria-hidden="true"><path class="line {}" d="M1 4H27"/></svg>'
    items = (f"<li>{piece.format(style)}{escape(name)}</li>" for name, style in entries)
    return f'<ul class="legend">{"".join(items)}</ul>'
