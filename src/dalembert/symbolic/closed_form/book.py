"""The letters that a book would take: l1 and l_c1 for lengths, g for gravity, m1 l1^2/12 for a rod.

The equations are true for all values of these letters, not only for the robot's own. So letters are
tied to each other only where a link has a structure that books name: a uniform rod, or a point mass
at the end of its link.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.derived.varied import AXES
from dalembert.errors import Error, brief, unknown
from dalembert.symbolic.closed_form.meaning import lone_name, names_in, parsed, valued
from dalembert.symbolic.parameters import Symbolic

_PARAMETER = re.compile(r"([mcIbaguw])([xyz]*)(\d*)")  # the names of `robot.symbolic`
ROUNDING = 1e-12  # relative, of the numbers of a rod
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


class _Segment(NamedTuple):
    """The only length of a link, from its joint to its end, along an axis of the link's frame."""

    parameter: str
    value: float
    axis: int
    sign: int  # of the direction along the axis

    @property
    def ends_at_frame(self) -> bool:
        """Whether the link's frame is at the end, as in standard tables; otherwise it is at the joint."""
        return self.parameter[0] == "a"

    def at(self, part: float) -> Array:
        """The point at a part of the length, in the link's frame."""
        along = part - 1.0 if self.ends_at_frame else part
        return self.sign * along * self.value * np.eye(3)[self.axis]


def book(made: Symbolic, given: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What a book would write for the parameters of a robot; `given` takes precedence.

    The only length of link 1 is l1, its centre of mass is at l_c1 from its joint, its only moment of
    inertia is I1, and a lone component of gravity is g with its sign outside. A uniform rod has its
    centre of mass at l1/2 and the inertia m1 l1^2/12; a point mass at the end of its link is at l1.
    Every length has a letter of its own, so that equal ones can be varied one by one.

    >>> import dalembert as da
    >>> book(da.robot("two_link").symbolic(("com", "length", "gravity")))
    {'ax1': 'l1', 'ax2': 'l2', 'gy': '-g', 'cx1': 'l_c1 - l1', 'cx2': 'l_c2 - l2'}
    """
    values = dict(zip(made.names, map(float, made.values), strict=True))
    meanings = {name: meaning if isinstance(meaning, str) else repr(meaning) for name, meaning in (given or {}).items()}
    named = [lone_name(parsed(meaning)) for meaning in meanings.values()]
    reserved = {letter for letter, _ in filter(None, named)}

    def propose(letters_of: Mapping[str, str], *new: str) -> None:
        """Take these, unless the user has chosen others, or the new letters for something else."""
        if not reserved & set(new) and not any(name in meanings for name in letters_of):
            meanings.update(letters_of)

    for name, letter in _length_letters(values, made).items():
        propose({name: letter}, letter)
    for name in values:
        if name[0] == "g" and _lone_gravity(values):
            propose({name: "-g" if values[name] < 0 else "g"}, "g")
    for i in range(len(made.model.links)):
        segment = _segment(i, values, made)
        if segment is not None and _is_rod(i, segment, values, made):
            propose(_rod(i, segment, values, meanings, made))
        propose(_centre_of_mass(i, segment, values, meanings, made), f"l_c{i + 1}")
        if len(moments := _own("I", i, values)) == 1:
            propose({moments[0]: f"I{i + 1}"}, f"I{i + 1}")
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
    for name, tree in where.items():
        if name[0] == "c" and (difference := _difference(tree, result)) is not None:
            short, sign, other = difference
            words = f"centre of mass of link {name[2:]} from its joint along {name[1]}, m"
            result[short] = [Letter(name, sign * values[name] + result[other][0].value, words)]
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


def _difference(tree: ast.expr, letters_of: Mapping[str, list[Letter]]) -> tuple[str, int, str] | None:
    """The new letter in l_c - l or l - l_c, its sign, and the known letter; None otherwise."""
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Sub):
        return None
    if not isinstance(tree.left, ast.Name) or not isinstance(tree.right, ast.Name):
        return None
    left, right = tree.left.id, tree.right.id
    if left not in letters_of and right in letters_of:
        return left, 1, right
    if right not in letters_of and left in letters_of:
        return right, -1, left
    return None


def _own(kind: str, i: int, values: Mapping[str, float]) -> list[str]:
    """The parameters of a kind that belong to link i."""
    return [name for name in values if name[0] == kind and name.lstrip(kind + AXES) == str(i + 1)]


def _own_lengths(i: int, values: Mapping[str, float], made: Symbolic) -> list[str]:
    """Along link i: those after its joint, and those to the joints and the frames of loops that it carries."""
    model = made.model
    own = [name for name in values if name[0] == "a" and name[2:] == str(i + 1)]
    carried = {f"b{j + 1}" for j, parent in enumerate(model.parents) if parent == i}
    frames = [(k, side, name) for k, x in enumerate(model.loops) for side, name in zip("uw", (x.frame_a, x.frame_b), strict=True)]
    carried |= {f"{side}{k + 1}" for k, side, name in frames if name and model.locate(name)[0] == i}
    return own + [name for name in values if name[0] + name[2:] in carried]


def _length_letters(values: Mapping[str, float], made: Symbolic) -> dict[str, str]:
    """l1 for the only length of link 1; b1, u1, w1 for others that have no second component."""
    result: dict[str, str] = {}
    for i in range(len(made.model.links)):
        if len(lengths := _own_lengths(i, values, made)) == 1:
            result[lengths[0]] = f"l{i + 1}"
    for name in values:
        if name[0] in "abuw" and name not in result:
            kinds = name[0] if name[0] in "uw" else "ab"
            components = [other for other in values if other[0] in kinds and other[2:] == name[2:]]
            if len(components) == 1:
                result[name] = name[0] + name[2:]
    return result


def _segment(i: int, values: Mapping[str, float], made: Symbolic) -> _Segment | None:
    """The only length of link i, where it lies along an axis of the link's frame."""
    lengths = _own_lengths(i, values, made)
    if len(lengths) != 1:
        return None
    name = lengths[0]
    direction = np.eye(3)[AXES.index(name[1])]
    if name[0] == "a":  # in axes before the link's own
        direction = np.asarray(made.model.tree.after.rotation[i], dtype=float).T @ direction
    axis = int(np.abs(direction).argmax())
    if abs(direction[axis]) != 1:
        return None
    return _Segment(name, values[name], axis, int(direction[axis]))


def _is_rod(i: int, segment: _Segment, values: Mapping[str, float], made: Symbolic) -> bool:
    """Whether all that link i weighs is a thin uniform rod along its length, and these numbers are symbols.

    Arms in a plane often have the moment across the plane only.
    """
    tree = made.model.tree
    size = float(tree.mass[i]) * segment.value**2 / 12
    inertia = np.asarray(tree.inertia[i], dtype=float)
    across = [inertia[k, k] for k in range(3) if k != segment.axis and inertia[k, k]]
    expected = np.diag([0.0 if k == segment.axis or not inertia[k, k] else size for k in range(3)])
    return (
        bool(across)
        and np.allclose(inertia, expected, rtol=0, atol=ROUNDING * size)
        and _is_at(i, segment.at(0.5), segment, made)
        and f"c{AXES[segment.axis]}{i + 1}" in values
        and len(_own("I", i, values)) == len(across)
    )


def _rod(
    i: int,
    segment: _Segment,
    values: Mapping[str, float],
    meanings: Mapping[str, str],
    made: Symbolic,
) -> dict[str, str]:
    """l/2 or -l/2, and m l^2/12."""
    length = meanings.get(segment.parameter, segment.parameter)
    mass = f"m{i + 1}"
    mass = meanings.get(mass, mass) if mass in values else repr(float(made.model.tree.mass[i]))
    backward = (segment.sign > 0) == segment.ends_at_frame
    centre = {f"c{AXES[segment.axis]}{i + 1}": f"{'-' if backward else ''}({length})/2"}
    return centre | dict.fromkeys(_own("I", i, values), f"({mass})*({length})^2/12")


def _centre_of_mass(
    i: int,
    segment: _Segment | None,
    values: Mapping[str, float],
    meanings: Mapping[str, str],
    made: Symbolic,
) -> dict[str, str]:
    """l of a point mass at the end of its link, otherwise l_c from the joint, if it is on the line of the link."""
    own = _own("c", i, values)
    letter = f"l_c{i + 1}"
    if len(own) != 1:
        return {}
    if segment is None:
        starts_at_joint = not np.any(made.model.tree.after.translation[i])
        return {own[0]: letter} if starts_at_joint and not _own_lengths(i, values, made) else {}
    if own[0][1] != AXES[segment.axis]:
        return {}
    length = meanings.get(segment.parameter, segment.parameter)
    if segment.ends_at_frame:
        if not length.isidentifier():
            return {}
        return {own[0]: f"{letter} - {length}" if segment.sign > 0 else f"{length} - {letter}"}
    if not np.any(made.model.tree.inertia[i]) and _is_at(i, segment.at(1.0), segment, made):
        letter = f"({length})"
    return {own[0]: letter if segment.sign > 0 else f"-{letter}"}


def _is_at(i: int, point: Array, segment: _Segment, made: Symbolic) -> bool:
    """Whether the centre of mass of link i is at a point."""
    com = np.asarray(made.model.tree.com[i], dtype=float)
    return np.allclose(com, point, rtol=0, atol=ROUNDING * abs(segment.value))
