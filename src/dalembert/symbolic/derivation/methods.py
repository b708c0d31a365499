"""The steps of each method for one robot: the formulations' own functions, run on letters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import homogeneous, rotate_back
from dalembert.formulations import generalized_dalembert, lagrange_euler, lie_group, newton_euler
from dalembert.formulations.shared.homogeneous import first_partials, kinematics, second_partials
from dalembert.symbolic.closed_form.settle import settled
from dalembert.symbolic.derivation import words
from dalembert.symbolic.derivation.letters import Lettered


class Entry(NamedTuple):
    """A value with its LaTeX name."""

    latex: str
    value: Any


Entries = dict[str, Entry]


class Step(NamedTuple):
    """One step: its title, its values by plain names such as U21, the formula and its number, and a remark."""

    title: str
    entries: Mapping[str, Entry]
    equation: str
    formula: str
    remark: str

    @property
    def values(self) -> dict[str, Any]:
        """The values by name: arrays of symbolic scalars, which SymPy takes as they are."""
        return {name: entry.value for name, entry in self.entries.items()}


class Method(NamedTuple):
    """A method's title, its source, the texts of its steps, and their values."""

    title: str
    source: str
    words: Sequence[words.Words]
    values: Callable[[Lettered], list[Entries]]

    def steps(self, x: Lettered) -> tuple[Step, ...]:
        """The steps for one robot."""
        prismatic = any(sigma != 0 for _, sigma in x.tree.screw)
        offset = any(entry != 0 for entry in np.ravel(x.tree.before.translation))

        def step(said: words.Words, entries: Entries) -> Step:
            remarks = said.remark, said.if_prismatic if prismatic else "", said.if_offset if offset else ""
            clean = {name: Entry(entry.latex, settled(x.symbols.forms(entry.value))[()]) for name, entry in entries.items()}
            return Step(said.title, clean, said.equation, said.formula, " ".join(filter(None, remarks)))

        return tuple(step(said, entries) for said, entries in zip(self.words, self.values(x), strict=True))


def lagrange_euler_steps(x: Lettered) -> list[Entries]:
    """A, Q, U, J, D, h, c: Fu, Gonzalez and Lee, section 3.2."""
    tree = x.tree
    k = kinematics(tree, x.q)
    second = {key: value for key, value in second_partials(tree, k).items() if key[1] <= key[2]}
    D, H, h, c = lagrange_euler.lagrange_euler_terms(tree, x.q, x.qd)
    W = {i: W for i, W in enumerate(k.W) if tree.parents[i] >= 0}
    return [
        _each("A", k.A, r"{}^{<parent>}\mathbf{A}_{<>}", tree.parents) | _each("W", W, r"{}^{0}\mathbf{A}_{<>}"),
        _each("Q", k.Q, r"\mathbf{Q}_{<>}"),
        _each("U", first_partials(tree, k), r"\mathbf{U}_{<>}"),
        _each("U", second, r"\mathbf{U}_{<>}"),
        _each("J", k.J, r"\mathbf{J}_{<>}"),
        _one("D", D, r"\mathbf{D}"),
        _each("H", H, r"\left[h_{<>km}\right]") | _one("h", h, r"\mathbf{h}"),
        _one("c", c, r"\mathbf{c}"),
        _each("tau", lagrange_euler.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def newton_euler_steps(x: Lettered) -> list[Entries]:
    """omega, v-dot, F, N, f, n: Fu, Gonzalez and Lee, table 3.3."""
    tree = x.tree
    poses = [tree.pose(i, x.q[i]) for i in range(len(tree.parents))]
    passed = newton_euler.newton_euler_pass(tree, x.q, x.qd, x.qdd)
    constants = (
        _each("R", [pose.rotation for pose in poses], r"{}^{<parent>}\mathbf{R}_{<>}", tree.parents)
        | _each("p", [rotate_back(pose.rotation, pose.translation) for pose in poses], r"\mathbf{p}^*_{<>}")
        | _each("s", tree.com, r"\bar{\mathbf{s}}_{<>}")
        | _each("I", tree.inertia, r"\mathbf{I}_{<>}")
    )
    latex = (
        r"\boldsymbol{\omega}", r"\dot{\boldsymbol{\omega}}", r"\dot{\mathbf{v}}", r"\bar{\mathbf{a}}",
        r"\mathbf{F}", r"\mathbf{N}", r"\mathbf{f}", r"\mathbf{n}",
    )  # fmt: skip
    vectors = [_each(name, getattr(passed, name), letter + "_{<>}") for name, letter in zip(passed._fields, latex, strict=True)]
    return [constants, *vectors, _each("tau", newton_euler.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}")]


def generalized_dalembert_steps(x: Lettered) -> list[Entries]:
    """z, r, b, D_rot, D_tran, h_tran, h_rot, c: Fu, Gonzalez and Lee, section 3.4."""
    tree = x.tree
    g = generalized_dalembert.geometry(tree, x.q)
    b, turn = generalized_dalembert.partials(tree, g)
    t = generalized_dalembert.dalembert_terms(tree, x.q, x.qd)
    axes = {f"z{i}": Entry(rf"\mathbf{{z}}_{{{i}}}", z) for i, z in enumerate(g.z)}  # the axis of joint i is z_{i-1}
    return [
        _each("R", g.R, r"{}^{0}\mathbf{R}_{<>}") | _each("I", tree.inertia, r"\mathbf{I}_{<>}"),
        axes
        | _each("o", g.o, r"\mathbf{o}_{<>}")
        | _each("p", g.p, r"\mathbf{p}_{<>}")
        | _each("r", g.r, r"\bar{\mathbf{r}}_{<>}"),
        _each("b", b, r"\mathbf{b}_{<>}"),
        _each("zeta", turn, r"\boldsymbol{\zeta}_{<>}"),
        _one("D_rot", t.D_rot, r"\mathbf{D}^{\text{rot}}")
        | _one("D_tran", t.D_tran, r"\mathbf{D}^{\text{tran}}")
        | _one("D", t.D_rot + t.D_tran, r"\mathbf{D}"),
        _one("h_tran", t.h_tran, r"\mathbf{h}^{\text{tran}}"),
        _one("h_rot", t.h_rot, r"\mathbf{h}^{\text{rot}}"),
        _one("c", t.c, r"\mathbf{c}"),
        _each("tau", generalized_dalembert.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


def lie_group_steps(x: Lettered) -> list[Entries]:
    """f, S, J, V, V-dot, F: Park, Bobrow and Ploen, section 3."""
    tree = x.tree
    r = lie_group.recursion(tree, x.q, x.qd, x.qdd)
    return [
        _each("f", [homogeneous(f) for f in r.f], "f_{<parent>,<>}", tree.parents),
        _each("S", r.S, "S_{<>}"),
        _each("J", r.J, "J_{<>}"),
        _each("V", r.V, "V_{<>}"),
        _each("Vd", r.Vd, r"\dot{V}_{<>}"),
        _each("F", r.F, "F_{<>}"),
        _each("tau", lie_group.inverse_dynamics(tree, x.q, x.qd, x.qdd), r"\tau_{<>}"),
    ]


_BOOK = "Fu, Gonzalez and Lee, Robotics: Control, Sensing, Vision, and Intelligence, section "
_PAPER = "Park, Bobrow and Ploen, A Lie Group Formulation of Robot Dynamics, 1995, section 3"
METHODS: dict[str, Method] = {
    "lagrange_euler": Method("Lagrange-Euler", _BOOK + "3.2", words.LAGRANGE_EULER, lagrange_euler_steps),
    "newton_euler": Method("Newton-Euler", _BOOK + "3.3", words.NEWTON_EULER, newton_euler_steps),
    "generalized_dalembert": Method(
        "Generalized d'Alembert", _BOOK + "3.4", words.GENERALIZED_DALEMBERT, generalized_dalembert_steps
    ),
    "lie_group": Method("The recursion on the Lie group SE(3)", _PAPER, words.LIE_GROUP, lie_group_steps),
}


def _one(name: str, value: Any, latex: str) -> Entries:
    return {name: Entry(latex, value)}


def _each(name: str, values: Any, latex: str, parents: tuple[int, ...] | None = None) -> Entries:
    """One entry a link, or pair of them: `latex` has <> for the index, counted from 1, and <parent> for that of the parent."""
    entries: Entries = {}
    pairs: Any = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in pairs:
        numbers = [str(i + 1) for i in np.ravel(key)]
        index = ("" if all(len(number) == 1 for number in numbers) else ",").join(numbers)
        parent = "" if parents is None else str(parents[key] + 1)
        entries[name + index] = Entry(latex.replace("<parent>", parent).replace("<>", index), value)
    return entries
