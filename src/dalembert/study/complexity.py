"""Operation counts of every formulation, beside what the papers print."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dalembert.formulations import methods
from dalembert.model.dh import DHRow
from dalembert.model.random import random_inertia
from dalembert.robot import Robot
from dalembert.text import Text, table
from dalembert.trace.count import OperationCount

Polynomial = tuple[Fraction, ...]  # coefficients of 1, n, n^2, ...
FIT, CHECK = range(3, 9), 12  # with one or two joints the base still shows


class Printed(NamedTuple):
    """A count that a source prints, misprints corrected (docs/errata.md), by its table."""

    label: str
    method: str
    mul: Polynomial
    add: Polynomial


def _p(*coefficients: object) -> Polynomial:
    return tuple(Fraction(str(c)) for c in coefficients)


PRINTED = (
    Printed("FGL table 3.1", "lagrange_euler", _p(0, "76/3", "844/3", "512/3", "128/3"), _p(0, "107/6", "637/3", "781/6", "98/3")),
    Printed("FGL table 3.5", "lagrange_euler", _p(0, "160/3", "739/3", "512/3", "128/3"), _p(0, "245/6", "559/3", "781/6", "98/3")),
    Printed("FGL table 3.4", "newton_euler", _p(-24, 117), _p(-21, 103)),
    Printed("FGL table 3.5", "newton_euler", _p(0, 132), _p(-4, 111)),
    Printed("Khalil and Kleinfinger, customized", "newton_euler", _p(-127, 92), _p(-117, 81)),
    Printed("FGL table 3.5", "generalized_dalembert", _p(69, "268/3", "105/2", "13/6"), _p(45, "146/3", 44, "4/3")),
    Printed("Featherstone, in Park et al.", "lie_group", _p(-68, 130), _p(-56, 101)),
    Printed("Kozlowski, general", "spatial_operator", _p(-161, 142), _p(-135, 109)),
    Printed("Kozlowski, special axes", "spatial_operator", _p(-117, 104), _p(-102, 87)),
)


class Growth(NamedTuple):
    """How the general count of a method grows with the number of joints: fitted for n = 3 to 8, and checked at n = 12."""

    method: str
    mul: Polynomial
    add: Polynomial

    @property
    def order(self) -> int:
        """The highest power of n."""
        return max(len(self.mul), len(self.add)) - 1


def value(polynomial: Polynomial, n: int) -> Fraction:
    """A polynomial at n."""
    return sum((c * n**k for k, c in enumerate(polynomial)), Fraction(0))


def general_chain(n: int, seed: int = 0) -> Robot:
    """A serial arm about which nothing special is true: arbitrary alpha, a, d and full inertias, the first axis along gravity."""
    rng = np.random.default_rng(seed)
    rows = [
        DHRow(alpha=rng.uniform(0.3, 1.2), a=rng.uniform(0.2, 0.5), d=rng.uniform(0.1, 0.4), inertia=random_inertia(rng))
        for _ in range(n)
    ]
    return Robot.from_dh(rows, convention="standard", name=f"general {n}R")


def _general(method: str, n: int) -> OperationCount:
    return general_chain(n).operation_count("inverse_dynamics", method, customized=False)


def growth(method: str) -> Growth:
    """The exact polynomials of a method's general count.

    >>> growth("newton_euler").order
    1
    """
    counts = [_general(method, n) for n in FIT]
    found = Growth(method, *(fitted(FIT, [getattr(c, field) for c in counts]) for field in ("mul", "add")))
    far = _general(method, CHECK)
    if (value(found.mul, CHECK), value(found.add, CHECK)) != (far.mul, far.add):
        raise ArithmeticError(f"the count of {method} is no polynomial: {far} at n = {CHECK}")
    return found


def fitted(points: Sequence[int], values: Sequence[int]) -> Polynomial:
    """The polynomial of least degree through all points (Newton's differences).

    >>> fitted(range(4), [1, 3, 7, 13])
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))
    """
    result: list[Fraction] = [Fraction(0)]
    basis: list[Fraction] = [Fraction(1)]
    column = [Fraction(v) for v in values]
    for k in range(len(points)):
        result = [a + column[0] * b for a, b in zip([*result, *[Fraction(0)] * (len(basis) - len(result))], basis, strict=True)]
        basis = [a - points[k] * b for a, b in zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)]
        column = [(b - a) / (k + 1) for a, b in itertools.pairwise(column)]
    while len(result) > 1 and result[-1] == 0:
        result.pop()
    return tuple(result)


def shown(polynomial: Polynomial) -> str:
    """A polynomial as text, highest power first.

    >>> shown((Fraction(-24), Fraction(117)))
    '117 n - 24'
    """
    parts: list[str] = []
    for k in reversed(range(len(polynomial))):
        c = polynomial[k]
        if c or (k == 0 and not parts):
            power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
            size = "" if abs(c) == 1 and k else str(abs(c))
            sign = ("- " if c < 0 else "+ ") if parts else ("-" if c < 0 else "")
            parts.append(sign + " ".join(x for x in (size, power) if x))
    return " ".join(parts)


def complexity(robot: Robot | None = None) -> Text:
    """Operation counts of inverse dynamics by every method, beside the printed ones.

    For a robot: customized to it, as the source is written (general), and the printed polynomials at its n. Without one: our own
    polynomials in n for a general serial arm, fitted and checked, beside the printed ones.
    """
    return _of_robot(robot) if robot is not None else _in_general()


def _of_robot(robot: Robot) -> Text:
    rows = [["inverse dynamics by", "customized mul", "add", "general mul", "add", "printed mul", "add", "where"]]
    for method in methods("inverse_dynamics"):
        own, general = (robot.operation_count("inverse_dynamics", method, customized=c) for c in (True, False))
        ours = [method, *map(str, (own.mul, own.add, general.mul, general.add))]
        comparable = robot.structure == "R" * robot.n and robot.parents == tuple(range(-1, robot.n - 1)) and robot.n > 2
        printed = [p for p in PRINTED if p.method == method and comparable]  # serial arms of turning joints
        for k, p in enumerate(printed or [None]):
            theirs = ["", "", ""] if p is None else [*(str(value(x, robot.n)) for x in (p.mul, p.add)), p.label]
            rows.append([*(ours if k == 0 else [""] * 5), *theirs])
    return Text(f"{robot.name}, n = {robot.n}\n" + table(rows, right=True))


def _in_general() -> Text:
    rows = [["inverse dynamics by", "order", "general multiplications", "general additions", "customized, n = 6", "printed"]]
    for method in methods("inverse_dynamics"):
        ours = growth(method)
        printed = [f"{p.label}: {shown(p.mul)} / {shown(p.add)}" for p in PRINTED if p.method == method]
        for k, text in enumerate(printed or [""]):
            own = general_chain(6).operation_count("inverse_dynamics", method)
            first = [method, f"n^{ours.order}", shown(ours.mul), shown(ours.add), f"{own.mul} / {own.add}"]
            rows.append([*(first if k == 0 else [""] * 5), text])
    return Text("general serial arm of n revolute joints on a standing base\n" + table(rows))
