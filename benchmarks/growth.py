"""How cost grows with the number of joints: time of a state in a batch, compile time, and the powers of n that fit them.

`python benchmarks/growth.py [picture.svg]` prints a table and draws it, for the documentation.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from timing import best

import dalembert as da

SIZES = (5, 7, 10, 20, 30, 50, 100, 200)
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
COLORS = ("#3572b0", "#c4622d", "#2e8b57")
BATCH = 256
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 20, 20, 50


def compiled(quantity, n):
    """A row of `growth` whose time is not known yet, and a call of a batch; None where a general arm of n joints is too large."""
    arm, rng = da.random_robot(n, "R" * n), np.random.default_rng(n)
    start = time.perf_counter()
    kernel = arm.compile(quantity)
    seconds = time.perf_counter() - start
    if kernel.backend != "native":
        return None
    arrays = [rng.uniform(-1, 1, (BATCH, *v.shape)) for v in kernel.inputs]
    out = kernel(*arrays)
    return [n, np.inf, seconds, kernel.size], lambda: kernel(*arrays, out=out)


def growth(sizes=SIZES, passes=5):
    """{quantity: rows of n, seconds of a state, seconds to trace and compile, nodes}, on one thread.

    Everything is timed several times, far apart: a busy minute of the machine would otherwise bend the lines.
    """
    da.set_threads(1)
    made = {quantity: [x for n in sizes if (x := compiled(quantity, n))] for quantity in QUANTITIES}
    for _ in range(passes):
        for row, call in (x for each in made.values() for x in each):
            row[1] = min(row[1], best(call, rounds=40) / BATCH)
    da.set_threads(None)
    return {quantity: [tuple(row) for row, _ in each] for quantity, each in made.items()}


def exponent(rows, column=1, least=20):
    """The power of n that fits a column of the rows from `least` joints on, where it no longer changes."""
    n, values = np.array([(row[0], row[column]) for row in rows if row[0] >= least]).T
    return float(np.polyfit(np.log(n), np.log(values), 1)[0])


def picture(rows):
    """Time of a state against n, both axes logarithmic, as SVG; its greys are readable on white and on black."""
    points = [(n, t * 1e9) for of in rows.values() for n, t, *_ in of]
    spans = [(np.log10(min(x)), np.log10(max(x))) for x in zip(*points, strict=True)]

    def place(n, ns):
        u, v = ((np.log10(x) - low) / (high - low) for x, (low, high) in zip((n, ns), spans, strict=True))
        return LEFT + u * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - v * (HEIGHT - TOP - BOTTOM)

    def text(x, y, content, anchor="middle", color="#808080"):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{content}</text>')

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        "<title>Time of a state in a batch against the number of joints</title>",
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for n in sorted({n for n, _ in points}):
        x, _ = place(n, 1)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#808080" stroke-opacity=".25"/>')
        text(x, bottom + 18, n)
    for power in range(int(np.ceil(spans[1][0])), int(spans[1][1]) + 1):
        _, y = place(1, 10.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#808080" stroke-opacity=".25"/>')
        text(LEFT - 8, y + 4, f"{10 ** (power % 3)} {('ns', 'us', 'ms')[power // 3]}", "end")
    text((LEFT + right) / 2, HEIGHT - 8, "joints")
    for k, ((quantity, of), color) in enumerate(zip(rows.items(), COLORS, strict=True)):
        line = [place(n, t * 1e9) for n, t, *_ in of]
        parts.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in line)}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in line]
        text(LEFT + 12, TOP + 20 * (k + 1), f"{quantity.replace('_', ' ')}, n^{exponent(of):.2f}", "start", color)
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    os.environ["DALEMBERT_CACHE"] = "off"  # compile times are wanted
    result = growth()
    for quantity, rows in result.items():
        for n, seconds, compiling, nodes in rows:
            print(f"{quantity:18} {n:4} joints: {nodes:7} nodes, {seconds * 1e9:10.1f} ns a state, first call {compiling:6.2f} s")
        print(f"{quantity:18} grows with n^{exponent(rows):.2f}, its compile time with n^{exponent(rows, 2):.2f}")
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(picture(result))
