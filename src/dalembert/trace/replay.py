"""Programs on any scalar: floats, complex numbers, fractions, mpmath, intervals, SymPy, CasADi, JAX, PyTorch, residues."""

import cmath
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import above, sign, where
from dalembert.arguments import by_name
from dalembert.errors import Error, brief
from dalembert.trace.exact import Angle, Residue
from dalembert.trace.expr import Expr, Rounded, unrounded
from dalembert.trace.program import FUNCTIONS, Program, Variable, evaluate


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
    """For scalars without an order, unless they define one: symbols, residues, traced scalars."""
    return x.above(floor, otherwise) if hasattr(x, "above") else x


def _chosen(c: Any, a: Any, b: Any) -> Any:
    """`where` for scalars that can be compared, or that define it."""
    if hasattr(c, "where"):
        return c.where(a, b)
    return a if getattr(c, "real", c) > 0 else b


class _Methods:
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


class _Python:
    """int, float and complex."""

    @staticmethod
    def sin(x: Any) -> Any:
        return cmath.sin(x) if isinstance(x, complex) else math.sin(x)

    @staticmethod
    def cos(x: Any) -> Any:
        return cmath.cos(x) if isinstance(x, complex) else math.cos(x)

    @staticmethod
    def sqrt(x: Any) -> Any:
        return cmath.sqrt(x) if isinstance(x, complex) else math.sqrt(x)

    @staticmethod
    def sign(x: Any) -> Any:
        real = x.real
        return (real > 0) - (real < 0)


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

    def sin(self, x: Any) -> Any:
        return self.torch.sin(self.tensor(x))

    def cos(self, x: Any) -> Any:
        return self.torch.cos(self.tensor(x))

    def sqrt(self, x: Any) -> Any:
        return self.torch.sqrt(self.tensor(x))

    def sign(self, x: Any) -> Any:
        return self.torch.sign(self.tensor(x))

    def above(self, x: Any, floor: float, otherwise: float) -> Any:
        return self.torch.where((y := self.tensor(x)) > floor, y, otherwise)

    def where(self, c: Any, a: Any, b: Any) -> Any:
        return self.torch.where(self.tensor(c) > 0, self.tensor(a), self.tensor(b))

    def broadcast_to(self, x: Any, batch: tuple[int, ...]) -> Any:
        return self.torch.broadcast_to(self.tensor(x), batch)

    def stack(self, parts: Sequence[Any], axis: int) -> Any:
        return self.torch.stack(parts, dim=axis)


def _scalars(x: Any) -> Scalars:
    """The kind of scalar that x is."""
    library = _library(x)
    if isinstance(x, np.ndarray):
        return Scalars("numpy", _NumPy, above, where, lambda c: c, np.stack)
    if isinstance(x, int | float | complex):
        return Scalars("python", _Python, _where, _chosen, lambda c: c)
    if isinstance(x, Fraction):
        return Scalars("fractions", _Fractions, _where, _chosen, lambda c: Fraction(unrounded(c)))
    if isinstance(x, Residue):
        return Scalars("residues", _Methods, _itself, _chosen, lambda c: Residue(unrounded(c)))
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
        return Scalars(library, _Methods, _itself, _chosen, lambda c: c)
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


def _library(x: Any) -> str:
    return {"jaxlib": "jax"}.get(name := type(x).__module__.partition(".")[0], name)


def checked(program: Any, what: str) -> Program:
    """A program, or an Error for what is none, such as the robot itself."""
    if not isinstance(program, Program):
        raise Error(f"{what} takes a program, such as robot.program('inverse_dynamics'), got {brief(program)}")
    return program


def replay(program: Program, inputs: Mapping[str, Any]) -> Any:
    """Evaluate a program on any scalar. Returns one array, or a tuple of arrays, one per output.

    `inputs` maps each input's name to an array-like of its shape. NumPy and JAX arrays and PyTorch tensors may have leading
    batch axes, which broadcast. Everything else (nested lists, object arrays, SymPy or CasADi matrices) holds one scalar per
    entry, and the results are object arrays. Plain numbers go with every kind, two other kinds never go together.
    For exact scalars give angles as `Angle`; intervals are those of `mpmath.iv`.

    >>> from fractions import Fraction
    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x[:1] / 3 + x[1:], {"x": (2,)})
    >>> replay(p, {"x": [Fraction(1), Fraction(1, 2)]})
    array([Fraction(5, 6)], dtype=object)
    """
    checked(program, "replay")
    for name in by_name(inputs, "inputs", "{'q': [0.0, 0.0]}"):
        if name not in [v.name for v in program.inputs]:
            raise Error(f"the program has no input {name!r}: {program.signature}")
    if missing := [v.name for v in program.inputs if v.name not in inputs]:
        raise Error(f"the program needs input {missing[0]!r}: {program.signature}")
    columns = [_entries(v, inputs[v.name]) for v in program.inputs]
    scalars = _common(x.cosine if isinstance(x, Angle) else x for column in columns for x in column)
    if scalars.name == "torch":
        columns = [[scalars.functions.tensor(x) for x in column] for column in columns]
    elif scalars.name not in ("numpy", "jax") and any(isinstance(x, np.ndarray) for column in columns for x in column):
        columns = [[x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in column] for column in columns]
        if any(isinstance(x, np.ndarray) for column in columns for x in column):
            raise Error(f"arrays with batch axes cannot be mixed with {scalars.name} scalars")
    batch = _batch(scalars, columns)
    if scalars.name in ("fractions", "traced", "mpmath", "intervals"):  # two plain numbers would round
        columns = [[scalars.constant(x) if _finite(x) else x for x in column] for column in columns]
    if scalars.name == "intervals":
        squares = (("square", i[1]) if i[0] == "mul" and i[1] == i[2] else i for i in program.nodes)
        program = replace(program, nodes=tuple(squares))

    def function(op: str, x: Any, *numbers: Any) -> Any:
        if op in ("above", "where"):
            return getattr(scalars, op)(x, *numbers)
        return getattr(_Methods if isinstance(x, Angle) else scalars.functions, op)(x)

    try:
        with np.errstate(all="ignore"):
            values = evaluate(program, columns, scalars.constant, function)
    except (ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"the program cannot be evaluated on {scalars.name} scalars here: {error}") from error
    outputs = tuple(_collect(scalars, v, [values[i] for i in nodes], batch) for v, nodes in program.output_nodes())
    return outputs[0] if len(outputs) == 1 else outputs


def _finite(x: Any) -> bool:
    """Whether x is a plain real number."""
    return isinstance(x, int | float) and math.isfinite(x)


def _common(entries: Iterable[Any]) -> Scalars:
    """The one kind of scalar among the inputs; arrays of numbers and plain numbers go with every other kind."""
    kinds = {kind.name: kind for kind in map(_scalars, {type(x): x for x in entries}.values())}
    special = [kind for name, kind in kinds.items() if name not in ("python", "numpy")]
    if len(special) > 1:
        raise Error(f"inputs mix {' and '.join(kind.name for kind in special)} scalars; use one kind")
    return special[0] if special else kinds.get("numpy") or _scalars(0.0)


def _batch(scalars: Scalars, columns: list[list[Any]]) -> tuple[int, ...]:
    if scalars.stack is None:
        return ()
    shapes = {np.shape(x) for column in columns for x in column}
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise Error(f"the leading (batch) axes of the inputs do not broadcast together: {sorted(shapes)}") from None


def _entries(variable: Variable, given: Any) -> list[Any]:
    """The scalars of one input in row-major order; for arrays of numbers, batches of them."""
    shape, library = variable.shape, _library(given)
    wrong = f"input {variable.name!r} must have shape {shape}"
    if library == "casadi":
        flat = tuple(d for d in given.shape if d != 1)
        if flat != tuple(d for d in shape if d != 1):
            raise Error(f"{wrong}, got {given.shape}")
        return [given[index] for index in np.ndindex(*shape)] if len(shape) > 1 else [given[j] for j in range(variable.size)]
    if library in ("jax", "torch") or (isinstance(given, np.ndarray) and given.dtype != object):
        core = len(shape)
        if given.ndim < core or given.shape[given.ndim - core :] != shape:
            raise Error(f"input {variable.name!r} must end in shape {shape}, got {tuple(given.shape)}")
        kind = _kind(given)
        if kind not in ("fc" if library in ("jax", "torch") else "fciub"):
            raise Error(f"input {variable.name!r} must hold floating-point numbers, got dtype {given.dtype}")
        if kind in "iub":
            given = given.astype(float)
        return [given[(..., *index)] for index in np.ndindex(*shape)]
    if library == "sympy" and hasattr(given, "tolist"):
        given = np.array(given.tolist(), dtype=object)
        given = given.reshape(shape) if given.size == variable.size and len(shape) < 2 else given
    return _flatten(given, shape, wrong)


def _kind(array: Any) -> str:
    """Its letter for the kind of its numbers, as NumPy has them: f, c, i, ..."""
    if _library(array) == "torch":
        return "f" if array.is_floating_point() or array.is_complex() else "i"
    return array.dtype.kind


def _flatten(given: Any, shape: tuple[int, ...], wrong: str) -> list[Any]:
    """Nested sequences of exactly this shape to one list."""
    if not shape:
        return [given.item() if isinstance(given, np.generic | np.ndarray) else given]
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != shape[0]:
        raise Error(f"{wrong}, got {brief(given)}")
    return [x for part in given for x in _flatten(part, shape[1:], wrong)]


def _collect(scalars: Scalars, variable: Variable, values: list[Any], batch: tuple[int, ...]) -> Any:
    if scalars.stack is not None:
        if not values:
            return np.zeros((*batch, *variable.shape))
        broadcast = np.broadcast_to if scalars.name == "numpy" else scalars.functions.broadcast_to
        return scalars.stack([broadcast(x, batch) for x in values], axis=-1).reshape((*batch, *variable.shape))
    array = np.empty(variable.size, dtype=object)
    for j, value in enumerate(values):
        array[j] = value
    array = array.reshape(variable.shape)
    if scalars.name == "python":
        return array.astype(complex if any(isinstance(x, complex) for x in array.flat) else float)
    return array
