"""Robots with named parameters: numbers of the model become inputs of its programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array
from dalembert.arguments import choice, listed, several
from dalembert.derived.varied import AXES, PARTS, Slot, named_parameters, with_numbers
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.model.model import Model, freed
from dalembert.model.tree import Tree
from dalembert.trace.program import Program, trace


@dataclass(frozen=True)
class Symbolic:
    """A robot whose numbers are named parameters: the same formulations, programs with one more input.

    `names` and `values` list the parameters: m1, m2, ... masses; cx1, ... centres of mass; Ixx1, Ixy1, ... inertias about them;
    bx1, ... and ax1, ... the offsets before and after joint 1; ux1, ... and wx1, ... where the two frames of loop 1 are on their
    links; gx, gy, gz gravity in the base frame. Zeros of the robot stay zeros, and rotations and pitches stay numbers.
    """

    model: Model
    names: tuple[str, ...]
    values: Array
    _slots: tuple[Slot, ...]

    def tree(self, parameters: Any) -> Tree:
        """The Tree with these scalars in the place of its numbers: floats, expressions, symbols."""
        numbers = self._placed(parameters)
        return with_numbers(self.model.tree, {slot: x for slot, x in numbers.items() if slot[0] != "loops"})

    def loop_frames(self, parameters: Any) -> Array:
        """Where the two frames of each loop are on their links, (loops, 2, 3), with these scalars in the place of numbers."""
        frames = np.array(_loop_frames(self.model), dtype=object)
        for (field, index), scalar in self._placed(parameters).items():
            if field == "loops":
                frames[index] = scalar
        return frames

    def _placed(self, parameters: Any) -> dict[Slot, Any]:
        """The scalars by their places."""
        parameters = listed(parameters, "parameters")
        if len(parameters) != len(self.names):
            raise Error(f"{self!r} has {len(self.names)} parameters, got {len(parameters)}")
        return dict(zip(self._slots, parameters, strict=True))

    def program(self, quantity: str, method: str | None = None) -> Program:
        """The program of a quantity with the parameters as its last input, friction and armature left out."""
        described = quantity_named(quantity)
        shapes = {name: values.sized(self.model) for name, values in described.inputs.items()} | {"parameters": (len(self.names),)}
        function = formulation(quantity, described.default(self.model.parents) if method is None else method)
        return trace(lambda *x: function(self.tree(x[-1]).exact, *x[:-1]), shapes, outputs=tuple(described.outputs))

    def __repr__(self) -> str:
        return f"<Symbolic {self.model.name}: {', '.join(self.names)}>"


def symbolic(robot: Model, parts: Sequence[str] | str = PARTS) -> Symbolic:
    """The same robot with named parameters, all of them or only some parts: mass, com, inertia, length, gravity.

    parts=(), or "none", keeps all numbers.

    >>> import dalembert as da
    >>> arm = da.robot("two_link").symbolic(("mass", "gravity"))
    >>> arm
    <Symbolic two_link: m1, m2, gy>
    >>> p = arm.program("inverse_dynamics")
    >>> da.replay(p, {"q": [0.0, 0.0], "qd": [0.0, 0.0], "qdd": [0.0, 0.0], "parameters": arm.values}).tolist()
    [19.6124, 4.9031]
    """
    if not robot.is_tree:
        raise Error(f"symbolic needs a tree of independent joints, which {robot.name} is not; {freed(robot)} is one")
    return named(robot, parts)


def named_parts(given: Any, what: str) -> tuple[str, ...]:
    """The names of parts; "none" is none of them, as on the command line.

    >>> named_parts("none", "symbols"), named_parts("mass", "symbols")
    ((), ('mass',))
    """
    return () if isinstance(given, str) and given == "none" else several(given, what)


def named(robot: Model, parts: Sequence[str] | str) -> Symbolic:
    """The same of any robot, for closed forms; programs are of its tree."""
    chosen = named_parts(parts, "parts")
    for part in chosen:
        choice(part, "part of a symbolic robot:", PARTS)
    if robot.several:
        joint = robot.several[0]
        raise Error(f"closed forms need joints of one degree of freedom; {joint.name!r} of {robot.name} is {joint.kind}")
    found = named_parameters(robot, tuple(part for part in chosen if part != "gravity"))
    frames = _loop_frames(robot)
    for k, side, axis in np.argwhere(frames).tolist() if "length" in chosen else ():
        found[f"{'uw'[side]}{AXES[axis]}{k + 1}"] = ("loops", (k, side, axis)), float(frames[k, side, axis])
    if "gravity" in chosen:
        found |= named_parameters(robot, ("gravity",))
    return Symbolic(robot, tuple(found), np.array([x for _, x in found.values()], dtype=float), tuple(s for s, _ in found.values()))


def _loop_frames(robot: Model) -> Array:
    """Where the frames of loops are on their links, (loops, 2, 3); those of a function of q are nowhere."""
    places = [[robot.locate(name)[1].translation if name else np.zeros(3) for name in (x.frame_a, x.frame_b)] for x in robot.loops]
    return np.array(places, dtype=float).reshape(len(places), 2, 3)
