"""The directive `growth-chart counts|times QUANTITY`: all methods of a quantity, against the number of joints of general arms."""

from functools import cache

import numpy as np
from charts import Series, loglog, nanoseconds
from docutils import nodes
from markdown_tables import markdown_table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dalembert.engine.size import order
from dalembert.formulations import methods
from dalembert.native.kernel import Kernel
from dalembert.studies.complexity import general_chain
from dalembert.studies.timing import seconds

SIZES = {"counts": (2, 3, 4, 6, 8, 10), "times": (2, 4, 6, 8)}
STATES = 256
LEGEND = 250  # width


def count(quantity: str, method: str, n: int) -> float:
    """Operations of the program customized to a general arm of n joints."""
    return general_chain(n).operation_count(quantity, method).total


def time(quantity: str, method: str, n: int) -> float:
    """Nanoseconds of a state in a batch, on one thread."""
    kernel = general_chain(n).compile(quantity, method=method)
    states = np.random.default_rng(n).uniform(-1, 1, (3, STATES, n))
    return seconds(kernel.here if isinstance(kernel, Kernel) else kernel, list(states), spent=0.01) / STATES * 1e9


@cache
def measured(what: str, quantity: str) -> dict[str, list[tuple[int, float]]]:
    """Points (n, count) or (n, nanoseconds) by method."""
    of = {"counts": count, "times": time}[what]
    return {method: [(n, of(quantity, method, n)) for n in SIZES[what]] for method in methods(quantity)}


def labelled(quantity: str, series: Series) -> Series:
    """With the order of growth of the general count."""
    powers = {method: order(quantity, method) for method in series}
    return {f"{method}, n{f'^{powers[method]}' if powers[method] > 1 else ''}": points for method, points in series.items()}


class GrowthChart(SphinxDirective):
    """A chart, and the numbers under it."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """SVG and a table."""
        what, quantity = self.arguments
        if what not in SIZES:
            raise self.error(f"growth-chart: {what!r} is not one of {', '.join(SIZES)}")
        series = measured(what, quantity)
        title, ticks = {"counts": ("Operations", lambda power: f"{10**power:,}"), "times": ("Time of a state", nanoseconds)}[what]
        svg = loglog(labelled(quantity, series), f"{title} against the number of joints: {quantity}", ticks, LEGEND)
        rows = [["method", *(f"n = {n}" for n in SIZES[what])]]
        rows += [[f"{{ref}}`{m} <{m}>`", *(f"{y:,.0f}" for _, y in points)] for m, points in series.items()]
        return [nodes.raw("", f'<div class="chart">{svg}</div>', format="html"), *self.parse_text_to_nodes(markdown_table(rows))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("growth-chart", GrowthChart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
