"""The directive `growth-chart counts` or `growth-chart times`: inverse dynamics of general arms against the number of joints."""

from functools import cache

import numpy as np
from charts import Series, loglog, nanoseconds
from docutils import nodes
from markdown_tables import markdown_table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dalembert.engine.size import order
from dalembert.native.kernel import Kernel
from dalembert.studies.complexity import general_chain
from dalembert.studies.timing import seconds

QUANTITY = "inverse_dynamics"
METHODS = (
    "uicker_kahn",
    "lagrange_euler",
    "recursive_lagrange_4x4",
    "recursive_lagrange_3x3",
    "newton_euler",
    "angular_velocity_lagrange",
    "generalized_dalembert",
    "spatial_operator",
    "stacked_operators",
    "lie_group",
    "lie_closed_form",
)
SIZES = {"counts": (2, 3, 4, 6, 8, 10), "times": (2, 4, 6, 8)}
STATES = 256
LEGEND = 250  # width


def count(method: str, n: int) -> float:
    """Operations of the program customized to a general arm of n joints."""
    return general_chain(n).operation_count(QUANTITY, method).total


def time(method: str, n: int) -> float:
    """Nanoseconds of a state in a batch, on one thread."""
    kernel = general_chain(n).compile(QUANTITY, method=method)
    states = np.random.default_rng(n).uniform(-1, 1, (3, STATES, n))
    return seconds(kernel.here if isinstance(kernel, Kernel) else kernel, list(states), spent=0.01) / STATES * 1e9


@cache
def measured(what: str) -> dict[str, list[tuple[int, float]]]:
    """Points (n, count) or (n, nanoseconds) by method."""
    of = {"counts": count, "times": time}[what]
    return {method: [(n, of(method, n)) for n in SIZES[what]] for method in METHODS}


def labelled(series: Series) -> Series:
    """With the order of growth of the general count."""
    powers = {method: order(QUANTITY, method) for method in series}
    return {f"{method}, n{f'^{powers[method]}' if powers[method] > 1 else ''}": points for method, points in series.items()}


class GrowthChart(SphinxDirective):
    """A chart, and the numbers under it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """SVG and a table."""
        what = self.arguments[0]
        if what not in SIZES:
            raise self.error(f"growth-chart: {what!r} is not one of {', '.join(SIZES)}")
        series = measured(what)
        title, ticks = {
            "counts": ("Operations of inverse dynamics against the number of joints", lambda power: f"{10**power:,}"),
            "times": ("Time of a state of inverse dynamics against the number of joints", nanoseconds),
        }[what]
        svg = loglog(labelled(series), title, ticks, LEGEND)
        rows = [["method", *(f"n = {n}" for n in SIZES[what])]]
        rows += [[f"{{ref}}`{m} <{m}>`", *(f"{y:,.0f}" for _, y in points)] for m, points in series.items()]
        return [nodes.raw("", f'<div class="chart">{svg}</div>', format="html"), *self.parse_text_to_nodes(markdown_table(rows))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("growth-chart", GrowthChart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
