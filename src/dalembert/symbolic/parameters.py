"""Robots with named parameters: numbers of the model become inputs of its programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.spatial import Array, Transform
from dalembert.arguments import choice, listed, several
from dalembert.engine.registry import quantity_named
from dalembert.errors import Error
from dalembert.formulations import formulation
from dalembert.model.model import Model, freed
from dalembert.model.tree import Tree
from dalembert.trace.program import Program, trace

PARTS = ("mass", "com", "inertia", "length", "gravity")
_AXES = "xyz"


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
    _slots: tuple[tuple[str, tuple[int, ...]], ...]

    def tree(self, parameters: Any) -> Tree:
        """The Tree with these scalars in the place of its numbers: floats, expressions, symbols."""
        t, filled = self.model.tree, self._filled(parameters)
        return t._replace(
            mass=filled["mass"],
            com=filled["com"],
            inertia=filled["inertia"],
            gravity=filled["gravity"],
            before=Transform(t.before.rotation, filled["before"]),
            after=Transform(t.after.rotation, filled["after"]),
        )

    def loop_frames(self, parameters: Any) -> Array:
        """Where the two frames of each loop are on their links, (loops, 2, 3), with these scalars in the place of numbers."""
        return self._filled(parameters)["loops"]

    def _filled(self, parameters: Any) -> dict[str, Array]:
        t = self.model.tree
        parameters = listed(parameters, "parameters")
        if len(parameters) != len(self.names):
            raise Error(f"{self!r} has {len(self.names)} parameters, got {len(parameters)}")
        fields = {
            "mass": t.mass, "com": t.com, "inertia": t.inertia, "gravity": t.gravity,
            "before": t.before.translation, "after": t.after.translation, "loops": _loop_frames(self.model),
        }  # fmt: skip
        filled = {name: np.array(array, dtype=object) for name, array in fields.items()}
        for (field, index), scalar in zip(self._slots, parameters, strict=True):
            filled[field][index] = scalar
            if field == "inertia":
                filled[field][index[0], index[2], index[1]] = scalar
        return filled

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

    >>> import dalembert as da
    >>> arm = da.robot("two_link").symbolic(("mass", "gravity"))
    >>> arm
    <Symbolic two_link: m1, m2, gy>
    >>> p = arm.program("inverse_dynamics")
    >>> da.replay(p, {"q": [0.0, 0.0], "qd": [0.0, 0.0], "qdd": [0.0, 0.0], "parameters": arm.values}).tolist()
    [19.6124, 4.9031]
    """
    if not robot.is_tree:
        raise Error(f"symbolic is of trees whose joints are all free, which {robot.name} is not; {freed(robot)} has it")
    return named(robot, parts)


def named(robot: Model, parts: Sequence[str] | str) -> Symbolic:
    """The same of any robot, for closed forms; programs are of its tree."""
    chosen = several(parts, "parts")
    for part in chosen:
        choice(part, "part of a symbolic robot:", PARTS)
    if robot.several:
        joint = robot.several[0]
        raise Error(f"closed forms are of joints of one degree of freedom; {joint.name!r} of {robot.name} is {joint.kind}")
    t, frames = robot.tree, _loop_frames(robot)
    entries: list[tuple[str, str, tuple[int, ...], float]] = []

    def take(field: str, array: Array, label: str, i: int) -> None:
        entries.extend((f"{label}{_AXES[k]}{i + 1}", field, (i, k), float(array[i, k])) for k in range(3) if array[i, k])

    for i in range(len(robot.links)):
        if "mass" in chosen and t.mass[i]:
            entries.append((f"m{i + 1}", "mass", (i,), float(t.mass[i])))
        if "com" in chosen:
            take("com", t.com, "c", i)
        if "inertia" in chosen:
            for r, c in zip(*np.triu_indices(3), strict=True):
                if t.inertia[i, r, c]:
                    entries.append((f"I{_AXES[r]}{_AXES[c]}{i + 1}", "inertia", (i, int(r), int(c)), float(t.inertia[i, r, c])))
        if "length" in chosen:
            take("before", t.before.translation, "b", i)
            take("after", t.after.translation, "a", i)
    for k, side, axis in np.argwhere(frames).tolist() if "length" in chosen else ():
        entries.append((f"{'uw'[side]}{_AXES[axis]}{k + 1}", "loops", (k, side, axis), float(frames[k, side, axis])))
    if "gravity" in chosen:
        entries += [(f"g{_AXES[k]}", "gravity", (k,), float(t.gravity[k])) for k in range(3) if t.gravity[k]]
    names, fields, indices, values = zip(*entries, strict=True) if entries else ((), (), (), ())
    return Symbolic(robot, tuple(names), np.array(values, dtype=float), tuple(zip(fields, indices, strict=True)))


def _loop_frames(robot: Model) -> Array:
    """Where the frames of loops are on their links, (loops, 2, 3); those of a function of q are nowhere."""
    places = [[robot.locate(name)[1].translation if name else np.zeros(3) for name in (x.frame_a, x.frame_b)] for x in robot.loops]
    return np.array(places, dtype=float).reshape(len(places), 2, 3)
