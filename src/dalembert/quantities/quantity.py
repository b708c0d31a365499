"""From a formulation to a number: which inputs a quantity has, its traced program, and the evaluation on arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import Error, unknown
from dalembert.formulations import formulation
from dalembert.model.edit import without_armature, without_friction
from dalembert.model.model import Model
from dalembert.spatial import Array, sign
from dalembert.trace.count import OperationCount
from dalembert.trace.count import operation_count as count
from dalembert.trace.program import Program, trace
from dalembert.trace.source import NumpyKernel

BACKENDS = ("auto", "native", "numpy")


class Quantity(NamedTuple):
    """What a quantity takes and gives; in shapes, "n" stands for the number of joints."""

    inputs: Mapping[str, tuple[Any, ...]]
    optional: Mapping[str, tuple[Any, ...]]
    outputs: Mapping[str, tuple[Any, ...]]
    method: str  # the default


QUANTITIES = {
    "inverse_dynamics": Quantity(
        inputs={"q": ("n",), "qd": ("n",), "qdd": ("n",)},
        optional={"wrenches": ("n", 6), "base_twist": (6,), "base_acceleration": (6,)},
        outputs={"tau": ("n",)},
        method="newton_euler",
    )
}


def quantity_named(name: str) -> Quantity:
    """The description of a quantity."""
    if name not in QUANTITIES:
        raise unknown("quantity", name, QUANTITIES)
    return QUANTITIES[name]


def _shape(model: Model, template: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(model.n if d == "n" else d for d in template)


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
    described = quantity_named(quantity)
    function = formulation(quantity, method or described.method)
    shapes = _shapes(model, described, optional)

    def body(*arrays: Any) -> Array:
        given = dict(zip(shapes, arrays, strict=True))
        return function(model.tree, **given) + at_the_joints(model, given["qd"], given["qdd"])

    return trace(body, shapes, outputs=tuple(described.outputs), folding=folding, sharing=sharing)


def at_the_joints(model: Model, qd: Any, qdd: Any) -> Any:
    """What formulations leave out: armature qdd + damping qd + coulomb sign(qd)."""
    joints = [link.joint for link in model.links]
    armature, damping, coulomb = (np.array([getattr(j, k) for j in joints]) for k in ("armature", "damping", "coulomb"))
    total: Any = 0
    if armature.any():
        total = total + armature * qdd
    if damping.any():
        total = total + damping * qd
    if coulomb.any():
        total = total + coulomb * sign(qd)
    return total


def operation_count(model: Model, quantity: str, method: str | None = None, *, customized: bool = True) -> OperationCount:
    """How many operations one evaluation takes, friction and armature left out.

    `customized`: zeros, ones and repeated expressions removed for this very robot; otherwise every operation that the source
    writes, as for a robot about which nothing is known.

    >>> import dalembert as da
    >>> print(da.robot("two_link").operation_count("inverse_dynamics"))
    18 mul, 18 add, 2 sincos
    """
    bare = without_armature(without_friction(model))
    return count(program(bare, quantity, method, folding=customized, sharing=customized))


def kernel(model: Model, quantity: str, method: str, optional: tuple[str, ...], backend: str) -> NumpyKernel:
    """The evaluator of a quantity, made once per robot and kept with it."""
    key = quantity, method, optional, backend
    kept: dict[Any, NumpyKernel] = model.__dict__.setdefault("_kernels", {})
    if key not in kept:
        if backend not in BACKENDS:
            raise unknown("backend", backend, BACKENDS)
        if backend == "native":
            raise Error('native kernels are not built yet; use backend="auto" or "numpy"')
        kept[key] = NumpyKernel(program(model, quantity, method, optional=optional))
    return kept[key]


def evaluate(model: Model, quantity: str, method: str, given: Mapping[str, Any], backend: str, out: Any) -> Any:
    """A quantity on arrays: shapes checked, kernel looked up, batches broadcast."""
    described = quantity_named(quantity)
    formulation(quantity, method)
    present = {name: _numbers(quantity, name, value) for name, value in given.items() if value is not None}
    shapes = _shapes(model, described, [name for name in present if name in described.optional])
    arrays = [_checked(model, quantity, name, present[name], shape) for name, shape in shapes.items()]
    batches = {name: a.shape[: a.ndim - len(s)] for (name, s), a in zip(shapes.items(), arrays, strict=True)}
    try:
        batch = np.broadcast_shapes(*batches.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in batches.items())
        raise Error(f"{quantity}: the leading (batch) axes do not broadcast together: {shown}") from None
    results = [(*batch, *_shape(model, t)) for t in described.outputs.values()]
    outs = None if out is None else [_checked_out(quantity, out, results[0])]
    if model.n == 0:
        return np.zeros(results[0]) if out is None else out
    found = kernel(model, quantity, method, tuple(n for n in described.optional if n in present), backend)
    return found(*arrays, out=outs)[0]


def _numbers(quantity: str, name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise Error(f"{quantity}: {name} must hold numbers in a regular array, got rows of different lengths") from None
    if array.dtype.kind not in "fiubc":
        raise Error(f"{quantity}: {name} must hold numbers, got dtype {array.dtype}")
    return array


def _checked(model: Model, quantity: str, name: str, array: Array, shape: tuple[int, ...]) -> Array:
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        order = f"; joint order: {', '.join(model.joint_names)}" if shape == (model.n,) else ""
        wanted = "(..., " + ", ".join(map(str, shape)) + ")"
        raise Error(f"{quantity}: {name} has shape {array.shape}, {model.name} needs {wanted}{order}")
    return array


def _checked_out(quantity: str, out: Any, shape: tuple[int, ...]) -> Array:
    if not isinstance(out, np.ndarray):
        raise Error(f"{quantity}: out must be a numpy array, got {type(out).__name__}")
    if out.shape != shape:
        raise Error(f"{quantity}: out has shape {out.shape}, the result has {shape}")
    if out.dtype.kind not in "fc" or not out.flags.writeable:
        raise Error(f"{quantity}: out must be a writable array of floats, got dtype {out.dtype}")
    return out
