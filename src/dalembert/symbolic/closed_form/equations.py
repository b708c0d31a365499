"""The equations of motion of a robot as closed forms: M(q) qdd + C(q, qd) qd + g(q) = tau, and those of its loops."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, Transform, dot, rotate, zeros
from dalembert.arguments import batch, by_name, choice, numbers, several
from dalembert.cached import cached_property
from dalembert.derived.joints import coupled_inertia, rotors, tree_forces
from dalembert.errors import Error, optional
from dalembert.formulations import formulation
from dalembert.model.model import Model, a_robot
from dalembert.model.tree import Tree
from dalembert.symbolic.closed_form.book import known_values, letters, meanings
from dalembert.symbolic.closed_form.consistent import check_claims
from dalembert.symbolic.closed_form.coordinates import coordinate_letters, divisors, gathered, offsets, tree_positions
from dalembert.symbolic.closed_form.document import balance, save_equations
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.loops import LoopForms, shown
from dalembert.symbolic.closed_form.meaning import names_in, parsed, valued
from dalembert.symbolic.closed_form.names import check_names, entry_name, label
from dalembert.symbolic.closed_form.paper import display, in_markdown
from dalembert.symbolic.closed_form.quotient import Quotient
from dalembert.symbolic.closed_form.rational import exact, exactly
from dalembert.symbolic.closed_form.settle import settled, settled_mass_matrix
from dalembert.symbolic.closed_form.shared import Shared
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.symbolic.closed_form.values import ClosedValues, Values, closed_values, evaluated
from dalembert.symbolic.parameters import PARTS, Symbolic, named, named_parts
from dalembert.trace.program import Program, trace

PARTS_OF = ("M", "C", "g", "tau")
OF_LOOPS = ("M", "C", "g", "phi", "J", "gamma", "G")  # of a robot with loops


@dataclass(frozen=True, repr=False, eq=False)
class Equations:
    """M(q) qdd + C(q, qd) qd + g(q) = tau as closed forms: arrays M (n, n), C (n, n), g (n), tau (n) of `Form`.

    C is the one of the Christoffel symbols. Rotors are in M, friction is left out. Parts are computed on first use. Of a coupled
    robot q are its independent coordinates. Of a robot with loops they are all joints, as if the loops were open, and there are
    phi (m), J (m, n), gamma (m) and G (n, k), too: M qdd + C qd + g = tau + J^T lambda, phi(q) = 0, J qdd + gamma = 0, and with
    qd = G yd in independent joints y, (G^T M G) ydd + G^T (C G + M G') yd + G^T g = G^T tau.
    """

    robot: Symbolic
    symbols: Symbols
    where: Mapping[str, ast.expr]
    method: str

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return self.symbols.parameters

    @property
    def values(self) -> dict[str, float]:
        """The robot's own values of its parameters, also under new names; other letters (r of 2*r) have none."""
        return known_values(letters(self.robot, self.where))

    @cached_property
    def tree(self) -> Tree:
        """The robot as formulations see it, with forms in the place of numbers."""
        tree = self.robot.tree(list(self.parameters().values()))
        tree = tree._replace(before=Transform(offsets(self.robot.model)[0], tree.before.translation))
        before, after = (Transform(exactly(t.rotation), exactly(t.translation)) for t in (tree.before, tree.after))
        fields = {name: exactly(getattr(tree, name)) for name in ("screw", "mass", "com", "inertia", "gravity")}
        return tree._replace(before=before, after=after, **fields)

    def parameters(self) -> dict[str, Form]:
        """What is written for each parameter of the robot."""
        own = self._parameters({name: self.symbols[name] for name in self.names}, self._number)
        return dict(zip(self.robot.names, own, strict=True))

    def _parameters(self, scalars: Mapping[str, Any], number: Any) -> list[Any]:
        return [valued(self.where[name], scalars, number) if name in self.where else scalars[name] for name in self.robot.names]

    def _number(self, x: float) -> Form:
        return self.symbols.number(exact(x))

    @cached_property
    def M(self) -> Array:
        """The mass matrix."""
        model = self.robot.model
        matrix = formulation("mass_matrix", self.method)(self.tree, self._q) if model.links else zeros((0, 0))
        return settled_mass_matrix(self.symbols.forms(gathered(model, matrix) + exactly(rotors(model).astype(float))))

    @property
    def _q(self) -> Array:
        """The positions of all joints of the tree."""
        return tree_positions(self.symbols, self.robot.model)

    @cached_property
    def christoffel(self) -> Array:
        """Christoffel symbols, the force index first: (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
        n = len(self.symbols.joints)
        D = np.empty((n, n, n), dtype=object)
        for i, j, k in product(range(n), repeat=3):
            D[i, j, k] = self.M[i, j].diff(f"q{k + 1}") if i <= j else D[j, i, k]
        return (D + np.moveaxis(D, 2, 1) - np.moveaxis(D, 2, 0)) / 2

    @cached_property
    def C(self) -> Array:
        """The Coriolis matrix: C qd are the Coriolis and centrifugal forces."""
        return self.symbols.forms((self.christoffel * self.symbols.rates("qd")).sum(axis=-1))

    @cached_property
    def potential_energy(self) -> Form:
        """-sum m gravity . r, zero when all centres of mass are at the base's origin."""
        t = self.tree
        points = (rotate(T.rotation, c) + T.translation for T, c in zip(t.poses(self._q), t.com, strict=True))
        energies = self.symbols.forms([-m * dot(t.gravity, r) for m, r in zip(t.mass, points, strict=True)])
        return sum((settled(energies[i : i + 1])[0] for i in range(len(energies))), self.symbols.number(0))  # links of any size

    @cached_property
    def g(self) -> Array:
        """The joint forces that hold the arm still: the gradient of the potential energy."""
        return self.symbols.forms([self.potential_energy.diff(f"q{i + 1}") for i in range(len(self.symbols.joints))])

    @cached_property
    def tau(self) -> Array:
        """The joint forces."""
        if not self.symbols.joints:
            return self.symbols.forms([])
        qd, qdd = self.symbols.rates("qd"), self.symbols.rates("qdd")
        return self.symbols.forms((self.M * qdd).sum(axis=-1) + (self.C * qd).sum(axis=-1) + self.g)

    @cached_property
    def loops(self) -> LoopForms:
        """What the loops add: no equations where there are none, and then G is 1."""
        return LoopForms(self.robot.model, self.symbols, self.tree, self.robot.loop_frames(list(self.parameters().values())))

    @property
    def phi(self) -> Array:
        """The equations of the loops, (m,): 0 where these are closed."""
        return self.loops.phi

    @property
    def J(self) -> Array:
        """The derivatives of phi by all joints, (m, n)."""
        return self.loops.J

    @property
    def gamma(self) -> Array:
        """J' qd, (m,): J qdd + gamma = 0."""
        return self.loops.gamma

    @property
    def G(self) -> Array:
        """[1; -J_z^-1 J_y], (n, k), of quotients of forms: qd = G yd."""
        return self.loops.G

    @property
    def parts(self) -> tuple[str, ...]:
        """What is written: M, C, g, tau; of a robot with loops M, C, g, phi, J, gamma, and G unless it is too long."""
        if not self.robot.model.loops:
            return PARTS_OF
        return OF_LOOPS if self.loops.readable else OF_LOOPS[:-1]

    def evaluate(
        self, q: Any, qd: Any = None, qdd: Any = None, parameters: Mapping[str, Any] | None = None
    ) -> Values | ClosedValues:
        """Numbers for all parts at a state (..., n); velocities and accelerations are 0 where they are left out.

        `parameters` change the robot's own, and must give those that are not its own. Of a robot with loops, which q should
        close, `reduced` has the equations in the independent joints, whose velocities and accelerations move the others.

        >>> import dalembert as da
        >>> da.equations(da.robot("two_link")).evaluate([0.0, 0.0], parameters={"m2": 3.0}).g.round(4).tolist()
        [49.031, 14.7093]
        """
        n = len(self.symbols.joints)
        given = by_name({} if parameters is None else parameters, "parameters", "{'m1': 2.0}")
        values: dict[str, Any] = {**self.values, **given}
        for name in values:
            choice(name, "parameter", self.names)
        for letter, x in (("q", q), ("qd", qd), ("qdd", qdd)):
            x = np.zeros(n) if x is None and letter != "q" else numbers(x, letter).astype(float, copy=False)
            if x.shape[-1:] != (n,):
                raise Error(f"{letter} needs shape (..., {n}), got {x.shape}")
            values |= {f"{letter}{i + 1}": x[..., i] for i in range(n)}
        values |= {name: numbers(x, name) for name, x in given.items()}
        shape = batch({name: np.shape(x) for name, x in values.items()}, "evaluate")
        found = Values(*(evaluated(getattr(self, part), values, shape) for part in PARTS_OF))
        return closed_values(found, self.C, self.loops, values, shape) if self.robot.model.loops else found

    def entries(self, parts: Sequence[str] | str | None = None) -> list[tuple[str, tuple[int, ...], Form | Quotient]]:
        """Part, index and form of all entries, of all parts or some; of M the upper triangle, of G the joints that follow."""
        entries: list[tuple[str, tuple[int, ...], Form | Quotient]] = []
        for part in self.parts if parts is None else self._known(parts):
            forms = getattr(self, part)
            if part == "G":
                entries += [(part, i, form) for i, form in shown(self.loops)]
                continue
            entries += [(part, i, forms[i]) for i in np.ndindex(forms.shape) if part != "M" or i[0] <= i[1]]
        return entries

    def _known(self, parts: Sequence[str] | str) -> tuple[str, ...]:
        known = tuple(dict.fromkeys((*PARTS_OF, *self.parts)))
        return tuple(choice(part, "part of the equations", known) for part in several(parts, "parts"))

    @property
    def note(self) -> str:
        """What of the robot is not in the equations, if anything."""
        rubbing = [link.joint.name for link in self.robot.model.links if link.joint.rubs]
        return "Friction is not included." if rubbing else ""

    def text(self, parts: Sequence[str] | str | None = None) -> str:
        """A line for each entry, of all parts or some, after comments on what is not in them."""
        lines = [f"{label(part, i)} = {form}" for part, i, form in self.entries(parts)]
        return "\n".join([*(f"# {line}" for line in balance(self)), *([f"# {self.note}"] if self.note else []), *lines])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Equations {self.robot.model.name}: {', '.join(self.names) or 'numbers only'}>"

    def latex(self, short: bool = True, parts: Sequence[str] | str | None = None) -> str:
        """One aligned display of all entries; `short` writes the books' C_{12} for cos(q1 + q2)."""
        return display((entry_name(part, i), form.latex(short)) for part, i, form in self.entries(parts))

    def _repr_latex_(self) -> str | None:
        if len(self.symbols.joints) > 3 or sum(map(len, self.M.flat)) > 100:
            return None  # too long to show for a name
        return in_markdown(self.latex()) if self.symbols.joints else None

    def sympy(self) -> dict[str, Any]:
        """M and C as SymPy matrices, g and tau as columns; of a robot with loops all of its parts."""
        sympy = optional("sympy")
        made: dict[str, Any] = {}
        for part in self.parts:
            forms = getattr(self, part)
            rows, columns = (*forms.shape, 1)[:2]
            made[part] = sympy.Matrix(rows, columns, [form.sympy() for form in forms.flat])
        return made

    def save(self, path: str | Path, short: bool = True) -> Path:
        """Write a complete LaTeX document (.tex), Markdown with mathematics (.md), or text (.txt)."""
        return save_equations(self, path, short)

    def shared(self, *parts: Sequence[str] | str) -> Shared:
        """The same as a list of assignments with shared subexpressions: any of "M", "C", "g", "tau"; left out, M, C, g.

        >>> import dalembert as da
        >>> print(da.equations(da.robot("two_link"), symbols=("mass", "gravity")).shared("g"))
        c1 = cos(q1)
        ...
        g2 = ...
        """
        wanted = [part for some in parts or ("M", "C", "g") for part in several(some, "parts")]
        chosen = dict.fromkeys(choice(part, "part of the equations", PARTS_OF) for part in wanted)
        return Shared(self.symbols, self._program(tuple(chosen)), self.note)

    def _program(self, parts: Sequence[str]) -> Program:
        model, n = self.robot.model.cut if self.robot.model.loops else self.robot.model, len(self.symbols.joints)
        forces, own = tree_forces(model), rotors(model)

        def body(q: Any, qd: Any, qdd: Any, parameters: Any) -> Any:
            tree = self.robot.tree(self._parameters(dict(zip(self.names, parameters, strict=True)), float))
            still, coupling = zeros(n), model.coupling
            motion = (q, qd) if coupling is None else (coupling.positions(q), coupling.rates(qd))
            made = {
                "M": lambda: coupled_inertia(model, q, tree, self.method) + (own if model.is_tree else 0),
                "C": lambda: gathered(model, formulation("coriolis_matrix", "composite_body")(tree, *motion)),
                "g": lambda: forces(tree, q, still, still),
                "tau": lambda: forces(tree, q, qd, qdd) + own @ qdd,
            }
            empty = {"M": zeros((0, 0)), "C": zeros((0, 0)), "g": zeros(0), "tau": zeros(0)}
            return tuple(made[part]() if n else empty[part] for part in parts)

        return trace(body, {"q": (n,), "qd": (n,), "qdd": (n,), "parameters": (len(self.names),)}, outputs=tuple(parts))


def equations(
    robot: Model,
    symbols: Sequence[str] | str = PARTS,
    *,
    where: Mapping[str, Any] | str | None = None,
    method: str = "composite_body",
) -> Equations:
    r"""The equations of motion as closed forms in canonical trigonometric form.

    `symbols` are the parts of the robot that are written as symbols, any of mass, com, inertia, length, gravity; the rest stays
    numbers; symbols=() or "none" keeps them all. `where` gives symbols another meaning, a number or an expression of symbols, old
    and new: {"ax1": "l", "cx1": "-l/2"}; where="book" does so as books would, with l1 for the length of a link, l_c1 from its
    joint to its centre of mass, and m1 l1^2/12 for the inertia of a rod; the equations hold for all values of these letters.
    Meanings must be true of the robot: {"m1": "M", "m2": "2*M"} is rejected where m2 is not twice m1. `method` computes the
    mass matrix. Armature counts in M, as numbers; friction is left out.

    Coupled robots have them in their independent coordinates y, q = B y + b, where the factors of joints that turn are simple
    fractions. Robots with loops have M, C and g of all joints, as if the loops were open, and beside them the equations of the
    loops, phi(q) = 0, with J, gamma = J' qd and G.

    >>> import dalembert as da
    >>> eom = da.equations(da.robot("two_link"), where="book")
    >>> eom.M[0, 0]
    m1*l1**2/3 + m2*l1**2 + m2*l2**2/3 + m2*l1*l2*cos(q2)
    >>> print(eom.g[0].latex())
    g \bigl(l_1 \bigl(\frac{1}{2} m_1 + m_2\bigr) C_1 + \frac{1}{2} m_2 l_2 C_{12}\bigr)
    """
    a_robot(robot, "equations")
    formulation("mass_matrix", method)
    made = named(robot, named_parts(symbols, "symbols"))
    read = {name: parsed(meaning) for name, meaning in meanings(where, made).items()}
    result = Equations(made, _symbols(made, read), read, method)
    check_claims(made, read, result.symbols)
    return result


def _symbols(made: Symbolic, where: Mapping[str, ast.expr]) -> Symbols:
    """What is left of the robot's parameters and what `where` brings in, in the order of writing."""
    used = dict.fromkeys(name for tree in where.values() for name in names_in(tree))
    names = dict.fromkeys([*(name for name in made.names if name not in where or name in used), *used])
    model, order = made.model, tuple(sorted(names, key=_place))
    symbols = Symbols(order, coordinate_letters(model), model.name, divisors=divisors(model), offsets=offsets(model)[1])
    check_names(symbols, bool(model.loops))
    return symbols


def _place(name: str) -> int:
    """Masses are written first, gravity last."""
    return -1 if re.fullmatch(r"m\d*", name) else 1 if re.fullmatch("g[xyz]?", name) else 0
