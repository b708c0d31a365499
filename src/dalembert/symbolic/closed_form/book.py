"""The letters that a book would take: equal lengths are l, gravity is g, a rod's centre of mass is at l/2."""

import ast
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.errors import Error, brief, unknown
from dalembert.symbolic.closed_form.meaning import lone_name, names_in, valued
from dalembert.symbolic.parameters import Symbolic

_PARAMETER = re.compile(r"([mcIbaguw])([xyz]*)(\d*)")  # the names of `robot.symbolic`
_KINDS = {"m": "mass", "I": "moment of inertia", "g": "gravity"} | dict.fromkeys("abcuw", "length")
_WORDS = {
    "m": "mass of link {}, kg",
    "I": "moment of inertia {axes} of link {} about its centre of mass, kg m²",
    "g": "gravity {axes}, m/s²",
    "a": "length after joint {} along {axes}, m",
    "b": "length before joint {} along {axes}, m",
    "c": "centre of mass of link {} along {axes}, m",
    "u": "place of the first frame of loop {} on its link along {axes}, m",
    "w": "place of the second frame of loop {} on its link along {axes}, m",
}


class Letter(NamedTuple):
    """A parameter of `robot.symbolic` that a symbol stands for, the symbol's value, and what it is in words."""

    parameter: str
    value: float
    words: str


def book(made: Symbolic, given: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What a book would write for the parameters of a robot, where it has other words for them; `given` takes precedence.

    Equal lengths are all l, a lone component of gravity is g with its sign outside, and what is a small fraction of a link's only
    length (a centre of mass at -l/2, an inertia m l^2/12) is written as that.

    >>> import dalembert as da
    >>> book(da.robot("two_link").symbolic(("com", "length", "gravity")))
    {'ax1': 'l', 'ax2': 'l', 'gy': '-g', 'cx1': '-1/2*(l)', 'cx2': '-1/2*(l)'}
    """
    values = dict(zip(made.names, map(float, made.values), strict=True))
    meanings = {name: meaning if isinstance(meaning, str) else repr(meaning) for name, meaning in (given or {}).items()}
    lengths = [name for name in values if name[0] in "abuw"]
    for name in values:
        if name in meanings:
            continue
        if name in lengths and len({values[other] for other in lengths}) == 1:
            meanings[name] = "l"
        elif name in lengths and len(_lengths_of(name, values)) == 1:
            meanings[name] = name[0] + name[2:]
        elif name[0] == "g" and _lone_gravity(values):
            meanings[name] = "-g" if values[name] < 0 else "g"
    for name in values:
        if name not in meanings and (fraction := _fraction(name, values, meanings, made)):
            meanings[name] = fraction
    return meanings


def letters(made: Symbolic, where: Mapping[str, ast.expr]) -> dict[str, list[Letter]]:
    """The symbols that are parameters of the robot under another name, or its own: each with all that it stands for."""
    values = dict(zip(made.names, map(float, made.values), strict=True))
    result: dict[str, list[Letter]] = {}
    for name, value in values.items():
        if (named := lone_name(where[name]) if name in where else (name, 1)) is not None:
            short, sign = named
            minus = "minus " if sign < 0 and name[0] != "g" else ""  # g is the size of gravity
            result.setdefault(short, []).append(Letter(name, sign * value, minus + described(name, values)))
    return result


def known_values(letters_of: Mapping[str, list[Letter]]) -> dict[str, float]:
    """Values of the letters that stand for equal things."""
    same = {short: {(_KINDS[x.parameter[0]], x.value) for x in several} for short, several in letters_of.items()}
    return {short: several[0].value for short, several in letters_of.items() if len(same[short]) == 1}


def check_letters(made: Symbolic, where: Mapping[str, ast.expr], letters_of: Mapping[str, list[Letter]]) -> None:
    """Refuse a letter for things that are not equal, and expressions that are not worth what the robot has."""
    for short, (first, *rest) in letters_of.items():
        for x in rest:
            kinds = [_KINDS[y.parameter[0]] for y in (first, x)]
            if kinds[0] != kinds[1]:
                raise Error(f"{first.parameter}, a {kinds[0]}, and {x.parameter}, a {kinds[1]}, cannot share the name {short!r}")
            if first.value != x.value:
                raise Error(f"{first.parameter} = {first.value:g} and {x.parameter} = {x.value:g} cannot share the name {short!r}")
    known = known_values(letters_of)
    for name, value in zip(made.names, map(float, made.values), strict=True):
        tree = where.get(name)
        if tree is None:
            continue
        for other in names_in(tree):
            if other not in known:
                raise Error(f"the value of {other} is not known: give one of the robot's parameters that name")
        written = valued(tree, known, float)
        if abs(written - value) > 1e-9 * abs(value):
            raise Error(f"{name} is {value:g}, but {ast.unparse(tree)} is {written:g}")


def meanings(where: Any, made: Symbolic) -> dict[str, Any]:
    """`where` as users give it, with names that exist."""
    if where is None:
        return {}
    if isinstance(where, str) and where == "book":
        return dict(book(made))
    if not isinstance(where, Mapping):
        raise Error(f"where must be 'book' or substitutions for symbols, such as {{'ax1': 'l', 'cx1': '-l/2'}}, got {brief(where)}")
    for name in where:
        if name not in made.names:
            raise unknown("symbol", name, made.names)
    return dict(where)


def described(name: str, values: Mapping[str, float]) -> str:
    """A parameter in words."""
    match = _PARAMETER.fullmatch(name)
    kind, axes, number = ("m", "", "") if match is None else match.groups()
    return "gravity, m/s²" if kind == "g" and _lone_gravity(values) else _WORDS[kind].format(number, axes=axes)


def _lone_gravity(values: Mapping[str, float]) -> bool:
    """Whether gravity has one component only."""
    return sum(name[0] == "g" for name in values) == 1


def _lengths_of(name: str, values: Mapping[str, float]) -> list[str]:
    """The lengths of the link that a parameter belongs to, or of the frame of a loop."""
    number, kinds = name.lstrip("mcIbaguwxyz"), name[0] if name[0] in "uw" else "ab"
    return [other for other in values if other[0] in kinds and other[2:] == number]


def _own_lengths(i: int, values: Mapping[str, float], made: Symbolic) -> list[str]:
    """Along link i: those after its joint, or else those to the joints and the frames of loops that it carries."""
    model = made.model
    if own := [name for name in values if name[0] == "a" and name[2:] == str(i + 1)]:
        return own
    carried = {f"b{j + 1}" for j, parent in enumerate(model.parents) if parent == i}
    frames = [(k, side, name) for k, x in enumerate(model.loops) for side, name in zip("uw", (x.frame_a, x.frame_b), strict=True)]
    carried |= {f"{side}{k + 1}" for k, side, name in frames if name and model.locate(name)[0] == i}
    return [name for name in values if name[0] + name[2:] in carried]


def _fraction(name: str, values: Mapping[str, float], meanings: Mapping[str, str], made: Symbolic) -> str | None:
    """A centre of mass or an inertia as a small fraction of the link's only length, if it is one."""
    if name[0] not in "cI" or len(lengths := _own_lengths(int(name.lstrip("cIxyz")) - 1, values, made)) != 1:
        return None
    length, value = f"({meanings.get(lengths[0], lengths[0])})", values[lengths[0]]
    if name[0] == "I":
        i = int(name.lstrip("Ixyz"))
        mass = float(made.model.tree.mass[i - 1])
        if not mass:
            return None
        letter = f"({meanings.get(f'm{i}', f'm{i}')})" if f"m{i}" in values else repr(mass)
        length, value = f"{letter}*{length}^2", mass * value * value
    ratio = values[name] / value
    fraction = Fraction(ratio).limit_denominator(12)
    return f"{fraction}*{length}" if fraction and abs(ratio - fraction) < 1e-12 * abs(ratio) else None
