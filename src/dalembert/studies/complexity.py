"""Operation counts of every formulation, next to those of the papers."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dalembert.engine.registry import methods, quantity_named
from dalembert.engine.size import MOST_WORK, work
from dalembert.model.dh import DHRow
from dalembert.model.model import Model, a_robot
from dalembert.model.random import random_inertia
from dalembert.robots import Robot
from dalembert.studies.tables import (
    FGL_3_1,
    FGL_3_4,
    FGL_3_5,
    NORMALIZED_STAGES,
    SHARED_STAGES,
    UNNORMALIZED_STAGES,
    WALKER_ORIN_4,
    Polynomial,
    Stage,
    plus,
    polynomial,
    stages,
    total,
    value,
)
from dalembert.text import Text, table, wrapped

FIT, CHECK = range(3, 9), 12  # with one or two joints the base still shows
FORWARD = "forward_dynamics"
TABLE_2, TABLE_3 = "Kozlowski table 2", "Kozlowski table 3"


class Printed(NamedTuple):
    """A count that a source prints, misprints corrected (`studies.errata`), by its table; some print only the total.

    `special`: of arms whose axes are parallel or square, and displaced along the common normal only. A count that belongs to none
    of the methods here has no method.
    """

    label: str
    method: str
    mul: Polynomial
    add: Polynomial
    total: Polynomial
    quantity: str = "inverse_dynamics"
    special: bool = False


def _both(
    label: str, method: str, mul: Polynomial, add: Polynomial, quantity: str = "inverse_dynamics", special: bool = False
) -> Printed:
    return Printed(label, method, mul, add, plus(mul, add), quantity, special)


def _forward(label: str, method: str, *total: object) -> Printed:
    return Printed(label, method, (), (), polynomial(*total), FORWARD)


def _table_2(method: str, rows: Sequence[Stage]) -> list[Printed]:
    mul, special_mul, add, special_add = stages((*SHARED_STAGES, *rows))
    general = _both(f"{TABLE_2}, general", method, mul, add, FORWARD)
    return [general, _both(f"{TABLE_2}, special axes", method, special_mul, special_add, FORWARD, special=True)]


PRINTED = (
    _both("FGL table 3.1", "lagrange_euler", *total(FGL_3_1)),
    _both("FGL table 3.5", "lagrange_euler", *FGL_3_5["lagrange_euler"]),
    _both("FGL table 3.4", "newton_euler", *total(FGL_3_4)),
    _both("FGL table 3.5", "newton_euler", *FGL_3_5["newton_euler"]),
    _both("Khalil and Kleinfinger, customized", "newton_euler", polynomial(-127, 92), polynomial(-117, 81)),
    _both("FGL table 3.5", "generalized_dalembert", *FGL_3_5["generalized_dalembert"]),
    _both("Featherstone, in Park et al.", "lie_group", polynomial(-68, 130), polynomial(-56, 101)),
    _both("Kozlowski, general", "spatial_operator", polynomial(-161, 142), polynomial(-135, 109)),
    _both("Kozlowski, special axes", "spatial_operator", polynomial(-117, 104), polynomial(-102, 87), special=True),
    _forward(f"{TABLE_3}, Featherstone 1987", "articulated_body", -526, 579),
    _forward(f"{TABLE_3}, Brandl 1986", "brandl", -420, 470),
    _forward(f"{TABLE_3}, 1993", "kalman", -503, 477),
    _forward(f"{TABLE_3}, first method", "walker_orin_1", -33, "1183/6", "261/2", "1/3"),
    _forward(f"{TABLE_3}, second method", "walker_orin_2", -33, "1567/6", "133/2", "1/3"),
    _forward(f"{TABLE_3}, third method", "walker_orin_3", -113, "2149/6", "43/2", "1/3"),
    _forward(f"{TABLE_3}, numerical solution, 1992", "", -395, "2047/6", "41/2", "1/3"),
    *_table_2("diagonalized_normalized", NORMALIZED_STAGES),
    *_table_2("diagonalized_unnormalized", UNNORMALIZED_STAGES),
)
NOTES = {
    FORWARD: "totals of additions and multiplications (ours with divisions and square roots); table 2 counts up to nu-dot and "
    "xi-dot, ours up to qdd; for conjugate gradients (walker_orin_4) table 3 prints {} and {} at n = 6 and 12 beside a "
    "polynomial that gives other numbers (E-K20); its numerical solution of 1992 is none of the methods here".format(
        *WALKER_ORIN_4
    ),
}


class Growth(NamedTuple):
    """How the general count of a method grows with the number of joints: fitted for n = 3 to 8, and checked at n = 12."""

    method: str
    mul: Polynomial
    add: Polynomial
    total: Polynomial  # with divisions and square roots

    @property
    def order(self) -> int:
        """The highest power of n."""
        return len(self.total) - 1


def general_chain(n: int, seed: int = 0) -> Robot:
    """A serial arm about which nothing special is true: arbitrary alpha, a, d and full inertias, the first axis along gravity."""
    rng = np.random.default_rng(seed)
    rows = [
        DHRow(alpha=rng.uniform(0.3, 1.2), a=rng.uniform(0.2, 0.5), d=rng.uniform(0.1, 0.4), inertia=random_inertia(rng))
        for _ in range(n)
    ]
    return Robot.from_dh(rows, convention="standard", name=f"general {n}R")


def special_chain(n: int, seed: int = 0) -> Robot:
    """A serial arm with axes that are parallel or square in turn, displaced along the common normals only, and full inertias."""
    rng = np.random.default_rng(seed)
    twists = (0.0, np.pi / 2, 0.0, -np.pi / 2)
    rows = [DHRow(alpha=twists[i % 4], a=rng.uniform(0.2, 0.5) if i else 0.0, inertia=random_inertia(rng)) for i in range(n)]
    return Robot.from_dh(rows, convention="modified", name=f"special {n}R")


def growth(method: str, quantity: str = "inverse_dynamics") -> Growth:
    """The exact polynomials of a method's general count.

    >>> growth("newton_euler").order
    1
    """

    def count(n: int) -> tuple[int, int, int]:
        counted = general_chain(n).operation_count(quantity, method, customized=False)
        return counted.mul, counted.add, counted.total

    counts = [count(n) for n in FIT]
    counted = Growth(method, *(fitted(FIT, column) for column in zip(*counts, strict=True)))
    far = count(CHECK)
    if tuple(value(p, CHECK) for p in counted[1:]) != far:
        raise ArithmeticError(f"the count of {method} is not a polynomial: {far} at n = {CHECK}")
    return counted


def fitted(points: Sequence[int], values: Sequence[int]) -> Polynomial:
    """The polynomial of least degree through all points (Newton's differences).

    >>> fitted(range(4), [1, 3, 7, 13])
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))
    """
    result: list[Fraction] = [Fraction(0)]
    basis: list[Fraction] = [Fraction(1)]
    column = [Fraction(v) for v in values]
    for k in range(len(points)):
        longer = [*result, *[Fraction(0)] * (len(basis) - len(result))]
        result = [a + column[0] * b for a, b in zip(longer, basis, strict=True)]
        basis = [a - points[k] * b for a, b in zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)]
        column = [(b - a) / (k + 1) for a, b in itertools.pairwise(column)]
    while len(result) > 1 and result[-1] == 0:
        result.pop()
    return tuple(result)


def shown(p: Polynomial) -> str:
    """A polynomial as text, highest power first.

    >>> shown((Fraction(-24), Fraction(117)))
    '117 n - 24'
    """
    parts: list[str] = []
    for k in reversed(range(len(p))):
        c = p[k]
        if c or (k == 0 and not parts):
            power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
            size = "" if abs(c) == 1 and k else str(abs(c))
            sign = ("- " if c < 0 else "+ ") if parts else ("-" if c < 0 else "")
            parts.append(sign + " ".join(x for x in (size, power) if x))
    return " ".join(parts)


def complexity(robot: Robot | None = None, quantity: str = "inverse_dynamics") -> Text:
    """Operation counts of a quantity (inverse_dynamics, forward_dynamics, mass_matrix) by every method, next to the printed ones.

    For a robot: customized to it, as the source is written (general), and the printed polynomials at its n. Without one: our own
    polynomials in n for a general serial arm, fitted and checked, next to the printed ones.
    """
    methods(quantity)
    if robot is not None:
        a_robot(robot, "complexity")
    return _of_robot(robot, quantity) if robot is not None else _in_general(quantity)


def printed(method: str, quantity: str, special: bool = False) -> list[Printed]:
    """What the sources print about a method, for general arms or for those with special axes."""
    return [x for x in PRINTED if (x.method, x.quantity, x.special) == (method, quantity, special)]


def comparable(robot: Model) -> bool:
    """Whether the sources' polynomials are about such a robot: a serial arm of three or more revolute joints."""
    return robot.structure == "R" * robot.n and robot.parents == tuple(range(-1, robot.n - 1)) and robot.n > 2


def _of_robot(robot: Robot, quantity: str) -> Text:
    title = f"{quantity.replace('_', ' ')} by"
    rows = [[title, "customized mul", "add", "total", "general mul", "add", "total", "printed mul", "add", "total", "where"]]
    able = quantity_named(quantity).methods_of(robot)
    large = [method for method in able if work(robot.parents, quantity, method) > MOST_WORK]
    for method in (x for x in able if x not in large):
        counts = [robot.operation_count(quantity, method, customized=c) for c in (True, False)]
        ours = [method, *(str(x) for c in counts for x in (c.mul, c.add, c.total))]
        for k, p in enumerate((printed(method, quantity) if comparable(robot) else []) or [None]):
            theirs = ["", "", "", ""] if p is None else [*(_at(x, robot.n) for x in (p.mul, p.add, p.total)), p.label]
            rows.append([*(ours if k == 0 else [""] * len(ours)), *theirs])
    note = f"\n\n{wrapped(NOTES[quantity])}" if quantity in NOTES else ""
    note += "\n\n" + wrapped(", ".join(large), "skipped, too large for so many joints: ") if large else ""
    return Text(f"{robot.name}, n = {robot.n}; totals with divisions and square roots\n" + table(rows, right=True) + note)


def _at(p: Polynomial, n: int) -> str:
    return str(value(p, n)) if p else ""


def _in_general(quantity: str) -> Text:
    title = f"{quantity.replace('_', ' ')} by"
    rows = [[title, "order", "general mul", "general add", "total at 6", "12", "customized 6", "12", "printed", "at 6", "at 12"]]
    for method in methods(quantity):
        ours = growth(method, quantity)
        own = [str(general_chain(n).operation_count(quantity, method).total) for n in (6, 12)]
        totals = [str(value(ours.total, n)) for n in (6, 12)]
        first = [method, f"n^{ours.order}", shown(ours.mul), shown(ours.add), *totals, *own]
        for k, p in enumerate(printed(method, quantity) or [None]):
            theirs = [] if p is None else [polynomials(p), *(str(value(p.total, n)) for n in (6, 12))]
            rows.append([*(first if k == 0 else [""] * len(first)), *(theirs or [""] * 3)])
    note = f"\n\n{wrapped(NOTES[quantity])}" if quantity in NOTES else ""
    return Text("general serial arm of n revolute joints on a standing base\n" + table(rows) + note)


def polynomials(p: Printed) -> str:
    """A printed count with its source: multiplications / additions, or their total."""
    return f"{p.label}: {f'{shown(p.mul)} / {shown(p.add)}' if p.mul else shown(p.total)}"
