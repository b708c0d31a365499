"""What a step of branch and bound is made of: the coefficients of a result, their slopes, and margins for rounding.

The scalars of inputs form two groups. In those of z the result is a polynomial of degree 2 or less, found from the nodes (in
accelerations and forces, for example, and in velocities); the others are y. About the middle z0 of the box, exactly,

    f(y, z) = f(y, z0) + sum g_k(y, z0) dz_k + 1/2 sum H_kl(y) dz_k dz_l = sum_m c_m(y) mu_m
    with the monomials mu_m = 1, dz_k, dz_k dz_l, dz_k^2 / 2

so the maximum over z is taken in closed form, each monomial between its extremes; where f is affine in z, or the box has contracted
in z, this is exact. Over y the coefficients are enclosed in two ways, and the lesser bound counts: as intervals, and by the mean
value form c(y0) + c'(Y) (Y - y0), whose slopes c' are intervals of the exact derivatives.

Monotony: if df/dz_k or df/dy_i has one sign in the box, the maximum lies on a face, and the box contracts to it. Convexity: if H_kk
> 0, it lies at one of the two ends of z_k, and cutting leaves these. Where nothing is known, the input whose change is bounded
worst is halved.

Jumps, sign(c) and where(c, a, b) = b + t (a - b), become inputs t of the smooth rest, between what the interval of c allows. Boxes
do not contract in an input that an undecided jump depends on.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.trace.differentiate import differentiate
from dalembert.trace.expr import unrounded
from dalembert.trace.intervals.degrees import Key, quadratic, used
from dalembert.trace.intervals.rounding import Known, errors, lost
from dalembert.trace.program import Program, Variable, apply, assemble, evaluate, numbers, operands, trace

JUMPS = ("sign", "where")


class Groups(NamedTuple):
    """Which scalars of inputs, and which jumps, are what: the others are 0 or do not matter."""

    y: tuple[Key, ...]
    z: tuple[Key, ...]
    thin: tuple[Key, ...]  # not 0, but without width
    jumps_y: tuple[int, ...]
    jumps_z: tuple[int, ...]

    @property
    def wide(self) -> tuple[Key, ...]:
        """What boxes are made of."""
        return (*self.y, *self.z)


class Step(NamedTuple):
    """The programs of a step."""

    groups: Groups
    jumps: Program  # x -> what the jumps are decided by
    cone: tuple[frozenset[Key], ...]  # which inputs they depend on
    kinds: tuple[str, ...]  # "sign" or "where"
    values: Program  # y, z, thin -> coefficients
    slopes: Program  # y, z, thin -> coefficients, and their derivatives by y
    monomials: tuple[tuple[int, ...], ...]  # (), (k,) or (k, l), places in z, of each coefficient

    @property
    def lost(self) -> float:
        """What sums of a step may lose."""
        return lost(2 * len(self.monomials) + len(self.groups.y) + len(self.groups.jumps_y))


def prepare(program: Program, result: int, wide: Sequence[Key], zero: Sequence[Key]) -> Step:
    """The programs for one result, a node, of which `wide` scalars of inputs vary and some are `zero`; the others are fixed."""
    one = assemble(program.inputs, (Variable("f", ()),), program.nodes, [result])
    smooth, jumps, kinds, cone = _smooth(one)
    count = len(kinds)
    zeros, varies = set(zero), set(wide)
    there = [key for key in used(one) if key not in zeros]
    marks = [(len(program.inputs), j) for j in range(count)]
    z = quadratic(smooth, [*(key for key in there if key in varies), *marks])
    groups = Groups(
        tuple(key for key in there if key in varies and key not in z),
        tuple(key for key in z if key not in marks),
        tuple(key for key in there if key not in varies),
        tuple(key[1] for key in marks if key not in z),
        tuple(key[1] for key in marks if key in z),
    )
    values, monomials = _coefficients(_regrouped(smooth, groups))
    slopes = differentiate(values, "y", keep=True)
    return Step(groups, jumps, cone, kinds, values, slopes, monomials)


def _smooth(program: Program) -> tuple[Program, Program, tuple[str, ...], tuple[frozenset[Key], ...]]:
    """The program with an input for each jump; the program of what decides them, their kinds, and what they depend on."""
    places = [i for i, node in enumerate(program.nodes) if node[0] in JUMPS]
    shapes = {f"x{k}": v.shape for k, v in enumerate(program.inputs)} | {"t": (len(places),)}

    def body(*given: Any) -> Any:
        *inputs, t = [list(np.ravel(x)) for x in given]
        values: list[Any] = []
        for i, node in enumerate(program.nodes):
            some = [values[k] for k in operands(node)]
            if node[0] == "input":
                values.append(inputs[node[1]][node[2]])
            elif node[0] == "const":
                values.append(unrounded(node[1]))
            elif node[0] in JUMPS:
                jump = t[places.index(i)]
                values.append(jump if node[0] == "sign" else some[2] + jump * (some[1] - some[2]))
            else:
                values.append(apply(node[0], *some, *numbers(node)))
        return np.array(values[program.results[0]], dtype=object)

    deciding = [program.nodes[i][1] for i in places]
    jumps = assemble(program.inputs, (Variable("c", (len(places),)),), program.nodes, deciding)
    cone = tuple(frozenset(used(assemble(program.inputs, (), program.nodes, [i]))) for i in deciding)
    return trace(body, shapes, outputs=("f",)), jumps, tuple(program.nodes[i][0] for i in places), cone


def _regrouped(smooth: Program, groups: Groups) -> Program:
    """The same as a function of y, z and thin inputs."""
    marks = len(smooth.inputs) - 1
    y = [*groups.y, *((marks, j) for j in groups.jumps_y)]
    z = [*groups.z, *((marks, j) for j in groups.jumps_z)]
    order = {key: (name, i) for name, some in (("y", y), ("z", z), ("thin", groups.thin)) for i, key in enumerate(some)}

    def body(**given: Any) -> Any:
        scalars = [[given[order[k, j][0]][order[k, j][1]] if (k, j) in order else 0 for j in range(v.size)]
                   for k, v in enumerate(smooth.inputs)]  # fmt: skip
        return evaluate(smooth, scalars, unrounded)[smooth.results[0]]

    shapes = {"y": (len(y),), "z": (len(z),), "thin": (len(groups.thin),)}
    return trace(lambda y, z, thin: np.array(body(y=y, z=z, thin=thin), dtype=object), shapes, outputs=("f",))


def _coefficients(f: Program) -> tuple[Program, tuple[tuple[int, ...], ...]]:
    """All c_m that are not zero, and their monomials."""
    size = f.inputs[1].size
    first = differentiate(f, "z", keep=True)  # f, g
    second = differentiate(first, "z", keep=True)  # f, g, df/dz again, dg/dz
    start = 1 + 2 * size
    found: dict[tuple[int, ...], int] = {(): second.results[0]}
    found |= {(k,): second.results[1 + k] for k in range(size)}
    found |= {(k, j): second.results[start + size * k + j] for k in range(size) for j in range(k, size)}
    kept = {monomial: i for monomial, i in found.items() if not monomial or second.nodes[i] != ("const", 0)}
    return assemble(f.inputs, (Variable("c", (len(kept),)),), second.nodes, tuple(kept.values())), tuple(kept)


class Margins(NamedTuple):
    """What covers rounding in all boxes within one: in the bound, in the slopes by y and z, and in the jumps."""

    bound: float
    slack: list[float]  # by y, by z, curvature by z, jumps
    outward: bool


def margins(step: Step, box: Mapping[Key, tuple[float, float]]) -> Margins:
    """The errors of a step in all boxes within one; if they have no bound, ends must be moved outward. See `rounding`."""
    g = step.groups
    whole = [[box[k, j] for j in range(v.size)] for k, v in enumerate(step.jumps.inputs)]
    decided = errors(step.jumps, whole)
    jumps = [(-1.0 if kind == "sign" else 0.0, 1.0) for kind in step.kinds]
    ends = [[box[key] for key in some] for some in (g.y, g.z, g.thin)]
    ends[0] += [jumps[j] for j in g.jumps_y]
    ends[1] += [jumps[j] for j in g.jumps_z]
    known = errors(step.slopes, ends)
    count, ny = len(step.monomials), len(ends[0])
    c = [known[i] for i in step.slopes.results[:count]]
    d = [[known[i] for i in step.slopes.results[count + ny * m : count + ny * (m + 1)]] for m in range(count)]
    ry, rz = ([(b - a) * 1.0001 for a, b in some] for some in ends[:2])
    weights = [math.prod(rz[k] for k in monomial) for monomial in step.monomials]

    def loss(x: Known) -> float:
        return 2 * x.error + step.lost * x.size

    bound = sum(w * loss(x) for w, x in zip(weights, c, strict=True))
    by_y = [sum(w * loss(row[i]) for w, row in zip(weights, d, strict=True)) for i in range(ny)]
    by_z, curved = [0.0] * len(rz), [0.0] * len(rz)
    for monomial, x in zip(step.monomials, c, strict=True):
        for k in set(monomial):
            by_z[k] += loss(x) * (1.0 if len(monomial) == 1 else rz[monomial[0] + monomial[1] - k])
            curved[k] += loss(x) if monomial == (k, k) else 0.0
    bound += sum(s * r for s, r in zip(by_y, ry, strict=True))
    slack = [*by_y[: len(g.y)], *by_z[: len(g.z)], *curved[: len(g.z)], *(decided[i].error for i in step.jumps.results)]
    held = any(node[0] == "above" for node in step.slopes.nodes)  # its guard has no slack
    if not held and np.isfinite([bound, *slack]).all():
        return Margins(bound * 1.01, [x * 1.01 for x in slack], False)
    return Margins(0.0, [0.0] * len(slack), True)
