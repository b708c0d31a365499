"""Closed forms of loops: phi(q) = 0, J = dphi/dq, gamma = J' qd, and G, by which all joints follow the independent ones.

In all joints, with the forces lambda that hold the loops,

    M qdd + C qd + g = tau + J^T lambda,   J qdd + gamma = 0,

and in independent joints y, which the others z follow, with qd = G yd and G = [1; -J_z^-1 J_y],

    G^T M G ydd + G^T (C G + M G') yd + G^T g = G^T tau.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, Transform
from dalembert.cached import cached_property
from dalembert.derived.closing import independent_joints
from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.symbolic.closed_form.coordinates import tree_positions
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.quotient import Quotient, solved
from dalembert.symbolic.closed_form.rational import exactly
from dalembert.symbolic.closed_form.settle import settled
from dalembert.symbolic.closed_form.symbols import Symbols

MOST_EQUATIONS = 4  # of a determinant that is still read


@dataclass(frozen=True, eq=False)
class LoopForms:
    """The loops of a robot as closed forms: arrays phi (m), J (m, n), gamma (m) of `Form`, and G (n, k) of quotients."""

    model: Model
    symbols: Symbols
    tree: Tree
    places: Array  # of the frames on their links, (loops, 2, 3)

    @cached_property
    def phi(self) -> Array:
        """The equations that count, which are 0 where the loops are closed."""
        q, rows = tree_positions(self.symbols, self.model), list[Any]()
        for loop, places in zip(self.model.loops, self.places, strict=True):
            if callable(loop.kind):
                made = loop.equations(self.model, self.symbols.positions())
            else:
                turns = [exactly(self.model.locate(name)[1].rotation) for name in (loop.frame_a, loop.frame_b)]
                at = [Transform(R, p) for R, p in zip(turns, exactly(places), strict=True)]
                made = loop.between(*loop.frames(self.model, self.tree, q, at))
            rows += [np.asarray(made)[row] for row in loop.rows or ()]
        return settled(self.symbols.forms(rows))

    @cached_property
    def J(self) -> Array:
        """The derivatives of phi by all joints."""
        slopes = [form.diff(f"q{j + 1}") for form in self.phi for j in range(self.model.n)]
        return self.symbols.forms(slopes).reshape(len(self.phi), self.model.n)

    @cached_property
    def rate(self) -> Array:
        """J', (m, n)."""
        qd = self.symbols.rates("qd")
        slopes = [sum(x.diff(f"q{k + 1}") * v for k, v in enumerate(qd)) for x in self.J.flat]
        return self.symbols.forms(slopes).reshape(self.J.shape)

    @cached_property
    def gamma(self) -> Array:
        """J' qd: J qdd + gamma = 0."""
        return self.symbols.forms((self.rate * self.symbols.rates("qd")).sum(axis=-1))

    @cached_property
    def free(self) -> list[int]:
        """The independent joints."""
        return list(independent_joints(self.model) if self.model.loops else range(self.model.n))

    @cached_property
    def bound(self) -> list[int]:
        """The joints that follow them."""
        return [i for i in range(self.model.n) if i not in self.free]

    @property
    def readable(self) -> bool:
        """Whether G is not too long for anybody to read."""
        return len(self.bound) <= MOST_EQUATIONS

    @cached_property
    def G(self) -> Array:
        """[1; -J_z^-1 J_y], (n, k)."""
        if not self.readable:
            raise Error(
                f"G of the {len(self.bound)} equations of {self.model.name} has no closed form that anybody could read; J has, and "
                "robot.independent_jacobian(q) has the numbers of G"
            )
        one = self.symbols.number(1)
        made = np.empty((self.model.n, len(self.free)), dtype=object)
        for i, j in np.ndindex(made.shape):
            made[i, j] = Quotient(one if self.free[j] == i else one * 0, one)
        made[self.bound] = solved(self.J[:, self.bound], -self.J[:, self.free], one)
        return made


def shown(loops: LoopForms) -> list[tuple[tuple[int, ...], Form | Quotient]]:
    """The entries of G that are not those of the independent joints, which are 1 and 0."""
    return [((i, j), loops.G[i, j]) for i in loops.bound for j in range(len(loops.free))]
