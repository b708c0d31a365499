"""One program for all that a sweep computes: quantities of the robot, and the user's functions of inputs and quantities."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from dalembert.arguments import by_name, text
from dalembert.derived.varied import FRICTION, GRAVITY, LOAD, PLACE, VARIED, named_parameters, varied
from dalembert.engine.program import program
from dalembert.engine.quantity import Quantity
from dalembert.engine.registry import QUANTITIES, quantity_named
from dalembert.errors import Error, brief, unknown
from dalembert.model.model import Model, refuse_loops
from dalembert.trace.program import Program, Variable, trace
from dalembert.trace.replay import replay

MOST_RESULTS = 512
TRACED = (
    "the function is recorded once: it may use + - * / @, whole powers, np.sqrt, np.sin, np.cos, and of a scalar x also x.sign() "
    "and x.where(a, b), which is a where x > 0"
)
Shape = tuple[int, ...]


class Step(NamedTuple):
    """Something that is computed: from which names, and how."""

    takes: tuple[str, ...]
    function: Callable[..., Any]


class Recorded(NamedTuple):
    """A program whose inputs vary, and the units of its outputs."""

    program: Program
    units: dict[str, str]


def recorded(robot: Model, asked: Any, over: Any = None, link: str | None = None) -> Recorded:
    """The program of a sweep; `over` tells which inputs vary beside those of the quantities, and which are functions of others."""
    refuse_loops(robot, "sweep")
    given = by_name({} if over is None else over, "over", "{'qd': (-1.0, 1.0)}")
    quantities, functions, results = _asked(robot, asked)
    own = named_parameters(robot) if robot.is_tree and not robot.runs else {}
    extra = tuple(name for name in given if name in VARIED or name in own)
    _refuse_contradictions(extra)
    of_a_link = LOAD in extra or any("link" in described.options for described in quantities.values())
    if link is not None and not of_a_link:
        raise Error(
            f"link={link!r} has no effect: no payload varies, and none of {', '.join(quantities) or 'the functions'} is of a link"
        )
    steps = {name: _quantity(robot, described, given, extra, link) for name, described in quantities.items()}
    steps |= {name: _user(function, name) for name, function in functions.items()}
    steps |= {name: _user(value, f"over: {name}") for name, value in given.items() if callable(value)}
    shapes = _shapes(robot, quantities, given, own)
    for name in steps.keys() & given.keys():
        if name not in shapes or name in quantities:
            continue
        inner = steps[name]
        steps[name] = Step(inner.takes, lambda f=inner.function, n=name, **x: _shaped(f(**x), shapes[n], n))
    free = _free(results, steps, shapes)
    unused = [name for name in given if name not in free and name not in steps]
    if unused:
        raise unknown("input of the sweep:", unused[0], [*free, *own, *VARIED])
    return _traced(results, steps, {name: shapes[name] for name in free}, _units(results, quantities))


def _refuse_contradictions(names: Sequence[str]) -> None:
    """What varies without effect."""
    if PLACE in names and LOAD not in names:
        raise Error(
            f"over: {PLACE} is the place of a load, and there is none; give {LOAD} as well, such as {{{LOAD!r}: (0.0, 5.0)}}"
        )
    parts = [name for name in names if name in ("gx", "gy", "gz")]
    if GRAVITY in names and parts:
        raise Error(f"over: {GRAVITY} and {parts[0]} contradict each other; give one of them")


def _asked(robot: Model, asked: Any) -> tuple[dict[str, Quantity], dict[str, Callable[..., Any]], tuple[str, ...]]:
    """Quantities and functions by name, and which are results: from a name, a mapping of functions, or a list of both."""
    parts = asked if isinstance(asked, list | tuple) else [asked]
    quantities, functions = dict[str, Quantity](), dict[str, Callable[..., Any]]()
    for part in parts:
        if isinstance(part, Mapping):
            for name, function in cast("Mapping[Any, Any]", part).items():
                if not callable(function) or name in QUANTITIES or not text(name, "a function's name").isidentifier():
                    raise Error(f"quantities: a function needs a name of its own, such as {{'power': f}}, got {brief(name)}")
                functions[name] = function
        else:
            quantities[str(part)] = quantity_named(part).of(robot)
    results = (*quantities, *functions)
    for name in [x for f in functions.values() for x in inspect.signature(f).parameters if x in QUANTITIES]:
        quantities.setdefault(name, quantity_named(name).of(robot))
    if not quantities and not functions:
        raise Error(f"quantities must be a name, a list of names, or functions by name, got {brief(asked)}")
    return quantities, functions, results


def _quantity(robot: Model, described: Quantity, given: Mapping[str, Any], extra: tuple[str, ...], link: str | None) -> Step:
    """A quantity of the robot, with the optional inputs that vary; and with what else does."""
    optional = tuple(name for name in described.optional if name in given)
    takes = tuple(described.arrays(optional))
    if extra:
        if optional:
            raise Error(f"{optional[0]} and {extra[0]} cannot both vary in {described.name}")
        more = extra if LOAD not in extra or PLACE in extra else (*extra, PLACE)
        body = varied(robot, described.name, more, link)
        return Step((*takes, *more), body)
    options: dict[str, Any] = {"link": link} if link is not None and "link" in described.options else {}
    made = program(robot, described, optional=optional, **options)
    return Step(takes, lambda **arrays: replay(made, arrays))


def _user(function: Any, what: str) -> Step:
    parameters = inspect.signature(function).parameters.values()
    if not all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        raise Error(f"{what}: the arguments of a function are named after inputs and quantities, such as f(qd, inverse_dynamics)")

    def called(**given: Any) -> Any:
        try:
            return function(**given)
        except (TypeError, AttributeError) as error:
            raise Error(f"{what}: {brief(str(error))}; {TRACED}") from error

    return Step(tuple(p.name for p in parameters if p.default is p.empty), called)


def _shapes(robot: Model, quantities: Mapping[str, Quantity], given: Mapping[str, Any], own: Any) -> dict[str, Shape]:
    """The shapes of all inputs that are known by name; of others, that of their range."""
    shapes: dict[str, Shape] = {}
    for described in (quantity_named("inverse_dynamics"), quantity_named("forward_dynamics"), *quantities.values()):
        shapes |= {name: values.sized(robot) for name, values in described.arrays(tuple(described.optional)).items()}
    shapes |= {LOAD: (), PLACE: (3,), GRAVITY: (3,)} | dict.fromkeys(FRICTION, (robot.n,)) | dict.fromkeys(own, ())
    for name, value in given.items():
        if name not in shapes and not callable(value) and not isinstance(value, Mapping):
            ends = value[:2] if isinstance(value, tuple | list) and len(value) in (2, 3) else (value,)
            shapes[name] = np.broadcast_shapes(*(np.shape(end) for end in ends))
    return shapes


def _shaped(value: Any, shape: Shape, name: str) -> Any:
    array = np.asarray(value, dtype=object)
    if array.shape not in (shape, ()):
        raise Error(f"over: the function for {name} must return an array of shape {shape}, got {array.shape}")
    return np.broadcast_to(array, shape)


def _free(results: Sequence[str], steps: Mapping[str, Step], shapes: Mapping[str, Shape]) -> list[str]:
    """The inputs that the results need and nothing computes, in the order in which they are met."""
    found: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise Error(f"{name} is a function of itself: {' <- '.join((*path, name))}")
        if name in steps:
            for other in steps[name].takes:
                visit(other, (*path, name))
        elif name in shapes:
            found[name] = None
        else:
            raise unknown("input or quantity:", name, [*shapes, *QUANTITIES])

    for name in results:
        visit(name, ())
    return list(found)


def _traced(results: Sequence[str], steps: Mapping[str, Step], free: Mapping[str, Shape], units: dict[str, str]) -> Recorded:
    def body(*arrays: Any) -> Any:
        known = dict(zip(free, arrays, strict=True))

        def value(name: str) -> Any:
            if name not in known:
                known[name] = steps[name].function(**{x: value(x) for x in steps[name].takes})
            return known[name]

        found = [value(name) for name in results]
        return tuple(part for one in found for part in (one if isinstance(one, tuple) else (one,)))

    with np.errstate(all="ignore"):  # absurd figures overflow
        made = trace(body, free, outputs=tuple(units))
    if not made.results or len(made.results) > MOST_RESULTS:
        raise Error(f"a sweep has 1 to {MOST_RESULTS} results, not {len(made.results)}; sweep fewer quantities at a time")
    return Recorded(made, units)


def labels(robot: Model, outputs: Sequence[Variable]) -> dict[str, list[str]]:
    """What the scalars of each output are called: joints, where there is one for each, or places."""
    found: dict[str, list[str]] = {}
    for v in outputs:
        before = "" if len(outputs) == 1 else f"{v.name} "
        found[v.name] = (
            [f"{before}{joint}" for joint in robot.joint_names]
            if v.shape == (robot.n,)
            else [f"{v.name}[{','.join(map(str, index))}]" if v.shape else v.name for index in np.ndindex(*v.shape)]
        )
    return found


def _units(results: Sequence[str], quantities: Mapping[str, Quantity]) -> dict[str, str]:
    """The units of all outputs by name: of a quantity with several, its name and theirs."""
    units: dict[str, str] = {}
    for name in results:
        outputs = quantities[name].outputs if name in quantities else {}
        units |= {f"{name}_{own}": values.unit for own, values in outputs.items()} if len(outputs) > 1 else {
            name: next((values.unit for values in outputs.values()), "")
        }  # fmt: skip
    return units
