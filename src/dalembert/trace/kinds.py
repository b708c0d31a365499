"""The kinds of scalars that programs run on, and how each does what operators cannot."""

import cmath
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra import precise
from dalembert.algebra.scalars import above, sign, where
from dalembert.errors import Error, brief
from dalembert.trace.exact import Residue
from dalembert.trace.expr import Expr, Rounded, unrounded
from dalembert.trace.program import FUNCTIONS


class Scalars(NamedTuple):
    """How one kind of scalar does what operators cannot: functions and constants, and how batches of it are stacked."""

    name: str
    functions: Any  # has sin, cos, sqrt, sign
    above: Callable[[Any, float, float], Any]
    where: Callable[[Any, Any, Any], Any]
    constant: Callable[[Any], Any]
    stack: Callable[..., Any] | None = None  # for arrays: values are batches, outputs are stacked along new last axes


def _where(x: Any, floor: float, otherwise: float) -> Any:
    """For scalars that can be compared."""
    return x if getattr(x, "real", x) > floor else otherwise


def _itself(x: Any, floor: float, otherwise: float) -> Any:
    """For scalars without an order, unless they define one: symbols, residues, traced scalars. Zero exceeds no floor, though."""
    if hasattr(x, "above"):
        return x.above(floor, otherwise)
    return otherwise if floor >= 0 and x == 0 else x


def _chosen(c: Any, a: Any, b: Any) -> Any:
    """`where` for scalars that can be compared, or that define it."""
    if hasattr(c, "where"):
        return c.where(a, b)
    return a if getattr(c, "real", c) > 0 else b


class Methods:
    """Scalars with their own functions."""

    sin, cos, sqrt, sign = (staticmethod(lambda x, name=name: getattr(x, name)()) for name in ("sin", "cos", "sqrt", "sign"))


class _Traced:
    """Traced scalars, and the exact numbers among them."""

    sin, cos, sqrt, sign = (staticmethod(FUNCTIONS[name]) for name in ("sin", "cos", "sqrt", "sign"))


class _Fractions:
    """Fractions have none, except where the result is rational all the same."""

    @staticmethod
    def sin(x: Fraction) -> Fraction:
        return _rational("sin", x, 0)

    @staticmethod
    def cos(x: Fraction) -> Fraction:
        return _rational("cos", x, 1)

    @staticmethod
    def sqrt(x: Fraction) -> Fraction:
        root = Fraction(math.isqrt(max(x.numerator, 0)), math.isqrt(x.denominator))
        return root if root * root == x else _rational("sqrt", x, None)

    @staticmethod
    def sign(x: Fraction) -> int:
        return (x > 0) - (x < 0)


def _rational(name: str, x: Fraction, at_zero: int | None) -> Fraction:
    if x == 0 and at_zero is not None:
        return Fraction(at_zero)
    raise Error(f"{name}({x}) is not rational; give it as an Angle, which has an exact cosine and sine")


def _math(x: Any) -> Any:
    return cmath if isinstance(x, complex) else math


class _Python:
    """int, float and complex."""

    sin, cos, sqrt = (staticmethod(lambda x, name=name: getattr(_math(x), name)(x)) for name in ("sin", "cos", "sqrt"))

    @staticmethod
    def sign(x: Any) -> Any:
        real = x.real
        return (real > 0) - (real < 0)


class _Decimals:
    """Decimals, with the digits of their context."""

    @staticmethod
    def sin(x: Decimal) -> Decimal:
        return precise.cos_sin_decimal(x)[1]

    @staticmethod
    def cos(x: Decimal) -> Decimal:
        return precise.cos_sin_decimal(x)[0]

    @staticmethod
    def sqrt(x: Decimal) -> Decimal:
        return x.sqrt()

    @staticmethod
    def sign(x: Decimal) -> int:
        return (x > 0) - (x < 0)

    @staticmethod
    def above(x: Decimal, floor: float, otherwise: float) -> Decimal:
        return x if not x.is_nan() and x > floor else Decimal(otherwise)

    @staticmethod
    def constant(c: Any) -> Decimal:
        c = unrounded(c)
        return Decimal(c.numerator) / c.denominator if isinstance(c, Fraction) else Decimal(c)


class _NumPy:
    """Arrays of numbers."""

    sin, cos, sqrt, sign = staticmethod(np.sin), staticmethod(np.cos), staticmethod(np.sqrt), staticmethod(sign)


class _Intervals:
    """Intervals of mpmath, rounded outward, in the context (and so the precision) that they come from."""

    def __init__(self, context: Any) -> None:
        self.context, self.sin, self.cos, self.sqrt = context, context.sin, context.cos, context.sqrt

    def square(self, x: Any) -> Any:
        """Never negative, unlike x * x."""
        return x**2

    def sign(self, x: Any) -> Any:
        return self.context.mpf([(x.a > 0) - (x.a < 0), (x.b > 0) - (x.b < 0)])

    def above(self, x: Any, floor: float, otherwise: float) -> Any:
        if x.a > floor:
            return x
        raise Error(
            f"the program divides by a number that must exceed {floor:g}, and in this box it lies in {x}: take a smaller box"
        )

    def where(self, c: Any, a: Any, b: Any) -> Any:
        c, a, b = (self.context.convert(x) for x in (c, a, b))
        return a if c.a > 0 else b if c.b <= 0 else self.context.mpf([min(a.a, b.a), max(a.b, b.b)])

    def constant(self, c: Any) -> Any:
        return _ratio(self.context, unrounded(c))


class _Torch:
    """Tensors; numbers among them become tensors of the same kind."""

    def __init__(self, like: Any) -> None:
        self.torch, self.kind = import_module("torch"), {"dtype": like.dtype, "device": like.device}

    def tensor(self, x: Any) -> Any:
        return x if isinstance(x, self.torch.Tensor) else self.torch.as_tensor(x, **self.kind)

    def __getattr__(self, name: str) -> Any:
        """Sine, cosine, square root and sign, of numbers too."""
        return lambda x: getattr(self.torch, name)(self.tensor(x))

    def above(self, x: Any, floor: float, otherwise: float) -> Any:
        return self.torch.where((y := self.tensor(x)) > floor, y, otherwise)

    def where(self, c: Any, a: Any, b: Any) -> Any:
        return self.torch.where(self.tensor(c) > 0, self.tensor(a), self.tensor(b))

    def broadcast_to(self, x: Any, batch: tuple[int, ...]) -> Any:
        return self.torch.broadcast_to(self.tensor(x), batch)

    def stack(self, parts: Sequence[Any], axis: int) -> Any:
        return self.torch.stack(parts, dim=axis)


def kind_of(x: Any) -> Scalars:
    """The kind of scalar that x is."""
    library = library_of(x)
    if isinstance(x, np.ndarray):
        return Scalars("numpy", _NumPy, above, where, lambda c: c, np.stack)
    if isinstance(x, int | float | complex):
        return Scalars("python", _Python, _where, _chosen, lambda c: c)
    if isinstance(x, Fraction):
        return Scalars("fractions", _Fractions, _where, _chosen, lambda c: Fraction(unrounded(c)))
    if isinstance(x, Decimal):
        return Scalars("decimals", _Decimals, _Decimals.above, _chosen, _Decimals.constant)
    if isinstance(x, Residue):
        return Scalars("residues", Methods, _itself, _chosen, lambda c: Residue(unrounded(c)))
    if isinstance(x, Expr):
        return Scalars("traced", _Traced, above, where, unrounded)
    if library == "sympy":
        sympy = import_module("sympy")
        either = lambda c, a, b: sympy.Piecewise((a, c > 0), (b, True))  # noqa: E731
        return Scalars(library, sympy, _itself, either, lambda c: _sympy_number(sympy, c))
    if library == "mpmath" and hasattr(x, "_mpi_"):
        intervals = _Intervals(x.ctx)
        return Scalars("intervals", intervals, intervals.above, intervals.where, intervals.constant)
    if library == "mpmath":
        mpmath = import_module("mpmath")
        return Scalars(library, mpmath, _where, _chosen, lambda c: _ratio(mpmath, unrounded(c)))
    if library == "casadi":
        casadi = import_module("casadi")
        either = lambda c, a, b: casadi.if_else(c > 0, a, b)  # noqa: E731
        return Scalars(library, casadi, lambda x, floor, other: casadi.if_else(x > floor, x, other), either, lambda c: c)
    if library == "jax":
        jnp = import_module("jax.numpy")
        either = lambda c, a, b: jnp.where(c > 0, a, b)  # noqa: E731
        return Scalars(library, jnp, lambda x, floor, other: jnp.where(x > floor, x, other), either, lambda c: c, jnp.stack)
    if library == "torch":
        tensors = _Torch(x)
        return Scalars(library, tensors, tensors.above, tensors.where, float, tensors.stack)
    if all(hasattr(x, name) for name in ("sin", "cos", "sqrt", "sign", "__add__", "__mul__")):
        return Scalars(library, Methods, _itself, _chosen, lambda c: c)
    raise Error(f"cannot replay a program on {brief(x)}: scalars of type {type(x).__name__} are unknown")


def _ratio(context: Any, c: Any) -> Any:
    """A constant in mpmath, to the precision of the context."""
    return context.mpf(c.numerator) / c.denominator if isinstance(c, Fraction) else context.convert(c)


def _sympy_number(sympy: Any, c: Any) -> Any:
    """A constant in SymPy: a ratio where it is one of small numbers that no float is, else its shortest decimal."""
    exact = unrounded(c)
    if isinstance(c, Rounded) and exact.denominator < 1000:
        return sympy.Rational(exact.numerator, exact.denominator)
    return sympy.Integer(int(c)) if float(c).is_integer() else sympy.sympify(float(c))


def library_of(x: Any) -> str:
    """The library that a scalar or an array comes from."""
    return {"jaxlib": "jax"}.get(name := type(x).__module__.partition(".")[0], name)


def common_kind(entries: Iterable[Any]) -> Scalars:
    """The one kind of scalar among the inputs; arrays of numbers and plain numbers go with every other kind."""
    kinds = {kind.name: kind for kind in map(kind_of, {type(x): x for x in entries}.values())}
    special = [kind for name, kind in kinds.items() if name not in ("python", "numpy")]
    if len(special) > 1:
        raise Error(f"inputs mix {' and '.join(kind.name for kind in special)} scalars; use one kind")
    return special[0] if special else kinds.get("numpy") or kind_of(0.0)
