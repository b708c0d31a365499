"""Charts with two logarithmic axes, as SVG; needs no Sphinx. The greys are readable on white and on black."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, log10

COLORS = (
    "#3572b0",
    "#c4622d",
    "#2e8b57",
    "#8e5bb5",
    "#b08a1e",
    "#1f9aa8",
    "#c2417c",
    "#6b7f2a",
    "#7a6a5a",
    "#4a64d0",
    "#d0483e",
    "#a0527a",
    "#5f8a8b",
    "#94413b",
    "#556b9c",
    "#3f7d4f",
    "#9a7fd1",
    "#b5651d",
)
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 400, 70, 20, 50
GREY = "#808080"

Series = Mapping[str, Sequence[tuple[int, float]]]


def nanoseconds(power: int) -> str:
    """10^power ns, in words."""
    return f"{10 ** (power % 3)} {('ns', 'us', 'ms')[power // 3]}"


def loglog(series: Series, title: str, ticks: Callable[[int], str], legend: int = 0) -> str:
    """Lines through points (n, value) by label; `ticks` writes powers of ten. The legend is inside, or `legend` wide at the right.

    At the right it has the order in which the lines end.
    """
    points = [point for line in series.values() for point in line]
    (low, high), (least, most) = ((log10(min(x)), log10(max(x))) for x in zip(*points, strict=True))
    if legend:
        least, most = floor(least), ceil(most)
    right, bottom = WIDTH - 20, HEIGHT - BOTTOM

    def place(n: float, value: float) -> tuple[float, float]:
        u, v = (log10(n) - low) / (high - low), (log10(value) - least) / (most - least)
        return LEFT + u * (right - LEFT), bottom - v * (bottom - TOP)

    def text(x: float, y: float, content: object, anchor: str = "middle", color: str = GREY) -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{content}</text>')

    size = f'viewBox="0 0 {WIDTH + legend} {HEIGHT}" font-family="sans-serif" font-size="13" role="img"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<title>{title}</title>"]
    for n in sorted({n for n, _ in points}):
        x, _ = place(n, 10**least)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{GREY}" stroke-opacity=".25"/>')
        text(x, bottom + 18, n)
    for power in range(ceil(least), floor(most) + 1):
        _, y = place(10**low, 10.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{GREY}" stroke-opacity=".25"/>')
        text(LEFT - 8, y + 4, ticks(power), "end")
    text((LEFT + right) / 2, HEIGHT - 8, "joints")
    colors = dict(zip(series, COLORS, strict=False))
    labels = sorted(series, key=lambda label: -series[label][-1][1]) if legend else list(series)
    for k, label in enumerate(labels):
        line, color = [place(*point) for point in series[label]], colors[label]
        parts.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in line)}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in line]
        text(right + 12 if legend else LEFT + 12, TOP + 20 * (k + 1), label, "start", color)
    return "\n".join([*parts, "</svg>", ""])
