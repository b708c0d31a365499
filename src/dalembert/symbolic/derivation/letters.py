"""A robot in letters: masses, lengths and the state become symbols, as a book would write them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dalembert.errors import Error
from dalembert.model.model import Model
from dalembert.model.tree import Tree
from dalembert.symbolic.closed_form.book import book, check_letters, known_values, letters, meanings
from dalembert.symbolic.closed_form.document import rewritten
from dalembert.symbolic.closed_form.equations import equations
from dalembert.symbolic.closed_form.form import Form
from dalembert.symbolic.closed_form.symbols import Symbols
from dalembert.symbolic.parameters import symbolic


class Meaning(NamedTuple):
    """What a letter stands for: its name, words, value, and the parameters of `robot.symbolic` that it is."""

    name: str
    words: str
    value: float
    parameters: tuple[str, ...]


class Lettered(NamedTuple):
    """The robot as formulations take it, its state, what the letters are worth and mean, and what is written with others."""

    symbols: Symbols
    tree: Tree
    q: Any
    qd: Any
    qdd: Any
    values: dict[str, float]
    meaning: list[Meaning]
    written: list[tuple[str, Form]]  # words, expression: -l/2


def lettered(
    robot: Model, parts: Sequence[str], where: Mapping[str, Any] | str | None, most: int, more: Sequence[str] = ()
) -> Lettered:
    """The robot with letters for its numbers and its state: the books' letters, except those in `where`; `more` are others."""
    made = symbolic(robot, parts)
    e = equations(robot, parts, where=book(made, {} if isinstance(where, str) and where == "book" else meanings(where, made)))
    if taken := sorted(set(more) & set(e.symbols.parameters)):
        raise Error(f"the name {taken[0]!r} is one of the derivation's own letters; choose another")
    e = replace(e, symbols=replace(e.symbols, parameters=(*e.symbols.parameters, *more), most=most))
    result = letters(made, e.where)
    check_letters(made, e.where, result)
    meaning = [
        Meaning(name, of[0].words, of[0].value, tuple(x.parameter for x in of)) for name in e.names if (of := result.get(name))
    ]
    s = e.symbols
    return Lettered(s, e.tree, s.positions(), s.rates("qd"), s.rates("qdd"), known_values(result), meaning, rewritten(e))
