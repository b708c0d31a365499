"""The evaluation of a quantity on arrays: one path for every function that users call.

A function of `quantities` describes the request (`asked`), and `computed` answers: it checks the inputs, the outputs,
runs the kernel, and looks for singular states. A call with the options of an earlier one goes straight to the kernel, which checks
arrays itself, in a fraction of a microsecond.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import batch as broadcast
from dalembert.arguments import choice, numbers, targets
from dalembert.engine.guards import need_joints, need_rates, need_single_joints
from dalembert.engine.kernels import BACKENDS, Request, kernel
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import QUANTITIES, quantity_named
from dalembert.engine.singular import UNGUARDED, check_regular, regular
from dalembert.errors import Error
from dalembert.model.model import Model, freed
from dalembert.model.wrench import wrench_array
from dalembert.native.direct import short_way
from dalembert.native.kernel import Kernel
from dalembert.trace.source import NumpyKernel

POSITIONS = ("q", "q0", "q1", "at_q")
PER_JOINT = ("q", "qd", "qdd", "tau", "nu", "epsilon", "weights")
ARRAYS = {name for quantity in QUANTITIES.values() for name in quantity.optional}  # None where they are left out
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Call:
    """A request: a quantity of a robot at some state."""

    robot: Model
    quantity: Quantity
    method: str
    given: Mapping[str, Any]  # arrays by name, None where an optional one was left out
    options: Mapping[str, Any]
    backend: str
    out: Any
    guard: Callable[[Any, Array, tuple[int, ...]], None] | None  # checks a result with NaN, with q and the batch


def asked(
    robot: Model,
    quantity: str | Quantity,
    given: Mapping[str, Any],
    method: str | None = None,
    *,
    backend: str = "auto",
    out: Any = None,
    guard: Callable[[Any, Array, tuple[int, ...]], None] | None = None,
    **options: Any,
) -> Any:
    """What a `computed` function returns instead of a result."""
    described = quantity_named(quantity).of(robot)
    return Call(robot, described, described.method_of(robot) if method is None else method, given, options, backend, out, guard)


def evaluate(call: Call) -> Any:
    """The result of a call: an array, or the quantity's NamedTuple of arrays."""
    arrays, optional, batch = _inputs(call)
    out = _outputs(call, arrays, batch)
    result = _run(call, arrays, optional, out, batch)
    return _guarded(call, result, arrays, batch)


def computed(function: F) -> F:
    """Make a function that returns what was `asked` one that returns the result.

    The second call with the same options goes straight to the kernel, which checks arrays itself. A general wrapper with *args and
    **options would cost as much as the dynamics of an arm, so one with the function's own signature is written and compiled, the
    way `dataclass` writes `__init__`.
    """
    parameters = list(signature(function).parameters.values())
    names = [p.name for p in parameters]
    inputs = ", ".join(p.name for p in parameters[1:] if p.default is Parameter.empty)
    arrays = [p.name for p in parameters if p.name in ARRAYS and p.default is not Parameter.empty]
    options = [p.name for p in parameters if p.default is not Parameter.empty and p.name not in (*arrays, "out", "backend")]
    bare = " is ".join([*arrays, "None"]) + " and " if arrays else ""
    head = ", ".join(f"{'*, ' if _first_keyword(parameters, p) else ''}{p.name}{_default(p)}" for p in parameters)
    key = options[0] if len(options) == 1 else f"({', '.join(options)})"
    answer = f'{names[0]}.memo["{function.__name__}"][{key}]({inputs}'
    into = f"{answer}, *(out if isinstance(out, tuple) else (out,)))" if "out" in names else ""
    source = f"""
def {function.__name__}({head}):
    try:
        if {bare}backend == "auto":
            return {answer}){f" if out is None else {into}" if into else ""}
    except (KeyError, TypeError, ValueError, RuntimeError):
        pass  # the first call, or one that the kernel rejects: fall through to full checking
    return fully(asked({", ".join(f"{name}={name}" for name in names)}), made, {key})
"""
    scope: dict[str, Any] = {
        "__name__": __name__,
        "fully": _fully,
        "asked": function,
        "defaults": {p.name: p.default for p in parameters},
    }
    exec(compile(source, f"<dalembert {function.__name__}>", "exec"), scope)  # noqa: S102 - our own text
    made: Any = wraps(function)(scope[function.__name__])
    usual = [scope["defaults"][name] for name in options]
    made.usual = usual[0] if len(usual) == 1 else tuple(usual)
    scope["made"] = made
    return cast("F", made)


def _first_keyword(parameters: list[Parameter], p: Parameter) -> bool:
    return p is next((x for x in parameters if x.kind is Parameter.KEYWORD_ONLY), None)


def _default(p: Parameter) -> str:
    return "" if p.default is Parameter.empty else f"=defaults[{p.name!r}]"


def _fully(call: Call, function: Any, options: Any) -> Any:
    """The result, every argument checked; the robot then remembers what answers a call with these options and inputs alone."""
    result = evaluate(call)
    robot, quantity = call.robot, call.quantity
    bare = call.backend == "auto" and all(call.given.get(name) is None for name in quantity.optional)
    if bare and robot.n and call.method not in UNGUARDED:
        compiled = kernel(robot, _request(call, ()))
        if isinstance(compiled, Kernel):
            with suppress(TypeError):  # a list among the options is not hashable
                answers: dict[Any, Callable[..., Any]] = robot.memo.setdefault(function.__name__, {})
                if options not in answers:
                    guarded = call.guard is not None or bool(robot.runs)
                    answers[options] = _answer(quantity, compiled, guarded)
                    if options == function.usual and getattr(type(robot), function.__name__, None) is function:
                        _at_once(robot, function, quantity, compiled, guarded)
    return result


def _at_once(robot: Model, function: Any, quantity: Quantity, compiled: Kernel, guarded: bool) -> None:
    """Put the kernel's built-in function onto the robot, in front of the method: plain calls then take no step in Python.

    Whatever is not plain it passes to the method, of a twin of the robot with the same memory: referring to the robot itself, it
    would keep it alive until the garbage collector comes.
    """
    twin = object.__new__(type(robot))
    vars(twin).update(vars(robot))
    shown = signature(function)
    plain = [p.replace(annotation=Parameter.empty) for p in list(shown.parameters.values())[1:]]
    text = f"{function.__name__}{shown.replace(parameters=plain, return_annotation=shown.empty)}\n--\n\n{function.__doc__}"
    method = function.__name__, text, twin
    vars(robot)[function.__name__] = short_way(
        compiled, partial(function, twin), quantity.result, quantity.divides or guarded, method
    )


def _answer(quantity: Quantity, compiled: Kernel, guarded: bool) -> Callable[..., Any]:
    """A kernel as the answer to a call: its results named, and rejected where one is NaN."""
    result, check, inputs = quantity.result, quantity.divides or guarded, len(compiled.inputs)

    def slow(*given: Any) -> Any:
        if check and len(given) > inputs:
            raise ValueError  # the full check may need inputs that are written over
        value = compiled(*given)
        if check and not regular(*(value if result else (value,))):
            raise ValueError  # the full check distinguishes singular states from NaN inputs
        return result(*value) if result else value

    return short_way(compiled, slow, result, check)


def _request(call: Call, optional: tuple[str, ...]) -> Request:
    options = call.quantity.check_options(call.options)
    return Request(call.quantity, call.method, optional, call.backend, tuple(options.items()))


# --- the four steps -----------------------------------------------------------------------------------------------------


def _inputs(call: Call) -> tuple[list[Array], tuple[str, ...], tuple[int, ...]]:
    """The inputs as arrays of the right core shapes, the names of the optional ones, and the batch they broadcast to."""
    quantity, robot = call.quantity, call.robot
    optional = tuple(name for name in quantity.optional if call.given.get(name) is not None)
    quantity.check_method(call.method, robot, optional)
    choice(call.backend, "backend", BACKENDS)
    given, wanted = dict(call.given), quantity.arrays(optional)
    if isinstance(wrenches := given.get("wrenches"), Mapping):
        given["wrenches"] = named_wrenches(robot, joint_vector(robot, quantity.name, "q", given["q"]), wrenches)
    arrays = [checked(robot, quantity.name, name, given[name], values) for name, values in wanted.items()]
    for x, (name, values) in zip(arrays, wanted.items(), strict=True) if robot.runs else ():
        if values.shape == ("q",):
            check_quaternions(robot, quantity.name, name, x)
    batches = {name: a.shape[: a.ndim - len(values.shape)] for a, (name, values) in zip(arrays, wanted.items(), strict=True)}
    return arrays, optional, broadcast(batches, quantity.name)


def _outputs(call: Call, arrays: list[Array], batch: tuple[int, ...]) -> Any:
    """The arrays to write into, checked: one, or a tuple of them; None if there are none."""
    out, quantity = call.out, call.quantity
    if out is None:
        return None
    options = quantity.check_options(call.options)
    shapes = {name: (*batch, *values.sized(call.robot, options)) for name, values in quantity.outputs.items()}
    written = targets(out, shapes, quantity.name, complex_=_is_complex(arrays))
    if (quantity.divides or call.guard) and any(np.may_share_memory(arrays[0], x) for x in written):
        arrays[0] = arrays[0].copy()  # q is needed afterwards, to look for singular states
    return tuple(written) if quantity.result else out  # an earlier result will do, too


def _run(call: Call, arrays: list[Array], optional: tuple[str, ...], out: Any, batch: tuple[int, ...]) -> Any:
    """The kernel's results."""
    quantity, robot, backend = call.quantity, call.robot, call.backend
    complex_ = _is_complex(arrays)
    if complex_ and backend == "native":
        raise Error(f'{quantity.name}: native kernels compute with real numbers; complex numbers need backend="numpy"')
    if robot.n == 0:
        if call.method in quantity.recipes:
            return NumpyKernel(program(robot, quantity, call.method, optional=optional, **call.options))(*arrays, out=out)
        # of the outputs without axes only the determinant, an empty product, is a formulation's
        empty = [
            np.full((*batch, *values.sized(robot)), float(values.shape == ()), complex if complex_ else float)
            for values in quantity.outputs.values()
        ]
        return out if out is not None else tuple(empty) if quantity.result else empty[0]
    request = _request(call, optional)
    if complex_:
        request = Request(quantity, call.method, optional, "numpy", request.options)
    return kernel(robot, request)(*arrays, out=out)


def _guarded(call: Call, result: Any, arrays: list[Array], batch: tuple[int, ...]) -> Any:
    """The results, named; singular states raise or warn."""
    quantity = call.quantity
    if quantity.divides and call.robot.n:
        check_regular(call.robot, quantity, call.method, result if quantity.result else (result,), arrays, batch)
    if call.guard and not regular(*(result if quantity.result else (result,))):
        call.guard(result, arrays[0], batch)
    return quantity.result(*result) if quantity.result else result


def _is_complex(arrays: list[Array]) -> bool:
    return any(a.dtype.kind == "c" for a in arrays)


def named_wrenches(robot: Model, q: Array, wrenches: Mapping[str, Any]) -> Array:
    """Wrenches by link or frame name as (..., links, 6) in link axes."""
    if not robot.several:
        return wrench_array(robot, q, wrenches)
    return wrench_array(robot, q, wrenches, lambda: evaluate(asked(robot, "poses", {"q": q})))


# --- arrays -------------------------------------------------------------------------------------------------------------


def check_quaternions(robot: Model, function: str, name: str, q: Array) -> None:
    """Refuse positions of ball and free joints that are no rotations: the square of a quaternion's length is a normal number."""
    kind: Any = np.result_type(q, np.float32)
    least = np.finfo(kind).tiny
    for run in robot.runs:
        part = q[..., run.q : run.q + 4].astype(kind, copy=False)
        here = f"{function}: the quaternion of joint {run.joint!r} in {name} is"
        if not part.any(axis=-1).all():
            raise Error(f"{here} zero, which is no rotation; the identity is (1, 0, 0, 0)")
        with np.errstate(all="ignore"):
            square = np.abs((part * part).sum(axis=-1))
        short, long = square < least, np.isinf(square) & np.isfinite(part).all(axis=-1)
        if (short | long).any():
            size = "short" if short.any() else "long"
            raise Error(f"{here} too {size}: the square of its length must be a normal number of {kind}; divide it by its length")


def joint_vector(robot: Model, function: str, name: str, value: Any) -> Array:
    """An argument (..., n) of a function that needs no kernel, as an array of floats or complex numbers."""
    array = checked(robot, function, name, value, Values(("q" if name in POSITIONS else "n",), ""))
    array = array if array.dtype.kind == "c" else array.astype(float)
    if name in POSITIONS:
        check_quaternions(robot, function, name, array)
    return array


def joint_vectors(robot: Model, function: str, **given: Any) -> list[Array]:
    """Several such arguments, broadcast together."""
    if "q" in given:
        need_rates(robot, function)
    arrays = [joint_vector(robot, function, name, value) for name, value in given.items()]
    batch = broadcast({name: a.shape[:-1] for name, a in zip(given, arrays, strict=True)}, function)
    return [np.broadcast_to(a, (*batch, robot.n)) for a in arrays]


def moving(robot: Model, function: str, **given: Any) -> list[Array]:
    """`joint_vectors` of a function that has nothing to say about a robot without joints."""
    need_joints(robot, function)
    return joint_vectors(robot, function, **given)


def of_tree(robot: Model, function: str, **given: Any) -> list[Array]:
    """`moving` of a function that is defined for the joints of a tree, one by one."""
    need_single_joints(robot, function)
    if not robot.is_tree:
        raise Error(f"{function} needs a tree of independent joints, which {robot.name} is not; {freed(robot)} is one")
    return moving(robot, function, **given)


def checked(robot: Model, function: str, name: str, value: Any, values: Values) -> Array:
    """An argument as an array whose last axes are right."""
    array, shape = numbers(value, f"{function}: {name}", complex_=True), values.sized(robot)
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        names = robot.position_names if name in POSITIONS else robot.joint_names
        order = f"; joint order: {', '.join(names[:14])}" if name in (*PER_JOINT, *POSITIONS) else ""
        if name in PER_JOINT and robot.coupling is not None:
            order += f", which the other {len(robot.links) - robot.n} follow (see from_uncoupled)"
        wanted = "(..., " + ", ".join(map(str, shape)) + ")"
        raise Error(f"{function}: {name} has shape {array.shape}, {robot.name} needs {wanted}{order}")
    return array
