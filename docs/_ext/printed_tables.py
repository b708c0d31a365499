"""The directive `printed-table NAME`: a table of operation counts that a source prints, row by row, beside our own."""

from collections.abc import Callable
from functools import cache

import numpy as np
from counts import general_growth, link, polynomial
from errata_tables import plain
from markdown_tables import markdown_table
from named_tables import NamedTable
from rows import OTHER, counted, together
from sphinx.application import Sphinx

import dalembert as da
from dalembert.studies.complexity import PRINTED as ALL_PRINTED
from dalembert.studies.complexity import TABLE_2, TABLE_3, general_chain, printed, special_chain
from dalembert.studies.tables import (
    FGL_3_1,
    FGL_3_4,
    FGL_3_5,
    NORMALIZED_STAGES,
    SHARED_STAGES,
    UNNORMALIZED_STAGES,
    WALKER_ORIN_4,
    Polynomial,
    Row,
    Stage,
    plus,
    total,
    value,
)
from dalembert.trace.count import OperationCount

N = 6  # joints of the arms that are compared
PLUS = "\u00a0+\u00a0"  # one line


def pair(mul: Polynomial, add: Polynomial, n: int = N) -> str:
    """Multiplications + additions at n."""
    return f"{int(value(mul, n)):,}{PLUS}{int(value(add, n)):,}"


def own(count: OperationCount) -> str:
    """Ours, divisions and square roots among the multiplications as in Kozlowski's tables."""
    return f"{count.mul + count.div + count.sqrt:,}{PLUS}{count.add:,}"


def book(rows: tuple[Row, ...], method: str) -> str:
    """A table of Fu, Gonzalez and Lee: printed, its equations counted, and ours; then why they differ."""
    ours = counted(method, general_chain(N))
    table = [["row", "printed: multiplications", "additions", f"at n = {N}", "its equations", "ours"]]
    for row in rows:
        found = own(ours[row.label]) if row.label in ours else "in the row above"
        both = pair(row.mul, row.add), pair(*row.counted)
        table.append([plain(row.label), polynomial(row.mul), polynomial(row.add), *both, found])
    sums, literal = total(rows), [plus(*column) for column in zip(*(row.counted for row in rows), strict=True)]
    table.append(["joint forces from these", "", "", "", "", own(ours[OTHER])])
    table.append(["total", *map(polynomial, sums), pair(*sums), pair(*literal), own(together(list(ours.values())))])
    notes = [f"- {plain(row.label)}: {plain(row.note)}." for row in rows if row.note]
    return "\n".join([markdown_table(table), "", *notes])


def table_3_5() -> str:
    """Printed totals beside ours."""
    table = [["method", "printed: multiplications", "additions", f"at n = {N}", "our source, general", "customized"]]
    for method, sums in FGL_3_5.items():
        grown = general_growth(method, "inverse_dynamics")
        count = general_chain(N).operation_count("inverse_dynamics", method)
        table.append([link(method), *map(polynomial, sums), pair(*sums), pair(grown.mul, grown.add), own(count)])
    return markdown_table(table)


def kozlowski_1() -> str:
    """The rates of the operators: formulas, and the largest error of ours against a complex step."""
    formulas = {
        "E_Phi": (
            r"\mathcal E_\Phi\Omega_\delta",
            r"\dot{\mathcal E}_\Phi + [\Omega,\mathcal E_\Phi]",
            "printed with a $\\Phi$ too many (E-K7)",
        ),
        "Phi": (r"\Phi\mathcal E_\Phi\Omega_\delta\Phi", r"\dot\Phi + \Phi[\Omega,\mathcal E_\Phi]\Phi", "as printed"),
        "H": ("0", r"-H\Omega", "as printed"),
        "M": ("0", r"[\Omega, M]", "as printed"),
        "D": (r"H\dot PH^*", r"H\dot PH^*", "as printed"),
        "G": (r"\bar\tau\dot PH^*D^{-1}", r"\dot G + \Omega G", "as printed"),
        "tau_bar": (r"-\dot GH", r"\dot{\bar\tau} + [\Omega,\bar\tau]", "as printed"),
        "E_Psi": (
            r"\mathcal E_\Psi(-\dot PH^*D^{-1}H + \Omega_\delta\bar\tau)",
            r"\dot{\mathcal E}_\Psi + [\Omega,\mathcal E_\Psi]",
            "as printed",
        ),
    }
    robot, step = da.random_robot(9, "RPRRP"), 1e-30
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, robot.n))
    rates = robot.spatial_operator_rates(q, qd, backend="numpy")
    later = robot.spatial_operators(q + 1j * step * qd, backend="numpy")
    table = [["operator", "local derivative", "inertial derivative", "", "error of ours"]]
    for name, (local, inertial, note) in formulas.items():
        error = np.abs(getattr(rates, name) - getattr(later, name).imag / step).max() / np.abs(getattr(later, name).real).max()
        table.append([f"`{name}`", f"${local}$", f"${inertial}$", note, f"{error:.0e}"])
    return markdown_table(table)


WHY = {
    "P": "products of whole 6x6 matrices; the paper turns inertias by two planar rotations",
    "G": "one entry of G is 1",
    "V+": "ours moves and turns at once, so that V+ holds most of V",
    "V": "see V+",
    "z": "ours moves and turns at once, so that z holds z+",
    "Psi": "known zeros and ones are left out",
    "b": "regrouped inertias have fewer entries; the weight is in ours",
    "X": "with the additions of X + X^*",
    "lambda-dot": "half of the symmetric product of whole matrices, which no planar rotations shorten",
    "theta-dot": "ours goes from joint velocities to quasi-velocities",
    "z+": "see z",
    "y": "products of P and Omega with V, not of P Omega",
    "C": "with the square roots of D",
    "epsilon": "with nu-dot",
    "nu-dot": "see epsilon",
}


def kozlowski_2(stages: tuple[Stage, ...], method: str) -> str:
    """Table 2 of one form, for general arms and for special axes."""
    general, special = (counted(method, chain(N)) for chain in (general_chain, special_chain))
    rows = (*SHARED_STAGES, *stages)
    table = [["row", f"printed, n = {N}", "ours", "special axes: printed", "ours", "difference"]]
    for row in rows:
        mine = [own(found[row.label]) if row.label in found else "" for found in (general, special)]
        theirs = [pair(row.mul, row.add), pair(row.special_mul, row.special_add)]
        why = "" if mine == theirs else plain(WHY[row.label])
        table.append([plain(row.label), theirs[0], mine[0], theirs[1], mine[1], why])
    labels = [row.label for row in rows]
    sums = [plus(*(getattr(row, name) for row in rows)) for name in ("mul", "add", "special_mul", "special_add")]
    alike = [own(together([found[x] for x in labels if x in found])) for found in (general, special)]
    table.append(["these rows together", pair(*sums[:2]), alike[0], pair(*sums[2:]), alike[1], ""])
    beyond = [x for x in general if x not in labels and x != OTHER]
    table += [[plain(x), "", own(general[x]), "", own(special[x]), "not in the table"] for x in beyond]
    every = [own(together(list(found.values()))) for found in (general, special)]
    table.append(["all", "", every[0], "", every[1], ""])
    return markdown_table(table)


def kozlowski_3() -> str:
    """Table 3: totals at 6 and 12 joints."""
    table = [["method", "printed", "n = 6", "n = 12", "ours, customized: n = 6", "n = 12", ""]]
    notes = {
        "": "not described: a mass matrix and a linear solution, as in the third method; it is not Park and Lynch's GetJointAccel",
        "articulated_body": "regrouped inertias and shared products; the same recursion",
        "brandl": "regrouped inertias and shared products; the same recursion",
        "walker_orin_1": "inverse dynamics is customized, for unit accelerations too",
        "walker_orin_2": "inverse dynamics is customized, for unit accelerations too",
        "walker_orin_3": "printed with N^3/6 (E-K19); the rest as for the first two",
        "kalman": "products of whole 6x6 matrices, which the paper avoids by planar rotations",
        "diagonalized_normalized": "table 2; ours up to the joints' accelerations",
        "diagonalized_unnormalized": "table 2; ours up to the joints' accelerations",
    }
    for x in (x for x in ALL_PRINTED if x.label.startswith((TABLE_3, f"{TABLE_2}, general"))):
        table.append([f"`{x.method}`" if x.method else x.label.rpartition(", ")[0].rpartition(", ")[2], polynomial(x.total)])
        table[-1] += [f"{int(value(x.total, n)):,}" for n in (6, 12)]
        table[-1] += [
            f"{general_chain(n).operation_count('forward_dynamics', x.method).total:,}" if x.method else "" for n in (6, 12)
        ]
        table[-1].append(plain(notes.get(x.method, "")))
    fourth = [f"{general_chain(n).operation_count('forward_dynamics', 'walker_orin_4').total:,}" for n in (6, 12)]
    table.append(
        ["`walker_orin_4`", "see E-K20", *(f"{x:,}" for x in WALKER_ORIN_4), *fourth, "the printed polynomial gives other numbers"]
    )
    return markdown_table(table)


def special_axes() -> str:
    """Polynomials of arms with special axes, beside such an arm."""
    table = [["method", "printed", f"n = {N}", "ours, customized"]]
    for x in (x for x in ALL_PRINTED if x.special):
        count = special_chain(N).operation_count(x.quantity, x.method)
        table.append([f"`{x.method}`", f"{polynomial(x.mul)}; {polynomial(x.add)}", pair(x.mul, x.add), own(count)])
    return markdown_table(table)


def silver() -> str:
    """The ratios of section 1.4, and ours by three ways of counting."""
    names = {"4x4": "recursive_lagrange_4x4", "3x3": "recursive_lagrange_3x3", "direct": "uicker_kahn", "Luh": "newton_euler"}
    literal = sum(value(column, N) for row in FGL_3_4 for column in row.counted)
    general = {k: float(value(general_growth(m, "inverse_dynamics").total, N)) for k, m in names.items()}
    book_rows = general | {"Luh": float(literal), "direct": float(value(printed("lagrange_euler", "inverse_dynamics")[0].total, N))}
    customized = {k: float(general_chain(N).operation_count("inverse_dynamics", m).total) for k, m in names.items()}
    table = [["ratio", "Silver", "our sources, general", "against tables 3.1 and 3.3", "our programs, customized"]]
    for label, said, above, below in (
        ("4x4 recursion to Newton-Euler", "5", "4x4", "Luh"),
        ("(1.2) directly to 4x4 recursion", "15", "direct", "4x4"),
        ("4x4 to 3x3 recursion", "2", "4x4", "3x3"),
        ("3x3 recursion to Newton-Euler", "2 1/2", "3x3", "Luh"),
    ):
        table.append([label, said, *(f"{x[above] / x[below]:.1f}" for x in (general, book_rows, customized))])
    return markdown_table(table)


TABLES: dict[str, Callable[[], str]] = {
    "fgl-3.1": lambda: book(FGL_3_1, "lagrange_euler"),
    "fgl-3.4": lambda: book(FGL_3_4, "newton_euler"),
    "fgl-3.5": table_3_5,
    "kozlowski-1": kozlowski_1,
    "kozlowski-2-normalized": lambda: kozlowski_2(NORMALIZED_STAGES, "diagonalized_normalized"),
    "kozlowski-2-unnormalized": lambda: kozlowski_2(UNNORMALIZED_STAGES, "diagonalized_unnormalized"),
    "kozlowski-3": kozlowski_3,
    "special-axes": special_axes,
    "silver": silver,
}


@cache
def text(name: str) -> str:
    """The Markdown of a table."""
    return TABLES[name]()


class PrintedTable(NamedTable):
    """One table of the counts page."""

    known = TABLES
    text = staticmethod(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("printed-table", PrintedTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
