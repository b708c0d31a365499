"""A robot in letters: masses, lengths and the state become symbols, as a book would write them."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error, brief, unknown
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.quantities.symbolic import symbolic
from dalembert.trace.harmonic import Harmonic, Symbol

_PARAMETER = re.compile(r"([mcIbag])([xyz]*)(\d*)")  # the names of `robot.symbolic`
_NAME = re.compile(r"([A-Za-z]+?)_?([A-Za-z]*?[0-9]*)")  # the names that users may give: l, l1, l_1, r_c1
_RANKS = {"m": 0, "I": 1, "g": 2, "a": 3, "b": 3, "c": 4}
_WORDS = {
    "m": "mass of link {}, kg",
    "I": "moment of inertia {axes} of link {} about its centre of mass, kg m²",
    "g": "gravity {axes}, m/s²",
    "a": "length behind joint {} along {axes}, m",
    "b": "length before joint {} along {axes}, m",
    "c": "centre of mass of link {} along {axes}, m",
}


class Meaning(NamedTuple):
    """What a letter stands for: its LaTeX, words, value, and the parameters of `robot.symbolic` that it is."""

    latex: str
    words: str
    value: float
    parameters: list[str]


class Lettered(NamedTuple):
    """The robot as formulations take it, its state, what the letters are worth and mean, and what is written with others."""

    tree: Tree
    q: Any
    qd: Any
    qdd: Any
    values: dict[str, float]
    meaning: list[Meaning]
    written: list[tuple[str, Harmonic]]  # words, expression: -l/2


def scalars(robot: Model, parts: Sequence[str] | str, names: Mapping[str, str]) -> Lettered:
    """The robot with letters for its numbers and its state.

    Without other names, equal lengths are all l, a lone component of gravity is g with its sign outside, and what is a small
    fraction of a link's only length (a centre of mass at -l/2, an inertia m l^2/12) is written as that.
    """
    s = symbolic(robot, parts)
    values = dict(zip(s.names, map(float, s.values), strict=True))
    for name in names:
        if name not in values:
            raise unknown("parameter", name, values)
    book = _Book(values, _chosen(values, names))
    found: dict[str, Harmonic] = {}
    for name in sorted(
        values, key=lambda name: (name[0] in "cI", _RANKS[name[0]])
    ):  # masses and lengths before what may be fractions of them
        fraction = None if name in names else _fraction(name, values, found, robot)
        found[name] = book.letter(name) if fraction is None else fraction
        if fraction is not None:
            book.written.append((_words(name), fraction))
    n = robot.n
    q, qd, qdd = (np.array([Harmonic.letter(_state(robot, i, order)) for i in range(n)], dtype=object) for order in range(3))
    return Lettered(s.tree([found[name] for name in s.names]), q, qd, qdd, book.values, list(book.meaning.values()), book.written)


class _Book:
    """Which letter each parameter has, once."""

    def __init__(self, values: Mapping[str, float], chosen: Mapping[str, str]) -> None:
        self.given, self.chosen = values, chosen
        self.symbols: dict[str, Symbol] = {}
        self.values: dict[str, float] = {}
        self.meaning: dict[str, Meaning] = {}
        self.written: list[tuple[str, Harmonic]] = []

    def letter(self, name: str) -> Harmonic:
        """The letter of a parameter; parameters of equal value may share one."""
        sign = -1 if self.lone_gravity(name) and self.given[name] < 0 else 1
        value, short = sign * self.given[name], self.chosen[name]
        if short not in self.symbols:
            self.symbols[short] = Symbol(_RANKS[name[0]], short, _latex(short))
            self.values[short] = value
            self.meaning[short] = Meaning(self.symbols[short].latex, _words(name, self.lone_gravity(name)), value, [])
        elif self.values[short] != value:
            first = self.meaning[short].parameters[0]
            raise Error(f"{first} = {self.values[short]:g} and {name} = {value:g} cannot share the name {short!r}")
        self.meaning[short].parameters.append(name)
        return Harmonic.letter(self.symbols[short]) * sign

    def lone_gravity(self, name: str) -> bool:
        """Whether it is the only component of gravity."""
        return name[0] == "g" and sum(other[0] == "g" for other in self.given) == 1


def _chosen(values: Mapping[str, float], names: Mapping[str, str]) -> dict[str, str]:
    """The short name of every parameter: the user's, or the books'."""
    lengths = [name for name in values if name[0] in "ab"]
    gravity = [name for name in values if name[0] == "g"]
    chosen: dict[str, str] = {}
    for name in values:
        if name in names:
            chosen[name] = _checked(names[name])
        elif name in lengths and len({values[other] for other in lengths}) == 1:
            chosen[name] = "l"
        elif name in lengths and len(_lengths_of(name, values)) == 1:
            chosen[name] = name[0] + name[2:]
        else:
            chosen[name] = "g" if gravity == [name] else name
    return chosen


def _lengths_of(name: str, values: Mapping[str, float]) -> list[str]:
    """The lengths of the link that a parameter belongs to."""
    number = name.lstrip("mcIbagxyz")
    return [other for other in values if other[0] in "ab" and other[2:] == number]


def _fraction(name: str, values: Mapping[str, float], found: Mapping[str, Harmonic], robot: Model) -> Harmonic | None:
    """A centre of mass or an inertia as a small fraction of the link's only length, if it is one."""
    lengths = _lengths_of(name, values)
    if name[0] not in "cI" or len(lengths) != 1:
        return None
    length, value, unit = found[lengths[0]], values[lengths[0]], 1.0
    if name[0] == "I":
        i = int(name.lstrip("Ixyz"))
        unit = float(robot.tree.mass[i - 1])
        length = length * length * found.get(f"m{i}", unit)
        value = value * value
    if not unit:
        return None
    ratio = values[name] / (unit * value)
    fraction = Fraction(ratio).limit_denominator(12)
    return length * fraction if fraction and abs(ratio - fraction) < 1e-12 * abs(ratio) else None


def _state(robot: Model, i: int, order: int) -> Symbol:
    letter = "d" if robot.links[i].joint.kind == "prismatic" else r"\theta"
    subscript = f"_{i + 1}" if i < 9 else f"_{{{i + 1}}}"
    accent = (letter, rf"\dot{{{letter}}}", rf"\ddot{{{letter}}}")[order]
    return Symbol(5 + order, f"q{'d' * order}{i + 1}", accent + subscript)


def _checked(short: Any) -> str:
    if not isinstance(short, str) or not _NAME.fullmatch(short) or re.fullmatch(r"q(d|dd)?\d+", short):
        raise Error(f"a name for a parameter must be a letter with an index, such as l, l1 or r_c, got {brief(short)}")
    return short


def _latex(short: str) -> str:
    letter, index = ("m", "") if (match := _NAME.fullmatch(short)) is None else match.groups()
    if not index:
        return letter if len(letter) == 1 else rf"\mathrm{{{letter}}}"
    return f"{letter}_{index}" if len(index) == 1 else f"{letter}_{{{index}}}"


def _words(name: str, lone_gravity: bool = False) -> str:
    match = _PARAMETER.fullmatch(name)
    kind, axes, number = ("m", "", "") if match is None else match.groups()
    return "gravity, m/s²" if lone_gravity else _WORDS[kind].format(number, axes=axes)
