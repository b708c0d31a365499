"""How cost grows with the number of joints: time of a state in a batch, compile time, and the powers of n that fit them.

`python benchmarks/growth.py [picture.svg]` prints a table and draws it, for the documentation.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from timing import best

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from charts import loglog, nanoseconds

import dalembert as da

SIZES = (5, 7, 10, 20, 30, 50, 100, 200)
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
BATCH = 256


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
    """Time of a state against n, both axes logarithmic, as SVG."""
    series = {f"{q.replace('_', ' ')}, n^{exponent(of):.2f}": [(n, t * 1e9) for n, t, *_ in of] for q, of in rows.items()}
    return loglog(series, "Time of a state in a batch against the number of joints", nanoseconds)


if __name__ == "__main__":
    os.environ["DALEMBERT_CACHE"] = "off"  # compile times are wanted
    result = growth()
    for quantity, rows in result.items():
        for n, seconds, compiling, nodes in rows:
            print(f"{quantity:18} {n:4} joints: {nodes:7} nodes, {seconds * 1e9:10.1f} ns a state, first call {compiling:6.2f} s")
        print(f"{quantity:18} grows with n^{exponent(rows):.2f}, its compile time with n^{exponent(rows, 2):.2f}")
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(picture(result))
