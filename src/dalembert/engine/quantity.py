"""What is known of a quantity: the class, its shapes, its methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dalembert import formulations
from dalembert.arguments import choice
from dalembert.cached import cached_property
from dalembert.derived.make import Recipe
from dalembert.engine.guards import need_rates
from dalembert.errors import Error, brief, unknown
from dalembert.model.model import Model, freed, refuse_loops
from dalembert.model.values import depths

LENGTHS: dict[str, Callable[[Model], int]] = {
    "n": lambda model: model.n,  # forces, derivatives by q: what a coupling q = B y + b turns by B^T
    "motion": lambda model: model.n,  # rates of positions: what it turns by B
    "q": lambda model: model.nq,  # positions, the same, and b is added
    "factors": lambda model: model.n,  # of the mass matrix: no rule
    "links": lambda model: len(model.links),  # all of them, coupled or not
    "6n": lambda model: 6 * model.n,  # of the books' matrices of a tree: no rule
    "independent": lambda model: model.n - model.closures,  # joints that the others follow through loops
    "closures": lambda model: model.closures,  # equations of the loops
}


class Values(NamedTuple):
    """An array: its core axes, numbers or names of `LENGTHS`, and its unit.

    The length of an axis may also be a function of the robot and the options. Units: "tau/qd" is the unit of tau by that
    of qd.
    """

    shape: tuple[Any, ...]
    unit: str

    def sized(self, model: Model, options: Mapping[str, Any] | None = None) -> tuple[int, ...]:
        """The shape for this robot, and these options where they matter."""
        return tuple(self._length(axis, model, options) for axis in self.shape)

    @staticmethod
    def _length(axis: Any, model: Model, options: Mapping[str, Any] | None) -> int:
        if isinstance(axis, str):
            return LENGTHS[axis](model)
        return axis if isinstance(axis, int) else axis(model, options)


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a quantity takes and gives, and how it is computed: by formulations of its name, by a recipe, or by both."""

    name: str
    about: str  # one line, which the documentation of its function begins with
    inputs: Mapping[str, Values]
    outputs: Mapping[str, Values]
    method: str  # the default for small robots
    group: str = ""  # of the table in which users find it
    optional: Mapping[str, Values] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)  # what else its function takes, with defaults
    result: Callable[..., Any] | None = None  # the NamedTuple of several outputs
    recipe: Recipe | None = None
    recipes: tuple[str, ...] = ()  # the methods that are the recipe's
    joints: Callable[..., Any] | None = None  # how friction and rotors enter
    invariant: bool = False  # link frames and the distribution of inertias along the axes do not matter
    divides: bool = False  # a singular mass matrix makes it NaN
    rotors: bool = True  # that mass matrix has the rotors in it
    orders: Mapping[str, int] = field(default_factory=dict)  # the powers of n with which methods grow, where they are not linear
    like: tuple[str, int] = ("", 0)  # or: as that of another quantity by the same method, times n to this power
    deep: tuple[str, float] | None = None  # the default for robots whose joints stand deeper than this on average
    coupled: Recipe | None = None  # of coupled robots, where the tree's program does not give it; None: they do not have it
    coupled_methods: tuple[str, ...] = ()  # the methods of that recipe, the default first
    charted: bool = False  # defined by coordinates whose rates are the velocities: robots with ball or free joints do not have it
    charted_methods: tuple[str, ...] = ()  # or only these methods are
    closed: Recipe | None = None  # of robots with loops; None: they do not have it
    closed_methods: tuple[str, ...] = ()  # the methods of that recipe, the default first
    of_loops: bool = False  # it is that of robots with loops
    motors: Callable[..., Any] | None = None  # how rotors behind a transmission enter: (G^T I G, arrays by name, results)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The names of all methods."""
        return tuple(dict.fromkeys((*formulations.methods(self.name), *self.recipes)))

    def taking(self, optional: str) -> tuple[str, ...]:
        """The methods that have an optional input."""
        if self.of_loops:
            here, able = formulations.methods(self.name), formulations.methods(self.name, optional)
            return tuple(x for x in self.coupled_methods if optional in self.optional and (x in able or x not in here))
        by_recipe = self.recipes if optional in self.optional else ()
        return tuple(dict.fromkeys((*formulations.methods(self.name, optional), *by_recipe)))

    def default(self, parents: Sequence[int]) -> str:
        """The method for a robot when none is named: of two with the same result the one that takes fewer operations.

        Their counts are nearly linear in the number n of joints and in the sum of their depths, the number of pairs of joints on
        one path, so the mean depth decides. `tools/crossovers.py` counts, and finds where.
        """
        if self.deep is None or not parents:
            return self.method
        method, depth = self.deep
        return method if sum(depths(parents)) > depth * len(parents) else self.method

    @cached_property
    def follows(self) -> bool:
        """Whether a coupling turns the tree's program into that of the coupled robot: it takes motions, and gives forces."""
        if self.coupled:
            return False
        given, found = ({axis for values in some.values() for axis in values.shape} for some in (self.inputs, self.outputs))
        return given.isdisjoint(("n", "factors", "6n")) and found.isdisjoint(("motion", "factors", "6n"))

    def of(self, robot: Model) -> "Quantity":
        """What a robot has under this name: the quantity itself, or that of a robot with loops.

        Whatever computes a quantity of a robot comes through here, so no loop is passed over: what is not taught is refused.
        """
        if not robot.loops or self.of_loops:
            return self
        if self.closed is None:
            refuse_loops(robot, self.name)
        return self._closed

    @cached_property
    def _closed(self) -> "Quantity":
        """Of robots with loops: vectors have all joints, of matrices the rows and columns of independent joints remain."""
        outputs = {name: values._replace(shape=values.shape if values.shape == ("n",) else tuple(
            "independent" if axis in ("n", "motion") and len(values.shape) > 1 else axis for axis in values.shape
        )) for name, values in self.outputs.items()}  # fmt: skip
        methods = self.closed_methods or tuple(dict.fromkeys((self.method, *self.methods)))
        return replace(self, outputs=outputs, coupled=self.closed, coupled_methods=methods, divides=True, of_loops=True)

    def methods_of(self, robot: Model) -> tuple[str, ...]:
        """The methods that a robot has: of a coupled one all, or those that do not need a tree."""
        if (own := self.of(robot)) is not self:
            return own.methods_of(robot)
        able = self.methods if robot.is_tree or self.follows else self.coupled_methods
        return able if not robot.runs else tuple(x for x in able if not self.charted and x not in self.charted_methods)

    def method_of(self, robot: Model) -> str:
        """The method for a robot when none is named."""
        if (own := self.of(robot)) is not self:
            return own.method_of(robot)
        if not (robot.is_tree or self.follows):
            return next(iter(self.coupled_methods), self.method)
        chosen = self.default(robot.parents)
        return self.method if robot.runs and chosen in self.charted_methods else chosen

    def check_method(self, method: Any, robot: Model, optional: tuple[str, ...] = ()) -> str:
        """The method, or the default for None; one that the quantity, the robot or an optional input does not have is refused."""
        able = self.methods_of(robot)
        known = self.methods if able is self.methods else tuple(dict.fromkeys((*able, *self.methods)))
        chosen = self.method_of(robot) if method is None else choice(method, f"method for {self.name}:", known)
        if chosen not in able and (self.charted or chosen in self.charted_methods):
            rest = f"; these methods do not need it: {', '.join(able)}" if able else ""
            need_rates(robot, f"{self.name} by {chosen}", rest)
        if chosen not in able:
            what = "loops" if robot.loops else "coupled joints" if robot.coupling is not None else "rotors behind the transmission"
            rest = f"these methods do: {', '.join(able)}" if able else f"{freed(robot)} has none"
            raise Error(f"{self.name} by {chosen} does not support the {what} of {robot.name}; {rest}")
        for name in optional:
            if name not in self.optional:
                raise unknown("optional input", name, self.optional)
            if chosen not in (taking := self.taking(name)):
                others = [x for x in taking if x in able]
                rest = f"these methods do: {', '.join(others)}" if others else f"no method that {robot.name} has does"
                raise Error(f"{self.name} by {chosen} does not accept {name}; {rest}")
        return chosen

    def check_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options, with defaults for those that are not given."""
        for name in options:
            if name not in self.options:
                raise unknown(f"option of {self.name}:", name, self.options)
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        chosen = {**self.options, **given}
        for name, value in chosen.items():
            try:  # keys of caches are made of them; Python refuses to write numbers of more than 4,300 digits
                _ = hash(value), repr(value)
            except (TypeError, ValueError):
                got = brief(options[name])
                raise Error(f"{self.name}: {name} must be a name, a number, or a tuple of them, got {got}") from None
        return chosen

    def arrays(self, optional: tuple[str, ...] = ()) -> dict[str, Values]:
        """The inputs, with some of the optional ones."""
        return {**self.inputs, **{name: values for name, values in self.optional.items() if name in optional}}
