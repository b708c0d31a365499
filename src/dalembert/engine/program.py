"""The traced program of a quantity for a robot, and how many operations it has."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dalembert.algebra.linalg import SingularError
from dalembert.arguments import flag, several
from dalembert.derived.charts import formulated, spread_positions
from dalembert.derived.joints import pivots
from dalembert.derived.make import Make
from dalembert.engine.quantity import Quantity, Values
from dalembert.engine.registry import quantity_named
from dalembert.engine.singular import without_inertia
from dalembert.engine.size import check_size
from dalembert.errors import Error
from dalembert.formulations import takes
from dalembert.model.edit import without_armature, without_friction
from dalembert.model.model import Model
from dalembert.model.spread import bodies, spread
from dalembert.trace.count import OperationCount, counts_by, tally
from dalembert.trace.count import operation_count as count
from dalembert.trace.program import Program, trace
from dalembert.trace.replay import replay


def program(
    robot: Model,
    quantity: str | Quantity,
    method: str | None = None,
    *,
    optional: Sequence[str] | str = (),
    folding: bool = True,
    sharing: bool = True,
    **options: Any,
) -> Program:
    """The traced program of a quantity for this robot: inputs, outputs, and one node per operation.

    `optional` names further inputs to include ("wrenches", "base_twist", "base_acceleration"); without them nothing is traced.
    `folding` removes zeros, ones and signs, `sharing` merges equal expressions. `options` are what the quantity's own function
    takes besides arrays, such as link="hand".

    >>> import dalembert as da
    >>> da.robot("two_link").program("inverse_dynamics")
    <Program q(2), qd(2), qdd(2) -> tau(2): ... nodes>
    """
    described, included = quantity_named(quantity).of(robot), several(optional, "optional")
    folding, sharing = flag(folding, "folding"), flag(sharing, "sharing")
    by = described.check_method(method, robot, included)
    chosen = described.check_options(options)
    check_size(robot.parents, robot.name, described, by)

    if (whole := spread(robot)) is not robot:
        made = program(whole, described, by, optional=included, folding=folding, sharing=sharing, **chosen)
        return _without_virtual(whole, described, included, made, folding, sharing)

    def other(quantity: str, method: str | None, optional: tuple[str, ...]) -> Program:
        return program(robot, quantity, method, optional=optional, folding=folding, sharing=sharing)

    def cut(quantity: str, method: str | None = None, optional: tuple[str, ...] = (), **options: Any) -> Program:
        return program(robot.cut, quantity, method, optional=optional, folding=folding, sharing=sharing, **options)

    recipe = described.recipe if by in described.recipes else None
    if not robot.is_tree and described.follows:
        tree = program(robot.open, described, by, optional=included, folding=folding, sharing=sharing, **chosen)
        body: Any = pulled_back(robot, described, tree)
    elif recipe := recipe if robot.is_tree else described.coupled:
        body = recipe(robot, Make(other, folding, sharing, cut), by, included, **chosen)
        if isinstance(body, Program):
            return body
    else:
        body = _formulated(robot, described, by, included)
    recorded = _in_order(body, described.arrays(included), robot)
    try:
        with np.errstate(all="ignore"):  # absurd figures overflow: the results show it
            return trace(*recorded, outputs=tuple(described.outputs), folding=folding, sharing=sharing)
    except SingularError as singular:
        raise without_inertia(robot, described, singular.index) from None


def _in_order(
    body: Callable[..., Any], arrays: Mapping[str, Values], model: Model
) -> tuple[Callable[..., Any], dict[str, tuple[int, ...]]]:
    """A function of arrays by name as one of arrays in their order, and their shapes."""
    shapes = {name: values.sized(model) for name, values in arrays.items()}
    return lambda *given: body(**dict(zip(arrays, given, strict=True))), shapes


def _without_virtual(
    model: Model, quantity: Quantity, optional: tuple[str, ...], made: Program, folding: bool, sharing: bool
) -> Program:
    """The program of a spread robot with inputs and outputs of its bodies alone."""
    arrays, kept = quantity.arrays(optional), bodies(model)
    if not any("links" in values.shape for values in (*arrays.values(), *quantity.outputs.values())):
        return made
    shapes = {v.name: tuple(v.shape) for v in made.inputs}
    for name, values in arrays.items():
        shapes[name] = tuple(len(kept) if kind == "links" else k for kind, k in zip(values.shape, shapes[name], strict=True))

    def widened(name: str, x: Any) -> Any:
        if "links" not in arrays[name].shape:
            return x
        wide = np.zeros((len(model.links), *x.shape[1:]), dtype=object)
        wide[kept] = x
        return wide

    def narrowed(values: Values, x: Any) -> Any:
        return np.take(x, kept, values.shape.index("links")) if "links" in values.shape else x

    def body(*given: Any) -> Any:
        found = replay(made, {name: widened(name, x) for name, x in zip(shapes, given, strict=True)})
        results = found if isinstance(found, tuple) else (found,)
        return tuple(narrowed(values, x) for values, x in zip(quantity.outputs.values(), results, strict=True))

    return trace(body, shapes, outputs=tuple(quantity.outputs), folding=folding, sharing=sharing)


def pulled_back(model: Model, quantity: Quantity, tree: Program) -> Callable[..., Any]:
    """A quantity of a coupled robot, q = B y + b, from the program of its tree: motions go in by B, forces come out by B^T.

    This is the one rule of couplings; it reads the axes that the quantity's inputs and outputs have. Rotors of motors are added.
    """
    coupling, motors, arrays = model.coupling, model.transmission, {**quantity.inputs, **quantity.optional}

    def spread(name: str, x: Any) -> Any:
        if coupling is None or not {"motion", "q"} & set(arrays[name].shape):
            return x
        return spread_positions(model, x) if "q" in arrays[name].shape else coupling.rates(x)

    def gathered(values: Values, x: Any) -> Any:
        for axis, kind in enumerate(values.shape):
            x = coupling.pulled_back(x, axis) if coupling is not None and kind == "n" else x
        return x

    def body(**given: Any) -> Any:
        found = replay(tree, {name: spread(name, x) for name, x in given.items()})
        results = found if isinstance(found, tuple) else (found,)
        results = tuple(gathered(values, x) for values, x in zip(quantity.outputs.values(), results, strict=True))
        return quantity.motors(motors.exact_inertia, given, results) if quantity.motors and motors is not None else results

    return body


def _formulated(model: Model, quantity: Quantity, method: str, optional: tuple[str, ...]) -> Callable[..., Any]:
    """A quantity of this robot by a formulation, as a function of arrays by name."""
    if model.n == 0:
        return lambda **_: tuple(np.zeros(values.sized(model)) for values in quantity.outputs.values())
    # on a standing base these depend neither on link frames nor on how inertias are shared out along the axes
    tree = model.reduced_tree if quantity.invariant and not optional else model.exact_tree
    function = partial(formulated(model, quantity.name, method), tree)
    if takes(quantity.name, method, "pivots"):
        function = partial(function, pivots=pivots(model, quantity.rotors))
    return quantity.joints(model, function) if quantity.joints else function


def operation_count(
    robot: Model,
    quantity: str | Quantity,
    method: str | None = None,
    *,
    customized: bool = True,
    optional: Sequence[str] | str = (),
    **options: Any,
) -> OperationCount:
    """How many operations one evaluation takes, friction and armature left out.

    `customized`: zeros, ones and repeated expressions removed for this very robot; otherwise every operation that the source
    writes on data, as for a robot on a still base about which nothing else is known; of a coupled robot, for its tree. The rest as
    in `program`.

    >>> import dalembert as da
    >>> print(da.robot("two_link").operation_count("inverse_dynamics"))
    17 mul, 14 add, 2 sincos
    """
    bare = without_armature(without_friction(robot))
    if flag(customized, "customized"):
        return count(program(bare, quantity, method, optional=optional, **options))
    described, included = quantity_named(quantity).of(robot), several(optional, "optional")
    by = described.check_method(method, robot, included)
    described.check_options(options)
    if robot.loops:
        return count(program(bare, quantity, by, optional=optional, folding=False, sharing=False, **options))
    if by in described.recipes:
        raise Error(f"{described.name} is derived from the program of a formulation, so only its customized count exists")
    check_size(robot.parents, robot.name, described, by)
    tree = spread(bare.open)
    return tally(*_in_order(_formulated(tree, described, by, included), described.arrays(included), tree))


def operation_counts_by(robot: Model, quantity: str, method: str, place: Callable[[], Any]) -> dict[Any, OperationCount]:
    """The customized count of a formulation, by `place()`, which is asked as each operation is recorded."""
    bare, described = spread(without_armature(without_friction(robot))), quantity_named(quantity)
    return counts_by(*_in_order(_formulated(bare, described, method, ()), described.arrays(), bare), place)
