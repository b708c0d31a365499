"""From a formulation to a number: which inputs a quantity has, its traced program, and the evaluation on arrays."""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from dalembert.arguments import batch as broadcast
from dalembert.arguments import choice, flag, numbers, several, targets
from dalembert.errors import Error, PerformanceWarning, brief, unknown
from dalembert.formulations import formulation, takes
from dalembert.linalg import SingularError
from dalembert.model.edit import without_armature, without_friction
from dalembert.model.model import Model
from dalembert.native.direct import short_way
from dalembert.native.kernel import MOST_SCALARS, Kernel, build, source_digest
from dalembert.quantities.singular import check_regular, regular, without_inertia
from dalembert.quantities.size import check_size
from dalembert.quantities.table import UNGUARDED, Quantity, check_method, joint_parameters, methods, pivots, quantity_named, sized
from dalembert.spatial import Array
from dalembert.trace.count import OperationCount, tally
from dalembert.trace.count import operation_count as count
from dalembert.trace.program import Program, trace
from dalembert.trace.source import NumpyKernel

BACKENDS = ("auto", "native", "numpy")
PER_JOINT = ("q", "qd", "qdd", "tau", "nu", "epsilon")
# all that the program of a quantity depends on beside the robot
SOURCE = source_digest("formulations", "linalg.py", "model", "precise.py", "quantities", "simulate", "spatial.py", "trace")
LARGE = 50_000  # nodes, and thrice the results: about four seconds of compiling


def shapes_of(model: Model, quantity: str, optional: Sequence[str] = ()) -> dict[str, tuple[int, ...]]:
    """The inputs of a quantity and their shapes for this robot, with the optional ones that are named."""
    return _shapes(model, quantity_named(quantity), optional)


def _shapes(model: Model, quantity: Quantity, optional: Sequence[str]) -> dict[str, tuple[int, ...]]:
    for name in optional:
        if name not in quantity.optional:
            raise unknown("optional input", name, quantity.optional)
    chosen = dict(quantity.inputs) | {k: v for k, v in quantity.optional.items() if k in optional}
    return {name: sized(model, template) for name, template in chosen.items()}


def program(
    model: Model,
    quantity: str,
    method: str | None = None,
    *,
    optional: Sequence[str] | str = (),
    folding: bool = True,
    sharing: bool = True,
    **options: Any,
) -> Program:
    """The traced program of a quantity for this robot: inputs, outputs, and one node per operation.

    `optional` names further inputs to include ("wrenches", "base_twist", "base_acceleration"); without them nothing is traced.
    `options` are what the quantity's own function takes beside arrays, such as link="hand".

    >>> import dalembert as da
    >>> da.robot("two_link").program("inverse_dynamics")
    <Program q(2), qd(2), qdd(2) -> tau(2): ... nodes>
    """
    described, chosen, optional = quantity_named(quantity), _options(quantity, options), several(optional, "optional")
    folding, sharing = flag(folding, "folding"), flag(sharing, "sharing")
    by = _method(quantity, method)
    check_size(model.parents, model.name, quantity, by)
    if described.derived and by in described.methods:
        _shapes(model, described, optional)
        return described.derived(model, by, optional, chosen)
    body, shapes = _body(model, quantity, by, optional)
    try:
        with np.errstate(all="ignore"):  # absurd figures overflow: the results say so
            return trace(body, shapes, outputs=tuple(described.outputs), folding=folding, sharing=sharing)
    except SingularError as singular:
        raise without_inertia(model, quantity, singular.index) from None


def _method(quantity: str, method: str | None) -> str:
    """The name of a method, or of the default one."""
    described = quantity_named(quantity)
    return described.method if method is None else choice(method, f"method for {quantity}:", methods(quantity))


def _options(quantity: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a quantity with their defaults."""
    known = quantity_named(quantity).options
    for name in options:
        if name not in known:
            raise unknown(f"option of {quantity}:", name, known)
    chosen = {**known, **{name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}}
    try:
        hash(tuple(chosen.values()))
    except TypeError:
        raise Error(f"the options of {quantity} must be names, numbers or tuples of them, got {brief(options)}") from None
    return chosen


def _body(model: Model, quantity: str, method: str, optional: Sequence[str]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A quantity of this robot as a function of arrays, and the shapes of those."""
    described = quantity_named(quantity)
    shapes = _shapes(model, described, optional)
    function = formulation(quantity, method, tuple(optional))
    # on a standing base these depend neither on link frames nor on how inertias are shared out along the axes
    tree = model.reduced_tree if described.invariant and not optional else model.exact_tree
    function = partial(function, tree)
    if model.n and takes(quantity, method, "pivots"):
        function = partial(function, pivots=pivots(model, described.rotors))
    whole = described.joints(model, function) if described.joints else function

    def body(*arrays: Any) -> Any:
        if model.n == 0:
            return tuple(np.zeros(sized(model, t)) for t in described.outputs.values())
        return whole(**dict(zip(shapes, arrays, strict=True)))

    return body, shapes


def operation_count(
    model: Model, quantity: str, method: str | None = None, *, customized: bool = True, **options: Any
) -> OperationCount:
    """How many operations one evaluation takes, friction and armature left out.

    `customized`: zeros, ones and repeated expressions removed for this very robot; otherwise every operation that the source
    writes on data, as for a robot on a still base about which nothing else is known.

    >>> import dalembert as da
    >>> print(da.robot("two_link").operation_count("inverse_dynamics"))
    17 mul, 14 add, 2 sincos
    """
    bare = without_armature(without_friction(model))
    if flag(customized, "customized"):
        return count(program(bare, quantity, method, **options))
    by = _method(quantity, method)
    if by in quantity_named(quantity).methods:
        raise Error(f"{quantity} is derived from the program of a formulation, so it has a customized count only")
    check_size(model.parents, model.name, quantity, by)
    return tally(*_body(bare, quantity, by, ()))


def compile(
    model: Model,
    quantity: str,
    method: str | None = None,
    *,
    optional: Sequence[str] | str = (),
    backend: str = "auto",
    **options: Any,
) -> Kernel | NumpyKernel:
    """The evaluator of a quantity, made once per robot and kept with it; calling this first warms it up.

    backend "native" compiles to vector code, "numpy" runs generated NumPy source, "auto" takes native code unless llvmlite is
    missing or the program is too large to compile in reasonable time. The result's `backend` tells which it is.

    >>> import dalembert as da
    >>> da.robot("two_link").compile("inverse_dynamics").backend
    'native'
    """
    described, method = quantity_named(quantity), _method(quantity, method)
    choice(backend, "backend", BACKENDS)
    _shapes(model, described, optional := several(optional, "optional"))
    included = tuple(name for name in described.optional if name in optional)
    chosen = tuple(_options(quantity, options).items())
    kernels = model.memo.setdefault(quantity, {})
    kept = kernels.get((method, included, backend, chosen))
    if kept is None:
        if model.n == 0:
            raise Error(f"{model.name} has no moving joints: there is nothing to compile")
        check_method(quantity, method, included)
        check_size(model.parents, model.name, quantity, method)
        kept = kernels.setdefault((method, included, backend, chosen), _make(model, quantity, method, included, backend, chosen))
        if isinstance(kept, Kernel) and not included and backend == "auto" and method not in UNGUARDED:
            # what a call without optional inputs looks up: the bare name of the method, or the values of the options
            kernels[(method, *(value for _, value in chosen)) if chosen else method] = short_way(kept)
    return kept


def _make(
    model: Model, quantity: str, method: str, optional: tuple[str, ...], backend: str, options: tuple[tuple[str, Any], ...]
) -> Kernel | NumpyKernel:
    def traced() -> Program:
        found = program(model, quantity, method, optional=optional, **dict(options))
        scalars = sum(v.size for v in (*found.inputs, *found.outputs))
        if backend == "auto" and (len(found.nodes) + 3 * len(found.results) > LARGE or scalars > MOST_SCALARS):
            raise TooLargeError(found)
        return found

    if backend != "numpy":
        try:
            # a copy of the model: the kernel is kept by the robot and must not keep it in turn
            rebuild = compile, (replace(model), quantity, method), {"optional": optional, "backend": backend, **dict(options)}
            key = f"{SOURCE} {quantity} {method} {optional} {options} {_content(model, quantity)}" if SOURCE else ""
            return build(key, traced, (_call, rebuild))
        except ImportError as missing:
            if backend == "native":
                raise Error(f"native kernels need llvmlite, which cannot be loaded: {missing}") from None
            _say_once(f"native kernels need llvmlite, which cannot be loaded ({missing}); computing with NumPy instead")
        except TooLargeError as large:
            _say_once(
                f"{quantity} of {model.name} by {method} has {len(large.program.nodes)} operations, too many to compile quickly; "
                'computing with NumPy instead (backend="native" insists)'
            )
            return NumpyKernel(large.program)
    return NumpyKernel(program(model, quantity, method, optional=optional, **dict(options)))


class TooLargeError(Exception):
    """A program that would take too long to compile."""

    def __init__(self, program: Program) -> None:
        self.program = program


def _call(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*arguments, **options)


@cache
def _say_once(message: str) -> None:
    warnings.warn(message, PerformanceWarning, stacklevel=6)


def _content(model: Model, quantity: str) -> str:
    """A hash of all that programs depend on: limits do not matter, the base and names only to what no formulation computes."""
    found = hashlib.sha256()
    if quantity_named(quantity).derived:
        names = model.link_names, model.base_name, model.frames
        found.update(repr((names, model.base, model.base_inertia)).encode())
    tree = model.tree
    numbers = (*tree.before, *tree.after, tree.screw, tree.mass, tree.com, tree.inertia, tree.gravity, *joint_parameters(model))
    for part in numbers:
        found.update(np.ascontiguousarray(part, dtype=float).tobytes())
    return f"{tree.parents} {found.hexdigest()}"


def evaluate(
    model: Model, quantity: str, method: str, given: Mapping[str, Any], backend: str = "auto", out: Any = None, **options: Any
) -> Any:
    """A quantity on arrays: shapes checked, kernel looked up, batches broadcast."""
    described = quantity_named(quantity)
    if out is None and (found := _short(model, quantity, method, described, given, backend, options)) is not None:
        return found
    check_method(quantity, method)
    choice(backend, "backend", BACKENDS)
    names = (*described.inputs, *(name for name in described.optional if given.get(name) is not None))
    present = {name: numbers(given[name], f"{quantity}: {name}", complex_=True) for name in names}
    optional = tuple(name for name in present if name in described.optional)
    shapes = _shapes(model, described, optional)
    arrays = [_checked(model, quantity, name, present[name], shape) for name, shape in shapes.items()]
    batches = {name: a.shape[: a.ndim - len(s)] for (name, s), a in zip(shapes.items(), arrays, strict=True)}
    batch = broadcast(batches, quantity)
    chosen = _options(quantity, options)
    results = [(*batch, *sized(model, t, chosen)) for t in described.outputs.values()]
    complex_ = any(a.dtype.kind == "c" for a in arrays)
    if out is not None:
        found = targets(out, dict(zip(described.outputs, results, strict=True)), quantity, complex_=complex_)
        out = tuple(found) if described.result else out  # an earlier result will do, too
    if model.n == 0 and method in described.methods:
        found = NumpyKernel(program(model, quantity, method, optional=optional, **options))(*arrays, out=out)
        return described.result(*found) if described.result else found
    if model.n == 0:
        # of the outputs without axes only the determinant, an empty product, is a formulation's
        empty = [
            np.full(s, float(t == ()), complex if complex_ else float)
            for s, t in zip(results, described.outputs.values(), strict=True)
        ]
        return out if out is not None else described.result(*empty) if described.result else empty[0]
    if complex_:
        if backend == "native":
            raise Error(f'{quantity}: native kernels compute with real numbers; complex ones need backend="numpy"')
        backend = "numpy"
    if described.divides and out is not None:
        q = arrays[0]  # what is looked at afterwards must not be written over
        arrays[0] = q.copy() if any(np.may_share_memory(q, x) for x in (out if described.result else (out,))) else q
    found = compile(model, quantity, method, optional=optional, backend=backend, **options)(*arrays, out=out)
    if described.divides:
        check_regular(model, quantity, method, found if described.result else (found,), arrays[0], batch)
    return described.result(*found) if described.result else found


def _short(
    model: Model,
    quantity: str,
    method: str,
    described: Quantity,
    given: Mapping[str, Any],
    backend: str,
    options: Mapping[str, Any],
) -> Any:
    """The result by a kernel that is there already, without a look at shapes: it refuses what is wrong. None if it does."""
    for name in described.optional:
        if given.get(name) is not None:
            return None
    try:
        if backend != "auto":
            return None
        key = (method, *{**described.options, **options}.values()) if described.options else method
        found = model.memo[quantity][key](*[given[name] for name in described.inputs])
    except (KeyError, TypeError, ValueError, RuntimeError):
        return None  # the first call, wrong shapes, complex numbers: the long way serves or explains
    if described.divides and not all(regular(x) for x in (found if described.result else (found,))):
        return None
    return described.result(*found) if described.result else found


def joint_vector(model: Model, function: str, name: str, value: Any) -> Array:
    """An argument (..., n) of a function that needs no kernel, as an array of floats or complex numbers."""
    array = _checked(model, function, name, numbers(value, f"{function}: {name}", complex_=True), (model.n,))
    return array if array.dtype.kind == "c" else array.astype(float)


def checked_input(model: Model, quantity: str, name: str, value: Any) -> Array:
    """One input as an array whose core shape is right."""
    described = quantity_named(quantity)
    shape = sized(model, {**described.inputs, **described.optional}[name])
    return _checked(model, quantity, name, numbers(value, f"{quantity}: {name}", complex_=True), shape)


def _checked(model: Model, quantity: str, name: str, array: Array, shape: tuple[int, ...]) -> Array:
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        order = f"; joint order: {', '.join(model.joint_names[:12])}" if name in PER_JOINT else ""
        wanted = "(..., " + ", ".join(map(str, shape)) + ")"
        raise Error(f"{quantity}: {name} has shape {array.shape}, {model.name} needs {wanted}{order}")
    return array
