"""From a formulation to a number: which inputs a quantity has, its traced program, and the evaluation on arrays."""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error, PerformanceWarning, brief, unknown
from dalembert.formulations import formulation
from dalembert.formulations.generalized_dalembert import Terms as DalembertTerms
from dalembert.formulations.lagrange_euler import Terms as LagrangeEulerTerms
from dalembert.formulations.newton_euler import Pass
from dalembert.formulations.stacked_operators import Operators
from dalembert.model.edit import without_armature, without_friction
from dalembert.model.model import Model
from dalembert.model.reduce import reduced
from dalembert.native.direct import short_way
from dalembert.native.kernel import MOST_SCALARS, Kernel, build
from dalembert.spatial import Array, sign
from dalembert.trace.count import OperationCount, tally
from dalembert.trace.count import operation_count as count
from dalembert.trace.program import Program, trace
from dalembert.trace.source import NumpyKernel

BACKENDS = ("auto", "native", "numpy")
LARGE = 50_000  # nodes: about ten seconds of compiling


class Quantity(NamedTuple):
    """What a quantity takes and gives; in shapes, "n" stands for the number of joints and "6n" for six times that."""

    inputs: Mapping[str, tuple[Any, ...]]
    optional: Mapping[str, tuple[Any, ...]]
    outputs: Mapping[str, tuple[Any, ...]]
    method: str  # the default
    result: Callable[..., Any] | None = None  # the NamedTuple of several outputs
    joint_side: bool = False  # whether friction and armature are added


STATE = {"q": ("n",), "qd": ("n",), "qdd": ("n",)}
OUTSIDE = {"wrenches": ("n", 6), "base_twist": (6,), "base_acceleration": (6,)}
QUANTITIES = {
    "inverse_dynamics": Quantity(STATE, OUTSIDE, {"tau": ("n",)}, "newton_euler", joint_side=True),
    "newton_euler_pass": Quantity(STATE, OUTSIDE, dict.fromkeys(Pass._fields, ("n", 3)), "newton_euler", Pass),
    "lagrange_euler_terms": Quantity(
        {"q": ("n",), "qd": ("n",)},
        {},
        {"D": ("n", "n"), "H": ("n", "n", "n"), "h": ("n",), "c": ("n",)},
        "lagrange_euler",
        LagrangeEulerTerms,
    ),
    "dalembert_terms": Quantity(
        {"q": ("n",), "qd": ("n",)},
        {},
        {"D_tran": ("n", "n"), "D_rot": ("n", "n"), "h_tran": ("n",), "h_rot": ("n",), "c": ("n",)},
        "generalized_dalembert",
        DalembertTerms,
    ),
    "stacked_operators": Quantity(
        {"q": ("n",)},
        {},
        {"A": ("6n", "n"), "G": ("6n", "6n"), "Gamma": ("6n", "6n"), "L": ("6n", "6n")},
        "stacked_operators",
        Operators,
    ),
}


def quantity_named(name: str) -> Quantity:
    """The description of a quantity."""
    if not isinstance(name, str) or name not in QUANTITIES:
        raise unknown("quantity", name, QUANTITIES)
    return QUANTITIES[name]


def _shape(model: Model, template: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = {"n": model.n, "6n": 6 * model.n}
    return tuple(sizes[d] if isinstance(d, str) else int(d) for d in template)


def shapes_of(model: Model, quantity: str) -> dict[str, tuple[int, ...]]:
    """The inputs of a quantity and their shapes for this robot, optional ones left out."""
    return _shapes(model, quantity_named(quantity), ())


def _shapes(model: Model, quantity: Quantity, optional: Sequence[str]) -> dict[str, tuple[int, ...]]:
    for name in optional:
        if name not in quantity.optional:
            raise unknown("optional input", name, quantity.optional)
    chosen = dict(quantity.inputs) | {k: v for k, v in quantity.optional.items() if k in optional}
    return {name: _shape(model, template) for name, template in chosen.items()}


def program(
    model: Model,
    quantity: str,
    method: str | None = None,
    *,
    optional: Sequence[str] = (),
    folding: bool = True,
    sharing: bool = True,
) -> Program:
    """The traced program of a quantity for this robot: inputs, outputs, and one node per operation.

    `optional` names further inputs to include ("wrenches", "base_twist", "base_acceleration"); without them nothing is traced.

    >>> import dalembert as da
    >>> da.robot("two_link").program("inverse_dynamics")
    <Program q(2), qd(2), qdd(2) -> tau(2): ... nodes>
    """
    body, shapes = _body(model, quantity, method, optional)
    return trace(body, shapes, outputs=tuple(quantity_named(quantity).outputs), folding=folding, sharing=sharing)


def _body(model: Model, quantity: str, method: str | None, optional: Sequence[str]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A quantity of this robot as a function of arrays, and the shapes of those."""
    described = quantity_named(quantity)
    shapes = _shapes(model, described, optional)
    function = formulation(quantity, method or described.method, tuple(optional))
    # joint forces on a standing base depend neither on link frames nor on how inertias are shared out along the axes
    tree = reduced(model.tree) if described.joint_side and not optional and model.n else model.tree

    def body(*arrays: Any) -> Any:
        given = dict(zip(shapes, arrays, strict=True))
        if model.n == 0:
            return tuple(np.zeros(_shape(model, t)) for t in described.outputs.values())
        result = function(tree, **given)
        for term in joint_terms(model, given["qd"], given["qdd"]) if described.joint_side else ():
            result = result + term
        return result

    return body, shapes


def joint_parameters(model: Model) -> tuple[Array, Array, Array]:
    """Armature, damping and Coulomb friction of every joint."""
    joints = [link.joint for link in model.links]
    armature, damping, coulomb = (np.array([getattr(j, k) for j in joints]) for k in ("armature", "damping", "coulomb"))
    return armature, damping, coulomb


def joint_terms(model: Model, qd: Any, qdd: Any) -> list[Any]:
    """What formulations leave out, as far as the robot has it: armature qdd, damping qd, coulomb sign(qd)."""
    armature, damping, coulomb = joint_parameters(model)
    terms = ((armature, qdd), (damping, qd), (coulomb, sign(qd) if coulomb.any() else qd))
    return [factor * motion for factor, motion in terms if factor.any()]


def operation_count(model: Model, quantity: str, method: str | None = None, *, customized: bool = True) -> OperationCount:
    """How many operations one evaluation takes, friction and armature left out.

    `customized`: zeros, ones and repeated expressions removed for this very robot; otherwise every operation that the source
    writes on data, as for a robot on a still base about which nothing else is known.

    >>> import dalembert as da
    >>> print(da.robot("two_link").operation_count("inverse_dynamics"))
    17 mul, 14 add, 2 sincos
    """
    bare = without_armature(without_friction(model))
    return count(program(bare, quantity, method)) if customized else tally(*_body(bare, quantity, method, ()))


def compile(
    model: Model, quantity: str, method: str | None = None, *, optional: Sequence[str] = (), backend: str = "auto"
) -> Kernel | NumpyKernel:
    """The evaluator of a quantity, made once per robot and kept with it; calling this first warms it up.

    backend "native" compiles to vector code, "numpy" runs generated NumPy source, "auto" takes native code unless llvmlite is
    missing or the program is too large to compile in reasonable time. The result's `backend` tells which it is.

    >>> import dalembert as da
    >>> da.robot("two_link").compile("inverse_dynamics").backend
    'native'
    """
    described = quantity_named(quantity)
    method = method or described.method
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    _shapes(model, described, optional)
    included = tuple(name for name in described.optional if name in optional)
    kernels = model.memo.setdefault(quantity, {})
    kept = kernels.get((method, included, backend))
    if kept is None:
        if model.n == 0:
            raise Error(f"{model.name} has no moving joints: there is nothing to compile")
        formulation(quantity, method, included)
        kept = kernels.setdefault((method, included, backend), _make(model, quantity, method, included, backend))
        if isinstance(kept, Kernel) and not included and backend == "auto":
            kernels[method] = short_way(kept)  # found by the method's bare name: what a call without options looks up
    return kept


def _make(model: Model, quantity: str, method: str, optional: tuple[str, ...], backend: str) -> Kernel | NumpyKernel:
    def traced() -> Program:
        found = program(model, quantity, method, optional=optional)
        scalars = sum(v.size for v in (*found.inputs, *found.outputs))
        if backend == "auto" and (len(found.nodes) > LARGE or scalars > MOST_SCALARS):
            raise TooLargeError(found)
        return found

    if backend != "numpy":
        try:
            # a copy of the model: the kernel is kept by the robot and must not keep it in turn
            rebuild = compile, (replace(model), quantity, method), {"optional": optional, "backend": backend}
            return build(f"{quantity} {method} {optional} {_content(model)}", traced, (_call, rebuild))
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
    return NumpyKernel(program(model, quantity, method, optional=optional))


class TooLargeError(Exception):
    """A program that would take too long to compile."""

    def __init__(self, program: Program) -> None:
        self.program = program


def _call(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*arguments, **options)


@cache
def _say_once(message: str) -> None:
    warnings.warn(message, PerformanceWarning, stacklevel=6)


def _content(model: Model) -> str:
    """A hash of all that programs depend on: names and limits do not matter."""
    found = hashlib.sha256()
    tree = model.tree
    numbers = (*tree.before, *tree.after, tree.screw, tree.mass, tree.com, tree.inertia, tree.gravity, *joint_parameters(model))
    for part in numbers:
        found.update(np.ascontiguousarray(part, dtype=float).tobytes())
    return f"{tree.parents} {found.hexdigest()}"


def evaluate(model: Model, quantity: str, method: str, given: Mapping[str, Any], backend: str, out: Any) -> Any:
    """A quantity on arrays: shapes checked, kernel looked up, batches broadcast."""
    described = quantity_named(quantity)
    formulation(quantity, method)
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    present = {name: _numbers(quantity, name, given[name]) for name in described.inputs}
    present |= {name: _numbers(quantity, name, given[name]) for name in described.optional if given.get(name) is not None}
    optional = tuple(name for name in present if name in described.optional)
    shapes = _shapes(model, described, optional)
    arrays = [_checked(model, quantity, name, present[name], shape) for name, shape in shapes.items()]
    batches = {name: a.shape[: a.ndim - len(s)] for (name, s), a in zip(shapes.items(), arrays, strict=True)}
    try:
        batch = np.broadcast_shapes(*batches.values())
    except (ValueError, RuntimeError):
        shown = ", ".join(f"{name} {shape}" for name, shape in batches.items())
        raise Error(f"{quantity}: the leading (batch) axes do not broadcast together: {shown}") from None
    results = [(*batch, *_shape(model, t)) for t in described.outputs.values()]
    complex_ = any(a.dtype.kind == "c" for a in arrays)
    if out is not None:
        for target, shape in zip(out if described.result else (out,), results, strict=True):
            _checked_out(quantity, target, shape, complex_)
    if model.n == 0:
        empty = [np.zeros(shape, complex if complex_ else float) for shape in results]
        return out if out is not None else described.result(*empty) if described.result else empty[0]
    if complex_:
        if backend == "native":
            raise Error(f'{quantity}: native kernels compute with real numbers; complex ones need backend="numpy"')
        backend = "numpy"
    found = compile(model, quantity, method, optional=optional, backend=backend)(*arrays, out=out)
    return described.result(*found) if described.result else found


def checked_input(model: Model, quantity: str, name: str, value: Any) -> Array:
    """One input as an array whose core shape is right."""
    described = quantity_named(quantity)
    shape = _shape(model, {**described.inputs, **described.optional}[name])
    return _checked(model, quantity, name, _numbers(quantity, name, value), shape)


def _numbers(quantity: str, name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise Error(f"{quantity}: {name} must hold numbers in a regular array, got rows of different lengths") from None
    if array.dtype.kind not in "fiubc":
        raise Error(f"{quantity}: {name} must hold numbers, got {brief(value)}")
    return array.astype(float) if array.dtype == np.longdouble else array


def _checked(model: Model, quantity: str, name: str, array: Array, shape: tuple[int, ...]) -> Array:
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        order = f"; joint order: {', '.join(model.joint_names[:12])}" if name in ("q", "qd", "qdd") else ""
        wanted = "(..., " + ", ".join(map(str, shape)) + ")"
        raise Error(f"{quantity}: {name} has shape {array.shape}, {model.name} needs {wanted}{order}")
    return array


def _checked_out(quantity: str, out: Any, shape: tuple[int, ...], complex_: bool) -> Array:
    if not isinstance(out, np.ndarray):
        raise Error(f"{quantity}: out must be a numpy array, got {type(out).__name__}")
    if out.shape != shape:
        raise Error(f"{quantity}: out has shape {out.shape}, the result has {shape}")
    if not out.flags.writeable:
        raise Error(f"{quantity}: out must be writable")
    if out.dtype.kind not in ("c" if complex_ else "fc"):
        raise Error(f"{quantity}: out must be an array of {'complex numbers' if complex_ else 'floats'}, got dtype {out.dtype}")
    return out
