"""Programs on any scalar: floats, complex numbers, decimals, fractions, residues, mpmath, SymPy, CasADi, JAX, PyTorch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arguments import by_name
from dalembert.errors import Error, brief
from dalembert.trace.exact import Angle
from dalembert.trace.kinds import Methods, Scalars, common_kind, library_of
from dalembert.trace.program import Program, Variable, evaluate


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
    scalars = common_kind(x.cosine if isinstance(x, Angle) else x for column in columns for x in column)
    if scalars.name == "torch":
        columns = [[scalars.functions.tensor(x) for x in column] for column in columns]
    elif scalars.name not in ("numpy", "jax") and any(isinstance(x, np.ndarray) for column in columns for x in column):
        columns = [[x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in column] for column in columns]
        if any(isinstance(x, np.ndarray) for column in columns for x in column):
            raise Error(f"arrays with batch axes cannot be mixed with {scalars.name} scalars")
    batch = _batch(scalars, columns)
    if scalars.name in ("fractions", "decimals", "traced", "mpmath", "intervals"):  # two plain numbers would round
        columns = [[scalars.constant(x) if _finite(x) else x for x in column] for column in columns]
    if scalars.name == "intervals":
        squares = (("square", i[1]) if i[0] == "mul" and i[1] == i[2] else i for i in program.nodes)
        program = replace(program, nodes=tuple(squares))

    def function(op: str, x: Any, *numbers: Any) -> Any:
        if op in ("above", "where"):
            return getattr(scalars, op)(x, *numbers)
        return getattr(Methods if isinstance(x, Angle) else scalars.functions, op)(x)

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
    shape, library = variable.shape, library_of(given)
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
    if library_of(array) == "torch":
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
