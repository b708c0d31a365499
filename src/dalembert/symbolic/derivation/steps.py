"""What a derivation is made of: methods, their steps, and the values of a step by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.symbolic.closed_form.settle import settled
from dalembert.symbolic.derivation.letters import Lettered
from dalembert.symbolic.derivation.words import Words


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
    """A method's title, its source, the texts of its steps, and their values.

    `letters` are symbols beside those of the robot, one for each joint: values that are found on the way and kept as letters, and
    tau of forward dynamics.
    """

    title: str
    source: str
    words: Sequence[Words]
    values: Callable[[Lettered], list[Entries]]
    letters: tuple[str, ...] = ()
    forward: bool = False

    def steps(self, x: Lettered) -> tuple[Step, ...]:
        """The steps for one robot."""
        prismatic = any(sigma != 0 for _, sigma in x.tree.screw)
        offset = any(entry != 0 for entry in np.ravel(x.tree.before.translation))

        def step(said: Words, entries: Entries) -> Step:
            remarks = said.remark, said.if_prismatic if prismatic else "", said.if_offset if offset else ""
            clean = {name: Entry(entry.latex, settled(x.symbols.forms(entry.value))[()]) for name, entry in entries.items()}
            return Step(said.title, clean, said.equation, said.formula, " ".join(filter(None, remarks)))

        return tuple(step(said, entries) for said, entries in zip(self.words, self.values(x), strict=True))


def own(x: Lettered, name: str) -> list[Any]:
    """Letters of the derivation's own, one for each joint."""
    return [x.symbols[f"{name}{i + 1}"] for i in range(len(x.q))]


def one(name: str, value: Any, latex: str) -> Entries:
    """One value of all of the robot."""
    return {name: Entry(latex, value)}


def each(name: str, values: Any, latex: str, parents: tuple[int, ...] | None = None) -> Entries:
    """One entry a link, or pair of them: `latex` has <> for the index, counted from 1, and <parent> for that of the parent."""
    entries: Entries = {}
    pairs: Any = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in pairs:
        numbers = [str(i + 1) for i in np.ravel(key)]
        index = ("" if all(len(number) == 1 for number in numbers) else ",").join(numbers)
        parent = "" if parents is None else str(parents[key] + 1)
        entries[name + index] = Entry(latex.replace("<parent>", parent).replace("<>", index), value)
    return entries
