"""Single precision: programs whose constants are floats of 32 bits, and how far their results are from double precision.

Two figures are given, both over states drawn from the ranges of the robot's joints. The measured one is the largest difference
between a float evaluation, operation by operation, and the double one. The bound is a running rounding analysis at those states: it
holds for whatever a compiler fuses, and for sines and cosines that are right to one unit in the last place. Between the states
neither is a proof.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.codegen.common import Function
from dalembert.engine.quantity import Quantity, Values
from dalembert.model.limits import own_limit
from dalembert.model.model import Model
from dalembert.model.positions import by_kind, ranges
from dalembert.trace.program import Program, Variable, evaluate, last_uses, operands, trace

UNIT = 2.0**-24  # half a unit in the last place of 1
STATES, CHUNK = 1000, 250
SEED = 20
# of inputs other than positions, velocities and forces, by unit: what laws and gains of an arm may be
RANGES: dict[str, tuple[float, float]] = {
    "rad/s^2 or m/s^2": (-10, 10), "1/s^2": (0, 400), "1/s": (0, 40), "s": (1e-4, 1e-2),
    "N m/rad, N/m": (0, 1000), "N m s/rad, N s/m": (0, 100), "tau/qd": (0, 10),
}  # fmt: skip
OTHERWISE = (-1.0, 1.0)
SAID = (
    "States for the error of single precision: q within the joint limits (else +-pi rad, +-1 m), qd within the velocity limits "
    "(else +-pi rad/s, +-1 m/s), joint forces within the torque limits (else +-100 N m or N), accelerations +-10, other inputs "
    "+-1; gains of control laws: kp 0 to 400, kd and observers 0 to 40, stiffness 0 to 1000, damping 0 to 100, at joints 0 to 10, "
    "dt 0.1 to 10 ms."
)


class Error32(NamedTuple):
    """Of one output: the largest difference measured, the bound, and the largest entry, over all states."""

    measured: float
    bound: float
    largest: float


def in_single(program: Program) -> Program:
    """The same program with constants of 32 bits, recorded anew: what has become 0 or 1 disappears.

    >>> from dalembert.trace import trace
    >>> print(in_single(trace(lambda x: 1.000000001 * x, {"x": ()}, outputs=("y",))))
    program: x() -> y()
    v0 = x[]
    y[] = v0
    """

    def again(*arrays: Any) -> Any:
        values = evaluate(program, [a.ravel() for a in arrays], constant=rounded)
        found = [np.array([values[i] for i in nodes], dtype=object).reshape(v.shape) for v, nodes in program.output_nodes()]
        return tuple(found)

    return trace(again, {v.name: v.shape for v in program.inputs}, outputs=[v.name for v in program.outputs])


def in_single_precision(
    robot: Model, function: Function, reference: Program, quantity: Quantity, optional: tuple[str, ...]
) -> Function:
    """A function with constants of 32 bits, which says how far its results are from the reference, and tests itself accordingly."""
    made = function.program
    errors = single_errors(robot, made, reference, quantity.arrays(optional))
    units = (values.unit for values in quantity.outputs.values())
    said = [_said(v, unit, error) for v, unit, error in zip(made.outputs, units, errors, strict=True)]
    _, bound = against(made, reference, [np.array(x)[:, None] for x in function.given])
    sizes = [max(map(abs, x)) or 1.0 for x in function.expected]
    shares = [float(bound[nodes].max()) / size for nodes, size in zip(places(made), sizes, strict=True)]
    tolerances = [rounded(1.1 * x + 2 * UNIT) if np.isfinite(x) else 1.0 for x in shares]  # what is expected is rounded, too
    return function._replace(program=in_single(made), about=[*function.about, *said], tolerances=tolerances)


def _said(variable: Variable, unit: str, error: Error32) -> str:
    """What single precision costs an output."""
    if error.measured == error.largest == 0.0:
        return f"{variable.name} is 0 at all states"
    share, name = error.measured / error.largest, variable.name
    limit = (
        f"at most {error.bound:.1e} by rounding analysis" if np.isfinite(error.bound) else "without a bound where it is singular"
    )
    return f"error of {name} in {unit}: {error.measured:.1e} measured ({share:.1e} of the largest), {limit}"


def rounded(x: Any) -> float:
    """The nearest float of 32 bits, as a double."""
    with np.errstate(over="ignore"):
        return float(np.float32(x))


def single_errors(robot: Model, program: Program, reference: Program, arrays: Mapping[str, Values]) -> list[Error32]:
    """How far each output is from `reference` in double precision, over states within the robot's ranges.

    The reference is the same program, or that of the robot before its angles were snapped.
    """
    shorter, found = in_single(program), [[Error32(0.0, 0.0, 0.0)] for _ in program.outputs]
    for states in _states(robot, program, arrays):
        exact, bound = against(program, reference, states)
        computed = _computed(shorter, states)
        for k, nodes in enumerate(places(program)):
            good = np.isfinite(exact[nodes])
            error = np.where(good, np.abs(computed[nodes] - exact[nodes]), 0.0)
            allowed, size = np.where(good, bound[nodes], 0.0), np.where(good, np.abs(exact[nodes]), 0.0)
            found[k].append(Error32(*(float(x.max(initial=0.0)) for x in (np.where(error == error, error, np.inf), allowed, size))))
    return [Error32(*(max(column) for column in zip(*parts, strict=True))) for parts in found]


def against(program: Program, reference: Program, inputs: Sequence[Array]) -> tuple[Array, Array]:
    """Results (size, states) of the reference in double precision, and how far those of 32 bits may be from them."""
    own, bound = bounded(program, inputs)
    exact = own if reference is program else bounded(reference, inputs)[0]
    return exact, bound + np.abs(own - exact)


def places(program: Program) -> list[slice]:
    """Where the scalars of each output are among the results."""
    ends = np.cumsum([0, *(v.size for v in program.outputs)]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _states(robot: Model, program: Program, arrays: Mapping[str, Values]) -> Iterator[list[Array]]:
    """Inputs (size, states), floats of 32 bits."""
    rng = np.random.default_rng(SEED)
    for _ in range(0, STATES, CHUNK):
        drawn: list[Array] = []
        for variable in program.inputs:
            low, high = _range(robot, arrays[variable.name].unit)
            flat = rng.uniform(size=(variable.size, CHUNK))
            drawn.append((low + (high - low) * flat).astype(np.float32).astype(float))
        yield drawn


def _range(robot: Model, unit: str) -> tuple[Any, Any]:
    """The ends between which an input of this unit is drawn: numbers, or columns (n, 1)."""
    reach = by_kind(robot, 1.0, np.pi)
    if unit == "rad or m":
        low, high = ranges(robot.lower, robot.upper, 2 * reach)
        return low[:, None], high[:, None]
    limits = {"rad/s or m/s": ("velocity", reach), "N m or N": ("torque", 100.0)}
    if unit in limits:
        name, otherwise = limits[unit]
        size = own_limit(robot, name)
        size = np.where(np.isfinite(size), size, otherwise)[:, None]
        return -size, size
    return RANGES.get(unit, OTHERWISE)


def _computed(program: Program, inputs: Sequence[Array]) -> Array:
    """All results (size, states) by operations on floats of 32 bits; sines and cosines are rounded from doubles."""

    def function(op: str, x: Any, *numbers: Any) -> Any:
        if op == "above":
            return np.where(x > numbers[0], x, np.float32(numbers[1]))
        if op == "where":
            return np.where(x > 0, *numbers)
        return np.sign(x) if op == "sign" else getattr(np, op)(x.astype(float)).astype(np.float32)

    with np.errstate(all="ignore"):
        values = evaluate(program, [[*a.astype(np.float32)] for a in inputs], constant=np.float32, function=function)
        width = inputs[0].shape[1]
        return np.array([np.broadcast_to(values[i], width) for i in program.results], dtype=float)


def bounded(program: Program, inputs: Sequence[Array]) -> tuple[Array, Array]:
    """Results (size, states) in double precision, and how far those of 32 bits may be from them, for inputs that are both.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x, y: x * y, {"x": (), "y": ()})
    >>> value, error = bounded(p, [np.full((1, 1), 2.0), np.full((1, 1), 3.0)])
    >>> value.item(), error.item() == 6 * UNIT
    (6.0, True)
    """
    last = last_uses(program)
    known: dict[int, tuple[Any, Any]] = {}
    with np.errstate(all="ignore"):
        for k, node in enumerate(program.nodes):
            op, parts = node[0], [known[i] for i in operands(node)]
            if op == "input":
                known[k] = inputs[node[1]][node[2]], 0.0
            elif op == "const":
                known[k] = float(node[1]), abs(float(node[1]) - rounded(node[1])) if np.isfinite(float(node[1])) else 0.0
            else:
                known[k] = _operation(op, parts, node[2:])
            for i in {i for i in operands(node) if last[i] == k}:
                del known[i]
    width = inputs[0].shape[1]
    pairs = [known[i] for i in program.results]
    values, errors = (np.array([np.broadcast_to(pair[side], width) for pair in pairs], dtype=float) for side in (0, 1))
    return values, errors


def _operation(op: str, parts: list[tuple[Any, Any]], numbers: Any) -> tuple[Any, Any]:
    """The value of an operation and the error of its result, from those of its operands."""
    (x, ex), (y, ey) = parts[0], parts[-1]
    if op in ("add", "sub"):
        return _rounded_once(x + y if op == "add" else x - y, ex + ey)
    if op == "mul":
        return _rounded_once(x * y, abs(x) * ey + abs(y) * ex + ex * ey)
    if op == "div":
        z, room = x / y, abs(y) - ey
        return _rounded_once(z, np.where(room > 0, (ex + abs(z) * ey) / room, np.inf))
    if op == "sqrt":
        z = np.sqrt(x)
        return _rounded_once(z, np.where(ex > 0, ex / (np.sqrt(np.maximum(x - ex, 0.0)) + z), 0.0))
    if op in ("sin", "cos"):
        return getattr(np, op)(x), np.minimum(ex, 2.0) + 2 * UNIT
    if op == "sign":
        return np.sign(x), np.where(abs(x) > ex, 0.0, np.where(ex > 0, 2.0, 0.0))
    if op == "above":
        floor, otherwise = numbers
        sure = (abs(x - floor) > ex) | (np.asarray(ex) == 0)
        return np.where(x > floor, x, otherwise), np.where(sure, np.where(x > floor, ex, 0.0), np.inf)
    if op == "where":
        (a, ea), (b, eb) = parts[1:]
        sure = (abs(x) > ex) | (np.asarray(ex) == 0)
        return np.where(x > 0, a, b), np.where(sure, np.where(x > 0, ea, eb), abs(a - b) + np.maximum(ea, eb))
    return -x, ex


def _rounded_once(z: Any, error: Any) -> tuple[Any, Any]:
    """A value with the error of its operands, and that of its own rounding."""
    return z, error + UNIT * (abs(z) + error)
