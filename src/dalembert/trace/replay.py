"""Programs on any scalar: floats, complex numbers, fractions, mpmath, SymPy, CasADi, JAX, residues modulo a prime."""

import cmath
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error
from dalembert.trace.exact import Angle, Residue
from dalembert.trace.program import Program, Variable


class Scalars(NamedTuple):
    """How one kind of scalar does what operators cannot: functions, constants, and whether values carry batch axes."""

    functions: Any  # has sin, cos, sqrt, sign
    constant: Callable[[Any], Any]
    stack: Callable[..., Any] | None = None  # for arrays: values are batches, outputs are stacked along new last axes


class _Methods:
    """Scalars that know their own functions."""

    sin, cos, sqrt, sign = (staticmethod(lambda x, name=name: getattr(x, name)()) for name in ("sin", "cos", "sqrt", "sign"))


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


def _scalars(x: Any) -> Scalars:
    """The kind of scalar that x is."""
    if isinstance(x, Angle):
        x = x.cosine
    library = type(x).__module__.partition(".")[0]
    if isinstance(x, np.ndarray):
        return Scalars(np, lambda c: c, np.stack)
    if isinstance(x, int | float | complex):
        return Scalars(_Python, lambda c: c)
    if isinstance(x, Fraction):
        return Scalars(_Fractions, Fraction)
    if isinstance(x, Residue):
        return Scalars(_Methods, Residue)
    if library == "sympy":
        sympy = import_module("sympy")
        return Scalars(sympy, lambda c: sympy.Integer(int(c)) if float(c).is_integer() else sympy.sympify(c))
    if library == "mpmath":
        mpmath = import_module("mpmath")
        return Scalars(mpmath, mpmath.mpmathify)
    if library == "casadi":
        return Scalars(import_module("casadi"), lambda c: c)
    if library in ("jax", "jaxlib"):
        jnp = import_module("jax.numpy")
        return Scalars(jnp, lambda c: c, jnp.stack)
    if all(hasattr(x, name) for name in ("sin", "cos", "sqrt", "sign", "__add__", "__mul__")):
        return Scalars(_Methods, lambda c: c)
    raise Error(f"cannot replay a program on scalars of type {type(x).__name__}")


def replay(program: Program, inputs: Mapping[str, Any]) -> Any:
    """Evaluate a program on any scalar. Returns one array, or a tuple of arrays, one per output.

    `inputs` maps each input's name to an array-like of its shape. NumPy and JAX arrays of numbers may have leading batch
    axes, which broadcast. Everything else (nested lists, object arrays, SymPy or CasADi matrices) holds one scalar per
    entry, and the results are object arrays. For exact scalars give angles as `Angle`.

    >>> from fractions import Fraction
    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x[:1] / 3 + x[1:], {"x": (2,)})
    >>> replay(p, {"x": [Fraction(1), Fraction(1, 2)]})
    array([Fraction(5, 6)], dtype=object)
    """
    for name in inputs:
        if name not in [v.name for v in program.inputs]:
            raise Error(f"the program has no input {name!r}: {program.signature}")
    if missing := [v.name for v in program.inputs if v.name not in inputs]:
        raise Error(f"the program needs input {missing[0]!r}: {program.signature}")
    columns = [_entries(v, inputs[v.name]) for v in program.inputs]
    kinds = {type(x): x for column in columns for x in column}
    ranked = [x for x in kinds.values() if not isinstance(x, int | float | complex)] or list(kinds.values()) or [0.0]
    scalars = _scalars(ranked[0])
    values: list[Any] = []
    for op, *rest in program.nodes:
        values.append(_step(scalars, op, rest, values, columns))
    outputs = tuple(_collect(scalars, v, [values[i] for i in nodes], columns) for v, nodes in program.output_nodes())
    return outputs[0] if len(outputs) == 1 else outputs


def _step(scalars: Scalars, op: str, rest: list[Any], values: list[Any], columns: list[list[Any]]) -> Any:
    match op:
        case "input":
            return columns[rest[0]][rest[1]]
        case "const":
            return scalars.constant(rest[0])
        case "add":
            return values[rest[0]] + values[rest[1]]
        case "sub":
            return values[rest[0]] - values[rest[1]]
        case "mul":
            return values[rest[0]] * values[rest[1]]
        case "div":
            return values[rest[0]] / values[rest[1]]
        case "neg":
            return -values[rest[0]]
        case _:
            x = values[rest[0]]
            return getattr(_Methods if isinstance(x, Angle) else scalars.functions, op)(x)


def _entries(variable: Variable, given: Any) -> list[Any]:
    """The scalars of one input in row-major order; for arrays of numbers, batches of them."""
    shape, library = variable.shape, type(given).__module__.partition(".")[0]
    if library == "casadi":
        if given.numel() != variable.size:
            raise Error(f"input {variable.name!r} must have shape {shape}, got {given.shape}")
        return [given[index] for index in np.ndindex(*shape)] if len(shape) > 1 else [given[j] for j in range(variable.size)]
    if library in ("jax", "jaxlib") or (isinstance(given, np.ndarray) and given.dtype != object):
        core = len(shape)
        if given.ndim < core or given.shape[given.ndim - core :] != shape:
            raise Error(f"input {variable.name!r} must end in shape {shape}, got {given.shape}")
        return [given[(..., *index)] for index in np.ndindex(*shape)]
    array = np.empty(variable.size, dtype=object)
    flat = _flatten(given, len(shape))
    if len(flat) != variable.size:
        raise Error(f"input {variable.name!r} must have shape {shape}, got {len(flat)} entries")
    array[:] = flat
    return list(array)


def _flatten(given: Any, depth: int) -> list[Any]:
    """Nested sequences to one list."""
    if depth == 0:
        return [given]
    if hasattr(given, "tolist"):
        given = given.tolist()
    return [x for part in given for x in _flatten(part, depth - 1)]


def _collect(scalars: Scalars, variable: Variable, values: list[Any], columns: list[list[Any]]) -> Any:
    if scalars.stack is None:
        array = np.empty(variable.size, dtype=object)
        for j, value in enumerate(values):
            array[j] = value
        array = array.reshape(variable.shape)
        plain = all(isinstance(x, int | float | complex) for x in array.ravel())
        return np.array(array.tolist(), dtype=np.result_type(float, *array.ravel().tolist())) if plain else array
    batch = np.broadcast_shapes(*(np.shape(x) for column in columns for x in column))
    if not values:
        return np.zeros((*batch, *variable.shape))
    flat = scalars.stack([scalars.functions.broadcast_to(x, batch) for x in values], axis=-1)
    return flat.reshape((*batch, *variable.shape))
