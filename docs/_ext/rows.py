"""Our own operations by the lines of the source that make them, in the rows of the sources' tables.

A row names lines as `module function: text`: the statement of that function that holds the text, or all of it without a text. An
operation of the customized program belongs to the first of these on the way out from where it was recorded.
"""

import ast
import sys
from collections import Counter
from functools import cache
from typing import NamedTuple

from source import SOURCE, path

from dalembert.engine.program import operation_counts_by
from dalembert.robots import Robot
from dalembert.trace.count import OperationCount

OTHER = "other"


class Method(NamedTuple):
    """A formulation whose operations are sorted into rows."""

    quantity: str
    method: str
    rows: dict[str, tuple[str, ...]]


FILTER = {
    "P": ("shared/filter filtered: P[parent] =",),
    "G": ("shared/filter filtered: D[i] =", "shared/filter filtered: G[i] =", "shared/filter filtered: Ps ="),
    "V+": ("shared/filter velocities: carried =",),
    "V": ("shared/filter velocities: V.append",),
    "z": ("shared/filter forces: z[parent] =",),
    "Psi": ("shared/filter filtered: Psi[i] =",),
    "b": ("shared/filter bias",),
    "X": ("shared/filter inertia_rates: rates: list",),
    "lambda-dot": ("shared/filter inertia_rates: rates[parent] =",),
    "theta-dot": ("shared/filter velocities: xi.append",),
    "the matrices X_i": ("shared/filter links",),
}
ROWS = {
    "newton_euler": Method(
        "inverse_dynamics",
        "newton_euler",
        {
            "omega": ("newton_euler outward: w = j.into(w)", "newton_euler outward: w = w + j.rho"),
            "omega-dot": ("newton_euler outward: wd = j.into(wd)", "newton_euler outward: wd = wd + j.rho"),
            "v-dot": (
                "newton_euler outward: vd = j.into(",
                "newton_euler outward: vd = vd + j.sigma",
                "newton_euler outward: vd = vd + swing",
                "newton_euler outward: links.append",
            ),
            "a, of the centre of mass": ("newton_euler inward: a_bar =",),
            "F": ("newton_euler inward: F = tree.mass",),
            "f": ("newton_euler inward: f = sum", "newton_euler inward: f_joint, m_joint", "newton_euler inward: f, m = j.out"),
            "N": ("newton_euler inward: N = spin",),
            "n": (
                "newton_euler inward: m = sum",
                "newton_euler inward: m_joint = m_joint",
                "newton_euler inward: handed[parent].append",
            ),
        },
    ),
    "lagrange_euler": Method(
        "inverse_dynamics",
        "lagrange_euler",
        {
            "products A of link transforms": ("shared/homogeneous kinematics", "shared/homogeneous relative"),
            "-m_j g U_ji r_j": ("lagrange_euler lagrange_euler_terms: def weight",),
            "Tr[U_kj J_k U_ki^T]": ("lagrange_euler inertia_coefficients", "shared/homogeneous first_partials"),
            "Tr[U_mjk J_m U_mi^T]": ("lagrange_euler lagrange_euler_terms: def velocity", "shared/homogeneous second_partials"),
        },
    ),
    "diagonalized_normalized": Method(
        "forward_dynamics",
        "diagonalized_normalized",
        FILTER
        | {
            "epsilon": ("shared/filter forces: kappa[i] =", "diagonalized_normalized forward_dynamics: nu_dot ="),
            "y": ("diagonalized_normalized coriolis: for i, parent", "diagonalized_normalized coriolis: for i in reversed"),
            "C": ("diagonalized_normalized coriolis: return", "diagonalized_normalized forward_dynamics: root ="),
            "from nu-dot to the joints' accelerations": (
                "diagonalized_normalized forward_dynamics: D_dot =",
                "diagonalized_normalized forward_dynamics: xi_dot.append",
                "shared/filter joint_accelerations",
            ),
        },
    ),
    "diagonalized_unnormalized": Method(
        "forward_dynamics",
        "diagonalized_unnormalized",
        FILTER
        | {
            "kappa": ("shared/filter forces: kappa[i] =",),
            "y": ("diagonalized_unnormalized coriolis: y =", "diagonalized_unnormalized coriolis: for i in reversed"),
            "C": ("diagonalized_unnormalized coriolis: return",),
            "xi-dot": ("diagonalized_unnormalized forward_dynamics: xi_dot =",),
            "from xi-dot to the joints' accelerations": ("shared/filter joint_accelerations",),
        },
    ),
}


def places(lines: str) -> tuple[str, int, int]:
    """File, first and last line of `module function: text`."""
    where, _, text = lines.partition(": ")
    module, function = where.split(" ")
    file = path(module)
    source = file.read_text(encoding="utf-8")
    nodes = [x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.FunctionDef) and x.name == function]
    if not nodes:
        raise ValueError(f"{module} has no function {function}")
    if text:
        rows = source.splitlines()
        nodes = [x for x in ast.walk(nodes[0]) if isinstance(x, ast.stmt) and rows[x.lineno - 1].strip().startswith(text)]
    if not nodes:
        raise ValueError(f"no statement of {where} begins with {text!r}")
    return f"/dalembert/{file.relative_to(SOURCE).as_posix()}", nodes[0].lineno, nodes[0].end_lineno or nodes[0].lineno


@cache
def counted(name: str, robot: Robot) -> dict[str, OperationCount]:
    """The customized operations of a method by rows; those of no row are `other`."""
    method = ROWS[name]
    known = [(row, *places(lines)) for row, all_lines in method.rows.items() for lines in all_lines]

    def place() -> str:
        frame = sys._getframe(1)
        while frame is not None:
            file, line = frame.f_code.co_filename, frame.f_lineno
            for row, of, first, last in known:
                if first <= line <= last and file.endswith(of):
                    return row
            frame = frame.f_back
        return OTHER

    found = operation_counts_by(robot, method.quantity, method.method, place)
    return {row: found.get(row, OperationCount()) for row in (*method.rows, OTHER)}


def together(counts: list[OperationCount]) -> OperationCount:
    """Their sum."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count._asdict())
    return OperationCount(**total)
