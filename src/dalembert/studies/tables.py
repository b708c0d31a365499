"""The tables of operation counts that the sources print, row by row, and the operations of the printed equations themselves.

Misprints are corrected (`studies.errata`). A row is counted by running its own equation on letters: zeros and ones of the equation
are left out, nothing else is.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import cross
from dalembert.trace.count import OperationCount, operation_count
from dalembert.trace.program import trace

Polynomial = tuple[Fraction, ...]  # coefficients of 1, n, n^2, ...


def polynomial(*coefficients: object) -> Polynomial:
    """From numbers or texts such as "128/3"."""
    return tuple(Fraction(str(c)) for c in coefficients)


def value(p: Polynomial, n: int) -> Fraction:
    """A polynomial at n."""
    return sum((c * n**k for k, c in enumerate(p)), Fraction(0))


def plus(*parts: Polynomial) -> Polynomial:
    """The sum of polynomials."""
    return tuple(sum(c, Fraction(0)) for c in zip_longest(*parts, fillvalue=Fraction(0)))


def minus(a: Polynomial, b: Polynomial) -> Polynomial:
    """a - b."""
    return plus(a, tuple(-c for c in b))


class Equation(NamedTuple):
    """Part of a printed equation: a function of letters, their shapes, and how often it is evaluated for n joints."""

    function: Callable[..., Any]
    letters: Mapping[str, tuple[int, ...]]
    times: Polynomial

    @property
    def once(self) -> OperationCount:
        """The operations of one evaluation."""
        return operation_count(trace(self.function, self.letters, sharing=False))


class Row(NamedTuple):
    """One line of a table: what it counts, the printed polynomials, the equations it stands for, and why they differ."""

    label: str
    mul: Polynomial
    add: Polynomial
    equations: tuple[Equation, ...] = ()
    note: str = ""

    @property
    def counted(self) -> "Sums":
        """The multiplications and additions of the equations themselves."""
        parts = [(e.once, e.times) for e in self.equations]
        return Sums(*(plus(*(tuple(k * t for t in times) for k, times in column)) for column in _columns(parts)))


def _columns(parts: list[tuple[OperationCount, Polynomial]]) -> list[list[tuple[int, Polynomial]]]:
    return [[(c.mul, times) for c, times in parts], [(c.add, times) for c, times in parts]]


class Sums(NamedTuple):
    """Multiplications and additions."""

    mul: Polynomial
    add: Polynomial


def total(rows: Sequence[Row]) -> Sums:
    """The sum of rows as printed."""
    return Sums(plus(*(row.mul for row in rows)), plus(*(row.add for row in rows)))


p = polynomial
EACH, PAIRS, TRIPLES = p(0, 1), p(0, "1/2", "1/2"), p(0, "1/3", "1/2", "1/6")  # n, and the numbers of i <= j and i <= j <= k
BEFORE = p(-1, 1)  # all links but the last
V3, M3, M4 = (3,), (3, 3), (4, 4)
Z0 = np.array([0, 0, 1])


def _trace(X: Any) -> Any:
    """The trace, and the whole matrix: what is printed computes all of it."""
    return np.append(X, X[0, 0] + X[1, 1] + X[2, 2] + X[3, 3])


_WEIGHT = Equation(lambda U, g, r: (g * U[2]) @ r, {"U": M4, "g": (), "r": (4,)}, PAIRS)  # -m_j g is a number, along z
_FIRST = Equation(lambda A, QA: A @ QA, {"A": M4, "QA": M4}, p(0, "-1/2", "1/2"))  # U_ji; A_0 = 1 for i = 1
FGL_3_1 = (
    Row(
        "products A of link transforms",
        p(0, -32, 32),
        p(0, -24, 24),
        (Equation(lambda A, B: A @ B, {"A": M4, "B": M4}, p(0, "-1/2", "1/2")),),
        "full 4x4 products, one for every pair of frames; the last row (0, 0, 0, 1) is not used",
    ),
    Row(
        "-m_j g U_ji r_j",
        p(0, -28, 36),
        p(0, "-45/2", "51/2"),
        (_FIRST, _WEIGHT),
        "U_ji is a full product; gravity along z picks one row of it",
    ),
    Row(
        "sum over j of m_j g U_ji r_j",
        p(0),
        p(0, "-1/2", "1/2"),
        (Equation(lambda a, b: a + b, {"a": (), "b": ()}, p(0, "-1/2", "1/2")),),
    ),
    Row(
        "Tr[U_kj J_k U_ki^T]",
        p(0, "256/3", 128, "128/3"),
        p(0, 65, "195/2", "65/2"),
        (Equation(lambda A, B, C, D, J: _trace((A @ B) @ J @ (C @ D).T), {"A": M4, "B": M4, "C": M4, "D": M4, "J": M4}, TRIPLES),),
        "256 multiplications are four full 4x4 products: U_kj and U_ki anew for every trace, times J, times the transpose; of the "
        "last only the diagonal is needed",
    ),
    Row(
        "sum over k of Tr[U_kj J_k U_ki^T]",
        p(0),
        p(0, "-1/6", 0, "1/6"),
        (Equation(lambda a, b: a + b, {"a": (), "b": ()}, p(0, "-1/6", 0, "1/6")),),
    ),
    Row(
        "Tr[U_mjk J_m U_mi^T]",
        p(0, 0, "256/3", 128, "128/3"),
        p(0, 0, 65, "195/2", "65/2"),
        (
            Equation(
                lambda A, B, C, D, E, J: _trace((A @ B @ C) @ J @ (D @ E).T),
                {"A": M4, "B": M4, "C": M4, "D": M4, "E": M4, "J": M4},
                p(0, "1/12", "3/8", "5/12", "1/8"),
            ),
        ),
        "printed is n times the row of D: four products for each trace, and n (n+1) (n+2) / 6 traces for every joint; U_mjk takes "
        "a fifth product, but there are only n (n+1) (n+2) (3n+1) / 24 traces with m >= i, j, k and j <= k",
    ),
    Row(
        "sum over m of Tr[U_mjk J_m U_mi^T]",
        p(0),
        p(0, 0, "-1/6", 0, "1/6"),
        (Equation(lambda a, b: a + b, {"a": (), "b": ()}, p(0, "1/12", "-1/8", "-1/12", "1/8")),),
        "again n times the row of D",
    ),
)
FGL_3_4 = (
    Row("omega", p(0, 9), p(0, 7), (Equation(lambda R, w, qd: R @ (w + Z0 * qd), {"R": M3, "w": V3, "qd": ()}, EACH),)),
    Row(
        "omega-dot",
        p(0, 9),
        p(0, 9),
        (
            Equation(
                lambda R, w, wd, qd, qdd: R @ (wd + Z0 * qdd + cross(w, Z0 * qd)),
                {"R": M3, "w": V3, "wd": V3, "qd": (), "qdd": ()},
                EACH,
            ),
        ),
        "the two products of omega x z0 qd are not in the table",
    ),
    Row(
        "v-dot",
        p(0, 27),
        p(0, 22),
        (
            Equation(
                lambda R, w, wd, p, v: cross(wd, p) + cross(w, cross(w, p)) + R @ v,
                {"R": M3, "w": V3, "wd": V3, "p": V3, "v": V3},
                EACH,
            ),
        ),
        "one addition more than there is, and one less in the next row",
    ),
    Row(
        "a, of the centre of mass",
        p(0, 15),
        p(0, 14),
        (Equation(lambda w, wd, s, v: cross(wd, s) + cross(w, cross(w, s)) + v, {"w": V3, "wd": V3, "s": V3, "v": V3}, EACH),),
        "three vector products take 18 multiplications; 15 if omega x (omega x s) took nine, as a matrix times s does",
    ),
    Row("F", p(0, 3), p(0), (Equation(lambda m, a: m * a, {"m": (), "a": V3}, EACH),)),
    Row(
        "f",
        p(-9, 9),
        p(-6, 9),
        (Equation(lambda R, f, F: R @ f + F, {"R": M3, "f": V3, "F": V3}, BEFORE),),
        "f_n = F_n takes no addition either",
    ),
    Row("N", p(0, 24), p(0, 18), (Equation(lambda I, w, wd: I @ wd + cross(w, I @ w), {"I": M3, "w": V3, "wd": V3}, EACH),)),
    Row(
        "n",
        p(-15, 21),
        p(-15, 24),
        (
            Equation(lambda R, n, p, f: R @ (n + cross(p, f)), {"R": M3, "n": V3, "p": V3, "f": V3}, BEFORE),
            Equation(lambda a, b: a + b, {"a": V3, "b": V3}, BEFORE),
            Equation(lambda p, s, F, N: cross(p + s, F) + N, {"p": V3, "s": V3, "F": V3, "N": V3}, EACH),
        ),
        "p* in the axes of link i+1 is not counted; p* + s, a constant, is",
    ),
)
FGL_3_5 = {
    "lagrange_euler": Sums(p(0, "160/3", "739/3", "512/3", "128/3"), p(0, "245/6", "559/3", "781/6", "98/3")),
    "newton_euler": Sums(p(0, 132), p(-4, 111)),
    "generalized_dalembert": Sums(p(69, "268/3", "105/2", "13/6"), p(45, "146/3", 44, "4/3")),
}


WALKER_ORIN_4 = 5967, 21537  # of their fourth method at 6 and 12 joints, in Kozlowski's table 3 (E-K20)


class Stage(NamedTuple):
    """A row of Kozlowski's table 2: multiplications and additions of a general arm, and of one with parallel or square axes."""

    label: str
    mul: Polynomial
    special_mul: Polynomial
    add: Polynomial
    special_add: Polynomial


def _stage(label: str, *pairs: tuple[int, int]) -> Stage:
    return Stage(label, *(p(b, a) for a, b in pairs))


SHARED_STAGES = (
    _stage("P", (101, -108), (51, -58), (94, -105), (53, -64)),
    _stage("G", (5, -1), (5, -1), (0, 0), (0, 0)),
    _stage("V+", (6, -12), (2, -4), (6, -12), (2, -4)),
    _stage("V", (16, -29), (8, -16), (9, -17), (5, -9)),
    _stage("z", (6, -12), (2, -4), (6, -12), (2, -4)),
    _stage("Psi", (44, -1), (12, -1), (19, -1), (5, -1)),
    _stage("b", (59, -43), (55, -53), (40, -27), (38, -35)),
    _stage("X", (18, -12), (18, -12), (0, 0), (0, 0)),
    _stage("lambda-dot", (159, -6), (95, -6), (171, -6), (113, -6)),
)
NORMALIZED_STAGES = (
    _stage("theta-dot", (7, -10), (7, -11), (6, -10), (6, -11)),
    _stage("epsilon", (1, 0), (1, 0), (1, -1), (1, -1)),
    _stage("z+", (23, -4), (14, -3), (15, -8), (10, -7)),
    _stage("y", (158, -223), (134, -211), (162, -249), (140, -217)),
    _stage("C", (2, -1), (2, -1), (0, 0), (0, 0)),
    _stage("nu-dot", (0, 0), (0, 0), (1, 0), (1, 0)),
)
UNNORMALIZED_STAGES = (
    _stage("theta-dot", (5, -8), (5, -9), (5, -8), (5, -9)),
    _stage("kappa", (0, 0), (0, 0), (1, -1), (1, -1)),
    _stage("z+", (21, -4), (13, -3), (13, -8), (9, -7)),
    _stage("y", (59, -83), (47, -71), (61, -89), (50, -78)),
    _stage("C", (0, 0), (0, 0), (0, 0), (0, 0)),
    _stage("xi-dot", (1, 0), (1, 0), (1, 0), (1, 0)),
)


def stages(rows: Sequence[Stage]) -> tuple[Polynomial, ...]:
    """The sums of the four columns."""
    columns = zip(*((x.mul, x.special_mul, x.add, x.special_add) for x in rows), strict=True)
    return tuple(plus(*column) for column in columns)
