"""The expressions of `where`: expressions of numbers and names for the parameters of a robot."""

import ast
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from dalembert.errors import Error, brief

_OPERATIONS: dict[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


def parsed(meaning: Any) -> ast.expr:
    """An expression of numbers, names, + - * / and integer powers."""
    try:
        text = meaning if isinstance(meaning, str) else _finite(meaning)
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, TypeError, ValueError, OverflowError, RecursionError, MemoryError):
        raise Error(f"cannot read {brief(meaning)}; write for example '-l/2' or 'm1*l^2/12'") from None
    known = (ast.BinOp, ast.UnaryOp, ast.USub, ast.UAdd, ast.Name, ast.Load, ast.Constant, *_OPERATIONS)
    for x in ast.walk(tree):
        fits = isinstance(x, known) and (not isinstance(x, ast.Constant) or type(x.value) in (int, float))
        if not fits or (isinstance(x, ast.Name) and not x.id.isascii()):
            raise Error(f"{brief(meaning)} may contain only numbers, names of plain letters, + - * / and integer powers")
    return tree


def names_in(tree: ast.expr) -> Iterator[str]:
    """The names that occur."""
    return (x.id for x in ast.walk(tree) if isinstance(x, ast.Name))


def lone_name(tree: ast.expr) -> tuple[str, int] | None:
    """The name and the sign of an expression that is but a name: l or -l."""
    sign = 1
    while isinstance(tree, ast.UnaryOp):
        sign, tree = (-sign if isinstance(tree.op, ast.USub) else sign), tree.operand
    return (tree.id, sign) if isinstance(tree, ast.Name) else None


def valued(tree: ast.expr, scalars: Mapping[str, Any], number: Any) -> Any:
    """The value of an expression, in scalars of any kind."""
    try:
        return _valued(tree, scalars, number)
    except (ZeroDivisionError, OverflowError, RecursionError):
        raise Error(f"{brief(ast.unparse(tree))} has no finite value") from None


def _valued(tree: Any, scalars: Mapping[str, Any], number: Any) -> Any:
    if isinstance(tree, ast.Name):
        return scalars[tree.id]
    if isinstance(tree, ast.Constant):
        return number(float(tree.value))  # pyright: ignore[reportArgumentType] - checked when it was read
    if isinstance(tree, ast.UnaryOp):
        inner = _valued(tree.operand, scalars, number)
        return -inner if isinstance(tree.op, ast.USub) else inner
    left = _valued(tree.left, scalars, number)
    right = _power(tree.right) if isinstance(tree.op, ast.Pow) else _valued(tree.right, scalars, number)
    return _OPERATIONS[type(tree.op)](left, right)


def _power(tree: ast.expr) -> int:
    power = tree.value if isinstance(tree, ast.Constant) else None
    if not isinstance(power, int | float) or power not in range(17):
        raise Error(f"powers must be integers from 0 to 16, got {brief(ast.unparse(tree))}")
    return int(power)


def _finite(x: Any) -> str:
    if not isfinite(x):
        raise ValueError
    return repr(float(x))
