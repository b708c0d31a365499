"""The equations of motion of a robot as closed forms: M(q) qdd + C(q, qd) qd + g(q) = tau."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array, Transform, dot, rotate, zeros
from dalembert.arguments import batch, by_name, choice, numbers, several
from dalembert.cached import cached_property
from dalembert.derived.joints import joint_parameters
from dalembert.errors import Error, optional
from dalembert.formulations import formulation
from dalembert.model.model import Model, a_robot
from dalembert.model.tree import Tree
from dalembert.symbolic.closed_form.book import known_values, letters, meanings
from dalembert.symbolic.closed_form.consistent import check_claims
from dalembert.symbolic.closed_form.document import save_equations
from dalembert.symbolic.closed_form.form import Form, Symbols
from dalembert.symbolic.closed_form.meaning import names_in, parsed, valued
from dalembert.symbolic.closed_form.names import check_names, entry_name, label
from dalembert.symbolic.closed_form.paper import display, in_markdown
from dalembert.symbolic.closed_form.rational import exact, exactly
from dalembert.symbolic.closed_form.settle import settled, settled_mass_matrix
from dalembert.symbolic.closed_form.shared import Shared
from dalembert.symbolic.parameters import PARTS, Symbolic, symbolic
from dalembert.trace.program import Program, trace

PARTS_OF = ("M", "C", "g", "tau")


class Values(NamedTuple):
    """Numbers for the parts of the equations."""

    M: Array
    C: Array
    g: Array
    tau: Array


@dataclass(frozen=True, repr=False, eq=False)
class Equations:
    """M(q) qdd + C(q, qd) qd + g(q) = tau as closed forms: arrays M (n, n), C (n, n), g (n), tau (n) of `Form`.

    C is the one of the Christoffel symbols. Rotors are in M, friction is left out. Parts are computed on first use.
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
        n = len(self.symbols.joints)
        rotors = exactly(np.diag(joint_parameters(self.robot.model)[0]))
        matrix = formulation("mass_matrix", self.method)(self.tree, self.symbols.positions()) if n else zeros((0, 0))
        return settled_mass_matrix(self.symbols.forms(matrix + rotors))

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
        points = (rotate(T.rotation, c) + T.translation for T, c in zip(t.poses(self.symbols.positions()), t.com, strict=True))
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

    def evaluate(self, q: Any, qd: Any = None, qdd: Any = None, parameters: Mapping[str, Any] | None = None) -> Values:
        """Numbers for M, C, g and tau at a state (..., n); velocities and accelerations are 0 where they are left out.

        `parameters` change the robot's own, and must give those that are not its own.

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
        return Values(*(_evaluated(getattr(self, part), values, shape) for part in PARTS_OF))

    def entries(self, parts: Sequence[str] | str = PARTS_OF) -> list[tuple[str, tuple[int, ...], Form]]:
        """Part, index and form of all entries; of M the upper triangle."""
        entries: list[tuple[str, tuple[int, ...], Form]] = []
        for part in _known(parts):
            forms = getattr(self, part)
            entries += [(part, i, forms[i]) for i in np.ndindex(forms.shape) if part != "M" or i[0] <= i[1]]
        return entries

    @property
    def note(self) -> str:
        """What of the robot is not in the equations, if anything."""
        rubbing = [link.joint.name for link in self.robot.model.links if link.joint.rubs]
        return "Friction is not included." if rubbing else ""

    def __str__(self) -> str:
        lines = [f"{label(part, i)} = {form}" for part, i, form in self.entries()]
        return "\n".join([*([f"# {self.note}"] if self.note else []), *lines])

    def __repr__(self) -> str:
        return f"<Equations {self.robot.model.name}: {', '.join(self.names) or 'numbers only'}>"

    def latex(self, short: bool = True, parts: Sequence[str] | str = PARTS_OF) -> str:
        """One aligned display of all entries; `short` writes the books' C_{12} for cos(q1 + q2)."""
        return display((entry_name(part, i), form.latex(short)) for part, i, form in self.entries(parts))

    def _repr_latex_(self) -> str | None:
        if len(self.symbols.joints) > 3 or sum(map(len, self.M.flat)) > 100:
            return None  # too long to show for a name
        return in_markdown(self.latex()) if self.symbols.joints else None

    def sympy(self) -> dict[str, Any]:
        """M and C as SymPy matrices, g and tau as columns."""
        sympy = optional("sympy")
        n = len(self.symbols.joints)
        shapes = {"M": (n, n), "C": (n, n), "g": (n, 1), "tau": (n, 1)}
        listed = {part: [form.sympy() for form in getattr(self, part).flat] for part in PARTS_OF}
        return {part: sympy.Matrix(*shapes[part], listed[part]) for part in PARTS_OF}

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
        chosen = dict.fromkeys(part for some in parts or ("M", "C", "g") for part in _known(some))
        return Shared(self.symbols, self._program(tuple(chosen)), self.note)

    def _program(self, parts: Sequence[str]) -> Program:
        n = len(self.symbols.joints)
        armature = joint_parameters(self.robot.model)[0]

        def body(q: Any, qd: Any, qdd: Any, parameters: Any) -> Any:
            tree = self.robot.tree(self._parameters(dict(zip(self.names, parameters, strict=True)), float))
            still, forces = zeros(n), formulation("inverse_dynamics", "newton_euler")
            made = {
                "M": lambda: formulation("mass_matrix", self.method)(tree, q) + np.diag(armature).astype(object),
                "C": lambda: formulation("coriolis_matrix", "composite_body")(tree, q, qd),
                "g": lambda: forces(tree, q, still, still),
                "tau": lambda: forces(tree, q, qd, qdd) + armature * qdd,
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
    numbers. `where` gives symbols another meaning, a number or an expression of symbols, old and new: {"ax1": "l", "cx1": "-l/2"};
    where="book" does so as books would, with l for equal lengths and m l^2/12 for the inertia of a rod. Meanings must be true of
    the robot: {"m1": "M", "m2": "2*M"} is rejected where m2 is not twice m1. `method` computes the mass matrix. Armature counts in
    M, as numbers; friction is left out.

    >>> import dalembert as da
    >>> eom = da.equations(da.robot("two_link"), where="book")
    >>> eom.M[0, 0]
    l**2*(m1/3 + 4*m2/3 + m2*cos(q2))
    >>> print(eom.g[0].latex())
    l g \bigl(\bigl(\frac{1}{2} m_1 + m_2\bigr) C_1 + \frac{1}{2} m_2 C_{12}\bigr)
    """
    a_robot(robot, "equations")
    formulation("mass_matrix", method)
    made = symbolic(robot, several(symbols, "symbols"))
    read = {name: parsed(meaning) for name, meaning in meanings(where, made).items()}
    result = Equations(made, _symbols(made, read), read, method)
    check_claims(made, read, result.symbols)
    return result


def _symbols(made: Symbolic, where: Mapping[str, ast.expr]) -> Symbols:
    """What is left of the robot's parameters and what `where` brings in, in the order of writing."""
    used = dict.fromkeys(name for tree in where.values() for name in names_in(tree))
    names = dict.fromkeys([*(name for name in made.names if name not in where or name in used), *used])
    joints = "".join(link.joint.letter for link in made.model.links)
    symbols = Symbols(tuple(sorted(names, key=_place)), joints, made.model.name)
    check_names(symbols)
    return symbols


def _place(name: str) -> int:
    """Masses are written first, gravity last."""
    return -1 if re.fullmatch(r"m\d*", name) else 1 if re.fullmatch("g[xyz]?", name) else 0


def _known(parts: Sequence[str] | str) -> tuple[str, ...]:
    return tuple(choice(part, "part of the equations", PARTS_OF) for part in several(parts, "parts"))


def _evaluated(forms: Array, values: Mapping[str, Any], batch: tuple[int, ...]) -> Array:
    numbers = np.zeros((*batch, *forms.shape))
    for index in np.ndindex(forms.shape):
        form: Any = forms[index]
        numbers[(..., *index)] = form.evaluate(values)
    return numbers
