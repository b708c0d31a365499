"""Kernels of a robot: programs compiled once, kept with the robot and on disk."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from dalembert import imported
from dalembert.arguments import choice, several
from dalembert.derived.closing import independent_joints
from dalembert.derived.closure import closure
from dalembert.derived.joints import armatures, friction_law
from dalembert.engine.names import Backend
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import quantity_named
from dalembert.engine.size import check_size, order
from dalembert.errors import Error, PerformanceWarning, warn
from dalembert.model.model import Model
from dalembert.model.spread import spread
from dalembert.native.kernel import MOST_SCALARS, Kernel, build
from dalembert.trace.program import Program
from dalembert.trace.source import NumpyKernel

BACKENDS = ("auto", "native", "numpy")
# all that the program of a quantity depends on besides the robot
PARTS = ("algebra", "formulations", "model", "derived", "engine", "planning", "simulation", "trace")
LARGE = 500_000  # nodes plus three times the results: about half a minute of compiling


@dataclass(frozen=True)
class Request:
    """What a kernel is made for, besides the robot."""

    quantity: Quantity
    method: str
    optional: tuple[str, ...] = ()
    backend: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()


def kernels_of(robot: Model) -> dict[Request, Kernel | NumpyKernel]:
    """The kernels of a robot, which live and die with it."""
    return robot.memo.setdefault(Request, {})


def compile(
    robot: Model,
    quantity: str | Quantity,
    method: str | None = None,
    *,
    optional: Sequence[str] | str = (),
    backend: Backend = "auto",
    **options: Any,
) -> Kernel | NumpyKernel:
    """The evaluator of a quantity, made once per robot and kept with it.

    backend "native" compiles to machine code, "numpy" runs generated NumPy source, "auto" takes native code unless llvmlite is
    missing or the program has more than half a million operations. The result's `backend` is the one used. Code for batches is
    compiled now; code for one state when one is first computed, as is code for float32.

    >>> import dalembert as da
    >>> da.robot("two_link").compile("inverse_dynamics").backend
    'native'
    """
    described, wanted = quantity_named(quantity).of(robot), several(optional, "optional")
    choice(backend, "backend", BACKENDS)
    by = described.check_method(method, robot, wanted)
    included = tuple(name for name in described.optional if name in wanted)
    made = kernel(robot, Request(described, by, included, backend, tuple(described.check_options(options).items())))
    if isinstance(made, Kernel):
        made.loop  # noqa: B018 - compiled now rather than at the first batch
    return made


def kernel(robot: Model, request: Request) -> Kernel | NumpyKernel:
    """The kernel for a request whose names were checked."""
    made = kernels_of(robot)
    result = made.get(request)
    if result is None:
        if robot.n == 0:
            raise Error(f"{robot.name} has no moving joints: there is nothing to compile")
        check_size(robot.parents, robot.name, request.quantity, request.method)
        result = made.setdefault(request, _make(robot, request))
    return result


def _make(robot: Model, request: Request) -> Kernel | NumpyKernel:
    quantity, method, optional, backend, options = (
        request.quantity, request.method, request.optional, request.backend, dict(request.options),
    )  # fmt: skip

    again = replace(robot)  # a copy: the kernel is kept by the robot and must not keep it in turn

    def traced() -> Program:
        recorded = program(again, quantity, method, optional=optional, **options)
        scalars = sum(v.size for v in (*recorded.inputs, *recorded.outputs))
        if backend == "auto" and scalars > MOST_SCALARS:
            raise TooLargeError(recorded, f"takes and gives {scalars} numbers, more than the {MOST_SCALARS} of a kernel")
        if backend == "auto" and len(recorded.nodes) + 3 * len(recorded.results) > LARGE:
            fewer = [other for other in quantity.methods if order(quantity, other) < order(quantity, method)]
            instead = f"; method={fewer[0]!r} has fewer operations" if fewer else ""
            count = len(recorded.nodes)
            raise TooLargeError(recorded, f'has {count} operations, too many to compile quickly (backend="native" does){instead}')
        return recorded

    if backend != "numpy":
        try:
            rebuild = _again, (again, quantity.name, method, optional, backend, options)
            code = imported.digest(*PARTS)
            key = f"{code} {quantity.name} {method} {optional} {request.options} {_content(robot, quantity)}" if code else ""
            return build(key, traced, rebuild)
        except ImportError as missing:
            if backend == "native":
                raise Error(f"native kernels need llvmlite, which cannot be loaded: {missing}") from None
            _say_once(f"native kernels need llvmlite, which cannot be loaded ({missing}); computing with NumPy instead")
        except TooLargeError as large:
            _say_once(f"{quantity.name} of {robot.name} by {method} {large}; computing with NumPy instead")
            return NumpyKernel(large.program)
    return NumpyKernel(program(robot, quantity, method, optional=optional, **options))


def _again(
    robot: Model, quantity: str, method: str, optional: tuple[str, ...], backend: Backend, options: Mapping[str, Any]
) -> Any:
    return compile(robot, quantity, method, optional=optional, backend=backend, **options)


class TooLargeError(Exception):
    """A program that would take too long to compile, or does not fit a kernel, and why."""

    def __init__(self, program: Program, why: str) -> None:
        super().__init__(why)
        self.program = program


@cache
def _say_once(message: str) -> None:
    warn(message, PerformanceWarning)


def _content(model: Model, quantity: Quantity) -> str:
    """A hash of all that programs depend on: limits do not matter, the base and names only to recipes."""
    digest = hashlib.sha256()
    if quantity.recipe:
        names = model.link_names, model.base_name, model.frames
        digest.update(repr((names, model.base, model.base_inertia)).encode())
    whole = spread(model)
    digest.update(repr(whole.virtual).encode())
    tree, coupling, motors = whole.tree, model.coupling, model.transmission
    numbers = (*tree.before, *tree.after, tree.screw, tree.mass, tree.com, tree.inertia, tree.gravity)
    for part in (*numbers, armatures(model.open), *friction_law(model.open)):
        digest.update(np.ascontiguousarray(part, dtype=float).tobytes())
    around = (0,) if coupling is None else (coupling.matrix, coupling.offset)
    for part in (*around, 0 if motors is None else motors.inertia):
        digest.update(f"{np.shape(part)}".encode() + np.ascontiguousarray(part, dtype=float).tobytes())
    if model.loops:
        digest.update(f"{closure(model).gap.digest} {independent_joints(model)}".encode())
    return f"{tree.parents} {digest.hexdigest()}"
