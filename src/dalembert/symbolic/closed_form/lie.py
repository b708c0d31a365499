"""The general arm of two joints in Lie-group form: Park, Bobrow and Ploen 1995, equations (60)-(64).

M = [[<A1, A1>_1 + <X, X>_2, <X, A2>_2], [<X, A2>_2, <A2, A2>_2]] with X = Ad_2^2(A1), and with Y = Ad_2^2([A1, A2]),

C = [[a qd2, a qd1 + b qd2], [-a qd1, 0]], a = <Y, X>_2, b = <Y, A2>_2.

Corrected: E-B6 (the paper prints one velocity too many in C, and the other sign of c21).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Ad, Array, ad, compose, dot, inverse, rotate
from dalembert.errors import Error
from dalembert.formulations.lie_closed_form import screws
from dalembert.model.model import Model, freed
from dalembert.symbolic.closed_form.equations import equations
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.paper import broken, in_markdown, save_display
from dalembert.symbolic.closed_form.settle import settled

_X, _Y = r"\mathrm{Ad}_2^2 A_1", r"\mathrm{Ad}_2^2 [A_1, A_2]"
_INNER = {
    "<A1, A1>_1": r"\langle A_1, A_1 \rangle_1",
    "<Ad A1, Ad A1>_2": rf"\langle {_X}, {_X} \rangle_2",
    "<Ad A1, A2>_2": rf"\langle {_X}, A_2 \rangle_2",
    "<A2, A2>_2": r"\langle A_2, A_2 \rangle_2",
    "<Ad [A1, A2], Ad A1>_2": rf"\langle {_Y}, {_X} \rangle_2",
    "<Ad [A1, A2], A2>_2": rf"\langle {_Y}, A_2 \rangle_2",
}
_M = (("<A1, A1>_1 + <Ad A1, Ad A1>_2", "<Ad A1, A2>_2"), ("<Ad A1, A2>_2", "<A2, A2>_2"))
_C = (("a qd2", "a qd1 + b qd2"), ("-a qd1", "0"))


@dataclass(frozen=True, repr=False, eq=False)
class LieForm:
    """Inner products of screws by name, as closed forms, and the matrices M and C that they make."""

    inner: Mapping[str, Form]
    M: Array
    C: Array
    robot: str
    note: str

    def __str__(self) -> str:
        lines = [f"M{i + 1}{j + 1} = {_M[i][j]}" for i, j in ((0, 0), (0, 1), (1, 1))]
        lines += [f"C{i + 1}{j + 1} = {_C[i][j]}" for i in range(2) for j in range(2)]
        lines += ["a = <Ad [A1, A2], Ad A1>_2", "b = <Ad [A1, A2], A2>_2", "where"]
        lines += [f"{name} = {form}" for name, form in self.inner.items()]
        return "\n".join([*([f"# {self.note}"] if self.note else []), *lines])

    def __repr__(self) -> str:
        return "<LieForm of two joints>"

    def latex(self, short: bool = True) -> str:
        """The matrices in inner products, and each of these worked out."""
        one, xx, xa, aa, a, b = _INNER.values()
        matrices = [
            rf"M &= \begin{{pmatrix}} {one} + {xx} & {xa} \\ {xa} & {aa} \end{{pmatrix}}",
            r"C &= \begin{pmatrix} a \dot{x}_2 & a \dot{x}_1 + b \dot{x}_2 \\ -a \dot{x}_1 & 0 \end{pmatrix}",
            rf"a &= {a}, \quad b = {b}",
        ]
        worked = [f"{_INNER[name]} &= {broken(form.latex(short))}" for name, form in self.inner.items()]
        return "\\begin{align*}\n" + " \\\\\n".join(matrices + worked) + "\n\\end{align*}"

    def _repr_latex_(self) -> str:
        return in_markdown(self.latex())

    def save(self, path: str | Path, short: bool = True) -> Path:
        """Write a complete LaTeX document (.tex), Markdown with mathematics (.md), or text (.txt)."""
        title = f"{self.robot}: M and C in inner products of screws"
        return save_display(path, title, self.note, lambda: self.latex(short), self.__str__)


def lie_two_joint(robot: Model, symbols: Sequence[str] | str = (), *, where: Mapping[str, Any] | str | None = None) -> LieForm:
    """M and C of a chain of two joints of any kind, in inner products of its screws: Park, Bobrow and Ploen (60)-(64).

    `symbols` and `where` as in `equations`; with none of them the inner products are functions of q2 with numbers. A_i are the
    screws in base axes at q = 0, <., .>_k is the inertia of link k there, Ad carries a screw from link 1 to link 2.
    Rotors and friction are left out.

    >>> import dalembert as da
    >>> lie = da.lie_two_joint(da.robot("two_link"), symbols="mass")
    >>> lie.inner["<Ad [A1, A2], Ad A1>_2"]
    -m2*sin(q2)/2
    """
    made = equations(robot, symbols, where=where)
    if not robot.is_tree:
        raise Error(f"the Lie-group form needs a tree of independent joints, which {robot.name} is not; {freed(robot)} is one")
    if made.tree.parents != (-1, 0):
        raise Error(f"the Lie-group form needs a chain of two joints; {robot.name} has parents {made.tree.parents}")
    s = screws(made.tree, made.symbols.positions())
    (A1, A2), (D1, D2) = s.A, s.D
    carry = compose(inverse(s.E[1]), s.E[0])
    X, Y = Ad(carry, A1), Ad(carry, ad(A1, A2))
    pairs = (A1, D1, A1), (X, D2, X), (X, D2, A2), (A2, D2, A2), (Y, D2, X), (Y, D2, A2)
    values = settled(made.symbols.forms([dot(left, rotate(D, right)) for left, D, right in pairs]))
    one, xx, xa, aa, a, b = values
    v, w = made.symbols.rates("qd")
    M = np.array([[one + xx, xa], [xa, aa]], dtype=object)  # (60)
    C = np.array([[a * w, a * v + b * w], [-a * v, 0 * a]], dtype=object)  # (61)-(64)
    left_out = any(link.joint.rubs or link.joint.armature for link in robot.links)
    note = "Friction and rotor inertias are not included." if left_out else ""
    return LieForm(dict(zip(_INNER, values, strict=True)), M, C, robot.name, note)
