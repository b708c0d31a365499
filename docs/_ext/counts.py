"""Tables that the build computes: `method-table`, `method-index`, `counts`, `pair-costs`, `fewest`, `instructions`."""

from fractions import Fraction
from functools import cache
from typing import Any

from docutils import nodes
from markdown_tables import markdown_table
from methods import METHODS
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dalembert as da
from dalembert.engine.registry import QUANTITIES
from dalembert.formulations import methods as methods_of
from dalembert.studies.complexity import PRINTED, general_chain, growth, special_chain
from dalembert.studies.tables import value
from dalembert.trace.count import operation_count

COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
general_growth = cache(growth)


def words(quantity: str) -> str:
    """A quantity's name for a sentence."""
    return quantity.replace("_", " ")


def polynomial(coefficients: tuple[Fraction, ...]) -> str:
    """A polynomial in TeX, highest power first."""
    parts: list[str] = []
    for k in reversed(range(len(coefficients))):
        c = coefficients[k]
        if not c:
            continue
        size = abs(c)
        number = str(size) if size.denominator == 1 else rf"\tfrac{{{size.numerator}}}{{{size.denominator}}}"
        power = "" if k == 0 else "n" if k == 1 else f"n^{{{k}}}"
        shown = power if size == 1 and k else f"{number}{power}"
        parts.append((" - " if c < 0 else " + ") + shown if parts else ("-" if c < 0 else "") + shown)
    return f"${''.join(parts) or '0'}$"


class Counts(SphinxDirective):
    """`counts NAME`: what one method computes, how its operations grow, and what its paper prints."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Two small tables."""
        method = self.arguments[0]
        quantities = [q for q in QUANTITIES if method in methods_of(q)]
        if not quantities:
            raise self.error(f"counts: there is no method {method!r}")
        return self.parse_text_to_nodes(text(method, [q for q in quantities if q in COUNTED], quantities))


def text(method: str, counted: list[str], quantities: list[str]) -> str:
    """The Markdown of both tables."""
    entry = METHODS[method]
    parts = [f"`{method}` after {entry.paper}, {entry.equations}. It computes " + ", ".join(f"`{q}`" for q in quantities) + "."]
    if counted:
        rows = [["quantity", "order", "multiplications", "additions", "at n = 6", "customized: general 6R", "PUMA 560"]]
        rows += [count_row(method, q) for q in counted]
        parts.append(markdown_table(rows))
    printed = [p for p in PRINTED if p.method == method and p.quantity in counted]
    if printed:
        rows = [["printed in", "multiplications", "additions", "total at n = 6", "ours, customized to such an arm"]]
        for p in printed:
            both = [polynomial(p.mul), polynomial(p.add)] if p.mul else [f"{polynomial(p.total)} in all", ""]
            ours = (special_chain if p.special else general_chain)(6).operation_count(p.quantity, method).total
            rows.append([p.label, *both, f"{int(value(p.total, 6)):,}", f"{ours:,}"])
        parts.append(markdown_table(rows))
    return "\n\n".join(parts)


def count_row(method: str, quantity: str) -> list[str]:
    """Our own counts of a method."""
    grown = general_growth(method, quantity)
    own = [robot.operation_count(quantity, method) for robot in (general_chain(6), da.robot("puma560"))]
    at_six = value(grown.mul, 6), value(grown.add, 6)
    return [
        f"`{quantity}`",
        f"$n^{{{grown.order}}}$" if grown.order > 1 else "$n$",
        polynomial(grown.mul),
        polynomial(grown.add),
        " + ".join(f"{int(x):,}" for x in at_six),
        *(f"{c.mul:,} + {c.add:,}" for c in own),
    ]


class MethodTable(SphinxDirective):
    """`method-table QUANTITY`: its methods, with page, paper, equations and order of growth."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        quantity = self.arguments[0]
        rows = [["method", "paper", "equations", *(["order", "general 6R", "PUMA 560"] if quantity in COUNTED else [])]]
        for method in methods_of(quantity):
            rows.append([link(method), METHODS[method].paper, METHODS[method].equations])
            if quantity in COUNTED:
                grown = general_growth(method, quantity).order
                totals = (r.operation_count(quantity, method).total for r in (general_chain(6), da.robot("puma560")))
                rows[-1] += ["$n$" if grown == 1 else f"$n^{{{grown}}}$", *(f"{t:,}" for t in totals)]
        return self.parse_text_to_nodes(markdown_table(rows))


class MethodIndex(SphinxDirective):
    """`method-index`: the quantities that are not in a `method-table`, with their methods."""

    def run(self) -> list[nodes.Node]:
        """One table."""
        rows: list[list[Any]] = [["quantity", "methods"]]
        others = (name for name in QUANTITIES if name not in COUNTED and methods_of(name))
        rows += [[f"`{quantity}`", ", ".join(map(link, methods_of(quantity)))] for quantity in others]
        return self.parse_text_to_nodes(markdown_table(rows))


class PairCosts(SphinxDirective):
    """`pair-costs QUANTITY METHOD METHOD ...`: what each further pair of joints takes in long chains."""

    required_arguments = 2
    optional_arguments = 8

    def run(self) -> list[nodes.Node]:
        """One table."""
        quantity, *methods = self.arguments
        rows = [[f"`{quantity}`", "operations for a pair of joints"]]
        rows += [[link(method), f"{pair_cost(quantity, method):,}"] for method in methods]
        return self.parse_text_to_nodes(markdown_table(rows))


class Fewest(SphinxDirective):
    """`fewest QUANTITY`: the three methods with the fewest operations, and the fewest that a source prints for a general arm."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        quantity = self.arguments[0]
        arms = general_chain(6), da.robot("puma560")
        counts = {method: [arm.operation_count(quantity, method) for arm in arms] for method in methods_of(quantity)}
        rows = [[f"`{quantity}`", "general 6R", "PUMA 560"]]
        rows += [
            [link(method), *(f"{c.mul:,} + {c.add:,} = {c.mul + c.add:,}" for c in counts[method])]
            for method in sorted(counts, key=lambda method: counts[method][0].total)[:3]
        ]
        least = min((p for p in PRINTED if p.quantity == quantity and not p.special), key=lambda p: value(p.total, 6))
        rows.append([f"the fewest printed: {least.label}", f"{int(value(least.total, 6)):,}", ""])
        return self.parse_text_to_nodes(markdown_table(rows))


def pair_cost(quantity: str, method: str) -> int:
    """The second difference of the customized counts of general arms: n (n - 1) / 2 pairs of joints, and a part linear in n."""
    before, here, behind = (general_chain(n).operation_count(quantity, method).total for n in (9, 10, 11))
    return before - 2 * here + behind


def link(method: str) -> str:
    """A link to the method's place on its page."""
    return f"{{ref}}`{method} <{method}>`"


class Instructions(SphinxDirective):
    """`instructions`: lines of arm, function, instructions and bytes, counted by `tools/instructions.py`, with our operations."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """One table."""
        rows = [["arm", "function", "operations", "instructions", "calls of `sinf`, `cosf`", "bytes"]]
        for arm, quantity, most, size in (line.split() for line in self.content):
            count = operation_count(da.robot(arm).program(quantity))
            rows.append([arm, f"`{quantity}`", f"{count.total:,}", f"{int(most):,}", str(2 * count.sincos), f"{int(size):,}"])
        return self.parse_text_to_nodes(markdown_table(rows))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("counts", Counts)
    app.add_directive("method-table", MethodTable)
    app.add_directive("method-index", MethodIndex)
    app.add_directive("pair-costs", PairCosts)
    app.add_directive("fewest", Fewest)
    app.add_directive("instructions", Instructions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
